"""Exponentials, logarithms, roots, and the trigonometric and hyperbolic functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..core.array import Array, ArrayLike
from ..linalg.derived import with_derivative
from ..ops.arithmetic import add_p, div_p, max_p, min_p, mul_p, neg_p, sub_p
from ..ops.bitwise import and_p, or_p
from ..ops.comparison import eq_p, lt_p
from ..ops.complex import abs_p, complex_p, imag_p, real_p
from ..ops.exponential import exp2_p, exp_p, expm1_p, log1p_p, log_p, logistic_p
from ..ops.hyperbolic import acosh_p, asinh_p, atanh_p, cosh_p, sinh_p, tanh_p
from ..ops.linear import constant_like as like
from ..ops.logaddexp import logaddexp as log_of_sum
from ..ops.powers import cbrt_p, sqrt_p, square_p
from ..ops.trigonometric import acos_p, asin_p, atan2_p, atan_p, cos_p, sin_p, tan_p
from .aliases import alias
from .composite import composite
from .dispatch import binary, inexact, unary
from .promotion import (
    INEXACT,
    dtype_of,
    number,
    operand,
    operands,
    promote_dtypes_inexact,
    promote_inexact,
)
from .selection import select_where

# ---------------------------------------------------------------- exponentials and logarithms


def exp(x: ArrayLike, /) -> Array:
    """Elementwise e^x.

    >>> import covector.numpy as jnp
    >>> jnp.exp(jnp.array([0.0, 1.0]))
    Array([1.       , 2.7182817], dtype=float32)
    """
    return unary(exp_p, "exp", INEXACT, x)


def exp2(x: ArrayLike, /) -> Array:
    """Elementwise 2^x.

    >>> import covector.numpy as jnp
    >>> jnp.exp2(jnp.array([0.0, 3.0]))
    Array([1., 8.], dtype=float32)
    """
    return unary(exp2_p, "exp2", INEXACT, x)


def expm1(x: ArrayLike, /) -> Array:
    """Elementwise e^x - 1, accurate near x = 0.

    >>> import covector.numpy as jnp
    >>> float(jnp.expm1(1e-10)) > 0
    True
    """
    return unary(expm1_p, "expm1", INEXACT, x)


def log(x: ArrayLike, /) -> Array:
    """Elementwise natural logarithm.

    >>> import covector.numpy as jnp
    >>> jnp.log(jnp.array([1.0, 2.0, 0.0]))
    Array([0.       , 0.6931472,      -inf], dtype=float32)
    """
    return unary(log_p, "log", INEXACT, x)


def log1p(x: ArrayLike, /) -> Array:
    """Elementwise log(1 + x), accurate near x = 0.

    >>> import covector.numpy as jnp
    >>> float(jnp.log1p(1e-10)) > 0
    True
    """
    return unary(log1p_p, "log1p", INEXACT, x)


@composite
def _log2(x: Any) -> Any:
    (x,) = promote_dtypes_inexact(x)
    dtype = dtype_of(x)
    if dtype.kind == "c":
        return _over_log_of(x, 2)
    return div_p.bind(log_p.bind(x), log_p.bind(number(2, dtype)))


def _over_log_of(x: Any, base: float) -> Any:
    """The logarithm to a real base; the parts of complex numbers by themselves.

    A product of complex numbers would make NaN of a part that meets an infinite one.
    """
    out = log_p.bind(x)
    if dtype_of(x).kind != "c":
        return mul_p.bind(out, number(1 / np.log(base), dtype_of(x)))
    re, im = real_p.bind(out), imag_p.bind(out)
    factor = number(1 / np.log(base), dtype_of(re))
    return complex_p.bind(mul_p.bind(re, factor), mul_p.bind(im, factor))


def log2(x: ArrayLike, /) -> Array:
    """Elementwise logarithm to base 2.

    >>> import covector.numpy as jnp
    >>> jnp.log2(jnp.array([1.0, 8.0]))
    Array([0., 3.], dtype=float32)
    """
    return _log2(operand("log2", x))


@composite
def _log10(x: Any) -> Any:
    (x,) = promote_dtypes_inexact(x)
    return _over_log_of(x, 10)


def log10(x: ArrayLike, /) -> Array:
    """Elementwise logarithm to base 10.

    >>> import covector.numpy as jnp
    >>> jnp.log10(jnp.array([1.0, 100.0]))
    Array([0., 2.], dtype=float32)
    """
    return _log10(operand("log10", x))


def _log_sum_of_powers_jvp(primals: Any, tangents: Any, *, base: float | None) -> Any:
    """d log(b^x + b^y) = s(x - y) dx + s(y - x) dy, with the logistic function s(z ln b).

    Operands that are equal and infinite have equal shares, as finite ones have.
    """
    (x, y), (t, u) = primals, tangents
    modulus = abs_p.bind(x)
    alike = and_p.bind(eq_p.bind(x, y), eq_p.bind(modulus, like(modulus, np.inf)))
    distance = select_where(alike, like(x, 0), sub_p.bind(x, y))
    if base is not None:
        distance = mul_p.bind(like(x, np.log(base)), distance)
    of_x = mul_p.bind(t, logistic_p.bind(distance))
    of_y = mul_p.bind(u, logistic_p.bind(neg_p.bind(distance)))
    return _log_sum_of_powers(x, y, base=base), [add_p.bind(of_x, of_y)]


@with_derivative(_log_sum_of_powers_jvp)
def _log_sum_of_powers(x: Any, y: Any, *, base: float | None) -> list[Any]:
    """log(b^x + b^y) = max(x, y) + log(1 + b^-|x - y|), in which no power overflows.

    Equal operands, infinite ones among them, are taken to differ by exactly zero.  The derivative
    of these steps would be right, but not their second one, where |x - y| has a kink.
    """
    if dtype_of(x).kind == "c":
        return [_log_sum_of_complex_powers(x, y, 1.0 if base is None else np.log(base))]
    distance = abs_p.bind(select_where(eq_p.bind(x, y), like(x, 0), sub_p.bind(x, y)))
    power = (exp_p if base is None else exp2_p).bind(neg_p.bind(distance))
    excess = log1p_p.bind(power)
    if base is not None:
        excess = mul_p.bind(like(x, 1 / np.log(base)), excess)
    return [add_p.bind(max_p.bind(x, y), excess)]


def _log_sum_of_complex_powers(x: Any, y: Any, log_of_base: float) -> Any:
    factor = like(x, log_of_base)
    return div_p.bind(log_of_sum(mul_p.bind(x, factor), mul_p.bind(y, factor)), factor)


@composite
def _logaddexp(x: Any, y: Any, *, base: float | None) -> Any:
    name = "logaddexp" if base is None else "logaddexp2"
    x, y = promote_inexact(name, x, y)
    return _log_sum_of_powers(x, y, base=base)[0]


def logaddexp(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise log(e^x + e^y), without overflow of the powers.

    >>> import covector.numpy as jnp
    >>> jnp.logaddexp(jnp.array([1000.0, 0.0]), jnp.array([0.0, -jnp.inf]))
    Array([1000.,    0.], dtype=float32)
    """
    return _logaddexp(*operands("logaddexp", (x, y)), base=None)


