"""One MLIR module put into another."""

from __future__ import annotations

from itertools import count
from typing import Any

from .mlir import ir


def merge_mlir_modules(
    dst_module: Any, sym_name: str, src_module: Any, dst_symtab: Any = None
) -> str:
    """Copy the functions of a module into another one, where they become private.

    Functions whose names are taken there get new ones. The copied module is left as it is; it may
    belong to another context.

    Args:
      dst_module: the module that the functions are put into.
      sym_name: what the function `main` is to be called there, or to begin with.
      src_module: the module that is copied.
      dst_symtab: the symbol table of `dst_module`, if there is one already.

    Returns:
      The name that `main` got.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.interpreters import mlir
    >>> into, copied = (cv.jit(f).lower(1.0).compiler_ir() for f in (jnp.sin, jnp.cos))
    >>> mlir.merge_mlir_modules(into, "cosine", copied)
    'cosine'
    >>> "func.func private @cosine(" in str(into)
    True
    """
    with dst_module.context:
        copied = ir.Module.parse(src_module.operation.get_asm(enable_debug_info=True))
        functions = list(copied.body.operations)
        own = [_name_of(function) for function in functions]
        there = set(map(_name_of, dst_module.body.operations))
        taken = {*there, *own}
        for function, old in zip(functions, own):
            new = old if old != "main" else sym_name
            if new in (taken if old == "main" else there):
                new = _free(new, taken)
            if new != old:
                ir.SymbolTable.replace_all_symbol_uses(old, new, copied.operation)
                ir.SymbolTable.set_symbol_name(function, new)
            taken.add(new)
            ir.SymbolTable.set_visibility(function, "private")
        names = dict(zip(own, map(_name_of, functions)))
        for function in functions:
            dst_module.body.append(function)
            if dst_symtab is not None:
                dst_symtab.insert(function)
    return names["main"]


def _name_of(function: Any) -> str:
    return ir.StringAttr(function.attributes["sym_name"]).value


def _free(name: str, taken: set[str]) -> str:
    """A name that is not taken, which begins with the one that is."""
    return next(found for i in count() if (found := f"{name}_{i}") not in taken)
