"""The linear maps that every derivative is made of, in adjoint pairs.

    broadcast_in_dim  <->  reduce_sum          transpose  <->  transpose
    reshape           <->  reshape             add_any    <->  (copying)

A linear primitive's tangent is itself applied to the tangent (`Linear.jvp`).  The file is closed
under transposition: its transpose rules need only what is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.avals import AbstractValue, ShapedArray, abstract_token, aval_of
from ..core.zeros import UndefinedPrimal, Zero
from .base import Op, Sample, draw


class Linear(Op):
    """A primitive that is linear in its one operand."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        (x,), (t,) = primals, tangents
        return self.bind(x, **params), self.bind(t, **params)


# ---------------------------------------------------------------- broadcast_in_dim and reduce_sum


class BroadcastInDim(Linear):
    """Copy an array along new dimensions, and along those in which it has size 1.

    Operand dimension i becomes output dimension `broadcast_dimensions[i]`.
    """

    def shape(self, x, *, shape, broadcast_dimensions, sharding=None):
        return shape

    def ref(self, x, *, shape, broadcast_dimensions, sharding=None):
        placed = [1] * len(shape)
        for size, dim in zip(np.shape(x), broadcast_dimensions):
            placed[dim] = size
        return np.broadcast_to(np.reshape(x, placed), shape)

    def transpose(self, ct, x, *, shape, broadcast_dimensions, sharding=None):
        if type(ct) is Zero:
            return (Zero(x.aval),)
        kept = tuple(
            dim for dim, size in zip(broadcast_dimensions, x.aval.shape) if size == shape[dim]
        )
        summed = tuple(dim for dim in range(len(shape)) if dim not in kept)
        ct = reduce_sum(ct, summed)
        return (ct if aval_of(ct).shape == x.aval.shape else reshape(ct, x.aval.shape),)

    def vmap(self, axis, dims, x, *, shape, broadcast_dimensions, sharding=None):
        x = move_axis(x, dims[0], 0)
        return self.bind(
            x,
            shape=(axis.size, *shape),
            broadcast_dimensions=(0, *[dim + 1 for dim in broadcast_dimensions]),
            sharding=sharding,
        ), 0

    def emit(self, b, x, *, shape, broadcast_dimensions, sharding=None):
        return b.op("broadcast_in_dim", x, broadcast_dimensions=broadcast_dimensions)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, target, dims in [
            ((), (2, 3), ()),
            ((3,), (2, 3), (1,)),
            ((2,), (2, 3), (0,)),
            ((1, 3), (4, 2, 3), (1, 2)),
            ((0,), (2, 0), (1,)),
        ]:
            params = dict(shape=target, broadcast_dimensions=dims, sharding=None)
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype),), params)


class ReduceSum(Linear):
    """Sum over the dimensions `axes`."""

    def shape(self, x, *, axes, out_sharding=None):
        return without(x.shape, axes)

    def ref(self, x, *, axes, out_sharding=None):
        return np.sum(x, axis=axes, dtype=np.result_type(x))

    def transpose(self, ct, x, *, axes, out_sharding=None):
        kept = tuple(dim for dim in range(x.aval.ndim) if dim not in axes)
        return (broadcast_in_dim(ct, x.aval.shape, kept),)

    def vmap(self, axis, dims, x, *, axes, out_sharding=None):
        axes, dim = shift_axes(axes, dims[0])
        return self.bind(x, axes=axes, out_sharding=out_sharding), dim

    def emit(self, b, x, *, axes, out_sharding=None):
        return b.reduce("add", x, 0, axes)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, axes in [((3,), (0,)), ((2, 3), (1,)), ((2, 3, 4), (0, 2)), ((2, 0), (1,))]:
            for dtype in (np.float32, np.complex64, np.int32):
                yield Sample((draw(rng, shape, dtype),), dict(axes=axes, out_sharding=None))


