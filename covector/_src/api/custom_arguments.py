"""The arguments of functions with rules of their own, and which of them are differentiated."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..base import custom_errors, tree
from ..core.array import Array
from ..core.trace import Tracer
from ..transforms.signatures import signature_of


def resolve_keywords(
    where: str, fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """All arguments by position, defaults included."""
    signature = None if isinstance(fun, partial) and not kwargs else signature_of(fun)
    if signature is None:
        return args
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        place = custom_errors.describe_callable(fun)
        raise TypeError(custom_errors.cannot_resolve(where, fun, place, error)) from None
    bound.apply_defaults()
    if bound.kwargs:
        names = custom_errors.unresolved_keywords(list(bound.kwargs))
        place = custom_errors.describe_callable(fun)
        raise TypeError(custom_errors.cannot_resolve(where, fun, place, names))
    return bound.args


def positions_of(
    fun: Callable[..., Any], argnums: int | Sequence[int], argnames: str | Sequence[str]
) -> tuple[int, ...]:
    """Positions of arguments that are named by position or by name, without repetition."""
    argnums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    argnames = (argnames,) if isinstance(argnames, str) else tuple(argnames)
    if argnames:
        names = list(inspect.signature(fun).parameters)
        argnums += tuple([names.index(name) for name in argnames])
    return tuple(sorted(set(argnums)))


class CustomArguments:
    """The arguments of one call, taken apart into flat operands.

    Arguments that are not differentiated may be anything. The arrays in them, traced or not, are
    operands like others, so that transformations find them there; the rest stays here.

    Args:
      args: the arguments by position.
      nondiff: which of them are not differentiated.

    Attributes:
      operands: the arrays of the arguments that are not differentiated, then the leaves of the
        others.
      num_consts: how many are of the first kind.
      in_tree: the structure of the tuple of the arguments that are differentiated.
    """

    def __init__(self, args: tuple[Any, ...], nondiff: Sequence[int]):
        self.nondiff = frozenset(n if n >= 0 else n + len(args) for n in nondiff)
        self.fixed: list[Any] = []
        self.is_array: list[bool] = []
        self.fixed_trees: list[Any] = []
        consts: list[Any] = []
        for i in sorted(self.nondiff):
            leaves, treedef = tree.flatten(args[i])
            self.fixed_trees.append(treedef)
            for leaf in leaves:
                traced = isinstance(leaf, (Tracer, Array, np.ndarray))
                self.is_array.append(traced)
                (consts if traced else self.fixed).append(leaf)
        self.count = len(args)
        varying = tuple([x for i, x in enumerate(args) if i not in self.nondiff])
        leaves, self.in_tree = tree.flatten(varying)
        self.operands = [*consts, *leaves]
        self.num_consts = len(consts)

    def hand_over(self) -> list[Any]:
        """The operands, which are then kept here no longer: rules outlive the traces of these."""
        operands, self.operands = self.operands, []
        return operands

    def nondiff_args(self, operands: Sequence[Any]) -> list[Any]:
        """The arguments that are not differentiated, from operands in place of the first ones."""
        consts, fixed = iter(operands), iter(self.fixed)
        leaves = iter([next(consts) if traced else next(fixed) for traced in self.is_array])
        return [
            tree.unflatten(treedef, [next(leaves) for _ in range(treedef.num_leaves)])
            for treedef in self.fixed_trees
        ]

    def diff_args(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """The tuple of the other arguments, from its leaves."""
        return tree.unflatten(self.in_tree, leaves)

    def all_args(self, operands: Sequence[Any]) -> list[Any]:
        """All arguments by position, from operands in place of those of the call."""
        nondiff = iter(self.nondiff_args(operands))
        varying = iter(self.diff_args(operands[self.num_consts :]))
        return [next(nondiff) if i in self.nondiff else next(varying) for i in range(self.count)]
