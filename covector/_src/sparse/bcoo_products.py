"""Products and sums of BCOO arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from ..api.vectorize import vmap
from ..base import sparse_errors as errors
from ..core.array import Array
from ..numpy.creation import asarray, zeros
from ..numpy.joining import concatenate
from ..numpy.promotion import promote_dtypes
from ..numpy.reductions import all as all_of
from ..numpy.reductions import sum as sum_of
from ..numpy.selection import where
from ..numpy.shaping import broadcast_shapes, broadcast_to, moveaxis, reshape
from ..ops.contraction import dot_general
from .bcoo import (
    BCOO,
    add_at,
    beside,
    bounded,
    columns,
    inside,
    merge_leading,
    over_batch,
    spread,
    taken_at,
)
from .bcoo_layout import bcoo_update_layout

# ---------------------------------------------------------------- sparse times dense


def _contracted(
    data: Any, indices: Any, sizes: Sequence[int], x: Any, over: Sequence[int], axes: Sequence[int]
) -> Any:
    """The product of one batch element with a dense array.

    Each stored element meets the block of `x` at its indices along the dimensions that are
    contracted, and is added to the result at its other indices.

    Args:
      data, indices: the elements; data without dense dimensions, or with ones that stay.
      sizes: those of the sparse dimensions.
      over: the sparse dimensions that are contracted.
      axes: the axes of `x` for them.
    """
    free = [d for d in range(len(sizes)) if d not in over]
    x = moveaxis(x, tuple(axes), tuple(range(len(axes))))
    blocks = (
        x.at[columns(indices[:, np.array(over, int)])].get(mode="fill", fill_value=0) if over else x
    )
    rest = x.ndim - len(axes)
    if not over:
        blocks = x[None]
    dense = data.ndim - 1
    product = reshape(data, (*data.shape, *[1] * rest)) * reshape(
        blocks, (blocks.shape[0], *[1] * dense, *blocks.shape[1:])
    )
    if not free:
        # Padding has met zeros, or, without anything to contract, is looked for.
        if not over and sizes:
            product = where(
                inside(indices, sizes).reshape((-1, *[1] * (product.ndim - 1))), product, 0
            )
        return sum_of(product, axis=0, dtype=product.dtype)
    out = zeros((*[sizes[d] for d in free], *product.shape[1:]), product.dtype)
    return add_at(out, columns(indices[:, np.array(free, int)]), product)


def _dot(lhs: BCOO, rhs: Any, contract: Any, batch: Any) -> Any:
    """`dot_general` of a sparse and a dense array.

    The batch dimensions of the sparse array are mapped over, one by one: with the axis of the dense
    one that they are multiplied with, if any; those that are contracted are then summed over.
    """
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = contract, batch
    partner = dict(zip((*lhs_contract, *lhs_batch), (*rhs_contract, *rhs_batch)))
    b, s = lhs.n_batch, lhs.n_batch + lhs.n_sparse
    if any(d >= s for d in partner):
        what = "contraction along dense dimensions"
        raise NotImplementedError(errors.layout("bcoo_dot_general", what))
    if any(d >= b for d in lhs_batch):
        what = "batch dimensions of the product must be batch dimensions of the array"
        raise NotImplementedError(errors.layout("bcoo_dot_general", what))
    mat = spread(lhs)
    over = [d for d in lhs_contract if d >= b]
    # The axes of rhs, from which those that are mapped over go away one after the other.
    remaining = list(range(rhs.ndim))
    mapped = []
    for d in range(b):
        axis = remaining.index(partner[d]) if d in partner else None
        if axis is not None:
            remaining.pop(axis)
        mapped.append(axis)
    axes = [remaining.index(partner[d]) for d in over]

    def one(data: Any, indices: Any, x: Any) -> Any:
        return _contracted(data, indices, mat.sparse_shape, x, [d - b for d in over], axes)

    fun = one
    for axis in reversed(mapped):
        fun = vmap(fun, in_axes=(0, 0, axis))
    out = fun(mat.data, mat.indices, rhs)
    summed = tuple([d for d in lhs_contract if d < b])
    if summed:
        out = sum_of(out, axis=summed, dtype=out.dtype)
    kept = [d for d in range(b) if d not in summed]
    order = [kept.index(d) for d in lhs_batch]
    return moveaxis(out, order, range(len(order)))


def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: None = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """The product of two arrays, of which one or both are sparse; see `lax.dot_general`.

    Args:
      lhs, rhs: arrays.
      dimension_numbers: as of `lax.dot_general`. Dense dimensions of sparse arrays cannot be
        contracted, and batch dimensions of the product must be batch dimensions of these.
      precision, out_sharding: of no effect.
      preferred_element_type: the dtype of the result.

    Returns:
      A dense array; of two sparse ones a sparse array.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> numbers = (((1,), (0,)), ((), ()))
    >>> sparse.bcoo_dot_general(m, jnp.array([1.0, 10.0]), dimension_numbers=numbers)
    Array([20.,  3.], dtype=float32)
    """
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = [
        tuple([tuple(map(index, dims)) for dims in pair]) for pair in dimension_numbers
    ]
    for x, y in zip((*lhs_contract, *lhs_batch), (*rhs_contract, *rhs_batch)):
        if lhs.shape[x] != rhs.shape[y]:
            raise TypeError(errors.shapes("bcoo_dot_general", lhs.shape, rhs.shape))
    if isinstance(lhs, BCOO) and isinstance(rhs, BCOO):
        return _spdot(lhs, rhs, (lhs_contract, rhs_contract), (lhs_batch, rhs_batch))
    if not isinstance(lhs, BCOO) and not isinstance(rhs, BCOO):
        return dot_general(
            lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type
        )
    if isinstance(lhs, BCOO):
        lhs, rhs = _promoted(lhs, asarray(rhs), preferred_element_type)
        return _dot(lhs, rhs, (lhs_contract, rhs_contract), (lhs_batch, rhs_batch))
    rhs, lhs = _promoted(rhs, asarray(lhs), preferred_element_type)
    out = _dot(rhs, lhs, (rhs_contract, lhs_contract), (rhs_batch, lhs_batch))
    # The dimensions of the dense array come first in the product.
    n, free = len(lhs_batch), rhs.ndim - len(rhs_contract) - len(rhs_batch)
    return moveaxis(out, range(n, n + free), range(out.ndim - free, out.ndim))


def _promoted(mat: BCOO, x: Any, dtype: Any) -> tuple[BCOO, Any]:
    data, x = promote_dtypes(mat.data, x)
    if dtype is not None:
        data, x = data.astype(dtype), x.astype(dtype)
    return mat.with_buffers(data, mat.indices), x


def bcoo_dot_general_sampled(A: Any, B: Any, indices: Any, *, dimension_numbers: Any) -> Array:
    """The elements at some indices of the product of two dense arrays.

    Args:
      A, B: arrays.
      indices: an array of shape `(*batch, nse, n_sparse)`, as of a `BCOO` array of the product.
      dimension_numbers: as of `lax.dot_general`.

    Returns:
      An array of shape `(*batch, nse)`, with further dimensions for those of the product that have
      no indices.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> a, at = jnp.arange(4.0).reshape(2, 2), jnp.array([[0, 0], [1, 1]])
    >>> sparse.bcoo_dot_general_sampled(a, a, at, dimension_numbers=(((1,), (0,)), ((), ())))
    Array([ 2., 11.], dtype=float32)
    """
    A, B, indices = map(asarray, (A, B, indices))
    (a_contract, b_contract), (a_batch, _) = dimension_numbers
    free = A.ndim - len(a_contract) - len(a_batch)
    if indices.ndim == 2 and not a_batch and indices.shape[-1] == free + B.ndim - len(b_contract):
        # The rows of A and the columns of B at the indices, multiplied and summed.
        rows = moveaxis(A, tuple(a_contract), tuple(range(-len(a_contract), 0)))
        cols = moveaxis(B, tuple(b_contract), tuple(range(-len(b_contract), 0)))
        x = rows.at[columns(indices[:, :free])].get(mode="fill", fill_value=0)
        y = cols.at[columns(indices[:, free:])].get(mode="fill", fill_value=0)
        x, y = promote_dtypes(x, y)
        return sum_of(x * y, axis=tuple(range(1, x.ndim)))
    product = dot_general(A, B, dimension_numbers)
    n_batch = indices.ndim - 2
    return over_batch(lambda x, at: taken_at(x, at), n_batch, product.shape, product, indices)


# ---------------------------------------------------------------- sparse times sparse


def _spdot(lhs: BCOO, rhs: BCOO, contract: Any, batch: Any) -> BCOO:
    """Every pair of stored elements whose indices agree gives an element of the product."""
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = contract, batch
    if lhs.n_dense or rhs.n_dense:
        what = "products of two sparse arrays with dense dimensions"
        raise NotImplementedError(errors.layout("bcoo_dot_general", what))
    n, b, c = len(lhs_batch), lhs.n_batch, rhs.n_batch
    if any(d < b for d in lhs_contract) or any(d < c for d in rhs_contract):
        what = "of two sparse arrays batch dimensions cannot be contracted"
        raise NotImplementedError(errors.layout("bcoo_dot_general", what))
    if any(d >= b for d in lhs_batch) or any(d >= c for d in rhs_batch):
        what = "batch dimensions of the product must be batch dimensions of the arrays"
        raise NotImplementedError(errors.layout("bcoo_dot_general", what))
    x_over, y_over = [d - b for d in lhs_contract], [d - c for d in rhs_contract]
    x_free = [d for d in range(lhs.n_sparse) if d not in x_over]
    y_free = [d for d in range(rhs.n_sparse) if d not in y_over]
    if c > n and x_free:
        raise ValueError(errors.free_batch(c))
    # The batch dimensions of the product are those that both have, then the others of each.
    x_alone = [d for d in range(b) if d not in lhs_batch]
    y_alone = [d for d in range(c) if d not in rhs_batch]
    lead = [lhs.shape[d] for d in (*lhs_batch, *x_alone)] + [rhs.shape[d] for d in y_alone]
    parts = (lhs.sparse_shape, x_over, x_free), (rhs.sparse_shape, y_over, y_free)
    buffers = [
        *_aligned(lhs, lhs_batch, x_alone, 0, len(y_alone)),
        *_aligned(rhs, rhs_batch, y_alone, len(x_alone), 0),
    ]
    found = over_batch(lambda *xs: _pairs(*xs, *parts), len(lead), lead, *buffers)
    shape = [mat[d] for mat, _, free in parts for d in free]
    return bounded(BCOO(found, shape=(*lead, *shape)))


def _aligned(
    mat: BCOO, shared: Sequence[int], alone: Sequence[int], before: int, behind: int
) -> list[Any]:
    """The buffers with the batch dimensions `shared` first, then, among ones, those `alone`."""
    mat, order = spread(mat), (*shared, *alone)
    ones = (*[mat.shape[d] for d in shared], *[1] * before)
    lead = (*ones, *[mat.shape[d] for d in alone], *[1] * behind)
    moved = [moveaxis(x, order, range(len(order))) for x in (mat.data, mat.indices)]
    return [reshape(x, (*lead, *x.shape[len(order) :])) for x in moved]


def _pairs(x: Any, i: Any, y: Any, j: Any, of_x: Any, of_y: Any) -> Any:
    """The products of all elements whose indices agree along the dimensions that are contracted.

    Args:
      x, i, y, j: the buffers of one batch element of each array.
      of_x, of_y: sizes, and which dimensions are contracted and which stay.
    """
    (x_sizes, x_over, x_free), (y_sizes, y_over, y_free) = of_x, of_y
    over = i[:, None, np.array(x_over, int)] == j[None, :, np.array(y_over, int)]
    same = all_of(over, axis=-1) & inside(i, x_sizes)[:, None] & inside(j, y_sizes)[None]
    x, y = promote_dtypes(x, y)
    data = where(same, x[:, None] * y[None], 0)
    if not x_free and not y_free:
        return sum_of(data)[None], zeros((1, 0), i.dtype)
    free = (i[:, np.array(x_free, int)][:, None], j[:, np.array(y_free, int)][None])
    indices = concatenate([broadcast_to(k, (*same.shape, k.shape[-1])) for k in free], -1)
    sizes = [x_sizes[d] for d in x_free] + [y_sizes[d] for d in y_free]
    return merge_leading(data), merge_leading(
        where(same[..., None], indices, beside(sizes, indices))
    )


# ---------------------------------------------------------------- elementwise products


def bcoo_multiply_dense(sp_mat: BCOO, v: Any) -> Array:
    """The data of the elementwise product with a dense array, whose indices are the same.

    Args:
      sp_mat: a sparse array.
      v: an array that broadcasts to its shape.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> sparse.bcoo_multiply_dense(m, jnp.array([10.0, 100.0]))
    Array([200.,  30.], dtype=float32)
    """
    v = asarray(v)
    if broadcast_shapes(v.shape, sp_mat.shape) != sp_mat.shape:
        raise NotImplementedError(errors.shapes("bcoo_multiply_dense", sp_mat.shape, v.shape))
    data, v = promote_dtypes(sp_mat.data, v)
    if not v.ndim:
        return data * v
    v = reshape(v, (*[1] * (sp_mat.ndim - v.ndim), *v.shape))
    b = sp_mat.n_batch
    varies = any(n != 1 for n in v.shape[:b])
    mat = spread(sp_mat.with_buffers(data, sp_mat.indices)) if varies else sp_mat
    wide = v.shape[b : b + sp_mat.n_sparse]

    def one(data: Any, indices: Any, v: Any) -> Any:
        # Along dimensions of size 1 all elements meet the same number.
        at = [0 * i if n == 1 else i for i, n in zip(columns(indices), wide)]
        return data * (v.at[tuple(at)].get(mode="fill", fill_value=0) if at else v)

    batch = mat.data.shape[:b] if varies else v.shape[:b]
    if not varies:
        v = broadcast_to(v, (*[1] * b, *v.shape[b:]))
    else:
        v = broadcast_to(v, (*batch, *v.shape[b:]))
    return over_batch(one, b, sp_mat.shape, mat.data, mat.indices, v)


def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """The elementwise product of two sparse arrays.

    Args:
      lhs, rhs: arrays of the same rank, whose sizes are the same or 1, with as many dense
        dimensions. If one has more batch dimensions, the product has those of the other.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> a = sparse.BCOO.fromdense(jnp.array([0.0, 2.0, 3.0]))
    >>> b = sparse.BCOO.fromdense(jnp.array([5.0, 5.0, 0.0]))
    >>> sparse.bcoo_multiply_sparse(a, b).todense()
    Array([ 0., 10.,  0.], dtype=float32)
    """
    if lhs.ndim != rhs.ndim or lhs.n_dense != rhs.n_dense:
        raise NotImplementedError(errors.shapes("bcoo_multiply_sparse", lhs.shape, rhs.shape))
    shape = broadcast_shapes(lhs.shape, rhs.shape)
    b = min(lhs.n_batch, rhs.n_batch)
    x, y = (spread(bcoo_update_layout(mat, n_batch=b)) for mat in (lhs, rhs))
    sizes = list(zip(x.sparse_shape, y.sparse_shape))
    both = np.array([d for d, (n, m) in enumerate(sizes) if n == m], int)
    of_y = np.array([n != m and n == 1 for n, m in sizes])

    def one(x_data: Any, i: Any, y_data: Any, j: Any) -> Any:
        valid = inside(i, x.sparse_shape)[:, None] & inside(j, y.sparse_shape)[None]
        same = valid & all_of(i[:, None, both] == j[None, :, both], axis=-1)
        x_data, y_data = promote_dtypes(x_data, y_data)
        blocks = same.reshape((*same.shape, *[1] * (x_data.ndim - 1)))
        data = where(blocks, x_data[:, None] * y_data[None], 0)
        # Along a dimension of size 1 the other's index counts.
        i = where(beside(of_y, i)[None].astype(bool), j[None], i[:, None])
        indices = where(same[..., None], i, beside(shape[b : b + len(sizes)], i))
        return merge_leading(data), merge_leading(indices)

    buffers = over_batch(one, b, shape, x.data, x.indices, y.data, y.indices)
    return BCOO(buffers, shape=shape)


# ---------------------------------------------------------------- sums


def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """The sum over some dimensions, which stays sparse.

    Args:
      mat: a sparse array.
      axes: the dimensions.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([[1.0, 2.0], [3.0, 0.0]]))
    >>> sparse.bcoo_reduce_sum(m, axes=(0,)).todense()
    Array([4., 2.], dtype=float32)
    """
    axes = sorted({index(a) % mat.ndim for a in axes})
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    if any(a < b for a in axes):
        # The elements of all batch elements that are summed are put behind each other.
        mat = spread(mat)
        summed = tuple([a for a in axes if a < b])
        data = moveaxis(mat.data, summed, range(b - len(summed), b))
        indices = moveaxis(mat.indices, summed, range(b - len(summed), b))
        kept = b - len(summed)
        count = math.prod(indices.shape[kept : b + 1])
        data = reshape(data, (*data.shape[:kept], count, *data.shape[b + 1 :]))
        indices = reshape(indices, (*indices.shape[:kept], count, indices.shape[-1]))
        mat = BCOO((data, indices), shape=[n for i, n in enumerate(mat.shape) if i not in summed])
        rest = [a - len(summed) for a in axes if a >= b]
        return bcoo_reduce_sum(mat, axes=rest)
    sparse = [a - b for a in axes if b <= a < s]
    dense = tuple([a - s + b + 1 for a in axes if a >= s])
    data, indices = mat.data, mat.indices
    if dense:
        data = sum_of(data, axis=dense, dtype=data.dtype)
    if sparse:
        # Padding along a dimension that goes away must not become an element.
        valid = inside(indices, mat.sparse_shape)
        kept = [d for d in range(mat.n_sparse) if d not in sparse]
        sizes = beside([mat.sparse_shape[d] for d in kept], indices)
        indices = where(valid[..., None], indices[..., np.array(kept, int)], sizes)
        if not kept:
            data = where(valid.reshape((*valid.shape, *[1] * (data.ndim - valid.ndim))), data, 0)
    return BCOO((data, indices), shape=[n for i, n in enumerate(mat.shape) if i not in axes])
