"""Incomplete gamma functions, and their derivatives with respect to the parameter.

With f(a, x) = x^(a-1) exp(-x) / gamma(a), the density of the gamma distribution, P(a, x) is its
integral from 0 to x and Q(a, x) that from x to infinity (DLMF 8.2.4).  For x <= a, or x <= 1,

    P = x f / a  times the sum of  x^n / ((a+1) ... (a+n))  over n = 0, 1, 2, ...    (DLMF 8.7.1)

and otherwise Q = x f K with the continued fraction                                   (DLMF 8.9.2)

    K = 1 / (x+1-a + a_1 / (x+3-a + a_2 / (x+5-a + ...))),   a_n = n (a - n).

The derivatives with respect to a are those of these formulas, term by term.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes, elementwise_errors
from ..core.avals import aval_of
from ..core.fusion import BOUNDARY
from . import special_values
from .arithmetic import add_p, mul_p, neg_p, sub_p
from .base import Sample, draw
from .emitted import Emitted, anywhere, computed_in, exp, log, log1p, loop, where
from .exponential import exp_p, log_p
from .families import FLOATS, Binary, broadcast_operands
from .functions import binary
from .linear import broadcast_in_dim, constant_like
from .special import digamma_p, lgamma_p
from .special_uniform import UNIFORM_FROM, beyond_slope, lower_and_upper
from .special_zeta import log_gamma_after_two

# ---------------------------------------------------------------- primitives


class IncompleteGamma(Binary):
    """A function of the parameter a and the bound x of the incomplete gamma functions.

    Subclasses give `value(a, x, tails)`, the formula where 0 < a, x < inf, and `limit(a, x)`, the
    values elsewhere; NaN is what neither gives.
    """

    accepts = FLOATS
    with_slopes = False
    fusion = BOUNDARY

    def value(self, a: Emitted, x: Emitted, tails: Tails) -> Emitted:
        raise NotImplementedError

    def limit(self, a: Emitted, x: Emitted) -> Emitted:
        raise NotImplementedError

    def emit(self, b, a, x):
        (out,) = b.avals_out
        operands = [
            Emitted(b, value, out).astype(computed_in(out.dtype))
            for value in broadcast_operands(b, (a, x))
        ]
        return self.formula(*operands).astype(out.dtype).value

    def formula(self, a: Emitted, x: Emitted) -> Emitted:
        """The function of two arrays of float32 or float64."""
        inside = (a > 0) & (x > 0) & (a < math.inf) & (x < math.inf)
        a_inside, x_inside = where(inside, a, 1), where(inside, x, 1)
        tails = compute_tails(a_inside, x_inside, self.with_slopes)
        return where(inside, self.value(a_inside, x_inside, tails), self.limit(a, x))

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        constant = (0,)  # the second derivative with respect to a has no formula
        for shapes in [((), ()), ((6,), (6,)), ((2, 1), (2, 3)), ((0, 2), (0, 2))]:
            a, x = [draw(rng, shape, "float32", 0.2, 6.0) for shape in shapes]
            yield Sample((a, x), {}, constant=constant)
        x = np.array([0, 0, 1, np.inf, 2, -1, np.nan, 4, np.inf], np.float32)
        a = np.array([0, 2, 0, 3, np.inf, 1, 1, -2, np.inf], np.float32)
        yield Sample((a, x), {}, smooth=False, constant=constant)


def density(a: Any, x: Any) -> Any:
    """The density f(a, x), as a traced value."""
    ones = broadcast_in_dim(constant_like(a, 1), aval_of(a).shape, ())
    exponent = add_p.bind(neg_p.bind(x), mul_p.bind(sub_p.bind(a, ones), log_p.bind(x)))
    return exp_p.bind(sub_p.bind(exponent, lgamma_p.bind(a)))


class Igamma(IncompleteGamma):
    """Elementwise regularized lower incomplete gamma function P(a, x).

    It is the probability that a variable of the gamma distribution with shape a is below x: the
    integral from 0 to x of u**(a-1) * exp(-u) / gamma(a).
    """

    example = "lax.igamma(1.0, 2.0)", "Array(0.8646648, dtype=float32, weak_type=True)"
    numpy = special_values.igamma

    def derivative_x(self, t, a, x, p):
        return mul_p.bind(t, igamma_grad_a_p.bind(a, x))

    def derivative_y(self, t, a, x, p):
        return mul_p.bind(t, density(a, x))

    def value(self, a, x, tails):
        return where(tails.upper, 1 - tails.value, tails.value)

    def limit(self, a, x):
        return limit_of_lower(a, x)


class Igammac(IncompleteGamma):
    """Elementwise regularized upper incomplete gamma function Q(a, x) = 1 - P(a, x).

    It keeps its digits where it is small.
    """

    example = "lax.igammac(1.0, 2.0)", "Array(0.13533522, dtype=float32, weak_type=True)"
    numpy = special_values.igammac

    def derivative_x(self, t, a, x, q):
        return neg_p.bind(mul_p.bind(t, igamma_grad_a_p.bind(a, x)))

    def derivative_y(self, t, a, x, q):
        return neg_p.bind(mul_p.bind(t, density(a, x)))

    def value(self, a, x, tails):
        return where(tails.upper, tails.value, 1 - tails.value)

    def limit(self, a, x):
        return 1 - limit_of_lower(a, x)


class IgammaGradA(IncompleteGamma):
    """Elementwise derivative of the lower incomplete gamma function P(a, x) with respect to a."""

    example = "lax.igamma_grad_a(1.0, 2.0)", "Array(-0.22082521, dtype=float32, weak_type=True)"
    numpy = special_values.igamma_grad_a
    with_slopes = True

    def derivative_x(self, t, a, x, y):
        raise NotImplementedError(elementwise_errors.no_second_derivative(self.name, "a"))

    def derivative_y(self, t, a, x, y):
        # The slope of the density in a.
        slope = sub_p.bind(log_p.bind(x), digamma_p.bind(a))
        return mul_p.bind(t, mul_p.bind(density(a, x), slope))

    def value(self, a, x, tails):
        return where(tails.upper, -tails.slope, tails.slope)

    def limit(self, a, x):
        return where((x.equals(0) | x.equals(math.inf)) & (a > 0), 0, a.full(math.nan))


class RandomGammaGrad(IncompleteGamma):
    """Elementwise derivative of samples of the gamma distribution with respect to its shape.

    At constant probability P(a, x) a sample x moves with a by -(dP/da) / (dP/dx).
    """

    example = "lax.random_gamma_grad(1.0, 2.0)", "Array(1.6316906, dtype=float32, weak_type=True)"
    numpy = special_values.random_gamma_grad
    with_slopes = True

    def derivative_x(self, t, a, x, y):
        raise NotImplementedError(elementwise_errors.no_second_derivative(self.name, "a"))

    def derivative_y(self, t, a, x, y):
        raise NotImplementedError(elementwise_errors.no_second_derivative(self.name, "x"))

    def value(self, a, x, tails):
        return where(tails.upper, tails.relative_slope, -tails.relative_slope) * x

    def limit(self, a, x):
        return where(x.equals(0) & (a > 0), 0, a.full(math.nan))

    def samples(self, rng):
        for sample in super().samples(rng):
            yield sample._replace(constant=(0, 1))


# ---------------------------------------------------------------- formulas


class Tails(NamedTuple):
    """One of P and Q for each element, whichever has a formula that converges.

    Attributes:
      upper: where it is Q.
      value: P or Q.
      relative_slope: its derivative with respect to a, divided by x f(a, x); or None.
      slope: its derivative with respect to a; or None.
    """

    upper: Emitted
    value: Emitted
    relative_slope: Any
    slope: Any


def compute_tails(a: Emitted, x: Emitted, with_slopes: bool) -> Tails:
    """Write P where x is small beside a, and Q elsewhere, for 0 < a, x < inf."""
    upper = (x > 1) & (x > a)
    if not with_slopes:
        return _values(a, x, upper)
    # Elsewhere each of the two loops gets arguments with which it ends at once.
    series, series_slope = lower_series(where(upper, 1, a), where(upper, 0, x), with_slopes)
    fraction, fraction_slope = upper_fraction(where(upper, a, 1), where(upper, x, 2), with_slopes)
    factor = exp(log_factor(a, x))
    ratio = where(upper, fraction, series / a)
    # The slope of log(x f) is log x - psi(a); that of log(x f / a), log x - psi(a + 1).
    slope_of_log = log(x) - where(upper, a, a + 1).apply("chlo.digamma")
    relative = ratio * slope_of_log + where(upper, fraction_slope, series_slope / a)
    return Tails(upper, factor * ratio, relative, factor * relative)


def _values(a: Emitted, x: Emitted, upper: Emitted) -> Tails:
    """Write P or Q alone: by the uniform expansion where a is large, else by series or fraction."""
    uniform = a >= UNIFORM_FROM
    small = (a <= 0.5) & (x <= 1) & (a * log(x) > -0.4)  # where P is not small
    by_series, by_fraction = ~(uniform | small | upper), upper & ~uniform
    safe_a, safe_x = where(by_series, a, 1), where(by_series, x, 0)
    lower = exp(_log_power(safe_a, safe_x)) * lower_series(safe_a, safe_x, False)[0]
    safe_a, safe_x = where(by_fraction, a, 1), where(by_fraction, x, 2)
    higher = exp(log_factor(safe_a, safe_x)) * upper_fraction(safe_a, safe_x, False)[0]
    value = where(by_fraction, higher, lower)
    value = where(small, _upper_of_small(where(small, a, 0.5), where(small, x, 1)), value)
    p, q = lower_and_upper(where(uniform, a, UNIFORM_FROM), where(uniform, x, UNIFORM_FROM))
    return Tails(upper | small, where(uniform, where(upper, q, p), value), None, None)


def _log_power(a: Emitted, x: Emitted) -> Emitted:
    """Write log(x^a exp(-x) / gamma(a + 1)), also where x = 0."""
    x = where(x.equals(0), 1, x)
    small = a <= 0.5
    of_gamma = log_gamma_after_two(where(small, a, 0)) - log1p(where(small, a, 0))
    return where(small, a * log(x) - x - of_gamma, log_factor(a, x) - log(a))


# Of x^n / n! for x <= 1 these are all that count.
_TERMS_OF_SMALL = 19


def _upper_of_small(a: Emitted, x: Emitted) -> Emitted:
    """Write Q(a, x) for a <= 1/2 and x <= 1, where 1 - P would lose digits.

    P is x^a / gamma(a + 1) times 1 + the sum of a (-x)^n / (n! (a + n)) over n = 1, 2, ...
    (DLMF 8.7.1 as a power series), and 1 - exp(u) is -expm1(u).
    """
    power = a * log(x) - log_gamma_after_two(a) + log1p(a)
    series, term = a.full(0), a
    for n in range(1, _TERMS_OF_SMALL):
        term = term * (-x / n)
        series = series + term / (a + n)
    return -power.apply("exponential_minus_one") - exp(power) * series


def limit_of_lower(a: Emitted, x: Emitted) -> Emitted:
    """P(a, x) where a or x is 0 or infinite; NaN where there is no limit, or one is negative."""
    zero = (x.equals(0) & (a > 0)) | (a.equals(math.inf) & (x >= 0) & (x < math.inf))
    one = (a.equals(0) & (x > 0)) | (x.equals(math.inf) & (a >= 0) & (a < math.inf))
    return where(zero, 0, where(one, 1, a.full(math.nan)))


# From here on gamma(a) is taken from Stirling's series, with this many terms.
LARGE = 10.0
_STIRLING = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(special_values.BERNOULLI, start=1)]


def log_factor(a: Emitted, x: Emitted) -> Emitted:
    """Write log(x f(a, x)) = a log x - x - log gamma(a).

    For large a the three terms are large, and almost cancel. There, with x = a (1 + m) and the d of
    `stirling`, it is  log(a / 2 pi) / 2 - a (m - log(1 + m)) - d(a).
    """
    large = a >= LARGE
    safe = where(large, a, LARGE)
    around_peak = 0.5 * log(safe / (2 * math.pi))
    around_peak = around_peak - safe * beyond_slope((x - safe) / safe, x / safe)
    directly = a * log(x) - x - a.apply("chlo.lgamma")
    return where(large, around_peak - stirling(safe), directly)


def stirling(a: Emitted) -> Emitted:
    """Write d(a) = log gamma(a) - ((a - 1/2) log a - a + log(2 pi) / 2) for large a.

    It is the series of B_2k / (2k (2k - 1) a^(2k-1)) over k = 1, 2, ... (DLMF 5.11.1).
    """
    inverse_square = 1 / (a * a)
    total = a.full(0)
    for coefficient in reversed(_STIRLING):
        total = total * inverse_square + coefficient
    return total / a


# So many terms are enough where a < 1e6, and where a is larger within the precision of float32.
_MOST_TERMS = 20_000


def lower_series(a: Emitted, x: Emitted, with_slope: bool) -> tuple[Emitted, Emitted]:
    """Write the sum of c_n = x^n / ((a+1) ... (a+n)), and its derivative with respect to a.

    All terms are positive, and so are those of the derivative but for their sign: the logarithm of
    c_n has the slope -h_n with h_n = 1/(a+1) + ... + 1/(a+n). Terms are added until no sum changes.
    """

    def proceed(changing: Emitted, n: Emitted, *_: Emitted) -> Any:
        return both(anywhere(changing), n < _MOST_TERMS)

    def step(
        _: Emitted, n: Emitted, d: Emitted, c: Emitted, total: Emitted, *slopes: Emitted
    ) -> list[Emitted]:
        d = d + 1
        c = c * (x / d)
        following = total + c
        changing = following.differs(total)
        if slopes:
            h, sum_of_slopes = slopes
            h = h + 1 / d
            next_sum = sum_of_slopes - c * h
            changing = changing | next_sum.differs(sum_of_slopes)
            slopes = (h, next_sum)
        return [changing, n + 1, d, c, following, *slopes]

    zero, one = a.full(0), a.full(1)
    state = [a.equals(a), counter(a), a, one, one, *([zero, zero] if with_slope else [])]
    result = loop(proceed, step, state)
    return result[4], result[-1]


def upper_fraction(a: Emitted, x: Emitted, with_slope: bool) -> tuple[Emitted, Emitted]:
    """Write the continued fraction K, and its derivative with respect to a.

    By Lentz's method: the quotient of the approximations n and n - 1 is c_n d_n, where with
    b_n = x + 2n + 1 - a
      c_n = b_n + a_n / c_(n-1)     d_n = 1 / (b_n + a_n d_(n-1))     c_0 = inf, d_0 = 1 / b_0.
    The slopes of b_n and a_n with respect to a are -1 and n. An element is done when c d is 1 to
    within rounding, and its slope does not change.
    """
    eps = float(dtypes.finfo(x.dtype).eps)

    def proceed(active: Emitted, n: Emitted, *_: Emitted) -> Any:
        return both(anywhere(active), n < _MOST_TERMS)

    def step(
        active: Emitted, count: Emitted, n: Emitted, c: Emitted, d: Emitted, k: Emitted,
        *slopes: Emitted,
    ) -> list[Emitted]:  # fmt: skip
        n = n + 1
        a_n, b_n = n * (a - n), x + 2 * n + 1 - a
        next_c, next_d = b_n + a_n / c, 1 / (b_n + a_n * d)
        delta = next_c * next_d
        changing = abs(delta - 1) > eps
        if slopes:
            c_slope, d_slope, log_slope = slopes
            c_slope = (n - a_n * c_slope / c) / c - 1
            d_slope = (1 - n * d - a_n * d_slope) * next_d * next_d
            change = c_slope / next_c + d_slope / next_d
            changing = changing | (abs(change) > eps * abs(log_slope))
            slopes = (c_slope, d_slope, where(active, log_slope + change, log_slope))
        k = where(active, k * delta, k)
        return [active & changing, count + 1, n, next_c, next_d, k, *slopes]

    zero, infinity = a.full(0), a.full(math.inf)
    start = 1 / (x + 1 - a)
    slopes = [zero, start * start, start] if with_slope else []
    state = [a.equals(a), counter(a), zero, infinity, start, start, *slopes]
    result = loop(proceed, step, state)
    return result[5], result[5] * result[-1]


def counter(x: Emitted) -> Emitted:
    """The number 0, as a scalar of 32 bits."""
    aval = x.aval.update(shape=(), dtype=np.dtype(np.int32))
    return Emitted(x.b, x.b.constant(np.int32(0)), aval)


def both(found: Any, few: Emitted) -> Any:
    """Whether a loop goes on: there is something left to do, and few steps were made."""
    return few.b.op("and", found, few.value, out=few.aval)


igamma_p = Igamma("igamma")
igammac_p = Igammac("igammac")
igamma_grad_a_p = IgammaGradA("igamma_grad_a")
random_gamma_grad_p = RandomGammaGrad("random_gamma_grad")


def _of_a_and_x(bind: Any) -> Any:
    def function(a: Any, x: Any) -> Any:
        return bind(a, x)

    return function


igamma = binary(igamma_p, named=_of_a_and_x)
igammac = binary(igammac_p, named=_of_a_and_x)
igamma_grad_a = binary(igamma_grad_a_p, named=_of_a_and_x)
random_gamma_grad = binary(random_gamma_grad_p)
