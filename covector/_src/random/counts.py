"""Samplers of counts: Poisson, binomial, multinomial, geometric.

They draw until every element of the result is settled, by one of two methods: the waiting times
between events are added up where few events are expected, and candidates are proposed and accepted
by chance where many are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes, random_errors
from ..base.dtypes import finfo, iinfo
from ..control.cumulative import cumsum
from ..control.loops import while_loop
from ..control.scan import scan
from ..core.array import Array
from ..numpy.exponential import log, log1p, sqrt
from ..numpy.parts import absolute, ceil, floor, isinf
from ..numpy.promotion import operands, promote_dtypes_inexact
from ..numpy.selection import clip, where
from ..numpy.shaping import broadcast_to, moveaxis
from ..numpy.taking import take
from ..ops.conversion import convert
from ..ops.full import full
from ..ops.linear import constant_like
from ..ops.select import clamp, select
from ..ops.shaping import broadcast_shapes
from ..ops.special import lgamma
from .arguments import (
    any_dtype,
    broadcast_shape,
    check_shape,
    float_dtype,
    placed,
    sample_shape,
    shape_or_none,
    single_key,
)
from .keys import clone, new_keys
from .program import inlined_program, program
from .threefry import threefry_prng_impl
from .uniform import uniform

# ---------------------------------------------------------------- the two methods


def _wait(
    key: Any,
    keys_of_step: Callable[[Any], Any],
    waiting_time: Callable[[Any], Any],
    goes_on: Callable[[Any], Any],
    like: Any,
    dtype: Any,
    most: Any,
) -> Any:
    """The number of events in an interval, from the waiting times between them.

    Args:
      key: a random key.
      keys_of_step: the key of the next step, and that for this one.
      waiting_time: a function of uniform numbers.
      goes_on: whether a sum of waiting times lies within the interval.
      like: an array of the shape of the result, and of the dtype of the times.
      dtype: that of the count.
      most: an upper bound for the number of steps.
    """

    def within(state: Any) -> Any:
        step, _, _, passed = state
        return goes_on(passed).any() & (step < most)

    def wait(state: Any) -> Any:
        step, count, key, passed = state
        key, subkey = keys_of_step(key)
        count = select(goes_on(passed), count + 1, count)
        return step + 1, count, key, passed + waiting_time(uniform(subkey, like.shape, like.dtype))

    start = 0, full(like.shape, 0, dtype), key, full(like.shape, 0, like.dtype)
    return while_loop(within, wait, start)[1] - 1


def _reject(key: Any, propose: Callable[[Any, Any], Any], like: Any, most: Any) -> Any:
    """Candidates, the first for each element that is accepted.

    Args:
      key: a random key.
      propose: from uniform numbers, in [-1/2, 1/2) and in [0, 1), candidates, and whether each is
        accepted.
      like: an array of the shape and dtype of the result.
      most: an upper bound for the number of steps.
    """

    def unsettled(state: Any) -> Any:
        step, _, accepted, _ = state
        return (~accepted).any() & (step < most)

    def draw(state: Any) -> Any:
        step, settled, accepted, key = state
        key, key_u, key_v = new_keys(key, 3)
        u = uniform(key_u, like.shape, like.dtype) - 0.5
        candidate, accept = propose(u, uniform(key_v, like.shape, like.dtype))
        return step + 1, select(accept, candidate, settled), accepted | accept, key

    start = 0, full(like.shape, -1, like.dtype), full(like.shape, False), key
    return while_loop(unsettled, draw, start)[1]


# ---------------------------------------------------------------- Poisson


def poisson(
    key: Any, lam: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples of the Poisson distribution: numbers of events of which `lam` are expected.

    Args:
      key: a random key, of the generator threefry2x32.
      lam: the mean, not negative.
      shape: the shape of the result, to which `lam` broadcasts; by default that of `lam`.
      dtype: an integer dtype; by default that of Python's integers.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype; -1 where `lam` is NaN.

    Raises:
      NotImplementedError: the key is of another generator.

    >>> from covector import random
    >>> x = random.poisson(random.key(0), 4.0, (10_000,))
    >>> bool(abs(x.mean() - 4) < 0.1)
    True
    """
    key = single_key("poisson", key)
    dtype = any_dtype("poisson", dtype, int)
    if key.dtype._impl is not threefry_prng_impl:
        raise NotImplementedError(random_errors.poisson_generator(key.dtype._impl.name))
    shape = np.shape(lam) if shape is None else sample_shape("poisson", shape)
    lam = convert(broadcast_to(lam, shape), np.dtype(np.float32))
    return placed(_poisson(key, lam, dtype=dtype), out_sharding)


