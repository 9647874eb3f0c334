"""Other layouts of BCOO arrays: which of their dimensions are batch, sparse and dense ones."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from ..base import sparse_errors as errors
from ..base.sparse_errors import SparseEfficiencyError, SparseEfficiencyWarning
from ..base.warn import warn
from ..numpy.creation import zeros
from ..numpy.joining import concatenate
from ..numpy.selection import where
from ..numpy.shaping import broadcast_to
from .bcoo import BCOO, beside, check_layout, merge_leading, over_batch, spread, together


def bcoo_update_layout(
    mat: BCOO,
    *,
    n_batch: int | None = None,
    n_dense: int | None = None,
    on_inefficient: str | None = "error",
) -> BCOO:
    """The same array with other groups of dimensions.

    Batch and dense dimensions that become sparse are stored element by element. Sparse dimensions
    that become batch or dense ones are stored with their zeros.

    Args:
      mat: the array.
      n_batch, n_dense: the sizes of the groups; by default they stay.
      on_inefficient: what to do if more elements would have to be stored than there are: `"error"`,
        `"warn"`, or None to do it.

    Raises:
      SparseEfficiencyError: see `on_inefficient`.
    """
    n_batch = mat.n_batch if n_batch is None else index(n_batch)
    n_dense = mat.n_dense if n_dense is None else index(n_dense)
    check_layout("bcoo_update_layout", n_batch, n_dense, mat.ndim)
    if n_batch > mat.n_batch or n_dense > mat.n_dense:
        _complain(mat, n_batch, n_dense, on_inefficient)
    while mat.n_dense > n_dense:
        mat = _dense_to_sparse(mat)
    while mat.n_batch > n_batch:
        mat = _batch_to_sparse(mat)
    while mat.n_dense < n_dense:
        mat = _sparse_to_dense(mat)
    while mat.n_batch < n_batch:
        mat = _sparse_to_batch(mat)
    return mat


def _complain(mat: BCOO, n_batch: int, n_dense: int, on_inefficient: str | None) -> None:
    """Say that each element is stored with zeros along the dimensions that are no longer sparse."""
    wide = math.prod(mat.shape[mat.n_batch : n_batch])
    wide *= math.prod(mat.shape[mat.ndim - n_dense : mat.ndim - mat.n_dense])
    if wide <= 1:
        return
    if on_inefficient == "error":
        raise SparseEfficiencyError(errors.inefficient(n_batch, n_dense))
    if on_inefficient == "warn":
        warn(errors.inefficient(n_batch, n_dense), SparseEfficiencyWarning)


def _dense_to_sparse(mat: BCOO) -> BCOO:
    """The first dense dimension becomes the last sparse one."""
    b, n = mat.n_batch, mat.shape[mat.n_batch + mat.n_sparse]

    def one(data: Any, indices: Any) -> Any:
        places = broadcast_to(indices[:, None], (indices.shape[0], n, indices.shape[1]))
        last = broadcast_to(
            np.arange(n, dtype=indices.dtype)[None, :, None], (*places.shape[:2], 1)
        )
        # Padding stays padding: one index out of range is enough.
        indices = concatenate([places, last], -1)
        return merge_leading(data), merge_leading(indices)

    mat = together(mat)
    return mat.with_buffers(*over_batch(one, b, mat.shape, mat.data, mat.indices))


def _batch_to_sparse(mat: BCOO) -> BCOO:
    """The last batch dimension becomes the first sparse one."""
    mat = spread(mat)
    b, n = mat.n_batch - 1, mat.shape[mat.n_batch - 1]

    def one(data: Any, indices: Any) -> Any:
        first = np.arange(n, dtype=indices.dtype)[:, None, None]
        first = broadcast_to(first, (*indices.shape[:2], 1))
        indices = concatenate([first, indices], -1)
        return merge_leading(data), merge_leading(indices)

    return mat.with_buffers(*over_batch(one, b, mat.shape, mat.data, mat.indices))


def _sparse_to_dense(mat: BCOO) -> BCOO:
    """The last sparse dimension becomes the first dense one."""
    n = mat.sparse_shape[-1]

    def one(data: Any, indices: Any) -> Any:
        at = (np.arange(indices.shape[0]), indices[:, -1])
        wide = zeros((indices.shape[0], n, *data.shape[1:]), data.dtype)
        return wide.at[at].set(data, mode="drop"), indices[:, :-1]

    mat = together(mat)
    return mat.with_buffers(*over_batch(one, mat.n_batch, mat.shape, mat.data, mat.indices))


def _sparse_to_batch(mat: BCOO) -> BCOO:
    """The first sparse dimension becomes the last batch one."""
    n, rest = mat.sparse_shape[0], mat.sparse_shape[1:]

    def one(data: Any, indices: Any) -> Any:
        """Each element of the new dimension keeps its elements, and has padding for the others."""
        own = indices[None, :, 0] == np.arange(n, dtype=indices.dtype)[:, None]
        if not rest:
            blocks = own.reshape((*own.shape, *[1] * (data.ndim - 1)))
            return where(blocks, data[None], 0), zeros((n, indices.shape[0], 0), indices.dtype)
        indices = indices[None, :, 1:]
        places = where(own[..., None], indices, beside(rest, indices))
        return broadcast_to(data[None], (n, *data.shape)), places

    mat = together(mat)
    return mat.with_buffers(*over_batch(one, mat.n_batch, mat.shape, mat.data, mat.indices))
