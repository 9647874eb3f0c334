"""Arrays of one value, and the dtype of a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes, elementwise_errors
from ..base.keys import KeyTy
from ..base.shapes import canonicalize_shape
from ..core.array import Array
from ..core.trace import Tracer
from .conversion import convert
from .identities import stage
from .linear import broadcast_in_dim
from .random_keys import filled_keys
from .transfer import device_put


def full(
    shape: Sequence[int], fill_value: Any, dtype: Any = None, *, sharding: Any = None
) -> Array:
    """An array with the same value everywhere.

    Args:
      shape: the shape of the array.
      fill_value: the value, a number or an array of rank 0.
      dtype: the dtype of the array; by default that of `fill_value`.
      sharding: the device or sharding to put the array on; by default the default device.

    Returns:
      An array of that shape; weakly typed if its dtype is that of a Python number.

    Raises:
      TypeError: `fill_value` is not a scalar.

    >>> from covector import lax
    >>> lax.full((2, 3), 7, "float32")
    Array([[7., 7., 7.],
           [7., 7., 7.]], dtype=float32)
    """
    if dtype is None:
        dtype, weak_type = dtypes.dtype_and_weak_type(fill_value)
    else:
        dtype, weak_type = dtypes.check_user_dtype_supported(dtype, "lax.full"), False
    return _filled(canonicalize_shape(shape, "lax.full"), fill_value, dtype, weak_type, sharding)


def full_like(
    x: Any, fill_value: Any, dtype: Any = None, shape: Any = None, sharding: Any = None
) -> Array:
    """An array with the same value everywhere, of the type of another array.

    Args:
      x: the array, or anything with a shape and a dtype, whose type is taken.
      fill_value: the value, a number or an array of rank 0.
      dtype: the dtype of the result, if not that of `x`.
      shape: the shape of the result, if not that of `x`.
      sharding: the device or sharding to put the array on; by default that of `x` if it is
        committed to one.

    Returns:
      An array; weakly typed if `x` is, and `dtype` is not given.

    Raises:
      TypeError: `fill_value` is not a scalar.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.full_like(np.arange(3), 7)
    Array([7, 7, 7], dtype=int32)
    """
    shape = np.shape(x) if shape is None else canonicalize_shape(shape, "lax.full_like")
    if dtype is None:
        dtype, weak_type = dtypes.dtype_and_weak_type(x)
    else:
        dtype, weak_type = dtypes.check_user_dtype_supported(dtype, "lax.full_like"), False
    if sharding is None and not weak_type and getattr(x, "committed", False):
        sharding = x.sharding
    return _filled(shape, fill_value, dtype, weak_type, sharding)


def _filled(
    shape: tuple[int, ...], value: Any, dtype: Any, weak_type: bool, sharding: Any
) -> Array:
    if np.shape(value):
        raise TypeError(elementwise_errors.full_of_non_scalar(np.shape(value)))
    if isinstance(dtype, KeyTy) and dtypes.dtype_of(value) != dtype:
        return filled_keys(shape, value, dtype)
    value = convert(value, dtype, weak_type)
    out = broadcast_in_dim(value, shape, ()) if shape else stage(value)
    if sharding is None or isinstance(out, Tracer):  # a program's outputs are placed by its caller
        return out
    return device_put(out, sharding)


def dtype(x: Any) -> Any:
    """The dtype of an array or a number; if it is a 64-bit one, as `enable_x64` has it.

    Args:
      x: an array, a number, or anything that has a dtype.

    Returns:
      A NumPy dtype, or an extended one.

    >>> from covector import lax
    >>> lax.dtype(1.5)
    dtype('float32')
    """
    return dtypes.dtype_of(x)
