"""Generators that encrypt positions, as the default one does, with other ciphers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..base import random_errors
from ..base.keys import UINT32, PRNGImpl
from ..ops.bitwise import bitwise_xor
from ..ops.conversion import convert
from ..ops.joining import stack
from ..ops.linear import scalar
from ..ops.random_bits import Cipher, iota_2x32_shape
from ..ops.random_ciphers import philox2x32_p, philox4x32_p, threefry4x32_p
from ..ops.slicing import index_in_dim
from .threefry import WORD_BITS, joined_words, words_of_seed

ZERO = scalar(0, UINT32)


class CounterBased:
    """The functions of a generator whose keys are those of a cipher."""

    def __init__(self, cipher: Cipher):
        self.cipher = cipher
        # Where keys are as wide as blocks, a seed is encrypted as a key, otherwise as a block.
        self.seeds_key = cipher.key_words == cipher.block_words

    def encrypt(self, key: Sequence[Any], first: Sequence[Any], last: Sequence[Any] = ()) -> Any:
        """The encryption of a block that begins and ends with these words, with zeros between."""
        zeros = [ZERO] * (self.cipher.block_words - len(first) - len(last))
        return self.cipher.bind(*key, *first, *zeros, *last)

    def new_key(self, encrypted: Sequence[Any]) -> Any:
        """A key made of the first words of an encrypted block."""
        words = encrypted[: self.cipher.key_words]
        return stack(words, words[0].ndim)

    def words(self, key: Any) -> list[Any]:
        return [index_in_dim(key, i, keepdims=False) for i in range(self.cipher.key_words)]

    # ---------------------------------------------------------------- the generator

    def seed(self, seed: Any) -> Any:
        words = list(words_of_seed(seed))
        zeros = [ZERO] * self.cipher.key_words
        if self.seeds_key:
            return self.new_key(self.encrypt([*words, *zeros[2:]], ()))
        return self.new_key(self.encrypt(zeros, words))

    def split(self, key: Any, shape: Sequence[int]) -> Any:
        return self.new_key(self.encrypt(self.words(key), (), iota_2x32_shape(shape)))

    def fold_in(self, key: Any, data: Any) -> Any:
        return self.new_key(self.encrypt(self.words(key), (), [convert(data, UINT32)]))

    def random_bits(self, key: Any, bit_width: int, shape: Sequence[int]) -> Any:
        if bit_width not in (8, 16, 32, 64):
            raise TypeError(random_errors.bits_width(bit_width))
        words = self.encrypt(self.words(key), iota_2x32_shape(shape))
        if bit_width < 2 * WORD_BITS:
            return convert(reduce(bitwise_xor, words), np.dtype(f"uint{bit_width}"))
        if self.seeds_key:
            words = bitwise_xor(words[0], words[2]), bitwise_xor(words[1], words[3])
        return joined_words(words[0], words[1])


def _generator(cipher: Cipher, tag: str) -> PRNGImpl:
    made = CounterBased(cipher)
    return PRNGImpl(
        (cipher.key_words,), made.seed, made.split, made.random_bits, made.fold_in, cipher.name, tag
    )


threefry4x32_prng_impl = _generator(threefry4x32_p, "fry4")
philox2x32_prng_impl = _generator(philox2x32_p, "phx2")
philox4x32_prng_impl = _generator(philox4x32_p, "phx4")
