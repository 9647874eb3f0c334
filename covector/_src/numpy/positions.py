"""Indices of parts of arrays: diagonals, triangles, meshes; and positions in raveled arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, position_errors
from ..core.array import Array, ArrayLike
from ..ops.linear import broadcast_in_dim, full
from .arguments import index_argument, known_array
from .arithmetic import divmod, remainder
from .creation import ones
from .matrices import tril, triu
from .nonzero import nonzero
from .promotion import as_array, convert, dtype_of, operands, shape_of
from .ranges import iota
from .selection import clip, where

# ---------------------------------------------------------------- diagonals


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array.

    Args:
      n: the size of each of its dimensions.
      ndim: how many dimensions it has.

    Returns:
      For each dimension the vector 0, ..., n - 1.

    Raises:
      ValueError: a number is negative.

    >>> import covector.numpy as jnp
    >>> jnp.diag_indices(3)
    (Array([0, 1, 2], dtype=int32), Array([0, 1, 2], dtype=int32))
    """
    n, ndim = (index_argument("diag_indices", *x) for x in (("n", n), ("ndim", ndim)))
    for what, value in (("n", n), ("ndim", ndim)):
        if value < 0:
            raise ValueError(position_errors.negative("diag_indices", what, value))
    return (iota(dtypes.canonicalize_dtype(np.int64), (n,), 0),) * ndim


def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array whose dimensions are of one size.

    >>> import covector.numpy as jnp
    >>> jnp.diag_indices_from(jnp.zeros((2, 2)))
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    shape = shape_of(as_array("diag_indices_from", arr))
    if len(shape) < 2:
        raise ValueError(position_errors.rank_at_least_2("diag_indices_from", shape))
    if len(set(shape)) > 1:
        raise ValueError(position_errors.unequal_sizes("diag_indices_from", shape))
    return diag_indices(shape[0], len(shape))


# ---------------------------------------------------------------- triangles


def _sizes(where: str, n: Any, k: Any, m: Any) -> tuple[int, int, int]:
    n, k = index_argument(where, "n", n), index_argument(where, "k", k)
    return n, k, n if m is None else index_argument(where, "m", m)


def _count_above(n: int, k: int, m: int) -> int:
    """How many elements there are on and above the k-th diagonal, row by row."""
    return sum(min(max(m - k - row, 0), m) for row in range(n))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """The indices of the elements of a matrix on and above a diagonal, row by row.

    Args:
      n, m: the numbers of rows and columns; as many columns as rows by default.
      k: which diagonal: 0 is the main one, 1 the one above it, -1 the one below.

    Returns:
      The numbers of their rows and of their columns.

    >>> import covector.numpy as jnp
    >>> jnp.triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    n, k, m = _sizes("triu_indices", n, k, m)
    rows, columns = nonzero(triu(ones((n, m), bool), k), size=_count_above(n, k, m))
    return rows, columns


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """The indices of the elements of a matrix on and below a diagonal; see `triu_indices`.

    >>> import covector.numpy as jnp
    >>> jnp.tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    n, k, m = _sizes("tril_indices", n, k, m)
    count = n * m - _count_above(n, k + 1, m)
    rows, columns = nonzero(tril(ones((n, m), bool), k), size=count)
    return rows, columns


def _shape_of_matrix(where: str, arr: Any) -> tuple[int, ...]:
    shape = tuple(arr.shape) if hasattr(arr, "shape") else shape_of(as_array(where, arr))
    if len(shape) != 2:
        raise ValueError(position_errors.rank_exactly_2(where, shape))
    return shape


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """The indices of the elements of a matrix on and above a diagonal; see `triu_indices`.

    >>> import covector.numpy as jnp
    >>> jnp.triu_indices_from(jnp.zeros((2, 2)), k=1)
    (Array([0], dtype=int32), Array([1], dtype=int32))
    """
    n, m = _shape_of_matrix("triu_indices_from", arr)
    return triu_indices(n, k, m)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """The indices of the elements of a matrix on and below a diagonal; see `triu_indices`.

    >>> import covector.numpy as jnp
    >>> jnp.tril_indices_from(jnp.zeros((2, 2)), k=-1)
    (Array([1], dtype=int32), Array([0], dtype=int32))
    """
    n, m = _shape_of_matrix("tril_indices_from", arr)
    return tril_indices(n, k, m)


def mask_indices(
    n: int, mask_func: Callable[[Any, Any], Any], k: int = 0, *, size: int | None = None
) -> tuple[Array, Array]:
    """The indices of the elements of a square matrix that a function does not set to 0.

    Args:
      n: the number of rows and of columns.
      mask_func: takes a matrix of ones and `k`, as `triu` does.
      k: handed on to the function.
      size: how many indices to return; needed under `jit`. See `nonzero`.

    Returns:
      The numbers of their rows and of their columns.

    >>> import covector.numpy as jnp
    >>> jnp.mask_indices(3, jnp.triu, 1)
    (Array([0, 0, 1], dtype=int32), Array([1, 2, 2], dtype=int32))
    """
    rows, columns = nonzero(mask_func(ones((n, n)), k), size=size)
    return rows, columns


# ---------------------------------------------------------------- meshes


