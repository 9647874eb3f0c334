"""Two values that are not there: the symbolic zero and the unknown operand of a linear map."""

from __future__ import annotations

from typing import Any

from .avals import AbstractValue, aval_of


class Zero:
    """A tangent or cotangent that is zero whatever the inputs; nothing is computed for it."""

    __slots__ = ("aval",)

    def __init__(self, aval: AbstractValue):
        self.aval = aval

    def __repr__(self) -> str:
        return f"Zero({self.aval})"

    @staticmethod
    def from_primal_value(x: Any) -> Zero:
        """The zero tangent of a primal value."""
        return Zero(aval_of(x).to_tangent_aval())


class UndefinedPrimal:
    """The place of an operand in which a primitive is linear, when it is transposed."""

    __slots__ = ("aval",)

    def __init__(self, aval: AbstractValue):
        self.aval = aval

    def __repr__(self) -> str:
        return f"UndefinedPrimal({self.aval})"


def is_undefined_primal(x: Any) -> bool:
    """Whether `x` stands for a linear operand (in a transpose rule)."""
    return type(x) is UndefinedPrimal
