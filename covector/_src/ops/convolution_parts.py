"""What convolutions that are written as programs of other primitives are made of.

Within them, operands have their dimensions in the primitive's own order: batch, features and
spatial ones of lhs, output features, input features and spatial ones of rhs.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.avals import ShapedArray, aval_of
from .barrier import optimization_barrier_p
from .conversion import convert
from .convolution_shapes import out_of_order
from .linear import broadcast_in_dim, constant_like, reshape, transpose
from .slicing import pad_p, slice_p


def ordered(x: Any, spec: Sequence[int], dtype: Any) -> Any:
    """An operand with its dimensions in the primitive's own order, in the dtype of the sums."""
    x = convert(x, np.dtype(np.float32) if dtypes.bit_width(dtype) < 32 else dtype)
    return x if tuple(spec) == tuple(range(len(spec))) else transpose(x, tuple(spec))


def in_place(x: Any, out: ShapedArray, spec: Sequence[int]) -> Any:
    """A result with its dimensions where they belong."""
    order = out_of_order(range(out.ndim), spec)
    return convert(x if order == tuple(range(out.ndim)) else transpose(x, order), out.dtype)


def padded(x: Any, padding: Sequence[tuple[int, int]], dilation: Sequence[int]) -> Any:
    """An operand with zeros around, and between, its elements."""
    config = [(low, high, step - 1) for (low, high), step in zip(padding, dilation)]
    if not any(itertools.chain(*config)):
        return x
    return pad_p.bind(x, constant_like(x, 0), padding_config=((0, 0, 0), (0, 0, 0), *config))


def surrounded(x: Any, padding: Sequence[tuple[int, int]], dilation: Sequence[int]) -> Any:
    """The same, stored before and after.

    The parts of it overlap: without the barriers, what it is computed from would be computed for
    each of them, and slowly where zeros are put around it.
    """
    (x,) = optimization_barrier_p.bind(x)
    (x,) = optimization_barrier_p.bind(padded(x, padding, dilation))
    return x


def spaced(
    x: Any,
    place: Sequence[int],
    step: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int] | None,
) -> Any:
    """So many elements of the spatial dimensions of x, from `place` times `step` on."""
    shape = aval_of(x).shape
    strides = (1,) * len(sizes) if strides is None else strides
    starts = [i * by for i, by in zip(place, step)]
    limits = [start + (n - 1) * by + 1 for start, n, by in zip(starts, sizes, strides)]
    return slice_p.bind(
        x,
        start_indices=(0, 0, *starts),
        limit_indices=(*shape[:2], *limits),
        strides=(1, 1, *strides),
    )


def part_of(x: Any, dim: int, index: int, count: int) -> Any:
    """One of so many equal parts of an array, along a dimension."""
    shape = aval_of(x).shape
    starts, limits = [0] * len(shape), list(shape)
    size = shape[dim] // count
    starts[dim], limits[dim] = index * size, (index + 1) * size
    return slice_p.bind(
        x, start_indices=tuple(starts), limit_indices=tuple(limits), strides=(1,) * len(shape)
    )


def repeated(x: Any, times: int) -> Any:
    """Each feature so often, one after the other."""
    if times == 1:
        return x
    batch, features, *sizes = aval_of(x).shape
    dims = (0, 1, *range(3, len(sizes) + 3))
    wide = broadcast_in_dim(x, (batch, features, times, *sizes), dims)
    return reshape(wide, (batch, features * times, *sizes))
