"""The normal distribution, cut to an interval, and with other exponents."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...numpy.exponential import exp, log, log1p
from ...numpy.joining import stack
from ...numpy.selection import maximum, minimum, where
from ...numpy.shaping import broadcast_arrays
from ..special.gamma import gammaln
from ..special.normal import erf, log_ndtr, ndtr, ndtri
from ..special.quotients import gammaincc
from .family import Continuous, Symmetric, log_of_rest
from .publish import published

_HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)
_ROOT_HALF = math.sqrt(0.5)


class Normal(Symmetric):
    """The normal distribution.

    The density of its standard member is exp(-x^2 / 2) / sqrt(2 pi).

    >>> from covector.scipy.stats import norm
    >>> norm.cdf(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    >>> norm.logsf(20.0)
    Array(-203.91716, dtype=float32, weak_type=True)
    """

    in_default_float = ("ppf", "isf")

    def logpdf(self, x: Any) -> Any:
        return -0.5 * (x * x) - _HALF_LOG_2_PI

    def cdf(self, x: Any) -> Any:
        return ndtr(x)

    def logcdf(self, x: Any) -> Any:
        return log_ndtr(x)

    def ppf(self, q: Any) -> Any:
        return ndtri(q)

    def entropy(self) -> Any:
        return _HALF_LOG_2_PI + 0.5


norm = published("norm", Normal())


class GeneralizedNormal(Symmetric):
    """The generalized normal distribution.

    The density of its standard member is beta exp(-|x|^beta) / (2 gamma(1 / beta)).

    >>> from covector.scipy.stats import gennorm
    >>> round(float(gennorm.pdf(0.0, 1.0)), 3)
    0.5
    """

    def valid(self, beta: Any) -> Any:
        return beta > 0

    def logpdf(self, x: Any, beta: Any) -> Any:
        return log(0.5 * beta) - gammaln(1 / beta) - abs(x) ** beta

    def cdf(self, x: Any, beta: Any) -> Any:
        # At 0 the two factors of the slope, one infinite and one 0, are a line's.
        at_zero = abs(x) < 1e-15
        size = abs(where(at_zero, 1, x))
        tail = 0.5 * gammaincc(1 / beta, size**beta)
        line = 0.5 + exp(log(0.5 * beta) - gammaln(1 / beta)) * x
        return where(at_zero, line, where(x > 0, 1 - tail, tail))

    def entropy(self, beta: Any) -> Any:
        return 1 / beta - log(0.5 * beta) + gammaln(1 / beta)


gennorm = published("gennorm", GeneralizedNormal(beta="positive exponents"))


def _log_difference(high: Any, low: Any) -> Any:
    """log(ndtr(high) - ndtr(low)) for high <= 0, or for both of small probability."""
    start = log_ndtr(high)
    bounded = low > -np.inf
    lower = log_ndtr(where(bounded, low, minimum(high, 0) - 1))
    return where(bounded, start + log_of_rest(start - lower), start)


def _log_mass(a: Any, b: Any) -> Any:
    """log(ndtr(b) - ndtr(a)) for a <= b; on the right by symmetry."""
    middle = (a > -1) & (b < 1)
    inner = erf(_ROOT_HALF * where(middle, b, 1)) - erf(_ROOT_HALF * where(middle, a, 0))
    right = a > 0
    tail = _log_difference(where(right, -a, minimum(b, 0)), where(right, -b, minimum(a, 0)))
    across = (a <= 0) & (b > 0)
    outside = ndtr(where(across, a, -1)) + ndtr(where(across, -b, -1))
    return where(middle, log(0.5 * inner), where(across, log1p(-outside), tail))


class TruncatedNormal(Continuous):
    """The normal distribution cut to an interval.

    Its standard member is the standard normal distribution on [a, b]: so the interval is that from
    `loc + scale * a` to `loc + scale * b`.

    >>> from covector.scipy.stats import truncnorm
    >>> round(float(truncnorm.cdf(0.0, -1.0, 1.0)), 3)
    0.5
    """

    def valid(self, a: Any, b: Any) -> Any:
        return a < b

    def support(self, a: Any, b: Any) -> tuple[Any, Any]:
        return a, b

    def inner(self, a: Any, b: Any) -> Any:
        return maximum(a, minimum(b, 0))

    def logpdf(self, x: Any, a: Any, b: Any) -> Any:
        return -0.5 * (x * x) - _HALF_LOG_2_PI - _log_mass(a, b)

    def logcdf(self, x: Any, a: Any, b: Any) -> Any:
        x, a, b = broadcast_arrays(x, a, b)
        whole, left, right = _log_mass(stack([a, a, x]), stack([b, x, b]))
        left, right = left - whole, right - whole
        near_one = left > -0.1
        return where(near_one, log1p(-exp(where(near_one, right, -1))), left)

    def logsf(self, x: Any, a: Any, b: Any) -> Any:
        return self.logcdf(-x, -b, -a)

    def cdf(self, x: Any, a: Any, b: Any) -> Any:
        return exp(self.logcdf(x, a, b))

    def sf(self, x: Any, a: Any, b: Any) -> Any:
        return exp(self.logsf(x, a, b))


truncnorm = published(
    "truncnorm",
    TruncatedNormal(a="lower ends, which may be -inf", b="upper ends, which may be inf"),
)
