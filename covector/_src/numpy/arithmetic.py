"""Arithmetic of NumPy's ufuncs: sums, products, quotients, powers, extrema."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..core.array import Array, ArrayLike
from ..core.avals import aval_of
from ..core.trace import Tracer
from ..ops.arithmetic import add_p, div_p, mul_p, neg_p, sign_p, sub_p
from ..ops.bitwise import and_p, or_p, shift_right_logical_p
from ..ops.comparison import eq_p, lt_p, ne_p
from ..ops.linear import constant_like as like
from ..ops.powers import integer_pow_p, pow_p, square_p
from ..ops.rounding import RoundingMethod, rem_p, round_p
from ..ops.select import select_n_p
from ..xla.array import ArrayImpl
from .aliases import alias
from .composite import composite, composite_list
from .dispatch import binary, inexact, same
from .promotion import (
    BITS,
    BOOL,
    INEXACT,
    INTEGERS,
    NUMBERS,
    as_array,
    convert,
    dtype_of,
    number,
    operand,
    operands,
    own,
    promote,
    promote_dtypes,
    promote_dtypes_inexact,
    promote_numeric,
    promote_shapes,
)
from .selection import select_where

# ---------------------------------------------------------------- sums, products, quotients


def _sum_or_product(p: Any, where: str, x: Any, y: Any) -> Any:
    """The general case of `add` and `multiply`, which of booleans are "or" and "and"."""
    x, y = promote(where, x, y)
    if dtype_of(x) == BOOL:
        p = or_p if p is add_p else and_p
    return p.bind(x, y)


def add(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise sum; of booleans, "or".

    Args:
      x, y: arrays or numbers, broadcast against each other.

    Returns:
      An array of their common shape and dtype.

    >>> import covector.numpy as jnp
    >>> jnp.add(jnp.array([1, 2]), 0.5)
    Array([1.5, 2.5], dtype=float32, weak_type=True)
    """
    return binary(add_p, "add", NUMBERS, _sum_or_product, x, y)


