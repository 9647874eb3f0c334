"""Integrals of sampled functions: running ones, and by parabolas."""

from __future__ import annotations

from typing import Any

from ..base import integration_errors as errors
from ..core.array import Array, ArrayLike
from ..numpy.arguments import axis_argument
from ..numpy.composite import composite
from ..numpy.cumulative import cumsum
from ..numpy.joining import concatenate, diff
from ..numpy.promotion import as_array, promote_dtypes_inexact
from ..numpy.selection import where
from ..numpy.shaping import broadcast_to, moveaxis


def _samples(name: str, y: Any, x: Any, axis: int) -> tuple[Any, list[Any]]:
    """Samples as an array whose last dimension is the axis, and the places, if given, as one."""
    y = as_array(name, y)
    axis = axis_argument(name, axis, y.aval.ndim)
    y = moveaxis(y, axis, -1)
    if not y.aval.shape[-1]:
        raise ValueError(errors.no_samples(name, y.aval.shape))
    if x is None:
        return y, []
    x = as_array(name, x)
    if x.aval.ndim != 1:
        if x.aval.ndim != y.aval.ndim:
            raise ValueError(errors.places(name, x.aval.shape, y.aval.shape))
        x = moveaxis(x, axis, -1)
    if x.aval.shape[-1] != y.aval.shape[-1]:
        raise ValueError(errors.places(name, x.aval.shape, y.aval.shape))
    return y, [x]


def _steps(y: Any, dx: Any, places: tuple[Any, ...]) -> list[Any]:
    """Samples, and the distances of neighbours, of a common dtype and rank."""
    if not places:
        y, dx = promote_dtypes_inexact(y, dx)
        return [y, broadcast_to(dx, (1,) * (y.ndim - 1) + (y.shape[-1] - 1,))]
    y, x = promote_dtypes_inexact(y, places[0])
    steps = diff(x)
    return [y, steps.reshape((1,) * (y.ndim - 1) + steps.shape) if x.ndim == 1 else steps]


# ---------------------------------------------------------------- running integrals


def cumulative_trapezoid(
    y: ArrayLike,
    x: ArrayLike | None = None,
    dx: ArrayLike = 1.0,
    axis: int = -1,
    initial: ArrayLike | None = None,
) -> Array:
    """The integral of a sampled function up to each sample, by straight lines between them.

    Args:
      y: an array of samples, at least one.
      x: their places, a vector or an array like `y`.
      dx: the distance of neighbours, if there are no places.
      axis: the dimension along which to integrate.
      initial: a number to put in front, commonly 0, the integral up to the first sample.

    Returns:
      An array like `y`, with one element less along the axis if there is no `initial`.

    Raises:
      ValueError: there are no samples, or the places are not as many.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.integrate.cumulative_trapezoid(jnp.array([1.0, 2.0, 5.0]), dx=2.0, initial=0)
    Array([ 0.,  3., 10.], dtype=float32)
    """
    name = "cumulative_trapezoid"
    y, places = _samples(name, y, x, axis)
    first = [] if initial is None else [as_array(name, initial)]
    if first and first[0].aval.shape:
        raise ValueError(errors.initial(first[0].aval.shape))
    out = _cumulative(y, as_array(name, dx), *places, *first, places=len(places))
    return moveaxis(out, -1, axis)


@composite
def _cumulative(y: Any, dx: Any, *rest: Any, places: int) -> Any:
    y, steps = _steps(y, dx, rest[:places])
    out = cumsum(steps * (y[..., 1:] + y[..., :-1]) / 2, -1)
    for first in rest[places:]:
        first = broadcast_to(first.astype(out.dtype), (*out.shape[:-1], 1))
        out = concatenate([first, out], -1)
    return out


# ---------------------------------------------------------------- parabolas


def simpson(
    y: ArrayLike, x: ArrayLike | None = None, *, dx: ArrayLike = 1.0, axis: int = -1
) -> Array:
    """The integral of a sampled function, by parabolas through each three samples.

    If the number of samples is even, the last interval is integrated by the parabola through the
    last three: K. V. Cartwright, J. Math. Sci. Math. Educ. 12(2), 2017.

    Args:
      y: an array of samples, at least one.
      x: their places, a vector or an array like `y`.
      dx: the distance of neighbours, if there are no places.
      axis: the dimension along which to integrate.

    Returns:
      An array without that dimension.

    Raises:
      ValueError: there are no samples, or the places are not as many.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> x = jnp.arange(4.0)
    >>> jsp.integrate.simpson(x**2)
    Array(9., dtype=float32)
    """
    y, places = _samples("simpson", y, x, axis)
    return _simpson(y, as_array("simpson", dx), *places)


@composite
def _simpson(y: Any, dx: Any, *places: Any) -> Any:
    y, steps = _steps(y, dx, places)
    count = y.shape[-1]
    if count < 3:
        return (steps * (y[..., 1:] + y[..., :-1]) / 2).sum(-1)
    last = (count - 1) // 2 * 2  # the intervals that come in pairs
    out = _over_two(
        y[..., 0:last:2],
        y[..., 1:last:2],
        y[..., 2 : last + 1 : 2],
        steps[..., 0:last:2],
        steps[..., 1:last:2],
    ).sum(-1)
    if last == count - 1:
        return out
    return out + _over_second(y[..., -3], y[..., -2], y[..., -1], steps[..., -2], steps[..., -1])


def _over_two(left: Any, middle: Any, right: Any, h: Any, k: Any) -> Any:
    """The integrals of parabolas over two intervals of widths h and k.

    With a = k / h and b = h / k, the rule that is exact for 1, t and t^2 weighs the samples with
    2 - a, 2 + a + b and 2 - b, each times (h + k) / 6.
    """
    a, b = _ratio(k, h), _ratio(h, k)
    return (h + k) / 6 * ((2 - a) * left + (2 + a + b) * middle + (2 - b) * right)


def _over_second(left: Any, middle: Any, right: Any, h: Any, k: Any) -> Any:
    """The integrals of parabolas over the second of two intervals of widths h and k.

    The parabola is the straight line over it and a term in (t - t1)(t - t2), whose coefficient is
    the second divided difference, and whose integral is -k^3 / 6.
    """
    bend = (_ratio(right - middle, k) - _ratio(middle - left, h)) / where(h + k == 0, 1, h + k)
    return k * (middle + right) / 2 - bend * k**3 / 6


def _ratio(a: Any, b: Any) -> Any:
    """a / b, or 0 where b is 0."""
    return where(b == 0, 0, a / where(b == 0, 1, b))
