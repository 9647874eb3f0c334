"""Distributions on the whole line: Cauchy, Laplace, logistic, Gumbel and Student."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...numpy.exponential import arctan2, exp, expm1, log, log1p, logaddexp, sqrt, tan
from ...numpy.selection import maximum, minimum, where
from ..special.elementwise import is_double
from ..special.entropy import expit, logit
from ..special.gamma import digamma
from ..special.normal import ndtr
from ..special.quotients import betainc, betaln
from .family import Continuous, Symmetric, log_of_rest
from .publish import published


def log_one_plus_square(x: Any) -> Any:
    """log(1 + x^2), also where the square overflows."""
    large = abs(x) > 1
    size = abs(where(large, x, 1))
    inside = where(large, 0, x)
    return where(large, 2 * log(size) + log1p((1 / size) ** 2), log1p(inside * inside))


class Cauchy(Symmetric):
    """The Cauchy distribution.

    The density of its standard member is 1 / (pi (1 + x^2)).

    >>> from covector.scipy.stats import cauchy
    >>> cauchy.cdf(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """

    def logpdf(self, x: Any) -> Any:
        return -math.log(math.pi) - log_one_plus_square(x)

    def cdf(self, x: Any) -> Any:
        return arctan2(0 * x + 1, -x) / math.pi

    def ppf(self, q: Any) -> Any:
        # tan(pi (q - 1/2)), outside by the distance from the nearest end.
        middle, left = abs(q - 0.5) < 0.25, q < 0.5
        inner = tan(math.pi * (where(middle, q, 0.5) - 0.5))
        outer = 1 / tan(math.pi * where(middle, 0.25, where(left, q, 1 - q)))
        return where(middle, inner, where(left, -outer, outer))

    def entropy(self) -> Any:
        return math.log(4 * math.pi)


cauchy = published("cauchy", Cauchy())


class Laplace(Symmetric):
    """The Laplace distribution.

    The density of its standard member is exp(-|x|) / 2.

    >>> from covector.scipy.stats import laplace
    >>> laplace.cdf(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """

    def logpdf(self, x: Any) -> Any:
        return -abs(x) - math.log(2)

    def _tail(self, x: Any) -> Any:
        return 0.5 * exp(where(x > 0, -x, x))

    def cdf(self, x: Any) -> Any:
        return where(x > 0, 1 - self._tail(x), self._tail(x))

    def logcdf(self, x: Any) -> Any:
        return where(x > 0, log1p(-self._tail(x)), x - math.log(2))

    def ppf(self, q: Any) -> Any:
        left = q < 0.5
        return where(left, log(2 * where(left, q, 0.5)), -log(2 * where(left, 0.5, 1 - q)))

    def entropy(self) -> Any:
        return math.log(2) + 1


laplace = published("laplace", Laplace())


class Logistic(Symmetric):
    """The logistic distribution.

    The distribution function of its standard member is 1 / (1 + exp(-x)).

    >>> from covector.scipy.stats import logistic
    >>> logistic.cdf(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """

    quantile_variable = "x"

    def logpdf(self, x: Any) -> Any:
        return -2 * logaddexp(0.5 * x, -0.5 * x)

    def cdf(self, x: Any) -> Any:
        return expit(x)

    def logcdf(self, x: Any) -> Any:
        return -logaddexp(0 * x, -x)

    def ppf(self, q: Any) -> Any:
        return logit(q)

    def entropy(self) -> Any:
        return 2


logistic = published("logistic", Logistic())


class GumbelRight(Continuous):
    """The right-skewed Gumbel distribution.

    The distribution function of its standard member is exp(-exp(-x)): the limit for the largest of
    many numbers.

    >>> from covector.scipy.stats import gumbel_r
    >>> gumbel_r.logcdf(0.0)
    Array(-1., dtype=float32, weak_type=True)
    """

    quantile_variable = "p"

    def logpdf(self, x: Any) -> Any:
        return -x - exp(-x)

    def cdf(self, x: Any) -> Any:
        return exp(-exp(-x))

    def logcdf(self, x: Any) -> Any:
        return -exp(-x)

    def sf(self, x: Any) -> Any:
        return -expm1(-exp(-x))

    def logsf(self, x: Any) -> Any:
        far = x > 37  # from there the probability is exp(-x), to rounding
        return where(far, -x, log_of_rest(exp(where(far, -1, -x))))

    def ppf(self, q: Any) -> Any:
        return -log(-log(q))

    def isf(self, q: Any) -> Any:
        return -log(-log1p(-q))

    def entropy(self) -> Any:
        return np.euler_gamma + 1


class GumbelLeft(Continuous):
    """The left-skewed Gumbel distribution.

    The distribution function of its standard member is 1 - exp(-exp(x)): the limit for the smallest
    of many numbers.

    >>> from covector.scipy.stats import gumbel_l
    >>> gumbel_l.logsf(0.0)
    Array(-1., dtype=float32, weak_type=True)
    """

    quantile_variable = "p"
    mirrored = GumbelRight()

    def logpdf(self, x: Any) -> Any:
        return self.mirrored.logpdf(-x)

    def cdf(self, x: Any) -> Any:
        return self.mirrored.sf(-x)

    def logcdf(self, x: Any) -> Any:
        return self.mirrored.logsf(-x)

    def sf(self, x: Any) -> Any:
        return self.mirrored.cdf(-x)

    def logsf(self, x: Any) -> Any:
        return self.mirrored.logcdf(-x)

    def ppf(self, q: Any) -> Any:
        return -self.mirrored.isf(q)

    def isf(self, q: Any) -> Any:
        return -self.mirrored.ppf(q)

    def entropy(self) -> Any:
        return self.mirrored.entropy()


gumbel_r = published("gumbel_r", GumbelRight())
gumbel_l = published("gumbel_l", GumbelLeft())


class Student(Symmetric):
    """Student's t distribution.

    The density of its standard member is proportional to (1 + x^2 / df)^(-(df + 1) / 2).

    >>> from covector.scipy.stats import t
    >>> t.cdf(0.0, 3.0)
    Array(0.5, dtype=float32, weak_type=True)
    """

    def valid(self, df: Any) -> Any:
        return df > 0

    def logpdf(self, x: Any, df: Any) -> Any:
        normal = df == np.inf
        df = where(normal, 1, df)
        root = sqrt(df)
        out = -0.5 * (df + 1) * log_one_plus_square(x / root) - log(root) - betaln(0.5, 0.5 * df)
        return where(normal, -0.5 * (x * x) - 0.5 * math.log(2 * math.pi), out)

    def cdf(self, x: Any, df: Any) -> Any:
        normal, given = df > (2e4 if is_double(x) else 300), df
        df = where(normal, 1, df)
        # At 0 the two factors of the slope, one infinite and one 0, are a line's.
        at_zero, middle = abs(x) < 1e-15, abs(x) < 1
        inner, outer = where(middle & ~at_zero, x, 0.5), where(middle, 1, x)
        half = 0.5 * betainc(0.5, 0.5 * df, inner * inner / (df + inner * inner))
        tail = 0.5 * betainc(0.5 * df, 0.5, df / (df + outer * outer))
        line = 0.5 + self.pdf(0 * x, df) * x
        left = where(at_zero, line, where(middle, 0.5 - where(x > 0, -half, half), tail))
        score = where(given == np.inf, x, _normal_score(x, where(given == np.inf, 1, given)))
        return where(normal, ndtr(score), where(x >= 1, 1 - left, left))

    def entropy(self, df: Any) -> Any:
        half = 0.5 * (df + 1)
        return half * (digamma(half) - digamma(0.5 * df)) + log(sqrt(df)) + betaln(0.5 * df, 0.5)


def _normal_score(x: Any, df: Any) -> Any:
    """The z that a normal variable is below as likely as Student's is below x, for large df.

    With w^2 = (df - 1/2) log(1 + x^2 / df) it is a series in 1 / b, b = 48 (df - 1/2)^2 (Hill,
    Algorithm 395, Communications of the ACM 13, 1970).
    """
    x = minimum(maximum(x, -1e6), 1e6)  # where all has underflown
    u = x * x / df
    near = u < 1e-8
    slope = where(near, 1 - 0.5 * u, log1p(u) / where(near, 1, u))
    w = x * sqrt((df - 0.5) / df * slope)
    b, square = 48 * (df - 0.5) ** 2, w * w
    second = ((0.4 * square + 3.3) * square + 24) * square + 85.5
    return w + w * (square + 3 - second / (0.8 * square * square + 100 + b)) / b


t = published(
    "t", Student(df="positive degrees of freedom; with inf it is the normal distribution")
)
