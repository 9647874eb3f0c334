"""Signs, moduli, parts of complex numbers, rounding, and kinds of floating point numbers."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..core.array import Array, ArrayLike
from ..ops.arithmetic import add_p, div_p, mul_p, neg_p, sign_p, sub_p
from ..ops.bitwise import and_p, or_p, shift_right_arithmetic_p
from ..ops.comparison import eq_p, ge_p, gt_p, lt_p, ne_p
from ..ops.complex import abs_p, complex_p, conj_p, imag_p, real_p
from ..ops.conversion import bitcast_convert_type_p
from ..ops.linear import constant_like as like
from ..ops.rounding import RoundingMethod, ceil_p, floor_p, is_finite_p, nextafter_p, round_p
from ..ops.trigonometric import atan2_p
from .aliases import alias
from .arguments import check_no_out
from .arithmetic import floor_divide_integers
from .composite import composite, composite_list
from .creation import filled
from .dispatch import binary, inexact, unary
from .promotion import (
    BOOL,
    INEXACT,
    SIGNED,
    as_array,
    convert,
    dtype_of,
    number,
    operand,
    operands,
    own,
    promote_dtypes_inexact,
    promote_inexact,
    shape_of,
)
from .selection import select_where

_UNSIGNED_OR_BOOL = (np.unsignedinteger, np.bool_)


def _is_any(dtype: Any, *kinds: Any) -> bool:
    return any(dtypes.issubdtype(dtype, kind) for kind in kinds)


# ---------------------------------------------------------------- signs and moduli


def absolute(x: ArrayLike, /) -> Array:
    """Elementwise modulus; that of complex numbers is real.

    >>> import covector.numpy as jnp
    >>> jnp.absolute(jnp.array([-1.0, 2.0]))
    Array([1., 2.], dtype=float32)
    """
    if not own[type(x)] or x.aval.dtype not in SIGNED:
        x = operand("absolute", x)
        if _is_any(dtype_of(x), *_UNSIGNED_OR_BOOL):
            return as_array("absolute", x)
    return abs_p.bind(x)


abs = alias("abs", absolute)


def fabs(x: ArrayLike, /) -> Array:
    """Elementwise modulus of real numbers, as floating point numbers.

    >>> import covector.numpy as jnp
    >>> jnp.fabs(jnp.array([-1, 2]))
    Array([1., 2.], dtype=float32)
    """
    x = operand("fabs", x)
    if dtype_of(x).kind == "c":
        raise TypeError(numpy_errors.not_for_complex("fabs", dtype_of(x)))
    return unary(abs_p, "fabs", INEXACT, x)


def sign(x: ArrayLike, /) -> Array:
    """Elementwise -1, 0 or 1; of complex numbers x / |x|.

    >>> import covector.numpy as jnp
    >>> jnp.sign(jnp.array([-3.0, 0.0, 5.0]))
    Array([-1.,  0.,  1.], dtype=float32)
    """
    return sign_p.bind(operand("sign", x))


@composite
def _signbit(x: Any) -> Any:
    bits = dtypes.itemsize_bits(dtype_of(x))
    integer = np.dtype(f"int{bits}")
    if not _is_any(dtype_of(x), np.integer):
        x = bitcast_convert_type_p.bind(x, new_dtype=integer)
    sign_bit = shift_right_arithmetic_p.bind(x, number(bits - 1, integer))
    return convert(sign_bit, BOOL)


def signbit(x: ArrayLike, /) -> Array:
    """Elementwise whether a real number carries a minus sign; -0.0 does.

    >>> import covector.numpy as jnp
    >>> jnp.signbit(jnp.array([-1.0, 0.0, -0.0]))
    Array([ True, False,  True], dtype=bool)
    """
    x = as_array("signbit", x)
    dtype = dtype_of(x)
    if _is_any(dtype, *_UNSIGNED_OR_BOOL):
        return filled(shape_of(x), False, BOOL)
    if dtype.kind == "c":
        raise ValueError(numpy_errors.not_for_complex("signbit", dtype))
    return _signbit(x)


@composite
def _copysign(x: Any, y: Any) -> Any:
    x, y = promote_inexact("copysign", x, y)
    if dtype_of(x).kind == "c":
        raise TypeError(numpy_errors.not_for_complex("copysign", dtype_of(x)))
    modulus = abs_p.bind(x)
    return select_where(_signbit(y), neg_p.bind(modulus), modulus)


def copysign(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise the modulus of `x` with the sign of `y`.

    >>> import covector.numpy as jnp
    >>> jnp.copysign(jnp.array([1.0, -2.0]), -0.0)
    Array([-1., -2.], dtype=float32)
    """
    return _copysign(*operands("copysign", (x, y)))


