"""Determinants."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...base import numpy_linalg_errors as errors
from ...core.array import Array, ArrayLike
from ...linalg import determinant
from ...ops.complex import is_complex
from ..composite import composite, composite_list
from .operands import square_matrices


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Array
    logabsdet: Array


@composite
def _det(a: Any) -> Any:
    return determinant.det(a)


@composite_list
def _slogdet(a: Any, *, by_qr: bool) -> Any:
    return determinant.slogdet(a, by_qr=by_qr)


def det(a: ArrayLike) -> Array:
    """The determinant of square matrices.

    Args:
      a: matrices of shape `(..., n, n)`.

    Returns:
      An array of shape `(...)`. Its derivative is that of a polynomial, at singular matrices too.

    >>> import covector as cv, covector.numpy as jnp
    >>> a = jnp.array([[1.0, 2.0], [2.0, 4.0]])
    >>> jnp.linalg.det(a)
    Array(0., dtype=float32)
    >>> cv.grad(jnp.linalg.det)(a)
    Array([[ 4., -2.],
           [-2.,  1.]], dtype=float32)
    """
    return _det(square_matrices("det", a))


def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """The sign of the determinant, and the logarithm of its absolute value.

    Args:
      a: matrices of shape `(..., n, n)`.
      method: `"lu"` (the same as None) or `"qr"`: the decomposition by which it is computed.

    Returns:
      A named tuple `(sign, logabsdet)` with `det(a) == sign * exp(logabsdet)`: a number of modulus
      1, and its real logarithm. They are 0 and -inf where the determinant is 0.

    >>> import covector.numpy as jnp
    >>> sign, logabsdet = jnp.linalg.slogdet(jnp.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> print(sign, logabsdet)
    -1.0 0.0
    """
    a = square_matrices("slogdet", a)
    if method not in (None, "lu", "qr"):
        raise ValueError(errors.slogdet_method(method))
    if method == "qr" and is_complex(a.dtype):
        raise NotImplementedError(errors.slogdet_complex())
    return SlogdetResult(*_slogdet(a, by_qr=method == "qr"))
