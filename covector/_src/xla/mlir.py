"""The parts of jaxlib's MLIR bindings that lowering uses, and the making of contexts."""

from __future__ import annotations

from jaxlib.mlir import ir

# The dialects are registered by their native halves: their Python builders take longer to import
# than all else here, and are not used.
from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext, _sdy, _stablehlo

# Writes the body of a function in place of a call of it.
inlined_func_call = _jax_mlir_ext.inlined_func_call


def make_context() -> ir.Context:
    """A fresh MLIR context with the dialects of the programs we write."""
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.enable_multithreading(False)
    for dialect in (_stablehlo, _chlo, _sdy):
        dialect.register_dialect(context)
    _ = context.dialects["func"]  # looking a registered dialect up is what loads it
    return context


__all__ = ["inlined_func_call", "ir", "make_context"]
