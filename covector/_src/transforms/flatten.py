"""Between the user's functions of trees and the transformations' functions of flat lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import tree


class FlatFunction:
    """A user's function as one of flat leaves; remembers the tree of what it returned.

    Args:
      fun: the user's function.
      in_tree: the structure of `(args, kwargs)`.

    Attributes:
      out_tree: the structure of the result, once the function has been called.
    """

    __slots__ = ("fun", "in_tree", "out_tree")

    def __init__(self, fun: Callable[..., Any], in_tree: Any):
        self.fun = fun
        self.in_tree = in_tree
        self.out_tree: Any = None

    def __call__(self, *leaves: Any) -> Sequence[Any]:
        args, kwargs = tree.unflatten(self.in_tree, leaves)
        outs, self.out_tree = tree.flatten(self.fun(*args, **kwargs))
        return outs
