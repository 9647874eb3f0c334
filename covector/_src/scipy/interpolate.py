"""Interpolation between values on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..base import interpolation_errors as errors
from ..base.tree_registry import register_pytree_node
from ..core.array import Array, ArrayLike
from ..core.trace import Tracer
from ..numpy.composite import composite
from ..numpy.creation import asarray
from ..numpy.joining import stack
from ..numpy.parts import isnan
from ..numpy.promotion import as_array, promote_dtypes_inexact
from ..numpy.searching import searchsorted
from ..numpy.selection import clip, where
from ..numpy.shaping import broadcast_arrays, flip
from ..ops.complex import complex_dtype, is_complex
from .tensor_product import tensor_product

METHODS = ("linear", "nearest")


class RegularGridInterpolator:
    """A function that interpolates between values on a rectangular grid.

    It is a node of trees, so that it may be an argument of transformed functions.

    Args:
      points: for each dimension of the grid the coordinates, a vector that increases or decreases
        from each element to the next. Coordinates that are traced must increase, since their order
        is not known.
      values: an array that has the grid's dimensions first; it may have others, so that the
        function's values are arrays.
      method: "linear" for interpolation along each dimension in turn, "nearest" for the value at
        the nearest point.
      bounds_error: not supported.
      fill_value: the value outside of the grid; None to extrapolate.

    Raises:
      ValueError: there is no such method, or arguments do not fit together.
      NotImplementedError: `bounds_error` is set.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> points = (jnp.array([0.0, 1.0, 2.0]), jnp.array([0.0, 10.0]))
    >>> values = jnp.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    >>> f = jsp.interpolate.RegularGridInterpolator(points, values)
    >>> f(jnp.array([[0.5, 0.0], [1.0, 5.0], [3.0, 0.0]]))
    Array([1. , 2.5, nan], dtype=float32)
    """

    def __init__(
        self,
        points: Sequence[ArrayLike],
        values: ArrayLike,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: ArrayLike | None = np.nan,
    ):
        if bounds_error:
            raise NotImplementedError(errors.bounds_error())
        self.method = _method(method)
        self.bounds_error = bounds_error
        values = _as_array(values)
        shape = values.aval.shape
        if len(points) > len(shape):
            raise ValueError(errors.too_many_points(len(points), shape))
        (values,) = promote_dtypes_inexact(values)
        if fill_value is not None:
            fill_value = _as_array(fill_value)
            if is_complex(fill_value.aval.dtype) and not is_complex(values.aval.dtype):
                raise ValueError(errors.fill_value(fill_value.aval.dtype, values.aval.dtype))
        self.fill_value = fill_value
        grid = []
        for axis, p in enumerate(map(_as_array, points)):
            if p.aval.shape != shape[axis : axis + 1]:
                raise ValueError(errors.points(axis, p.aval.shape, shape))
            if not shape[axis]:
                raise ValueError(errors.nothing_to_interpolate(errors.GRID, shape))
            if _decreases(p, axis):
                p, values = flip(p), flip(values, axis)
            grid.append(p)
        self.grid = tuple(grid)
        self.values = values

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """The values at points.

        Args:
          xi: points, an array whose last dimension holds their coordinates; or a tuple of arrays,
            one for each coordinate, which are broadcast.
          method: another method than that of the interpolator.

        Returns:
          An array of the shape of the points and that of the function's values.
        """
        method = self.method if method is None else _method(method)
        xi = _sample_points(xi, len(self.grid))
        fill = [] if self.fill_value is None else [self.fill_value]
        return _interpolated(xi, self.values, *self.grid, *fill, method=method, fills=len(fill))


def _method(method: Any) -> str:
    if method not in METHODS:
        raise ValueError(errors.unknown_method(method))
    return method


def _as_array(x: Any) -> Any:
    return asarray(x) if isinstance(x, (list, tuple)) else as_array(errors.GRID, x)


def _decreases(p: Any, axis: int) -> bool:
    """Whether known coordinates decrease; `ValueError` is raised if they do neither."""
    known = p.concrete_value() if isinstance(p, Tracer) else p
    if known is None:
        return False
    steps = np.diff(np.asarray(known))
    if not (np.all(steps > 0) or np.all(steps < 0)):
        raise ValueError(errors.not_monotone(axis))
    return bool(steps.size and steps[0] < 0)


def _sample_points(xi: Any, ndim: int) -> Any:
    if isinstance(xi, tuple) and len(xi) == 1:
        (xi,) = xi
    if isinstance(xi, tuple):
        arrays = promote_dtypes_inexact(*map(_as_array, xi))
        xi = stack(broadcast_arrays(*arrays), -1)
    else:
        xi = _as_array(xi)
        if xi.aval.ndim == 1:
            if xi.aval.size % ndim:
                raise ValueError(errors.sample_points(xi.aval.shape, ndim))
            xi = xi.reshape((-1, ndim))
    if not xi.aval.ndim or xi.aval.shape[-1] != ndim:
        raise ValueError(errors.sample_points(xi.aval.shape, ndim))
    return xi


@composite
def _interpolated(xi: Any, values: Any, *rest: Any, method: str, fills: int) -> Any:
    grid, fill = rest[: len(rest) - fills], rest[len(rest) - fills :]
    shape, inner = xi.shape[:-1], values.shape[len(grid) :]
    coordinates = [xi[..., i].reshape((-1,)) for i in range(len(grid))]
    cells = [_cell(x, g) for x, g in zip(coordinates, grid)]
    out = (_linear if method == "linear" else _nearest)(cells, values)
    column = (-1,) + (1,) * len(inner)
    unknown = reduce(_or, [isnan(x) for x in coordinates]).reshape(column)
    out = where(unknown, np.nan, out)
    if fill:
        outside = reduce(_or, [(x < g[0]) | (x > g[-1]) for x, g in zip(coordinates, grid)])
        out = where(outside.reshape(column), fill[0], out)
    return out.reshape((*shape, *inner))


def _or(a: Any, b: Any) -> Any:
    return a | b


def _cell(x: Any, g: Any) -> tuple[list[Any], Any]:
    """The neighbours that a coordinate is between, and where between them, from 0 to 1."""
    x, g = promote_dtypes_inexact(x, g)
    if g.size == 1:
        return [np.zeros(x.shape, np.int32)] * 2, 0 * x
    lower = clip(searchsorted(g, x) - 1, 0, g.size - 2)
    return [lower, lower + 1], (x - g[lower]) / (g[lower + 1] - g[lower])


def _linear(cells: list[tuple[list[Any], Any]], values: Any) -> Any:
    inner = (1,) * (values.ndim - len(cells))
    weights = []
    for _, t in cells:
        t = t.astype(complex_dtype(t.dtype)) if is_complex(values.dtype) else t
        t = t.reshape((-1, *inner))
        weights.append([1 - t, t])
    indices = [ends for ends, _ in cells]
    return tensor_product(indices, weights, lambda i: values.at[i].get(mode="clip"))


def _nearest(cells: list[tuple[list[Any], Any]], values: Any) -> Any:
    indices = [where(t <= 0.5, ends[0], ends[1]) for ends, t in cells]
    return values.at[tuple(indices)].get(mode="clip")


def _flatten(f: RegularGridInterpolator) -> tuple[Any, Any]:
    return (f.grid, f.values, f.fill_value), (f.method, f.bounds_error)


def _unflatten(static: Any, children: Any) -> RegularGridInterpolator:
    # Not by the constructor: children may be placeholders.
    f = object.__new__(RegularGridInterpolator)
    f.method, f.bounds_error = static
    f.grid, f.values, f.fill_value = children
    return f


register_pytree_node(RegularGridInterpolator, _flatten, _unflatten)
