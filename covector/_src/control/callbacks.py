"""Calls of Python functions from programs: the primitives of pure_callback and io_callback.

A pure callback computes something, so it may be called more often, or not at all.  The calls of an
impure one are an effect: they are neither dropped nor repeated, and keep their order if asked to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import callback_errors as errors
from ..base import tree
from ..core.effects import Effect, no_effects
from ..core.primitive import BuiltinPrimitive
from ..ops.linear import move_axis
from .map import map as loop_map
from .vmap_methods import MappedByMethod, merged


class IOEffect(Effect):
    """A call that must happen just as often as the program says."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "IO"


class OrderedIOEffect(Effect):
    """A call that must also come after those before it."""

    __slots__ = ()
    ordered = True

    def __repr__(self) -> str:
        return "OrderedIO"


io_effect, ordered_io_effect = IOEffect(), OrderedIOEffect()


class FlatCallback:
    """A user's function of trees as one of flat arrays, equal to others of the same function."""

    __slots__ = ("fun", "in_tree")

    def __init__(self, fun: Callable[..., Any], in_tree: Any):
        self.fun = fun
        self.in_tree = in_tree

    def __call__(self, *leaves: Any) -> list[Any]:
        args, kwargs = tree.unflatten(self.in_tree, leaves)
        return tree.leaves(self.fun(*args, **kwargs))

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is FlatCallback and self.fun == other.fun and self.in_tree == other.in_tree
        )

    def __hash__(self) -> int:
        return hash((self.fun, self.in_tree))

    def __repr__(self) -> str:
        return f"_FlatCallback(callback_func={self.fun}, in_tree={self.in_tree})"


class PythonCallback(BuiltinPrimitive):
    """The call of a Python function that returns arrays.

    Parameters:
      callback: the function of flat arrays.
      result_avals: the types of what it returns.
      sharding: the device that calls it, or None.
    """

    multiple_results = True

    def evaluate(self, backend, args, params):
        return backend.call_python(params["callback"], self.name, args, params["result_avals"])

    def ref(self, *args, callback, **params):
        return callback(*args)

    def emit(self, b, *operands, callback, **params):
        _, effects = self.effectful_abstract_eval(*b.avals_in, callback=callback, **params)
        return b.python_callback(callback, self.name, operands, next(iter(effects), None))


class PureCallback(MappedByMethod, PythonCallback):
    """The call of a function whose results depend on its arguments alone."""

    def effectful_abstract_eval(self, *avals, result_avals, **params):
        return list(result_avals), no_effects

    def jvp(self, primals, tangents, **params):
        instead = "Use `covector.custom_jvp`, whose rule says what the derivative is."
        raise ValueError(errors.not_differentiable("pure_callback", "Pure", "JVP", instead))

    def transpose(self, cts, *args, **params):
        instead = "Use `covector.custom_vjp`, whose rules say what the derivative is."
        raise ValueError(errors.not_differentiable("pure_callback", "Pure", "transpose", instead))


class IOCallback(PythonCallback):
    """The call of a function that does something besides returning arrays."""

    def effectful_abstract_eval(self, *avals, result_avals, ordered, **params):
        effect = ordered_io_effect if ordered else io_effect
        return list(result_avals), frozenset({effect})

    def jvp(self, primals, tangents, **params):
        raise ValueError(self.not_differentiable("JVP"))

    def transpose(self, cts, *args, **params):
        raise ValueError(self.not_differentiable("transpose"))

    def not_differentiable(self, mode: str) -> str:
        instead = "Call it on what `covector.lax.stop_gradient` returns, or use debug.callback."
        return errors.not_differentiable("io_callback", "IO", mode, instead)

    def vmap(self, axis, dims, *args, ordered, **params):
        if ordered:
            raise ValueError(errors.no_vmap_of_ordered_io())
        args = [x if dim is None else move_axis(x, dim, 0) for x, dim in zip(args, dims)]
        batched = [dim is not None for dim in dims]

        def one(examples: list[Any]) -> list[Any]:
            return self.bind(*merged(args, batched, examples), ordered=False, **params)

        outs = loop_map(one, [x for x, is_batch in zip(args, batched) if is_batch])
        return outs, [0] * len(outs)


pure_callback_p = PureCallback("pure_callback")
io_callback_p = IOCallback("io_callback")
