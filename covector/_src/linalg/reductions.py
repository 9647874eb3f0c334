"""Reductions of matrices by unitary similarity: Q^H A Q is of a simpler form.

schur         triangular
hessenberg    zero below the first subdiagonal
tridiagonal   zero off the first diagonals, for Hermitian A
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..core.avals import ShapedArray
from ..ops.base import Sample, draw
from ..ops.complex import is_complex, real_dtype
from .base import MatrixOp, check_square
from .eigh import hermitian
from .kernels import char, info_aval, lapack, nan_where_failed, unitary_name
from .qr import reflector


class Schur(MatrixOp):
    """T, upper triangular, with A = Q T Q^H; and Q if `compute_schur_vectors`.

    Of real matrices T may have blocks of size 2 on its diagonal, for pairs of complex eigenvalues.
    """

    multiple_results = True

    def shapes(self, a, *, compute_schur_vectors, **params):
        check_square(self.name, a)
        return [a, a] if compute_schur_vectors else [a]

    def emit(self, b, a, *, compute_schur_vectors, sort_eig_vals, select_callable):
        (aval,) = b.avals_in
        if sort_eig_vals:
            what = ("schur", "sort_eig_vals", sort_eig_vals, b.platform)
            raise NotImplementedError(linalg_errors.choice_not_on_platform(*what))
        values = [ShapedArray(aval.shape[:-1], aval.dtype)]
        if not is_complex(aval.dtype):
            values *= 2
        info = info_aval(b)
        mode = char("V" if compute_schur_vectors else "N")
        t, q, *_, info = lapack(
            b,
            "gees",
            [(a, aval)],
            [aval, aval, *values, info, info],
            {0: 0},
            mode=mode,
            sort=char("N"),
        )
        return nan_where_failed(b, info, [(t, aval), (q, aval)][: len(b.avals_out)])


class Hessenberg(MatrixOp):
    """The Hessenberg form with the reflectors that make up Q below it; and their factors."""

    multiple_results = True

    def shapes(self, a):
        check_square(self.name, a)
        return [a, (max(a[0] - 1, 0),)]

    def matrix_ref(self, a):
        a = a.copy()
        taus = np.zeros(max(len(a) - 1, 0), a.dtype)
        for i in range(len(taus) - 1 if not is_complex(a.dtype) else len(taus)):
            taus[i], v, beta = reflector(a[i + 1 :, i])
            h = np.eye(len(v)) - taus[i] * np.outer(v, v.conj())
            a[i + 1 :, i:] = h.conj().T @ a[i + 1 :, i:]
            a[:, i + 1 :] = a[:, i + 1 :] @ h
            a[i + 1 :, i] = [beta, *v[1:]]
        return [a, taus]

    def emit(self, b, a):
        (aval,) = b.avals_in
        form, taus = b.avals_out
        ends = dict(low=np.int32(1), high=np.int32(aval.shape[-1]))
        results = [form, taus, info_aval(b)]
        out, factors, info = lapack(b, "gehrd", [(a, aval)], results, {0: 0}, **ends)
        return nan_where_failed(b, info, [(out, form), (factors, taus)])

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in (np.float32, np.complex64):
            for shape in [(4, 4), (2, 3, 3), (1, 1), (0, 2, 2)]:
                yield Sample((draw(rng, shape, dtype),), {}, constant=(0,))


class Tridiagonal(MatrixOp):
    """The tridiagonal form of a Hermitian matrix, in the matrix with the reflectors that make up Q;
    its diagonal, the one beside it, and the factors of the reflectors.

    Only one triangle of the operand is read, and written.
    """

    multiple_results = True

    def shapes(self, a, *, lower):
        check_square(self.name, a)
        if not a[0]:
            raise ValueError(linalg_errors.empty_tridiagonal(a))
        return [a, a[:1], (a[0] - 1,), (a[0] - 1,)]

    def dtypes(self, a, *, lower):
        return [a, real_dtype(a), real_dtype(a)]

    def matrix_ref(self, a, *, lower):
        packed = a.copy()
        full = np.tril(a, -1) if lower else np.triu(a, 1)
        full = full + full.conj().T + np.diag(np.diagonal(a).real)
        n = len(a)
        e, taus = np.zeros(n - 1, real_dtype(a.dtype)), np.zeros(n - 1, a.dtype)
        for k in range(n - 1):
            # Below the diagonal from left to right, or above it from right to left.
            i = k if lower else n - 1 - k
            rest = np.arange(i + 1, n) if lower else np.arange(i - 1, -1, -1)
            tau, v, beta = reflector(full[rest, i])
            h = np.eye(len(rest)) - tau * np.outer(v, v.conj())
            full[np.ix_(rest, rest)] = h.conj().T @ full[np.ix_(rest, rest)] @ h
            packed[rest, i] = [beta, *v[1:]]
            e[min(i, rest[0])], taus[min(i, rest[0])] = beta.real, tau
        np.fill_diagonal(packed, np.diagonal(full))
        return [packed, np.diagonal(full).real, e, taus]

    def emit(self, b, a, *, lower):
        (aval,) = b.avals_in
        name = unitary_name(aval.dtype, "sytrd", "hetrd")
        results = [*b.avals_out, info_aval(b)]
        uplo = char("L" if lower else "U")
        *outs, info = lapack(b, name, [(a, aval)], results, {0: 0}, uplo=uplo)
        return nan_where_failed(b, info, list(zip(outs, b.avals_out)))

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for lower in (True, False):
            for dtype in (np.float32, np.complex64):
                for shape in [(4, 4), (2, 3, 3), (1, 1), (0, 2, 2)]:
                    a = hermitian(rng, shape, dtype)
                    yield Sample((a,), dict(lower=lower), constant=(0,))


schur_p = Schur("schur")
hessenberg_p = Hessenberg("hessenberg")
tridiagonal_p = Tridiagonal("tridiagonal")


def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> list[Any]:
    """The Schur decomposition A = Q T Q^H with a unitary Q.

    Args:
      x: square matrices A, of shape `(..., n, n)` and inexact dtype.
      compute_schur_vectors: whether Q is wanted.
      sort_eig_vals: must be False.
      select_callable: of no effect.

    Returns:
      `[t, q]`, or `[t]`. Complex T are upper triangular, with the eigenvalues of A on the diagonal;
      real ones have a block of size 2 there for each pair of complex eigenvalues. Where the
      algorithm does not converge, both are NaN.

    Raises:
      ValueError: the matrices are not square.
      TypeError: `x` is no matrix, or not inexact.

    >>> import numpy as np
    >>> from covector import lax
    >>> t, q = lax.linalg.schur(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> t
    Array([[1., 2.],
           [0., 3.]], dtype=float32)
    """
    return schur_p.bind(
        x,
        compute_schur_vectors=compute_schur_vectors,
        sort_eig_vals=sort_eig_vals,
        select_callable=select_callable,
    )


def hessenberg(a: Any) -> list[Any]:
    """The Hessenberg form H of square matrices A = Q H Q^H, in which all is zero below the first
    subdiagonal.

    Args:
      a: square matrices, of shape `(..., n, n)` and inexact dtype.

    Returns:
      `[h, taus]`: matrices of the shape of `a`, which hold below the first subdiagonal the
      elementary reflectors that make up Q, and their factors, of shape `(..., n - 1)`. See
      `householder_product`.

    Raises:
      ValueError: the matrices are not square.
      TypeError: `a` is no matrix, or not inexact.

    >>> import numpy as np
    >>> from covector import lax
    >>> h, taus = lax.linalg.hessenberg(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> h
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return list(hessenberg_p.bind(a))


def tridiagonal(a: Any, *, lower: bool = True) -> list[Any]:
    """The tridiagonal form T of Hermitian matrices A = Q T Q^H.

    Args:
      a: Hermitian (if real, symmetric) matrices, of shape `(..., n, n)` and inexact dtype.
      lower: whether the lower triangle is read and written, or the upper.

    Returns:
      `[t, d, e, taus]`: matrices of the shape of `a` with T, and beyond it the reflectors that make
      up Q; the diagonal of T, of shape `(..., n)`, and the one beside it, of shape
      `(..., n - 1)`, both real; and the factors of the reflectors, of shape `(..., n - 1)`.

    Raises:
      ValueError: the matrices are not square, or empty.
      TypeError: `a` is no matrix, or not inexact.

    >>> import numpy as np
    >>> from covector import lax
    >>> t, d, e, taus = lax.linalg.tridiagonal(np.array([[1.0, 2.0], [2.0, 5.0]]))
    >>> d, e
    (Array([1., 5.], dtype=float32), Array([2.], dtype=float32))
    """
    return list(tridiagonal_p.bind(a, lower=lower))
