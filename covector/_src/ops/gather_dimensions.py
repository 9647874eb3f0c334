"""How gathers and scatters describe places in an array: dimension numbers, and modes.

Both are about windows of one shape in an operand, at places that an array of indices gives:

    gather   reads the windows, and puts them together as one array
    scatter  writes an array of that kind, the updates, to the windows

The last dimension of the indices holds the coordinates where one window begins; the others, and in
addition those of the windows, are the dimensions of the array of windows.  So the dimension numbers
of a gather are those of the scatter that is its mirror image, field by field.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..base import dtypes, gather_errors

Dims = Sequence[int]


class GatherDimensionNumbers(NamedTuple):
    """How the dimensions of operand, indices and result of a gather belong together.

    Attributes:
      offset_dims: the dimensions of the result along which lie the elements of one slice, sorted.
      collapsed_slice_dims: the dimensions of the operand that the result lacks, sorted; slices
        have size 1 in them.
      start_index_map: for each coordinate of an index, the dimension of the operand it is of.
      operand_batching_dims: the dimensions of the operand that go along with dimensions of the
        indices, sorted; slices have size 1 in them.
      start_indices_batching_dims: for each of these, the dimension of the indices.

    >>> import numpy as np
    >>> from covector import lax
    >>> rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    >>> lax.gather(np.eye(3), np.array([[2], [0]]), rows, (1, 3))
    Array([[0., 0., 1.],
           [1., 0., 0.]], dtype=float32)
    """

    offset_dims: Dims
    collapsed_slice_dims: Dims
    start_index_map: Dims
    operand_batching_dims: Dims = ()
    start_indices_batching_dims: Dims = ()


class ScatterDimensionNumbers(NamedTuple):
    """How the dimensions of operand, indices and updates of a scatter belong together.

    Attributes:
      update_window_dims: the dimensions of the updates along which lie the elements of one window,
        sorted.
      inserted_window_dims: the dimensions of the operand that the updates lack, sorted; windows
        have size 1 in them.
      scatter_dims_to_operand_dims: for each coordinate of an index, the dimension of the operand
        it is of.
      operand_batching_dims: the dimensions of the operand that go along with dimensions of the
        indices, sorted; windows have size 1 in them.
      scatter_indices_batching_dims: for each of these, the dimension of the indices.

    >>> import numpy as np
    >>> from covector import lax
    >>> elements = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter_add(np.zeros(4), np.array([[2], [0]]), np.array([1.0, 5.0]), elements)
    Array([5., 0., 1., 0.], dtype=float32)
    """

    update_window_dims: Dims
    inserted_window_dims: Dims
    scatter_dims_to_operand_dims: Dims
    operand_batching_dims: Dims = ()
    scatter_indices_batching_dims: Dims = ()


Numbers = TypeVar("Numbers", GatherDimensionNumbers, ScatterDimensionNumbers)


class GatherScatterMode(enum.Enum):
    """What becomes of indices whose window is not within the operand.

    CLIP moves the window to the nearest place at which it is. With FILL_OR_DROP a gather reads a
    fill value instead of the window, and a scatter leaves it out. PROMISE_IN_BOUNDS says that there
    are none; what happens if there are is not defined. ONE_HOT is for `take_along_axis`, which then
    multiplies by a matrix of zeros and ones.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.GatherScatterMode.from_any("drop").name
    'FILL_OR_DROP'
    """

    CLIP = enum.auto()
    FILL_OR_DROP = enum.auto()
    PROMISE_IN_BOUNDS = enum.auto()
    ONE_HOT = enum.auto()

    @staticmethod
    def from_any(s: str | GatherScatterMode | None) -> GatherScatterMode:
        """The mode of a name: `"clip"`, `"fill"` or `"drop"`, `"promise_in_bounds"`, `"one_hot"`.

        None stands for "fill", and a mode for itself.
        """
        if isinstance(s, GatherScatterMode):
            return s
        try:
            return _MODES[s]
        except (KeyError, TypeError):
            raise ValueError(gather_errors.unknown_mode(s)) from None


_MODES: dict[Any, GatherScatterMode] = {
    None: GatherScatterMode.FILL_OR_DROP,
    "fill": GatherScatterMode.FILL_OR_DROP,
    "drop": GatherScatterMode.FILL_OR_DROP,
    "clip": GatherScatterMode.CLIP,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
    "one_hot": GatherScatterMode.ONE_HOT,
}

# ---------------------------------------------------------------- shapes


def kept_dims(numbers: Numbers, ndim: int) -> list[int]:
    """The dimensions of the operand along which windows have elements, of those it has `ndim`."""
    return [dim for dim in range(ndim) if dim not in numbers[1] and dim not in numbers[3]]


def batch_dims(numbers: Numbers, ndim: int) -> list[int]:
    """The dimensions of an array of windows along which the windows are counted."""
    return [dim for dim in range(ndim) if dim not in numbers[0]]


def windows_shape(numbers: Numbers, indices: Dims, sizes: Dims) -> tuple[int, ...]:
    """The shape of the array of the windows of given sizes, for indices of a given shape."""
    window = iter([sizes[dim] for dim in kept_dims(numbers, len(sizes))])
    batch = iter(indices[:-1])
    ndim = len(numbers[0]) + len(indices) - 1
    return tuple([next(window if dim in numbers[0] else batch) for dim in range(ndim)])


def window_sizes(numbers: Numbers, ndim: int, windows: Dims) -> tuple[int, ...]:
    """The sizes of a window in the operand's dimensions, from the shape of an array of windows."""
    sizes = [1] * ndim
    for dim, place in zip(kept_dims(numbers, ndim), numbers[0]):
        sizes[dim] = windows[place]
    return tuple(sizes)


