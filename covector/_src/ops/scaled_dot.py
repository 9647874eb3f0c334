"""`scaled_dot`: the product of two arrays of narrow numbers, each with scales for its blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dot_errors, dtypes
from ..core.array import Array
from ..core.avals import aval_of
from .arithmetic import mul
from .contraction import canonical_dimension_numbers, dot_general
from .conversion import convert
from .linear import broadcast_in_dim, reshape


def scaled_dot(
    lhs: Any,
    rhs: Any,
    *,
    lhs_scale: Any = None,
    rhs_scale: Any = None,
    dimension_numbers: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The product of two arrays that are each multiplied by scales first.

    Args:
      lhs, rhs: arrays, of 8-bit floats for instance.
      lhs_scale, rhs_scale: arrays of the operands' ranks. A dimension of an operand is a multiple
        of that of its scales, each of which belongs to a block of neighbouring elements.
      dimension_numbers: as of `dot_general`; by default those of a product of matrices, batched
        over the first dimension if the operands have three.
      preferred_element_type: the dtype of the result, bfloat16 by default.

    Returns:
      An array with the dimensions that `dot_general` gives.

    Raises:
      TypeError: the shapes do not fit.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.scaled_dot(np.ones((1, 4)), np.ones((4, 1)), lhs_scale=np.array([[2.0, 3.0]]))
    Array([[10]], dtype=bfloat16)
    """
    dtype = np.dtype(dtypes.bfloat16) if preferred_element_type is None else preferred_element_type
    if dimension_numbers is None:
        batched = aval_of(lhs).ndim == 3
        dimension_numbers = (((2,), (1,)), ((0,), (0,))) if batched else (((1,), (0,)), ((), ()))
    numbers = canonical_dimension_numbers(dimension_numbers)
    wide = np.dtype(np.float32)
    operands = [
        convert(x, wide) if scale is None else mul(convert(x, wide), _spread(x, scale, wide))
        for x, scale in ((lhs, lhs_scale), (rhs, rhs_scale))
    ]
    return convert(dot_general(*operands, numbers), dtype)


def _spread(x: Any, scale: Any, dtype: Any) -> Any:
    """The scale of each element."""
    shape, blocks = aval_of(x).shape, aval_of(scale).shape
    if len(shape) != len(blocks) or any(not b or n % b for n, b in zip(shape, blocks)):
        raise TypeError(dot_errors.scales_do_not_fit(shape, blocks))
    split = [size for n, b in zip(shape, blocks) for size in (b, n // b)]
    wide = broadcast_in_dim(convert(scale, dtype), split, tuple(range(0, 2 * len(shape), 2)))
    return reshape(wide, shape)
