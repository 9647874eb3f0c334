"""Reductions: what is left of an array when some of its dimensions are folded up.

`reduce_sum`, which is linear, stands in `linear.py`.  None of these converts its operand: a sum of
int8 is an int8, and may overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, shape_errors
from ..base.dims import at_least
from ..base.shapes import without
from ..core.avals import ShapedArray, aval_of
from ..core.fusion import EXPENSIVE
from ..core.zeros import Zero
from .arithmetic import div_p, max_p, min_p, mul_p
from .base import Op, Sample, draw
from .bitwise import and_p, or_p, xor_p
from .comparison import eq_p, ne_p
from .conversion import convert
from .creation import broadcasted_iota
from .emitted import Emitted
from .extrema_on_cpu import emit_beside_nan, emit_extremum
from .families import BITS, ORDERED, check_accepts
from .gather import gather_p, gather_params
from .gather_dimensions import GatherDimensionNumbers, GatherScatterMode
from .linear import (
    add_any,
    broadcast_in_dim,
    check_axes,
    check_numeric,
    constant_like,
    full,
    reduce_sum_p,
    reshape,
    reshape_p,
    shift_axes,
)
from .native import kernel_finds, places_of_extrema
from .select import select_n_p
from .shaping import squeeze_p
from .slicing import pad_p, slice_in_dim
from .thresholds import ARGMAX, ARGMAX_AXIS, ARGMAX_BLOCKS, EXTREMUM

# ---------------------------------------------------------------- the family


class Reduction(Op):
    """Fold an array up over the dimensions `axes`, with an associative operation.

    Class attributes:
      combine: the primitive that combines two elements.
      ufunc: the NumPy function that does.
      sampled: dtypes on which the contract tests sample it.
    """

    combine: Op
    ufunc: np.ufunc
    sampled: tuple[str, ...] = ("float32", "bfloat16", "complex64", "int32", "uint8")
    fusion = EXPENSIVE

    def identity(self, dtype: Any) -> Any:
        """The result of reducing nothing."""
        raise NotImplementedError

    def shape(self, x, *, axes):
        check_axes(self.name, x, axes)
        return without(x.shape, axes)

    def ref(self, x, *, axes):
        dtype = np.result_type(x)
        return self.ufunc.reduce(x, axes, dtype, initial=self.identity(dtype))

    def vmap(self, axis, dims, x, *, axes):
        axes, dim = shift_axes(axes, dims[0])
        return self.bind(x, axes=axes), dim

    def emit(self, b, x, *, axes):
        return b.reduce(self.combine, x, self.identity(b.avals_out[0].dtype), axes)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, axes in [
            ((3,), (0,)),
            ((2, 3), (1,)),
            ((2, 3, 4), (2, 0)),
            ((2, 0), (1,)),
            ((2, 3), ()),
            ((), ()),
        ]:
            for dtype in self.sampled:
                yield Sample((draw(rng, shape, dtype),), dict(axes=axes))


# ---------------------------------------------------------------- products


class ReduceProd(Reduction):
    """The product over the dimensions `axes`."""

    combine = mul_p
    ufunc = np.multiply

    def identity(self, dtype):
        return np.array(1, dtype)

    def dtype(self, x, *, axes):
        check_numeric(self.name, x)
        return x.dtype

    def jvp(self, primals, tangents, *, axes):
        # Dividing the product by each factor fails where a factor is 0.  So: multiply the first
        # half of the factors by the second, with the product rule, until one factor is left.
        (x,), (t,) = primals, tangents
        kept = tuple([dim for dim in range(aval_of(x).ndim) if dim not in axes])
        both = [to_front(x, axes, kept), to_front(t, axes, kept)]
        out, out_t = fold(multiply_duals, both, [constant_like(x, 1), constant_like(x, 0)])
        return out, out_t


def multiply_duals(x: Any, t: Any, y: Any, u: Any) -> list[Any]:
    """The product of x and y, whose tangents are t and u, with its tangent."""
    return [mul_p.bind(x, y), add_any(mul_p.bind(t, y), mul_p.bind(x, u))]


def to_front(x: Any, axes: Sequence[int], kept: Sequence[int]) -> Any:
    """`x` with the dimensions `axes` as one, in front of those `kept`."""
    shape = aval_of(x).shape
    size = int(np.prod([shape[axis] for axis in axes], dtype=int))
    order = (*axes, *kept)
    return reshape_p.bind(
        x,
        new_sizes=(size, *[shape[dim] for dim in kept]),
        dimensions=None if order == tuple(range(len(shape))) else order,
        sharding=None,
    )


def fold(combine: Callable[..., list[Any]], xs: Sequence[Any], units: Sequence[Any]) -> list[Any]:
    """Fold arrays up along dimension 0, combining the first half with the second till one is left.

    Args:
      combine: takes an element of each array, then another of each, and returns one of each.
      xs: arrays with equally many entries.
      units: for each array the scalar that leaves every element as it is.

    Returns:
      For each array the one entry that is left; the unit if there was none.
    """
    while (size := aval_of(xs[0]).shape[0]) > 1:
        xs = combine(*halves(xs, units, (size + 1) // 2))
    if size == 0:
        return [broadcast_in_dim(u, aval_of(x).shape[1:], ()) for x, u in zip(xs, units)]
    return [squeeze_p.bind(x, dimensions=(0,)) for x in xs]


def halves(xs: Sequence[Any], units: Sequence[Any], half: int) -> list[Any]:
    """The first `half` entries of each array, then the others, padded to be as many."""
    first = [slice_in_dim(x, 0, half) for x in xs]
    second = [slice_in_dim(x, half, None) for x in xs]
    missing = 2 * half - aval_of(xs[0]).shape[0]
    if missing:
        config = ((0, missing, 0), *[(0, 0, 0)] * (aval_of(xs[0]).ndim - 1))
        second = [pad_p.bind(x, u, padding_config=config) for x, u in zip(second, units)]
    return first + second


# ---------------------------------------------------------------- maxima and minima


class Extremum(Reduction):
    """The greatest or least element over the dimensions `axes`; NaN where one is NaN.

    Complex numbers are ordered by their real parts, then by their imaginary parts.

    The parameter `nan_elsewhere` says that NaN reaches all that is computed from the result by
    another way, so that it may be lost here; as in softmax, which adds up the exponentials of all
    elements.  Printed jaxprs do not show it.
    """

    sampled = (*Reduction.sampled, "bool")
    direction: str  # the relation, GT or LT, of the extremum to all others
    mirrored: Op  # what combines the negatives of two elements into the negative of the extremum

    def shown_params(self, params):
        return {"axes": params["axes"]}

    def shape(self, x, *, axes, nan_elsewhere=False):
        return super().shape(x, axes=axes)

    def ref(self, x, *, axes, nan_elsewhere=False):
        return super().ref(x, axes=axes)

    def vmap(self, axis, dims, x, *, axes, **marks):
        axes, dim = shift_axes(axes, dims[0])
        return self.bind(x, axes=axes, **marks), dim

    def jvp(self, primals, tangents, *, axes, **marks):
        # Where several elements are the greatest, each gets an equal share of the derivative.
        (x,), (t,) = primals, tangents
        out = self.bind(x, axes=axes, **marks)
        shape = aval_of(x).shape
        ones = tuple([1 if dim in axes else size for dim, size in enumerate(shape)])
        wide = reshape_p.bind(out, new_sizes=ones, dimensions=None, sharding=None)
        where = convert(eq_p.bind(x, wide), aval_of(t).dtype)
        count = reduce_sum_p.bind(where, axes=axes, out_sharding=None)
        total = reduce_sum_p.bind(mul_p.bind(t, where), axes=axes, out_sharding=None)
        return out, div_p.bind(total, count)

    def emit(self, b, x, *, axes, nan_elsewhere=False):
        (aval,), (out,) = b.avals_in, b.avals_out
        start = self.identity(out.dtype)
        if b.is_divided and loses_nan(b, out.dtype) and not nan_elsewhere:
            return emit_beside_nan(b, x, axes, b.reduce(self.combine, x, start, axes))
        large = loses_nan(b, out.dtype) and at_least(aval.size, EXTREMUM)
        if large and not nan_elsewhere and not b.is_divided:
            return emit_extremum(b, x, axes, self.combine.hlo, self.mirrored.hlo, start)
        return b.reduce(self.combine, x, start, axes)


def loses_nan(b: Any, dtype: Any) -> bool:
    """Whether extrema of a dtype are handed over to a library that loses NaN, if they are large."""
    return b.platform == "cpu" and dtypes.issubdtype(dtype, np.floating)


class ReduceMax(Extremum):
    """The greatest element over the dimensions `axes`; NaN where one is NaN."""

    direction = "GT"
    combine, mirrored = max_p, min_p
    ufunc = np.maximum

    def identity(self, dtype):
        return least(dtype)


class ReduceMin(Extremum):
    """The least element over the dimensions `axes`; NaN where one is NaN."""

    direction = "LT"
    combine, mirrored = min_p, max_p
    ufunc = np.minimum

    def identity(self, dtype):
        return greatest(dtype)


def least(dtype: Any) -> Any:
    """The number of a dtype that is not greater than any other."""
    if dtype == np.bool_:
        return np.array(False)
    if dtypes.issubdtype(dtype, np.integer):
        return np.array(dtypes.iinfo(dtype).min, dtype)
    return np.array(-np.inf if dtypes.supports_inf(dtype) else dtypes.finfo(dtype).min, dtype)


def greatest(dtype: Any) -> Any:
    """The number of a dtype that is not less than any other."""
    if dtype == np.bool_:
        return np.array(True)
    if dtypes.issubdtype(dtype, np.integer):
        return np.array(dtypes.iinfo(dtype).max, dtype)
    return np.array(np.inf if dtypes.supports_inf(dtype) else dtypes.finfo(dtype).max, dtype)


# ---------------------------------------------------------------- bits


class Logical(Reduction):
    """Combine the bits over the dimensions `axes`."""

    sampled = ("bool", "int32", "uint8")

    def dtype(self, x, *, axes):
        if not any(dtypes.issubdtype(x.dtype, kind) for kind in BITS):
            raise TypeError(shape_errors.logical_dtype(self.name, x.dtype))
        return x.dtype

    def weak_type(self, x, *, axes):
        return False

    def jvp(self, primals, tangents, *, axes):
        out = self.bind(*primals, axes=axes)
        return out, Zero(aval_of(out).to_tangent_aval())


class ReduceAnd(Logical):
    """The bitwise "and" over the dimensions `axes`; of booleans, whether all are true."""

    combine = and_p
    ufunc = np.bitwise_and

    def identity(self, dtype):
        return np.array(-1).astype(dtype)


class ReduceOr(Logical):
    """The bitwise "or" over the dimensions `axes`; of booleans, whether any is true."""

    combine = or_p
    ufunc = np.bitwise_or

    def identity(self, dtype):
        return np.array(0, dtype)


class ReduceXor(Logical):
    """The bitwise "exclusive or" over `axes`; of booleans, whether an odd number is true."""

    combine = xor_p
    ufunc = np.bitwise_xor

    def identity(self, dtype):
        return np.array(0, dtype)


reduce_prod_p = ReduceProd("reduce_prod")
reduce_max_p = ReduceMax("reduce_max")
reduce_min_p = ReduceMin("reduce_min")
reduce_and_p = ReduceAnd("reduce_and")
reduce_or_p = ReduceOr("reduce_or")
reduce_xor_p = ReduceXor("reduce_xor")

# ---------------------------------------------------------------- where the extremum is


class ArgExtremum(Op):
    """The index of the greatest or least element over the one dimension in `axes`.

    It is the first one where several are equal, and that of the first NaN if there is one.

    Class attributes:
      extremum: the reduction to the element itself.
    """

    extremum: Extremum
    fusion = EXPENSIVE

    def shape(self, x, *, axes, index_dtype):
        (axis,) = axes
        if not 0 <= axis < x.ndim:
            raise ValueError(shape_errors.arg_axis(self.name, axis, x.shape))
        if x.shape[axis] == 0:
            raise ValueError(shape_errors.arg_empty(self.name, axis, x.shape))
        return without(x.shape, axes)

    def dtype(self, x, *, axes, index_dtype):
        check_accepts(self.name, ORDERED, (x,))
        if not dtypes.issubdtype(index_dtype, np.integer):
            raise TypeError(shape_errors.arg_index_dtype(self.name, index_dtype))
        return index_dtype

    def weak_type(self, x, **params):
        return False

    def jvp(self, primals, tangents, **params):
        out = self.bind(*primals, **params)
        return out, Zero(aval_of(out).to_tangent_aval())

    def vmap(self, axis, dims, x, *, axes, index_dtype):
        axes, dim = shift_axes(axes, dims[0])
        return self.bind(x, axes=axes, index_dtype=index_dtype), dim

    def emit(self, b, x, *, axes, index_dtype):
        (aval,) = b.avals_in
        count = aval.shape[axes[0]]
        large = at_least(aval.size, ARGMAX) and at_least(count, ARGMAX_AXIS + 1)
        if b.platform == "cpu" and large:
            if count <= dtypes.iinfo(index_dtype).max:
                if kernel_finds(b, aval, *axes):
                    found = places_of_extrema(self.name, Emitted(b, x, aval), *axes)
                    return found.astype(index_dtype).value
                return b.written(lambda x: [convert(self.first(x, *axes), index_dtype)], [x])[0]
        return self.emit_pairs(b, x, axes, index_dtype)

    def first(self, x, axis):
        """The indices as int32, in passes that look at many elements at a time.

        The extremum itself is found first, and then where it is. Long lines that lie side by side
        in memory are split into blocks: only the block that has the extremum is looked through.
        """
        shape = aval_of(x).shape
        if axis == len(shape) - 1 and shape[axis] >= ARGMAX_BLOCKS:
            return self.first_in_blocks(x)
        best = self.extremum.bind(x, axes=(axis,))
        found = eq_p.bind(x, broadcast_in_dim(best, shape, without(range(len(shape)), (axis,))))
        if dtypes.issubdtype(aval_of(x).dtype, np.floating):
            found = or_p.bind(found, ne_p.bind(x, x))  # where there is NaN, so is the extremum
        places = broadcasted_iota(np.dtype(np.int32), shape, axis)
        none = full(shape, shape[axis], np.dtype(np.int32))
        return reduce_min_p.bind(select_n_p.bind(found, none, places), axes=(axis,))

    def first_in_blocks(self, x):
        """The same along the last dimension: in which block, and where in that."""
        *outer, count = aval_of(x).shape
        lines = int(np.prod(outer, dtype=int))
        size = block_size(count)
        blocks = -(-count // size)
        flat = reshape(x, (lines, count))
        last = self.extremum.identity(aval_of(x).dtype)
        padded = pad_p.bind(flat, last, padding_config=((0, 0, 0), (0, blocks * size - count, 0)))
        parts = reshape(padded, (lines, blocks, size))
        params = dict(axes=(1,), index_dtype=np.dtype(np.int32))
        which = self.bind(self.extremum.bind(parts, axes=(2,)), **params)
        numbers = GatherDimensionNumbers((1,), (1,), (1,), (0,), (0,))
        mode = GatherScatterMode.PROMISE_IN_BOUNDS
        reads = gather_params(aval_of(x).dtype, numbers, (1, 1, size), mode=mode)
        part = gather_p.bind(parts, reshape(which, (lines, 1)), **reads)
        before = mul_p.bind(which, constant_like(which, size))
        return reshape(add_any(before, self.bind(part, **params)), outer)

    def emit_pairs(self, b, x, axes, index_dtype):
        """Write a reduction of pairs of an element and its index."""
        (aval,), (out,) = b.avals_in, b.avals_out
        pair = (ShapedArray((), aval.dtype), ShapedArray((), index_dtype))
        indices = b.op("iota", out=aval.update(dtype=index_dtype), iota_dimension=axes[0])
        first = (self.extremum.identity(aval.dtype), np.array(0, index_dtype))
        _, index = b.op_with_regions(
            "reduce",
            [x, indices, *map(b.constant, first)],
            [(pair + pair, lambda *elements: self.emit_choice(b, pair, *elements))],
            out=[out.update(dtype=aval.dtype), out],
            dimensions=tuple(axes),
        )
        return index

    def emit_choice(self, b, pair, x, i, y, j):
        """Write which of the elements x and y, which stand at i and j, is the one, and where."""
        value, index = pair
        flag = ShapedArray((), np.dtype(np.bool_))

        def compare(direction: str, v: Any, w: Any, aval: Any = value) -> Any:
            return b.compare(direction, v, w, aval.dtype, out=flag)

        def either(v: Any, w: Any) -> Any:
            return b.op("or", v, w, out=flag)

        def both(v: Any, w: Any) -> Any:
            return b.op("and", v, w, out=flag)

        wins, ties = compare(self.extremum.direction, x, y), compare("EQ", x, y)
        if dtypes.issubdtype(value.dtype, np.floating):
            # NaN wins over numbers and ties with NaN.
            x_nan, y_nan, y_number = compare("NE", x, x), compare("NE", y, y), compare("EQ", y, y)
            wins, ties = either(wins, both(x_nan, y_number)), either(ties, both(x_nan, y_nan))
        take = either(wins, both(ties, compare("LT", i, j, index)))
        return [b.op("select", take, x, y, out=value), b.op("select", take, i, j, out=index)]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, axis in [((3,), 0), ((2, 3), 1), ((4, 0), 0), ((2, 3, 2), 1)]:
            for dtype in ("float32", "bfloat16", "int32", "uint8", "bool"):
                for index_dtype in ("int32", "uint8"):
                    params = dict(axes=(axis,), index_dtype=np.dtype(index_dtype))
                    yield Sample((draw(rng, shape, dtype),), params)
        many = draw(rng, (2, ARGMAX // 2), "int32", -9, 9).astype(np.float32)
        yield Sample((many,), dict(axes=(1,), index_dtype=np.dtype(np.int32)), smooth=False)
        with_nans = np.array([[1, np.nan, 3, np.nan], [-np.inf] * 4, [2, 5, 5, -1]], np.float32)
        yield Sample((with_nans,), dict(axes=(1,), index_dtype=np.dtype(np.int32)))


def block_size(count: int) -> int:
    """A size of blocks about the square root of how many elements there are, which it divides if
    there is such a number nearby."""
    root = 1 << (count.bit_length() + 1) // 2
    return next((size for size in range(root, root // 4, -1) if count % size == 0), root)


class ArgMax(ArgExtremum):
    """The index of the greatest element over the one dimension in `axes`."""

    extremum = reduce_max_p

    def ref(self, x, *, axes, index_dtype):
        return np.argmax(x, axes[0]).astype(index_dtype)


class ArgMin(ArgExtremum):
    """The index of the least element over the one dimension in `axes`."""

    extremum = reduce_min_p

    def ref(self, x, *, axes, index_dtype):
        return np.argmin(x, axes[0]).astype(index_dtype)


argmax_p = ArgMax("argmax")
argmin_p = ArgMin("argmin")

# ---------------------------------------------------------------- public functions


def reduce_sum(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Any:
    """The sum over dimensions of an array.

    Args:
      operand: an array of numbers. They are added up in their own dtype, which may be narrow.
      axes: distinct dimensions, counted from 0.
      out_sharding: how the result is to be sharded.

    Returns:
      An array without these dimensions, of the operand's dtype.

    Raises:
      TypeError: the operand is boolean.
      ValueError: an axis is named twice or does not exist.

    >>> from covector import lax
    >>> lax.reduce_sum(np.array([[1, 2], [3, 4]]), (0,))
    Array([4, 6], dtype=int32)
    """
    return reduce_sum_p.bind(operand, axes=tuple(axes), out_sharding=out_sharding)


def reduce_prod(operand: Any, axes: Sequence[int]) -> Any:
    """The product over dimensions of an array of numbers, which are counted from 0.

    >>> from covector import lax
    >>> lax.reduce_prod(np.array([[1, 2], [3, 4]]), (0,))
    Array([3, 8], dtype=int32)
    """
    return reduce_prod_p.bind(operand, axes=tuple(axes))


def reduce_max(operand: Any, axes: Sequence[int]) -> Any:
    """The greatest element over dimensions of an array, which are counted from 0.

    It is NaN where an element is, and the least number of the dtype where there is none. Of its
    derivative, elements that are equally great get equal shares.

    >>> from covector import lax
    >>> lax.reduce_max(np.array([[1, 2], [3, 0]]), (0,))
    Array([3, 2], dtype=int32)
    """
    return reduce_max_p.bind(operand, axes=tuple(axes))


def reduce_min(operand: Any, axes: Sequence[int]) -> Any:
    """The least element over dimensions of an array, which are counted from 0.

    It is NaN where an element is, and the greatest number of the dtype where there is none. Of its
    derivative, elements that are equally small get equal shares.

    >>> from covector import lax
    >>> lax.reduce_min(np.array([[1, 2], [3, 0]]), (0,))
    Array([1, 0], dtype=int32)
    """
    return reduce_min_p.bind(operand, axes=tuple(axes))


def reduce_and(operand: Any, axes: Sequence[int]) -> Any:
    """The bitwise "and" over dimensions of an array of booleans or integers.

    Of booleans it says whether all are true. The dimensions are counted from 0.

    >>> from covector import lax
    >>> lax.reduce_and(np.array([6, 3]), (0,))
    Array(2, dtype=int32)
    """
    return reduce_and_p.bind(operand, axes=tuple(axes))


def reduce_or(operand: Any, axes: Sequence[int]) -> Any:
    """The bitwise "or" over dimensions of an array of booleans or integers.

    Of booleans it says whether any is true. The dimensions are counted from 0.

    >>> from covector import lax
    >>> lax.reduce_or(np.array([6, 3]), (0,))
    Array(7, dtype=int32)
    """
    return reduce_or_p.bind(operand, axes=tuple(axes))


def reduce_xor(operand: Any, axes: Sequence[int]) -> Any:
    """The bitwise "exclusive or" over dimensions of an array of booleans or integers.

    Of booleans it says whether an odd number is true. The dimensions are counted from 0.

    >>> from covector import lax
    >>> lax.reduce_xor(np.array([6, 3]), (0,))
    Array(5, dtype=int32)
    """
    return reduce_xor_p.bind(operand, axes=tuple(axes))


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The index of the greatest element along an axis; of the first, if several are equal.

    A NaN counts as greater than all numbers.

    Args:
      operand: an array of real numbers or booleans.
      axis: the axis, counted from 0.
      index_dtype: the integer dtype of the result.

    Returns:
      An array without that axis.

    Raises:
      ValueError: there is no such axis, or it is empty.
      TypeError: a dtype is not of these kinds.

    >>> from covector import lax
    >>> lax.argmax(np.array([[1, 2], [3, 0]]), 0, "int32")
    Array([1, 0], dtype=int32)
    """
    dtype = dtypes.check_user_dtype_supported(index_dtype, "argmax")
    return argmax_p.bind(operand, axes=(axis,), index_dtype=dtype)


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The index of the least element along an axis; of the first, if several are equal.

    A NaN counts as less than all numbers.

    Args:
      operand: an array of real numbers or booleans.
      axis: the axis, counted from 0.
      index_dtype: the integer dtype of the result.

    Returns:
      An array without that axis.

    Raises:
      ValueError: there is no such axis, or it is empty.
      TypeError: a dtype is not of these kinds.

    >>> from covector import lax
    >>> lax.argmin(np.array([[1, 2], [3, 0]]), 0, "int32")
    Array([0, 1], dtype=int32)
    """
    dtype = dtypes.check_user_dtype_supported(index_dtype, "argmin")
    return argmin_p.bind(operand, axes=(axis,), index_dtype=dtype)
