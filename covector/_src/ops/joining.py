"""Joining arrays and taking them apart, in adjoint pairs.

concatenate  <->  split                 stack  <->  unstack
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import shape_errors
from ..base.shapes import canonicalize_axis, inserted, integers, with_size, without
from ..core.array import Array
from ..core.avals import ShapedArray, aval_of
from ..core.axis import Axis
from ..core.fusion import CHEAP
from ..core.primitive import BuiltinPrimitive, Primitive
from ..core.zeros import UndefinedPrimal
from .base import Op, Sample, draw
from .families import check_same_dtypes
from .linear import bring_to, full, instantiate
from .physical import physical_aval

# XLA compiles a concatenation of very many operands slowly; a tree of smaller ones it does not.
CONCATENATE_AT_ONCE = 16


class Joined(Op):
    """An op that is linear in all of its operands together, which have one dtype."""

    fusion = CHEAP

    def dtype(self, *avals, **params):
        check_same_dtypes(self.name, avals)
        return avals[0].dtype

    def jvp(self, primals, tangents, **params):
        out = self.bind(*primals, **params)
        return out, self.bind(*[instantiate(t) for t in tangents], **params)


class Parted(BuiltinPrimitive):
    """A primitive that is linear in its one operand, and takes it apart."""

    multiple_results = True
    fusion = CHEAP

    def shapes(self, x: ShapedArray, **params: Any) -> list[tuple[int, ...]]:
        raise NotImplementedError

    def abstract_eval(self, x, **params):
        return [ShapedArray(s, x.dtype, x.weak_type) for s in self.shapes(x, **params)]

    def jvp(self, primals, tangents, **params):
        (x,), (t,) = primals, tangents
        return self.bind(x, **params), self.bind(t, **params)


# ---------------------------------------------------------------- concatenate and split


class Concatenate(Joined):
    """Put arrays one behind the other along `dimension`."""

    def shape(self, *avals, dimension):
        shapes = [aval.shape for aval in avals]
        if not shapes:
            raise TypeError(shape_errors.nothing_to_join("concatenate"))
        first = shapes[0]
        if any(len(shape) != len(first) for shape in shapes):
            raise TypeError(shape_errors.join_ranks("concatenate", shapes))
        if not 0 <= dimension < len(first):
            raise TypeError(shape_errors.concatenate_outside(dimension, shapes))
        rest = without(first, (dimension,))
        if any(without(shape, (dimension,)) != rest for shape in shapes):
            raise TypeError(shape_errors.concatenate_shapes(dimension, shapes))
        return with_size(first, dimension, sum([shape[dimension] for shape in shapes]))

    def ref(self, *xs, dimension):
        return np.concatenate(xs, dimension)

    def transpose(self, ct, *xs, dimension):
        sizes = [_operand_aval(x).shape[dimension] for x in xs]
        parts = split_p.bind(ct, sizes=tuple(sizes), axis=dimension)
        return _for_linear(xs, parts)

    def vmap(self, axis, dims, *xs, dimension):
        xs = [bring_to(x, axis.size, dim, 0) for x, dim in zip(xs, dims)]
        return self.bind(*xs, dimension=dimension + 1), 0

    def emit(self, b, *xs, dimension):
        avals = [physical_aval(aval) for aval in b.avals_in]
        return concatenate_tree(b, xs, avals, dimension)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shapes, dimension in [
            (((2,), (3,)), 0),
            (((2, 3), (2, 1), (2, 0)), 1),
            (((2, 3),), 0),
            (((1,),) * (CONCATENATE_AT_ONCE + 2), 0),
        ]:
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                xs = tuple([draw(rng, shape, dtype) for shape in shapes])
                yield Sample(xs, dict(dimension=dimension))


class Split(Parted):
    """Cut an array along `axis` into parts of the given `sizes`."""

    def shapes(self, x, *, sizes, axis):
        if any(size < 0 for size in sizes):
            raise ValueError(shape_errors.split_negative(sizes))
        if sum(sizes) != x.shape[axis]:
            raise ValueError(shape_errors.split_total(sizes, axis, x.shape))
        return [with_size(x.shape, axis, size) for size in sizes]

    def ref(self, x, *, sizes, axis):
        return np.split(x, np.cumsum(sizes)[:-1], axis) if sizes else []

    def transpose(self, cts, x, *, sizes, axis):
        return (concatenate([instantiate(ct) for ct in cts], axis),)

    def vmap(self, mapped, dims, x, *, sizes, axis):
        (dim,) = dims
        outs = self.bind(x, sizes=sizes, axis=axis + (axis >= dim))
        return outs, [dim] * len(sizes)

    def emit(self, b, x, *, sizes, axis):
        starts = np.cumsum((0, *sizes)).tolist()
        aval = physical_aval(b.avals_in[0])
        return [emit_part(b, x, aval, axis, start, size) for start, size in zip(starts, sizes)]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, sizes, axis in [
            ((5,), (2, 3), 0),
            ((2, 4), (1, 0, 3), 1),
            ((2, 3), (2,), 0),
            ((0, 3), (), 0),
        ]:
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype),), dict(sizes=sizes, axis=axis))


concatenate_p = Concatenate("concatenate")
split_p = Split("split")


def concatenate(operands: Any, dimension: int) -> Any:
    """Join arrays along a dimension that they have.

    Args:
      operands: a sequence of arrays, or an array whose first dimension is taken for one. Their
        dtypes are equal, and so are their shapes but for the size of `dimension`.
      dimension: the dimension, counted from 0.

    Returns:
      One array.

    >>> from covector import lax
    >>> lax.concatenate([np.array([[1], [2]]), np.array([[3, 4], [5, 6]])], 1)
    Array([[1, 3, 4],
           [2, 5, 6]], dtype=int32)
    """
    if len(operands) == 0:
        raise ValueError(shape_errors.nothing_to_join("concatenate"))
    if len(operands) == 1 and isinstance(operands[0], Array):
        return operands[0]
    return concatenate_p.bind(*operands, dimension=dimension)


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Any]:
    """Cut an array along an axis into parts of given sizes.

    Args:
      operand: an array.
      sizes: the sizes of the parts, which add up to that of the axis.
      axis: the axis; negative ones count from the end.

    Returns:
      A list of `len(sizes)` arrays. `ValueError` is raised if the sizes do not add up.

    >>> from covector import lax
    >>> lax.split(np.arange(5), (2, 3))
    [Array([0, 1], dtype=int32), Array([2, 3, 4], dtype=int32)]
    """
    axis = canonicalize_axis(axis, aval_of(operand).ndim)
    return split_p.bind(operand, sizes=integers(sizes, "split", "sizes"), axis=axis)


# ---------------------------------------------------------------- stack and unstack


class Stack(Joined):
    """Join arrays of one shape along a new dimension `axis`."""

    def shape(self, *avals, axis):
        shapes = [aval.shape for aval in avals]
        if not shapes:
            raise ValueError(shape_errors.nothing_to_join("stack"))
        if any(len(shape) != len(shapes[0]) for shape in shapes):
            raise ValueError(shape_errors.join_ranks("stack", shapes))
        if any(shape != shapes[0] for shape in shapes):
            raise ValueError(shape_errors.stack_shapes(shapes))
        return inserted(shapes[0], axis, len(shapes))

    def ref(self, *xs, axis):
        return np.stack(xs, axis)

    def transpose(self, ct, *xs, axis):
        return _for_linear(xs, unstack_p.bind(ct, axis=axis))

    def vmap(self, mapped, dims, *xs, axis):
        first = dims[0]
        if first is not None and all(dim == first for dim in dims):
            before = axis <= first
            return self.bind(*xs, axis=axis + (not before)), first + before
        xs = [bring_to(x, mapped.size, dim, 0) for x, dim in zip(xs, dims)]
        return self.bind(*xs, axis=axis + 1), 0

    def emit(self, b, *xs, axis):
        aval = physical_aval(b.avals_in[0])
        wide = aval.update(shape=inserted(aval.shape, axis, 1))
        return concatenate_tree(
            b, [b.op("reshape", x, out=wide) for x in xs], [wide] * len(xs), axis
        )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, count, axis in [((3,), 2, 0), ((), 3, 0), ((2, 3), 2, 1), ((0, 2), 2, 2)]:
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample(
                    tuple([draw(rng, shape, dtype) for _ in range(count)]), dict(axis=axis)
                )


class Unstack(Parted):
    """Take an array apart along `axis`, which the parts lack."""

    def shapes(self, x, *, axis):
        if x.ndim == 0:
            raise ValueError(shape_errors.unstack_scalar())
        return [without(x.shape, (axis,))] * x.shape[axis]

    def ref(self, x, *, axis):
        return list(np.moveaxis(x, axis, 0))

    def transpose(self, cts, x, *, axis):
        return (stack_p.bind(*[instantiate(ct) for ct in cts], axis=axis),)

    def vmap(self, mapped, dims, x, *, axis):
        (dim,) = dims
        before = axis < dim
        outs = self.bind(x, axis=axis + (not before))
        return outs, [dim - before] * len(outs)

    def emit(self, b, x, *, axis):
        aval = physical_aval(b.avals_in[0])
        parts = [emit_part(b, x, aval, axis, i, 1) for i in range(aval.shape[axis])]
        return [b.op("reshape", part, out=out) for part, out in zip(parts, b.avals_out)]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, axis in [((3,), 0), ((2, 3), 1), ((2, 0), 0)]:
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype),), dict(axis=axis))


stack_p = Stack("stack")
unstack_p = Unstack("unstack")


def stack(operands: Sequence[Any], axis: int = 0) -> Any:
    """Join arrays of one shape and dtype along a new axis.

    Args:
      operands: a sequence of arrays.
      axis: where the new axis is in the result; negative ones count from its end.

    Returns:
      An array with one dimension more, of size `len(operands)`.

    >>> from covector import lax
    >>> lax.stack([np.array([1, 2]), np.array([3, 4])], axis=1)
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    if len(operands) == 0:
        raise ValueError(shape_errors.nothing_to_join("stack"))
    axis = canonicalize_axis(axis, aval_of(operands[0]).ndim + 1)
    return stack_p.bind(*operands, axis=axis)


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """Take an array apart along an axis.

    Args:
      x: an array.
      axis: the axis; negative ones count from the end.

    Returns:
      A tuple of `x.shape[axis]` arrays, which lack the axis.

    >>> from covector import lax
    >>> lax.unstack(np.array([[1, 2], [3, 4]]), axis=1)
    (Array([1, 3], dtype=int32), Array([2, 4], dtype=int32))
    """
    return tuple(unstack_p.bind(x, axis=canonicalize_axis(axis, aval_of(x).ndim)))


