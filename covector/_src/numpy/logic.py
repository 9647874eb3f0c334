"""Comparisons, logic, bits, and questions about floating point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..core.array import Array, ArrayLike
from ..ops.arithmetic import add_p, mul_p, sub_p
from ..ops.bitwise import (
    and_p,
    not_p,
    or_p,
    population_count_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
    xor_p,
)
from ..ops.comparison import eq_p, ge_p, gt_p, le_p, lt_p, ne_p
from ..ops.complex import abs_p
from . import reductions
from .aliases import alias
from .composite import composite
from .creation import asarray
from .dispatch import binary, same
from .parts import isfinite, isnan
from .promotion import (
    BITS,
    BOOL,
    INTEGERS,
    NUMBERS,
    REALS,
    as_array,
    convert,
    dtype_of,
    number,
    operand,
    operands,
    promote,
    promote_dtypes_inexact,
    promote_numeric,
    shape_of,
)
from .selection import ordered

# ---------------------------------------------------------------- comparisons


def equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise x == y.

    Args:
      x, y: arrays or numbers, broadcast against each other.

    Returns:
      A boolean array of their common shape. NaN equals nothing.

    >>> import covector.numpy as jnp
    >>> jnp.equal(jnp.array([1, 2]), 2)
    Array([False,  True], dtype=bool)
    """
    return binary(eq_p, "equal", NUMBERS, same, x, y)


def not_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise x != y.

    Args:
      x, y: arrays or numbers, broadcast against each other.

    Returns:
      A boolean array of their common shape.

    >>> import covector.numpy as jnp
    >>> jnp.not_equal(jnp.array([1, 2]), 2)
    Array([ True, False], dtype=bool)
    """
    return binary(ne_p, "not_equal", NUMBERS, same, x, y)


def _order(p: Any, where: str, x: Any, y: Any) -> Any:
    """The general case of the relations of order."""
    return ordered(p, *promote(where, x, y))


def less(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise x < y.

    Args:
      x, y: arrays or numbers, broadcast against each other. Complex numbers are ordered by their
        real parts, and by their imaginary parts where those are equal.

    Returns:
      A boolean array of their common shape.

    >>> import covector.numpy as jnp
    >>> jnp.less(jnp.array([1, 2, 3]), 2)
    Array([ True, False, False], dtype=bool)
    """
    return binary(lt_p, "less", REALS, _order, x, y)


def less_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise x <= y; see `less`.

    >>> import covector.numpy as jnp
    >>> jnp.less_equal(jnp.array([1, 2, 3]), 2)
    Array([ True,  True, False], dtype=bool)
    """
    return binary(le_p, "less_equal", REALS, _order, x, y)


def greater(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise x > y; see `less`.

    >>> import covector.numpy as jnp
    >>> jnp.greater(jnp.array([1, 2, 3]), 2)
    Array([False, False,  True], dtype=bool)
    """
    return binary(gt_p, "greater", REALS, _order, x, y)


