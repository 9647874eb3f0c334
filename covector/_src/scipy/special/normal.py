"""The error functions, and the normal distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import special_errors as errors
from ...core.array import Array, ArrayLike
from ...numpy.exponential import exp, log, log1p, sqrt
from ...numpy.selection import minimum, where
from ...ops import special as primitives
from .elementwise import elementwise, floats, reals
from .faddeeva import scaled_erfc

_ROOT_2 = math.sqrt(2)


def erf(x: ArrayLike) -> Array:
    """Elementwise error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.

    Args:
      x: an array of real numbers.

    >>> from covector.scipy import special
    >>> special.erf(0.5)
    Array(0.5204999, dtype=float32, weak_type=True)
    """
    return primitives.erf(*reals("erf", x))


def erfc(x: ArrayLike) -> Array:
    """Elementwise complementary error function 1 - erf(x), accurate also where it is tiny.

    Args:
      x: an array of real numbers.

    >>> from covector.scipy import special
    >>> special.erfc(0.5)
    Array(0.47950017, dtype=float32, weak_type=True)
    """
    return primitives.erfc(*reals("erfc", x))


def erfinv(x: ArrayLike) -> Array:
    """Elementwise inverse of the error function; NaN outside of [-1, 1].

    Args:
      x: an array of real numbers.

    >>> from covector.scipy import special
    >>> special.erfinv(0.5)
    Array(0.47693628, dtype=float32, weak_type=True)
    """
    return _erfinv(*reals("erfinv", x))


# ---------------------------------------------------------------- normal distribution


def _density(x: Any) -> Any:
    return exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def _ndtr_slope(x: Any, y: Any) -> list[Any]:
    return [_density(x)]


@elementwise(_ndtr_slope)
def _ndtr(x: Any) -> Any:
    return 0.5 * primitives.erfc(x * -math.sqrt(0.5))


def ndtr(x: ArrayLike) -> Array:
    """Elementwise cumulative distribution function of the standard normal distribution.

    Args:
      x: an array of floats.

    Raises:
      TypeError: the array is not of floats.

    >>> from covector.scipy import special
    >>> special.ndtr(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return _ndtr(floats("ndtr", x))


def _log_ndtr_slope(x: Any, y: Any) -> list[Any]:
    """The density over the probability, whose exponentials cancel in the left tail."""
    left = x < -1
    in_tail = math.sqrt(2 / math.pi) / scaled_erfc(where(left, x, -1) * -math.sqrt(0.5))
    inside = _density(x) / _ndtr(where(left, -1, x))
    return [where(left, in_tail, inside)]


@elementwise(_log_ndtr_slope)
def _log_ndtr(x: Any) -> Any:
    left = x < -1
    tail = where(left, x, -1)
    in_tail = log(0.5 * scaled_erfc(tail * -math.sqrt(0.5))) - 0.5 * tail * tail
    inside = log1p(-0.5 * primitives.erfc(where(left, -1, x) * math.sqrt(0.5)))
    return where(left, in_tail, inside)


def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """Elementwise logarithm of `ndtr`, accurate in both tails.

    Args:
      x: an array of floats.
      series_order: of no effect: the tail is not computed by an asymptotic series.

    Raises:
      TypeError: the array is not of floats, or `series_order` no integer.
      ValueError: `series_order` is not from 0 to 30.

    >>> from covector.scipy import special
    >>> special.log_ndtr(-100.0)
    Array(-5005.5244, dtype=float32, weak_type=True)
    """
    if found := errors.series_order(series_order):
        kind, message = found
        raise kind(message)
    return _log_ndtr(floats("log_ndtr", x))


def _ndtri_slope(p: Any, y: Any) -> list[Any]:
    return [1 / _density(y)]


def _lower_quantile(p: Any) -> Any:
    """The quantile of a probability 0 < p < 0.2, by Newton's method on the logarithm.

    The logarithm of the distribution function is concave, and from the left steps stay left.
    """
    goal = log(p)
    square = -2 * goal
    y = -sqrt(square - log(square + 1) - math.log(math.pi))
    for _ in range(4):
        y = y - (_log_ndtr(y) - goal) / _log_ndtr_slope(y, None)[0]
    return y


@elementwise(_ndtri_slope)
def _ndtri(p: Any) -> Any:
    below = minimum(p, 1 - p)
    tail, valid = below < 0.1, below > 0
    outer = _lower_quantile(where(tail & valid, below, 0.1))
    outer = where(valid, outer, where(below == 0, -np.inf, np.nan))
    inner = _ROOT_2 * primitives.erf_inv(where(tail, 0, 2 * p - 1))
    return where(tail, where(p < 0.5, outer, -outer), inner)


def ndtri(p: ArrayLike) -> Array:
    """Elementwise inverse of `ndtr`: the quantiles of the standard normal distribution.

    Args:
      p: an array of floats from 0 to 1.

    Returns:
      An array of the same shape and dtype, NaN where `p` is no probability.

    Raises:
      TypeError: the array is not of floats.

    >>> from covector.scipy import special
    >>> print(f"{special.ndtri(0.975):.4f}")
    1.9600
    """
    return _ndtri(floats("ndtri", p))


# ---------------------------------------------------------------- inverse of the error function


def _erfinv_slope(x: Any, y: Any) -> list[Any]:
    return [math.sqrt(math.pi) / 2 * exp(y * y)]


@elementwise(_erfinv_slope)
def _erfinv(x: Any) -> Any:
    """XLA's loses digits where the modulus comes near 1; the distance from there is exact."""
    tail = (1 - abs(x)) / 2
    outer = (tail > 0) & (tail < 0.05)
    y = -_lower_quantile(where(outer, tail, 0.05)) * math.sqrt(0.5)
    return where(outer, where(x < 0, -y, y), primitives.erf_inv(where(outer, 0, x)))


# ---------------------------------------------------------------- Owen's function


def _owens_t_slopes(h: Any, a: Any, y: Any) -> list[Any]:
    square = 1 + a * a
    of_h = -0.5 * _density(h) * primitives.erf(a * h * math.sqrt(0.5))
    return [of_h, exp(-0.5 * h * h * square) / (2 * math.pi * square)]


def _owens_integral(h: Any, a: Any) -> Any:
    """The integral that defines T, for h >= 0 and 0 <= a <= 1, by Gauss's rule.

    Beyond x = 9 / h the integrand is as small as rounding errors.
    """
    h = minimum(h, 1e3)  # where all has underflown
    end = minimum(a, 9 / where(h > 0, h, 1))
    end = where(h > 0, end, a)
    total = 0 * end
    for node, weight in zip(*np.polynomial.legendre.leggauss(32)):
        square = end * end * ((1 + float(node)) / 2) ** 2
        total = total + float(weight) * exp(-0.5 * h * h * square) / (1 + square)
    return total * end * exp(-0.5 * h * h) / (4 * math.pi)


@elementwise(_owens_t_slopes)
def _owens_t(h: Any, a: Any) -> Any:
    h, positive, a = abs(h), a >= 0, abs(a)
    beyond = a > 1
    # T(h, a) + T(ah, 1/a) = (Q(h) + Q(ah)) / 2 - Q(h) Q(ah), with Q the upper tail.
    scaled = where(h == 0, 0, a * where(h == 0, 1, h))
    inner = _owens_integral(where(beyond, scaled, h), where(beyond, 1 / where(beyond, a, 1), a))
    p, q = [0.5 * primitives.erfc(x * math.sqrt(0.5)) for x in (h, scaled)]
    # Without cancellation where one of the tails is tiny.
    both = 0.5 * (p * (1 - q) + q * (1 - p))
    out = where(beyond, both - inner, inner)
    return where(positive, out, -out)


def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Elementwise Owen's T function.

    It is the probability that for two independent standard normal variables X and Y one has X > h
    and 0 < Y < a X.

    Args:
      h, a: arrays of real numbers, broadcast together.

    >>> from covector.scipy import special
    >>> special.owens_t(0.0, 1.0)
    Array(0.125, dtype=float32, weak_type=True)
    """
    return _owens_t(*reals("owens_t", h, a))
