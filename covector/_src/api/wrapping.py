"""Functions that stand for a user's function: what they are called and how they are described."""

from __future__ import annotations

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
