"""Normalized exponentials."""

from __future__ import annotations

from typing import Any

from ...core.array import Array, ArrayLike
from ...numpy.arguments import axes_argument
from ...numpy.composite import composite
from ...numpy.exponential import exp, log
from ...numpy.reductions import max_beside_nan, sum
from ...ops.identities import stop_gradient
from .elementwise import inexacts


@composite
def _softmax(x: Any, *, axes: tuple[int, ...]) -> Any:
    powers = exp(x - stop_gradient(max_beside_nan(x, axes, keepdims=True)))
    return powers / sum(powers, axes, keepdims=True)


@composite
def _log_softmax(x: Any, *, axes: tuple[int, ...]) -> Any:
    shifted = x - stop_gradient(max_beside_nan(x, axes, keepdims=True))
    return shifted - log(sum(exp(shifted), axes, keepdims=True))


def softmax(x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Exponentials, divided by their sum: positive numbers that add up to 1.

    Args:
      x: an array.
      axis: the axis or axes along which they add up to 1; by default all.

    Returns:
      An array of the same shape, integers made floating.

    >>> import covector.numpy as jnp
    >>> from covector.scipy import special
    >>> special.softmax(jnp.array([1000.0, 1000.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    (x,) = inexacts("softmax", x)
    return _softmax(x, axes=axes_argument("softmax", axis, x.ndim))


def log_softmax(x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Logarithm of `softmax`, accurate also where that is tiny or nearly 1.

    Args:
      x: an array.
      axis: the axis or axes along which the exponentials of the result add up to 1; by default all.

    Returns:
      An array of the same shape, integers made floating.

    >>> import covector.numpy as jnp
    >>> from covector.scipy import special
    >>> special.log_softmax(jnp.array([0.0, 1000.0]))
    Array([-1000.,     0.], dtype=float32)
    """
    (x,) = inexacts("log_softmax", x)
    return _log_softmax(x, axes=axes_argument("log_softmax", axis, x.ndim))
