"""The Cholesky decomposition A = L L^H of positive definite matrices, and its update."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..core.avals import aval_of
from ..ops.arithmetic import add_p, div_p, mul_p, sub_p
from ..ops.base import Sample, draw
from ..ops.comparison import eq_p, lt_p
from ..ops.complex import abs_p
from ..ops.dynamic_slicing import dynamic_slice_p, dynamic_update_slice_p
from ..ops.families import FLOATS
from ..ops.joining import apply_to_each
from ..ops.linear import constant_like, expand_dims, instantiate, reshape
from ..ops.powers import rsqrt_p, square_p
from ..ops.select import select_n_p
from .base import MatrixOp, check_square
from .kernels import char, info_aval, lapack, loop, nan_where_failed
from .matrices import eye, matmul, matrix_transpose, symmetrize, tril, triu
from .triangular_solve import triangular_solve


class Cholesky(MatrixOp):
    """The Cholesky factor L in the lower triangle; what stands above it is not defined.

    Only the lower triangle of the operand is read.
    """

    def shapes(self, a):
        check_square(self.name, a)
        return [a]

    def matrix_ref(self, a):
        try:
            return [np.linalg.cholesky(a) + np.triu(a, 1)]
        except np.linalg.LinAlgError:
            return [np.full_like(a, np.nan)]

    def jvp(self, primals, tangents):
        # From A = L L^H:  X = L^-1 A' L^-H = L^-1 L' + (L^-1 L')^H.  As L^-1 L' is lower
        # triangular with a real diagonal, it is the lower triangle of X with half its diagonal.
        # (Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527.)
        (a,), (t,) = primals, tangents
        l = tril(self.bind(a))
        x = triangular_solve(l, t, lower=True, transpose_a=True, conjugate_a=True)
        x = triangular_solve(l, x, left_side=True, lower=True)
        return l, matmul(l, lower_half(x))

    def emit(self, b, a):
        (aval,) = b.avals_in
        if b.platform != "cpu":
            return b.op("cholesky", a, lower=True)
        results = [aval, info_aval(b)]
        out, info = lapack(b, "potrf", [(a, aval)], results, {0: 0}, uplo=char("L"))
        return nan_where_failed(b, info, [(out, aval)])[0]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        # Differences in a direction that is not symmetric are not those of the function of
        # Hermitian matrices that is differentiated.
        for dtype in (np.float32, np.complex64):
            for shape in [(3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2)]:
                yield Sample((positive_definite(rng, shape, dtype),), {}, smooth=False)
        indefinite = np.array([[1, 2], [2, 1]], np.float32)
        yield Sample((np.stack([indefinite, np.eye(2, dtype=np.float32)]),), {}, smooth=False)


def lower_half(x: Any) -> Any:
    """The lower triangle with half the diagonal; with its adjoint it adds up to a Hermitian x."""
    x = tril(x)
    aval = aval_of(x)
    divisors = add_p.bind(constant_like(x, 1), eye(aval.dtype, aval.shape[-1]))
    return div_p.bind(x, expand_dims(divisors, range(aval.ndim - 2)))


def positive_definite(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A random Hermitian matrix with eigenvalues of at least 1."""
    x = draw(rng, shape, dtype, -1, 1)
    return (x @ np.swapaxes(x, -1, -2).conj() + np.eye(shape[-1])).astype(dtype)


