"""Slices at places that may be computed, read and written: a pair of adjoints.

    dynamic_slice  <->  dynamic_update_slice of zeros

A slice always lies in the array: an index at which it would stick out is moved to the nearest at
which it does not.  Slices of several examples, each at its own place, are a gather or a scatter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, shape_errors
from ..base.shapes import inserted
from ..core.avals import aval_of
from ..core.fusion import CHEAP
from ..core.zeros import UndefinedPrimal
from .base import Op, Sample, draw
from .families import check_same_dtypes
from .gather import gather_p, gather_params
from .gather_dimensions import GatherDimensionNumbers, ScatterDimensionNumbers
from .joining import concatenate
from .linear import (
    bring_to,
    broadcast_in_dim,
    constant_like,
    instantiate,
    scalar,
    zeros_of_aval,
)
from .physical import element_shape
from .scatter import scatter_p
from .scattering import CLIP

# A dynamic slice as a gather or scatter of one window, which is moved into the operand.
WITHIN: dict[str, Any] = dict(mode=CLIP, unique_indices=True, indices_are_sorted=True)


class DynamicSlice(Op):
    """The part of shape `slice_sizes` that begins at the indices given as operands."""

    masks_cotangents = True
    fusion = CHEAP

    def shape(self, x, *starts, slice_sizes):
        check_indices(self.name, x, starts)
        if len(slice_sizes) != x.ndim or not all(
            0 <= size <= whole for size, whole in zip(slice_sizes, x.shape)
        ):
            raise TypeError(shape_errors.slice_sizes(slice_sizes, x.shape))
        return slice_sizes

    def weak_type(self, x, *starts, slice_sizes):
        return x.weak_type

    def ref(self, x, *starts, slice_sizes):
        return x[window(x.shape, starts, slice_sizes)]

    def jvp(self, primals, tangents, *, slice_sizes):
        x, *starts = primals
        t = self.bind(tangents[0], *starts, slice_sizes=slice_sizes)
        return self.bind(x, *starts, slice_sizes=slice_sizes), t

    def transpose(self, ct, x, *starts, slice_sizes):
        zeros = zeros_of_aval(x.aval)
        return (dynamic_update_slice_p.bind(zeros, ct, *starts), *[None] * len(starts))

    def vmap(self, axis, dims, x, *starts, slice_sizes):
        dim, *start_dims = dims
        if any(d is not None for d in start_dims):  # examples at places of their own
            whole = tuple(range(len(starts)))
            numbers = GatherDimensionNumbers(whole, (), whole)
            params = gather_params(aval_of(x).dtype, numbers, slice_sizes, **WITHIN)
            indices = indices_of_batch(axis, start_dims, starts)
            return gather_p.vmap(axis, (dim, 0), x, indices, **params)
        # At one place in all examples: one slice, which takes in the whole batch.
        sizes = inserted(slice_sizes, dim, axis.size)
        return self.bind(x, *whole_along(dim, starts), slice_sizes=sizes), dim

    def emit(self, b, x, *starts, slice_sizes):
        (aval,) = b.avals_in[:1]
        sizes = (*slice_sizes, *element_shape(aval))
        return b.op("dynamic_slice", x, *physical_starts(b, aval, starts), slice_sizes=sizes)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, starts, sizes in [
            ((5,), (1,), (3,)),
            ((5,), (4,), (3,)),
            ((2, 5), (-3, 2), (1, 2)),
            ((), (), ()),
            ((3, 0), (1, 0), (2, 0)),
        ]:
            indices = tuple([np.array(start, np.int32) for start in starts])
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype), *indices), dict(slice_sizes=sizes))


class DynamicUpdateSlice(Op):
    """The first operand with the second written over the part that begins at the given indices."""

    masks_cotangents = True
    fusion = CHEAP

    def shape(self, x, update, *starts):
        if update.ndim != x.ndim or any(n > whole for n, whole in zip(update.shape, x.shape)):
            raise TypeError(shape_errors.update_shape(update.shape, x.shape))
        check_indices(self.name, x, starts)
        return x.shape

    def dtype(self, x, update, *starts):
        check_same_dtypes(self.name, (x, update))
        return x.dtype

    def ref(self, x, update, *starts):
        out = np.array(x)
        out[window(x.shape, starts, update.shape)] = update
        return out

    def jvp(self, primals, tangents):
        x, update, *starts = primals
        out = self.bind(x, update, *starts)
        t, t_update = map(instantiate, tangents[:2])
        return out, self.bind(t, t_update, *starts)

    def transpose(self, ct, x, update, *starts):
        ct_x = ct_update = None
        aval = update.aval if type(update) is UndefinedPrimal else aval_of(update)
        if type(x) is UndefinedPrimal:
            ct_x = self.bind(ct, zeros_of_aval(aval.update(dtype=aval_of(ct).dtype)), *starts)
        if type(update) is UndefinedPrimal:
            ct_update = dynamic_slice_p.bind(ct, *starts, slice_sizes=aval.shape)
        return (ct_x, ct_update, *[None] * len(starts))

    def vmap(self, axis, dims, x, update, *starts):
        x_dim, update_dim, *start_dims = dims
        if any(d is not None for d in start_dims):  # examples at places of their own
            whole = tuple(range(len(starts)))
            numbers = ScatterDimensionNumbers(whole, (), whole)
            params = scatter_p.params(numbers, aval_of(x).dtype, **WITHIN)
            indices = indices_of_batch(axis, start_dims, starts)
            return scatter_p.vmap(axis, (x_dim, 0, update_dim), x, indices, update, **params)
        dim = update_dim if x_dim is None else x_dim
        x, update = bring_to(x, axis.size, x_dim, dim), bring_to(update, axis.size, update_dim, dim)
        return self.bind(x, update, *whole_along(dim, starts)), dim

    def emit(self, b, x, update, *starts):
        starts = physical_starts(b, b.avals_in[0], starts)
        return b.op("dynamic_update_slice", x, update, *starts)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, update, starts in [
            ((5,), (3,), (1,)),
            ((5,), (3,), (4,)),
            ((2, 5), (1, 2), (-3, 2)),
            ((), (), ()),
            ((3, 2), (0, 1), (1, 0)),
        ]:
            indices = tuple([np.array(start, np.int32) for start in starts])
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype), draw(rng, update, dtype), *indices), {})


dynamic_slice_p = DynamicSlice("dynamic_slice")
dynamic_update_slice_p = DynamicUpdateSlice("dynamic_update_slice")

# ---------------------------------------------------------------- what the rules share


def check_indices(name: str, x: Any, starts: Sequence[Any]) -> None:
    """Raise unless there is one scalar index for each dimension, all of one integer dtype."""
    if len(starts) != x.ndim:
        raise TypeError(shape_errors.index_count(name, len(starts), x.shape))
    if any(start.ndim != 0 for start in starts):
        raise TypeError(shape_errors.index_shapes(name, [start.shape for start in starts]))
    found = [start.dtype for start in starts]
    if any(dtype != found[0] or not dtypes.issubdtype(dtype, np.integer) for dtype in found):
        raise TypeError(shape_errors.index_dtypes(name, found))


def whole_along(dim: int, starts: Sequence[Any]) -> tuple[Any, ...]:
    """The indices of a slice in a batch along `dim`, all of which it takes in."""
    zero = constant_like(starts[0], 0) if starts else scalar(0, np.int32)
    return inserted(starts, dim, zero)


def indices_of_batch(axis: Any, dims: Sequence[int | None], starts: Sequence[Any]) -> Any:
    """The indices of the slices of all examples, one row for each."""
    shape = (axis.size, 1)
    columns = [broadcast_in_dim(x, shape, () if d is None else (0,)) for x, d in zip(starts, dims)]
    return concatenate(columns, 1)


def window(shape: Sequence[int], starts: Sequence[Any], sizes: Sequence[int]) -> tuple:
    """The NumPy index of the part of `sizes` that begins at `starts`, or as near as can be."""
    clamped = [max(0, min(int(s), whole - n)) for s, whole, n in zip(starts, shape, sizes)]
    return tuple([slice(start, start + n) for start, n in zip(clamped, sizes)])


def physical_starts(b: Any, aval: Any, starts: Sequence[Any]) -> list[Any]:
    """The indices of a slice, followed by those of the dimensions of an extended dtype."""
    tail = len(element_shape(aval))
    if not tail:
        return list(starts)
    dtype = b.avals_in[-1].dtype if starts else np.dtype(np.int32)
    return [*starts, *[b.constant(0, dtype)] * tail]
