"""Quotients of values of the gamma function: beta functions, binomials, rising factorials."""

from __future__ import annotations

import math
from typing import Any

from ...core.array import Array, ArrayLike
from ...numpy.exponential import exp, log, log1p
from ...numpy.selection import maximum, minimum, where
from ...ops import special as primitives
from ...ops.rounding import floor, round
from ...ops.special_beta import betainc as betainc_of_floats
from ...ops.special_gamma import igamma, igammac
from .elementwise import elementwise, reals
from .gamma import STIRLING_FROM, gamma_of_real, remainder, sign_of_gamma

# ---------------------------------------------------------------- beta functions


def _is_pole(x: Any) -> Any:
    """Whether the gamma function has a pole at x."""
    return (x <= 0) & (x == floor(x))


def _log_quotient(b: Any, a: Any) -> Any:
    """log Gamma(b) - log Gamma(a + b), for a > 0 and b >= 10."""
    powers = (a + b - 0.5) * log1p(a / b) + a * (log(b) - 1)
    return remainder(b) - remainder(a + b) - powers


def _betaln_slopes(a: Any, b: Any, y: Any) -> list[Any]:
    both = primitives.digamma(a + b)
    return [primitives.digamma(a) - both, primitives.digamma(b) - both]


def _reflected(a: Any, b: Any) -> tuple[Any, Any]:
    """Whether a is a pole at which B(a, b) is finite, and the c with |B(a, b)| = B(c, b).

    There b is a whole number, and B(a, b) = (-1)^b B(1 - a - b, b).
    """
    finite = _is_pole(a) & (b > 0) & (b == floor(b)) & (a + b < 1)
    return finite, where(finite, 1 - a - b, a)


@elementwise(_betaln_slopes)
def log_beta(a: Any, b: Any) -> Any:
    """log |B(a, b)|, as a traced function."""
    infinite, zero = _is_pole(a) | _is_pole(b), _is_pole(a + b)
    (first, c), (second, d) = _reflected(a, b), _reflected(b, a)
    infinite, zero = infinite & ~(first | second), zero & ~(first | second)
    small, large = minimum(c, d), maximum(c, d)
    direct = primitives.lgamma(small) + primitives.lgamma(large) - primitives.lgamma(small + large)

    regular = (small > 0) & (large < math.inf)
    one_large = regular & (large >= STIRLING_FROM)
    p, q = where(one_large, small, 1), where(one_large, large, STIRLING_FROM)
    mixed = primitives.lgamma(p) + _log_quotient(q, p)

    two_large = one_large & (small >= STIRLING_FROM)
    p, q = where(two_large, small, STIRLING_FROM), where(two_large, large, STIRLING_FROM)
    # The powers of p and q come from the quotients p / (p + q) and q / (p + q) alone.
    powers = (p - 0.5) * log(p / (p + q)) - q * log1p(p / q) - 0.5 * log(q)
    even = 0.5 * math.log(2 * math.pi) + powers + remainder(p) + remainder(q) - remainder(p + q)
    out = where(two_large, even, where(one_large, mixed, direct))
    return where(infinite, math.inf, where(zero, -math.inf, out))


def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """Elementwise logarithm of the modulus of the beta function.

    Args:
      a, b: arrays of real numbers, broadcast together.

    >>> from covector.scipy import special
    >>> special.betaln(2.0, 3.0)
    Array(-2.4849074, dtype=float32, weak_type=True)
    """
    return log_beta(*reals("betaln", a, b))


def _beta_slopes(a: Any, b: Any, y: Any) -> list[Any]:
    return [y * slope for slope in _betaln_slopes(a, b, None)]


@elementwise(_beta_slopes)
def _beta(a: Any, b: Any) -> Any:
    sign = sign_of_gamma(a) * sign_of_gamma(b) * sign_of_gamma(a + b)
    first, second = _reflected(a, b)[0], _reflected(b, a)[0]
    whole = where(first, b, where(second, a, 0))
    at_pole = _is_pole(a) | _is_pole(b) | _is_pole(a + b)
    sign = where(at_pole, where(whole % 2 == 0, 1, -1), sign)
    return sign * exp(log_beta(a, b))


