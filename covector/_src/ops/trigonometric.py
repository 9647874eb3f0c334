"""Trigonometric functions and their inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..core.fusion import EXPENSIVE, WAVE
from .arithmetic import add_p, div_p, mul_p, neg_p, sub_p
from .complex import is_complex
from .families import INEXACT, AccurateUnary, Binary, Unary
from .functions import binary, unary
from .linear import constant_like
from .powers import rsqrt_p, square_p
from .products import SATURATING, marked


class _Wave(AccurateUnary):
    """Sine or cosine, which of complex numbers are made of real functions.

    With z = a + ib,

        sin z = sin a cosh b + i cos a sinh b,        cos z = cos a cosh b - i sin a sinh b.

    `sinh` and `cosh` are made of expm1, which keeps its digits near 0.  Where a = 0, the part with
    sin a is 0 even if the other factor is infinite.
    """

    fusion = WAVE

    def emit(self, b, x, accuracy=None):
        (aval,) = b.avals_in
        if not is_complex(aval.dtype):
            return super().emit(b, x, accuracy)
        part = aval.update(dtype=dtypes.finfo(aval.dtype).dtype)

        def op(name, *operands):
            return b.op(name, *operands, out=part)

        two, zero = b.full(2, part), b.full(0, part)
        re, im = op("real", x), op("imag", x)
        up = op("exponential_minus_one", im)
        down = op("exponential_minus_one", op("negate", im))
        sinh = op("divide", op("subtract", up, down), two)
        cosh = op("divide", op("add", op("add", up, down), two), two)
        on_axis = b.compare("EQ", re, zero, part.dtype, out=aval.update(dtype=np.bool_))
        sin, cos = op("sine", re), op("cosine", re)
        if self.hlo == "sine":
            odd = op("select", on_axis, zero, op("multiply", sin, cosh))
            return b.op("complex", odd, op("multiply", cos, sinh))
        odd = op("select", on_axis, zero, op("multiply", op("negate", sin), sinh))
        return b.op("complex", op("multiply", cos, cosh), odd)


class Sin(_Wave):
    """Elementwise sine of an angle in radians."""

    example = "lax.sin(1.0)", "Array(0.84147096, dtype=float32, weak_type=True)"
    hlo = "sine"
    numpy = np.sin

    def derivative(self, t, x, y, **accuracy):
        return mul_p.bind(t, cos_p.bind(x, **accuracy))


class Cos(_Wave):
    """Elementwise cosine of an angle in radians."""

    example = "lax.cos(1.0)", "Array(0.5403023, dtype=float32, weak_type=True)"
    hlo = "cosine"
    numpy = np.cos

    def derivative(self, t, x, y, **accuracy):
        return neg_p.bind(mul_p.bind(t, sin_p.bind(x, **accuracy)))


class Tan(AccurateUnary):
    """Elementwise tangent of an angle in radians."""

    example = "lax.tan(1.0)", "Array(1.5574077, dtype=float32, weak_type=True)"
    hlo = "tan"
    numpy = np.tan
    domain = (-1.2, 1.2)
    fusion = WAVE

    def derivative(self, t, x, y, accuracy=None):
        return mul_p.bind(t, add_p.bind(constant_like(x, 1), square_p.bind(y)))


sin_p = Sin("sin")
cos_p = Cos("cos")
tan_p = Tan("tan")

sin = unary(sin_p)
cos = unary(cos_p)
tan = unary(tan_p)

# ---------------------------------------------------------------- inverses


def _one_minus_square(x: Any) -> Any:
    return sub_p.bind(constant_like(x, 1), square_p.bind(x))


class Asin(Unary):
    """Elementwise arc sine, from -pi/2 to pi/2; NaN of floats outside of [-1, 1]."""

    example = "lax.asin(1.0)", "Array(1.5707964, dtype=float32, weak_type=True)"
    hlo = "chlo.asin"
    numpy = np.arcsin
    domain = (-0.9, 0.9)
    fusion = EXPENSIVE

    def derivative(self, t, x, y):
        return mul_p.bind(t, rsqrt_p.bind(_one_minus_square(x)))


class Acos(Unary):
    """Elementwise arc cosine, from 0 to pi; NaN of floats outside of [-1, 1]."""

    example = "lax.acos(0.0)", "Array(1.5707964, dtype=float32, weak_type=True)"
    hlo = "chlo.acos"
    numpy = np.arccos
    domain = (-0.9, 0.9)
    fusion = EXPENSIVE

    def derivative(self, t, x, y):
        return mul_p.bind(t, neg_p.bind(rsqrt_p.bind(_one_minus_square(x))))


class Atan(Unary):
    """Elementwise arc tangent, from -pi/2 to pi/2."""

    example = "lax.atan(1.0)", "Array(0.7853982, dtype=float32, weak_type=True)"
    hlo = "chlo.atan"
    numpy = np.arctan
    domain = (-0.9, 0.9)
    fusion = EXPENSIVE

    def derivative(self, t, x, y):
        square = add_p.bind(constant_like(x, 1), square_p.bind(x))
        return div_p.bind(t, square, **marked(SATURATING))


def _arctan2(x: Any, y: Any) -> np.ndarray:
    if not is_complex(np.asarray(x).dtype):
        return np.arctan2(x, y)
    return -1j * np.log((y + 1j * x) / np.sqrt(x * x + y * y))


class Atan2(Binary):
    """Elementwise angle, from -pi to pi, between the first axis and the vector (y, x).

    It is the arc tangent of x / y where y is positive.  Note the order of the operands.
    """

    example = "lax.atan2(1.0, -1.0)", "Array(2.3561945, dtype=float32, weak_type=True)"
    accepts = INEXACT
    hlo = "atan2"
    numpy = _arctan2
    domain = (0.3, 2.0)
    fusion = EXPENSIVE

    def derivative_x(self, t, x, y, z):
        return mul_p.bind(t, div_p.bind(y, _norm_squared(x, y)))

    def derivative_y(self, t, x, y, z):
        return mul_p.bind(t, div_p.bind(neg_p.bind(x), _norm_squared(x, y)))


def _norm_squared(x: Any, y: Any) -> Any:
    return add_p.bind(square_p.bind(x), square_p.bind(y))


asin_p = Asin("asin")
acos_p = Acos("acos")
atan_p = Atan("atan")
atan2_p = Atan2("atan2")

asin = unary(asin_p)
acos = unary(acos_p)
atan = unary(atan_p)
atan2 = binary(atan2_p)
