"""Systems of linear equations, pseudo-inverses and least squares, with their derivatives."""

from __future__ import annotations

from typing import Any

from ..control.linear_solve import custom_linear_solve
from ..core.avals import aval_of
from ..ops.arithmetic import add_p, div_p, mul_p, sign_p, sub_p
from ..ops.bitwise import and_p
from ..ops.comparison import ge_p, gt_p
from ..ops.complex import abs_p, is_complex, real_p
from ..ops.conversion import convert
from ..ops.identities import stop_gradient
from ..ops.linear import broadcast_in_dim, constant_like
from ..ops.reductions import reduce_max_p
from ..ops.select import select_n_p
from ..ops.shaping import broadcast_shapes
from .derived import with_derivative
from .eigh import eigh
from .gaps import filled
from .lu import lu_p, lu_solve, to_batch
from .matrices import adjoint, columns_of, diagonal, matmul, rows_of, symmetrize
from .svd import svd

# ---------------------------------------------------------------- square systems


def solve(a: Any, b: Any) -> Any:
    """A^-1 B by LU decomposition, differentiated as the equation A X = B.

    Args:
      a: square matrices.
      b: matrices with as many rows; batch dimensions broadcast.
    """
    batch = broadcast_shapes(aval_of(a).shape[:-2], aval_of(b).shape[:-2])
    b = to_batch(b, batch, 2)
    factors, _, permutation = lu_p.bind(stop_gradient(a))

    def matvec(x: Any) -> Any:
        return matmul(to_batch(a, batch, 2), x)

    def by_factors(trans: int) -> Any:
        return lambda _, b: lu_solve(factors, permutation, b, trans)

    return custom_linear_solve(matvec, b, by_factors(0), by_factors(1))


# ---------------------------------------------------------------- pseudo-inverse


def derivative_of_pinv(primals: Any, tangents: Any, *, hermitian: bool) -> Any:
    """P' = -P A' P + P P^H A'^H (1 - A P) + (1 - P A) A'^H P^H P, where the rank is constant.

    (Golub, Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems
    whose variables separate", SIAM J. Numer. Anal. 10, 1973.)
    """
    (a, rtol), (t, _) = primals, tangents
    (p,) = pseudo_inverse(a, rtol, hermitian=hermitian)
    if hermitian:  # as the decomposition does
        a, t = symmetrize(a, "pinv"), symmetrize(t, "pinv")
    ph, th = adjoint(p), adjoint(t)
    m, n = aval_of(a).shape[-2:]
    if m >= n:
        first = matmul(matmul(p, ph), th)
        last = matmul(matmul(th, ph), p)
        middle = matmul(matmul(p, t), p)
        first = sub_p.bind(first, matmul(matmul(first, a), p))
        last = sub_p.bind(last, matmul(matmul(p, a), last))
    else:
        first = matmul(p, matmul(ph, th))
        last = matmul(th, matmul(ph, p))
        middle = matmul(p, matmul(t, p))
        first = sub_p.bind(first, matmul(first, matmul(a, p)))
        last = sub_p.bind(last, matmul(p, matmul(a, last)))
    return [p], [sub_p.bind(add_p.bind(first, last), middle)]


@with_derivative(derivative_of_pinv)
def pseudo_inverse(a: Any, rtol: Any, *, hermitian: bool) -> list[Any]:
    """The pseudo-inverse, with singular values up to `rtol` times the largest taken for zero."""
    u, s, vh = svd_of_hermitian(a) if hermitian else svd(a, full_matrices=False)
    return [inverted(u, s, vh, gt_p.bind(s, cutoff(s, rtol)))]


def svd_of_hermitian(a: Any) -> tuple[Any, Any, Any]:
    """The singular value decomposition of Hermitian matrices, by that into eigenvectors.

    A = V diag(w) V^H = V diag(|w|) (V diag(sign w))^H. The order is that of the eigenvalues.
    """
    v, w = eigh(a)
    signs = convert(sign_p.bind(w), aval_of(v).dtype)
    vh = adjoint(mul_p.bind(v, rows_of(signs, aval_of(v).shape)))
    return v, abs_p.bind(w), vh


def cutoff(s: Any, rtol: Any) -> Any:
    """`rtol` times the largest singular value, for each of them."""
    shape = aval_of(s).shape
    largest = reduce_max_p.bind(s, axes=(len(shape) - 1,))
    rank = len(shape) - 1
    rtol = broadcast_in_dim(rtol, shape[:-1], range(rank - aval_of(rtol).ndim, rank))
    return broadcast_in_dim(mul_p.bind(rtol, largest), shape, range(rank))


def inverted(u: Any, s: Any, vh: Any, kept: Any) -> Any:
    """V diag(1/s) U^H, with 0 for 1/s where it is not kept."""
    safe = select_n_p.bind(kept, filled(s, 1), s)
    reciprocal = div_p.bind(constant_like(s, 1), safe)
    reciprocal = convert(select_n_p.bind(kept, filled(s, 0), reciprocal), aval_of(u).dtype)
    uh = adjoint(u)
    return matmul(adjoint(vh), mul_p.bind(columns_of(reciprocal, aval_of(uh).shape), uh))


# ---------------------------------------------------------------- least squares


def derivative_of_least_squares(primals: Any, tangents: Any) -> Any:
    """Of X = P B with the pseudo-inverse P of A, where the rank is constant:

    X' = P B' + P' B = P (B' - A' X) + P P^H A'^H (B - A X) + (1 - P A) A'^H P^H X.
    """
    (a, b, rcond), (t_a, t_b, _) = primals, tangents
    x, s = least_squares(a, b, rcond)
    u, s, vh = svd(a, full_matrices=False)
    p = inverted(u, s, vh, significant(s, rcond))
    ph, th = adjoint(p), adjoint(t_a)
    residual = sub_p.bind(b, matmul(a, x))
    change = matmul(p, sub_p.bind(t_b, matmul(t_a, x)))
    change = add_p.bind(change, matmul(p, matmul(ph, matmul(th, residual))))
    row = matmul(th, matmul(ph, x))
    change = add_p.bind(change, sub_p.bind(row, matmul(p, matmul(a, row))))
    of_s = diagonal(matmul(matmul(adjoint(u), t_a), adjoint(vh)))
    return [x, s], [change, real_p.bind(of_s) if is_complex(aval_of(a).dtype) else of_s]


@with_derivative(derivative_of_least_squares)
def least_squares(a: Any, b: Any, rcond: Any) -> list[Any]:
    """The least X for which A X - B is least, and the singular values of A."""
    u, s, vh = svd(a, full_matrices=False)
    return [matmul(inverted(u, s, vh, significant(s, rcond)), b), s]


def significant(s: Any, rcond: Any) -> Any:
    """Which singular values are not taken for zero."""
    positive = gt_p.bind(s, constant_like(s, 0))
    return and_p.bind(positive, ge_p.bind(s, cutoff(s, rcond)))
