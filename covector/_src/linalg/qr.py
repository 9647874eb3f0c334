"""The QR decomposition, made of reflectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.avals import aval_of
from ..core.zeros import Zero
from ..ops.arithmetic import add_p, mul_p, sub_p
from ..ops.base import Sample, draw
from ..ops.complex import is_complex, real_p
from ..ops.conversion import convert
from ..ops.families import check_accepts
from ..ops.joining import concatenate
from ..ops.linear import constant_like, full
from .base import MatrixOp
from .householder import apply_reflectors, householder_product_p
from .kernels import INT32, inline_function, lapack
from .lu import lu_p, lu_solve
from .matrices import (
    adjoint,
    batch_eye,
    eye,
    mask,
    matmul,
    matrix_transpose,
    padded_columns,
    padded_rows,
    part,
    permute_rows,
    tril,
    triu,
)
from .triangular_solve import triangular_solve

# ---------------------------------------------------------------- LAPACK's own form


class Geqrf(MatrixOp):
    """R in the upper triangle, and the reflectors that make up Q below; and their factors."""

    multiple_results = True

    def shapes(self, a):
        return [a, (min(a),)]

    def matrix_ref(self, a):
        return reflect(a)

    def emit(self, b, a):
        if b.platform == "tpu":
            return b.op("custom_call", a, call_target_name="Qr")
        return lapack(b, "geqrf", [(a, b.avals_in[0])], b.avals_out, {0: 0})

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in (np.float32, np.complex64):
            for shape in [(3, 2), (2, 3), (2, 2, 2), (0, 2, 2), (1, 1)]:
                yield Sample((draw(rng, shape, dtype),), {}, constant=(0,))


class Geqp3(MatrixOp):
    """The same of a matrix whose columns are swapped so that the diagonal of R does not rise.

    `jpvt` says with a number that is not 0 which columns come first; the result counts from 1.
    """

    multiple_results = True
    ranks = (2, 1)

    def check_dtypes(self, avals):
        check_accepts(self.name, self.accepts, avals[:1])
        check_accepts(self.name, (np.int32,), avals[1:])

    def shapes(self, a, jpvt, *, use_magma):
        return [a, jpvt, (min(a),)]

    def dtypes(self, a, jpvt, *, use_magma):
        return [a, jpvt]

    def matrix_ref(self, a, jpvt, *, use_magma):
        first, free = np.flatnonzero(jpvt), np.flatnonzero(jpvt == 0)
        order = [*first, *free]
        for k in range(len(first), min(a.shape)):
            # Of what the reflectors so far leave of the columns, the largest goes next.
            packed, taus = reflect(a[:, order[:k]])
            rest = apply_reflectors(packed, taus, a[:, order[k:]], left=True, transpose=True)
            largest = k + np.argmax(np.linalg.norm(rest[k:], axis=0))
            order[k], order[largest] = order[largest], order[k]
        packed, taus = reflect(a[:, order])
        return [packed, np.array(order, jpvt.dtype) + 1, taus]

    def emit(self, b, a, jpvt, *, use_magma):
        operands = list(zip((a, jpvt), b.avals_in))
        return lapack(b, "geqp3", operands, b.avals_out, {0: 0, 1: 1})

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in (np.float32, np.complex64):
            for shape in [(3, 2), (2, 3), (2, 2, 2), (0, 2, 2)]:
                jpvt = np.zeros((*shape[:-2], shape[-1]), np.int32)
                args = (draw(rng, shape, dtype), jpvt)
                yield Sample(args, dict(use_magma=None), constant=(0,))


def reflect(a: np.ndarray) -> list[np.ndarray]:
    """`Geqrf` on NumPy. A reflector maps a column x to beta e_0 with |beta| = |x|."""
    a = a.copy()
    taus = np.zeros(min(a.shape), a.dtype)
    for i in range(len(taus)):
        taus[i], v, _ = reflector(a[i:, i])
        h = np.eye(len(v)) - taus[i].conj() * np.outer(v, v.conj())
        a[i:, i:] = h @ a[i:, i:]
        a[i + 1 :, i] = v[1:]
    return [a, taus]


def reflector(x: np.ndarray) -> tuple[Any, np.ndarray, Any]:
    """The factor tau, the vector v and the number beta of LAPACK's reflector of a vector x.

    (1 - conj(tau) v v^H) x = beta e_0, where v_0 = 1 and beta is real, of the sign opposite to
    that of the real part of x_0.
    """
    alpha, rest = x[0], np.linalg.norm(x[1:])
    if rest == 0 and alpha.imag == 0:
        return x.dtype.type(0), np.eye(len(x))[0].astype(x.dtype), alpha
    beta = -np.copysign(np.hypot(abs(alpha), rest), alpha.real)
    v = np.concatenate([[1], x[1:] / (alpha - beta)]).astype(x.dtype)
    return (beta - alpha) / beta, v, beta


# ---------------------------------------------------------------- the decomposition


class QR(MatrixOp):
    """A = Q R; with `pivoting`, A[:, p] = Q R, and p.

    Q is square with `full_matrices`, and otherwise has no more columns than A.
    """

    multiple_results = True

    def shapes(self, a, *, pivoting, full_matrices, use_magma):
        m, n = a
        k = m if full_matrices else min(m, n)
        return [(m, k), (k, n), *([(n,)] if pivoting else [])]

    def dtypes(self, a, *, pivoting, **params):
        return [a, a, *([INT32] if pivoting else [])]

    def matrix_ref(self, a, *, pivoting, full_matrices, use_magma):
        p = np.zeros(a.shape[1], np.int32)
        if pivoting and a.size:
            p = geqp3_p.matrix_ref(a, p, use_magma=None)[1] - 1
        mode = "complete" if full_matrices else "reduced"
        q, r = np.linalg.qr(a[:, p] if pivoting and a.size else a, mode)
        return [q, r, *([p] if pivoting else [])]

    def jvp(self, primals, tangents, *, pivoting, full_matrices, use_magma):
        (a,), (t,) = primals, tangents
        params = dict(pivoting=pivoting, full_matrices=full_matrices, use_magma=use_magma)
        q, r, *p = self.bind(a, **params)
        if pivoting:
            a, t = permute_columns(a, p[0]), permute_columns(t, p[0])
        m, n = aval_of(a).shape[-2:]
        if m < n:
            dq, dr = tangents_of_wide(q, r, a, t)
        else:
            dq, dr = tangents_of_tall(part(q, columns=slice(n)), part(r, slice(n)), t)
            if full_matrices and m > n:
                dq = concatenate([dq, tangent_of_rest(q, dq)], aval_of(q).ndim - 1)
                dr = padded_rows(dr, 0, m - n)
        steps = [Zero(aval_of(x).to_tangent_aval()) for x in p]
        return [q, r, *p], [dq, dr, *steps]

    def emit(self, b, a, *, pivoting, full_matrices, use_magma):
        def program(a: Any) -> Sequence[Any]:
            return decompose(a, pivoting, full_matrices, use_magma)

        return inline_function(b, program, [a], b.avals_in)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for pivoting in (False, True):
            for full_matrices in (False, True):
                params = dict(pivoting=pivoting, full_matrices=full_matrices, use_magma=None)
                for dtype in (np.float32, np.complex64):
                    for shape in [(3, 3), (3, 2), (2, 3), (2, 2, 2), (0, 2), (2, 0), (0, 2, 2)]:
                        a = draw(rng, shape, dtype, -0.5, 0.5) + 2 * np.eye(*shape[-2:])
                        yield Sample((a.astype(dtype),), params)


def decompose(a: Any, pivoting: bool, full_matrices: bool, use_magma: bool | None) -> list[Any]:
    """Q, R, and with `pivoting` the permutation of columns, by LAPACK's functions."""
    aval = aval_of(a)
    *batch, m, n = aval.shape
    pivots = full((*batch, n), 0, INT32)
    if 0 in (m, n):
        k = m if full_matrices else min(m, n)
        q, r = mask(eye(aval.dtype, m, k), (*batch, m, k)), full((*batch, k, n), 0, aval.dtype)
        return [q, r, *([pivots] if pivoting else [])]
    p = []
    if pivoting:
        packed, pivots, taus = geqp3_p.bind(a, pivots, use_magma=use_magma)
        p = [sub_p.bind(pivots, constant_like(pivots, 1))]
    else:
        packed, taus = geqrf_p.bind(a)
    if m < n:
        reflectors = part(packed, columns=slice(m))
    elif full_matrices:
        reflectors = packed if m == n else padded_columns(packed, 0, m - n)
    else:
        reflectors, packed = packed, part(packed, slice(n))
    return [householder_product_p.bind(reflectors, taus), triu(packed), *p]


