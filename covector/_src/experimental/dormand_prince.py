"""The method of Dormand and Prince: one step of order five, an estimate of its error, and a curve
between its ends.

For dy/dt = f(y, t) a step of length h evaluates slopes at seven places,

    k_i = f(y + h sum_j A[i, j] k_j, t + h C[i]),

of which the last is the one with which the next step begins.  The weights of that last row give a
solution of order five; the difference to another one of order four, `ERROR`, is the estimate of the
error.  With the weights `MIDDLE` the slopes also give the solution in the middle of the step, to
order four.  The quartic through both ends and the middle, with the slopes at the ends, is within
the step as good as that, so that output times need no steps of their own.

(J. R. Dormand, P. J. Prince, "A family of embedded Runge-Kutta formulae", J. Comp. Appl. Math. 6,
1980; L. F. Shampine, "Some practical Runge-Kutta formulas", Math. Comp. 46, 1986; the choice of
the steps is that of E. Hairer, S. P. Noersett, G. Wanner, "Solving Ordinary Differential
Equations I", 2nd edition, 1993, section II.4.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..numpy.creation import zeros_like
from ..numpy.exponential import sqrt
from ..numpy.joining import stack
from ..numpy.parts import absolute
from ..numpy.reductions import mean
from ..numpy.selection import clip, maximum, minimum, where

Slope = Callable[[Any, Any], Any]

ORDER = 5
C = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
A = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_FOURTH = (5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)
ERROR = tuple(fifth - fourth for fifth, fourth in zip((*A[-1], 0), _FOURTH))
MIDDLE = (
    6025192743 / 60171106304,
    0,
    51252292925 / 130801643196,
    -2691868925 / 90256659456,
    187940372067 / 3189068634112,
    -1776094331 / 39487288512,
    11237099 / 470086768,
)

# How far a step may be longer or shorter than the one before, and how much shorter than the error
# allows it is, so that few steps have to be taken again.
LONGEST, SHORTEST, SAFETY = 10.0, 0.2, 0.9


class Step(NamedTuple):
    """What a step ends with: the state, the slope there, an estimate of the error, and the quartic
    between its ends, as coefficients of powers of the part of the step, the highest first."""

    state: Any
    slope: Any
    error: Any
    curve: Any


def step(f: Slope, y: Any, slope: Any, t: Any, h: Any) -> Step:
    """One step of length `h` from the state `y` at `t`, of which the slope is known."""
    slopes = [slope]
    for row, c in zip(A[1:], C[1:]):
        reached = y + h * _combined(row, slopes)
        slopes.append(f(reached, t + h * c))
    middle = y + h * _combined(MIDDLE, slopes)
    curve = quartic(y, middle, reached, h * slope, h * slopes[-1])
    return Step(reached, slopes[-1], h * _combined(ERROR, slopes), curve)


def _combined(weights: tuple[float, ...], slopes: list[Any]) -> Any:
    terms = [np.asarray(w, k.dtype) * k for w, k in zip(weights, slopes) if w]
    return sum(terms[1:], start=terms[0])


def quartic(y0: Any, middle: Any, y1: Any, slope0: Any, slope1: Any) -> Any:
    """The coefficients of p with p(0), p(1/2), p(1), p'(0), p'(1) as given.

    With p = a x^4 + b x^3 + c x^2 + slope0 x + y0 the other three conditions are linear in a, b, c:

        a + b + c        = y1 - y0 - slope0
        a/16 + b/8 + c/4 = middle - y0 - slope0 / 2
        4a + 3b + 2c     = slope1 - slope0
    """
    a = -2 * slope0 + 2 * slope1 - 8 * y0 - 8 * y1 + 16 * middle
    b = 5 * slope0 - 3 * slope1 + 18 * y0 + 14 * y1 - 32 * middle
    c = -4 * slope0 + slope1 - 11 * y0 - 5 * y1 + 16 * middle
    return stack([a, b, c, slope0, y0])


def relative_error(error: Any, y0: Any, y1: Any, rtol: float, atol: float) -> Any:
    """The error as a multiple of what is allowed: the root mean square over the elements."""
    allowed = atol + rtol * maximum(absolute(y0), absolute(y1))
    return sqrt(mean(absolute(error / allowed) ** 2))


def next_length(h: Any, error: Any) -> Any:
    """How long the next step is to be, after one with this error relative to what is allowed.

    An error of order six in h becomes the allowed one by the factor error^(-1/6); the exponent 1/5
    is that of the error over a unit of time.  A step that is taken again is not to be longer.
    """
    shortest = where(error < 1, 1.0, SHORTEST)
    tame = where(error == 0, 1.0, error)
    factor = clip(SAFETY * tame ** (-1 / ORDER), shortest, LONGEST)
    return h * where(error == 0, LONGEST, factor)


def first_length(f: Slope, y: Any, slope: Any, t: Any, rtol: float, atol: float) -> Any:
    """A length for the first step, from the sizes of the state, its slope and its curvature.

    (Hairer, Noersett, Wanner, as above.)
    """
    scale = atol + rtol * absolute(y)
    size, speed = _norm(y / scale), _norm(slope / scale)
    small = (size < 1e-5) | (speed < 1e-5)
    h0 = where(small, 1e-6, 0.01 * size / where(small, 1.0, speed))
    ahead = f(y + h0 * slope, t + h0)
    bend = _norm((ahead - slope) / scale) / h0
    straight = (speed <= 1e-15) & (bend <= 1e-15)
    largest = where(straight, 1.0, maximum(speed, bend))
    h1 = where(straight, maximum(1e-6, h0 * 1e-3), (0.01 / largest) ** (1 / ORDER))
    return minimum(100.0 * h0, h1)


def _norm(x: Any) -> Any:
    return sqrt((absolute(x) ** 2).sum())


def constant_curve(y: Any) -> Any:
    """The coefficients of a quartic that is constant."""
    zero = zeros_like(y)
    return stack([zero, zero, zero, zero, y])
