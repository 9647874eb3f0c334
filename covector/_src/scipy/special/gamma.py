"""The gamma function and its logarithm, derivatives and quotients, real and complex.

For large z the logarithm of the gamma function is (DLMF 5.11.1)

    (z - 1/2) log z - z + log(2 pi) / 2 + r(z),   r(z) = sum of B_2k / (2k (2k-1) z^(2k-1)),

which is reached from small z by Gamma(z) = Gamma(z + n) / (z (z + 1) ... (z + n - 1)).  Quotients
of values at large arguments are formed of r and of logarithms of quotients: the large terms, which
would take the digits with them, then cancel on paper.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes
from ...base import special_errors as errors
from ...core.array import Array, ArrayLike
from ...numpy.composite import composite
from ...numpy.exponential import exp, expm1, log, log1p, sin
from ...numpy.promotion import dtype_of, operand, operands
from ...numpy.selection import where
from ...ops import special as primitives
from ...ops.complex import conj, imag, real
from ...ops.rounding import floor, round
from ...ops.special_zeta import log_gamma_after_two
from .elementwise import derived_from, elementwise, inexacts, is_double, polynomial, reals
from .numbers import BERNOULLI

STIRLING_FROM = 10  # from there on r(z) has all its digits
_HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)
_REMAINDER = [float(BERNOULLI[2 * k]) / (2 * k * (2 * k - 1)) for k in range(1, 10)]


def remainder(z: Any) -> Any:
    """r(z), for |z| >= 10."""
    inverse = 1 / z
    return inverse * polynomial(inverse * inverse, _REMAINDER)


# ---------------------------------------------------------------- logarithm


@elementwise(lambda x, y: [primitives.digamma(x)])
def _gammaln(x: Any) -> Any:
    at_one, at_two = abs(x - 1) <= 0.5, (x > 1.5) & (x <= 2.5)
    # Gamma(1 + u) = Gamma(2 + u) / (1 + u).
    u = where(at_one, x - 1, where(at_two, x - 2, 0))
    near = log_gamma_after_two(u) - where(at_one, log1p(where(at_one, u, 0)), 0)
    return where(at_one | at_two, near, primitives.lgamma(x))


def gammaln(x: ArrayLike) -> Array:
    """Elementwise logarithm of the modulus of the gamma function; inf at its poles.

    Args:
      x: an array of real numbers.

    >>> from covector.scipy import special
    >>> special.gammaln(20.0)
    Array(39.339886, dtype=float32, weak_type=True)
    """
    (x,) = inexacts("gammaln", x)
    # Complex numbers are refused by the primitive.
    return primitives.lgamma(x) if dtype_of(x).kind == "c" else _gammaln(x)


def _gammasgn(x: Any) -> Any:
    """The sign; at the poles NaN, and at zeros that of the zero."""
    whole = floor(x)
    negative = where(whole % 2 == 0, 1, -1)
    at_zero = where(1 / where(x == 0, x, 1) < 0, -1, 1)
    sign = where(x > 0, 1, where(x == whole, np.nan, negative))
    sign = where(x == 0, at_zero, where(x == -np.inf, np.nan, sign))
    return where(x != x, x, sign).astype(x.dtype)


sign_of_gamma = elementwise()(_gammasgn)


def gammasgn(x: ArrayLike) -> Array:
    """Elementwise sign of the gamma function.

    Args:
      x: an array of real numbers.

    Returns:
      An array of 1 and -1; NaN at the negative integers, which are poles with two signs.

    >>> from covector.scipy import special
    >>> special.gammasgn(-0.5)
    Array(-1., dtype=float32)
    """
    return sign_of_gamma(*reals("gammasgn", x))


def _loggamma_right(z: Any) -> Any:
    """For Re z >= 0, by the recurrence and Stirling's series."""
    near = abs(z) < STIRLING_FROM
    shifted = where(near, z + STIRLING_FROM, z)
    out = (shifted - 0.5) * log(shifted) - shifted + _HALF_LOG_2_PI + remainder(shifted)
    for k in range(STIRLING_FROM):
        out = out - where(near, log(where(near, z + k, 1)), 0)
    return out


