"""The order of sorting, and how XLA is told to sort by it.

XLA sorts by a function that compares two elements.  On CPUs it calls that function through a
pointer for each comparison, except where it merely compares integers.  There, a sort of many
elements is up to five times as fast if it is one of integers: each key is turned into 32-bit words
that have the same order, and 64-bit integers, of which the upper half is a word and the lower the
element's place, are sorted.  The lower halves then say where the elements came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dims import at_least
from ..core.avals import ShapedArray
from .emitted import Emitted, where
from .joining import emit_part
from .native import kernel_serves, places_in_order, sorted_lines
from .scattering import dimension_attribute
from .thresholds import SORT, SORT_WORDS


def keys_of(x: np.ndarray) -> list[np.ndarray]:
    """The arrays by which NumPy's lexicographic sort orders the elements of one."""
    if dtypes.issubdtype(x.dtype, np.complexfloating):
        return [x.real, x.imag]
    return [ordinary(x)]


def ordinary(x: np.ndarray) -> np.ndarray:
    """An array of real numbers in a dtype that NumPy itself has, and can sort."""
    return x if x.dtype.isbuiltin == 1 else x.astype(np.float32)


def emit_sort(
    b: Any, xs: Sequence[Any], dimension: int, is_stable: bool, num_keys: int
) -> list[Any]:
    """Write the sort of arrays by the first `num_keys` of them."""
    arrays = [Emitted(b, x, aval) for x, aval in zip(xs, b.avals_in)]
    if b.platform == "cpu" and at_least(arrays[0].aval.size, SORT):
        if len(xs) == 1 and kernel_serves(b, arrays[0].aval, dimension):
            return [sorted_lines(arrays[0], dimension).value]
        integers = not dtypes.issubdtype(arrays[0].dtype, np.inexact)
        if len(xs) > 1 or not integers:
            order = order_of(arrays[:num_keys], dimension)
            if order is not None:
                return [in_order(x, order, dimension).value for x in arrays]
    return sort_by_comparison(b, arrays, dimension, is_stable, num_keys)


def emit_greatest(b: Any, x: Any, k: int, dimension: int) -> list[Any]:
    """Write the `k` greatest elements in falling order, and where they are, by sorting all.

    As for XLA's own operation it is the total order, in which 0 is greater than -0, and a NaN
    greater than all numbers if its sign is not set, and else less.
    """
    array = Emitted(b, x, b.avals_in[0])
    real = dtypes.issubdtype(array.dtype, np.floating)
    words = _words_of_floats(array) if real else words_of(array)
    order = permutation([-1 - word for word in words], dimension)
    found = in_order(array, order, dimension), order
    return [emit_part(b, y.value, y.aval, dimension, 0, k) for y in found]


# ---------------------------------------------------------------- by comparison


def sort_by_comparison(
    b: Any, xs: Sequence[Emitted], dimension: int, is_stable: bool, num_keys: int
) -> list[Any]:
    """Write XLA's sort, with the comparison of the elements' parts."""
    pairs = [ShapedArray((), x.dtype) for x in xs for _ in range(2)]

    def precedes(*values: Any) -> list[Any]:
        elements = [Emitted(b, value, aval) for value, aval in zip(values, pairs)]
        keys = elements[: 2 * num_keys]
        parts = [
            pair
            for x, y in zip(keys[0::2], keys[1::2])
            for pair in zip(comparable_parts(x), comparable_parts(y))
        ]
        return [_precedes(parts).value]

    return b.op_with_regions(
        "sort",
        [x.value for x in xs],
        [(pairs, precedes)],
        out=[x.aval for x in xs],
        dimension=dimension,
        is_stable=bool(is_stable),
    )


def comparable_parts(x: Emitted) -> list[Emitted]:
    """The numbers by which an element is ordered, in the total order of their dtype."""
    if dtypes.issubdtype(x.dtype, np.complexfloating):
        real = np.float32 if x.dtype == np.complex64 else np.float64
        return [one_zero_one_nan(x.apply(part, dtype=real)) for part in ("real", "imag")]
    if dtypes.issubdtype(x.dtype, np.floating):
        return [one_zero_one_nan(x)]
    return [x]


def one_zero_one_nan(x: Emitted) -> Emitted:
    """Floats with one zero in the place of both, and one NaN in the place of all."""
    return where(x.differs(x), np.nan, where(x.equals(0), 0, x))


