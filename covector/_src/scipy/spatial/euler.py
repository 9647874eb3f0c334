"""Rotations as up to three, one after the other, about axes of coordinates."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np

from ...base import rotation_errors as errors
from ...numpy.composite import composite
from ...numpy.creation import zeros_like
from ...numpy.exponential import arctan2, cos, deg2rad, hypot, rad2deg, sin
from ...numpy.joining import stack
from ...numpy.parts import absolute
from ...numpy.promotion import promote_dtypes_inexact
from ...numpy.selection import where
from .quaternions import product

# Where two axes come to lie in one, up to this angle, only the sum of two angles is known.
_DEGENERATE = 1e-7


def axes_argument(where_: str, seq: str, count: str) -> tuple[int, ...]:
    """The axes by number, of a string of one to three of them, or of three only."""
    pattern = "[xyz]{%s}|[XYZ]{%s}" % ((count,) * 2)
    if not isinstance(seq, str) or not re.fullmatch(pattern, seq):
        raise ValueError(errors.axes(where_, seq, count.replace(",", " to ")))
    numbers = tuple(["xyz".index(axis) for axis in seq.lower()])
    if any(a == b for a, b in itertools.pairwise(numbers)):
        raise ValueError(errors.repeated_axes(where_, seq))
    return numbers


@composite
def from_euler(angles: Any, *, axes: tuple[int, ...], intrinsic: bool, degrees: bool) -> Any:
    """The quaternions of angles of shape `(..., axes)`."""
    (angles,) = promote_dtypes_inexact(angles)
    half = (deg2rad(angles) if degrees else angles) / 2
    out = None
    for number, axis in enumerate(axes):
        parts = [zeros_like(half[..., number])] * 3
        parts[axis] = sin(half[..., number])
        q = stack([*parts, cos(half[..., number])], -1)
        if out is None:
            out = q
        else:
            out = product(out, q) if intrinsic else product(q, out)
    return out


@composite
def to_euler(q: Any, *, axes: tuple[int, ...], intrinsic: bool, degrees: bool) -> Any:
    """The three angles, in the method of E. Bernardes and S. Viollet, PLoS ONE 17(11), 2022.

    About axes i, j, i, the quaternion's numbers are products of sines and cosines of half the
    middle angle with those of half the sum and half the difference of the others, which two
    arctangents give.  About three different axes the same holds after a rotation by pi / 2 about
    the middle one.  About axes that rotate along, the order of rotations is the other way round.
    """
    i, j, k = axes[::-1] if intrinsic else axes
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    w, a, b, c = q[..., 3], q[..., i], q[..., j], sign * q[..., k]
    if not symmetric:
        w, a, b, c = w - b, a + c, b + w, c - a
    middle = 2 * arctan2(hypot(b, c), hypot(w, a))
    half_sum, half_difference = arctan2(a, w), arctan2(c, b)
    first, third = half_sum - half_difference, half_sum + half_difference
    if intrinsic:
        first, third = third, first
    # Then the last angle is put to 0.
    zero, straight = absolute(middle) <= _DEGENERATE, absolute(middle - np.pi) <= _DEGENERATE
    turn = 2 * half_difference if intrinsic else -2 * half_difference
    first = where(zero, 2 * half_sum, where(straight, turn, first))
    third = where(zero | straight, 0, third)
    if not symmetric:
        middle = middle - np.pi / 2
        first, third = (sign * first, third) if intrinsic else (first, sign * third)
    angles = _turned(stack([first, middle, third], -1))
    return rad2deg(angles) if degrees else angles


def _turned(angles: Any) -> Any:
    """Angles, whole turns added, between -pi and pi; those between are unchanged."""
    angles = where(angles > np.pi, angles - 2 * np.pi, angles)
    return where(angles < -np.pi, angles + 2 * np.pi, angles)
