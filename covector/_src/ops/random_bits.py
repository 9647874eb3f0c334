"""The cipher Threefry-2x32, and the counters that it encrypts: where random bits come from.

Threefry (J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
SC 2011) is a bijection of 64-bit blocks under a 64-bit key.  Random bits are the encrypted numbers
0, 1, 2, ...; as each depends on its own counter alone, they can be had in any order, and in parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import random_errors
from ..base.dims import at_least
from ..base.keys import UINT32
from ..core.avals import ShapedArray, aval_of
from ..core.primitive import BuiltinPrimitive
from ..core.zeros import Zero
from .base import Sample
from .emitted import Emitted, loop, where
from .families import align_batches, broadcast_shape
from .linear import full

# ---------------------------------------------------------------- the cipher

_ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)
PARITY = 0x1BD11BDA  # so that no key consists of zeros only
_GROUPS = 5  # of four rounds each, after which words of the key are added
# A program of fewer elements is written as a loop: the 20 rounds in a row would take XLA's CPU
# compiler four times as long, which programs that split many keys would feel.  Larger ones run two
# to four times as fast in a row, as the words then stay in registers.
ROLLED_BELOW = 512


class Words:
    """What ciphers do to words of 32 bits beside wrapping `+` and `^`: those of a program."""

    @staticmethod
    def rotate(x: Emitted, distance: Any) -> Emitted:
        """Rotate words to the left by a number, or by words of the same shape."""
        rest = 32 - distance
        return x.apply("shift_left", distance) | x.apply("shift_right_logical", rest)

    @staticmethod
    def product(x: Emitted, factor: int) -> tuple[Emitted, Emitted]:
        """The high and the low words of products."""
        wide = x.astype(np.uint64) * factor
        return wide.apply("shift_right_logical", 32).astype(UINT32), x * factor


class NumpyWords:
    """The same of NumPy's arrays."""

    @staticmethod
    def rotate(x: np.ndarray, distance: int) -> np.ndarray:
        return np.left_shift(x, np.uint32(distance)) | np.right_shift(x, np.uint32(32 - distance))

    @staticmethod
    def product(x: np.ndarray, factor: int) -> tuple[np.ndarray, np.ndarray]:
        wide = x.astype(np.uint64) * np.uint64(factor)
        return (wide >> np.uint64(32)).astype(UINT32), wide.astype(UINT32)


def threefry(key: Sequence[Any], block: Sequence[Any], words: Any) -> Sequence[Any]:
    """Encrypt two words under two words of key; `words` is what can be done to them."""
    schedule = [*key, key[0] ^ key[1] ^ PARITY]
    x, y = block[0] + schedule[0], block[1] + schedule[1]
    for group in range(_GROUPS):
        x, y = four_rounds(x, y, _ROTATIONS[group % 2], words.rotate)
        x = x + schedule[(group + 1) % 3]
        y = y + schedule[(group + 2) % 3] + (group + 1)
    return x, y


def four_rounds(x: Any, y: Any, rotations: Sequence[Any], rotate: Callable[..., Any]) -> Any:
    """Mix two words four times."""
    for distance in rotations:
        x = x + y
        y = rotate(y, distance) ^ x
    return x, y


def _threefry_rolled(key: Sequence[Emitted], block: Sequence[Emitted]) -> list[Emitted]:
    """The cipher as a loop over the groups of rounds, numbered from 1.

    The words of the key that a group adds rotate through the loop's state.
    """
    b, array = block[0].b, block[0].aval
    first = Emitted(b, b.constant(1, UINT32), ShapedArray((), UINT32))
    schedule = [key[1], key[0] ^ key[1] ^ PARITY, key[0]]

    def spread(x: Emitted) -> Emitted:
        return Emitted(b, b.broadcast_to(x.value, x.aval, array.shape), array)

    def goes_on(group: Emitted, *_rest: Emitted) -> Any:
        return (group <= _GROUPS).value

    def step(group: Emitted, x: Emitted, y: Emitted, *words: Emitted) -> list[Emitted]:
        odd = (group & 1).equals(1)
        distances = [where(odd, group.full(d), group.full(e)) for d, e in zip(*_ROTATIONS)]
        x, y = four_rounds(x, y, [spread(d) for d in distances], Words.rotate)
        x, y = x + words[0], y + words[1] + spread(group)
        return [group + 1, x, y, words[1], words[2], words[0]]

    state = [first, block[0] + key[0], block[1] + key[1], *schedule]
    return loop(goes_on, step, state)[1:3]


