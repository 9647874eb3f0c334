"""Systems of equations with triangular matrices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..core.avals import aval_of
from ..core.zeros import Zero
from ..ops.arithmetic import neg_p
from ..ops.base import Sample, draw
from ..ops.complex import conj, is_complex
from ..ops.linear import add_any, expand_dims, move_axis, reshape
from .base import LETTERS, MatrixOp, check_square
from .kernels import char, lapack
from .matrices import matmul, matrix_transpose, tril, triu


class TriangularSolve(MatrixOp):
    """Solve op(A) X = B, or X op(A) = B if not `left_side`.

    A is triangular, and its other triangle is not read; op transposes or conjugates or both. With
    `unit_diagonal` the diagonal is taken for ones and not read either.
    """

    ranks = (2, 2)
    by_lapack = False

    def shapes(self, a, b, *, left_side, **params):
        check_square("triangular_solve", a)
        if a[0] != b[0 if left_side else 1]:
            raise ValueError(linalg_errors.triangular_solve_shapes(a, b, left_side))
        return [b]

    def matrix_ref(self, a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
        a = np.tril(a) if lower else np.triu(a)
        if unit_diagonal:
            np.fill_diagonal(a, 1)
        a = a.conj() if conjugate_a else a
        a = a.T if transpose_a else a
        if (np.diagonal(a) == 0).any():  # Gauss' method divides by it
            return [substitute(a, b) if left_side else substitute(a.T, b.T).T]
        return [np.linalg.solve(a, b) if left_side else np.linalg.solve(a.T, b.T).T]

    def jvp(self, primals, tangents, **params):
        (a, b), (t_a, t_b) = primals, tangents
        x = self.bind(a, b, **params)
        if type(t_a) is Zero:
            return x, self.bind(a, t_b, **params)
        of_a = self.derivative_a(t_a, a, x, **params)
        if type(t_b) is Zero:
            return x, of_a
        return x, add_any(of_a, self.bind(a, t_b, **params))

    def derivative_a(
        self, t, a, x, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal
    ) -> Any:
        """From A X = B follows  A' X + A X' = 0:  X' = -A^-1 A' X, in the cheaper order."""
        t = tril(t, -int(unit_diagonal)) if lower else triu(t, int(unit_diagonal))
        t = neg_p.bind(t)
        t = matrix_transpose(t) if transpose_a else t
        t = conj(t) if conjugate_a else t
        params = dict(
            left_side=left_side,
            lower=lower,
            transpose_a=transpose_a,
            conjugate_a=conjugate_a,
            unit_diagonal=unit_diagonal,
        )
        m, n = aval_of(x).shape[-2:]
        if left_side:
            if m > n:
                return self.bind(a, matmul(t, x), **params)
            return matmul(self.bind(a, t, **params), x)
        if m < n:
            return self.bind(a, matmul(x, t), **params)
        return matmul(x, self.bind(a, t, **params))

    def transpose(self, ct, a, b, *, transpose_a, **params):
        return None, self.bind(a, ct, transpose_a=not transpose_a, **params)

    def vmap(self, axis, dims, a, b, *, left_side, **params):
        if dims[0] is not None:
            return super().vmap(axis, dims, a, b, left_side=left_side, **params)
        # One matrix for all examples: their right-hand sides are more columns of one, or rows.
        rank = aval_of(b).ndim
        to = rank - 1 if left_side else rank - 2
        b = move_axis(b, dims[1], to)
        shape = aval_of(b).shape
        start = rank - 2 if left_side else rank - 3
        merged = (*shape[:start], shape[start] * shape[start + 1], *shape[start + 2 :])
        x = self.bind(a, reshape(b, merged), left_side=left_side, **params)
        return reshape(x, shape), to

    def emit(self, b, a, x, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
        a_aval, x_aval = b.avals_in
        if conjugate_a and not transpose_a:
            a, conjugate_a = conjugated(b, a, a_aval), False
        if b.platform == "cpu" and np.dtype(a_aval.dtype).name in LETTERS:
            (out,) = lapack(
                b,
                "trsm",
                [(a, a_aval), (x, x_aval)],
                [x_aval],
                {0: 1},
                side=char("L" if left_side else "R"),
                uplo=char("L" if lower else "U"),
                trans_x=char("N" if not transpose_a else "C" if conjugate_a else "T"),
                diag=char("U" if unit_diagonal else "N"),
            )
            return out
        form = "NO_TRANSPOSE" if not transpose_a else "ADJOINT" if conjugate_a else "TRANSPOSE"
        return b.op(
            "triangular_solve",
            a,
            x,
            left_side=left_side,
            lower=lower,
            unit_diagonal=unit_diagonal,
            transpose_a=f"#stablehlo<transpose {form}>",
        )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for left, lower, transposed, unit in product((True, False), repeat=4):
            for conjugate, dtype in ((False, np.float32), (True, np.complex64)):
                params = dict(
                    left_side=left,
                    lower=lower,
                    transpose_a=transposed,
                    conjugate_a=conjugate,
                    unit_diagonal=unit,
                )
                shape = (3, 2) if left else (2, 3)
                a = triangular(rng, (3, 3), dtype)
                yield Sample((a, draw(rng, shape, dtype)), params)
        params = dict(params, left_side=True)
        for batch, n in [((2,), 2), ((2,), 0), ((0,), 2)]:
            a = triangular(rng, (*batch, n, n), np.complex64)
            yield Sample((a, draw(rng, (*batch, n, 1), np.complex64)), params)


def triangular(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A random matrix with triangles that are far from singular."""
    return (draw(rng, shape, dtype, -0.5, 0.5) + 2 * np.eye(shape[-1])).astype(dtype)


