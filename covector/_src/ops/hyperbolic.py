"""Hyperbolic functions and their inverses."""

from __future__ import annotations

import numpy as np

from ..core.fusion import EXPENSIVE, WAVE
from .accuracy import AccuracyMode
from .arithmetic import add_p, div_p, mul_p, sub_p
from .exponential import logistic_p
from .families import AccurateUnary, Unary
from .functions import unary
from .linear import constant_like
from .powers import integer_pow_p, rsqrt_p, square_p
from .products import OVERFLOWING, SATURATING, SLOW, marked


class Sinh(Unary):
    """Elementwise hyperbolic sine."""

    example = "lax.sinh(1.0)", "Array(1.1752012, dtype=float32, weak_type=True)"
    hlo = "chlo.sinh"
    numpy = np.sinh
    fusion = WAVE

    def derivative(self, t, x, y):
        return mul_p.bind(t, cosh_p.bind(x), **marked(OVERFLOWING))


class Cosh(Unary):
    """Elementwise hyperbolic cosine."""

    example = "lax.cosh(1.0)", "Array(1.5430806, dtype=float32, weak_type=True)"
    hlo = "chlo.cosh"
    numpy = np.cosh
    fusion = EXPENSIVE

    def derivative(self, t, x, y):
        return mul_p.bind(t, sinh_p.bind(x), **marked(OVERFLOWING))


class Tanh(AccurateUnary):
    """Elementwise hyperbolic tangent."""

    example = "lax.tanh(1.0)", "Array(0.7615942, dtype=float32, weak_type=True)"
    hlo = "tanh"
    numpy = np.tanh

    def derivative(self, t, x, y, accuracy=None):
        if accuracy is AccuracyMode.HIGHEST:
            # 1 - tanh(x)^2 = 4 s(2x) s(-2x) with the logistic function s: no difference is taken.
            tails = [
                logistic_p.bind(mul_p.bind(constant_like(x, sign), x), accuracy=accuracy)
                for sign in (2, -2)
            ]
            slope = mul_p.bind(constant_like(x, 4), mul_p.bind(*tails))
            return mul_p.bind(t, slope, **marked(SATURATING))
        # 1 - y^2 = (1 + y)(1 - y), which loses less where y is near 1.
        one = constant_like(x, 1)
        t = add_p.bind(t, mul_p.bind(t, y))
        return mul_p.bind(t, sub_p.bind(one, y), **marked(SATURATING))


sinh_p = Sinh("sinh")
cosh_p = Cosh("cosh")
tanh_p = Tanh("tanh")

sinh = unary(sinh_p)
cosh = unary(cosh_p)
tanh = unary(tanh_p)

# ---------------------------------------------------------------- inverses


class Asinh(Unary):
    """Elementwise inverse of the hyperbolic sine."""

    example = "lax.asinh(2.0)", "Array(1.4436355, dtype=float32, weak_type=True)"
    hlo = "chlo.asinh"
    numpy = np.arcsinh
    domain = (-0.9, 0.9)
    fusion = WAVE

    def derivative(self, t, x, y):
        slope = rsqrt_p.bind(add_p.bind(square_p.bind(x), constant_like(x, 1)))
        return mul_p.bind(t, slope, **marked(SLOW))


class Acosh(Unary):
    """Elementwise inverse of the hyperbolic cosine, positive; NaN of floats below 1."""

    example = "lax.acosh(2.0)", "Array(1.316958, dtype=float32, weak_type=True)"
    hlo = "chlo.acosh"
    numpy = np.arccosh
    domain = (1.2, 3.0)
    fusion = WAVE

    def derivative(self, t, x, y):
        slope = rsqrt_p.bind(sub_p.bind(square_p.bind(x), constant_like(x, 1)))
        return mul_p.bind(t, slope, **marked(SLOW))


class Atanh(Unary):
    """Elementwise inverse of the hyperbolic tangent; NaN of floats outside of [-1, 1]."""

    example = "lax.atanh(0.5)", "Array(0.54930615, dtype=float32, weak_type=True)"
    hlo = "chlo.atanh"
    numpy = np.arctanh
    domain = (-0.9, 0.9)
    fusion = WAVE

    def derivative(self, t, x, y):
        # 1 / (1 - x^2) = 1 / (1 + x) * 1 / (1 - x)
        one = constant_like(x, 1)
        above = integer_pow_p.bind(add_p.bind(one, x), y=-1)
        return mul_p.bind(above, div_p.bind(t, sub_p.bind(one, x)))


asinh_p = Asinh("asinh")
acosh_p = Acosh("acosh")
atanh_p = Atanh("atanh")

asinh = unary(asinh_p)
acosh = unary(acosh_p)
atanh = unary(atanh_p)
