"""Decompositions of matrices, under NumPy's names."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...base import numpy_linalg_errors as errors
from ...core.array import Array, ArrayLike
from ...linalg import cholesky as _cholesky
from ...linalg import eig as _eig
from ...linalg import eigh as _eigh
from ...linalg import qr as _qr
from ...linalg import svd as _svd
from ...linalg.matrices import adjoint, matrix_transpose, permute_rows
from ...linalg.systems import svd_of_hermitian
from ...ops.arithmetic import neg_p
from ...ops.creation import iota_p
from ...ops.sorting import sort
from ..composite import composite, composite_list
from ..promotion import shape_of
from .operands import inexact_array

# ---------------------------------------------------------------- Cholesky and QR


@composite
def _lower_or_upper(a: Any, *, upper: bool, symmetrize_input: bool) -> Any:
    l = _cholesky.cholesky(a, symmetrize_input=symmetrize_input)
    return adjoint(l) if upper else l


def cholesky(a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The Cholesky decomposition of positive definite matrices: A = L L^H, or A = U^H U.

    Args:
      a: Hermitian (if real, symmetric) matrices, of shape `(..., n, n)`.
      upper: whether to return the upper triangular U instead of the lower triangular L.
      symmetrize_input: whether to decompose `(a + a^H) / 2`; if not, only the lower triangle is
        read.

    Returns:
      Triangular matrices of the shape of `a`; NaN where a matrix is not positive definite.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    a = inexact_array("cholesky", a)
    return _lower_or_upper(a, upper=bool(upper), symmetrize_input=bool(symmetrize_input))


@composite_list
def _raw_qr(a: Any) -> Any:
    packed, taus = _qr.geqrf(a)
    return [matrix_transpose(packed), taus]


class QRResult(NamedTuple):
    """The factors of A = Q R."""

    Q: Array
    R: Array


def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """The QR decomposition A = Q R, with orthonormal columns in Q and an upper triangular R.

    Args:
      a: matrices of shape `(..., m, n)`.
      mode: `"reduced"` for a Q with `min(m, n)` columns, `"complete"` for a square one, `"r"` for
        R alone; `"raw"` for what LAPACK returns, transposed: reflectors and R in one, and the
        factors of the reflectors.

    Returns:
      A named tuple `(Q, R)`, or R.

    >>> import covector.numpy as jnp
    >>> q, r = jnp.linalg.qr(jnp.array([[3.0, 0.0], [4.0, 5.0]]))
    >>> r
    Array([[-5., -4.],
           [ 0.,  3.]], dtype=float32)
    """
    a = inexact_array("qr", a)
    if mode == "raw":
        return QRResult(*_raw_qr(a))
    if mode not in ("reduced", "complete", "r", "full"):
        raise ValueError(errors.qr_mode(mode))
    q, r = _qr.qr(a, full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


# ---------------------------------------------------------------- eigenvalues


class EigResult(NamedTuple):
    """Eigenvalues w, and eigenvectors in the columns of a matrix V: A V = V diag(w)."""

    eigenvalues: Array
    eigenvectors: Array


def eig(a: ArrayLike) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices: A v = w v.

    Args:
      a: matrices of shape `(..., n, n)`.

    Returns:
      A named tuple of complex `eigenvalues`, of shape `(..., n)` and in no special order, and of
      complex `eigenvectors`, of norm 1 in the columns of matrices. These have no derivative; see
      `lax.linalg.eig`.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.eig(jnp.array([[0.0, -1.0], [1.0, 0.0]])).eigenvalues
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    return EigResult(*_eig.eig(inexact_array("eig", a), compute_left_eigenvectors=False))


def eigvals(a: ArrayLike) -> Array:
    """Eigenvalues of square matrices; see `eig`.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.eigvals(jnp.array([[0.0, -1.0], [1.0, 0.0]]))
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    without = dict(compute_left_eigenvectors=False, compute_right_eigenvectors=False)
    return _eig.eig(inexact_array("eigvals", a), **without)[0]


