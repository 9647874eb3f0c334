"""Initial weights of layers: functions of a key, a shape and a dtype."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..base import dtypes
from ..base import nn_errors as errors
from ..base.shapes import canonicalize_shape
from ..core.array import Array, ArrayLike
from ..numpy import creation
from ..numpy.exponential import exp, log, sqrt
from ..numpy.shaping import moveaxis, reshape
from ..random import matrices
from ..random import normal as normals
from ..random import uniform as uniforms
from ..random.keys import split

Axes = int | Sequence[int]


@runtime_checkable
class Initializer(Protocol):
    """What the functions of `nn.initializers` return: a function that draws initial weights.

    >>> from covector import nn
    >>> isinstance(nn.initializers.glorot_normal(), nn.initializers.Initializer)
    True
    """

    def __call__(self, key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Array:
        """Weights of a shape.

        Args:
          key: a random key.
          shape: the shape.
          dtype: the dtype; by default the one given when the initializer was made, or else that of
            Python's floats.
          out_sharding: the device or sharding to put them on.
        """
        raise NotImplementedError


# ---------------------------------------------------------------- constants


def zeros(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Array:
    """Weights that are 0; the key is not used.

    >>> from covector import nn, random
    >>> nn.initializers.zeros(random.key(0), (2,))
    Array([0., 0.], dtype=float32)
    """
    return creation.zeros(shape, _or_float(dtype), out_sharding=out_sharding)


def ones(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Array:
    """Weights that are 1; the key is not used.

    >>> from covector import nn, random
    >>> nn.initializers.ones(random.key(0), (2,))
    Array([1., 1.], dtype=float32)
    """
    return creation.ones(shape, _or_float(dtype), out_sharding=out_sharding)


def constant(value: ArrayLike, dtype: Any = None) -> Initializer:
    """An initializer of weights that are a value.

    Args:
      value: the value, broadcast to the shape that is asked for.
      dtype: the dtype of the weights, unless another is asked for.

    >>> from covector import nn, random
    >>> nn.initializers.constant(-7)(random.key(0), (2,))
    Array([-7., -7.], dtype=float32)
    """

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Array:
        return creation.full(shape, value, _or_float(dtype), device=out_sharding)

    return init


def _or_float(dtype: Any) -> Any:
    return dtypes.default_float_dtype() if dtype is None else dtype


# ---------------------------------------------------------------- one distribution for all shapes


def _scaled(draw: Callable[..., Any], scale: Any, dtype: Any) -> Initializer:
    """An initializer that draws weights by `draw(key, shape, dtype, ...)` and multiplies them."""

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Array:
        dtype = _or_float(dtype)
        return draw(key, shape, dtype, out_sharding=out_sharding) * creation.array(scale, dtype)

    return init


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """An initializer of weights that are equally likely to be anywhere from 0 to a bound.

    Args:
      scale: the bound.
      dtype: the dtype of the weights, unless another is asked for; real.

    >>> from covector import nn, random
    >>> weights = nn.initializers.uniform(2.0)(random.key(0), (100,))
    >>> bool((weights >= 0).all() and (weights < 2).all())
    True
    """
    return _scaled(uniforms.uniform, scale, dtype)


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """An initializer of normal weights of mean 0.

    Args:
      stddev: the standard deviation.
      dtype: the dtype of the weights, unless another is asked for; real or complex.

    >>> from covector import nn, random
    >>> weights = nn.initializers.normal(3.0)(random.key(0), (10_000,))
    >>> bool(abs(weights.std() - 3) < 0.1)
    True
    """
    return _scaled(normals.normal, stddev, dtype)


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """An initializer of normal weights, given that they lie between two bounds.

    Args:
      stddev: the standard deviation of the distribution before it is truncated.
      dtype: the dtype of the weights, unless another is asked for; real.
      lower, upper: the bounds, in units of `stddev`.

    >>> from covector import nn, random
    >>> weights = nn.initializers.truncated_normal(3.0)(random.key(0), (100,))
    >>> bool((abs(weights) < 6).all())
    True
    """

    def draw(key: Any, shape: Any, dtype: Any, out_sharding: Any) -> Array:
        bounds = lower, upper
        return normals.truncated_normal(key, *bounds, shape, dtype, out_sharding=out_sharding)

    return _scaled(draw, stddev, dtype)


# ---------------------------------------------------------------- by numbers of inputs and outputs


MODES: dict[str, Callable[[float, float], float]] = {
    "fan_in": lambda fan_in, fan_out: fan_in,
    "fan_out": lambda fan_in, fan_out: fan_out,
    "fan_avg": lambda fan_in, fan_out: (fan_in + fan_out) / 2,
    "fan_geo_avg": lambda fan_in, fan_out: (fan_in * fan_out) ** 0.5,
}

# Standard deviation of the standard normal distribution truncated to [-2, 2]: its variance is
# 1 - 2 * 2 p(2) / (P(2) - P(-2)), with density p and distribution function P.
_TRUNCATED_STDDEV = 0.87962566103423978
# For the complex one truncated to the modulus 2. (The squared modulus u has the density e^-u on
# [0, 4], hence the mean 1 - 4 e^-4 / (1 - e^-4), whose root is 0.96196.  This is JAX's number, kept
# so that weights are the same.)
_COMPLEX_TRUNCATED_STDDEV = 0.95311164380491208


def _size(shape: Sequence[int], axes: Axes) -> int:
    return shape[axes] if isinstance(axes, int) else math.prod([shape[i] for i in axes])


def _fans(shape: Sequence[int], in_axis: Axes, out_axis: Axes, batch_axis: Axes) -> Any:
    """How many inputs each output depends on, and how many outputs each input has an effect on.

    Axes that are named nowhere are those of a convolution's window.
    """
    if isinstance(in_axis, int) and in_axis == -2 and len(shape) <= 1:
        raise ValueError(errors.fans_of_rank(len(shape)))
    inputs, outputs = _size(shape, in_axis), _size(shape, out_axis)
    window = math.prod(shape) / inputs / outputs / _size(shape, batch_axis)
    return inputs * window, outputs * window


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:
    """An initializer of weights whose variance is inverse to the number of inputs or outputs.

    That keeps the variance of activations, or of gradients, from layer to layer.

    Args:
      scale: the variance for one input or output.
      mode: what to divide it by: "fan_in", the number of inputs; "fan_out", that of outputs;
        "fan_avg", their mean; "fan_geo_avg", their geometric mean.
      distribution: "normal", "truncated_normal" (to 2 standard deviations) or "uniform", all of
        mean 0. Complex weights are in a disk.
      in_axis, out_axis: the axis or axes of inputs and of outputs in the shape of the weights.
      batch_axis: axes that count for neither. All others are those of a convolution's window.
      dtype: the dtype of the weights, unless another is asked for; real or complex.

    Returns:
      An initializer. It raises ValueError if there are no such options, or the shape has no such
      axes.

    >>> from covector import nn, random
    >>> init = nn.initializers.variance_scaling(2.0, "fan_in", "normal")
    >>> weights = init(random.key(0), (50, 200))
    >>> bool(abs(weights.var() - 2 / 50) < 0.005)
    True
    """

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Array:
        shape = canonicalize_shape(shape, "variance_scaling")
        dtype = _or_float(dtype)
        fans = _fans(shape, in_axis, out_axis, batch_axis)
        if mode not in MODES:
            raise ValueError(errors.scaling_option("mode", mode, list(MODES)))
        if distribution not in DISTRIBUTIONS:
            raise ValueError(
                errors.scaling_option("distribution", distribution, list(DISTRIBUTIONS))
            )
        variance = creation.array(scale / MODES[mode](*fans), dtype)
        of_complex, of_real = DISTRIBUTIONS[distribution]
        draw = of_real if dtypes.issubdtype(dtype, np.floating) else of_complex
        return draw(key, shape, dtype, variance, out_sharding)

    return init


def _normal(key: Any, shape: Any, dtype: Any, variance: Any, out_sharding: Any) -> Any:
    return normals.normal(key, shape, dtype, out_sharding=out_sharding) * sqrt(variance)


def _truncated(key: Any, shape: Any, dtype: Any, variance: Any, out_sharding: Any) -> Any:
    weights = normals.truncated_normal(key, -2, 2, shape, dtype, out_sharding=out_sharding)
    return weights * (sqrt(variance) / creation.array(_TRUNCATED_STDDEV, dtype))


def _uniform(key: Any, shape: Any, dtype: Any, variance: Any, out_sharding: Any) -> Any:
    # The variance of what is uniform on [-r, r] is r^2 / 3.
    weights = uniforms.uniform(key, shape, dtype, -1, out_sharding=out_sharding)
    return weights * sqrt(3 * variance)


def _disk(key: Any, shape: Any, dtype: Any, variance: Any, _: Any) -> Any:
    """Complex weights, equally likely to be anywhere in a disk."""
    # In the disk of radius r the mean of the squared modulus, which is uniform, is r^2 / 2.
    return _at_any_angle(key, shape, dtype, lambda u: sqrt(2 * u)) * sqrt(variance)


def _truncated_disk(key: Any, shape: Any, dtype: Any, variance: Any, _: Any) -> Any:
    """Complex normal weights, given that their modulus is at most 2."""
    dtype = np.dtype(dtype)

    def modulus(u: Any) -> Any:
        # The distribution function of the squared modulus r^2 is 1 - e^(-r^2), up to a factor.
        below = 1 - exp(creation.array(-4, dtype))
        return sqrt(-log(1 - below * u.astype(dtype)))

    weights = _at_any_angle(key, shape, dtype, modulus)
    return weights * (sqrt(variance) / creation.array(_COMPLEX_TRUNCATED_STDDEV, dtype))


def _at_any_angle(key: Any, shape: Any, dtype: Any, modulus: Callable[[Any], Any]) -> Any:
    """Complex numbers at uniform angles; their modulus is a function of uniform numbers."""
    of_modulus, of_angle = split(key)
    part = np.array(0, dtype).real.dtype
    dtype = dtypes.to_complex_dtype(part)
    moduli = modulus(uniforms.uniform(of_modulus, shape, part)).astype(dtype)
    angles = 2 * np.pi * uniforms.uniform(of_angle, shape, part).astype(dtype)
    return moduli * exp(1j * angles)


# For each distribution how complex weights are drawn, and how real ones are.
DISTRIBUTIONS = {
    "truncated_normal": (_truncated_disk, _truncated),
    "normal": (_normal, _normal),
    "uniform": (_disk, _uniform),
}


def glorot_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Glorot's initializer, also called Xavier's, uniform: variance 2 / (inputs + outputs).

    Args:
      in_axis, out_axis, batch_axis, dtype: as for `variance_scaling`.

    >>> from covector import nn, random
    >>> weights = nn.initializers.glorot_uniform()(random.key(0), (50, 100))
    >>> bool((abs(weights) < (6 / 150) ** 0.5).all())
    True
    """
    return variance_scaling(1.0, "fan_avg", "uniform", in_axis, out_axis, batch_axis, dtype)


