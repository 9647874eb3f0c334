"""Functions that are known by samples: interpolation, differences, integrals, phases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import calculus_errors, dtypes
from ..core.array import Array, ArrayLike
from ..ops.linear import expand_dims
from ..ops.slicing import slice_in_dim
from ..ops.sorting import sort_key_val
from .arguments import axes_argument, axis_argument
from .arithmetic import remainder
from .composite import composite, composite_list
from .cumulative import cumsum
from .joining import concatenate, diff
from .parts import absolute
from .promotion import (
    as_array,
    dtype_of,
    number,
    operand,
    operands,
    promote_dtypes,
    promote_dtypes_inexact,
    shape_of,
)
from .searching import searchsorted
from .selection import clip, where
from .shaping import moveaxis, reshape

# ---------------------------------------------------------------- interpolation


def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | str | None = None,
    right: ArrayLike | str | None = None,
    period: ArrayLike | None = None,
) -> Array:
    """The values of a piecewise linear function through given points.

    Args:
      x: an array of places.
      xp: the places of the points, a vector in rising order.
      fp: the values there, a vector of as many.
      left, right: the values before the first and after the last point; those of these points if
        not given, and "extrapolate" for those of the line through the nearest two.
      period: a number after which the function repeats; then `left` and `right` are not used, and
        `xp` need not be in order.

    Returns:
      An array of the shape of `x`.

    Raises:
      ValueError: the points are not two vectors of one size, a place is complex, the period is not
        a scalar, or there is another string.

    >>> import covector.numpy as jnp
    >>> jnp.interp(jnp.array([0.5, 3.0]), jnp.array([0.0, 1.0, 2.0]), jnp.array([0.0, 10.0, 30.0]))
    Array([ 5., 30.], dtype=float32)
    """
    x, xp, fp = operands("interp", (x, xp, fp))
    # Those that are NumPy's could not be indexed by traced arrays.
    xp, fp = as_array("interp", xp), as_array("interp", fp)
    if shape_of(xp) != shape_of(fp) or len(shape_of(xp)) != 1:
        raise ValueError(calculus_errors.interpolation_points(shape_of(xp), shape_of(fp)))
    if any(dtypes.issubdtype(dtype_of(z), np.complexfloating) for z in (x, xp)):
        raise ValueError(calculus_errors.not_for_complex("interp", dtype_of(x)))
    for side, value in (("left", left), ("right", right)):
        if isinstance(value, str) and value != "extrapolate":
            raise ValueError(calculus_errors.interpolation_outside(side, value))
    if period is not None:
        if np.ndim(period):
            raise ValueError(calculus_errors.interpolation_period(np.shape(period)))
        return _periodic(x, xp, fp, operand("interp", period))
    given = {side: value for side, value in (("left", left), ("right", right)) if value is not None}
    lines = tuple(side for side, value in given.items() if isinstance(value, str))
    outside = {side: value for side, value in given.items() if side not in lines}
    values = operands("interp", list(outside.values()))
    return _interp(x, xp, fp, *values, sides=tuple(outside), lines=lines)


@composite
def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """On points of one period, with the last one before them and the first one after them."""
    x, xp = promote_dtypes_inexact(x, xp)
    (fp,) = promote_dtypes_inexact(fp)
    period = absolute(period)
    x, xp = remainder(x, period), remainder(xp, period)
    xp, fp = sort_key_val(xp, fp)
    xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return _on_lines(x, xp, concatenate([fp[-1:], fp, fp[:1]]))


@composite
def _interp(x: Any, xp: Any, fp: Any, *values: Any, sides: Any, lines: Any) -> Any:
    x, xp = promote_dtypes_inexact(x, xp)
    (fp,) = promote_dtypes_inexact(fp)
    outside = {"left": fp[0], "right": fp[-1], **dict(zip(sides, values))}
    out = _on_lines(x, xp, fp)
    if "left" not in lines:
        out = where(x < xp[0], outside["left"], out)
    return out if "right" in lines else where(x > xp[-1], outside["right"], out)


def _on_lines(x: Any, xp: Any, fp: Any) -> Any:
    """The values on the lines through neighbouring points, or on one beyond them."""
    i = clip(searchsorted(xp, x, side="right"), 1, xp.shape[0] - 1)
    start, rise = fp[i - 1], fp[i] - fp[i - 1]
    run = xp[i] - xp[i - 1]
    # Points at one place are no line; without a quotient there are no NaNs in derivatives either.
    same = absolute(run) <= np.spacing(dtypes.finfo(xp.dtype).eps)
    slope = (x - xp[i - 1]) / where(same, 1, run)
    return where(same, start, start + slope * rise)


# ---------------------------------------------------------------- differences


def gradient(
    f: ArrayLike,
    *varargs: ArrayLike,
    axis: int | Sequence[int] | None = None,
    edge_order: int | None = None,
) -> Any:
    """The derivatives of a function that is sampled on a grid, by differences of neighbours.

    They are exact for polynomials of degree 2 inside, and of degree `edge_order` at the ends.

    Args:
      f: an array of samples.
      *varargs: the distance of neighbours, or a vector of the places of the samples: one for all
        axes, or one for each; 1 if not given.
      axis: along which to differentiate, by default all.
      edge_order: 1, the default, or 2.

    Returns:
      An array like `f`, or a list of them if there are several axes.

    Raises:
      TypeError: there are not as many distances as axes.
      ValueError: there are no more than `edge_order` samples along an axis, places are not as many
        as samples, or there is no such order.

    >>> import covector.numpy as jnp
    >>> jnp.gradient(jnp.array([0.0, 1.0, 4.0, 9.0]))
    Array([1., 2., 4., 5.], dtype=float32)
    """
    edge_order = 1 if edge_order is None else edge_order
    if edge_order not in (1, 2):
        raise ValueError(calculus_errors.edge_order(edge_order))
    a, *steps = [as_array("gradient", x) for x in (f, *varargs)]
    a, *steps = promote_dtypes_inexact(a, *steps)
    axes = axes_argument("gradient", axis, a.ndim)
    if not axes:
        return []
    if min(a.shape[i] for i in axes) <= edge_order:
        raise ValueError(calculus_errors.too_few_samples(a.shape, axes, edge_order + 1))
    if len(steps) not in (0, 1, len(axes)):
        raise TypeError(calculus_errors.spacing_count(len(steps), axes))
    steps = (steps or [number(1, a.dtype)]) * (1 if len(steps) == len(axes) else len(axes))
    for step, i in zip(steps, axes):
        if np.ndim(step) and np.shape(step) != (a.shape[i],):
            raise ValueError(calculus_errors.spacing_shape(np.shape(step), a.shape[i]))
    out = _gradient(a, *steps, axes=axes, edge_order=edge_order)
    return out[0] if len(axes) == 1 else out


@composite_list
def _gradient(a: Any, *steps: Any, axes: tuple[int, ...], edge_order: int) -> list[Any]:
    return [_derivative(a, step, axis, edge_order) for step, axis in zip(steps, axes)]


def _derivative(a: Any, step: Any, axis: int, edge_order: int) -> Any:
    """Along one axis.

    With d the slopes to the left and to the right of a place, and h the distances, the parabola
    through three points has there the slope (h_right d_left + h_left d_right)/(h_left + h_right).
    At the first of the points its slope is d_left - h_left (d_right - d_left)/(h_left + h_right),
    at the last d_right + h_right (d_right - d_left)/(h_left + h_right).
    """
    rises = slice_in_dim(a, 1, None, axis=axis) - slice_in_dim(a, 0, -1, axis=axis)
    first_part: Any = 0.5
    last_part: Any = 0.5
    if np.ndim(step) == 0:
        slopes = rises / step
        inner = (slice_in_dim(a, 2, None, axis=axis) - slice_in_dim(a, 0, -2, axis=axis)) * 0.5
        inner = inner / step
    else:
        h = diff(step)
        h = reshape(h, [h.size if i == axis else 1 for i in range(a.ndim)])
        slopes = rises / h
        left, right = (slice_in_dim(h, *ends, axis=axis) for ends in ((0, -1), (1, None)))
        before, after = (slice_in_dim(slopes, *ends, axis=axis) for ends in ((0, -1), (1, None)))
        inner = (right * before + left * after) / (left + right)
        if edge_order == 2:
            first_part, last_part = (
                slice_in_dim(part / (left + right), *end, axis=axis)
                for part, end in ((left, (0, 1)), (right, (-1, None)))
            )
    first, last = (slice_in_dim(slopes, *end, axis=axis) for end in ((0, 1), (-1, None)))
    if edge_order == 2:
        first = first - first_part * (slice_in_dim(slopes, 1, 2, axis=axis) - first)
        last = last + last_part * (last - slice_in_dim(slopes, -2, -1, axis=axis))
    return concatenate([first, inner, last], axis)


# ---------------------------------------------------------------- integrals


def trapezoid(
    y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1
) -> Array:
    """The integral of a sampled function, by straight lines between the samples.

    Args:
      y: an array of samples.
      x: their places, a vector or an array like `y`.
      dx: the distance of neighbours, if there are no places.
      axis: the dimension along which to integrate.

    Returns:
      An array without that dimension.

    >>> import covector.numpy as jnp
    >>> jnp.trapezoid(jnp.array([1.0, 2.0, 5.0]), dx=2.0)
    Array(10., dtype=float32)
    """
    y = as_array("trapezoid", y)
    # From the end, where places of lower rank have it too.
    axis = axis_argument("trapezoid", axis, y.ndim) - y.ndim
    if x is None:
        return _trapezoid(y, as_array("trapezoid", dx), axis=axis, places=False)
    return _trapezoid(y, as_array("trapezoid", x), axis=axis, places=True)


@composite
def _trapezoid(y: Any, x: Any, *, axis: int, places: bool) -> Any:
    if places:
        y, x = promote_dtypes_inexact(y, x)
        steps = diff(x) if x.ndim == 1 else moveaxis(diff(x, axis=axis), axis, -1)
    else:
        (y,) = promote_dtypes_inexact(y)
        steps = x
        if x.ndim:
            steps = moveaxis(expand_dims(x, range(y.ndim - x.ndim)), axis, -1)
    y = moveaxis(y, axis, -1)
    if steps.ndim == 0 or steps.shape[-1] == 1:
        step = steps[..., 0] if steps.ndim else steps
        return step * (y.sum(-1) - 0.5 * (y[..., 0] + y[..., -1]))
    return 0.5 * (steps * (y[..., 1:] + y[..., :-1])).sum(-1)


# ---------------------------------------------------------------- phases


def unwrap(
    p: ArrayLike, discont: ArrayLike | None = None, axis: int = -1, period: ArrayLike = 2 * math.pi
) -> Array:
    """Add multiples of a period to elements, such that neighbours differ by half of it at most.

    Args:
      p: an array of real numbers, such as phases.
      discont: differences smaller than this are left as they are; by default half a period.
      axis: the dimension along which neighbours are.
      period: the period.

    Returns:
      An array of the shape of `p`.

    Raises:
      ValueError: the numbers are complex.

    >>> import covector.numpy as jnp
    >>> jnp.unwrap(jnp.array([3, 0, 1, 2]), period=4)
    Array([3, 4, 5, 6], dtype=int32)
    """
    p, period, *limit = operands("unwrap", (p, period) + (() if discont is None else (discont,)))
    p = as_array("unwrap", p)
    if dtypes.issubdtype(p.dtype, np.complexfloating):
        raise ValueError(calculus_errors.not_for_complex("unwrap", p.dtype))
    axis = axis_argument("unwrap", axis, p.ndim)
    return _unwrap(p, period, *limit, axis=axis)


@composite
def _unwrap(p: Any, period: Any, *limit: Any, axis: int) -> Any:
    p, period = promote_dtypes(p, period)
    if not p.shape[axis]:
        return p
    whole = dtypes.issubdtype(p.dtype, np.integer)
    half = period // 2 if whole else period / 2
    step = diff(p, axis=axis)
    wrapped = remainder(step + half, period) - half
    # A rise by exactly half a period, if there is such a number, stays one and becomes no fall.
    rises = (wrapped == -half) & (step > 0)
    wrapped = where(rises & (2 * half == period) if whole else rises, half, wrapped)
    small = absolute(step) < (limit[0] if limit else period / 2)
    correction = cumsum(where(small, 0, wrapped - step), axis=axis)
    first = slice_in_dim(p, 0, 1, axis=axis)
    return concatenate([first, slice_in_dim(p, 1, None, axis=axis) + correction], axis)