class CholeskyUpdate(MatrixOp):
    """The upper triangular R' with R'^T R' = R^T R + w w^T, given R.

    Row after row, a Givens rotation of the row and of w makes an element of w zero.
    """

    ranks = (2, 1)
    accepts = FLOATS

    def shapes(self, r, w):
        if r[0] != r[1] or w[0] != r[1]:
            raise ValueError(linalg_errors.update_shapes(r, w))
        return [r]

    def batch_of(self, avals):
        if any(aval.ndim > rank for aval, rank in zip(avals, self.ranks)):
            raise TypeError(linalg_errors.update_shapes(*[aval.shape for aval in avals]))
        return super().batch_of(avals)

    def matrix_ref(self, r, w):
        r, w = r.copy(), w.copy()
        for k in range(len(w)):
            radius = np.hypot(r[k, k], w[k])
            c, s = (r[k, k] / radius, -w[k] / radius) if w[k] else (1, 0)
            r[k], w = c * r[k] - s * w, c * w + s * r[k]
        return [r]

    def jvp(self, primals, tangents):
        # R' is a Cholesky factor of A = R^T R + w w^T: see `Cholesky.jvp`.
        (r, w), (t_r, t_w) = primals, map(instantiate, tangents)
        t_r = triu(t_r)
        out = self.bind(r, w)
        column, t_column = expand_dims(w, (1,)), expand_dims(t_w, (1,))
        half = add_p.bind(
            matmul(matrix_transpose(t_r), r), matmul(t_column, matrix_transpose(column))
        )
        x = triangular_solve(out, add_p.bind(half, matrix_transpose(half)))
        x = triangular_solve(out, x, left_side=True, transpose_a=True)
        return out, matmul(matrix_transpose(lower_half(x)), out)

    def vmap(self, axis, dims, r, w):
        (out,) = apply_to_each(self, axis, dims, (r, w), {})
        return out, 0

    def emit(self, b, r, w):
        r_aval, w_aval = b.avals_in
        if not w_aval.size:
            return r
        return loop(b, w_aval.shape[0], rotate, [r, w], [r_aval, w_aval])[0]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        # Differences would be those for matrices that are not triangular, too.
        for n in (3, 1, 0):
            r = np.triu(draw(rng, (n, n), np.float32, 1, 2))
            yield Sample((r, draw(rng, (n,), np.float32)), {}, smooth=False)
        yield Sample((np.eye(2, dtype=np.float32), np.array([0, 1], np.float32)), {}, smooth=False)


def rotate(k: Any, r: Any, w: Any) -> list[Any]:
    """Rotate row k of r and w so that element k of w becomes zero."""
    n = aval_of(w).shape[0]
    zero = constant_like(k, 0)
    row = reshape(dynamic_slice_p.bind(r, k, zero, slice_sizes=(1, n)), (n,))
    x, y = [reshape(dynamic_slice_p.bind(v, k, slice_sizes=(1,)), ()) for v in (row, w)]
    # Both are scaled by the larger one, lest a square overflow.
    smaller = lt_p.bind(abs_p.bind(x), abs_p.bind(y))
    largest = abs_p.bind(select_n_p.bind(smaller, x, y))
    still = eq_p.bind(y, constant_like(y, 0))
    scale = select_n_p.bind(still, largest, constant_like(y, 1))
    x, y = div_p.bind(x, scale), div_p.bind(y, scale)
    radius = rsqrt_p.bind(add_p.bind(square_p.bind(x), square_p.bind(y)))
    c = select_n_p.bind(still, mul_p.bind(x, radius), constant_like(x, 1))
    s = select_n_p.bind(still, mul_p.bind(y, radius), constant_like(y, 0))
    turned = add_p.bind(mul_p.bind(c, row), mul_p.bind(s, w))
    w = sub_p.bind(mul_p.bind(c, w), mul_p.bind(s, row))
    return [dynamic_update_slice_p.bind(r, expand_dims(turned, (0,)), k, zero), w]


cholesky_p = Cholesky("cholesky")
cholesky_update_p = CholeskyUpdate("cholesky_update")


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """The Cholesky decomposition A = L L^H of positive definite matrices.

    Args:
      x: Hermitian (if real, symmetric) matrices, of shape `(..., n, n)` and inexact dtype.
      symmetrize_input: whether to decompose `(x + x^H) / 2`; if not, only the lower triangle of x
        is read.

    Returns:
      The lower triangular matrices L, of the shape and dtype of `x`. Where a matrix is not positive
      definite, its lower triangle is NaN.

    Raises:
      ValueError: the matrices are not square.
      TypeError: `x` is no matrix, or not inexact.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    return tril(cholesky_p.bind(symmetrize(x, "cholesky") if symmetrize_input else x))


def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """The Cholesky decomposition of R^T R + w w^T, given R.

    Args:
      r_matrix: an upper triangular matrix R, of shape `(n, n)` and a floating dtype.
      w_vector: a vector w, of shape `(n,)`.

    Returns:
      The upper triangular matrix R' with `R'^T R' = R^T R + w w^T`, found with O(n^2) operations.

    Raises:
      ValueError: the sizes do not fit.
      TypeError: the ranks are not 2 and 1, or the dtypes differ or are not floating.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.linalg.cholesky_update(3 * np.eye(2), np.array([4.0, 0.0]))
    Array([[5., 0.],
           [0., 3.]], dtype=float32)
    """
    return cholesky_update_p.bind(r_matrix, w_vector)