def logaddexp2(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise log2(2^x + 2^y), without overflow of the powers.

    >>> import covector.numpy as jnp
    >>> jnp.logaddexp2(jnp.array([1000.0, 0.0]), 0.0)
    Array([1000.,    1.], dtype=float32)
    """
    return _logaddexp(*operands("logaddexp2", (x, y)), base=2.0)


# ---------------------------------------------------------------- roots and lengths


def sqrt(x: ArrayLike, /) -> Array:
    """Elementwise square root; NaN of negative real numbers.

    >>> import covector.numpy as jnp
    >>> jnp.sqrt(jnp.array([4.0, 9.0]))
    Array([2., 3.], dtype=float32)
    """
    return unary(sqrt_p, "sqrt", INEXACT, x)


def cbrt(x: ArrayLike, /) -> Array:
    """Elementwise real cube root, of the sign of `x`.

    >>> import covector.numpy as jnp
    >>> jnp.cbrt(jnp.array([27.0, -8.0]))
    Array([ 3., -2.], dtype=float32)
    """
    return unary(cbrt_p, "cbrt", INEXACT, x)


@composite
def _hypot(x: Any, y: Any) -> Any:
    x, y = promote_inexact("hypot", x, y)
    if dtype_of(x).kind == "c":
        raise ValueError(numpy_errors.not_for_complex("hypot", dtype_of(x)))
    # |(x, y)| = m sqrt(1 + (n/m)^2) with m the larger modulus: the squares do not overflow.
    zero, one, infinity = (like(x, v) for v in (0, 1, np.inf))
    x, y = abs_p.bind(x), abs_p.bind(y)
    infinite = or_p.bind(eq_p.bind(x, infinity), eq_p.bind(y, infinity))
    large, small = max_p.bind(x, y), min_p.bind(x, y)
    nought = eq_p.bind(large, zero)
    ratio = div_p.bind(small, select_where(nought, one, large))
    root = sqrt_p.bind(add_p.bind(one, square_p.bind(ratio)))
    return select_where(infinite, infinity, select_where(nought, large, mul_p.bind(large, root)))


def hypot(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise length of the vector (x, y), without overflow of its square.

    >>> import covector.numpy as jnp
    >>> jnp.hypot(jnp.array([3.0, 3e30]), jnp.array([4.0, 4e30]))
    Array([5.e+00, 5.e+30], dtype=float32)
    """
    return _hypot(*operands("hypot", (x, y)))


# ---------------------------------------------------------------- trigonometric and hyperbolic


def sin(x: ArrayLike, /) -> Array:
    """Elementwise sine of radians.

    >>> import covector.numpy as jnp
    >>> jnp.sin(jnp.array([0.0, jnp.pi / 2]))
    Array([0., 1.], dtype=float32)
    """
    return unary(sin_p, "sin", INEXACT, x)


def cos(x: ArrayLike, /) -> Array:
    """Elementwise cosine of radians.

    >>> import covector.numpy as jnp
    >>> jnp.cos(jnp.array([0.0, jnp.pi]))
    Array([ 1., -1.], dtype=float32)
    """
    return unary(cos_p, "cos", INEXACT, x)


def tan(x: ArrayLike, /) -> Array:
    """Elementwise tangent of radians.

    >>> import covector.numpy as jnp
    >>> jnp.tan(jnp.array([0.0, 1.0]))
    Array([0.       , 1.5574077], dtype=float32)
    """
    return unary(tan_p, "tan", INEXACT, x)


def arcsin(x: ArrayLike, /) -> Array:
    """Elementwise inverse sine, from -pi/2 to pi/2.

    >>> import covector.numpy as jnp
    >>> jnp.arcsin(jnp.array([0.0, 1.0]))
    Array([0.       , 1.5707964], dtype=float32)
    """
    return unary(asin_p, "arcsin", INEXACT, x)


def arccos(x: ArrayLike, /) -> Array:
    """Elementwise inverse cosine, from 0 to pi.

    >>> import covector.numpy as jnp
    >>> jnp.arccos(jnp.array([1.0, 0.0]))
    Array([0.       , 1.5707964], dtype=float32)
    """
    return unary(acos_p, "arccos", INEXACT, x)


def arctan(x: ArrayLike, /) -> Array:
    """Elementwise inverse tangent, from -pi/2 to pi/2.

    >>> import covector.numpy as jnp
    >>> jnp.arctan(jnp.array([0.0, jnp.inf]))
    Array([0.       , 1.5707964], dtype=float32)
    """
    return unary(atan_p, "arctan", INEXACT, x)


def sinh(x: ArrayLike, /) -> Array:
    """Elementwise hyperbolic sine.

    >>> import covector.numpy as jnp
    >>> jnp.sinh(jnp.array([0.0, 1.0]))
    Array([0.       , 1.1752012], dtype=float32)
    """
    return unary(sinh_p, "sinh", INEXACT, x)


def cosh(x: ArrayLike, /) -> Array:
    """Elementwise hyperbolic cosine.

    >>> import covector.numpy as jnp
    >>> jnp.cosh(jnp.array([0.0, 1.0]))
    Array([1.       , 1.5430806], dtype=float32)
    """
    return unary(cosh_p, "cosh", INEXACT, x)


def tanh(x: ArrayLike, /) -> Array:
    """Elementwise hyperbolic tangent.

    >>> import covector.numpy as jnp
    >>> jnp.tanh(jnp.array([0.0, 1.0]))
    Array([0.       , 0.7615942], dtype=float32)
    """
    return unary(tanh_p, "tanh", INEXACT, x)


def arcsinh(x: ArrayLike, /) -> Array:
    """Elementwise inverse hyperbolic sine.

    >>> import covector.numpy as jnp
    >>> jnp.arcsinh(jnp.array([0.0, 1.1752012]))
    Array([0., 1.], dtype=float32)
    """
    return unary(asinh_p, "arcsinh", INEXACT, x)


def arccosh(x: ArrayLike, /) -> Array:
    """Elementwise inverse hyperbolic cosine; NaN of real numbers below 1.

    >>> import covector.numpy as jnp
    >>> jnp.arccosh(jnp.array([1.0, 1.5430806]))
    Array([0., 1.], dtype=float32)
    """
    return unary(acosh_p, "arccosh", INEXACT, x)


def arctanh(x: ArrayLike, /) -> Array:
    """Elementwise inverse hyperbolic tangent; NaN of real numbers beyond -1 and 1.

    >>> import covector.numpy as jnp
    >>> jnp.arctanh(jnp.array([0.0, 0.5]))
    Array([0.        , 0.54930615], dtype=float32)
    """
    return unary(atanh_p, "arctanh", INEXACT, x)


def arctan2(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Elementwise angle of the point with ordinate `x` and abscissa `y`, from -pi to pi.

    >>> import covector.numpy as jnp
    >>> jnp.arctan2(jnp.array([1.0, -1.0]), jnp.array([-1.0, -1.0]))
    Array([ 2.3561945, -2.3561945], dtype=float32)
    """
    return binary(atan2_p, "arctan2", INEXACT, inexact, x, y)


acos = alias("acos", arccos)
acosh = alias("acosh", arccosh)
asin = alias("asin", arcsin)
asinh = alias("asinh", arcsinh)
atan = alias("atan", arctan)
atanh = alias("atanh", arctanh)
atan2 = alias("atan2", arctan2)


@composite
def _scaled(x: Any, *, factor: float) -> Any:
    (x,) = promote_dtypes_inexact(x)
    return mul_p.bind(x, like(x, factor))


def deg2rad(x: ArrayLike, /) -> Array:
    """Elementwise radians from degrees.

    >>> import covector.numpy as jnp
    >>> jnp.deg2rad(jnp.array([0.0, 180.0]))
    Array([0.       , 3.1415927], dtype=float32)
    """
    return _scaled(operand("deg2rad", x), factor=np.pi / 180)


def rad2deg(x: ArrayLike, /) -> Array:
    """Elementwise degrees from radians.

    >>> import covector.numpy as jnp
    >>> jnp.rad2deg(jnp.array([0.0, jnp.pi]))
    Array([  0., 180.], dtype=float32)
    """
    return _scaled(operand("rad2deg", x), factor=180 / np.pi)


degrees = alias("degrees", rad2deg)
radians = alias("radians", deg2rad)


@composite
def _sinc(x: Any) -> Any:
    """sin(z)/z for z = pi x.

    Near zero, where the quotient and even more its derivatives cancel, it is computed by its power
    series in u = z^2:  sum over n of (-u)^n / (2n + 1)!.  For |z| < 1 the terms that are left out
    are below the rounding error, and so are their first derivatives.
    """
    (x,) = promote_dtypes_inexact(x)
    z = mul_p.bind(x, like(x, np.pi))
    near = lt_p.bind(abs_p.bind(z), like(abs_p.bind(z), 1))
    small, large = select_where(near, z, like(z, 0)), select_where(near, like(z, 1), z)
    u = square_p.bind(small)
    last = 12 if dtypes.itemsize_bits(dtypes.to_floating_dtype(dtype_of(x))) == 64 else 7
    series = like(z, 1.0)
    for n in range(last, 0, -1):
        # 1 - u/(2n (2n + 1)) (1 - u/...): the quotients of neighbouring terms, from the inside out.
        term = mul_p.bind(u, like(z, 1 / (2 * n * (2 * n + 1))))
        series = sub_p.bind(like(z, 1), mul_p.bind(term, series))
    return select_where(near, series, div_p.bind(sin_p.bind(large), large))


def sinc(x: ArrayLike, /) -> Array:
    """Elementwise sin(pi x) / (pi x), which is 1 at zero; differentiable there, accurately nearby.

    >>> import covector.numpy as jnp
    >>> jnp.sinc(jnp.array([0.0, 0.5]))
    Array([1.        , 0.63661975], dtype=float32)
    """
    return _sinc(operand("sinc", x))
