"""Arrays that differ from another one in a part: what the methods of `x.at[index]` compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..base import dtypes, numpy_errors
from ..base.warn import warn
from ..control.reduce import elementwise
from ..control.scatter_apply import scatter_apply, stage_update
from ..core.avals import ShapedArray
from ..core.jaxpr import ClosedJaxpr
from ..core.trace import context, eval_trace
from ..ops.gather_dimensions import GatherScatterMode
from ..ops.linear import reshape
from . import creation, indices
from .dispatch import SCALARS, literal
from .gathering import Pattern, locate, pattern_of
from .indexing import index_key
from .indices import Index
from .masks import (
    beside_mask,
    combined_where,
    mask_of,
    refuse_mask,
    update_where,
    updated_where,
    without_mask,
)
from .promotion import dtype_of, number, operand, own, shape_of
from .selection import select_where
from .writing import SCATTERS, scatter_at, scattered


class Update(NamedTuple):
    """An update but for the value: an array, an index, and what the user says about it."""

    array: Any
    index: Any
    mode: GatherScatterMode
    indices_are_sorted: bool
    unique_indices: bool
    wrap: bool

    def options(self) -> dict[str, Any]:
        """The options of a scatter."""
        return dict(
            mode=self.mode,
            indices_are_sorted=self.indices_are_sorted,
            unique_indices=self.unique_indices,
        )


# For each shape and index the pattern of the index, and its operands.
_patterns: dict[Any, tuple[Pattern, list[Any]]] = {}
_PATTERNS_LIMIT = 8192


def _known_pattern(shape: tuple[int, ...], index: Any) -> tuple[Pattern, list[Any]] | None:
    """The pattern of an index, and its operands; None if it has parts that are arrays."""
    key = index_key(index)
    if key is None and index is not None:
        return None
    try:
        found = _patterns.get((shape, key))
    except TypeError:  # the bound of a slice is an array
        return None
    if found is None:
        found = pattern_of(shape, indices.read(shape, index))
        if len(_patterns) >= _PATTERNS_LIMIT:
            _patterns.clear()
        _patterns[shape, key] = found
    return found


def updated(update: Update, kind: str, value: Any) -> Any:
    """The array with its part combined with a value, as `kind` says."""
    x, shape = update.array, update.array.aval.shape
    where = f"at[...].{kind}"
    if isinstance(value, (list, tuple)):
        value = creation.asarray(value)
    value = _value_for(x, operand(where, value))
    options = dict(kind=kind, wrap=update.wrap, **update.options())
    evaluated = context.trace is eval_trace
    if evaluated and update.wrap:
        known = _known_pattern(shape, update.index)
        if known is not None:
            pattern, operands = known
            return scattered(x, value, *operands, pattern=pattern, **options)
    index = indices.read(shape, update.index, update.wrap, masks=True)
    if index.mask() is not None:
        out = _masked(update, index, kind, value)
        if out is not None:
            return out
        index = _without_known_masks(update, value)
    if evaluated:
        pattern, operands = pattern_of(shape, index)
        return scattered(x, value, *operands, pattern=pattern, **options)
    place = locate(shape, index, update.wrap)
    return scatter_at(x, value, place, SCATTERS[kind], where, **update.options())


def _without_known_masks(update: Update, value: Any) -> Index:
    """The index with masks as the indices where they are true; an error if one is not known."""
    index = indices.read(update.array.aval.shape, update.index, update.wrap)
    if index.mask() is not None:
        raise refuse_mask(index, value)
    return index


def _masked(update: Update, index: Index, kind: str, value: Any) -> Any:
    """An update by a mask with a value that broadcasts to the elements it selects; else None."""
    x, mask = update.array, mask_of(index)
    if mask is None:
        return None
    whole, first = without_mask(index)
    beside = beside_mask(index, first, whole.part_shape(), shape_of(value))
    if beside is None:
        return None
    value = reshape(value, beside)
    options = dict(first=first, mode=update.mode)
    if context.trace is eval_trace:
        pattern, operands = pattern_of(x.aval.shape, whole)
        options |= dict(pattern=pattern, kind=kind, wrap=update.wrap)
        return updated_where(x, value, mask, *operands, **options)
    place = locate(x.aval.shape, whole, update.wrap)
    return update_where(x, value, mask, place, combined=combined_where(kind), **options)


def applied(update: Update, func: Callable[[Any], Any]) -> Any:
    """The array with a function applied to each element of its part."""
    x, shape = update.array, update.array.aval.shape
    index = indices.read(shape, update.index, update.wrap, masks=True)
    mask = mask_of(index)
    if mask is not None:
        whole, first = without_mask(index)
        place = locate(shape, whole, update.wrap)
        jaxpr = ClosedJaxpr(*stage_update(func, ShapedArray((), x.aval.dtype)))

        def combined(mask: Any, part: Any, value: Any) -> Any:
            (out,) = elementwise(jaxpr, part.aval.shape)(part, part)
            return select_where(mask, out, part)

        zero = number(0, x.aval.dtype)
        return update_where(x, zero, mask, place, first, combined, update.mode)
    zero = number(0, x.aval.dtype)
    index = _without_known_masks(update, zero)

    def scatter(x: Any, coordinates: Any, value: Any, numbers: Any, **options: Any) -> Any:
        return scatter_apply(x, coordinates, func, numbers, update_shape=shape_of(value), **options)

    place = locate(shape, index, update.wrap)
    return scatter_at(x, zero, place, scatter, "at[...].apply", **update.options())


def _value_for(x: Any, value: Any) -> Any:
    """A value to be written into `x`; it is warned of if its dtype says more than that of `x`."""
    if own[type(value)]:
        if value.aval.dtype == x.aval.dtype:
            return value
    elif type(value) in SCALARS:
        constant = literal(x.aval, type(value), value)
        if constant is not None:
            return constant
    if not dtypes.safe_to_cast(value, x):
        warn(numpy_errors.unsafe_update(dtype_of(value), dtype_of(x)), FutureWarning)
    return value
