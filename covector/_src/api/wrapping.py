"""Functions that stand for a user's function: what they are called and how they are described."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

from ..base import transform_errors
from ..base.tracebacks import boundary

F = TypeVar("F", bound=Callable[..., Any])


def check_callable(where: str, fun: Any) -> None:
    """Raise unless `fun` can be called."""
    if not callable(fun):
        raise TypeError(transform_errors.not_callable(where, fun))


def check_function(where: str, fun: Any) -> None:
    """Raise unless `fun` is a function that returns when it is called."""
    if isinstance(fun, staticmethod):
        raise TypeError(transform_errors.static_method(where))
    check_callable(where, fun)
    if inspect.isgeneratorfunction(fun):
        raise TypeError(transform_errors.generator_function(where, fun))
    if inspect.iscoroutinefunction(fun):
        raise TypeError(transform_errors.coroutine_function(where, fun))


def named_after(fun: Callable[..., Any], doc: str) -> Callable[[F], F]:
    """Decorator: the name and attributes of `fun`, and a docstring in which `{0}` is the name.

    The docstring of `fun` follows behind. Exceptions that pass the function lose the frames of this
    package.
    """
    original = getattr(fun, "__doc__", None)
    doc = doc.format(getattr(fun, "__name__", repr(fun)))

    def rename(wrapper: F) -> F:
        named = boundary(wrapper)
        update_wrapper(named, fun)
        named.__doc__ = f"{doc}\n\nOriginal documentation:\n\n{original}" if original else doc
        return named

    return rename
