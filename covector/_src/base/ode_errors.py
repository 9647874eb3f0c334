"""What errors about ordinary differential equations say."""

from __future__ import annotations

from typing import Any


def times(shape: tuple[int, ...]) -> str:
    return (
        "[odeint] `t` must be a vector of at least one time, of which the first is that of `y0`, "
        f"but its shape is {shape}."
    )


def not_numbers(what: str, leaf: Any) -> str:
    return (
        f"[odeint] {what} must be a tree of arrays and numbers, but holds a {type(leaf).__name__}: "
        f"{leaf!r:.60}. Close over other things in `func`, or bind them with functools.partial."
    )


def other_structure(state: Any, slope: Any) -> str:
    return (
        "[odeint] `func` must return a tree like `y0`, the derivative of each part, but `y0` has "
        f"the structure {state}, and the result {slope}."
    )


def other_shape(state: Any, slope: Any) -> str:
    return (
        "[odeint] `func` must return for each part of `y0` a derivative of the same shape, but the "
        f"shapes are {state} in `y0` and {slope} in the result."
    )