@program
def _poisson(key: Any, lam: Any, *, dtype: Any) -> Any:
    few = (lam != lam) | (lam < 10)
    none, many = [full(lam.shape, value, lam.dtype) for value in (0, 1e5)]
    most = dtype.type(iinfo(dtype).max)
    waited = _poisson_by_waiting(key, select(few, lam, none), dtype, most)
    accepted = _poisson_by_rejection(clone(key), select(few, many, lam), most)
    counts = select(few, waited, accepted.astype(dtype))
    return select(lam == 0, full(lam.shape, 0, dtype), counts)


def _poisson_by_waiting(key: Any, lam: Any, dtype: Any, most: Any) -> Any:
    """Events whose waiting times are exponential, in an interval of the length `lam`."""
    return _wait(key, new_keys, lambda u: -log(u), lambda t: t < lam, lam, dtype, most)


def _poisson_by_rejection(key: Any, lam: Any, most: Any) -> Any:
    """Source: W. Hörmann, "The transformed rejection method for generating Poisson random
    variables", Insurance: Mathematics and Economics 12 (1993): its algorithm PTRS."""
    log_lam = log(lam)
    b = 0.931 + 2.53 * sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)

    def propose(u: Any, v: Any) -> Any:
        us = 0.5 - absolute(u)
        k = floor((2 * a / us + b) * u + lam + 0.43)
        surely = (us >= 0.07) & (v <= v_r)
        never = (k < 0) | (us < 0.013) & (v > us)
        log_v = log(v * inverse_alpha / (a / (us * us) + b))
        return k, surely | ~never & (log_v <= -lam + k * log_lam - lgamma(k + 1))

    return _reject(key, propose, lam, most)


