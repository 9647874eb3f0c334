"""Attributes for passes of XLA on operations of programs."""

from .._src.experimental.attributes import set_xla_metadata as set_xla_metadata
