"""The eigendecomposition A = V diag(w) V^H of Hermitian matrices."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..core.avals import ShapedArray, aval_of
from ..ops.arithmetic import mul_p
from ..ops.base import Sample, draw
from ..ops.complex import is_complex, real_dtype, real_p
from ..ops.conversion import convert
from .base import MatrixOp, check_square
from .gaps import reciprocal_gaps
from .kernels import char, info_aval, lapack, nan_where_failed, unitary_name
from .matrices import adjoint, diagonal, last, matmul, symmetrize


class EighImplementation(enum.Enum):
    """An algorithm of `eigh`. On CPUs there is only `QR`, which is the default there.

    >>> from covector import lax
    >>> lax.linalg.EighImplementation("qr").name
    'QR'
    """

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class Eigh(MatrixOp):
    """Eigenvectors, in the columns of a matrix, and eigenvalues.

    Only one triangle of the operand is read. `subset_by_index` is a range of them, or None.
    """

    multiple_results = True

    def shapes(self, a, *, subset_by_index, **params):
        check_square(self.name, a)
        count = a[0] if subset_by_index is None else subset_by_index[1] - subset_by_index[0]
        return [(a[0], count), (count,)]

    def dtypes(self, a, **params):
        return [a, real_dtype(a)]

    def matrix_ref(self, a, *, lower, subset_by_index, **params):
        try:
            w, v = np.linalg.eigh(a, "L" if lower else "U")
        except np.linalg.LinAlgError:
            w, v = np.full(len(a), np.nan), np.full_like(a, np.nan)
        kept = slice(*subset_by_index) if subset_by_index else slice(None)
        return [v[:, kept], w[kept]]

    def jvp(self, primals, tangents, *, subset_by_index, **params):
        # From A V = V diag(w), with P = V^H A' V:  w' is the diagonal of P, and V' = V S where
        # S_ij (w_j - w_i) = P_ij off the diagonal. (Giles, "An extended collection of matrix
        # derivative results", 2008, section 3.1.)
        (a,), (t,) = primals, tangents
        v, w = self.bind(a, subset_by_index=None, **params)
        p = matmul(matmul(adjoint(v), t), v)
        gaps = convert(reciprocal_gaps(w), aval_of(p).dtype)
        dv, dw = matmul(v, mul_p.bind(gaps, p)), diagonal(p)
        if is_complex(aval_of(p).dtype):
            dw = real_p.bind(dw)
        kept = slice(*subset_by_index) if subset_by_index else slice(None)
        return [last(v, kept), last(w, kept)], [last(dv, kept), last(dw, kept)]

    def emit(self, b, a, *, lower, sort_eigenvalues, subset_by_index, algorithm):
        (aval,) = b.avals_in
        if algorithm not in (None, EighImplementation.QR):
            text = linalg_errors.choice_not_on_platform("eigh", "algorithm", algorithm, b.platform)
            raise NotImplementedError(text)
        values = ShapedArray(aval.shape[:-1], real_dtype(aval.dtype))
        v, w, info = lapack(
            b,
            unitary_name(aval.dtype, "syevd", "heevd"),
            [(a, aval)],
            [aval, values, info_aval(b)],
            {0: 0},
            mode=char("V"),
            uplo=char("L" if lower else "U"),
        )
        results = nan_where_failed(b, info, [(v, aval), (w, values)])
        if subset_by_index is None:
            return results
        return [emit_last(b, x, out, subset_by_index) for x, out in zip(results, b.avals_out)]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        params = dict(sort_eigenvalues=True, algorithm=None)
        for lower, subset in [(True, None), (False, None), (True, (1, 2))]:
            params |= dict(lower=lower, subset_by_index=subset)
            for dtype in (np.float32, np.complex64):
                for shape in [(3, 3), (2, 2, 2)]:
                    # See `Cholesky.samples`.
                    yield Sample((hermitian(rng, shape, dtype),), dict(params), smooth=False)
        params |= dict(lower=True, subset_by_index=None)
        for shape in [(1, 1), (0, 0), (0, 2, 2)]:
            yield Sample((hermitian(rng, shape, np.float32),), dict(params), smooth=False)


def hermitian(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A random Hermitian matrix."""
    x = draw(rng, shape, dtype)
    return (x + np.swapaxes(x, -1, -2).conj()).astype(dtype)


def emit_last(b: Any, x: Any, out: ShapedArray, limits: Sequence[int]) -> Any:
    """Write the part of an array between `limits` along its last dimension."""
    zeros = (0,) * (out.ndim - 1)
    return b.op(
        "slice",
        x,
        out=out,
        start_indices=(*zeros, limits[0]),
        limit_indices=(*out.shape[:-1], limits[1]),
        strides=(1,) * out.ndim,
    )


eigh_p = Eigh("eigh")


def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Any, Any]:
    """The eigendecomposition A = V diag(w) V^H of Hermitian matrices.

    Args:
      x: Hermitian (if real, symmetric) matrices, of shape `(..., n, n)` and inexact dtype.
      lower: which triangle is read if `x` is not symmetrized.
      symmetrize_input: whether to decompose `(x + x^H) / 2`.
      sort_eigenvalues: whether the eigenvalues must be in rising order; on CPUs they always are.
      subset_by_index: `(start, end)` to get only those eigenvalues, in rising order, and their
        vectors.
      implementation: the algorithm; the usual one if None.

    Returns:
      `(v, w)`: the eigenvectors, of norm 1, in the columns of matrices of the dtype of `x`, and
      the eigenvalues, which are real. Where the algorithm does not converge, both are NaN.

      The derivative of an eigenvector is that of a vector that does not turn towards others of the
      same eigenvalue: the factor `1 / (w_i - w_j)` is taken for 0 where the two are equal.

    Raises:
      ValueError: the matrices are not square.
      TypeError: `x` is no matrix, or not inexact.

    >>> import numpy as np
    >>> from covector import lax
    >>> v, w = lax.linalg.eigh(np.array([[3.0, 1.0], [1.0, 3.0]]))
    >>> w
    Array([2., 4.], dtype=float32)
    """
    v, w = eigh_p.bind(
        symmetrize(x, "eigh") if symmetrize_input else x,
        lower=lower,
        sort_eigenvalues=sort_eigenvalues,
        subset_by_index=subset_by_index,
        algorithm=implementation,
    )
    return v, w
