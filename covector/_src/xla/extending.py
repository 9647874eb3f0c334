"""What jaxlib itself offers to those who write and read modules."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir._mlir_libs import _jax_mlir_ext

from .mlir import ir
from .native import _jax

serialize_portable_artifact = _jax.mlir.serialize_portable_artifact
deserialize_portable_artifact = _jax.mlir.deserialize_portable_artifact
refine_polymorphic_shapes = _jax.mlir.refine_polymorphic_shapes
hlo_to_stablehlo = _jax.mlir.hlo_to_stablehlo


class JaxIrContext(ir.Context):
    """An MLIR context that knows only the dialects that it is given.

    One of `ir.Context` loads all those that were linked into jaxlib.

    >>> from covector.extend import lowering
    >>> context = lowering.JaxIrContext()
    >>> context.append_dialect_registry(lowering.upstream_dialects)
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super(ir.Context, self).__init__(*args, **kwargs)


# The dialects of MLIR's own.
upstream_dialects = ir.DialectRegistry()
_jax_mlir_ext.register_dialects(upstream_dialects)