# ---------------------------------------------------------------- what the rules share


def _operand_aval(x: Any) -> Any:
    return x.aval if type(x) is UndefinedPrimal else aval_of(x)


def _for_linear(xs: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
    """Cotangents of the linear operands, and None for the others."""
    return [ct if type(x) is UndefinedPrimal else None for x, ct in zip(xs, cts)]


def apply_to_each(
    primitive: Primitive, axis: Axis, dims: Sequence[int | None], args: Sequence[Any], params: Any
) -> list[Any]:
    """The results of a primitive, applied to each example of a batch by itself, as batches.

    The vmap rule of last resort, where no op of XLA does all examples at once.  The batches are
    along dimension 0 of the results.
    """
    if axis.size == 0:
        avals = [aval_of(x) for x in args]
        avals = [
            aval if dim is None else aval.update(shape=without(aval.shape, (dim,)))
            for aval, dim in zip(avals, dims)
        ]
        out, _ = primitive.typecheck(tuple(avals), params)
        outs = out if primitive.multiple_results else [out]
        return [full((0, *aval.shape), 0, aval.dtype) for aval in outs]
    columns = [
        [x] * axis.size if dim is None else unstack_p.bind(x, axis=dim)
        for x, dim in zip(args, dims)
    ]
    rows = [primitive.bind(*example, **params) for example in zip(*columns)]
    if not primitive.multiple_results:
        rows = [[row] for row in rows]
    return [stack_p.bind(*column, axis=0) for column in zip(*rows)]


def concatenate_tree(b: Any, xs: Sequence[Any], avals: Sequence[Any], dimension: int) -> Any:
    """Write the concatenation of many arrays as one of concatenations."""
    while len(xs) > 1:
        groups = [slice(i, i + CONCATENATE_AT_ONCE) for i in range(0, len(xs), CONCATENATE_AT_ONCE)]
        avals = [joined_aval(avals[group], dimension) for group in groups]
        xs = [
            b.op("concatenate", *xs[group], out=aval, dimension=dimension)
            for group, aval in zip(groups, avals)
        ]
    return xs[0]


def joined_aval(avals: Sequence[Any], dimension: int) -> Any:
    """The aval of the concatenation of arrays of the given avals."""
    size = sum([aval.shape[dimension] for aval in avals])
    return avals[0].update(shape=with_size(avals[0].shape, dimension, size))


def emit_part(b: Any, x: Any, aval: Any, axis: int, start: int, size: int) -> Any:
    """Write the slice of `size` elements from `start` on along `axis`."""
    return b.op(
        "slice",
        x,
        out=aval.update(shape=with_size(aval.shape, axis, size)),
        start_indices=with_size((0,) * aval.ndim, axis, start),
        limit_indices=with_size(aval.shape, axis, start + size),
        strides=(1,) * aval.ndim,
    )