def permute_columns(x: Any, permutation: Any) -> Any:
    return matrix_transpose(permute_rows(matrix_transpose(x), permutation))


# ---------------------------------------------------------------- derivatives


def tangents_of_tall(q: Any, r: Any, t: Any) -> tuple[Any, Any]:
    """The tangents of Q and R for A = Q R with at least as many rows as columns.

    With C = Q^H A' R^-1 = Q^H Q' + R' R^-1: the first term, W, is skew-Hermitian, and the second
    upper triangular. If the diagonal of R' is real, the lower triangle of W is that of C, and its
    diagonal the imaginary part of that of C. Then R' = (C - W) R, and from A' = Q' R + Q R' follows
    Q' = A' R^-1 - Q R' R^-1 = A' R^-1 - Q (C - W).
    """
    t_rinv = triangular_solve(r, t)
    c = matmul(adjoint(q), t_rinv)
    lower = tril(c, -1)
    w = sub_p.bind(lower, adjoint(lower))
    dtype = aval_of(c).dtype
    if is_complex(dtype):
        imaginary = sub_p.bind(c, convert(real_p.bind(c), dtype))
        n = aval_of(c).shape[-1]
        w = add_p.bind(w, mul_p.bind(batch_eye(c, n), imaginary))
    dr_rinv = sub_p.bind(c, w)
    return sub_p.bind(t_rinv, matmul(q, dr_rinv)), matmul(dr_rinv, r)


