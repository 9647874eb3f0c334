"""Rounding, the remainder that it leaves, and the neighbours of floats."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.array import Array
from ..core.fusion import COMPOSED, EXPENSIVE
from .arithmetic import div_p, mul_p, neg_p, sign_p
from .base import Sample
from .complex import abs_p
from .families import FLOATS, REALS, Binary, Elementwise, Step
from .functions import binary, unary


class Floor(Step):
    """Elementwise greatest integer that is not greater than x."""

    example = "lax.floor(-1.5)", "Array(-2., dtype=float32, weak_type=True)"
    accepts = FLOATS
    hlo = "floor"
    numpy = np.floor


class Ceil(Step):
    """Elementwise least integer that is not less than x."""

    example = "lax.ceil(-1.5)", "Array(-1., dtype=float32, weak_type=True)"
    accepts = FLOATS
    hlo = "ceil"
    numpy = np.ceil


class IsFinite(Step):
    """Elementwise whether x is a number: neither NaN nor an infinity."""

    example = "lax.is_finite(1.5)", "Array(True, dtype=bool, weak_type=True)"
    accepts = FLOATS
    returns = "A boolean array of the shape of `x`."
    hlo = "is_finite"
    numpy = np.isfinite

    def dtype(self, x):
        super().dtype(x)
        return np.dtype(np.bool_)


floor_p = Floor("floor")
ceil_p = Ceil("ceil")
is_finite_p = IsFinite("is_finite")

floor = unary(floor_p)
ceil = unary(ceil_p)
is_finite = unary(is_finite_p)

# ---------------------------------------------------------------- round


class RoundingMethod(enum.IntEnum):
    """Where `round` takes numbers that lie halfway between two integers.

    >>> from covector import lax
    >>> lax.round(2.5, lax.RoundingMethod.TO_NEAREST_EVEN)
    Array(2., dtype=float32, weak_type=True)
    """

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class Round(Step):
    """Elementwise nearest integer; halfway between two, `rounding_method` decides."""

    accepts = FLOATS

    def ref(self, x, *, rounding_method):
        x = np.asarray(x)
        if rounding_method is RoundingMethod.TO_NEAREST_EVEN:
            return np.round(x)
        # |x| + 1/2 can round up to an integer in floats; the remainder x - trunc(x) is exact.
        whole = np.trunc(x)
        with np.errstate(invalid="ignore"):
            away = np.abs(x - whole) >= 0.5
        return np.where(away, whole + np.sign(x), whole).astype(x.dtype)

    def emit(self, b, x, *, rounding_method):
        even = rounding_method is RoundingMethod.TO_NEAREST_EVEN
        return b.op("round_nearest_even" if even else "round_nearest_afz", x)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for method in RoundingMethod:
            for sample in super().samples(rng):
                yield sample._replace(params={"rounding_method": method})
            halves = np.arange(-2.5, 3.0, 0.5, np.float32)
            yield Sample((halves,), {"rounding_method": method}, smooth=False)


round_p = Round("round")


def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Array:
    """Elementwise nearest integer.

    Args:
      x: an array of floats.
      rounding_method: what becomes of numbers halfway between two integers: a `RoundingMethod`.

    Returns:
      An array of the shape and dtype of `x`.

    Raises:
      TypeError: `x` has another dtype.

    >>> from covector import lax
    >>> lax.round(2.5)
    Array(3., dtype=float32, weak_type=True)
    """
    return round_p.bind(x, rounding_method=RoundingMethod(rounding_method))


# ---------------------------------------------------------------- remainder


def _remainder(x: Any, y: Any) -> np.ndarray:
    """x - trunc(x/y) y; of integers x where y is 0, as XLA has it."""
    if not dtypes.issubdtype(np.asarray(x).dtype, np.integer):
        return np.fmod(x, y)
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, 1, y)))


class Rem(Binary):
    """Elementwise remainder of x / y when the quotient is rounded towards zero.

    It has the sign of x.  The remainder of a division of integers by 0 is not defined.
    """

    example = "lax.rem(-7, 3)", "Array(-1, dtype=int32, weak_type=True)"
    accepts = REALS
    hlo = "remainder"
    numpy = _remainder
    fusion = EXPENSIVE

    def derivative_x(self, t, x, y, z):
        return t

    def derivative_y(self, t, x, y, z):
        # x - n y with n = trunc(x/y), which is constant between jumps.
        quotient = div_p.bind(x, y)
        whole = mul_p.bind(sign_p.bind(quotient), floor_p.bind(abs_p.bind(quotient)))
        return mul_p.bind(neg_p.bind(t), whole)

    def samples_of(self, rng, dtype):
        for sample in super().samples_of(rng, dtype):
            x, y = sample.args
            # Where y is small, x / y jumps within the smallest step.
            yield sample._replace(args=(x, y + np.sign(y))) if sample.smooth else sample


rem_p = Rem("rem")
rem = binary(rem_p)

# ---------------------------------------------------------------- neighbours


class NextAfter(Elementwise):
    """Elementwise the float next to x1 in the direction of x2."""

    arity = 2
    accepts = FLOATS
    hlo = "chlo.next_after"
    numpy = np.nextafter
    fusion = COMPOSED

    def samples(self, rng):
        for sample in super().samples(rng):
            yield sample._replace(constant=(0, 1))


nextafter_p = NextAfter("nextafter")


def nextafter(x1: Any, x2: Any) -> Array:
    """Elementwise the float that is next to x1 in the direction of x2; x2 itself if they are equal.

    Args:
      x1, x2: arrays of floats, both of the same dtype, and of shapes that are equal or broadcast as
        those of `lax.mul`.

    Returns:
      An array of the common shape and dtype.

    Raises:
      TypeError: an operand has another dtype, or the dtypes or shapes do not match.

    >>> from covector import lax
    >>> lax.nextafter(1.0, 2.0)
    Array(1.0000001, dtype=float32, weak_type=True)
    """
    return nextafter_p.bind(x1, x2)
