"""The binary representation of floats: mantissa and exponent, and the distance to the next one.

A float is m 2^e with 1/2 <= |m| < 1.  Its bits are a sign, e + bias - 1 in `nexp` bits, and the
digits of m after the first in `nmant` bits; but for zeros, and for the subnormal numbers, whose
first digit is not 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.custom_derivatives import custom_jvp
from ..base import calculus_errors, dtypes
from ..core.array import Array, ArrayLike
from ..ops.conversion import bitcast_convert_type_p
from ..ops.rounding import nextafter_p
from .composite import composite, composite_list
from .parts import copysign
from .promotion import convert, dtype_of, operand, operands, promote_dtypes_inexact, promote_shapes
from .promotion import number as constant
from .selection import clip, where

_EXPONENT = np.dtype(np.int32)


def _layout(dtype: Any) -> tuple[Any, int, int]:
    """The unsigned dtype of as many bits, the number of digits, and the bias of exponents."""
    info = dtypes.finfo(dtype)
    return np.dtype(f"uint{info.bits}"), info.nmant, 1 - info.minexp


def _cast(x: Any, dtype: Any) -> Any:
    return bitcast_convert_type_p.bind(x, new_dtype=np.dtype(dtype))


def _power_of_two(e: Any, dtype: Any) -> Any:
    """2^e, exactly, for exponents of normal numbers."""
    bits, digits, bias = _layout(dtype)
    return _cast(convert(e + bias, bits) << constant(digits, bits), dtype)


@custom_jvp
def _parts(x: Any) -> tuple[Any, Any]:
    """Mantissas and exponents, read from the bits: processors may take subnormal numbers for 0.

    The digits of a subnormal number are an integer, of which as a float the same is read.
    """
    dtype = dtype_of(x)
    bits, digits, bias = _layout(dtype)
    exponents = constant((2 * bias + 1) << digits, bits)
    given = _cast(x, bits)
    fraction = given & constant((1 << digits) - 1, bits)
    subnormal = (given & exponents) == 0
    normal = where(subnormal, _cast(convert(fraction, dtype), bits), given)
    e = convert((normal & exponents) >> constant(digits, bits), _EXPONENT) - (bias - 1)
    e = where(subnormal, e - (bias + digits - 1), e)
    sign = given & constant(1 << dtypes.finfo(dtype).bits - 1, bits)
    digits_of_m = normal & constant((1 << digits) - 1, bits)
    m = sign | digits_of_m | constant((bias - 1) << digits, bits)
    keeps = (subnormal & (fraction == 0)) | ((given & exponents) == exponents)
    return _cast(where(keeps, given, m), dtype), where(keeps, 0, e)


@_parts.defjvp
def _parts_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    """The exponent is constant piece by piece, so the mantissa is x 2^-e for a constant e.

    The power is one product of two, since it need not be a normal number itself.
    """
    (x,), (t,) = primals, tangents
    m, e = _parts(x)
    half = -e // 2
    slope = _power_of_two(half, dtype_of(x)) * _power_of_two(-e - half, dtype_of(x))
    return (m, e), (t * slope, np.zeros(np.shape(e), dtypes.float0))


@composite_list
def _frexp(x: Any) -> list[Any]:
    return list(_parts(*promote_dtypes_inexact(x)))


def frexp(x: ArrayLike, /) -> tuple[Array, Array]:
    """Elementwise the mantissa m and the exponent e, such that x = m 2^e and 1/2 <= |m| < 1.

    Args:
      x: an array of real numbers.

    Returns:
      The mantissas, as floats, and the exponents, as int32. For 0, infinities and NaN they are the
      number itself and 0.

    Raises:
      TypeError: the numbers are complex.

    >>> import covector.numpy as jnp
    >>> jnp.frexp(jnp.array([8.0, 3.0]))
    (Array([0.5 , 0.75], dtype=float32), Array([4, 2], dtype=int32))
    """
    x = operand("frexp", x)
    if dtypes.issubdtype(dtype_of(x), np.complexfloating):
        raise TypeError(calculus_errors.not_for_complex("frexp", dtype_of(x)))
    m, e = _frexp(x)
    return m, e


@composite
def _ldexp(x: Any, n: Any) -> Any:
    """m 2^(e + n) in two steps, of which only the last one rounds, since |m| is about 1."""
    (x,) = promote_dtypes_inexact(x)
    x, n = promote_shapes("ldexp", x, n)
    dtype = dtype_of(x)
    m, e = _parts(x)
    _, digits, bias = _layout(dtype)
    # Beyond these limits the result is 0 or infinite anyway; the sum below does not overflow.
    info, limit = dtypes.iinfo(dtype_of(n)), 4 * (bias + digits)
    n = convert(clip(n, max(info.min, -limit), min(info.max, limit)), _EXPONENT)
    e = clip(e + n, -2 * (bias - 1), 2 * bias)
    half = e // 2
    return m * _power_of_two(half, dtype) * _power_of_two(e - half, dtype)


def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Elementwise x1 2^x2, the inverse of `frexp`.

    Args:
      x1: an array of real numbers.
      x2: an array of integers.

    Returns:
      An array of floats, exact but for overflow and underflow.

    Raises:
      ValueError: `x1` is complex, or `x2` is not of integers.

    >>> import covector.numpy as jnp
    >>> jnp.ldexp(jnp.array([0.5, 0.75]), jnp.array([4, 2]))
    Array([8., 3.], dtype=float32)
    """
    x1, x2 = operands("ldexp", (x1, x2))
    kinds = dtype_of(x1), dtype_of(x2)
    if dtypes.issubdtype(kinds[0], np.complexfloating) or dtypes.issubdtype(kinds[1], np.inexact):
        raise ValueError(calculus_errors.ldexp_dtypes(*kinds))
    if kinds[1] == np.bool_:
        x2 = convert(x2, _EXPONENT)
    return _ldexp(x1, x2)


@composite
def _spacing(x: Any) -> Any:
    (x,) = promote_dtypes_inexact(x)
    dtype = dtype_of(x)
    infinity = constant(np.inf, dtype)
    if dtype == np.float16:  # as NumPy, which goes up in this dtype and away from 0 in the others
        return nextafter_p.bind(x, infinity) - x
    away = copysign(infinity, x)
    gap = nextafter_p.bind(x, away) - x
    # Next to 0 the gap is a subnormal number, which a processor may take for 0.
    least = constant(dtypes.finfo(dtype).smallest_subnormal, dtype)
    return where(gap == 0, copysign(least, x), gap)


def spacing(x: ArrayLike, /) -> Array:
    """Elementwise the distance to the next float that is farther from 0, with the sign of `x`.

    Args:
      x: an array of real numbers.

    Returns:
      An array of floats; NaN for infinities.

    Raises:
      ValueError: the numbers are complex.

    >>> import covector.numpy as jnp
    >>> jnp.spacing(jnp.array([1.0, 2.0])) == jnp.finfo("float32").eps * jnp.array([1, 2])
    Array([ True,  True], dtype=bool)
    """
    x = operand("spacing", x)
    if dtypes.issubdtype(dtype_of(x), np.complexfloating):
        raise ValueError(calculus_errors.not_for_complex("spacing", dtype_of(x)))
    return _spacing(x)