def ix_(*args: ArrayLike) -> tuple[Array, ...]:
    """Vectors of indices as arrays that broadcast against each other: an index of all pairs.

    Args:
      *args: vectors of integers, one for each dimension.

    Returns:
      For each an array that has its elements along its own dimension.

    Raises:
      ValueError: an argument is not a vector.
      NotImplementedError: an argument is a mask.

    >>> import covector.numpy as jnp
    >>> x = jnp.array([[1, 2, 3], [4, 5, 6]])
    >>> x[jnp.ix_(jnp.array([1, 0]), jnp.array([0, 2]))]
    Array([[4, 6],
           [1, 3]], dtype=int32)
    """
    out = []
    for axis, arg in enumerate(args):
        vector = as_array("ix_", arg)
        if vector.ndim != 1:
            raise ValueError(position_errors.mesh_of_array(vector.shape))
        if vector.dtype == np.bool_:
            raise NotImplementedError(position_errors.mesh_of_mask())
        shape = tuple([vector.size if i == axis else 1 for i in range(len(args))])
        if vector.size:
            out.append(broadcast_in_dim(vector, shape, (axis,)))
        else:  # no elements have no dtype; indices have one
            out.append(full(shape, 0, dtypes.canonicalize_dtype(np.int64)))
    return tuple(out)


# ---------------------------------------------------------------- positions in raveled arrays


def unravel_index(indices: ArrayLike, shape: Any, *, order: str = "C") -> tuple[Array, ...]:
    """The indices of elements that are known by their positions in the raveled array.

    Args:
      indices: an array of positions; negative ones count from the end.
      shape: the shape of the array.
      order: "C", where the last index runs first, or "F", where the first one does.

    Returns:
      For each dimension an array like `indices`. Positions out of bounds are brought into them.

    Raises:
      ValueError: `shape` is not a sequence of integers.

    >>> import covector.numpy as jnp
    >>> jnp.unravel_index(jnp.array([0, 4]), (2, 3))
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    if order not in ("C", "F"):
        raise ValueError(position_errors.unknown_mode("unravel_index", order, ("C", "F")))
    rest = as_array("unravel_index", indices)
    sizes = list(shape) if isinstance(shape, Sequence) or shape_of(shape) else [shape]
    if any(isinstance(size, Sequence) or shape_of(size) for size in sizes):
        raise ValueError(position_errors.flat_shape(shape))
    out: list[Any] = []
    for size in sizes if order == "F" else reversed(sizes):
        rest, index = divmod(rest, size)
        out.append(index)
    out = out if order == "F" else out[::-1]
    above = rest > 0
    below = False if dtypes.issubdtype(dtype_of(rest), np.unsignedinteger) else rest < -1
    return tuple([where(above, n - 1, where(below, 0, i)) for n, i in zip(sizes, out)])


_MODES = ("raise", "wrap", "clip", "ignore")


def ravel_multi_index(
    multi_index: Sequence[ArrayLike],
    dims: Sequence[int],
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: Any = None,
) -> Array:
    """The positions in the raveled array of elements that are known by their indices.

    Args:
      multi_index: an array of integers for each dimension.
      dims: the shape of the array.
      mode: what to do with indices out of bounds: "raise" an error, for which they must be known;
        "wrap" around; "clip" to the nearest one; or "ignore" it.
      order: "C" if the last index is the one that changes fastest, "F" if it is the first.
      dtype: the dtype of the result.

    Returns:
      An array of the common shape of the indices.

    Raises:
      ConcretizationTypeError: indices are traced, and the mode is "raise".
      TypeError: they are not integers.
      ValueError: an index is out of bounds, a mode or an order is unknown, the dtype is too small,
        or there are not as many arrays as dimensions.

    >>> import covector.numpy as jnp
    >>> jnp.ravel_multi_index((jnp.array([0, 1]), jnp.array([0, 1])), (2, 3))
    Array([0, 4], dtype=int32)
    """
    name = "ravel_multi_index"
    if len(multi_index) != len(dims):
        raise ValueError(position_errors.index_counts(len(multi_index), len(dims)))
    sizes = [index_argument(name, "dims", size) for size in dims]
    indices = operands(name, multi_index)
    dtype = _dtype_of_positions(indices, sizes, dtype)
    indices = [_in_bounds(name, i, size, mode) for i, size in zip(indices, sizes)]
    if order not in ("C", "F"):
        raise ValueError(position_errors.unknown_mode(name, order, ("C", "F")))
    position, stride = full((), 0, dtype), 1
    for index, size in _fastest_first(indices, sizes, order):
        position, stride = position + convert(index, dtype) * stride, stride * size
    return position


def _fastest_first(indices: Any, sizes: Any, order: str) -> list[tuple[Any, int]]:
    pairs = list(zip(indices, sizes))
    return pairs if order == "F" else pairs[::-1]


def _dtype_of_positions(indices: Any, sizes: list[int], dtype: Any) -> Any:
    if dtype is None:
        dtype = dtypes.result_type(int, *indices)
    else:
        dtype = dtypes.check_user_dtype_supported(dtype, "ravel_multi_index")
    if not dtypes.issubdtype(dtype, np.integer):
        raise ValueError(position_errors.result_dtype(dtype))
    if math.prod(sizes) - 1 > dtypes.iinfo(dtype).max:
        raise ValueError(position_errors.dtype_too_small(sizes, dtype))
    return dtype


def _in_bounds(name: str, index: Any, size: int, mode: str) -> Any:
    if not dtypes.issubdtype(dtype_of(index), np.integer):
        raise TypeError(position_errors.indices_dtype(name, dtype_of(index)))
    return within(name, index, size, mode, _MODES)


def within(name: str, index: Any, size: int, mode: str, modes: Sequence[str]) -> Any:
    """Indices along a dimension, treated as the public function `name` was told by its mode."""
    if mode not in modes:
        raise ValueError(position_errors.unknown_mode(name, mode, modes))
    if mode == "wrap":
        return remainder(index, size)
    if mode == "clip":
        return clip(index, 0, size - 1)
    if mode == "raise":
        known = known_array(index, lambda *of: position_errors.mode_needs_values(name, *of))
        outside = known[(known < 0) | (known >= size)]
        if outside.size:
            raise ValueError(position_errors.out_of_bounds(name, int(outside[0]), size))
    return index
