"""Products of elementary reflectors, in which LAPACK keeps orthogonal matrices.

    Q = H_0 H_1 ... H_{k-1},    H_i = 1 - tau_i v_i v_i^H

where v_i is zero above element i, one there, and stands in column i of a matrix below the diagonal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..core.avals import aval_of
from ..core.zeros import Zero
from ..ops.arithmetic import add_p, mul_p, sub_p
from ..ops.base import Sample, draw
from ..ops.complex import conj, is_complex
from ..ops.linear import add_any
from ..transforms.jvp import jvp
from .base import MatrixOp
from .kernels import lapack, unitary_name
from .matrices import adjoint, columns_of, eye, mask, matmul, part, tril, triu
from .triangular_solve import triangular_solve


class HouseholderProduct(MatrixOp):
    """The first columns of Q, as many as the matrix that holds the reflectors has."""

    ranks = (2, 1)

    def shapes(self, a, taus):
        if a[0] < a[1]:
            raise ValueError(linalg_errors.reflectors_wide(a))
        if taus[0] > min(a):
            raise ValueError(linalg_errors.reflectors_too_many(a, taus))
        return [a]

    def matrix_ref(self, a, taus):
        return [apply_reflectors(a, taus, np.eye(*a.shape, dtype=a.dtype), left=True)]

    def jvp(self, primals, tangents):
        # The rule of the product, written out in matrices.
        n = aval_of(primals[0]).shape[-1]

        def product(a: Any, taus: Any) -> list[Any]:
            m = aval_of(a).shape[-2]
            return [reflected(a, taus, _ones_on_diagonal(a, m, n))]

        return self.bind(*primals), jvp(product, primals, tangents)[1][0]

    def emit(self, b, a, taus):
        a_aval, taus_aval = b.avals_in
        if b.platform == "tpu":
            name = "ProductOfElementaryHouseholderReflectors"
            return b.op("custom_call", a, taus, call_target_name=name)
        name = unitary_name(a_aval.dtype, "orgqr", "ungqr")
        operands = [(a, a_aval), (taus, taus_aval)]
        return lapack(b, name, operands, b.avals_out, {0: 0})[0]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in (np.float32, np.complex64):
            for batch, m, n, k in [((), 3, 2, 2), ((), 3, 3, 1), ((2,), 2, 2, 2), ((), 2, 0, 0)]:
                a = draw(rng, (*batch, m, n), dtype, -1, 1)
                yield Sample((a, draw(rng, (*batch, k), dtype)), {})


class Ormqr(MatrixOp):
    """Q c, or c Q if not `left`; with `transpose`, the conjugate transpose of Q instead of Q."""

    ranks = (2, 1, 2)

    def shapes(self, a, taus, c, *, left, transpose):
        if a[0] != c[0 if left else 1]:
            raise ValueError(linalg_errors.ormqr_shapes(a, c, left))
        return [c]

    def matrix_ref(self, a, taus, c, *, left, transpose):
        return [apply_reflectors(a, taus, c, left, transpose)]

    def jvp(self, primals, tangents, **params):
        (a, taus, c), (t_a, t_taus, t_c) = primals, tangents
        out = self.bind(a, taus, c, **params)
        total = None if type(t_c) is Zero else self.bind(a, taus, t_c, **params)
        if type(t_a) is not Zero or type(t_taus) is not Zero:

            def product(a: Any, taus: Any) -> list[Any]:
                return [multiplied(a, taus, c, **params)]

            (of_q,) = jvp(product, (a, taus), (t_a, t_taus))[1]
            total = of_q if total is None else add_any(total, of_q)
        return out, total

    def transpose(self, ct, a, taus, c, *, left, transpose):
        # The transpose of Q is the conjugate of its adjoint.
        params = dict(left=left, transpose=not transpose)
        if is_complex(aval_of(ct).dtype):
            return None, None, conj(self.bind(a, taus, conj(ct), **params))
        return None, None, self.bind(a, taus, ct, **params)

    def emit(self, b, a, taus, c, *, left, transpose):
        operands = list(zip((a, taus, c), b.avals_in))
        name = unitary_name(b.avals_in[0].dtype, "ormqr", "unmqr")
        options = dict(left=left, transpose=transpose)
        return lapack(b, name, operands, b.avals_out, {0: 2}, **options)[0]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in (np.float32, np.complex64):
            for left in (True, False):
                for transpose in (True, False):
                    for batch in ((), (2,), (0,)):
                        a = draw(rng, (*batch, 3, 2), dtype, -1, 1)
                        taus = draw(rng, (*batch, 2), dtype)
                        c = draw(rng, (*batch, *((3, 2) if left else (2, 3))), dtype)
                        yield Sample((a, taus, c), dict(left=left, transpose=transpose))


def apply_reflectors(
    a: np.ndarray, taus: np.ndarray, c: np.ndarray, left: bool, transpose: bool = False
) -> np.ndarray:
    """`Ormqr` on NumPy."""
    for i in range(len(taus)) if left == transpose else reversed(range(len(taus))):
        v = np.concatenate([np.zeros(i), [1], a[i + 1 :, i]]).astype(a.dtype)
        tau = taus[i].conj() if transpose else taus[i]
        h = np.eye(len(v)) - tau * np.outer(v, v.conj())
        c = h @ c if left else c @ h
    return c


def reflected(a: Any, taus: Any, c: Any, transpose: bool = False) -> Any:
    """Q c, or Q^H c, in products of matrices.

    With the vectors in the columns of V, Q = 1 - V T V^H with an upper triangular T, of which
    1/T = 1/D + U: D is the diagonal matrix of the factors, and U the strictly upper triangle of
    V^H V. So T = (1 + D U)^-1 D.
    (Joffrain, Low, Quintana-Orti, van de Geijn, Van Zee, "Accumulating Householder
    transformations, revisited", ACM TOMS 32, 2006.)
    """
    m, k = aval_of(a).shape[-2], aval_of(taus).shape[-1]
    v = add_p.bind(tril(part(a, columns=slice(k)), -1), _ones_on_diagonal(a, m, k))
    vh = adjoint(v)
    d = columns_of(taus, aval_of(vh).shape)
    square = (*aval_of(taus).shape, k)
    u = mul_p.bind(columns_of(taus, square), triu(matmul(vh, v), 1))
    if transpose:
        # T^H = D^H (1 + D U)^-H
        x = triangular_solve(
            u, matmul(vh, c), left_side=True, transpose_a=True, conjugate_a=True, unit_diagonal=True
        )
        wide = columns_of(conj(taus) if is_complex(aval_of(taus).dtype) else taus, aval_of(x).shape)
        return sub_p.bind(c, matmul(v, mul_p.bind(wide, x)))
    x = triangular_solve(u, matmul(mul_p.bind(d, vh), c), left_side=True, unit_diagonal=True)
    return sub_p.bind(c, matmul(v, x))


def _ones_on_diagonal(a: Any, m: int, k: int) -> Any:
    aval = aval_of(a)
    return mask(eye(aval.dtype, m, k), (*aval.shape[:-2], m, k))


def multiplied(a: Any, taus: Any, c: Any, left: bool, transpose: bool) -> Any:
    """`Ormqr` in products of matrices."""
    if left:
        return reflected(a, taus, c, transpose)
    return adjoint(reflected(a, taus, adjoint(c), not transpose))


householder_product_p = HouseholderProduct("householder_product")
ormqr_p = Ormqr("ormqr")


def householder_product(a: Any, taus: Any) -> Any:
    """Multiply elementary reflectors, as QR decompositions of LAPACK return them.

    Args:
      a: matrices of shape `(..., m, n)` and inexact dtype, with m at least n. Below the diagonal,
        column i holds the reflector i.
      taus: the factors of the reflectors, of the same dtype and of shape `(..., k)`, with k at most
        n.

    Returns:
      The first n columns of the orthogonal (unitary) product, of the shape of `a`.

    Raises:
      ValueError: the sizes do not fit.
      TypeError: the batch dimensions or dtypes differ, or are not accepted.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.linalg.householder_product(np.eye(2), np.array([2.0])) + 0.0
    Array([[-1.,  0.],
           [ 0.,  1.]], dtype=float32)
    """
    return householder_product_p.bind(a, taus)


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
    """Multiply by the Q of a QR decomposition, which stays a list of reflectors.

    Args:
      a: matrices of shape `(..., m, n)` and inexact dtype, whose column i holds the reflector i
        below the diagonal, as `numpy.linalg.qr(x, mode="raw")[0].mT`.
      taus: the factors of the reflectors, of shape `(..., k)`.
      c: what is multiplied: with `left`, of shape `(..., m, p)`, otherwise `(..., p, m)`.
      left: whether Q stands to the left of c.
      transpose: whether to take the transpose of Q, of complex numbers the conjugate transpose.

    Returns:
      The product, of the shape of `c`.

    Raises:
      ValueError: the sizes do not fit.
      TypeError: the batch dimensions or dtypes differ, or are not accepted.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.linalg.ormqr(np.eye(2), np.array([2.0]), np.array([[1.0], [5.0]]))
    Array([[-1.],
           [ 5.]], dtype=float32)
    """
    return ormqr_p.bind(a, taus, c, left=left, transpose=transpose)
