"""Functions that normalize along axes, and encodings of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.custom_derivatives import custom_jvp
from ..api.jit import jit
from ..base import config, dtypes
from ..base import nn_errors as errors
from ..base.dims import size_of
from ..base.errors import ConcretizationTypeError
from ..base.shapes import canonicalize_axis
from ..base.warn import warn
from ..core.array import Array, ArrayLike
from ..core.trace import Tracer
from ..numpy.arguments import axes_argument
from ..numpy.arithmetic import square
from ..numpy.composite import composite
from ..numpy.creation import asarray
from ..numpy.exponential import exp, log
from ..numpy.promotion import as_array, operand, operands, promote_dtypes_inexact
from ..numpy.reductions import max_beside_nan, mean, sum
from ..numpy.selection import clip, where
from ..numpy.shaping import expand_dims
from ..ops.axis_index import axis_index
from ..ops.collectives_reduce import axis_size
from ..ops.creation import broadcasted_iota
from ..ops.identities import stop_gradient
from ..ops.powers import rsqrt
from ..scipy.special.log_sums import logsumexp

# Inside functions with an argument `where`.
_choose = where

# ---------------------------------------------------------------- softmax


def softmax(x: ArrayLike, axis: Any = -1, where: ArrayLike | None = None) -> Array:
    """Exponentials, divided by their sum: positive numbers that add up to 1.

    Args:
      x: an array.
      axis: the axis or axes along which they add up to 1; None for all.
      where: which elements take part, broadcast against `x`; the result for others is 0.

    Returns:
      An array of the same shape and dtype, integers made floating. It is NaN where nothing but -inf
      takes part, or something that is inf.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.softmax(jnp.array([1000.0, 1000.0, -jnp.inf]))
    Array([0.5, 0.5, 0. ], dtype=float32)
    """
    x = operand("softmax", x)
    if config.softmax_custom_jvp.value:
        return _softmax(x, axis, where)
    masks = [] if where is None else operands("softmax", [where])
    axes = axes_argument("softmax", axis, np.ndim(x))
    return _stepwise_softmax(x, *masks, axes=axes)


def _normalized(x: Any, mask: Any, axes: Any, subtrahend: Any) -> Any:
    """Softmax by its steps; `subtrahend` is applied to what is taken away from the exponents."""
    (x,) = promote_dtypes_inexact(x)
    largest = max_beside_nan(x, axes, where=mask, initial=-np.inf, keepdims=True)
    exponents = x if mask is None else where(mask, x, -np.inf)
    powers = exp(exponents - subtrahend(largest))
    out = powers / sum(powers, axes, where=mask, keepdims=True)
    return out if mask is None else where(mask, out, 0)


@composite
def _stepwise_softmax(x: Any, *masks: Any, axes: Any) -> Any:
    return _normalized(x, masks[0] if masks else None, axes, stop_gradient)


def _softmax_fun(x: Any, axis: Any, where: Any) -> Any:
    return _normalized(x, where, axis, lambda largest: largest)


# The rule keeps one residual, the output, where that of the steps keeps three.
_softmax_fun.__name__ = "_softmax"
_softmax = custom_jvp(_softmax_fun, nondiff_argnums=(1,))


@_softmax.defjvp
def _softmax_jvp(axis: Any, primals: Any, tangents: Any) -> tuple[Any, Any]:
    (x, mask), (t, _) = primals, tangents
    y = _softmax(x, axis, mask)
    return y, y * (t - sum(y * t, axis, where=mask, keepdims=True))


@jit(static_argnames=("axis",))
def log_softmax(x: ArrayLike, axis: Any = -1, where: ArrayLike | None = None) -> Array:
    """Logarithm of `softmax`, accurate also where that is tiny or nearly 1.

    Args:
      x: an array.
      axis: the axis or axes along which the exponentials of the result add up to 1; None for all.
      where: which elements take part, broadcast against `x`; the result for others is -inf.

    Returns:
      An array of the same shape and dtype, integers made floating.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.log_softmax(jnp.array([0.0, 1000.0]))
    Array([-1000.,     0.], dtype=float32)
    """
    (x,) = promote_dtypes_inexact(as_array("log_softmax", x))
    largest = max_beside_nan(x, axis, where=where, initial=-np.inf, keepdims=True)
    exponents = x if where is None else _choose(where, x, -np.inf)
    shifted = exponents - stop_gradient(largest)
    out = shifted - log(sum(exp(shifted), axis, where=where, keepdims=True))
    return out if where is None else _choose(where, out, -np.inf)


@jit(static_argnames=("axis", "keepdims"))
def logmeanexp(
    x: ArrayLike, axis: Any = None, where: ArrayLike | None = None, keepdims: bool = False
) -> Array:
    """The logarithm of the mean of exponentials, computed so that none of them overflows.

    Args:
      x: an array.
      axis: the axis or axes to average over; by default all.
      where: which elements take part, broadcast against `x`.
      keepdims: whether the axes stay, with size 1.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.logmeanexp(jnp.array([1000.0, 1000.0]))
    Array(1000., dtype=float32)
    """
    x = as_array("logmeanexp", x)
    total = logsumexp(x, axis, keepdims=keepdims, where=where)
    taken = True if where is None else where
    count = sum(x * 0 + 1, axis, dtype=total.dtype, keepdims=keepdims, where=taken)
    return total - log(count)


@jit(static_argnames=("axis", "algorithm"))
def standardize(
    x: ArrayLike,
    axis: Any = -1,
    mean: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    epsilon: ArrayLike = 1e-5,
    where: ArrayLike | None = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """Subtract the mean, and divide by the standard deviation.

    Args:
      x: an array.
      axis: the axis or axes over which mean and variance are taken; None for all.
      mean, variance: those to use, if they are known.
      epsilon: what is added to the variance, that it may not be 0.
      where: which elements count for the mean and the variance.
      algorithm: how the variance is found: "fast", from the mean of the squares, which loses digits
        where the mean is large beside the deviation; or "stable", from squared deviations.

    Returns:
      An array of the same shape.

    Raises:
      ValueError: there is no such algorithm.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.standardize(jnp.array([1.0, 3.0]), epsilon=0.0)
    Array([-1.,  1.], dtype=float32)
    """
    for given in (x, mean, variance, where):
        if given is not None:
            operand("standardize", given)
    if algorithm not in ("fast", "stable"):
        raise ValueError(errors.unknown_algorithm(algorithm))
    if mean is None:
        mean = _mean(x, axis, keepdims=True, where=where)
    if variance is None and algorithm == "stable":
        variance = _mean(square(x - mean), axis, keepdims=True, where=where)
    elif variance is None:
        # Rounding may make the difference negative.
        variance = clip(_mean(square(x), axis, keepdims=True, where=where) - square(mean), 0)
    return (x - mean) * rsqrt(variance + epsilon)


# Inside `standardize`.
_mean = mean

# ---------------------------------------------------------------- classes


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: Any = -1) -> Array:
    """For each index a vector that is 1 at the index and 0 elsewhere.

    Args:
      x: an array of integers. An index that is negative or too large gives a vector of zeros.
      num_classes: the size of the vectors.
      dtype: of the result; by default that of Python's floats.
      axis: where the vectors' axis stands in the result; or the name of a mapped axis, each
        position of which gets its element of the vectors.

    Returns:
      An array of the shape of `x`, with one more axis.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.one_hot(jnp.array([0, 2, -1]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 0., 0.]], dtype=float32)
    """
    if isinstance(num_classes, Tracer) and num_classes.concrete_value() is None:
        aval, origin = num_classes.aval, num_classes.origin()
        raise ConcretizationTypeError(errors.traced_num_classes(aval, origin and f" made {origin}"))
    x = asarray(x)
    if not dtypes.isdtype(x.dtype, "integral"):
        warn(errors.one_hot_floats(x.dtype), DeprecationWarning)
    dtype = dtypes.default_float_dtype() if dtype is None else dtype
    return _one_hot(x, size_of(num_classes), dtype=dtype, axis=axis)


@jit(static_argnames=("num_classes", "dtype", "axis"))
def _one_hot(x: Any, num_classes: int, *, dtype: Any, axis: Any) -> Any:
    try:
        dim = canonicalize_axis(axis, x.ndim + 1)
    except TypeError:  # the name of an axis
        if num_classes != axis_size(axis):
            raise ValueError(errors.one_hot_axis_size(axis, num_classes, axis_size(axis))) from None
        return (x == axis_index(axis)).astype(dtype)
    shape = [1] * x.ndim
    shape.insert(dim, num_classes)
    classes = broadcasted_iota(x.dtype, shape, dim)
    return (expand_dims(x, dim) == classes).astype(dtype)
