"""Samplers that turn uniform numbers into others by the inverse of a distribution function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import config, random_errors
from ..base.dtypes import finfo
from ..control.random_keys import random_bits
from ..core.array import Array
from ..numpy.arithmetic import power
from ..numpy.exponential import log, log1p
from ..numpy.selection import where
from ..ops.arithmetic import div, mul, neg, sign, sub
from ..ops.bitwise import bitwise_and, bitwise_not, bitwise_or, clz, shift_left, shift_right_logical
from ..ops.comparison import le
from ..ops.complex import abs as magnitude
from ..ops.conversion import bitcast_convert_type, convert
from ..ops.exponential import exp
from ..ops.exponential import log as log_op
from ..ops.exponential import log1p as log1p_op
from ..ops.linear import constant_like
from ..ops.powers import integer_pow, sqrt
from ..ops.select import select
from ..ops.shaping import broadcast_to
from ..ops.trigonometric import tan
from .arguments import (
    float_dtype,
    parametrized,
    placed,
    sample_shape,
    single_key,
    standard,
)
from .keys import new_keys
from .normal import normal
from .program import inlined_program, program
from .uniform import _uniform, uniform

# ---------------------------------------------------------------- without parameters


def exponential(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Samples with the density exp(-x) for x >= 0.

    Args:
      key: a random key.
      shape: the shape of the result.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> bool((random.exponential(random.key(0), (100,)) >= 0).all())
    True
    """
    return standard("exponential", _exponential, key, shape, dtype, out_sharding)


@program
def _exponential(key: Any, *, shape: Any, dtype: Any) -> Any:
    # 1 - u, which can be 1 but not 0, where u can be 0 but not 1.
    return neg(log1p_op(neg(uniform(key, shape, dtype))))


