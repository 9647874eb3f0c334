"""Functions of matrices by way of their Schur form, and the polar decomposition.

A = Z T Z^H with a triangular T.  A function F = f(T) is triangular, too, and f(A) = Z F Z^H.  The
diagonal of F is f of that of T; the rest follows column by column, from the diagonal upwards, from
an equation that F satisfies, such as F F = T or F T = T F.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...api.custom_derivatives import custom_jvp
from ...api.vectorize import vmap
from ...base import dtypes
from ...base import scipy_linalg_errors as errors
from ...control.fori_loop import fori_loop
from ...core.array import Array, ArrayLike
from ...linalg.matrices import adjoint, diagonal, diagonal_matrix
from ...linalg.qdwh import qdwh
from ...linalg.svd import svd
from ...numpy.composite import composite, composite_list
from ...numpy.exponential import hypot, sqrt
from ...numpy.linear_algebra.decompositions import eigvals
from ...numpy.linear_algebra.norms import norm
from ...numpy.linear_algebra.operands import inexact_array, inexact_arrays
from ...numpy.matrices import triu
from ...numpy.parts import isinf
from ...numpy.promotion import convert
from ...numpy.reductions import any as any_of
from ...numpy.reductions import min as min_of
from ...numpy.selection import maximum, minimum, where
from ...numpy.shaping import broadcast_shapes, broadcast_to
from ...ops.complex import is_complex
from .decompositions import schur
from .sylvester import solve_sylvester

# ---------------------------------------------------------------- batches


def over_batch(fun: Callable[..., Any], *matrices: Any) -> Any:
    """Apply a function of single matrices to all in arrays whose batch dimensions broadcast."""
    batch = broadcast_shapes(*[x.shape[:-2] for x in matrices])
    for _ in batch:
        fun = vmap(fun)
    return fun(*[broadcast_to(x, (*batch, *x.shape[-2:])) for x in matrices])


def _square(where_: str, a: Any, name: str = "A") -> Any:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(errors.not_square(where_, name, a.shape))
    return a


# ---------------------------------------------------------------- functions of triangular matrices


def _upper(f: Any, element: Callable[[Any, Any, Any], Any]) -> Any:
    """Fill in the upper triangle of F, whose diagonal is known.

    Args:
      f: a matrix with nothing but its diagonal.
      element: returns the element at `(i, j)` from what is known of F, `element(f, i, j)`: the
        columns before j, and below i in the column j.
    """
    n = f.shape[0]

    def column(j: Any, f: Any) -> Any:
        def upwards(k: Any, f: Any) -> Any:
            i = n - 1 - k
            return f.at[i, j].add(where(i < j, element(f, i, j), 0))

        return fori_loop(0, n, upwards, f)

    return fori_loop(1, n, column, f)


def _between(row: Any, column: Any, i: Any, j: Any) -> Any:
    """The sum of row[k] column[k] over i < k < j."""
    k = np.arange(row.shape[0])
    inside = (k > i) & (k < j)
    return where(inside, row, 0) @ where(inside, column, 0)


def _above_cut(t: Any) -> Any:
    """T of a real matrix, whose negative eigenvalues are on the upper side of the root's cut.

    On which side rounding has put them is chance.
    """
    d = diagonal(t)
    rounding = 8 * len(d) * float(dtypes.finfo(t.dtype).eps) * norm(t)
    negative = (d.real < 0) & (abs(d.imag) <= rounding)
    return t + diagonal_matrix(where(negative, d.real - d, 0).astype(t.dtype))


@composite
def _sqrt_of_triangular(t: Any) -> Any:
    """The principal root: T[i, j] is the sum of F[i, k] F[k, j] over i <= k <= j.

    (Bjoerck, Hammarling, "A Schur method for the square root of a matrix", Linear Algebra and its
    Applications 52/53, 1983.)
    """
    d = sqrt(diagonal(t))

    def element(f: Any, i: Any, j: Any) -> Any:
        rest = t[i, j] - _between(f[i], f[:, j], i, j)
        # Of a matrix of lower rank both may be zero, and zero is then a solution.
        total = d[i] + d[j]
        return where(rest == 0, 0, rest / where((rest == 0) & (total == 0), 1, total))

    return _upper(diagonal_matrix(d), element)


@custom_jvp
def _sqrtm(a: Any) -> Any:
    t, z = schur(a, output="complex")
    if not is_complex(a.dtype):
        t = over_batch(_above_cut, t)
    return z @ over_batch(_sqrt_of_triangular, t) @ adjoint(z)


@_sqrtm.defjvp
def _(primals: Any, tangents: Any) -> Any:
    """From X X = A follows X dX + dX X = dA."""
    x = _sqrtm(*primals)
    return x, solve_sylvester(x, x, convert(tangents[0], x.dtype), tol=0)


def sqrtm(A: ArrayLike, blocksize: int = 1) -> Array:
    """The principal square root of square matrices.

    Args:
      A: matrices of shape `(..., n, n)`.
      blocksize: must be 1.

    Returns:
      Complex matrices of the same shape, whose eigenvalues have real parts of at least zero.

    Raises:
      ValueError: the matrices are not square.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.sqrtm(jnp.array([[4.0, 5.0], [0.0, 9.0]])).real
    Array([[2., 1.],
           [0., 3.]], dtype=float32)
    """
    if blocksize > 1:
        raise NotImplementedError(errors.not_implemented("sqrtm", "blocksize=1"))
    A = _square("sqrtm", inexact_array("sqrtm", A))
    return _sqrtm(A) if A.size else convert(A, dtypes.to_complex_dtype(A.dtype))


@composite_list
def _commuting(f: Any, t: Any) -> Any:
    """The F with the given diagonal that commutes with T, and the least gap of eigenvalues.

    The elements at `(i, j)` of F T and T F are equal:
    F[i, j] (T[j, j] - T[i, i]) = T[i, j] (F[j, j] - F[i, i])
                                  + sum over i < k < j of T[i, k] F[k, j] - F[i, k] T[k, j].
    (Parlett, "A recurrence among the elements of functions of triangular matrices", Linear Algebra
    and its Applications 14, 1976.)
    """
    d = diagonal(f)

    def element(f: Any, i: Any, j: Any) -> Any:
        rest = t[i, j] * (d[j] - d[i])
        rest = rest + _between(t[i], f[:, j], i, j) - _between(f[i], t[:, j], i, j)
        gap = t[j, j] - t[i, i]
        return where(gap == 0, rest, rest / where(gap == 0, 1, gap))

    w = diagonal(t)
    gaps = where(np.eye(len(w), dtype=bool), np.inf, abs(w[:, None] - w[None]))
    least = minimum(abs(w[0]), min_of(gaps))
    return [_upper(diagonal_matrix(d), element), least]


def funm(A: ArrayLike, func: Callable[[Array], Array], disp: bool = True) -> Any:
    """A function of a matrix, by Parlett's recurrence, which needs distinct eigenvalues.

    Args:
      A: a matrix of shape `(n, n)`.
      func: the function of an array of eigenvalues.
      disp: False to return an estimate of the error, too.

    Returns:
      A complex matrix of the same shape; or `(matrix, estimate)`, with the relative error in the
      1-norm, or infinity.

    Raises:
      ValueError: there is not one square matrix.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.funm(jnp.array([[1.0, 2.0], [0.0, 3.0]]), jnp.square).real
    Array([[1., 8.],
           [0., 9.]], dtype=float32)
    """
    A = _square("funm", inexact_array("funm", A))
    if A.ndim != 2:
        raise ValueError(errors.not_a_matrix("funm", A.shape))
    if not A.size:
        A = convert(A, dtypes.to_complex_dtype(A.dtype))
        return A if disp else (A, dtypes.finfo(A.dtype).eps)
    t, z = schur(A, output="complex")
    f, least = _commuting(diagonal_matrix(convert(func(diagonal(t)), t.dtype)), t)
    f = z @ f @ adjoint(z)
    if disp:
        return f
    eps = dtypes.finfo(t.dtype).eps
    off_diagonal = norm(triu(t, 1), 1)
    estimate = minimum(1, maximum(eps, eps / where(least == 0, eps, least) * off_diagonal))
    return f, where(any_of(isinf(f)), np.inf, estimate)


# ---------------------------------------------------------------- from real to complex Schur forms


@composite_list
def _triangular(t: Any, z: Any) -> Any:
    """One rotation for each element below the diagonal, from the last one up, makes it zero."""
    n = t.shape[0]
    eps = dtypes.finfo(t.dtype).eps

    def rotate(k: Any, state: Any) -> Any:
        t, z = state
        m = n - 1 - k
        corner = _rows(_rows(t, m - 1).T, m - 1).T
        below = corner[1, 0]
        mu = eigvals(corner)[0] - corner[1, 1]
        length = hypot(abs(mu), abs(below))
        safe = where(length == 0, 1, length).astype(t.dtype)
        c, s = mu / safe, below / safe
        g = convert(_matrix(c.conj(), s, -s, c), t.dtype)
        applies = abs(below) > eps * (abs(corner[0, 0]) + abs(corner[1, 1]))
        g = where(applies, g, np.eye(2, dtype=t.dtype))
        index = np.arange(n)
        rows = _rows(t, m - 1)
        t = _put_rows(t, where((index >= m - 1)[None], g @ rows, rows), m - 1)
        columns = _rows(t.T, m - 1)
        turned = where((index <= m)[None], g.conj() @ columns, columns)
        t = _put_rows(t.T, turned, m - 1).T
        z = _put_rows(z.T, g.conj() @ _rows(z.T, m - 1), m - 1).T
        return t.at[m, m - 1].set(0), z

    return list(fori_loop(0, n - 1, rotate, (t, z)))


def _matrix(a: Any, b: Any, c: Any, d: Any) -> Any:
    return diagonal_matrix(_pair(a, d)) + diagonal_matrix(_pair(b, c))[:, ::-1]


def _pair(x: Any, y: Any) -> Any:
    return where(np.array([True, False]), x, y)


def _rows(x: Any, start: Any) -> Any:
    return x[start + np.arange(2)]


def _put_rows(x: Any, rows: Any, start: Any) -> Any:
    return x.at[start + np.arange(2)].set(rows)


def rsf2csf(T: ArrayLike, Z: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """The complex Schur form from a real one.

    Args:
      T: matrices of shape `(..., n, n)`, upper triangular but for blocks of size 2.
      Z: orthogonal matrices, of the same shape but for batch dimensions, which broadcast.
      check_finite: of no effect.

    Returns:
      `(t, z)`, complex, with a triangular T and the same Z T Z^H.

    Raises:
      ValueError: the matrices are not square, or their sizes differ.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> t, z = jsp.linalg.rsf2csf(jnp.array([[0.0, 1.0], [-1.0, 0.0]]), jnp.eye(2))
    >>> print(abs(t[1, 0]))
    0.0
    """
    T, Z = inexact_arrays("rsf2csf", T, Z)
    for name, x in (("T", T), ("Z", Z)):
        _square("rsf2csf", x, name)
    if T.shape[-1] != Z.shape[-1]:
        raise ValueError(errors.shapes_differ("rsf2csf", "T and Z", (T.shape, Z.shape)))
    dtype = dtypes.to_complex_dtype(T.dtype)
    t, z = over_batch(_triangular, convert(T, dtype), convert(Z, dtype))
    return t, z


# ---------------------------------------------------------------- polar decomposition


def _polar_by_svd(a: Any, side: str) -> Any:
    u, s, vh = svd(a, full_matrices=False)
    s = convert(s, u.dtype)
    if side == "right":
        return u @ vh, (adjoint(vh) * s[None]) @ vh
    return u @ vh, (u * s[None]) @ adjoint(u)


def _polar_by_qdwh(a: Any, side: str, eps: float | None, most: int | None) -> Any:
    if side == "right":
        return qdwh(a, eps=eps, max_iterations=most)[:2]
    u, p = qdwh(adjoint(a), eps=eps, max_iterations=most)[:2]
    return adjoint(u), adjoint(p)


def polar(
    a: ArrayLike,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """The polar decomposition A = U P, or A = P U, with orthonormal columns or rows in U.

    Args:
      a: matrices of shape `(..., m, n)`.
      side: on which side of U the positive semidefinite P stands, `"right"` or `"left"`.
      method: `"qdwh"` for the iteration of `lax.linalg.qdwh`, or `"svd"`. The former needs m of at
        least n for the right side, and less than n for the left one.
      eps, max_iterations: of the iteration.

    Returns:
      `(u, p)`, of shapes `(..., m, n)` and `(..., n, n)` (or `(..., m, m)`).

    Raises:
      ValueError: `a` is no matrix, or there is no such side or method.
      NotImplementedError: the shape does not suit the method.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> u, p = jsp.linalg.polar(jnp.array([[0.0, -3.0], [2.0, 0.0]]), method="svd")
    >>> p
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    a = inexact_array("polar", a)
    if a.ndim < 2:
        raise ValueError(errors.not_a_matrix("polar", a.shape))
    for name, value, known in (
        ("side", side, ("right", "left")),
        ("method", method, ("qdwh", "svd")),
    ):
        if value not in known:
            raise ValueError(errors.choice("polar", name, value, known))
    m, n = a.shape[-2:]
    if method == "svd":
        return over_batch(lambda x: _polar_by_svd(x, side), a)
    if (m >= n) != (side == "right"):
        raise NotImplementedError(errors.polar_shape(a.shape, side))
    return over_batch(lambda x: _polar_by_qdwh(x, side, eps, max_iterations), a)
