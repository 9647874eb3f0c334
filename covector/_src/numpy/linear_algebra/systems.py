"""Systems of equations, inverses, least squares, and ranks."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...base import dtypes
from ...base import numpy_linalg_errors as errors
from ...core.array import Array, ArrayLike
from ...linalg import systems
from ...linalg.matrices import eye, mask, matmul
from ...ops.arithmetic import mul_p, sub_p
from ...ops.comparison import gt_p, lt_p, ne_p
from ...ops.complex import conj, is_complex, real_dtype, real_p
from ...ops.conversion import convert as to_dtype
from ...ops.identities import stop_gradient
from ...ops.linear import broadcast_in_dim, expand_dims, full, reduce_sum, reshape
from ...ops.reductions import reduce_max_p, reduce_or_p
from ...ops.select import select_n_p
from ..composite import composite, composite_list
from ..promotion import as_array, dtype_of, number, operands, shape_of
from ..shaping import broadcast_shapes, moveaxis
from .decompositions import svd
from .operands import check_square, inexact_array, inexact_arrays

# ---------------------------------------------------------------- square systems


@composite
def _solve(a: Any, b: Any) -> Any:
    return systems.solve(a, b)


@composite
def _inverse(a: Any) -> Any:
    shape = shape_of(a)
    return systems.solve(a, mask(eye(a.dtype, shape[-1]), shape))


def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """The solution X of the equation A X = B.

    Args:
      a: square matrices, of shape `(..., n, n)`.
      b: right-hand sides, of shape `(..., n, k)`; or one vector, of shape `(n,)`. Batch dimensions
        broadcast.

    Returns:
      An array of the shape of `b`, broadcast; not finite where a matrix is singular.

    Raises:
      ValueError: the shapes do not fit.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.solve(jnp.array([[2.0, 0.0], [1.0, 4.0]]), jnp.array([2.0, 9.0]))
    Array([1., 2.], dtype=float32)
    """
    a, b = inexact_arrays("solve", a, b)
    x, y = a.shape, b.shape
    if len(x) < 2:
        raise ValueError(errors.solve_rank(x))
    if 1 < len(y) == len(x) - 1 and x[-1] == y[-1] != y[-2]:
        raise ValueError(errors.solve_vectors(x, y))
    vector = len(y) == 1
    if x[-1] != x[-2] or not y or x[-1] != y[-1 if vector else -2]:
        raise ValueError(errors.solve_shapes(x, y))
    broadcast_shapes(x[:-2], y[:-2])
    if not vector:
        return _solve(a, b)
    out = _solve(a, expand_dims(b, (1,)))
    return reshape(out, shape_of(out)[:-1])


def inv(a: ArrayLike) -> Array:
    """The inverse of square matrices.

    Args:
      a: matrices of shape `(..., n, n)`.

    Returns:
      Matrices of the same shape; not finite where a matrix is singular. To solve a system of
      equations, `solve` is quicker and more exact.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    a = as_array("inv", a)
    check_square("inv", a.shape)
    return _inverse(inexact_array("inv", a))


