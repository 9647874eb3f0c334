"""The logarithm of a sum of two exponentials, and its derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..core.avals import aval_of
from .arithmetic import add_p, max_p, mul_p, neg_p, sub_p
from .comparison import eq_p, lt_p, ne_p
from .complex import abs_p, complex_p, imag_p, real_p
from .exponential import exp_p, log1p_p
from .families import filled_like
from .linear import add_any, constant_like
from .rounding import rem_p
from .select import select_n_p


def logaddexp(x: Any, y: Any) -> Any:
    """log(e^x + e^y) = m + log(1 + e^-|x - y|) with the greater m of both: no power overflows.

    Complex numbers are ordered by their real parts; the imaginary part of the result is between
    -pi and pi.
    """
    greater = max_p.bind(x, y)
    if dtypes.issubdtype(aval_of(x).dtype, np.complexfloating):
        excess = sub_p.bind(add_p.bind(x, y), mul_p.bind(constant_like(x, 2), greater))
        out = add_p.bind(greater, log1p_p.bind(exp_p.bind(excess)))
        return complex_p.bind(real_p.bind(out), between_minus_pi_and_pi(imag_p.bind(out)))
    distance = sub_p.bind(x, y)
    out = add_p.bind(greater, log1p_p.bind(exp_p.bind(neg_p.bind(abs_p.bind(distance)))))
    # The distance of equal infinities is NaN; they, and NaN, come out of the sum as they are.
    return select_n_p.bind(ne_p.bind(distance, distance), out, add_p.bind(x, y))


def between_minus_pi_and_pi(x: Any) -> Any:
    """An angle, give or take full turns."""
    turn = constant_like(x, 2 * np.pi)
    angle = rem_p.bind(add_p.bind(x, constant_like(x, np.pi)), turn)
    negative = lt_p.bind(angle, constant_like(x, 0))
    angle = select_n_p.bind(negative, angle, add_p.bind(angle, turn))
    return sub_p.bind(angle, constant_like(x, np.pi))


def logaddexp_duals(x: Any, t: Any, y: Any, u: Any) -> list[Any]:
    """`logaddexp(x, y)` of operands whose tangents are t and u, with its tangent."""
    out = logaddexp(x, y)
    return [out, add_any(mul_p.bind(t, share(x, out)), mul_p.bind(u, share(y, out)))]


def share(x: Any, total: Any) -> Any:
    """e^(x - total): all of it where they are equal, also if they are infinite."""
    less = select_n_p.bind(eq_p.bind(x, total), sub_p.bind(x, total), filled_like(x, 0))
    return exp_p.bind(less)
