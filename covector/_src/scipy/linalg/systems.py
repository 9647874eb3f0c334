"""Systems of linear equations, and the factors that solve them."""

from __future__ import annotations

from typing import Any

from ...base import scipy_linalg_errors as errors
from ...base.warn import warn
from ...control.linear_solve import custom_linear_solve
from ...core.array import Array, ArrayLike
from ...linalg import cholesky as _cholesky
from ...linalg import lu as _lu
from ...linalg.lu import lu_pivots_to_permutation, to_batch
from ...linalg.matrices import adjoint, matmul
from ...linalg.triangular_solve import triangular_solve
from ...numpy.composite import composite
from ...numpy.linear_algebra import determinants, systems
from ...numpy.linear_algebra.operands import inexact_array, inexact_arrays
from ...numpy.promotion import as_array, shape_of
from ...numpy.shaping import broadcast_shapes
from ...ops.identities import stop_gradient
from ...ops.linear import expand_dims, reshape

# ---------------------------------------------------------------- right-hand sides


def _with_columns(where: str, a: Any, b: Any, call: str) -> tuple[Any, Any, bool]:
    """Matrices and right-hand sides with the same batch dimensions; vectors become columns."""
    x, y = shape_of(a), shape_of(b)
    if len(x) < 2 or x[-1] != x[-2]:
        raise ValueError(errors.not_square(where, "a", x))
    vector = len(y) == 1
    if not vector and len(x) == len(y) + 1 and x[-1] == y[-1]:
        warn(errors.batch_of_vectors(f"jax.scipy.linalg.{where}", call), FutureWarning)
        vector = True
    if vector:
        b = expand_dims(b, (len(y),))
    if not y or shape_of(b)[-2] != x[-1]:
        raise ValueError(errors.right_hand_side(where, x, y))
    batch = broadcast_shapes(x[:-2], shape_of(b)[:-2])
    return to_batch(a, batch, 2), to_batch(b, batch, 2), vector


def _without_columns(x: Any, vector: bool) -> Any:
    return reshape(x, shape_of(x)[:-1]) if vector else x


# ---------------------------------------------------------------- triangular systems

TRANSPOSED = {0: False, "N": False, 1: True, "T": True, 2: True, "C": True}


@composite
def _solve_triangular(a: Any, b: Any, **options: Any) -> Any:
    return triangular_solve(a, b, left_side=True, **options)


def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Array:
    """The solution X of op(A) X = B with a triangular A.

    Args:
      a: square matrices, of shape `(..., n, n)`; one triangle is read.
      b: right-hand sides, of shape `(..., n, k)`, or a vector of shape `(n,)`.
      trans: what op does: 0 or `"N"` nothing, 1 or `"T"` transpose, 2 or `"C"` transpose and
        conjugate.
      lower: whether the lower triangle is read.
      unit_diagonal: whether the diagonal is taken for ones.
      overwrite_b, debug, check_finite: of no effect.

    Returns:
      An array of the shape of `b`.

    Raises:
      ValueError: the shapes do not fit, or there is no such `trans`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> a = jnp.array([[2.0, 0.0], [1.0, 4.0]])
    >>> jsp.linalg.solve_triangular(a, jnp.array([2.0, 9.0]), lower=True)
    Array([1., 2.], dtype=float32)
    """
    if trans not in TRANSPOSED:
        raise ValueError(errors.trans(trans))
    a, b = inexact_arrays("solve_triangular", a, b)
    call = "solve_triangular(a, b[..., None]).squeeze(-1)"
    a, b, vector = _with_columns("solve_triangular", a, b, call)
    out = _solve_triangular(
        a,
        b,
        lower=bool(lower),
        transpose_a=TRANSPOSED[trans],
        conjugate_a=trans in (2, "C"),
        unit_diagonal=bool(unit_diagonal),
    )
    return _without_columns(out, vector)


# ---------------------------------------------------------------- Cholesky factors


@composite
def _triangle(a: Any, *, lower: bool) -> Any:
    """A Cholesky factor, lower triangular or upper, from the same triangle of the matrix."""
    l = _cholesky.cholesky(a if lower else adjoint(a), symmetrize_input=False)
    return l if lower else adjoint(l)


