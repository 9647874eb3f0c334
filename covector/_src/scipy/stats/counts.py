"""Distributions of counts: Bernoulli, binomial, geometric and their relatives, and Poisson."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...numpy.exponential import exp, expm1, log, log1p
from ...numpy.promotion import convert
from ...numpy.reductions import sum as sum_of
from ...numpy.selection import where
from ...ops.rounding import floor
from ..special.elementwise import polynomial
from ..special.entropy import entr, xlog1py, xlogy
from ..special.gamma import gammaln
from ..special.quotients import (
    betainc,
    betaln,
    complement_of_betainc,
    gammainc,
    gammaincc,
)
from .family import Discrete, log_of_rest
from .publish import published

# ---------------------------------------------------------------- successes in a number of trials


def is_probability(p: Any) -> Any:
    return (p >= 0) & (p <= 1)


def is_whole(n: Any) -> Any:
    return (n >= 0) & (floor(n) == n)


class Bernoulli(Discrete):
    """The Bernoulli distribution.

    Its standard member is 1 with probability p, and 0 otherwise.

    >>> from covector.scipy.stats import bernoulli
    >>> bernoulli.pmf(1, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """

    def valid(self, p: Any) -> Any:
        return is_probability(p)

    def support(self, p: Any) -> tuple[Any, Any]:
        return 0, 1

    def logpmf(self, k: Any, p: Any) -> Any:
        return xlogy(k, p) + xlog1py(1 - k, -p)

    def cdf(self, k: Any, p: Any) -> Any:
        return 1 - p + 0 * k

    def sf(self, k: Any, p: Any) -> Any:
        return p + 0 * k

    def ppf(self, q: Any, p: Any) -> Any:
        return where(q > 1 - p, 1, 0) + 0 * q

    def isf(self, q: Any, p: Any) -> Any:
        return where(q < p, 1, 0) + 0 * q

    def entropy(self, p: Any) -> Any:
        return entr(p) + entr(1 - p)


bernoulli = published("bernoulli", Bernoulli(p="probabilities"))


def _log_choices(n: Any, k: Any) -> Any:
    """The logarithm of the number of ways to choose k out of n."""
    return where(n == 0, 0, -log1p(n) - betaln(n - k + 1, k + 1))


class Binomial(Discrete):
    """The binomial distribution.

    Its standard member is the number of successes in n trials, each of probability p.

    >>> from covector.scipy.stats import binom
    >>> round(float(binom.pmf(1, 2, 0.5)), 3)
    0.5
    """

    def valid(self, n: Any, p: Any) -> Any:
        return is_whole(n) & is_probability(p)

    def support(self, n: Any, p: Any) -> tuple[Any, Any]:
        return 0, n

    def logpmf(self, k: Any, n: Any, p: Any) -> Any:
        return _log_choices(n, k) + xlogy(k, p) + xlog1py(n - k, -p)

    def cdf(self, k: Any, n: Any, p: Any) -> Any:
        return complement_of_betainc(k + 1, where(k < n, n - k, 1), p)

    def sf(self, k: Any, n: Any, p: Any) -> Any:
        return betainc(k + 1, where(k < n, n - k, 1), p)


binom = published("binom", Binomial(n="numbers of trials", p="probabilities"))


class BetaBinomial(Discrete):
    """The beta-binomial distribution.

    Its standard member is the number of successes in n trials, whose common probability has the
    beta distribution with shapes a and b.

    >>> from covector.scipy.stats import betabinom
    >>> round(float(betabinom.pmf(1, 1, 1.0, 1.0)), 3)
    0.5
    """

    def valid(self, n: Any, a: Any, b: Any) -> Any:
        return is_whole(n) & (a > 0) & (b > 0)

    def support(self, n: Any, a: Any, b: Any) -> tuple[Any, Any]:
        return 0, n

    def logpmf(self, k: Any, n: Any, a: Any, b: Any) -> Any:
        return _log_choices(n, k) + betaln(k + a, n - k + b) - betaln(a, b)


betabinom = published(
    "betabinom",
    BetaBinomial(
        n="numbers of trials", a="positive shape parameters", b="positive shape parameters"
    ),
)

# ---------------------------------------------------------------- trials up to a success


class Geometric(Discrete):
    """The geometric distribution.

    Its standard member is the number of trials, each of probability p, up to the first success.

    >>> from covector.scipy.stats import geom
    >>> geom.pmf(1, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """

    def valid(self, p: Any) -> Any:
        return (p > 0) & (p <= 1)

    def support(self, p: Any) -> tuple[Any, Any]:
        return 1, np.inf

    def inner(self, p: Any) -> Any:
        return 1

    def logpmf(self, k: Any, p: Any) -> Any:
        return xlog1py(k - 1, -p) + log(p)

    def cdf(self, k: Any, p: Any) -> Any:
        return -expm1(self.logsf(k, p))

    def logcdf(self, k: Any, p: Any) -> Any:
        return log_of_rest(-self.logsf(k, p))

    def sf(self, k: Any, p: Any) -> Any:
        return exp(self.logsf(k, p))

    def logsf(self, k: Any, p: Any) -> Any:
        return k * log1p(-p)


geom = published("geom", Geometric(p="positive probabilities"))


class NegativeBinomial(Discrete):
    """The negative binomial distribution.

    Its standard member is the number of failures before the n-th success, in trials of which each
    has probability p.

    >>> from covector.scipy.stats import nbinom
    >>> round(float(nbinom.pmf(0, 2, 0.5)), 3)
    0.25
    """

    def valid(self, n: Any, p: Any) -> Any:
        return (n > 0) & (p > 0) & (p <= 1)

    def logpmf(self, k: Any, n: Any, p: Any) -> Any:
        return -log(n + k) - betaln(n, k + 1) + xlogy(n, p) + xlog1py(k, -p)

    def cdf(self, k: Any, n: Any, p: Any) -> Any:
        return betainc(n, k + 1, p)

    def sf(self, k: Any, n: Any, p: Any) -> Any:
        return complement_of_betainc(n, k + 1, p)


nbinom = published(
    "nbinom", NegativeBinomial(n="positive numbers of successes", p="positive probabilities")
)

# ---------------------------------------------------------------- rare events


# The entropy for a large mean is log(2 pi e mu) / 2 less these coefficients times mu^-k, of which
# R. J. Evans and J. Boersma have the first (SIAM Review 30, 1988, 314-317).
ENTROPY_REMAINDER = [0, 1 / 12, 1 / 24, 19 / 360, 9 / 80, 863 / 2520]


class Poisson(Discrete):
    """The Poisson distribution.

    Its standard member is the number of events, of which there are mu in the mean.

    >>> from covector.scipy.stats import poisson
    >>> poisson.cdf(3, 0.0)
    Array(1., dtype=float32, weak_type=True)
    """

    def valid(self, mu: Any) -> Any:
        return mu >= 0

    def logpmf(self, k: Any, mu: Any) -> Any:
        return xlogy(k, mu) - gammaln(k + 1) - mu

    def cdf(self, k: Any, mu: Any) -> Any:
        return gammaincc(k + 1, mu)

    def sf(self, k: Any, mu: Any) -> Any:
        return gammainc(k + 1, mu)

    def entropy(self, mu: Any) -> Any:
        large, none = mu > 100, mu == 0
        few, many = where(large | none, 1, mu), where(large, mu, 100)
        # Up to 15 standard deviations above the mean.
        counts = np.arange(250).reshape(-1, *(1,) * mu.ndim)
        terms = self.logpmf(convert(counts, mu.dtype), few[None])
        total = where(none, 0, -sum_of(exp(terms) * terms, axis=0))
        leading = 0.5 * log(2 * math.pi * math.e * many)
        return where(large, leading - polynomial(1 / many, ENTROPY_REMAINDER), total)


poisson = published("poisson", Poisson(mu="nonnegative means"))
