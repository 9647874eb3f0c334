"""Spherical harmonics."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from ...base import dtypes
from ...base import special_errors as errors
from ...control.fori_loop import fori_loop
from ...core.array import Array
from ...core.trace import Tracer
from ...numpy.composite import composite
from ...numpy.exponential import cos, sin, sqrt
from ...numpy.promotion import common_shape, convert, dtype_of, operands
from ...numpy.reductions import max as max_of
from ...numpy.selection import maximum, minimum, where
from ...numpy.shaping import broadcast_to
from ...ops.complex import complex as complex_of
from .elementwise import reals


def _legendre(n: Any, m: Any, theta: Any, n_max: int) -> Any:
    """Associated Legendre functions of cos(theta), times the factor that makes them orthonormal.

    From degree m, where the function is a power of the sine, a recurrence leads up to degree n
    (DLMF 14.10.3, with the factors put in).
    """
    x, y = cos(theta), sin(theta)
    y = where(y < 0, -y, y)  # the root of 1 - x^2, with the slope 1 at the pole

    def step(i: Any, carry: Any) -> Any:
        before, current = carry
        degree = convert(i + 1, theta.dtype)
        diagonal = -sqrt((2 * degree + 1) / (2 * degree)) * y * current
        last = degree - 1
        weight = sqrt((4 * degree**2 - 1) / maximum(degree**2 - m**2, 1))
        lower = sqrt(maximum(last**2 - m**2, 0) / maximum(4 * last**2 - 1, 1))
        following = weight * (x * current - lower * before)
        upwards = (degree > m) & (degree <= n)
        stays = degree > n
        new = where(degree <= m, diagonal, where(upwards, following, current))
        return where(stays, before, where(upwards, current, 0)), new

    start = (0 * x, 0 * x + math.sqrt(1 / (4 * math.pi)))
    return where(m > n, 0, fori_loop(0, n_max, step, start)[1])


@composite
def _sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, *, n_max: int) -> Any:
    shape = common_shape("sph_harm_y", n, m, theta, phi)
    n, m, theta, phi = [broadcast_to(x, shape) for x in (n, m, theta, phi)]
    degree, order = minimum(n, n_max).astype(theta.dtype), m.astype(theta.dtype)
    size = abs(order)
    values = _legendre(degree, size, theta, n_max)
    # Y of order -m is (-1)^m times the conjugate of that of order m.
    values = where((order < 0) & (size % 2 == 1), -values, values)
    return complex_of(values * cos(order * phi), values * sin(order * phi))


def sph_harm_y(
    n: Array,
    m: Array,
    theta: Array,
    phi: Array,
    diff_n: int | None = None,
    n_max: int | None = None,
) -> Array:
    """Elementwise spherical harmonics, orthonormal on the unit sphere.

    Args:
      n: an array of integers, the degrees, from 0.
      m: an array of integers, the orders, from -n to n; all arrays are broadcast together.
      theta: an array of real numbers, the angles from the pole.
      phi: an array of real numbers, the angles around the axis.
      diff_n: must be None.
      n_max: the largest degree; by default that in `n`, which then must be known when the function
        is traced. Larger degrees are taken for this one.

    Returns:
      A complex array of the common shape; 0 where `|m| > n`.

    Raises:
      NotImplementedError: `diff_n` is given.
      ConcretizationTypeError: `n` is traced, and `n_max` not given.
      TypeError: the degrees or orders are no integers.

    >>> import covector.numpy as jnp
    >>> from covector.scipy import special
    >>> n, m = jnp.array([0, 1]), jnp.array([0, 0])
    >>> special.sph_harm_y(n, m, jnp.zeros(2), jnp.zeros(2))
    Array([0.2820948 +0.j, 0.48860252+0.j], dtype=complex64)
    """
    if diff_n is not None:
        raise NotImplementedError(errors.harmonics_derivatives(diff_n))
    n, m = operands("sph_harm_y", [n, m])
    for name, x in (("n", n), ("m", m)):
        if not dtypes.isdtype(dtype_of(x), "integral"):
            raise TypeError(errors.harmonics_integers(name, dtype_of(x)))
    theta, phi = reals("sph_harm_y", theta, phi)
    if n_max is None:
        # What is known may not be staged, lest it be traced then.
        n_max = int(max_of(n) if isinstance(n, Tracer) else np.max(np.asarray(n)))
    return _sph_harm_y(n, m, theta, phi, n_max=index(n_max))
