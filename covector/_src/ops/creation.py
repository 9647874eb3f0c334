"""Arrays that are made from nothing but their shape."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, shape_errors
from ..base.errors import dtype_not_accepted
from ..base.shapes import canonicalize_shape
from ..core.avals import ShapedArray
from ..core.fusion import REPEATING
from ..core.memory import MemorySpace
from .base import Op, Sample
from .families import NUMBERS
from .identities import stage
from .linear import broadcast_in_dim
from .physical import physical_aval


class Iota(Op):
    """The numbers 0, 1, 2, ... along `dimension`, the same along all others."""

    fusion = REPEATING

    def abstract_eval(self, *, dtype, shape, dimension, sharding):
        if any(size < 0 for size in shape):
            raise TypeError(shape_errors.negative_sizes("iota", "shape", shape))
        if not any(dtypes.issubdtype(dtype, kind) for kind in NUMBERS):
            raise TypeError(dtype_not_accepted("iota", dtype, NUMBERS, 0, 1))
        if not 0 <= dimension < len(shape):
            raise ValueError(shape_errors.iota_dimension(dimension, shape))
        return ShapedArray(shape, dtype)

    def ref(self, *, dtype, shape, dimension, sharding):
        counted = [1] * len(shape)
        counted[dimension] = shape[dimension]
        return np.broadcast_to(np.arange(shape[dimension]).reshape(counted), shape).astype(dtype)

    def emit(self, b, *, dtype, shape, dimension, sharding):
        return b.op("iota", iota_dimension=dimension)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, dimension in [((3,), 0), ((2, 3), 1), ((3, 2), 0), ((0, 2), 0)]:
            for dtype in ("int32", "uint8", "float32", "bfloat16", "complex64"):
                params = dict(
                    dtype=np.dtype(dtype), shape=shape, dimension=dimension, sharding=None
                )
                yield Sample((), params)


iota_p = Iota("iota")


def broadcasted_iota(
    dtype: Any, shape: Sequence[int], dimension: int, *, out_sharding: Any = None
) -> Any:
    """An array of numbers that count from 0 along one dimension.

    Args:
      dtype: a numeric dtype.
      shape: the shape of the array.
      dimension: the dimension along which its numbers rise.
      out_sharding: how the array is to be sharded.

    Returns:
      An array `x` with `x[..., i, ...] == i`.

    Raises:
      TypeError: the dtype is not numeric, or a size is not a nonnegative integer.
      ValueError: there is no such dimension.

    >>> from covector import lax
    >>> lax.broadcasted_iota("int32", (2, 3), 1)
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    return iota_p.bind(
        dtype=dtypes.check_user_dtype_supported(dtype, "broadcasted_iota"),
        shape=canonicalize_shape(shape, "broadcasted_iota"),
        dimension=operator.index(dimension),
        sharding=out_sharding,
    )


def iota(dtype: Any, size: int) -> Any:
    """The numbers from 0 to `size - 1`.

    >>> from covector import lax
    >>> lax.iota("float32", 3)
    Array([0., 1., 2.], dtype=float32)
    """
    return broadcasted_iota(dtype, (size,), 0)


# ---------------------------------------------------------------- empty


class Empty(Op):
    """An array that is to be written to before it is read; it is zero."""

    fusion = REPEATING

    def abstract_eval(self, *, shape, dtype, out_sharding):
        return ShapedArray(shape, dtype)

    def ref(self, *, shape, dtype, out_sharding):
        return np.zeros(shape, dtype)

    def emit(self, b, *, shape, dtype, out_sharding):
        return b.full(0, physical_aval(b.avals_out[0]))

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in ((), (2, 3), (0,)):
            yield Sample((), dict(shape=shape, dtype=np.dtype(np.float32), out_sharding=None))


class Empty2(Op):
    """A scalar that nobody reads; it is zero."""

    def abstract_eval(self, *, dtype, memory_space):
        return ShapedArray((), dtype)

    def ref(self, *, dtype, memory_space):
        return np.zeros((), dtype)

    def emit(self, b, *, dtype, memory_space):
        return b.full(0, physical_aval(b.avals_out[0]))

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in ("float32", "complex64", "int32", "bool"):
            yield Sample((), dict(dtype=np.dtype(dtype), memory_space=MemorySpace.Device))


empty_p = Empty("empty")
empty2_p = Empty2("empty2")


def empty(shape: int | Sequence[int], dtype: Any, *, out_sharding: Any = None) -> Any:
    """An array of values that are not specified; they are zeros.

    Args:
      shape: a size, or a sequence of sizes.
      dtype: the dtype.
      out_sharding: how the array is to be sharded.

    >>> from covector import lax
    >>> lax.empty((2, 3), "float32").shape
    (2, 3)
    """
    sizes = (shape,) if isinstance(shape, int) else shape
    return empty_p.bind(
        shape=canonicalize_shape(sizes, "empty"),
        dtype=dtypes.check_user_dtype_supported(dtype, "empty"),
        out_sharding=out_sharding,
    )


def shape_as_value(shape: Sequence[int]) -> Any:
    """A shape as an array of int32.

    >>> from covector import lax
    >>> lax.shape_as_value((2, 3))
    Array([2, 3], dtype=int32)
    """
    return stage(np.array(canonicalize_shape(shape, "shape_as_value"), np.int32))


def empty_of_aval(aval: Any) -> Any:
    """A value of a type for a place where nobody reads it."""
    element = empty2_p.bind(dtype=aval.dtype, memory_space=MemorySpace.Device)
    return broadcast_in_dim(element, aval.shape, ())
