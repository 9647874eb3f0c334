"""Samplers made of normal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..core.array import Array
from ..numpy.selection import clip
from ..ops.arithmetic import mul
from ..ops.conversion import convert
from ..ops.exponential import exp
from ..ops.identities import stop_gradient
from ..ops.rounding import nextafter
from ..ops.shaping import broadcast_shapes
from ..ops.special import erf, erf_inv
from .arguments import (
    broadcast_shape,
    check_safe_to_cast,
    check_shape,
    float_dtype,
    inexact_dtype,
    placed,
    sample_shape,
    shape_or_none,
    single_key,
)
from .keys import new_keys
from .program import inlined_program, program
from .uniform import uniform

ONE = np.float32(1)

# ---------------------------------------------------------------- one dimension


def normal(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Samples of the standard normal distribution: of mean 0 and variance 1.

    Args:
      key: a random key.
      shape: the shape of the result.
      dtype: a float dtype, by default that of Python's floats; or a complex one, whose parts are
        then normal of variance 1/2.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    Raises:
      ValueError: the dtype is neither.

    >>> from covector import random
    >>> x = random.normal(random.key(0), (10_000,))
    >>> bool(abs(x.mean()) < 0.05 and abs(x.std() - 1) < 0.05)
    True
    """
    key = single_key("normal", key)
    shape = sample_shape("normal", shape)
    dtype = inexact_dtype("normal", dtype)
    return placed(_normal(key, shape=shape, dtype=dtype), out_sharding)


@program
def _normal(key: Any, *, shape: Any, dtype: Any) -> Any:
    if not dtypes.issubdtype(dtype, np.complexfloating):
        return _normal_real(key, shape=shape, dtype=dtype)
    part = np.array(0, dtype).real.dtype
    real, imag = [_normal_real(one, shape=shape, dtype=part).astype(dtype) for one in new_keys(key)]
    return (real + 1j * imag) / np.array(np.sqrt(2), dtype)


@program
def _normal_real(key: Any, *, shape: Any, dtype: Any) -> Any:
    low = np.nextafter(np.array(-1, dtype), np.array(0, dtype), dtype=dtype)
    u = uniform(key, shape, dtype, low, np.array(1, dtype))
    return mul(np.array(np.sqrt(2), dtype), erf_inv(u))


def truncated_normal(
    key: Any,
    lower: Any,
    upper: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Samples of the standard normal distribution, given that they lie between two bounds.

    Args:
      key: a random key.
      lower, upper: the bounds.
      shape: the shape of the result, to which the bounds broadcast; by default their common shape.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    Raises:
      ValueError: the dtype is not a float one, or the shapes do not fit.

    >>> from covector import random
    >>> x = random.truncated_normal(random.key(0), -1.0, 2.0, (100,))
    >>> bool((x > -1).all() and (x < 2).all())
    True
    """
    shape = shape_or_none("truncated_normal", shape)
    key = single_key("truncated_normal", key)
    dtype = float_dtype("truncated_normal", dtype)
    return placed(_truncated_normal(key, lower, upper, shape=shape, dtype=dtype), out_sharding)


@program
def _truncated_normal(key: Any, lower: Any, upper: Any, *, shape: Any, dtype: Any) -> Any:
    if shape is None:
        shape = broadcast_shapes(np.shape(lower), np.shape(upper))
    else:
        check_shape("truncated_normal", shape, np.shape(lower), np.shape(upper))
    sqrt2 = np.array(np.sqrt(2), dtype)
    lower, upper = convert(lower, dtype), convert(upper, dtype)
    u = uniform(key, shape, dtype, minval=erf(lower / sqrt2), maxval=erf(upper / sqrt2))
    # Rounding may have led out of the open interval.
    first = nextafter(stop_gradient(lower), np.array(np.inf, dtype))
    last = nextafter(stop_gradient(upper), np.array(-np.inf, dtype))
    return clip(sqrt2 * erf_inv(u), first, last)


def lognormal(
    key: Any,
    sigma: Any = ONE,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Samples whose logarithms are normal, of mean 0.

    Args:
      key: a random key.
      sigma: the standard deviation of the logarithms.
      shape: the shape of the result, to which `sigma` broadcasts; by default that of `sigma`.
      dtype: a float or complex dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> bool((random.lognormal(random.key(0), 0.5, (100,)) > 0).all())
    True
    """
    key = single_key("lognormal", key)
    dtype = inexact_dtype("lognormal", dtype)
    shape = broadcast_shape("lognormal", shape, sigma)
    check_safe_to_cast("lognormal", dtype, sigma)
    return placed(_lognormal(key, sigma, shape=shape, dtype=dtype), out_sharding)


@inlined_program
def _lognormal(key: Any, sigma: Any, *, shape: Any, dtype: Any) -> Any:
    sigma = convert(sigma, dtype)
    return exp(normal(key, shape, dtype) * sigma)
