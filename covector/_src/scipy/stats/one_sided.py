"""Distributions on a half line: exponential, gamma, chi-squared and Pareto."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...numpy.exponential import exp, expm1, log, log1p
from ..special.entropy import xlogy
from ..special.gamma import digamma, gammaln
from ..special.quotients import gammainc, gammaincc
from .family import Continuous, log_of_rest
from .publish import published


class Positive(Continuous):
    """A distribution on the numbers from 0."""

    def support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0, np.inf


class Exponential(Positive):
    """The exponential distribution.

    The density of its standard member is exp(-x) for x >= 0.

    >>> from covector.scipy.stats import expon
    >>> expon.logsf(2.0)
    Array(-2., dtype=float32, weak_type=True)
    """

    def logpdf(self, x: Any) -> Any:
        return -x

    def cdf(self, x: Any) -> Any:
        return -expm1(-x)

    def logcdf(self, x: Any) -> Any:
        return log_of_rest(x)

    def sf(self, x: Any) -> Any:
        return exp(-x)

    def logsf(self, x: Any) -> Any:
        return -x

    def ppf(self, q: Any) -> Any:
        return -log1p(-q)

    def isf(self, q: Any) -> Any:
        return -log(q)

    def entropy(self) -> Any:
        return 1


expon = published("expon", Exponential())


class Gamma(Positive):
    """The gamma distribution.

    The density of its standard member is x^(a-1) exp(-x) / gamma(a) for x >= 0.

    >>> from covector.scipy.stats import gamma
    >>> gamma.sf(0.0, 2.0)
    Array(1., dtype=float32, weak_type=True)
    """

    def valid(self, a: Any) -> Any:
        return a > 0

    def logpdf(self, x: Any, a: Any) -> Any:
        return xlogy(a - 1, x) - x - gammaln(a)

    def cdf(self, x: Any, a: Any) -> Any:
        return gammainc(a, x)

    def sf(self, x: Any, a: Any) -> Any:
        return gammaincc(a, x)

    def entropy(self, a: Any) -> Any:
        return a + gammaln(a) + (1 - a) * digamma(a)


class ChiSquared(Positive):
    """The chi-squared distribution.

    Its standard member is twice a number of the gamma distribution with shape `df / 2`: the sum of
    the squares of `df` standard normal numbers.

    >>> from covector.scipy.stats import chi2
    >>> chi2.sf(0.0, 2.0)
    Array(1., dtype=float32, weak_type=True)
    """

    halved = Gamma()

    def valid(self, df: Any) -> Any:
        return df > 0

    def logpdf(self, x: Any, df: Any) -> Any:
        return self.halved.logpdf(0.5 * x, 0.5 * df) - math.log(2)

    def cdf(self, x: Any, df: Any) -> Any:
        return self.halved.cdf(0.5 * x, 0.5 * df)

    def sf(self, x: Any, df: Any) -> Any:
        return self.halved.sf(0.5 * x, 0.5 * df)

    def entropy(self, df: Any) -> Any:
        return self.halved.entropy(0.5 * df) + math.log(2)


gamma = published("gamma", Gamma(a="positive shape parameters"))
chi2 = published("chi2", ChiSquared(df="positive degrees of freedom"))


class Pareto(Continuous):
    """The Pareto distribution.

    The density of its standard member is b / x^(b+1) for x >= 1.

    >>> from covector.scipy.stats import pareto
    >>> pareto.sf(2.0, 2.0)
    Array(0.25, dtype=float32, weak_type=True)
    """

    def valid(self, b: Any) -> Any:
        return b > 0

    def support(self, b: Any) -> tuple[Any, Any]:
        return 1, np.inf

    def inner(self, b: Any) -> Any:
        return 2

    def logpdf(self, x: Any, b: Any) -> Any:
        return log(b) - (b + 1) * log(x)

    def cdf(self, x: Any, b: Any) -> Any:
        return -expm1(-b * log(x))

    def logcdf(self, x: Any, b: Any) -> Any:
        return log_of_rest(b * log(x))

    def sf(self, x: Any, b: Any) -> Any:
        return x**-b

    def logsf(self, x: Any, b: Any) -> Any:
        return -b * log(x)

    def ppf(self, q: Any, b: Any) -> Any:
        return exp(-log1p(-q) / b)

    def isf(self, q: Any, b: Any) -> Any:
        return q ** (-1 / b)

    def entropy(self, b: Any) -> Any:
        return 1 + 1 / b - log(b)


pareto = published("pareto", Pareto(b="positive shape parameters"))
