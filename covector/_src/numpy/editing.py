"""Elements put into arrays, taken out, replaced, and chosen by conditions.

Each result is a selection of elements: which they are is found by sorting or counting places, and
no element is written over another.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes, position_errors
from ..base.shapes import canonicalize_axis
from ..core.array import Array, ArrayLike
from ..ops.linear import reshape
from .arguments import axes_argument, axis_argument, check_no_out, index_argument, known_array
from .composite import composite
from .creation import array, ones
from .cumulative import cumsum
from .joining import concatenate, stack
from .nonzero import nonzero
from .positions import diag_indices, within
from .promotion import (
    as_array,
    broadcast_to_shape,
    convert,
    dtype_of,
    operand,
    operands,
    shape_of,
)
from .ranges import arange
from .reductions import count_nonzero
from .selection import clip, where
from .shaping import broadcast_arrays, moveaxis, ravel
from .sorting import argsort
from .taking import take, take_along_axis

# ---------------------------------------------------------------- insertion


def insert(
    arr: ArrayLike, obj: ArrayLike | slice, values: ArrayLike, axis: int | None = None
) -> Array:
    """Put values before elements of an array.

    Args:
      arr: an array.
      obj: the places of the elements before which to put values: an integer, a vector of them, or
        a slice; negative ones count from the end. They may be traced.
      values: what to put there, in the dtype of the array and broadcast to its other dimensions.
      axis: the dimension along which to insert; None ravels the array.

    Returns:
      An array with as many elements more along the axis.

    Raises:
      ValueError: `obj` is of another kind.

    >>> import covector.numpy as jnp
    >>> jnp.insert(jnp.array([1, 2, 3]), jnp.array([0, 2]), 9)
    Array([9, 1, 2, 9, 3], dtype=int32)
    """
    a = as_array("insert", arr)
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_argument("insert", axis, a.ndim)
    size = a.shape[axis]
    places = _places(obj, size)
    values = array(as_array("insert", values), dtype=a.dtype, ndmin=a.ndim, copy=False)
    if places.ndim == 0:
        values = moveaxis(values, 0, axis)
    if places.size == 1:
        places = broadcast_to_shape(reshape(places, (1,)), (values.shape[axis],))
    (count,) = np.broadcast_shapes(shape_of(places), (values.shape[axis],))
    shape = list(a.shape)
    shape[axis] = count
    values = broadcast_to_shape(values, tuple(shape))
    return _inserted(a, broadcast_to_shape(places, (count,)), values, axis=axis)


def _places(obj: Any, size: int) -> Any:
    """Where to insert, as a vector or a scalar of integers."""
    if isinstance(obj, slice):
        return arange(*obj.indices(size))
    places = as_array("insert", obj)
    if places.ndim > 1:
        raise ValueError(position_errors.insertion_places(f"an array of shape {places.shape}"))
    if not dtypes.issubdtype(places.dtype, np.integer):
        if places.size or isinstance(obj, Array):
            raise ValueError(position_errors.insertion_dtype(places.dtype))
        return convert(places, dtypes.canonicalize_dtype(np.int64))
    return places


@composite
def _inserted(a: Any, places: Any, values: Any, *, axis: int) -> Any:
    """Values and elements in the order of their places; values come first where these are equal."""
    size = a.shape[axis]
    places = clip(where(places < 0, places + size, places), 0, size)
    order = argsort(concatenate([places, arange(size, dtype=places.dtype)]))
    return take(concatenate([values, a], axis), order, axis)


# ---------------------------------------------------------------- deletion


def delete(
    arr: ArrayLike,
    obj: ArrayLike | slice,
    axis: int | None = None,
    *,
    assume_unique_indices: bool = False,
) -> Array:
    """Take elements out of an array.

    Args:
      arr: an array.
      obj: which: an integer, a slice, an array of integers, or a mask. It must be known, unless the
        next argument says more.
      axis: the dimension along which to delete; None ravels the array.
      assume_unique_indices: promises that all integers in `obj` are different, so that the shape of
        the result is known even if they are traced.

    Returns:
      An array with the remaining elements.

    Raises:
      IndexError, ValueError: an index is out of bounds, or `obj` is of another kind.
      ConcretizationTypeError: `obj` is traced.

    >>> import covector.numpy as jnp
    >>> jnp.delete(jnp.array([5, 6, 7, 8]), jnp.array([0, 2]))
    Array([6, 8], dtype=int32)
    """
    a = as_array("delete", arr)
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_argument("delete", axis, a.ndim)
    size = a.shape[axis]
    if not isinstance(obj, slice):
        try:
            obj = canonicalize_axis(operator.index(obj), size)
        except TypeError:  # not one known integer
            obj = operand("delete", obj)  # under jit too, what is known on the host stays known
            if assume_unique_indices and dtypes.issubdtype(obj.dtype, np.integer):
                return _without(a, ravel(obj), axis=axis)
    return take(a, np.flatnonzero(_kept(obj, size)), axis)


def _kept(obj: Any, size: int) -> np.ndarray:
    """Which elements of a dimension remain if those that `obj` indexes are deleted."""
    kept = np.ones(size, bool)
    if isinstance(obj, (int, slice)):
        kept[obj] = False
        return kept
    obj = known_array(obj, position_errors.deleted_unknown)
    if not obj.size:
        return kept
    if obj.dtype == np.bool_:
        if obj.shape != (size,):
            raise ValueError(position_errors.deletion_mask(obj.shape, size))
        kept = ~obj
    elif dtypes.issubdtype(obj.dtype, np.integer):
        kept[obj] = False
    else:
        raise ValueError(position_errors.deletion_dtype(obj.dtype))
    return kept


@composite
def _without(a: Any, indices: Any, *, axis: int) -> Any:
    """What remains without elements at different indices: that is known to be so many."""
    size = a.shape[axis]
    kept = ones(size, bool).at[indices].set(False)
    (places,) = nonzero(kept, size=max(size - indices.size, 0))
    return take(a, places, axis)


# ---------------------------------------------------------------- elements by condition


def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
    out: None = None,
) -> Array:
    """The parts of an array for which a condition holds.

    Args:
      condition: a vector of booleans; parts beyond its end are left out.
      a: an array.
      axis: the dimension along which parts lie; None ravels the array.
      size: how many parts to return; needed under `jit`, where the condition is not known.
      fill_value: what fills up the result if there are less.
      out: not supported.

    Returns:
      An array of those parts.

    Raises:
      ValueError: the condition is not a vector or holds beyond the end of the array, or `size` is
        greater than that.

    >>> import covector.numpy as jnp
    >>> jnp.compress(jnp.array([True, False, True]), jnp.array([5, 6, 7]))
    Array([5, 7], dtype=int32)
    """
    check_no_out("compress", out)
    condition, a = as_array("compress", condition), as_array("compress", a)
    condition = convert(condition, np.dtype(bool))
    if condition.ndim != 1:
        raise ValueError(position_errors.condition_shape(condition.shape))
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_argument("compress", axis, a.ndim)
    length = a.shape[axis]
    if size is None:
        (places,) = nonzero(condition)
        if condition.size > length and places.size and int(places[-1]) >= length:
            raise ValueError(position_errors.condition_too_long(condition.size, length))
        return take(a, places, axis)
    size = index_argument("compress", "size", size)
    if not 0 <= size <= length:
        raise ValueError(position_errors.count_out_of_range(size, length))
    fill = as_array("compress", fill_value)
    return _compressed(condition[:length], a, fill, axis=axis, size=size)


@composite
def _compressed(condition: Any, a: Any, fill: Any, *, axis: int, size: int) -> Any:
    (places,) = nonzero(condition, size=size)
    parts = moveaxis(take(a, places, axis), axis, 0)
    found = arange(size) < count_nonzero(condition)
    found = reshape(found, (size, *[1] * (a.ndim - 1)))
    return moveaxis(where(found, parts, convert(fill, a.dtype)), 0, axis)


def extract(
    condition: ArrayLike, arr: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0
) -> Array:
    """The elements of an array for which a condition holds, row by row.

    Args:
      condition: an array of booleans of the same size.
      arr: an array.
      size, fill_value: as for `compress`.

    Returns:
      A vector.

    >>> import covector.numpy as jnp
    >>> x = jnp.array([[1, 2], [3, 4]])
    >>> jnp.extract(x % 2 == 0, x)
    Array([2, 4], dtype=int32)
    """
    flat = [ravel(as_array("extract", x)) for x in (condition, arr)]
    return compress(*flat, size=size, fill_value=fill_value)


def place(arr: ArrayLike, mask: ArrayLike, vals: ArrayLike, *, inplace: bool = True) -> Array:
    """Replace the elements for which a mask holds by values, one after the other.

    Args:
      arr: an array.
      mask: an array of booleans of as many elements.
      vals: the values, which are repeated if they are less than the elements.
      inplace: must be False: arrays are immutable, so the result is a new one.

    Returns:
      An array like `arr`.

    Raises:
      ValueError: `inplace` is true, sizes differ, or there are no values.

    >>> import covector.numpy as jnp
    >>> x = jnp.array([1, 2, 3, 4])
    >>> jnp.place(x, x > 1, jnp.array([10, 20]), inplace=False)
    Array([ 1, 10, 20, 10], dtype=int32)
    """
    arr, mask, vals = (as_array("place", x) for x in (arr, mask, vals))
    if inplace:
        raise ValueError(position_errors.in_place("place"))
    if arr.size != mask.size:
        raise ValueError(position_errors.place_sizes(arr.shape, mask.shape))
    if not vals.size:
        raise ValueError(position_errors.nothing_to_place())
    return _placed(arr, mask, vals) if arr.size else arr


@composite
def _placed(arr: Any, mask: Any, vals: Any) -> Any:
    mask = convert(ravel(mask), np.dtype(bool))
    turn = cumsum(mask) - 1
    values = take(ravel(vals), where(mask, turn, 0) % vals.size)
    out = where(mask, convert(values, arr.dtype), ravel(arr))
    return reshape(out, arr.shape)


def fill_diagonal(
    a: ArrayLike, val: ArrayLike, wrap: bool = False, *, inplace: bool = True
) -> Array:
    """Replace the elements of the main diagonal.

    Args:
      a: an array of at least two dimensions; if they are more, they must be of one size.
      val: the new values: a scalar, or an array that is raveled, and repeated or cut off.
      wrap: not supported.
      inplace: must be False: arrays are immutable, so the result is a new one.

    Returns:
      An array like `a`.

    Raises:
      NotImplementedError: `wrap` or `inplace` is true.
      ValueError: the array is of another shape.

    >>> import covector.numpy as jnp
    >>> jnp.fill_diagonal(jnp.zeros((2, 3), int), 7, inplace=False)
    Array([[7, 0, 0],
           [0, 7, 0]], dtype=int32)
    """
    if inplace:
        raise NotImplementedError(position_errors.in_place("fill_diagonal"))
    if wrap:
        raise NotImplementedError(position_errors.wrapped_diagonal())
    a, val = as_array("fill_diagonal", a), as_array("fill_diagonal", val)
    if a.ndim < 2:
        raise ValueError(position_errors.rank_at_least_2("fill_diagonal", a.shape))
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError(position_errors.unequal_sizes("fill_diagonal", a.shape))
    n = min(a.shape)
    if val.ndim:
        val = take(ravel(val), np.arange(n) % max(val.size, 1))
    return a.at[diag_indices(n, a.ndim)].set(val)


# ---------------------------------------------------------------- choices, zeros


def choose(
    a: ArrayLike,
    choices: Array | np.ndarray | Sequence[ArrayLike],
    out: None = None,
    mode: str = "raise",
) -> Array:
    """Elementwise one of several arrays, whose number another array holds.

    Args:
      a: an array of integers.
      choices: the arrays, broadcast against `a` and each other.
      out: not supported.
      mode: what to do with integers out of bounds: "raise" an error, for which they must be known;
        "wrap" around; or "clip" to the nearest one.

    Returns:
      An array of the common shape, and of the common dtype of the choices.

    Raises:
      ConcretizationTypeError: `a` is traced, and the mode is "raise".
      ValueError: an integer is out of bounds, a mode is unknown, or `a` is not of integers.

    >>> import covector.numpy as jnp
    >>> jnp.choose(jnp.array([1, 0, 1]), [jnp.array([1, 2, 3]), jnp.array([10, 20, 30])])
    Array([10,  2, 30], dtype=int32)
    """
    check_no_out("choose", out)
    a, *arrays = operands("choose", (a, *choices))
    if not dtypes.issubdtype(dtype_of(a), np.integer):
        raise ValueError(position_errors.indices_dtype("choose", dtype_of(a)))
    chosen = within("choose", a, len(arrays), mode, ("raise", "wrap", "clip"))
    chosen, *arrays = broadcast_arrays(chosen, *arrays)
    return take_along_axis(stack(arrays), chosen[None], 0)[0]


def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: int | Sequence[int] | None = None) -> Array:
    """Leave out zeros at the ends of an array.

    Args:
      filt: an array, which must be known.
      trim: where to leave out: "f" in front, "b" at the back.
      axis: along which dimensions, by default all. Along one of them a part is left out if all of
        it is zero.

    Returns:
      A part of the array.

    Raises:
      ConcretizationTypeError: the array is traced.

    >>> import covector.numpy as jnp
    >>> jnp.trim_zeros(jnp.array([0, 0, 1, 0, 2, 0]))
    Array([1, 0, 2], dtype=int32)
    """
    known = known_array(operand("trim_zeros", filt), position_errors.trimmed_unknown) != 0
    x = as_array("trim_zeros", filt)
    index = [slice(None)] * x.ndim
    for dim in axes_argument("trim_zeros", axis, x.ndim):
        (places,) = np.nonzero(known.any(axis=tuple(set(range(x.ndim)) - {dim})))
        first, last = (places[0], places[-1]) if places.size else (0, -1)
        front, back = "f" in trim.lower(), "b" in trim.lower()
        if front or back:
            stop = int(last) + 1 if back or not places.size else None
            index[dim] = slice(int(first) if front or not places.size else None, stop)
    return x[tuple(index)]
