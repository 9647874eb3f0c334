"""Integrals of exponentials, sines and cosines over their arguments, and the dilogarithm.

Near zero they are power series; far away the exponential integrals are continued fractions, from
whose values on the imaginary axis come the integrals of sine and cosine; and Fresnel's integrals
are parts of the complex error function.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...control.fori_loop import fori_loop
from ...core.array import Array, ArrayLike
from ...numpy.creation import zeros_like
from ...numpy.exponential import cos, exp, log, log1p, sin
from ...numpy.promotion import convert
from ...numpy.selection import minimum, where
from ...ops import special as primitives
from ...ops.complex import complex as complex_of
from ...ops.complex import imag, real
from ...ops.rounding import round
from .elementwise import elementwise, floats, is_double, polynomial, reals
from .faddeeva import faddeeva
from .numbers import BERNOULLI

_EULER = float(np.euler_gamma)

# ---------------------------------------------------------------- exponential integrals


def _sum_of_powers(x: Any, count: int) -> Any:
    """The sum of x^k / (k k!) over k = 1, ..., count."""

    def step(i: Any, carry: Any) -> Any:
        total, term = carry
        k = convert(i + 1, x.dtype)
        term = term * x / k
        return total + term / k, term

    return fori_loop(0, count, step, (0 * x, 0 * x + 1))[0]


def _fraction(z: Any, n: Any, count: int) -> Any:
    """exp(z) E_n(z) by the continued fraction (DLMF 8.19.17, contracted), from the inside out:

    1 / (z + n - 1 n / (z + n + 2 - 2 (n+1) / (z + n + 4 - ...))).
    """

    def step(i: Any, tail: Any) -> Any:
        k = convert(count - i, z.dtype)
        return k * (n + k - 1) / (z + n + 2 * k - tail)

    return 1 / (z + n - fori_loop(0, count, step, 0 * z))


def _asymptotic_ei(x: Any) -> Any:
    """x exp(-x) Ei(x) = 1 + 1/x + 2!/x^2 + ..., for x >= 40."""
    inverse, total = 1 / x, 1.0
    for k in range(38, 0, -1):
        total = 1 + k * inverse * total
    return total


def _expi_slope(x: Any, y: Any) -> list[Any]:
    return [exp(x) / x]


@elementwise(_expi_slope)
def _expi(x: Any) -> Any:
    large, negative = x > 40, x < 0
    inside = where(large | negative, 1, x)
    near = _EULER + log(abs(inside)) + _sum_of_powers(inside, 120)
    y = where(large, x, 40)
    half = exp(0.5 * y)
    far = half * (half / y * _asymptotic_ei(y))
    left = -_exp1(where(negative, -x, 1))
    out = where(negative, left, where(large, far, near))
    return where(x == np.inf, np.inf, where(x == 0, -np.inf, out))


def expi(x: ArrayLike) -> Array:
    """Elementwise exponential integral Ei: the principal value of that of exp(t) / t up to x.

    Args:
      x: an array of real numbers.

    >>> from covector.scipy import special
    >>> special.expi(1.0)
    Array(1.8951179, dtype=float32)
    """
    return _expi(*reals("expi", x))


def _exp1_slope(x: Any, y: Any) -> list[Any]:
    return [-exp(-x) / x]


@elementwise(_exp1_slope)
def _exp1(x: Any) -> Any:
    near = x <= 1.5
    inside = where(near & (x > 0), x, 1)
    series = -_EULER - log(inside) - _sum_of_powers(-inside, 24)
    outside = where(near | (x == np.inf), 2, x)
    far = where(x == np.inf, 0, exp(-outside) * _fraction(outside, 1, 64))
    out = where(near, series, far)
    return where(x > 0, out, where(x == 0, np.inf, np.nan))


def exp1(x: ArrayLike) -> Array:
    """Elementwise exponential integral E_1: that of exp(-t) / t from x on.

    Args:
      x: an array of real numbers.

    Returns:
      An array of the same shape, NaN where `x` is negative.

    >>> from covector.scipy import special
    >>> special.exp1(1.0)
    Array(0.21938396, dtype=float32)
    """
    return _exp1(*reals("exp1", x))


def _series_of_order(n: Any, x: Any) -> Any:
    """E_n(x) for 0 < x <= 1 and n >= 1 (DLMF 8.19.8).

    The sum of -(-x)^m / ((m - n + 1) m!), but for m = n - 1, whose term is a logarithm.
    """
    total, term = 0 * x, 0 * x + 1
    for m in range(22):
        pole = n == m + 1
        logarithmic = term * (primitives.digamma(where(pole, n, 1)) - log(x))
        total = total + where(pole, logarithmic, -term / where(pole, 1, m - n + 1))
        term = term * -x / (m + 1)
    return total


def _expn_slopes(n: Any, x: Any, y: Any) -> list[Any]:
    return [0 * x, -_expn(n - 1, x)]


@elementwise(_expn_slopes)
def _expn(n: Any, x: Any) -> Any:
    inside = (n >= 1) & (x > 0) & (x < np.inf)
    near = inside & (x <= 1)
    by_series = _series_of_order(where(near, n, 1), where(near, x, 1))
    at, order = where(inside & ~near, x, 2), where(inside & ~near, n, 1)
    out = where(near, by_series, exp(-at) * _fraction(at, order, 100))
    at_zero = where(n > 1, 1 / where(n > 1, n - 1, 1), np.inf)
    of_order_zero = exp(-x) / where(x == 0, 1, x)
    out = where(x == np.inf, 0, where(n == 0, of_order_zero, out))
    return where((n < 0) | (x < 0) | (x != x), np.nan, where(x == 0, at_zero, out))


def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise exponential integral E_n: that of exp(-xt) / t^n from t = 1 on.

    Args:
      n: an array of integers from 0.
      x: an array of real numbers.

    Returns:
      An array of the common shape, NaN where an argument is negative. It has a derivative with
      respect to `x` only.

    >>> from covector.scipy import special
    >>> special.expn(2, 1.0)
    Array(0.14849521, dtype=float32)
    """
    return _expn(*reals("expn", n, x))