def greater_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise x >= y; see `less`.

    >>> import covector.numpy as jnp
    >>> jnp.greater_equal(jnp.array([1, 2, 3]), 2)
    Array([False,  True,  True], dtype=bool)
    """
    return binary(ge_p, "greater_equal", REALS, _order, x, y)


# ---------------------------------------------------------------- closeness


@composite
def _isclose(x: Any, y: Any, rtol: Any, atol: Any, *, equal_nan: bool) -> Any:
    x, y = promote("isclose", x, y)
    if dtype_of(x) == BOOL or isinstance(dtype_of(x), dtypes.ExtendedDType):
        return eq_p.bind(x, y)
    x, y = promote_dtypes_inexact(x, y)
    real = dtypes.to_floating_dtype(dtype_of(x))
    rtol, atol = convert(rtol, real), convert(atol, real)
    near = le_p.bind(
        abs_p.bind(sub_p.bind(x, y)), add_p.bind(atol, mul_p.bind(rtol, abs_p.bind(y)))
    )
    finite = isfinite(y)
    close = or_p.bind(eq_p.bind(x, y), and_p.bind(finite, near))
    if equal_nan:
        close = or_p.bind(close, and_p.bind(ne_p.bind(x, x), ne_p.bind(y, y)))
    return close


def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """Elementwise whether |a - b| <= atol + rtol |b|.

    Args:
      a, b: arrays or numbers, broadcast against each other.
      rtol, atol: the tolerances, relative to `b` and absolute.
      equal_nan: whether NaN is close to NaN.

    Returns:
      A boolean array of the common shape. Integers and booleans are close if they are equal or
      within the tolerances as floating point numbers.

    >>> import covector.numpy as jnp
    >>> jnp.isclose(jnp.array([1.0, 2.0]), jnp.array([1.000001, 2.1]))
    Array([ True, False], dtype=bool)
    """
    return _isclose(*operands("isclose", (a, b, rtol, atol)), equal_nan=bool(equal_nan))


def allclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """Whether all elements are close in the sense of `isclose`; a boolean array of rank 0.

    Args:
      a, b, rtol, atol, equal_nan: as for `isclose`.

    Returns:
      A boolean array of rank 0, where NumPy returns a Python bool.

    >>> import covector.numpy as jnp
    >>> jnp.allclose(jnp.array([1.0, 2.0]), jnp.array([1.000001, 2.1]))
    Array(False, dtype=bool)
    """
    return reductions.all(isclose(a, b, rtol, atol, equal_nan))


def _arrays(where: str, *args: Any) -> list[Any]:
    """Operands that may be sequences of numbers too."""
    return operands(where, [asarray(x) if isinstance(x, (list, tuple)) else x for x in args])


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> Array:
    """Whether two arrays have one shape and equal elements; a boolean array of rank 0.

    Args:
      a1, a2: the arrays.
      equal_nan: whether NaN equals NaN.

    >>> import covector.numpy as jnp
    >>> jnp.array_equal(jnp.arange(3), jnp.array([0, 1, 2]))
    Array(True, dtype=bool)
    """
    a1, a2 = _arrays("array_equal", a1, a2)
    if shape_of(a1) != shape_of(a2):
        return as_array("array_equal", np.bool_(False))
    same = equal(a1, a2)
    if equal_nan:
        same = logical_or(same, logical_and(isnan(a1), isnan(a2)))
    return reductions.all(same)


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Whether two arrays can be broadcast against each other and then have equal elements.

    >>> import covector.numpy as jnp
    >>> jnp.array_equiv(jnp.ones(3), jnp.ones((2, 3)))
    Array(True, dtype=bool)
    """
    a1, a2 = _arrays("array_equiv", a1, a2)
    try:
        np.broadcast_shapes(shape_of(a1), shape_of(a2))
    except ValueError:
        return as_array("array_equiv", np.bool_(False))
    return reductions.all(equal(a1, a2))


# ---------------------------------------------------------------- logic


def _truth(x: Any) -> Any:
    """Whether each element is not zero."""
    dtype = dtype_of(x)
    return x if dtype == BOOL else ne_p.bind(x, number(0, dtype))


def _logical(p: Any, where: str, x: Any, y: Any) -> Any:
    return p.bind(*map(_truth, promote(where, x, y)))


_BOOLEANS = frozenset((BOOL,))


