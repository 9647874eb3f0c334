"""The wording of the errors of `debug_nans` and `debug_infs`."""

from __future__ import annotations

from collections.abc import Sequence

# Why no op can be named that made the bad value.
DONATED = (
    "Its arguments were donated, so that it cannot be run again to find the op; leave out "
    "donate_argnums to find it."
)
FORGOTTEN = "The function itself is gone, so that it cannot be run again to find the op."
FROM_INPUT = "Run op by op, the de-optimized function did not make the value: it is in the input."
FROM_LITERAL = (
    "Run op by op, the de-optimized function did not make the value: it is a constant or a literal "
    "of the function."
)
FROM_COMPILER = (
    "Run op by op, the de-optimized function did not make such a value: it comes of the order in "
    "which XLA computes."
)


def nonfinite_result(kind: str, op: str, place: str, operands: Sequence[str]) -> str:
    at = f" at {place}" if place else ""
    return f"invalid value ({kind}) encountered in {op}{at}.{_held(operands)}"


def nonfinite_unknown(kind: str, function: str, reason: str, arguments: Sequence[str]) -> str:
    return f"invalid value ({kind}) encountered in {function}. {reason}{_held(arguments)}"


def _held(operands: Sequence[str]) -> str:
    return "".join(f"\n  operand {i}: {text}" for i, text in enumerate(operands))
