"""Systems of equations with tridiagonal matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..core.avals import aval_of
from ..core.zeros import Zero
from ..ops.arithmetic import add_p, mul_p, neg_p
from ..ops.base import Sample, draw
from ..ops.joining import concatenate
from ..ops.linear import add_any, full, instantiate, move_axis, reshape
from .base import MatrixOp
from .kernels import column_major_call, info_aval, lapack, nan_where_failed
from .matrices import columns_of, last, padded_rows, part


class TridiagonalSolve(MatrixOp):
    """Solve A X = B, where A has the diagonal d, dl below it from dl[1] on, and du above it up to
    du[-2].

    With `perturb_singular`, pivots that are zero are made a little different from it.
    """

    ranks = (1, 1, 1, 2)

    def batch_of(self, avals):
        *diagonals, b = [aval.shape for aval in avals]
        if len(set(diagonals)) > 1:
            raise TypeError(linalg_errors.diagonals_differ(diagonals))
        if diagonals[0] != b[:-1]:
            raise TypeError(linalg_errors.diagonals_and_b(diagonals[0], b))
        return super().batch_of(avals)

    def shapes(self, dl, d, du, b, *, perturb_singular):
        return [b]

    def matrix_ref(self, dl, d, du, b, *, perturb_singular):
        a = np.diag(d) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1)
        try:
            return [np.linalg.solve(a, b)]
        except np.linalg.LinAlgError:
            return [np.nan]

    def jvp(self, primals, tangents, **params):
        # From A X = B:  A X' = B' - A' X.
        diagonals = primals[:3]
        *ts, t_b = tangents
        x = self.bind(*primals, **params)
        if all(type(t) is Zero for t in ts):
            return x, self.bind(*diagonals, t_b, **params)
        product = neg_p.bind(tridiagonal_product(*map(instantiate, ts), x))
        right = product if type(t_b) is Zero else add_any(t_b, product)
        return x, self.bind(*diagonals, right, **params)

    def transpose(self, ct, dl, d, du, b, **params):
        zero = full((*aval_of(d).shape[:-1], 1), 0, aval_of(d).dtype)
        axis = aval_of(d).ndim - 1
        below = concatenate([zero, last(du, slice(-1))], axis)
        above = concatenate([last(dl, slice(1, None)), zero], axis)
        return None, None, None, self.bind(below, d, above, ct, **params)

    def vmap(self, axis, dims, dl, d, du, b, **params):
        if any(dim is not None for dim in dims[:3]):
            return super().vmap(axis, dims, dl, d, du, b, **params)
        # One matrix for all examples: their right-hand sides are more columns of one.
        to = aval_of(b).ndim - 2
        b = move_axis(b, dims[3], to)
        shape = aval_of(b).shape
        merged = reshape(b, (*shape[:to], shape[to] * shape[to + 1]))
        return reshape(self.bind(dl, d, du, merged, **params), shape), to

    def emit(self, b, dl, d, du, x, *, perturb_singular):
        operands = list(zip((dl, d, du, x), b.avals_in))
        out = b.avals_in[-1]
        if perturb_singular and b.platform == "cpu":
            return column_major_call(b, "tridiagonal_solve_perturbed_ffi", operands, [out])[0]
        results = [*b.avals_in, info_aval(b)]
        *_, x, info = lapack(b, "gtsv", operands, results, {i: i for i in range(4)})
        return nan_where_failed(b, info, [(x, out)])[0]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for perturb in (False, True):
            for dtype in (np.float32, np.complex64):
                for batch, m, n in [((), 4, 2), ((2,), 3, 1), ((), 1, 1), ((0,), 3, 1)]:
                    dl, d, du = [draw(rng, (*batch, m), dtype, -0.5, 0.5) for _ in range(3)]
                    args = (dl, (d + 2).astype(dtype), du, draw(rng, (*batch, m, n), dtype))
                    yield Sample(args, dict(perturb_singular=perturb))


def tridiagonal_product(dl: Any, d: Any, du: Any, x: Any) -> Any:
    """The product of a tridiagonal matrix and X."""
    shape = aval_of(x).shape
    below = mul_p.bind(columns_of(dl, shape), padded_rows(part(x, slice(-1)), 1, 0))
    above = mul_p.bind(columns_of(du, shape), padded_rows(part(x, slice(1, None)), 0, 1))
    return add_p.bind(add_p.bind(mul_p.bind(columns_of(d, shape), x), below), above)


tridiagonal_solve_p = TridiagonalSolve("tridiagonal_solve")


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
    """Solve A X = B, where A is tridiagonal.

    Args:
      dl: the diagonal of A below the main one, of shape `(..., m)` and inexact dtype:
        `dl[i] = A[i, i - 1]`, and `dl[0]` is not used.
      d: the main diagonal.
      du: the diagonal above it: `du[i] = A[i, i + 1]`, and `du[m - 1]` is not used.
      b: right-hand sides, of shape `(..., m, n)`.
      perturb_singular: whether to make pivots that are nearly zero a little larger, so that the
        result is finite even if A is singular, as inverse iteration for eigenvectors wants it.

    Returns:
      X, of the shape of `b`; NaN where A is singular.

    Raises:
      TypeError: the shapes do not fit, or the dtypes differ or are not inexact.

    >>> import numpy as np
    >>> from covector import lax
    >>> ones, b = np.ones(2), np.array([[4.0], [5.0]])
    >>> lax.linalg.tridiagonal_solve(ones, 2 * ones, ones, b)
    Array([[1.],
           [2.]], dtype=float32)
    """
    return tridiagonal_solve_p.bind(dl, d, du, b, perturb_singular=perturb_singular)
