"""Special functions of one real variable: the error function's kin, and the gamma function's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import dtypes, elementwise_errors
from ..core.array import Array
from ..core.fusion import BOUNDARY, COMPOSED, EXPENSIVE
from . import special_values
from .arithmetic import add_p, mul_p, neg_p
from .base import Sample, draw
from .emitted import Emitted, computed_in
from .exponential import exp_p
from .families import FLOATS, Binary, Unary, broadcast_operands
from .functions import binary, unary
from .linear import constant_like
from .powers import square_p
from .products import SATURATING, marked
from .special_zeta import hurwitz_zeta
from .special_zeta import polygamma as polygamma_formula

# ---------------------------------------------------------------- error function


def _bell(t: Any, x: Any, factor: float) -> Any:
    """factor * exp(-x^2) * t, of which the derivatives of erf and erfc are made."""
    bell = exp_p.bind(neg_p.bind(square_p.bind(x)))
    return mul_p.bind(constant_like(x, factor), mul_p.bind(t, bell, **marked(SATURATING)))


class Erf(Unary):
    """Elementwise error function: 2 / sqrt(pi) times the integral of exp(-u**2) from 0 to x."""

    example = "lax.erf(0.5)", "Array(0.5204999, dtype=float32, weak_type=True)"
    accepts = FLOATS
    hlo = "chlo.erf"
    numpy = special_values.erf
    fusion = EXPENSIVE

    def derivative(self, t, x, y):
        return _bell(t, x, 2 / math.sqrt(math.pi))


class Erfc(Unary):
    """Elementwise complementary error function 1 - erf(x), without loss of digits for large x."""

    example = "lax.erfc(0.5)", "Array(0.47950017, dtype=float32, weak_type=True)"
    accepts = FLOATS
    hlo = "chlo.erfc"
    numpy = special_values.erfc
    fusion = COMPOSED

    def derivative(self, t, x, y):
        return _bell(t, x, -2 / math.sqrt(math.pi))

    def emit(self, b, x):
        (aval,) = b.avals_in
        if dtypes.bit_width(aval.dtype) >= 16:
            return super().emit(b, x)
        # XLA has no expansion of it for floats of fewer bits.
        wide = aval.update(dtype=np.dtype(np.float32))
        y = b.op(self.hlo, b.convert(x, aval, wide.dtype), out=wide)
        return b.convert(y, wide, aval.dtype)


class ErfInv(Unary):
    """Elementwise inverse of the error function; NaN outside of [-1, 1]."""

    example = "lax.erf_inv(0.5)", "Array(0.47693628, dtype=float32, weak_type=True)"
    accepts = FLOATS
    hlo = "chlo.erf_inv"
    numpy = special_values.erf_inv
    domain = (-0.9, 0.9)
    fusion = COMPOSED

    def derivative(self, t, x, y):
        slope = exp_p.bind(square_p.bind(y))
        return mul_p.bind(constant_like(x, math.sqrt(math.pi) / 2), mul_p.bind(t, slope))


erf_p = Erf("erf")
erfc_p = Erfc("erfc")
erf_inv_p = ErfInv("erf_inv")

erf = unary(erf_p)
erfc = unary(erfc_p)
erf_inv = unary(erf_inv_p)

# ---------------------------------------------------------------- gamma function


class Lgamma(Unary):
    """Elementwise logarithm of the absolute value of the gamma function; inf at its poles."""

    example = "lax.lgamma(20.0)", "Array(39.339886, dtype=float32, weak_type=True)"
    accepts = FLOATS
    hlo = "chlo.lgamma"
    numpy = special_values.lgamma
    domain = (0.3, 4.0)
    fusion = COMPOSED

    def derivative(self, t, x, y):
        return mul_p.bind(t, digamma_p.bind(x))


class Digamma(Unary):
    """Elementwise derivative of the logarithm of the gamma function; NaN at its poles."""

    example = "lax.digamma(10.0)", "Array(2.2517526, dtype=float32, weak_type=True)"
    accepts = FLOATS
    hlo = "chlo.digamma"
    numpy = special_values.digamma
    domain = (0.3, 4.0)
    fusion = COMPOSED

    def derivative(self, t, x, y):
        return mul_p.bind(t, polygamma_p.bind(constant_like(x, 1), x))


def _emit(formula: Any, b: Any, *operands: Any) -> Any:
    """Write a formula of arrays of at least 32 bits, broadcast to one shape."""
    (out,) = b.avals_out
    dtype = computed_in(out.dtype)
    arrays = [Emitted(b, x, out).astype(dtype) for x in broadcast_operands(b, operands)]
    return formula(*arrays).astype(out.dtype).value


class Polygamma(Binary):
    """Elementwise derivative of order m of the digamma function at x."""

    accepts = FLOATS
    numpy = special_values.polygamma
    fusion = BOUNDARY

    def derivative_x(self, t, m, x, z):
        raise ValueError(elementwise_errors.order_is_not_continuous("polygamma", "m"))

    def derivative_y(self, t, m, x, z):
        following = add_p.bind(m, constant_like(m, 1))
        return mul_p.bind(t, self.bind(following, x))

    def emit(self, b, m, x):
        return _emit(polygamma_formula, b, m, x)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in ((), (2, 3), (0, 2)):
            m = draw(rng, shape, "int32", 0, 3).astype(np.float32)
            yield Sample((m, draw(rng, shape, "float32", 0.3, 4.0)), {}, constant=(0,))


class Zeta(Binary):
    """Elementwise Hurwitz zeta function: the sum of (q + k)**-x over k = 0, 1, 2, ..."""

    example = "lax.zeta(2.0, 1.0)", "Array(1.644934, dtype=float32, weak_type=True)"
    accepts = FLOATS
    numpy = special_values.zeta
    fusion = BOUNDARY

    def derivative_x(self, t, x, q, z):
        raise NotImplementedError(elementwise_errors.no_derivative("zeta", "x"))

    def derivative_y(self, t, x, q, z):
        following = self.bind(add_p.bind(x, constant_like(x, 1)), q)
        return mul_p.bind(t, mul_p.bind(neg_p.bind(x), following))

    def emit(self, b, x, q):
        return _emit(hurwitz_zeta, b, x, q)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in ((), (2, 3), (0, 2)):
            x, q = draw(rng, shape, "float32", 1.5, 6.0), draw(rng, shape, "float32", 0.5, 6.0)
            yield Sample((x, q), {}, constant=(0,))


lgamma_p = Lgamma("lgamma")
digamma_p = Digamma("digamma")
polygamma_p = Polygamma("polygamma")
zeta_p = Zeta("zeta")

lgamma = unary(lgamma_p)
digamma = unary(digamma_p)


def _of_x_and_q(bind: Any) -> Any:
    def function(x: Any, q: Any) -> Any:
        return bind(x, q)

    return function


zeta = binary(zeta_p, named=_of_x_and_q)


def polygamma(m: Any, x: Any) -> Array:
    """Elementwise derivative of order m of the digamma function at x.

    Args:
      m: an array of floats that are whole numbers from 0.
      x: an array of the same dtype. The shapes are equal, but that a scalar meets any shape, and
        a dimension of size 1 any size.

    Returns:
      An array of the common shape and dtype.

    Raises:
      TypeError: an operand has another dtype, or the dtypes or shapes do not match.

    >>> from covector import lax
    >>> lax.polygamma(1.0, 2.0)
    Array(0.64493406, dtype=float32, weak_type=True)
    """
    return polygamma_p.bind(m, x)
