"""The arguments of samplers: keys, shapes, dtypes and parameters of distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..api.devices import device_put
from ..base import config, dtypes, random_errors
from ..base.dtypes import TypePromotionError
from ..base.keys import KeyTy, PRNGImpl, generators
from ..base.shape_errors import negative_sizes
from ..base.shapes import canonicalize_shape
from ..base.warn import warn
from ..core.array import Array
from ..core.avals import is_valid_type
from ..ops.random_keys import random_unwrap_p, random_wrap_p
from ..ops.shaping import broadcast_shapes

# ---------------------------------------------------------------- keys


def default_generator() -> PRNGImpl:
    """The generator that the flag `default_prng_impl` names."""
    return generators[config.default_prng_impl.value]


def any_keys(x: Any) -> tuple[Any, bool]:
    """An array of keys from one, or from the raw numbers of keys of the default generator.

    Returns:
      The keys, and whether `x` holds raw numbers.
    """
    if isinstance(x, Array) and type(x.dtype) is KeyTy:
        return x, False
    if not is_valid_type(x) and not hasattr(type(x), "__jax_array__"):
        raise TypeError(random_errors.not_a_key(x))
    if not hasattr(x, "dtype"):
        raise TypeError(random_errors.key_data_not_array(x))
    keys = random_wrap_p.bind(x, impl=default_generator())
    if config.legacy_prng_key.value != "allow" or config.enable_custom_prng.value:
        _discourage_raw_keys()
    return keys, True


def _discourage_raw_keys() -> None:
    """Warn, or raise, as the flags say that it should be about raw numbers as keys."""
    mode = config.legacy_prng_key.value
    if mode == "error":
        raise ValueError(random_errors.legacy_key())
    if mode == "warn":
        warn(random_errors.legacy_key())
    else:
        warn(random_errors.raw_key_deprecated(), FutureWarning)


def key_or_raw(where: str, x: Any) -> tuple[Any, bool]:
    """A single key, and whether it was given as raw numbers."""
    key, raw = any_keys(x)
    if key.ndim:
        raise ValueError(random_errors.key_is_batch(where, np.shape(x)))
    return key, raw


def single_key(where: str, x: Any) -> Any:
    """The key that was given to a sampler."""
    return key_or_raw(where, x)[0]


def as_given(keys: Any, raw: bool) -> Any:
    """New keys in the form in which the key that they come from was given."""
    return random_unwrap_p.bind(keys) if raw and not config.enable_custom_prng.value else keys


# ---------------------------------------------------------------- dtypes


def float_dtype(where: str, dtype: Any) -> np.dtype:
    """The dtype of the samples of a continuous distribution."""
    return _dtype_of_kind(where, float if dtype is None else dtype, np.floating, "a float")


def inexact_dtype(where: str, dtype: Any) -> np.dtype:
    """The dtype of samples that may be complex."""
    kind = "a float or complex"
    return _dtype_of_kind(where, float if dtype is None else dtype, np.inexact, kind)


def _dtype_of_kind(where: str, dtype: Any, kind: Any, words: str) -> np.dtype:
    dtype = dtypes.check_user_dtype_supported(dtype, f"random.{where}")
    if not dtypes.issubdtype(dtype, kind):
        raise ValueError(random_errors.dtype_kind(where, words, dtype))
    return dtype


def any_dtype(where: str, dtype: Any, default: type) -> Any:
    """A dtype that was asked for, whatever its kind."""
    return dtypes.check_user_dtype_supported(default if dtype is None else dtype, f"random.{where}")


def check_safe_to_cast(where: str, dtype: Any, *parameters: Any) -> None:
    """Raise if the dtype of the samples is narrower than that of a parameter."""
    for x in parameters:
        if not dtypes.safe_to_cast(x, dtype):
            have = dtypes.dtype_of(x)
            raise TypePromotionError(random_errors.unsafe_cast(where, have, dtype))


# ---------------------------------------------------------------- shapes


def sample_shape(where: str, shape: Any) -> tuple[int, ...]:
    """The shape that was asked for, as a tuple; an integer stands for one dimension."""
    sizes = canonicalize_shape((shape,) if isinstance(shape, int) else shape, f"random.{where}")
    if any(size < 0 for size in sizes):
        raise TypeError(negative_sizes(f"[random.{where}] The", "shape", sizes))
    return sizes


def shape_or_none(where: str, shape: Any) -> tuple[int, ...] | None:
    """The shape that was asked for, if one was."""
    return None if shape is None else sample_shape(where, shape)


def check_shape(where: str, shape: tuple[int, ...], *of_parameters: Sequence[int]) -> None:
    """Raise unless the parameters broadcast to the shape of the samples."""
    result = broadcast_shapes(shape, *of_parameters)
    if result != shape:
        raise ValueError(random_errors.shape_mismatch(where, shape, result))


def broadcast_shape(where: str, shape: Any, *parameters: Any) -> tuple[int, ...]:
    """The shape of samples whose parameters broadcast: the one asked for, or the common one."""
    shapes = [np.shape(x) for x in parameters]
    if shape is None:
        return broadcast_shapes(*shapes)
    shape = sample_shape(where, shape)
    check_shape(where, shape, *shapes)
    return shape


def placed(samples: Any, out_sharding: Any) -> Any:
    """The samples where the user wants them."""
    return samples if out_sharding is None else device_put(samples, out_sharding)


# ---------------------------------------------------------------- families of samplers


def standard(
    where: str, sampler: Any, key: Any, shape: Any, dtype: Any, out_sharding: Any = None
) -> Any:
    """Floats from a distribution without parameters, by the program `sampler`."""
    key = single_key(where, key)
    dtype = float_dtype(where, dtype)
    shape = sample_shape(where, shape)
    return placed(sampler(key, shape=shape, dtype=dtype), out_sharding)


def parametrized(
    where: str,
    sampler: Any,
    key: Any,
    parameters: Sequence[Any],
    shape: Any,
    dtype: Any,
    out_sharding: Any = None,
) -> Any:
    """Floats from a distribution whose parameters broadcast to the shape of the samples."""
    key = single_key(where, key)
    dtype = float_dtype(where, dtype)
    shape = broadcast_shape(where, shape, *parameters)
    check_safe_to_cast(where, dtype, *parameters)
    return placed(sampler(key, *parameters, shape=shape, dtype=dtype), out_sharding)
