"""`Partial`: a function with some arguments given, as a node of trees."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from .tree_registry import register_pytree_node


class _Sealed:
    """Stands for a `functools.partial`, whose arguments `Partial` must not merge with its own."""

    __slots__ = ("__wrapped__",)

    def __init__(self, function: functools.partial):
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    def __eq__(self, other: Any) -> bool:
        return self.__wrapped__ == (other.__wrapped__ if type(other) is _Sealed else other)

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)


class Partial(functools.partial):
    """A `functools.partial` that may be an argument or a result of transformed functions.

    The given arguments are its subtrees, so they are traced, differentiated and mapped like any
    other value; the function itself is part of the structure, and is compared with `==`.

    Args:
      func: the function. If it is a `functools.partial` itself, its own arguments stay with it.
      args, kw: the arguments given in advance.

    >>> from covector import tree, tree_util
    >>> scale = tree_util.Partial(lambda factor, x: factor * x, 3.0)
    >>> scale(2.0)
    6.0
    >>> tree.leaves(scale)
    [3.0]
    >>> tree.map(lambda factor: factor + 1, scale)(2.0)
    8.0
    """

    def __new__(cls, func: Callable[..., Any], *args: Any, **kw: Any) -> Partial:
        if isinstance(func, functools.partial):
            func = _Sealed(func)
        return super().__new__(cls, func, *args, **kw)


def _unflatten(func: Callable[..., Any], children: Iterable[Any]) -> Partial:
    args, keywords = children
    return Partial(func, *args, **keywords)


register_pytree_node(
    Partial, lambda partial: ((partial.args, partial.keywords), partial.func), _unflatten
)
