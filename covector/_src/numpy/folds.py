"""What the methods of ufuncs do with a function of which nothing is known.

It is applied to slices of arrays, to one after the other, in order: no order but this one need
give the same result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..api.shape_dtype import ShapeDtypeStruct
from ..api.tracing import eval_shape
from ..base import dtypes, ufunc_errors
from ..control.scan import scan
from ..core.avals import aval_of
from . import indices
from .arguments import axes_argument, axis_argument
from .at import IndexUpdateRef
from .composite import composite
from .joining import concatenate
from .promotion import convert, dtype_of, shape_of
from .ranges import arange
from .selection import where as choose
from .shaping import broadcast_to, expand_dims, moveaxis, reshape, transpose
from .taking import take

Function = Callable[..., Any]


def result_dtype(f: Function, *operands: Any) -> Any:
    """The dtype of what a function makes of elements of the operands."""
    avals = [aval_of(x) for x in operands]
    elements = [ShapeDtypeStruct((), a.dtype, weak_type=a.weak_type) for a in avals]
    return eval_shape(f, *elements).dtype


# ---------------------------------------------------------------- reduce


def reduce(
    f: Function, a: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any
) -> Any:
    """Combine the elements along an axis, or along several of them in row-major order.

    Args:
      f: the ufunc.
      a: an array.
      axis: an integer, a sequence, or None for all.
      dtype: that in which the elements are combined; None leaves it to the function.
      keepdims: whether the dimensions stay, with size 1.
      initial: what to begin with; None means the function's identity, or the first element.
      where: booleans, broadcast against `a`: which elements take part.
    """
    axes = axes_argument(f"{f.__name__}.reduce", axis, a.ndim)
    dtype = (
        result_dtype(f, a, a)
        if dtype is None
        else dtypes.check_user_dtype_supported(dtype, f.__name__)
    )
    count = math.prod([a.shape[i] for i in axes])
    if initial is None:
        initial = f.identity
    if initial is None and not count:
        raise ValueError(ufunc_errors.nothing_to_reduce(f.__name__, a.shape))
    extras = [x for x in (initial, where) if x is not None]
    given = initial is not None, where is not None
    out = _reduced(a, *extras, f=f, axes=axes, dtype=dtype, given=given)
    return expand_dims(out, sorted(axes)) if keepdims else out


@composite
def _reduced(a: Any, *extras: Any, f: Function, axes: Any, dtype: Any, given: Any) -> Any:
    """Combine rows; `given` says whether an initial value and a mask are among the extras."""
    rest = list(extras)
    rows = rows_along(convert(a, dtype), axes)
    shape = shape_of(rows)[1:]
    if given[0]:
        total = broadcast_to(convert(rest.pop(0), dtype), shape)
    else:
        total, rows = rows[0], rows[1:]
    masks = rows_along(broadcast_to(rest[0], shape_of(a)), axes) if given[1] else None

    def step(total: Any, inputs: Any) -> tuple[Any, None]:
        row, mask = inputs
        combined = convert(f(total, row), dtype)
        return (combined if mask is None else choose(mask, combined, total)), None

    return scan(step, total, (rows, masks))[0]


def rows_along(a: Any, axes: tuple[int, ...]) -> Any:
    """An array whose first dimension is made of those given."""
    kept = [i for i in range(a.ndim) if i not in axes]
    sizes = [a.shape[i] for i in kept]
    return reshape(transpose(a, (*axes, *kept)), (math.prod([a.shape[i] for i in axes]), *sizes))


# ---------------------------------------------------------------- accumulate


def accumulate(f: Function, a: Any, axis: int, dtype: Any) -> Any:
    """What `reduce` gives of the elements up to each one along an axis."""
    dtype = (
        result_dtype(f, a, a)
        if dtype is None
        else dtypes.check_user_dtype_supported(dtype, f.__name__)
    )
    return _accumulated(a, f=f, axis=axis, dtype=dtype)


@composite
def _accumulated(a: Any, *, f: Function, axis: int, dtype: Any) -> Any:
    a = convert(a, dtype)
    if not a.size:
        return a
    rows = moveaxis(a, axis, 0)

    def step(total: Any, row: Any) -> tuple[Any, Any]:
        total = convert(f(total, row), dtype)
        return total, total

    _, totals = scan(step, rows[0], rows[1:])
    return moveaxis(concatenate([rows[:1], totals]), 0, axis)


# ---------------------------------------------------------------- at


def at(f: Function, a: Any, index: Any, *values: Any) -> Any:
    """The array with the function applied to the elements at an index, as often as they occur.

    Args:
      f: the ufunc, of one or two operands.
      a: the array.
      index: as in `a[index]`.
      *values: the other operand, if there is one, broadcast to the shape of `a[index]`.
    """
    dtype = result_dtype(f, a, *values)
    a = convert(a, dtype)
    places = IndexUpdateRef(reshape(arange(a.size), a.shape), index)
    places = places.get(mode="fill", fill_value=a.size)
    front = _repeated_dims(a.shape, index, places.ndim)
    values = tuple(broadcast_to(convert(x, dtype), places.shape) for x in values)
    return _applied_at(a, *(rows_along(x, front) for x in (places, *values)), f=f)


def _repeated_dims(shape: tuple[int, ...], index: Any, rank: int) -> tuple[int, ...]:
    """Those dimensions of `a[index]` along which an element of `a` can occur again.

    They are the dimensions of the arrays in the index, which stand together: in the place of the
    first of them, or in front.
    """
    entries, together = indices.read(shape, index)
    advanced = [i for i, x in enumerate(entries) if not (x is None or type(x) is indices.Cut)]
    if any(type(entries[i]) is bool for i in advanced):
        return tuple(range(rank))
    count = max([np.ndim(entries[i]) for i in advanced], default=0)
    first = advanced[0] if advanced and together else 0
    return tuple(range(first, first + count))


@composite
def _applied_at(a: Any, places: Any, *values: Any, f: Function) -> Any:
    """Apply a function at rows of places in the flattened array, in each of which none is twice."""
    count = shape_of(places)[0]
    rows = [reshape(x, (count, -1)) for x in (places, *values)]

    def step(flat: Any, inputs: Any) -> tuple[Any, None]:
        row, *operands = inputs
        part = IndexUpdateRef(flat, row)
        value = f(part.get(mode="clip"), *operands)
        return part.set(convert(value, dtype_of(a)), mode="drop", unique_indices=True), None

    return reshape(scan(step, reshape(a, (-1,)), rows)[0], shape_of(a))


# ---------------------------------------------------------------- reduceat


def reduceat(f: Function, a: Any, starts: Any, axis: Any, dtype: Any) -> Any:
    """What `reduce` gives of each part of an axis, from one index to the next.

    The last part goes to the end. Where the next index is not larger, the part is one element.
    """
    axis = axis_argument(f"{f.__name__}.reduceat", axis, a.ndim)
    dtype = dtype_of(a) if dtype is None else dtypes.check_user_dtype_supported(dtype, f.__name__)
    return _reduced_at(a, starts, f=f, axis=axis, dtype=dtype)


@composite
def _reduced_at(a: Any, starts: Any, *, f: Function, axis: int, dtype: Any) -> Any:
    rows = moveaxis(convert(a, dtype), axis, 0)
    count, *sizes = rows.shape
    ends = concatenate([starts[1:], np.array([count], dtype_of(starts))])
    column = (-1, *[1] * len(sizes))

    def step(totals: Any, inputs: Any) -> tuple[Any, None]:
        i, row = inputs
        inside = reshape((starts < i) & (i < ends), column)
        return choose(inside, convert(f(totals, row[None]), dtype), totals), None

    numbers = arange(count, dtype=dtype_of(starts))
    totals, _ = scan(step, take(rows, starts, axis=0), (numbers, rows))
    return moveaxis(totals, 0, axis)
