"""Decompositions of matrices, under SciPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import scipy_linalg_errors as errors
from ...core.array import Array, ArrayLike
from ...linalg import eigh as _eigh
from ...linalg import lu as _lu
from ...linalg import qr as _qr
from ...linalg import reductions as _reductions
from ...linalg import svd as _svd
from ...linalg.householder import householder_product
from ...linalg.matrices import (
    eye,
    inverse_permutation,
    mask,
    padded_columns,
    padded_rows,
    part,
    permute_rows,
    tril,
    triu,
)
from ...numpy.composite import composite_list
from ...numpy.linear_algebra.operands import inexact_array
from ...numpy.promotion import shape_of
from ...ops.arithmetic import add_p
from ...ops.complex import complex_dtype
from ...ops.conversion import convert


@composite_list
def _factors(a: Any, *, permute_l: bool) -> Any:
    """P, L and U with A = P L U, or P L and U."""
    lu, _, permutation = _lu.lu(a)
    m, n = shape_of(a)
    k = min(m, n)
    l = add_p.bind(tril(part(lu, columns=slice(k)), -1), eye(a.dtype, m, k))
    u = triu(part(lu, slice(k)))
    undo = inverse_permutation(permutation)
    if permute_l:
        return [permute_rows(l, undo), u]
    real = np.finfo(a.dtype).dtype
    return [permute_rows(eye(real, m), undo), l, u]


def lu(
    a: ArrayLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The LU decomposition A = P L U with a permutation P.

    Args:
      a: a matrix of shape `(m, n)`.
      permute_l: whether to multiply P and L.
      overwrite_a, check_finite: of no effect.

    Returns:
      `(p, l, u)`, where L is of shape `(m, k)` and U of shape `(k, n)`, with k the lesser of m and
      n; or `(p @ l, u)`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> p, l, u = jsp.linalg.lu(jnp.array([[1.0, 3.0], [2.0, 4.0]]))
    >>> u
    Array([[2., 4.],
           [0., 1.]], dtype=float32)
    """
    a = inexact_array("lu", a)
    if a.ndim != 2:
        raise ValueError(errors.not_a_matrix("lu", a.shape))
    return tuple(_factors(a, permute_l=bool(permute_l)))


def qr(
    a: ArrayLike,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]:
    """The QR decomposition A = Q R.

    Args:
      a: matrices of shape `(..., m, n)`.
      mode: `"full"` for a square Q, `"economic"` for one with `min(m, n)` columns, `"r"` for R
        alone.
      pivoting: whether to permute the columns of A so that the diagonal of R does not rise.
      overwrite_a, lwork, check_finite: of no effect.

    Returns:
      `(q, r)`, or `(r,)`; with pivoting followed by the permutation.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.qr(jnp.array([[3.0, 0.0], [4.0, 5.0]]), mode="r")
    (Array([[-5., -4.],
           [ 0.,  3.]], dtype=float32),)
    """
    if mode not in ("full", "economic", "r"):
        raise ValueError(errors.qr_mode(mode))
    full_matrices = mode != "economic"
    a = inexact_array("qr", a)
    q, r, *p = _qr.qr(a, pivoting=bool(pivoting), full_matrices=full_matrices)
    return (r, *p) if mode == "r" else (q, r, *p)


def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """The singular value decomposition A = U diag(s) V^H.

    Args:
      a: matrices of shape `(..., m, n)`.
      full_matrices: whether U and V are square; if not, they have `min(m, n)` columns.
      compute_uv: whether U and V are wanted.
      overwrite_a, check_finite, lapack_driver: of no effect.

    Returns:
      `(u, s, vh)`, or `s` alone; see `lax.linalg.svd`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.svd(jnp.array([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False)
    Array([4., 3.], dtype=float32)
    """
    a = inexact_array("svd", a)
    return _svd.svd(a, full_matrices=bool(full_matrices), compute_uv=bool(compute_uv))


def eigh(
    a: ArrayLike,
    b: ArrayLike | None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices.

    Args:
      a: matrices of shape `(..., n, n)`, which are symmetrized.
      b, eigvals, type: must be None, None and 1.
      eigvals_only: whether only the eigenvalues are wanted.
      lower, overwrite_a, overwrite_b, turbo, check_finite: of no effect.

    Returns:
      `(w, v)`, real eigenvalues in rising order, and eigenvectors in the columns of matrices; or
      `w` alone. See `lax.linalg.eigh`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.eigh(jnp.array([[3.0, 1.0], [1.0, 3.0]]), eigvals_only=True)
    Array([2., 4.], dtype=float32)
    """
    for wrong, what in ((b is not None, "b=None"), (type != 1, "type=1")):
        if wrong:
            raise NotImplementedError(errors.not_implemented("eigh", what))
    if eigvals is not None:
        raise NotImplementedError(errors.not_implemented("eigh", "eigvals=None"))
    v, w = _eigh.eigh(inexact_array("eigh", a), lower=bool(lower))
    return w if eigvals_only else (w, v)


def schur(a: ArrayLike, output: str = "real") -> tuple[Array, Array]:
    """The Schur decomposition A = Z T Z^H with a unitary Z.

    Args:
      a: square matrices, of shape `(..., n, n)`.
      output: `"complex"` for a triangular T also of real matrices; with `"real"` that has blocks
        of size 2 on its diagonal for pairs of complex eigenvalues.

    Returns:
      `(t, z)`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.schur(jnp.array([[1.0, 2.0], [0.0, 3.0]]))[0]
    Array([[1., 2.],
           [0., 3.]], dtype=float32)
    """
    if output not in ("real", "complex"):
        raise ValueError(errors.schur_output(output))
    a = inexact_array("schur", a)
    t, z = _reductions.schur(convert(a, complex_dtype(a.dtype)) if output == "complex" else a)
    return t, z


@composite_list
def _hessenberg(a: Any, *, calc_q: bool) -> Any:
    packed, taus = _reductions.hessenberg(a)
    h = triu(packed, -1)
    if not calc_q:
        return [h]
    *batch, n, _ = shape_of(a)
    q = householder_product(part(packed, slice(1, n), slice(n - 1)), taus)
    q = padded_rows(padded_columns(q, 1, 0), 1, 0)
    corner = padded_rows(padded_columns(eye(a.dtype, 1), 0, n - 1), 0, n - 1)
    return [h, add_p.bind(q, mask(corner, (*batch, n, n)))]


def hessenberg(
    a: ArrayLike, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The Hessenberg form H of A = Q H Q^H, which is zero below the first subdiagonal.

    Args:
      a: square matrices, of shape `(..., n, n)`.
      calc_q: whether Q is wanted.
      overwrite_a, check_finite: of no effect.

    Returns:
      H, or `(h, q)`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.hessenberg(jnp.array([[1.0, 2.0], [3.0, 4.0]]))
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    a = inexact_array("hessenberg", a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(errors.not_square("hessenberg", "a", a.shape))
    if not a.shape[-1]:
        return (a, a) if calc_q else a
    outs = _hessenberg(a, calc_q=bool(calc_q))
    return tuple(outs) if calc_q else outs[0]
