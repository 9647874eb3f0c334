"""Other shapes for the same elements: broadcasting, reshaping, permuting, reversing, tiling.

The primitives that the rules of derivatives need, `broadcast_in_dim`, `reshape` and `transpose`,
stand in `linear.py`; here are their public functions, and the primitives beside them.

    squeeze  <->  broadcast_in_dim        rev  <->  rev        tile  <->  reduce_sum of a reshape
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import shape_errors
from ..base.shapes import (
    canonicalize_axis,
    canonicalize_shape,
    inserted,
    integers_or_integer,
    without,
)
from ..core.array import Array
from ..core.avals import aval_of
from ..core.fusion import CHEAP, MOVING, REPEATING
from . import linear
from .base import Sample, draw
from .identities import stage
from .linear import Linear, broadcast_in_dim_p, move_axis, reshape_p, transpose_p
from .physical import element_shape, physical_aval

# ---------------------------------------------------------------- broadcasting


def broadcast_in_dim(
    operand: Any,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out_sharding: Any = None,
) -> Any:
    """Copy an array along new dimensions, and along those in which it has size 1.

    Args:
      operand: an array.
      shape: the shape of the result.
      broadcast_dimensions: for each dimension of the operand, the dimension of the result that it
        becomes. Its size must be 1, or that of the result there.
      out_sharding: how the result is to be sharded.

    Returns:
      An array of the given shape and the operand's dtype.

    Raises:
      TypeError: the shapes do not fit.

    >>> from covector import lax
    >>> lax.broadcast_in_dim(np.array([1, 2]), (2, 3), (0,))
    Array([[1, 1, 1],
           [2, 2, 2]], dtype=int32)
    """
    dims = tuple(broadcast_dimensions)
    if not dims and out_sharding is None and len(shape) == aval_of(operand).ndim:
        if isinstance(operand, Array):
            return operand
    return broadcast_in_dim_p.bind(
        operand, shape=tuple(shape), broadcast_dimensions=dims, sharding=out_sharding
    )


def broadcast(operand: Any, sizes: Sequence[int], *, out_sharding: Any = None) -> Any:
    """Copy an array along new leading dimensions.

    Args:
      operand: an array.
      sizes: the sizes of the new dimensions.
      out_sharding: how the result is to be sharded.

    Returns:
      An array of shape `(*sizes, *operand.shape)`.

    >>> from covector import lax
    >>> lax.broadcast(np.zeros((4, 5)), (2, 3)).shape
    (2, 3, 4, 5)
    """
    shape = aval_of(operand).shape
    if len(sizes) == 0 and out_sharding is None:
        return stage(operand)
    dims = range(len(sizes), len(sizes) + len(shape))
    return broadcast_in_dim(operand, (*sizes, *shape), dims, out_sharding=out_sharding)


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """Add leading dimensions of size 1 until an array has `rank` dimensions.

    Raises `ValueError` if it has more.

    >>> from covector import lax
    >>> lax.broadcast_to_rank(np.zeros(5), 3).shape
    (1, 1, 5)
    """
    shape = aval_of(x).shape
    if len(shape) > rank:
        raise ValueError(shape_errors.rank_too_high(shape, rank))
    return broadcast(x, (1,) * (rank - len(shape)))


def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """Broadcast an array to the shape of another, as NumPy would.

    Args:
      arr: an array.
      like_arr: an array, whose shape the result has.

    Returns:
      An array of the elements of `arr`. `ValueError` is raised where it cannot be broadcast.

    >>> from covector import lax
    >>> lax.broadcast_like(np.array([1, 2, 3]), np.zeros((2, 3)))
    Array([[1, 2, 3],
           [1, 2, 3]], dtype=int32)
    """
    return broadcast_to(arr, aval_of(like_arr).shape, "broadcast_like")


def broadcast_to(x: Any, target: tuple[int, ...], where: str) -> Any:
    """`x` broadcast to the shape `target`, for the public function `where`."""
    shape = aval_of(x).shape
    if shape == target:
        return stage(x)
    lead = len(target) - len(shape)
    if lead < 0 or any(size not in (1, want) for size, want in zip(shape, target[lead:])):
        raise ValueError(shape_errors.cannot_broadcast_to(where, shape, target))
    return broadcast_in_dim(x, target, range(lead, len(target)))


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape to which arrays of the given shapes are broadcast together, as by NumPy.

    Sizes are matched from the last dimension on; they must be equal, or 1, or missing.

    Args:
      *shapes: one shape or more.

    Returns:
      The common shape.

    Raises:
      ValueError: there is none.
      TypeError: a size is negative or not an integer.

    >>> from covector import lax
    >>> lax.broadcast_shapes((3, 1), (1, 4), (5, 1, 1))
    (5, 3, 4)
    """
    if not shapes:
        raise TypeError(shape_errors.nothing_to_join("broadcast_shapes"))
    known = [canonicalize_shape(shape, "broadcast_shapes") for shape in shapes]
    for shape in known:
        if any(size < 0 for size in shape):
            raise TypeError(shape_errors.negative_size_in_broadcast(shape))
    rank = max(map(len, known))
    common = []
    for sizes in zip(*[(1,) * (rank - len(shape)) + shape for shape in known]):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            raise ValueError(shape_errors.incompatible_shapes(known))
        common.append(wide.pop() if wide else 1)
    return tuple(common)


