"""What errors about resampled images say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Shape = Sequence[int]


def unknown_method(name: str, known: Sequence[str]) -> str:
    listed = ", ".join(map(repr, known))
    return f"Unknown resize method {name!r}. The methods are {listed}."


def method_type(where: str, method: Any) -> str:
    return (
        f"[{where}] The method must be a ResizeMethod or its name, but is {method!r} of type "
        f"{type(method).__name__}."
    )


def nearest_with_scale() -> str:
    return (
        "[scale_and_translate] The method 'nearest' has no weights to scale and translate. Use "
        "`resize`, or the method 'linear'."
    )


def shape_length(where: str, shape: Shape, image: Shape) -> str:
    return (
        f"[{where}] The shape must have length equal to the number of dimensions of the image, "
        f"batches and channels included, but it is {tuple(shape)} for an image of shape "
        f"{tuple(image)}."
    )


def other_dimension(dim: int, shape: Shape, image: Shape) -> str:
    return (
        f"[scale_and_translate] Dimension {dim} is not among spatial_dims, so its size stays: it "
        f"is {image[dim]} in the image, of shape {tuple(image)}, but {shape[dim]} in the shape "
        f"{tuple(shape)}."
    )


def factors(name: str, given: Shape, count: int) -> str:
    return (
        f"[scale_and_translate] `{name}` must hold one number for each of the {count} "
        f"spatial_dims, but has shape {tuple(given)}."
    )


def nothing_to_resize(dim: int, shape: Shape, image: Shape) -> str:
    return (
        f"[resize] Dimension {dim} of the image, of shape {tuple(image)}, is empty, and no pixel "
        f"of the shape {tuple(shape)} can be made of it."
    )
