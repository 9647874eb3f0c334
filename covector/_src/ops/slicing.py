"""Slices at places known when tracing, and their adjoint: padding.

slice  <->  pad
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import shape_errors
from ..base.dims import max_dim, size_of
from ..base.shapes import inserted, integers, with_size
from ..core.avals import aval_of
from ..core.fusion import CHEAP, MOVING
from ..core.zeros import UndefinedPrimal
from . import linear
from .arithmetic import sub_p
from .base import Op, Sample, draw
from .dynamic_slicing import dynamic_slice_p
from .linear import (
    Linear,
    bring_to,
    broadcast_in_dim,
    constant_like,
    full,
    instantiate,
    scalar,
)
from .physical import element_shape
from .select import select_n_p
from .shaping import squeeze

python_slice = slice  # the name is that of a public function below

# ---------------------------------------------------------------- slice


class Slice(Linear):
    """The elements from `start_indices` up to `limit_indices`, in steps of `strides`."""

    masks_cotangents = True
    fusion = CHEAP

    def evaluate(self, backend, args, params):
        # Slices of one shape are one compiled program wherever they begin: a dynamic slice.
        strides = params["strides"]
        if strides is not None and any(step != 1 for step in strides):
            return super().evaluate(backend, args, params)
        out, _ = self.typecheck((aval_of(args[0]),), params)
        starts = [scalar(start, np.int32) for start in params["start_indices"]]
        return backend.execute(dynamic_slice_p, (*args, *starts), dict(slice_sizes=out.shape))

    def shape(self, x, *, start_indices, limit_indices, strides):
        check_slice(x.shape, start_indices, limit_indices, strides)
        steps = strides or (1,) * x.ndim
        return tuple(
            [
                -((start - limit) // step)
                for start, limit, step in zip(start_indices, limit_indices, steps)
            ]
        )

    def ref(self, x, *, start_indices, limit_indices, strides):
        steps = strides or (1,) * np.ndim(x)
        return x[tuple(map(python_slice, start_indices, limit_indices, steps))]

    def transpose(self, ct, x, *, start_indices, limit_indices, strides):
        shape = x.aval.shape
        steps = strides or (1,) * len(shape)
        config = []
        for size, start, step, count in zip(shape, start_indices, steps, aval_of(ct).shape):
            end = start + (step * (count - 1) + 1 if count else 0)
            config.append((start, size - end, step - 1))
        return (pad_p.bind(ct, constant_like(ct, 0), padding_config=tuple(config)),)

    def vmap(self, axis, dims, x, *, start_indices, limit_indices, strides):
        (dim,) = dims
        return self.bind(
            x,
            start_indices=inserted(start_indices, dim, 0),
            limit_indices=inserted(limit_indices, dim, axis.size),
            strides=None if strides is None else inserted(strides, dim, 1),
        ), dim

    def emit(self, b, x, *, start_indices, limit_indices, strides):
        (aval,) = b.avals_in
        tail = element_shape(aval)
        steps = strides or (1,) * aval.ndim
        return b.op(
            "slice",
            x,
            start_indices=(*start_indices, *[0] * len(tail)),
            limit_indices=(*limit_indices, *tail),
            strides=(*steps, *[1] * len(tail)),
        )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, start, limit, strides in [
            ((5,), (1,), (4,), None),
            ((2, 5), (0, 1), (2, 5), (1, 2)),
            ((2, 6), (1, 0), (1, 6), (1, 4)),
            ((), (), (), None),
            ((0, 2), (0, 1), (0, 2), None),
        ]:
            params = dict(start_indices=start, limit_indices=limit, strides=strides)
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                yield Sample((draw(rng, shape, dtype),), params)


def check_slice(
    shape: Sequence[int], start: Sequence[int], limit: Sequence[int], strides: Sequence[int] | None
) -> None:
    """Raise unless `start`, `limit` and `strides` describe a part of an array of `shape`."""
    named = (("start_indices", start), ("limit_indices", limit), ("strides", strides))
    for what, values in named:
        if values is not None and len(values) != len(shape):
            raise TypeError(shape_errors.slice_length(what, values, shape))
    if not all(0 <= low <= high <= size for low, high, size in zip(start, limit, shape)):
        raise TypeError(shape_errors.slice_bounds(start, limit, shape))
    if strides is not None and any(step <= 0 for step in strides):
        raise TypeError(shape_errors.slice_strides(strides))


# ---------------------------------------------------------------- pad


class Pad(Op):
    """Put a value before, behind and between the elements, along each dimension.

    `padding_config` holds for each dimension how often: `(low, high, interior)`. Where `low` or
    `high` is negative, elements are removed from that end.
    """

    fusion = MOVING

    def shape(self, x, value, *, padding_config):
        if value.ndim != 0:
            raise ValueError(shape_errors.pad_value(value.shape))
        if len(padding_config) != x.ndim:
            raise ValueError(shape_errors.pad_length(padding_config, x.shape))
        if any(interior < 0 for _, _, interior in padding_config):
            raise ValueError(shape_errors.pad_interior(padding_config))
        out = tuple(
            [
                low + size + max_dim(0, size - 1) * interior + high
                for size, (low, high, interior) in zip(x.shape, padding_config)
            ]
        )
        if any(size < 0 for size in out):
            raise ValueError(shape_errors.pad_negative(out, padding_config, x.shape))
        return out

    def dtype(self, x, value, *, padding_config):
        if x.dtype != value.dtype:
            raise TypeError(shape_errors.pad_dtypes(x.dtype, value.dtype))
        return x.dtype

    def ref(self, x, value, *, padding_config):
        for dim, (low, high, interior) in enumerate(padding_config):
            size = x.shape[dim]
            dilated = np.full(with_size(x.shape, dim, size + max(0, size - 1) * interior), value)
            dilated[(python_slice(None),) * dim + (python_slice(None, None, interior + 1),)] = x
            widths = [(0, 0)] * x.ndim
            widths[dim] = (max(0, low), max(0, high))
            padded = np.pad(dilated, widths, constant_values=value)
            end = padded.shape[dim] + min(0, high)
            x = padded[(python_slice(None),) * dim + (python_slice(max(0, -low), end),)]
        return x

    def jvp(self, primals, tangents, **params):
        out = self.bind(*primals, **params)
        return out, self.bind(*[instantiate(t) for t in tangents], **params)

    def transpose(self, ct, x, value, *, padding_config):
        # <ct, pad(x, v)> = <unpad(ct), x> + v times the sum of ct where the padding is.
        negated = tuple([(-low, -high, 0) for low, high, _ in padding_config])
        inner = pad_p.bind(ct, constant_like(ct, 0), padding_config=negated)
        shape = aval_of(inner).shape
        ct_x = slice_p.bind(
            inner,
            start_indices=(0,) * len(shape),
            limit_indices=shape,
            strides=tuple([interior + 1 for _, _, interior in padding_config]),
        )
        ct_value = None
        if type(value) is UndefinedPrimal:
            axes = range(len(shape))
            ct_value = sub_p.bind(linear.reduce_sum(ct, axes), linear.reduce_sum(ct_x, axes))
        return (ct_x if type(x) is UndefinedPrimal else None), ct_value

    def vmap(self, axis, dims, x, value, *, padding_config):
        dim, value_dim = dims
        x = bring_to(x, axis.size, dim, 0) if dim is None else x
        dim = dim or 0
        config = inserted(padding_config, dim, (0, 0, 0))
        if value_dim is None:
            return self.bind(x, value, padding_config=config), dim
        # Each example has its own value: pad with zeros, and choose by where the padding is.
        padded = self.bind(x, constant_like(x, 0), padding_config=config)
        inside = self.bind(
            full(aval_of(x).shape, True, np.dtype(np.bool_)),
            np.array(False),
            padding_config=config,
        )
        outside = broadcast_in_dim(value, aval_of(padded).shape, (dim,))
        return select_n_p.bind(inside, outside, padded), dim

    def emit(self, b, x, value, *, padding_config):
        low, high, interior = zip(*padding_config) if padding_config else ((), (), ())
        return b.op(
            "pad",
            x,
            value,
            edge_padding_low=low,
            edge_padding_high=high,
            interior_padding=interior,
        )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, config in [
            ((3,), ((1, 2, 0),)),
            ((2, 3), ((0, 1, 2), (-1, 0, 1))),
            ((4,), ((-1, -2, 0),)),
            ((3,), ((-2, 1, 1),)),
            ((), ()),
            ((0, 2), ((1, 1, 3), (0, 0, 0))),
        ]:
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                args = (draw(rng, shape, dtype), draw(rng, (), dtype))
                yield Sample(args, dict(padding_config=config))


slice_p = Slice("slice")
pad_p = Pad("pad")


def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """Put a value before, behind and between the elements of an array.

    Args:
      operand: an array.
      padding_value: a scalar of the operand's dtype.
      padding_config: for each dimension `(low, high, interior)`: how often the value is put
        before the elements, behind them, and between each two. Where `low` or `high` is negative,
        elements are removed instead.

    Returns:
      An array of the operand's dtype and number of dimensions.

    Raises:
      ValueError: the config does not fit the operand.
      TypeError: the dtypes differ.

    >>> from covector import lax
    >>> x = np.array([1, 2, 3])
    >>> lax.pad(x, 0, [(1, 2, 0)])
    Array([0, 1, 2, 3, 0, 0], dtype=int32)
    >>> lax.pad(x, 0, [(-1, 0, 1)])
    Array([0, 2, 0, 3], dtype=int32)
    """
    config = tuple([integers(entry, "pad", "padding_config") for entry in padding_config])
    return pad_p.bind(operand, padding_value, padding_config=config)


def slice(
    operand: Any,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Any:
    """A part of an array, like `operand[start:limit:stride, ...]`.

    Args:
      operand: an array.
      start_indices: for each dimension the first index, from 0 on.
      limit_indices: for each dimension the index behind the last, up to its size.
      strides: for each dimension the step, at least 1; None means 1 everywhere.

    Returns:
      An array with as many dimensions. `TypeError` is raised if the indices are out of bounds.

    >>> from covector import lax
    >>> x = np.arange(12).reshape(3, 4)
    >>> lax.slice(x, (1, 0), (3, 2))
    Array([[4, 5],
           [8, 9]], dtype=int32)
    >>> lax.slice(x, (0, 0), (3, 4), (2, 3))
    Array([[ 0,  3],
           [ 8, 11]], dtype=int32)
    """
    return slice_p.bind(
        operand,
        start_indices=integers(start_indices, "slice", "start_indices"),
        limit_indices=integers(limit_indices, "slice", "limit_indices"),
        strides=None if strides is None else integers(strides, "slice", "strides"),
    )


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Any:
    """A part of an array along one dimension, like `operand[start:limit:stride]` for the first.

    Args:
      operand: an array.
      start_index: the first index; None means 0. Negative ones count from the end.
      limit_index: the index behind the last; None means the size of the dimension.
      stride: the step, at least 1.
      axis: the dimension; negative ones count from the end.

    Returns:
      An array with as many dimensions. `TypeError` is raised if the indices are out of bounds.

    >>> from covector import lax
    >>> lax.slice_in_dim(np.arange(6), 1, -1, 2)
    Array([1, 3], dtype=int32)
    """
    shape = aval_of(operand).shape
    size, axis = shape[axis], axis % len(shape)
    start = 0 if start_index is None else size_of(start_index)
    limit = size if limit_index is None else size_of(limit_index)
    return slice_p.bind(
        operand,
        start_indices=with_size((0,) * len(shape), axis, start + size if start < 0 else start),
        limit_indices=with_size(shape, axis, limit + size if limit < 0 else limit),
        strides=with_size((1,) * len(shape), axis, size_of(stride)),
    )


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """One entry of an array along one dimension, like `operand[index]` if it is the first.

    Args:
      operand: an array.
      index: which; negative ones count from the end.
      axis: the dimension; negative ones count from the end.
      keepdims: whether the dimension is kept, with size 1.

    Returns:
      An array. `IndexError` is raised if the index is out of bounds.

    >>> from covector import lax
    >>> lax.index_in_dim(np.array([[1, 2], [3, 4]]), 1, axis=1, keepdims=False)
    Array([2, 4], dtype=int32)
    """
    shape = aval_of(operand).shape
    position, size = size_of(index), shape[axis]
    if not -size <= position < size:
        raise IndexError(shape_errors.index_out_of_bounds(position, axis, shape))
    position %= size
    result = slice_in_dim(operand, position, position + 1, 1, axis)
    return result if keepdims else squeeze(result, (axis,))