def _log_sine(z: Any) -> Any:
    """log(sin(pi z)) for Im z >= 0, continued from z = 1/2 without leaving the half plane."""
    whole = round(real(z)).astype(z.dtype)
    decay = -expm1(2j * math.pi * (z - whole))
    return log(decay) - math.log(2) + 0.5j * math.pi - 1j * math.pi * z


def _loggamma_of_complex(z: Any) -> list[Any]:
    upper = where(imag(z) < 0, conj(z), z)
    left = real(z) < 0
    direct = _loggamma_right(where(left, 1 - upper, upper))
    reflected = math.log(math.pi) - _log_sine(where(left, upper, 0.5)) - direct
    out = where(left, reflected, direct)
    return [where(imag(z) < 0, conj(out), out)]


def _digamma_of_complex(z: Any) -> Any:
    """The derivative: by DLMF 5.11.2 and 5.5.2, and 5.5.4 on the left."""
    left = real(z) < 0
    right = where(left, 1 - z, z)
    near = abs(right) < STIRLING_FROM
    shifted = where(near, right + STIRLING_FROM, right)
    inverse = 1 / shifted
    coefficients = [float(BERNOULLI[2 * k]) / (2 * k) for k in range(1, 10)]
    square = inverse * inverse
    out = log(shifted) - 0.5 * inverse - square * polynomial(square, coefficients)
    for k in range(STIRLING_FROM):
        out = out - where(near, 1 / where(near, right + k, 1), 0)
    # pi cot(pi z) by a wave that decays away from the real axis.
    upper = where(imag(z) < 0, conj(z), z)
    wave = exp(2j * math.pi * where(left, upper, 0.5))
    cotangent = 1j * math.pi * (wave + 1) / (wave - 1)
    cotangent = where(imag(z) < 0, conj(cotangent), cotangent)
    return where(left, out - cotangent, out)


_complex_loggamma = derived_from(_loggamma_of_complex, lambda z, y: [_digamma_of_complex(z)])


@elementwise(lambda x, y: [primitives.digamma(x)])
def _loggamma(x: Any) -> Any:
    return where(x < 0, np.nan, _gammaln(x))


def loggamma(x: ArrayLike) -> Array:
    """Elementwise principal branch of the logarithm of the gamma function.

    Args:
      x: an array of real or complex numbers.

    Returns:
      An array of the same shape. For real negative numbers it is NaN; for complex ones it is
      continuous away from the negative real axis.

    >>> import covector.numpy as jnp
    >>> from covector.scipy import special
    >>> bool(jnp.isclose(special.loggamma(-1.5 + 0j), 0.86004704 - 6.2831855j))
    True
    """
    (x,) = inexacts("loggamma", x)
    return _loggamma_program(x) if dtype_of(x).kind == "c" else _loggamma(x)


@composite
def _loggamma_program(z: Any) -> Any:
    return _complex_loggamma(z)[0]


# ---------------------------------------------------------------- gamma function


def _stirling(x: Any) -> Any:
    """Gamma(x) for x >= 10; the power in two halves, that it does not overflow before e^x comes."""
    half = x ** (0.5 * x - 0.25)
    return half * (half * exp(-x)) * (math.sqrt(2 * math.pi) * exp(remainder(x)))


def _gamma_slope(x: Any, y: Any) -> list[Any]:
    return [y * primitives.digamma(x)]


@elementwise(_gamma_slope)
def gamma_of_real(x: Any) -> Any:
    """The gamma function, as a traced function: exact at integers as long as they are."""
    left = x < 0.5
    right = where(left, 1 - x, x)
    near = right < STIRLING_FROM
    product = 1.0 + 0 * right
    for k in range(STIRLING_FROM):
        product = product * where(near, right + k, 1)
    finite = right < (200 if is_double(x) else 40)
    y = _stirling(where(near, right + STIRLING_FROM, where(finite, right, STIRLING_FROM))) / product
    y = where(finite, y, where(right == right, np.inf, right))
    y = where(right == floor(right), round(y), y)
    # Gamma(x) Gamma(1 - x) = pi / sin(pi x); the sine's argument is reduced exactly.
    whole = round(where(left, x, 0.5))
    sine = sin(math.pi * (x - whole)) * where(whole % 2 == 0, 1, -1)
    pole = left & (x == whole)
    reflected = math.pi / (where(left & ~pole, sine, 1) * y)
    reflected = where(x == 0, 1 / where(x == 0, x, 1), where(pole, np.nan, reflected))
    return where(x == -np.inf, np.nan, where(left, reflected, y))