def cholesky(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array:
    """The Cholesky decomposition of positive definite matrices: A = U^H U, or A = L L^H.

    Args:
      a: Hermitian matrices, of shape `(..., n, n)`; the triangle that is returned is read.
      lower: whether to return the lower triangular L instead of U.
      overwrite_a, check_finite: of no effect.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 1.],
           [0., 2.]], dtype=float32)
    """
    return _triangle(inexact_array("cholesky", a), lower=bool(lower))


def cho_factor(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """The Cholesky factor of positive definite matrices, for `cho_solve`.

    Args:
      a, lower: as for `cholesky`.
      overwrite_a, check_finite: of no effect.

    Returns:
      The factor, and `lower`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> factor = jsp.linalg.cho_factor(jnp.array([[4.0, 2.0], [2.0, 5.0]]))
    >>> jsp.linalg.cho_solve(factor, jnp.array([8.0, 12.0]))
    Array([1., 2.], dtype=float32)
    """
    return cholesky(a, lower), lower


@composite
def _cho_solve(c: Any, b: Any, *, lower: bool) -> Any:
    def solved(b: Any, transposed: bool) -> Any:
        form = dict(transpose_a=transposed, conjugate_a=transposed)
        return triangular_solve(c, b, left_side=True, lower=lower, **form)

    return solved(solved(b, not lower), lower)


def cho_solve(
    c_and_lower: tuple[ArrayLike, bool],
    b: ArrayLike,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """The solution X of A X = B, given the Cholesky factor of A.

    Args:
      c_and_lower: what `cho_factor` returns.
      b: right-hand sides, of shape `(..., n, k)`, or a vector of shape `(n,)`.
      overwrite_b, check_finite: of no effect.

    Returns:
      An array of the shape of `b`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.cho_solve((2 * jnp.eye(2), True), jnp.array([4.0, 8.0]))
    Array([1., 2.], dtype=float32)
    """
    c, lower = c_and_lower
    c, b = inexact_arrays("cho_solve", c, b)
    call = "cho_solve(c_and_lower, b[..., None]).squeeze(-1)"
    c, b, vector = _with_columns("cho_solve", c, b, call)
    return _without_columns(_cho_solve(c, b, lower=bool(lower)), vector)


# ---------------------------------------------------------------- LU factors


def lu_factor(
    a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, Array]:
    """The LU decomposition of matrices, for `lu_solve`.

    Args:
      a: matrices of shape `(..., m, n)`.
      overwrite_a, check_finite: of no effect.

    Returns:
      L and U in one matrix, and the rows that each row was swapped with; see `lax.linalg.lu`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> factors = jsp.linalg.lu_factor(jnp.array([[0.0, 2.0], [4.0, 0.0]]))
    >>> jsp.linalg.lu_solve(factors, jnp.array([2.0, 4.0]))
    Array([1., 1.], dtype=float32)
    """
    factors, pivots, _ = _lu.lu(inexact_array("lu_factor", a))
    return factors, pivots


@composite
def _lu_solve(factors: Any, pivots: Any, b: Any, *, trans: int) -> Any:
    permutation = lu_pivots_to_permutation(pivots, shape_of(factors)[-1])
    return _lu.lu_solve(factors, permutation, b, trans)


def lu_solve(
    lu_and_piv: tuple[Array, ArrayLike],
    b: ArrayLike,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """The solution X of op(A) X = B, given the LU decomposition of A.

    Args:
      lu_and_piv: what `lu_factor` returns.
      b: right-hand sides, of shape `(..., n, k)`, or a vector of shape `(n,)`.
      trans: what op does: 0 nothing, 1 transpose, 2 transpose and conjugate.
      overwrite_b, check_finite: of no effect.

    Returns:
      An array of the shape of `b`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> factors = jsp.linalg.lu_factor(jnp.array([[2.0, 0.0], [4.0, 2.0]]))
    >>> jsp.linalg.lu_solve(factors, jnp.array([6.0, 2.0]), trans=1)
    Array([1., 1.], dtype=float32)
    """
    if trans not in (0, 1, 2):
        raise ValueError(errors.lu_trans(trans))
    factors, pivots = lu_and_piv
    factors, b = inexact_arrays("lu_solve", factors, b)
    call = "lu_solve(lu_and_piv, b[..., None]).squeeze(-1)"
    factors, b, vector = _with_columns("lu_solve", factors, b, call)
    pivots = to_batch(as_array("lu_solve", pivots), shape_of(factors)[:-2], 1)
    return _without_columns(_lu_solve(factors, pivots, b, trans=trans), vector)


# ---------------------------------------------------------------- systems

ASSUMPTIONS = ("gen", "sym", "her", "pos")


@composite
def _solve_positive(a: Any, b: Any, *, lower: bool) -> Any:
    """The equation A X = B is differentiated, and solved by the Cholesky factor of A."""
    factor = _triangle.fun(stop_gradient(a), lower=lower)

    def solved(_: Any, b: Any) -> Any:
        return _cho_solve.fun(factor, b, lower=lower)

    return custom_linear_solve(lambda x: matmul(a, x), b, solved, symmetric=True)


def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """The solution X of A X = B.

    Args:
      a: square matrices, of shape `(..., n, n)`.
      b: right-hand sides, of shape `(..., n, k)`, or a vector of shape `(n,)`.
      lower: which triangle is read of positive definite matrices.
      overwrite_a, overwrite_b, debug, check_finite: of no effect.
      assume_a: what is known of A: `"pos"` that it is positive definite, which is quicker; `"gen"`,
        `"sym"` and `"her"` make no difference.

    Returns:
      An array of the shape of `b`.

    Raises:
      ValueError: the shapes do not fit, or there is no such assumption.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> a = jnp.array([[4.0, 2.0], [2.0, 5.0]])
    >>> jsp.linalg.solve(a, jnp.array([8.0, 12.0]), assume_a="pos")
    Array([1., 2.], dtype=float32)
    """
    if assume_a not in ASSUMPTIONS:
        raise ValueError(errors.assume_a(assume_a, ASSUMPTIONS))
    if assume_a != "pos":
        return systems.solve(a, b)
    a, b = inexact_arrays("solve", a, b)
    a, b, vector = _with_columns("solve", a, b, "solve(a, b[..., None]).squeeze(-1)")
    return _without_columns(_solve_positive(a, b, lower=bool(lower)), vector)


def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverse of square matrices; the same as `numpy.linalg.inv`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return systems.inv(a)


def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinant of square matrices; the same as `numpy.linalg.det`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> print(jsp.linalg.det(jnp.array([[1.0, 2.0], [3.0, 4.0]])))
    -2.0
    """
    return determinants.det(a)