# ---------------------------------------------------------------- of sine and cosine


def _sici_slopes(x: Any, si: Any, ci: Any) -> list[Any]:
    zero = x == 0
    return [where(zero, 1, sin(x) / where(zero, 1, x)), cos(x) / x]


@elementwise(_sici_slopes)
def _sici(x: Any) -> list[Any]:
    size = abs(x)
    near, infinite = size < 4, size == np.inf
    u = where(near, size, 1)
    square, si, ci = u * u, 0 * u, 0 * u
    # Terms (-1)^k u^(2k+1) / ((2k+1) (2k+1)!) and (-1)^k u^(2k) / (2k (2k)!).
    for k in range(17, 0, -1):
        sign, even = (-1) ** k, 2 * k
        si = (si + sign / ((even + 1) * math.factorial(even + 1))) * square
        ci = (ci + sign / (even * math.factorial(even))) * square
    si, ci = u * (1 + si), _EULER + log(u) + ci

    # E_1(iv) = i (Si(v) - pi/2) - Ci(v) (DLMF 6.5.5 and 6.5.6).
    v = where(near | infinite, 4, size)
    axis = complex_of(zeros_like(v), v)
    far = exp(-axis) * _fraction(axis, 1, 64)
    si = where(near, si, where(infinite, math.pi / 2, imag(far) + math.pi / 2))
    ci = where(near, ci, where(infinite, 0, -real(far)))
    ci = where(x == -np.inf, np.nan, where(x == 0, -np.inf, ci))
    return [where(x < 0, -si, si), ci]


def sici(x: ArrayLike) -> tuple[Array, Array]:
    """Elementwise integrals of sine and cosine over their argument.

    Args:
      x: an array of real numbers.

    Returns:
      `(si, ci)`: the integral of sin(t) / t from 0 to x, and that of cos(t) / t from inf to |x|.

    >>> from covector.scipy import special
    >>> special.sici(1.0)[0]
    Array(0.94608307, dtype=float32)
    """
    return _sici(*reals("sici", x))


def _square_modulo_four(x: Any) -> Any:
    """x^2 mod 4 for x >= 0, to the last digit: of x = n + f the product n f has all its digits."""
    whole = round(x)
    rest = x - whole
    return whole % 2 + (2 * whole * rest) % 4 + rest * rest


