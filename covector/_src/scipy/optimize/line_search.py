"""A step length that satisfies the strong Wolfe conditions.

With phi(a) = f(x + a p), the step a has to make

    phi(a) <= phi(0) + ENOUGH a phi'(0)     the value lower by a part of what the slope promises,
    |phi'(a)| <= FLAT |phi'(0)|             the slope less steep.

Two steps `low` and `high` enclose such a one if the value at `low` is the least so far that meets
the first condition, and phi falls from there towards `high`.  (In the beginning `low` is 0 and
`high` infinite, so that the same rules also find an interval.)  Each trial between them either is a
solution or takes the place of one of the ends.

(Nocedal, Wright, "Numerical Optimization", 2nd edition, 2006, algorithms 3.5 and 3.6.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...control.loops import while_loop
from ...numpy.contraction import dot
from ...numpy.creation import asarray, zeros_like
from ...numpy.exponential import sqrt
from ...numpy.parts import isfinite
from ...numpy.selection import maximum, minimum, where

ENOUGH, FLAT = 1e-4, 0.9


class Trial(NamedTuple):
    """A step length, and the value, slope and gradient there."""

    step: Any
    value: Any
    slope: Any
    gradient: Any


class Search(NamedTuple):
    """Where the search is.

    Attributes:
      low, high: the ends of the interval.
      next: the step to try.
      found: whether `low` satisfies both conditions.
      count: how many steps were tried.
    """

    low: Trial
    high: Trial
    next: Any
    found: Any
    count: Any


def chosen(condition: Any, x: Trial, y: Trial) -> Trial:
    return Trial(*[where(condition, a, b) for a, b in zip(x, y)])


def search(
    value_and_grad: Callable[[Any], tuple[Any, Any]],
    x: Any,
    p: Any,
    value: Any,
    gradient: Any,
    first: Any,
    most: int,
) -> Search:
    """Search along p from x.

    Args:
      value_and_grad: the function to minimize, and its gradient.
      value, gradient: those at x.
      first: the step to try first.
      most: how many may be tried.

    Returns:
      The end of the search, with the step in `low`: 0 if none lowered the value.
    """
    slope = dot(gradient, p)
    origin = Trial(zeros_like(value), value, slope, gradient)

    def goes_on(state: Search) -> Any:
        # An interval that has shrunk to nothing holds no better step.
        width = abs(state.high.step - state.low.step)
        eps = np.finfo(width.dtype).eps
        return ~state.found & (state.count < most) & (width > eps * abs(state.low.step))

    def advance(state: Search) -> Search:
        low, high, step = state.low, state.high, state.next
        f, g = value_and_grad(x + step * p)
        trial = Trial(step, f, dot(g, p), g)
        bad = ~(f <= value + ENOUGH * step * slope) | ((f >= low.value) & (low.step > 0))
        found = ~bad & (abs(trial.slope) <= -FLAT * slope)
        beyond = ~bad & (trial.slope * (high.step - low.step) >= 0)
        high = chosen(bad, trial, chosen(beyond, low, high))
        low = chosen(bad, low, trial)
        return Search(low, high, between(low, high), found, state.count + 1)

    end = origin._replace(step=origin.step + np.inf)
    first = asarray(first, value.dtype)
    return while_loop(goes_on, advance, Search(origin, end, first, asarray(False), 0))


def between(low: Trial, high: Trial) -> Any:
    """Where the cubic through values and slopes of both ends is least, but well inside.

    Beyond `low` if there is no other end yet.  (The formula is Nocedal and Wright's (3.59).)
    """
    width = high.step - low.step
    bounded = isfinite(width)
    width = where(bounded, width, 1)
    d = low.slope + high.slope - 3 * (high.value - low.value) / where(width == 0, 1, width)
    root = d**2 - low.slope * high.slope
    e = where(width < 0, -1, 1).astype(d.dtype) * sqrt(maximum(root, 0))
    bottom = high.slope - low.slope + 2 * e
    part = 1 - (high.slope + e - d) / where(bottom == 0, 1, bottom)
    usable = (root >= 0) & (bottom != 0) & isfinite(part)
    part = where(usable, minimum(maximum(part, 0.1), 0.9), 0.5)
    return where(bounded, low.step + part * width, 2 * low.step)
