"""Quantiles of distributions whose distribution function is known: its inverse, by bisection.

A continuous one is inverted in the order of floating-point numbers, which is that of their bits:
after as many steps as they have bits there is no other number between the ends.  Each step compares
in the smaller of the two tails, so that quantiles have their digits in both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...api.autodiff import jvp
from ...api.custom_derivatives import SymbolicZero, custom_jvp
from ...control.fori_loop import fori_loop
from ...control.loops import while_loop
from ...numpy.promotion import convert
from ...numpy.reductions import any as any_of
from ...numpy.selection import maximum, minimum, where
from ...numpy.shaping import broadcast_arrays
from ...ops.conversion import bitcast_convert_type
from ...ops.identities import stop_gradient
from ...ops.rounding import floor

Function = Callable[..., Any]


def quantile(law: Any, upper: bool, p: Any, shapes: tuple[Any, ...]) -> Any:
    """The number above which (`upper`), or up to which, the probability is p.

    If F(x, shapes) = p, then F' dx + (dF / dshapes) dshapes = dp gives the derivatives.
    """
    tail = law.sf if upper else law.cdf

    @custom_jvp
    def inverse(p: Any, *shapes: Any) -> Any:
        lower, above = (1 - p, p) if upper else (p, 1 - p)
        return invert(law, lower, above, shapes)

    @partial(inverse.defjvp, symbolic_zeros=True)
    def rule(primals: Any, tangents: Any) -> Any:
        _, *shapes = primals
        x = inverse(*primals)
        moved, *rest = (None if type(t) is SymbolicZero else t for t in tangents)
        varying = [i for i, t in enumerate(rest) if t is not None]
        total = 0 * x if moved is None else moved
        if varying:

            def at_x(*given: Any) -> Any:
                merged = [*shapes]
                for i, value in zip(varying, given):
                    merged[i] = value
                return tail(x, *merged)

            _, change = jvp(at_x, [shapes[i] for i in varying], [rest[i] for i in varying])
            total = total - change
        slope = law.pdf(x, *shapes)
        return x, total / (-slope if upper else slope)

    return inverse(*broadcast_arrays(p, *shapes))


def invert(law: Any, lower: Any, upper: Any, shapes: Any) -> Any:
    """The point of the support below and above which there are these probabilities."""
    low, high = (convert(end + 0 * lower, lower.dtype) for end in law.support(*shapes))

    def step(_: Any, ends: Any) -> Any:
        left, right = ends
        middle = (left & right) + ((left ^ right) >> 1)  # their mean, which may not overflow
        x = _from_order(middle, lower.dtype)
        by_left, by_right = law.cdf(x, *shapes) >= lower, law.sf(x, *shapes) <= upper
        beyond = where(lower <= upper, by_left, by_right)
        return where(beyond, left, middle), where(beyond, middle, right)

    ends = fori_loop(0, 8 * lower.dtype.itemsize, step, (_to_order(low), _to_order(high)))
    found = _from_order(ends[1], lower.dtype)
    found = where(lower <= 0, low, where(upper <= 0, high, found))
    return where(lower == lower, found, lower)


def _to_order(x: Any) -> Any:
    """The places of floats in their order, as integers."""
    bits = np.dtype(f"int{8 * x.dtype.itemsize}")
    return _mirrored(bitcast_convert_type(x, bits))


def _from_order(place: Any, dtype: Any) -> Any:
    return bitcast_convert_type(_mirrored(place), dtype)


def _mirrored(bits: Any) -> Any:
    """Negative floats have a sign and a size as bits, which is turned into a negative integer."""
    return where(bits < 0, np.iinfo(bits.dtype).min - bits, bits)


# ---------------------------------------------------------------- whole numbers


def count_quantile(law: Any, upper: bool, p: Any, shapes: tuple[Any, ...]) -> Any:
    """The smallest count up to which the probability is at least p, or above which at most p.

    With a probability of 0 (or 1, above) it is one less than the smallest possible.
    """
    p, *shapes = (stop_gradient(x) for x in broadcast_arrays(p, *shapes))
    low, high = law.support(*shapes)
    low, high = convert(low + 0 * p, p.dtype), high + 0 * p
    none, all_ = (1, 0) if upper else (0, 1)
    inside = where((p > 0) & (p < 1), p, 0.5)

    def is_beyond(k: Any) -> Any:
        k = minimum(k, high)
        # So told that the search also ends where the probability is NaN.
        short = law.sf(k, *shapes) > inside if upper else law.cdf(k, *shapes) < inside
        return ~short | (k >= high)

    def double(ends: Any) -> Any:
        left, right = ends
        short = ~is_beyond(right)
        return where(short, right, left), where(short, maximum(2 * right, right + 1), right)

    def middle(ends: Any) -> Any:
        left, right = ends
        return left + floor((right - left) / 2)

    def is_between(ends: Any) -> Any:
        return (middle(ends) > ends[0]) & (middle(ends) < ends[1])

    def halve(ends: Any) -> Any:
        left, right = ends
        at, moving = middle(ends), is_between(ends)
        beyond = is_beyond(at)
        return where(moving & ~beyond, at, left), where(moving & beyond, at, right)

    ends = while_loop(lambda ends: any_of(~is_beyond(ends[1])), double, (low - 1, low))
    _, found = while_loop(lambda ends: any_of(is_between(ends)), halve, ends)
    found = where(p == none, low - 1, where(p == all_, high, minimum(found, high)))
    return where(p == p, found, p)
