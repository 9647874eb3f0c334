"""The LU decomposition with partial pivoting, and the systems of equations that it solves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..control.reduce import mapped
from ..core.avals import aval_of
from ..core.axis import Axis
from ..core.zeros import Zero
from ..ops.arithmetic import add_p
from ..ops.base import Sample, draw
from ..ops.dynamic_slicing import dynamic_slice_p, dynamic_update_slice_p
from ..ops.families import check_accepts
from ..ops.linear import broadcast_in_dim, expand_dims, reshape
from ..ops.shaping import broadcast_shapes
from .base import MatrixOp
from .kernels import INT32, info_aval, inline_function, lapack, loop, nan_where_failed
from .matrices import (
    batch_eye,
    inverse_permutation,
    matmul,
    padded_columns,
    padded_rows,
    part,
    permute_rows,
    tril,
    triu,
)
from .triangular_solve import triangular_solve

# ---------------------------------------------------------------- the decomposition


class LU(MatrixOp):
    """P A = L U: L and U in one matrix, the swaps of rows that make up P, and P.

    The diagonal of L is ones and not stored. Step i swapped rows i and `pivots[i]`, counted from 0.
    """

    multiple_results = True

    def shapes(self, a):
        return [a, (min(a),), (a[0],)]

    def dtypes(self, a):
        return [a, INT32, INT32]

    def matrix_ref(self, a):
        a = a.copy()
        pivots, permutation = np.arange(min(a.shape)), np.arange(len(a))
        for k in range(min(a.shape)):
            size = np.abs(a[k:, k].real) + np.abs(a[k:, k].imag)
            pivots[k] = i = k + np.argmax(size)
            a[[k, i]], permutation[[k, i]] = a[[i, k]], permutation[[i, k]]
            if a[k, k] != 0:
                a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
        return [a, pivots, permutation]

    def jvp(self, primals, tangents):
        # From P A = L U:  L^-1 P A' U^-1 = L^-1 L' + U' U^-1, a strictly lower and an upper
        # triangular matrix. (De Hoog, Anderssen, Lukas, "Differentiation of matrix functionals
        # using triangular factorization", Math. Comp. 80, 2011.)
        (a,), (t,) = primals, tangents
        lu, pivots, permutation = self.bind(a)
        l, u = square_factors(lu)
        x = permute_rows(t, permutation)
        x = triangular_solve(l, x, left_side=True, lower=True, unit_diagonal=True)
        x = triangular_solve(u, x)
        tangent = add_p.bind(matmul(l, tril(x, -1)), matmul(triu(x), u))
        steps = [Zero(aval_of(x).to_tangent_aval()) for x in (pivots, permutation)]
        return [lu, pivots, permutation], [tangent, *steps]

    def emit(self, b, a):
        (aval,) = b.avals_in
        lu_aval, pivots_aval, _ = b.avals_out
        results = [lu_aval, pivots_aval, info_aval(b)]
        lu, pivots, info = lapack(b, "getrf", [(a, aval)], results, {0: 0})
        pivots = b.op("subtract", pivots, b.full(1, pivots_aval), out=pivots_aval)
        # A positive code says that U is singular, which is no failure.
        (lu,) = nan_where_failed(b, info, [(lu, lu_aval)], "GE")

        def of_pivots(pivots: Any) -> list[Any]:
            return [lu_pivots_to_permutation(pivots, aval.shape[-2])]

        return [lu, pivots, *inline_function(b, of_pivots, [pivots], [pivots_aval])]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in (np.float32, np.complex64):
            for shape in [(3, 3), (2, 3), (3, 2), (2, 2, 2), (0, 2), (2, 0), (0, 2, 2)]:
                yield Sample((draw(rng, shape, dtype),), {})
        yield Sample((np.array([[1, 2], [2, 4]], np.float32),), {}, smooth=False)


def square_factors(lu: Any) -> tuple[Any, Any]:
    """The factors L and U of matrices that need not be square, made square with an identity."""
    aval = aval_of(lu)
    m, n = aval.shape[-2:]
    k = min(m, n)
    l, u = tril(part(lu, columns=slice(k)), -1), triu(part(lu, rows=slice(k)))
    if m > k:
        l = padded_columns(l, 0, m - k)
    if n > k:
        corner = padded_rows(padded_columns(batch_eye(lu, n - k), k, 0), k, 0)
        u = add_p.bind(padded_rows(u, 0, n - k), corner)
    return add_p.bind(l, batch_eye(lu, m)), u


# ---------------------------------------------------------------- pivots


class LUPivotsToPermutation(MatrixOp):
    """The permutation of `permutation_size` rows that swaps of rows make up."""

    ranks = (1,)
    accepts = (np.int32,)
    by_lapack = False

    def check_dtypes(self, avals):
        check_accepts(self.name, self.accepts, avals)

    def shapes(self, pivots, *, permutation_size):
        if permutation_size < pivots[0]:
            raise ValueError(linalg_errors.permutation_too_short(permutation_size, pivots[0]))
        return [(permutation_size,)]

    def matrix_ref(self, pivots, *, permutation_size):
        permutation = np.arange(permutation_size)
        for i, j in enumerate(pivots):
            permutation[[i, j]] = permutation[[j, i]]
        return [permutation]

    def jvp(self, primals, tangents, **params):
        out = self.bind(*primals, **params)
        return out, Zero(aval_of(out).to_tangent_aval())

    def emit(self, b, pivots, *, permutation_size):
        (aval,), (out,) = b.avals_in, b.avals_out
        start = b.op("iota", out=out, iota_dimension=out.ndim - 1)
        if 0 in (aval.size, permutation_size):
            return start

        def step(i: Any, permutation: Any, pivots: Any) -> list[Any]:
            def swapped(*args: Any) -> list[Any]:
                return [swap(i, *args)]

            for size in reversed(aval.shape[:-1]):
                swapped = mapped(swapped, Axis(size))
            return [*swapped(permutation, pivots), pivots]

        return loop(b, aval.shape[-1], step, [start, pivots], [out, aval])[0]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, size in [((3,), 3), ((2,), 4), ((2, 3), 4), ((0,), 2), ((0,), 0), ((0, 2), 2)]:
            pivots = rng.integers(0, max(size, 1), shape).astype(np.int32)
            yield Sample((pivots,), dict(permutation_size=size))


def swap(i: Any, permutation: Any, pivots: Any) -> Any:
    """A permutation with its entries i and `pivots[i]` swapped."""
    j = reshape(dynamic_slice_p.bind(pivots, i, slice_sizes=(1,)), ())
    x, y = [dynamic_slice_p.bind(permutation, k, slice_sizes=(1,)) for k in (i, j)]
    return dynamic_update_slice_p.bind(dynamic_update_slice_p.bind(permutation, y, i), x, j)


lu_p = LU("lu")
lu_pivots_to_permutation_p = LUPivotsToPermutation("lu_pivots_to_permutation")


def lu(x: Any) -> list[Any]:
    """The LU decomposition with partial pivoting: P A = L U.

    Args:
      x: matrices A, of shape `(..., m, n)` and inexact dtype.

    Returns:
      `[lu, pivots, permutation]`. The upper triangle of `lu`, of the shape of `x`, is U, and below
      is L, which has ones on its diagonal. Row i was swapped with row `pivots[..., i]`, for
      `min(m, n)` rows in turn; or in other words, row i of P A is row `permutation[..., i]` of A.
      Both are int32.

    Raises:
      TypeError: `x` is no matrix, or not inexact.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.linalg.lu(np.array([[1.0, 3.0], [2.0, 4.0]]))[0]
    Array([[2. , 4. ],
           [0.5, 1. ]], dtype=float32)
    """
    return list(lu_p.bind(x))


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """The permutation that swaps of rows make up.

    Args:
      pivots: int32 array of shape `(..., k)`: row i is swapped with row `pivots[..., i]`, in turn.
      permutation_size: the number of rows, at least k.

    Returns:
      An int32 array of shape `(..., permutation_size)`: for each row, which one it was before.

    Raises:
      ValueError: there are more pivots than rows.
      TypeError: `pivots` is not of dtype int32.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.linalg.lu_pivots_to_permutation(np.array([2, 2]), 3)
    Array([2, 0, 1], dtype=int32)
    """
    return lu_pivots_to_permutation_p.bind(pivots, permutation_size=permutation_size)


# ---------------------------------------------------------------- systems of equations


def lu_solve(lu: Any, permutation: Any, b: Any, trans: int = 0) -> Any:
    """Solve op(A) X = B, given the LU decomposition of A.

    Args:
      lu, permutation: as `lax.linalg.lu` returns them, of square matrices.
      b: right-hand sides, of shape `(..., n, k)`, or vectors if they have one dimension less than
        `lu`. Batch dimensions broadcast.
      trans: 0 to solve with A, 1 with its transpose, 2 with its conjugate transpose.

    Returns:
      X, of the shape of `b` if nothing broadcasts.

    Raises:
      ValueError: the shapes do not fit.
    """
    shape, b_shape = aval_of(lu).shape, aval_of(b).shape
    check_lu_solve(shape, b_shape, trans)
    vector = len(b_shape) == len(shape) - 1
    if vector:
        b = expand_dims(b, (len(b_shape),))
    batch = broadcast_shapes(shape[:-2], aval_of(permutation).shape[:-1], aval_of(b).shape[:-2])
    lu, permutation, b = [to_batch(x, batch, k) for x, k in ((lu, 2), (permutation, 1), (b, 2))]
    x = solve_batch(lu, permutation, b, trans)
    return reshape(x, aval_of(x).shape[:-1]) if vector else x


def solve_batch(lu: Any, permutation: Any, b: Any, trans: int) -> Any:
    """`lu_solve` for operands of the same batch dimensions."""
    lower = dict(left_side=True, lower=True, unit_diagonal=True)
    upper = dict(left_side=True)
    if trans == 0:
        b = permute_rows(b, permutation)
        return triangular_solve(lu, triangular_solve(lu, b, **lower), **upper)
    form = dict(transpose_a=True, conjugate_a=trans == 2)
    b = triangular_solve(lu, triangular_solve(lu, b, **upper, **form), **lower, **form)
    return permute_rows(b, inverse_permutation(permutation))


def check_lu_solve(lu: tuple[int, ...], b: tuple[int, ...], trans: int) -> None:
    """Raise unless an LU decomposition and a right-hand side fit."""
    if len(lu) < 2 or lu[-1] != lu[-2]:
        raise ValueError(linalg_errors.lu_not_square(lu))
    if not b:
        raise ValueError(linalg_errors.lu_solve_scalar(b))
    rows = b[-1] if len(b) == len(lu) - 1 else b[-2] if len(b) > 1 else None
    if rows != lu[-1]:
        raise ValueError(linalg_errors.lu_solve_shapes(lu, b))
    if trans not in (0, 1, 2):
        raise ValueError(linalg_errors.lu_solve_trans(trans))


def to_batch(x: Any, batch: tuple[int, ...], rank: int) -> Any:
    """Operands broadcast to the given batch dimensions; `rank` is theirs without any."""
    shape = aval_of(x).shape
    target = (*batch, *shape[len(shape) - rank :])
    return broadcast_in_dim(x, target, range(len(target) - len(shape), len(target)))
