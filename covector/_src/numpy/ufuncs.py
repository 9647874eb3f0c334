"""NumPy's functions of two operands as ufuncs.

What they compute is in the files that they are taken from.  Folds of the associative ones can be
computed in any order: by primitives, or in log2(n) rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..base import dtypes
from ..control.associative_scan import associative_scan
from ..control.cumulative import cummax, cummin
from ..core.primitive import Primitive
from ..ops.linear import full
from ..ops.reductions import reduce_and_p, reduce_or_p, reduce_xor_p
from ..ops.slicing import slice_in_dim
from . import (
    arithmetic,
    cumulative,
    exponential,
    folds,
    integers,
    logic,
    parts,
    reductions,
    selection,
)
from .arguments import axes_argument
from .composite import composite
from .joining import concatenate
from .promotion import BOOL, convert, dtype_of, number, shape_of
from .shaping import expand_dims
from .ufunc import ufunc

Function = Callable[..., Any]

# ---------------------------------------------------------------- folds in any order


def _reduced(
    fold: Function,
    f: Function,
    a: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Reduce by `fold`, which takes an array, its axes and the value of what is masked out.

    Args:
      fold: makes one element of all those along axes, some of which may be masked out.
      f: combines two elements.
      a, axis, dtype, keepdims, initial, where: as for the method of ufuncs.
    """
    where_from = f"{f.__name__}.reduce"
    dtype = folds.result_dtype(f, a, a) if dtype is None else dtype
    axes = axes_argument(where_from, axis, a.ndim)
    a = convert(a, dtypes.check_user_dtype_supported(dtype, where_from))
    out = fold(a, axes, where)
    out = out if initial is None else convert(f(initial, out), out.dtype)
    return expand_dims(out, sorted(axes)) if keepdims else out


def _by_bits(p: Primitive, a: Any, axes: tuple[int, ...], where: Any) -> Any:
    """Reduce by a primitive of bits."""
    if where is not None:
        a = selection.where(where, a, p.identity(dtype_of(a)))
    return p.bind(a, axes=axes)


def _by_halves(f: Function, identity: float, a: Any, axes: tuple[int, ...], where: Any) -> Any:
    """Reduce by combining the two halves of all elements, until there is one."""
    if where is not None:
        a = selection.where(where, a, number(identity, dtype_of(a)))
    return _halved(folds.rows_along(a, axes), f=f, identity=identity)


@composite
def _halved(rows: Any, *, f: Function, identity: float) -> Any:
    if not shape_of(rows)[0]:
        return full(shape_of(rows)[1:], identity, dtype_of(rows))
    while (count := shape_of(rows)[0]) > 1:
        half = count // 2
        combined = f(slice_in_dim(rows, 0, half), slice_in_dim(rows, half, 2 * half))
        odd = [slice_in_dim(rows, 2 * half, count)] if count % 2 else []
        rows = concatenate([combined, *odd])
    return rows[0]


def _in_dtype(function: Function, a: Any, axis: Any, dtype: Any, **options: Any) -> Any:
    """Apply a reduction that has no argument `dtype`."""
    a = a if dtype is None else a.astype(dtype)
    return function(a, axis=axis, **options)


def _accumulate(f: Function, a: Any, axis: int, dtype: Any) -> Any:
    if dtype is None:
        dtype = folds.result_dtype(f, a, a)
    dtype = dtypes.check_user_dtype_supported(dtype, f"{f.__name__}.accumulate")
    return _accumulated(convert(a, dtype), f=f, axis=axis)


@composite
def _accumulated(a: Any, *, f: Function, axis: int) -> Any:
    """Accumulate in log2(n) rounds."""
    dtype = dtype_of(a)
    return associative_scan(lambda x, y: convert(f(x, y), dtype), a, axis=axis) if a.size else a


# ---------------------------------------------------------------- updates


def _update(method: str, a: Any, indices: Any, b: Any) -> Any:
    """Update by the method of `x.at[...]` that does the same; of booleans, by counting."""
    if a.dtype != BOOL:
        return getattr(a.at[indices], method)(b)
    integers = dtypes.to_numeric_dtype(BOOL)
    b = convert(convert(b, BOOL), integers)
    return convert(getattr(convert(a, integers).at[indices], method)(b), BOOL)