class Cipher(BuiltinPrimitive):
    """Encrypt a block of words under a key of words; all of them broadcast.

    Class attributes:
      key_words, block_words: how many there are.
    """

    multiple_results = True
    key_words: int
    block_words: int

    def encrypt(self, key: Sequence[Any], block: Sequence[Any], words: Any) -> Sequence[Any]:
        """The encrypted block; `words` is what can be done to words beside `+` and `^`."""
        raise NotImplementedError(f"{self.name} has no formula")

    def abstract_eval(self, *avals):
        if any(aval.dtype != UINT32 for aval in avals):
            raise TypeError(random_errors.cipher_dtypes(self.name, [x.dtype for x in avals]))
        out = ShapedArray(broadcast_shape(self.name, [aval.shape for aval in avals]), UINT32)
        return [out] * self.block_words

    def ref(self, *args):
        words = [np.array(x) for x in np.broadcast_arrays(*args)]
        with np.errstate(over="ignore"):
            return list(self.encrypt(*self._parted(words), NumpyWords))

    def jvp(self, primals, tangents):
        outs = self.bind(*primals)
        return outs, [Zero(aval_of(out).to_tangent_aval()) for out in outs]

    def vmap(self, axis, dims, *args):
        args, dim = align_batches(dims, args)
        return self.bind(*args), [dim] * self.block_words

    def emit(self, b, *args):
        out = b.avals_out[0]
        words = [
            Emitted(b, b.broadcast_to(x, aval, out.shape), out) for x, aval in zip(args, b.avals_in)
        ]
        return [x.value for x in self.encrypt(*self._parted(words), Words)]

    def _parted(self, words: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        return words[: self.key_words], words[self.key_words :]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for of_key, of_block in [((), ()), ((), (3,)), ((2, 1), (1, 3)), ((), (0, 2))]:
            shapes = [of_key] * self.key_words + [of_block] * self.block_words
            yield Sample(tuple(rng.integers(0, 2**32, shape, np.uint32) for shape in shapes), {})


class Threefry2x32(Cipher):
    """Encrypt two words under two words of key, by Threefry-2x32."""

    key_words = block_words = 2

    def encrypt(self, key, block, words):
        return threefry(key, block, words)

    def emit(self, b, *args):
        out = b.avals_out[0]
        if b.platform != "cpu" or not at_least(ROLLED_BELOW - 1, out.size):
            return super().emit(b, *args)
        words = [
            Emitted(b, b.broadcast_to(x, aval, out.shape), out) for x, aval in zip(args, b.avals_in)
        ]
        return [x.value for x in _threefry_rolled(*self._parted(words))]


threefry2x32_p = Threefry2x32("threefry2x32")

# ---------------------------------------------------------------- the counters


class Iota2x32Shape(BuiltinPrimitive):
    """The positions of the elements in row-major order, as 64-bit numbers: high and low words."""

    multiple_results = True

    def abstract_eval(self, *, shape):
        return [ShapedArray(shape, UINT32)] * 2

    def ref(self, *, shape):
        count = np.arange(math.prod(shape), dtype=np.uint64).reshape(shape)
        return [(count >> np.uint64(32)).astype(UINT32), count.astype(UINT32)]

    def jvp(self, primals, tangents, *, shape):
        outs = self.bind(shape=shape)
        return outs, [Zero(aval_of(out).to_tangent_aval()) for out in outs]

    def vmap(self, axis, dims, *, shape):
        return self.bind(shape=shape), [None, None]

    def emit(self, b, *, shape):
        small = not at_least(math.prod(shape), 2**32 + 1)
        out = ShapedArray(shape, UINT32 if small else np.dtype(np.uint64))
        zero = Emitted(b, b.full(0, out), out)
        count, stride = zero, math.prod(shape)
        for dim, size in enumerate(shape):
            stride //= size or 1
            count = count + zero.iota(out.dtype, dim) * stride
        if small:
            return [zero.value, count.value]
        high = count.apply("shift_right_logical", 32)
        return [high.astype(UINT32).value, count.astype(UINT32).value]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in [(3,), (2, 3), (2, 0, 3), (1, 3, 1, 2)]:
            yield Sample((), dict(shape=shape))


iota_2x32_shape_p = Iota2x32Shape("iota_2x32_shape")


def iota_2x32_shape(shape: Sequence[int]) -> list[Any]:
    """The positions of the elements of an array of this shape, as pairs of 32-bit words."""
    if not shape:
        return [full((), 0, UINT32)] * 2
    return iota_2x32_shape_p.bind(shape=tuple(shape))
