"""The parts of jaxlib's MLIR bindings that lowering uses, and the making of contexts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from jaxlib.mlir import ir

# The dialects are registered by their native halves.
from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext, _mlir, _sdy, _stablehlo


@contextmanager
def without_builders() -> Iterator[None]:
    """Within, jaxlib does not look for the Python builders of the operations that are written.

    At the first operation of a dialect it would import them.  They take longer to import than all
    else here, and are not used; and jaxlib does not survive a Ctrl-C that comes meanwhile: no
    dialect can be imported a second time.  The places where it looks are shared with JAX, which
    adds some and needs them, and so are as before afterwards.
    """
    places = list(_mlir.globals.dialect_search_modules)
    if not places:  # as within another one
        yield
        return
    _mlir.globals.dialect_search_modules = []
    try:
        yield
    finally:
        _mlir.globals.dialect_search_modules = places


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
    with without_builders():
        _ = context.dialects["func"]  # looking a registered dialect up is what loads it
    return context


def with_builders(module: ir.Module) -> ir.Module:
    """A module whose operations show themselves as objects of their Python builders."""
    for dialect in ("builtin", "func", "stablehlo", "chlo"):
        import_module(f"jaxlib.mlir.dialects.{dialect}")
    return module


def builders(dialect: str) -> ModuleType:
    """jaxlib's Python builders of a dialect's operations; "hlo" is JAX's name of StableHLO."""
    dialect = "stablehlo" if dialect == "hlo" else dialect
    try:
        return import_module(f"jaxlib.mlir.dialects.{dialect}")
    except ModuleNotFoundError:
        raise AttributeError(f"jaxlib has no builders of a dialect {dialect!r}") from None


__all__ = [
    "builders",
    "inlined_func_call",
    "ir",
    "make_context",
    "with_builders",
    "without_builders",
]
