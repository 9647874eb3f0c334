"""The default generator: keys and bits from the cipher Threefry-2x32.

A key is a pair of words.  The bits of an element are what its position encrypts to, so that they
depend on nothing but the key and the position.  With the flag `threefry_partitionable` off they are
made as older programs did, from counters that are split in halves, and differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..api.jit import jit
from ..base import config, dtypes, random_errors
from ..base.dims import at_least
from ..base.keys import UINT32, PRNGImpl
from ..core.avals import ShapedArray, aval_of
from ..numpy.composite import Lowered
from ..ops.bitwise import bitwise_and, bitwise_or, bitwise_xor, shift_left, shift_right_logical
from ..ops.conversion import convert
from ..ops.creation import iota
from ..ops.emitted import Emitted
from ..ops.joining import concatenate, stack
from ..ops.linear import constant_like, expand_dims, reshape, transpose
from ..ops.native import encrypted_places
from ..ops.random_bits import iota_2x32_shape, threefry2x32_p
from ..ops.slicing import index_in_dim, slice_in_dim
from ..ops.thresholds import NATIVE

WORD_BITS = 32


def words_of(key: Any) -> tuple[Any, Any]:
    """The two words of a key."""
    return index_in_dim(key, 0, keepdims=False), index_in_dim(key, 1, keepdims=False)


# ---------------------------------------------------------------- encryption of arrays


def _threefry_2x32(keypair: Any, count: Any) -> Any:
    count = reshape(count, (math.prod(count.shape),))
    size = count.shape[0]
    if size % 2:
        count = concatenate([count, np.zeros(1, UINT32)], 0)
    half = (size + 1) // 2
    halves = slice_in_dim(count, 0, half), slice_in_dim(count, half, 2 * half)
    out = concatenate(threefry2x32_p.bind(*keypair, *halves), 0)
    return slice_in_dim(out, 0, size) if size % 2 else out


def threefry_2x32(keypair: Any, count: Any) -> Any:
    """Encrypt an array of words with Threefry-2x32.

    Args:
      keypair: two uint32 scalars, the words of the key.
      count: a uint32 array. An element of the first half of its elements makes a block with the
        one as far into the second half; if their number is odd, the last one makes one with 0.

    Returns:
      A uint32 array of the shape of `count`.

    Raises:
      TypeError: a dtype is not uint32.

    >>> import covector.numpy as jnp
    >>> zero = jnp.zeros((), "uint32")
    >>> [hex(word) for word in threefry_2x32((zero, zero), jnp.zeros(2, "uint32")).tolist()]
    ['0x6b200159', '0x99ba4efe']
    """
    key1, key2 = keypair
    found = [dtypes.dtype_of(x) for x in (key1, key2, count)]
    if any(dtype != UINT32 for dtype in found):
        raise TypeError(random_errors.cipher_dtypes("threefry_2x32", found))
    return _encrypted((key1, key2), count)


@jit
def _encrypted(keypair: Any, count: Any) -> Any:
    return reshape(_threefry_2x32(keypair, count), count.shape)


# ---------------------------------------------------------------- the generator


def words_of_seed(seed: Any) -> tuple[Any, Any]:
    """The high and the low half of an integer."""
    aval: Any = aval_of(seed)
    if not dtypes.issubdtype(aval.dtype, np.integer):
        raise TypeError(random_errors.seed_not_integer(aval))
    high = shift_right_logical(seed, constant_like(seed, WORD_BITS))
    return convert(high, UINT32), convert(seed, UINT32)


def threefry_seed(seed: Any) -> Any:
    """The key whose words are the high and the low half of an integer."""
    return concatenate([expand_dims(word, (0,)) for word in words_of_seed(seed)], 0)


def threefry_split(key: Any, shape: Sequence[int]) -> Any:
    """The keys that the positions of an array encrypt to."""
    if not config.threefry_partitionable.value:
        counts = iota(UINT32, 2 * math.prod(shape))
        return reshape(_threefry_2x32(words_of(key), counts), (*shape, 2))
    words = threefry2x32_p.bind(*words_of(key), *iota_2x32_shape(shape))
    return stack(words, len(shape))


def threefry_fold_in(key: Any, data: Any) -> Any:
    """The key that an integer encrypts to."""
    return _threefry_2x32(words_of(key), threefry_seed(convert(data, UINT32)))


def threefry_random_bits(key: Any, bit_width: int, shape: Sequence[int]) -> Any:
    """What the positions of an array encrypt to, folded to the width of its elements."""
    if bit_width not in (8, 16, 32, 64):
        raise TypeError(random_errors.bits_width(bit_width))
    if not config.threefry_partitionable.value:
        return _bits_of_halves(words_of(key), bit_width, tuple(shape))
    dtype = np.dtype(f"uint{max(bit_width, WORD_BITS)}")
    words = _encrypted_places(*words_of(key), shape=tuple(shape), dtype=dtype)
    return convert(words, np.dtype(f"uint{bit_width}"))


def _encrypt_places(*key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """What the places in an array encrypt to: all 64 bits, or both halves together."""
    high, low = threefry2x32_p.bind(*key, *iota_2x32_shape(shape))
    return bitwise_xor(high, low) if dtype == UINT32 else joined_words(high, low)


def _encryption_pays(*_key: Any, shape: tuple[int, ...], dtype: Any) -> bool:
    return at_least(math.prod(shape), NATIVE)


def _encrypt_natively(*key: Emitted, shape: tuple[int, ...], dtype: Any) -> Emitted | None:
    out = ShapedArray(shape, dtype)
    return encrypted_places(key, out) if key[0].b.has_kernels else None


_encrypted_places = Lowered(
    _encrypt_places,
    _encrypt_places,
    _encryption_pays,
    name="threefry_bits",
    native=_encrypt_natively,
)


def joined_words(high: Any, low: Any) -> Any:
    """64-bit words from their halves."""
    uint64 = np.dtype(np.uint64)
    shift = np.array(WORD_BITS, uint64)
    return bitwise_or(shift_left(convert(high, uint64), shift), convert(low, uint64))


def _bits_of_halves(keypair: Any, bit_width: int, shape: tuple[int, ...]) -> Any:
    """Bits as older programs drew them: as many words as there must be, cut or joined."""
    size = math.prod(shape)
    count = -(-bit_width * size // WORD_BITS)
    if at_least(count, np.iinfo(UINT32).max + 1):
        raise NotImplementedError(random_errors.too_many_bits(size, bit_width))
    words = _threefry_2x32(keypair, iota(UINT32, count))
    if bit_width == 2 * WORD_BITS:
        high, low = slice_in_dim(words, 0, size), slice_in_dim(words, size, count)
        words = joined_words(high, low)
    elif bit_width < WORD_BITS:
        pieces = WORD_BITS // bit_width
        shifts = np.arange(0, WORD_BITS, bit_width, dtype=UINT32).reshape(pieces, 1)
        cut = shift_right_logical(expand_dims(words, (0,)), shifts)
        cut = bitwise_and(cut, np.array(2**bit_width - 1, UINT32))
        flat = reshape(transpose(cut, (1, 0)), (count * pieces,))
        words = slice_in_dim(convert(flat, np.dtype(f"uint{bit_width}")), 0, size)
    return reshape(words, shape)


threefry_prng_impl = PRNGImpl(
    key_shape=(2,),
    seed=threefry_seed,
    split=threefry_split,
    random_bits=threefry_random_bits,
    fold_in=threefry_fold_in,
    name="threefry2x32",
    tag="fry",
)
