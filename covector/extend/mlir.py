"""Modules as bytes, and from one form into another; as jaxlib does it."""

from .._src.xla.extending import deserialize_portable_artifact as deserialize_portable_artifact
from .._src.xla.extending import hlo_to_stablehlo as hlo_to_stablehlo
from .._src.xla.extending import refine_polymorphic_shapes as refine_polymorphic_shapes
from .._src.xla.extending import serialize_portable_artifact as serialize_portable_artifact
from .._src.xla.mlir import ir as ir
