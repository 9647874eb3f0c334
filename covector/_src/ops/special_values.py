"""Values of special functions in NumPy and double precision: what the ops are checked against."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

# Bernoulli numbers B_2, B_4, ..., B_16, which occur in the asymptotic series below.
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def elementwise(function: Callable[..., float]) -> Callable[..., np.ndarray]:
    """A function of Python floats as one of arrays."""
    vectorized = np.vectorize(function, otypes=[np.float64])
    return lambda *args: vectorized(*[np.asarray(x, np.float64) for x in args])


def _lgamma(x: float) -> float:
    """log |gamma(x)|, infinite at the poles 0, -1, -2, ..."""
    try:
        return math.lgamma(x)
    except ValueError:
        return math.inf


def _digamma(x: float) -> float:
    """The derivative of `lgamma`; NaN at its poles.

    From psi(x) = psi(1 - x) - pi / tan(pi x) and psi(x) = psi(x + 1) - 1 / x one gets to x >= 10,
    where psi(x) ~ log x - 1 / 2x - sum of B_2k / (2k x^2k)  (DLMF 5.5.2, 5.5.4, 5.11.2).
    """
    if x == -math.inf or (x <= 0 and x == math.floor(x)):
        return math.nan
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * x)
    shift = 0.0
    while x < 10:
        shift += 1 / x
        x += 1
    series = sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(BERNOULLI, start=1))
    return math.log(x) - 0.5 / x - series - shift


def _hurwitz_zeta(s: float, q: float) -> float:
    """The sum of (q + k)^-s over k = 0, 1, 2, ..., for s > 1; infinite at its poles.

    By Euler and Maclaurin, ten terms and then (DLMF 25.11.5)
      a^(1-s) / (s - 1) + a^-s / 2 + sum of B_2k / (2k)! s (s + 1) ... (s + 2k - 2) a^(1-s-2k).
    """
    if q == -math.inf or (q <= 0 and q == math.floor(q)):
        return math.inf
    a = q + 10
    total = sum((q + k) ** -s for k in range(10)) + a ** (1 - s) / (s - 1) + a**-s / 2
    factor = s / a
    for k, b in enumerate(BERNOULLI, start=1):
        total += b / math.factorial(2 * k) * factor * a**-s
        factor *= (s + 2 * k - 1) * (s + 2 * k) / a**2
    return total


def _polygamma(m: float, x: float) -> float:
    """The derivative of order m of `digamma`: (-1)^(m+1) m! zeta(m + 1, x)  (DLMF 25.11.12)."""
    if m == 0:
        return _digamma(x)
    return (-1) ** (int(m) + 1) * math.factorial(int(m)) * _hurwitz_zeta(m + 1, x)


def _erf_inv(y: float) -> float:
    """The x with erf(x) = y, by Newton's method on erfc in the tail where |y| is.

    It starts from Winitzki's approximation, whose relative error is below 0.002.
    """
    if not abs(y) < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    if y == 0:
        return y
    a, log = 0.147, math.log1p(-y * y)
    middle = 2 / (math.pi * a) + log / 2
    x = math.sqrt(math.sqrt(middle * middle - log / a) - middle)
    for _ in range(4):
        x += (math.erfc(x) - (1 - abs(y))) * math.sqrt(math.pi) / 2 * math.exp(x * x)
    return math.copysign(x, y)


erf = elementwise(math.erf)
erfc = elementwise(math.erfc)
erf_inv = elementwise(_erf_inv)
lgamma = elementwise(_lgamma)
digamma = elementwise(_digamma)
polygamma = elementwise(_polygamma)
