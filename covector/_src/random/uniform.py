"""Bits, and the samplers that are little more: uniform numbers, integers, coins."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes, random_errors
from ..base.dtypes import finfo, iinfo
from ..control.random_keys import random_bits
from ..core.array import Array
from ..numpy.creation import asarray
from ..numpy.selection import clip
from ..ops.arithmetic import add, mul, sub
from ..ops.arithmetic import max as larger
from ..ops.bitwise import bitwise_and, bitwise_or, shift_right_logical
from ..ops.comparison import gt, le
from ..ops.conversion import bitcast_convert_type, convert
from ..ops.full import full_like
from ..ops.linear import constant_like
from ..ops.rounding import rem
from ..ops.select import select
from ..ops.shaping import broadcast_to_rank
from .arguments import (
    any_dtype,
    check_shape,
    float_dtype,
    placed,
    sample_shape,
    shape_or_none,
    single_key,
)
from .keys import new_keys
from .program import program

# ---------------------------------------------------------------- bits


def bits(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Random bits, as unsigned integers that are equally likely to be any number.

    Args:
      key: a random key.
      shape: the shape of the result.
      dtype: an unsigned dtype; by default uint32, or uint64 if `enable_x64` is on.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    Raises:
      ValueError: the dtype is not an unsigned one.

    >>> from covector import random
    >>> random.bits(random.key(0), (3,), "uint8").dtype
    dtype('uint8')
    """
    key = single_key("bits", key)
    dtype = dtypes.canonicalize_dtype("uint64") if dtype is None else any_dtype("bits", dtype, int)
    if not dtypes.issubdtype(dtype, np.unsignedinteger):
        raise ValueError(random_errors.dtype_kind("bits", "an unsigned int", dtype))
    shape = sample_shape("bits", shape)
    return placed(random_bits(key, 8 * dtype.itemsize, shape), out_sharding)


def unsigned(width: int) -> np.dtype:
    """The dtype of unsigned integers of so many bits."""
    return np.dtype(f"uint{width}")


# ---------------------------------------------------------------- floats


def uniform(
    key: Any,
    shape: Any = (),
    dtype: Any = None,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    *,
    out_sharding: Any = None,
) -> Array:
    """Floats that are equally likely to be anywhere between two bounds.

    Args:
      key: a random key.
      shape: the shape of the result.
      dtype: a float dtype; by default that of Python's floats.
      minval, maxval: the bounds, numbers or arrays that broadcast to `shape`. The lower bound may
        occur, the upper one may not, but for rounding.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    Raises:
      ValueError: the dtype is not a float one.

    >>> from covector import random
    >>> x = random.uniform(random.key(0), (1000,), minval=-1, maxval=1)
    >>> bool((x >= -1).all() and (x < 1).all())
    True
    """
    key = single_key("uniform", key)
    dtype = float_dtype("uniform", dtype)
    shape = sample_shape("uniform", shape)
    return placed(_uniform(key, minval, maxval, shape=shape, dtype=dtype), out_sharding)


@program
def _uniform(key: Any, minval: Any, maxval: Any, *, shape: Any, dtype: Any) -> Any:
    """Random bits as the fraction of a float between 1 and 2, brought between the bounds."""
    minval, maxval = convert(minval, dtype), convert(maxval, dtype)
    minval, maxval = broadcast_to_rank(minval, len(shape)), broadcast_to_rank(maxval, len(shape))
    width, fraction = finfo(dtype).bits, finfo(dtype).nmant
    if width not in (8, 16, 32, 64):
        raise TypeError(random_errors.float_width(dtype))
    drawn = 8 if fraction < 8 else width
    words = convert(random_bits(key, drawn, shape), unsigned(width))
    words = shift_right_logical(words, np.array(drawn - fraction, words.dtype))
    one = np.array(1, dtype)
    floats = bitcast_convert_type(bitwise_or(words, one.view(words.dtype)), dtype)
    return larger(minval, add(mul(sub(floats, one), sub(maxval, minval)), minval))


# ---------------------------------------------------------------- integers


