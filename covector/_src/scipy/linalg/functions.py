"""Functions of matrices, and matrices made of blocks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...api.autodiff import jvp
from ...base import scipy_linalg_errors as errors
from ...core.array import Array, ArrayLike
from ...linalg import exponential
from ...linalg.matrices import padded_columns
from ...numpy.composite import composite
from ...numpy.creation import zeros
from ...numpy.joining import concatenate
from ...numpy.linear_algebra.operands import inexact_array, inexact_arrays
from ...numpy.promotion import operands, promote_dtypes
from ...numpy.shaping import atleast_2d
from ...ops.complex import real_dtype


@composite
def _expm(a: Any, *, upper_triangular: bool, max_squarings: int) -> Any:
    return exponential.expm(a, upper_triangular, max_squarings)


def expm(A: ArrayLike, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """The exponential of square matrices.

    Args:
      A: matrices of shape `(..., n, n)`.
      upper_triangular: whether they are known to be upper triangular, which is quicker.
      max_squarings: how often the exponential of a fraction of the matrix may be squared. Where
        more would be needed, for norms above about `4 * 2**max_squarings`, the result is NaN.

    Returns:
      Matrices of the same shape.

    Raises:
      ValueError: the matrices are not square.
      TypeError: the dtype has 16 bits.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.expm(jnp.array([[0.0, 1.0], [0.0, 0.0]]))
    Array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    A = inexact_array("expm", A)
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(errors.not_square("expm", "A", A.shape))
    if np.dtype(real_dtype(A.dtype)).name not in exponential.APPROXIMANTS:
        raise TypeError(errors.expm_dtype(A.dtype))
    if not A.size:
        return A
    return _expm(A, upper_triangular=bool(upper_triangular), max_squarings=int(max_squarings))


def expm_frechet(
    A: ArrayLike, E: ArrayLike, *, method: str | None = None, compute_expm: bool = True
) -> Any:
    """The exponential of square matrices, and its derivative in a direction.

    Args:
      A: matrices of shape `(..., n, n)`.
      E: directions, of the same shape.
      method: of no effect.
      compute_expm: whether the exponential is wanted, too.

    Returns:
      `(expm(A), derivative)`, or the derivative alone.

    Raises:
      ValueError: the matrices are not square, or the shapes differ.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.expm_frechet(jnp.zeros((2, 2)), jnp.eye(2), compute_expm=False)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    A, E = inexact_arrays("expm_frechet", A, E)
    for name, x in (("A", A), ("E", E)):
        if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
            raise ValueError(errors.not_square("expm_frechet", name, x.shape))
    if A.shape != E.shape:
        raise ValueError(errors.shapes_differ("expm_frechet", "A and E", (A.shape, E.shape)))
    value, derivative = jvp(partial(expm, max_squarings=16), (A,), (E,))
    return (value, derivative) if compute_expm else derivative


def block_diag(*arrs: ArrayLike) -> Array:
    """The matrix with the given matrices along its diagonal, and zeros elsewhere.

    Args:
      *arrs: matrices; vectors are taken for rows, and numbers for matrices of one element.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.block_diag(jnp.eye(1), jnp.array([[2.0, 3.0]]))
    Array([[1., 0., 0.],
           [0., 2., 3.]], dtype=float32)
    """
    blocks = promote_dtypes(*operands("block_diag", arrs)) if arrs else [zeros((1, 0))]
    for i, x in enumerate(blocks):
        if np.ndim(x) > 2:
            raise ValueError(errors.block_rank(np.shape(x), i))
    blocks = [atleast_2d(x) for x in blocks]
    total, left = sum([x.shape[1] for x in blocks]), 0
    rows = []
    for x in blocks:
        rows.append(padded_columns(x, left, total - left - x.shape[1]))
        left += x.shape[1]
    return concatenate(rows)
