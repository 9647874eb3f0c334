"""Functions that return their operand and mean something by it.

copy            another array with the same elements
stop_gradient   a value that differentiation takes for a constant
stage           a number as an array of the current trace
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

from ..base import dtypes, tree
from ..core.array import Array
from ..core.avals import aval_of
from ..core.fusion import CHEAP
from ..core.trace import Tracer, context, eval_trace
from ..core.zeros import Zero
from .base import Op, Sample, draw
from .linear import Linear

T = TypeVar("T")


class Identity(Op):
    """A primitive whose result is its operand."""

    fusion = CHEAP

    def abstract_eval(self, x, **params):
        return x

    def ref(self, x, **params):
        return np.asarray(x)

    def vmap(self, axis, dims, x, **params):
        return self.bind(x, **params), dims[0]

    def emit(self, b, x, **params):
        return x


class Everywhere(Identity, Linear):
    """An identity that means the same for tangents and cotangents as for the operand."""

    def transpose(self, ct, x, **params):
        return (self.bind(ct, **params),)


def _samples(self: Identity, rng: np.random.Generator) -> Iterator[Sample]:
    """The samples of identities without parameters."""
    for dtype in (np.float32, np.complex64, np.int32, np.bool_):
        for shape in ((2, 3), (0, 2)):
            yield Sample((draw(rng, shape, dtype),), {})


class Copy(Everywhere):
    """A copy of the operand, which is not optimized away."""

    samples = _samples


class StopGradient(Identity):
    """The operand, as a constant for differentiation."""

    def evaluate(self, backend, args, params):
        (x,) = args
        aval_of(x)  # raises unless it is an array
        return x

    def jvp(self, primals, tangents):
        out = self.bind(*primals)
        return out, Zero(aval_of(out).to_tangent_aval())

    def samples(self, rng):
        for sample in _samples(self, rng):
            yield sample._replace(smooth=False)  # the derivative is another than the function's


class Stage(Identity, Linear):
    """The operand as a value of the current trace; no eqn is written for it."""

    samples = _samples

    def bind(self, x):
        if isinstance(x, (Array, Tracer)):
            return x
        if context.trace is eval_trace:
            # An array of its own, not one of those that the backend keeps of numbers: its memory
            # may be donated.
            return eval_trace.backend.device_put(x, None)
        return context.trace.lift(x)

    def transpose(self, ct, x):
        return (ct,)


copy_p = Copy("copy")
stop_gradient_p = StopGradient("stop_gradient")
stage_p = Stage("stage")


def stage(x: Any, /) -> Array:
    """A number or NumPy array as an array: a traced one where a function is being traced.

    Args:
      x: an array or a number.

    Returns:
      An array of the shape and dtype of `x`, weakly typed if `x` is a Python number.

    >>> from covector import lax
    >>> lax.stage(1.5)
    Array(1.5, dtype=float32, weak_type=True)
    """
    return stage_p.bind(x)


def stop_gradient(x: T) -> T:
    """The identity function, whose result differentiation takes for a constant.

    Args:
      x: an array, or a tree of arrays.

    Returns:
      `x`. Its tangents, and cotangents that reach it, are zero, in every derivative that is taken.

    Raises:
      TypeError: a leaf of `x` is not an array.

    >>> import covector
    >>> from covector import lax
    >>> covector.grad(lambda x: x * lax.stop_gradient(x))(3.0)
    Array(3., dtype=float32, weak_type=True)
    """
    return tree.map(_stop_gradient, x)


def _stop_gradient(x: Any) -> Any:
    aval: Any = aval_of(x)
    return x if isinstance(aval.dtype, dtypes.ExtendedDType) else stop_gradient_p.bind(x)
