"""Products in derivatives, where a zero wins over an infinity.

A derivative is a product of slopes, and some slopes are infinite, or NaN: that of sqrt at 0, of log
at 0, of exp where it overflows.  In floating point 0 * inf is NaN, though in a derivative a factor
that is exactly zero says that nothing of what follows matters:

- A cotangent that is zero says that the result does not depend on a value.  In
  `where(x > 0, sqrt(x), 0)` the cotangent of the root is zero where x <= 0, by the selection, and
  what it contributes to that of x is zero, whatever the slope of the root.  The same holds for
  1 / (1 + exp(-x)) where the exponential overflows: the slope of 1 / u at u = inf is zero.
- A slope that is zero at the minimum of an even function, such as x^2 at 0, says that whatever
  function of it there is has the symmetric derivative zero, be its own slope infinite:
  (g(x^2) - g((-x)^2)) / 2x = 0.  Hence the gradient of sqrt(sum(x^2)) at 0 is zero.

So products and quotients in derivatives carry the parameter `zero_wins`: positions of operands
that, where they are zero, make the result zero.  No finite value changes by it: 0 * y is 0 for any
finite y.  With the flag `parity` no product carries it, and such derivatives are NaN.  Like
`accuracy` where none is asked for, it is not shown in printed jaxprs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import config
from .families import Elementwise, broadcast_operands

Marks = dict[str, tuple[int, ...]]

_NONE: Marks = {}


def factor_wins(position: int) -> Marks:
    """The parameter of a product of a tangent and a slope in which the zero of one of them wins."""
    return _NONE if config.parity.value else {"zero_wins": (position,)}


def cotangent_wins(position: int, slope: Any, marked: tuple[int, ...]) -> Marks:
    """The parameter of a product of a cotangent and a slope in a transposed program.

    Args:
      position: where the cotangent stands.
      slope: the other operand.
      marked: the positions whose zeros win in the program before it was transposed.
    """
    if config.parity.value or (not marked and _is_finite_number(slope)):
        return _NONE
    return {"zero_wins": tuple(sorted({position, *marked}))}


def _is_finite_number(x: Any) -> bool:
    """Whether a value is known to be finite while the program is written."""
    return isinstance(x, (float, int, np.number, np.ndarray)) and bool(np.all(np.isfinite(x)))


class Product(Elementwise):
    """A product or quotient, in which zeros of operands may win.

    Subclasses define `emit_quickly`, of operands of the output's shape.
    """

    def shown_params(self, params):
        return {name: params[name] for name in sorted(params) if name != "zero_wins"}

    def ref(self, x, y, zero_wins=(), **params):
        out = super().ref(x, y, **params)
        for i in zero_wins:
            out = np.where(np.equal((x, y)[i], 0), np.zeros_like(out), out)
        return out

    def emit(self, b, x, y, zero_wins=(), **params):
        x, y = broadcast_operands(b, (x, y))
        product = self.emit_quickly(b, x, y, **params)
        if not zero_wins:
            return product
        (out,) = b.avals_out
        zero = b.constant(np.zeros(out.shape, out.dtype))
        flags = out.update(dtype=np.bool_)
        won = [b.compare("EQ", (x, y)[i], zero, out.dtype, out=flags) for i in zero_wins]
        return b.op(
            "select", won[0] if len(won) == 1 else b.op("or", *won, out=flags), zero, product
        )

    def emit_quickly(self, b: Any, x: Any, y: Any, **params: Any) -> Any:
        """The product without any special zero."""
        return b.op(self.hlo, x, y)