def _precedes(parts: Sequence[tuple[Emitted, Emitted]]) -> Emitted:
    """Whether the first sequence of numbers comes before the second in lexicographic order."""
    result = None
    for x, y in reversed(parts):
        less = _compare_totally("LT", x, y)
        if result is not None:
            less = less | (_compare_totally("EQ", x, y) & result)
        result = less
    assert result is not None
    return result


def _compare_totally(direction: str, x: Emitted, y: Emitted) -> Emitted:
    aval = x.aval.update(dtype=np.dtype(np.bool_))
    found = x.b.compare(direction, x.value, y.value, x.dtype, out=aval, total_order=True)
    return Emitted(x.b, found, aval)


# ---------------------------------------------------------------- by words

_WORD = 2**32


def words_of(x: Emitted) -> list[Emitted]:
    """64-bit integers from -2^31 to 2^31 - 1 that, taken together, have the order of x."""
    if dtypes.issubdtype(x.dtype, np.inexact):
        return [word for part in comparable_parts(x) for word in _words_of_floats(part)]
    if dtypes.bit_width(x.dtype) < 64:
        x64 = x.astype(np.dtype(np.int64))
        return [x64 - 2**31 if x.dtype == np.uint32 else x64]
    if x.dtype == np.uint64:
        x = x.bits(np.dtype(np.int64)) ^ -(2**63)
    return _halves(x)


def _words_of_floats(x: Emitted) -> list[Emitted]:
    """The words of floats in their total order.

    The bits of positive floats, taken for integers, have the order of the floats; those of negative
    ones have the reverse order, but for the sign.
    """
    if dtypes.bit_width(x.dtype) < 64:
        bits = x.astype(np.dtype(np.float32)).bits(np.dtype(np.int32))
        return [_rising(bits, 31).astype(np.dtype(np.int64))]
    return _halves(_rising(x.bits(np.dtype(np.int64)), 63))


def _rising(bits: Emitted, sign: int) -> Emitted:
    return bits ^ ((bits >> sign) & (2**sign - 1))


def _halves(x: Emitted) -> list[Emitted]:
    return [x >> 32, (x & (_WORD - 1)) - 2**31]


def order_of(keys: Sequence[Emitted], dimension: int) -> Emitted | None:
    """The indices, as int32, that sort by keys; None if that takes too many words."""
    if len(keys) == 1 and kernel_serves(keys[0].b, keys[0].aval, dimension):
        return places_in_order(keys[0], dimension)
    words = [word for x in keys for word in words_of(x)]
    return permutation(words, dimension) if len(words) <= SORT_WORDS else None


def permutation(words: Sequence[Emitted], dimension: int) -> Emitted:
    """The indices, as int32, that put words in lexicographic order; it is stable.

    As with playing cards: one sorts by the least significant word first and then by the others,
    each time leaving equal ones in their order.
    """
    order = None
    for word in reversed(words):
        if order is not None:
            word = take(word, order, dimension)
        found = _order_of_word(word, dimension)
        order = found if order is None else take(order, found, dimension)
    assert order is not None
    return order


def _order_of_word(word: Emitted, dimension: int) -> Emitted:
    int32 = np.dtype(np.int32)
    if kernel_serves(word.b, word.aval.update(dtype=int32), dimension):
        return places_in_order(word.astype(int32), dimension)
    places = word.iota(np.dtype(np.int64), dimension)
    (packed,) = sort_by_comparison(word.b, [(word << 32) | places], dimension, True, 1)
    return (Emitted(word.b, packed, word.aval) & (_WORD - 1)).astype(int32)


def in_order(x: Emitted, order: Emitted, dimension: int) -> Emitted:
    """An array with its elements in an order along a dimension."""
    if x.b.counts_along(x.value, dimension):
        return order.astype(x.dtype)
    return take(x, order, dimension)


def take(x: Emitted, indices: Emitted, dimension: int) -> Emitted:
    """Write the elements of an array at indices along a dimension, within bounds."""
    b, ndim = x.b, x.aval.ndim
    column = indices.aval.update(shape=(*indices.aval.shape, 1))
    batch = [dim for dim in range(ndim) if dim != dimension]
    numbers = dimension_attribute(
        "gather",
        offset_dims=(),
        collapsed_slice_dims=(dimension,),
        operand_batching_dims=batch,
        start_indices_batching_dims=batch,
        start_index_map=(dimension,),
        index_vector_dim=ndim,
    )
    found = b.op(
        "gather",
        x.value,
        b.op("reshape", indices.value, out=column),
        out=x.aval,
        dimension_numbers=numbers,
        slice_sizes=(1,) * ndim,
        indices_are_sorted=False,
    )
    return Emitted(b, found, x.aval)
