"""Distributions on an interval or a circle: uniform, beta, von Mises and wrapped Cauchy."""

from __future__ import annotations

import math
from typing import Any

from ...numpy.exponential import arctan, log, log1p, sin, tan
from ...numpy.selection import where
from ..special.bessel import i0e, i1e
from ..special.entropy import xlog1py, xlogy
from ..special.gamma import digamma
from ..special.quotients import betainc, betaln, complement_of_betainc
from .family import Continuous
from .publish import published


class OnUnitInterval(Continuous):
    """A distribution on the numbers from 0 to 1."""

    def support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0, 1


class Uniform(OnUnitInterval):
    """The uniform distribution.

    Its standard member is on the numbers from 0 to 1: so the interval is that from `loc` to
    `loc + scale`.

    >>> from covector.scipy.stats import uniform
    >>> uniform.cdf(3.0, 2.0, 4.0)
    Array(0.25, dtype=float32, weak_type=True)
    """

    def logpdf(self, x: Any) -> Any:
        return 0 * x

    def cdf(self, x: Any) -> Any:
        return x

    def ppf(self, q: Any) -> Any:
        return q

    def isf(self, q: Any) -> Any:
        return 1 - q

    def entropy(self) -> Any:
        return 0


uniform = published("uniform", Uniform())


class Beta(OnUnitInterval):
    """The beta distribution.

    The density of its standard member is x^(a-1) (1-x)^(b-1), divided by the beta function of a and
    b, for 0 <= x <= 1.

    >>> from covector.scipy.stats import beta
    >>> round(float(beta.pdf(0.5, 2.0, 2.0)), 3)
    1.5
    """

    def valid(self, a: Any, b: Any) -> Any:
        return (a > 0) & (b > 0)

    def logpdf(self, x: Any, a: Any, b: Any) -> Any:
        return xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b)

    def cdf(self, x: Any, a: Any, b: Any) -> Any:
        return betainc(a, b, x)

    def sf(self, x: Any, a: Any, b: Any) -> Any:
        return complement_of_betainc(a, b, x)

    def entropy(self, a: Any, b: Any) -> Any:
        slopes = (a - 1) * digamma(a) + (b - 1) * digamma(b) - (a + b - 2) * digamma(a + b)
        return betaln(a, b) - slopes


beta = published("beta", Beta(a="positive shape parameters", b="positive shape parameters"))


class VonMises(Continuous):
    """The von Mises distribution.

    The density of its standard member is exp(kappa cos(x)) / (2 pi I0(kappa)), with I0 the modified
    Bessel function of order 0, on any interval of length 2 pi.

    >>> from covector.scipy.stats import vonmises
    >>> round(float(vonmises.logpdf(0.0, 2.0)), 3)
    -0.662
    """

    def valid(self, kappa: Any) -> Any:
        return kappa >= 0

    def logpdf(self, x: Any, kappa: Any) -> Any:
        # cos(x) - 1, without the cancellation.
        return -2 * kappa * sin(0.5 * x) ** 2 - log(2 * math.pi * i0e(kappa))

    def entropy(self, kappa: Any) -> Any:
        return log(2 * math.pi * i0e(kappa)) + kappa * (1 - i1e(kappa) / i0e(kappa))


vonmises = published("vonmises", VonMises(kappa="nonnegative concentrations"))


class WrappedCauchy(Continuous):
    """The wrapped Cauchy distribution.

    The density of its standard member is (1 - c^2) / (2 pi (1 + c^2 - 2 c cos(x))), for x from 0 to
    2 pi.

    >>> from covector.scipy.stats import wrapcauchy
    >>> wrapcauchy.pdf(0.0, 0.5)
    Array(0.47746485, dtype=float32, weak_type=True)
    """

    def valid(self, c: Any) -> Any:
        return (c > 0) & (c < 1)

    def support(self, c: Any) -> tuple[Any, Any]:
        return 0, 2 * math.pi

    def logpdf(self, x: Any, c: Any) -> Any:
        distance = (1 - c) ** 2 + 4 * c * sin(0.5 * x) ** 2
        return log1p(-c) + log1p(c) - math.log(2 * math.pi) - log(distance)

    def cdf(self, x: Any, c: Any) -> Any:
        # By the distance from the nearest end.
        left = x < math.pi
        half = 0.5 * where(left, x, 2 * math.pi - x)
        tail = arctan((1 + c) / (1 - c) * tan(half)) / math.pi
        return where(left, tail, 1 - tail)

    def sf(self, x: Any, c: Any) -> Any:
        return self.cdf(2 * math.pi - x, c)

    def ppf(self, q: Any, c: Any) -> Any:
        left = q < 0.5
        angle = 2 * arctan((1 - c) / (1 + c) * tan(math.pi * where(left, q, 1 - q)))
        return where(left, angle, 2 * math.pi - angle)

    def isf(self, q: Any, c: Any) -> Any:
        return 2 * math.pi - self.ppf(q, c)

    def entropy(self, c: Any) -> Any:
        return math.log(2 * math.pi) + log1p(-c) + log1p(c)


wrapcauchy = published("wrapcauchy", WrappedCauchy(c="numbers between 0 and 1"))
