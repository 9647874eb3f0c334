"""Hypergeometric functions of one real variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...api.autodiff import jvp
from ...control.fori_loop import fori_loop
from ...control.loops import while_loop
from ...core.array import Array, ArrayLike
from ...numpy.creation import ones_like, zeros_like
from ...numpy.exponential import exp, log, log1p
from ...numpy.promotion import convert
from ...numpy.reductions import any as any_of
from ...numpy.selection import maximum, minimum, where
from ...ops import special as primitives
from ...ops.rounding import floor
from .elementwise import elementwise, is_double, reals
from .gamma import sign_of_gamma

_MOST_TERMS = 3000


def _series(numerators: list[Any], denominators: list[Any], x: Any) -> Any:
    """The sum over k of the quotient of the products of (a)_k, times x^k / k!.

    It ends when all terms have become small, and fall.
    """
    tiny = float(np.finfo(np.float64 if is_double(x) else np.float32).eps) / 16

    def more(carry: Any) -> Any:
        k, total, term, ratio = carry
        falling = (abs(term) <= tiny * abs(total)) & (abs(ratio) < 1)
        return any_of(~falling & (term != 0) & (abs(term) < np.inf)) & (k < _MOST_TERMS)

    def step(carry: Any) -> Any:
        k, total, term, _ = carry
        ratio = x / (k + 1)
        for a in numerators:
            ratio = ratio * (a + k)
        for b in denominators:
            ratio = ratio / (b + k)
        # A sum that has ended stays so, also where denominators vanish later.
        term = where(term == 0, 0, term * where(term == 0, 0, ratio))
        return k + 1, total + term, term, ratio

    zero = 0 * x
    for a in (*numerators, *denominators):
        zero = zero + 0 * a
    one = zero + 1
    start = (np.zeros((), x.dtype), one, one, 2 * one)
    return while_loop(more, step, start)[1]


def _ends(a: Any) -> Any:
    """Whether (a)_k vanishes from some k on."""
    return (a <= 0) & (a == floor(a))


def _slopes(fun: Any, parameters: tuple[Any, ...], x: Any) -> list[Any]:
    """The derivatives in the parameters, each by itself.

    Where the sum ends its derivative goes on, hence it is taken at a parameter close by.
    """
    near = float(np.finfo(np.float64 if is_double(x) else np.float32).eps) ** 0.5
    parameters = tuple(where(_ends(p), p + near, p) for p in parameters)
    slopes = []
    for i in range(len(parameters)):
        tangents = [ones_like(p) if i == j else zeros_like(p) for j, p in enumerate(parameters)]
        slopes.append(jvp(lambda *p: fun(*p, x), parameters, tuple(tangents))[1])
    return slopes


# ---------------------------------------------------------------- 1F1

_FAR = 80.0


def _falling_sum(a: Any, b: Any, x: Any) -> Any:
    """exp(-x) M(a, b, x) for x > 80, by its asymptotic series (DLMF 13.7.1)."""
    total, term = 1.0 + 0 * x, 1.0 + 0 * x
    for k in range(24):
        following = term * ((b - a + k) * (1 - a + k) / ((k + 1) * x))
        # The terms fall, and then they rise.
        term = where(abs(following) < abs(term), following, 0)
        total = total + term
    logarithm = primitives.lgamma(b) - primitives.lgamma(a) + (a - b) * log(x)
    return sign_of_gamma(a) * sign_of_gamma(b) * exp(logarithm) * total


def _kummer(a: Any, b: Any, x: Any) -> Any:
    """M(a, b, x) by the series, or for x < 0 by exp(x) M(b - a, b, -x); far away asymptotically."""
    direct = (x >= 0) | _ends(a)
    upper, argument = where(direct, a, b - a), where(direct, x, -x)
    # Where its first terms grow the expansion is of use only when the sum would overflow.
    falling = argument > 8 * maximum(abs(b - upper), abs(upper))
    falling = falling & (argument > 4 * abs((b - upper) * (1 - upper)))
    overflowing = argument > (700 if is_double(x) else _FAR)
    far = (argument > _FAR) & (falling | overflowing) & ~_ends(upper)
    near = _series([upper], [b], where(far, 1, argument))
    near = near * exp(where(direct, 0, x))
    away = _falling_sum(where(far, upper, 1), where(far, b, 1), where(far, argument, _FAR))
    return where(far, away * exp(where(direct, argument, 0)), near)


def _hyp1f1_slopes(a: Any, b: Any, x: Any, y: Any) -> list[Any]:
    return [*_slopes(_hyp1f1_value, (a, b), x), a / b * _hyp1f1(a + 1, b + 1, x)]


def _hyp1f1_value(a: Any, b: Any, x: Any) -> Any:
    pole = _ends(b) & ~(_ends(a) & (a > b))
    b = where(pole, 1, b)
    value = _kummer(a, b, x)
    return where((a == 0) | (x == 0), 1, where(pole, np.inf, value))


@elementwise(_hyp1f1_slopes)
def _hyp1f1(a: Any, b: Any, x: Any) -> Any:
    return _hyp1f1_value(a, b, x)


def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise confluent hypergeometric function: the sum of (a)_k x^k / ((b)_k k!).

    Args:
      a, b: arrays of real numbers, the parameters. Large ones may cost digits.
      x: an array of real numbers; all are broadcast together.

    Returns:
      An array of the common shape; inf where `b` is an integer up to 0, unless the sum ends before
      it is reached. It has derivatives with respect to all arguments.

    >>> from covector.scipy import special
    >>> special.hyp1f1(1.0, 2.0, 1.0)
    Array(1.7182816, dtype=float32)
    """
    return _hyp1f1(*reals("hyp1f1", a, b, x))


