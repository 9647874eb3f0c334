"""The incomplete beta function.

I_x(a, b) is the integral of u^(a-1) (1-u)^(b-1) from 0 to x, divided by that from 0 to 1.  It is
(DLMF 8.17.22)

    x^a (1-x)^b / (a B(a, b)) / (1 + d_1 / (1 + d_2 / (1 + ...)))

    d_2m = m (b - m) x / ((a + 2m - 1) (a + 2m))
    d_(2m+1) = -(a + m) (a + b + m) x / ((a + 2m) (a + 2m + 1)),

which converges quickly for x < (a+1) / (a+b+2); elsewhere I_x(a, b) = 1 - I_(1-x)(b, a).
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
from .emitted import Emitted, anywhere, computed_in, exp, log, log1p, loop, where
from .exponential import exp_p, log1p_p, log_p
from .families import FLOATS, Elementwise, accumulate, broadcast_operands
from .linear import constant_like
from .special import lgamma_p
from .special_gamma import LARGE, beyond_slope, both, counter, stirling


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
    quick = x_in < (a_in + 1) / (a_in + b_in + 2)
    value = where(quick, *_both_sides(quick, a_in, b_in, x_in))
    return where(inside, value, _limit(a, b, x))


def _both_sides(quick: Emitted, a: Emitted, b: Emitted, x: Emitted) -> tuple[Emitted, Emitted]:
    """I_x(a, b) where the fraction converges quickly as it is, and 1 - I_(1-x)(b, a)."""
    factor = exp(_log_factor(a, b, x))
    a, b, x = where(quick, a, b), where(quick, b, a), where(quick, x, 1 - x)
    value = factor / (a * _fraction(a, b, x))
    return value, 1 - value


def _log_factor(a: Emitted, b: Emitted, x: Emitted) -> Emitted:
    """Write log(x^a (1-x)^b / B(a, b)).

    For large a and b its terms are large, and almost cancel. There, with s = a + b, the peak at
    a / s, and Stirling's series d, it is
    log(a b / (2 pi s)) / 2 + a log(x s / a) + b log((1-x) s / b) + d(s) - d(a) - d(b).
    The slopes of the two logarithms cancel too, as those of a log(1 + u) - b log(1 - a u / b) do.
    """
    directly = a * log(x) + b * log1p(-x) - (_lgamma(a) + (_lgamma(b) - _lgamma(a + b)))
    large = (a >= LARGE) & (b >= LARGE)
    a, b = where(large, a, LARGE), where(large, b, LARGE)
    s = a + b
    off_peak = x - a / s
    at_peak = 0.5 * log(a / s * b / (2 * math.pi))
    fall = beyond_slope(a, off_peak * s / a) + beyond_slope(b, -off_peak * s / b)
    return where(large, at_peak - fall + stirling(s) - stirling(a) - stirling(b), directly)


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
_MOST_STEPS = 5_000


def _fraction(a: Emitted, b: Emitted, x: Emitted) -> Emitted:
    """Write 1 + d_1 / (1 + d_2 / (1 + ...)) by Lentz's method, two terms at a time.

    See `special_gamma.upper_fraction`; here all b_n are 1.
    """
    eps = float(dtypes.finfo(x.dtype).eps)
    tiny = float(dtypes.finfo(x.dtype).tiny)

    def nonzero(y: Emitted) -> Emitted:
        return where(abs(y) < tiny, tiny, y)

    def advance(term: Emitted, c: Emitted, d: Emitted) -> tuple[Emitted, Emitted, Emitted]:
        c, d = nonzero(1 + term / c), 1 / nonzero(1 + term * d)
        return c, d, c * d

    def proceed(active: Emitted, count: Emitted, *_: Emitted) -> Any:
        return both(anywhere(active), count < _MOST_STEPS)

    def step(
        active: Emitted, count: Emitted, m: Emitted, c: Emitted, d: Emitted, value: Emitted
    ) -> list[Emitted]:
        at = a + 2 * m
        odd = -(a + m) * (a + b + m) * x / (at * (at + 1))
        c, d, first = advance(odd, c, d)
        m, at = m + 1, at + 2
        even = m * (b - m) * x / ((at - 1) * at)
        c, d, second = advance(even, c, d)
        value = where(active, value * (first * second), value)
        return [active & (abs(second - 1) > eps), count + 1, m, c, d, value]

    zero, one = a.full(0), a.full(1)
    return loop(proceed, step, [a.equals(a), counter(a), zero, one, zero, one])[-1]
