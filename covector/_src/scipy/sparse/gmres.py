"""GMRES: the vector of a Krylov space that makes the residual least.

k products with A span a space with an orthonormal basis V (Arnoldi's method), in which A V[:k] =
V[:k+1] H with a Hessenberg matrix H of shape (k + 1, k).  So with x = x_0 + V y the residual's norm
is that of beta e_1 - H y: a small least-squares problem.  After `restart` products the method
starts again from the x that it has.

(Saad, Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear
systems", SIAM Journal on Scientific and Statistical Computing 7, 1986.)
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...base import krylov_errors as errors
from ...control.fori_loop import fori_loop
from ...control.linear_solve import custom_linear_solve
from ...control.loops import while_loop
from ...linalg.triangular_solve import triangular_solve
from ...numpy.creation import zeros
from ...numpy.exponential import sqrt
from ...numpy.parts import isnan
from ...numpy.ravel import ravel_pytree
from ...numpy.selection import maximum, minimum, where
from .krylov import (
    Operator,
    identity,
    like,
    norm,
    on_vectors,
    operator_of,
    start_of,
    unknowns,
    unsolved,
)


def _orthogonal(basis: Any, v: Any) -> tuple[Any, Any, Any]:
    """What of v is orthogonal to the rows of `basis`, normalized; its length; the coordinates.

    It is done twice, since one pass of classical Gram-Schmidt loses orthogonality to rounding, and
    two do not (Giraud, Langou, Rozloznik, 2005).  A rest that is nothing but rounding becomes zero.
    """
    before = norm(v)
    first = basis.conj() @ v
    v = v - first @ basis
    second = basis.conj() @ v
    v = v - second @ basis
    length = norm(v)
    kept = length > np.finfo(length.dtype).eps * before
    length = where(kept, length, 0).astype(v.dtype)
    return where(kept, v / where(kept, length, 1), 0), length, first + second


def _rotated(h: Any, rotations: Any, k: Any) -> Any:
    """Column k of H after the rotations of the columns before, which made those triangular."""

    def rotate(i: Any, h: Any) -> Any:
        c, s = rotations[i, 0], rotations[i, 1]
        upper, lower = h[i], h[i + 1]
        return h.at[i].set(c * upper + s * lower).at[i + 1].set(c * lower - s.conj() * upper)

    return fori_loop(0, k, rotate, h)


def _rotation(x: Any, y: Any) -> tuple[Any, Any]:
    """(c, s), c real, with -conj(s) x + c y = 0 and c^2 + |s|^2 = 1."""
    length = sqrt(abs(x) ** 2 + abs(y) ** 2)
    safe = where(length == 0, 1, length)
    c = where(length == 0, 1, abs(x) / safe).astype(x.dtype)
    phase = where(x == 0, 1, x / where(x == 0, 1, abs(x)).astype(x.dtype))
    return c, phase * y.conj() / safe.astype(x.dtype)


def _cycle(a: Operator, x: Any, r: Any, length: Any, least: Any, count: int, early: bool) -> Any:
    """The best x after `count` products at most; `early` ends once the residual is small enough."""
    dtype = x.dtype
    basis = zeros((count + 1, x.size), dtype).at[0].set(r)
    triangle = zeros((count, count), dtype).at[:, :].set(np.eye(count, dtype=dtype))
    rotations = zeros((count, 2), dtype)
    target = zeros((count + 1,), dtype).at[0].set(length.astype(dtype))

    def goes_on(state: Any) -> Any:
        k, *_, error = state
        # Without a residual there is nothing to span a space with.
        return (k < count) & unsolved(error, least if early else 0, k)

    def step(state: Any) -> Any:
        k, basis, triangle, rotations, target, _ = state
        v, size, h = _orthogonal(basis, a(basis[k]))
        h = _rotated(h.at[k + 1].set(size), rotations, k)
        c, s = _rotation(h[k], h[k + 1])
        h = h.at[k].set(c * h[k] + s * h[k + 1])
        below = -s.conj() * target[k]
        target = target.at[k].set(c * target[k]).at[k + 1].set(below)
        column = where(np.arange(count) <= k, h[:count], 0)
        rotations = rotations.at[k, 0].set(c).at[k, 1].set(s)
        triangle = triangle.at[:, k].set(column)
        return k + 1, basis.at[k + 1].set(v), triangle, rotations, target, abs(below)

    start = (0, basis, triangle, rotations, target, length)
    k, basis, triangle, _, target, _ = while_loop(goes_on, step, start)
    rest = where(np.arange(count) < k, target[:count], 0)
    # Where A is singular there may be zeros on the diagonal; those directions do not help.
    diagonal = np.arange(count)
    singular = triangle[diagonal, diagonal] == 0
    triangle = triangle.at[diagonal, diagonal].add(singular.astype(dtype))
    rest = where(singular, 0, rest)
    y = triangular_solve(triangle, rest[:, None], left_side=True)[:, 0]
    return x + y @ basis[:count]


def _gmres(
    a: Operator, m: Operator, b: Any, x: Any, least: Any, restart: int, most: int, early: bool
) -> Any:
    def residual(x: Any) -> tuple[Any, Any]:
        r = m(b - a(x))
        length = norm(r)
        return r / where(length == 0, 1, length).astype(r.dtype), length

    def goes_on(state: Any) -> Any:
        _, _, length, k = state
        return (k < most) & unsolved(length, least, k)

    def step(state: Any) -> Any:
        x, r, length, k = state
        x = _cycle(lambda v: m(a(v)), x, r, length, least, restart, early)
        return x, *residual(x), k + 1

    return while_loop(goes_on, step, (x, *residual(x), 0))[0]


SOLVE_METHODS = ("batched", "incremental")


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Any, Any]:
    """Solve A x = b for any A by GMRES.

    Args:
      A: a square matrix, or a function from trees of arrays like `b` to such.
      b: the right-hand side, an array or a tree of arrays.
      x0: a first guess, a tree like `b`; zeros by default.
      tol, atol: the method ends where the norm of the residual is at most
        `max(tol * norm(b), atol)`; with a preconditioner that of M times the residual, for which
        the bound is scaled as M scales b.
      restart: how many products with A there are between restarts; as many vectors are stored.
      maxiter: how often the method may start; by default ten times the number of unknowns.
      M: a preconditioner, which approximates the inverse of A, given like A.
      solve_method: whether the residual is looked at after each restart, `"batched"`, or after each
        product, `"incremental"`.

    Returns:
      `(x, info)`, where `info` is 0, or -1 if x is NaN.

    Raises:
      TypeError: A or M is neither a matrix nor a function.
      ValueError: `x0` is not like `b`, a matrix is not square, or there is no such method.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> a = jnp.array([[2.0, 1.0], [0.0, 4.0]])
    >>> x, info = jsp.sparse.linalg.gmres(a, jnp.array([4.0, 8.0]))
    >>> print(x.round(3), info)
    [1. 2.] 0
    """
    if solve_method not in SOLVE_METHODS:
        raise ValueError(errors.solve_method(solve_method))
    b, x0 = start_of("gmres", b, x0)
    A = operator_of("gmres", "A", A)
    M = identity if M is None else operator_of("gmres", "M", M)
    size = unknowns(b)
    most = 10 * size if maxiter is None else maxiter

    def solve(a: Operator, b: Any) -> Any:
        vector, _ = ravel_pytree(b)
        x, unravel = ravel_pytree(x0)
        on = partial(on_vectors, unravel=unravel)
        m = identity if M is identity else on(M)
        length = norm(vector)
        bound = maximum(tol * length, atol)
        least = norm(m(vector)) * minimum(1, bound / where(length == 0, 1, length))
        early = solve_method == "incremental"
        return unravel(_gmres(on(a), m, vector, x, least, min(restart, size), most, early))

    x = like(b, custom_linear_solve(A, b, solve, transpose_solve=solve))
    return x, where(isnan(norm(ravel_pytree(x)[0])), -1, 0)
