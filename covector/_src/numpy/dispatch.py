"""How an elementwise function reaches its primitive: at once if its operands need no conversion.

Most calls need none, and pay for none: both operands have one aval (avals are interned, so that is
one comparison), or an array meets a Python number that takes the array's dtype.  In all other cases
the operands are promoted; where they are concrete, as part of one compiled program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.config import enable_x64
from ..core.avals import ShapedArray
from ..core.primitive import Primitive
from .composite import composite
from .promotion import (
    NUMBERS,
    number,
    operand,
    operands,
    own,
    promote,
    promote_dtypes_inexact,
    promote_inexact,
)

# ---------------------------------------------------------------- numbers that meet arrays

# The types of numbers that may take the dtype of an array.  Booleans do not: their dtype differs.
SCALARS = frozenset((int, float, complex, *[dtype.type for dtype in NUMBERS]))

# Numbers as constants of the dtypes of the arrays that they met.
_literals: dict[Any, np.ndarray | None] = {}
_LITERALS_LIMIT = 8192


def literal(aval: ShapedArray, kind: type, value: Any) -> np.ndarray | None:
    """The number `value`, of type `kind`, in the dtype of an array of type `aval`.

    None unless the array keeps its type when it meets the number: its dtype is not weak, and is of
    the number's kind or one above it; that of a NumPy scalar must be the same.
    """
    try:
        return _literals[aval, kind, value or repr(value), enable_x64.value]
    except KeyError:
        return _new_literal(aval, kind, value)


def _new_literal(aval: ShapedArray, kind: type, value: Any) -> np.ndarray | None:
    kinds = {int: np.number, float: np.inexact, complex: np.complexfloating}
    wanted = kinds.get(kind) or dtypes.canonicalize_dtype(kind)
    fits = not aval.weak_type and dtypes.issubdtype(aval.dtype, wanted)
    constant = number(value, aval.dtype) if fits else None
    if issubclass(kind, (complex, np.complexfloating)):  # its parts may be zeros with a sign
        return constant
    if len(_literals) >= _LITERALS_LIMIT:
        _literals.clear()
    _literals[aval, kind, value or repr(value), enable_x64.value] = constant
    return constant


# ---------------------------------------------------------------- two operands

General = Callable[[Primitive, str, Any, Any], Any]


def binary(p: Primitive, where: str, fits: frozenset[Any], general: General, x: Any, y: Any) -> Any:
    """Apply an elementwise primitive to two operands, promoted.

    Args:
      p: the primitive.
      where: the public function, for error messages.
      fits: the dtypes to which the primitive may be applied as they are.
      general: what to do, as `general(p, where, x, y)`, if operands must be converted.
      x, y: the operands.
    """
    kind_x, kind_y = type(x), type(y)
    if own[kind_x]:
        aval = x.aval
        if own[kind_y]:
            if aval is y.aval and aval.dtype in fits:
                return p.bind(x, y)
        elif kind_y in SCALARS:
            constant = literal(aval, kind_y, y)
            if constant is not None and aval.dtype in fits:
                return p.bind(x, constant)
    elif kind_x in SCALARS and own[kind_y]:
        constant = literal(y.aval, kind_x, x)
        if constant is not None and y.aval.dtype in fits:
            return p.bind(constant, y)
    return _general(*operands(where, (x, y)), p=p, where=where, general=general)


@composite
def _general(x: Any, y: Any, *, p: Primitive, where: str, general: General) -> Any:
    return general(p, where, x, y)


def same(p: Primitive, where: str, x: Any, y: Any) -> Any:
    """The general case of `binary`: in the common dtype."""
    return p.bind(*promote(where, x, y))


def inexact(p: Primitive, where: str, x: Any, y: Any) -> Any:
    """The general case of `binary`: in the common dtype, made floating."""
    return p.bind(*promote_inexact(where, x, y))


# ---------------------------------------------------------------- one operand


def unary(p: Primitive, where: str, fits: frozenset[Any], x: Any) -> Any:
    """Apply an elementwise primitive to an operand, in its dtype made floating or complex."""
    if own[type(x)] and x.aval.dtype in fits:
        return p.bind(x)
    return _as_inexact(operand(where, x), p=p)


@composite
def _as_inexact(x: Any, *, p: Primitive) -> Any:
    return p.bind(*promote_dtypes_inexact(x))