def tangents_of_wide(q: Any, r: Any, a: Any, t: Any) -> tuple[Any, Any]:
    """The tangents of Q and R for A = (A1 A2) = Q (R1 R2) with square A1.

    A1 = Q R1 is a square decomposition, and R2 = Q^H A2, whence R2' = Q'^H A2 + Q^H A2'.
    """
    m = aval_of(q).shape[-1]
    head, tail = slice(m), slice(m, None)
    dq, dr1 = tangents_of_tall(q, part(r, columns=head), part(t, columns=head))
    from_q = matmul(adjoint(dq), part(a, columns=tail))
    dr2 = add_p.bind(from_q, matmul(adjoint(q), part(t, columns=tail)))
    return dq, concatenate([dr1, dr2], aval_of(r).ndim - 1)


def tangent_of_rest(q: Any, dq: Any) -> Any:
    """The tangent of the further columns P of a square (Q P), given that of the first ones, Q.

    As a product of reflectors with vectors in the columns of V, (Q P) = 1 - V T V^H with a square
    T; hence Q - E = V M and P - F = V N, where (E F) = 1. In blocks V = (V1; V2), with the first n
    rows in front, V2 V1^-1 = Q2 (Q1 - 1)^-1 =: Z, and this matrix depends on Q alone. As P - F has
    the same range, P2 - 1 = Z P1; and Q^H P = 0, so that P is determined by Q.
    Differentiate: P2' = Z' P1 + Z P1', and Z' (Q1 - 1) = Q2' - Z Q1'. What remains to be found is
    the part of P' along Q, which is -Q (Q'^H P) because Q^H P stays 0, and that along P, which is
    (P^H P') =: S. Put into the equation of the range, (-Z 1) P' = Z' P1, it gives
    S = ((-Z 1) P)^-1 (Z' P1 + (-Z 1) Q Q'^H P), where (-Z 1) P = P2 - Z P1 = 1.
    """
    n = aval_of(dq).shape[-1]
    top, bottom = slice(n), slice(n, None)
    p = part(q, columns=bottom)
    q1, q2 = part(q, top, top), part(q, bottom, top)
    shifted = sub_p.bind(q1, batch_eye(q1, n))
    factors, _, permutation = lu_p.bind(shifted)
    z = adjoint(lu_solve(factors, permutation, adjoint(q2), 2))

    def along(x: Any) -> Any:
        """(-Z 1) x."""
        return sub_p.bind(part(x, bottom), matmul(z, part(x, top)))

    # Z' P1 = (Q2' - Z Q1') (Q1 - 1)^-1 P1.
    p1 = lu_solve(factors, permutation, part(p, top))
    dq_p = matmul(adjoint(dq), p)
    s = add_p.bind(matmul(along(dq), p1), matmul(along(part(q, columns=top)), dq_p))
    return sub_p.bind(matmul(p, s), matmul(part(q, columns=top), dq_p))


