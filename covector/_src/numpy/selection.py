"""Choosing between values: conditions, bounds, extrema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..core.array import Array, ArrayLike
from ..ops.arithmetic import max_p, min_p
from ..ops.bitwise import or_p
from ..ops.comparison import eq_p, gt_p, lt_p, ne_p
from ..ops.complex import complex_p, imag_p, real_p
from ..ops.linear import constant_like as like
from ..ops.select import select_n_p
from .composite import composite
from .dispatch import binary, same
from .nonzero import nonzero
from .promotion import (
    BOOL,
    COMPLEX,
    NUMBERS,
    as_array,
    broadcast_shape,
    broadcast_to_shape,
    convert,
    dtype_of,
    operands,
    own,
    promote,
    promote_dtypes,
    shape_of,
)

# ---------------------------------------------------------------- where


def select_where(condition: Any, x: Any, y: Any) -> Any:
    """`x` where a boolean is true and `y` elsewhere, both of one dtype, broadcast.

    As in JAX, the ranks may differ whatever `numpy_rank_promotion` says.
    """
    shape = broadcast_shape("where", [shape_of(value) for value in (condition, x, y)])
    if shape_of(condition) != ():
        condition = broadcast_to_shape(condition, shape)
    x, y = broadcast_to_shape(x, shape), broadcast_to_shape(y, shape)
    return select_n_p.bind(condition, y, x)


@composite
def _where(condition: Any, x: Any, y: Any) -> Any:
    if dtype_of(condition) != BOOL:
        condition = ne_p.bind(condition, like(condition, 0))
    return select_where(condition, *promote_dtypes(x, y))


def where(
    condition: ArrayLike,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Elementwise `x` where a condition holds, and `y` where it does not.

    Both are computed; where one of them has no derivative, its cotangent can still spoil that of
    the other (0 times infinity is not a number). Then guard its argument too:
    `where(x > 0, log(where(x > 0, x, 1)), 0)`.

    Args:
      condition: an array; what is not boolean holds where it is not zero.
      x, y: the values, broadcast against the condition and each other. Without them, the result is
        that of `nonzero(condition)`.
      size, fill_value: as for `nonzero`, if there is no `x` and `y`.

    Returns:
      An array of the common shape, and of the common dtype of `x` and `y`.

    >>> import covector.numpy as jnp
    >>> x = jnp.array([-1.0, 2.0])
    >>> jnp.where(x > 0, x, 0)
    Array([0., 2.], dtype=float32)
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise ValueError(numpy_errors.where_needs_both_or_neither())
    if size is not None or fill_value is not None:
        raise ValueError(numpy_errors.where_takes_no_size())
    if own[type(condition)] and own[type(x)] and own[type(y)] and x.aval is y.aval:
        aval = condition.aval
        if aval.dtype == BOOL and aval.shape == x.aval.shape:
            return select_n_p.bind(condition, y, x)
    return _where(*operands("where", (condition, x, y)))


def select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: Any = 0) -> Any:
    """Elementwise the first of several choices whose condition holds.

    Args:
      condlist: the conditions, boolean arrays.
      choicelist: a value for each condition.
      default: the value where no condition holds.

    Returns:
      An array of the common shape, and of the common dtype of the values.

    >>> import covector.numpy as jnp
    >>> x = jnp.arange(5)
    >>> jnp.select([x < 2, x < 4], [x, 10 * x], -1)
    Array([ 0,  1, 20, 30, -1], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(numpy_errors.select_lengths(len(condlist), len(choicelist)))
    values = promote_dtypes(*operands("select", (*choicelist, default)))
    total = values[-1]
    for condition, value in zip(reversed(list(condlist)), reversed(values[:-1])):
        total = where(condition, value, total)
    return total


# ---------------------------------------------------------------- extrema


def maximum(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise larger one of two values; NaN if one of them is.

    Args:
      x, y: arrays or numbers, broadcast against each other.

    Returns:
      An array of their common shape and dtype.

    >>> import covector.numpy as jnp
    >>> jnp.maximum(jnp.array([1.0, jnp.nan, 3.0]), 2)
    Array([ 2., nan,  3.], dtype=float32)
    """
    return binary(max_p, "maximum", NUMBERS, same, x, y)


def minimum(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise smaller one of two values; NaN if one of them is.

    Args:
      x, y: arrays or numbers, broadcast against each other.

    Returns:
      An array of their common shape and dtype.

    >>> import covector.numpy as jnp
    >>> jnp.minimum(jnp.array([1.0, jnp.nan, 3.0]), 2)
    Array([ 1., nan,  2.], dtype=float32)
    """
    return binary(min_p, "minimum", NUMBERS, same, x, y)


def ordered(p: Any, x: Any, y: Any) -> Any:
    """A relation of order of two operands of one dtype; complex numbers are ordered as pairs."""
    if dtype_of(x).kind != "c":
        return p.bind(x, y)
    real_x, real_y = real_p.bind(x), real_p.bind(y)
    parts = p.bind(imag_p.bind(x), imag_p.bind(y))
    return select_where(eq_p.bind(real_x, real_y), parts, p.bind(real_x, real_y))


@composite
def _fmax(x: Any, y: Any) -> Any:
    x, y = promote("fmax", x, y)
    return select_where(or_p.bind(ordered(gt_p, x, y), ne_p.bind(y, y)), x, y)


@composite
def _fmin(x: Any, y: Any) -> Any:
    x, y = promote("fmin", x, y)
    return select_where(or_p.bind(ordered(lt_p, x, y), ne_p.bind(y, y)), x, y)


def fmax(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Elementwise larger one of two values, or the other one where one is NaN.

    >>> import covector.numpy as jnp
    >>> jnp.fmax(jnp.array([1.0, jnp.nan]), 2.0)
    Array([2., 2.], dtype=float32)
    """
    return _fmax(*operands("fmax", (x1, x2)))


def fmin(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Elementwise smaller one of two values, or the other one where one is NaN.

    >>> import covector.numpy as jnp
    >>> jnp.fmin(jnp.array([1.0, jnp.nan]), 2.0)
    Array([1., 2.], dtype=float32)
    """
    return _fmin(*operands("fmin", (x1, x2)))


@composite
def _clip(x: Any, low: Any, high: Any) -> Any:
    x, low, high = promote("clip", x, low, high)
    return min_p.bind(high, max_p.bind(low, x))


def clip(
    arr: ArrayLike | None = None, /, min: ArrayLike | None = None, max: ArrayLike | None = None
) -> Array:
    """Elementwise the nearest value between two bounds.

    Args:
      arr: an array of real numbers.
      min, max: the bounds, broadcast against it; None for no bound. Where the lower one is larger
        than the upper one, the result is the upper one.

    Returns:
      An array of the common shape and dtype.

    Raises:
      ValueError: something is complex.

    >>> import covector.numpy as jnp
    >>> jnp.clip(jnp.array([-1.0, 0.5, 2.0]), 0, 1)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    given = operands("clip", [arr, *[x for x in (min, max) if x is not None]])
    for x in given:
        if dtype_of(x) in COMPLEX:
            raise ValueError(numpy_errors.not_for_complex("clip", dtype_of(x)))
    if len(given) == 3:
        return _clip(*given)
    if min is not None:
        return maximum(min, arr)
    if max is not None:
        return minimum(max, arr)
    return as_array("clip", arr)


# ---------------------------------------------------------------- numbers that are not finite


@composite
def _replace(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    infinity = like(x, np.inf)
    x = select_where(ne_p.bind(x, x), nan, x)
    x = select_where(eq_p.bind(x, infinity), posinf, x)
    return select_where(eq_p.bind(x, like(x, -np.inf)), neginf, x)


def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> Array:
    """Replace what is not a finite number.

    Args:
      x: an array.
      copy: without effect; arrays are immutable.
      nan: what stands for NaN.
      posinf, neginf: what stands for the infinities; by default the largest finite number of the
        dtype, and the smallest.

    Returns:
      An array of the same dtype.

    >>> import covector.numpy as jnp
    >>> jnp.nan_to_num(jnp.array([1.0, jnp.nan, jnp.inf]), posinf=9.0)
    Array([1., 0., 9.], dtype=float32)
    """
    x = as_array("nan_to_num", x)
    dtype = dtype_of(x)
    if not dtypes.issubdtype(dtype, np.inexact):
        return x
    if dtypes.issubdtype(dtype, np.complexfloating):
        parts = real_p.bind(x), imag_p.bind(x)
        return complex_p.bind(*[nan_to_num(v, copy, nan, posinf, neginf) for v in parts])
    limits = dtypes.finfo(dtype)
    posinf = float(limits.max) if posinf is None else posinf
    neginf = float(limits.min) if neginf is None else neginf
    nan, posinf, neginf = [convert(v, dtype) for v in operands("nan_to_num", (nan, posinf, neginf))]
    return _replace(x, nan, posinf, neginf)