# ---------------------------------------------------------------- 2F1

# Up to x = 1/2 the power series is summed.  From there the differential equation
#
#     x (1 - x) F'' + (c - (a + b + 1) x) F' - a b F = 0
#
# is followed by Taylor series, each of which halves the distance d from 1, the radius in which it
# converges.  This knows no exceptions, where the usual formulas in 1 - x have poles that cancel.


def _taylor(a: Any, b: Any, c: Any, d: Any, h: Any, f: Any, slope: Any) -> tuple[Any, Any]:
    """The function and its slope at 1 - d + h, from those at 1 - d, for 0 <= h <= d / 2."""
    x = 1 - d
    width, middle = x * d, c - (a + b + 1) * x
    count = 100 if is_double(x) else 50

    def step(i: Any, carry: Any) -> Any:
        before, term, total, change = carry
        k = convert(i, x.dtype)
        # u_(k+2) by u_(k+1) and u_k, each with its power of h.
        falling = ((1 - 2 * x) * k + middle) * (k + 1) * term * h
        following = (k + a) * (k + b) * before * h * h - falling
        following = following / (width * (k + 1) * (k + 2))
        return term, following, total + following, change + (k + 2) * following

    safe = where(h == 0, 1, h)
    start = (f, slope * h, f + slope * h, slope * h)
    _, _, total, change = fori_loop(0, count, step, start)
    return total, where(h == 0, slope, change / safe)


def _walk(a: Any, b: Any, c: Any, x: Any) -> Any:
    """F(a, b; c; x) for 0 <= x < 1."""
    start = minimum(x, 0.5)
    f = _series([a, b], [c], start)
    slope = a * b / c * _series([a + 1, b + 1], [c + 1], start)
    goal = 1 - x

    def more(carry: Any) -> Any:
        return any_of(carry[0] > goal)

    def step(carry: Any) -> Any:
        d, f, slope = carry
        h = minimum(d - goal, d / 2)
        f, slope = _taylor(a, b, c, d, h, f, slope)
        return where(d / 2 <= goal, goal, d / 2), f, slope

    return while_loop(more, step, (1 - start + 0 * f, f, slope + 0 * f))[1]


def _gauss(a: Any, b: Any, c: Any) -> Any:
    """F(a, b; c; 1), for c > a + b (DLMF 15.4.20)."""
    upper, lower = [c, c - a - b], [c - a, c - b]
    logarithm, sign, zero = 0.0, 1.0, _ends(lower[0]) | _ends(lower[1])
    for z in upper:
        logarithm, sign = logarithm + primitives.lgamma(z), sign * sign_of_gamma(z)
    for z in lower:
        z = where(zero, 1, z)
        logarithm, sign = logarithm - primitives.lgamma(z), sign * sign_of_gamma(z)
    return where(zero, 0, sign * exp(logarithm))


def _hyp2f1_slopes(a: Any, b: Any, c: Any, x: Any, y: Any) -> list[Any]:
    parameters = _slopes(_hyp2f1_value, (a, b, c), x)
    return [*parameters, a * b / c * _hyp2f1(a + 1, b + 1, c + 1, x)]


def _hyp2f1_value(a: Any, b: Any, c: Any, x: Any) -> Any:
    ends = _ends(a) | _ends(b)
    pole = _ends(c) & ~((_ends(a) & (a > c)) | (_ends(b) & (b > c)))
    c = where(pole, 1, c)
    # The sum that ends is taken anywhere; below 0 else Pfaff's formula (DLMF 15.8.1).
    inside = (x < 1) & ~ends
    left = inside & (x < 0)
    negative = where(left, x, 0)
    z = where(left, negative / (negative - 1), where(inside, x, 0))
    # With the smaller parameter in c - b the sum's terms have one sign, if they can.
    small, large = minimum(a, b), maximum(a, b)
    # Where the function grows towards 1, Euler's formula gives a factor that does not (15.8.1).
    euler = (z > 0.5) & ~left & (c < a + b)
    first = where(left, large, where(euler, c - a, a))
    second = where(left, c - small, where(euler, c - b, b))
    power = where(left, -large, where(euler, c - a - b, 0))
    distance = where(left, -negative, where(euler, -z, 0))
    value = _walk(first, second, c, z) * exp(power * log1p(distance))
    one = _gauss(where(ends, 1, a), where(ends, 1, b), where(ends | (c - a - b <= 0), a + b + 1, c))
    sign = sign_of_gamma(c) * sign_of_gamma(where(ends, 1, a)) * sign_of_gamma(where(ends, 1, b))
    at_one = where(c - a - b > 0, one, sign * np.inf)
    beyond = where(x == 1, at_one, np.inf)
    first, second = where(ends, a, 0), where(ends, b, 0)
    polynomial = _series([first, second], [c], where(ends, x, 0))
    value = where(ends, polynomial, where(inside, value, beyond))
    value = where(x != x, x, value)
    return where(x == 0, 1, where(pole, np.inf, value))


@elementwise(_hyp2f1_slopes)
def _hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    return _hyp2f1_value(a, b, c, x)


def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise hypergeometric function of Gauss: the sum of (a)_k (b)_k x^k / ((c)_k k!).

    Args:
      a, b, c: arrays of real numbers, the parameters. Large ones may cost digits.
      x: an array of real numbers; all are broadcast together.

    Returns:
      An array of the common shape: the sum continued to all `x < 1`; inf beyond, and where `c` is
      an integer up to 0, unless the sum ends. It has derivatives with respect to all arguments.

    >>> from covector.scipy import special
    >>> special.hyp2f1(1.0, 1.0, 2.0, 0.5)
    Array(1.3862946, dtype=float32)
    """
    return _hyp2f1(*reals("hyp2f1", a, b, c, x))