def glorot_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Glorot's initializer, also called Xavier's, normal: variance 2 / (inputs + outputs).

    Args:
      in_axis, out_axis, batch_axis, dtype: as for `variance_scaling`.

    >>> from covector import nn, random
    >>> weights = nn.initializers.glorot_normal()(random.key(0), (50, 150))
    >>> bool(abs(weights.std() - 0.1) < 0.01)
    True
    """
    return variance_scaling(
        1.0, "fan_avg", "truncated_normal", in_axis, out_axis, batch_axis, dtype
    )


xavier_uniform, xavier_normal = glorot_uniform, glorot_normal


def lecun_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """LeCun's initializer, uniform: variance 1 / inputs.

    Args:
      in_axis, out_axis, batch_axis, dtype: as for `variance_scaling`.

    >>> from covector import nn, random
    >>> weights = nn.initializers.lecun_uniform()(random.key(0), (75, 100))
    >>> bool((abs(weights) < 0.2).all())
    True
    """
    return variance_scaling(1.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def lecun_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """LeCun's initializer, normal: variance 1 / inputs.

    Args:
      in_axis, out_axis, batch_axis, dtype: as for `variance_scaling`.

    >>> from covector import nn, random
    >>> weights = nn.initializers.lecun_normal()(random.key(0), (100, 100))
    >>> bool(abs(weights.std() - 0.1) < 0.01)
    True
    """
    return variance_scaling(1.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


def he_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """He's initializer, also called Kaiming's, uniform: variance 2 / inputs.

    Args:
      in_axis, out_axis, batch_axis, dtype: as for `variance_scaling`.

    >>> from covector import nn, random
    >>> weights = nn.initializers.he_uniform()(random.key(0), (150, 100))
    >>> bool((abs(weights) < 0.2).all())
    True
    """
    return variance_scaling(2.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def he_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """He's initializer, also called Kaiming's, normal: variance 2 / inputs.

    Args:
      in_axis, out_axis, batch_axis, dtype: as for `variance_scaling`.

    >>> from covector import nn, random
    >>> weights = nn.initializers.he_normal()(random.key(0), (200, 100))
    >>> bool(abs(weights.std() - 0.1) < 0.01)
    True
    """
    return variance_scaling(2.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


kaiming_uniform, kaiming_normal = he_uniform, he_normal


# ---------------------------------------------------------------- orthogonal


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """An initializer of orthogonal matrices, equally likely to be any.

    Where there are more rows than columns the columns are orthonormal, else the rows are.

    Args:
      scale: what to multiply the matrix by.
      column_axis: the axis along which columns are counted; all others together count rows.
      dtype: the dtype of the weights, unless another is asked for.

    Returns:
      An initializer. It raises ValueError if the shape has less than 2 dimensions.

    >>> import covector.numpy as jnp
    >>> from covector import nn, random
    >>> Q = nn.initializers.orthogonal()(random.key(0), (5, 2))
    >>> bool(jnp.allclose(Q.T @ Q, jnp.eye(2), atol=1e-6))
    True
    """

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Array:
        if out_sharding is not None:
            raise NotImplementedError(errors.no_sharding("orthogonal"))
        dtype = _or_float(dtype)
        if len(shape) < 2:
            raise ValueError(errors.orthogonal_rank(shape))
        if 0 in shape:
            return creation.zeros(shape, dtype)
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        Q = matrices.orthogonal(key, rows, (), dtype, columns)
        rest = list(shape)
        del rest[column_axis]
        Q = moveaxis(reshape(Q, (*rest, columns)), -1, column_axis)
        return creation.array(scale, dtype) * Q

    return init


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """An initializer of windows of convolutions: an orthogonal matrix in the middle, 0 around it.

    Args:
      scale, column_axis, dtype: as for `orthogonal`.

    Returns:
      An initializer for shapes of 3, 4 or 5 dimensions, the last two of which are those of the
      matrix, with no more inputs than outputs. It raises ValueError for others.

    >>> from covector import nn, random
    >>> weights = nn.initializers.delta_orthogonal()(random.key(0), (3, 2, 2))
    >>> weights.any(axis=(1, 2)).tolist()
    [False, True, False]
    """

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Array:
        if out_sharding is not None:
            raise NotImplementedError(errors.no_sharding("delta_orthogonal"))
        dtype = _or_float(dtype)
        if len(shape) not in (3, 4, 5):
            raise ValueError(errors.delta_orthogonal_rank(shape))
        if shape[-1] < shape[-2]:
            raise ValueError(errors.delta_orthogonal_fans(shape))
        matrix = orthogonal(scale, column_axis, dtype)(key, shape[-2:])
        middle = tuple([(size - 1) // 2 for size in shape[:-2]])
        return creation.zeros(shape, dtype).at[middle].set(matrix)

    return init
