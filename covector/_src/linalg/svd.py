"""The singular value decomposition A = U diag(s) V^H."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..core.avals import ShapedArray, aval_of
from ..ops.arithmetic import add_p, mul_p, neg_p, sub_p
from ..ops.base import Sample, draw
from ..ops.complex import is_complex, real_dtype, real_p
from ..ops.conversion import convert
from ..ops.joining import concatenate
from ..ops.linear import constant_like, full
from .base import MatrixOp
from .eigh import emit_last
from .gaps import reciprocal_gaps, reciprocal_or_zero, reciprocal_sums
from .kernels import char, info_aval, inline_function, lapack, nan_where_failed
from .matrices import adjoint, diagonal, diagonal_matrix, eye, last, mask, matmul, part, rows_of


class SvdAlgorithm(enum.Enum):
    """An algorithm of `svd`. CPUs have `QR` and `DIVIDE_AND_CONQUER`, which is the default.

    >>> from covector import lax
    >>> lax.linalg.SvdAlgorithm("QR").name
    'QR'
    """

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


# LAPACK's function for each algorithm that it has.
FUNCTIONS = {
    None: "gesdd",
    SvdAlgorithm.DEFAULT: "gesdd",
    SvdAlgorithm.DIVIDE_AND_CONQUER: "gesdd",
    SvdAlgorithm.QR: "gesvd",
}


class SVD(MatrixOp):
    """Singular values in falling order; with `compute_uv` also U and V^H.

    With `full_matrices` these are square, and otherwise have as many vectors as there are values.
    `subset_by_index` is a range of values, or None.
    """

    multiple_results = True

    def shapes(self, a, *, full_matrices, compute_uv, subset_by_index, algorithm):
        m, n = a
        rank = min(m, n)
        if subset_by_index is not None:
            if full_matrices and tuple(subset_by_index) != (0, rank):
                raise ValueError(linalg_errors.subset_of_full(subset_by_index, rank))
            rank = min(rank, subset_by_index[1] - subset_by_index[0])
        if not compute_uv:
            return [(rank,)]
        return [(rank,), (m, m if full_matrices else rank), (n if full_matrices else rank, n)]

    def dtypes(self, a, **params):
        return [real_dtype(a)]

    def matrix_ref(self, a, *, full_matrices, compute_uv, subset_by_index, algorithm):
        try:
            u, s, vh = np.linalg.svd(a, full_matrices)
        except np.linalg.LinAlgError:
            return [np.nan] * (3 if compute_uv else 1)
        if subset_by_index is not None and not full_matrices:
            kept = slice(*subset_by_index)
            u, s, vh = u[:, kept], s[kept], vh[kept]
        return [s, u, vh] if compute_uv else [s]

    def jvp(self, primals, tangents, *, full_matrices, compute_uv, subset_by_index, algorithm):
        (a,), (t,) = primals, tangents
        m, n = aval_of(a).shape[-2:]
        whole = full_matrices and compute_uv and m != n
        params = dict(compute_uv=True, subset_by_index=None, algorithm=algorithm)
        s, u_all, vh_all = self.bind(a, full_matrices=whole, **params)
        u, vh = part(u_all, columns=slice(min(m, n))), part(vh_all, slice(min(m, n)))
        p = matmul(matmul(adjoint(u), t), adjoint(vh))
        kept = slice(*subset_by_index) if subset_by_index else slice(None)
        ds = diagonal(real_p.bind(p) if is_complex(aval_of(p).dtype) else p)
        if not compute_uv:
            return [last(s, kept)], [last(ds, kept)]
        du, dv = tangents_of_vectors(s, u, vh, t, p)
        if whole:
            du, dv = extended(u_all, du), extended(adjoint(vh_all), dv)
            return [s, u_all, vh_all], [ds, du, adjoint(dv)]
        outs = [last(s, kept), last(u, kept), part(vh, kept)]
        return outs, [last(ds, kept), last(du, kept), adjoint(last(dv, kept))]

    def emit(self, b, a, *, full_matrices, compute_uv, subset_by_index, algorithm):
        (aval,) = b.avals_in
        *batch, m, n = aval.shape
        if algorithm not in FUNCTIONS:
            text = linalg_errors.choice_not_on_platform("svd", "algorithm", algorithm, b.platform)
            raise NotImplementedError(text)
        if 0 in (m, n):
            empty = lambda a: vectors_of_empty(a, full_matrices)[: len(b.avals_out)]  # noqa: E731
            return inline_function(b, empty, [a], [aval])
        rank = min(m, n)
        values = ShapedArray((*batch, rank), real_dtype(aval.dtype))
        left = aval.update(shape=(*batch, m, m if full_matrices else rank))
        right = aval.update(shape=(*batch, n if full_matrices else rank, n))
        mode = char("N" if not compute_uv else "A" if full_matrices else "S")
        results = [aval, values, left, right, info_aval(b)]
        name = FUNCTIONS[algorithm]
        _, s, u, vh, info = lapack(b, name, [(a, aval)], results, {0: 0}, mode=mode)
        outs = [(s, values), (u, left), (vh, right)][: len(b.avals_out)]
        outs = nan_where_failed(b, info, outs)
        if subset_by_index is None or full_matrices:
            return outs
        return emit_subset(b, outs, subset_by_index)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        shapes = [(3, 3), (3, 2), (2, 3), (2, 2, 2), (0, 2), (2, 0), (0, 2, 2)]
        for full_matrices, subset in [(False, None), (True, None), (False, (0, 1))]:
            for compute_uv in (True, False):
                for dtype in (np.float32, np.complex64):
                    for shape in shapes[: 3 if subset else None]:
                        params = dict(
                            full_matrices=full_matrices,
                            compute_uv=compute_uv,
                            subset_by_index=subset,
                            algorithm=None,
                        )
                        # Phases of vectors, and those that fill up a square matrix, are
                        # LAPACK's choice, which is not that of the derivative.
                        free = (full_matrices and shape[-1] != shape[-2]) or dtype == np.complex64
                        smooth = not (free and compute_uv)
                        yield Sample((draw(rng, shape, dtype),), params, smooth=smooth)


def emit_subset(b: Any, outs: list[Any], limits: tuple[int, int]) -> list[Any]:
    """Write the parts of thin matrices that belong to a range of singular values."""
    s, *vectors = outs
    kept = [emit_last(b, s, b.avals_out[0], limits)]
    if vectors:
        u, vh = vectors
        aval = b.avals_out[2]
        zeros = (0,) * (aval.ndim - 2)
        rows = b.op(
            "slice",
            vh,
            out=aval,
            start_indices=(*zeros, limits[0], 0),
            limit_indices=(*aval.shape[:-2], limits[1], aval.shape[-1]),
            strides=(1,) * aval.ndim,
        )
        kept += [emit_last(b, u, b.avals_out[1], limits), rows]
    return kept


def vectors_of_empty(a: Any, full_matrices: bool) -> list[Any]:
    """The decomposition of matrices without elements."""
    aval = aval_of(a)
    *batch, m, n = aval.shape

    def identity(size: int) -> Any:
        k = size if full_matrices else 0
        return mask(eye(aval.dtype, size, k), (*batch, size, k))

    values = full((*batch, 0), 0, real_dtype(aval.dtype))
    right = identity(n)
    return [values, identity(m), right if full_matrices else adjoint(right)]


# ---------------------------------------------------------------- derivatives


def tangents_of_vectors(s: Any, u: Any, vh: Any, t: Any, p: Any) -> tuple[Any, Any]:
    """The tangents of U and V in a thin decomposition, where P = U^H A' V.

    Within the ranges of U and V write U' = U X and V' = V Y with skew-Hermitian X and Y. Then
    P = X S + S' - S Y, and its Hermitian and skew-Hermitian parts H and K off the diagonal are

        2 H_ij = (s_j - s_i) (X + Y)_ij,      2 K_ij = (s_j + s_i) (X - Y)_ij.

    So X = D + E and Y = D - E with D_ij = H_ij / (s_j - s_i) and E_ij = K_ij / (s_j + s_i). Where
    s_i = s_j, only D is lost. On the diagonal, where K is imaginary, P tells X - Y alone; JAX lets
    U turn by 2 E and V not at all, and so do we: the phases are arbitrary.

    What A' V has outside the range of U is (1 - U U^H) A' V = (1 - U U^H) U' S, and likewise V.
    """
    dtype = aval_of(p).dtype
    half = constant_like(p, 0.5)
    ph = adjoint(p)
    h, k = mul_p.bind(half, add_p.bind(p, ph)), mul_p.bind(half, sub_p.bind(p, ph))
    d = mul_p.bind(convert(reciprocal_gaps(s), dtype), h)
    e = mul_p.bind(convert(reciprocal_sums(s), dtype), k)
    x, y = add_p.bind(d, e), sub_p.bind(d, e)
    if is_complex(dtype):
        phases = diagonal_matrix(diagonal(e))
        x, y = add_p.bind(x, phases), add_p.bind(y, phases)
    v = adjoint(vh)
    du, dv = matmul(u, x), matmul(v, y)
    m, n = aval_of(t).shape[-2:]
    if m > n:
        du = add_p.bind(du, outside(u, matmul(t, v), s))
    if n > m:
        dv = add_p.bind(dv, outside(v, matmul(adjoint(t), u), s))
    return du, dv


def outside(u: Any, x: Any, s: Any) -> Any:
    """(1 - U U^H) X S^-1, with 0 for 1/0."""
    rest = sub_p.bind(x, matmul(u, matmul(adjoint(u), x)))
    reciprocal = convert(reciprocal_or_zero(s), aval_of(x).dtype)
    return mul_p.bind(rest, rows_of(reciprocal, aval_of(x).shape))


def extended(u: Any, du: Any) -> Any:
    """The tangent of a square U, given that of its first columns.

    The others, P, stay orthogonal to them, U^H P' = -U'^H P, and do not turn among themselves.
    """
    k = aval_of(du).shape[-1]
    thin, rest = part(u, columns=slice(k)), part(u, columns=slice(k, None))
    if not aval_of(rest).shape[-1]:
        return du
    moved = neg_p.bind(matmul(thin, matmul(adjoint(du), rest)))
    return concatenate([du, moved], aval_of(u).ndim - 1)


svd_p = SVD("svd")


def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:
    """The singular value decomposition A = U diag(s) V^H.

    Args:
      x: matrices A, of shape `(..., m, n)` and inexact dtype.
      full_matrices: whether U and V are square; if not, they have `min(m, n)` columns.
      compute_uv: whether U and V are wanted.
      subset_by_index: `(start, end)` to get only those singular values, in falling order, and
        their vectors; only without `full_matrices`.
      algorithm: the algorithm; the usual one if None.

    Returns:
      `(u, s, vh)`, where `vh` is V^H; or `s` alone. The singular values are real, not negative,
      and in falling order. Where the algorithm does not converge, all are NaN.

      In derivatives of singular vectors, the factor `1 / (s_i - s_j)` is taken for 0 where the two
      are equal, and so are `1 / (s_i + s_j)` and `1 / s_i` for values of 0.

    Raises:
      ValueError: both `full_matrices` and a subset are wanted.
      NotImplementedError: the platform has no such algorithm.
      TypeError: `x` is no matrix, or not inexact.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.linalg.svd(np.array([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False)
    Array([4., 3.], dtype=float32)
    """
    s, *vectors = svd_p.bind(
        x,
        full_matrices=full_matrices,
        compute_uv=compute_uv,
        subset_by_index=subset_by_index,
        algorithm=algorithm,
    )
    if not compute_uv:
        return s
    u, vh = vectors
    return u, s, vh
