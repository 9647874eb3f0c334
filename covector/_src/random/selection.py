"""Samplers that select: permutations, choices, categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes, random_errors
from ..base.shapes import canonicalize_axis
from ..control.cumulative import cumsum
from ..control.fori_loop import fori_loop
from ..control.random_keys import random_bits
from ..core.array import Array
from ..numpy.creation import asarray, zeros
from ..numpy.exponential import log
from ..numpy.promotion import operand, promote_dtypes_inexact
from ..numpy.ranges import arange
from ..numpy.reductions import argmax
from ..numpy.selection import where
from ..numpy.shaping import moveaxis
from ..numpy.taking import take
from ..ops.full import full
from ..ops.linear import expand_dims, reshape
from ..ops.shaping import reshape as permuted_reshape
from ..ops.sorting import sort_key_val, top_k
from .arguments import check_shape, placed, sample_shape, single_key
from .continuous import gumbel
from .keys import new_keys
from .program import inlined_program, program
from .uniform import randint, uniform

# ---------------------------------------------------------------- permutations


def permutation(
    key: Any, x: Any, axis: int = 0, independent: bool = False, *, out_sharding: Any = None
) -> Array:
    """An array in random order, or the integers below a number in random order.

    Args:
      key: a random key.
      x: an array, or an integer n, which stands for `arange(n)`.
      axis: the dimension along which to reorder.
      independent: whether each line along that dimension gets an order of its own; otherwise they
        move together.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of the shape and dtype of `x`.

    Raises:
      TypeError: `x` is a number but no integer.
      ValueError: there is no such dimension.

    >>> from covector import random
    >>> sorted(random.permutation(random.key(0), 5).tolist())
    [0, 1, 2, 3, 4]
    """
    key = single_key("permutation", key)
    x = operand("random.permutation", x)
    axis = canonicalize_axis(axis, np.ndim(x) or 1)
    if np.ndim(x) == 0:
        if not dtypes.issubdtype(dtypes.dtype_of(x), np.integer):
            raise TypeError(random_errors.nothing_to_permute(dtypes.dtype_of(x)))
        x = arange(int(x))
    elif np.ndim(x) > 1 and not independent:
        order = _shuffle(key, arange(x.shape[axis]), axis=0)
        return placed(take(x, order, axis, unique_indices=True), out_sharding)
    return placed(_shuffle(key, asarray(x), axis=axis), out_sharding)


@program
def _shuffle(key: Any, x: Any, *, axis: int) -> Any:
    """Sort by random words, several times, as words may be equal.

    The order is uniform if the words of an element in all rounds together tell it from all others.
    With n elements and r rounds of words from 2^32, some pair is not told apart with probability
    n^2 / 2^(32 r + 1) at most; r is chosen so that n^3 <= 2^(32 r).
    """
    rounds = math.ceil(3 * np.log(max(1, int(x.size))) / np.log(np.iinfo(np.uint32).max))
    for _ in range(rounds):
        key, subkey = new_keys(key)
        _, x = sort_key_val(random_bits(subkey, 32, x.shape), x, axis)
    return x


# ---------------------------------------------------------------- categories


def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Indices of categories, drawn with probabilities proportional to exp(logits).

    Args:
      key: a random key.
      logits: an array; -inf for what is never drawn.
      axis: the dimension of `logits` along which the categories lie.
      shape: the shape of the result, whose last dimensions are those of `logits` without `axis`;
        by default only those.
      replace: whether a category may be drawn more than once; if not, the draws that differ are
        those along the first dimensions of `shape`.
      mode: as for `gumbel`, "high" for categories that are drawn very rarely.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of integers.

    Raises:
      ValueError: the shapes do not fit, or there are fewer categories than draws without
        replacement.

    >>> import covector.numpy as jnp
    >>> from covector import random
    >>> random.categorical(random.key(0), jnp.array([0.0, 100.0]), shape=(4,))
    Array([1, 1, 1, 1], dtype=int32)
    """
    key = single_key("categorical", key)
    logits = asarray(operand("random.categorical", logits))
    batch = tuple(np.delete(logits.shape, axis).tolist())
    if shape is None:
        shape = batch
    else:
        shape = sample_shape("categorical", shape)
        check_shape("categorical", shape, batch)
    draw = _with_replacement if replace else _without_replacement
    axis = canonicalize_axis(axis, logits.ndim)
    return placed(draw(key, logits, axis=axis, shape=shape, mode=mode), out_sharding)


@inlined_program
def _with_replacement(key: Any, logits: Any, *, axis: int, shape: Any, mode: Any) -> Any:
    """The place of the largest logit, each with noise added."""
    draws = len(shape) - (logits.ndim - 1)
    of_noise = list(shape)
    of_noise.insert(draws + axis, logits.shape[axis])
    noise = gumbel(key, of_noise, logits.dtype, mode)
    return argmax(noise + expand_dims(logits, range(draws)), axis=draws + axis)


