"""Products of matrices with their own transposes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.arithmetic import add_p, mul_p
from ..ops.base import Sample, draw
from ..ops.families import FLOATS
from ..ops.linear import add_any, constant_like
from .base import MatrixOp
from .kernels import inline_function
from .matrices import matmul, matrix_transpose, tril


class SymmetricProduct(MatrixOp):
    """alpha A A^T + beta C; of a platform's own function, only the lower triangle may be right."""

    ranks = (2, 2)
    accepts = FLOATS
    by_lapack = False

    def shapes(self, a, c, *, alpha, beta):
        if c[0] != c[1] or a[0] != c[1]:
            raise ValueError(linalg_errors.symmetric_product_shapes(a, c))
        return [c]

    def matrix_ref(self, a, c, *, alpha, beta):
        return [alpha * (a @ a.T) + beta * c]

    def jvp(self, primals, tangents, *, alpha, beta):
        (a, c), (t_a, t_c) = primals, tangents
        out = self.bind(a, c, alpha=alpha, beta=beta)
        from_c = None if type(t_c) is Zero else mul_p.bind(constant_like(t_c, beta), t_c)
        if type(t_a) is Zero:
            return out, from_c
        half = matmul(t_a, matrix_transpose(a))
        both = add_p.bind(half, matrix_transpose(half))
        from_a = mul_p.bind(constant_like(both, alpha), both)
        return out, from_a if from_c is None else add_any(from_a, from_c)

    def transpose(self, ct, a, c, *, alpha, beta):
        assert type(a) is not UndefinedPrimal, "symmetric_product is linear in c alone"
        return None, mul_p.bind(constant_like(ct, beta), ct)

    def emit(self, b, a, c, *, alpha, beta):
        def program(a: Any, c: Any) -> list[Any]:
            product = matmul(a, matrix_transpose(a))
            scaled = mul_p.bind(constant_like(product, alpha), product)
            return [add_p.bind(scaled, mul_p.bind(constant_like(c, beta), c))]

        return inline_function(b, program, [a, c], b.avals_in)[0]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for batch, m, n in [((), 3, 2), ((2,), 2, 3), ((), 0, 2)]:
            args = (draw(rng, (*batch, m, n), np.float32), draw(rng, (*batch, m, m), np.float32))
            yield Sample(args, dict(alpha=2.0, beta=-1.0))


symmetric_product_p = SymmetricProduct("symmetric_product")


def symmetric_product(
    a_matrix: Any,
    c_matrix: Any,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Any:
    """The matrix alpha A A^T + beta C, with symmetric C.

    Args:
      a_matrix: matrices A, of shape `(..., m, n)` and a floating dtype.
      c_matrix: symmetric matrices C, of shape `(..., m, m)`.
      alpha, beta: numbers.
      symmetrize_output: whether to make the upper triangle the mirror image of the lower one; if
        not, only the lower one is right on every platform.

    Returns:
      An array of the shape of `c_matrix`.

    Raises:
      ValueError: the shapes do not fit.
      TypeError: the batch dimensions or dtypes differ, or are not floating.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.linalg.symmetric_product(np.array([[1.0], [2.0]]), np.eye(2), beta=10.0)
    Array([[11.,  2.],
           [ 2., 14.]], dtype=float32)
    """
    out = symmetric_product_p.bind(a_matrix, c_matrix, alpha=alpha, beta=beta)
    if not symmetrize_output:
        return out
    upper = matrix_transpose(tril(out, -1))
    return add_p.bind(tril(out), upper)