def _fresnel_slopes(x: Any, s: Any, c: Any) -> list[Any]:
    phase = math.pi / 2 * _square_modulo_four(abs(x))
    return [sin(phase), cos(phase)]


@elementwise(_fresnel_slopes)
def _fresnel(x: Any) -> list[Any]:
    size = abs(x)
    near = size < 1.5
    phase = math.pi / 2 * where(near, size, 1) ** 2
    square, s, c = phase * phase, 0 * phase, 0 * phase
    for k in range(15, -1, -1):
        sign, even = (-1) ** k, 2 * k
        s = s * square + sign / (math.factorial(even + 1) * (4 * k + 3))
        c = c * square + sign / (math.factorial(even) * (4 * k + 1))
    s, c = s * phase * size, c * size

    # C + iS = (1 + i)/2 (1 - exp(i pi x^2 / 2) w((1 + i) sqrt(pi) x / 2)) (DLMF 7.5.8, 7.5.9).
    far = where(near | (size == np.inf), 2, size)
    # Beyond, w is less than the rounding errors.
    half = math.sqrt(math.pi) / 2 * minimum(far, 1e17 if is_double(x) else 1e8)
    w = faddeeva(complex_of(half, half))[0]
    phase = math.pi / 2 * _square_modulo_four(far)
    both = complex_of(zeros_like(far) + 0.5, zeros_like(far) + 0.5)
    both = both * (1 - exp(complex_of(zeros_like(far), phase)) * w)
    s = where(near, s, where(size == np.inf, 0.5, imag(both)))
    c = where(near, c, where(size == np.inf, 0.5, real(both)))
    s, c = where(x != x, x, s), where(x != x, x, c)
    return [where(x < 0, -s, s), where(x < 0, -c, c)]


def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """Elementwise Fresnel's integrals.

    Args:
      x: an array of real numbers.

    Returns:
      `(s, c)`: the integrals of sin(pi t^2 / 2) and of cos(pi t^2 / 2) from 0 to x.

    >>> from covector.scipy import special
    >>> special.fresnel(1.0)[0]
    Array(0.43825918, dtype=float32, weak_type=True)
    """
    (x,) = reals("fresnel", x)
    return _fresnel(x)


# ---------------------------------------------------------------- dilogarithm


def _spence_slope(x: Any, y: Any) -> list[Any]:
    """log(x) / (1 - x), which is -1 at 1."""
    one = x == 1
    return [where(one, -1, log(x) / where(one, 1, 1 - x))]


def _around_one(x: Any) -> Any:
    """Spence's function for 1/2 <= x <= 2, as a power series in u = -log(x).

    u / (exp(u) - 1) is the sum of B_k u^k / k!, and the function integrates it with exp(-u).
    """
    u = -log(x)
    coefficients = [float(BERNOULLI[2 * k]) / math.factorial(2 * k + 1) for k in range(12)]
    return u * polynomial(u * u, coefficients) - u * u / 4


@elementwise(_spence_slope)
def _spence(x: Any) -> Any:
    # S(x) + S(1/x) = -log(x)^2 / 2, and S(x) + S(1 - x) = pi^2/6 - log(x) log(1 - x).
    large = x > 2
    y = where(large, 1 / where(large, x, 1), x)
    small = y < 0.5
    inner = _around_one(where(small, 1 - y, y))
    positive = small & (y > 0)
    product = where(positive, log(where(positive, y, 1)) * log1p(-where(positive, y, 0)), 0)
    out = where(small, math.pi**2 / 6 - product - inner, inner)
    root = log(where(large, x, 1))
    out = where(large, -0.5 * root * root - out, out)
    return where(x < 0, np.nan, out)


def spence(x: Array) -> Array:
    """Elementwise Spence's function: the dilogarithm of 1 - x.

    It is minus the integral of log(t) / (t - 1) from 1 to x.

    Args:
      x: an array of floats.

    Returns:
      An array of the same shape and dtype, NaN where `x` is negative.

    Raises:
      TypeError: the array is not of floats.

    >>> import covector.numpy as jnp
    >>> from covector.scipy import special
    >>> special.spence(jnp.array([0.0, 1.0]))
    Array([ 1.644934, -0.      ], dtype=float32)
    """
    return _spence(floats("spence", x))
