"""Cumulative sums and products along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes, window_errors
from ..base.shapes import with_size
from ..control.cumulative import cumprod_p, cumsum_p
from ..core.array import Array, ArrayLike
from ..core.primitive import Primitive
from ..ops.comparison import ne_p
from ..ops.joining import concatenate
from ..ops.linear import full, reshape
from .arguments import axis_argument, check_no_out
from .composite import composite
from .promotion import BOOL, as_array, convert, dtype_of, number, shape_of
from .reductions import default_integer
from .selection import select_where


@composite
def _accumulated(
    a: Any,
    *,
    primitive: Primitive,
    axis: int | None,
    types: tuple[Any, Any],
    fill: int | None,
    initial: int | None,
) -> Any:
    """Accumulate in one dtype and return another.

    Args:
      a: an array.
      primitive: the cumulative reduction.
      axis: along which; None flattens the array.
      types: the dtypes.
      fill: what NaN is replaced by, unless it is None.
      initial: what to put in front, unless it is None.
    """
    compute, result = types
    if axis is None:
        a, axis = reshape(a, (np.size(a),)), 0
    if fill is not None and dtypes.issubdtype(dtype_of(a), np.inexact):
        a = select_where(ne_p.bind(a, a), number(fill, dtype_of(a)), a)
    if result == BOOL != dtype_of(a):  # count what is not zero: numbers might cancel
        a = ne_p.bind(a, number(0, dtype_of(a)))
    out = primitive.bind(convert(a, compute), axis=axis, reverse=False)
    out = convert(out, result)
    if initial is None:
        return out
    first = full(with_size(shape_of(out), axis, 1), initial, result)
    return concatenate([first, out], axis)


def _accumulate(
    name: str,
    primitive: Primitive,
    a: Any,
    axis: Any,
    dtype: Any,
    *,
    fill: int | None = None,
    initial: int | None = None,
    promotes: bool = False,
) -> Any:
    a = as_array(name, a)
    if axis is not None:
        axis = axis_argument(name, axis, a.ndim)
    if dtype is not None:
        result = dtypes.check_user_dtype_supported(dtype, name)
    else:
        result = default_integer(a.dtype) if promotes or a.dtype == BOOL else a.dtype
    compute = default_integer(result) if result == BOOL else result
    return _accumulated(
        a, primitive=primitive, axis=axis, types=(compute, result), fill=fill, initial=initial
    )


# ---------------------------------------------------------------- as NumPy has them


def cumsum(a: ArrayLike, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """The sums of the elements up to each one along an axis.

    Args:
      a: an array.
      axis: the axis; None means that the array is flattened.
      dtype: the dtype in which to add, and that of the result; by default that of `a`, and the
        default integer for booleans.
      out: not supported.

    Returns:
      An array of the shape of `a`, or a vector if `axis` is None.

    >>> import covector.numpy as jnp
    >>> jnp.cumsum(jnp.array([[1, 2], [3, 4]]))
    Array([ 1,  3,  6, 10], dtype=int32)
    >>> jnp.cumsum(jnp.array([[1, 2], [3, 4]]), axis=0)
    Array([[1, 2],
           [4, 6]], dtype=int32)
    """
    check_no_out("cumsum", out)
    return _accumulate("cumsum", cumsum_p, a, axis, dtype)


def cumprod(a: ArrayLike, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """The products of the elements up to each one along an axis; the arguments are as for `cumsum`.

    >>> import covector.numpy as jnp
    >>> jnp.cumprod(jnp.array([1, 2, 3, 4]))
    Array([ 1,  2,  6, 24], dtype=int32)
    """
    check_no_out("cumprod", out)
    return _accumulate("cumprod", cumprod_p, a, axis, dtype)


def nancumsum(a: ArrayLike, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """Cumulative sums that take NaN for 0; the arguments are as for `cumsum`.

    >>> import covector.numpy as jnp
    >>> jnp.nancumsum(jnp.array([1.0, jnp.nan, 3.0]))
    Array([1., 1., 4.], dtype=float32)
    """
    check_no_out("nancumsum", out)
    return _accumulate("nancumsum", cumsum_p, a, axis, dtype, fill=0)


def nancumprod(a: ArrayLike, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """Cumulative products that take NaN for 1; the arguments are as for `cumsum`.

    >>> import covector.numpy as jnp
    >>> jnp.nancumprod(jnp.array([2.0, jnp.nan, 3.0]))
    Array([2., 2., 6.], dtype=float32)
    """
    check_no_out("nancumprod", out)
    return _accumulate("nancumprod", cumprod_p, a, axis, dtype, fill=1)


# ---------------------------------------------------------------- as the array API has them


def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
) -> Array:
    """The sums of the elements up to each one along an axis.

    Args:
      x: an array of at least one dimension.
      axis: the axis; it may be left out if there is only one.
      dtype: the dtype in which to add, and that of the result. By default that of `x`, but
        booleans and short integers are added in the default integer dtype.
      include_initial: whether a zero is put in front, the sum of nothing.

    Returns:
      An array of the shape of `x`, or one longer along the axis.

    Raises:
      ValueError: `x` is a scalar, or there are several axes and none was given.

    >>> import covector.numpy as jnp
    >>> jnp.cumulative_sum(jnp.array([1, 2, 3]), include_initial=True)
    Array([0, 1, 3, 6], dtype=int32)
    """
    initial = 0 if include_initial else None
    return _over_axis("cumulative_sum", cumsum_p, x, axis, dtype, initial, promotes=True)


def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
) -> Array:
    """The products of the elements up to each one; the arguments are as for `cumulative_sum`.

    Short integers are multiplied as they are. What `include_initial` puts in front is a one.

    >>> import covector.numpy as jnp
    >>> jnp.cumulative_prod(jnp.array([1, 2, 3]), include_initial=True)
    Array([1, 1, 2, 6], dtype=int32)
    """
    initial = 1 if include_initial else None
    return _over_axis("cumulative_prod", cumprod_p, x, axis, dtype, initial, promotes=False)


def _over_axis(
    name: str,
    primitive: Primitive,
    x: Any,
    axis: Any,
    dtype: Any,
    initial: int | None,
    promotes: bool,
) -> Any:
    x = as_array(name, x)
    if x.ndim == 0:
        raise ValueError(window_errors.cumulative_of_scalar(name))
    if axis is None:
        if x.ndim > 1:
            raise ValueError(window_errors.cumulative_axis_needed(name, x.shape))
        axis = 0
    return _accumulate(name, primitive, x, axis, dtype, initial=initial, promotes=promotes)
