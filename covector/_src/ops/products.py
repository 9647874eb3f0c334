"""Products in derivatives, in which a zero wins over an infinity.

A derivative is a product of slopes, and some slopes are infinite or NaN: that of sqrt at 0, of log
at 0, of exp where it overflows.  In floating point 0 * inf is NaN, though in a derivative a factor
that is exactly zero may say that nothing of what follows matters:

- A *masked* cotangent, zero by a selection, says that the result does not depend on an element at
  all.  In `where(x > 0, sqrt(x), 0)` the root has the cotangent zero where x <= 0, and what it
  contributes to that of x is zero, whatever its slope.
- The slope of exp is infinite only where exp itself overflowed.  If the cotangent is zero there, as
  in 1 / (1 + exp(-x)), the result has reached its limit, and approached it faster than any power.
  Not so where the cotangent comes from a logarithm or a root: the slope of log is zero at infinity,
  too, but log(1 + exp(x)) grows for ever, and its derivative, 1, is that zero times that infinity.
  Such a zero is *decayed*, and does not win: the product is NaN, and tells of the overflow.
- A function g(x^2), g(|x|) is even in x.  At x = 0 its symmetric derivative
  (g(h^2) - g((-h)^2)) / 2h is zero, be the slope of g infinite, as that of sqrt.  Hence the
  gradient of sqrt(sum(x^2)) at 0 is zero.
- What is nowhere negative has a minimum where it is zero.  If its tangent is zero there, then its
  root has the symmetric derivative zero.
- A maximum of two is constant in the operand that is not the greater one.

So products and quotients of derivatives carry two parameters that, like `accuracy` where none is
asked for, printed jaxprs do not show: `slope` says which kind of slope the second factor of a
tangent is, if any of the above; and `zero_wins` lists operands that, where they are zero, make the
product zero.  No finite value changes by it: 0 * y is 0 for any finite y.  Only where a backward
pass has met a hazard (`core/hazards.py`) do its products carry `zero_wins`; with the flag `parity`
none does, and such derivatives are NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import config
from ..core.hazards import DECAYED, INFINITE, MASKED, SATURATED
from ..core.trace import context
from .families import Elementwise, broadcast_operands

Marks = dict[str, Any]

# Slopes of roots, infinite at 0.
ROOT: Marks = {"slope": "root", "zero_wins": (0,)}
# Slopes of exponentials, infinite where they overflow.
OVERFLOWING: Marks = {"slope": "overflowing"}
# Slopes at infinity: zero as 1 / x at most, or faster, of functions that have a limit there.
SLOW: Marks = {"slope": "slow"}
SATURATING: Marks = {"slope": "saturating"}
# Slopes of even functions, zero at 0; the factor of a tangent in the first or second place.
EVEN: Marks = {"slope": "even"}
# Slopes of a choice, which are zero for what was not chosen.
CHOICE: Marks = {"slope": "choice"}
_NONE: Marks = {}


def marked(marks: Marks) -> Marks:
    """Parameters of a product of a tangent and a slope, unless all is to be as in JAX."""
    return _NONE if config.parity.value else marks


def transposed_marks(position: int, other: Any, slope: str | None, zero_wins: tuple) -> Marks:
    """The parameters of the product of a cotangent and a slope in a transposed program.

    Args:
      position: where the cotangent stands.
      other: the other factor.
      slope, zero_wins: the parameters of the product before it was transposed.
    """
    hazards = context.hazards
    if slope is None and not hazards & (MASKED | INFINITE) and not zero_wins:
        return _NONE
    wins = set(zero_wins)
    if hazards & MASKED:
        if not _is_finite_number(other):
            wins.add(position)
    elif slope == "overflowing" and not hazards & DECAYED:
        wins.add(position)
    if slope in ("even", "choice") and hazards & INFINITE:
        wins.add(1 - position)
    context.hazards = _hazards_behind(hazards, slope, 1 - position in zero_wins)
    return {"zero_wins": tuple(sorted(wins))} if wins and not config.parity.value else _NONE


def _hazards_behind(hazards: int, slope: str | None, slope_wins: bool) -> int:
    """What the product of a cotangent and a slope may hold, given what the cotangent may."""
    if slope in ("root", "slow"):
        # What is infinite before a function with a limit is zero behind it, whatever comes before.
        decayed = 0 if hazards & SATURATED else DECAYED
        return hazards | decayed | (INFINITE if slope == "root" else 0)
    if slope in ("saturating", "overflowing"):  # an exponential goes to zero at the other end
        return hazards & ~DECAYED | SATURATED
    if slope == "choice" or slope_wins:
        return hazards | MASKED
    return hazards


def _is_finite_number(x: Any) -> bool:
    """Whether a value is known to be finite while the program is written."""
    return isinstance(x, (float, int, np.number, np.ndarray)) and bool(np.all(np.isfinite(x)))


class Product(Elementwise):
    """A product or quotient, in which zeros of operands may win.

    Subclasses define `emit_product`, of operands of the output's shape, and `harmless`, a finite
    number with which a zero makes zero.
    """

    harmless = 0

    def shown_params(self, params):
        return {k: params[k] for k in sorted(params) if k not in ("slope", "zero_wins")}

    def ref(self, x, y, slope=None, zero_wins=(), **params):
        out = super().ref(x, y, **params)
        for i in zero_wins:
            out = np.where(np.equal((x, y)[i], 0), np.zeros_like(out), out)
        return out

    def emit(self, b, x, y, slope=None, zero_wins=(), **params):
        factors = broadcast_operands(b, (x, y))
        for i in zero_wins:
            factors[1 - i] = self.unless_zero(b, factors, i)
        return self.emit_product(b, *factors, **params)

    def unless_zero(self, b: Any, factors: Sequence[Any], winner: int) -> Any:
        """The factor that is not the winner, but a harmless one where that is zero.

        A selection among products, `where(x == 0, 0, x * y)`, would give the same.  But XLA's
        compiler for CPUs computes a selection again in each loop that reads it, with all behind it:
        in chains of 120 operations three times as many products, and three times the time.
        """
        shape = b.avals_out[0].shape
        ours, other = [b.avals_in[i].update(shape=shape) for i in (winner, 1 - winner)]
        flags = ours.update(dtype=np.bool_)
        is_zero = b.compare("EQ", factors[winner], b.full(0, ours), ours.dtype, out=flags)
        return b.op("select", is_zero, b.full(self.harmless, other), factors[1 - winner])

    def emit_product(self, b: Any, x: Any, y: Any, **params: Any) -> Any:
        """The product without any special zero."""
        return b.op(self.hlo, x, y)