def subtract(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise difference.

    Args:
      x, y: arrays or numbers, broadcast against each other; not booleans.

    Returns:
      An array of their common shape and dtype.

    >>> import covector.numpy as jnp
    >>> jnp.subtract(jnp.array([3.0, 4.0]), jnp.array([[1.0], [2.0]]))
    Array([[2., 3.],
           [1., 2.]], dtype=float32)
    """
    return binary(sub_p, "subtract", NUMBERS, same, x, y)


def multiply(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise product; of booleans, "and".

    Args:
      x, y: arrays or numbers, broadcast against each other.

    Returns:
      An array of their common shape and dtype.

    >>> import covector.numpy as jnp
    >>> jnp.multiply(jnp.array([1, 2, 3]), 2)
    Array([2, 4, 6], dtype=int32)
    """
    return binary(mul_p, "multiply", NUMBERS, _sum_or_product, x, y)


def divide(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise quotient; of integers too it is a floating point number.

    Args:
      x, y: arrays or numbers, broadcast against each other.

    Returns:
      An array of their common shape, and of their common dtype made floating.

    >>> import covector.numpy as jnp
    >>> jnp.divide(jnp.array([1, 2, 3]), 2)
    Array([0.5, 1. , 1.5], dtype=float32)
    """
    return binary(div_p, "divide", INEXACT, inexact, x, y)


true_divide = alias("true_divide", divide)


def negative(x: ArrayLike, /) -> Array:
    """Elementwise negation of numbers; unsigned ones wrap around.

    >>> import covector.numpy as jnp
    >>> jnp.negative(jnp.array([1.0, -2.0]))
    Array([-1.,  2.], dtype=float32)
    """
    return neg_p.bind(operand("negative", x))


def positive(x: ArrayLike, /) -> Array:
    """The array itself; for symmetry with `negative`.

    >>> import covector.numpy as jnp
    >>> jnp.positive(jnp.array([1, -2]))
    Array([ 1, -2], dtype=int32)
    """
    return as_array("positive", x)


# ---------------------------------------------------------------- integer quotients, remainders


def _is_positive(y: Any) -> bool:
    """Whether a divisor is known to be a positive number."""
    return type(y) is np.ndarray and y.ndim == 0 and bool(0 < y < np.inf)


def _has_wrong_sign(rest: Any, y: Any) -> Any:
    """Where a remainder, which has the sign of the dividend, is to have that of the divisor y."""
    zero = like(rest, 0)
    if _is_positive(y):
        return lt_p.bind(rest, zero)
    signs_differ = ne_p.bind(lt_p.bind(rest, zero), lt_p.bind(y, zero))
    return and_p.bind(signs_differ, ne_p.bind(rest, zero))


def floor_divide_integers(x: Any, y: Any) -> Any:
    # The quotient of XLA is rounded towards zero: one too large where there is a remainder, and it
    # is of the wrong sign.
    quotient = div_p.bind(x, y)
    one_less = sub_p.bind(quotient, like(x, 1))
    if _is_positive(y):
        return select_n_p.bind(lt_p.bind(rem_p.bind(x, y), like(x, 0)), quotient, one_less)
    signs_differ = ne_p.bind(sign_p.bind(x), sign_p.bind(y))
    inexact = ne_p.bind(rem_p.bind(x, y), like(x, 0))
    return select_n_p.bind(and_p.bind(signs_differ, inexact), quotient, one_less)


def _divmod_floats(x: Any, y: Any) -> tuple[Any, Any]:
    """The quotient rounded down, and the remainder with the sign of y: x = quotient * y + rest."""
    rest = rem_p.bind(x, y)
    multiple = sub_p.bind(x, rest)
    if not (type(y) is np.ndarray and y.ndim == 0 and y != 0):
        # By zero, x itself is divided so that the quotient is infinite.
        multiple = select_where(eq_p.bind(y, like(x, 0)), x, multiple)
    quotient = div_p.bind(multiple, y)
    off_by_one = _has_wrong_sign(rest, y)
    rest = select_n_p.bind(off_by_one, rest, add_p.bind(rest, y))
    quotient = select_n_p.bind(off_by_one, quotient, sub_p.bind(quotient, like(x, 1)))
    return round_p.bind(quotient, rounding_method=RoundingMethod.AWAY_FROM_ZERO), rest


@composite
def _floor_divide(x: Any, y: Any) -> Any:
    x, y = promote_numeric("floor_divide", x, y)
    if dtypes.issubdtype(dtype_of(x), np.unsignedinteger):
        return div_p.bind(x, y)
    if dtypes.issubdtype(dtype_of(x), np.integer):
        return floor_divide_integers(x, y)
    return _divmod_floats(x, y)[0]


def floor_divide(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise quotient rounded down.

    Args:
      x, y: real arrays or numbers, broadcast against each other.

    Returns:
      An array of their common shape and dtype. What integers divided by zero give is not defined.

    >>> import covector.numpy as jnp
    >>> jnp.floor_divide(jnp.array([-7, 7]), 2)
    Array([-4,  3], dtype=int32)
    """
    return _floor_divide(*operands("floor_divide", (x, y)))


def _without_zeros(y: Any) -> Any:
    """Integer divisors with 1 in the place of 0: the remainder by zero is thereby 0."""
    if type(y) is np.ndarray and y.ndim == 0 and y != 0:
        return y
    return select_where(eq_p.bind(y, like(y, 0)), like(y, 1), y)


@composite
def _remainder(x: Any, y: Any) -> Any:
    x, y = promote_numeric("remainder", x, y)
    if dtypes.issubdtype(dtype_of(x), np.integer):
        y = _without_zeros(y)
    rest = rem_p.bind(x, y)
    return select_n_p.bind(_has_wrong_sign(rest, y), rest, add_p.bind(rest, y))


def remainder(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise remainder of `floor_divide`; it has the sign of `y`.

    Args:
      x, y: real arrays or numbers, broadcast against each other.

    Returns:
      An array of their common shape and dtype.

    >>> import covector.numpy as jnp
    >>> jnp.remainder(jnp.array([-7, 7]), jnp.array([3, -3]))
    Array([ 2, -2], dtype=int32)
    """
    return _remainder(*operands("remainder", (x, y)))


mod = alias("mod", remainder)


@composite
def _fmod(x: Any, y: Any) -> Any:
    x, y = promote_numeric("fmod", x, y)
    if dtypes.issubdtype(dtype_of(x), np.integer):
        y = _without_zeros(y)
    return rem_p.bind(x, y)


def fmod(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise remainder of the quotient rounded towards zero; it has the sign of `x`.

    Args:
      x, y: real arrays or numbers, broadcast against each other.

    Returns:
      An array of their common shape and dtype.

    >>> import covector.numpy as jnp
    >>> jnp.fmod(jnp.array([-7, 7]), jnp.array([3, -3]))
    Array([-1,  1], dtype=int32)
    """
    return _fmod(*operands("fmod", (x, y)))


@composite_list
def _divmod(x: Any, y: Any) -> list[Any]:
    x, y = promote_numeric("divmod", x, y)
    if dtypes.issubdtype(dtype_of(x), np.integer):
        return [floor_divide(x, y), remainder(x, y)]
    return list(_divmod_floats(x, y))


def divmod(x: ArrayLike, y: ArrayLike, /) -> tuple[Array, Array]:
    """The pair of `floor_divide` and `remainder`.

    >>> import covector.numpy as jnp
    >>> jnp.divmod(jnp.array([-7, 7]), 2)
    (Array([-4,  3], dtype=int32), Array([1, 1], dtype=int32))
    """
    quotient, rest = _divmod(*operands("divmod", (x, y)))
    return quotient, rest


# ---------------------------------------------------------------- powers


def power(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise power.

    Args:
      x: bases.
      y: exponents, broadcast against `x`. Where this is an integer whose value is known, the power
        is computed by multiplications alone, and `x` may be of any dtype.

    Returns:
      An array of their common shape and dtype.

    Raises:
      TypeError: integers to the power of a negative integer.

    >>> import covector.numpy as jnp
    >>> jnp.power(jnp.array([1.0, 2.0, 3.0]), 2)
    Array([1., 4., 9.], dtype=float32)
    """
    kind = type(y)
    if kind is int and own[type(x)] and x.aval.dtype in INEXACT:
        return integer_pow_p.bind(x, y=y)
    exponent = _known_integer(y)
    if exponent is None:
        return _general_power(x, y)
    return _integer_power(operand("power", x), exponent)


pow = alias("pow", power)


def _known_integer(y: Any) -> int | None:
    """The value of an exponent if it is one integer whose value is known."""
    if isinstance(y, Tracer):
        y = y.concrete_value()
    if type(y) in (float, complex) or y is None or isinstance(y, np.inexact):
        return None
    if type(y) is ArrayImpl and (y.aval.shape or y.aval.dtype not in BITS):
        return None
    try:
        return operator.index(y)
    except TypeError:
        return None


def _integer_power(x: Any, exponent: int) -> Any:
    aval = aval_of(x)
    if aval.dtype == BOOL:
        x = convert(x, dtypes.to_numeric_dtype(BOOL))
    if exponent < 0 and dtypes.issubdtype(dtype_of(x), np.integer):
        raise TypeError(numpy_errors.negative_power_of_integers(aval, exponent))
    return integer_pow_p.bind(x, y=exponent)


def _general_power(x: Any, y: Any) -> Any:
    if own[type(x)] and own[type(y)] and x.aval is y.aval and x.aval.dtype in INEXACT:
        return pow_p.bind(x, y)
    return _power(*operands("power", (x, y)))


@composite
def _power(x: Any, y: Any) -> Any:
    x, y = promote_shapes("power", x, y)
    if dtype_of(x) in INEXACT and dtype_of(y) in INTEGERS:
        return pow_p.bind(as_array("power", x), as_array("power", y))
    base, exponent = promote_dtypes(x, y)
    dtype = dtype_of(base)
    if dtype == BOOL:
        dtype = dtypes.to_numeric_dtype(dtype)
        base, exponent = convert(base, dtype), convert(exponent, dtype)
    if dtypes.issubdtype(dtype, np.integer):
        return _power_of_integers(base, exponent)
    return pow_p.bind(base, exponent)


def _power_of_integers(x: Any, y: Any) -> Any:
    """x^y by repeated squaring: the product of the squares x^(2^k) for the bits k set in y.

    Six bits of the exponent are enough for 32-bit numbers, seven for 64-bit ones: with larger
    exponents only powers of 0, 1 and -1 fit the dtype, to which the higher bits make no difference.
    """
    dtype = dtype_of(x)
    zero, one = number(0, dtype), number(1, dtype)
    zero_to_nonzero = and_p.bind(eq_p.bind(x, zero), ne_p.bind(y, zero))
    total = select_where(zero_to_nonzero, zero, one)
    for k in range(max(6, dtypes.itemsize_bits(dtype).bit_length())):
        if k:
            x = mul_p.bind(x, x)
            y = shift_right_logical_p.bind(y, one)
        bit = and_p.bind(y, one)
        total = select_where(ne_p.bind(bit, zero), mul_p.bind(total, x), total)
    return total


def float_power(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise power of numbers made floating.

    >>> import covector.numpy as jnp
    >>> jnp.float_power(jnp.array([1, 2, 3]), -1)
    Array([1.        , 0.5       , 0.33333334], dtype=float32)
    """
    return binary(pow_p, "float_power", INEXACT, inexact, x, y)


def square(x: ArrayLike, /) -> Array:
    """Elementwise square.

    >>> import covector.numpy as jnp
    >>> jnp.square(jnp.array([-1.0, 2.0]))
    Array([1., 4.], dtype=float32)
    """
    if own[type(x)] and x.aval.dtype in NUMBERS:
        return square_p.bind(x)
    x = operand("square", x)
    dtype = dtype_of(x)
    return square_p.bind(convert(x, dtypes.to_numeric_dtype(dtype)) if dtype == BOOL else x)


@composite
def _reciprocal(x: Any) -> Any:
    (x,) = promote_dtypes_inexact(x)
    return integer_pow_p.bind(x, y=-1)


def reciprocal(x: ArrayLike, /) -> Array:
    """Elementwise 1 / x, a floating point number.

    >>> import covector.numpy as jnp
    >>> jnp.reciprocal(jnp.array([2.0, 4.0]))
    Array([0.5 , 0.25], dtype=float32)
    """
    return _reciprocal(operand("reciprocal", x))
