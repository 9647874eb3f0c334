"""Values at the edge of the transformations: arrays from numbers, zeros and ones of a type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import config, dtypes
from ..base.dims import has_symbolic
from ..core.avals import ShapedArray, aval_of
from ..core.trace import context, eval_trace
from ..core.zeros import Zero
from ..ops.linear import broadcast_in_dim, scalar
from ..xla.array import ArrayImpl

_HOST_TYPES = (np.ndarray, np.generic, int, float, complex)


def operands(leaves: Sequence[Any]) -> Sequence[Any]:
    """Arguments of an eager computation, with those in host memory put on the device once.

    Integers stay what they are, since the function may want Python's: it has no tangent to trace.
    Within another transformation all do: they are small constants of its program.
    """
    if context.trace is not eval_trace:
        return leaves
    return [to_array(x) if type(x) is not ArrayImpl and _may_vary(x) else x for x in leaves]


def _may_vary(x: Any) -> bool:
    return isinstance(x, _HOST_TYPES) and aval_of(x).to_tangent_aval().dtype != dtypes.float0


def to_array(x: Any) -> Any:
    """A NumPy array or a number as an array, or as a tracer where a program is being written.

    Anything else, and float0, stays as it is.
    """
    if not isinstance(x, _HOST_TYPES) or getattr(x, "dtype", None) == dtypes.float0:
        return x
    return context.trace.lift(x)


def scalar_like(aval: ShapedArray, value: int) -> Any:
    """A number with the dtype, and the weak type, of an aval."""
    if aval.weak_type:
        number = dtypes.scalar_type_of(aval.dtype)(value)
        if dtypes.python_scalar_dtype(type(number)) == aval.dtype:
            return number
    return scalar(value, aval.dtype)


def one_like(aval: ShapedArray) -> Any:
    """The 1 that a gradient begins with: an array, or a literal of the program being written."""
    one = scalar_like(aval, 1)
    if dtypes.canonicalize_dtype(aval.dtype) != aval.dtype:
        with config.enable_x64(True):  # the function itself switched 64 bits on for a while
            return context.trace.lift(one)
    return context.trace.lift(one) if context.trace is eval_trace else one


def zeros(aval: ShapedArray) -> Any:
    """The zero of a type, as an array; of float0, as a NumPy array."""
    if aval.dtype == dtypes.float0:
        if has_symbolic(aval.shape):
            return broadcast_in_dim(np.zeros((), dtypes.float0), aval.shape, ())
        return np.zeros(aval.shape, dtypes.float0)
    return to_array(broadcast_in_dim(scalar_like(aval, 0), aval.shape, ()))


def instantiate(tangent: Any) -> Any:
    """A tangent or cotangent as an array, be it a symbolic zero or a number."""
    if type(tangent) is ArrayImpl:
        return tangent
    return zeros(tangent.aval) if type(tangent) is Zero else to_array(tangent)
