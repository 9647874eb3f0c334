"""Common divisors and multiples of integers; integers as bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import calculus_errors, dtypes
from ..control.loops import while_loop
from ..core.array import Array, ArrayLike
from ..ops.rounding import rem_p
from .arguments import axis_argument, index_argument
from .arithmetic import floor_divide
from .composite import composite
from .parts import absolute
from .promotion import BOOL, as_array, dtype_of, operands, promote
from .reductions import any, sum
from .selection import where
from .shaping import broadcast_arrays, moveaxis, ravel, reshape

# ---------------------------------------------------------------- divisors and multiples


def _integers(where: str, x: Any, y: Any) -> list[Any]:
    """Two operands in their common dtype and shape, with no signs."""
    x, y = promote(where, x, y)
    if not dtypes.issubdtype(dtype_of(x), np.integer):
        raise ValueError(calculus_errors.not_integers(where, dtype_of(x)))
    return [absolute(z) for z in broadcast_arrays(x, y)]


def _common_divisor(x: Any, y: Any) -> Any:
    """Euclid's algorithm on all pairs at once; one that is done stays as it is."""

    def step(pair: Any) -> Any:
        x, y = pair
        done = y == 0
        rest = rem_p.bind(x, where(done, 1, y))
        return where(done, x, y), where(done, y, rest)

    return while_loop(lambda pair: any(pair[1] != 0), step, (x, y))[0]


@composite
def _gcd(x: Any, y: Any) -> Any:
    return _common_divisor(*_integers("gcd", x, y))


@composite
def _lcm(x: Any, y: Any) -> Any:
    x, y = _integers("lcm", x, y)
    divisor = _common_divisor(x, y)
    return where(divisor == 0, divisor, x * floor_divide(y, where(divisor == 0, 1, divisor)))


def gcd(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Elementwise greatest common divisor; that of 0 and a number is the number.

    Args:
      x1, x2: arrays of integers, broadcast against each other.

    Returns:
      An array of their common shape and dtype.

    Raises:
      ValueError: they are not integers.

    >>> import covector.numpy as jnp
    >>> jnp.gcd(jnp.array([12, 18, 0]), jnp.array([-8, 27, 5]))
    Array([4, 9, 5], dtype=int32)
    """
    return _gcd(*operands("gcd", (x1, x2)))


def lcm(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Elementwise least common multiple; that of 0 and a number is 0.

    Args:
      x1, x2: arrays of integers, broadcast against each other.

    Returns:
      An array of their common shape and dtype.

    Raises:
      ValueError: they are not integers.

    >>> import covector.numpy as jnp
    >>> jnp.lcm(jnp.array([4, 6, 0]), jnp.array([6, -4, 5]))
    Array([12, 12,  0], dtype=int32)
    """
    return _lcm(*operands("lcm", (x1, x2)))


# ---------------------------------------------------------------- bits

_BYTE = np.dtype(np.uint8)
_SHIFTS = {"big": np.arange(8, dtype=_BYTE)[::-1], "little": np.arange(8, dtype=_BYTE)}


def _shifts(bitorder: str, rank: int) -> np.ndarray:
    """By how much to shift each bit of a byte, along the last of so many dimensions."""
    return _SHIFTS[bitorder].reshape((1,) * (rank - 1) + (8,))


def _bits_argument(where: str, a: Any, axis: Any, bitorder: str) -> tuple[Any, int]:
    """The array, and along which dimension its bytes lie; raveled if there is none given."""
    a = as_array(where, a)
    if bitorder not in _SHIFTS:
        raise ValueError(calculus_errors.bit_order(where, bitorder))
    if axis is None:
        return ravel(a), 0
    return a, axis_argument(where, axis, a.ndim)


@composite
def _packed(a: Any, *, axis: int, bitorder: str) -> Any:
    bits = moveaxis(a != 0, axis, -1).astype(_BYTE)
    *batch, count = bits.shape
    whole = -(-count // 8)
    if count % 8:
        padded = np.zeros((*batch, whole * 8), _BYTE)
        bits = as_array("packbits", padded).at[..., :count].set(bits)
    shifted = reshape(bits, (*batch, whole, 8)) << _shifts(bitorder, len(batch) + 2)
    return moveaxis(sum(shifted, axis=-1, dtype=_BYTE), -1, axis)


def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = "big") -> Array:
    """Put eight booleans each into a byte.

    Args:
      a: an array of booleans or integers: what is not 0 is a 1.
      axis: the dimension along which to put them together; None ravels the array. Zeros follow the
        last bits if they fill no byte.
      bitorder: whether the first of eight is the highest bit, "big", or the lowest, "little".

    Returns:
      An array of uint8.

    Raises:
      TypeError: the elements are neither booleans nor integers.
      ValueError: there is no such order.

    >>> import covector.numpy as jnp
    >>> jnp.packbits(jnp.array([1, 0, 0, 0, 0, 0, 1, 1, 1]))
    Array([131, 128], dtype=uint8)
    """
    a, axis = _bits_argument("packbits", a, axis, bitorder)
    if dtype_of(a) != BOOL and not dtypes.issubdtype(dtype_of(a), np.integer):
        raise TypeError(calculus_errors.not_bits("packbits", dtype_of(a)))
    return _packed(a, axis=axis, bitorder=bitorder)


@composite
def _unpacked(a: Any, *, axis: int, count: int | None, bitorder: str) -> Any:
    a = moveaxis(a, axis, -1)
    *batch, size = a.shape
    bits = reshape(
        (a[..., None] >> _shifts(bitorder, a.ndim + 1)) & _BYTE.type(1), (*batch, 8 * size)
    )
    if count is None:
        return moveaxis(bits, -1, axis)
    if count > 8 * size:
        padded = np.zeros((*batch, count), _BYTE)
        bits = as_array("unpackbits", padded).at[..., : 8 * size].set(bits)
    return moveaxis(bits[..., :count], -1, axis)


def unpackbits(
    a: ArrayLike, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """The bits of bytes, each as a byte of its own.

    Args:
      a: an array of uint8.
      axis: the dimension along which the bits of a byte lie; None ravels the array.
      count: how many bits to return along it: zeros follow if there are fewer, and a negative
        number leaves out as many. All of them if not given.
      bitorder: whether the highest bit of each comes first, "big", or the lowest, "little".

    Returns:
      An array of uint8, each 0 or 1.

    Raises:
      TypeError: the elements are not uint8.
      ValueError: there is no such order.

    >>> import covector.numpy as jnp
    >>> jnp.unpackbits(jnp.array([5], dtype="uint8"))
    Array([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    a, axis = _bits_argument("unpackbits", a, axis, bitorder)
    if dtype_of(a) != _BYTE:
        raise TypeError(calculus_errors.not_bytes("unpackbits", dtype_of(a)))
    if count is not None:
        count = index_argument("unpackbits", "count", count)
    return _unpacked(a, axis=axis, count=count, bitorder=bitorder)
