"""The incomplete beta function.

I_x(a, b) is the integral of u^(a-1) (1-u)^(b-1) from 0 to x, divided by that from 0 to 1.  With
y = 1 - x it is x^a y^b / B(a, b), divided by the fraction b_0 + a_1 / (b_1 + a_2 / (b_2 + ...)),

    a_m = (a + m - 1) (a + b + m - 1) m (b - m) x^2 / (a + 2m - 1)^2
    b_m = m + m (b - m) x / (a + 2m - 1) + (a + m) (a y - b x + 1 + m (2 - x)) / (a + 2m + 1)

(DiDonato and Morris, ACM Transactions on Mathematical Software 18, 1992; it is every other step of
DLMF 8.17.22).  It converges quickly for x < (a+1) / (a+b+2), where its terms do not cancel;
elsewhere I_x(a, b) = 1 - I_y(b, a).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import dtypes, elementwise_errors
from ..core.array import Array
from ..core.fusion import BOUNDARY
from ..core.zeros import Zero
from . import special_values
from .arithmetic import add_p, mul_p, neg_p, sub_p
from .base import Sample, draw
from .emitted import Emitted, anywhere, computed_in, exp, log, log1p, loop, sqrt, where
from .exponential import exp_p, log1p_p, log_p
from .families import FLOATS, Elementwise, accumulate, broadcast_operands
from .linear import constant_like
from .special import lgamma_p
from .special_gamma import LARGE, both, counter, stirling
from .special_uniform import beyond_slope


class RegularizedIncompleteBeta(Elementwise):
    """Elementwise regularized incomplete beta function I_x(a, b)."""

    accepts = FLOATS
    numpy = special_values.betainc
    arity = 3
    fusion = BOUNDARY

    def jvp(self, primals, tangents):
        a, b, x = primals
        *others, t = tangents
        if any(type(other) is not Zero for other in others):
            raise ValueError(elementwise_errors.betainc_parameters())
        out = self.bind(a, b, x)
        return out, accumulate(None, mul_p.bind(density(a, b, x), t), out)

    def emit(self, b, *operands):
        (out,) = b.avals_out
        a, beta, x = [
            Emitted(b, value, out).astype(computed_in(out.dtype))
            for value in broadcast_operands(b, operands)
        ]
        return incomplete_beta(a, beta, x).astype(out.dtype).value

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shapes in [((), (), ()), ((6,), (6,), (6,)), ((2, 3), (2, 1), (1, 3)), ((0, 2),) * 3]:
            a, b = [draw(rng, shape, "float32", 0.3, 5.0) for shape in shapes[:2]]
            x = draw(rng, shapes[2], "float32", 0.1, 0.9)
            yield Sample((a, b, x), {}, constant=(0, 1))
        a = np.array([0, 0, 2, 2, 0, np.inf, 1, 1, 1, -1], np.float32)
        b = np.array([2, 2, 0, 0, 0, 2, np.inf, 1, np.nan, 1], np.float32)
        x = np.array([0, 0.5, 0.5, 1, 0.5, 0.5, 0.5, 2, 0.5, 0.5], np.float32)
        yield Sample((a, b, x), {}, smooth=False, constant=(0, 1))


regularized_incomplete_beta_p = RegularizedIncompleteBeta("regularized_incomplete_beta")


def density(a: Any, b: Any, x: Any) -> Any:
    """The density x^(a-1) (1-x)^(b-1) / B(a, b) of the beta distribution, as a traced value."""
    log_beta = sub_p.bind(
        add_p.bind(lgamma_p.bind(a), lgamma_p.bind(b)), lgamma_p.bind(add_p.bind(a, b))
    )
    from_right = mul_p.bind(sub_p.bind(b, constant_like(b, 1)), log1p_p.bind(neg_p.bind(x)))
    from_left = mul_p.bind(sub_p.bind(a, constant_like(a, 1)), log_p.bind(x))
    return exp_p.bind(sub_p.bind(add_p.bind(from_right, from_left), log_beta))


def betainc(a: Any, b: Any, x: Any) -> Array:
    """Elementwise regularized incomplete beta function I_x(a, b).

    It is the probability that a variable of the beta distribution with parameters a and b is below
    x.

    Args:
      a, b: arrays of nonnegative floats.
      x: an array of floats from 0 to 1, of the same dtype. The shapes are equal, but that a scalar
        meets any shape, and a dimension of size 1 any size.

    Returns:
      An array of the common shape and dtype; NaN where an argument is out of its range. It has a
      derivative with respect to `x` only.

    Raises:
      TypeError: an operand has another dtype, or the dtypes or shapes do not match.

    >>> from covector import lax
    >>> lax.betainc(2.0, 1.0, 0.5)
    Array(0.24999994, dtype=float32, weak_type=True)
    """
    return regularized_incomplete_beta_p.bind(a, b, x)


# ---------------------------------------------------------------- formulas


def incomplete_beta(a: Emitted, b: Emitted, x: Emitted) -> Emitted:
    """Write I_x(a, b) for arrays of float32 or float64."""
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & (a < math.inf) & (b < math.inf)
    a_in, b_in, x_in = where(inside, a, 1), where(inside, b, 1), where(inside, x, 0.5)
    limit = _UNIFORM_FROM[x.dtype.name]
    uniform = (a_in >= limit) & (b_in >= limit)
    by_fraction = _by_fraction(*[where(uniform, 1, u) for u in (a_in, b_in)], x_in)
    a_in, b_in = where(uniform, a_in, limit), where(uniform, b_in, limit)
    value = where(uniform, _uniformly(a_in, b_in, x_in), by_fraction)
    return where(inside, value, _limit(a, b, x))


def _by_fraction(a: Emitted, b: Emitted, x: Emitted) -> Emitted:
    """Write I_x(a, b) where the fraction converges quickly as it is, and else 1 - I_(1-x)(b, a)."""
    quick = x < (a + 1) / (a + b + 2)
    # For tiny b the result is tiny too, and not to be found as a difference from 1.
    quick = quick | ((b < 0.01) & (x < 0.999))
    factor = exp(_log_factor(a, b, x))
    a, b = where(quick, a, b), where(quick, b, a)
    x, y = where(quick, x, 1 - x), where(quick, 1 - x, x)
    value = factor / _fraction(a, b, x, y)
    return where(quick, value, 1 - value)


def _below_peak(a: Emitted, b: Emitted, x: Emitted) -> tuple[Emitted, Emitted]:
    """Write x - a / s, and by how much log(x^a (1-x)^b) falls below its value at a / s; s = a + b.

    That is -a log(x s / a) - b log((1-x) s / b), whose slopes at the peak cancel.
    """
    s = a + b
    off_peak = where(x < 0.5, x - a / s, b / s - (1 - x))
    fall = a * beyond_slope(off_peak * s / a, x * s / a)
    return off_peak, fall + b * beyond_slope(-off_peak * s / b, (1 - x) * s / b)


# Of the uniform expansion the first term is enough from there on.
_UNIFORM_FROM = {"float32": 1e4, "float64": 1e9}


def _uniformly(a: Emitted, b: Emitted, x: Emitted) -> Emitted:
    """Write I_x(a, b) for large a and b (DLMF 8.18.9), with p = a / s:

    erfc(-eta sqrt(s/2)) / 2 + exp(-s eta^2 / 2) / sqrt(2 pi s) (1/eta - sqrt(p (1-p)) / (x - p)).
    """
    s = a + b
    width = sqrt(a / s * (b / s))
    off_peak, fall = _below_peak(a, b, x)
    eta = sqrt(2 * fall / s)
    near = eta <= (1e-8 if x.dtype == np.float64 else 1e-4)
    eta = where(off_peak < 0, -eta, eta)
    apart = 1 / where(near, 1, eta) - width / where(near, 1, off_peak)
    correction = where(near, (b - a) / s / (3 * width), apart)
    rest = exp(-fall) / sqrt(2 * math.pi * s) * correction
    return 0.5 * (-eta * sqrt(0.5 * s)).apply("chlo.erfc") + rest


def _log_factor(a: Emitted, b: Emitted, x: Emitted) -> Emitted:
    """Write log(x^a (1-x)^b / B(a, b)).

    For large a and b its terms are large, and almost cancel. There, with s = a + b, the value at
    the peak a / s, and Stirling's series d, it is
    log(a b / (2 pi s)) / 2 - `_below_peak` + d(s) - d(a) - d(b).
    """
    one_large = (a >= LARGE) | (b >= LARGE)
    from_left, from_right = _logarithms(x)
    directly = a * from_left + b * from_right - (_lgamma(a) + (_lgamma(b) - _lgamma(a + b)))
    directly = where(one_large, _with_one_large(a, b, x), directly)
    large = (a >= LARGE) & (b >= LARGE)
    a, b = where(large, a, LARGE), where(large, b, LARGE)
    s = a + b
    at_peak = 0.5 * log(a / s * b / (2 * math.pi)) - _below_peak(a, b, x)[1]
    return where(large, at_peak + stirling(s) - stirling(a) - stirling(b), directly)


def _logarithms(x: Emitted) -> tuple[Emitted, Emitted]:
    """Write log(x) and log(1 - x), by XLA's log1p only where it has all its digits."""
    near_zero, near_one = x < 0.1, x > 0.9
    first = where(near_one, log1p(where(near_one, x - 1, 0)), log(x))
    return first, where(near_zero, log1p(where(near_zero, -x, 0)), log(1 - x))


