"""What a user's function and its flat arguments are called, for error messages and jaxprs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from ..base import tree
from ..base.tree_keys import keystr
from ..core.jaxpr import DebugInfo


def signature_of(fun: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of a callable, if it has one that Python can tell."""
    try:
        return inspect.signature(fun)
    except (ValueError, TypeError):
        return None


def debug_info(
    where: str, fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
    static: tuple[Any, ...] = (),
) -> DebugInfo:  # fmt: skip
    """Names of a function and of its flat arguments, for error messages and printed jaxprs."""
    named = fun
    while isinstance(named, partial):
        named = named.func
    code = getattr(inspect.unwrap(named), "__code__", None)
    place = f" at {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
    name = getattr(named, "__name__", None) or "<unnamed function>"
    return DebugInfo(where, name + place, argument_names(fun, args, kwargs, static))


def argument_names(
    fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], static: Any = ()
) -> tuple[str, ...]:
    """How the user would write each flat argument: `x`, `params['w'][0]`, `kwargs['y']`."""
    static_positions = {i for i, _ in static[0]} if static else set()
    names, rest = _positional_names(fun)
    roots = []
    position = 0
    for arg in args:
        while position in static_positions:
            position += 1
        extra = position - len(names)
        roots.append((names[position] if extra < 0 else f"{rest}[{extra}]", arg))
        position += 1
    roots.extend(sorted(kwargs.items()))
    return tuple(
        [
            root + keystr(path)
            for root, value in roots
            for path, _ in tree.flatten_with_path(value)[0]
        ]
    )


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _positional_names(fun: Callable[..., Any]) -> tuple[Sequence[str], str]:
    """The names of the arguments that go by position, and of the tuple of further ones."""
    if type(fun) is FunctionType and not fun.__dict__:  # whose signature is not another's
        code = fun.__code__
        count = code.co_argcount
        takes_more = code.co_flags & inspect.CO_VARARGS
        rest = code.co_varnames[count + code.co_kwonlyargcount] if takes_more else "args"
        return code.co_varnames[:count], rest
    signature = signature_of(fun)
    if signature is None:
        return (), "args"
    parameters = signature.parameters.values()
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
    return [p.name for p in parameters if p.kind in _POSITIONAL], rest
