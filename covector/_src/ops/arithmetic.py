"""Addition, multiplication and their kin, with comparisons."""

from __future__ import annotations

import operator

import numpy as np

from ..core.zeros import UndefinedPrimal
from .families import (
    Binary,
    Comparison,
    LinearUnary,
    Unary,
    linear_operands,
    unbroadcast,
)
from .linear import constant_like


class Neg(LinearUnary):
    """Elementwise negation."""

    hlo = "negate"
    ref = staticmethod(np.negative)


class Add(Binary):
    """Elementwise sum."""

    hlo = "add"
    ref = staticmethod(np.add)

    def derivative_x(self, t, x, y, z):
        return t

    derivative_y = derivative_x

    def transpose(self, ct, x, y):
        return tuple(
            unbroadcast(ct, v.aval) if type(v) is UndefinedPrimal else None for v in (x, y)
        )


class Sub(Binary):
    """Elementwise difference."""

    hlo = "subtract"
    ref = staticmethod(np.subtract)

    def derivative_x(self, t, x, y, z):
        return t

    def derivative_y(self, t, x, y, z):
        return neg_p.bind(t)

    def transpose(self, ct, x, y):
        ct_x = unbroadcast(ct, x.aval) if type(x) is UndefinedPrimal else None
        ct_y = unbroadcast(neg_p.bind(ct), y.aval) if type(y) is UndefinedPrimal else None
        return ct_x, ct_y


class Mul(Binary):
    """Elementwise product."""

    hlo = "multiply"
    ref = staticmethod(np.multiply)

    def derivative_x(self, t, x, y, z):
        return mul_p.bind(t, y)

    def derivative_y(self, t, x, y, z):
        return mul_p.bind(x, t)

    def transpose(self, ct, x, y):
        x_linear, _ = linear_operands(x, y)
        if x_linear:
            return unbroadcast(mul_p.bind(ct, y), x.aval), None
        return None, unbroadcast(mul_p.bind(x, ct), y.aval)


class Div(Binary):
    """Elementwise quotient; of integers, rounded towards zero."""

    hlo = "divide"

    def ref(self, x, y):
        if np.issubdtype(np.result_type(x), np.integer):
            return np.trunc(np.true_divide(x, y)).astype(np.result_type(x))
        return np.divide(x, y)

    def derivative_x(self, t, x, y, z):
        return div_p.bind(t, y)

    def derivative_y(self, t, x, y, z):
        # d(x/y) = -x/y^2 dy = -(z/y) dy
        return mul_p.bind(neg_p.bind(t), div_p.bind(z, y))

    def transpose(self, ct, x, y):
        return unbroadcast(div_p.bind(ct, y), x.aval), None


neg_p = Neg("neg")
add_p = Add("add")
sub_p = Sub("sub")
mul_p = Mul("mul")
div_p = Div("div")


class Sin(Unary):
    """Elementwise sine of radians."""

    hlo = "sine"
    ref = staticmethod(np.sin)

    def derivative(self, t, x, y):
        return mul_p.bind(t, cos_p.bind(x))


class Cos(Unary):
    """Elementwise cosine of radians."""

    hlo = "cosine"
    ref = staticmethod(np.cos)

    def derivative(self, t, x, y):
        return neg_p.bind(mul_p.bind(t, sin_p.bind(x)))


class Exp(Unary):
    """Elementwise exponential."""

    hlo = "exponential"
    ref = staticmethod(np.exp)

    def derivative(self, t, x, y):
        return mul_p.bind(t, y)


class Tanh(Unary):
    """Elementwise hyperbolic tangent."""

    hlo = "tanh"
    ref = staticmethod(np.tanh)

    def derivative(self, t, x, y):
        # 1 - y^2 = (1 + y)(1 - y); written so that t + t*y and 1 - y lose nothing where y is near 1
        one = constant_like(y, 1)
        return mul_p.bind(add_p.bind(t, mul_p.bind(t, y)), sub_p.bind(one, y))


sin_p = Sin("sin")
cos_p = Cos("cos")
exp_p = Exp("exp")
tanh_p = Tanh("tanh")


class Gt(Comparison):
    """Elementwise x > y."""

    direction = "GT"
    relation = operator.gt


gt_p = Gt("gt")
