"""What a user's function and its flat arguments are called, for error messages and jaxprs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
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
    roots = []
    signature = signature_of(fun)
    parameters = list(signature.parameters.values()) if signature else []
    position = 0
    for arg in args:
        while position in static_positions:
            position += 1
        roots.append((_name_of_position(parameters, position), arg))
        position += 1
    roots.extend(sorted(kwargs.items()))
    return tuple(
        root + keystr(path) for root, value in roots for path, _ in tree.flatten_with_path(value)[0]
    )


def _name_of_position(parameters: Sequence[inspect.Parameter], position: int) -> str:
    for i, parameter in enumerate(parameters):
        if parameter.kind is parameter.VAR_POSITIONAL:
            return f"{parameter.name}[{position - i}]"
        if i == position:
            return parameter.name
    return f"args[{position}]"
