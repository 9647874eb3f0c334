"""Splines through samples at the integers: sums of B-splines with coefficients.

M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal Processing Magazine
16(6), 1999.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...numpy.padding import pad
from ...numpy.parts import floor
from ...numpy.shaping import moveaxis
from ...ops.convolution import conv_general_dilated
from ...ops.precision import Precision
from .boundaries import Boundary

# ---------------------------------------------------------------- B-splines at a point


def knots(x: Any, order: int) -> tuple[Any, Any]:
    """The interval of x between the knots of a spline.

    These are the integers for odd orders, and the numbers halfway between them for even ones.

    Returns:
      The first of the `order + 1` integers whose B-splines are not 0 there, as a float, and where x
      is in the interval, from 0 to 1.
    """
    shift = 0 if order % 2 else 0.5
    start = floor(x + shift)
    return start - order // 2, x + shift - start


def weights(t: Any, order: int) -> list[Any]:
    """The values of B-splines at a point, in the order of their integers.

    With each order, by the recurrence of de Boor and Cox, spline j is (t + order - j) / order times
    spline j - 1 of the order below, and (j + 1 - t) / order times spline j.

    Args:
      t: where the point is in its interval, from 0 to 1.
      order: the order of the splines.
    """
    out = [1 + 0 * t]
    for k in range(1, order + 1):
        lower = [0, *out, 0]
        out = [((t + k - j) * lower[j] + (j + 1 - t) * lower[j + 1]) / k for j in range(k + 1)]
    return out


# ---------------------------------------------------------------- coefficients


@cache
def inverse_filter(order: int, dtype: np.dtype) -> np.ndarray:
    """The symmetric filter from samples to coefficients, as far as it matters in a dtype.

    Samples are coefficients filtered with the B-spline's values at the integers, whose Fourier
    transform is positive.  Its reciprocal is that of the inverse filter, which decays
    exponentially: at most by 0.43 with each element, for order 5.
    """
    middle = np.array(weights(np.float64(0.5 * (order % 2 == 0)), order))
    values = np.zeros(_PERIOD)
    values[np.arange(len(middle)) - order // 2] = middle
    response = np.fft.irfft(1 / np.fft.rfft(values).real, _PERIOD)
    reach = int(np.flatnonzero(np.abs(response[: _PERIOD // 2]) > np.finfo(dtype).eps / 16)[-1])
    return response[np.abs(np.arange(-reach, reach + 1))].astype(dtype)


# Long enough for the filter to vanish in double precision.
_PERIOD = 256


def coefficients(x: Any, order: int, boundary: Boundary, constant: Any) -> tuple[Any, int]:
    """The coefficients of the spline through all elements, in each dimension.

    Returns:
      They, and how many of them come before the first sample in each dimension: none for periodic
      boundaries, since they are then periodic themselves.
    """
    taps = inverse_filter(order, np.dtype(np.finfo(x.dtype).dtype))
    reach = len(taps) // 2
    margin = 0 if boundary.is_periodic else reach
    values = {"constant_values": constant} if boundary.fold is None else {}
    x = pad(x, reach + margin, boundary.padding, **values)
    for axis in range(x.ndim):
        x = moveaxis(_filtered(moveaxis(x, axis, -1), taps), -1, axis)
    return x, margin


def _filtered(x: Any, taps: np.ndarray) -> Any:
    """The elements of the last dimension filtered, but for those near its ends."""
    rows = x.reshape((-1, 1, x.shape[-1]))
    window = taps.astype(x.dtype)[None, None]
    out = conv_general_dilated(rows, window, (1,), [(0, 0)], precision=Precision.HIGHEST)
    return out.reshape((*x.shape[:-1], -1))
