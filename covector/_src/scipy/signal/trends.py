"""Data without its mean, or without the straight lines that fit it best."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import signal_errors as errors
from ...core.array import Array, ArrayLike
from ...numpy.arguments import axis_argument
from ...numpy.composite import composite
from ...numpy.joining import concatenate
from ...numpy.promotion import as_array, promote_dtypes_inexact
from ...numpy.shaping import moveaxis

# The types of trends under the names that SciPy gives them.
TYPES = {"linear": "linear", "l": "linear", "constant": "constant", "c": "constant"}


def detrend(
    data: ArrayLike,
    axis: int = -1,
    type: str = "linear",
    bp: int | Sequence[int] | np.ndarray = 0,
    overwrite_data: None = None,
) -> Array:
    """Remove a trend from data.

    Args:
      data: an array.
      axis: the dimension along which the trend is.
      type: "constant" to subtract the mean, "linear" to subtract the straight line that fits best
        in the sense of least squares.
      bp: one or more places at which another line begins.
      overwrite_data: not supported.

    Returns:
      An array of the same shape; its dtype is that of the data, made floating.

    Raises:
      ValueError: there is no such type, or a breakpoint is not within the data.
      NotImplementedError: `overwrite_data` is given.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.signal.detrend(jnp.array([1.0, 2.0, 4.0, 5.0]), type="constant")
    Array([-2., -1.,  1.,  2.], dtype=float32)
    >>> jsp.signal.detrend(jnp.array([1.0, 2.0, 3.0, 7.0, 6.0, 5.0]), bp=3)
    Array([0., 0., 0., 0., 0., 0.], dtype=float32)
    """
    if overwrite_data:
        raise NotImplementedError(errors.overwrites())
    if type not in TYPES:
        raise ValueError(errors.not_one_of("detrend", "type", type, TYPES))
    data = as_array("detrend", np.asarray(data) if isinstance(data, (list, tuple)) else data)
    axis = axis_argument("detrend", axis, data.aval.ndim)
    length = data.aval.shape[axis]
    ends = np.unique(np.concatenate([np.ravel(bp).astype(int), [0, length]]))
    if TYPES[type] == "constant":
        ends = np.array([0, length])
    elif ends[0] < 0 or ends[-1] > length:
        raise ValueError(errors.breakpoints(bp, length))
    return _detrended(data, axis=axis, linear=TYPES[type] == "linear", ends=tuple(ends.tolist()))


@composite
def _detrended(data: Any, *, axis: int, linear: bool, ends: tuple[int, ...]) -> Any:
    (data,) = promote_dtypes_inexact(data)
    if len(ends) < 2:  # nothing along the axis
        return data
    data = moveaxis(data, axis, -1)
    sections = [data[..., start:end] for start, end in itertools.pairwise(ends)]
    remainders = [_without_line(x) if linear else _without_mean(x) for x in sections]
    return moveaxis(concatenate(remainders, -1), -1, axis)


def _without_mean(x: Any) -> Any:
    return x - x.mean(-1, keepdims=True)


def _without_line(x: Any) -> Any:
    """The part of data that is orthogonal to all straight lines.

    Places counted from their middle are orthogonal to constants, so that the mean and the slope
    are found one after the other.
    """
    x = _without_mean(x)
    length = x.shape[-1]
    if length < 2:
        return x
    places = np.arange(length) - (length - 1) / 2
    squares = float(np.sum(places**2))
    places = places.astype(x.dtype).reshape((1,) * (x.ndim - 1) + (length,))
    return x - (x * places).sum(-1, keepdims=True) / squares * places
