"""Powers and roots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import dtypes, elementwise_errors
from ..core.array import Array
from ..core.avals import aval_of
from ..core.fusion import EXPENSIVE
from ..core.zeros import Zero
from .arithmetic import div_p, mul_p, sub_p
from .base import Sample, draw
from .bitwise import and_p
from .comparison import eq_p
from .conversion import convert
from .exponential import log_p
from .families import (
    FLOATS,
    INEXACT,
    NUMBERS,
    AccurateUnary,
    Binary,
    Unary,
    broadcast_like,
    broadcast_operands,
    check_accepts,
    filled_like,
)
from .functions import unary
from .linear import constant_like
from .products import EVEN, ROOT, SATURATING, SLOW, Marks, marked
from .select import select_n_p


class Square(Unary):
    """Elementwise square x**2."""

    example = "lax.square(3.0)", "Array(9., dtype=float32, weak_type=True)"
    accepts = NUMBERS
    numpy = np.square

    def derivative(self, t, x, y):
        return mul_p.bind(t, mul_p.bind(constant_like(x, 2), x), **marked(EVEN))

    def emit(self, b, x):
        if dtypes.issubdtype(b.avals_in[0].dtype, np.complexfloating):
            return b.op("chlo.square", x)
        return b.op("multiply", x, x)


class Sqrt(AccurateUnary):
    """Elementwise square root; NaN of negative floats, and with the slope inf at 0."""

    example = "lax.sqrt(2.0)", "Array(1.4142135, dtype=float32, weak_type=True)"
    hlo = "sqrt"
    numpy = np.sqrt
    domain = (0.1, 3.0)

    def derivative(self, t, x, y, accuracy=None):
        return mul_p.bind(t, div_p.bind(constant_like(x, 0.5), y), **marked(ROOT))


class Rsqrt(AccurateUnary):
    """Elementwise reciprocal of the square root, 1 / sqrt(x)."""

    example = "lax.rsqrt(4.0)", "Array(0.5, dtype=float32, weak_type=True)"
    hlo = "rsqrt"
    domain = (0.1, 3.0)

    @staticmethod
    def numpy(x):
        return 1 / np.sqrt(x)

    def derivative(self, t, x, y, accuracy=None):
        slope = mul_p.bind(constant_like(x, -0.5), div_p.bind(y, x))
        return mul_p.bind(t, slope, **marked(SATURATING))


class Cbrt(AccurateUnary):
    """Elementwise real cube root, negative for negative x."""

    example = "lax.cbrt(27.0)", "Array(3., dtype=float32, weak_type=True)"
    accepts = FLOATS
    hlo = "cbrt"
    numpy = np.cbrt
    domain = (0.1, 3.0)

    def derivative(self, t, x, y, accuracy=None):
        third = constant_like(x, 1 / 3)
        slope = mul_p.bind(third, integer_pow_p.bind(y, y=-2))
        return mul_p.bind(t, slope, **marked(SLOW))


square_p = Square("square")
sqrt_p = Sqrt("sqrt")
rsqrt_p = Rsqrt("rsqrt")
cbrt_p = Cbrt("cbrt")

square = unary(square_p)
sqrt = unary(sqrt_p)
rsqrt = unary(rsqrt_p)
cbrt = unary(cbrt_p)

# ---------------------------------------------------------------- integer powers


class IntegerPow(Unary):
    """Elementwise x**y, for one integer y."""

    accepts = NUMBERS

    def dtype(self, x, *, y):
        check_accepts(self.name, self.accepts, [x])
        if y < 0 and dtypes.issubdtype(x.dtype, np.integer):
            raise TypeError(elementwise_errors.negative_power_of_integers(x, y))
        return x.dtype

    def ref(self, x, *, y):
        x = np.asarray(x)
        with np.errstate(all="ignore"):
            return (np.power(x, y) if y >= 0 else 1 / np.power(x, -y)).astype(x.dtype)

    def derivative(self, t, x, out, *, y):
        if y == 0:
            return Zero(aval_of(t))
        if y == 1:
            return t
        power = x if y == 2 else self.bind(x, y=y - 1)
        marks = SATURATING if y < 0 else EVEN if y % 2 == 0 else {}
        return mul_p.bind(t, mul_p.bind(constant_like(x, y), power), **marked(marks))

    def emit(self, b, x, *, y):
        (aval,) = b.avals_in
        if y == 0:
            return b.full(1, aval)
        power = _power_by_squaring(b, x, abs(y))
        return power if y > 0 else b.op("divide", b.full(1, aval), power)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for y in (-3, -2, -1, 0, 1, 2, 3, 6):
            for dtype in ("float32", "bfloat16", "complex64"):
                yield Sample((draw(rng, (2, 3), dtype, 0.5, 2),), {"y": y})
            if y >= 0:
                yield Sample((draw(rng, (2, 3), "int32"),), {"y": y}, smooth=False)
        yield Sample((draw(rng, (0, 2), "float32"),), {"y": 2})


def _power_by_squaring(b: Any, x: Any, y: int) -> Any:
    """x**y for y > 0, from the squares of squares of x that the binary digits of y pick."""
    power = None
    while True:
        if y & 1:
            power = x if power is None else b.op("multiply", power, x)
        y >>= 1
        if not y:
            return power
        x = b.op("multiply", x, x)


integer_pow_p = IntegerPow("integer_pow")


def integer_pow(x: Any, y: int) -> Array:
    """Elementwise x**y, for one integer y, by multiplications.

    Args:
      x: an array of integers, floats or complex numbers.
      y: the exponent; not negative if `x` holds integers.

    Returns:
      An array of the shape and dtype of `x`.

    Raises:
      TypeError: `x` has another dtype, or holds integers and y is negative.

    >>> from covector import lax
    >>> lax.integer_pow(2.0, 5)
    Array(32., dtype=float32, weak_type=True)
    """
    return integer_pow_p.bind(x, y=y)


def reciprocal(x: Any) -> Array:
    """Elementwise reciprocal 1 / x.

    Args:
      x: an array of floats or complex numbers.

    Returns:
      An array of the shape and dtype of `x`.

    Raises:
      TypeError: `x` has another dtype.

    >>> from covector import lax
    >>> lax.reciprocal(4.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return integer_pow_p.bind(x, y=-1)


# ---------------------------------------------------------------- powers


class Pow(Binary):
    """Elementwise power x**y; 1 where y is 0, and NaN where it would not be real."""

    accepts = INEXACT
    numpy = np.power
    fusion = EXPENSIVE

    def dtype(self, x, y):
        check_accepts(self.name, INEXACT, [x])
        if x.dtype != y.dtype and not dtypes.issubdtype(y.dtype, np.integer):
            raise TypeError(elementwise_errors.pow_dtypes(x.dtype, y.dtype))
        return x.dtype

    def derivative_x(self, t, x, y, z):
        # The slope is y x^(y-1).  Where y = 0 it is 0, since x^0 is 1 everywhere; but at x = 0 that
        # would come out as 0 * inf, which putting 1 for x avoids.
        whole = dtypes.issubdtype(aval_of(y).dtype, np.integer)
        y = convert(y, aval_of(x).dtype)
        if type(y) is np.ndarray and y.shape == ():
            if y == 0:
                return Zero(aval_of(t))
        else:
            flat = eq_p.bind(y, constant_like(y, 0))
            if not whole:  # elsewhere the slope varies with y, at the rate 1 / x
                flat = and_p.bind(flat, eq_p.bind(x, constant_like(x, 0)))
            x, flat = (broadcast_like(v, aval_of(z).shape) for v in (x, flat))
            x = select_n_p.bind(flat, x, filled_like(x, 1))
        slope = mul_p.bind(y, pow_p.bind(x, sub_p.bind(y, constant_like(y, 1))))
        return mul_p.bind(t, slope, **marked(_kind_of_slope(y)))

    def derivative_y(self, t, x, y, z):
        # x^y log(x), which is 0 at x = 0 for y > 0.
        return mul_p.bind(t, mul_p.bind(log_p.bind(_replace_zero(x)), z))

    def emit(self, b, x, y):
        x, y = broadcast_operands(b, (x, y))
        (out,) = b.avals_out
        return b.op("power", x, b.convert(y, out.update(dtype=b.avals_in[1].dtype), out.dtype))

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield from super().samples(rng)
        for dtype in ("float32", "complex64"):
            x = draw(rng, (2, 3), dtype, 0.5, 2)
            yield Sample((x, draw(rng, (2, 3), "int32", -3, 3)), {}, smooth=False)
            yield Sample((x, draw(rng, (), "int32", -3, 3)), {}, smooth=False)

    domain = (0.5, 2.0)


def _kind_of_slope(exponent: Any) -> Marks:
    """What is known of the slope of a power: it may be that of a root, if the exponent is not."""
    if type(exponent) is np.ndarray and exponent.shape == ():
        if exponent >= 1:
            return {}
        if exponent < 0:
            return SATURATING
    return ROOT


def _replace_zero(x: Any) -> Any:
    """`x` with 1 for 0, where what is computed of it is not used."""
    return select_n_p.bind(eq_p.bind(x, constant_like(x, 0)), x, filled_like(x, 1))


pow_p = Pow("pow")


def pow(x: Any, y: Any) -> Array:
    """Elementwise power x**y.

    Args:
      x: an array of floats or complex numbers.
      y: an array of the same dtype, or of integers. The shapes are equal, but that a scalar meets
        any shape, and a dimension of size 1 any size.

    Returns:
      An array of the common shape and of the dtype of `x`: 1 where `y` is 0, and NaN where `x` is
      a negative float and `y` no whole number.

    Raises:
      TypeError: an operand has another dtype, or the dtypes or shapes do not match.

    >>> from covector import lax
    >>> lax.pow(2.0, 0.5)
    Array(1.4142135, dtype=float32, weak_type=True)
    """
    return pow_p.bind(x, y)
