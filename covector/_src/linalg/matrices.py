"""Small pieces of linear algebra that rules are made of.

Matrices lie along the last two dimensions; those in front are a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..core.avals import aval_of
from ..ops.arithmetic import add_p, div_p
from ..ops.comparison import eq_p, ge_p
from ..ops.complex import conj, is_complex
from ..ops.contraction import batch_matmul
from ..ops.conversion import convert
from ..ops.creation import iota_p
from ..ops.gather import gather_p, gather_params
from ..ops.gather_dimensions import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from ..ops.linear import (
    broadcast_in_dim,
    constant_like,
    expand_dims,
    full,
    reduce_sum,
    scalar,
    transpose,
)
from ..ops.precision import Precision
from ..ops.scatter import scatter
from ..ops.select import select_n_p
from ..ops.slicing import pad_p, slice_p

# ---------------------------------------------------------------- transposes and products


def matrix_transpose(x: Any) -> Any:
    """x with the last two dimensions swapped."""
    n = aval_of(x).ndim
    return transpose(x, (*range(n - 2), n - 1, n - 2))


def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    x = matrix_transpose(x)
    return conj(x) if is_complex(aval_of(x).dtype) else x


def symmetrize(x: Any, where: str) -> Any:
    """The Hermitian part, (x + x^H) / 2, of the square matrices that a function is given."""
    shape = aval_of(x).shape
    if len(shape) < 2:
        raise TypeError(linalg_errors.rank_too_low(where, 0, 2, shape))
    if shape[-1] != shape[-2]:
        raise ValueError(linalg_errors.not_square(where, shape))
    return div_p.bind(add_p.bind(x, adjoint(x)), constant_like(x, 2))


def matmul(x: Any, y: Any) -> Any:
    """The product of matrices, as exactly as the device can."""
    return batch_matmul(x, y, precision=Precision.HIGHEST)


# ---------------------------------------------------------------- triangles and diagonals


def coordinates(shape: Sequence[int], k: int = 0) -> tuple[Any, Any]:
    """For each element of a matrix its row plus k, and its column."""
    params = dict(dtype=np.dtype(np.int32), shape=tuple(shape), sharding=None)
    rows = add_p.bind(iota_p.bind(dimension=0, **params), scalar(k, np.int32))
    return rows, iota_p.bind(dimension=1, **params)


def eye(dtype: Any, rows: int, columns: int | None = None) -> Any:
    """The identity matrix."""
    i, j = coordinates((rows, rows if columns is None else columns))
    return convert(eq_p.bind(i, j), np.dtype(dtype))


def batch_eye(x: Any, rows: int, columns: int | None = None) -> Any:
    """The identity matrix in the dtype and of the rank of a batch `x` of matrices."""
    aval = aval_of(x)
    return expand_dims(eye(aval.dtype, rows, columns), range(aval.ndim - 2))


def mask(matrix: Any, shape: Sequence[int]) -> Any:
    """A matrix for each member of a batch."""
    return broadcast_in_dim(matrix, shape, (len(shape) - 2, len(shape) - 1))


def tril(x: Any, k: int = 0) -> Any:
    """The lower triangle: zero where column - row > k."""
    aval = aval_of(x)
    below = mask(ge_p.bind(*coordinates(aval.shape[-2:], k)), aval.shape)
    return select_n_p.bind(below, full(aval.shape, 0, aval.dtype), x)


def triu(x: Any, k: int = 0) -> Any:
    """The upper triangle: zero where column - row < k."""
    aval = aval_of(x)
    below = mask(ge_p.bind(*coordinates(aval.shape[-2:], k - 1)), aval.shape)
    return select_n_p.bind(below, x, full(aval.shape, 0, aval.dtype))


def diagonal(x: Any) -> Any:
    """The diagonals of square matrices."""
    aval = aval_of(x)
    on = mask(eq_p.bind(*coordinates(aval.shape[-2:])), aval.shape)
    kept = select_n_p.bind(on, full(aval.shape, 0, aval.dtype), x)
    return reduce_sum(kept, (aval.ndim - 1,))


def diagonal_matrix(d: Any) -> Any:
    """Square matrices with the given diagonals."""
    aval = aval_of(d)
    shape = (*aval.shape, aval.shape[-1])
    on = mask(eq_p.bind(*coordinates(shape[-2:])), shape)
    return select_n_p.bind(on, full(shape, 0, aval.dtype), rows_of(d, shape))


def rows_of(d: Any, shape: Sequence[int]) -> Any:
    """Matrices each of whose rows is the vector d."""
    n = len(shape)
    return broadcast_in_dim(d, shape, (*range(n - 2), n - 1))


def columns_of(d: Any, shape: Sequence[int]) -> Any:
    """Matrices each of whose columns is the vector d."""
    return broadcast_in_dim(d, shape, range(len(shape) - 1))


# ---------------------------------------------------------------- parts


def part(x: Any, rows: slice = slice(None), columns: slice = slice(None)) -> Any:
    """The submatrix of some rows and columns; x itself if that is all of it."""
    shape = aval_of(x).shape
    (r, r_end, _), (c, c_end, _) = rows.indices(shape[-2]), columns.indices(shape[-1])
    zeros = (0,) * (len(shape) - 2)
    limits = (*shape[:-2], r_end, c_end)
    if limits == shape and not (r or c):
        return x
    return slice_p.bind(x, start_indices=(*zeros, r, c), limit_indices=limits, strides=None)


def last(x: Any, kept: slice) -> Any:
    """The part of an array along its last dimension; x itself if that is all of it."""
    shape = aval_of(x).shape
    start, end, _ = kept.indices(shape[-1])
    if (start, end) == (0, shape[-1]):
        return x
    zeros = (0,) * (len(shape) - 1)
    limits = (*shape[:-1], end)
    return slice_p.bind(x, start_indices=(*zeros, start), limit_indices=limits, strides=None)


def padded_rows(x: Any, above: int, below: int) -> Any:
    """Matrices with rows of zeros added."""
    return _padded(x, (above, below, 0), (0, 0, 0))


def padded_columns(x: Any, left: int, right: int) -> Any:
    """Matrices with columns of zeros added."""
    return _padded(x, (0, 0, 0), (left, right, 0))


def _padded(x: Any, *config: tuple[int, int, int]) -> Any:
    kept = ((0, 0, 0),) * (aval_of(x).ndim - 2)
    return pad_p.bind(x, constant_like(x, 0), padding_config=(*kept, *config))


def permute_rows(x: Any, permutation: Any) -> Any:
    """The matrices whose row i is row `permutation[..., i]` of x."""
    shape = aval_of(x).shape
    row = len(shape) - 2
    batch = tuple(range(row))
    numbers = GatherDimensionNumbers((row + 1,), (row,), (row,), batch, batch)
    sizes = (1,) * (row + 1) + shape[-1:]
    mode = GatherScatterMode.PROMISE_IN_BOUNDS
    params = gather_params(aval_of(x).dtype, numbers, sizes, mode=mode)
    return gather_p.bind(x, expand_dims(permutation, (row + 1,)), **params)


def inverse_permutation(permutation: Any) -> Any:
    """The permutations that undo the given ones."""
    aval = aval_of(permutation)
    last = aval.ndim - 1
    batch = tuple(range(last))
    places = iota_p.bind(dtype=aval.dtype, shape=aval.shape, dimension=last, sharding=None)
    numbers = ScatterDimensionNumbers((), (last,), (last,), batch, batch)
    indices = expand_dims(permutation, (aval.ndim,))
    return scatter(places, indices, places, numbers, unique_indices=True)
