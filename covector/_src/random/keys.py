"""Keys: where they come from, how others are derived from them, what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import config, dtypes, random_errors
from ..base.keys import KeyTy, PRNGImpl, generators, key_type, register_prng
from ..control.random_keys import random_fold_in_p, random_seed_p, random_split_p
from ..core.array import Array
from ..numpy.creation import asarray
from ..ops.random_keys import random_clone_p, random_unwrap_p, random_wrap_p
from .arguments import any_keys, as_given, default_generator, key_or_raw, sample_shape
from .counter_based import philox2x32_prng_impl, philox4x32_prng_impl, threefry4x32_prng_impl
from .key_reuse import watch_keys
from .rbg import rbg_prng_impl, unsafe_rbg_prng_impl
from .threefry import threefry_prng_impl

# ---------------------------------------------------------------- generators by name

watch_keys()
for _impl in (
    threefry_prng_impl,
    threefry4x32_prng_impl,
    philox2x32_prng_impl,
    philox4x32_prng_impl,
    rbg_prng_impl,
    unsafe_rbg_prng_impl,
):
    register_prng(_impl)


@dataclass(frozen=True, slots=True, repr=False)
class PRNGSpec:
    """What `key_impl` says of keys whose generator has no name that it could be asked for by."""

    _impl: PRNGImpl

    def __str__(self) -> str:
        return self._impl.tag

    def __repr__(self) -> str:
        return f"PRNGSpec({self._impl.name!r})"


def generator_of(spec: Any) -> PRNGImpl:
    """The generator that a user means by a name, a dtype, or what `key_impl` returns."""
    if spec is None:
        return default_generator()
    if isinstance(spec, PRNGImpl):
        return spec
    if isinstance(spec, (PRNGSpec, KeyTy)):
        return spec._impl
    if not isinstance(spec, str):
        raise TypeError(random_errors.not_a_generator(type(spec)))
    if spec not in generators:
        raise ValueError(random_errors.unknown_generator(spec, generators))
    return generators[spec]


def _impl_or_dtype(where: str, impl: Any, dtype: Any) -> PRNGImpl:
    if impl is not None and dtype is not None:
        raise ValueError(random_errors.impl_and_dtype(where))
    return generator_of(impl if dtype is None else dtype)


def define_prng_impl(
    *,
    key_shape: tuple[int, ...],
    seed: Callable[..., Any],
    split: Callable[..., Any],
    random_bits: Callable[..., Any],
    fold_in: Callable[..., Any],
    name: str = "<unnamed>",
    tag: str = "?",
) -> PRNGSpec:
    """A generator of one's own, which `random.key(seed, impl=...)` makes keys of.

    Args:
      key_shape: the shape of a key, as a uint32 array.
      seed: `seed(integer)` is a key; as all of these functions, it must be traceable.
      split: `split(key, shape)` is an array of keys, of the shape (*shape, *key_shape).
      random_bits: `random_bits(key, bit_width, shape)` is an array of unsigned integers.
      fold_in: `fold_in(key, integer)` is a key.
      name: names the generator.
      tag: names it in dtypes, as in `key<fry>[]`.

    Returns:
      What says which generator is meant.

    >>> import covector.numpy as jnp
    >>> from covector import extend, random
    >>> impl = extend.random.define_prng_impl(
    ...     key_shape=(1,),
    ...     seed=lambda seed: jnp.asarray(seed, "uint32").reshape(1),
    ...     split=lambda key, shape: key + 1 + jnp.arange(shape[0], dtype="uint32")[:, None],
    ...     random_bits=lambda key, width, shape: jnp.full(shape, key[0], f"uint{width}"),
    ...     fold_in=lambda key, data: key + data,
    ...     tag="mine",
    ... )
    >>> random.bits(random.key(7, impl=impl), (2,))
    Array([7, 7], dtype=uint32)
    """
    functions = dict(seed=seed, split=split, random_bits=random_bits, fold_in=fold_in)
    return PRNGSpec(PRNGImpl(tuple(key_shape), **functions, name=name, tag=tag))


def key_dtype(impl_spec: Any = None) -> KeyTy:
    """The dtype of the keys of a generator.

    Args:
      impl_spec: the generator, by name (`"threefry2x32"`) or as `key_impl` gives it; the default
        generator if it is None.

    >>> from covector import random
    >>> random.key_dtype(), random.key_dtype("rbg")
    (key<fry>, key<rbg>)
    """
    return key_type(generator_of(impl_spec))


# ---------------------------------------------------------------- from seeds


def _seeded(where: str, seed: Any, impl: PRNGImpl) -> Any:
    dtype = getattr(seed, "dtype", None)
    if isinstance(dtype, dtypes.ExtendedDType):
        raise TypeError(random_errors.seed_is_key(where))
    if np.ndim(seed):
        raise TypeError(random_errors.seed_not_scalar(where, np.shape(seed)))
    return random_seed(seed, impl)


def random_seed(seeds: Any, impl: PRNGImpl) -> Any:
    """Keys of a generator from integers, one from each.

    Python's integers of 64 bits are seeds too; of those only the lower 32 bits are heeded, unless
    `enable_x64` is on.

    >>> random_seed(7, default_generator()).dtype
    key<fry>
    """
    seeds = asarray(np.int64(seeds) if isinstance(seeds, int) else seeds)
    offset = config.random_seed_offset.value
    return random_seed_p.bind(seeds + offset if offset else seeds, impl=impl)


def seed_with_impl(impl: PRNGImpl, seed: Any) -> Any:
    """A key of the given generator from an integer; see `random_seed`."""
    return random_seed(seed, impl)


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Array:
    """A random key from an integer.

    A key is what the samplers read: the same key gives the same numbers. Where different numbers
    are wanted, derive new keys from it with `split` or `fold_in`, and use each of them once.

    Args:
      seed: an integer, or an integer array of rank 0.
      impl: the generator, by name; by default that of the flag `jax_default_prng_impl`.
      dtype: the same, as the dtype of the key or by name.

    Returns:
      A key: an array of rank 0 with the generator's dtype.

    Raises:
      TypeError: the seed is no integer scalar.
      ValueError: there is no such generator, or both `impl` and `dtype` are given.

    >>> from covector import random
    >>> random.key(42)
    Array((), dtype=key<fry>) overlaying:
    [ 0 42]
    """
    return _seeded("key", seed, _impl_or_dtype("random.key", impl, dtype))


def PRNGKey(seed: Any, *, impl: Any = None) -> Array:
    """A random key in the older form, as the uint32 numbers that it is made of.

    Such an array does not say which generator it belongs to: the default one is assumed where it
    is used. Prefer `key`.

    Args:
      seed: an integer, or an integer array of rank 0.
      impl: the generator, by name; by default that of the flag `jax_default_prng_impl`.

    Returns:
      A uint32 array of the shape that the generator's keys have.

    >>> from covector import random
    >>> random.PRNGKey(42)
    Array([ 0, 42], dtype=uint32)
    """
    return as_given(_seeded("PRNGKey", seed, generator_of(impl)), True)


# ---------------------------------------------------------------- from keys


def split(key: Any, num: int | tuple[int, ...] = 2) -> Array:
    """New keys from a key, which itself should not be used again.

    Args:
      key: a random key.
      num: how many keys to make, or in which shape.

    Returns:
      An array of keys of the shape `num`, typed or raw as `key` is. The first keys of `split(key,
      3)` are those of `split(key, 2)`, and are `fold_in(key, 0)` and so on.

    Raises:
      ValueError: `key` is an array of keys.

    >>> from covector import random
    >>> noise, steps = random.split(random.key(0))
    >>> random.split(noise, (2, 3)).shape
    (2, 3)
    """
    typed, raw = key_or_raw("split", key)
    return as_given(new_keys(typed, num), raw)


def new_keys(key: Any, num: int | Sequence[int] = 2) -> Any:
    """`split` of a typed key, for use within samplers."""
    shape = (num,) if isinstance(num, int) else num
    return random_split_p.bind(key, shape=sample_shape("split", _as_sequence(shape)))


def _as_sequence(shape: Any) -> Any:
    return shape if isinstance(shape, Sequence) else (shape,)


def fold_in(key: Any, data: Any) -> Array:
    """A new key from a key and an integer, such as the number of a step.

    Args:
      key: a random key.
      data: a scalar of 32 bits.

    Returns:
      A key, typed or raw as `key` is.

    Raises:
      TypeError: `data` is no scalar.
      ValueError: `key` is an array of keys.

    >>> from covector import random
    >>> base = random.key(0)
    >>> bool(random.fold_in(base, 1) == random.fold_in(base, 2))
    False
    """
    typed, raw = key_or_raw("fold_in", key)
    if np.ndim(data):
        raise TypeError(random_errors.fold_in_not_scalar(np.shape(data)))
    data = asarray(data, dtype="uint32")
    return as_given(random_fold_in_p.bind(typed, data), raw)


def clone(key: Any) -> Array:
    """The same key, which may be used once more: `debug_key_reuse` takes it for a new one.

    >>> from covector import random
    >>> key = random.key(0)
    >>> bool(random.clone(key) == key)
    True
    """
    return random_clone_p.bind(key)


# ---------------------------------------------------------------- what keys are made of


def key_impl(keys: Any) -> str | PRNGSpec:
    """The generator that keys belong to: its name, as `key` and `wrap_key_data` take it.

    >>> from covector import random
    >>> random.key_impl(random.key(0))
    'threefry2x32'
    """
    impl = any_keys(keys)[0].dtype._impl
    return impl.name if impl.name in generators else PRNGSpec(impl)


def key_data(keys: Any) -> Array:
    """The numbers that keys are made of.

    Args:
      keys: an array of keys, of any shape.

    Returns:
      A uint32 array; the numbers of a key are in its last dimensions.

    >>> from covector import random
    >>> random.key_data(random.key(42))
    Array([ 0, 42], dtype=uint32)
    """
    return random_unwrap_p.bind(any_keys(keys)[0])


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Array:
    """Keys from the numbers that they are made of; the inverse of `key_data`.

    Args:
      key_bits_array: a uint32 array, with the numbers of a key in its last dimensions.
      impl: the generator, by name; by default that of the flag `jax_default_prng_impl`.
      dtype: the same, as the dtype of the keys or by name.

    Returns:
      An array of keys.

    Raises:
      TypeError: the dtype or the last dimensions are not those of such keys.

    >>> from covector import random
    >>> key = random.key(42)
    >>> bool(random.wrap_key_data(random.key_data(key), dtype=key.dtype) == key)
    True
    """
    impl = _impl_or_dtype("random.wrap_key_data", impl, dtype)
    return random_wrap_p.bind(key_bits_array, impl=impl)
