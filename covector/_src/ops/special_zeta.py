"""The Hurwitz zeta function and the derivatives of the digamma function, written as formulas.

For s > 1 and q > 0, Euler and Maclaurin's formula gives from N terms, with a = q + N (DLMF 25.11.5)

    zeta(s, q) = sum of (q + k)^-s over k < N,  plus
                 a^(1-s) (1 / (s-1) + 1 / 2a + sum of B_2k / (2k)! s (s+1) ... (s+2k-2) a^-2k).

Left of zero (q + k)^-s is real for whole s alone.  With f = q - floor(q) and g = ceil(q) - q the
terms there are those of zeta(s, g), but for their sign and without those from 1 - q on:

    zeta(s, q) = zeta(s, f) + (-1)^s (zeta(s, g) - zeta(s, 1 - q)).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from .emitted import Emitted, anywhere, exp, loop, where
from .special_values import BERNOULLI, zeta

_SUMMED = 10
_COEFFICIENTS = [b / math.factorial(2 * k) for k, b in enumerate(BERNOULLI, start=1)]


def hurwitz_zeta(s: Emitted, q: Emitted) -> Emitted:
    """Write zeta(s, q), for arrays of float32 or float64; NaN where s < 1.

    At the poles q = 0, -1, -2, ... it is infinite if s is even, as then both sides tend to inf.
    """
    whole, pole = s.equals(s.apply("floor")), (q <= 0) & q.equals(q.apply("floor"))
    even = whole & (0.5 * s).equals((0.5 * s).apply("floor"))
    beside = (q < 0) & ~pole
    at_right = where(beside, q - q.apply("floor"), where(pole, 1, q))
    total = _of_positive(s, at_right) + where(even, 1, -s.full(1)) * _between(s, q, beside)
    total = where(beside & ~whole, math.nan, total)
    total = where(pole, where(even, math.inf, q.full(math.nan)), total)
    return where(s > 1, total, where(s.equals(1), math.inf, s.full(math.nan)))


def polygamma(m: Emitted, x: Emitted) -> Emitted:
    """Write the derivative of order m of the digamma function: (-1)^(m+1) m! zeta(m + 1, x).

    It is NaN where m is not a whole number from 0.
    """
    odd = ~(0.5 * m).equals((0.5 * m).apply("floor"))
    size = exp((m + 1).apply("chlo.lgamma")) * hurwitz_zeta(m + 1, x)
    derivative = where(odd, size, -size)
    valid = (m >= 0) & m.equals(m.apply("floor"))
    out = where(m.equals(0), x.apply("chlo.digamma"), derivative)
    return where(valid, out, math.nan)


def _of_positive(s: Emitted, q: Emitted) -> Emitted:
    """Write zeta(s, q) for q > 0."""
    total = q.full(0)
    for k in range(_SUMMED):
        total = total + (q + k).apply("power", -s)
    a = q + _SUMMED
    factor, series = s / a, 1 / (s - 1) + 0.5 / a
    for k, coefficient in enumerate(_COEFFICIENTS, start=1):
        series = series + (coefficient / a) * factor
        factor = factor * ((s + (2 * k - 1)) / a) * ((s + 2 * k) / a)
    power = a.apply("power", 1 - s)
    # What has underflown is 0, whatever it is multiplied by.
    return total + where(power.equals(0), 0, power * series)


def _between(s: Emitted, q: Emitted, beside: Emitted) -> Emitted:
    """Write zeta(s, ceil(q) - q) - zeta(s, 1 - q) where `beside` holds, and 0 elsewhere.

    It is computed only if there is such a place, in a loop of one step.
    """

    def step(waiting: Emitted, _: Emitted) -> list[Emitted]:
        nearest = where(beside, q.apply("ceil") - q, 1)
        beyond = where(beside, 1 - q, 1)
        terms = _of_positive(s, nearest) - _of_positive(s, beyond)
        return [waiting & ~waiting, where(beside, terms, 0)]

    return loop(lambda waiting, _: anywhere(waiting), step, [beside, q.full(0)])[1]


# ---------------------------------------------------------------- logarithm of the gamma function


@cache
def _of_log_gamma(count: int) -> list[float]:
    k = np.arange(2, count)
    return ((-1.0) ** k * zeta(k, 2) / k).tolist()


def log_gamma_after_two(u: Any) -> Any:
    """log Gamma(2 + u) for |u| <= 1/2, with all digits also near its zero (DLMF 5.7.3).

    The argument is of float32 or float64, and written or traced.
    """
    total = 0.0
    for coefficient in reversed(_of_log_gamma(26 if u.dtype == np.float64 else 12)):
        total = total * u + coefficient
    return u * ((1 - float(np.euler_gamma)) + u * total)
