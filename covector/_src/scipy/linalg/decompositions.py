"""Decompositions of matrices, under SciPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes
from ...base import scipy_linalg_errors as errors
from ...core.array import Array, ArrayLike
from ...linalg import eigh as _eigh
from ...linalg import lu as _lu
from ...linalg import qr as _qr
from ...linalg import reductions as _reductions
from ...linalg import svd as _svd
from ...linalg.householder import householder_product, ormqr
from ...linalg.lu import to_batch
from ...linalg.matrices import (
    adjoint,
    diagonal_matrix,
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
from ...numpy.composite import composite, composite_list
from ...numpy.creation import zeros
from ...numpy.linear_algebra.operands import inexact_array, inexact_arrays
from ...numpy.promotion import as_array, shape_of
from ...numpy.shaping import broadcast_shapes
from ...ops.arithmetic import add_p, sub_p
from ...ops.complex import complex_dtype, conj, is_complex
from ...ops.conversion import convert
from ...ops.linear import expand_dims, reshape


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


@composite_list
def _qr_multiply(a: Any, c: Any, *, mode: str, pivoting: bool, conjugate: bool) -> Any:
    m, n = shape_of(a)[-2:]
    k = min(m, n)
    if pivoting:
        packed, p, taus = _qr.geqp3(a, zeros((*shape_of(a)[:-2], n), np.int32))
        permutation = [sub_p.bind(p, np.int32(1))]
    else:
        packed, taus = _qr.geqrf(a)
        permutation = []
    if mode == "left":
        c = padded_rows(c, 0, m - k)
    # The product with the conjugate of Q is the conjugate of that with Q.
    product = ormqr(packed, taus, conj(c) if conjugate else c, left=mode == "left")
    product = conj(product) if conjugate else product
    if mode == "right":
        product = part(product, columns=slice(k))
    return [product, triu(part(packed, slice(k))), *permutation]


def qr_multiply(
    a: ArrayLike,
    c: ArrayLike,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, ...]:
    """The product of a matrix with the Q of A = Q R, which is not written out.

    Args:
      a: matrices A of shape `(..., m, n)`; Q has `k = min(m, n)` columns.
      c: matrices of shape `(..., p, m)` for `mode="right"`, or `(..., k, p)` for `"left"`; or a
        vector, taken for a row or a column.
      mode: `"right"` for `c @ q`, or `"left"` for `q @ c`.
      pivoting: as of `qr`.
      conjugate: whether to multiply by the conjugate of Q.
      overwrite_a, overwrite_c: of no effect.

    Returns:
      `(product, r)`; with pivoting followed by the permutation.

    Raises:
      ValueError: the shapes do not fit, or there is no such mode.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> a = jnp.array([[3.0, 0.0], [4.0, 5.0]])
    >>> jsp.linalg.qr_multiply(a, jnp.array([5.0, 0.0]))[0]
    Array([-3., -4.], dtype=float32)
    """
    if mode not in ("right", "left"):
        raise ValueError(errors.choice("qr_multiply", "mode", mode, ("right", "left")))
    a, c = inexact_arrays("qr_multiply", a, c)
    if a.ndim < 2:
        raise ValueError(errors.not_a_matrix("qr_multiply", a.shape))
    vector, left = c.ndim == 1, mode == "left"
    if vector:
        c = expand_dims(c, (1 if left else 0,))
    size = min(a.shape[-2:]) if left else a.shape[-2]
    if shape_of(c)[-2:][0 if left else -1] != size:
        raise ValueError(errors.product_shape(mode, a.shape, shape_of(c), size))
    batch = broadcast_shapes(a.shape[:-2], shape_of(c)[:-2])
    product, *rest = _qr_multiply(
        to_batch(a, batch, 2),
        to_batch(c, batch, 2),
        mode=mode,
        pivoting=bool(pivoting),
        conjugate=bool(conjugate) and is_complex(a.dtype),
    )
    if vector:
        product = reshape(product, (product.size,))
    return (product, *rest)


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


@composite
def _tridiagonal(d: Any, e: Any) -> Any:
    below = padded_rows(padded_columns(diagonal_matrix(e), 0, 1), 1, 0)
    return add_p.bind(add_p.bind(below, adjoint(below)), diagonal_matrix(d))


def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[float, float] | None = None,
    tol: float | None = None,
    key: Any = None,
) -> Any:
    """Eigenvalues and eigenvectors of a Hermitian tridiagonal matrix.

    The matrix is written out, so that time is O(n^3), and derivatives are those of `eigh`.

    Args:
      d: an array of shape `(n,)`, the diagonal, of which the real part counts.
      e: an array of shape `(n - 1,)`, what is below the diagonal; above it are the conjugates.
      eigvals_only: whether only the eigenvalues are wanted.
      select: `"a"` for all; `"i"` for those with the indices `select_range`, both ends included; or
        `"v"` for those greater than the first number of `select_range` and at most the second,
        which needs concrete arrays.
      select_range: a pair.
      tol, key: of no effect.

    Returns:
      `(w, v)`, real eigenvalues in rising order, and eigenvectors in the columns of a matrix; or
      `w` alone.

    Raises:
      ValueError: the shapes do not fit, or there is no such selection.
      TypeError: the dtypes differ, or are not floating or complex.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> d, e = jnp.array([2.0, 2.0]), jnp.array([1.0])
    >>> jsp.linalg.eigh_tridiagonal(d, e, eigvals_only=True)
    Array([1., 3.], dtype=float32)
    """
    d, e = [as_array("eigh_tridiagonal", x) for x in (d, e)]
    if d.dtype != e.dtype or not dtypes.issubdtype(d.dtype, np.inexact):
        raise TypeError(errors.tridiagonal_dtypes(d.dtype, e.dtype))
    if d.ndim != 1 or e.shape != (max(d.shape[0] - 1, 0),):
        raise ValueError(errors.tridiagonal_shapes(d.shape, e.shape))
    w, v = _eigenpairs(d, e)
    if select != "a":
        kept = _selected(w, select, select_range)
        w, v = w[kept], v[:, kept]
    return w if eigvals_only else (w, v)


def _eigenpairs(d: Any, e: Any) -> tuple[Any, Any]:
    if d.shape[0] < 2:
        return d.real, eye(d.dtype, d.shape[0])
    v, w = _eigh.eigh(_tridiagonal(d.real.astype(d.dtype), e), symmetrize_input=False)
    return w, v


def _selected(w: Any, select: str, select_range: Any) -> Any:
    """Which eigenvalues are wanted, as an index."""
    if select not in ("i", "v"):
        raise ValueError(errors.select(select))
    if select_range is None or select_range[0] > select_range[1]:
        raise ValueError(errors.select_range(select_range))
    first, last = select_range
    if select == "i":
        return slice(int(first), int(last) + 1)
    return np.flatnonzero((np.asarray(w) > first) & (np.asarray(w) <= last))


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