def _with_one_large(a: Emitted, b: Emitted, x: Emitted) -> Emitted:
    """Write the same for p = min(a, b) and q = max(a, b) >= 10, by Stirling's series for q alone.

    With y the one of x and 1 - x that is raised to p, it is  p log(y q) + q log(1 - y)
    - log gamma(p) + (p + q - 1/2) log(1 + p / q) - p + d(p + q) - d(q).
    """
    first = a < b
    p, q = where(first, a, b), where(first, b, a)
    q = where(q < LARGE, LARGE, q)
    logs = _logarithms(x)
    powers = p * (where(first, *logs) + log(q)) + q * where(first, logs[1], logs[0])
    quotient = (p + q - 0.5) * log1p(p / q) - p + stirling(p + q) - stirling(q)
    return powers + quotient - _lgamma(p)


def _lgamma(x: Emitted) -> Emitted:
    return x.apply("chlo.lgamma")


def _limit(a: Emitted, b: Emitted, x: Emitted) -> Emitted:
    """I_x(a, b) at the ends, and where all of the distribution is at one of them; or else NaN."""
    valid = (a >= 0) & (b >= 0) & (x >= 0) & (x <= 1)
    at_left, at_right = a.equals(0) | b.equals(math.inf), b.equals(0) | a.equals(math.inf)
    decided = valid & ~(at_left & at_right)
    zero = x.equals(0) | (at_right & (x < 1))
    return where(decided, where(zero, 0, a.full(1)), math.nan)


