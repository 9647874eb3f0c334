"""Generators whose bits are XLA's own: faster on some platforms, and not the same on all.

The keys of both are two keys of Threefry.  `rbg` derives keys from them as Threefry does;
`unsafe_rbg` takes XLA's bits for that too, of which nobody knows whether they are independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import random_errors
from ..base.keys import UINT32, PRNGImpl
from ..ops.bitwise import bitwise_xor
from ..ops.joining import concatenate
from ..ops.linear import reshape
from ..ops.rng_bit_generator import rng_bit_generator
from ..ops.slicing import index_in_dim, slice_in_dim
from .threefry import threefry_fold_in, threefry_seed, threefry_split

# How many draws from XLA's generator stand for one application of a hash function.
DRAWS = 10


def _halves(key: Any) -> tuple[Any, Any]:
    return slice_in_dim(key, 0, 2), slice_in_dim(key, 2, 4)


def rbg_seed(seed: Any) -> Any:
    half = threefry_seed(seed)
    return concatenate([half, half], 0)


def rbg_split(key: Any, shape: Sequence[int]) -> Any:
    keys = [threefry_split(half, shape) for half in _halves(key)]
    return concatenate(keys, len(shape))


def rbg_fold_in(key: Any, data: Any) -> Any:
    return concatenate([threefry_fold_in(half, data) for half in _halves(key)], 0)


def rbg_random_bits(key: Any, bit_width: int, shape: Sequence[int]) -> Any:
    if bit_width not in (8, 16, 32, 64):
        raise TypeError(random_errors.bits_width(bit_width))
    return rng_bit_generator(key, shape, np.dtype(f"uint{bit_width}"))[1]


def unsafe_rbg_split(key: Any, shape: Sequence[int]) -> Any:
    _, drawn = rng_bit_generator(key, (DRAWS * math.prod(shape), 4), UINT32)
    return reshape(slice_in_dim(drawn, 0, None, DRAWS), (*shape, 4))


def unsafe_rbg_fold_in(key: Any, data: Any) -> Any:
    _, drawn = rng_bit_generator(rbg_seed(data), (DRAWS, 4), UINT32)
    return bitwise_xor(key, index_in_dim(drawn, DRAWS - 1, keepdims=False))


rbg_prng_impl = PRNGImpl(
    key_shape=(4,),
    seed=rbg_seed,
    split=rbg_split,
    random_bits=rbg_random_bits,
    fold_in=rbg_fold_in,
    name="rbg",
    tag="rbg",
)
unsafe_rbg_prng_impl = PRNGImpl(
    key_shape=(4,),
    seed=rbg_seed,
    split=unsafe_rbg_split,
    random_bits=rbg_random_bits,
    fold_in=unsafe_rbg_fold_in,
    name="unsafe_rbg",
    tag="urbg",
)