def _bound(f: Function, method: str, a: Any, indices: Any, b: Any) -> Any:
    """Update by the larger, or the smaller, of two elements, in their common dtype."""
    return getattr(convert(a, folds.result_dtype(f, a, b)).at[indices], method)(b)


# ---------------------------------------------------------------- associative functions


def _ufunc(f: Function, nin: int = 2, **facts: Any) -> ufunc:
    out = ufunc(f, nin, 1, call=f, **facts)
    out.__module__ = __name__  # where pickle finds it
    return out


def _of_bits(f: Function, p: Primitive, identity: Any) -> ufunc:
    reduce = partial(_reduced, partial(_by_bits, p), f)
    return _ufunc(f, identity=identity, reduce=reduce, accumulate=partial(_accumulate, f))


def _of_powers(f: Function) -> ufunc:
    reduce = partial(_reduced, partial(_by_halves, f, -np.inf), f)
    return _ufunc(f, identity=-np.inf, reduce=reduce, accumulate=partial(_accumulate, f))


add = _ufunc(
    arithmetic.add,
    identity=0,
    reduce=reductions.sum,
    accumulate=cumulative.cumsum,
    at=partial(_update, "add"),
)
multiply = _ufunc(
    arithmetic.multiply,
    identity=1,
    reduce=reductions.prod,
    accumulate=cumulative.cumprod,
    at=partial(_update, "multiply"),
)
maximum = _ufunc(
    selection.maximum,
    reduce=partial(_in_dtype, reductions.max),
    accumulate=partial(_in_dtype, cummax),
    at=partial(_bound, selection.maximum, "max"),
)
minimum = _ufunc(
    selection.minimum,
    reduce=partial(_in_dtype, reductions.min),
    accumulate=partial(_in_dtype, cummin),
    at=partial(_bound, selection.minimum, "min"),
)
logaddexp = _of_powers(exponential.logaddexp)
logaddexp2 = _of_powers(exponential.logaddexp2)
bitwise_and = _of_bits(logic.bitwise_and, reduce_and_p, -1)
bitwise_or = _of_bits(logic.bitwise_or, reduce_or_p, 0)
bitwise_xor = _of_bits(logic.bitwise_xor, reduce_xor_p, 0)
logical_and = _of_bits(logic.logical_and, reduce_and_p, True)
logical_or = _of_bits(logic.logical_or, reduce_or_p, False)
logical_xor = _of_bits(logic.logical_xor, reduce_xor_p, False)

# ---------------------------------------------------------------- other functions

negative = _ufunc(arithmetic.negative, nin=1)
subtract = _ufunc(arithmetic.subtract, at=partial(_update, "subtract"))
divide, true_divide = _ufunc(arithmetic.divide), _ufunc(arithmetic.true_divide)
floor_divide, fmod = _ufunc(arithmetic.floor_divide), _ufunc(arithmetic.fmod)
mod, remainder = _ufunc(arithmetic.mod), _ufunc(arithmetic.remainder)
pow, power = _ufunc(arithmetic.pow), _ufunc(arithmetic.power)
float_power = _ufunc(arithmetic.float_power)
arctan2, atan2 = _ufunc(exponential.arctan2), _ufunc(exponential.atan2)
hypot = _ufunc(exponential.hypot, identity=0)
copysign, heaviside = _ufunc(parts.copysign), _ufunc(parts.heaviside)
fmax, fmin = _ufunc(selection.fmax), _ufunc(selection.fmin)
gcd, lcm = _ufunc(integers.gcd, identity=0), _ufunc(integers.lcm)
equal, not_equal = _ufunc(logic.equal), _ufunc(logic.not_equal)
less, less_equal = _ufunc(logic.less), _ufunc(logic.less_equal)
greater, greater_equal = _ufunc(logic.greater), _ufunc(logic.greater_equal)
left_shift, right_shift = _ufunc(logic.left_shift), _ufunc(logic.right_shift)
