"""What stands at a place among sorted elements, found by counting instead of sorting.

The elements of a vector are turned into unsigned integers of the same order.  How many of them
begin with each of the possible first digits tells with which digit the one at the place begins;
then those with that digit are counted by their second one, and so on (a radix selection).  With
digits of 11 bits, 32-bit numbers take three passes over the vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..ops.conversion import bitcast_convert_type
from ..ops.linear import full
from . import creation, selection
from .promotion import convert, dtype_of, shape_of

_DIGIT = 11  # bits: 2048 counters stay in the nearest cache


def keys_of(x: Any) -> Any:
    """Unsigned integers in the order of floats of 32 or 64 bits, in which NaNs are last.

    The bits of positive floats, taken for an integer, have their order, and those of negative ones
    the reverse of it; the former get their sign bit set, the latter are inverted.
    """
    width = dtypes.bit_width(dtype_of(x))
    signed, unsigned = np.dtype(f"int{width}"), np.dtype(f"uint{width}")
    x = selection.where(x != x, full(shape_of(x), np.nan, dtype_of(x)), x)
    bits = bitcast_convert_type(x, signed)
    flips = (bits >> _number(width - 1, signed)) | _number(-(2 ** (width - 1)), signed)
    return bitcast_convert_type(bits ^ flips, unsigned)


def values_of(keys: Any, dtype: Any) -> Any:
    """The floats whose keys these are."""
    width = dtypes.bit_width(dtype)
    signed = np.dtype(f"int{width}")
    bits = bitcast_convert_type(keys, signed)
    flips = ~(bits >> _number(width - 1, signed)) | _number(-(2 ** (width - 1)), signed)
    return bitcast_convert_type(bits ^ flips, dtype)


def key_at(keys: Any, place: Any) -> Any:
    """The key that has `place` others in front of it, in order."""
    dtype, width = dtype_of(keys), dtypes.bit_width(dtype_of(keys))
    found = _number(0, dtype)
    end = width  # of the bits that are not yet known
    while end:
        size = min(_DIGIT, end)
        begin = end - size
        digits = (keys >> _number(begin, dtype)) & _number(2**size - 1, dtype)
        if end < width:  # the others are counted apart, and not all in one place, which would wait
            others = (keys >> _number(end, dtype)) != (found >> _number(end, dtype))
            digits = digits | (convert(others, dtype) << _number(size, dtype))
        index = convert(digits, np.dtype(np.int32))
        ones = _number(1, np.int32)
        counts = creation.zeros(2 ** (size + 1), np.int32)
        counts = counts.at[index].add(ones, mode="promise_in_bounds")[: 2**size]
        before = counts.cumsum() <= place  # the digits that are too small
        place = place - selection.where(before, counts, 0).sum(dtype=np.int32)
        digit = convert(before.sum(dtype=np.int32), dtype)
        found = found | (digit << _number(begin, dtype))
        end = begin
    return found


def key_after(keys: Any, key: Any, place: Any) -> Any:
    """The key at `place`, if `key` is at that place or the one before it."""
    reaches = (keys <= key).sum(dtype=np.int32) > place
    greatest = full(shape_of(keys), np.iinfo(dtype_of(keys)).max, dtype_of(keys))
    return selection.where(reaches, key, selection.where(keys > key, keys, greatest).min())


def _number(value: int, dtype: Any) -> Any:
    return np.asarray(value, dtype)
