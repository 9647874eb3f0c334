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
_PARITY = 0x1BD11BDA  # so that no key consists of zeros only
_GROUPS = 5  # of four rounds each, after which words of the key are added
# A program of fewer elements is written as a loop: the 20 rounds in a row would take XLA's CPU
# compiler four times as long, which programs that split many keys would feel.  Larger ones run two
# to four times as fast in a row, as the words then stay in registers.
ROLLED_BELOW = 512


def threefry(key: Sequence[Any], block: Sequence[Any], rotate: Callable[[Any, int], Any]) -> Any:
    """Encrypt two words under two words of key.

    Args:
      key, block: pairs of arrays of 32-bit words with wrapping `+` and with `^`.
      rotate: rotates the bits of each word to the left.
    """
    schedule = [*key, key[0] ^ key[1] ^ _PARITY]
    x, y = block[0] + schedule[0], block[1] + schedule[1]
    for group in range(_GROUPS):
        x, y = four_rounds(x, y, _ROTATIONS[group % 2], rotate)
        x = x + schedule[(group + 1) % 3]
        y = y + schedule[(group + 2) % 3] + (group + 1)
    return x, y


def four_rounds(x: Any, y: Any, rotations: Sequence[Any], rotate: Callable[..., Any]) -> Any:
    """Mix two words four times."""
    for distance in rotations:
        x = x + y
        y = rotate(y, distance) ^ x
    return x, y


def _rotate_emitted(x: Emitted, distance: Any) -> Emitted:
    """Rotate words to the left by a number, or by a scalar of the program."""
    rest = 32 - distance
    return x.apply("shift_left", distance) | x.apply("shift_right_logical", rest)


def _rotate_array(x: np.ndarray, distance: int) -> np.ndarray:
    return np.left_shift(x, np.uint32(distance)) | np.right_shift(x, np.uint32(32 - distance))


def _threefry_rolled(key: Sequence[Emitted], block: Sequence[Emitted]) -> list[Emitted]:
    """The cipher as a loop over the groups of rounds, numbered from 1.

    The words of the key that a group adds rotate through the loop's state.
    """
    b, array = block[0].b, block[0].aval
    first = Emitted(b, b.constant(1, UINT32), ShapedArray((), UINT32))
    schedule = [key[1], key[0] ^ key[1] ^ _PARITY, key[0]]

    def spread(x: Emitted) -> Emitted:
        return Emitted(b, b.broadcast_to(x.value, x.aval, array.shape), array)

    def goes_on(group: Emitted, *_rest: Emitted) -> Any:
        return (group <= _GROUPS).value

    def step(group: Emitted, x: Emitted, y: Emitted, *words: Emitted) -> list[Emitted]:
        odd = (group & 1).equals(1)
        distances = [where(odd, group.full(d), group.full(e)) for d, e in zip(*_ROTATIONS)]
        x, y = four_rounds(x, y, [spread(d) for d in distances], _rotate_emitted)
        x, y = x + words[0], y + words[1] + spread(group)
        return [group + 1, x, y, words[1], words[2], words[0]]

    state = [first, block[0] + key[0], block[1] + key[1], *schedule]
    return loop(goes_on, step, state)[1:3]


class Threefry2x32(BuiltinPrimitive):
    """Encrypt the block (x1, x2) under the key (key1, key2); all four broadcast."""

    multiple_results = True

    def abstract_eval(self, *avals):
        if any(aval.dtype != UINT32 for aval in avals):
            raise TypeError(random_errors.threefry_dtypes([aval.dtype for aval in avals]))
        out = ShapedArray(broadcast_shape(self.name, [aval.shape for aval in avals]), UINT32)
        return [out, out]

    def ref(self, key1, key2, x1, x2):
        return list(threefry((key1, key2), (x1, x2), _rotate_array))

    def jvp(self, primals, tangents):
        outs = self.bind(*primals)
        return outs, [Zero(aval_of(out).to_tangent_aval()) for out in outs]

    def vmap(self, axis, dims, *args):
        args, dim = align_batches(axis, dims, args)
        return self.bind(*args), [dim, dim]

    def emit(self, b, *args):
        out = b.avals_out[0]
        words = [
            Emitted(b, b.broadcast_to(x, aval, out.shape), out) for x, aval in zip(args, b.avals_in)
        ]
        if b.platform == "cpu" and out.size < ROLLED_BELOW:
            outs = _threefry_rolled(words[:2], words[2:])
        else:
            outs = threefry(words[:2], words[2:], _rotate_emitted)
        return [x.value for x in outs]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shapes in [
            ((), (), (), ()),
            ((), (), (3,), (3,)),
            ((2, 1), (2, 1), (2, 3), (1, 3)),
            ((), (), (0, 2), (0, 2)),
        ]:
            words = tuple(rng.integers(0, 2**32, shape, np.uint32) for shape in shapes)
            yield Sample(words, {})


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
        small = math.prod(shape) <= 2**32
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
