"""How distributions are stated, by the mathematics of one of their members.

A distribution is a class whose methods are the mathematics of its *standard member*: the one with
location 0 and scale 1.  They take a variable, which is inside of the support, and shape parameters.
What is common to all distributions is written once, here: location and scale, the outside of the
support, its ends, parameters that are out of range, and NaN.

Every formula is given points inside of the support, whatever the points in question are, and what
it returns for the others is selected away: so the others have derivatives 0, and never NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numpy.exponential import exp, expm1, log, log1p
from ...numpy.selection import where
from ...ops.rounding import floor
from . import quantiles

# ---------------------------------------------------------------- accurate logarithms


def log_of_rest(y: Any) -> Any:
    """log(1 - exp(-y)) for y >= 0: the logarithm of what a probability of exp(-y) leaves."""
    near = y < np.log(2)
    return where(near, log(-expm1(-where(near, y, 1))), log1p(-exp(-where(near, 1, y))))


def log_of_probability(p: Any, rest: Any) -> Any:
    """log(p), given also 1 - p, which has the digits where p is close to 1."""
    small = p < 0.5
    return where(small, log(where(small, p, 1)), log1p(-where(small, 0, rest)))


# ---------------------------------------------------------------- statements


class Distribution:
    """What continuous and discrete distributions have in common.

    A subclass gives its `support`, one of `cdf` and `sf`, or both where one minus the other has
    fewer digits, and what else it has in closed form.  A public function is made of each method.
    """

    variable, quantile_variable = "x", "q"  # names of the first argument of public functions
    given: tuple[tuple[str, int], ...] = (("loc", 0), ("scale", 1))
    in_default_float: tuple[str, ...] = ()  # public functions whose results have that dtype

    def __init__(self, **shapes: str):
        self.shapes = shapes  # the shape parameters, and what they are arrays of

    # ------------------------------------------------------------ the standard member

    def support(self, *shapes: Any) -> tuple[Any, Any]:
        """Its ends, which belong to it where they are finite."""
        raise NotImplementedError

    def inner(self, *shapes: Any) -> Any:
        """A point in the support."""
        raise NotImplementedError

    def valid(self, *shapes: Any) -> Any:
        """Where the shape parameters are in their ranges."""
        return True

    def cdf(self, x: Any, *shapes: Any) -> Any:
        return 1 - self.sf(x, *shapes)

    def sf(self, x: Any, *shapes: Any) -> Any:
        return 1 - self.cdf(x, *shapes)

    def logcdf(self, x: Any, *shapes: Any) -> Any:
        return log_of_probability(self.cdf(x, *shapes), self.sf(x, *shapes))

    def logsf(self, x: Any, *shapes: Any) -> Any:
        return log_of_probability(self.sf(x, *shapes), self.cdf(x, *shapes))

    def ppf(self, q: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def isf(self, q: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    entropy: Any = None

    def has(self, name: str) -> bool:
        """Whether a public function can be made."""
        if KINDS[name][0] in ("probability", "quantile"):
            return type(self).cdf is not Distribution.cdf or type(self).sf is not Distribution.sf
        return getattr(self, name, None) is not None

    # ------------------------------------------------------------ all members

    def quantile(self, name: str, q: Any, *params: Any) -> Any:
        """`ppf` or `isf`."""
        *shapes, loc, scale = params
        outside = (q < 0) | (q > 1)
        z = getattr(self, name)(where(outside, 0.5, q), *shapes)
        return where(outside, np.nan, loc + scale * z)


class Continuous(Distribution):
    """A distribution with a density, moved by `loc` and stretched by `scale`.

    A subclass gives `logpdf`.  Quantiles without a closed form are found by bisection.
    """

    def support(self, *shapes: Any) -> tuple[Any, Any]:
        return -np.inf, np.inf

    def inner(self, *shapes: Any) -> Any:
        return 0.5

    def logpdf(self, x: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def pdf(self, x: Any, *shapes: Any) -> Any:
        return exp(self.logpdf(x, *shapes))

    def ppf(self, q: Any, *shapes: Any) -> Any:
        return quantiles.quantile(self, False, q, shapes)

    def isf(self, q: Any, *shapes: Any) -> Any:
        return quantiles.quantile(self, True, q, shapes)

    def ok(self, *params: Any) -> Any:
        *shapes, _, scale = params
        return (scale > 0) & self.valid(*shapes)

    def density(self, name: str, x: Any, *params: Any) -> Any:
        """`pdf` or `logpdf`."""
        *shapes, loc, scale = params
        z = (x - loc) / scale
        low, high = self.support(*shapes)
        outside = (z < low) | (z > high) | (abs(z) == np.inf)
        out = getattr(self, name)(where(outside, self.inner(*shapes), z), *shapes)
        if name == "logpdf":
            return where(outside, -np.inf, out - log(scale))
        return where(outside, 0, out / scale)

    def probability(self, name: str, x: Any, *params: Any) -> Any:
        """`cdf`, `sf`, or the logarithm of one."""
        *shapes, loc, scale = params
        z = (x - loc) / scale
        low, high = self.support(*shapes)
        below, above = (z < low) | (z == -np.inf), (z > high) | (z == np.inf)
        out = getattr(self, name)(where(below | above, self.inner(*shapes), z), *shapes)
        at_low, at_high = ENDS[name]
        return where(below, at_low, where(above, at_high, out))

    def information(self, name: str, *params: Any) -> Any:
        """`entropy`."""
        *shapes, loc, scale = params
        return self.entropy(*shapes) + log(scale) + 0 * loc


class Symmetric(Continuous):
    """A continuous distribution with the density of x and of -x the same.

    A subclass gives `cdf`, which has its digits on the left, and perhaps `logcdf` and `ppf`.
    """

    def sf(self, x: Any, *shapes: Any) -> Any:
        return self.cdf(-x, *shapes)

    def logsf(self, x: Any, *shapes: Any) -> Any:
        return self.logcdf(-x, *shapes)

    def isf(self, q: Any, *shapes: Any) -> Any:
        return -self.ppf(q, *shapes)


class Discrete(Distribution):
    """A distribution on whole numbers, moved by `loc`.

    A subclass gives `logpmf`; its methods are applied to whole numbers.
    """

    variable = "k"
    given = (("loc", 0),)

    def support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0, np.inf

    def inner(self, *shapes: Any) -> Any:
        return 0

    def logpmf(self, k: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def pmf(self, k: Any, *shapes: Any) -> Any:
        return exp(self.logpmf(k, *shapes))

    def ppf(self, q: Any, *shapes: Any) -> Any:
        return quantiles.count_quantile(self, False, q, shapes)

    def isf(self, q: Any, *shapes: Any) -> Any:
        return quantiles.count_quantile(self, True, q, shapes)

    def ok(self, *params: Any) -> Any:
        *shapes, loc = params
        return self.valid(*shapes) & (loc == loc)

    def density(self, name: str, x: Any, *params: Any) -> Any:
        """`pmf` or `logpmf`."""
        *shapes, loc = params
        k = x - loc
        low, high = self.support(*shapes)
        outside = (k < low) | (k > high) | (abs(k - floor(k)) > 0) | (abs(k) == np.inf)
        out = getattr(self, name)(where(outside, self.inner(*shapes), k), *shapes)
        return where(outside, -np.inf if name == "logpmf" else 0, out)

    def probability(self, name: str, x: Any, *params: Any) -> Any:
        *shapes, loc = params
        k = floor(x - loc)
        low, high = self.support(*shapes)
        below, above = k < low, (k >= high) | (k == np.inf)
        out = getattr(self, name)(where(below | above, self.inner(*shapes), k), *shapes)
        at_low, at_high = ENDS[name]
        return where(below, at_low, where(above, at_high, out))

    def quantile(self, name: str, q: Any, *params: Any) -> Any:
        return super().quantile(name, q, *params, 1)

    def information(self, name: str, *params: Any) -> Any:
        *shapes, loc = params
        return self.entropy(*shapes) + 0 * loc


ENDS = {"cdf": (0, 1), "sf": (1, 0), "logcdf": (-np.inf, 0), "logsf": (0, -np.inf)}

# For each public function the method that computes it, and what it is.
KINDS = {
    "pdf": ("density", "Probability density"),
    "logpdf": ("density", "Logarithm of the probability density"),
    "pmf": ("density", "Probability of `{x}`"),
    "logpmf": ("density", "Logarithm of the probability of `{x}`"),
    "cdf": ("probability", "Probability of numbers up to `{x}`"),
    "logcdf": ("probability", "Logarithm of the probability of numbers up to `{x}`"),
    "sf": ("probability", "Probability of numbers above `{x}`"),
    "logsf": ("probability", "Logarithm of the probability of numbers above `{x}`"),
    "ppf": ("quantile", "Number up to which the probability is `{x}`"),
    "isf": ("quantile", "Number above which the probability is `{x}`"),
    "entropy": ("information", "Entropy in nats"),
}
