"""What errors about integrals of samples say."""

from __future__ import annotations

from collections.abc import Sequence

Shape = Sequence[int]


def no_samples(where: str, shape: Shape) -> str:
    return f"[{where}] At least one sample is needed along the axis, but there are 0 in {shape}."


def places(where: str, x: Shape, y: Shape) -> str:
    return (
        f"[{where}] x must be a vector with as many elements as y has along the axis, or an array "
        f"like y, but with the axis last their shapes are {tuple(x)} and {tuple(y)}."
    )


def initial(shape: Shape) -> str:
    return f"[cumulative_trapezoid] `initial` must be a number, but has shape {tuple(shape)}."
