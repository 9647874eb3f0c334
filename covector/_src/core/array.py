"""`Array`, the type that users annotate and test with; its values are made by the backend."""

from __future__ import annotations

from typing import Any

import numpy as np

from .avals import ShapedArray
from .trace import Tracer, context


class _ArrayMeta(type):
    """Tracers count as arrays: `isinstance(x, Array)` holds under every transformation."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return (
            cls is Array and isinstance(instance, Tracer) and isinstance(instance.aval, ShapedArray)
        )


class Array(metaclass=_ArrayMeta):
    """An immutable n-dimensional array on a device, or a traced stand-in for one.

    Arrays are made by functions such as `covector.numpy.array`, never by calling this class.

    >>> import covector
    >>> isinstance(covector.numpy.ones(3), covector.Array)
    True
    """

    __slots__ = ("__weakref__",)
    __array_priority__ = 100


# What functions of arrays take for an array: lists are not among them.
ArrayLike = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex


def as_array(x: Any) -> Any:
    """A number or NumPy array as an array, or as a tracer where a program is being written."""
    return x if isinstance(x, (Array, Tracer)) else context.trace.lift(x)