def upper_bounds(numbers: Numbers, shape: Dims, sizes: Dims) -> tuple[int, ...]:
    """For each coordinate of an index the largest for which the window is in the operand."""
    return tuple([shape[dim] - sizes[dim] for dim in numbers[2]])


def numbers_of_batch(numbers: Numbers, operand: bool, indices: bool) -> Numbers:
    """The dimension numbers of a batch, which is in front of operand, indices or both."""
    window, dropped, coordinates, operand_batch, indices_batch = (
        tuple([dim + 1 for dim in dims]) for dims in numbers
    )
    if not indices:
        return type(numbers)((0, *window), dropped, coordinates, operand_batch, numbers[4])
    if not operand:
        return type(numbers)(window, *numbers[1:4], indices_batch)
    batches = (0, *operand_batch), (0, *indices_batch)
    return type(numbers)(window, dropped, coordinates, *batches)


# ---------------------------------------------------------------- checks


def check_numbers(name: str, numbers: Numbers, operand: Any, indices: Any) -> None:
    """Raise unless dimension numbers fit the types of operand and indices."""
    if not dtypes.issubdtype(indices.dtype, np.integer):
        raise ValueError(gather_errors.indices_dtype(name, indices.dtype))
    if not indices.ndim:
        raise TypeError(gather_errors.no_index_dimension(name))
    fields = numbers._fields
    for i, (field, dims) in enumerate(zip(fields, numbers)):
        if i in (0, 1, 3) and list(dims) != sorted(dims):
            raise TypeError(gather_errors.dims_not_sorted(name, field, dims))
        _check_inside(name, numbers, i, operand, indices)
        if len(set(dims)) != len(dims):
            raise TypeError(gather_errors.dims_repeat(name, field, dims))
    for i in (1, 2):
        if not set(numbers[i]).isdisjoint(numbers[3]):
            pair = (fields[i], fields[3]), (numbers[i], numbers[3])
            raise TypeError(gather_errors.dims_overlap(name, *pair))
    if len(numbers[2]) != indices.shape[-1]:
        raise TypeError(gather_errors.index_length(name, fields[2], numbers[2], indices.shape))
    if len(numbers[3]) != len(numbers[4]):
        pair = (fields[3], fields[4]), (numbers[3], numbers[4])
        raise TypeError(gather_errors.batching_counts(name, *pair))
    sizes = [operand.shape[dim] for dim in numbers[3]], [indices.shape[dim] for dim in numbers[4]]
    if sizes[0] != sizes[1]:
        raise TypeError(gather_errors.batching_sizes(name, *sizes))


def _check_inside(name: str, numbers: Numbers, i: int, operand: Any, indices: Any) -> None:
    """Raise unless the dimensions in the i-th field are there."""
    field, dims, last = numbers._fields[i], numbers[i], indices.ndim - 1
    rank = (len(numbers[0]) + last, operand.ndim, operand.ndim, operand.ndim, last)[i]
    outside = [place for place, dim in enumerate(dims) if not 0 <= dim < rank]
    if not outside:
        return
    if i == 2:
        raise TypeError(gather_errors.mapping_outside(name, field, dims, rank))
    if i == 4 and last in dims:
        raise TypeError(gather_errors.batching_coordinates(name, field, dims, last))
    if field == "offset_dims":
        raise TypeError(gather_errors.offset_outside(name, outside[0], dims, rank))
    what = ("array of windows", "operand", "", "operand", "indices but the last")[i]
    raise TypeError(gather_errors.dims_outside(name, field, dims, what, rank))


