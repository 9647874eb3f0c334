"""Comparisons, in the usual order of numbers and in the total order of floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes
from .families import ANY, Comparison, broadcast_operands
from .functions import binary
from .physical import physical_aval


class Equality(Comparison):
    """Whether elements are equal, or whether they differ.

    Elements of extended dtypes are equal if all the numbers that they are made of are.

    Class attributes:
      together: the StableHLO op that makes one answer of those for the numbers of an element.
      identity: its identity.
    """

    accepts = (*ANY, dtypes.extended)
    together: str
    identity: bool

    def emit(self, b, x, y):
        (out,) = b.avals_out
        aval = physical_aval(out.update(dtype=b.avals_in[0].dtype))
        if aval.shape == out.shape:
            return super().emit(b, x, y)
        x, y = broadcast_operands(b, (x, y))
        flags = b.compare(self.direction, x, y, aval.dtype, out=aval.update(dtype=np.bool_))
        return b.reduce(self.together, flags, self.identity, range(out.ndim, aval.ndim))


class Eq(Equality):
    """Elementwise x == y; NaN is equal to nothing."""

    example = "lax.eq(2, 2)", "Array(True, dtype=bool, weak_type=True)"
    direction = "EQ"
    together, identity = "and", True
    numpy = np.equal


class Ne(Equality):
    """Elementwise x != y; NaN differs from everything."""

    example = "lax.ne(2, 2)", "Array(False, dtype=bool, weak_type=True)"
    direction = "NE"
    together, identity = "or", False
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
