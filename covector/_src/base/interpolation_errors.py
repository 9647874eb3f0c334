"""What errors about interpolation between the elements of arrays say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Shape = Sequence[int]

# ---------------------------------------------------------------- map_coordinates


def coordinates_count(count: int, shape: Shape) -> str:
    return (
        f"[map_coordinates] coordinates must be a sequence of length input.ndim, an array for each "
        f"dimension, but there are {count} for an input of shape {tuple(shape)}."
    )


def unknown_mode(mode: Any, known: Iterable[str]) -> str:
    listed = ", ".join(map(repr, known))
    return (
        f"[map_coordinates] There is no mode {mode!r} of what is beyond the edges. The modes are "
        f"{listed}."
    )


def order(value: Any) -> str:
    return f"[map_coordinates] The order of splines must be an integer from 0 to 5, but is {value}."


def complex_coordinates(dtype: Any) -> str:
    return f"[map_coordinates] Coordinates must be real numbers, but their dtype is {dtype}."


def nothing_to_interpolate(where: str, shape: Shape) -> str:
    return f"[{where}] There is nothing to interpolate between: the input has shape {tuple(shape)}."


# ---------------------------------------------------------------- RegularGridInterpolator

GRID = "RegularGridInterpolator"


def unknown_method(method: Any) -> str:
    return f"[{GRID}] There is no method {method!r}. The methods are 'linear' and 'nearest'."


def bounds_error() -> str:
    return (
        f"[{GRID}] `bounds_error` has no effect under jit, where points are not known, and is not "
        "supported. Outside of the grid values are `fill_value`."
    )


def too_many_points(count: int, shape: Shape) -> str:
    return (
        f"[{GRID}] There are {count} arrays of points, but values has {len(shape)} dimensions: its "
        f"shape is {tuple(shape)}."
    )


def points(axis: int, given: Shape, shape: Shape) -> str:
    return (
        f"[{GRID}] points[{axis}] must be a vector of {shape[axis]} elements, as many as values, "
        f"of shape {tuple(shape)}, has along dimension {axis}, but has shape {tuple(given)}."
    )


def not_monotone(axis: int) -> str:
    return (
        f"[{GRID}] points[{axis}] must increase from each element to the next, or decrease. Sort "
        "it, and values along with it."
    )


def fill_value(dtype: Any, values: Any) -> str:
    return (
        f"[{GRID}] fill_value must be None or of a dtype that can be cast to that of values: it is "
        f"{dtype}, and they are {values}."
    )


def sample_points(shape: Shape, ndim: int) -> str:
    return (
        f"[{GRID}] The points to interpolate at must have a last dimension of size {ndim}, a "
        f"coordinate for each of the grid, but their shape is {tuple(shape)}."
    )
