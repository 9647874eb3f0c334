"""Norms of vectors and matrices, and condition numbers.

Where a norm is 0 it has no derivative. Of the subgradients of roots, 0 is returned; sums and
maxima of moduli have the derivatives that `abs` and `max` have there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import numpy_linalg_errors as errors
from ...core.array import Array, ArrayLike
from ...linalg.gaps import filled
from ...linalg.svd import svd
from ...linalg.systems import solve
from ...ops.arithmetic import div_p, mul_p
from ...ops.bitwise import and_p, not_p
from ...ops.comparison import eq_p, ne_p
from ...ops.complex import abs_p, conj, is_complex, real_dtype, real_p
from ...ops.conversion import convert as to_dtype
from ...ops.linear import broadcast_in_dim, constant_like, expand_dims, move_axis, reduce_sum
from ...ops.powers import pow_p, sqrt_p
from ...ops.reductions import reduce_max_p, reduce_min_p, reduce_or_p
from ...ops.select import select_n_p
from ..arguments import axes_argument
from ..composite import composite
from ..promotion import shape_of
from .operands import inexact_array

INFINITIES = (np.inf, -np.inf)

# ---------------------------------------------------------------- reductions


def _root(x: Any, exponent: float) -> Any:
    """x to a power, with a derivative of 0 where x is 0."""
    zero = eq_p.bind(x, constant_like(x, 0))
    safe = select_n_p.bind(zero, x, filled(x, 1))
    root = sqrt_p.bind(safe) if exponent == 0.5 else pow_p.bind(safe, constant_like(x, exponent))
    return select_n_p.bind(zero, root, filled(x, 0))


def _euclidean(x: Any, axes: tuple[int, ...]) -> Any:
    """The square root of the sum of squared moduli."""
    if is_complex(x.dtype):
        squares = real_p.bind(mul_p.bind(x, conj(x)))
    else:
        squares = mul_p.bind(x, x)
    return _root(reduce_sum(squares, axes), 0.5)


def _greatest(x: Any, axes: tuple[int, ...]) -> Any:
    """The greatest of numbers that are not negative; 0 if there is none."""
    shape = shape_of(x)
    if any(shape[axis] == 0 for axis in axes):
        return reduce_sum(x, axes)
    return reduce_max_p.bind(x, axes=axes)


def _least(x: Any, axes: tuple[int, ...]) -> Any:
    if any(shape_of(x)[axis] == 0 for axis in axes):
        raise ValueError(errors.least_of_nothing(shape_of(x)))
    return reduce_min_p.bind(x, axes=axes)


def _of_vectors(x: Any, order: Any, axes: tuple[int, ...]) -> Any:
    """The norm of some order over all of the axes."""
    if order is None or order == 2:
        return _euclidean(x, axes)
    if isinstance(order, str):
        raise ValueError(errors.vector_order(order))
    if order == 0:
        nonzero = ne_p.bind(x, constant_like(x, 0))
        return reduce_sum(to_dtype(nonzero, real_dtype(x.dtype)), axes)
    moduli = abs_p.bind(x)
    if order == np.inf:
        return _greatest(moduli, axes)
    if order == -np.inf:
        return _least(moduli, axes)
    if order == 1:
        return reduce_sum(moduli, axes)
    powers = reduce_sum(pow_p.bind(moduli, constant_like(moduli, order)), axes)
    if order > 0:
        return _root(powers, 1 / order)
    return pow_p.bind(powers, constant_like(powers, 1 / order))


def _of_matrices(x: Any, order: Any, axes: tuple[int, int]) -> Any:
    """The norm of some order of the matrices in two dimensions."""
    if order is None or order in ("f", "fro"):
        return _euclidean(x, axes)
    rows, columns = axes
    if order in (1, -1, *INFINITIES) and not isinstance(order, str):
        summed, rest = (rows, columns) if abs(order) == 1 else (columns, rows)
        sums = reduce_sum(abs_p.bind(x), (summed,))
        reduce = _greatest if order > 0 else _least
        return reduce(sums, (rest - (rest > summed),))
    if order not in ("nuc", 2, -2):
        raise ValueError(errors.matrix_order(order))
    x = move_axis(x, columns, x.ndim - 1)
    x = move_axis(x, rows - (rows > columns), x.ndim - 2)
    s = svd(x, compute_uv=False)
    last = (len(shape_of(s)) - 1,)
    if order == "nuc":
        return reduce_sum(s, last)
    return _greatest(s, last) if order == 2 else _least(s, last)


@composite
def _norm(x: Any, *, order: Any, axes: tuple[int, ...], matrix: bool, keepdims: bool) -> Any:
    out = _of_matrices(x, order, axes) if matrix else _of_vectors(x, order, axes)
    return expand_dims(out, sorted(axes)) if keepdims else out


# ---------------------------------------------------------------- functions


def norm(
    x: ArrayLike,
    ord: Any = None,
    axis: tuple[int, ...] | int | None = None,
    keepdims: bool = False,
) -> Array:
    """The norm of vectors or of matrices.

    Args:
      x: an array.
      ord: the order. Of vectors, a number p: the sum of the moduli to the power p, to the power
        1/p; 0 to count what is not 0; `inf` for the greatest modulus, `-inf` for the least. Of
        matrices, `"fro"`: the root of the sum of squares; 1 for the greatest sum of moduli of a
        column, `inf` for that of a row, and -1 and `-inf` for the least; 2 and -2 for the greatest
        and least singular value, `"nuc"` for their sum. By default 2 for vectors, `"fro"` for
        matrices.
      axis: the dimension of the vectors, or the two of the matrices; by default that of a vector
        or those of a matrix, and without `ord` all dimensions.
      keepdims: whether these dimensions stay, with size 1.

    Returns:
      An array of real numbers. The derivative of the root of a sum of powers is 0 where it is 0.

    Raises:
      ValueError: there is no such order, or `axis` is not one or two dimensions.

    >>> import covector as cv, covector.numpy as jnp
    >>> print(jnp.linalg.norm(jnp.array([3.0, 4.0])))
    5.0
    >>> cv.grad(jnp.linalg.norm)(jnp.zeros(2))
    Array([0., 0.], dtype=float32)
    """
    x = inexact_array("norm", x)
    axes = axes_argument("norm", axis, x.ndim)
    if axis is None and ord is None:
        return _norm(x, order=2, axes=axes, matrix=False, keepdims=bool(keepdims))
    if len(axes) not in (1, 2):
        raise ValueError(errors.axes_of_norm(axes))
    return _norm(x, order=ord, axes=axes, matrix=len(axes) == 2, keepdims=bool(keepdims))


def vector_norm(
    x: ArrayLike,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: Any = 2,
) -> Array:
    """The norm of vectors; see `norm`.

    Args:
      x: an array.
      axis: the dimensions along which the elements of a vector lie; all by default.
      keepdims: whether these dimensions stay, with size 1.
      ord: the order.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.vector_norm(jnp.array([[3.0, -4.0], [1.0, 0.0]]), axis=1, ord=1)
    Array([7., 1.], dtype=float32)
    """
    x = inexact_array("vector_norm", x)
    axes = axes_argument("vector_norm", axis, x.ndim)
    return _norm(x, order=ord, axes=axes, matrix=False, keepdims=bool(keepdims))


def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """The norm of the matrices in the last two dimensions; see `norm`.

    >>> import covector.numpy as jnp
    >>> print(jnp.linalg.matrix_norm(jnp.array([[1.0, -2.0], [3.0, 4.0]]), ord=1))
    6.0
    """
    return norm(x, ord=ord, keepdims=keepdims, axis=(-2, -1))


@composite
def _cond(x: Any, *, order: Any) -> Any:
    axes = (x.ndim - 2, x.ndim - 1)
    if order is None or order in (2, -2):
        s = svd(x, compute_uv=False)
        last = (len(shape_of(s)) - 1,)
        largest, smallest = _greatest(s, last), _least(s, last)
        if order != -2:
            return div_p.bind(largest, smallest)
        ratio = div_p.bind(smallest, largest)
    else:
        n = x.shape[-1]
        identity = broadcast_in_dim(np.eye(n, dtype=x.dtype), x.shape, axes)
        inverse = solve(x, identity)
        ratio = mul_p.bind(_of_matrices(x, order, axes), _of_matrices(inverse, order, axes))
    # NaN comes of singular matrices, unless it was there before.
    was_nan = reduce_or_p.bind(ne_p.bind(x, x), axes=axes)
    singular = and_p.bind(ne_p.bind(ratio, ratio), not_p.bind(was_nan))
    return select_n_p.bind(singular, ratio, filled(ratio, np.inf))


def cond(x: ArrayLike, p: Any = None) -> Array:
    """The condition number of matrices: the norm, times that of the inverse.

    Args:
      x: matrices of shape `(..., m, n)`.
      p: the order of the norm, as for `norm`; None means 2. Unless it is 2 or -2, the matrices must
        be square.

    Returns:
      An array of shape `(...)`; infinity for singular matrices.

    Raises:
      ValueError: the array is empty, or not of square matrices.

    >>> import covector.numpy as jnp
    >>> print(jnp.linalg.cond(jnp.array([[2.0, 0.0], [0.0, 8.0]])))
    4.0
    """
    x = inexact_array("cond", x)
    if x.ndim < 2:
        raise ValueError(errors.not_matrices("cond", x.shape))
    if 0 in x.shape[-2:]:
        raise ValueError(errors.empty_matrices("cond", x.shape))
    if p not in (None, 2, -2) and x.shape[-1] != x.shape[-2]:
        raise ValueError(errors.not_square_for_order("cond", p, x.shape))
    return _cond(x, order=p)
