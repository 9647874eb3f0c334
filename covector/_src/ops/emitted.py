"""Arrays of a program that is being written, with the arithmetic of arrays.

A lowering rule that is a formula of many operations is easier to read as one: with x and y
`Emitted`, `(x - y) * 2` writes a subtraction and a multiplication.  Numbers take the dtype of what
they meet; two arrays must have one shape and one dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray


class Emitted:
    """An MLIR value, its aval, and the emitter that operations on it are written with."""

    __slots__ = ("aval", "b", "value")
    __hash__ = None

    def __init__(self, b: Any, value: Any, aval: Any):
        self.b = b
        self.value = value
        self.aval = aval

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    # ---------------------------------------------------------------- operations

    def full(self, number: Any) -> Emitted:
        """The array of one number of this array's shape and dtype."""
        return Emitted(self.b, self.b.full(number, self.aval), self.aval)

    def apply(self, name: str, *others: Any, dtype: Any = None) -> Emitted:
        """An elementwise op of StableHLO on this array, and others or numbers."""
        operands = [self, *map(self._like, others)]
        aval = self.aval if dtype is None else self.aval.update(dtype=np.dtype(dtype))
        return Emitted(self.b, self.b.op(name, *[x.value for x in operands], out=aval), aval)

    def astype(self, dtype: Any) -> Emitted:
        """The array converted to another dtype."""
        return self if self.dtype == dtype else self.apply("convert", dtype=dtype)

    def bits(self, dtype: Any) -> Emitted:
        """The same bits in a dtype of the same width."""
        return self if self.dtype == dtype else self.apply("bitcast_convert", dtype=dtype)

    def iota(self, dtype: Any, dimension: int) -> Emitted:
        """The numbers 0, 1, ... along a dimension of this array's shape."""
        aval = ShapedArray(self.aval.shape, dtype)
        return Emitted(self.b, self.b.op("iota", out=aval, iota_dimension=dimension), aval)

    def _like(self, other: Any) -> Emitted:
        return other if isinstance(other, Emitted) else self.full(other)

    def _compare(self, direction: str, other: Any) -> Emitted:
        bools = self.aval.update(dtype=np.dtype(np.bool_))
        y = self._like(other).value
        return Emitted(self.b, self.b.compare(direction, self.value, y, self.dtype, bools), bools)

    # ---------------------------------------------------------------- operators

    def __neg__(self) -> Emitted:
        return self.apply("negate")

    def __abs__(self) -> Emitted:
        return self.apply("abs")

    def __invert__(self) -> Emitted:
        return self.apply("not")

    def __add__(self, y: Any) -> Emitted:
        return self.apply("add", y)

    def __radd__(self, y: Any) -> Emitted:
        return self._like(y) + self

    def __sub__(self, y: Any) -> Emitted:
        return self.apply("subtract", y)

    def __rsub__(self, y: Any) -> Emitted:
        return self._like(y) - self

    def __mul__(self, y: Any) -> Emitted:
        return self.apply("multiply", y)

    def __rmul__(self, y: Any) -> Emitted:
        return self._like(y) * self

    def __truediv__(self, y: Any) -> Emitted:
        return self.apply("divide", y)

    def __rtruediv__(self, y: Any) -> Emitted:
        return self._like(y) / self

    def __and__(self, y: Any) -> Emitted:
        return self.apply("and", y)

    def __or__(self, y: Any) -> Emitted:
        return self.apply("or", y)

    def __xor__(self, y: Any) -> Emitted:
        return self.apply("xor", y)

    def __lshift__(self, y: Any) -> Emitted:
        return self.apply("shift_left", y)

    def __rshift__(self, y: Any) -> Emitted:
        return self.apply("shift_right_arithmetic", y)

    def __lt__(self, y: Any) -> Emitted:
        return self._compare("LT", y)

    def __le__(self, y: Any) -> Emitted:
        return self._compare("LE", y)

    def __gt__(self, y: Any) -> Emitted:
        return self._compare("GT", y)

    def __ge__(self, y: Any) -> Emitted:
        return self._compare("GE", y)

    def equals(self, y: Any) -> Emitted:
        return self._compare("EQ", y)

    def differs(self, y: Any) -> Emitted:
        return self._compare("NE", y)


def computed_in(dtype: Any) -> np.dtype:
    """The dtype in which a function of this one is computed: float32 in the place of less."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def exp(x: Emitted) -> Emitted:
    return x.apply("exponential")


def log(x: Emitted) -> Emitted:
    return x.apply("log")


def log1p(x: Emitted) -> Emitted:
    return x.apply("log_plus_one")


def sqrt(x: Emitted) -> Emitted:
    return x.apply("sqrt")


def where(condition: Emitted, x: Any, y: Any) -> Emitted:
    """x where the condition holds, else y; one of them may be a number."""
    x = x if isinstance(x, Emitted) else y.full(x)
    y = y if isinstance(y, Emitted) else x.full(y)
    chosen = x.b.op("select", condition.value, x.value, y.value, out=x.aval)
    return Emitted(x.b, chosen, x.aval)


def anywhere(condition: Emitted) -> Any:
    """Whether a condition holds for some element, as an MLIR value."""
    b, aval = condition.b, condition.aval
    scalar = ShapedArray((), np.bool_)
    (found,) = b.op_with_regions(
        "reduce",
        [condition.value, b.constant(False)],
        [((scalar, scalar), lambda x, y: [b.op("or", x, y, out=scalar)])],
        out=(scalar,),
        dimensions=tuple(range(aval.ndim)),
    )
    return found


def loop(
    proceed: Callable[..., Any],
    step: Callable[..., Sequence[Emitted]],
    state: Sequence[Emitted],
) -> list[Emitted]:
    """Write a loop: the last of the states that follow from one another by `step`.

    Args:
      proceed: takes the arrays of a state; whether to go on, as a scalar MLIR value.
      step: takes the arrays of a state, and returns those of the next.
      state: the arrays to begin with.
    """
    b, avals = state[0].b, [x.aval for x in state]

    def arrays(values: Sequence[Any]) -> list[Emitted]:
        return [Emitted(b, value, aval) for value, aval in zip(values, avals)]

    def body(*values: Any) -> list[Any]:
        return [x.value for x in step(*arrays(values))]

    regions = [(avals, lambda *values: [proceed(*arrays(values))]), (avals, body)]
    return arrays(b.op_with_regions("while", [x.value for x in state], regions, out=avals))
