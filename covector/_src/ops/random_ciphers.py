"""Further ciphers of the paper of Threefry: on blocks of four words, and Philox, by multiplication.

Source of the constants: Random123, the authors' library, files threefry.h and philox.h.
"""

from __future__ import annotations

from .random_bits import PARITY, Cipher

_ROTATIONS_4 = (10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20)
_THREEFRY_ROUNDS = 20
_PHILOX_ROUNDS = 10
_FACTOR_2 = 0xD256D193
_FACTORS_4 = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85  # the golden ratio and sqrt(3), less 1


class Threefry4x32(Cipher):
    """Encrypt four words under four words of key, by Threefry-4x32.

    Each round mixes two pairs of words; which words make a pair alternates.
    """

    key_words = block_words = 4

    def encrypt(self, key, block, words):
        schedule = [*key, key[0] ^ key[1] ^ key[2] ^ key[3] ^ PARITY]
        x = [word + part for word, part in zip(block, schedule)]
        for number in range(_THREEFRY_ROUNDS):
            pairs = ((0, 1), (2, 3)) if number % 2 == 0 else ((0, 3), (2, 1))
            for (i, j), distance in zip(pairs, _ROTATIONS_4[number % 8]):
                x[i] = x[i] + x[j]
                x[j] = words.rotate(x[j], distance) ^ x[i]
            if number % 4 == 3:
                group = number // 4 + 1
                x = [word + schedule[(group + i) % 5] for i, word in enumerate(x)]
                x[3] = x[3] + group
        return x


class Philox2x32(Cipher):
    """Encrypt two words under one word of key, by Philox-2x32."""

    key_words, block_words = 1, 2

    def encrypt(self, key, block, words):
        (k,), (x, y) = key, block
        for _ in range(_PHILOX_ROUNDS):
            high, low = words.product(x, _FACTOR_2)
            x, y = high ^ y ^ k, low
            k = k + _WEYL[0]
        return x, y


class Philox4x32(Cipher):
    """Encrypt four words under two words of key, by Philox-4x32."""

    key_words, block_words = 2, 4

    def encrypt(self, key, block, words):
        (k, m), (x, y, z, w) = key, block
        for _ in range(_PHILOX_ROUNDS):
            (high, low), (top, bottom) = [
                words.product(word, factor) for word, factor in zip((x, z), _FACTORS_4)
            ]
            x, y, z, w = top ^ y ^ k, bottom, high ^ w ^ m, low
            k, m = k + _WEYL[0], m + _WEYL[1]
        return x, y, z, w


threefry4x32_p = Threefry4x32("threefry4x32")
philox2x32_p = Philox2x32("philox2x32")
philox4x32_p = Philox4x32("philox4x32")
