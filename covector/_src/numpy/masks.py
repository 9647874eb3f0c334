"""Updates of the elements that a mask selects, whatever their number: a selection, no scatter.

`x.at[mask].set(y)` is `where(mask, y, x)` if `y` is the same for all elements, or broadcasts to
them.  So the mask may be traced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import numpy_errors
from ..base.errors import NonConcreteBooleanIndexError
from ..ops.linear import constant_like, reshape
from ..ops.scatter import scatter_p
from .composite import composite
from .conversion import behind
from .gathering import Pattern, Place, locate
from .indexing import gather_at
from .indices import Cut, Index, Mask, is_scalar
from .promotion import broadcast_to_shape, convert, promote_dtypes, shape_of
from .selection import select_where
from .writing import COMBINED, scatter_at


def mask_of(index: Index) -> Any:
    """The mask of an index that consists of it and of integers and slices, or None."""
    masks = [entry.array for entry in index.entries if type(entry) is Mask]
    others = [entry for entry in index.entries if type(entry) is not Mask]
    simple = all(e is None or type(e) in (int, Cut) or is_scalar(e) for e in others)
    return masks[0] if len(masks) == 1 and simple else None


def without_mask(index: Index) -> tuple[Index, int]:
    """The index that takes all dimensions of a mask, and the first of them in `x[index]`."""
    place = next(i for i, entry in enumerate(index.entries) if type(entry) is Mask)
    before, mask = index.entries[:place], index.entries[place].array
    whole = [Cut(0, size, 1) for size in np.shape(mask)]
    entries = [*before, *whole, *index.entries[place + 1 :]]
    return Index(entries, True), sum(entry is None or type(entry) is Cut for entry in before)


def written_shape(index: Index, first: int, part: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what an index with a mask writes over, with 1 for the number of elements that
    the mask selects.

    They are counted by one dimension in place of the mask's dimensions; or in front, if an integer
    is in the index too, but not next to the mask.

    Args:
      index: the index.
      first: the first of the mask's dimensions in the part.
      part: the shape of all that the mask selects from.
    """
    rank = np.ndim(index.mask())
    others = [*part[:first], *part[first + rank :]]
    place = first if index.together else 0
    return (*others[:place], 1, *others[place:])


def beside_mask(
    index: Index, first: int, part: tuple[int, ...], value: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The shape in which a value of a shape broadcasts to all that a mask selects from; None if it
    is not the same for all elements."""
    written = written_shape(index, first, part)
    if len(value) > len(written):
        return None
    given = [1] * (len(written) - len(value)) + list(value)
    if any(size not in (1, whole) for size, whole in zip(given, written)):
        return None
    del given[first if index.together else 0]
    return (*given[:first], *[1] * np.ndim(index.mask()), *given[first:])


# Takes a mask, a part of an array, and a value: the part with the value where the mask is true.
Combined = Callable[[Any, Any, Any], Any]


def combined_where(kind: str) -> Combined:
    """How the elements of a part that a mask selects are combined with a value, as `kind` says."""
    if kind == "multiply":
        # By 1 elsewhere, so that what is there, maybe infinite, is no factor of any derivative.
        return lambda mask, part, value: COMBINED[kind](
            part, select_where(mask, value, constant_like(value, 1))
        )
    return lambda mask, part, value: select_where(mask, COMBINED[kind](part, value), part)


def update_where(
    x: Any, value: Any, mask: Any, place: Place, first: int, combined: Combined, mode: Any
) -> Any:
    """An array with elements that a mask selects from a part of it combined with a value.

    Args:
      x: the array.
      value: of a shape that broadcasts to that of the part.
      mask: of the shape of some dimensions of the part.
      place: the part.
      first: the first of these dimensions.
      combined: how.
      mode: what becomes of parts out of bounds.
    """
    aval = x.aval
    part = gather_at(x, place)
    sizes = [1] * len(place.shape)
    sizes[first : first + np.ndim(mask)] = np.shape(mask)
    new = combined(reshape(mask, sizes), *promote_dtypes(part, value))
    new = broadcast_to_shape(convert(new, aval.dtype, aval.weak_type), place.shape)
    if place.is_whole():
        return new
    options = dict(mode=mode, indices_are_sorted=False, unique_indices=False)
    return scatter_at(x, new, place, scatter_p.apply, "at[...].set", **options)


@composite
def updated_where(
    x: Any,
    value: Any,
    mask: Any,
    *operands: Any,
    pattern: Pattern,
    first: int,
    kind: str,
    wrap: bool,
    mode: Any,
) -> Any:
    """`x.at[index].kind(value)` for a pattern of indices with a mask, as one program."""
    place = locate(shape_of(x), pattern.filled(operands), wrap)
    return update_where(x, value, mask, place, first, combined_where(kind), mode)


def refuse_mask(index: Index, value: Any) -> Exception:
    """Why an update by a traced mask is not possible."""
    mask = index.mask()
    origin = behind(mask)
    if mask_of(index) is None:
        message = numpy_errors.traced_mask_among_arrays(mask.aval, origin)
    else:
        whole, first = without_mask(index)
        part = written_shape(index, first, whole.part_shape())
        message = numpy_errors.traced_mask_of_update(mask.aval, shape_of(value), part, origin)
    return NonConcreteBooleanIndexError(message)
