"""Reading and writing slices of arrays at indices that may be traced.

Here indices are prepared: integers, arrays or vectors of them, negative ones that count from the
end.  The primitives, whose indices are scalars that count from the start, stand in
`dynamic_slicing.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import config, dtypes, shape_errors
from ..base.dims import size_of
from ..base.shapes import canonicalize_shape
from ..core.avals import aval_of
from .arithmetic import add_p
from .comparison import lt_p
from .conversion import convert
from .dynamic_slicing import dynamic_slice_p, dynamic_update_slice_p
from .linear import constant_like, scalar
from .select import select_n_p
from .slicing import index_in_dim


def dynamic_slice(
    operand: Any,
    start_indices: Any,
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Any:
    """A part of an array, of a fixed shape, that begins where indices say.

    Args:
      operand: an array.
      start_indices: for each dimension an integer, which may be traced; a sequence of scalars, or
        a vector. An index at which the part would stick out is moved to the nearest at which it
        does not; but a Python integer must be an index of the dimension.
      slice_sizes: the shape of the part.
      allow_negative_indices: whether negative indices count from the end; for each dimension, or
        for all. Without it they are taken for 0.

    Returns:
      An array of shape `slice_sizes`.

    Raises:
      TypeError: the part is larger than the operand, or an index is no integer.
      ValueError: there is not one index for each dimension.
      IndexError: an index that is a Python integer is out of bounds.

    >>> from covector import lax
    >>> x = np.arange(12).reshape(3, 4)
    >>> lax.dynamic_slice(x, (1, 1), (2, 3))
    Array([[ 5,  6,  7],
           [ 9, 10, 11]], dtype=int32)
    >>> lax.dynamic_slice(x, (1, 1), (2, 4))
    Array([[ 4,  5,  6,  7],
           [ 8,  9, 10, 11]], dtype=int32)
    """
    sizes = canonicalize_shape(slice_sizes, "dynamic_slice")
    starts = start_operands("dynamic_slice", operand, start_indices, sizes, allow_negative_indices)
    return dynamic_slice_p.bind(operand, *starts, slice_sizes=sizes)


def dynamic_update_slice(
    operand: Any,
    update: Any,
    start_indices: Any,
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Any:
    """An array with a part of it, that begins where indices say, replaced.

    Args:
      operand: an array.
      update: what is written over the part: an array of the operand's dtype and number of
        dimensions, and no larger.
      start_indices: for each dimension an integer, as for `dynamic_slice`.
      allow_negative_indices: whether negative indices count from the end; for each dimension, or
        for all. Without it they are taken for 0.

    Returns:
      An array of the operand's shape.

    Raises:
      TypeError: the update does not fit, or an index is no integer.
      ValueError: there is not one index for each dimension.
      IndexError: an index that is a Python integer is out of bounds.

    >>> from covector import lax
    >>> lax.dynamic_update_slice(np.zeros(6), np.ones(3), (2,))
    Array([0., 0., 1., 1., 1., 0.], dtype=float32)
    >>> lax.dynamic_update_slice(np.zeros(6), np.ones(3), (5,))
    Array([0., 0., 0., 1., 1., 1.], dtype=float32)
    """
    name = "dynamic_update_slice"
    sizes = aval_of(update).shape
    starts = start_operands(name, operand, start_indices, sizes, allow_negative_indices)
    return dynamic_update_slice_p.bind(operand, update, *starts)


def start_operands(
    name: str,
    operand: Any,
    starts: Any,
    sizes: Sequence[int],
    allow_negative: bool | Sequence[bool],
) -> list[Any]:
    """The indices of a dynamic slice of some sizes with negative ones counted from the start."""
    shape = aval_of(operand).shape
    if not isinstance(starts, (tuple, list)):
        starts = entries(name, starts)
    if len(starts) != len(shape):
        raise ValueError(shape_errors.index_count(name, len(starts), shape))
    if isinstance(allow_negative, bool):
        allow_negative = (allow_negative,) * len(shape)
    check_literal_starts(name, starts, shape, sizes)
    return [
        start_operand(name, start, size, allowed)
        for start, size, allowed in zip(starts, shape, allow_negative)
    ]


def check_literal_starts(
    name: str, starts: Sequence[Any], shape: Sequence[int], sizes: Sequence[int]
) -> None:
    """Raise if a start that is a Python integer is no index of its dimension.

    A part that sticks out is moved nevertheless, as all are with the flag `parity`, as in JAX.
    """
    if config.parity.value:
        return
    for axis, (start, size, n) in enumerate(zip(starts, shape, sizes)):
        if type(start) is int and not (-size <= start < size or start == size - n):
            raise IndexError(shape_errors.start_outside(name, start, axis, size))


def entries(name: str, vector: Any) -> Sequence[Any]:
    """The entries of a vector of indices, each by itself."""
    aval = aval_of(vector)
    if aval.ndim != 1:
        raise ValueError(shape_errors.index_array(name, aval.shape))
    if isinstance(vector, np.ndarray):
        return list(vector)
    return [index_in_dim(vector, i, keepdims=False) for i in range(aval.shape[0])]


def start_operand(name: str, start: Any, size: int, allow_negative: bool) -> Any:
    """One index of a dynamic slice with a negative one counted from the start."""
    aval = aval_of(start)
    if aval.ndim or not dtypes.issubdtype(aval.dtype, np.integer):
        return start  # which the primitive refuses
    if isinstance(start, (int, np.integer, np.ndarray)):
        number = int(start)
        if number < 0:
            if not allow_negative:
                raise ValueError(shape_errors.index_negative(name, number, size))
            number += size
        return scalar(number, aval.dtype)
    if not allow_negative or dtypes.issubdtype(aval.dtype, np.unsignedinteger):
        return start
    is_negative = lt_p.bind(start, constant_like(start, 0))
    from_end = add_p.bind(convert(start, aval.dtype), constant_like(start, size))
    return select_n_p.bind(is_negative, start, from_end)


def dynamic_slice_in_dim(
    operand: Any,
    start_index: Any,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """A part of an array along one dimension, of a fixed size, that begins where an index says.

    Args:
      operand: an array.
      start_index: an integer, which may be traced, as for `dynamic_slice`.
      slice_size: the size of the part.
      axis: the dimension; negative ones count from the end.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      An array with `slice_size` entries along `axis`.

    >>> from covector import lax
    >>> lax.dynamic_slice_in_dim(np.arange(6), 2, 3)
    Array([2, 3, 4], dtype=int32)
    """
    shape = aval_of(operand).shape
    starts, allowed = starts_in_dim(len(shape), start_index, axis, allow_negative_indices)
    sizes = list(shape)
    sizes[axis] = size_of(slice_size)
    return dynamic_slice(operand, starts, sizes, allow_negative_indices=allowed)


def dynamic_update_slice_in_dim(
    operand: Any,
    update: Any,
    start_index: Any,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """An array with a part of it along one dimension, that begins where an index says, replaced.

    Args:
      operand: an array.
      update: what is written over the part: an array of the operand's dtype and number of
        dimensions, and no larger.
      start_index: an integer, which may be traced, as for `dynamic_slice`.
      axis: the dimension; negative ones count from the end.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      An array of the operand's shape.

    >>> from covector import lax
    >>> lax.dynamic_update_slice_in_dim(np.zeros(6), np.ones(3), 2, axis=0)
    Array([0., 0., 1., 1., 1., 0.], dtype=float32)
    """
    ndim = aval_of(operand).ndim
    starts, allowed = starts_in_dim(ndim, start_index, axis, allow_negative_indices)
    return dynamic_update_slice(operand, update, starts, allow_negative_indices=allowed)


def starts_in_dim(
    ndim: int, start: Any, axis: int, allow_negative: bool
) -> tuple[list[Any], list[bool]]:
    """The indices of a slice along `axis`, and whether each of them may be negative."""
    starts = [constant_like(start, 0)] * ndim
    allowed = [False] * ndim
    starts[axis], allowed[axis] = start, allow_negative
    return starts, allowed