@composite
def _heaviside(x: Any, y: Any) -> Any:
    x, y = promote_inexact("heaviside", x, y)
    zero, one = like(x, 0), like(x, 1)
    at_zero_or_nan = select_where(ne_p.bind(x, x), x, y)
    return select_where(
        lt_p.bind(x, zero), zero, select_where(gt_p.bind(x, zero), one, at_zero_or_nan)
    )


def heaviside(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise step: 0 below zero, `y` at zero, 1 above.

    >>> import covector.numpy as jnp
    >>> jnp.heaviside(jnp.array([-2.0, 0.0, 3.0]), 0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return _heaviside(*operands("heaviside", (x, y)))


def nextafter(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise the floating point number after `x` on the way to `y`.

    >>> import covector.numpy as jnp
    >>> jnp.nextafter(jnp.array(1.0), 2.0)
    Array(1.0000001, dtype=float32, weak_type=True)
    """
    return binary(nextafter_p, "nextafter", INEXACT, inexact, x, y)


# ---------------------------------------------------------------- parts of complex numbers


def real(val: ArrayLike, /) -> Array:
    """Elementwise real part.

    >>> import covector.numpy as jnp
    >>> jnp.real(jnp.array([1 + 2j, 3.0]))
    Array([1., 3.], dtype=float32)
    """
    val = as_array("real", val)
    return real_p.bind(val) if dtype_of(val).kind == "c" else val


def imag(val: ArrayLike, /) -> Array:
    """Elementwise imaginary part; zeros for real numbers.

    >>> import covector.numpy as jnp
    >>> jnp.imag(jnp.array([1 + 2j, 3.0]))
    Array([2., 0.], dtype=float32)
    """
    val = as_array("imag", val)
    aval = val.aval
    if aval.dtype.kind == "c":
        return imag_p.bind(val)
    return filled(aval.shape, 0, aval.dtype, aval.weak_type)


def conjugate(x: ArrayLike, /) -> Array:
    """Elementwise complex conjugate; real numbers are their own.

    >>> import covector.numpy as jnp
    >>> jnp.conjugate(jnp.array([1 + 2j]))
    Array([1.-2.j], dtype=complex64)
    """
    x = as_array("conjugate", x)
    dtype = dtype_of(x)
    return conj_p.bind(x, input_dtype=dtype) if dtype.kind == "c" else x


conj = alias("conj", conjugate)


@composite
def _angle(z: Any, *, deg: bool) -> Any:
    exact = not dtypes.issubdtype(dtype_of(z), np.inexact)
    if exact or (not shape_of(z) and dtype_of(z).kind != "c"):
        z = convert(z, dtypes.default_float_dtype())  # as NumPy, whose real numbers are doubles
    (z,) = promote_dtypes_inexact(z)
    if dtype_of(z).kind == "c":
        re, im = real_p.bind(z), imag_p.bind(z)
    else:
        re, im = z, filled(shape_of(z), 0, dtype_of(z))
    radians = atan2_p.bind(im, re)
    return mul_p.bind(radians, like(radians, 180 / np.pi)) if deg else radians


def angle(z: ArrayLike, deg: bool = False) -> Array:
    """Elementwise angle of complex numbers, from -pi to pi.

    Args:
      z: an array.
      deg: whether in degrees rather than radians.

    >>> import covector.numpy as jnp
    >>> jnp.angle(jnp.array([1j, -1.0]))
    Array([1.5707964, 3.1415927], dtype=float32)
    """
    return _angle(operand("angle", z), deg=bool(deg))


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype of a value is complex.

    >>> import covector.numpy as jnp
    >>> jnp.iscomplexobj(1j), jnp.iscomplexobj(jnp.ones(2))
    (True, False)
    """
    if x is None:
        return False
    if hasattr(type(x), "__jax_array__"):
        x = x.__jax_array__()
    if isinstance(x, (list, tuple)):
        return builtins.any(map(iscomplexobj, x))
    dtype = getattr(x, "dtype", None)
    return _is_any(np.asarray(x).dtype if dtype is None else dtype, np.complexfloating)


def isrealobj(x: Any) -> bool:
    """Whether the dtype of a value is not complex.

    >>> import covector.numpy as jnp
    >>> jnp.isrealobj(1j), jnp.isrealobj(jnp.ones(2))
    (False, True)
    """
    return not iscomplexobj(x)


def iscomplex(x: ArrayLike) -> Array:
    """Elementwise whether the imaginary part is not zero.

    >>> import covector.numpy as jnp
    >>> jnp.iscomplex(jnp.array([1j, 1.0]))
    Array([ True, False], dtype=bool)
    """
    part = imag(x)
    return ne_p.bind(part, like(part, 0))


def isreal(x: ArrayLike) -> Array:
    """Elementwise whether the imaginary part is zero.

    >>> import covector.numpy as jnp
    >>> jnp.isreal(jnp.array([1j, 1.0]))
    Array([False,  True], dtype=bool)
    """
    part = imag(x)
    return eq_p.bind(part, like(part, 0))


# ---------------------------------------------------------------- rounding


def _real_operand(where: str, x: Any) -> Any:
    x = operand(where, x)
    if _is_any(dtype_of(x), np.complexfloating):
        raise TypeError(numpy_errors.not_for_complex(where, dtype_of(x)))
    return x


def floor(x: ArrayLike, /) -> Array:
    """Elementwise the largest integer that is not above `x`, in the dtype of `x`.

    >>> import covector.numpy as jnp
    >>> jnp.floor(jnp.array([-1.5, 1.5]))
    Array([-2.,  1.], dtype=float32)
    """
    x = _real_operand("floor", x)
    return floor_p.bind(x) if dtype_of(x) in INEXACT else as_array("floor", x)


def ceil(x: ArrayLike, /) -> Array:
    """Elementwise the smallest integer that is not below `x`, in the dtype of `x`.

    >>> import covector.numpy as jnp
    >>> jnp.ceil(jnp.array([-1.5, 1.5]))
    Array([-1.,  2.], dtype=float32)
    """
    x = _real_operand("ceil", x)
    return ceil_p.bind(x) if dtype_of(x) in INEXACT else as_array("ceil", x)


@composite
def _trunc(x: Any) -> Any:
    negative = lt_p.bind(x, like(x, 0))
    return select_where(negative, ceil_p.bind(x), floor_p.bind(x))


def trunc(x: ArrayLike) -> Array:
    """Elementwise the nearest integer on the side of zero, in the dtype of `x`.

    >>> import covector.numpy as jnp
    >>> jnp.trunc(jnp.array([-1.5, 1.5]))
    Array([-1.,  1.], dtype=float32)
    """
    x = _real_operand("trunc", x)
    return _trunc(x) if dtype_of(x) in INEXACT else as_array("trunc", x)


fix = alias("fix", trunc)


def _round_to_even(x: Any) -> Any:
    if dtype_of(x).kind == "c":
        return complex_p.bind(_round_to_even(real_p.bind(x)), _round_to_even(imag_p.bind(x)))
    return round_p.bind(x, rounding_method=RoundingMethod.TO_NEAREST_EVEN)


_round_program = composite(_round_to_even)


def rint(x: ArrayLike, /) -> Array:
    """Elementwise the nearest integer, as floating point numbers; halves go to the even one.

    >>> import covector.numpy as jnp
    >>> jnp.rint(jnp.array([0.5, 1.5, 2.4]))
    Array([0., 2., 2.], dtype=float32)
    """
    x = operand("rint", x)
    if not dtypes.issubdtype(dtype_of(x), np.inexact):
        x = convert(x, dtypes.default_float_dtype())
    return _round_program(x)


@composite
def _round_floats(x: Any, *, decimals: int) -> Any:
    dtype = dtype_of(x)
    if narrow := dtypes.itemsize_bits(dtype) < 32:
        x = convert(x, np.dtype(np.float32))
    factor = like(x, 10.0 ** builtins.abs(decimals))
    # Negative powers of ten are not exact, so divide by their inverses.
    if decimals > 0:
        rounded = div_p.bind(_round_to_even(mul_p.bind(x, factor)), factor)
    else:
        rounded = mul_p.bind(_round_to_even(div_p.bind(x, factor)), factor)
    return convert(rounded, dtype) if narrow else rounded


@composite
def _round_integers(x: Any, *, decimals: int) -> Any:
    """The nearest multiple of 10^-decimals; of two, the even one."""
    dtype = dtype_of(x)
    unit = 10**-decimals
    half, zero, one = (number(v, dtype) for v in (unit // 2, 0, 1))
    unit = number(unit, dtype)
    quotient = floor_divide_integers(x, unit)
    rest = sub_p.bind(x, mul_p.bind(quotient, unit))
    odd = ne_p.bind(and_p.bind(quotient, one), zero)
    up = or_p.bind(gt_p.bind(rest, half), and_p.bind(eq_p.bind(rest, half), odd))
    return mul_p.bind(add_p.bind(quotient, convert(up, dtype)), unit)


def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """Elementwise the nearest number with so many decimals; of two, the even one.

    Args:
      a: an array.
      decimals: the number of decimals; negative for tens, hundreds and so on.
      out: not supported.

    Returns:
      An array of the same shape and dtype.

    >>> import covector.numpy as jnp
    >>> jnp.round(jnp.array([0.5, 1.5, 2.25]), 1)
    Array([0.5, 1.5, 2.2], dtype=float32)
    >>> jnp.round(jnp.array([14, 15, 25]), -1)
    Array([10, 20, 20], dtype=int32)
    """
    check_no_out("round", out)
    decimals = operator.index(decimals)
    a = as_array("round", a)
    dtype = dtype_of(a)
    if _is_any(dtype, np.inexact):
        return _round_floats(a, decimals=decimals) if decimals else _round_program(a)
    if dtype == BOOL:
        return a
    if decimals >= 0:
        return a
    if 10**-decimals > dtypes.iinfo(dtype).max:
        return filled(shape_of(a), 0, dtype)
    return _round_integers(a, decimals=decimals)


around = alias("around", round)


@composite_list
def _modf(x: Any) -> list[Any]:
    (x,) = promote_dtypes_inexact(x)
    zero = like(x, 0)
    whole = select_where(ge_p.bind(x, zero), floor_p.bind(x), ceil_p.bind(x))
    return [sub_p.bind(x, whole), whole]


def modf(x: ArrayLike, /, out: None = None) -> tuple[Array, Array]:
    """Elementwise the part behind the point, and the part before it; both have the sign of `x`.

    >>> import covector.numpy as jnp
    >>> jnp.modf(jnp.array([-1.5, 2.25]))
    (Array([-0.5 ,  0.25], dtype=float32), Array([-1.,  2.], dtype=float32))
    """
    check_no_out("modf", out)
    fraction, whole = _modf(operand("modf", x))
    return fraction, whole


# ---------------------------------------------------------------- kinds of floating point numbers


def isnan(x: ArrayLike, /) -> Array:
    """Elementwise whether it is NaN.

    >>> import covector.numpy as jnp
    >>> jnp.isnan(jnp.array([1.0, jnp.nan]))
    Array([False,  True], dtype=bool)
    """
    x = operand("isnan", x)
    return ne_p.bind(x, x)


def isfinite(x: ArrayLike, /) -> Array:
    """Elementwise whether it is neither infinite nor NaN.

    >>> import covector.numpy as jnp
    >>> jnp.isfinite(jnp.array([1.0, jnp.inf, jnp.nan]))
    Array([ True, False, False], dtype=bool)
    """
    x = operand("isfinite", x)
    dtype = dtype_of(x)
    if _is_any(dtype, np.floating):
        return is_finite_p.bind(x)
    if _is_any(dtype, np.complexfloating):
        parts = is_finite_p.bind(real_p.bind(x)), is_finite_p.bind(imag_p.bind(x))
        return and_p.bind(*parts)
    return filled(shape_of(x), True, BOOL)


@composite
def _isinf(x: Any) -> Any:
    if dtype_of(x).kind == "c":
        return or_p.bind(_isinf(real_p.bind(x)), _isinf(imag_p.bind(x)))
    return eq_p.bind(abs_p.bind(x), like(x, np.inf))


def isinf(x: ArrayLike, /) -> Array:
    """Elementwise whether it is infinite.

    >>> import covector.numpy as jnp
    >>> jnp.isinf(jnp.array([1.0, jnp.inf, -jnp.inf, jnp.nan]))
    Array([False,  True,  True, False], dtype=bool)
    """
    x = operand("isinf", x)
    if _is_any(dtype_of(x), np.inexact):
        return _isinf(x)
    return filled(shape_of(x), False, BOOL)


def _equals_infinity(where: str, x: Any, infinity: float) -> Any:
    x = operand(where, x)
    dtype = dtype_of(x)
    if _is_any(dtype, np.complexfloating):
        raise ValueError(numpy_errors.not_for_complex(where, dtype))
    if _is_any(dtype, np.floating):
        return eq_p.bind(x, number(infinity, dtype))
    return filled(shape_of(x), False, BOOL)


def isposinf(x: ArrayLike, /, out: None = None) -> Array:
    """Elementwise whether a real number is positive infinity.

    >>> import covector.numpy as jnp
    >>> jnp.isposinf(jnp.array([jnp.inf, -jnp.inf]))
    Array([ True, False], dtype=bool)
    """
    check_no_out("isposinf", out)
    return _equals_infinity("isposinf", x, np.inf)


def isneginf(x: ArrayLike, /, out: None = None) -> Array:
    """Elementwise whether a real number is negative infinity.

    >>> import covector.numpy as jnp
    >>> jnp.isneginf(jnp.array([jnp.inf, -jnp.inf]))
    Array([False,  True], dtype=bool)
    """
    check_no_out("isneginf", out)
    return _equals_infinity("isneginf", x, -np.inf)
