"""Products with logarithms, their sums as entropies, and the logistic function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array, ArrayLike
from ...numpy.composite import composite
from ...numpy.exponential import exp, expm1, log, log1p
from ...numpy.selection import where
from ...ops.exponential import logistic
from .elementwise import derived_from, elementwise, inexacts, reals

# ---------------------------------------------------------------- logistic function


def expit(x: ArrayLike) -> Array:
    """Elementwise logistic function 1 / (1 + exp(-x)).

    Args:
      x: an array of real or complex numbers.

    >>> from covector.scipy import special
    >>> special.expit(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return logistic(*inexacts("expit", x))


def _log_odds(x: Any) -> list[Any]:
    """log(x / (1 - x)); near x = 1/2 of the distance from there, which has all its digits."""
    if x.dtype.kind == "c":
        return [log(x / (1 - x))]
    near = (x > 0.3) & (x < 0.65)
    distance = 2 * where(near, x, 0.5) - 1
    return [where(near, log1p(distance) - log1p(-distance), log(x / (1 - x)))]


_derived_log_odds = derived_from(_log_odds, lambda x, y: [1 / (x * (1 - x))])


@composite
def _logit(x: Any) -> Any:
    return _derived_log_odds(x)[0]


def logit(x: ArrayLike) -> Array:
    """Elementwise logarithm of the odds log(x / (1 - x)), the inverse of `expit`.

    Args:
      x: an array of real or complex numbers.

    >>> from covector.scipy import special
    >>> special.logit(0.5)
    Array(0., dtype=float32, weak_type=True)
    """
    return _logit(*inexacts("logit", x))


# ---------------------------------------------------------------- products


def _product(log_of: Any, slope: Any) -> Any:
    def value(x: Any, y: Any) -> list[Any]:
        zero = x == 0
        return [where(zero, where(y != y, y, 0), x * log_of(where(zero, 1, y)))]

    def slopes(x: Any, y: Any, out: Any) -> list[Any]:
        # Where x is 0 this is 0 at the pole, too; its derivative in x is that of x times the slope.
        pole = (x == 0) & (log_of(y) == -np.inf)
        return [log_of(y), x * slope(where(pole, 1, y))]

    derived = derived_from(value, slopes)
    return composite(lambda x, y: derived(x, y)[0])


_xlogy = _product(log, lambda y: 1 / y)
_xlog1py = _product(log1p, lambda y: 1 / (1 + y))


def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise x * log(y), which is 0 where x is 0, unless y is NaN.

    Args:
      x, y: arrays of real or complex numbers, broadcast together.

    >>> from covector.scipy import special
    >>> special.xlogy(0.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _xlogy(*inexacts("xlogy", x, y))


def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise x * log(1 + y), which is 0 where x is 0, unless y is NaN.

    Args:
      x, y: arrays of real or complex numbers, broadcast together.

    >>> from covector.scipy import special
    >>> special.xlog1py(0.0, -1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _xlog1py(*inexacts("xlog1py", x, y))


# ---------------------------------------------------------------- entropies


def _entr_slope(x: Any, y: Any) -> list[Any]:
    return [where(x < 0, 0, -log(where(x < 0, 1, x)) - 1)]


@elementwise(_entr_slope)
def _entr(x: Any) -> Any:
    return where(x < 0, -np.inf, -_xlogy(where(x < 0, 0, x), where(x < 0, 1, x)))


def entr(x: ArrayLike) -> Array:
    """Elementwise -x log(x), which is 0 at 0, and -inf where x is negative.

    Args:
      x: an array of real numbers.

    >>> from covector.scipy import special
    >>> special.entr(1.0)
    Array(-0., dtype=float32, weak_type=True)
    """
    return _entr(*reals("entr", x))


def _relative(p: Any, q: Any) -> Any:
    """p log(p / q), 0 where p = 0 <= q, and inf where the two are no densities."""
    both = (p > 0) & (q > 0)
    nan = (p != p) | (q != q)
    p_inside, q_inside = where(both, p, 1), where(both, q, 1)
    # The quotient may overflow or underflow.
    ratio = p_inside / q_inside
    ordinary = (ratio > 0) & (ratio < np.inf)
    logarithm = where(ordinary, log(where(ordinary, ratio, 1)), log(p_inside) - log(q_inside))
    outside = where(nan, np.nan, where((p == 0) & (q >= 0), 0, np.inf))
    return where(both, p_inside * logarithm, outside)


@elementwise(lambda p, q, y: [log(p / q) + 1, -p / q])
def _rel_entr(p: Any, q: Any) -> Any:
    return _relative(p, q)


def rel_entr(p: ArrayLike, q: ArrayLike) -> Array:
    """Elementwise relative entropy p log(p / q).

    Args:
      p, q: arrays of real numbers, broadcast together.

    Returns:
      An array of the common shape; 0 where p is 0 and q is not negative, inf where one of them is
      negative or only q is 0.

    >>> from covector.scipy import special
    >>> special.rel_entr(0.0, 0.5)
    Array(0., dtype=float32, weak_type=True)
    """
    return _rel_entr(*reals("rel_entr", p, q))


@elementwise(lambda p, q, y: [log(p / q), 1 - p / q])
def _kl_div(p: Any, q: Any) -> Any:
    entropy = _relative(p, q)
    return where((p > 0) & (q > 0), entropy - p + q, entropy + abs(q))


def kl_div(p: ArrayLike, q: ArrayLike) -> Array:
    """Elementwise Kullback-Leibler divergence p log(p / q) - p + q.

    Args:
      p, q: arrays of real numbers, broadcast together.

    Returns:
      An array of the common shape; inf where one of them is negative or only q is 0.

    >>> from covector.scipy import special
    >>> special.kl_div(1.0, 1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _kl_div(*reals("kl_div", p, q))


# ---------------------------------------------------------------- power transforms


def _over(y: Any, exponent: Any) -> Any:
    """(exp(exponent y) - 1) / exponent, which is y at exponent 0."""
    zero = exponent == 0
    return where(zero, y, expm1(exponent * y) / where(zero, 1, exponent))


def _over_slope(y: Any, exponent: Any, out: Any) -> Any:
    """Its derivative in the exponent; by the power series where the difference cancels."""
    u = exponent * y
    near = abs(u) < 0.1
    safe = where(exponent == 0, 1, exponent)
    direct = (y * exp(u) - out) / safe
    return where(near, y * y * _over_series(where(near, u, 0)), direct)


def _over_series(u: Any) -> Any:
    """The sum of (k - 1) u^(k-2) / k! over k = 2, 3, ..., for |u| < 0.1."""
    total = 0 * u
    factorial = float(np.prod(np.arange(1, 13.0)))
    for k in range(12, 1, -1):
        total = total * u + (k - 1) / factorial
        factorial /= k
    return total


def _boxcox_slopes(x: Any, exponent: Any, out: Any) -> list[Any]:
    y = log(x)
    return [exp(exponent * y) / x, _over_slope(y, exponent, out)]


@elementwise(_boxcox_slopes)
def _boxcox(x: Any, exponent: Any) -> Any:
    return _over(log(x), exponent)


def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """Elementwise Box-Cox transform (x^lmbda - 1) / lmbda, or log(x) where lmbda is 0.

    Args:
      x: an array of nonnegative numbers.
      lmbda: an array of exponents, broadcast against `x`.

    >>> from covector.scipy import special
    >>> special.boxcox(3.0, 2.0)
    Array(4., dtype=float32, weak_type=True)
    """
    return _boxcox(*reals("boxcox", x, lmbda))


def _boxcox1p_slopes(x: Any, exponent: Any, out: Any) -> list[Any]:
    y = log1p(x)
    return [exp(exponent * y) / (1 + x), _over_slope(y, exponent, out)]


@elementwise(_boxcox1p_slopes)
def _boxcox1p(x: Any, exponent: Any) -> Any:
    return _over(log1p(x), exponent)


def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """Elementwise Box-Cox transform of 1 + x, accurate near x = 0.

    Args:
      x: an array of numbers from -1.
      lmbda: an array of exponents, broadcast against `x`.

    >>> from covector.scipy import special
    >>> special.boxcox1p(2.0, 2.0)
    Array(4., dtype=float32, weak_type=True)
    """
    return _boxcox1p(*reals("boxcox1p", x, lmbda))
