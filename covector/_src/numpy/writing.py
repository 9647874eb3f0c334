"""Writing elements of an array anew, at the place of an index: a scatter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.gather import scatter_add_p, scatter_sub_p
from ..ops.gather_dimensions import ScatterDimensionNumbers
from ..ops.linear import expand_dims
from ..ops.scatter import scatter_max_p, scatter_min_p, scatter_mul_p, scatter_p
from ..ops.shaping import broadcast_to, rev_p, squeeze_p
from . import arithmetic, selection
from .composite import composite
from .gathering import Pattern, Place, locate
from .promotion import convert, promote_dtypes, shape_of

Scatter = Callable[..., Any]

SCATTERS: dict[str, Scatter] = {
    "set": scatter_p.apply,
    "add": scatter_add_p.apply,
    "subtract": scatter_sub_p.apply,
    "multiply": scatter_mul_p.apply,
    "min": scatter_min_p.apply,
    "max": scatter_max_p.apply,
}

# The same for elements that are written in any case.
COMBINED: dict[str, Callable[[Any, Any], Any]] = {
    "set": lambda old, value: value,
    "add": arithmetic.add,
    "subtract": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "min": selection.minimum,
    "max": selection.maximum,
}


def scatter_at(
    x: Any, value: Any, place: Place, scatter: Scatter, where: str, **options: Any
) -> Any:
    """An array with the elements at a place combined with a value, which is broadcast to them.

    Args:
      x: the array.
      value: the value.
      place: the place of an index in `x`.
      scatter: takes the array, indices, updates, dimension numbers, and the options.
      where: the public function, for errors.
      **options: `mode`, `indices_are_sorted` and `unique_indices`, as those of a scatter.
    """
    if 0 in place.shape:
        return x
    aval = x.aval
    x, value = promote_dtypes(x, value)
    value = broadcast_to(value, place.shape, where)
    if place.added:
        value = squeeze_p.bind(value, dimensions=place.added)
    if place.reversed:
        value = rev_p.bind(value, dimensions=place.reversed)
    if place.widened:
        x = expand_dims(x, place.widened)
    promises = ("indices_are_sorted", "unique_indices")
    options |= {key: place.unique or options[key] for key in promises}
    numbers = ScatterDimensionNumbers(*place.numbers)
    out = scatter(x, place.coordinates, value, numbers, **options)
    if place.widened:
        out = squeeze_p.bind(out, dimensions=place.widened)
    return convert(out, aval.dtype, aval.weak_type)


@composite
def scattered(
    x: Any, value: Any, *operands: Any, pattern: Pattern, kind: str, wrap: bool, **options: Any
) -> Any:
    """`x.at[index].kind(value)` for a pattern of indices, as one program."""
    place = locate(shape_of(x), pattern.filled(operands), wrap)
    return scatter_at(x, value, place, SCATTERS[kind], f"at[...].{kind}", **options)
