"""What errors about rotations in space say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Shape = Sequence[int]


def axes(where: str, seq: Any, count: str) -> str:
    return (
        f"[{where}] `seq` must name {count} axes, 'x', 'y' and 'z' for those that stay in place or "
        f"'X', 'Y' and 'Z' for those that rotate along, but is {seq!r}."
    )


def repeated_axes(where: str, seq: str) -> str:
    return f"[{where}] In `seq` each axis must differ from the one before it, but it is {seq!r}."


def angles(shape: Shape, seq: str) -> str:
    return (
        f"[Rotation.from_euler] The last dimension of angles must hold one for each of the axes "
        f"{seq!r}, but their shape is {tuple(shape)}."
    )


def last_dimensions(where: str, what: str, wanted: str, shape: Shape) -> str:
    return f"[{where}] {what} must have shape {wanted}, but has shape {tuple(shape)}."


def single(what: str) -> str:
    return (
        f"A single rotation {what}. Rotations of shape (n, 4) do: `Rotation(r.quat[None])` is one."
    )


def weights(shape: Shape, count: int) -> str:
    return (
        f"[Rotation.mean] weights must be a vector with one element for each of the {count} "
        f"rotations, but has shape {tuple(shape)}."
    )


def does_not_fit(where: str, shapes: Sequence[Shape]) -> str:
    listed = " and ".join(str(tuple(shape)) for shape in shapes)
    return f"[{where}] The shapes {listed} cannot be broadcast but for their last dimensions."


# ---------------------------------------------------------------- Slerp


def not_rotations(rotations: Any) -> str:
    return (
        "[Slerp.init] `rotations` must be a Rotation, of which there are several in one, but is of "
        f"type {type(rotations).__name__}."
    )


def too_few_rotations(shape: Shape) -> str:
    return (
        "[Slerp.init] `rotations` must hold at least 2 rotations, but their quaternions have shape "
        f"{tuple(shape)}."
    )


def times(shape: Shape, count: int) -> str:
    return (
        f"[Slerp.init] times must be a vector with one element for each of the {count} rotations, "
        f"but has shape {tuple(shape)}."
    )


def times_do_not_increase() -> str:
    return "[Slerp.init] times must increase from each to the next. Sort them, and rotations too."


def times_rank(shape: Shape) -> str:
    return (
        f"[Slerp] times must have at most one dimension, but have shape {tuple(shape)}. For more, "
        "`vmap` the function."
    )