broadcast_in_dim_p = BroadcastInDim("broadcast_in_dim")
reduce_sum_p = ReduceSum("reduce_sum")


def broadcast_in_dim(x: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> Any:
    """`broadcast_in_dim_p` where it does something, `x` itself where it does not."""
    shape, dims = tuple(shape), tuple(broadcast_dimensions)
    if aval_of(x).shape == shape and len(shape) == len(dims):
        return x
    return broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=dims, sharding=None)


def reduce_sum(x: Any, axes: Sequence[int]) -> Any:
    """`reduce_sum_p` where it does something, `x` itself where it does not."""
    return reduce_sum_p.bind(x, axes=tuple(axes), out_sharding=None) if axes else x


# ---------------------------------------------------------------- transpose and reshape


class Transpose(Linear):
    """Output dimension i is operand dimension `permutation[i]`."""

    def shape(self, x, *, permutation):
        return tuple([x.shape[dim] for dim in permutation])

    def ref(self, x, *, permutation):
        return np.transpose(x, permutation)

    def transpose(self, ct, x, *, permutation):
        return (transpose(ct, tuple(np.argsort(permutation).tolist())),)

    def vmap(self, axis, dims, x, *, permutation):
        (dim,) = dims
        return transpose(x, (dim, *[p + (p >= dim) for p in permutation])), 0

    def emit(self, b, x, *, permutation):
        return b.op("transpose", x, permutation=permutation)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, permutation in [((2, 3), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((0, 2), (1, 0))]:
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype),), dict(permutation=permutation))


class Reshape(Linear):
    """The same elements in row-major order under another shape."""

    def shape(self, x, *, new_sizes, dimensions=None, sharding=None):
        return new_sizes

    def ref(self, x, *, new_sizes, dimensions=None, sharding=None):
        return np.reshape(x, new_sizes)

    def transpose(self, ct, x, *, new_sizes, dimensions=None, sharding=None):
        return (reshape(ct, x.aval.shape),)

    def vmap(self, axis, dims, x, *, new_sizes, dimensions=None, sharding=None):
        return reshape(move_axis(x, dims[0], 0), (axis.size, *new_sizes)), 0

    def emit(self, b, x, *, new_sizes, dimensions=None, sharding=None):
        return b.op("reshape", x)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, new in [((2, 3), (6,)), ((6,), (3, 2)), ((), (1, 1)), ((0, 2), (2, 0))]:
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                params = dict(new_sizes=new, dimensions=None, sharding=None)
                yield Sample((draw(rng, shape, dtype),), params)


transpose_p = Transpose("transpose")
reshape_p = Reshape("reshape")


def transpose(x: Any, permutation: Sequence[int]) -> Any:
    """`transpose_p` where it does something, `x` itself where it does not."""
    permutation = tuple(permutation)
    if permutation == tuple(range(len(permutation))):
        return x
    return transpose_p.bind(x, permutation=permutation)


def reshape(x: Any, new_sizes: Sequence[int]) -> Any:
    """`reshape_p` where it does something, `x` itself where it does not."""
    if aval_of(x).shape == tuple(new_sizes):
        return x
    return reshape_p.bind(x, new_sizes=tuple(new_sizes), dimensions=None, sharding=None)


# ---------------------------------------------------------------- add_any


class AddAny(Op):
    """The sum of two tangents or cotangents of one type; `add` without its broadcasting."""

    def shape(self, x, y):
        return x.shape

    def ref(self, x, y):
        return np.add(x, y)

    def jvp(self, primals, tangents):
        (x, y), (tx, ty) = primals, tangents
        out = self.bind(x, y)
        if type(tx) is Zero:
            return out, ty
        return out, tx if type(ty) is Zero else self.bind(tx, ty)

    def transpose(self, ct, x, y):
        return tuple(ct if type(v) is UndefinedPrimal else None for v in (x, y))

    def vmap(self, axis, dims, x, y):
        x = bring_to(x, axis.size, dims[0], 0)
        y = bring_to(y, axis.size, dims[1], 0)
        return self.bind(x, y), 0

    def emit(self, b, x, y):
        return b.op("add", x, y)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in (np.float32, np.complex64):
            yield Sample((draw(rng, (2, 3), dtype), draw(rng, (2, 3), dtype)), {})


