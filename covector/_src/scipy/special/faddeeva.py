"""The complex error function, and the scaled error functions and integrals that are parts of it.

w(z) = exp(-z^2) erfc(-iz) is, above the real axis, the integral (DLMF 7.7.2)

    w(z) = (2 i z / pi)  integral over t from 0 to inf of  exp(-t^2) / (z^2 - t^2).

The trapezoidal rule takes the integrand at t = 0, h, 2h, ..., the midpoint rule at h/2, 3h/2, ...;
both converge exponentially in 1/h, once the residue at the pole t = z is added,

    2 exp(-z^2) / (1 - exp(-2 pi i z / h))   and   2 exp(-z^2) / (1 + exp(-2 pi i z / h)),

and with h^2 = pi / (n + 1) the terms beyond the n-th are as small as what the rules neglect.  Near
the nodes of one rule the other is taken (Al Azah and Chandler-Wilde, SIAM J. Numer. Anal., 2021).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.array import Array, ArrayLike
from ...numpy.composite import composite
from ...numpy.creation import zeros_like
from ...numpy.exponential import exp
from ...numpy.promotion import convert, dtype_of, operand, promote_dtypes_inexact
from ...numpy.selection import where
from ...ops.complex import complex as complex_of
from ...ops.complex import conj, imag, real
from ...ops.rounding import floor
from .elementwise import derived_from, elementwise, inexacts, is_double, reals

_ROOT_PI = math.sqrt(math.pi)


def _nodes(z: Any) -> tuple[int, float]:
    """How many there are, and their distance."""
    count = 11 if is_double(z) else 6
    return count, math.sqrt(math.pi / (count + 1))


def _far(z: Any) -> float:
    """The modulus from which the first term of the expansion at infinity is all of w(z)."""
    return 1e8 if is_double(z) else 1e4


def _sum_of_nodes(squares: Any, step: float, nodes: np.ndarray) -> Any:
    """Sum of exp(-t^2) / (z^2 - t^2) over nodes, times 2 h / pi."""
    total = squares * 0
    for t in nodes.tolist():
        total = total + (2 * step / math.pi * math.exp(-t * t)) / (squares - t * t)
    return total


def _in_first_quadrant(z: Any) -> Any:
    """w(z) where Re z >= 0 and Im z >= 0."""
    x, y = real(z), imag(z)
    count, step = _nodes(z)
    far = x + y > _far(z)
    near = where(far, 1, z)
    x, y = where(far, 1, x), where(far, 0, y)
    fraction = x / step - floor(x / step)
    between = (y < x) & (fraction >= 0.25) & (fraction <= 0.75)

    # Each formula at a point where it is fit.
    spaced = where(between, near, 0.5 * step)
    apart = where(between, 0, near)
    squares, indices = spaced * spaced, np.arange(1, count + 1)
    wave = exp(spaced * (2j * math.pi / step))
    trapezoids = spaced * 1j * _sum_of_nodes(squares, step, indices * step)
    trapezoids = trapezoids + 1j * step / math.pi / spaced
    trapezoids = trapezoids - 2 * exp(-squares) * wave / (1 - wave)

    squares = apart * apart
    midpoints = apart * 1j * _sum_of_nodes(squares, step, (np.arange(count + 1) + 0.5) * step)
    above = y >= where(x > math.pi / step, x, math.pi / step)
    below = where(above, 0, apart)
    wave = exp(below * (2j * math.pi / step))
    residue = 2 * exp(-below * below) * wave / (1 + wave)
    midpoints = midpoints + where(above, 0, residue)

    infinite = (real(z) == np.inf) | (imag(z) == np.inf)
    leading = where(infinite, 0, (1j / _ROOT_PI) / where(far, z, 1))
    return where(far, leading, where(between, trapezoids, midpoints))


def _w(z: Any) -> list[Any]:
    x, y = real(z), imag(z)
    upper = _in_first_quadrant(complex_of(abs(x), abs(y)))
    upper = where(x < 0, conj(upper), upper)
    # w(z) = 2 exp(-z^2) - w(-z), and w(-z) is conjugate to w(conj z).
    lower = where(y < 0, z, 0)
    lower = 2 * exp(-lower * lower) - conj(upper)
    return [where(y < 0, lower, upper)]


def _w_slope(z: Any, w: Any) -> list[Any]:
    return [2j / _ROOT_PI - 2 * z * w]


faddeeva = derived_from(_w, _w_slope)


@composite
def _wofz(z: Any) -> Any:
    (z,) = promote_dtypes_inexact(z)
    dtype = dtype_of(z)
    if dtype.kind != "c":
        z = convert(z, np.dtype(np.complex128 if dtype == np.float64 else np.complex64))
    return faddeeva(z)[0]


def wofz(z: ArrayLike) -> Array:
    """Elementwise Faddeeva function exp(-z^2) erfc(-iz).

    Args:
      z: an array of real or complex numbers.

    Returns:
      A complex array of the same shape.

    >>> from covector.scipy import special
    >>> special.wofz(1j)
    Array(0.42758355+0.j, dtype=complex64, weak_type=True)
    """
    return _wofz(operand("wofz", z))


# ---------------------------------------------------------------- on the axes


def _dawsn_slope(x: Any, y: Any) -> list[Any]:
    return [1 - 2 * x * y]


@elementwise(_dawsn_slope)
def _dawsn(x: Any) -> Any:
    return imag(faddeeva(complex_of(x, zeros_like(x)))[0]) * (_ROOT_PI / 2)


def dawsn(x: ArrayLike) -> Array:
    """Elementwise Dawson's integral: exp(-x^2) times the integral of exp(t^2) from 0 to x.

    Args:
      x: an array of real numbers.

    >>> from covector.scipy import special
    >>> special.dawsn(1.0)
    Array(0.53807956, dtype=float32, weak_type=True)
    """
    return _dawsn(*reals("dawsn", x))


def _erfcx_slope(x: Any, y: Any) -> list[Any]:
    return [2 * x * y - 2 / _ROOT_PI]


def _on_imaginary_axis(y: Any) -> Any:
    """w(iy) for y >= 0, by the midpoint rule: its nodes are not there, and all terms are real."""
    count, step = _nodes(y)
    far = y > _far(y)
    near = where(far, 1, y)
    midpoints = -near * _sum_of_nodes(-near * near, step, (np.arange(count + 1) + 0.5) * step)
    above = near >= math.pi / step
    below = where(above, 0, near)
    decay = 2 * math.pi / step * below
    residue = 2 * exp(below * below - decay) / (1 + exp(-decay))
    leading = 1 / (_ROOT_PI * where(far, y, 1))
    return where(far, leading, midpoints + where(above, 0, residue))


@elementwise(_erfcx_slope)
def scaled_erfc(x: Any) -> Any:
    """exp(x^2) erfc(x), as a traced function."""
    above = _on_imaginary_axis(abs(x))
    return where(x < 0, 2 * exp(where(x < 0, x * x, 0)) - above, above)


def erfcx(x: ArrayLike) -> Array:
    """Elementwise scaled complementary error function exp(x^2) erfc(x).

    Args:
      x: an array of real or complex numbers.

    >>> from covector.scipy import special
    >>> special.erfcx(100.0)
    Array(0.00564161, dtype=float32, weak_type=True)
    """
    (x,) = inexacts("erfcx", x)
    return _wofz(1j * x) if dtype_of(x).kind == "c" else scaled_erfc(x)
