"""The zeta function with its derivatives in both arguments, and Riemann's on the whole line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.array import Array, ArrayLike
from ...numpy.exponential import cos, exp, log, sin
from ...numpy.selection import where
from ...ops import special as primitives
from .elementwise import elementwise, reals
from .gamma import gamma_of_real
from .numbers import BERNOULLI

_SUMMED = 10
_LOG_2_PI = math.log(2 * math.pi)


def _with_slope(s: Any, q: Any) -> tuple[Any, Any]:
    """zeta(s, q) and its derivative in s, for q > 0 and s > -1, by Euler and Maclaurin's formula.

    The formula stands in `ops.special_zeta` (DLMF 25.11.5); here its terms are differentiated too.
    """
    value, slope = 0 * s, 0 * s
    for k in range(_SUMMED):
        power = (q + k) ** -s
        value, slope = value + power, slope - log(q + k) * power
    a = q + _SUMMED
    # The product s (s+1) ... (s+2k-2) / a^2k, and its derivative.
    factor, change = s / (a * a), 1 / (a * a)
    series, of_series = 1 / (s - 1) + 0.5 / a, -1 / (s - 1) ** 2
    for k in range(1, 9):
        weight = float(BERNOULLI[2 * k]) / math.factorial(2 * k)
        series, of_series = series + weight * factor, of_series + weight * change
        for j in (2 * k - 1, 2 * k):
            factor, change = factor * ((s + j) / a), change * ((s + j) / a) + factor / a
    power = a ** (1 - s)
    gone = power == 0
    tail, of_tail = where(gone, 0, series), where(gone, 0, of_series - log(a) * series)
    return value + power * tail, slope + power * of_tail


# ---------------------------------------------------------------- of Hurwitz


def _hurwitz_slopes(s: Any, q: Any, y: Any) -> list[Any]:
    """In s for q > 0; left of there the function is real for single s alone."""
    known = (s > 1) & (q > 0)
    slope = _with_slope(where(known, s, 2), where(known, q, 1))[1]
    return [where(known, slope, np.nan), -s * primitives.zeta(s + 1, q)]


@elementwise(_hurwitz_slopes)
def _hurwitz(s: Any, q: Any) -> Any:
    return primitives.zeta(s, q)


# ---------------------------------------------------------------- of Riemann


def _reflected(s: Any) -> tuple[Any, Any]:
    """Riemann's function and its derivative for s < -1/2 (DLMF 25.4.1).

    With c = 2 (2 pi)^(s-1) gamma(1-s) it is c sin(pi s / 2) zeta(1-s).
    """
    large = s < -100
    direct = (2 * math.pi) ** s * gamma_of_real(where(large, 1, 1 - s))
    factor = where(large, exp(primitives.lgamma(1 - s) + _LOG_2_PI * s), direct) / math.pi
    # The angle loses its whole turns before pi comes in.
    angle = 0.5 * math.pi * (s % 4)
    sine, cosine = where(s % 2 == 0, 0, sin(angle)), where(s % 2 == 1, 0, cos(angle))
    value, slope = _with_slope(1 - s, 1 + 0 * s)
    of_factor = sine * (_LOG_2_PI - primitives.digamma(1 - s)) + 0.5 * math.pi * cosine
    return factor * sine * value, factor * (of_factor * value - sine * slope)


def _riemann_with_slope(s: Any) -> tuple[Any, Any]:
    left, pole = s < -0.5, s == 1
    right = _with_slope(where(left | pole, 2, s), 1 + 0 * s)
    reflected = _reflected(where(left, s, -1))
    value, slope = [where(left, x, y) for x, y in zip(reflected, right)]
    undefined = s == -np.inf
    return where(pole, np.inf, where(undefined, np.nan, value)), where(pole, -np.inf, slope)


@elementwise(lambda s, y: [_riemann_with_slope(s)[1]])
def _riemann(s: Any) -> Any:
    return _riemann_with_slope(s)[0]


def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """Elementwise Hurwitz zeta function: the sum of (q + k)^-x over k = 0, 1, 2, ...

    Args:
      x: an array of real numbers. With `q` they must be above 1.
      q: an array of real numbers, broadcast against `x`. Without it the function is Riemann's: that
        of q = 1, continued to all numbers but 1.

    Returns:
      An array of the common shape; NaN where `x < 1`, or where `q` is negative and `x` is not a
      whole number. It has derivatives with respect to both arguments, that in `x` for positive `q`.

    >>> from covector.scipy import special
    >>> special.zeta(2.0, 1.0)
    Array(1.644934, dtype=float32, weak_type=True)
    >>> print(f"{special.zeta(-1.0):.5f}")
    -0.08333
    """
    return _riemann(*reals("zeta", x)) if q is None else _hurwitz(*reals("zeta", x, q))
