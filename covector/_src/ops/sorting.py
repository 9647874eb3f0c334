"""Sorting, and the greatest elements.

The order of sorting is that of NumPy: -0 and 0 are equal, NaNs are equal and come last, booleans
begin with False, and complex numbers are ordered by their real parts, then by their imaginary ones.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, sorting_errors
from ..base.dims import at_least
from ..base.shapes import canonicalize_axis, with_size
from ..core.avals import aval_of
from ..core.primitive import BuiltinPrimitive
from ..core.zeros import Zero
from .base import Sample, draw
from .creation import broadcasted_iota
from .gather import gather_p, gather_params
from .gather_dimensions import GatherDimensionNumbers, GatherScatterMode
from .linear import broadcast_in_dim, expand_dims, move_axis, reshape
from .sort_order import emit_greatest, emit_sort, keys_of, ordinary
from .thresholds import SORT, TOP_K

# ---------------------------------------------------------------- sort


class Sort(BuiltinPrimitive):
    """The operands in the order along `dimension` of the first `num_keys` of them."""

    multiple_results = True

    def abstract_eval(self, *avals, dimension, is_stable, num_keys):
        if any(aval.shape != avals[0].shape for aval in avals):
            raise TypeError(sorting_errors.sort_shapes([aval.shape for aval in avals]))
        return list(avals)

    def ref(self, *xs, dimension, is_stable, num_keys):
        keys = [key for x in xs[:num_keys] for key in keys_of(np.asarray(x))]
        order = np.lexsort(keys[::-1], axis=dimension)
        return [np.take_along_axis(np.asarray(x), order, dimension) for x in xs]

    def jvp(self, primals, tangents, *, dimension, is_stable, num_keys):
        # Tangents go where their primals go.
        shape = aval_of(primals[0]).shape
        places = broadcasted_iota(index_dtype(shape), shape, dimension)
        params = dict(dimension=dimension, is_stable=is_stable, num_keys=num_keys)
        *outs, order = self.bind(*primals, places, **params)
        # Of the same kind as those in JAX's programs, which shows when they are printed.
        batch = tuple([np.int64(dim) for dim in range(len(shape)) if dim != dimension])
        order = expand_dims(order, (len(shape),))
        return outs, [
            t if type(t) is Zero else take_along(t, order, dimension, batch) for t in tangents
        ]

    def vmap(self, axis, dims, *xs, dimension, **params):
        to, shape = next((dim, aval_of(x).shape) for dim, x in zip(dims, xs) if dim is not None)
        others = [dim for dim in range(len(shape)) if dim != to]
        xs = [
            broadcast_in_dim(x, shape, others) if dim is None else move_axis(x, dim, to)
            for dim, x in zip(dims, xs)
        ]
        return self.bind(*xs, dimension=dimension + (to <= dimension), **params), [to] * len(xs)

    def emit(self, b, *xs, dimension, is_stable, num_keys):
        return emit_sort(b, xs, dimension, is_stable, num_keys)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, dimension in [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((0, 2), 0), ((1, 3), 0)]:
            params = dict(dimension=dimension, is_stable=True, num_keys=1)
            for dtype in ("float32", "bfloat16", "complex64", "int32", "uint8", "bool"):
                yield Sample((draw(rng, shape, dtype),), params)
            keys, values = draw(rng, shape, "float32"), draw(rng, shape, "complex64")
            yield Sample((keys, values), params)
            ties = draw(rng, shape, "int32", 0, 1)
            yield Sample((ties, keys, values), params | dict(num_keys=2))
        special = np.array([0, np.nan, -np.inf, -0.0, 1, -np.nan, np.inf, -1], "float32")
        params = dict(dimension=0, is_stable=True, num_keys=1)
        yield Sample((special, np.arange(8, dtype=np.int32)), params, smooth=False)
        many = draw(rng, (SORT,), "int32", -9, 9).astype(np.float32)
        yield Sample((many, np.arange(SORT, dtype=np.int32)), params, smooth=False)


def index_dtype(shape: Sequence[int]) -> Any:
    """The dtype that numbers the elements of an array of this shape."""
    large = np.iinfo(np.uint32).max + 1
    return np.dtype(np.uint64 if any(at_least(size, large) for size in shape) else np.uint32)


def take_along(x: Any, indices: Any, dimension: int, batch: tuple[int, ...]) -> Any:
    """The elements of an array at indices along a dimension, which are within bounds.

    Args:
      x: an array.
      indices: an array of as many dimensions and a last one of size 1.
      dimension: the dimension of `x` that `indices` count along.
      batch: the others, in which indices and elements belong together.
    """
    numbers = GatherDimensionNumbers((), (dimension,), (dimension,), batch, batch)
    aval = aval_of(x)
    mode = GatherScatterMode.PROMISE_IN_BOUNDS
    return gather_p.bind(
        x, indices, **gather_params(aval.dtype, numbers, (1,) * aval.ndim, mode=mode)
    )


sort_p = Sort("sort")


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """An array in rising order, or several arrays in the order of the first of them.

    -0 and 0 count as equal, NaNs come last, and complex numbers are ordered by their real parts,
    then by their imaginary ones.

    Args:
      operand: an array, or a sequence of arrays of one shape.
      dimension: the dimension along which to sort.
      is_stable: whether equal elements are to keep their order.
      num_keys: how many of the arrays to sort by; the second decides where the first has equal
        elements, and so on.

    Returns:
      An array like `operand`, or a tuple of them.

    Raises:
      TypeError: there is no operand, or the shapes differ.
      ValueError: there is no such dimension, or `num_keys` is not from 1 to the number of operands.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.sort(np.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)

    By two keys, and with a third array that follows:

    >>> hours, minutes = np.array([9, 8, 8]), np.array([15, 40, 5])
    >>> lax.sort((hours, minutes, np.arange(3)), num_keys=2)[2]
    Array([2, 1, 0], dtype=int32)
    """
    if not isinstance(operand, Sequence):
        if num_keys != 1:
            raise ValueError(sorting_errors.num_keys(num_keys, 1))
        return _sort([operand], dimension, is_stable, 1)[0]
    if len(operand) == 0:
        raise TypeError(sorting_errors.nothing_to_sort())
    if not 1 <= num_keys <= len(operand):
        raise ValueError(sorting_errors.num_keys(num_keys, len(operand)))
    return tuple(_sort(operand, dimension, is_stable, num_keys))


def sort_key_val(
    keys: Any, values: Any, dimension: int = -1, is_stable: bool = True
) -> tuple[Any, Any]:
    """Keys in rising order, and values in the order of their keys.

    Args:
      keys: an array.
      values: an array of the same shape.
      dimension: the dimension along which to sort.
      is_stable: whether values of equal keys are to keep their order.

    Returns:
      The keys and the values.

    Raises:
      TypeError: the shapes differ.
      ValueError: there is no such dimension.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.sort_key_val(np.array([3, 1, 2]), np.array([0.3, 0.1, 0.2]))[1]
    Array([0.1, 0.2, 0.3], dtype=float32)
    """
    keys, values = _sort([keys, values], dimension, is_stable, 1)
    return keys, values


def _sort(xs: Sequence[Any], dimension: int, is_stable: bool, num_keys: int) -> Any:
    dimension = canonicalize_axis(dimension, aval_of(xs[0]).ndim)
    return sort_p.bind(*xs, dimension=dimension, is_stable=is_stable, num_keys=num_keys)


# ---------------------------------------------------------------- top_k


class TopK(BuiltinPrimitive):
    """The `k` greatest elements along `axis`, in falling order, and where they are."""

    multiple_results = True

    def abstract_eval(self, x, *, k, axis):
        if dtypes.issubdtype(x.dtype, np.complexfloating):
            raise ValueError(sorting_errors.complex_top_k(x))
        if k < 0:
            raise ValueError(sorting_errors.negative_k(k))
        if not x.shape:
            raise TypeError(sorting_errors.top_k_of_scalar("top_k", x))
        if not 0 <= axis < x.ndim:
            raise ValueError(sorting_errors.top_k_axis(axis, x.shape))
        if x.shape[axis] < k:
            raise ValueError(sorting_errors.k_exceeds_size(k, axis, x.shape))
        limit = np.iinfo(np.int32).max
        if at_least(x.shape[axis], limit + 2):
            raise ValueError(sorting_errors.top_k_overflow(x.shape, limit))
        values = x.update(shape=with_size(x.shape, axis, k))
        return [values, values.update(dtype=np.dtype(np.int32))]

    def ref(self, x, *, k, axis):
        # NumPy's order has NaNs last and so have they in the reversed array: they come first.
        x = np.asarray(x)
        last = x.shape[axis] - 1
        order = last - np.argsort(np.flip(ordinary(x), axis), axis, kind="stable")
        order = np.take(np.flip(order, axis), range(k), axis)
        return [np.take_along_axis(x, order, axis), order.astype(np.int32)]

    def jvp(self, primals, tangents, *, k, axis):
        (x,), (t,) = primals, tangents
        values, indices = self.bind(x, k=k, axis=axis)
        batch = tuple([dim for dim in range(aval_of(x).ndim) if dim != axis])
        places = reshape(indices, (*aval_of(indices).shape, 1))
        tangent = take_along(t, places, axis, batch)
        return [values, indices], [tangent, Zero(aval_of(indices).to_tangent_aval())]

    def vmap(self, mapped, dims, x, *, k, axis):
        (dim,) = dims
        return self.bind(x, k=k, axis=axis + (dim <= axis)), [dim, dim]

    def emit(self, b, x, *, k, axis):
        (x_aval,) = b.avals_in
        many = at_least(x_aval.size, SORT) and not at_least(x_aval.shape[axis], k * TOP_K)
        if b.platform == "cpu" and many:
            return emit_greatest(b, x, k, axis)
        # XLA's op takes them along the last dimension.
        ndim = b.avals_in[0].ndim
        swapped = list(range(ndim))
        swapped[axis], swapped[-1] = swapped[-1], axis

        def swap(x: Any, out: Any) -> Any:
            if axis == ndim - 1:
                return x
            return b.op("transpose", x, out=out, permutation=tuple(swapped))

        x_aval, *avals = [
            aval.update(shape=[aval.shape[dim] for dim in swapped])
            for aval in (*b.avals_in, *b.avals_out)
        ]
        found = b.op("chlo.top_k", swap(x, x_aval), out=avals, k=k)
        return [swap(y, out) for y, out in zip(found, b.avals_out)]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, axis, k in [((5,), 0, 3), ((3, 4), 1, 4), ((3, 4), 0, 1), ((2, 3), 1, 0)]:
            for dtype in ("float32", "bfloat16", "int32", "uint8"):
                yield Sample((draw(rng, shape, dtype),), dict(k=k, axis=axis))
        yield Sample((np.zeros((0, 2), np.float32),), dict(k=1, axis=1))


top_k_p = TopK("top_k")


def top_k(operand: Any, k: int, *, axis: int = -1) -> list[Any]:
    """The greatest elements along an axis, in falling order, and where they are.

    Args:
      operand: an array of real numbers.
      k: how many.
      axis: the dimension along which they are looked for.

    Returns:
      A list of the elements, and of their indices as int32, with k of them along the axis. Of
      equal elements the one with the smaller index comes first.

    Raises:
      ValueError: `k` is negative or exceeds the size of the axis, there is no such axis, or the
        elements are complex.
      TypeError: the operand is a scalar.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.top_k(np.array([3, 9, 4, 9]), 2)
    [Array([9, 9], dtype=int32), Array([1, 3], dtype=int32)]
    """
    k = operator.index(k)
    if k < 0:
        raise ValueError(sorting_errors.negative_k(k))
    return list(top_k_p.bind(operand, k=k, axis=canonicalize_axis(axis, np.ndim(operand))))
