"""Addition, multiplication and their kin; signs and extrema."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..core.array import Array
from ..core.avals import aval_of
from ..core.fusion import EXPENSIVE
from ..core.zeros import UndefinedPrimal
from .comparison import eq_p
from .families import (
    ANY,
    INTEGERS,
    NUMBERS,
    Binary,
    LinearBinary,
    LinearUnary,
    Step,
    StepBinary,
    broadcast_operands,
    check_accepts,
    filled_like,
    unbroadcast,
)
from .functions import binary, unary
from .products import CHOICE, EVEN, SATURATING, Product, marked, transposed_marks
from .select import select_n_p


class Neg(LinearUnary):
    """Elementwise negation; unsigned integers wrap around."""

    example = "lax.neg(2.0)", "Array(-2., dtype=float32, weak_type=True)"
    hlo = "negate"
    numpy = np.negative


class Add(LinearBinary):
    """Elementwise sum."""

    example = "lax.add(1.0, 2.0)", "Array(3., dtype=float32, weak_type=True)"
    hlo = "add"
    numpy = np.add

    def derivative_x(self, t, x, y, z):
        return t

    derivative_y = derivative_x

    def transpose_x(self, ct):
        return ct

    transpose_y = transpose_x


class Sub(LinearBinary):
    """Elementwise difference."""

    example = "lax.sub(3.0, 2.0)", "Array(1., dtype=float32, weak_type=True)"
    hlo = "subtract"
    numpy = np.subtract

    def derivative_x(self, t, x, y, z):
        return t

    def derivative_y(self, t, x, y, z):
        return neg_p.bind(t)

    def transpose_x(self, ct):
        return ct

    def transpose_y(self, ct):
        return neg_p.bind(ct)


class Mul(Product, Binary):
    """Elementwise product; in the dtype `out_dtype` if that is given."""

    hlo = "multiply"
    numpy = np.multiply

    def dtype(self, x, y, out_dtype=None, slope=None, zero_wins=()):
        if out_dtype is None:
            return super().dtype(x, y)
        check_accepts(self.name, self.accepts, (x, y))
        return out_dtype

    def derivative_x(self, t, x, y, z, slope=None, **params):
        return self.bind(t, y, **(marked(EVEN) if x is y and not params else params))

    def derivative_y(self, t, x, y, z, slope=None, **params):
        return self.bind(x, t, **(marked(EVEN) if x is y and not params else params))

    def transpose(self, ct, x, y, out_dtype=None, slope=None, zero_wins=()):
        linear, other = (x, y) if type(x) is UndefinedPrimal else (y, x)
        params = {} if out_dtype is None else {"out_dtype": linear.aval.dtype}
        if linear is x:
            params |= transposed_marks(0, other, slope, zero_wins)
            return unbroadcast(self.bind(ct, other, **params), x.aval), None
        params |= transposed_marks(1, other, slope, zero_wins)
        return None, unbroadcast(self.bind(other, ct, **params), y.aval)

    def emit_product(self, b, x, y, out_dtype=None):
        if out_dtype is None:
            return b.op(self.hlo, x, y)
        out = b.avals_out[0]
        return b.op(
            "multiply",
            *[
                b.convert(v, aval.update(shape=out.shape), out.dtype)
                for v, aval in zip((x, y), b.avals_in)
            ],
        )


def _quotient(x: Any, y: Any) -> np.ndarray:
    """x / y; of integers rounded towards zero, with what XLA gives where there is no quotient."""
    if not dtypes.issubdtype(np.asarray(x).dtype, np.integer):
        return np.divide(x, y)
    wide = np.int64 if dtypes.issubdtype(x.dtype, np.signedinteger) else np.uint64
    x, y = x.astype(wide), y.astype(wide)
    nonzero = np.where(y == 0, 1, y).astype(wide)
    rounded_down = x // nonzero
    towards_zero = rounded_down + ((x % nonzero != 0) & ((x < 0) != (y < 0)))
    return np.where(y == 0, ~np.zeros_like(y), towards_zero)  # all bits set: -1, or the largest


class Div(Product, Binary):
    """Elementwise quotient; of integers rounded towards zero.

    Where an integer is divided by 0, the result is not defined.
    """

    example = "lax.div(-7, 2)", "Array(-3, dtype=int32, weak_type=True)"
    hlo = "divide"
    numpy = _quotient
    fusion = EXPENSIVE
    harmless = 1

    def derivative_x(self, t, x, y, z, **params):
        return div_p.bind(t, y, **params)

    def derivative_y(self, t, x, y, z, slope=None, **params):
        # d(x/y)/dy = -x/y^2 = -z/y, in which no square overflows or vanishes.
        # The zero that wins in z wins in its derivative, too.  A smaller y divides first, t having
        # its shape, so that the quotient is computed once and not for each element of z.
        wins = marked(SATURATING) | ({"zero_wins": (1,)} if params else {})
        if aval_of(y).size < aval_of(z).size:
            return mul_p.bind(div_p.bind(neg_p.bind(t), y, **params), z, **wins)
        return div_p.bind(mul_p.bind(neg_p.bind(t), z, **wins), y, **params)

    def transpose(self, ct, x, y, slope=None, zero_wins=()):
        return unbroadcast(
            div_p.bind(ct, y, **transposed_marks(0, y, slope, zero_wins)), x.aval
        ), None


class Mulhi(StepBinary):
    """Elementwise upper half of the product of two integers, which has twice as many bits."""

    accepts = INTEGERS
    hlo = "chlo.mulhi"

    @staticmethod
    def numpy(x, y):
        bits = x.dtype.itemsize * 8
        return np.asarray(np.multiply(x, y, dtype=object) >> bits).astype(x.dtype)


neg_p = Neg("neg")
add_p = Add("add")
sub_p = Sub("sub")
mul_p = Mul("mul")
div_p = Div("div")
mulhi_p = Mulhi("mulhi")

neg = unary(neg_p)
add = binary(add_p)
sub = binary(sub_p)
div = binary(div_p)


def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Array:
    """Elementwise product.

    Args:
      x, y: arrays of integers, floats or complex numbers, both of the same dtype unless `out_dtype`
        is given. Their shapes are equal, but that a scalar meets any shape, and a dimension of
        size 1 any size.
      out_dtype: the dtype of the result, to which the factors are converted; by default theirs.

    Returns:
      An array of the common shape.

    Raises:
      TypeError: an operand has another dtype, or the dtypes or shapes do not match.

    >>> from covector import lax
    >>> lax.mul(2.0, 3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    if out_dtype is None:
        return mul_p.bind(x, y)
    out_dtype = dtypes.check_user_dtype_supported(out_dtype, "lax.mul")
    return mul_p.bind(x, y, out_dtype=out_dtype)


def mulhi(x: Any, y: Any, /) -> Array:
    """Elementwise upper half of the product of two integers, which has twice as many bits.

    Args:
      x, y: arrays of integers, both of the same dtype, and of shapes that are equal or broadcast as
        those of `lax.mul`.

    Returns:
      An array of the common shape and dtype.

    Raises:
      TypeError: an operand has another dtype, or the dtypes or shapes do not match.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.mulhi(np.int32(2**30), np.int32(12))
    Array(3, dtype=int32)
    """
    return mulhi_p.bind(x, y)


# ---------------------------------------------------------------- signs


class Sign(Step):
    """Elementwise -1, 0 or 1 by the sign of x; of complex numbers x/|x|, and 0 of 0."""

    example = "lax.sign(-3.0)", "Array(-1., dtype=float32, weak_type=True)"
    accepts = NUMBERS
    numpy = np.sign

    def emit(self, b, x):
        (aval,) = b.avals_in
        if not dtypes.issubdtype(aval.dtype, np.unsignedinteger):
            return b.op("sign", x)
        zero = b.full(0, aval)
        is_zero = b.compare("EQ", x, zero, aval.dtype, out=aval.update(dtype=np.bool_))
        return b.op("select", is_zero, zero, b.full(1, aval))

    def samples_of(self, rng, dtype):
        # The derivative at complex numbers is 0 by convention, though x/|x| turns with x.
        for sample in super().samples_of(rng, dtype):
            yield sample._replace(smooth=dtypes.issubdtype(dtype, np.floating) and sample.smooth)


sign_p = Sign("sign")
sign = unary(sign_p)

# ---------------------------------------------------------------- extrema


class Extremum(Binary):
    """The larger or the smaller of two elements.

    Complex numbers are ordered by their real parts, and by their imaginary parts if those are
    equal.  Where both elements are the extremum, each contributes half of its tangent.

    Class attributes:
      direction: the relation to the other element, GT or LT, of a complex one that is taken.
    """

    accepts = ANY
    direction: str

    def derivative_x(self, t, x, y, z):
        return mul_p.bind(t, _share(x, y, z), **marked(CHOICE))

    def derivative_y(self, t, x, y, z):
        return mul_p.bind(t, _share(y, x, z), **marked(CHOICE))

    def emit(self, b, x, y):
        x, y = broadcast_operands(b, (x, y))
        (out,) = b.avals_out
        if not dtypes.issubdtype(out.dtype, np.complexfloating):
            return b.op(self.hlo, x, y)
        part, flag = out.update(dtype=dtypes.finfo(out.dtype).dtype), out.update(dtype=np.bool_)
        (x_re, x_im), (y_re, y_im) = [
            (b.op("real", v, out=part), b.op("imag", v, out=part)) for v in (x, y)
        ]
        tie = b.compare("EQ", x_re, y_re, part.dtype, out=flag)
        by_re = b.compare(self.direction, x_re, y_re, part.dtype, out=flag)
        by_im = b.compare(self.direction, x_im, y_im, part.dtype, out=flag)
        return b.op("select", b.op("select", tie, by_im, by_re, out=flag), x, y)


def _share(x: Any, y: Any, z: Any) -> Any:
    """The share of x in the extremum z of x and y: 1, or 1/2 if y is equal, or 0."""
    x_is_z = eq_p.bind(x, z)
    one, zero = filled_like(z, 1), filled_like(z, 0)
    is_x = select_n_p.bind(x_is_z, zero, one)
    y_is_z = eq_p.bind(y, z)
    two, one = filled_like(z, 2), filled_like(z, 1)
    count = select_n_p.bind(y_is_z, one, two)
    return div_p.bind(is_x, count)


class Max(Extremum):
    """Elementwise maximum; NaN if one of the elements is.

    Complex numbers are ordered by their real parts, and where those are equal by the imaginary.
    """

    example = "lax.max(1.0, 2.0)", "Array(2., dtype=float32, weak_type=True)"
    hlo = "maximum"
    direction = "GT"
    numpy = np.maximum


class Min(Extremum):
    """Elementwise minimum; NaN if one of the elements is.

    Complex numbers are ordered by their real parts, and where those are equal by the imaginary.
    """

    example = "lax.min(1.0, 2.0)", "Array(1., dtype=float32, weak_type=True)"
    hlo = "minimum"
    direction = "LT"
    numpy = np.minimum


max_p = Max("max")
min_p = Min("min")

max = binary(max_p)
min = binary(min_p)