# ---------------------------------------------------------------- binomial


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Samples of the binomial distribution: of the number of successes in `n` trials.

    Args:
      key: a random key.
      n: the number of trials.
      p: the probability of a success.
      shape: the shape of the result, to which `n` and `p` broadcast; by default their common shape.
      dtype: a float dtype; by default that of Python's floats.

    Returns:
      An array of whole numbers of that shape and dtype; NaN where `n` or `p` is not valid.

    Raises:
      ValueError: the dtype is not a float one, or the shapes do not fit.

    >>> from covector import random
    >>> x = random.binomial(random.key(0), 100, 0.3, (10_000,))
    >>> bool(abs(x.mean() - 30) < 0.5)
    True
    """
    key = single_key("binomial", key)
    n, p = operands("random.binomial", (n, p))
    dtype = float_dtype("binomial", dtype)
    shape = shape_or_none("binomial", shape)
    return _binomial(key, n, p, shape=shape, dtype=dtype)


@inlined_program
def _binomial(key: Any, n: Any, p: Any, *, shape: Any, dtype: Any) -> Any:
    if shape is None:
        shape = broadcast_shapes(np.shape(n), np.shape(p))
    else:
        check_shape("binomial", shape, np.shape(n), np.shape(p))
    (p,) = promote_dtypes_inexact(p)
    n, p = broadcast_to(convert(n, p.dtype), shape), broadcast_to(p, shape)

    def constant(value: Any) -> Any:
        return full(shape, value, p.dtype)

    # Failures are counted where they are rarer than successes.
    rare = p < 0.5
    q = select(rare, p, 1 - p)
    no_number, negative = q != q, q < 0
    q = select(no_number | negative, constant(0.01), q)
    invalid_n, infinite = (n != n) | (n < 0), isinf(n)
    few = invalid_n | (n * q <= 10)
    n = floor(n)
    most = dtype.type(finfo(dtype).max)
    waited = _binomial_by_waiting(key, select(few, n, constant(0)), q, most)
    accepted = _binomial_by_rejection(
        clone(key), select(few, constant(1e4), n), select(few, constant(0.5), q), most
    )
    counts = select(few, waited.astype(dtype), accepted.astype(dtype))
    invalid = negative | no_number | invalid_n
    counts = select(invalid, full(shape, np.nan, dtype), counts)
    counts = select(infinite & ~invalid, full(shape, np.inf, dtype), counts)
    as_counted = rare | invalid_n | no_number | infinite
    return select(as_counted, counts, n.astype(dtype) - counts)


def _binomial_by_waiting(key: Any, n: Any, p: Any, most: Any) -> Any:
    """Successes whose waiting times are geometric, among `n` trials."""
    log_failure = log1p(-p)

    def keys_of_step(key: Any) -> Any:
        subkey, key = new_keys(key)
        return key, subkey

    def waiting_time(u: Any) -> Any:
        return ceil(log(u) / log_failure)

    return _wait(key, keys_of_step, waiting_time, lambda t: t <= n, p, p.dtype, most)


def _binomial_by_rejection(key: Any, n: Any, p: Any, most: Any) -> Any:
    """Source: W. Hörmann, "The generation of binomial random variates", Journal of Statistical
    Computation and Simulation 46 (1993): its algorithm BTRS."""
    deviation = sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    odds = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = floor((n + 1) * p)

    def propose(u: Any, v: Any) -> Any:
        us = 0.5 - absolute(u)
        k = floor((2 * a / us + b) * u + c)
        surely = (us >= 0.07) & (v <= v_r)
        never = (k < 0) | (k > n)
        bound = (
            (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1)))
            + (n + 1) * log((n - mode + 1) / (n - k + 1))
            + (k + 0.5) * log(odds * (n - k + 1) / (k + 1))
            + _stirling_tail(mode)
            + _stirling_tail(n - mode)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        return k, surely | ~never & (log(v * alpha / (a / (us * us) + b)) <= bound)

    return _reject(key, propose, p, most)


# What Stirling's formula lacks: log k! - ((k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2).
_STIRLING_TAILS = [
    math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))
    for k in range(10)
]


def _stirling_tail(k: Any) -> Any:
    """What Stirling's formula for log k! lacks, from a table up to 9.

    Beyond, its asymptotic series is taken at 9: the difference is below 0.01, and the streams of
    numbers are those that programs know.
    """
    table = np.array(_STIRLING_TAILS, k.dtype)
    small = k <= 9
    k = clamp(constant_like(k, 0), k, constant_like(k, 9))
    square = (k + 1) * (k + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    return select(small, take(table, floor(k).astype("int32")), series)


def multinomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: int | bool = 1
) -> Array:
    """Samples of the multinomial distribution: how often each category comes up in `n` trials.

    Args:
      key: a random key.
      n: the number of trials, an array whose shape broadcasts to that of `p` without its last
        dimension.
      p: the probabilities of the categories, along the last dimension.
      shape: the shape of the result; by default that of `p`.
      dtype: the dtype of the result; by default that of `p`.
      unroll: how many steps of the loop over categories are written out; see `lax.scan`.

    Returns:
      An array of whole numbers whose sums along the last dimension are `n`.

    >>> import covector.numpy as jnp
    >>> from covector import random
    >>> x = random.multinomial(random.key(0), 20, jnp.array([0.2, 0.3, 0.5]))
    >>> x.shape, float(x.sum())
    ((3,), 20.0)
    """
    key = single_key("multinomial", key)
    n, p = promote_dtypes_inexact(*operands("random.multinomial", (n, p)))
    shape = np.shape(p) if shape is None else sample_shape("multinomial", shape)
    n, p = broadcast_to(n, shape[:-1]), moveaxis(broadcast_to(p, shape), -1, 0)

    def draw(left: Any, category: Any) -> Any:
        share, key = category
        count = binomial(key, left, clip(share, 0, 1), dtype=left.dtype)
        return left - count, count

    # Of the trials that came up in none of the categories before, each has its share.
    remaining = cumsum(p, reverse=True)
    shares = p / where(remaining == 0, 1, remaining)
    _, counts = scan(draw, n, (shares, new_keys(key, shares.shape[0])), unroll=unroll)
    counts = moveaxis(counts, 0, -1)
    return counts if dtype is None else counts.astype(dtype)


# ---------------------------------------------------------------- geometric


def geometric(
    key: Any, p: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples of the geometric distribution: of the number of trials up to the first success.

    Args:
      key: a random key.
      p: the probability of a success.
      shape: the shape of the result, to which `p` broadcasts; by default that of `p`.
      dtype: an integer dtype; by default that of Python's integers.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    Raises:
      ValueError: the dtype is not an integer one, or the shapes do not fit.

    >>> from covector import random
    >>> bool((random.geometric(random.key(0), 0.5, (100,)) >= 1).all())
    True
    """
    key = single_key("geometric", key)
    dtype = any_dtype("geometric", dtype, int)
    if not dtypes.issubdtype(dtype, np.integer):
        raise ValueError(random_errors.dtype_kind("geometric", "an int", dtype))
    shape = broadcast_shape("geometric", shape, p)
    return placed(_geometric(key, p, shape=shape, dtype=dtype), out_sharding)


@program
def _geometric(key: Any, p: Any, *, shape: Any, dtype: Any) -> Any:
    (p,) = promote_dtypes_inexact(*operands("random.geometric", (p,)))
    u = uniform(key, shape, p.dtype)
    u = where(u == 0, 1, u)
    return (floor(log(u) / broadcast_to(log1p(-p), shape)) + 1).astype(dtype)
