"""Reading and writing one entry of an array along a dimension, as jitted functions of `lax`.

In a jaxpr they appear under their own names, as calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import shape_errors
from ..core.avals import aval_of
from ..ops.dynamic_indices import (
    check_literal_starts,
    dynamic_slice_in_dim,
    dynamic_update_slice_in_dim,
)
from ..ops.shaping import expand_dims, squeeze
from .jit import jit


def dynamic_index_in_dim(
    operand: Any,
    index: Any,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """One entry of an array along one dimension, where an index says.

    Args:
      operand: an array.
      index: an integer, which may be traced. One out of bounds is moved to the nearest within,
        unless it is a Python integer, which is an error.
      axis: the dimension; negative ones count from the end.
      keepdims: whether the dimension is kept, with size 1.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      An array.

    Raises:
      IndexError: an index that is a Python integer is out of bounds.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.dynamic_index_in_dim(np.array([[1, 2], [3, 4]]), 1, axis=1, keepdims=False)
    Array([2, 4], dtype=int32)
    """
    _check_literal("dynamic_index_in_dim", operand, index, axis)
    return _index(
        operand, index, axis=axis, keepdims=keepdims, allow_negative_indices=allow_negative_indices
    )


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """An array with one entry along one dimension, where an index says, replaced.

    Args:
      operand: an array.
      update: what is written there: an array without the dimension `axis`, or of size 1 in it.
      index: an integer, which may be traced. One out of bounds is moved to the nearest within,
        unless it is a Python integer, which is an error.
      axis: the dimension; negative ones count from the end.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      An array of the operand's shape.

    Raises:
      TypeError: the update does not fit.
      IndexError: an index that is a Python integer is out of bounds.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.dynamic_update_index_in_dim(np.zeros((2, 3)), np.ones(3), 1, axis=0)
    Array([[0., 0., 0.],
           [1., 1., 1.]], dtype=float32)
    """
    _check_literal("dynamic_update_index_in_dim", operand, index, axis)
    return _update_index(
        operand, update, index, axis=axis, allow_negative_indices=allow_negative_indices
    )


def _check_literal(name: str, operand: Any, index: Any, axis: int) -> None:
    """Raise if an index that is a Python integer is out of bounds, before `jit` makes it traced."""
    shape = aval_of(operand).shape
    if type(index) is int and -len(shape) <= axis < len(shape):
        starts, sizes = [0] * len(shape), [0] * len(shape)
        starts[axis], sizes[axis] = index, 1
        check_literal_starts(name, starts, shape, sizes)


def _named(name: str, *static: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: `jit` under the name that the function has in jaxprs."""

    def decorate(fun: Callable[..., Any]) -> Callable[..., Any]:
        fun.__name__ = name
        return jit(fun, static_argnames=static)

    return decorate


@_named("dynamic_index_in_dim", "axis", "keepdims", "allow_negative_indices")
def _index(
    operand: Any, index: Any, *, axis: int, keepdims: bool, allow_negative_indices: bool
) -> Any:
    result = dynamic_slice_in_dim(
        operand, index, 1, axis, allow_negative_indices=allow_negative_indices
    )
    return result if keepdims else squeeze(result, (axis,))


@_named("dynamic_update_index_in_dim", "axis", "allow_negative_indices")
def _update_index(
    operand: Any, update: Any, index: Any, *, axis: int, allow_negative_indices: bool
) -> Any:
    shape, update_shape = aval_of(operand).shape, aval_of(update).shape
    if len(update_shape) != len(shape):
        if len(update_shape) + 1 != len(shape):
            raise TypeError(shape_errors.update_index_rank(update_shape, shape))
        update = expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(
        operand, update, index, axis, allow_negative_indices=allow_negative_indices
    )
