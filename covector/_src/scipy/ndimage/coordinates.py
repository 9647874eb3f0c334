"""The values of arrays at places between their elements."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ...base import dtypes
from ...base import interpolation_errors as errors
from ...core.array import Array, ArrayLike
from ...numpy.arguments import index_argument
from ...numpy.composite import composite
from ...numpy.creation import asarray, full
from ...numpy.promotion import as_array, promote_dtypes, promote_dtypes_inexact
from ...numpy.selection import where
from ...numpy.shaping import broadcast_arrays
from ...ops.complex import is_complex
from ...ops.rounding import round
from ..tensor_product import tensor_product
from .boundaries import BOUNDARIES, Boundary
from .splines import coefficients, knots, weights

_WHERE = "map_coordinates"


def map_coordinates(
    input: ArrayLike,
    coordinates: Sequence[ArrayLike],
    order: int,
    mode: str = "constant",
    cval: ArrayLike = 0.0,
) -> Array:
    """The values of an array at given places, by splines through its elements.

    Args:
      input: an array.
      coordinates: for each dimension the places of the values, as an array; these are broadcast.
        Or one array of them. Elements are at the integers.
      order: of the splines: 0 for the nearest element, 1 for linear interpolation, up to 5 for
        polynomials of that degree whose derivatives but the last one are continuous.
      mode: what the array is beyond its edges: "constant" is `cval`, "nearest" like the elements at
        the edges, "wrap" the same array again and again, "mirror" its mirror image with those
        elements as mirrors, "reflect" with the mirror behind them. These are "grid-constant",
        "nearest", "grid-wrap", "mirror" and "grid-mirror" in SciPy.
      cval: a number.

    Returns:
      An array of the shape of the coordinates and the dtype of `input`; integers are rounded. It
      can be differentiated in `input` and, for orders from 1 on, in the coordinates.

    Raises:
      ValueError: there are not as many coordinates as dimensions, or no elements.
      NotImplementedError: there is no such mode or order.
      TypeError: coordinates are complex.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> x = jnp.array([[0.0, 1.0, 2.0], [10.0, 11.0, 12.0]])
    >>> jsp.ndimage.map_coordinates(x, [jnp.array([0.5, 1.0]), jnp.array([1.5, 0.0])], order=1)
    Array([ 6.5, 10. ], dtype=float32)
    """
    if mode not in BOUNDARIES:
        raise NotImplementedError(errors.unknown_mode(mode, BOUNDARIES))
    order = index_argument(_WHERE, "order", order)
    if not 0 <= order <= 5:
        raise NotImplementedError(errors.order(order))
    x, *places = [_as_array(value) for value in (input, *coordinates)]
    if len(places) != x.aval.ndim:
        raise ValueError(errors.coordinates_count(len(places), x.aval.shape))
    for c in places:
        if is_complex(c.aval.dtype):
            raise TypeError(errors.complex_coordinates(c.aval.dtype))
    if not places:
        return x
    if not x.aval.size:
        shape = np.broadcast_shapes(*[c.aval.shape for c in places])
        if BOUNDARIES[mode].fold is not None and 0 not in shape:
            raise ValueError(errors.nothing_to_interpolate(_WHERE, x.aval.shape))
        return full(shape, cval, x.aval.dtype)
    return _mapped(x, as_array(_WHERE, cval), *places, order=order, mode=mode)


def _as_array(x: Any) -> Any:
    return asarray(x) if isinstance(x, (list, tuple)) else as_array(_WHERE, x)


@composite
def _mapped(x: Any, cval: Any, *places: Any, order: int, mode: str) -> Any:
    boundary, dtype = BOUNDARIES[mode], x.dtype
    cval = cval.astype(dtype)
    places = broadcast_arrays(*promote_dtypes(*places))
    if order == 0:
        return _elements(x, [_integers(_nearest(place)) for place in places], boundary, cval)
    places = promote_dtypes_inexact(*places)
    (x,), (cval,), margin = promote_dtypes_inexact(x), promote_dtypes_inexact(cval), 0
    if order > 1:
        x, cval = _as_wide(x), _as_wide(cval)
        x, margin = coefficients(x, order, boundary, cval)
    out = _spline(x, places, order, margin, boundary, cval)
    return (_nearest(out) if dtypes.issubdtype(dtype, np.integer) else out).astype(dtype)


def _spline(x: Any, places: Any, order: int, margin: int, boundary: Boundary, cval: Any) -> Any:
    """The values of a spline, given its coefficients, of which the first few come before 0."""
    indices, factors = [], []
    for place in places:
        first, t = knots(place, order)
        indices.append([_integers(first) + (margin + j) for j in range(order + 1)])
        factors.append(weights(t, order))
    return tensor_product(indices, factors, lambda i: _elements(x, i, boundary, cval))


def _elements(x: Any, indices: Sequence[Any], boundary: Boundary, cval: Any) -> Any:
    """The elements at indices that may be out of bounds."""
    if boundary.fold is not None:
        indices = [boundary.fold(index, size) for index, size in zip(indices, x.shape)]
        return x.at[tuple(indices)].get(mode="clip")
    inside = [(index >= 0) & (index < size) for index, size in zip(indices, x.shape)]
    return where(reduce(operator.and_, inside), x.at[tuple(indices)].get(mode="clip"), cval)


def _nearest(x: Any) -> Any:
    """The nearest integers; halves are rounded away from zero."""
    return x if dtypes.issubdtype(x.dtype, np.integer) else round(x)


def _integers(x: Any) -> Any:
    return x.astype(np.int32)


def _as_wide(x: Any) -> Any:
    """Short floats as those of 32 bits."""
    return x.astype(np.float32) if x.dtype.itemsize < 4 else x
