"""The incomplete gamma functions of large parameters, by Temme's uniform expansion (DLMF 8.12).

With m = (x - a) / a and eta = sign(m) sqrt(2 (m - log(1 + m))),

    Q(a, x) = erfc(eta sqrt(a/2)) / 2 + R,   P(a, x) = erfc(-eta sqrt(a/2)) / 2 - R,
    R = exp(-a eta^2 / 2) / sqrt(2 pi a)  times the sum of c_k(eta) / a^k over k = 0, 1, ...

Where the power series and the continued fraction need about sqrt(a) steps, this needs none.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from .emitted import Emitted, exp, log, sqrt, where

# From there on these terms are enough: as many powers of eta for each power of 1 / a.
UNIFORM_FROM = 1e4
_POWERS = (19, 14, 9, 5)
# gamma(a) is its Stirling approximation times the sum of these over a^k (DLMF 5.11.3).
_OF_GAMMA = (Fraction(1), Fraction(1, 12), Fraction(1, 288), Fraction(-139, 51840))


@cache
def _coefficients() -> list[list[float]]:
    """The d_kn with c_k(eta) = sum of d_kn eta^n.

    As m dm = (1 + m) eta d(eta), the power series m = alpha_1 eta + alpha_2 eta^2 + ... follows by
    comparing coefficients; and from it (DLMF 8.12.11 and 8.12.12)
      d_0n = (n+2) alpha_(n+2), but d_00 = 2 alpha_2 - 1,
      d_kn = (-1)^k g_k d_0n + (n+2) d_(k-1)(n+2).
    """
    count = _POWERS[0] + 2 * len(_POWERS) + 3
    alpha = [Fraction(0), Fraction(1)]
    for n in range(2, count):
        products = sum((j * alpha[j] * alpha[n + 1 - j] for j in range(2, n)), Fraction(0))
        alpha.append((alpha[n - 1] - products) / (n + 1) if n > 2 else Fraction(1, 3))
    rows = [[(n + 2) * alpha[n + 2] - (n == 0) for n in range(count - 2)]]
    for k, g in enumerate(_OF_GAMMA[1:], start=1):
        before = rows[-1]
        known = range(len(before) - 2)
        rows.append([(-1) ** k * g * rows[0][n] + (n + 2) * before[n + 2] for n in known])
    return [[float(d) for d in row[:size]] for row, size in zip(rows, _POWERS)]


def beyond_slope(m: Emitted, ratio: Emitted) -> Emitted:
    """Write m - log(ratio) for ratio = 1 + m: how far the logarithm falls below its tangent at 1.

    Both are given since each has digits that the other one lacks. With
    r = m / (2 + m) the logarithm is 2 (r + r^3 / 3 + r^5 / 5 + ...), and m - 2 r = m r.
    """
    near = abs(m) < 0.4
    inside = where(near, m, 0)
    r = inside / (2 + inside)
    square, series = r * r, r.full(0)
    for k in range(29, 1, -2):
        series = series * square + 1 / k
    by_series = r * (inside - 2 * square * series)
    return where(near, by_series, m - log(ratio))


def lower_and_upper(a: Emitted, x: Emitted) -> tuple[Emitted, Emitted]:
    """Write P(a, x) and Q(a, x), for a >= `UNIFORM_FROM`."""
    # Beyond, one of the two has underflown.
    x = where(x < 0.5 * a, 0.5 * a, where(x > 1.5 * a, 1.5 * a, x))
    m = (x - a) / a
    half_square = beyond_slope(m, x / a)
    eta = sqrt(2 * half_square)
    eta = where(m < 0, -eta, eta)
    series = a.full(0)
    for row in reversed(_coefficients()):
        powers = a.full(row[-1])
        for d in reversed(row[:-1]):
            powers = powers * eta + d
        series = series / a + powers
    rest = exp(-a * half_square) / sqrt(2 * math.pi * a) * series
    bound = eta * sqrt(0.5 * a)
    lower, upper = (-bound).apply("chlo.erfc"), bound.apply("chlo.erfc")
    return 0.5 * lower - rest, 0.5 * upper + rest
