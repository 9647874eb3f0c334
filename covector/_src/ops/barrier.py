"""Ops that compute nothing, and tell the compiler what not to do.

optimization_barrier   nothing moves from one side of it to the other
dce_sink               its operand is not dropped, although nothing uses it
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

from ..base import tree
from ..core.effects import Effect, Effects
from ..core.primitive import BuiltinPrimitive
from ..core.zeros import UndefinedPrimal, Zero
from .base import Sample, draw
from .linear import instantiate

T = TypeVar("T")

# ---------------------------------------------------------------- optimization_barrier


class OptimizationBarrier(BuiltinPrimitive):
    """The operands, none of which is there before all of them are."""

    multiple_results = True

    def abstract_eval(self, *avals):
        return list(avals)

    def ref(self, *xs):
        return [np.asarray(x) for x in xs]

    def jvp(self, primals, tangents):
        return self.bind(*primals), self.bind(*map(instantiate, tangents))

    def transpose(self, cts, *xs):
        cts = self.bind(*map(instantiate, cts))
        return tuple([ct if type(x) is UndefinedPrimal else None for ct, x in zip(cts, xs)])

    def vmap(self, axis, dims, *xs):
        return self.bind(*xs), dims

    def emit(self, b, *xs):
        b.module_context.barriers += 1
        outs = b.op("optimization_barrier", *xs)
        return outs if len(xs) > 1 else [outs]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shapes in [((3,),), ((2, 3), ()), ((0, 2), (1,))]:
            for dtype in ("float32", "complex64"):
                yield Sample(tuple([draw(rng, shape, dtype) for shape in shapes]), {})


optimization_barrier_p = OptimizationBarrier("optimization_barrier")


def optimization_barrier(operand: T, /) -> T:
    """The identity function, across which the compiler moves and merges nothing.

    What is computed from its results is computed after all of its operand is there. So it keeps a
    value from being computed again later, or two values from being computed as one.

    Args:
      operand: an array, or a tree of arrays.

    Returns:
      `operand`.

    Raises:
      TypeError: a leaf is not an array.

    >>> from covector import lax
    >>> lax.optimization_barrier((1.0, 2.0))
    (Array(1., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    leaves, treedef = tree.flatten(operand)
    outs = optimization_barrier_p.bind(*leaves) if leaves else []
    return tree.unflatten(treedef, outs)


# ---------------------------------------------------------------- dce_sink


class NoDCEEffect(Effect):
    """An eqn is not to be dropped."""

    __slots__ = ()
    repeatable = True

    def __eq__(self, other: object) -> bool:
        return type(other) is NoDCEEffect

    def __hash__(self) -> int:
        return hash(NoDCEEffect)


no_dce_effect = NoDCEEffect()


class DceSink(BuiltinPrimitive):
    """Keep the operand in the jaxpr, and in the compiled program too if `prevent_mlir_dce`."""

    multiple_results = True

    def effectful_abstract_eval(self, x, *, prevent_mlir_dce):
        return [], Effects((no_dce_effect,))

    def evaluate(self, backend, args, params):
        return []

    def jvp(self, primals, tangents, **params):
        (t,) = tangents
        out = self.bind(*primals, **params)
        return out, out if type(t) is Zero else self.bind(t, **params)

    def vmap(self, axis, dims, x, **params):
        return self.bind(x, **params), []

    def emit(self, b, x, *, prevent_mlir_dce):
        if prevent_mlir_dce:
            layout = tuple(reversed(range(len(b.avals_in[0].shape))))
            b.custom_call("dce_sink", [(x, layout)], [], has_side_effect=True)
        return []


dce_sink_p = DceSink("dce_sink")


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Keep what computes a value in the jaxpr, although nothing uses the value.

    Args:
      val: an array, or a tree of arrays.
      prevent_mlir_dce: whether it is to stay in the compiled program too, for which the device must
        have a custom call of the name `dce_sink`.

    >>> import covector
    >>> from covector import lax
    >>> covector.make_jaxpr(lambda x: lax.dce_sink(2.0 * x))(1.0)
    { lambda ; a:f32[]. let
        b:f32[] = mul 2.0:f32[] a
        dce_sink[prevent_mlir_dce=False] b
      in () }
    """
    for leaf in tree.leaves(val):
        dce_sink_p.bind(leaf, prevent_mlir_dce=prevent_mlir_dce)