@inlined_program
def _without_replacement(key: Any, logits: Any, *, axis: int, shape: Any, mode: Any) -> Any:
    """The places of the largest logits, as many as are drawn, each with noise added."""
    draws = len(shape) - (logits.ndim - 1)
    count, categories = math.prod(shape[:draws]), logits.shape[axis]
    if count > categories:
        raise ValueError(random_errors.too_few_categories(count, categories))
    noisy = logits + gumbel(key, logits.shape, logits.dtype, mode)
    _, indices = top_k(moveaxis(noisy, axis, -1), count)
    dimensions = (indices.ndim - 1, *range(indices.ndim - 1))
    return permuted_reshape(indices, shape, dimensions)


# ---------------------------------------------------------------- choices


def choice(
    key: Any,
    a: Any,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: str | None = None,
) -> Array:
    """Elements of an array, or integers below a number, drawn at random.

    Args:
      key: a random key.
      a: an array, or an integer n, which stands for `arange(n)`.
      shape: the shape of what is drawn.
      replace: whether an element may be drawn more than once.
      p: probabilities of the elements, an array of one dimension; by default they are equal.
        Without replacement, at least as many of them must be positive as are drawn.
      axis: the dimension of `a` along which its elements lie.
      mode: as for `gumbel`, "high" for elements that are drawn very rarely; it matters where there
        is `p` and no replacement.

    Returns:
      An array of the dtype of `a`, and of its shape, but for `shape` in place of `axis`.

    Raises:
      TypeError: `shape` is no sequence.
      ValueError: there is nothing, or too little, to draw from, or `p` does not fit.

    >>> import covector.numpy as jnp
    >>> from covector import random
    >>> random.choice(random.key(0), 3, (4,), p=jnp.array([0.0, 1.0, 0.0]))
    Array([1, 1, 1, 1], dtype=int32)
    """
    key = single_key("choice", key)
    if not isinstance(shape, Sequence):
        raise TypeError(random_errors.shape_not_sequence(shape))
    shape = sample_shape("choice", shape)
    a = operand("random.choice", a)
    array = asarray(a)
    axis = canonicalize_axis(axis, array.ndim) if array.ndim else 0
    count = array.shape[axis] if array.ndim else int(a)
    draws = math.prod(shape)
    if draws == 0:
        return zeros(shape, array.dtype)
    if count <= 0:
        raise ValueError(random_errors.nothing_to_choose_from())
    if not replace and draws > count:
        raise ValueError(random_errors.sample_too_large(draws, count))
    if p is None and not replace:
        shuffled = permutation(key, array if array.ndim else count, axis)
        result = shuffled[(slice(None),) * axis + (slice(draws),)]
    else:
        indices = _indices(key, count, shape, replace, p, mode)
        result = take(array, indices, axis) if array.ndim else indices
    return reshape(result, (*array.shape[:axis], *shape, *array.shape[axis + 1 :]))


def _indices(
    key: Any, count: int, shape: tuple[int, ...], replace: bool, p: Any, mode: str | None
) -> Any:
    """Which of `count` elements are drawn, with replacement or with given probabilities."""
    if p is None:
        return randint(key, shape, 0, count)
    (p,) = promote_dtypes_inexact(operand("random.choice", p))
    if p.shape != (count,):
        raise ValueError(random_errors.probabilities_shape(p.shape, count))
    if replace:
        return _weighted(key, p, shape=shape)
    return _weighted_without_replacement(key, p, draws=math.prod(shape), mode=mode)


@inlined_program
def _weighted(key: Any, p: Any, *, shape: Any) -> Any:
    """Where uniform numbers fall among the cumulated probabilities."""
    bounds = cumsum(p)
    return _places(bounds, bounds[-1] * (1 - uniform(key, shape, bounds.dtype))).astype(int)


def _places(bounds: Any, x: Any) -> Any:
    """How many of the rising `bounds` are below each number, found by halving intervals."""

    def halve(_: int, interval: Any) -> Any:
        low, high = interval
        middle = (low + high) // 2
        left = x <= take(bounds, middle)
        return where(left, low, middle), where(left, middle, high)

    count = bounds.shape[0]
    start = full(x.shape, 0, np.int32), full(x.shape, count, np.int32)
    # Intervals of one number, which some reach sooner than others, stay as they are.
    return fori_loop(0, math.ceil(math.log2(count + 1)), halve, start)[1]


@inlined_program
def _weighted_without_replacement(key: Any, p: Any, *, draws: int, mode: str | None) -> Any:
    """The places of the largest log-probabilities, each with Gumbel noise added.

    Source: T. Vieira, "Gumbel-max trick and weighted reservoir sampling" (2014).
    """
    noisy = gumbel(key, p.shape, p.dtype, mode) + log(p)
    return top_k(noisy, draws)[1].astype(int)
