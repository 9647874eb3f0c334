"""Operations on the bits of integers, and the logic of booleans."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from .families import BITS, INTEGERS, Step, StepBinary
from .functions import binary, unary


class Not(Step):
    """Elementwise inversion of every bit; of booleans, negation."""

    example = "lax.bitwise_not(5)", "Array(-6, dtype=int32, weak_type=True)"
    accepts = BITS
    hlo = "not"
    numpy = np.invert


class And(StepBinary):
    """Elementwise conjunction of every bit."""

    example = "lax.bitwise_and(6, 3)", "Array(2, dtype=int32, weak_type=True)"
    accepts = BITS
    hlo = "and"
    numpy = np.bitwise_and


class Or(StepBinary):
    """Elementwise disjunction of every bit."""

    example = "lax.bitwise_or(6, 3)", "Array(7, dtype=int32, weak_type=True)"
    accepts = BITS
    hlo = "or"
    numpy = np.bitwise_or


class Xor(StepBinary):
    """Elementwise exclusive disjunction of every bit."""

    example = "lax.bitwise_xor(6, 3)", "Array(5, dtype=int32, weak_type=True)"
    accepts = BITS
    hlo = "xor"
    numpy = np.bitwise_xor


not_p = Not("not")
and_p = And("and")
or_p = Or("or")
xor_p = Xor("xor")

bitwise_not = unary(not_p, "bitwise_not")
bitwise_and = binary(and_p, "bitwise_and")
bitwise_or = binary(or_p, "bitwise_or")
bitwise_xor = binary(xor_p, "bitwise_xor")

# ---------------------------------------------------------------- counting bits


def _leading_zeros(x: Any) -> np.ndarray:
    """The number of zeros above the highest bit that is set."""
    bits = dtypes.iinfo(x.dtype).bits
    unsigned = x.astype(np.int64).view(np.uint64) & np.uint64(2**bits - 1)
    shifts = np.arange(bits, dtype=np.uint64)
    return bits - np.sum((unsigned[..., None] >> shifts) != 0, axis=-1)


class PopulationCount(Step):
    """Elementwise number of bits that are set."""

    example = "lax.population_count(7)", "Array(3, dtype=int32, weak_type=True)"
    accepts = INTEGERS
    hlo = "popcnt"

    @staticmethod
    def numpy(x):
        unsigned = np.asarray(x).view(f"u{np.asarray(x).dtype.itemsize}")
        return np.bitwise_count(unsigned)


class Clz(Step):
    """Elementwise number of zeros above the highest bit that is set (count leading zeros)."""

    example = "lax.clz(1)", "Array(31, dtype=int32, weak_type=True)"
    accepts = INTEGERS
    hlo = "count_leading_zeros"
    numpy = _leading_zeros


population_count_p = PopulationCount("population_count")
clz_p = Clz("clz")

population_count = unary(population_count_p)
clz = unary(clz_p)

# ---------------------------------------------------------------- shifts


def _unsigned(x: Any) -> np.ndarray:
    return np.asarray(x).view(f"u{np.asarray(x).dtype.itemsize}")


def _shifted(shift: Any, x: Any, y: Any, past: Any) -> np.ndarray:
    """`shift(x, y)`, and `past` where y is not within the bits of x; NumPy would reduce it."""
    y = _unsigned(y)
    bits = np.asarray(x).dtype.itemsize * 8
    return np.where(y < bits, shift(x, np.minimum(y, bits - 1).astype(x.dtype)), past)


class ShiftLeft(StepBinary):
    """Elementwise x * 2**y: the bits of x moved up by y, zeros moving in from below.

    The result is 0 where y is negative or exceeds the bits of x.
    """

    example = "lax.shift_left(3, 2)", "Array(12, dtype=int32, weak_type=True)"
    accepts = INTEGERS
    hlo = "shift_left"

    @staticmethod
    def numpy(x, y):
        return _shifted(np.left_shift, x, y, 0)


class ShiftRightArithmetic(StepBinary):
    """Elementwise floor(x / 2**y): the bits of x moved down by y, copies of the sign moving in.

    Where y is negative or exceeds the bits of x, the result is -1 for negative x and 0 for others.
    """

    example = "lax.shift_right_arithmetic(-8, 1)", "Array(-4, dtype=int32, weak_type=True)"
    accepts = INTEGERS
    hlo = "shift_right_arithmetic"

    @staticmethod
    def numpy(x, y):
        signed = np.asarray(x).view(f"i{np.asarray(x).dtype.itemsize}")
        return _shifted(np.right_shift, signed, y, np.where(signed < 0, -1, 0)).astype(x.dtype)


class ShiftRightLogical(StepBinary):
    """Elementwise the bits of x moved down by y, zeros moving in from above.

    The result is 0 where y is negative or exceeds the bits of x.
    """

    example = "lax.shift_right_logical(-8, 28)", "Array(15, dtype=int32, weak_type=True)"
    accepts = INTEGERS
    hlo = "shift_right_logical"

    @staticmethod
    def numpy(x, y):
        return _shifted(np.right_shift, _unsigned(x), y, 0).astype(x.dtype)


shift_left_p = ShiftLeft("shift_left")
shift_right_arithmetic_p = ShiftRightArithmetic("shift_right_arithmetic")
shift_right_logical_p = ShiftRightLogical("shift_right_logical")

shift_left = binary(shift_left_p)
shift_right_arithmetic = binary(shift_right_arithmetic_p)
shift_right_logical = binary(shift_right_logical_p)