def substitute(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve a triangular system on NumPy, dividing by the diagonal even where it is zero."""
    x = b.copy()
    rows = range(len(a)) if not np.triu(a, 1).any() else reversed(range(len(a)))
    done: list[int] = []
    for i in rows:
        x[i] = (x[i] - a[i, done] @ x[done]) / a[i, i]
        done.append(i)
    return x


def conjugated(b: Any, x: Any, aval: Any) -> Any:
    """Write the conjugate of complex numbers."""
    part = aval.update(dtype=np.finfo(aval.dtype).dtype)
    imag = b.op("negate", b.op("imag", x, out=part), out=part)
    return b.op("complex", b.op("real", x, out=part), imag, out=aval)


triangular_solve_p = TriangularSolve("triangular_solve")


def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """Solve op(A) X = B, or X op(A) = B, where A is triangular.

    Args:
      a: square matrices, of shape `(..., m, m)` and inexact dtype. One triangle is read.
      b: right-hand sides of the same dtype, of shape `(..., m, n)` with `left_side`, and otherwise
        `(..., n, m)`; or vectors of shape `(..., m)`.
      left_side: whether op(A) stands to the left of X.
      lower: whether the lower triangle is read.
      transpose_a, conjugate_a: whether op transposes A, and conjugates it.
      unit_diagonal: whether the diagonal is taken for ones, and not read.

    Returns:
      X, of the shape and dtype of `b`.

    Raises:
      ValueError: the matrices are not square, or the sizes do not fit.
      TypeError: the batch dimensions or dtypes differ, or are not accepted.

    >>> import numpy as np
    >>> from covector import lax
    >>> a, b = np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([[2.0], [9.0]])
    >>> lax.linalg.triangular_solve(a, b, left_side=True, lower=True)
    Array([[1.],
           [2.]], dtype=float32)
    """
    a_aval, b_aval = aval_of(a), aval_of(b)
    singleton = b_aval.ndim == a_aval.ndim - 1
    if singleton:
        axis = b_aval.ndim if left_side else b_aval.ndim - 1
        b = expand_dims(b, (axis,))
    x = triangular_solve_p.bind(
        a,
        b,
        left_side=left_side,
        lower=lower,
        transpose_a=transpose_a,
        conjugate_a=conjugate_a and is_complex(a_aval.dtype),
        unit_diagonal=unit_diagonal,
    )
    return reshape(x, b_aval.shape) if singleton else x