def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """Elementwise beta function gamma(a) gamma(b) / gamma(a + b).

    Args:
      a, b: arrays of real numbers, broadcast together.

    >>> from covector.scipy import special
    >>> special.beta(1.0, 4.0)
    Array(0.2500001, dtype=float32)
    """
    return _beta(*reals("beta", a, b))


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise regularized incomplete beta function.

    It is the integral of t^(a-1) (1-t)^(b-1) from 0 to x, divided by that from 0 to 1.

    Args:
      a, b: arrays of nonnegative numbers.
      x: an array of numbers from 0 to 1; all are broadcast together.

    Returns:
      An array of the common shape, NaN where an argument is out of its range. It has a derivative
      with respect to `x` only.

    >>> from covector.scipy import special
    >>> print(f"{special.betainc(2.0, 2.0, 0.5):.5f}")
    0.50000
    """
    return betainc_of_floats(*reals("betainc", a, b, x))


def complement_of_betainc(a: Any, b: Any, x: Any) -> Any:
    """1 - I_x(a, b), which is I_(1-x)(b, a), without the digits that tiny x lose in 1 - x."""
    small = (x < 0.1) & ((a + b) * x < a + 1)  # below the mean, where this is not small
    first, second = where(small, a, b), where(small, b, a)
    value = betainc(first, second, where(small, x, 1 - x))
    return where(small, 1 - value, value)


# ---------------------------------------------------------------- incomplete gamma functions


def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise regularized lower incomplete gamma function.

    It is the integral of t^(a-1) exp(-t) from 0 to x, divided by gamma(a).

    Args:
      a, x: arrays of nonnegative numbers, broadcast together.

    Returns:
      An array of the common shape, NaN where an argument is negative.

    >>> from covector.scipy import special
    >>> special.gammainc(1.0, 2.0)
    Array(0.8646648, dtype=float32, weak_type=True)
    """
    return igamma(*reals("gammainc", a, x))


def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise regularized upper incomplete gamma function 1 - gammainc(a, x).

    Args:
      a, x: arrays of nonnegative numbers, broadcast together.

    Returns:
      An array of the common shape, NaN where an argument is negative.

    >>> from covector.scipy import special
    >>> special.gammaincc(1.0, 2.0)
    Array(0.13533522, dtype=float32, weak_type=True)
    """
    return igammac(*reals("gammaincc", a, x))


# ---------------------------------------------------------------- factorials


_SMALL = 30  # up to there the gamma function does not overflow


def _poch_slopes(z: Any, m: Any, y: Any) -> list[Any]:
    upper = primitives.digamma(z + m)
    return [y * (upper - primitives.digamma(z)), y * upper]


@elementwise(_poch_slopes)
def _poch(z: Any, m: Any) -> Any:
    from_pole, to_pole = _is_pole(z), _is_pole(z + m)
    # Between poles gamma(z + m) / gamma(z) = (-1)^m gamma(1 - z) / gamma(1 - z - m).
    between = from_pole & to_pole
    sign = where(from_pole | to_pole, 1, sign_of_gamma(z + m) * sign_of_gamma(z))
    sign = where(between & (m % 2 != 0), -1, sign)
    start, end = where(between, 1 - z - m, z), where(between, 1 - z, z + m)
    logarithm = primitives.lgamma(end) - primitives.lgamma(start)
    lower, upper = minimum(start, end), maximum(start, end)
    large = (lower >= STIRLING_FROM) & (upper < math.inf)
    careful = -_log_quotient(where(large, lower, STIRLING_FROM), where(large, abs(m), 1))
    careful = where(m < 0, -careful, careful)
    out = sign * exp(where(large, careful, logarithm))
    small = (start > 0) & (end > 0) & (start < _SMALL) & (end < _SMALL)
    quotient = gamma_of_real(where(small, end, 1)) / gamma_of_real(where(small, start, 1))
    out = where(small, where(between & (m % 2 != 0), -quotient, quotient), out)
    return where(m == 0, 1, where((z == 0) & (m > 0), 0, out))


def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """Elementwise rising factorial gamma(z + m) / gamma(z).

    Args:
      z, m: arrays of real numbers, broadcast together.

    >>> from covector.scipy import special
    >>> special.poch(2.0, 3.0)
    Array(24., dtype=float32)
    """
    return _poch(*reals("poch", z, m))


def _comb_slopes(n: Any, k: Any, y: Any) -> list[Any]:
    rest = primitives.digamma(n - k + 1)
    return [y * (primitives.digamma(n + 1) - rest), y * (rest - primitives.digamma(k + 1))]


@elementwise(_comb_slopes)
def _comb(n: Any, k: Any) -> Any:
    valid = (k <= n) & (n >= 0) & (k >= 0)
    n, k = where(valid, n, 1), where(valid, k, 0)
    y = exp(-log_beta(1 + n - k, 1 + k)) / (n + 1)
    whole = (n == floor(n)) & (k == floor(k))
    return where(valid, where(whole, round(y), y), 0)


def comb(N: ArrayLike, k: ArrayLike, *, repetition: bool = False) -> Array:
    """Elementwise number of ways to choose k out of N things, as a floating number.

    Args:
      N: an array of real numbers: how many there are.
      k: an array of real numbers: how many are chosen, broadcast against `N`.
      repetition: whether a thing may be chosen more than once.

    Returns:
      An array of the common shape; 0 where `k > N` or a number is negative.

    >>> from covector.scipy import special
    >>> special.comb(5, 2)
    Array(10., dtype=float32, weak_type=True)
    """
    N, k = reals("comb", N, k)
    if not repetition:
        return _comb(N, k)
    # There is one way to choose nothing, also out of nothing.
    return _comb(where((N == 0) & (k == 0), 1, N + k - 1), k)
