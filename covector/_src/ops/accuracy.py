"""How accurate a transcendental function must be, where XLA has several versions of it."""

from __future__ import annotations

import enum


class AccuracyMode(enum.Enum):
    """Which version of a function to compute.

    HIGHEST is the most accurate one that there is, DEFAULT the one that is usual on the platform.

    >>> from covector import lax
    >>> lax.AccuracyMode.HIGHEST.name
    'HIGHEST'
    """

    HIGHEST = 1
    DEFAULT = 2


class Tolerance:
    """The errors that are allowed in the values of a function.

    XLA takes a version of the function that meets them, and refuses to compile if there is none.

    Args:
      atol: the absolute error.
      rtol: the relative error.
      ulps: the error in units of the last place.

    Raises:
      ValueError: one of them is negative, or none is given.

    >>> from covector import lax
    >>> lax.Tolerance(rtol=1e-6)
    Tolerance(atol=0.0, rtol=1e-06, ulps=0)
    """

    def __init__(self, atol: float = 0.0, rtol: float = 0.0, ulps: int = 0):
        given = f"atol={atol}, rtol={rtol}, ulps={ulps}"
        if atol < 0.0 or rtol < 0.0 or ulps < 0:
            raise ValueError(f"[lax.Tolerance] Errors cannot be negative, got {given}.")
        if not (atol or rtol or ulps):
            raise ValueError("[lax.Tolerance] Give at least one of atol, rtol and ulps.")
        self.atol, self.rtol, self.ulps = atol, rtol, ulps

    def __repr__(self) -> str:
        return f"Tolerance(atol={self.atol}, rtol={self.rtol}, ulps={self.ulps})"


Accuracy = Tolerance | AccuracyMode


def accuracy_attribute(accuracy: Accuracy) -> str:
    """The StableHLO attribute that asks for an accuracy."""
    if isinstance(accuracy, AccuracyMode):
        atol, rtol, ulps, mode = 0.0, 0.0, 0, accuracy.name
    else:
        atol, rtol, ulps = float(accuracy.atol), float(accuracy.rtol), int(accuracy.ulps)
        mode = "TOLERANCE"
    return (
        f"#stablehlo.result_accuracy<atol = {atol:.17e}, rtol = {rtol:.17e}, ulps = {ulps}, "
        f"mode = #stablehlo.result_accuracy_mode<{mode}>>"
    )
