"""Iterative solvers of A x = b that need no more of A than its products with vectors.

Unknowns are trees of arrays for the caller, and vectors within.  Derivatives are those of the
solution, found by further solves (`lax.custom_linear_solve`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...base import krylov_errors as errors
from ...base import tree
from ...control.linear_solve import custom_linear_solve
from ...control.loops import while_loop
from ...core.array import Array
from ...numpy.contraction import dot, vdot
from ...numpy.creation import asarray, ones_like, zeros_like
from ...numpy.exponential import sqrt
from ...numpy.parts import isnan
from ...numpy.ravel import ravel_pytree
from ...numpy.selection import maximum, where
from ...ops.complex import is_complex
from ...ops.conversion import convert

Operator = Callable[[Any], Any]

# ---------------------------------------------------------------- arguments


def identity(x: Any) -> Any:
    return x


def operator_of(where_: str, name: str, a: Any) -> Operator:
    """A linear operator, given as a function or as a matrix, as a function."""
    if callable(a):
        return a
    if not hasattr(a, "__matmul__"):
        raise TypeError(errors.not_an_operator(where_, name, a))
    shape = getattr(a, "shape", None)
    if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
        raise ValueError(errors.not_square(where_, name, shape))
    return partial(dot, a) if isinstance(a, (np.ndarray, Array)) else partial(operator.matmul, a)


def start_of(where_: str, b: Any, x0: Any) -> tuple[Any, Any]:
    """The right-hand side and the first guess, as trees of arrays of the same shapes."""
    b = tree.map(asarray, b)
    if x0 is None:
        return b, tree.map(zeros_like, b)
    x0 = tree.map(asarray, x0)
    structures = tree.structure(x0), tree.structure(b)
    if structures[0] != structures[1]:
        raise ValueError(errors.trees_differ(where_, *structures))
    shapes = [[x.shape for x in tree.leaves(t)] for t in (x0, b)]
    if shapes[0] != shapes[1]:
        raise ValueError(errors.shapes_differ(where_, *shapes))
    return b, x0


def on_vectors(a: Operator, unravel: Callable[[Any], Any]) -> Operator:
    """An operator of trees as one of vectors."""
    return lambda v: ravel_pytree(a(unravel(v)))[0]


def unsolved(size: Any, bound: Any, k: Any) -> Any:
    """Whether to go on, and from the start in any case if the residual is NaN: x becomes NaN."""
    return (size > bound) | (isnan(size) & (k == 0))


def like(b: Any, x: Any) -> Any:
    """The solution, in the dtypes of b and as weakly typed."""
    return tree.map(lambda b, x: convert(x, b.dtype, b.weak_type), b, x)


def unknowns(b: Any) -> int:
    return sum([x.size for x in tree.leaves(b)])


def norm(v: Any) -> Any:
    return sqrt(real_dot(v, v))


def real_dot(v: Any, w: Any) -> Any:
    return vdot(v, w).real


# ---------------------------------------------------------------- conjugate gradients


def _cg(a: Operator, m: Operator, b: Any, x: Any, least: Any, most: int) -> Any:
    """(Hestenes, Stiefel, "Methods of conjugate gradients for solving linear systems", 1952.)

    The residual is compared in its own norm; without a preconditioner that is at hand as gamma.
    """

    def goes_on(state: Any) -> Any:
        _, r, gamma, _, k = state
        size = gamma if m is identity else real_dot(r, r)
        return unsolved(size, least**2, k) & (k < most)

    def step(state: Any) -> Any:
        x, r, gamma, p, k = state
        ap = a(p)
        alpha = (gamma / real_dot(p, ap)).astype(p.dtype)
        x, r = x + alpha * p, r - alpha * ap
        z = m(r)
        new = real_dot(r, z)
        return x, r, new, z + (new / gamma).astype(p.dtype) * p, k + 1

    r = b - a(x)
    z = m(r)
    return while_loop(goes_on, step, (x, r, real_dot(r, z), z, 0))[0]


# ---------------------------------------------------------------- stabilized biconjugate gradients


def _bicgstab(a: Operator, m: Operator, b: Any, x: Any, least: Any, most: int) -> Any:
    """(van der Vorst, "Bi-CGSTAB", SIAM Journal on Scientific Computing 13, 1992.)

    Where a division by zero would follow, the iteration ends with what it has.
    """
    shadow = b - a(x)
    one = ones_like(vdot(shadow, shadow))

    def goes_on(state: Any) -> Any:
        _, r, *_, broken, k = state
        return unsolved(real_dot(r, r), least**2, k) & (k < most) & ~broken

    def step(state: Any) -> Any:
        x, r, p, q, rho, alpha, omega, _, k = state
        new_rho = vdot(shadow, r)
        p = r + new_rho / rho * alpha / omega * (p - omega * q)
        p_hat = m(p)
        q = a(p_hat)
        alpha = new_rho / vdot(shadow, q)
        s = r - alpha * q
        s_hat = m(s)
        t = a(s_hat)
        # Once s is small enough, x is best without its direction.
        done = real_dot(s, s) <= least**2
        omega = where(done, 0, vdot(t, s) / vdot(t, t))
        x = x + alpha * p_hat + where(done, 0, omega * s_hat)
        r = where(done, s, s - omega * t)
        broken = (omega == 0) | (new_rho == 0) | (alpha == 0)
        return x, r, p, q, new_rho, alpha, omega, broken, k + 1

    start = (x, shadow, zeros_like(b), zeros_like(b), one, one, one, False, 0)
    return while_loop(goes_on, step, start)[0]


# ---------------------------------------------------------------- the functions


def _solution(
    where_: str,
    method: Callable[..., Any],
    a: Any,
    b: Any,
    x0: Any,
    tol: Any,
    atol: Any,
    maxiter: int | None,
    m: Any,
    symmetric: bool,
) -> Any:
    b, x0 = start_of(where_, b, x0)
    a = operator_of(where_, "A", a)
    m = identity if m is None else operator_of(where_, "M", m)
    most = 10 * unknowns(b) if maxiter is None else maxiter

    def solve(a: Operator, b: Any) -> Any:
        vector, _ = ravel_pytree(b)
        x, unravel = ravel_pytree(x0)
        on = partial(on_vectors, unravel=unravel)
        least = maximum(tol * norm(vector), atol)
        preconditioner = identity if m is identity else on(m)
        return unravel(method(on(a), preconditioner, vector, x, least, most))

    symmetric = symmetric and not any(is_complex(x.dtype) for x in tree.leaves(b))
    x = custom_linear_solve(a, b, solve, transpose_solve=solve, symmetric=symmetric)
    return like(b, x)


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve A x = b for a Hermitian, positive definite A by conjugate gradients.

    Args:
      A: a square matrix, or a function from trees of arrays like `b` to such.
      b: the right-hand side, an array or a tree of arrays.
      x0: a first guess, a tree like `b`; zeros by default.
      tol, atol: the iteration ends where the norm of the residual is at most
        `max(tol * norm(b), atol)`.
      maxiter: how many iterations there may be; by default ten times the number of unknowns.
      M: a preconditioner, which approximates the inverse of A, given like A.

    Returns:
      `(x, None)`.

    Raises:
      TypeError: A or M is neither a matrix nor a function.
      ValueError: `x0` is not like `b`, or a matrix is not square.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> x, _ = jsp.sparse.linalg.cg(lambda x: 2 * x, jnp.array([2.0, 4.0]))
    >>> x
    Array([1., 2.], dtype=float32)
    """
    return _solution("cg", _cg, A, b, x0, tol, atol, maxiter, M, symmetric=True), None


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve A x = b for any A by stabilized biconjugate gradients.

    Args, result and errors are those of `cg`; A needs not be Hermitian.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> a = jnp.array([[2.0, 1.0], [0.0, 4.0]])
    >>> x, _ = jsp.sparse.linalg.bicgstab(a, jnp.array([4.0, 8.0]))
    >>> print(x.round(3))
    [1. 2.]
    """
    return _solution("bicgstab", _bicgstab, A, b, x0, tol, atol, maxiter, M, False), None
