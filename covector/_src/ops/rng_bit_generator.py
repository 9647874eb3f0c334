"""XLA's own random bits: which ones depends on the platform, and on XLA's version.

They are faster than those of a cipher written in arithmetic, on platforms with a kernel for them.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes, random_errors
from ..base.keys import UINT32
from ..base.shapes import canonicalize_shape
from ..core.avals import ShapedArray, aval_of
from ..core.primitive import BuiltinPrimitive
from ..core.zeros import Zero
from .base import Op
from .dynamic_slicing import dynamic_update_slice_p
from .families import FLOATS, check_accepts, check_same_dtypes
from .joining import apply_to_each
from .linear import expand_dims, move_axis, scalar
from .slicing import index_in_dim

UINT64 = np.dtype(np.uint64)
_WIDTHS = tuple(np.dtype(f"uint{width}") for width in (8, 16, 32, 64))


class RandomAlgorithm(enum.IntEnum):
    """A generator of XLA's."""

    RNG_DEFAULT = 0  # the one that is fastest on the platform
    RNG_THREE_FRY = 1  # Threefry-2x32
    RNG_PHILOX = 2  # Philox-4x32

    def __str__(self) -> str:
        return self.name


class RngBitGenerator(BuiltinPrimitive):
    """The next state of a generator, and random bits.

    The state is four words of 32 bits, or two of 64, as XLA has it.
    """

    multiple_results = True

    def abstract_eval(self, key, *, shape, dtype, algorithm, out_sharding):
        if (key.shape, key.dtype) not in (((4,), UINT32), ((2,), UINT64)):
            raise TypeError(random_errors.generator_state(key))
        return [ShapedArray(key.shape, key.dtype), ShapedArray(shape, dtype)]

    def jvp(self, primals, tangents, **params):
        outs = self.bind(*primals, **params)
        return outs, [Zero(aval_of(out).to_tangent_aval()) for out in outs]

    def vmap(self, axis, dims, keys, *, shape, **params):
        # All bits are drawn from the first state, and only it moves on: as many separate draws
        # would run one after another.
        keys = move_axis(keys, dims[0], 0)
        first = index_in_dim(keys, 0, keepdims=False)
        state, bits = self.bind(first, shape=(axis.size, *shape), **params)
        start = (scalar(0, np.int32),) * 2
        return [dynamic_update_slice_p.bind(keys, expand_dims(state, (0,)), *start), bits], [0, 0]

    def emit(self, b, key, *, shape, dtype, algorithm, out_sharding):
        of_key, of_bits = b.avals_out
        pairs, state = ShapedArray((2, 2), UINT32), ShapedArray((2,), UINT64)
        if of_key.dtype == UINT32:
            key = b.op("bitcast_convert", b.op("reshape", key, out=pairs), out=state)
        name = RandomAlgorithm(algorithm).name.removeprefix("RNG_")
        attributes = dict(rng_algorithm=f"#stablehlo<rng_algorithm {name}>")
        key, bits = b.op("rng_bit_generator", key, out=[state, of_bits], **attributes)
        if of_key.dtype == UINT32:
            key = b.op("reshape", b.op("bitcast_convert", key, out=pairs), out=of_key)
        return [key, bits]


rng_bit_generator_p = RngBitGenerator("rng_bit_generator")


def rng_bit_generator(
    key: Any,
    shape: Sequence[int],
    dtype: Any = np.uint32,
    algorithm: Any = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: Any = None,
) -> Any:
    """Random bits of XLA's own generators; prefer `covector.random`, whose bits are the same
    everywhere.

    Args:
      key: the state, a uint32 array of shape (4,) or a uint64 array of shape (2,).
      shape: the shape of the result.
      dtype: an unsigned dtype.
      algorithm: the generator.
      out_sharding: how the result is to be sharded.

    Returns:
      The next state, and an array of bits. Under `vmap` over states, all bits are drawn from the
      first of them.

    Raises:
      TypeError: the state or the dtype is no such array or dtype.

    >>> import numpy as np
    >>> from covector import lax
    >>> state, bits = lax.rng_bit_generator(np.arange(4, dtype="uint32"), (2, 3))
    >>> bits.shape, bits.dtype
    ((2, 3), dtype('uint32'))
    """
    shape = canonicalize_shape(shape, "rng_bit_generator")
    dtype = dtypes.check_user_dtype_supported(dtype, "rng_bit_generator")
    if dtype not in _WIDTHS:
        raise TypeError(random_errors.generator_dtype(dtype))
    return tuple(
        rng_bit_generator_p.bind(
            key, shape=shape, dtype=dtype, algorithm=algorithm, out_sharding=out_sharding
        )
    )


class RngUniform(Op):
    """Random numbers between two scalars, from a generator without a state of ours."""

    def shape(self, a, b, *, shape):
        if a.shape or b.shape:
            raise ValueError(random_errors.bounds_not_scalar(a.shape, b.shape))
        return shape

    def dtype(self, a, b, *, shape):
        check_accepts(self.name, FLOATS, (a, b))
        check_same_dtypes(self.name, (a, b))
        return a.dtype

    def weak_type(self, a, b, *, shape):
        return False

    def jvp(self, primals, tangents, *, shape):
        out = self.bind(*primals, shape=shape)
        return out, Zero(aval_of(out).to_tangent_aval())

    def vmap(self, axis, dims, *args, shape):
        return apply_to_each(self, axis, dims, args, dict(shape=shape))[0], 0

    def emit(self, b, low, high, *, shape):
        sizes = b.constant(np.array(shape, np.int64))
        uniform = "#stablehlo<rng_distribution UNIFORM>"
        return b.op("rng", low, high, sizes, rng_distribution=uniform)


rng_uniform_p = RngUniform("rng_uniform")


def rng_uniform(a: Any, b: Any, shape: Sequence[int]) -> Any:
    """Random numbers between two bounds that are other ones each time; prefer `covector.random`.

    Args:
      a, b: the bounds, scalars.
      shape: the shape of the result.

    Returns:
      An array of that shape, and of the bounds' dtype.

    Raises:
      ValueError: a bound is no scalar.

    >>> from covector import lax
    >>> lax.rng_uniform(0.0, 1.0, (2, 3)).shape
    (2, 3)
    """
    return rng_uniform_p.bind(a, b, shape=canonicalize_shape(shape, "rng_uniform"))
