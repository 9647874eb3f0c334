"""Windows, by which pieces of signals are multiplied; and the Bessel function of one of them.

Each is symmetric, with `M` values at x = -1, ..., 1, and equal to 1 in the middle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..api.custom_derivatives import custom_jvp
from ..base import calculus_errors, dtypes
from ..core.array import Array, ArrayLike
from ..ops.linear import full
from ..ops.special_bessel import bessel_i0e_p, bessel_i1e_p
from .arguments import index_argument
from .composite import composite
from .exponential import cos, exp, sqrt
from .parts import absolute
from .promotion import dtype_of, operand, promote_dtypes_inexact
from .ranges import iota

# Of the places n = 0, ..., M - 1 and M, the values.
Formula = Callable[[Any, int], Any]


@composite
def _values(*, formula: Formula, M: int, dtype: Any) -> Any:
    return formula(iota(dtype, (M,), 0), M)


def _window(where: str, M: Any, formula: Formula) -> Any:
    M = int(M) if isinstance(M, (float, np.floating, np.bool_)) else index_argument(where, "M", M)
    dtype = dtypes.default_float_dtype()
    return full((M,), 1, dtype) if M <= 1 else _values(formula=formula, M=M, dtype=dtype)


def _turns(n: Any, M: int) -> Any:
    """The places as angles, from 0 to one full turn."""
    return 2 * np.pi * n / (M - 1)


def _bartlett(n: Any, M: int) -> Any:
    return 1 - absolute(2 * n + 1 - M) / (M - 1)


def _blackman(n: Any, M: int) -> Any:
    angles = _turns(n, M)
    return 0.42 - 0.5 * cos(angles) + 0.08 * cos(2 * angles)


def _hamming(n: Any, M: int) -> Any:
    return 0.54 - 0.46 * cos(_turns(n, M))


def _hanning(n: Any, M: int) -> Any:
    return 0.5 - 0.5 * cos(_turns(n, M))


def bartlett(M: int) -> Array:
    """The Bartlett window: a triangle, 0 at both ends.

    Args:
      M: how many values.

    Returns:
      A vector of floats.

    >>> import covector.numpy as jnp
    >>> jnp.bartlett(5)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _window("bartlett", M, _bartlett)


def blackman(M: int) -> Array:
    """The Blackman window: a sum of three cosines, 0 at both ends; see `bartlett`.

    >>> import covector.numpy as jnp
    >>> jnp.blackman(5).round(2)
    Array([-0.  ,  0.34,  1.  ,  0.34, -0.  ], dtype=float32)
    """
    return _window("blackman", M, _blackman)


def hamming(M: int) -> Array:
    """The Hamming window: a cosine raised, 0.08 at both ends; see `bartlett`.

    >>> import covector.numpy as jnp
    >>> jnp.hamming(5)[2]
    Array(1., dtype=float32)
    """
    return _window("hamming", M, _hamming)


def hanning(M: int) -> Array:
    """The window of von Hann: a cosine raised, 0 at both ends; see `bartlett`.

    >>> import covector.numpy as jnp
    >>> jnp.hanning(5).round(2)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _window("hanning", M, _hanning)


@composite
def _kaiser(beta: Any, *, M: int, dtype: Any) -> Any:
    middle = (M - 1) / 2
    x = (iota(dtype, (M,), 0) - middle) / middle
    return i0(beta * sqrt(1 - x * x)) / i0(beta)


def kaiser(M: int, beta: ArrayLike) -> Array:
    """The Kaiser window i0(beta sqrt(1 - x^2)) / i0(beta); see `bartlett`.

    Args:
      M: how many values.
      beta: how fast it falls off; at 0 it is 1 everywhere.

    Returns:
      A vector of floats.

    >>> import covector.numpy as jnp
    >>> jnp.kaiser(3, 2.0).round(3)
    Array([0.439, 1.   , 0.439], dtype=float32)
    """
    M, dtype = index_argument("kaiser", "M", M), dtypes.default_float_dtype()
    if M <= 1:
        return full((M,), 1, dtype)
    return _kaiser(operand("kaiser", beta), M=M, dtype=dtype)


# ---------------------------------------------------------------- the Bessel function


@custom_jvp
def _bessel(x: Any) -> Any:
    x = absolute(x)
    return exp(x) * bessel_i0e_p.bind(x)


@_bessel.defjvp
def _bessel_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    """I0' = I1 (DLMF 10.29.3): by the product above it would be a difference, and at 0 the second
    derivative would be lost with the sign of x."""
    (x,), (t,) = primals, tangents
    return _bessel(x), t * exp(absolute(x)) * bessel_i1e_p.bind(x)


@composite
def _i0(x: Any) -> Any:
    return _bessel(*promote_dtypes_inexact(x))


def i0(x: ArrayLike) -> Array:
    """Elementwise modified Bessel function of the first kind, of order 0.

    Args:
      x: an array of real numbers.

    Returns:
      An array of floats.

    Raises:
      ValueError: the numbers are complex.

    >>> import covector.numpy as jnp
    >>> jnp.allclose(jnp.i0(jnp.array([0.0, 1.0])), jnp.array([1.0, 1.2660659]))
    Array(True, dtype=bool)
    """
    x = operand("i0", x)
    if dtypes.issubdtype(dtype_of(x), np.complexfloating):
        raise ValueError(calculus_errors.not_floats("i0", dtype_of(x)))
    return _i0(x)
