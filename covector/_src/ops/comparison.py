"""Comparisons, in the usual order of numbers and in the total order of floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes
from .families import ANY, Comparison
from .functions import binary


class Eq(Comparison):
    """Elementwise x == y; NaN is equal to nothing."""

    example = "lax.eq(2, 2)", "Array(True, dtype=bool, weak_type=True)"
    accepts = ANY
    direction = "EQ"
    numpy = np.equal


class Ne(Comparison):
    """Elementwise x != y; NaN differs from everything."""

    example = "lax.ne(2, 2)", "Array(False, dtype=bool, weak_type=True)"
    accepts = ANY
    direction = "NE"
    numpy = np.not_equal


class Lt(Comparison):
    """Elementwise x < y."""

    example = "lax.lt(2, 2)", "Array(False, dtype=bool, weak_type=True)"
    direction = "LT"
    numpy = np.less


class Le(Comparison):
    """Elementwise x <= y."""

    example = "lax.le(2, 2)", "Array(True, dtype=bool, weak_type=True)"
    direction = "LE"
    numpy = np.less_equal


class Gt(Comparison):
    """Elementwise x > y."""

    example = "lax.gt(2, 2)", "Array(False, dtype=bool, weak_type=True)"
    direction = "GT"
    numpy = np.greater


class Ge(Comparison):
    """Elementwise x >= y."""

    example = "lax.ge(2, 2)", "Array(True, dtype=bool, weak_type=True)"
    direction = "GE"
    numpy = np.greater_equal


eq_p = Eq("eq")
ne_p = Ne("ne")
lt_p = Lt("lt")
le_p = Le("le")
gt_p = Gt("gt")
ge_p = Ge("ge")

eq = binary(eq_p)
ne = binary(ne_p)
lt = binary(lt_p)
le = binary(le_p)
gt = binary(gt_p)
ge = binary(ge_p)

# ---------------------------------------------------------------- total order


def _total_order_key(x: Any) -> np.ndarray:
    """Integers in the total order of the floats `x`; other numbers as they are.

    The bits of a float, read as an integer, grow with its magnitude.  Those of negative floats,
    read as a signed integer, are negative but in the wrong order: their low bits are inverted.
    """
    x = np.asarray(x)
    if not dtypes.issubdtype(x.dtype, np.floating):
        return x
    bits = x.view(f"i{x.dtype.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _by_keys(relation: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: relation(_total_order_key(x), _total_order_key(y))


class EqTo(Comparison):
    """Elementwise x == y in the total order, where NaN is equal to itself and -0 is below 0."""

    direction = "EQ"
    total_order = True
    numpy = _by_keys(np.equal)


class LtTo(Comparison):
    """Elementwise x < y in the total order, where NaN is above all other floats."""

    direction = "LT"
    total_order = True
    numpy = _by_keys(np.less)


class LeTo(Comparison):
    """Elementwise x <= y in the total order, where NaN is above all other floats."""

    direction = "LE"
    total_order = True
    numpy = _by_keys(np.less_equal)


eq_to_p = EqTo("eq_to")
lt_to_p = LtTo("lt_to")
le_to_p = LeTo("le_to")