add_any_p = AddAny("add_any")


def add_any(x: Any, y: Any) -> Any:
    """The sum of two tangents, or cotangents, of one type."""
    return x if aval_of(x).dtype == dtypes.float0 else add_any_p.bind(x, y)


# ---------------------------------------------------------------- zeros and constants


@lru_cache(maxsize=1024)
def scalar(value: Any, dtype: Any) -> np.ndarray:
    """A 0-d constant of the given dtype; the same object for the same value."""
    constant = np.array(value, dtype)
    constant.flags.writeable = False
    return constant


def constant_like(x: Any, value: Any) -> np.ndarray:
    """The scalar `value` in the dtype of `x`, as a literal for the arithmetic of rules."""
    return scalar(value, aval_of(x).dtype)


def full(shape: Sequence[int], value: Any, dtype: Any) -> Any:
    """An array of one value."""
    return broadcast_in_dim(scalar(value, dtype), shape, ())


def zeros_of_aval(aval: AbstractValue) -> Any:
    """The zero of an aval, as a value."""
    if aval is abstract_token:
        raise TypeError("a token has no zero")
    if aval.dtype == dtypes.float0:  # type: ignore[attr-defined]
        return np.zeros(aval.shape, dtypes.float0)  # type: ignore[attr-defined]
    return full(aval.shape, 0, aval.dtype)  # type: ignore[attr-defined]


def instantiate(tangent: Any) -> Any:
    """A tangent as a value: symbolic zeros become arrays of zeros."""
    return zeros_of_aval(tangent.aval) if type(tangent) is Zero else tangent


# ---------------------------------------------------------------- moving batch dimensions


def without(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """`shape` without the dimensions `axes`."""
    return tuple([size for dim, size in enumerate(shape) if dim not in axes])


def shift_axes(axes: Sequence[int], dim: int) -> tuple[tuple[int, ...], int]:
    """Reduced `axes` of an example as axes of the batch, and where the batch's `dim` ends up."""
    shifted = tuple([axis + (axis >= dim) for axis in axes])
    return shifted, dim - sum(axis < dim for axis in shifted)


def move_axis(x: Any, source: int, destination: int) -> Any:
    """`x` with dimension `source` moved to be dimension `destination`."""
    if source == destination:
        return x
    order = [dim for dim in range(aval_of(x).ndim) if dim != source]
    order.insert(destination, source)
    return transpose(x, order)


def bring_to(x: Any, size: int, dim: int | None, to: int) -> Any:
    """A batch with its dimension moved to `to`; what is no batch is copied along a new one."""
    if dim is not None:
        return move_axis(x, dim, to)
    shape = aval_of(x).shape
    target = (*shape[:to], size, *shape[to:])
    kept = [i for i in range(len(target)) if i != to]
    return broadcast_in_dim(x, target, kept)


def unbroadcast(ct: Any, aval: ShapedArray) -> Any:
    """The cotangent of an operand of type `aval` that was broadcast to the shape of `ct`.

    The transpose of copying is summing: over every dimension that the operand lacks (an operand
    of rank 0 lacks them all) or in which it has size 1.
    """
    if type(ct) is Zero:
        return Zero(aval.to_cotangent_aval())
    shape = aval_of(ct).shape
    if shape == aval.shape:
        return ct
    if aval.shape == ():
        return reduce_sum(ct, range(len(shape)))
    copied = [i for i, (n, m) in enumerate(zip(aval.shape, shape)) if n == 1 and m != 1]
    return reshape(reduce_sum(ct, copied), aval.shape)
