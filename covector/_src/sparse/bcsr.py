"""BCSR: matrices as rows of elements, in batches and of dense blocks.

    data     (*batch, nse, *dense)
    indices  (*batch, nse)         the column of each stored element
    indptr   (*batch, rows + 1)    where the elements of each row begin

The elements of row i are those from `indptr[i]` to `indptr[i + 1]`; what is behind the last is
padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from ..base import sparse_errors as errors
from ..base.tree_keys import GetAttrKey
from ..base.tree_registry import register_pytree_with_keys_class
from ..core.array import Array
from ..numpy.creation import asarray, zeros
from ..numpy.cumulative import cumsum
from ..numpy.joining import concatenate, stack
from ..numpy.selection import where
from .bcoo import (
    BCOO,
    JAXSparse,
    bcoo_eliminate_zeros,
    bcoo_extract,
    bcoo_fromdense,
    bcoo_sum_duplicates,
    check_plain,
    over_batch,
    spread,
)
from .bcoo_products import bcoo_dot_general
from .bcoo_shapes import bcoo_broadcast_in_dim, bcoo_concatenate


@register_pytree_with_keys_class
class BCSR(JAXSparse):
    """A sparse array in the batched format of compressed rows.

    Args:
      args: `(data, indices, indptr)`, of shapes `(*batch, nse, *dense)`, `(*batch, nse)` and
        `(*batch, rows + 1)`.
      shape: the shape of the array, `(*batch, rows, columns, *dense)`.
      indices_sorted: whether the columns are known to rise within rows.
      unique_indices: whether they are known to be distinct within rows.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCSR.fromdense(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> m.indptr
    Array([0, 1, 2], dtype=int32)
    >>> m @ jnp.array([1.0, 1.0])
    Array([1., 2.], dtype=float32)
    """

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ):
        self.data, self.indices, self.indptr = map(asarray, args)
        self.shape = tuple(map(index, shape))
        self.indices_sorted = indices_sorted
        self.unique_indices = unique_indices
        b = self.n_batch
        fits = (
            len(self.shape) == b + 2 + self.n_dense
            and self.indptr.ndim == b + 1
            and self.indptr.shape[-1] == self.shape[b] + 1
            and self.data.shape[b] == self.indices.shape[b]
            and self.data.shape[b + 1 :] == self.shape[b + 2 :]
        )
        if not fits:
            shapes = (self.data.shape, self.indices.shape, self.indptr.shape, self.shape)
            raise ValueError(errors.csr_buffers(*shapes))

    @property
    def nse(self) -> int:
        return self.indices.shape[-1]

    @property
    def n_batch(self) -> int:
        return self.indices.ndim - 1

    @property
    def n_sparse(self) -> int:
        return 2

    @property
    def n_dense(self) -> int:
        return self.data.ndim - self.indices.ndim

    @classmethod
    def fromdense(
        cls,
        mat: Any,
        *,
        nse: int | None = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCSR:
        """The elements of a dense array that are not zero; see `bcsr_fromdense`."""
        return bcsr_fromdense(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCSR:
        """A matrix of `scipy.sparse`."""
        check_plain(n_batch, n_dense)
        mat, dtype = mat.tocsr(), index_dtype or "int32"
        indices, indptr = asarray(mat.indices, dtype), asarray(mat.indptr, dtype)
        return cls((asarray(mat.data), indices, indptr), shape=mat.shape)

    @classmethod
    def from_bcoo(cls, mat: BCOO) -> BCSR:
        """The same array as a BCOO one with two sparse dimensions."""
        if mat.n_sparse != 2:
            raise ValueError(errors.layout("BCSR.from_bcoo", "n_sparse must be 2"))
        mat = spread(mat).sort_indices()
        rows = mat.sparse_shape[0]

        def one(indices: Any) -> Any:
            counts = zeros((rows,), indices.dtype).at[indices[:, 0]].add(1, mode="drop")
            start = np.zeros(1, indices.dtype)
            return indices[:, 1], concatenate([start, cumsum(counts, dtype=indices.dtype)])

        indices, indptr = over_batch(one, mat.n_batch, mat.shape, mat.indices)
        return cls(
            (mat.data, indices, indptr),
            shape=mat.shape,
            indices_sorted=True,
            unique_indices=mat.unique_indices,
        )

    def to_bcoo(self) -> BCOO:
        """The same array in the coordinate format."""
        rows, columns = self.shape[self.n_batch : self.n_batch + 2]

        def one(indices: Any, indptr: Any) -> Any:
            # The row of an element is the number of rows that end at it or before.
            ends = zeros((indices.shape[0] + 1,), indices.dtype)
            row = cumsum(ends.at[indptr[1:]].add(1, mode="drop"), dtype=indices.dtype)[:-1]
            return stack([row, where(row < rows, indices, columns)], -1)

        indices = over_batch(one, self.n_batch, self.shape, self.indices, self.indptr)
        return BCOO(
            (self.data, indices),
            shape=self.shape,
            indices_sorted=self.indices_sorted,
            unique_indices=self.unique_indices,
        )

    def todense(self) -> Array:
        """The array with all its zeros."""
        return self.to_bcoo().todense()

    def transpose(self, axes: Sequence[int] | None = None) -> BCSR:
        """The array with its dimensions in another order, within their groups."""
        return BCSR.from_bcoo(self.to_bcoo().transpose(axes))

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
        """The same array with distinct columns in each row; see `bcoo_sum_duplicates`."""
        return BCSR.from_bcoo(self.to_bcoo().sum_duplicates(nse, remove_zeros))

    def tree_flatten_with_keys(self) -> Any:
        buffers, aux = self.tree_flatten()
        names = ("data", "indices", "indptr")
        return [(GetAttrKey(name), x) for name, x in zip(names, buffers)], aux

    def tree_flatten(self) -> Any:
        aux = (self.shape, self.indices_sorted, self.unique_indices)
        return (self.data, self.indices, self.indptr), aux

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> BCSR:
        made = object.__new__(cls)
        made.data, made.indices, made.indptr = children
        made.shape, made.indices_sorted, made.unique_indices = aux
        return made


def bcsr_fromdense(
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> BCSR:
    """The elements of a dense array that are not zero; arguments as of `bcoo_fromdense`."""
    mat = asarray(mat)
    if mat.ndim != n_batch + n_dense + 2:
        raise ValueError(errors.layout("bcsr_fromdense", "there must be two sparse dimensions"))
    return BCSR.from_bcoo(
        bcoo_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
    )


def bcsr_todense(mat: BCSR) -> Array:
    """The dense array."""
    return mat.todense()


def bcsr_extract(indices: Any, indptr: Any, mat: Any) -> Array:
    """The elements of a dense array at the places of a BCSR one, `(*batch, nse, *dense)`."""
    indices, indptr, mat = map(asarray, (indices, indptr, mat))
    n_batch = indices.ndim - 1
    blank = zeros((*indices.shape, *mat.shape[n_batch + 2 :]), mat.dtype)
    places = BCSR((blank, indices, indptr), shape=mat.shape).to_bcoo()
    return bcoo_extract(places, mat, assume_unique=True).data


def bcsr_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: None = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The product of a BCSR and a dense array; arguments as of `bcoo_dot_general`."""
    lhs, rhs = [x.to_bcoo() if isinstance(x, BCSR) else x for x in (lhs, rhs)]
    return bcoo_dot_general(
        lhs,
        rhs,
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
    )


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """The same array with distinct columns in each row; see `bcoo_sum_duplicates`."""
    return BCSR.from_bcoo(bcoo_sum_duplicates(mat.to_bcoo(), nse))


def bcsr_eliminate_zeros(mat: BCSR, nse: int | None = None) -> BCSR:
    """The same array without stored zeros; see `bcoo_sum_duplicates`."""
    return BCSR.from_bcoo(bcoo_eliminate_zeros(mat.to_bcoo(), nse))


def bcsr_broadcast_in_dim(
    mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCSR:
    """The array repeated along new dimensions; see `bcoo_broadcast_in_dim`."""
    return BCSR.from_bcoo(
        bcoo_broadcast_in_dim(mat.to_bcoo(), shape=shape, broadcast_dimensions=broadcast_dimensions)
    )


def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """Arrays of the same layout behind each other; see `bcoo_concatenate`."""
    mats = [x.to_bcoo() for x in operands]
    return BCSR.from_bcoo(bcoo_concatenate(mats, dimension=dimension))
