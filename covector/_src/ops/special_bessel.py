"""Modified Bessel functions of the first kind, scaled by exp(-|x|)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ..base import dtypes
from ..core.avals import aval_of
from ..core.fusion import COMPOSED
from . import special_values
from .arithmetic import add_p, mul_p, sign_p, sub_p
from .comparison import gt_p
from .complex import abs_p
from .emitted import Emitted, computed_in, sqrt, where
from .families import FLOATS, Unary, filled_like
from .functions import unary
from .linear import constant_like
from .powers import reciprocal
from .select import select_n_p

# ---------------------------------------------------------------- Chebyshev series


_SPLIT = 8.0
# How many terms of the series for small and for large |x| bring the error below rounding.
_TERMS = {"float32": (18, 7), "float64": (30, 25)}


@cache
def _coefficients(dtype: str) -> tuple[list[float], list[float]]:
    """Chebyshev coefficients of exp(-x) I_0(x), which make up I_0 in a dtype.

    The first are for 0 <= x <= 8 in the variable x / 4 - 1; the second for x >= 8, where they give
    the function times sqrt(x), in the variable 16 / x - 1. Both run from -1 to 1.
    """

    def at_small(u: np.ndarray) -> np.ndarray:
        return special_values.bessel_i0e(_SPLIT * (u + 1) / 2)

    def at_large(u: np.ndarray) -> np.ndarray:
        x = 2 * _SPLIT / (u + 1)
        return np.sqrt(x) * special_values.bessel_i0e(x)

    small, large = _TERMS[dtype]
    return _interpolate(at_small, small), _interpolate(at_large, large)


def _interpolate(function: Callable[[np.ndarray], np.ndarray], count: int) -> list[float]:
    """Chebyshev coefficients of the polynomial that meets a function in the zeros of T_count."""
    # The angles as whole multiples of pi / (2 count), which lose no digits modulo 2 pi.
    multiples = np.outer(np.arange(count), 2 * np.arange(count) + 1) % (4 * count)
    cosines = np.cos(np.pi * multiples / (2 * count))
    first, *others = cosines @ function(cosines[1]) * (2 / count)
    return [first / 2, *others]


def _chebyshev(u: Emitted, coefficients: list[float]) -> Emitted:
    """Write the sum of c_k T_k(u), by Clenshaw's recurrence (DLMF 3.11.15)."""
    two_u = u + u
    following, current = u.full(0), u.full(coefficients[-1])
    for c in reversed(coefficients[1:-1]):
        following, current = current, two_u * current - following + c
    return u * current - following + coefficients[0]


# ---------------------------------------------------------------- primitives


class BesselI0e(Unary):
    """Elementwise modified Bessel function of order 0, times exp(-|x|)."""

    example = "lax.bessel_i0e(1.0)", "Array(0.4657596, dtype=float32, weak_type=True)"
    accepts = FLOATS
    numpy = special_values.bessel_i0e
    domain = (-12.0, 12.0)
    fusion = COMPOSED

    def derivative(self, t, x, y):
        slope = sub_p.bind(bessel_i1e_p.bind(x), mul_p.bind(sign_p.bind(x), y))
        return mul_p.bind(t, slope)

    def emit(self, b, x):
        (aval,) = b.avals_in
        dtype = computed_in(aval.dtype)
        x = abs(Emitted(b, x, aval).astype(dtype))
        small, large = _coefficients(dtype.name)
        y = where(
            x <= _SPLIT,
            _chebyshev(x * (2 / _SPLIT) - 1, small),
            _chebyshev((2 * _SPLIT) / x - 1, large) / sqrt(x),
        )
        return y.astype(aval.dtype).value


class BesselI1e(Unary):
    """Elementwise modified Bessel function of order 1, times exp(-|x|)."""

    example = "lax.bessel_i1e(1.0)", "Array(0.20791042, dtype=float32, weak_type=True)"
    accepts = FLOATS
    hlo = "chlo.bessel_i1e"
    numpy = special_values.bessel_i1e
    domain = (-12.0, 12.0)
    fusion = COMPOSED

    def derivative(self, t, x, y):
        # I_1' = I_0 - I_1 / x, which is 1/2 at 0.
        eps = float(dtypes.finfo(aval_of(x).dtype).eps)
        nonzero = gt_p.bind(abs_p.bind(x), constant_like(x, eps))
        safe = select_n_p.bind(nonzero, filled_like(x, eps), x)
        i0e = bessel_i0e_p.bind(safe)
        factor = add_p.bind(sign_p.bind(safe), reciprocal(safe))
        slope = sub_p.bind(i0e, mul_p.bind(y, factor))
        return mul_p.bind(t, select_n_p.bind(nonzero, filled_like(x, 0.5), slope))

    def emit(self, b, x):
        # XLA has no expansion of it for floats of fewer than 16 bits.
        (aval,) = b.avals_in
        dtype = aval.dtype if dtypes.bit_width(aval.dtype) >= 16 else np.dtype(np.float32)
        return Emitted(b, x, aval).astype(dtype).apply(self.hlo).astype(aval.dtype).value


bessel_i0e_p = BesselI0e("bessel_i0e")
bessel_i1e_p = BesselI1e("bessel_i1e")

bessel_i0e = unary(bessel_i0e_p)
bessel_i1e = unary(bessel_i1e_p)