def logical_and(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise "and"; numbers are true where they are not zero.

    >>> import covector.numpy as jnp
    >>> jnp.logical_and(jnp.array([True, True]), jnp.array([True, False]))
    Array([ True, False], dtype=bool)
    """
    return binary(and_p, "logical_and", _BOOLEANS, _logical, x, y)


def logical_or(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise "or"; numbers are true where they are not zero.

    >>> import covector.numpy as jnp
    >>> jnp.logical_or(jnp.array([True, False]), jnp.array([False, False]))
    Array([ True, False], dtype=bool)
    """
    return binary(or_p, "logical_or", _BOOLEANS, _logical, x, y)


def logical_xor(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise "either or"; numbers are true where they are not zero.

    >>> import covector.numpy as jnp
    >>> jnp.logical_xor(jnp.array([True, True]), jnp.array([True, False]))
    Array([False,  True], dtype=bool)
    """
    return binary(xor_p, "logical_xor", _BOOLEANS, _logical, x, y)


def logical_not(x: ArrayLike, /) -> Array:
    """Elementwise "not"; numbers are true where they are not zero.

    >>> import covector.numpy as jnp
    >>> jnp.logical_not(jnp.array([0, 1, 2]))
    Array([ True, False, False], dtype=bool)
    """
    return not_p.bind(_truth(operand("logical_not", x)))


# ---------------------------------------------------------------- bits


def bitwise_and(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise "and" of the bits of integers, or of booleans.

    >>> import covector.numpy as jnp
    >>> jnp.bitwise_and(jnp.array([1, 2, 3]), 2)
    Array([0, 2, 2], dtype=int32)
    """
    return binary(and_p, "bitwise_and", BITS, same, x, y)


def bitwise_or(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise "or" of the bits of integers, or of booleans.

    >>> import covector.numpy as jnp
    >>> jnp.bitwise_or(jnp.array([1, 2, 3]), 2)
    Array([3, 2, 3], dtype=int32)
    """
    return binary(or_p, "bitwise_or", BITS, same, x, y)


def bitwise_xor(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise "either or" of the bits of integers, or of booleans.

    >>> import covector.numpy as jnp
    >>> jnp.bitwise_xor(jnp.array([1, 2, 3]), 2)
    Array([3, 0, 1], dtype=int32)
    """
    return binary(xor_p, "bitwise_xor", BITS, same, x, y)


def bitwise_not(x: ArrayLike, /) -> Array:
    """Elementwise complement of the bits of integers, or of booleans.

    >>> import covector.numpy as jnp
    >>> jnp.bitwise_not(jnp.array([0, 1]))
    Array([-1, -2], dtype=int32)
    """
    return not_p.bind(operand("bitwise_not", x))


invert = alias("invert", bitwise_not)
bitwise_invert = alias("bitwise_invert", bitwise_not)


def _shift(p: Any, where: str, x: Any, y: Any) -> Any:
    return p.bind(*promote_numeric(where, x, y))


def left_shift(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise x 2^y of integers, by moving bits.

    >>> import covector.numpy as jnp
    >>> jnp.left_shift(jnp.array([1, 2, 3]), 2)
    Array([ 4,  8, 12], dtype=int32)
    """
    return binary(shift_left_p, "left_shift", INTEGERS, _shift, x, y)


bitwise_left_shift = alias("bitwise_left_shift", left_shift)


@composite
def _right_shift(x: Any, y: Any) -> Any:
    x, y = promote_numeric("right_shift", x, y)
    if dtypes.issubdtype(dtype_of(x), np.unsignedinteger):
        return shift_right_logical_p.bind(x, y)
    return shift_right_arithmetic_p.bind(x, y)


def right_shift(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise x 2^-y of integers, rounded down, by moving bits.

    >>> import covector.numpy as jnp
    >>> jnp.right_shift(jnp.array([16, -16]), 2)
    Array([ 4, -4], dtype=int32)
    """
    return _right_shift(*operands("right_shift", (x, y)))


bitwise_right_shift = alias("bitwise_right_shift", right_shift)


def bitwise_count(x: ArrayLike, /) -> Array:
    """Elementwise number of bits that are set in the modulus of an integer, as unsigned bytes.

    >>> import covector.numpy as jnp
    >>> jnp.bitwise_count(jnp.array([0, 1, -7]))
    Array([0, 1, 3], dtype=uint8)
    """
    x = as_array("bitwise_count", x)
    if dtypes.issubdtype(dtype_of(x), np.signedinteger):
        x = abs_p.bind(x)
    elif dtype_of(x) == BOOL:
        return convert(x, np.dtype(np.uint8))
    return convert(population_count_p.bind(x), np.dtype(np.uint8))
