"""Bessel functions."""

from __future__ import annotations

from operator import index
from typing import Any

from ...control.fori_loop import fori_loop
from ...core.array import Array, ArrayLike
from ...numpy.creation import zeros
from ...numpy.exponential import exp
from ...numpy.joining import concatenate
from ...numpy.promotion import convert
from ...numpy.selection import where
from ...ops import special_bessel as primitives
from ...ops.arithmetic import sign
from .elementwise import elementwise, inexacts, reals

# ---------------------------------------------------------------- modified, of the first kind


def i0e(x: ArrayLike) -> Array:
    """Elementwise modified Bessel function of order 0, times exp(-|x|).

    Args:
      x: an array of real numbers.

    >>> from covector.scipy import special
    >>> special.i0e(1.0)
    Array(0.4657596, dtype=float32, weak_type=True)
    """
    return primitives.bessel_i0e(*inexacts("i0e", x))


def i1e(x: ArrayLike) -> Array:
    """Elementwise modified Bessel function of order 1, times exp(-|x|).

    Args:
      x: an array of real numbers.

    >>> from covector.scipy import special
    >>> special.i1e(1.0)
    Array(0.20791042, dtype=float32, weak_type=True)
    """
    return primitives.bessel_i1e(*inexacts("i1e", x))


def _i0_slope(x: Any, y: Any) -> list[Any]:
    return [_i1(x)]


def _i1_slope(x: Any, y: Any) -> list[Any]:
    """I_0 - I_1 / x, which is 1/2 at 0."""
    zero = x == 0
    return [where(zero, 0.5, _i0(x) - y / where(zero, 1, x))]


def _unscaled(x: Any, y: Any) -> Any:
    """exp(|x|) y, without overflow before the product's."""
    half = exp(0.5 * abs(x))
    return where(abs(x) == float("inf"), abs(x) * sign(y + x), half * (half * y))


@elementwise(_i0_slope)
def _i0(x: Any) -> Any:
    return abs(_unscaled(x, primitives.bessel_i0e(x)))


@elementwise(_i1_slope)
def _i1(x: Any) -> Any:
    return _unscaled(x, primitives.bessel_i1e(x))


def i0(x: ArrayLike) -> Array:
    """Elementwise modified Bessel function of the first kind of order 0.

    Args:
      x: an array of real numbers.

    >>> from covector.scipy import special
    >>> special.i0(0.0)
    Array(1.0000001, dtype=float32, weak_type=True)
    """
    return _i0(*inexacts("i0", x))


def i1(x: ArrayLike) -> Array:
    """Elementwise modified Bessel function of the first kind of order 1.

    Args:
      x: an array of real numbers.

    >>> from covector.scipy import special
    >>> special.i1(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _i1(*inexacts("i1", x))


# ---------------------------------------------------------------- of integer order

# Downwards the recurrence J_(n-1) = (2n / z) J_n - J_(n+1) is stable: started with anything far
# above |z| it gives multiples of the functions, whose factor follows from J_0 + 2 J_2 + 2 J_4 + ...
# = 1 (DLMF 10.74(iv)).


_LIMIT = 1e12


def _bessel_slopes(z: Any, y: Any, *, v: int, n_iter: int) -> list[Any]:
    """J_n' = (J_(n-1) - J_(n+1)) / 2, where J_(-1) = -J_1."""
    longer = _bessel_jn(z, v=v + 1, n_iter=n_iter)
    before = concatenate([-longer[1:2], longer[:v]])
    return [(before - longer[1:]) / 2]


@elementwise(_bessel_slopes)
def _bessel_jn(z: Any, *, v: int, n_iter: int) -> Any:
    zero = z == 0
    inverse = 2 / where(zero, 1, z)
    start = max(n_iter, v + 2)
    start += start % 2

    def step(i: Any, carry: Any) -> Any:
        above, current, total, found = carry
        n = start - i
        found = where(orders == n, current[None], found)
        total = total + where(n % 2 == 0, 2 * current, 0)
        below = convert(n, z.dtype) * inverse * current - above
        scale = where(abs(below) > _LIMIT, 1 / _LIMIT, 1).astype(z.dtype)
        return current * scale, below * scale, total * scale, found * scale[None]

    orders = concatenate([zeros(1, int) + n for n in range(v + 1)]).reshape((-1,) + (1,) * z.ndim)
    seed = z * 0 + 1e-12
    first = (z * 0, seed, z * 0, zeros((v + 1, *z.shape), z.dtype) + z[None] * 0)
    _, current, total, found = fori_loop(0, start, step, first)
    found = where(orders == 0, current[None], found) / (total + current)[None]
    return where(zero[None], where(orders == 0, 1, 0).astype(z.dtype), found)


def bessel_jn(z: ArrayLike, *, v: int, n_iter: int = 50) -> Array:
    """Bessel functions of the first kind, of the orders 0, ..., v.

    Args:
      z: an array of real numbers.
      v: the largest order, from 0.
      n_iter: from which order on the recurrence runs down. It should exceed the largest modulus in
        `z` by 30 or more.

    Returns:
      An array of shape `(v + 1, *z.shape)`.

    >>> import covector.numpy as jnp
    >>> from covector.scipy import special
    >>> special.bessel_jn(jnp.array([0.0, 1.0]), v=1)
    Array([[1.       , 0.7651977],
           [0.       , 0.4400506]], dtype=float32)
    """
    (z,) = reals("bessel_jn", z)
    return _bessel_jn(z, v=index(v), n_iter=index(n_iter))