def check_windows(name: str, numbers: Numbers, shape: Dims) -> None:
    """Raise unless dimension numbers say of each dimension of the operand what becomes of it."""
    parts = [0, 1, 3]
    if sum(len(numbers[i]) for i in parts) != len(shape):
        given = [numbers._fields[i] for i in parts], [numbers[i] for i in parts]
        raise TypeError(gather_errors.window_rank(name, *given, shape))


def check_slice_sizes(numbers: GatherDimensionNumbers, sizes: Dims, shape: Dims, many: int) -> None:
    """Raise unless a gather of `many` slices of these sizes fits an operand of `shape`."""
    if len(sizes) != len(shape):
        raise TypeError(gather_errors.slice_sizes_count(sizes, shape))
    check_windows("gather", numbers, shape)
    for dim, (size, whole) in enumerate(zip(sizes, shape)):
        if many and not 0 <= size <= whole:
            raise TypeError(gather_errors.slice_sizes_outside(dim, sizes, shape))
    for dim in numbers.collapsed_slice_dims:
        if sizes[dim] != 1:
            raise TypeError(gather_errors.slice_size_dropped("collapsed_slice_dims", dim, sizes))
    for dim in numbers.operand_batching_dims:
        if sizes[dim] > 1:
            raise TypeError(gather_errors.slice_size_dropped("operand_batching_dims", dim, sizes))


def check_updates(
    name: str, numbers: ScatterDimensionNumbers, shape: Dims, indices: Dims, updates: Dims
) -> None:
    """Raise unless updates of a shape fit an operand and indices of others."""
    window = numbers.update_window_dims
    if len(updates) != len(window) + len(indices) - 1:
        raise TypeError(gather_errors.updates_rank(name, updates, indices, window))
    check_windows(name, numbers, shape)
    batch = [updates[dim] for dim in batch_dims(numbers, len(updates))]
    if batch != list(indices[:-1]):
        raise TypeError(gather_errors.updates_batch(name, batch, indices))
    given = [updates[dim] for dim in window]
    most = [shape[dim] for dim in kept_dims(numbers, len(shape))]
    if any(size > whole for size, whole in zip(given, most)):
        raise TypeError(gather_errors.updates_window(name, given, most))


# ---------------------------------------------------------------- places, with NumPy


def places(
    numbers: Numbers, shape: Dims, indices: np.ndarray, sizes: Dims
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Where the elements of the windows are, if all are moved into the operand.

    Args:
      numbers: the dimension numbers.
      shape: the shape of the operand.
      indices: where the windows begin.
      sizes: the sizes of a window in the operand's dimensions.

    Returns:
      For each dimension of the operand its index of each element, and whether the window of an
      element was in the operand; arrays that broadcast to the shape of the array of windows.
    """
    ndim = len(numbers[0]) + indices.ndim - 1
    batch = batch_dims(numbers, ndim)
    element_dims = dict(zip(kept_dims(numbers, len(shape)), numbers[0]))
    example_dims = {d: batch[i] for d, i in zip(numbers[3], numbers[4])}
    bounds = upper_bounds(numbers, shape, sizes)
    clamped = np.clip(indices, 0, bounds).astype(np.int64)
    inside = np.all((indices >= 0) & (indices <= bounds), axis=-1)
    found = []
    for dim, (size, whole) in enumerate(zip(sizes, shape)):
        place = np.zeros((1,) * ndim, np.int64)
        if dim in numbers[2]:
            place = place + along(clamped[..., numbers[2].index(dim)], batch, ndim)
        if dim in element_dims:
            place = place + along(np.arange(size), [element_dims[dim]], ndim)
        if dim in example_dims:
            place = place + along(np.arange(whole), [example_dims[dim]], ndim)
        found.append(place)
    return tuple(found), along(inside, batch, ndim)


def along(x: np.ndarray, dims: Dims, ndim: int) -> np.ndarray:
    """An array whose dimensions are `dims` of `ndim`, the others having size 1."""
    shape = [1] * ndim
    for dim, size in zip(dims, x.shape):
        shape[dim] = size
    return x.reshape(shape)
