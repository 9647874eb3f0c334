"""Arguments that are not arrays: shapes, axes, counts; with errors that name traced values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import numpy_errors
from ..base.dims import size_of
from ..base.errors import ConcretizationTypeError
from ..base.shapes import canonicalize_axis
from ..core.trace import Tracer
from .conversion import behind


def index_argument(where: str, what: str, value: Any) -> int:
    """The argument `what` of the public function `where` as a Python integer."""
    if type(value) is int:
        return value
    if isinstance(value, Tracer):
        known = value.concrete_value()
        if known is None:
            raise ConcretizationTypeError(
                numpy_errors.traced_argument(where, what, value.aval, value.origin())
            )
        value = known
    return size_of(value)


def known_array(x: Any, message: Callable[[Any, str], str]) -> np.ndarray:
    """The elements of an array or tracer.

    Args:
      x: an array or tracer.
      message: what to say if they are not known, given the type of the tracer and, in words, what
        it was computed from.
    """
    known = x.concrete_value() if isinstance(x, Tracer) else x
    if known is None:
        raise ConcretizationTypeError(message(x.aval, behind(x)))
    return np.asarray(known)


def shape_argument(where: str, shape: Any) -> tuple[int, ...]:
    """The shape given to the public function `where`: one integer, or a sequence of them."""
    if type(shape) is int:
        shape = (shape,)
    elif not isinstance(shape, (tuple, list)):
        shape = tuple(shape) if getattr(shape, "ndim", None) == 1 else (shape,)
    try:
        out = tuple([index_argument(where, "shape", size) for size in shape])
    except ConcretizationTypeError:
        raise
    except TypeError:
        raise TypeError(numpy_errors.not_a_shape(where, shape)) from None
    if any(size < 0 for size in out):
        raise TypeError(numpy_errors.negative_size(where, out))
    return out


def axis_argument(where: str, axis: Any, ndim: int) -> int:
    """An axis as a number from 0 to `ndim - 1`."""
    return canonicalize_axis(index_argument(where, "axis", axis), ndim)


def axes_argument(where: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """An axis, several, or None for all, as distinct numbers from 0 to `ndim - 1`, in order."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int:
        return (canonicalize_axis(axis, ndim),)
    if not isinstance(axis, (Sequence, set)):
        axis = (axis,)
    axes = [axis_argument(where, a, ndim) for a in axis]
    if len(set(axes)) != len(axes):
        raise ValueError(numpy_errors.repeated_axes(where, axis))
    return tuple(axes)


def check_no_out(where: str, out: Any) -> None:
    """Raise if the user gave an array to write the result to."""
    if out is not None:
        raise NotImplementedError(numpy_errors.out_not_supported(where))
