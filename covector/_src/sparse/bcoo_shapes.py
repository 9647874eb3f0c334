"""Other shapes and parts of BCOO arrays.

An op on a batch or a dense dimension is done to the buffers as to dense arrays.  One on a sparse
dimension changes indices; elements that leave the array become padding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from ..api.vectorize import vmap
from ..base import sparse_errors as errors
from ..numpy.creation import asarray
from ..numpy.joining import concatenate
from ..numpy.padding import pad
from ..numpy.promotion import promote_dtypes
from ..numpy.selection import clip, where
from ..numpy.shaping import broadcast_to, flip, reshape
from ..ops.dynamic_indices import dynamic_slice
from ..ops.gather_dimensions import GatherDimensionNumbers, GatherScatterMode
from .bcoo import BCOO, bcoo_transpose, beside, bounded, inside, spread
from .bcoo_layout import bcoo_update_layout


def _moved(mat: BCOO, indices: Any, valid: Any, shape: Sequence[int]) -> BCOO:
    """The array with other indices, of those elements that are valid; the others are padding."""
    b = mat.n_batch
    sizes = beside(shape[b : b + indices.shape[-1]], indices)
    valid = valid & inside(mat.indices, mat.sparse_shape)
    return mat.with_buffers(mat.data, where(valid[..., None], indices, sizes), shape)


def _joined(columns: Sequence[Any], like: Any) -> Any:
    if not columns:
        return like[..., :0]
    return concatenate([c[..., None] for c in columns], axis=-1)


def bcoo_reshape(
    mat: BCOO,
    *,
    new_sizes: Sequence[int],
    dimensions: Sequence[int] | None = None,
    sharding: Any = None,
) -> BCOO:
    """The array in another shape, whose batch and dense dimensions hold as many elements.

    Args:
      mat: a sparse array.
      new_sizes: the shape.
      dimensions: the order in which the dimensions are read; by default as they are.
      sharding: must be None.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([0.0, 1.0, 2.0, 0.0]))
    >>> sparse.bcoo_reshape(m, new_sizes=(2, 2)).todense()
    Array([[0., 1.],
           [2., 0.]], dtype=float32)
    """
    new_sizes = tuple(map(index, new_sizes))
    if math.prod(new_sizes) != mat.size:
        raise TypeError(errors.shapes("bcoo_reshape", mat.shape, new_sizes))
    if dimensions is not None and tuple(dimensions) != tuple(range(mat.ndim)):
        mat = mat.transpose(tuple(dimensions))
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    batch = _prefix(new_sizes, mat.shape[:b])
    dense = _prefix(new_sizes[::-1], mat.shape[s:][::-1])
    if batch is None or dense is None or len(batch) + len(dense) > len(new_sizes):
        raise ValueError(errors.mixed_groups(mat.shape, new_sizes, b, mat.n_dense))
    sizes = new_sizes[len(batch) : len(new_sizes) - len(dense)]
    mat = mat if mat.shape[:b] == new_sizes[:b] else spread(mat)
    flat: Any = 0
    for i, n in enumerate(mat.sparse_shape):
        flat = flat * n + mat.indices[..., i]
    columns = []
    for n in reversed(sizes):
        columns.append(flat % max(n, 1))
        flat = flat // max(n, 1)
    indices = _joined(columns[::-1], mat.indices)
    valid = inside(mat.indices, mat.sparse_shape)
    indices = where(valid[..., None], indices, beside(sizes, indices))
    if batch != mat.shape[:b]:
        lead = mat.data.shape[:b] and batch
        indices = reshape(indices, (*lead, *indices.shape[b:]))
    data = mat.data
    if batch != mat.shape[:b] or dense[::-1] != mat.shape[s:]:
        lead = data.shape[:b] if batch == mat.shape[:b] else batch
        data = reshape(data, (*lead, data.shape[b], *dense[::-1]))
    return BCOO((data, indices), shape=new_sizes, unique_indices=mat.unique_indices)


def _prefix(sizes: Sequence[int], group: Sequence[int]) -> tuple[int, ...] | None:
    """The first of `sizes` that hold as many elements as the dimensions of a group."""
    if not group:
        return ()
    total = math.prod(group)
    for count in range(1, len(sizes) + 1):
        if math.prod(sizes[:count]) == total and count >= len(group):
            return tuple(sizes[:count])
    for count in range(1, len(sizes) + 1):
        if math.prod(sizes[:count]) == total:
            return tuple(sizes[:count])
    return None


def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """The array without some dimensions of size 1.

    Args:
      arr: a sparse array.
      dimensions: the dimensions.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([[0.0, 1.0]]))
    >>> sparse.bcoo_squeeze(m, dimensions=(0,)).shape
    (2,)
    """
    dims = {index(d) % arr.ndim for d in dimensions}
    if any(arr.shape[d] != 1 for d in dims):
        raise ValueError(errors.shapes("bcoo_squeeze", arr.shape, tuple(dims)))
    b, s = arr.n_batch, arr.n_batch + arr.n_sparse
    gone = tuple([d for d in dims if d < b])
    kept = np.array([d - b for d in range(b, s) if d not in dims], int)
    # An element that lies beyond a dimension of size 1 is padding.
    valid = inside(arr.indices, arr.sparse_shape)
    sizes = beside([arr.sparse_shape[d] for d in kept], arr.indices)
    indices = where(valid[..., None], arr.indices[..., kept], sizes)
    data = arr.data
    if not len(kept):
        data = where(valid.reshape((*valid.shape, *[1] * (data.ndim - valid.ndim))), data, 0)
    data = data.squeeze((*gone, *[d - s + b + 1 for d in dims if d >= s]))
    shape = [n for d, n in enumerate(arr.shape) if d not in dims]
    return BCOO(
        (data, indices.squeeze(gone)),
        shape=shape,
        indices_sorted=arr.indices_sorted,
        unique_indices=arr.unique_indices,
    )


def bcoo_broadcast_in_dim(
    mat: BCOO, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCOO:
    """The array repeated along new dimensions; see `lax.broadcast_in_dim`.

    Args:
      mat: a sparse array.
      shape: the shape of the result.
      broadcast_dimensions: for each dimension of `mat` the one that it becomes, in rising order.
      sharding: must be None.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([0.0, 1.0]))
    >>> wide = sparse.bcoo_broadcast_in_dim(m, shape=(2, 2), broadcast_dimensions=(1,))
    >>> wide.todense()
    Array([[0., 1.],
           [0., 1.]], dtype=float32)
    """
    shape = tuple(map(index, shape))
    dims = tuple(map(index, broadcast_dimensions))
    if len(dims) != mat.ndim or list(dims) != sorted(set(dims)):
        raise ValueError(errors.shapes("bcoo_broadcast_in_dim", mat.shape, dims))
    if any(n not in (1, shape[d]) for n, d in zip(mat.shape, dims)):
        raise ValueError(errors.shapes("bcoo_broadcast_in_dim", mat.shape, shape))
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    # New dimensions before the sparse ones are batch dimensions, which cost nothing; those between
    # sparse ones, or before dense ones, are sparse; those at the end belong to the group before.
    first_sparse = dims[b] if b < mat.ndim else len(shape)
    first_dense = dims[s] if s < mat.ndim else len(shape)
    if s < mat.ndim and mat.n_sparse:
        first_dense = dims[s - 1] + 1
    places = {d: i for i, d in enumerate(dims)}
    lead = [mat.data.shape[places[d]] if d in places else 1 for d in range(first_sparse)]
    at = [mat.indices.shape[places[d]] if d in places else 1 for d in range(first_sparse)]
    data = reshape(mat.data, (*lead, *mat.data.shape[b:]))
    indices = reshape(mat.indices, (*at, *mat.indices.shape[b:]))
    b = first_sparse
    for d in range(first_sparse, first_dense):
        known = d in places
        column = indices[..., places[d] - mat.n_batch, None] if known else None
        if known and mat.shape[places[d]] == shape[d]:
            new = column
        else:
            # Every element is stored once for each place along the dimension.
            n = shape[d]
            data = _repeated(data, b, n)
            indices = _repeated(indices, b, n)
            along = np.tile(np.arange(n, dtype=indices.dtype), indices.shape[b] // max(n, 1))
            new = broadcast_to(along[:, None], (*indices.shape[:-1], 1))
            if known:
                old = indices[..., places[d] - mat.n_batch, None]
                new = where(old < mat.shape[places[d]], new, n)
        indices = concatenate([indices, new], axis=-1)
    indices = indices[..., mat.n_sparse :] if first_dense > first_sparse else indices
    dense = [mat.shape[places[d]] if d in places else 1 for d in range(first_dense, len(shape))]
    data = reshape(data, (*data.shape[: b + 1], *dense))
    data = broadcast_to(data, (*data.shape[: b + 1], *shape[first_dense:]))
    return BCOO((data, indices), shape=shape)


def _repeated(x: Any, axis: int, n: int) -> Any:
    """Each element along an axis n times, one after the other."""
    wide = broadcast_to(
        x[(slice(None),) * (axis + 1) + (None,)], (*x.shape[: axis + 1], n, *x.shape[axis + 1 :])
    )
    return reshape(wide, (*x.shape[:axis], x.shape[axis] * n, *x.shape[axis + 1 :]))


def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
    """Arrays of the same layout behind each other.

    Args:
      operands: sparse arrays, whose shapes differ along `dimension` only.
      dimension: a dimension.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([0.0, 1.0]))
    >>> sparse.bcoo_concatenate([m, m], dimension=0).todense()
    Array([0., 1., 0., 1.], dtype=float32)
    """
    first = operands[0]
    dimension = index(dimension) % first.ndim
    b, s = first.n_batch, first.n_batch + first.n_sparse
    for x in operands:
        others = [n for d, n in enumerate(x.shape) if d != dimension]
        if others != [n for d, n in enumerate(first.shape) if d != dimension]:
            raise ValueError(errors.shapes("bcoo_concatenate", *[x.shape for x in operands]))
        if (x.n_batch, x.n_dense) != (first.n_batch, first.n_dense):
            raise ValueError(errors.layout("bcoo_concatenate", "the layouts differ"))
    sizes = [x.shape[dimension] for x in operands]
    shape = list(first.shape)
    shape[dimension] = sum(sizes)
    mats = [spread(x) for x in operands]
    datas = promote_dtypes(*[x.data for x in mats])
    if b <= dimension < s:
        moved, offset = [], 0
        for x, n in zip(mats, sizes):
            shift = np.zeros(x.n_sparse, x.indices.dtype)
            shift[dimension - b] = offset
            indices = x.indices + beside(shift, x.indices)
            moved.append(_moved(x, indices, np.True_, shape).indices)
            offset += n
        return BCOO((concatenate(datas, axis=b), concatenate(moved, axis=b)), shape=shape)
    most = max([x.nse for x in mats])
    padded = [_padded(data, x, most) for data, x in zip(datas, mats)]
    if dimension < b:
        buffers = [concatenate(list(parts), axis=dimension) for parts in zip(*padded)]
        return BCOO(tuple(buffers), shape=shape)
    # Along a dense dimension each array's blocks are filled up with zeros.
    axis, offset, parts = dimension - s + b + 1, 0, []
    for (data, indices), n in zip(padded, sizes):
        widths = [(0, 0)] * data.ndim
        widths[axis] = (offset, shape[dimension] - offset - n)
        parts.append((pad(data, widths), indices))
        offset += n
    buffers = [concatenate(list(p), axis=b) for p in zip(*parts)]
    return BCOO(tuple(buffers), shape=shape)


def _padded(data: Any, mat: BCOO, nse: int) -> tuple[Any, Any]:
    """The buffers with padding up to `nse` elements."""
    b, more = mat.n_batch, nse - mat.nse
    if not more:
        return data, mat.indices
    widths = [(0, more) if d == b else (0, 0) for d in range(data.ndim)]
    sizes = beside(mat.sparse_shape, mat.indices)
    rest = broadcast_to(sizes, (*mat.indices.shape[:b], more, mat.n_sparse))
    return pad(data, widths), concatenate([mat.indices, rest], axis=b)


def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """The array with some dimensions in reverse order.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([0.0, 1.0, 2.0]))
    >>> sparse.bcoo_rev(m, (0,)).todense()
    Array([2., 1., 0.], dtype=float32)
    """
    dims = [index(d) % operand.ndim for d in dimensions]
    b, s = operand.n_batch, operand.n_batch + operand.n_sparse
    data = flip(operand.data, [d for d in dims if d < b] + [d - s + b + 1 for d in dims if d >= s])
    indices = flip(operand.indices, [d for d in dims if d < b])
    columns = [
        n - 1 - indices[..., i] if i + b in dims else indices[..., i]
        for i, n in enumerate(operand.sparse_shape)
    ]
    mat = BCOO((data, indices), shape=operand.shape)
    return _moved(mat, _joined(columns, indices), np.True_, operand.shape)


def bcoo_slice(
    mat: BCOO,
    *,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> BCOO:
    """A part of the array; see `lax.slice`.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([0.0, 1.0, 2.0, 3.0]))
    >>> sparse.bcoo_slice(m, start_indices=(1,), limit_indices=(4,), strides=(2,)).todense()
    Array([1., 3.], dtype=float32)
    """
    starts, limits = [tuple(map(index, x)) for x in (start_indices, limit_indices)]
    steps = (1,) * mat.ndim if strides is None else tuple(map(index, strides))
    if not len(starts) == len(limits) == len(steps) == mat.ndim:
        raise ValueError(errors.shapes("bcoo_slice", mat.shape, starts, limits))
    cuts = [slice(*cut) for cut in zip(starts, limits, steps)]
    shape = [len(range(*cut.indices(n))) for cut, n in zip(cuts, mat.shape)]
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    whole = slice(None)
    data = mat.data[(*_batch_cuts(mat.data, cuts[:b]), whole, *cuts[s:])]
    indices = mat.indices[(*_batch_cuts(mat.indices, cuts[:b]), whole, whole)]
    columns, valid = [], np.True_
    for i, (start, limit, step) in enumerate(list(zip(starts, limits, steps))[b:s]):
        column = indices[..., i] - start
        valid = valid & (column >= 0) & (column < limit - start) & (column % step == 0)
        columns.append(column // step)
    cut = BCOO((data, indices), shape=(*shape[:b], *mat.shape[b:s], *shape[s:]))
    return bounded(_moved(cut, _joined(columns, indices), valid, shape))


def _batch_cuts(x: Any, cuts: Sequence[slice]) -> list[slice]:
    """Dimensions of size 1 stand for all, and stay."""
    return [slice(None) if n == 1 else cut for n, cut in zip(x.shape, cuts)]


def bcoo_dynamic_slice(mat: BCOO, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> BCOO:
    """A part of the array from a place that is computed; see `lax.dynamic_slice`.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([0.0, 1.0, 2.0]))
    >>> sparse.bcoo_dynamic_slice(m, [jnp.array(1)], [2]).todense()
    Array([1., 2.], dtype=float32)
    """
    sizes = tuple(map(index, slice_sizes))
    if not len(start_indices) == len(sizes) == mat.ndim:
        raise ValueError(errors.shapes("bcoo_dynamic_slice", mat.shape, sizes))
    dtype = mat.indices.dtype
    starts = [
        clip(where(asarray(x) < 0, asarray(x) + n, x), 0, n - size).astype(dtype)
        for x, n, size in zip(start_indices, mat.shape, sizes)
    ]
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    mat = spread(mat)
    zero = asarray(0, dtype)
    data = dynamic_slice(
        mat.data,
        [*starts[:b], zero, *starts[s:]],
        (*sizes[:b], mat.data.shape[b], *sizes[s:]),
    )
    indices = dynamic_slice(
        mat.indices, [*starts[:b], zero, zero], (*sizes[:b], *mat.indices.shape[b:])
    )
    cut = BCOO((data, indices), shape=(*sizes[:b], *mat.shape[b:s], *sizes[s:]))
    columns = [indices[..., i] - starts[b + i] for i in range(mat.n_sparse)]
    valid: Any = np.True_
    for column, size in zip(columns, sizes[b:s]):
        valid = valid & (column >= 0) & (column < size)
    return bounded(_moved(cut, _joined(columns, indices), valid, sizes))


def bcoo_gather(
    operand: BCOO,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | GatherScatterMode | None = None,
    fill_value: Any = None,
) -> BCOO:
    """Slices of the array at places that indices give; see `lax.gather`.

    Each slice holds as many elements as the array, or as fill it, of which most may be padding.

    Args:
      operand: a sparse array.
      start_indices, slice_sizes: as of `lax.gather`.
      dimension_numbers: as of `lax.gather`, without batching dimensions.
      mode: `"promise_in_bounds"`, the default, or `"clip"`.
      unique_indices, indices_are_sorted, fill_value: of no effect.

    >>> import covector.numpy as jnp
    >>> from covector import lax
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([5.0, 0.0, 7.0]))
    >>> numbers = lax.GatherDimensionNumbers((), (0,), (0,))
    >>> sparse.bcoo_gather(m, jnp.array([[2], [1], [2]]), numbers, (1,)).todense()
    Array([7., 0., 7.], dtype=float32)
    """
    modes = GatherScatterMode
    mode = modes.PROMISE_IN_BOUNDS if mode is None else modes.from_any(mode)
    if mode not in (modes.PROMISE_IN_BOUNDS, modes.CLIP):
        what = f"mode={mode.name.lower()}"
        raise NotImplementedError(errors.not_implemented("bcoo_gather", what))
    if dimension_numbers.operand_batching_dims:
        raise NotImplementedError(errors.not_implemented("bcoo_gather", "operand_batching_dims"))
    start_indices = clip(asarray(start_indices), 0)
    lead, sizes = start_indices.shape[:-1], tuple(map(index, slice_sizes))

    def window(start: Any) -> BCOO:
        starts: list[Any] = [np.zeros((), start.dtype)] * operand.ndim
        for i, d in enumerate(dimension_numbers.start_index_map):
            starts[d] = start[i]
        cut = bcoo_dynamic_slice(operand, starts, sizes)
        return bcoo_squeeze(cut, dimensions=dimension_numbers.collapsed_slice_dims)

    many = vmap(window)(reshape(start_indices, (math.prod(lead), start_indices.shape[-1])))
    buffers = [reshape(x, (*lead, *x.shape[1:])) for x in (many.data, many.indices)]
    return _windows_at(
        BCOO((buffers[0], buffers[1]), shape=(*lead, *many.shape[1:])),
        dimension_numbers.offset_dims,
    )


def _windows_at(mat: BCOO, offset_dims: Sequence[int]) -> BCOO:
    """The array whose last dimensions are moved to the places `offset_dims`."""
    order = [d for d in range(mat.ndim) if d not in offset_dims] + list(offset_dims)
    permutation = tuple([order.index(d) for d in range(mat.ndim)])
    if permutation == tuple(range(mat.ndim)):
        return mat
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    if set(permutation[:b]) != set(range(b)) or set(permutation[s:]) != set(range(s, mat.ndim)):
        mat = bcoo_update_layout(mat, n_batch=0, n_dense=0)
    return bcoo_transpose(mat, permutation=permutation)
