"""`logsumexp`: sums of exponentials by their logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import ArrayLike
from ...linalg.derived import with_derivative
from ...numpy.arguments import axes_argument
from ...numpy.composite import composite_list
from ...numpy.promotion import (
    BOOL,
    common_shape,
    convert,
    dtype_of,
    operands,
    promote_dtypes_inexact,
)
from ...numpy.reductions import max_beside_nan, sum
from ...numpy.selection import where
from ...ops.arithmetic import sign
from ...ops.complex import is_complex, real
from ...ops.exponential import exp, log
from ...ops.full import full_like
from ...ops.identities import stop_gradient
from ...ops.rounding import is_finite
from ...ops.shaping import expand_dims, squeeze

# The derivative has a rule of its own: the mean of the terms' tangents, weighted as by softmax.
# Taken step by step it would be NaN where all terms are -inf, since log is differentiated at 0, and
# where one is inf, since infinities are subtracted.  Dynamic programs in log space start from such
# sums.


def _powers(a: Any, axes: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """The terms over e^shift, the shift, and whether all exponents are -inf or NaN.

    The shift is the largest exponent, unless that is -inf.  Exponents inf count as equal: over
    e^inf their terms are 1, and all others 0.
    """
    within = real(a) if is_complex(dtype_of(a)) else a
    largest = stop_gradient(max_beside_nan(within, axes, keepdims=True, initial=-np.inf))
    nothing = largest == -np.inf
    if is_complex(dtype_of(a)):
        shift = where(is_finite(largest), largest, 0)
        return exp(a - shift.astype(a.dtype)), shift, nothing
    shift = where(nothing, 0, largest)
    return exp(where(a == np.inf, 0, a - shift)), shift, nothing


def _log_sum_jvp(
    primals: Any, tangents: Any, *, axes: tuple[int, ...], signed: bool
) -> tuple[list[Any], list[Any]]:
    """d log s = ds / s of s = sum(b e^a), and d log|s| its real part; that of sign(s) is 0."""
    outs = _log_sum(*primals, axes=axes, signed=signed)
    a, *factors = primals
    powers, _, nothing = _powers(a, axes)
    terms, changes = powers, powers * tangents[0]
    for b, change in zip(factors, tangents[1:]):
        terms, changes = powers * b, changes * b + powers * change
    total = sum(terms, axes, keepdims=True)
    total = where(nothing & (total == total), 1, total)  # nothing but -inf, and no NaN
    ratio = sum(changes / total, axes)
    if not signed:
        return outs, [ratio]
    return outs, [real(ratio) if is_complex(dtype_of(a)) else ratio, full_like(outs[1], 0)]


@with_derivative(_log_sum_jvp)
def _log_sum(a: Any, *factors: Any, axes: tuple[int, ...], signed: bool) -> list[Any]:
    """The logarithm of sum(b e^a), or that of its modulus, and its sign."""
    terms, shift, _ = _powers(a, axes)
    for b in factors:
        terms = terms * b
    shift = squeeze(shift, axes)
    total = sum(terms, axes)
    if signed:
        return [log(abs(total)) + shift, sign(total)]
    if is_complex(dtype_of(a)):
        return [log(total) + shift.astype(a.dtype)]
    return [log(total) + shift]


@composite_list
def _logsumexp(
    a: Any, *extras: Any, axes: tuple[int, ...], scaled: bool, masked: bool, signed: bool
) -> list[Any]:
    """Over what does not take part exponents are -inf and factors 0; extras are `b` and `where`."""
    exponents, *factors = promote_dtypes_inexact(a, *extras[: int(scaled)])
    taken = convert(extras[-1], BOOL) if masked else None
    if taken is not None:
        exponents = where(taken, exponents, -np.inf)
        factors = [where(taken, b, 0) for b in factors]
    for b in factors:
        exponents = where(b != 0, exponents, -np.inf)
    return _log_sum(exponents, *factors, axes=axes, signed=signed)


def logsumexp(
    a: ArrayLike,
    axis: Any = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: ArrayLike | None = None,
) -> Any:
    """The logarithm of the sum of exponentials, computed so that none of them overflows.

    Its derivative in each element is the element's share of the sum. Where all elements are -inf it
    is 0; elements that are inf have equal shares.

    Args:
      a: an array.
      axis: the axis or axes to sum over; by default all.
      b: factors of the exponentials, broadcast against `a`.
      keepdims: whether the axes stay, with size 1.
      return_sign: whether to return also the sign of the sum.
      where: which elements take part, broadcast against `a`.

    Returns:
      `log(sum(b * exp(a)))`, NaN where the sum is negative; if `return_sign`, a pair of the
      logarithm of the modulus of the sum, and the sum's sign.

    Raises:
      TypeError: an argument is not an array.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import nn
    >>> x = jnp.array([1000.0, 1000.0, -jnp.inf])
    >>> nn.logsumexp(x)
    Array(1000.6932, dtype=float32)
    >>> cv.grad(nn.logsumexp)(x)
    Array([0.5, 0.5, 0. ], dtype=float32)
    """
    given = operands("logsumexp", [x for x in (a, b, where) if x is not None])
    axes = axes_argument("logsumexp", axis, len(common_shape("logsumexp", *given)))
    outs = _logsumexp(
        *given,
        axes=axes,
        scaled=b is not None,
        masked=where is not None,
        signed=bool(return_sign),
    )
    if keepdims:
        outs = [expand_dims(out, axes) for out in outs]
    return tuple(outs) if return_sign else outs[0]
