"""Values of special functions in NumPy and double precision: what the ops are checked against."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

# Bernoulli numbers B_2, B_4, ..., B_16, which occur in the asymptotic series below.
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def elementwise(function: Callable[..., float]) -> Callable[..., np.ndarray]:
    """A function of Python floats as one of arrays."""
    vectorized = np.vectorize(function, otypes=[np.float64])
    return lambda *args: vectorized(*[np.asarray(x, np.float64) for x in args])


def _lgamma(x: float) -> float:
    """log |gamma(x)|, infinite at the poles 0, -1, -2, ..."""
    try:
        return math.lgamma(x)
    except ValueError:
        return math.inf


def _digamma(x: float) -> float:
    """The derivative of `lgamma`; NaN at its poles.

    From psi(x) = psi(1 - x) - pi / tan(pi x) and psi(x) = psi(x + 1) - 1 / x one gets to x >= 10,
    where psi(x) ~ log x - 1 / 2x - sum of B_2k / (2k x^2k)  (DLMF 5.5.2, 5.5.4, 5.11.2).
    """
    if x == -math.inf or (x <= 0 and x == math.floor(x)):
        return math.nan
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * x)
    shift = 0.0
    while x < 10:
        shift += 1 / x
        x += 1
    series = sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(BERNOULLI, start=1))
    return math.log(x) - 0.5 / x - series - shift


def _hurwitz_zeta(s: float, q: float) -> float:
    """The sum of (q + k)^-s over k = 0, 1, 2, ..., for s > 1; infinite at its poles.

    By Euler and Maclaurin, ten terms and then (DLMF 25.11.5)
      a^(1-s) / (s - 1) + a^-s / 2 + sum of B_2k / (2k)! s (s + 1) ... (s + 2k - 2) a^(1-s-2k).
    """
    if q == -math.inf or (q <= 0 and q == math.floor(q)):
        return math.inf
    a = q + 10
    total = sum((q + k) ** -s for k in range(10)) + a ** (1 - s) / (s - 1) + a**-s / 2
    factor = s / a
    for k, b in enumerate(BERNOULLI, start=1):
        total += b / math.factorial(2 * k) * factor * a**-s
        factor *= (s + 2 * k - 1) * (s + 2 * k) / a**2
    return total


def _polygamma(m: float, x: float) -> float:
    """The derivative of order m of `digamma`: (-1)^(m+1) m! zeta(m + 1, x)  (DLMF 25.11.12)."""
    if m == 0:
        return _digamma(x)
    return (-1) ** (int(m) + 1) * math.factorial(int(m)) * _hurwitz_zeta(m + 1, x)


def _erf_inv(y: float) -> float:
    """The x with erf(x) = y, by Newton's method on erfc in the tail where |y| is.

    It starts from Winitzki's approximation, whose relative error is below 0.002.
    """
    if not abs(y) < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    if y == 0:
        return y
    a, log = 0.147, math.log1p(-y * y)
    middle = 2 / (math.pi * a) + log / 2
    x = math.sqrt(math.sqrt(middle * middle - log / a) - middle)
    for _ in range(4):
        x += (math.erfc(x) - (1 - abs(y))) * math.sqrt(math.pi) / 2 * math.exp(x * x)
    return math.copysign(x, y)


def _series_of_gamma(a: float, x: float) -> tuple[float, float]:
    """The incomplete gamma function P(a, x), and its derivative with respect to a.

    P is x^a exp(-x) / gamma(a + 1) times the sum of c_n = x^n / ((a+1) ... (a+n))  (DLMF 8.7.1).
    """
    c, total, h, slope, n = 1.0, 1.0, 0.0, 0.0, 0
    while c > 1e-18 * total:
        n += 1
        c *= x / (a + n)
        h += 1 / (a + n)
        total += c
        slope -= c * h
    factor = math.exp(a * math.log(x) - x - math.lgamma(a + 1))
    return factor * total, factor * (total * (math.log(x) - _digamma(a + 1)) + slope)


def _upper_gamma(a: float, x: float) -> float:
    """Q(a, x), for x > a + 1, by its continued fraction evaluated backwards  (DLMF 8.9.2)."""
    fraction = 0.0
    for n in range(500, 0, -1):
        fraction = n * (a - n) / (x + 2 * n + 1 - a + fraction)
    return math.exp(a * math.log(x) - x - math.lgamma(a)) / (x + 1 - a + fraction)


def _igamma(a: float, x: float) -> float:
    """P(a, x), with its limits where an argument is 0 or infinite."""
    if 0 < a < math.inf and 0 < x < math.inf:
        return 1 - _upper_gamma(a, x) if x > a + 1 else _series_of_gamma(a, x)[0]
    if (x == 0 and a > 0) or (a == math.inf and 0 <= x < math.inf):
        return 0.0
    if (a == 0 and x > 0) or (x == math.inf and 0 <= a < math.inf):
        return 1.0
    return math.nan


def _igammac(a: float, x: float) -> float:
    """Q(a, x)."""
    if 0 < a < math.inf and a + 1 < x < math.inf:
        return _upper_gamma(a, x)
    return 1 - _igamma(a, x)


def _igamma_grad_a(a: float, x: float) -> float:
    """The derivative of P(a, x) with respect to a."""
    if x in (0, math.inf) and a > 0:
        return 0.0
    if not (0 < a < math.inf and 0 < x < math.inf):
        return math.nan
    return _series_of_gamma(a, x)[1]


def _random_gamma_grad(a: float, x: float) -> float:
    """The derivative with respect to a of the x that has a given P(a, x)."""
    if x == 0 and a > 0:
        return 0.0
    if not (0 < a < math.inf and 0 < x < math.inf):
        return math.nan
    density = math.exp((a - 1) * math.log(x) - x - math.lgamma(a))
    return -_series_of_gamma(a, x)[1] / density


def _betainc(a: float, b: float, x: float) -> float:
    """I_x(a, b), with its limits.

    It is x^a (1-x)^b / (a B(a, b)) times the sum of c_n = (a+b) ... (a+b+n-1) x^n / ((a+1) ...
    (a+n))  (DLMF 8.17.8); where x > 1/2 it is 1 - I_(1-x)(b, a).
    """
    at_left, at_right = a == 0 or b == math.inf, b == 0 or a == math.inf
    if not (a >= 0 and b >= 0 and 0 <= x <= 1) or (at_left and at_right):
        return math.nan
    if x == 0 or (at_right and x < 1):
        return 0.0
    if x == 1 or at_left:
        return 1.0
    if x > 0.5:
        return 1 - _betainc(b, a, 1 - x)
    c, total, n = 1.0, 1.0, 0
    while c > 1e-18 * total:
        c *= (a + b + n) * x / (a + n + 1)
        total += c
        n += 1
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta) * total / a


def _bessel(order: int) -> Callable[[np.ndarray], np.ndarray]:
    """exp(-|x|) I_n(x), the mean of cos(n u) exp(x (cos(u) - 1)) for x > 0.

    The mean over equally spaced u converges faster than any power of their number (DLMF 10.32.3).
    """
    u = np.pi * (np.arange(4000) + 0.5) / 4000
    decrease = -2 * np.sin(u / 2) ** 2

    def function(x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, np.float64)
        finite = np.where(np.isinf(x), 1, np.abs(x))[..., None]
        mean = np.mean(np.cos(order * u) * np.exp(finite * decrease), -1)
        return np.sign(x) ** order * np.where(np.isinf(x), 0, mean)

    return function


def _zeta(s: float, q: float) -> float:
    """The Hurwitz zeta function as XLA has it: NaN where s < 1, and infinite at poles."""
    if s == 1:
        return math.inf
    return math.nan if not s > 1 else _hurwitz_zeta(s, q)


erf = elementwise(math.erf)
erfc = elementwise(math.erfc)
erf_inv = elementwise(_erf_inv)
lgamma = elementwise(_lgamma)
digamma = elementwise(_digamma)
polygamma = elementwise(_polygamma)
igamma = elementwise(_igamma)
igammac = elementwise(_igammac)
igamma_grad_a = elementwise(_igamma_grad_a)
random_gamma_grad = elementwise(_random_gamma_grad)
betainc = elementwise(_betainc)
bessel_i0e = _bessel(0)
bessel_i1e = _bessel(1)
zeta = elementwise(_zeta)
