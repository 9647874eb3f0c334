"""Slices at places that may be computed, read and written: a pair of adjoints.

    dynamic_slice  <->  dynamic_update_slice of zeros

A slice always lies in the array: an index at which it would stick out is moved to the nearest at
which it does not.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, shape_errors
from ..base.shapes import canonicalize_shape
from ..core.avals import aval_of
from ..core.zeros import UndefinedPrimal, Zero
from .arithmetic import add_p
from .base import Op, Sample, draw
from .comparison import lt_p
from .families import check_same_dtypes
from .joining import unstack
from .linear import constant_like, instantiate, scalar, zeros_of_aval
from .physical import element_shape
from .select import select_n_p
from .shaping import expand_dims, squeeze


class DynamicSlice(Op):
    """The part of shape `slice_sizes` that begins at the indices given as operands."""

    def shape(self, x, *starts, slice_sizes):
        check_indices(self.name, x, starts)
        if len(slice_sizes) != x.ndim or not all(
            0 <= size <= whole for size, whole in zip(slice_sizes, x.shape)
        ):
            raise TypeError(shape_errors.slice_sizes(slice_sizes, x.shape))
        return slice_sizes

    def weak_type(self, x, *starts, slice_sizes):
        return x.weak_type

    def ref(self, x, *starts, slice_sizes):
        return x[window(x.shape, starts, slice_sizes)]

    def jvp(self, primals, tangents, *, slice_sizes):
        x, *starts = primals
        t = tangents[0]
        out = self.bind(x, *starts, slice_sizes=slice_sizes)
        if type(t) is Zero:
            return out, Zero(aval_of(out).to_tangent_aval())
        return out, self.bind(t, *starts, slice_sizes=slice_sizes)

    def transpose(self, ct, x, *starts, slice_sizes):
        zeros = zeros_of_aval(x.aval)
        return (dynamic_update_slice_p.bind(zeros, ct, *starts), *[None] * len(starts))

    def emit(self, b, x, *starts, slice_sizes):
        (aval,) = b.avals_in[:1]
        sizes = (*slice_sizes, *element_shape(aval))
        return b.op("dynamic_slice", x, *physical_starts(b, aval, starts), slice_sizes=sizes)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, starts, sizes in [
            ((5,), (1,), (3,)),
            ((5,), (4,), (3,)),
            ((2, 5), (-3, 2), (1, 2)),
            ((), (), ()),
            ((3, 0), (1, 0), (2, 0)),
        ]:
            indices = tuple([np.array(start, np.int32) for start in starts])
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype), *indices), dict(slice_sizes=sizes))


class DynamicUpdateSlice(Op):
    """The first operand with the second written over the part that begins at the given indices."""

    def shape(self, x, update, *starts):
        if update.ndim != x.ndim or any(n > whole for n, whole in zip(update.shape, x.shape)):
            raise TypeError(shape_errors.update_shape(update.shape, x.shape))
        check_indices(self.name, x, starts)
        return x.shape

    def dtype(self, x, update, *starts):
        check_same_dtypes(self.name, (x, update))
        return x.dtype

    def ref(self, x, update, *starts):
        out = np.array(x)
        out[window(x.shape, starts, update.shape)] = update
        return out

    def jvp(self, primals, tangents):
        x, update, *starts = primals
        out = self.bind(x, update, *starts)
        t, t_update = map(instantiate, tangents[:2])
        return out, self.bind(t, t_update, *starts)

    def transpose(self, ct, x, update, *starts):
        ct_x = ct_update = None
        aval = update.aval if type(update) is UndefinedPrimal else aval_of(update)
        if type(x) is UndefinedPrimal:
            ct_x = self.bind(ct, zeros_of_aval(aval.update(dtype=aval_of(ct).dtype)), *starts)
        if type(update) is UndefinedPrimal:
            ct_update = dynamic_slice_p.bind(ct, *starts, slice_sizes=aval.shape)
        return (ct_x, ct_update, *[None] * len(starts))

    def emit(self, b, x, update, *starts):
        starts = physical_starts(b, b.avals_in[0], starts)
        return b.op("dynamic_update_slice", x, update, *starts)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, update, starts in [
            ((5,), (3,), (1,)),
            ((5,), (3,), (4,)),
            ((2, 5), (1, 2), (-3, 2)),
            ((), (), ()),
            ((3, 2), (0, 1), (1, 0)),
        ]:
            indices = tuple([np.array(start, np.int32) for start in starts])
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype), draw(rng, update, dtype), *indices), {})


dynamic_slice_p = DynamicSlice("dynamic_slice")
dynamic_update_slice_p = DynamicUpdateSlice("dynamic_update_slice")

# ---------------------------------------------------------------- what the rules share


def check_indices(name: str, x: Any, starts: Sequence[Any]) -> None:
    """Raise unless there is one scalar index for each dimension, all of one integer dtype."""
    if len(starts) != x.ndim:
        raise TypeError(shape_errors.index_count(name, len(starts), x.shape))
    if any(start.ndim != 0 for start in starts):
        raise TypeError(shape_errors.index_shapes(name, [start.shape for start in starts]))
    found = [start.dtype for start in starts]
    if any(dtype != found[0] or not dtypes.issubdtype(dtype, np.integer) for dtype in found):
        raise TypeError(shape_errors.index_dtypes(name, found))


def window(shape: Sequence[int], starts: Sequence[Any], sizes: Sequence[int]) -> tuple:
    """The NumPy index of the part of `sizes` that begins at `starts`, or as near as can be."""
    clamped = [max(0, min(int(s), whole - n)) for s, whole, n in zip(starts, shape, sizes)]
    return tuple([slice(start, start + n) for start, n in zip(clamped, sizes)])


def physical_starts(b: Any, aval: Any, starts: Sequence[Any]) -> list[Any]:
    """The indices of a slice, followed by those of the dimensions of an extended dtype."""
    tail = len(element_shape(aval))
    if not tail:
        return list(starts)
    dtype = b.avals_in[-1].dtype if starts else np.dtype(np.int32)
    return [*starts, *[b.constant(0, dtype)] * tail]


# ---------------------------------------------------------------- public functions


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
        does not.
      slice_sizes: the shape of the part.
      allow_negative_indices: whether negative indices count from the end; for each dimension, or
        for all. Without it they are taken for 0.

    Returns:
      An array of shape `slice_sizes`.

    Raises:
      TypeError: the part is larger than the operand, or an index is no integer.
      ValueError: there is not one index for each dimension.

    >>> from covector import lax
    >>> x = np.arange(12).reshape(3, 4)
    >>> lax.dynamic_slice(x, (1, 1), (2, 3))
    Array([[ 5,  6,  7],
           [ 9, 10, 11]], dtype=int32)
    >>> lax.dynamic_slice(x, (1, 1), (2, 4))
    Array([[ 4,  5,  6,  7],
           [ 8,  9, 10, 11]], dtype=int32)
    """
    starts = start_operands("dynamic_slice", operand, start_indices, allow_negative_indices)
    sizes = canonicalize_shape(slice_sizes, "dynamic_slice")
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

    >>> from covector import lax
    >>> lax.dynamic_update_slice(np.zeros(6), np.ones(3), (2,))
    Array([0., 0., 1., 1., 1., 0.], dtype=float32)
    >>> lax.dynamic_update_slice(np.zeros(6), np.ones(3), (5,))
    Array([0., 0., 0., 1., 1., 1.], dtype=float32)
    """
    name = "dynamic_update_slice"
    starts = start_operands(name, operand, start_indices, allow_negative_indices)
    return dynamic_update_slice_p.bind(operand, update, *starts)


def start_operands(
    name: str, operand: Any, starts: Any, allow_negative: bool | Sequence[bool]
) -> list[Any]:
    """The indices of a dynamic slice with negative ones counted from the start."""
    shape = aval_of(operand).shape
    if not isinstance(starts, (tuple, list)):
        aval = aval_of(starts)
        if aval.ndim != 1:
            raise ValueError(shape_errors.index_array(name, aval.shape))
        starts = unstack(starts)
    if len(starts) != len(shape):
        raise ValueError(shape_errors.index_count(name, len(starts), shape))
    if isinstance(allow_negative, bool):
        allow_negative = (allow_negative,) * len(shape)
    return [
        start_operand(name, start, size, allowed)
        for start, size, allowed in zip(starts, shape, allow_negative)
    ]


def start_operand(name: str, start: Any, size: int, allow_negative: bool) -> Any:
    """One index of a dynamic slice with a negative one counted from the start."""
    dtype = aval_of(start).dtype
    if isinstance(start, (int, np.integer)):
        if start < 0:
            if not allow_negative:
                raise ValueError(shape_errors.index_negative(name, start, size))
            start = start + size
        return scalar(int(start), dtype)
    if not allow_negative or not dtypes.issubdtype(dtype, np.signedinteger):
        return start
    is_negative = lt_p.bind(start, constant_like(start, 0))
    return select_n_p.bind(is_negative, start, add_p.bind(start, constant_like(start, size)))


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
    sizes[axis] = operator.index(slice_size)
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


def dynamic_index_in_dim(
    operand: Any,
    index: Any,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """One entry of an array along one dimension, where an index says.

    Args:
      operand: an array.
      index: an integer, which may be traced. One out of bounds is moved to the nearest within.
      axis: the dimension; negative ones count from the end.
      keepdims: whether the dimension is kept, with size 1.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      An array.

    >>> from covector import lax
    >>> lax.dynamic_index_in_dim(np.array([[1, 2], [3, 4]]), 1, axis=1, keepdims=False)
    Array([2, 4], dtype=int32)
    """
    result = dynamic_slice_in_dim(
        operand, index, 1, axis, allow_negative_indices=allow_negative_indices
    )
    return result if keepdims else squeeze(result, (axis,))


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """An array with one entry along one dimension, where an index says, replaced.

    Args:
      operand: an array.
      update: what is written there: an array without the dimension `axis`, or of size 1 in it.
      index: an integer, which may be traced. One out of bounds is moved to the nearest within.
      axis: the dimension; negative ones count from the end.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      An array of the operand's shape.

    >>> from covector import lax
    >>> lax.dynamic_update_index_in_dim(np.zeros((2, 3)), np.ones(3), 1, axis=0)
    Array([[0., 0., 0.],
           [1., 1., 1.]], dtype=float32)
    """
    shape, update_shape = aval_of(operand).shape, aval_of(update).shape
    if len(update_shape) != len(shape):
        if len(update_shape) + 1 != len(shape):
            raise TypeError(shape_errors.update_index_rank(update_shape, shape))
        update = expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(
        operand, update, index, axis, allow_negative_indices=allow_negative_indices
    )
