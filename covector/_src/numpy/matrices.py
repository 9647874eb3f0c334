"""Identity matrices, triangles, diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.devices import device_put
from ..base import dtypes, numpy_errors
from ..core.array import Array, ArrayLike
from ..ops.arithmetic import add_p
from ..ops.comparison import eq_p, ge_p
from ..ops.linear import broadcast_in_dim, full, reshape
from ..ops.linear import constant_like as like
from ..ops.select import select_n_p
from ..ops.slicing import pad_p, slice_p
from .arguments import axis_argument, check_no_out, index_argument
from .composite import composite
from .creation import convert_array
from .promotion import as_array, convert, dtype_of, number, own, shape_of
from .ranges import iota
from .reductions import sum
from .selection import select_where
from .shaping import transpose

_INT = np.dtype(np.int32)
_BEYOND = 2**30  # diagonals from here on are outside of all matrices that there are


def _offset_rows(shape: tuple[int, ...], k: Any) -> tuple[Any, Any]:
    """The row numbers of a matrix plus k, and its column numbers."""
    rows = add_p.bind(iota(_INT, shape, 0), k)
    return rows, iota(_INT, shape, 1)


def _offset(where: str, k: Any) -> Any:
    """The number of a diagonal as an operand; it may be a traced integer."""
    if own[type(k)] and not k.aval.shape and dtypes.issubdtype(k.aval.dtype, np.integer):
        return convert(k, _INT)
    return number(index_argument(where, "k", k), _INT)


def _shape(where: str, n: Any, m: Any) -> tuple[int, int]:
    """The shape of a matrix from its numbers of rows and columns; it is square if there is one."""
    rows = index_argument(where, "shape", n)
    return rows, rows if m is None else index_argument(where, "shape", m)


@composite
def _eye(k: Any, *, shape: tuple[int, int], dtype: Any) -> Any:
    return convert(eq_p.bind(*_offset_rows(shape, k)), dtype)


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None
) -> Array:
    """A matrix with ones on a diagonal and zeros elsewhere.

    Args:
      N, M: the numbers of rows and columns; as many columns as rows by default.
      k: which diagonal: 0 is the main one, 1 the one above it, -1 the one below.
      dtype: the dtype; the default floating one by default.
      device: where to put the matrix.

    Returns:
      An array of shape `(N, M)`.

    >>> import covector.numpy as jnp
    >>> jnp.eye(2, 3, k=1)
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    shape = _shape("eye", N, M)
    if min(shape) < 0:
        raise ValueError(numpy_errors.negative_size("eye", shape))
    dtype = _dtype_or_default("eye", dtype)
    k = min(max(k, -_BEYOND), _BEYOND) if type(k) is int else k
    out = _eye(_offset("eye", k), shape=shape, dtype=dtype)
    return out if device is None else device_put(out, device)


def _dtype_or_default(where: str, dtype: Any) -> Any:
    if dtype is None:
        return dtypes.default_float_dtype()
    return dtypes.check_user_dtype_supported(dtype, where)


