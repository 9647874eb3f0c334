"""The exponential of matrices, by scaling and squaring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..control.branches import cond
from ..control.scan import scan
from ..core.avals import aval_of
from ..ops.arithmetic import add_p, div_p, max_p, mul_p, sub_p
from ..ops.bitwise import shift_left_p
from ..ops.comparison import le_p, lt_p
from ..ops.complex import abs_p, real_dtype
from ..ops.conversion import bitcast_convert_type_p, convert
from ..ops.exponential import log_p
from ..ops.identities import stop_gradient
from ..ops.linear import broadcast_in_dim, constant_like, reduce_sum
from ..ops.reductions import reduce_max_p, reduce_or_p
from ..ops.rounding import ceil_p
from ..ops.select import select_n_p
from .gaps import filled
from .matrices import eye, mask, matmul
from .systems import solve
from .triangular_solve import triangular_solve

# For each real dtype the degree m of a Pade approximant, and up to which norm of A it is exact to
# the precision of the dtype. (Higham, "The scaling and squaring method for the matrix exponential
# revisited", SIAM J. Matrix Anal. Appl. 26, 2005.)
APPROXIMANTS = {"float32": (7, 3.925724783138660), "float64": (13, 5.371920351148152)}


def expm(a: Any, upper_triangular: bool, max_squarings: int) -> Any:
    """exp(A) = exp(A / 2^s)^(2^s), with an s for which a Pade approximant is good enough.

    NaN where s would be more than `max_squarings`.
    """
    aval = aval_of(a)
    degree, radius = APPROXIMANTS[np.dtype(real_dtype(aval.dtype)).name]
    s, fits = squarings(a, radius, max_squarings)
    scaled = mul_p.bind(
        a, over(convert(inverse_power_of_two(s, real_dtype(aval.dtype)), aval.dtype), a)
    )
    u, v = pade(scaled, degree)
    p, q = add_p.bind(v, u), sub_p.bind(v, u)
    r = triangular_solve(q, p, left_side=True) if upper_triangular else solve(q, p)

    def squared(r: Any, i: Any) -> Any:
        more = lt_p.bind(i, s)
        anywhere = reduce_or_p.bind(more, axes=tuple(range(aval.ndim - 2)))

        def square(r: Any) -> Any:
            return select_n_p.bind(over(more, r), r, matmul(r, r))

        return cond(anywhere, square, lambda r: r, r), None

    r, _ = scan(squared, r, np.arange(max_squarings, dtype=np.int32))
    return select_n_p.bind(over(fits, r), filled(r, np.nan), r)


def squarings(a: Any, radius: float, most: int) -> tuple[Any, Any]:
    """How often to halve matrices until their norm is at most `radius`, and whether `most` times
    are enough; if not, the number is 0."""
    axis = aval_of(a).ndim - 2
    norm = reduce_max_p.bind(reduce_sum(abs_p.bind(stop_gradient(a)), (axis,)), axes=(axis,))
    ratio = div_p.bind(norm, constant_like(norm, radius))
    fits = le_p.bind(ratio, constant_like(ratio, 2.0**most))
    ratio = select_n_p.bind(fits, filled(ratio, 1), max_p.bind(ratio, constant_like(ratio, 1)))
    doublings = div_p.bind(log_p.bind(ratio), constant_like(ratio, math.log(2)))
    return convert(ceil_p.bind(doublings), np.dtype(np.int32)), fits


def inverse_power_of_two(s: Any, dtype: Any) -> Any:
    """2^-s exactly, made of the bits of its exponent."""
    info = np.finfo(dtype)
    integer = np.dtype(f"int{info.bits}")
    biased = sub_p.bind(np.array(info.maxexp - 1, integer), convert(s, integer))
    bits = shift_left_p.bind(biased, np.array(info.nmant, integer))
    return bitcast_convert_type_p.bind(bits, new_dtype=np.dtype(dtype))


def over(x: Any, matrices: Any) -> Any:
    """A number for each matrix, as matrices."""
    shape = aval_of(matrices).shape
    return broadcast_in_dim(x, shape, range(len(shape) - 2))


def pade(a: Any, degree: int) -> tuple[Any, Any]:
    """The odd and the even part of the numerator N of the Pade approximant N(A) / N(-A).

    Its coefficients are (2m - j)! m! / ((2m)! j! (m - j)!).
    """
    m, shape = degree, aval_of(a).shape
    b = [math.comb(m, j) * math.factorial(2 * m - j) / math.factorial(2 * m) for j in range(m + 1)]
    identity = mask(eye(aval_of(a).dtype, shape[-1]), shape)
    a2 = matmul(a, a)
    powers = [identity, a2, matmul(a2, a2)]
    powers.append(matmul(a2, powers[2]))

    def combined(coefficients: Sequence[float]) -> Any:
        """c0 1 + c1 A^2 + c2 A^4 + ...; from A^8 on as A^6 (A^2 ...)."""
        low, high = coefficients[:4], coefficients[4:]
        total = scaled_sum(low, powers)
        if high:
            total = add_p.bind(total, matmul(powers[3], scaled_sum(high, powers[1:])))
        return total

    return matmul(a, combined(b[1::2])), combined(b[::2])


def scaled_sum(coefficients: Sequence[float], matrices: Sequence[Any]) -> Any:
    total = None
    for c, x in zip(coefficients, matrices):
        term = mul_p.bind(x, constant_like(x, c))
        total = term if total is None else add_p.bind(total, term)
    return total
