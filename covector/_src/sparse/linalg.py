"""Systems of equations and eigenvalues of sparse matrices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..api.jit import jit
from ..base import dtypes
from ..base import sparse_errors as errors
from ..control.loops import while_loop
from ..core.array import Array
from ..numpy.contraction import matmul
from ..numpy.creation import asarray, zeros, zeros_like
from ..numpy.joining import concatenate
from ..numpy.linear_algebra.decompositions import eigh, qr
from ..numpy.linear_algebra.norms import norm
from ..numpy.linear_algebra.systems import solve
from ..numpy.reductions import sum as sum_of
from ..numpy.selection import where
from .coo import CSR
from .sparsify import is_sparse


def spsolve(
    data: Any, indices: Any, indptr: Any, b: Any, tol: float = 1e-6, reorder: int = 1
) -> Array:
    """Solve `A x = b` for a sparse square matrix `A` in the format of compressed rows.

    The matrix is made dense, and factored as `A = P L U`: that takes memory for n * n numbers and
    2 n ** 3 / 3 operations, whatever is stored. For large matrices use the iterative solvers of
    `covector.scipy.sparse.linalg`.

    Args:
      data, indices: the elements and their columns, of shape `(nse,)`.
      indptr: where each row begins, of shape `(n + 1,)`.
      b: of shape `(n,)`.
      tol, reorder: of no effect.

    Returns:
      x, of shape `(n,)`; not finite if the matrix is singular.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.CSR.fromdense(jnp.array([[2.0, 0.0], [1.0, 4.0]]))
    >>> sparse.linalg.spsolve(m.data, m.indices, m.indptr, jnp.array([2.0, 9.0]))
    Array([1., 2.], dtype=float32)
    """
    n = asarray(indptr).shape[0] - 1
    return solve(CSR((data, indices, indptr), shape=(n, n)).todense(), b)


# ---------------------------------------------------------------- eigenvalues


def lobpcg_standard(
    A: Any, X: Any, m: int = 100, tol: float | None = None
) -> tuple[Array, Array, Array]:
    """The largest eigenvalues of a Hermitian matrix by the method LOBPCG, and their eigenvectors.

    Each step takes, of all vectors in the span of the present ones, of their residuals and of the
    last step's directions, those with the largest Rayleigh quotients (A. Knyazev, Toward the
    optimal preconditioned eigensolver, SIAM J. Sci. Comput. 23, 2001; without preconditioning).

    Args:
      A: a dense or sparse matrix of shape `(n, n)`, or a function that multiplies arrays of shape
        `(n, k)` by it.
      X: the first guesses of k eigenvectors, of shape `(n, k)`, linearly independent;
        `0 < 5 * k < n`.
      m: how many steps to take at most.
      tol: an eigenvector is found when the norm of `A u - theta u` is less than
        `10 * n * tol * (theta + norm(A u))`; by default the dtype's epsilon. The method ends when
        all are.

    Returns:
      The eigenvalues, `(k,)`, in falling order; eigenvectors, `(n, k)`; and the number of steps.

    Raises:
      ValueError: shapes or dtypes do not fit.

    >>> import covector.numpy as jnp
    >>> from covector.experimental.sparse.linalg import lobpcg_standard
    >>> A = jnp.diag(jnp.arange(1.0, 13.0))
    >>> theta, U, steps = lobpcg_standard(A, jnp.ones((12, 1)))
    >>> bool(abs(theta[0] - 12) < 1e-4)
    True
    """
    if callable(A):
        return _lobpcg(A, asarray(X), m, tol)
    return _of_matrix(A if is_sparse(A) else asarray(A), asarray(X), m, tol)


def _product(A: Any, X: Any) -> Any:
    return A @ X if is_sparse(A) else matmul(A, X, precision="highest")


@partial(jit, static_argnames=("m", "tol"))
def _of_matrix(A: Any, X: Any, m: int, tol: float | None) -> tuple[Array, Array, Array]:
    return _lobpcg(partial(_product, A), X, m, tol)


def _check(A: Callable[[Any], Any], X: Any) -> None:
    n, k = X.shape
    if not 0 < 5 * k < n:
        raise ValueError(errors.search_directions(n, k))
    found = A(zeros((n, 1), X.dtype))
    if found.dtype != X.dtype:
        raise ValueError(errors.search_dtype(found.dtype, X.dtype))
    if found.shape != (n, 1):
        raise ValueError(errors.search_shape(n, found.shape))


def _lobpcg(
    A: Callable[[Any], Any], X: Any, m: int, tol: float | None
) -> tuple[Array, Array, Array]:
    _check(A, X)
    n, k = X.shape
    tol = float(dtypes.finfo(X.dtype).eps) if tol is None else tol

    def going(state: Any) -> Any:
        step, _, _, _, _, found = state
        return (step < m) & ~found

    def advance(state: Any) -> Any:
        step, X, P, R, _, _ = state
        # The first k columns of Q span what X spans; those for columns that depend on others, or
        # are zero, are any orthogonal ones, which do no harm.
        Q, _ = qr(concatenate([X, _scaled(R), _scaled(P)], 1))
        theta, C = eigh(_product(Q.conj().T, A(Q)))
        theta, C = theta[::-1][:k], C[:, ::-1][:, :k]
        X = _product(Q, C)
        # What was added to the span of the old X is the direction of the step.
        P = _product(Q[:, k:], C[k:])
        return (step + 1, X, P, *_residuals(A, X, theta, n * 10 * tol))

    X, _ = qr(X)
    quotients = sum_of(X.conj() * A(X), axis=0).real
    R, theta, _ = _residuals(A, X, quotients, tol)
    first = (np.int32(0), X, zeros_like(X), R, theta, np.False_)
    step, X, _, _, theta, _ = while_loop(going, advance, first)
    return theta, X, step


def _residuals(A: Callable[[Any], Any], X: Any, theta: Any, tol: float) -> tuple[Any, Any, Any]:
    """Residuals of the eigenvectors X, their eigenvalues, and whether the residuals are small."""
    AX = A(X)
    R = AX - theta[None] * X
    return R, theta, (norm(R, axis=0) < tol * (theta + norm(AX, axis=0))).all()


def _scaled(X: Any) -> Any:
    """Columns of length 1, or zero."""
    size = norm(X, axis=0, keepdims=True)
    return X / where(size == 0, 1, size)