def identity(n: int, dtype: Any = None) -> Array:
    """The identity matrix.

    >>> import covector.numpy as jnp
    >>> jnp.identity(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype)


@composite
def _tri(k: Any, *, shape: tuple[int, int], dtype: Any) -> Any:
    return convert(ge_p.bind(*_offset_rows(shape, k)), dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """A matrix with ones on and below a diagonal and zeros above.

    Args:
      N, M, k: as for `eye`.
      dtype: the dtype; float32 by default, also where 64-bit dtypes are on.

    >>> import covector.numpy as jnp
    >>> jnp.tri(2, 3)
    Array([[1., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    dtype = dtypes.check_user_dtype_supported(np.float32 if dtype is None else dtype, "tri")
    return _tri(_offset("tri", k), shape=_shape("tri", N, M), dtype=dtype)


def _on_or_below(shape: tuple[int, ...], k: Any) -> Any:
    """Whether each element of matrices lies on or below a diagonal."""
    mask = ge_p.bind(*_offset_rows(shape[-2:], k))
    return broadcast_in_dim(mask, shape, (len(shape) - 2, len(shape) - 1))


@composite
def _tril(m: Any, k: Any) -> Any:
    shape = shape_of(m)
    return select_n_p.bind(_on_or_below(shape, k), full(shape, 0, dtype_of(m)), m)


@composite
def _triu(m: Any, k: Any) -> Any:
    shape = shape_of(m)
    return select_n_p.bind(_on_or_below(shape, k), m, full(shape, 0, dtype_of(m)))


def _matrices(where: str, m: Any) -> Any:
    m = as_array(where, m)
    if m.ndim < 2:
        raise ValueError(numpy_errors.not_matrices(where, m.shape))
    return m


def tril(m: ArrayLike, k: int = 0) -> Array:
    """The lower triangle of a matrix, or of matrices in the last two dimensions.

    Args:
      m: an array of two or more dimensions.
      k: the uppermost diagonal that is kept: 0 is the main one, -1 the one below.

    Returns:
      An array of the same type, with zeros in the place of what is not kept.

    >>> import covector.numpy as jnp
    >>> jnp.tril(jnp.ones((2, 3)))
    Array([[1., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    return _tril(_matrices("tril", m), _offset("tril", k))


def triu(m: ArrayLike, k: int = 0) -> Array:
    """The upper triangle of a matrix, or of matrices in the last two dimensions.

    Args:
      m: an array of two or more dimensions.
      k: the lowest diagonal that is kept: 0 is the main one, 1 the one above.

    Returns:
      An array of the same type, with zeros in the place of what is not kept.

    >>> import covector.numpy as jnp
    >>> jnp.triu(jnp.ones((2, 3)))
    Array([[1., 1., 1.],
           [0., 1., 1.]], dtype=float32)
    """
    return _triu(_matrices("triu", m), _offset("triu", k - 1))


# ---------------------------------------------------------------- diagonals


@composite
def _diagonal(a: Any, *, offset: int) -> Any:
    """A diagonal of the last two dimensions.

    In the rows of a matrix one after another, neighbours on a diagonal of an n x m matrix are m + 1
    elements apart: so it is a strided slice.
    """
    *lead, n, m = shape_of(a)
    start = offset if offset >= 0 else -offset * m
    size = max(0, min(n + min(offset, 0), m - max(offset, 0)))
    if size == 0:
        return full((*lead, 0), 0, dtype_of(a))
    flat = reshape(a, (*lead, n * m))
    end = start + (size - 1) * (m + 1) + 1
    return slice_p.bind(
        flat,
        start_indices=(*[0] * len(lead), start),
        limit_indices=(*lead, end),
        strides=(*[1] * len(lead), m + 1),
    )


def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """A diagonal of a matrix, or of matrices in two dimensions of an array.

    Args:
      a: an array of two or more dimensions.
      offset: which diagonal: 0 is the main one, 1 the one above it, -1 the one below.
      axis1, axis2: the dimensions of the rows and of the columns.

    Returns:
      An array without these dimensions, and with the diagonal along the last one.

    >>> import covector.numpy as jnp
    >>> jnp.diagonal(jnp.arange(9).reshape(3, 3), 1)
    Array([1, 5], dtype=int32)
    """
    a = _matrices("diagonal", a)
    axis1, axis2 = (axis_argument("diagonal", axis, a.ndim) for axis in (axis1, axis2))
    if axis1 == axis2:
        raise ValueError(numpy_errors.equal_axes("diagonal", axis1))
    order = [dim for dim in range(a.ndim) if dim not in (axis1, axis2)]
    a = transpose(a, (*order, axis1, axis2))
    return _diagonal(a, offset=index_argument("diagonal", "offset", offset))


@composite
def _diag(v: Any, *, k: int) -> Any:
    """The matrix with a vector on a diagonal."""
    zero = like(v, 0)
    padded = pad_p.bind(v, zero, padding_config=((max(0, k), max(0, -k), 0),))
    size = shape_of(padded)[0]
    rows, columns = iota(_INT, (size, size), 0), iota(_INT, (size, size), 1)
    on = eq_p.bind(add_p.bind(rows, number(k, _INT)), columns)
    return select_where(on, broadcast_in_dim(padded, (1, size), (1,)), zero)


def diag(v: ArrayLike, k: int = 0) -> Array:
    """The matrix with a vector on a diagonal, or the diagonal of a matrix.

    Args:
      v: a vector or a matrix.
      k: which diagonal: 0 is the main one, 1 the one above it, -1 the one below.

    Returns:
      A square matrix, or a vector.

    >>> import covector.numpy as jnp
    >>> jnp.diag(jnp.array([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    >>> jnp.diag(jnp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    v = as_array("diag", v)
    k = index_argument("diag", "k", k)
    if v.ndim == 1:
        return _diag(v, k=k)
    if v.ndim == 2:
        return diagonal(v, k)
    raise ValueError(numpy_errors.neither_vector_nor_matrix("diag", v.shape))


def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """The matrix with the elements of an array, row by row, on a diagonal.

    >>> import covector.numpy as jnp
    >>> jnp.diagflat(jnp.array([[1, 2]]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    v = as_array("diagflat", v)
    line = convert_array(reshape(v, (v.size,)), v.dtype)
    return _diag(line, k=index_argument("diagflat", "k", k))


def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: None = None,
) -> Array:
    """The sum of a diagonal; see `diagonal` and `sum`.

    >>> import covector.numpy as jnp
    >>> jnp.trace(jnp.eye(3))
    Array(3., dtype=float32)
    """
    check_no_out("trace", out)
    return sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)
