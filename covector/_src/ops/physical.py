"""Arrays of extended dtypes as XLA sees them.

An element of an extended dtype, such as that of random keys, is itself an array of numbers.  To XLA
it is made of further dimensions behind those of the array, which shape operations leave in place.
"""

from __future__ import annotations

from typing import Any

from ..base.dtypes import ExtendedDType
from ..core.avals import ShapedArray


def element_shape(aval: Any) -> tuple[int, ...]:
    """The shape of one element: `()` unless the dtype is an extended one."""
    return aval.dtype.element_shape if isinstance(aval.dtype, ExtendedDType) else ()


def element_dims(aval: Any) -> tuple[int, ...]:
    """The dimensions that an array's elements have in XLA, behind those of the array."""
    return tuple(range(aval.ndim, aval.ndim + len(element_shape(aval))))


def physical_aval(aval: Any) -> ShapedArray:
    """The aval of the array of numbers that represents an array of this aval."""
    if not isinstance(aval.dtype, ExtendedDType):
        return aval
    return ShapedArray((*aval.shape, *aval.dtype.element_shape), aval.dtype.element_dtype)
