"""Products and parts of matrices: what `numpy.linalg` has beside decompositions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...base import numpy_linalg_errors as errors
from ...core.array import Array, ArrayLike
from ...linalg.matrices import eye, mask
from .. import contraction, matrices, shaping
from ..composite import composite
from ..einsum import einsum
from ..promotion import as_array, operands
from .systems import inv


@composite
def _power(a: Any, *, n: int) -> Any:
    """A power with a positive exponent, from the powers whose exponents are powers of two."""
    result = None
    while n:
        n, bit = divmod(n, 2)
        if bit:
            result = a if result is None else contraction.matmul(result, a)
        if n:
            a = contraction.matmul(a, a)
    return result


def matrix_power(a: ArrayLike, n: int) -> Array:
    """A power of square matrices.

    Args:
      a: matrices of shape `(..., m, m)`.
      n: the exponent, an integer; with a negative one the inverse is raised to its modulus.

    Returns:
      Matrices of the same shape.

    Raises:
      TypeError: the matrices are not square, or n is not an integer.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.matrix_power(jnp.array([[1, 1], [0, 1]]), 5)
    Array([[1, 5],
           [0, 1]], dtype=int32)
    """
    a = as_array("matrix_power", a)
    if a.ndim < 2:
        raise TypeError(errors.power_rank(a.ndim))
    if a.shape[-1] != a.shape[-2]:
        raise TypeError(errors.power_square(a.shape))
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(errors.power_exponent(n)) from None
    if n == 0:
        return mask(eye(a.dtype, a.shape[-1]), a.shape)
    return _power(inv(a) if n < 0 else a, n=abs(n))


def multi_dot(arrays: Sequence[ArrayLike], *, precision: Any = None) -> Array:
    """The product of matrices in the order that takes the least operations.

    Args:
      arrays: at least two matrices; the first and the last may be vectors.
      precision: as for `lax.dot`.

    Returns:
      The product of them all.

    Raises:
      ValueError: there are not two, or shapes do not fit.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.multi_dot([jnp.ones((9, 2)), jnp.ones((2, 9)), jnp.ones(9)]).shape
    (9,)
    """
    xs = [as_array("multi_dot", x) for x in operands("multi_dot", arrays)]
    shapes = [x.shape for x in xs]
    if len(xs) < 2:
        raise ValueError(errors.multi_dot_count(len(xs)))
    ends = xs[0].ndim in (1, 2) and xs[-1].ndim in (1, 2)
    if not ends or any(x.ndim != 2 for x in xs[1:-1]):
        raise ValueError(errors.multi_dot_ranks(shapes))
    if any(a[-1] != b[0] for a, b in pairwise(shapes)):
        raise ValueError(errors.multi_dot_sizes(shapes))
    names = [[i, i + 1] for i in range(len(xs))]
    names[0] = names[0][2 - xs[0].ndim :]
    names[-1] = names[-1][: xs[-1].ndim]
    interleaved = [item for pair in zip(xs, names) for item in pair]
    return einsum(*interleaved, optimize="auto", precision=precision)


# ---------------------------------------------------------------- as in NumPy's main namespace


def matmul(
    x1: ArrayLike, x2: ArrayLike, /, *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """Products of matrices; the same as `numpy.matmul`.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([5, 6]))
    Array([17, 39], dtype=int32)
    """
    return contraction.matmul(
        x1, x2, precision=precision, preferred_element_type=preferred_element_type
    )


def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Products of vectors, the first of them conjugated; the same as `numpy.vecdot`.

    >>> import covector.numpy as jnp
    >>> print(jnp.linalg.vecdot(jnp.array([1, 2]), jnp.array([3, 4])))
    11
    """
    return contraction.vecdot(
        x1, x2, axis=axis, precision=precision, preferred_element_type=preferred_element_type
    )


def tensordot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axes: Any = 2,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Sums of products over pairs of dimensions; the same as `numpy.tensordot`.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.tensordot(jnp.array([1, 2]), jnp.array([3, 4]), axes=0)
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    return contraction.tensordot(
        x1,
        x2,
        axes,
        precision=precision,
        preferred_element_type=preferred_element_type,
        out_sharding=out_sharding,
    )


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The products of each element of a vector with each of another one.

    Raises:
      ValueError: an array is no vector; `numpy.outer` takes any.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.outer(jnp.array([1, 2]), jnp.array([3, 4, 5]))
    Array([[ 3,  4,  5],
           [ 6,  8, 10]], dtype=int32)
    """
    x1, x2 = (as_array("outer", x) for x in operands("outer", (x1, x2)))
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(errors.outer_vectors(x1.shape, x2.shape))
    return contraction.outer(x1, x2)


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The vector product of vectors of three components, along an axis.

    Raises:
      ValueError: a size along the axis is not 3.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    x1, x2 = (as_array("cross", x) for x in operands("cross", (x1, x2)))
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(errors.cross_vectors(x1.shape, x2.shape, axis))
    return contraction.cross(x1, x2, axis=axis)


def matrix_transpose(x: ArrayLike, /) -> Array:
    """Matrices with rows and columns swapped; the same as `numpy.matrix_transpose`.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.matrix_transpose(jnp.ones((5, 2, 3))).shape
    (5, 3, 2)
    """
    return shaping.matrix_transpose(x)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices in the last two dimensions.

    Args:
      x: matrices of shape `(..., m, n)`.
      offset: which diagonal: 0 is the main one, 1 the one above it, -1 the one below.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.diagonal(jnp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return matrices.diagonal(x, offset, -2, -1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sums of the diagonals of matrices in the last two dimensions; see `diagonal`.

    >>> import covector.numpy as jnp
    >>> print(jnp.linalg.trace(jnp.array([[1, 2], [3, 4]])))
    5
    """
    return matrices.trace(x, offset, -2, -1, dtype)
