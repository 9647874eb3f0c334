"""Between the user's functions of trees and the transformations' functions of flat lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from ..base import config, transform_errors, tree
from ..base.tree_keys import keystr
from ..core.avals import aval_getters, is_valid_type
from ..core.jaxpr import DebugInfo
from ..core.trace import context
from .jvp import JVPTrace
from .purity import call_traced

_flatten = tree.flatten


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
        if config.check_purity.value:
            result = call_traced(self.fun, args, kwargs)
        else:  # without a frame more for each level of nested functions
            result = self.fun(*args, **kwargs)
        outs, self.out_tree = _flatten(result)
        return outs

    def debug_info_of_result(self, info: DebugInfo) -> DebugInfo:
        """What is known of the function, together with how callers would write its results."""
        return info._replace(result_paths=partial(_result_paths, self.out_tree))


def _result_paths(out_tree: Any) -> tuple[str, ...]:
    """How the caller would write each flat result: `result[0]['loss']`."""
    result = tree.unflatten(out_tree, [0] * out_tree.num_leaves)
    return tuple(["result" + keystr(path) for path, _ in tree.leaves_with_path(result)])


class FlatInArguments:
    """A user's function as one of the leaves of some of its positional arguments.

    Args:
      where: the public transformation, for errors (`"grad"`).
      fun: the user's function.
      positions: which of `args` vary; the others, and `kwargs`, are held fixed.
      has_aux: whether the function returns a pair of its result and of auxiliary objects, which
        are not differentiated.

    Attributes:
      leaves: the leaves of the arguments that vary.
      in_tree: the structure of the tuple of these arguments.
      out_tree: the structure of the result, once the function has been called.
      aux: the auxiliary objects, without tangents.
    """

    __slots__ = (
        "args", "aux", "fun", "has_aux", "in_tree", "kwargs", "leaves", "out_tree", "positions",
        "where",
    )  # fmt: skip

    def __init__(
        self,
        where: str,
        fun: Callable[..., Any],
        positions: Sequence[int],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        has_aux: bool = False,
    ):
        self.where = where
        self.fun = fun
        self.has_aux = has_aux
        self.positions = positions
        self.args = args
        self.kwargs = kwargs
        self.leaves, self.in_tree = _flatten(tuple([args[i] for i in positions]))
        self.aux: Any = None
        self.out_tree: Any = None

    def call(self, *varying: Any) -> Any:
        """Call the user's function with other arguments at the positions that vary."""
        args = list(self.args)
        for i, x in zip(self.positions, varying):
            args[i] = x
        return call_traced(self.fun, args, self.kwargs)

    def __call__(self, *leaves: Any) -> Sequence[Any]:
        result = self.call(*self.in_tree.unflatten(leaves))
        if self.has_aux:
            result = self._without_aux(result)
        outs, self.out_tree = _flatten(result)
        for x in outs:
            if type(x) not in aval_getters and not is_valid_type(x):
                self._refuse(result)
        return outs

    def _without_aux(self, result: Any) -> Any:
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(transform_errors.no_aux_pair(self.where, self.fun, result))
        result, aux = result
        trace = context.trace
        # The tracers in `aux` are about to die with their trace; their primals live on.
        self.aux = tree.map(trace.primal_of, aux) if type(trace) is JVPTrace else aux
        return result

    def _refuse(self, result: Any) -> NoReturn:
        """Raise, naming the place of what cannot be an array in the function's result."""
        path, out = next(
            (path, out) for path, out in tree.leaves_with_path(result) if not is_valid_type(out)
        )
        may_have_aux = not self.has_aux and self.where != "linear_transpose"
        raise TypeError(
            transform_errors.result_not_an_array(
                self.where, self.fun, keystr(path), out, may_have_aux
            )
        )