def randint(
    key: Any,
    shape: Any,
    minval: Any,
    maxval: Any,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Integers that are equally likely to be any from `minval` up to, but not, `maxval`.

    Args:
      key: a random key.
      shape: the shape of the result.
      minval, maxval: integers, or arrays of them that broadcast to `shape`. Where the range is
        empty, the result is `minval`.
      dtype: an integer dtype; by default that of Python's integers.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype. If the size of the range is no power of 2, some integers
      are a little likelier than others, by one part in 2**32 times that size or less.

    Raises:
      TypeError: the dtype is not an integer one.

    >>> from covector import random
    >>> x = random.randint(random.key(0), (1000,), 1, 7)
    >>> int(x.min()), int(x.max())
    (1, 6)
    """
    key = single_key("randint", key)
    dtype = any_dtype("randint", dtype, int)
    shape = sample_shape("randint", shape)
    if not dtypes.issubdtype(dtype, np.integer):
        raise TypeError(random_errors.integer_dtype("randint", dtype))
    drawn = dtype
    if iinfo(dtype).bits < 32:
        drawn = np.dtype(np.int32)
        low, high = int(iinfo(dtype).min), int(iinfo(dtype).max)
        minval = asarray(minval).astype(drawn).clip(low, high)
        maxval = asarray(maxval).astype(drawn).clip(low, high + 1)
    out = _randint(key, minval, maxval, shape=shape, dtype=drawn)
    return placed(out.astype(dtype), out_sharding)


@program
def _randint(key: Any, minval: Any, maxval: Any, *, shape: Any, dtype: Any) -> Any:
    """The remainder of a number of twice the width, by the size of the range.

    With a = high bits, b = low bits, and N the size: (a 2^w + b) mod N is computed from
    2^w mod N = (2^(w/2) mod N)^2 mod N, in unsigned arithmetic of w bits.
    """
    check_shape("randint", shape, np.shape(minval), np.shape(maxval))
    minval, maxval = _as_integers(minval), _as_integers(maxval)
    largest = _clipped(asarray(np.array(iinfo(dtype).max, dtype)), maxval.dtype)
    beyond = gt(maxval, largest)
    minval, maxval = _clipped(minval, dtype), _clipped(maxval, dtype)
    minval, maxval = broadcast_to_rank(minval, len(shape)), broadcast_to_rank(maxval, len(shape))
    width = iinfo(dtype).bits

    keys = new_keys(key)
    higher, lower = [random_bits(one, width, shape) for one in keys]
    span = convert(sub(maxval, minval), unsigned(width))
    span = select(le(maxval, minval), full_like(span, 1), span)
    # The bound may be one past the largest integer of the dtype.  A span that wraps to 0 then
    # stands for all integers, and a remainder by 0 leaves its operand as it is.
    wider = bitwise_and(broadcast_to_rank(beyond, len(shape)), gt(maxval, minval))
    span = select(wider, add(span, constant_like(span, 1)), span)

    factor = rem(constant_like(span, 2 ** (width // 2)), span)
    factor = rem(mul(factor, factor), span)
    offset = add(mul(rem(higher, span), factor), rem(lower, span))
    return add(minval, convert(rem(offset, span), dtype))


def _as_integers(x: Any) -> Any:
    x = asarray(x)
    return x if dtypes.issubdtype(x.dtype, np.integer) else x.astype(int)


def _clipped(x: Any, dtype: Any) -> Any:
    """Integers in another dtype, those out of its range as the nearest ones."""
    low = max(iinfo(dtype).min, iinfo(x.dtype).min)
    high = min(iinfo(dtype).max, iinfo(x.dtype).max)
    return clip(x, constant_like(x, low), constant_like(x, high)).astype(dtype)


# ---------------------------------------------------------------- coins


def bernoulli(
    key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", *, out_sharding: Any = None
) -> Array:
    """Booleans that are true with probability `p`.

    Args:
      key: a random key.
      p: the probability, a float or an array of them.
      shape: the shape of the result, to which `p` broadcasts; by default that of `p`.
      mode: "low", or "high" for twice the random bits, which small probabilities need: in float32,
        those below 1e-7.
      out_sharding: the device or sharding to put the result on.

    Returns:
      A boolean array.

    Raises:
      TypeError: `p` is no float.
      ValueError: there is no such mode, or the shapes do not fit.

    >>> from covector import random
    >>> random.bernoulli(random.key(0), 1.0, (3,))
    Array([ True,  True,  True], dtype=bool)
    """
    shape = shape_or_none("bernoulli", shape)
    if mode not in ("high", "low"):
        raise ValueError(random_errors.unknown_mode("bernoulli", mode, ("high", "low")))
    key = single_key("bernoulli", key)
    dtype = dtypes.dtype_of(p)
    if not dtypes.issubdtype(dtype, np.floating):
        raise TypeError(random_errors.probability_dtype(dtype))
    return placed(_bernoulli(key, convert(p, dtype), shape=shape, mode=mode), out_sharding)


@program
def _bernoulli(key: Any, p: Any, *, shape: Any, mode: str) -> Any:
    if shape is None:
        shape = np.shape(p)
    else:
        check_shape("bernoulli", shape, np.shape(p))
    dtype = dtypes.dtype_of(p)
    if mode == "low":
        return uniform(key, shape, dtype) < p
    first, second = uniform(key, (2, *shape), dtype)
    return second * 2.0 ** -finfo(dtype).nmant < p - first


def rademacher(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Random signs: -1 or 1, with equal probability.

    Args:
      key: a random key.
      shape: the shape of the result.
      dtype: any dtype; by default that of Python's integers.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> (random.rademacher(random.key(0), (4,)) ** 2).tolist()
    [1, 1, 1, 1]
    """
    key = single_key("rademacher", key)
    dtype = any_dtype("rademacher", dtype, int)
    shape = sample_shape("rademacher", shape)
    return placed(_rademacher(key, shape=shape, dtype=dtype), out_sharding)


@program
def _rademacher(key: Any, *, shape: Any, dtype: Any) -> Any:
    coins = bernoulli(key, 0.5, shape).astype(dtype)
    return (2 * coins - 1).astype(dtype)
