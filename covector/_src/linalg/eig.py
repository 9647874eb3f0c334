"""The eigendecomposition of matrices that need not be symmetric."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..base.warn import warn
from ..core.avals import ShapedArray, aval_of
from ..ops.arithmetic import add_p, div_p, mul_p, neg_p
from ..ops.base import Sample, draw
from ..ops.comparison import eq_p
from ..ops.complex import abs_p, complex_dtype, complex_p, conj, imag_p, is_complex, real_p
from ..ops.conversion import convert
from ..ops.creation import iota_p
from ..ops.linear import reduce_sum
from ..ops.reductions import argmax
from .base import MatrixOp, check_square
from .gaps import reciprocal_gaps
from .kernels import char, info_aval, lapack, nan_where_failed
from .lu import lu_p, lu_solve
from .matrices import adjoint, diagonal, matmul, matrix_transpose, rows_of


class EigImplementation(enum.Enum):
    """A library that computes `eig`. On CPUs there is only `LAPACK`, which is the default there.

    >>> from covector import lax
    >>> lax.linalg.EigImplementation("lapack").name
    'LAPACK'
    """

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class Eig(MatrixOp):
    """Eigenvalues, and as wanted left and right eigenvectors, in the columns of matrices."""

    multiple_results = True

    def shapes(self, a, *, compute_left_eigenvectors, compute_right_eigenvectors, **params):
        check_square(self.name, a)
        return [a[:1], *[a] * (compute_left_eigenvectors + compute_right_eigenvectors)]

    def dtypes(self, a, **params):
        return [complex_dtype(a)] * 3  # the same for all, however many there are

    def matrix_ref(self, a, *, compute_left_eigenvectors, compute_right_eigenvectors, **params):
        dtype = complex_dtype(a.dtype)
        try:
            w, v = np.linalg.eig(a.astype(a.dtype))
        except np.linalg.LinAlgError:
            return [np.nan] * (1 + compute_left_eigenvectors + compute_right_eigenvectors)
        outs = [w]
        if compute_left_eigenvectors:  # v^H A = w v^H; the rows of V^-1 but for their lengths
            left = np.linalg.inv(v).conj().T
            outs.append(normalized(left))
        return [x.astype(dtype) for x in (*outs, *([v] if compute_right_eigenvectors else []))]

    def jvp(
        self,
        primals,
        tangents,
        *,
        compute_left_eigenvectors,
        compute_right_eigenvectors,
        enable_eigvec_derivs,
        implementation,
    ):
        if compute_left_eigenvectors or compute_right_eigenvectors:
            if not enable_eigvec_derivs:
                raise NotImplementedError(linalg_errors.eigenvector_derivatives_off())
        (a,), (t,) = primals, tangents
        w, *left, v = self.bind(
            a,
            compute_left_eigenvectors=compute_left_eigenvectors,
            compute_right_eigenvectors=True,
            enable_eigvec_derivs=enable_eigvec_derivs,
            implementation=implementation,
        )
        t = convert(t, aval_of(v).dtype)
        # From A V = V diag(w): the tangent of w is the diagonal of P = V^-1 A' V.
        solved = solve(v, t)
        outs, tangents_out = [w], []
        if not (compute_left_eigenvectors or compute_right_eigenvectors):
            dw = mul_p.bind(solved, matrix_transpose(v))
            return outs, [reduce_sum(dw, (aval_of(dw).ndim - 1,))]
        p = matmul(solved, v)
        tangents_out.append(diagonal(p))
        if compute_left_eigenvectors:  # they are the right ones of A^H, whose values are conj(w)
            (u,) = left
            of_adjoint = matmul(solve(u, adjoint(t)), u)
            outs.append(u)
            tangents_out.append(tangent_of_vectors(conj(w), u, of_adjoint))
        if compute_right_eigenvectors:
            outs.append(v)
            tangents_out.append(tangent_of_vectors(w, v, p))
        return outs, tangents_out

    def emit(
        self,
        b,
        a,
        *,
        compute_left_eigenvectors,
        compute_right_eigenvectors,
        enable_eigvec_derivs,
        implementation,
    ):
        (aval,) = b.avals_in
        if implementation not in (None, EigImplementation.LAPACK):
            what = ("eig", "implementation", implementation, b.platform)
            raise ValueError(linalg_errors.choice_not_on_platform(*what))
        values = b.avals_out[0]
        vectors = ShapedArray(aval.shape, values.dtype)
        parts = ShapedArray(values.shape, aval.dtype)
        options = dict(
            compute_left=char("V" if compute_left_eigenvectors else "N"),
            compute_right=char("V" if compute_right_eigenvectors else "N"),
        )
        kinds = [values] if is_complex(aval.dtype) else [parts, parts]
        results = [*kinds, vectors, vectors, info_aval(b)]
        *w, left, right, info = lapack(b, "geev", [(a, aval)], results, **options)
        outs = [(w[0] if len(w) == 1 else b.op("complex", *w, out=values), values)]
        if compute_left_eigenvectors:
            outs.append((left, vectors))
        if compute_right_eigenvectors:
            outs.append((right, vectors))
        return nan_where_failed(b, info, outs)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        # Of vectors LAPACK and NumPy may return opposite ones.
        for vectors in (False, True):
            params = dict(
                compute_left_eigenvectors=vectors,
                compute_right_eigenvectors=vectors,
                enable_eigvec_derivs=True,
                implementation=None,
            )
            for dtype in (np.float32, np.complex64):
                for shape in [(3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2)][2 * vectors :]:
                    # Far apart and real, so that their order is known.
                    a = draw(rng, shape, dtype, -0.3, 0.3) + np.diag(np.arange(shape[-1]))
                    yield Sample((a.astype(dtype),), params)


def normalized(v: np.ndarray) -> np.ndarray:
    """Columns of norm 1, whose element of largest magnitude is real."""
    v = v / np.linalg.norm(v, axis=0)
    if not v.size or np.isrealobj(v):
        return v
    largest = v[np.argmax(np.abs(v), 0), np.arange(v.shape[1])]
    return v * (largest.conj() / np.abs(largest))


def solve(a: Any, b: Any) -> Any:
    """A^-1 B."""
    factors, _, permutation = lu_p.bind(a)
    return lu_solve(factors, permutation, b)


def tangent_of_vectors(w: Any, v: Any, p: Any) -> Any:
    """The tangent of eigenvectors V of A with values w, where P = V^-1 A' V.

    From A V = V diag(w), V' = V F + V C with F_ij = P_ij / (w_j - w_i) off the diagonal, and a
    diagonal C that nothing in the equation tells. LAPACK returns vectors of norm 1 whose largest
    element, k, is real. With the column u of V F these two conditions say of the vector v

        Re(c) = -Re(v^H u),      Im(c) = -Im(u_k) / v_k.
    """
    u = matmul(v, mul_p.bind(reciprocal_gaps(w), p))
    if not aval_of(v).shape[-1]:
        return u
    row = aval_of(v).ndim - 2
    k = argmax(abs_p.bind(v), row, np.int32)
    shape = aval_of(v).shape
    rows = iota_p.bind(dtype=np.dtype(np.int32), shape=shape, dimension=row, sharding=None)
    largest = convert(eq_p.bind(rows, rows_of(k, shape)), aval_of(v).dtype)

    def total(x: Any) -> Any:
        return reduce_sum(x, (row,))

    real = neg_p.bind(real_p.bind(total(mul_p.bind(conj(v), u))))
    u_k, v_k = [total(mul_p.bind(largest, x)) for x in (u, v)]
    imaginary = neg_p.bind(div_p.bind(imag_p.bind(u_k), real_p.bind(v_k)))
    c = complex_p.bind(real, imaginary)
    return add_p.bind(u, mul_p.bind(v, rows_of(c, shape)))


eig_p = Eig("eig")


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Any]:
    """The eigendecomposition of square matrices: A v = w v, and u^H A = w u^H.

    Args:
      x: square matrices A, of shape `(..., n, n)` and inexact dtype.
      compute_left_eigenvectors: whether the vectors u are wanted.
      compute_right_eigenvectors: whether the vectors v are wanted.
      enable_eigvec_derivs: whether eigenvectors may be differentiated. Their derivative is right
        only where all eigenvalues are distinct, and no vector has two largest elements.
      implementation: the library that computes it; the usual one if None.
      use_magma: deprecated: the same as `implementation=EigImplementation.MAGMA` if it is true, and
        `LAPACK` if not.

    Returns:
      `[w]` followed by the left and the right eigenvectors, as wanted: complex eigenvalues of shape
      `(..., n)`, in no special order; and vectors in the columns of matrices, of norm 1 and with a
      real element of largest magnitude. Where the algorithm does not converge, all are NaN.

    Raises:
      ValueError: the matrices are not square, or the platform has no such implementation.
      TypeError: `x` is no matrix, or not inexact.

    >>> import numpy as np
    >>> from covector import lax
    >>> w, u, v = lax.linalg.eig(np.array([[0.0, -1.0], [1.0, 0.0]]))
    >>> w
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    if use_magma is not None:
        warn(linalg_errors.use_magma_deprecated(use_magma), DeprecationWarning)
        implementation = EigImplementation.MAGMA if use_magma else EigImplementation.LAPACK
    return eig_p.bind(
        x,
        compute_left_eigenvectors=compute_left_eigenvectors,
        compute_right_eigenvectors=compute_right_eigenvectors,
        enable_eigvec_derivs=enable_eigvec_derivs,
        implementation=implementation,
    )
