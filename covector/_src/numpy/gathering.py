"""Indices as the operands and dimension numbers of gathers and scatters.

Everything that an index can say is a gather: an array of coordinates, one row for each window that
is read, and what is done to the array of windows then.  A scatter undoes it in reverse order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes, numpy_errors
from ..base.dims import Dim, at_least
from ..base.shapes import broadcast_sizes
from ..core.trace import Tracer, context, current_trace, eval_trace
from ..ops.arithmetic import add_p, mul_p
from ..ops.comparison import lt_p
from ..ops.creation import iota_p
from ..ops.gather_dimensions import GatherDimensionNumbers
from ..ops.joining import concatenate
from ..ops.linear import broadcast_in_dim, expand_dims
from ..ops.select import select_n_p
from ..ops.shaping import broadcast_to, rev_p
from .indices import Cut, Index, is_array
from .promotion import convert, dtype_of, number, own

_INT, _LONG = np.dtype(np.int32), np.dtype(np.int64)
_ZERO = number(0, _INT)


class Place(NamedTuple):
    """Where the elements of `x[index]` are in `x`.

    Attributes:
      coordinates: the indices of a gather.
      numbers, sizes: its dimension numbers, and the sizes of its slices.
      shape: the shape of `x[index]`.
      widened: dimensions of size 1 that `x` gets first, for the booleans in the index.
      reversed: the dimensions of the gathered array that are reversed then.
      added: the dimensions of size 1 that it gets at last.
      unique: whether no element occurs twice, and all in order, before anything is reversed.
    """

    coordinates: Any
    numbers: GatherDimensionNumbers
    sizes: tuple[int, ...]
    shape: tuple[int, ...]
    widened: tuple[int, ...]
    reversed: tuple[int, ...]
    added: tuple[int, ...]
    unique: bool

    def is_whole(self) -> bool:
        """Whether `x[index]` is `x`."""
        changed = np.shape(self.coordinates)[-1] or self.widened or self.reversed or self.added
        return not changed


# ---------------------------------------------------------------- patterns


# Stands in a pattern for an operand.
HOLE = object()


class Pattern(NamedTuple):
    """An index without the numbers in it, which are operands of the programs that use it.

    It is a key, so that indices of one pattern share a program.
    """

    entries: tuple[Any, ...]
    together: bool

    def filled(self, operands: Sequence[Any]) -> Index:
        """The index of this pattern that has the given numbers."""
        given = iter(operands)
        entries = []
        for entry in self.entries:
            if entry is HOLE:
                entry = next(given)
            elif type(entry) is Cut and entry.start is HOLE:
                entry = entry._replace(start=next(given))
            entries.append(entry)
        return Index(entries, self.together)


def pattern_of(shape: tuple[int, ...], index: Index) -> tuple[Pattern, list[Any]]:
    """The pattern of an index into an array of a shape, and its operands."""
    entries, operands, dim = [], [], 0
    dtype = coordinate_dtype(shape)
    for entry in index.entries:
        if is_array(entry):
            operands.append(entry)
            entry = HOLE
        elif type(entry) in (int, Dim):
            # What is negative is out of bounds, and remains so when it is counted from the end.
            operands.append(number(entry if entry >= 0 else -1 - shape[dim], dtype))
            entry = HOLE
        elif type(entry) is Cut and (entry.step != 1 or entry.size != shape[dim]):
            start = entry.start
            operands.append((convert if own[type(start)] else number)(start, dtype))
            entry = entry._replace(start=HOLE)
        dim += entry is not None and type(entry) is not bool
        entries.append(entry)
    return Pattern(tuple(entries), index.together), operands


def coordinate_dtype(shape: tuple[int, ...]) -> np.dtype:
    """The dtype of coordinates in an array of a shape."""
    large = dtypes.greatest(_INT) + 1
    return _LONG if any(at_least(size, large) for size in shape) else _INT


# ---------------------------------------------------------------- negative indices


def from_end(i: Any, size: int, strengthen: bool = False) -> Any:
    """An index, or array of them, with negative ones counted from the end of a dimension.

    With `strengthen`, what is computed from a weak one is not weak.
    """
    dtype = dtype_of(i)
    if dtypes.issubdtype(dtype, np.unsignedinteger):
        return i
    if at_least(size, dtypes.greatest(dtype) + 1):
        i = convert(i, _INT)
        dtype = _INT
    negative = i < 0 if type(i) is np.ndarray else lt_p.bind(i, number(0, dtype))
    shifted = add_p.bind(convert(i, dtype) if strengthen else i, number(size, dtype))
    return select_n_p.bind(negative, i, shifted)


def is_staged() -> bool:
    """Whether a program is being written, so that what is done to constants is written too."""
    trace = context.trace
    return trace is not eval_trace and isinstance(trace.lift(_ZERO), Tracer)


# ---------------------------------------------------------------- from an index to a place

# Places of indices without arrays, for evaluation.
_places: dict[Any, Place] = {}
_PLACES_LIMIT = 1024


def locate(shape: tuple[int, ...], index: Index, wrap: bool = True) -> Place:
    """The place that an index has in an array of the given shape.

    With `wrap`, negative elements of arrays are counted from the end.
    """
    if any(map(is_array, index.entries)) or context.trace is eval_trace or is_staged():
        return _locate(shape, index, wrap)
    # Under a derivative of what is evaluated: the coordinates are the same each time.
    key = shape, *index.entries
    place = _places.get(key)
    if place is None:
        with current_trace(eval_trace):
            place = _locate(shape, index, wrap)
        if len(_places) >= _PLACES_LIMIT:
            _places.clear()
        _places[key] = place
    return place


def _locate(shape: tuple[int, ...], index: Index, wrap: bool) -> Place:
    shape, entries, widened = _without_booleans(shape, index.entries)
    if wrap:
        entries = _from_ends(shape, entries)
    advanced = [i for i, e in enumerate(entries) if e is not None and type(e) is not Cut]
    if not any(np.ndim(entries[i]) for i in advanced):
        advanced = []  # integers by themselves add no dimension
    builder = _Builder(shape)
    for i, entry in enumerate(entries):
        if advanced and i == (advanced[0] if index.together else 0):
            dims = [sum(e is not None for e in entries[:j]) for j in advanced]
            builder.add_arrays([entries[j] for j in advanced], dims)
        if entry is None:
            builder.add_dimension()
        elif type(entry) is Cut:
            builder.add_cut(entry)
        else:
            builder.add_integer(None if advanced else entry)
    return builder.place(widened)


def _without_booleans(
    shape: tuple[int, ...], entries: Sequence[Any]
) -> tuple[tuple[int, ...], list[Any], tuple[int, ...]]:
    """The index in which each boolean is an array: [0] if it is true, in a dimension of size 1 that
    the indexed array gets there, and [] if it is not."""
    sizes, given, widened, out = [], iter(shape), [], []
    for entry in entries:
        if type(entry) is bool:
            widened.append(len(sizes))
            entry = np.arange(int(entry), dtype=_INT)
            sizes.append(1)
        elif entry is not None:
            sizes.append(next(given))
        out.append(entry)
    return tuple(sizes), out, tuple(widened)


def _from_ends(shape: tuple[int, ...], entries: Sequence[Any]) -> list[Any]:
    """The entries with negative elements of arrays counted from the end."""
    sizes = iter(shape)
    out = []
    for entry in entries:
        size = None if entry is None else next(sizes)
        out.append(from_end(entry, size) if is_array(entry) else entry)
    return out


class _Builder:
    """A place, entry by entry.

    The coordinates are columns: arrays, each with the first of the batch's dimensions that it
    extends along.
    """

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape
        self.dtype = coordinate_dtype(shape)
        self.columns: list[tuple[Any, int]] = []
        self.batch: list[int] = []
        # For each column the dimension of the array that it is about.
        self.about: list[int] = []
        self.offset: list[int] = []
        self.collapsed: list[int] = []
        self.sizes: list[int] = []
        self.result: list[int] = []
        self.reversed: list[int] = []
        self.added: list[int] = []
        self.unique = True

    def add_column(self, x: Any, dim: int) -> None:
        self.columns.append((x, len(self.batch)))
        self.about.append(dim)

    def add_arrays(self, arrays: Sequence[Any], dims: Sequence[int]) -> None:
        """The arrays of the index, about these dimensions, which are broadcast together."""
        shapes = [np.shape(x) for x in arrays]
        try:
            common = broadcast_sizes(*shapes)
        except ValueError:
            raise ValueError(numpy_errors.index_shapes(shapes)) from None
        for x, dim in zip(arrays, dims):
            self.add_column(convert(broadcast_to(x, common, "indexing"), self.dtype), dim)
            self.collapsed.append(dim)
        self.batch += common
        self.result += common
        self.unique = False

    def add_integer(self, i: Any) -> None:
        """An integer, or array of rank 0; None for a dimension of `add_arrays`."""
        dim = len(self.sizes)
        self.sizes.append(1)
        if i is None:
            return
        if not self.shape[dim]:
            raise IndexError(numpy_errors.nothing_to_index(dim, self.shape))
        self.add_column(convert(i, self.dtype), dim)
        self.collapsed.append(dim)

    def add_dimension(self) -> None:
        """None: a dimension of size 1."""
        self.added.append(len(self.result))
        self.result.append(1)

    def add_cut(self, cut: Cut) -> None:
        """A slice: windows that extend along a dimension, or if it has steps, one for each."""
        dim, kept = len(self.sizes), len(self.result) - len(self.added)
        self.result.append(cut.size)
        if cut.step == 1:
            if cut.size != self.shape[dim]:
                self.add_column(convert(cut.start, self.dtype), dim)
            self.sizes.append(cut.size)
            self.offset.append(kept)
            return
        steps = iota_p.bind(dtype=self.dtype, shape=(cut.size,), dimension=0, sharding=None)
        steps = mul_p.bind(number(cut.step, self.dtype), steps)
        indices = add_p.bind(convert(cut.start, self.dtype), steps)
        if cut.step < 0:
            self.reversed.append(kept)
            indices = rev_p.bind(indices, dimensions=(0,))
        self.add_column(indices, dim)
        self.sizes.append(1)
        self.collapsed.append(dim)
        self.batch.append(cut.size)

    def coordinates(self) -> Any:
        """The columns side by side, each broadcast along the dimensions of the others."""
        if not self.columns:
            return np.zeros(0, self.dtype)
        if len(self.columns) == 1:
            ((x, _),) = self.columns
            return expand_dims(x, (np.ndim(x),))
        shape = (*self.batch, 1)
        wide = [
            broadcast_in_dim(x, shape, range(first, first + np.ndim(x)))
            for x, first in self.columns
        ]
        return concatenate(wide, len(shape) - 1)

    def place(self, widened: tuple[int, ...]) -> Place:
        numbers = GatherDimensionNumbers(
            tuple(self.offset), tuple(sorted(self.collapsed)), tuple(self.about)
        )
        return Place(
            self.coordinates(),
            numbers,
            tuple(self.sizes),
            tuple(self.result),
            widened,
            tuple(self.reversed),
            tuple(self.added),
            self.unique,
        )