def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse of a `tensordot` over `ind` dimensions.

    Args:
      a: an array whose first `ind` dimensions have as many elements as the others.
      ind: how many dimensions form the rows of the matrix that is inverted.

    Returns:
      An array of shape `(*a.shape[ind:], *a.shape[:ind])`.

    Raises:
      ValueError: `ind` is not positive, or the shape does not fit.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.tensorinv(jnp.eye(4).reshape(2, 2, 4)).shape
    (4, 2, 2)
    """
    a = as_array("tensorinv", a)
    ind = operator.index(ind)
    if ind <= 0:
        raise ValueError(errors.tensorinv_index(ind))
    rows, columns = a.shape[:ind], a.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise ValueError(errors.tensorinv_shape(a.shape, ind))
    flat = reshape(a, (math.prod(rows), math.prod(columns)))
    return reshape(inv(flat), (*columns, *rows))


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: tuple[int, ...] | None = None) -> Array:
    """The solution of `tensordot(a, x, x.ndim) == b`.

    Args:
      a: an array of shape `(*b.shape, *x.shape)`, where b and x have as many elements.
      b: an array.
      axes: dimensions of `a` that are first moved to the end.

    Returns:
      The array x.

    Raises:
      ValueError: the shapes do not fit.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.tensorsolve(2 * jnp.eye(4).reshape(2, 2, 4), jnp.ones((2, 2)))
    Array([0.5, 0.5, 0.5, 0.5], dtype=float32)
    """
    a, b = (as_array("tensorsolve", x) for x in operands("tensorsolve", (a, b)))
    if axes is not None:
        a = moveaxis(a, axes, range(a.ndim - len(axes), a.ndim))
    shape = a.shape[b.ndim :]
    if a.shape[: b.ndim] != b.shape:
        raise ValueError(errors.tensorsolve_leading(a.shape, b.shape))
    if b.size != math.prod(shape):
        raise ValueError(errors.tensorsolve_size(a.shape, b.ndim))
    return reshape(solve(reshape(a, (b.size, b.size)), reshape(b, (b.size,))), shape)


# ---------------------------------------------------------------- singular and rectangular ones


@composite
def _pinv(a: Any, rtol: Any, *, hermitian: bool) -> Any:
    return systems.pseudo_inverse(a, rtol, hermitian=hermitian)[0]


def pinv(a: ArrayLike, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Array:
    """The pseudo-inverse of matrices.

    Args:
      a: matrices of shape `(..., m, n)`.
      rtol: singular values up to this times the largest are taken for zero: a number, or an array
        of shape `(...)`. By default `10 * max(m, n)` times the precision of the dtype.
      hermitian: whether `a` is Hermitian, for a method that is quicker.
      rcond: another name for `rtol`.

    Returns:
      Matrices of shape `(..., n, m)`.

    Raises:
      ValueError: both `rtol` and `rcond` are given.

    >>> import covector.numpy as jnp
    >>> jnp.linalg.pinv(jnp.array([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    if rcond is not None:
        if rtol is not None:
            raise ValueError(errors.two_tolerances("pinv", "rtol and rcond"))
        rtol = rcond
    a = inexact_array("pinv", a)
    if a.ndim < 2:
        raise ValueError(errors.not_matrices("pinv", a.shape))
    *batch, m, n = a.shape
    if 0 in (m, n):
        return full((*batch, n, m), 0, a.dtype)
    return _pinv(a, _tolerance("pinv", a, rtol, 10 * max(m, n)), hermitian=bool(hermitian))


def _tolerance(where: str, a: Any, given: Any, default: float) -> Any:
    """A relative tolerance in the dtype of the singular values of `a`."""
    dtype = real_dtype(a.dtype)
    if given is None:
        return number(default * float(dtypes.finfo(dtype).eps), dtype)
    return to_dtype(stop_gradient(as_array(where, given)), dtype)


@composite
def _rank(s: Any, limit: Any) -> Any:
    """How many singular values are above a limit."""
    shape = shape_of(s)
    last = len(shape) - 1
    limit = broadcast_in_dim(limit, shape, range(shape_of(limit) != () and last))
    return _count(gt_p.bind(s, limit))


@composite
def _usual_limit(s: Any, *, size: int) -> Any:
    """What singular values of rounded matrices may be instead of zero."""
    eps = float(dtypes.finfo(s.dtype).eps)
    largest = reduce_max_p.bind(s, axes=(len(shape_of(s)) - 1,))
    return mul_p.bind(largest, number(size * eps, s.dtype))


def _count(flags: Any) -> Any:
    """How many flags are set along the last dimension."""
    integer = dtypes.canonicalize_dtype(np.int64)
    return reduce_sum(to_dtype(flags, integer), (len(shape_of(flags)) - 1,))


def matrix_rank(
    M: ArrayLike, rtol: Any = None, *, hermitian: bool = False, tol: Any = None
) -> Array:
    """The rank of matrices: the number of their singular values that are not taken for zero.

    Args:
      M: matrices of shape `(..., m, n)`; or a vector or number, whose rank is 0 or 1.
      rtol: singular values up to this, not relative to the largest one, are taken for zero: a
        number, or an array of shape `(...)`. By default `max(m, n)` times the precision of the
        dtype times the largest one.
      hermitian: whether `M` is Hermitian, for a method that is quicker.
      tol: another name for `rtol`.

    Returns:
      Integers of shape `(...)`.

    Raises:
      ValueError: both `rtol` and `tol` are given.

    >>> import covector.numpy as jnp
    >>> print(jnp.linalg.matrix_rank(jnp.array([[1.0, 2.0], [2.0, 4.0]])))
    1
    """
    if tol is not None:
        if rtol is not None:
            raise ValueError(errors.two_tolerances("matrix_rank", "tol or rtol"))
        rtol = tol
    a = inexact_array("matrix_rank", M)
    if a.ndim < 2:
        nonzero = ne_p.bind(a, number(0, a.dtype))
        return to_dtype(reduce_or_p.bind(nonzero, axes=tuple(range(a.ndim))), np.dtype(np.int32))
    s = svd(a, full_matrices=False, compute_uv=False, hermitian=hermitian)
    if not s.shape[-1]:
        return _count(s)
    limit = _usual_limit(s, size=max(a.shape[-2:])) if rtol is None else rtol
    return _rank(s, _tolerance("matrix_rank", s, limit, 0))


# ---------------------------------------------------------------- least squares


@composite_list
def _least_squares(a: Any, b: Any, rcond: Any) -> Any:
    x, s = systems.least_squares(a, b, rcond)
    kept = systems.significant(s, rcond)
    return [x, _squared_columns(sub_p.bind(b, matmul(a, x))), _count(kept), s]


def _squared_columns(x: Any) -> Any:
    """The sums of the squared moduli of the elements of each column."""
    squares = mul_p.bind(x, conj(x) if is_complex(dtype_of(x)) else x)
    return reduce_sum(real_p.bind(squares) if is_complex(dtype_of(x)) else squares, (0,))


def lstsq(
    a: ArrayLike, b: ArrayLike, rcond: Any = None, *, numpy_resid: bool = False
) -> tuple[Array, Array, Array, Array]:
    """The least X for which the squares of A X - B are least.

    Args:
      a: a matrix of shape `(m, n)`.
      b: a matrix of shape `(m, k)`, or a vector of shape `(m,)`.
      rcond: singular values below this times the largest are taken for zero; by default
        `max(m, n)` times the precision of the dtype, and with a negative number the precision.
      numpy_resid: whether the residuals are empty where NumPy's are: if the rank is less than n, or
        m is at most n. Not within compiled functions.

    Returns:
      `(x, residuals, rank, s)`: X, of shape `(n, k)` or `(n,)`; the sums of the squares, of shape
      `(k,)` or `(1,)`; the rank of A; and its singular values.

    Raises:
      ValueError: the numbers of rows differ.
      TypeError: an array has another number of dimensions.

    >>> import covector.numpy as jnp
    >>> x, residuals, rank, s = jnp.linalg.lstsq(jnp.ones((3, 1)), jnp.array([1.0, 2.0, 3.0]))
    >>> print(x.round(3), residuals.round(3), rank)
    [2.] [2.] 1
    """
    a, b = inexact_arrays("lstsq", a, b)
    if a.shape[:1] != b.shape[:1]:
        raise ValueError(errors.lstsq_rows(a.shape, b.shape))
    if a.ndim != 2:
        raise TypeError(errors.lstsq_rank(a.ndim, "two"))
    if b.ndim not in (1, 2):
        raise TypeError(errors.lstsq_rank(b.ndim, "one or two"))
    m, n = a.shape
    vector = b.ndim == 1
    if vector:
        b = expand_dims(b, (1,))
    if a.size == 0:
        x, s = full((n, b.shape[1]), 0, a.dtype), full((0,), 0, a.dtype)
        rank = full((), 0, dtypes.canonicalize_dtype(np.int64))
        residuals = _squared_columns(b)
    else:
        x, residuals, rank, s = _least_squares(a, b, _rcond(a, rcond, max(m, n)))
    if numpy_resid and (m <= n or int(rank) < n):
        residuals = full((0,), 0, residuals.dtype)
    return (reshape(x, (n,)) if vector else x), residuals, rank, s


def _rcond(a: Any, rcond: Any, size: int) -> Any:
    """The relative tolerance of `lstsq`; a negative one means the precision."""
    limit = _tolerance("lstsq", a, rcond, size)
    if rcond is None:
        return limit
    negative = lt_p.bind(limit, number(0, limit.dtype))
    return select_n_p.bind(negative, limit, _tolerance("lstsq", a, None, 1))
