"""Compiled programs as bytes."""

from .._src.experimental.serialized import deserialize_and_load as deserialize_and_load
from .._src.experimental.serialized import serialize as serialize
