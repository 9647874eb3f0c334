"""Determinants, their logarithms, and their derivatives where matrices are singular."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.avals import aval_of
from ..ops.arithmetic import add_p, mul_p, sign_p, sub_p
from ..ops.bitwise import and_p, or_p, shift_left_p
from ..ops.comparison import eq_p, gt_p, lt_p, ne_p
from ..ops.complex import abs_p, is_complex, real_p
from ..ops.conversion import convert
from ..ops.creation import iota_p
from ..ops.exponential import exp_p, log_p
from ..ops.joining import concatenate
from ..ops.linear import broadcast_in_dim, constant_like, reduce_sum, reshape
from ..ops.reductions import reduce_or_p, reduce_prod_p
from ..ops.rounding import is_finite_p
from ..ops.select import select_n_p
from .derived import with_derivative
from .gaps import filled
from .kernels import INT32
from .lu import lu_p, lu_solve
from .matrices import (
    adjoint,
    columns_of,
    coordinates,
    diagonal,
    eye,
    inverse_permutation,
    last,
    mask,
    matmul,
    matrix_transpose,
    part,
    permute_rows,
    rows_of,
)
from .qr import geqrf_p, qr_p
from .triangular_solve import triangular_solve

# ---------------------------------------------------------------- signs


def sign_of_parity(flags: Any, axes: tuple[int, ...], dtype: Any) -> Any:
    """1 where an even number of flags is set along the axes, and -1 where an odd number is."""
    count = reduce_sum(convert(flags, INT32), axes)
    one = constant_like(count, 1)
    odd = and_p.bind(count, one)
    return convert(sub_p.bind(one, shift_left_p.bind(odd, one)), dtype)


def sign_of_pivots(pivots: Any, dtype: Any) -> Any:
    """The determinant of the permutation that swaps of rows make up."""
    aval = aval_of(pivots)
    axis = aval.ndim - 1
    rows = iota_p.bind(dtype=INT32, shape=aval.shape, dimension=axis, sharding=None)
    return sign_of_parity(ne_p.bind(pivots, rows), (axis,), dtype)


def sign_of_permutation(permutation: Any, dtype: Any) -> Any:
    """The determinant of permutations, by the number of pairs that are out of order."""
    shape = (*aval_of(permutation).shape, aval_of(permutation).shape[-1])
    falls = gt_p.bind(columns_of(permutation, shape), rows_of(permutation, shape))
    above = mask(lt_p.bind(*coordinates(shape[-2:])), shape)
    pairs = and_p.bind(falls, above)
    return sign_of_parity(pairs, (len(shape) - 2, len(shape) - 1), dtype)


def product(x: Any) -> Any:
    """The product along the last dimension."""
    return reduce_prod_p.bind(x, axes=(aval_of(x).ndim - 1,))


# ---------------------------------------------------------------- sign and logarithm


def derivative_of_slogdet(primals: Any, tangents: Any, **static: Any) -> Any:
    """d log(det A) = tr(A^-1 A'): its real part is that of log|det A|, its imaginary part turns
    the sign, which of real matrices stays."""
    (a,), (t,) = primals, tangents
    sign, log = slogdet(a, **static)
    aval = aval_of(a)
    n = aval.shape[-1]
    factors, _, permutation = lu_p.bind(a)
    inverse = lu_solve(factors, permutation, mask(eye(aval.dtype, n), aval.shape))
    turn = trace_of_product(inverse, t)
    if not is_complex(aval.dtype):
        return [sign, log], [filled(sign, 0), turn]
    stretch = real_p.bind(turn)
    turned = sub_p.bind(turn, convert(stretch, aval.dtype))
    return [sign, log], [mul_p.bind(turned, sign), stretch]


@with_derivative(derivative_of_slogdet)
def slogdet(a: Any, by_qr: bool = False) -> list[Any]:
    """The sign of the determinant and the logarithm of its modulus: 0 and -inf if it is 0."""
    dtype = aval_of(a).dtype
    if by_qr:
        return slogdet_by_qr(a)
    if 1 <= aval_of(a).shape[-1] <= 2:
        det = small_det(a)
        return [sign_p.bind(det), log_p.bind(abs_p.bind(det))]
    factors, pivots, _ = lu_p.bind(a)
    signs, logs = signs_and_logs(diagonal(factors))
    return [mul_p.bind(signs, sign_of_pivots(pivots, dtype)), logs]


def slogdet_by_qr(a: Any) -> list[Any]:
    """The same for real matrices by QR decomposition: each reflector has the determinant -1."""
    packed, taus = geqrf_p.bind(a)
    signs, logs = signs_and_logs(diagonal(packed))
    reflected = ne_p.bind(taus, constant_like(taus, 0))
    turns = sign_of_parity(reflected, (aval_of(taus).ndim - 1,), aval_of(a).dtype)
    return [mul_p.bind(signs, turns), logs]


def signs_and_logs(d: Any) -> tuple[Any, Any]:
    """The product of the signs of numbers, and the sum of the logarithms of their moduli.

    If one of them is 0, these are 0 and -inf, whatever the others.
    """
    axis = aval_of(d).ndim - 1
    zero = reduce_or_p.bind(eq_p.bind(d, constant_like(d, 0)), axes=(axis,))
    logs = reduce_sum(log_p.bind(abs_p.bind(d)), (axis,))
    signs = product(sign_p.bind(d))
    return (
        select_n_p.bind(zero, signs, filled(signs, 0)),
        select_n_p.bind(zero, logs, filled(logs, -np.inf)),
    )


def trace_of_product(x: Any, y: Any) -> Any:
    """tr(X Y)."""
    terms = mul_p.bind(matrix_transpose(x), y)
    ndim = aval_of(terms).ndim
    return reduce_sum(terms, (ndim - 2, ndim - 1))


# ---------------------------------------------------------------- determinant


def small_det(a: Any) -> Any:
    """The determinant of matrices of size 1 to 3, as the polynomial that it is."""
    n = aval_of(a).shape[-1]

    def element(i: int, j: int) -> Any:
        x = part(a, slice(i, i + 1), slice(j, j + 1))
        return reshape(x, aval_of(x).shape[:-2])

    def minor(i: int, j: int) -> Any:
        """Of the second and third row, or of the only two, without the other columns."""
        first, second = n - 2, n - 1
        return sub_p.bind(
            mul_p.bind(element(first, i), element(second, j)),
            mul_p.bind(element(first, j), element(second, i)),
        )

    if n == 1:
        return element(0, 0)
    if n == 2:
        return minor(0, 1)
    terms = [
        mul_p.bind(element(0, i), minor(j, k)) for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    ]
    return add_p.bind(add_p.bind(terms[0], terms[1]), terms[2])


def derivative_of_det(primals: Any, tangents: Any) -> Any:
    """Jacobi's formula: the derivative of det A is tr(adj(A) A')."""
    (a,), (t,) = primals, tangents
    return large_det(a), [trace_of_product(adjugate(a), t)]


@with_derivative(derivative_of_det)
def large_det(a: Any) -> list[Any]:
    """The determinant by LU decomposition."""
    factors, pivots, _ = lu_p.bind(a)
    d = diagonal(factors)
    total = product(d)
    # Where the product over- or underflows on the way, logarithms may not.
    signs, logs = signs_and_logs(d)
    total = select_n_p.bind(
        and_p.bind(is_finite_p.bind(abs_p.bind(total)), ne_p.bind(total, constant_like(total, 0))),
        mul_p.bind(signs, convert(exp_p.bind(logs), aval_of(a).dtype)),
        total,
    )
    return [mul_p.bind(total, sign_of_pivots(pivots, aval_of(a).dtype))]


def det(a: Any) -> Any:
    """The determinant of square matrices."""
    if 1 <= aval_of(a).shape[-1] <= 3:
        return small_det(a)
    return large_det(a)[0]


def adjugate(a: Any) -> Any:
    """The adjugate of square matrices, adj(A) = det(A) A^-1, whose elements are polynomials.

    From the QR decomposition with pivoting, A P = Q R, and because the adjugate of a product is the
    product of the adjugates in reverse, adj(A) = det(P) det(Q) P adj(R) Q^H. With R in blocks,

        R = (S  c)        adj(R) = h (d S^-1  -S^-1 c)      where h = det(S).
            (0  d),                  (   0        1   )

    The matrix on the right is the inverse of R with 1 in the place of d, its columns but the last
    multiplied by d. It exists if A has rank n - 1: pivoting leaves the zero to d. If the rank is
    lower, h is 0 and so is the adjugate.
    """
    aval = aval_of(a)
    n = aval.shape[-1]
    if n == 0:
        return a
    q, r, p = qr_p.bind(a, pivoting=True, full_matrices=False, use_magma=None)
    identity = mask(eye(aval.dtype, n), aval.shape)
    rows, columns = coordinates((n, n))
    end = constant_like(rows, 2 * n - 2)
    corner = mask(eq_p.bind(add_p.bind(rows, columns), end), aval.shape)
    diagonals = diagonal(r)
    h = product(last(diagonals, slice(n - 1)))
    hd = mul_p.bind(h, reshape(last(diagonals, slice(n - 1, n)), aval_of(h).shape))
    low_rank = eq_p.bind(h, constant_like(h, 0))
    low_rank = broadcast_in_dim(low_rank, aval.shape, range(aval.ndim - 2))
    unit = select_n_p.bind(or_p.bind(corner, low_rank), r, identity)
    inverse = triangular_solve(unit, identity, left_side=True)
    heads = broadcast_in_dim(hd, (*aval_of(h).shape, n - 1), range(aval.ndim - 2))
    tails = reshape(h, (*aval_of(h).shape, 1))
    scales = concatenate([heads, tails], aval.ndim - 2)
    of_r = mul_p.bind(inverse, rows_of(scales, aval.shape))
    sign = mul_p.bind(sign_of_permutation(p, aval.dtype), det_of_unitary(q))
    signs = broadcast_in_dim(sign, aval.shape, range(aval.ndim - 2))
    product_ = mul_p.bind(signs, matmul(of_r, adjoint(q)))
    return permute_rows(product_, inverse_permutation(p))


def det_of_unitary(q: Any) -> Any:
    """The determinant of unitary matrices, exactly 1 or -1 if they are real."""
    (det,) = large_det(q)
    return det if is_complex(aval_of(q).dtype) else sign_p.bind(det)