# ---------------------------------------------------------------- reshaping and permuting


def reshape(
    operand: Any,
    new_sizes: Sequence[int],
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Give the elements of an array, in row-major order, another shape.

    To add or remove dimensions of size 1, `expand_dims` and `squeeze` say better which.

    Args:
      operand: an array.
      new_sizes: the shape of the result.
      dimensions: a permutation of the operand's dimensions by which it is transposed first.
      out_sharding: how the result is to be sharded.

    Returns:
      An array of shape `new_sizes`.

    Raises:
      TypeError: the numbers of elements differ, or `dimensions` is no permutation.

    >>> from covector import lax
    >>> x = lax.reshape(np.arange(6), (2, 3))
    >>> x
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    >>> lax.reshape(x, (6,), (1, 0))
    Array([0, 3, 1, 4, 2, 5], dtype=int32)
    """
    sizes = canonicalize_shape(new_sizes, "reshape")
    shape = aval_of(operand).shape
    if dimensions is not None:
        dimensions = integers_or_integer(dimensions, "reshape", "dimensions")
        if dimensions == tuple(range(len(shape))):
            dimensions = None
    if shape == sizes and shape and dimensions is None and out_sharding is None:
        if isinstance(operand, Array):
            return operand
    return reshape_p.bind(operand, new_sizes=sizes, dimensions=dimensions, sharding=out_sharding)


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """Collapse a range of dimensions into one, in row-major order.

    Args:
      operand: an array.
      start_dimension: the first of the dimensions; negative ones count from the end.
      stop_dimension: the dimension behind the last; None means all that follow.

    Returns:
      An array in which one dimension stands for those of the range.

    >>> from covector import lax
    >>> lax.collapse(np.zeros((2, 3, 4)), 0, 2).shape
    (6, 4)
    """
    shape = aval_of(operand).shape
    low, high, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    if high < low:
        raise ValueError(shape_errors.collapse_range(shape, start_dimension, stop_dimension))
    return reshape(operand, (*shape[:low], math.prod(shape[low:high]), *shape[high:]))


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """Insert dimensions of size 1.

    Args:
      array: an array.
      dimensions: where the new dimensions are in the result; negative ones count from its end.

    Returns:
      An array with `len(dimensions)` dimensions more. `ValueError` is raised if one of them is
      named twice or out of bounds.

    >>> from covector import lax
    >>> lax.expand_dims(np.zeros((2, 3)), (0, -1)).shape
    (1, 2, 3, 1)
    """
    shape = aval_of(array).shape
    rank = len(shape) + len(dimensions)
    dims = {canonicalize_axis(dim, rank) for dim in dimensions}
    if len(dims) != len(dimensions):
        raise ValueError(shape_errors.expand_repeats(dimensions))
    for dim in sorted(dims):
        shape = inserted(shape, dim, 1)
    return broadcast_in_dim(array, shape, [dim for dim in range(rank) if dim not in dims])


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """Permute the dimensions of an array.

    Args:
      operand: an array.
      permutation: for each dimension of the result, the dimension of the operand that it is.

    Returns:
      An array of shape `[operand.shape[i] for i in permutation]`.

    >>> from covector import lax
    >>> lax.transpose(np.array([[1, 2, 3], [4, 5, 6]]), (1, 0))
    Array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    """
    order = tuple(map(operator.index, permutation))
    if order == tuple(range(aval_of(operand).ndim)) and isinstance(operand, Array):
        return operand
    return transpose_p.bind(operand, permutation=order)


# ---------------------------------------------------------------- squeeze


class Squeeze(Linear):
    """Remove `dimensions`, which are of size 1."""

    fusion = CHEAP

    def shape(self, x, *, dimensions):
        if len(set(dimensions)) != len(dimensions):
            raise ValueError(shape_errors.squeeze_not_unique(dimensions))
        if not all(0 <= dim < x.ndim for dim in dimensions):
            raise ValueError(shape_errors.squeeze_outside(dimensions, x.shape))
        if any(x.shape[dim] != 1 for dim in dimensions):
            raise ValueError(shape_errors.squeeze_not_one(dimensions, x.shape))
        return without(x.shape, dimensions)

    def ref(self, x, *, dimensions):
        return np.squeeze(x, dimensions)

    def transpose(self, ct, x, *, dimensions):
        return (linear.expand_dims(ct, sorted(dimensions)),)

    def vmap(self, axis, dims, x, *, dimensions):
        x = move_axis(x, dims[0], 0)
        return self.bind(x, dimensions=tuple([dim + 1 for dim in dimensions])), 0

    def emit(self, b, x, *, dimensions):
        return b.op("reshape", x)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, dims in [((1,), (0,)), ((1, 3, 1), (0, 2)), ((2, 1, 0), (1,)), ((2,), ())]:
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype),), dict(dimensions=dims))


squeeze_p = Squeeze("squeeze")


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """Remove dimensions of size 1.

    Args:
      array: an array.
      dimensions: which; negative ones count from the end.

    Returns:
      An array with `len(dimensions)` dimensions less. `ValueError` is raised if one of them is
      not of size 1.

    >>> from covector import lax
    >>> lax.squeeze(np.zeros((1, 3, 1)), (0, -1)).shape
    (3,)
    """
    ndim = aval_of(array).ndim
    dims = tuple(sorted([canonicalize_axis(dim, ndim) for dim in dimensions]))
    if not dims and isinstance(array, Array):
        return array
    return squeeze_p.bind(array, dimensions=dims)


# ---------------------------------------------------------------- rev


class Rev(Linear):
    """Reverse the order of the elements along `dimensions`."""

    fusion = MOVING

    def shape(self, x, *, dimensions):
        if any(dim < 0 for dim in dimensions):
            raise TypeError(shape_errors.negative_sizes("rev", "dimensions", dimensions))
        if len(set(dimensions)) != len(dimensions):
            raise TypeError(shape_errors.rev_repeats(dimensions))
        if any(dim >= x.ndim for dim in dimensions):
            raise TypeError(shape_errors.rev_outside(dimensions, x.shape))
        return x.shape

    def ref(self, x, *, dimensions):
        return np.flip(x, dimensions)

    def transpose(self, ct, x, *, dimensions):
        return (self.bind(ct, dimensions=dimensions),)

    def vmap(self, axis, dims, x, *, dimensions):
        (dim,) = dims
        return self.bind(x, dimensions=tuple([d + (d >= dim) for d in dimensions])), dim

    def emit(self, b, x, *, dimensions):
        return b.op("reverse", x, dimensions=dimensions)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, dims in [((3,), (0,)), ((2, 3), (1, 0)), ((2, 3), ()), ((0, 2), (0,))]:
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype),), dict(dimensions=dims))


rev_p = Rev("rev")


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """Reverse the order of the elements along dimensions, which are counted from 0.

    >>> from covector import lax
    >>> lax.rev(np.array([[1, 2, 3], [4, 5, 6]]), (1,))
    Array([[3, 2, 1],
           [6, 5, 4]], dtype=int32)
    """
    return rev_p.bind(operand, dimensions=tuple(dimensions))


# ---------------------------------------------------------------- tile


class Tile(Linear):
    """Repeat an array as a whole `reps[i]` times along each dimension i."""

    fusion = REPEATING

    def shape(self, x, *, reps):
        if len(reps) != x.ndim or any(count < 0 for count in reps):
            raise TypeError(shape_errors.tile_reps(reps, x.shape))
        return tuple([count * size for count, size in zip(reps, x.shape)])

    def weak_type(self, x, **params):
        return x.weak_type

    def ref(self, x, *, reps):
        return np.tile(x, reps)

    def transpose(self, ct, x, *, reps):
        copies = linear.reshape(ct, _interleaved(reps, x.aval.shape))
        return (linear.reduce_sum(copies, range(0, 2 * x.aval.ndim, 2)),)

    def vmap(self, axis, dims, x, *, reps):
        (dim,) = dims
        return self.bind(x, reps=inserted(reps, dim, 1)), dim

    def emit(self, b, x, *, reps):
        # Copy along a new dimension before each, then take the pairs for one dimension each.
        (aval,) = b.avals_in
        tail = element_shape(aval)
        aval = physical_aval(aval)
        shape, counts = aval.shape, (*reps, *[1] * len(tail))
        copied = aval.update(shape=_interleaved(counts, shape))
        dims = range(1, 2 * aval.ndim, 2)
        x = b.op("broadcast_in_dim", x, out=copied, broadcast_dimensions=tuple(dims))
        return b.op("reshape", x)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, reps in [
            ((3,), (2,)),
            ((2, 3), (1, 2)),
            ((2, 1), (0, 3)),
            ((2, 0), (3, 2)),
            ((), ()),
        ]:
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype),), dict(reps=reps))


tile_p = Tile("tile")


def _interleaved(counts: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple([n for pair in zip(counts, sizes) for n in pair])


def tile(operand: Any, reps: Sequence[int]) -> Any:
    """Repeat an array as a whole along its dimensions.

    Args:
      operand: an array.
      reps: for each dimension of the operand, how often.

    Returns:
      An array of shape `(reps[0] * operand.shape[0], ...)`.

    >>> from covector import lax
    >>> lax.tile(np.array([[1, 2], [3, 4]]), (1, 2))
    Array([[1, 2, 1, 2],
           [3, 4, 3, 4]], dtype=int32)
    """
    return tile_p.bind(operand, reps=tuple(reps))