@composite
def _gamma_of_complex(z: Any) -> Any:
    pole = (imag(z) == 0) & (real(z) <= 0) & (real(z) == floor(real(z)))
    return where(pole, complex(np.nan, np.nan), exp(_complex_loggamma(where(pole, 1, z))[0]))


def gamma(x: ArrayLike) -> Array:
    """Elementwise gamma function.

    Args:
      x: an array of real or complex numbers.

    Returns:
      An array of the same shape; NaN at the negative integers. At zero it is an infinity for real
      numbers, and NaN for complex ones.

    >>> from covector.scipy import special
    >>> special.gamma(5.0)
    Array(24., dtype=float32, weak_type=True)
    """
    (x,) = inexacts("gamma", x)
    return _gamma_of_complex(x) if dtype_of(x).kind == "c" else gamma_of_real(x)


@elementwise(lambda n, y: [y * primitives.digamma(n + 1)])
def _factorial(n: Any) -> Any:
    return where(n < 0, 0, gamma_of_real(where(n < 0, 0, n) + 1))


def factorial(n: ArrayLike, exact: bool = False) -> Array:
    """Elementwise factorial, as a floating number: gamma(n + 1), and 0 for negative numbers.

    Args:
      n: an array of real numbers.
      exact: must be false.

    Raises:
      NotImplementedError: `exact` is true.

    >>> from covector.scipy import special
    >>> special.factorial(5)
    Array(120., dtype=float32, weak_type=True)
    """
    if exact:
        raise NotImplementedError(errors.exact_factorial())
    return _factorial(*reals("factorial", n))


# ---------------------------------------------------------------- derivatives


def digamma(x: ArrayLike) -> Array:
    """Elementwise derivative of the logarithm of the gamma function.

    Args:
      x: an array of real numbers.

    Returns:
      An array of the same shape; NaN at the poles, which are the integers up to 0.

    >>> from covector.scipy import special
    >>> special.digamma(1.0)
    Array(-0.5772154, dtype=float32, weak_type=True)
    """
    return primitives.digamma(*inexacts("digamma", x))


def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise derivative of order n of `digamma`.

    Args:
      n: an array of integers from 0.
      x: an array of real numbers.

    Returns:
      An array of the common shape.

    Raises:
      ValueError: the orders are no integers.

    >>> from covector.scipy import special
    >>> special.polygamma(1, 2.0)
    Array(0.64493406, dtype=float32, weak_type=True)
    """
    n, x = operands("polygamma", [n, x])
    if not dtypes.issubdtype(dtype_of(n), np.integer):
        raise ValueError(errors.order_dtype("polygamma", dtype_of(n)))
    return primitives.polygamma(*reals("polygamma", n, x))


def _multigammaln(a: Any, *, d: Any) -> Any:
    total = 0.25 * d * (d - 1) * math.log(math.pi)
    for k in range(int(d)):
        total = total + primitives.lgamma(a - 0.5 * k)
    return total


_multigammaln_program = elementwise()(_multigammaln)


def multigammaln(a: ArrayLike, d: ArrayLike) -> Array:
    """Elementwise logarithm of the gamma function of several dimensions.

    Args:
      a: an array of real numbers above (d - 1) / 2.
      d: the number of dimensions, which must be known when the function is traced.

    >>> from covector.scipy import special
    >>> special.multigammaln(3.0, 2)
    Array(1.5501953, dtype=float32, weak_type=True)
    """
    (a,) = reals("multigammaln", a)
    return _multigammaln_program(a, d=operand("multigammaln", d).__index__())
