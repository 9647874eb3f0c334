"""Calls of our own kernels, which programs for CPUs make where those are installed.

The kernels are described in `xla/kernels_*.cc`, and for users in `docs/native.md`.  They work on
lines: the elements along one dimension, for fixed indices in the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dims import at_least
from ..base.shapes import with_size, without
from ..core.avals import ShapedArray
from .emitted import Emitted
from .thresholds import (
    NATIVE,
    NATIVE_COLUMNS,
    NATIVE_FOURIER,
    NATIVE_FOURIER_LONGEST,
    NATIVE_LINE,
)

DTYPES = frozenset(map(np.dtype, ("float32", "float64", "int32", "int64", "uint32")))
_INT32 = np.dtype(np.int32)


def kernel_serves(b: Any, aval: ShapedArray, axis: int) -> bool:
    """Whether an operation along an axis of an array is to call a kernel."""
    return (
        b.has_kernels
        and aval.size >= NATIVE
        and aval.dtype in DTYPES
        and aval.shape[axis] <= np.iinfo(np.int32).max
    )


def kernel_finds(b: Any, aval: ShapedArray, axis: int) -> bool:
    """The same of places of extrema: lines are long and lie each by itself, or many together."""
    columns = math.prod(aval.shape[axis + 1 :])
    if columns == 1:
        return at_least(aval.shape[axis], NATIVE_LINE) and kernel_serves(b, aval, axis)
    return at_least(columns, NATIVE_COLUMNS) and kernel_serves(b, aval, axis)


def kernel_transforms(b: Any, length: int) -> bool:
    """The same of Fourier transforms of lines of complex numbers, of any dtype."""
    power_of_two = length & (length - 1) == 0
    return power_of_two and NATIVE_FOURIER <= length <= NATIVE_FOURIER_LONGEST and b.has_kernels


def kernel_sums(b: Any, aval: ShapedArray, axis: int) -> bool:
    """The same of cumulative sums: lines lie each by itself."""
    return math.prod(aval.shape[axis + 1 :]) == 1 and kernel_serves(b, aval, axis)


def sorted_lines(x: Emitted, axis: int) -> Emitted:
    """An array in rising order along an axis, which equal elements keep."""
    return _of_lines("sort", x, axis, x.aval)


def places_in_order(x: Emitted, axis: int) -> Emitted:
    """The indices, as int32, that put an array in rising order along an axis; it is stable."""
    return _of_lines("argsort", x, axis, x.aval.update(dtype=_INT32))


def summed_lines(x: Emitted, axis: int, reverse: bool) -> Emitted:
    """The sums of the elements up to each along an axis, or from each on."""
    return _of_lines("cumsum", x, axis, x.aval, reverse=bool(reverse))


def counted_lines(x: Emitted, size: int) -> Emitted:
    """How often each of the numbers below `size` occurs along the last axis, as int32."""
    axis = x.aval.ndim - 1
    out = x.aval.update(shape=with_size(x.aval.shape, axis, size), dtype=_INT32)
    return _of_lines("count", x, axis, out, size=size)


def places_of_extrema(name: str, x: Emitted, axis: int) -> Emitted:
    """The indices, as int32, of the first extrema along an axis; `name` is "argmax" or "argmin"."""
    shape = x.aval.shape
    out = x.aval.update(shape=without(shape, (axis,)), dtype=_INT32)
    columns = math.prod(shape[axis + 1 :])
    attributes = dict(length=shape[axis], stride=columns)
    return _call(name, [x], [_by_rows(len(shape))], out, **attributes)


def counted_in_bins(x: Emitted, edges: Emitted) -> Emitted:
    """How many elements of a vector lie in each bin of one width, as int32, by the bins' edges.

    An element at an edge is in the bin above it, and one at the last edge in the last bin.
    """
    bins = edges.aval.size - 1
    out = x.aval.update(shape=(bins,), dtype=_INT32)
    return _by_row("histogram", [x, edges], out, length=x.aval.size, bins=bins)


def searched(x: Emitted, values: Emitted, right: bool) -> Emitted:
    """How many elements of a vector that is in order come before each value, as int32.

    With `right`, those that are equal to it count too.
    """
    out = values.aval.update(dtype=_INT32)
    return _by_row("searchsorted", [x, values], out, right=right)


def places_of_true(x: Emitted, size: int, dtype: Any) -> Emitted:
    """The first `size` indices of true elements of a vector; what is missing is its length."""
    out = x.aval.update(shape=(size,), dtype=np.dtype(dtype))
    return _by_row("true_places", [x], out, length=x.aval.size, size=size)


def encrypted_places(key: Sequence[Emitted], out: ShapedArray) -> Emitted:
    """What the places in an array of type `out` encrypt to, by Threefry-2x32.

    They are encrypted as 64-bit numbers under a key of two words. Of arrays of 64-bit integers it
    is the two words of the result, of 32-bit ones their exclusive "or".
    """
    return _by_row("threefry_bits", key, out)


def transformed_lines(x: Emitted, inverse: bool, out: ShapedArray) -> Emitted:
    """The Fourier transforms of complex numbers along the last axis.

    Arrays may also be of real numbers, of which each two count as one complex number.
    """
    both = 1 if dtypes.issubdtype(x.dtype, np.complexfloating) else 2
    bits = (x.aval.shape[-1] // both).bit_length() - 1
    return _by_row("fourier", [x], out, bits=bits, inverse=inverse)


def _of_lines(name: str, x: Emitted, axis: int, out: ShapedArray, **attributes: Any) -> Emitted:
    """Call a kernel on an array that lies in memory line by line, and so does the result."""
    ndim = x.aval.ndim
    order = (axis, *without(_by_rows(ndim), (ndim - 1 - axis,)))
    return _call(name, [x], [order], out, length=x.aval.shape[axis], **attributes)


def _by_row(name: str, xs: Sequence[Emitted], out: ShapedArray, **attributes: Any) -> Emitted:
    """Call a kernel on arrays that lie row by row."""
    return _call(name, xs, [_by_rows(x.aval.ndim) for x in xs], out, **attributes)


def _call(
    name: str,
    xs: Sequence[Emitted],
    orders: Sequence[tuple[int, ...]],
    out: ShapedArray,
    **attributes: Any,
) -> Emitted:
    """Call a kernel on arrays, given for each its dimensions by growing stride."""
    b, last = xs[0].b, orders[-1]
    to = last if out.ndim == len(last) else _by_rows(out.ndim)
    operands = [(x.value, order) for x, order in zip(xs, orders)]
    (found,) = b.call_kernel(name, operands, [(out, to)], **attributes)
    return Emitted(b, found, out)


def _by_rows(ndim: int) -> tuple[int, ...]:
    """The dimensions by growing stride of an array that lies row by row."""
    return tuple(reversed(range(ndim)))
