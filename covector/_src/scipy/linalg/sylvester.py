"""Sylvester's equation A X + X B = C.

With the Schur forms A = U R U^H and B = V S V^H it becomes R Y + Y S = F, for Y = U^H X V and
F = U^H C V.  Column j of that, S being upper triangular, is a triangular system:

    (R + S[j, j]) y_j = f_j - sum over k < j of y_k S[k, j].

(Bartels, Stewart, "Solution of the matrix equation AX + XB = C", Communications of the ACM 15,
1972.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...api.vectorize import vmap
from ...base import scipy_linalg_errors as errors
from ...control.fori_loop import fori_loop
from ...control.linear_solve import custom_linear_solve
from ...core.array import Array, ArrayLike
from ...linalg.matrices import adjoint, diagonal
from ...linalg.triangular_solve import triangular_solve
from ...numpy.composite import composite
from ...numpy.creation import zeros_like
from ...numpy.linear_algebra.decompositions import eig
from ...numpy.linear_algebra.operands import inexact_arrays
from ...numpy.linear_algebra.systems import solve
from ...numpy.promotion import convert
from ...numpy.reductions import any as any_of
from ...numpy.selection import where
from ...numpy.shaping import broadcast_shapes, broadcast_to
from ...ops.complex import is_complex
from ...ops.identities import stop_gradient
from .decompositions import schur


def _by_schur(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """X as a complex matrix, and the sums of the eigenvalues of A and B."""
    r, u = schur(a, output="complex")
    s, v = schur(b, output="complex")
    f = adjoint(u) @ convert(c, r.dtype) @ v
    unit = np.eye(a.shape[0], dtype=r.dtype)

    def column(j: Any, y: Any) -> Any:
        # The columns of y from j on are zero still.
        rest = f[:, j] - y @ s[:, j]
        solved = triangular_solve(r + s[j, j] * unit, rest[:, None], left_side=True)
        return y.at[:, j].set(solved[:, 0])

    y = fori_loop(0, b.shape[0], column, zeros_like(f))
    return u @ y @ adjoint(v), diagonal(r)[:, None] + diagonal(s)[None]


def _by_eigenvectors(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """The same in the bases of the eigenvectors, where the equation is elementwise."""
    w, u = eig(a)
    x, v = eig(b)
    sums = w[:, None] + x[None]
    y = solve(u, convert(c, u.dtype) @ v) / sums
    # X = U Y V^-1, or X V = U Y.
    return solve(v.T, (u @ y).T).T, sums


METHODS = {"schur": _by_schur, "eigen": _by_eigenvectors}


@composite
def _solution(a: Any, b: Any, c: Any, *, method: str, tol: float) -> Any:
    """X, and NaN where an eigenvalue of -B is one of A; differentiated as what solves the equation.

    The transpose of the linear map of X is that of the transposed matrices.
    """
    fixed_a, fixed_b = stop_gradient(a), stop_gradient(b)

    def solved(a: Any, b: Any, c: Any) -> Any:
        x, sums = METHODS[method](a, b, c)
        x = where(any_of(abs(sums) < tol), np.nan, x)
        return convert(x if is_complex(c.dtype) else x.real, c.dtype)

    return custom_linear_solve(
        lambda x: a @ x + x @ b,
        c,
        lambda _, c: solved(fixed_a, fixed_b, c),
        transpose_solve=lambda _, c: solved(fixed_a.T, fixed_b.T, c),
    )


def solve_sylvester(
    A: ArrayLike, B: ArrayLike, C: ArrayLike, *, method: str = "schur", tol: float = 1e-8
) -> Array:
    """The solution X of Sylvester's equation A X + X B = C.

    Args:
      A: matrices of shape `(..., m, m)`.
      B: matrices of shape `(..., n, n)`.
      C: matrices of shape `(..., m, n)`; the batch dimensions broadcast.
      method: `"schur"`, or `"eigen"`, which is quicker where the eigenvectors of both are well
        conditioned.
      tol: where the sum of an eigenvalue of A and one of B is less than this, there is no unique
        solution, and the result is NaN.

    Returns:
      Matrices of shape `(..., m, n)`.

    Raises:
      ValueError: the shapes do not fit, or there is no such method.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> a, b = jnp.array([[1.0, 0.0], [0.0, 2.0]]), jnp.array([[3.0]])
    >>> jsp.linalg.solve_sylvester(a, b, jnp.array([[4.0], [10.0]]))
    Array([[1.],
           [2.]], dtype=float32)
    """
    if method not in METHODS:
        raise ValueError(errors.choice("solve_sylvester", "method", method, list(METHODS)))
    A, B, C = inexact_arrays("solve_sylvester", A, B, C)
    shapes = [x.shape for x in (A, B, C)]
    m, n = C.shape[-2:] if C.ndim > 1 else (-1, -1)
    if A.shape[-2:] != (m, m) or B.shape[-2:] != (n, n):
        raise ValueError(errors.sylvester_shapes(*shapes))
    batch = broadcast_shapes(*[shape[:-2] for shape in shapes])

    def solution(a: Any, b: Any, c: Any) -> Any:
        return _solution(a, b, c, method=method, tol=float(tol))

    for _ in batch:
        solution = vmap(solution)
    return solution(*[broadcast_to(x, (*batch, *x.shape[-2:])) for x in (A, B, C)])
