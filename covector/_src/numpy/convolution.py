"""Convolutions of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import convolution_errors, dtypes
from ..core.array import Array, ArrayLike
from ..ops.complex import conj_p
from ..ops.convolution import conv_general_dilated
from ..ops.linear import expand_dims
from ..ops.precision import canonicalize_precision
from ..ops.shaping import rev, squeeze
from .composite import composite
from .promotion import dtype_of, operands, promote_dtypes, promote_dtypes_inexact, shape_of

MODES = ("full", "same", "valid")


@composite
def _products(
    a: Any, v: Any, *, mode: str, reverses: bool, conjugates: bool, precision: Any, dtype: Any
) -> Any:
    """The sums of products of a with v at each place of v.

    Args:
      a, v: vectors.
      mode: which places: all where they meet, as many as the longer has elements, or where the
        shorter is within the longer.
      reverses: whether v is reversed.
      conjugates: whether v is conjugated.
      precision: how exactly to compute.
      dtype: that in which products are added up, or None.
    """
    a, v = (promote_dtypes_inexact if dtype is None else promote_dtypes)(a, v)
    if conjugates and dtypes.issubdtype(dtype_of(v), np.complexfloating):
        v = conj_p.bind(v, input_dtype=dtype_of(v))
    swaps = shape_of(a)[0] < shape_of(v)[0]
    if swaps:  # the longer one stands still: convolution commutes, correlation all but
        a, v = v, a
    if reverses:
        v = rev(v, (0,))
    (count,) = shape_of(v)
    padding = {
        "full": (count - 1, count - 1),
        "same": (count // 2, count - count // 2 - 1),
        "valid": (0, 0),
    }[mode]
    a, v = expand_dims(a, (0, 1)), expand_dims(v, (0, 1))
    out = conv_general_dilated(
        a, v, (1,), [padding], precision=precision, preferred_element_type=dtype
    )
    out = squeeze(out, (0, 1))
    return rev(out, (0,)) if swaps and not reverses else out


def _checked(name: str, a: Any, v: Any, mode: Any, precision: Any, dtype: Any) -> dict[str, Any]:
    """The arguments of `_products` that `convolve` and `correlate` have in common."""
    a, v = operands(name, (a, v))
    shapes = shape_of(a), shape_of(v)
    if any(len(shape) != 1 for shape in shapes):
        raise ValueError(convolution_errors.not_vectors(name, shapes))
    if (0,) in shapes:
        raise ValueError(convolution_errors.empty_vectors(name, shapes))
    if mode not in MODES:
        raise ValueError(convolution_errors.unknown_mode(name, mode))
    if dtype is not None:
        dtype = dtypes.check_user_dtype_supported(dtype, name)
    return dict(a=a, v=v, mode=mode, precision=canonicalize_precision(precision), dtype=dtype)


def convolve(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "full",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The convolution of two vectors: the sums of a[i] v[n - i] over i, for each n.

    Args:
      a, v: vectors that are not empty. Integers become floats, unless `preferred_element_type` is
        given.
      mode: `"full"` for all n at which the vectors meet, `"same"` for as many in the middle as the
        longer vector has elements, `"valid"` for those at which the shorter is within the longer.
      precision: how exactly to compute, as for `dot`.
      preferred_element_type: the dtype in which products are added up and returned.

    Returns:
      A vector. `ValueError` is raised if an argument is not of these kinds.

    >>> import covector.numpy as jnp
    >>> jnp.convolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0]))
    Array([ 1., 12., 23., 30.], dtype=float32)
    >>> jnp.convolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0]), mode="valid")
    Array([12., 23.], dtype=float32)
    """
    checked = _checked("convolve", a, v, mode, precision, preferred_element_type)
    return _products(checked.pop("a"), checked.pop("v"), reverses=True, conjugates=False, **checked)


def correlate(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "valid",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The correlation of two vectors: the sums of a[n + i] conj(v[i]) over i, for each n.

    The arguments are those of `convolve`.

    >>> import covector.numpy as jnp
    >>> jnp.correlate(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0]))
    Array([21., 32.], dtype=float32)
    """
    checked = _checked("correlate", a, v, mode, precision, preferred_element_type)
    return _products(checked.pop("a"), checked.pop("v"), reverses=False, conjugates=True, **checked)
