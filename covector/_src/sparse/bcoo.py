"""BCOO: arrays as lists of elements and their indices, in batches and of dense blocks.

An array of the shape `(*batch, *sparse, *dense)` is stored as

    data     (*batch, nse, *dense)      for each stored element a dense block
    indices  (*batch, nse, n_sparse)    its place along the sparse dimensions

Elements that are not stored are zero; those with the same indices are added; those with indices
outside of the array are padding, and count for nothing.  A batch dimension of data or of indices
may be 1 where the array's is not: they are then the same for all.

Almost everything is written for one batch element, and mapped over the batch (`over_batch`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from ..api.vectorize import vmap
from ..base import dtypes
from ..base import sparse_errors as errors
from ..base.tree_keys import GetAttrKey
from ..base.tree_registry import register_pytree_with_keys_class
from ..core.array import Array
from ..core.trace import Tracer
from ..numpy.creation import asarray, full, zeros
from ..numpy.cumulative import cumsum
from ..numpy.joining import concatenate, stack
from ..numpy.nonzero import nonzero
from ..numpy.reductions import all as all_of
from ..numpy.reductions import any as any_of
from ..numpy.reductions import sum as sum_of
from ..numpy.selection import where
from ..numpy.shaping import broadcast_to, reshape
from ..ops.sorting import sort

Shape = Sequence[int]


class JAXSparse:
    """A sparse array: what all formats have.

    Attributes:
      shape, dtype, ndim, size: as of a dense array.
      nse: the number of stored elements, of each batch element.
    """

    data: Any
    shape: tuple[int, ...]
    # Operators of dense arrays on the left leave it to the methods here.
    __array_priority__ = 100
    __hash__ = None

    @property
    def nse(self) -> int:
        raise NotImplementedError

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def T(self) -> Any:
        return self.transpose()

    def transpose(self, axes: Sequence[int] | None = None) -> Any:
        raise NotImplementedError

    def todense(self) -> Array:
        raise NotImplementedError

    def block_until_ready(self) -> JAXSparse:
        """Wait until the elements are computed."""
        self.data.block_until_ready()
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        name = type(self).__name__
        try:
            dtype, layout = dtypes.name(self.dtype), f", nse={self.nse}"
        except (AttributeError, IndexError):
            # In a tree other things than arrays may stand for the buffers.
            return f"{name}(<invalid>)"
        for group in ("n_batch", "n_dense"):
            if getattr(self, group, 0):
                layout += f", {group}={getattr(self, group)}"
        text = f"{name}({dtype}{list(self.shape)}{layout})"
        return f"{type(self.data).__name__}[{text}]" if isinstance(self.data, Tracer) else text


@register_pytree_with_keys_class
class BCOO(JAXSparse):
    """A sparse array in the batched coordinate format.

    Args:
      args: `(data, indices)`, of shapes `(*batch, nse, *dense)` and `(*batch, nse, n_sparse)`.
      shape: the shape of the array.
      indices_sorted: whether the indices are known to be in lexicographic order.
      unique_indices: whether they are known to be distinct.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> m
    BCOO(float32[2, 2], nse=2)
    >>> m @ jnp.array([1.0, 1.0])
    Array([1., 2.], dtype=float32)
    """

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Shape,
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ):
        self.data, self.indices = map(asarray, args)
        self.shape = tuple(map(index, shape))
        self.indices_sorted = indices_sorted
        self.unique_indices = unique_indices
        _check(self.data.shape, self.indices.shape, self.shape)

    @property
    def nse(self) -> int:
        return self.indices.shape[-2]

    @property
    def n_sparse(self) -> int:
        return self.indices.shape[-1]

    @property
    def n_batch(self) -> int:
        return self.indices.ndim - 2

    @property
    def n_dense(self) -> int:
        return self.data.ndim - 1 - self.n_batch

    @property
    def sparse_shape(self) -> tuple[int, ...]:
        return self.shape[self.n_batch : self.n_batch + self.n_sparse]

    @classmethod
    def fromdense(
        cls,
        mat: Any,
        *,
        nse: int | None = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCOO:
        """The elements of a dense array that are not zero; see `bcoo_fromdense`."""
        return bcoo_fromdense(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCOO:
        """A matrix of `scipy.sparse`."""
        check_plain(n_batch, n_dense)
        mat = mat.tocoo()
        indices = np.stack([mat.row, mat.col], -1)
        dtype = index_dtype or "int32"
        return cls((asarray(mat.data), asarray(indices, dtype)), shape=mat.shape)

    def todense(self) -> Array:
        """The array with all its zeros."""
        return bcoo_todense(self)

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:
        """The array with its dimensions in another order; by default reversed within groups."""
        b, s, n = self.n_batch, self.n_batch + self.n_sparse, self.ndim
        if axes is None:
            axes = [*reversed(range(b)), *reversed(range(b, s)), *reversed(range(s, n))]
        return bcoo_transpose(self, permutation=axes)

    def sort_indices(self) -> BCOO:
        """The same array with its elements in the order of their indices."""
        return bcoo_sort_indices(self)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """The same array with distinct indices; see `bcoo_sum_duplicates`."""
        if remove_zeros:
            return bcoo_eliminate_zeros(self, nse=nse)
        return bcoo_sum_duplicates(self, nse=nse)

    def with_buffers(self, data: Any, indices: Any, shape: Shape | None = None) -> BCOO:
        """An array of other elements, about whose indices nothing is known."""
        return BCOO((data, indices), shape=self.shape if shape is None else shape)

    def tree_flatten_with_keys(self) -> Any:
        children = [(GetAttrKey("data"), self.data), (GetAttrKey("indices"), self.indices)]
        return children, (self.shape, self.indices_sorted, self.unique_indices)

    def tree_flatten(self) -> Any:
        return (self.data, self.indices), (self.shape, self.indices_sorted, self.unique_indices)

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> BCOO:
        # What stands for arrays in a tree need not be arrays.
        made = object.__new__(cls)
        made.data, made.indices = children
        made.shape, made.indices_sorted, made.unique_indices = aux
        return made


def _check(data: Shape, indices: Shape, shape: Shape) -> None:
    n_batch, n_sparse = len(indices) - 2, indices[-1] if indices else 0
    n_dense = len(data) - 1 - n_batch
    fits = (
        n_batch >= 0
        and n_dense >= 0
        and n_batch + n_sparse + n_dense == len(shape)
        and data[n_batch] == indices[n_batch]
        and tuple(data[n_batch + 1 :]) == tuple(shape[n_batch + n_sparse :])
        and all(
            size in (1, n)
            for sizes in (data[:n_batch], indices[:n_batch])
            for size, n in zip(sizes, shape)
        )
    )
    if not fits:
        raise ValueError(errors.buffers(data, indices, shape))


def check_plain(n_batch: int, n_dense: int) -> None:
    """Raise if a matrix of SciPy is to have batch or dense dimensions."""
    if n_batch or n_dense:
        what = "A matrix of SciPy with batch or dense dimensions"
        raise NotImplementedError(errors.not_implemented("from_scipy_sparse", what))


# ---------------------------------------------------------------- batches


def over_batch(fun: Callable[..., Any], n_batch: int, shape: Shape, *buffers: Any) -> Any:
    """Apply a function of one batch element's buffers to all of them.

    Args:
      n_batch: the number of batch dimensions, which come first in all buffers.
      shape: begins with the sizes of these; buffers of size 1 are broadcast.
    """
    for axis in range(n_batch):
        if len({x.shape[axis] for x in buffers}) > 1:
            buffers = tuple([_spread(x, axis, shape[axis]) for x in buffers])
    for _ in range(n_batch):
        fun = vmap(fun)
    return fun(*buffers)


def _spread(x: Any, axis: int, size: int) -> Any:
    return broadcast_to(x, (*x.shape[:axis], size, *x.shape[axis + 1 :]))


def spread(mat: BCOO) -> BCOO:
    """The array with all batch dimensions written out."""
    data, indices = mat.data, mat.indices
    for axis in range(mat.n_batch):
        data = _spread(data, axis, mat.shape[axis])
        indices = _spread(indices, axis, mat.shape[axis])
    return BCOO(
        (data, indices),
        shape=mat.shape,
        indices_sorted=mat.indices_sorted,
        unique_indices=mat.unique_indices,
    )


def columns(indices: Any) -> tuple[Any, ...]:
    """The indices along each sparse dimension: `indices[..., i]` for all i."""
    return tuple([indices[..., i] for i in range(indices.shape[-1])])


def inside(indices: Any, shape: Shape) -> Any:
    """Which stored elements are not padding; of shape `(..., nse)`."""
    return all_of(indices < beside(shape, indices), axis=-1)


def beside(sizes: Shape, indices: Any) -> np.ndarray:
    """A number for each sparse dimension, as an array of the rank of indices."""
    return np.array(sizes, indices.dtype).reshape((*[1] * (indices.ndim - 1), len(sizes)))


# ---------------------------------------------------------------- to and from dense arrays


def bcoo_todense(mat: BCOO) -> Array:
    """The dense array.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO((jnp.array([3, 4]), jnp.array([[0], [0]])), shape=(2,))
    >>> sparse.bcoo_todense(m)
    Array([7, 0], dtype=int32)
    """

    def one(data: Any, indices: Any) -> Any:
        if not mat.n_sparse:
            return sum_of(data, axis=0, dtype=data.dtype)
        out = zeros((*mat.sparse_shape, *data.shape[1:]), data.dtype)
        return add_at(out, columns(indices), data)

    dense = over_batch(one, mat.n_batch, mat.shape, mat.data, mat.indices)
    return broadcast_to(dense, mat.shape)


def merge_leading(x: Any) -> Any:
    """The first two dimensions as one."""
    return reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def add_at(out: Any, where_: Any, data: Any) -> Any:
    """`out` with `data` added at indices, booleans joined."""
    if data.dtype == bool:
        return out.at[where_].max(data, mode="drop")
    return out.at[where_].add(data, mode="drop")


def count_nonzero(mat: Any, n_batch: int, n_dense: int) -> int:
    """How many blocks of an array are not zero, at most in any of its batch elements."""
    if isinstance(mat, Tracer):
        raise ValueError(errors.traced_nse("bcoo_fromdense"))
    mask = np.asarray(mat) != 0
    if n_dense:
        mask = mask.any(tuple(range(mask.ndim - n_dense, mask.ndim)))
    counts = mask.sum(tuple(range(n_batch, mask.ndim)))
    return int(counts.max(initial=0))


def bcoo_fromdense(
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> BCOO:
    """The elements of a dense array that are not zero, in order.

    Args:
      mat: an array.
      nse: how many elements to store. By default as many as there are, which is known only
        outside of traced functions.
      n_batch, n_dense: how many of the first dimensions are batch dimensions, and of the last ones
        dense.
      index_dtype: the dtype of the indices.

    Raises:
      ValueError: the numbers of dimensions do not fit, or `nse` is missing.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.bcoo_fromdense(jnp.array([0.0, 5.0, 7.0]), nse=3)
    >>> m.data, m.indices.ravel()
    (Array([5., 7., 0.], dtype=float32), Array([1, 2, 3], dtype=int32))
    """
    mat = asarray(mat)
    n_sparse = check_layout("bcoo_fromdense", n_batch, n_dense, mat.ndim)
    size = count_nonzero(mat, n_batch, n_dense) if nse is None else index(nse)
    sizes = mat.shape[n_batch : n_batch + n_sparse]

    def one(x: Any) -> Any:
        mask = x != 0
        if n_dense:
            mask = any_of(mask, axis=tuple(range(-n_dense, 0)))
        indices = _positions(mask, size, sizes, index_dtype)
        return taken_at(x, indices), indices

    data, indices = over_batch(one, n_batch, mat.shape, mat)
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)


def _positions(mask: Any, size: int, sizes: Shape, dtype: Any) -> Any:
    """The indices of what is true, of shape `(size, n_sparse)`, and then padding."""
    if not sizes:
        return zeros((size, 0), dtype)
    found = nonzero(mask, size=size, fill_value=tuple(sizes))
    return stack([x.astype(dtype) for x in found], -1)


def taken_at(x: Any, indices: Any) -> Any:
    """The blocks of one batch element at indices; zeros at padding."""
    if not indices.shape[-1]:
        return broadcast_to(x, (indices.shape[0], *x.shape)) * (
            np.arange(indices.shape[0]).reshape((-1, *[1] * x.ndim)) == 0
        ).astype(x.dtype)
    return x.at[columns(indices)].get(mode="fill", fill_value=0)


def check_layout(where_: str, n_batch: int, n_dense: int, ndim: int) -> int:
    """The number of sparse dimensions."""
    n_sparse = ndim - n_batch - n_dense
    if min(n_batch, n_dense, n_sparse) < 0:
        raise ValueError(errors.dimensions(where_, n_batch, n_dense, ndim))
    return n_sparse


def bcoo_extract(sparr: BCOO, arr: Any, *, assume_unique: bool | None = None) -> BCOO:
    """The elements of a dense array at the indices of a sparse one.

    Args:
      sparr: the array whose indices are used.
      arr: a dense array of the same shape.
      assume_unique: whether indices are distinct. If not, only the first of equal ones gets the
        element, so that their sum is right; by default what the array says of them.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([0.0, 5.0, 7.0]))
    >>> sparse.bcoo_extract(m, jnp.array([1.0, 2.0, 3.0])).data
    Array([2., 3.], dtype=float32)
    """
    arr = asarray(arr)
    if arr.shape != sparr.shape:
        raise ValueError(errors.shapes("bcoo_extract", sparr.shape, arr.shape))
    unique = sparr.unique_indices if assume_unique is None else assume_unique

    def one(indices: Any, x: Any) -> Any:
        if unique and not sparr.n_sparse:
            return broadcast_to(x, (indices.shape[0], *x.shape))
        data = taken_at(x, indices)
        if unique or not sparr.n_sparse:
            return data
        same = all_of(indices[:, None] == indices[None], axis=-1)
        first = ~any_of(same & np.tril(np.ones(same.shape, bool), -1), axis=1)
        return where(first.reshape((-1, *[1] * sparr.n_dense)), data, 0)

    mat = spread(sparr)
    data = over_batch(one, mat.n_batch, mat.shape, mat.indices, arr)
    return BCOO(
        (data, mat.indices),
        shape=mat.shape,
        indices_sorted=mat.indices_sorted,
        unique_indices=mat.unique_indices,
    )


# ---------------------------------------------------------------- order and duplicates


def _sorted(indices: Any) -> tuple[Any, Any]:
    """The indices of one batch element in order, and the places where they were."""
    order = np.arange(indices.shape[0], dtype=np.int32)
    *keys, order = sort([*columns(indices), order], num_keys=indices.shape[-1])
    return stack(keys, -1), order


def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """The same array with its elements in the lexicographic order of their indices.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO((jnp.array([3, 4]), jnp.array([[1], [0]])), shape=(2,))
    >>> sparse.bcoo_sort_indices(m).data
    Array([4, 3], dtype=int32)
    """
    if mat.indices_sorted:
        return mat
    data, indices = mat.data, mat.indices
    if mat.n_sparse:
        indices, order = over_batch(_sorted, mat.n_batch, mat.shape, indices)
        # Indices that all batch elements share stay so, even if data differ.
        data = over_batch(lambda x, at: x[at], mat.n_batch, mat.shape, data, order)
    return BCOO(
        (data, indices),
        shape=mat.shape,
        indices_sorted=True,
        unique_indices=mat.unique_indices,
    )


def together(mat: BCOO) -> BCOO:
    """The array with the same batch dimensions of data and indices."""
    same = mat.data.shape[: mat.n_batch] == mat.indices.shape[: mat.n_batch]
    return mat if same else spread(mat)


def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """The same array with distinct, sorted indices.

    Args:
      mat: the array.
      nse: how many elements to store; by default as many as there are, which is known only outside
        of traced functions.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO((jnp.array([3, 4, 5]), jnp.array([[1], [0], [1]])), shape=(2,))
    >>> sparse.bcoo_sum_duplicates(m).data
    Array([4, 8], dtype=int32)
    """
    mat = together(bcoo_sort_indices(mat))
    sizes = mat.sparse_shape

    def numbered(indices: Any) -> Any:
        """Of each element the number of distinct indices before its own, and how many there are."""
        if not sizes:
            return zeros((indices.shape[0],), np.int32), asarray(1, np.int32)
        new = any_of(indices[1:] != indices[:-1], axis=-1)
        starts = concatenate([full((1,), True)[: indices.shape[0]], new])
        starts = starts & inside(indices, sizes)
        return cumsum(starts.astype(np.int32)) - 1, sum_of(starts.astype(np.int32))

    places, counts = over_batch(numbered, mat.n_batch, mat.shape, mat.indices)
    if nse is None:
        if isinstance(counts, Tracer):
            raise ValueError(errors.traced_nse("bcoo_sum_duplicates"))
        nse = int(np.max(np.asarray(counts), initial=0))

    def joined(data: Any, indices: Any, place: Any) -> Any:
        place = where(inside(indices, sizes), place, nse) if sizes else place
        total = add_at(zeros((nse, *data.shape[1:]), data.dtype), place, data)
        empty = broadcast_to(asarray(sizes, indices.dtype), (nse, len(sizes)))
        return total, empty.at[place].set(indices, mode="drop")

    buffers = over_batch(joined, mat.n_batch, mat.shape, mat.data, mat.indices, places)
    return BCOO(buffers, shape=mat.shape, indices_sorted=True, unique_indices=True)


def bounded(mat: BCOO) -> BCOO:
    """The array without more stored elements than places for them."""
    places = math.prod(mat.sparse_shape)
    return bcoo_sum_duplicates(mat, nse=places) if mat.nse > places else mat


def bcoo_eliminate_zeros(mat: BCOO, nse: int | None = None) -> BCOO:
    """The same array with distinct indices, and without stored zeros.

    Args:
      mat: the array.
      nse: as of `bcoo_sum_duplicates`.
    """
    mat = together(mat)

    def padded(data: Any, indices: Any) -> Any:
        zero = all_of(data == 0, axis=tuple(range(1, data.ndim)))
        return where(zero[:, None], beside(mat.sparse_shape, indices), indices)

    if not mat.n_sparse:
        return bcoo_sum_duplicates(mat, nse=nse)
    indices = over_batch(padded, mat.n_batch, mat.shape, mat.data, mat.indices)
    return bcoo_sum_duplicates(mat.with_buffers(mat.data, indices), nse=nse)


# ---------------------------------------------------------------- dimensions


def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """The array with its dimensions in another order, within their groups.

    Args:
      mat: the array.
      permutation: for each dimension of the result the one of `mat` that it is.

    Raises:
      NotImplementedError: batch, sparse or dense dimensions would leave their group.
    """
    permutation = tuple(map(index, permutation))
    if sorted(permutation) != list(range(mat.ndim)):
        raise ValueError(errors.shapes("bcoo_transpose", mat.shape, permutation))
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    batch, sparse, dense = permutation[:b], permutation[b:s], permutation[s:]
    if any(d >= b for d in batch) or any(d < s for d in dense):
        args = (permutation, mat.n_batch, mat.n_sparse, mat.n_dense)
        raise NotImplementedError(errors.permutation(*args))
    data = mat.data.transpose((*batch, b, *[d - s + b + 1 for d in dense]))
    indices = mat.indices[..., np.array([d - b for d in sparse], int)]
    indices = indices.transpose((*batch, b, b + 1))
    same = sparse == tuple(range(b, s))
    return BCOO(
        (data, indices),
        shape=[mat.shape[d] for d in permutation],
        indices_sorted=mat.indices_sorted and same,
        unique_indices=mat.unique_indices,
    )
