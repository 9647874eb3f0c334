"""Axes and shapes as users give them, in the form in which primitives keep them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import shape_errors
from .dims import has_symbolic, size_of


def canonicalize_axis(axis: Any, ndim: int) -> int:
    """An axis as a number from 0 to `ndim - 1`; negative ones count from the end."""
    index = operator.index(axis)
    if not -ndim <= index < ndim:
        raise ValueError(shape_errors.axis_out_of_bounds(index, ndim))
    return index + ndim if index < 0 else index


def canonicalize_shape(shape: Any, where: str) -> tuple[int, ...]:
    """A shape given to the public function `where` as a tuple of Python integers."""
    try:
        return tuple([size_of(size) for size in shape])
    except TypeError:
        raise TypeError(shape_errors.not_a_shape(where, shape)) from None


def integers(values: Sequence[Any], where: str, what: str) -> tuple[int, ...]:
    """The argument `what` of the public function `where` as a tuple of Python integers."""
    try:
        return tuple([size_of(value) for value in values])
    except TypeError:
        raise TypeError(shape_errors.not_integers(where, what, values)) from None


def integers_or_integer(values: Any, where: str, what: str) -> tuple[int, ...]:
    """Like `integers`, but one integer may stand for a sequence of one."""
    if isinstance(values, int):
        return (int(values),)
    return integers(values, where, what)


def broadcast_sizes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which arrays of these are broadcast together, as by NumPy.

    Raises:
      ValueError: there is none.
    """
    if not any(map(has_symbolic, shapes)):
        return np.broadcast_shapes(*shapes)
    rank = max(map(len, shapes))
    common = []
    for sizes in zip(*[(1,) * (rank - len(shape)) + shape for shape in shapes]):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            raise ValueError("sizes differ")
        common.append(wide.pop() if wide else 1)
    return tuple(common)


def without(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """`shape` without the dimensions `axes`."""
    return tuple([size for dim, size in enumerate(shape) if dim not in axes])


def with_size(shape: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    """`shape` with `size` in dimension `axis`."""
    return (*shape[:axis], size, *shape[axis + 1 :])


def inserted(values: Sequence[Any], index: int, value: Any) -> tuple[Any, ...]:
    """A tuple with `value` put in at `index`."""
    return (*values[:index], value, *values[index:])
