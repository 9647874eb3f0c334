"""The polar decomposition A = U H by dynamically weighted Halley iterations.

    U_0 = A / alpha,    U_{k+1} = U_k (a + b U_k^H U_k) (1 + c U_k^H U_k)^-1

maps each singular value s to s (a + b s^2) / (1 + c s^2), and all of them to 1 in at most six or
seven steps, with weights a, b, c that depend on a lower bound l of the least one.
(Nakatsukasa, Bai, Gygi, "Optimizing Halley's iteration for computing the matrix polar
decomposition", SIAM J. Matrix Anal. Appl. 31, 2010.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes, linalg_errors
from ..control.loops import while_loop
from ..core.avals import aval_of
from ..ops.arithmetic import add_p, mul_p, sub_p
from ..ops.bitwise import and_p, not_p
from ..ops.comparison import eq_p, gt_p, lt_p
from ..ops.complex import abs_p, real_dtype
from ..ops.conversion import convert
from ..ops.creation import iota_p
from ..ops.joining import concatenate
from ..ops.linear import constant_like, reduce_sum
from ..ops.powers import rsqrt_p, sqrt_p
from ..ops.reductions import reduce_max_p
from ..ops.select import select_n_p
from .cholesky import cholesky
from .gaps import filled
from .matrices import adjoint, eye, matmul, part, symmetrize
from .qr import qr
from .triangular_solve import triangular_solve


class Weights(NamedTuple):
    """The numbers of one iteration."""

    a: float
    b: float
    c: float


HALLEY = Weights(3.0, 1.0, 3.0)  # the limit of the weights for l -> 1
# Above this c the step by Cholesky decomposition is not stable, and QR decomposition takes it.
MOST_BY_CHOLESKY = 100.0


def weights_from(least: float, tolerance: float, most: int) -> list[Weights]:
    """The weights of the iterations after which all singular values are 1, from a lower bound."""
    found: list[Weights] = []
    while least + tolerance < 1 and len(found) < most:
        square = least * least
        d = (4 * (1 / square - 1) / square) ** (1 / 3)
        root = (1 + d) ** 0.5
        a = root + (2 - d + 2 * (2 - square) / (square * root)) ** 0.5
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        found.append(Weights(a, b, c))
        least = least * (a + b * square) / (1 + c * square)
    return found


def by_qr(u: Any, w: Weights) -> Any:
    """One iteration: with (sqrt(c) U; 1) = (Q1; Q2) R, it is b/c U + (a - b/c)/sqrt(c) Q1 Q2^H."""
    m, n = aval_of(u).shape
    root = w.c**0.5
    stacked = concatenate([times(u, root), eye(aval_of(u).dtype, n)], 0)
    q, _ = qr(stacked, full_matrices=False)
    product = matmul(part(q, slice(m)), adjoint(part(q, slice(m, None))))
    return add_p.bind(times(u, w.b / w.c), times(product, (w.a - w.b / w.c) / root))


def by_cholesky(u: Any, w: Weights) -> Any:
    """One iteration: with 1 + c U^H U = L L^H, it is b/c U + (a - b/c) U L^-H L^-1."""
    n = aval_of(u).shape[1]
    gram = add_p.bind(times(matmul(adjoint(u), u), w.c), eye(aval_of(u).dtype, n))
    l = cholesky(gram, symmetrize_input=False)
    form = dict(lower=True, transpose_a=True, conjugate_a=True)
    z = triangular_solve(l, triangular_solve(l, u, **form), lower=True)
    return add_p.bind(times(u, w.b / w.c), times(z, w.a - w.b / w.c))


def times(x: Any, factor: float) -> Any:
    return mul_p.bind(constant_like(x, factor), x)


def frobenius(x: Any) -> Any:
    moduli = abs_p.bind(x)
    return sqrt_p.bind(reduce_sum(mul_p.bind(moduli, moduli), (0, 1)))


def scaled(x: Any) -> Any:
    """A / alpha with a bound alpha of the norm: the root of the 1-norm times the inf-norm."""
    moduli = abs_p.bind(x)
    norms = [reduce_max_p.bind(reduce_sum(moduli, (axis,)), axes=(0,)) for axis in (0, 1)]
    reciprocal = mul_p.bind(*[rsqrt_p.bind(norm) for norm in norms])
    zero = eq_p.bind(norms[0], constant_like(norms[0], 0))
    reciprocal = select_n_p.bind(zero, reciprocal, filled(reciprocal, 1))
    return mul_p.bind(x, convert(reciprocal, aval_of(x).dtype))


def within(x: Any, sizes: tuple[Any, Any]) -> Any:
    """A matrix with zeros beyond sizes that may be known at run time only."""
    aval = aval_of(x)
    kept = None
    for axis, size in enumerate(sizes):
        index = iota_p.bind(
            dtype=np.dtype(np.int32), shape=aval.shape, dimension=axis, sharding=None
        )
        inside = lt_p.bind(index, convert(size, np.dtype(np.int32)))
        kept = inside if kept is None else and_p.bind(kept, inside)
    return select_n_p.bind(kept, filled(x, 0), x)


def qdwh(
    x: Any,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Any, Any, Any, Any]:
    """The polar decomposition A = U H, with orthonormal columns in U and a Hermitian H.

    Args:
      x: a matrix A of shape `(m, n)` with m at least n, and of full rank.
      is_hermitian: of no effect.
      max_iterations: how many iterations there may be; 10 by default.
      eps: the precision; by default that of the dtype.
      dynamic_shape: the number of rows and columns that are not padding, which is behind them.

    Returns:
      `(u, h, iterations, converged)`: the factors, how many iterations were made, and whether the
      last one hardly changed U.

    Raises:
      ValueError: the matrix has more columns than rows.

    >>> import numpy as np
    >>> from covector import lax
    >>> u, h, _, converged = lax.linalg.qdwh(np.array([[0.0, -3.0], [2.0, 0.0]]))
    >>> print(np.round(u, 4) + 0, np.round(h, 4) + 0, converged, sep="\\n")
    [[ 0. -1.]
     [ 1.  0.]]
    [[2. 0.]
     [0. 3.]]
    True
    """
    shape = aval_of(x).shape
    if len(shape) != 2 or shape[0] < shape[1]:
        raise ValueError(linalg_errors.qdwh_wide(shape))
    most = 10 if max_iterations is None else int(max_iterations)
    eps = float(dtypes.finfo(aval_of(x).dtype).eps) if eps is None else eps
    if dynamic_shape is not None:
        x = within(x, dynamic_shape)
    u, count, going = iterated(
        scaled(x), weights_from(eps, 5 * eps, most), most, (5 * eps) ** (1 / 3)
    )
    # One step of Newton and Schulz makes up for rounding.
    u = sub_p.bind(times(u, 1.5), times(matmul(u, matmul(adjoint(u), u)), 0.5))
    if dynamic_shape is not None:
        u = within(u, dynamic_shape)
    h = symmetrize(matmul(adjoint(u), x), "qdwh")
    return u, h, count, not_p.bind(going)


def iterated(u: Any, weights: list[Weights], most: int, tolerance: float) -> tuple[Any, Any, Any]:
    """U after all iterations, their number, and whether the last one still changed it.

    After those with weights of their own, the limit of the weights is used until U stays.
    """
    previous = None
    for w in weights:
        previous, u = u, (by_qr if w.c > MOST_BY_CHOLESKY else by_cholesky)(u, w)
    real = np.dtype(real_dtype(aval_of(u).dtype))
    limit = np.asarray(tolerance, real)

    def changed(u: Any, previous: Any) -> Any:
        return gt_p.bind(frobenius(sub_p.bind(u, previous)), limit)

    def goes_on(state: Any) -> Any:
        _, count, going = state
        return and_p.bind(going, lt_p.bind(count, np.int32(most)))

    def advance(state: Any) -> Any:
        u, count, _ = state
        after = by_cholesky(u, HALLEY)
        return after, add_p.bind(count, np.int32(1)), changed(after, u)

    going = np.bool_(True) if previous is None else changed(u, previous)
    u, count, going = while_loop(goes_on, advance, (u, np.int32(len(weights)), going))
    return u, count, going