@composite_list
def _values_and_vectors(a: Any, *, lower: bool, symmetrize_input: bool) -> Any:
    v, w = _eigh.eigh(a, lower=lower, symmetrize_input=symmetrize_input)
    return [w, v]


class EighResult(NamedTuple):
    """The same of Hermitian matrices, with real eigenvalues and orthonormal eigenvectors."""

    eigenvalues: Array
    eigenvectors: Array


def eigh(a: ArrayLike, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian (if real, symmetric) matrices.

    Args:
      a: matrices of shape `(..., n, n)`.
      UPLO: which triangle is read if `a` is not symmetrized: `"L"` (the same as None) or `"U"`.
      symmetrize_input: whether to take `(a + a^H) / 2` instead.

    Returns:
      A named tuple of real `eigenvalues` in rising order, of shape `(..., n)`, and `eigenvectors`,
      of norm 1 in the columns of matrices. On derivatives, see `lax.linalg.eigh`.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.eigh(jnp.array([[3.0, 1.0], [1.0, 3.0]])).eigenvalues
    Array([2., 4.], dtype=float32)
    """
    a = inexact_array("eigh", a)
    if UPLO not in (None, "L", "U"):
        raise ValueError(errors.unknown_choice("eigh", "UPLO", UPLO, (None, "L", "U")))
    lower, symmetrize_input = UPLO != "U", bool(symmetrize_input)
    return EighResult(*_values_and_vectors(a, lower=lower, symmetrize_input=symmetrize_input))


def eigvalsh(a: ArrayLike, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """Eigenvalues of Hermitian matrices, in rising order; see `eigh`.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.eigvalsh(jnp.array([[3.0, 1.0], [1.0, 3.0]]))
    Array([2., 4.], dtype=float32)
    """
    return eigh(a, UPLO, symmetrize_input=symmetrize_input)[0]


# ---------------------------------------------------------------- singular values


@composite_list
def _hermitian_svd(a: Any) -> Any:
    """The singular values of Hermitian matrices in falling order, with their vectors."""
    u, s, vh = svd_of_hermitian(a)
    shape = shape_of(s)
    last = len(shape) - 1
    places = iota_p.bind(dtype=np.dtype(np.int32), shape=shape, dimension=last, sharding=None)
    falling, order = sort((neg_p.bind(s), places), num_keys=1)
    u = matrix_transpose(permute_rows(matrix_transpose(u), order))
    return [u, neg_p.bind(falling), permute_rows(vh, order)]


class SVDResult(NamedTuple):
    """The factors of A = U diag(S) Vh."""

    U: Array
    S: Array
    Vh: Array


def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """The singular value decomposition A = U diag(s) V^H.

    Args:
      a: matrices of shape `(..., m, n)`.
      full_matrices: whether U and V are square; if not, they have `min(m, n)` columns.
      compute_uv: whether U and V are wanted.
      hermitian: whether `a` is Hermitian, for a method that is quicker.
      subset_by_index: `(start, end)` to get only those singular values; only without
        `full_matrices`.

    Returns:
      A named tuple `(U, S, Vh)`, with the singular values in falling order, or these alone. On
      derivatives, see `lax.linalg.svd`.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.svd(jnp.array([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False)
    Array([4., 3.], dtype=float32)
    """
    a = inexact_array("svd", a)
    if hermitian:
        u, s, vh = _hermitian_svd(a)
        return SVDResult(u, s, vh) if compute_uv else s
    out = _svd.svd(
        a,
        full_matrices=bool(full_matrices),
        compute_uv=bool(compute_uv),
        subset_by_index=subset_by_index,
    )
    return SVDResult(*out) if compute_uv else out


def svdvals(x: ArrayLike, /) -> Array:
    """Singular values of matrices, in falling order; see `svd`.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.svdvals(jnp.array([[3.0, 0.0], [0.0, 4.0]]))
    Array([4., 3.], dtype=float32)
    """
    return svd(x, compute_uv=False)