geqrf_p = Geqrf("geqrf")
geqp3_p = Geqp3("geqp3")
qr_p = QR("qr")


def geqrf(a: Any) -> tuple[Any, Any]:
    """The QR decomposition in the form that LAPACK returns it in.

    Args:
      a: matrices of shape `(..., m, n)` and inexact dtype.

    Returns:
      A matrix of the shape of `a` with R in its upper triangle and reflectors below, and their
      factors, of shape `(..., min(m, n))`.
    """
    return tuple(geqrf_p.bind(a))


def geqp3(a: Any, jpvt: Any, *, use_magma: bool | None = None) -> tuple[Any, Any, Any]:
    """The QR decomposition with pivoting in the form that LAPACK returns it in.

    Args:
      a: matrices of shape `(..., m, n)` and inexact dtype.
      jpvt: integers of shape `(..., n)`, which are not 0 for the columns that come first.
      use_magma: of no effect on CPUs.

    Returns:
      As `geqrf`, with the permutation of columns, counted from 1, between the two.
    """
    return tuple(geqp3_p.bind(a, jpvt, use_magma=use_magma))


def qr(
    x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None
) -> Any:
    """The QR decomposition A = Q R.

    Args:
      x: matrices A, of shape `(..., m, n)` and inexact dtype.
      pivoting: whether to permute the columns of A so that the diagonal of R does not rise in
        magnitude: `A[:, p] = Q R`.
      full_matrices: whether Q is a square matrix of size m; if not, it has `min(m, n)` columns.
      use_magma: whether a GPU is to use the library MAGMA; of no effect on CPUs.

    Returns:
      `(q, r)`, or `(q, r, p)` with pivoting: Q with orthonormal columns, of shape `(..., m, k)`, R
      upper triangular, of shape `(..., k, n)`, and p, of dtype int32 and shape `(..., n)`.

    Raises:
      TypeError: `x` is no matrix, or not inexact.

    >>> import numpy as np
    >>> from covector import lax
    >>> q, r = lax.linalg.qr(np.array([[3.0, 0.0], [4.0, 5.0]]))
    >>> r
    Array([[-5., -4.],
           [ 0.,  3.]], dtype=float32)
    """
    params = dict(pivoting=pivoting, full_matrices=full_matrices, use_magma=use_magma)
    return tuple(qr_p.bind(x, **params))