# The fraction converges in about sqrt(max(a, b)) steps.
_MOST_STEPS = 100_000


def _fraction(a: Emitted, b: Emitted, x: Emitted, y: Emitted) -> Emitted:
    """Write b_0 + a_1 / (b_1 + a_2 / (b_2 + ...)), for y = 1 - x, by Lentz's method.

    See `special_gamma.upper_fraction`.
    """
    eps = float(dtypes.finfo(x.dtype).eps)
    tiny = float(dtypes.finfo(x.dtype).tiny)

    def nonzero(u: Emitted) -> Emitted:
        return where(abs(u) < tiny, tiny, u)

    def denominator(m: Any) -> Emitted:
        at = a + 2 * m
        return m + (b - m) / (at - 1) * m * x + (a + m) / (at + 1) * (peak + m * (2 - x))

    def proceed(active: Emitted, count: Emitted, *_: Emitted) -> Any:
        return both(anywhere(active), count < _MOST_STEPS)

    def step(
        active: Emitted, count: Emitted, m: Emitted, c: Emitted, d: Emitted, value: Emitted
    ) -> list[Emitted]:
        m = m + 1
        at = a + 2 * m - 1
        a_m = (a + m - 1) / at * ((a + b + m - 1) / at) * x * (b - m) * x * m
        b_m = denominator(m)
        c, d = nonzero(b_m + a_m / c), 1 / nonzero(b_m + a_m * d)
        value = where(active, value * (c * d), value)
        return [active & (abs(c * d - 1) > eps), count + 1, m, c, d, value]

    peak = a * y - b * x + 1
    zero, first = a.full(0), nonzero(a / (a + 1) * peak)
    return loop(proceed, step, [a.equals(a), counter(a), zero, first, zero, first])[-1]
