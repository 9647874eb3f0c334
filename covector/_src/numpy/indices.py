"""What stands in the brackets of `x[...]`, read entry by entry.

entry of an index                     what it is read as
integer                               int
array or list of integers             array, of rank 0 also
slice, `ds(start, size)`, and `...`   Cut, one for each dimension
None                                  None: a new dimension
array or list of booleans, known      the arrays of integers where it is true
boolean                               bool: a new dimension of size 1 or 0
array of booleans, traced             Mask, which only some updates can do with
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import config, dtypes, numpy_errors
from ..base.dims import has_symbolic, max_dim, min_dim, size_of
from ..core.refs import Slice
from ..core.trace import Tracer
from . import creation
from .promotion import BOOL, own


class Cut(NamedTuple):
    """The elements that a slice takes along a dimension.

    Attributes:
      start: the index of the first one: an integer, or an operand of the program.
      size: how many they are.
      step: the distance from one to the next, negative where they are taken in reversed order.
    """

    start: Any
    size: int
    step: int


class Mask(NamedTuple):
    """Booleans whose values are not known, or not looked at."""

    array: Any


class Index(NamedTuple):
    """An index, read.

    Attributes:
      entries: in the order of dimensions; integers, arrays and cuts are one for each dimension of
        the array, masks for as many as they have themselves.
      together: whether the integers and arrays in it were written next to each other. Then their
        common dimensions stand where they do in the result, and otherwise in front.
    """

    entries: list[Any]
    together: bool

    def is_basic(self) -> bool:
        """Whether it cuts one part out of the array, whose elements lie next to each other."""
        return all(
            entry is None
            or type(entry) is int
            or (abs(entry.step) == 1 if type(entry) is Cut else is_scalar(entry))
            for entry in self.entries
        )

    def part_shape(self) -> tuple[int, ...]:
        """The shape of `x[index]`, if the index consists of integers, slices and None."""
        extents = [entry for entry in self.entries if entry is None or type(entry) is Cut]
        return tuple([1 if entry is None else entry.size for entry in extents])

    def mask(self) -> Any:
        """The first of its masks, or None."""
        return next((entry.array for entry in self.entries if type(entry) is Mask), None)


def is_array(entry: Any) -> bool:
    """Whether an entry is an array of integers."""
    return isinstance(entry, np.ndarray) or own[type(entry)]


def is_scalar(entry: Any) -> bool:
    """Whether an entry is an array of integers of rank 0."""
    return is_array(entry) and not np.ndim(entry)


# ---------------------------------------------------------------- reading


def read(shape: tuple[int, ...], index: Any, wrap: bool = True, masks: bool = False) -> Index:
    """Read an index into an array of a shape.

    With `wrap`, integers that are negative are counted from the end; arrays are left as they are.
    With `masks`, arrays of booleans are left as masks although they are known.
    """
    given = index if isinstance(index, tuple) and type(index) is not Slice else (_alone(index),)
    entries: list[Any] = []
    for entry in given:
        if (
            entry is None
            or entry is Ellipsis
            or type(entry) in (int, Slice)
            or isinstance(entry, slice)
        ):
            entries.append(entry)
        else:
            entries += _read_other(entry, masks)
    advanced = [i for i, entry in enumerate(entries) if _is_advanced(entry)]
    together = advanced == list(range(*(advanced[0], advanced[-1] + 1) if advanced else (0,)))
    return Index(_along_dimensions(shape, _expanded(shape, entries, index), wrap), together)


def _alone(index: Any) -> Any:
    """The one entry of an index that is no tuple."""
    if isinstance(index, Sequence) and not isinstance(index, (str, Slice)):
        numbers = all(np.isscalar(x) or getattr(x, "ndim", 1) == 0 for x in index)
        raise TypeError(numpy_errors.index_of_sequence(index, "array" if numbers else "tuple"))
    return index


def _is_advanced(entry: Any) -> bool:
    return not (entry is None or entry is Ellipsis or isinstance(entry, (slice, Slice)))


class _TrueAt(NamedTuple):
    """One of the arrays that stand for booleans, with the size that these had."""

    indices: np.ndarray
    size: int


def _read_other(entry: Any, masks: bool) -> list[Any]:
    """An entry that is not an integer, a slice, `...` or None."""
    if hasattr(type(entry), "__jax_array__"):
        entry = entry.__jax_array__()
    if isinstance(entry, Sequence) and not isinstance(entry, str):
        entry = _array_of(entry)
    if isinstance(entry, (bool, np.bool_)):
        return [bool(entry)]
    if own[type(entry)]:
        return _read_own(entry, masks)
    if isinstance(entry, np.ndarray):
        if entry.dtype == BOOL:
            return [Mask(entry)] if masks and entry.ndim else _where_true(entry)
        if not dtypes.issubdtype(entry.dtype, np.integer):
            raise TypeError(numpy_errors.index_dtype(entry.dtype))
        return [entry if entry.ndim else int(entry)]
    if isinstance(entry, (str, float, complex, np.inexact)):
        raise TypeError(numpy_errors.index_type(entry))
    try:
        return [operator.index(entry)]
    except TypeError:
        raise IndexError(numpy_errors.index_type(entry)) from None


def _read_own(entry: Any, masks: bool) -> list[Any]:
    """An entry that is an array or a tracer."""
    aval = entry.aval
    known = entry.concrete_value() if isinstance(entry, Tracer) else entry
    if aval.dtype == BOOL:
        if known is None or (masks and aval.ndim):
            return [Mask(entry)]
        return _where_true(np.asarray(known))
    if not dtypes.issubdtype(aval.dtype, np.integer):
        raise TypeError(numpy_errors.index_dtype(aval.dtype))
    if aval.ndim or known is None or own[type(known)]:
        return [entry]
    return [operator.index(known)]


def _array_of(entry: Sequence[Any]) -> Any:
    """The array of a list in an index."""
    if not len(entry):
        return np.zeros(0, np.int32)
    array = creation.asarray(entry)
    return array if isinstance(array, Tracer) else np.asarray(array)


def _where_true(mask: np.ndarray) -> list[Any]:
    """Known booleans as the indices of those that are true."""
    if not mask.ndim:
        return [bool(mask)]
    return [_TrueAt(indices, size) for indices, size in zip(np.nonzero(mask), mask.shape)]


def _rank(entry: Any) -> int:
    """How many dimensions of the array an entry is about."""
    if entry is None or entry is Ellipsis or type(entry) is bool:
        return 0
    return np.ndim(entry.array) if type(entry) is Mask else 1


def _expanded(shape: tuple[int, ...], entries: list[Any], index: Any) -> list[Any]:
    """The entries with slices for the dimensions that are not mentioned."""
    places = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(places) > 1:
        raise IndexError(numpy_errors.two_ellipses(index))
    given = sum(map(_rank, entries))
    if given > len(shape):
        raise IndexError(numpy_errors.too_many_indices(shape, given))
    rest = [slice(None)] * (len(shape) - given)
    place = places[0] if places else len(entries)
    return [*entries[:place], *rest, *entries[place + 1 :]]


def _along_dimensions(shape: tuple[int, ...], entries: list[Any], wrap: bool) -> list[Any]:
    """The entries as they are, given the sizes of the dimensions that they are about."""
    out, dim = [], 0
    for entry in entries:
        rank = _rank(entry)
        sizes = shape[dim : dim + rank]
        if isinstance(entry, slice):
            entry = cut(entry, sizes[0])
        elif type(entry) is Slice:
            entry = _cut_of_size(entry, sizes[0])
        elif type(entry) is int:
            entry = entry + sizes[0] if wrap and entry < 0 else entry
        elif type(entry) is _TrueAt:
            _check_mask((entry.size,), sizes)
            entry = entry.indices
        elif type(entry) is Mask:
            _check_mask(np.shape(entry.array), sizes)
        out.append(entry)
        dim += rank
    return out


def _check_mask(mask: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    if any(n not in (0, size) for n, size in zip(mask, sizes)):
        raise IndexError(numpy_errors.mask_shape(mask, sizes))


def check_literals(
    shape: tuple[int, ...], index: Any, wrap: bool = True, reads: bool = True
) -> None:
    """Raise if an integer that is known is out of bounds.

    With the flag `parity`, as in JAX, only reads are refused, and only if the flag
    `check_static_indices` says so.

    Args:
      shape: the shape of the array.
      index: an index into it, as the user writes it.
      wrap: whether negative integers count from the end.
      reads: whether the part is read, not written.
    """
    if config.parity.value and not (reads and config.check_static_indices.value):
        return
    entries = index if type(index) is tuple else (index,)
    axis = 0
    for i, entry in enumerate(entries):
        if type(entry) is int or isinstance(entry, np.integer):
            if 0 <= axis < len(shape):
                _check_literal(int(entry), axis, shape[axis], wrap)
            axis += 1
        elif type(entry) is slice:
            axis += 1
        elif entry is Ellipsis:
            axis = len(shape) - sum(map(_rank_as_given, entries[i + 1 :]))
        else:
            axis += _rank_as_given(entry)


def _rank_as_given(entry: Any) -> int:
    """How many dimensions an entry, as the user writes it, is about."""
    if entry is None or entry is Ellipsis or isinstance(entry, (bool, np.bool_)):
        return 0
    if isinstance(entry, list):
        first: Any = entry
        while isinstance(first, list) and first:
            first = first[0]
        return np.ndim(entry) if isinstance(first, (bool, np.bool_)) else 1
    return np.ndim(entry) if getattr(entry, "dtype", None) == BOOL else 1


def _check_literal(index: int, axis: int, size: int, wrap: bool) -> None:
    if not (-size if wrap else 0) <= index < size:
        raise IndexError(numpy_errors.static_index(index, axis, size))


# ---------------------------------------------------------------- slices


def cut(entry: slice, size: int) -> Cut:
    """A slice along a dimension of some size."""
    parts = [_bound(getattr(entry, name), name) for name in ("start", "stop", "step")]
    if has_symbolic([size, *parts]):
        return _cut_symbolic(*parts, size)
    try:
        indices = range(*slice(*parts).indices(size))
    except ValueError:
        raise ValueError(numpy_errors.slice_step_zero()) from None
    return Cut(indices.start, len(indices), indices.step)


def _cut_of_size(entry: Slice, size: int) -> Cut:
    """A slice of a fixed size, of which the start may be an operand of the program.

    Operands that are negative are counted from the end where the slice is all there is to cut;
    where elements are gathered or written they are out of bounds, as in JAX.
    """
    start = entry.start
    if not own[type(start)]:
        start = operator.index(start)
        start = start + size if start < 0 else start
    return Cut(start, entry.size, entry.stride)


def _cut_symbolic(start: Any, stop: Any, step: int | None, size: Any) -> Cut:
    """The same, where sizes are symbolic: by Python's rules for slices."""
    step = 1 if step is None else step
    if step == 0:
        raise ValueError(numpy_errors.slice_step_zero())
    low, high = (0, size) if step > 0 else (-1, size - 1)

    def place(part: Any, default: Any) -> Any:
        if part is None:
            return default
        return max_dim(low, min_dim(high, part if part >= 0 else part + size))

    first = place(start, low if step > 0 else high)
    last = place(stop, high if step > 0 else low)
    if step > 0:
        return Cut(first, max_dim(0, (last - first + step - 1) // step), step)
    # The element with the lowest index is so far above `last`. From it, which is known to be in the
    # array, one counts back to the first one.
    count = max_dim(0, (first - last - step - 1) // -step)
    lowest = min_dim(last + 1 + (first - last - 1) % -step, first + 1)
    return Cut(lowest - (count - 1) * step, count, step)


def _bound(part: Any, name: str) -> int | None:
    """A part of a slice as a Python integer."""
    if part is None or type(part) is int:
        return part
    if isinstance(part, Tracer):
        known = part.concrete_value()
        if known is None:
            raise IndexError(numpy_errors.traced_slice(name, part.aval, part.origin()))
        part = known
    return size_of(part)
