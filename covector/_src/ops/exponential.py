"""Exponentials and logarithms."""

from __future__ import annotations

import numpy as np

from .accuracy import AccuracyMode
from .arithmetic import add_p, div_p, mul_p, neg_p, sub_p
from .families import AccurateUnary, attributes_of
from .functions import unary
from .linear import constant_like
from .products import OVERFLOWING, SATURATING, SLOW, marked


class Exp(AccurateUnary):
    """Elementwise exponential e**x."""

    example = "lax.exp(1.0)", "Array(2.7182817, dtype=float32, weak_type=True)"
    hlo = "exponential"
    numpy = np.exp

    def derivative(self, t, x, y, accuracy=None):
        return mul_p.bind(t, y, **marked(OVERFLOWING))


class Exp2(AccurateUnary):
    """Elementwise power of two 2**x."""

    example = "lax.exp2(3.0)", "Array(8., dtype=float32, weak_type=True)"
    numpy = np.exp2

    def derivative(self, t, x, y, accuracy=None):
        return mul_p.bind(log_p.bind(constant_like(x, 2)), mul_p.bind(t, y, **marked(OVERFLOWING)))

    def emit(self, b, x, accuracy=None):
        (aval,) = b.avals_in
        exponent = b.op("multiply", b.full(np.log(2), aval), x)
        return b.op("exponential", exponent, **attributes_of(accuracy))


class Expm1(AccurateUnary):
    """Elementwise e**x - 1, without the loss of digits where x is near 0."""

    example = "lax.expm1(1e-8)", "Array(1.e-08, dtype=float32, weak_type=True)"
    hlo = "exponential_minus_one"
    numpy = np.expm1

    def derivative(self, t, x, y, accuracy=None):
        if accuracy is AccuracyMode.HIGHEST:
            slope = exp_p.bind(x, accuracy=accuracy)
        else:
            slope = add_p.bind(y, constant_like(y, 1))
        return mul_p.bind(t, slope, **marked(OVERFLOWING))


class Log(AccurateUnary):
    """Elementwise natural logarithm; NaN of negative floats, -inf of 0."""

    example = "lax.log(2.0)", "Array(0.6931472, dtype=float32, weak_type=True)"
    hlo = "log"
    numpy = np.log
    domain = (0.1, 3.0)

    def derivative(self, t, x, y, accuracy=None):
        return div_p.bind(t, x, **marked(SLOW))


class Log1p(AccurateUnary):
    """Elementwise log(1 + x), without the loss of digits where x is near 0."""

    example = "lax.log1p(1e-8)", "Array(1.e-08, dtype=float32, weak_type=True)"
    hlo = "log_plus_one"
    numpy = np.log1p
    domain = (-0.9, 2.0)

    def derivative(self, t, x, y, accuracy=None):
        return div_p.bind(t, add_p.bind(x, constant_like(x, 1)), **marked(SLOW))


exp_p = Exp("exp")
exp2_p = Exp2("exp2")
expm1_p = Expm1("expm1")
log_p = Log("log")
log1p_p = Log1p("log1p")

exp = unary(exp_p)
exp2 = unary(exp2_p)
expm1 = unary(expm1_p)
log = unary(log_p)
log1p = unary(log1p_p)

# ---------------------------------------------------------------- logistic function


def _logistic(x):
    return 1 / (1 + np.exp(-x))


class Logistic(AccurateUnary):
    """Elementwise logistic function (sigmoid) 1 / (1 + exp(-x))."""

    example = "lax.logistic(0.0)", "Array(0.5, dtype=float32, weak_type=True)"
    numpy = _logistic

    def derivative(self, t, x, y, accuracy=None):
        # y' = y (1 - y), where 1 - y is the logistic function of -x.
        if accuracy is AccuracyMode.HIGHEST:
            complement = logistic_p.bind(neg_p.bind(x))
        else:
            complement = sub_p.bind(constant_like(y, 1), y)
        return mul_p.bind(t, mul_p.bind(y, complement), **marked(SATURATING))

    def emit(self, b, x, accuracy=None):
        one = b.full(1, b.avals_in[0])
        return b.op("divide", one, b.op("add", one, b.op("exponential", b.op("negate", x))))


logistic_p = Logistic("logistic")
logistic = unary(logistic_p)