def cauchy(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Samples with a density proportional to 1 / (1 + x**2).

    Args:
      key: a random key.
      shape: the shape of the result.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> random.cauchy(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return standard("cauchy", _cauchy, key, shape, dtype, out_sharding)


@program
def _cauchy(key: Any, *, shape: Any, dtype: Any) -> Any:
    u = uniform(key, shape, dtype, minval=finfo(dtype).eps, maxval=1.0)
    return tan(mul(constant_like(u, np.pi), sub(u, constant_like(u, 0.5))))


def laplace(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Samples with the density exp(-|x|) / 2.

    Args:
      key: a random key.
      shape: the shape of the result.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> random.laplace(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return standard("laplace", _laplace, key, shape, dtype, out_sharding)


@program
def _laplace(key: Any, *, shape: Any, dtype: Any) -> Any:
    u = uniform(key, shape, dtype, minval=-1.0 + finfo(dtype).epsneg, maxval=1.0)
    return mul(sign(u), log1p_op(neg(magnitude(u))))


def logistic(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Samples whose distribution function is the logistic one, 1 / (1 + exp(-x)).

    Args:
      key: a random key.
      shape: the shape of the result.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> random.logistic(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return standard("logistic", _logistic, key, shape, dtype, out_sharding)


@program
def _logistic(key: Any, *, shape: Any, dtype: Any) -> Any:
    u = uniform(key, shape, dtype, minval=finfo(dtype).tiny, maxval=1.0)
    return sub(log_op(u), log1p_op(neg(u)))


# ---------------------------------------------------------------- Gumbel

GUMBEL_MODES = ("highest", "high", "low")


def gumbel(
    key: Any, shape: Any = (), dtype: Any = None, mode: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples with the distribution function exp(-exp(-x)).

    Adding them to logits and taking the largest sum draws from the categories, as `categorical`
    does.

    Args:
      key: a random key.
      shape: the shape of the result.
      dtype: a float dtype; by default that of Python's floats.
      mode: "low"; or "high" for twice the random bits, with which large samples have the right
        frequency too; or "highest" for twice the bits in a more exact way, in float32. The
        default is the flag `jax_high_dynamic_range_gumbel`'s.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    Raises:
      ValueError: there is no such mode, or the dtype is not a float one.

    >>> from covector import random
    >>> random.gumbel(random.key(0), (2, 3)).shape
    (2, 3)
    """
    key = single_key("gumbel", key)
    dtype = float_dtype("gumbel", dtype)
    shape = sample_shape("gumbel", shape)
    if mode is None:
        mode = "high" if config.high_dynamic_range_gumbel.value else "low"
    if mode not in GUMBEL_MODES:
        raise ValueError(random_errors.unknown_mode("gumbel", mode, GUMBEL_MODES))
    return placed(_gumbel(key, shape=shape, dtype=dtype, mode=mode), out_sharding)


@program
def _gumbel(key: Any, *, shape: Any, dtype: Any, mode: str) -> Any:
    """-log(-log(u)), where more bits make more of the u that are close to 1."""
    if mode == "low":
        return -log(-log(_uniform(key, finfo(dtype).tiny, 1.0, shape=shape, dtype=dtype)))
    if mode == "highest" and dtype == np.float32:
        return _gumbel_of_64_bits(key, shape)
    high, low = _uniform(key, 0.0, 1.0, shape=(2, *shape), dtype=dtype)
    u = where(high >= 0.5, high, high + 2.0 ** -finfo(dtype).nmant * low + finfo(dtype).tiny)
    return -log(-log1p(-u))


def _gumbel_of_64_bits(key: Any, shape: tuple[int, ...]) -> Any:
    """From a 64-bit number k: u = k / 2^64, or 1 - u where that is the smaller one.

    Each has the full precision of a float, however small it is.
    """
    words = random_bits(key, 32, (2, *shape))
    high, low = words
    negated_high, negated_low = bitwise_not(words)
    # The negative of k: its bits inverted, plus 1, with a carry into the high word.
    carries = convert(negated_low == np.uint32(0xFFFFFFFF), np.dtype(np.uint32))
    below_half = high < np.uint32(1 << 31)
    u = _float_of_64_bits(
        where(below_half, high, negated_high + carries),
        where(below_half, low, negated_low + np.uint32(1)),
    )
    return where(below_half, -log(-log1p(-u)), -log(-log(u)))


def _float_of_64_bits(high: Any, low: Any) -> Any:
    """The float32 k / 2^64 of a 64-bit number k, rounded down, put together from its bits."""
    info = finfo(np.float32)
    zeros_high, zeros_low = clz(high), clz(low)
    empty = zeros_high == 32
    shifted = where(
        empty, shift_left(low, zeros_low), shift_right_logical(low, info.bits - zeros_high)
    )
    fraction = bitwise_or(shift_left(high, zeros_high), shifted)
    fraction = shift_right_logical(fraction, _word(info.bits - info.nmant - 1))
    fraction = bitwise_and(fraction, _word((1 << info.nmant) - 1))
    zeros = where(empty, 32 + zeros_low, zeros_high)
    exponent = shift_left(-int(info.minexp) - zeros, _word(info.nmant))
    exponent = bitwise_and(exponent, _word((1 << (info.bits - 2)) - (1 << (info.nmant - 1))))
    return bitcast_convert_type(bitwise_or(exponent, fraction), np.dtype(np.float32))


def _word(value: int) -> np.ndarray:
    return np.array(value, np.uint32)


# ---------------------------------------------------------------- with parameters


def pareto(
    key: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples with the density b / x**(b + 1) for x >= 1.

    Args:
      key: a random key.
      b: the exponent, positive.
      shape: the shape of the result, to which `b` broadcasts; by default that of `b`.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> bool((random.pareto(random.key(0), 2.0, (100,)) >= 1).all())
    True
    """
    return parametrized("pareto", _pareto, key, (b,), shape, dtype, out_sharding)


@program
def _pareto(key: Any, b: Any, *, shape: Any, dtype: Any) -> Any:
    b = convert(b, dtype)
    return exp(exponential(key, shape, dtype) / b)


def rayleigh(
    key: Any, scale: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples with a density proportional to x exp(-x**2 / (2 scale**2)) for x >= 0.

    Args:
      key: a random key.
      scale: the scale, positive.
      shape: the shape of the result, to which `scale` broadcasts; by default that of `scale`.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> bool((random.rayleigh(random.key(0), 2.0, (100,)) >= 0).all())
    True
    """
    return parametrized("rayleigh", _rayleigh, key, (scale,), shape, dtype, out_sharding)


@program
def _rayleigh(key: Any, scale: Any, *, shape: Any, dtype: Any) -> Any:
    u = uniform(key, shape, dtype)
    scale = broadcast_to(convert(scale, dtype), shape, "random.rayleigh")
    return mul(scale, sqrt(mul(log_op(u), constant_like(scale, -2))))


def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Samples with the distribution function 1 - exp(-(x / scale)**concentration) for x >= 0.

    Args:
      key: a random key.
      scale, concentration: the parameters, positive.
      shape: the shape of the random numbers; the parameters broadcast against them.
      dtype: a float dtype; by default that of Python's floats.

    Returns:
      An array.

    >>> from covector import random
    >>> bool((random.weibull_min(random.key(0), 1.0, 2.0, (100,)) >= 0).all())
    True
    """
    key = single_key("weibull_min", key)
    dtype = float_dtype("weibull_min", dtype)
    shape = sample_shape("weibull_min", shape)
    return _weibull_min(key, scale, concentration, shape=shape, dtype=dtype)


@program
def _weibull_min(key: Any, scale: Any, concentration: Any, *, shape: Any, dtype: Any) -> Any:
    u = uniform(key, shape, dtype, minval=0, maxval=1)
    return power(-log1p(-u), 1.0 / concentration) * scale


def triangular(
    key: Any,
    left: Any,
    mode: Any,
    right: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Samples whose density rises in a line from `left` to `mode`, and falls to `right`.

    Args:
      key: a random key.
      left, mode, right: where the density begins, is largest, and ends.
      shape: the shape of the result, to which the parameters broadcast; by default their common
        shape.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> x = random.triangular(random.key(0), -1.0, 0.0, 2.0, (100,))
    >>> bool((x >= -1).all() and (x <= 2).all())
    True
    """
    parameters = (left, mode, right)
    return parametrized("triangular", _triangular, key, parameters, shape, dtype, out_sharding)


@inlined_program
def _triangular(key: Any, left: Any, mode: Any, right: Any, *, shape: Any, dtype: Any) -> Any:
    left, right, mode = [
        broadcast_to(convert(x, dtype), shape, "random.triangular") for x in (left, right, mode)
    ]
    share_of_left = (mode - left) / (right - left)
    u = uniform(key, shape, dtype)
    on_the_left = left + sqrt(u * (right - left) * (mode - left))
    on_the_right = right - sqrt((1 - u) * (right - left) * (right - mode))
    return select(u < share_of_left, on_the_left, on_the_right)


def wald(
    key: Any, mean: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples of the Wald, or inverse Gaussian, distribution of shape parameter 1.

    Args:
      key: a random key.
      mean: the mean, positive.
      shape: the shape of the result, to which `mean` broadcasts; by default that of `mean`.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> bool((random.wald(random.key(0), 1.0, (100,)) > 0).all())
    True
    """
    return parametrized("wald", _wald, key, (mean,), shape, dtype, out_sharding)


@program
def _wald(key: Any, mean: Any, *, shape: Any, dtype: Any) -> Any:
    """The roots of a quadratic equation in the square of a normal number, one of them by chance.

    Source: J. Michael, W. Schucany, R. Haas, "Generating random variates using transformations
    with multiple roots", The American Statistician 30 (1976).
    """
    key_normal, key_uniform = new_keys(key)
    mean = broadcast_to(convert(mean, dtype), shape, "random.wald")
    y = integer_pow(normal(key_normal, shape, dtype), 2)
    u = uniform(key_uniform, shape, dtype)
    square = integer_pow(mean, 2)
    root = sqrt(4 * mean * y + square * integer_pow(y, 2))
    x = mean + square * y / 2 - mean / 2 * root
    return select(le(u, mean / (mean + x)), x, div(square, x))
