"""Reading and writing elements of arrays by functions rather than by indexing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..base.dims import min_dim
from ..base.shapes import broadcast_sizes
from ..core.array import Array, ArrayLike
from ..ops.arithmetic import max_p, min_p
from ..ops.comparison import eq_p
from ..ops.gather import gather_p, gather_params
from ..ops.gather_dimensions import GatherDimensionNumbers, GatherScatterMode
from ..ops.linear import broadcast_in_dim, reshape
from ..ops.scattering import CLIP, FILL_OR_DROP, PROMISE_IN_BOUNDS
from ..ops.shaping import broadcast_to, squeeze
from .arguments import axis_argument, check_no_out
from .arithmetic import remainder
from .at import IndexUpdateRef, scalar_fill_value
from .composite import composite
from .gathering import from_end
from .indexing import get
from .indices import Cut, Index
from .promotion import BOOL, as_array, convert, dtype_of, number, shape_of
from .reductions import sum as total
from .selection import where

Axis = int | None
Mode = str | GatherScatterMode | None


def _indices(function: str, x: Any, error: type[Exception] = TypeError) -> Any:
    """An argument that consists of indices; `error` is raised if it does not."""
    x = as_array(function, x)
    if not dtypes.issubdtype(dtype_of(x), np.integer):
        raise error(numpy_errors.take_indices(function, dtype_of(x)))
    return x


def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: Axis = None,
    out: None = None,
    mode: Mode = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Array:
    """Parts of an array at indices along a dimension.

    `take(x, i, axis=1)` is `x[:, i]` but for what is read out of bounds.

    Args:
      a: an array.
      indices: integers, or booleans, which count as 0 and 1.
      axis: the dimension; None takes from the raveled array.
      out: not supported.
      mode: what becomes of indices out of bounds: "fill" (the default) reads `fill_value`, "clip"
        the nearest element, also for negative indices, and "wrap" takes indices modulo the size.
      unique_indices: a promise that no index occurs twice.
      indices_are_sorted: a promise that the indices rise.
      fill_value: by default NaN, for signed integers the least number, for unsigned ones the
        largest, for booleans True.

    Returns:
      An array with the dimensions of the indices in place of `axis`.

    >>> import covector.numpy as jnp
    >>> jnp.take(jnp.array([10, 20, 30]), jnp.array([2, 0, -1]))
    Array([30, 10, 30], dtype=int32)
    """
    check_no_out("take", out)
    a, indices = as_array("take", a), as_array("take", indices)
    if dtype_of(indices) == BOOL:
        indices = convert(indices, np.dtype(np.int32))
    indices = _indices("take", indices, ValueError)
    if axis is None:
        a, axis = reshape(a, (a.aval.size,)), 0
    shape = a.aval.shape
    axis = axis_argument("take", axis, len(shape))
    gather_mode = {None: FILL_OR_DROP, "fill": FILL_OR_DROP, "clip": CLIP, "wrap": None}
    if mode == "raise":
        raise NotImplementedError(numpy_errors.mode_raise("take"))
    if mode not in gather_mode:
        raise ValueError(numpy_errors.take_mode("take", mode, "'fill', 'clip' and 'wrap'"))
    if mode == "wrap" and shape[axis]:
        indices = remainder(indices, shape[axis])
    if not shape[axis] and indices.size:
        raise IndexError(numpy_errors.take_from_nothing(axis, shape))
    entries: list[Any] = [Cut(0, size, 1) for size in shape]
    entries[axis] = indices
    return get(
        a,
        Index(entries, True),
        gather_mode[mode] is FILL_OR_DROP,
        mode=gather_mode[mode],
        fill_value=scalar_fill_value(fill_value),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
    )


# ---------------------------------------------------------------- along an axis


def take_along_axis(
    arr: ArrayLike,
    indices: ArrayLike,
    axis: Axis = -1,
    mode: Mode = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool | None = None,
) -> Array:
    """Elements of an array at indices along a dimension, other indices in each line along it.

    So one reads with the results of `argmax` or `argsort`.

    Args:
      arr: an array.
      indices: integers, in as many dimensions. But for `axis`, the shapes are broadcast together.
      axis: the dimension; None for the raveled array.
      mode: what becomes of indices out of bounds: "fill" (the default), "clip",
        "promise_in_bounds"; or "one_hot", which multiplies by a matrix of zeros and ones.
      fill_value: as for `take`.
      wrap_negative_indices: whether they count from the end; by default so unless the mode is
        "promise_in_bounds".

    Returns:
      An array with the size of the indices along `axis`.

    >>> import covector.numpy as jnp
    >>> x = jnp.array([[3, 1, 2], [4, 6, 5]])
    >>> jnp.take_along_axis(x, jnp.argmax(x, axis=1, keepdims=True), axis=1)
    Array([[3],
           [6]], dtype=int32)
    """
    name = "take_along_axis"
    arr, indices = as_array(name, arr), _indices(name, indices)
    if axis is None:
        arr, axis = reshape(arr, (arr.aval.size,)), 0
    shape = arr.aval.shape
    if len(shape) != indices.ndim:
        raise ValueError(numpy_errors.along_axis_ranks(name, shape, indices.shape))
    axis = axis_argument(name, axis, len(shape))
    if wrap_negative_indices is None:
        wrap_negative_indices = GatherScatterMode.from_any(mode) is not PROMISE_IN_BOUNDS
    return _along_axis(
        arr,
        indices,
        axis=axis,
        mode=GatherScatterMode.from_any(mode),
        fill_value=scalar_fill_value(fill_value),
        wrap=bool(wrap_negative_indices),
    )


@composite
def _along_axis(
    x: Any, indices: Any, *, axis: int, mode: GatherScatterMode, fill_value: Any, wrap: bool
) -> Any:
    shape, given = shape_of(x), shape_of(indices)
    size, dtype = shape[axis], dtype_of(x)
    out = list(broadcast_sizes(_without(given, axis), _without(shape, axis)))
    out.insert(axis, given[axis])
    if not size:
        return broadcast_in_dim(number(0, dtype), tuple(out), ())
    if wrap:
        indices = from_end(indices, size)
    if mode is GatherScatterMode.ONE_HOT:
        return _by_one_hot(x, indices, axis)
    # A dimension goes along with one of the indices, unless these are the same all along it.
    batch = [i for i in range(len(shape)) if i != axis and given[i] != 1]
    dropped = [i for i in batch if shape[i] == 1]
    kept = [i for i in range(len(shape)) if i not in dropped]
    counted = sorted([axis, *batch])
    paired = [i for i in batch if i not in dropped]
    numbers = GatherDimensionNumbers(
        tuple([i for i in range(len(shape)) if i not in counted]),
        (kept.index(axis),),
        (kept.index(axis),),
        tuple([kept.index(i) for i in paired]),
        tuple([counted.index(i) for i in paired]),
    )
    sizes = [min_dim(shape[i], 1) if i in counted else shape[i] for i in kept]
    params = gather_params(dtype, numbers, sizes, mode=mode, fill_value=fill_value)
    rows = reshape(indices, (*[out[i] for i in counted], 1))
    return gather_p.bind(squeeze(x, dropped), rows, **params)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def _by_one_hot(x: Any, indices: Any, axis: int) -> Any:
    """The elements as sums over all, each with itself alone; zero for indices out of bounds."""
    rank, size = len(shape_of(x)), shape_of(x)[axis]
    every = np.arange(size, dtype=np.int32).reshape((1,) * axis + (size,) + (1,) * (rank - axis))
    indices = convert(indices, every.dtype)
    chosen = eq_p.bind(broadcast_in_dim(indices, *_with_dim(shape_of(indices), axis)), every)
    x = broadcast_in_dim(x, *_with_dim(shape_of(x), axis + 1))
    return total(where(chosen, x, number(0, dtype_of(x))), axis, dtype_of(x))


def _with_dim(shape: tuple[int, ...], dim: int) -> tuple[tuple[int, ...], list[int]]:
    """A shape with a dimension of size 1 more, and where the others are in it."""
    others = [i + (i >= dim) for i in range(len(shape))]
    return (*shape[:dim], 1, *shape[dim:]), others


def put_along_axis(
    arr: ArrayLike,
    indices: ArrayLike,
    values: ArrayLike,
    axis: Axis,
    inplace: bool = True,
    *,
    mode: Mode = None,
) -> Array:
    """An array with elements replaced at indices along a dimension, others in each line along it.

    Args:
      arr: an array.
      indices: integers, in as many dimensions. But for `axis`, the shapes are broadcast together.
      values: what is written, broadcast to the shape of the indices.
      axis: the dimension; None for the raveled array.
      inplace: must be False, as a reminder that `arr` itself stays as it is.
      mode: what becomes of indices out of bounds: see `ndarray.at`.

    Returns:
      An array of the shape of `arr`.

    >>> import covector.numpy as jnp
    >>> x = jnp.array([[3, 1, 2], [4, 6, 5]])
    >>> jnp.put_along_axis(x, jnp.array([[0], [2]]), 9, axis=1, inplace=False)
    Array([[9, 1, 2],
           [4, 6, 9]], dtype=int32)
    """
    name = "put_along_axis"
    if inplace:
        raise ValueError(numpy_errors.in_place(name))
    arr, indices = as_array(name, arr), _indices(name, indices)
    values, shape = as_array(name, values), arr.aval.shape
    if axis is None:
        arr, axis = reshape(arr, (arr.aval.size,)), 0
    if arr.aval.ndim != indices.ndim:
        raise ValueError(numpy_errors.along_axis_ranks(name, arr.aval.shape, indices.shape))
    axis = axis_argument(name, axis, arr.aval.ndim)
    grid = list(np.ix_(*map(np.arange, arr.aval.shape)))
    grid[axis] = indices
    values = broadcast_to(values, indices.shape, name)
    return reshape(IndexUpdateRef(arr, tuple(grid)).set(values, mode=mode), shape)


def put(
    a: ArrayLike,
    ind: ArrayLike,
    v: ArrayLike,
    mode: Mode = None,
    *,
    inplace: bool = True,
) -> Array:
    """An array with elements replaced at indices into the raveled array.

    Args:
      a: an array.
      ind: integers.
      v: what is written; repeated if it is shorter than the indices.
      mode: what becomes of indices out of bounds: "clip" takes the nearest element, also for
        negative indices, and "wrap" takes indices modulo the size. With None, negative indices
        count from the end, and then the nearest element is taken.
      inplace: must be False, as a reminder that `a` itself stays as it is.

    Returns:
      An array of the shape of `a`.

    >>> import covector.numpy as jnp
    >>> jnp.put(jnp.zeros((2, 2), int), jnp.array([3, 0]), jnp.array([5, 7]), inplace=False)
    Array([[7, 0],
           [0, 5]], dtype=int32)
    """
    if inplace:
        raise ValueError(numpy_errors.in_place("put"))
    a, ind, v = as_array("put", a), _indices("put", ind), as_array("put", v)
    size, count = a.aval.size, ind.aval.size
    if mode == "raise":
        raise NotImplementedError(numpy_errors.mode_raise("put"))
    if mode not in (None, "clip", "wrap"):
        raise ValueError(numpy_errors.take_mode("put", mode, "'clip' and 'wrap'"))
    if not (size and count and v.aval.size):
        return a
    ind = reshape(ind, (count,))
    if mode == "clip":
        low, high = (number(i, dtype_of(ind)) for i in (0, size - 1))
        ind = min_p.bind(high, max_p.bind(low, ind))
    elif mode == "wrap":
        ind = remainder(ind, size)
    values = reshape(v, (v.aval.size,))
    if v.aval.size != count:
        values = values[np.arange(count) % v.aval.size]
    written = IndexUpdateRef(reshape(a, (size,)), ind).set(
        convert(values, dtype_of(a)), mode="clip"
    )
    return reshape(written, a.aval.shape)
