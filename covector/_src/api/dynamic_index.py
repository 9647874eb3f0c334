"""Reading and writing one entry of an array along a dimension, as jitted functions of `lax`.

In a jaxpr they appear under their own names, as calls.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ..base import shape_errors
from ..core.avals import aval_of
from ..ops.dynamic_indices import dynamic_slice_in_dim, dynamic_update_slice_in_dim
from ..ops.shaping import expand_dims, squeeze
from .jit import jit


@partial(jit, static_argnames=("axis", "keepdims", "allow_negative_indices"))
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
      index: an integer, which may be traced. One out of bounds is moved to the nearest within.
      axis: the dimension; negative ones count from the end.
      keepdims: whether the dimension is kept, with size 1.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      An array.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.dynamic_index_in_dim(np.array([[1, 2], [3, 4]]), 1, axis=1, keepdims=False)
    Array([2, 4], dtype=int32)
    """
    result = dynamic_slice_in_dim(
        operand, index, 1, axis, allow_negative_indices=allow_negative_indices
    )
    return result if keepdims else squeeze(result, (axis,))


@partial(jit, static_argnames=("axis", "allow_negative_indices"))
def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """An array with one entry along one dimension, where an index says, replaced.

    Args:
      operand: an array.
      update: what is written there: an array without the dimension `axis`, or of size 1 in it.
      index: an integer, which may be traced. One out of bounds is moved to the nearest within.
      axis: the dimension; negative ones count from the end.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      An array of the operand's shape.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.dynamic_update_index_in_dim(np.zeros((2, 3)), np.ones(3), 1, axis=0)
    Array([[0., 0., 0.],
           [1., 1., 1.]], dtype=float32)
    """
    shape, update_shape = aval_of(operand).shape, aval_of(update).shape
    if len(update_shape) != len(shape):
        if len(update_shape) + 1 != len(shape):
            raise TypeError(shape_errors.update_index_rank(update_shape, shape))
        update = expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(
        operand, update, index, axis, allow_negative_indices=allow_negative_indices
    )
