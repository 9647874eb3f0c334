"""Reading windows of an array, and adding to them: a pair of adjoints.

    gather  <->  scatter_add of zeros

The windows lie where an array of indices says; what the dimension numbers mean stands in
`gather_dimensions.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, gather_errors
from ..base.dims import min_dim
from ..base.shapes import canonicalize_shape
from ..core.avals import ShapedArray, aval_of
from ..core.fusion import EXPENSIVE
from ..core.zeros import UndefinedPrimal
from .arithmetic import add_p, neg_p, sub_p
from .base import Op, Sample, draw
from .comparison import lt_p
from .gather_dimensions import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    batch_dims,
    check_numbers,
    check_slice_sizes,
    numbers_of_batch,
    places,
    upper_bounds,
    window_sizes,
    windows_shape,
)
from .joining import concatenate
from .linear import constant_like, expand_dims, instantiate, move_axis, zeros_of_aval
from .physical import element_dims, element_shape, physical_aval
from .rounding import rem_p
from .scattering import (
    CLIP,
    FILL_OR_DROP,
    PROMISE_IN_BOUNDS,
    Scattering,
    dimension_attribute,
    scatter_function,
    windows_inside,
)
from .select import select_n_p

# ---------------------------------------------------------------- gather


class Gather(Op):
    """The windows of sizes `slice_sizes` that begin at the indices, as one array."""

    masks_cotangents = True
    fusion = EXPENSIVE._replace(moves=True)

    def shape(self, x, indices, *, dimension_numbers, slice_sizes, mode, **params):
        check_numbers(self.name, dimension_numbers, x, indices)
        many = math.prod(indices.shape[:-1])
        check_slice_sizes(dimension_numbers, slice_sizes, x.shape, many)
        if mode is GatherScatterMode.ONE_HOT:
            raise ValueError(gather_errors.one_hot(self.name))
        return windows_shape(dimension_numbers, indices.shape, slice_sizes)

    def weak_type(self, x, indices, **params):
        return x.weak_type

    def ref(self, x, indices, *, dimension_numbers, slice_sizes, mode, fill_value, **params):
        index, inside = places(dimension_numbers, np.shape(x), indices, slice_sizes)
        shape = windows_shape(dimension_numbers, np.shape(indices), slice_sizes)
        if 0 in shape:
            return np.zeros(shape, np.asarray(x).dtype)
        found = np.broadcast_to(np.asarray(x)[index], shape)
        if mode is not FILL_OR_DROP:
            return found
        return np.where(inside, found, np.asarray(fill_value).astype(found.dtype))

    def jvp(self, primals, tangents, *, mode, fill_value, **params):
        x, indices = primals
        out = self.bind(x, indices, mode=mode, fill_value=fill_value, **params)
        fill_value = 0 if mode is FILL_OR_DROP else None
        return out, self.bind(tangents[0], indices, mode=mode, fill_value=fill_value, **params)

    def transpose(
        self, ct, x, indices, *, dimension_numbers, unique_indices, indices_are_sorted, mode, **_
    ):
        zeros = zeros_of_aval(x.aval.update(dtype=aval_of(ct).dtype))
        numbers = ScatterDimensionNumbers(*dimension_numbers)
        promises = dict(indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)
        return scatter_add_p.apply(zeros, indices, ct, numbers, mode=mode, **promises), None

    def vmap(self, axis, dims, x, indices, *, dimension_numbers, slice_sizes, **params):
        x_dim, indices_dim = dims
        numbers = numbers_of_batch(dimension_numbers, x_dim is not None, indices_dim is not None)
        if x_dim is None:
            # Two examples may read the same places, and not one after the other.
            params |= dict(indices_are_sorted=False, unique_indices=False)
        else:
            x = move_axis(x, x_dim, 0)
            size = axis.size if indices_dim is None else min_dim(axis.size, 1)
            slice_sizes = (size, *slice_sizes)
        if indices_dim is not None:
            indices = move_axis(indices, indices_dim, 0)
        params |= dict(dimension_numbers=numbers, slice_sizes=slice_sizes)
        return self.bind(x, indices, **params), 0

    def emit(
        self,
        b,
        x,
        indices,
        *,
        dimension_numbers,
        slice_sizes,
        indices_are_sorted,
        mode,
        fill_value,
        unique_indices,
    ):
        x_aval, indices_aval = b.avals_in
        (aval,) = b.avals_out
        out = physical_aval(aval)
        if not out.size:
            return b.full(0, out)
        window, collapsed, coordinates, operand_batch, indices_batch = dimension_numbers
        described = dimension_attribute(
            "gather",
            offset_dims=(*window, *element_dims(aval)),
            collapsed_slice_dims=collapsed,
            operand_batching_dims=operand_batch,
            start_indices_batching_dims=indices_batch,
            start_index_map=coordinates,
            index_vector_dim=indices_aval.ndim - 1,
        )
        found = b.op(
            "gather",
            x,
            indices,
            dimension_numbers=described,
            slice_sizes=(*slice_sizes, *element_shape(x_aval)),
            indices_are_sorted=indices_are_sorted,
        )
        if mode is not FILL_OR_DROP:
            return found  # XLA moves the windows into the operand
        bounds = upper_bounds(dimension_numbers, x_aval.shape, slice_sizes)
        inside = windows_inside(b, indices, indices_aval, bounds)
        dims = batch_dims(dimension_numbers, aval.ndim)
        where = ShapedArray(out.shape, np.bool_)
        inside = b.op("broadcast_in_dim", inside, out=where, broadcast_dimensions=tuple(dims))
        return b.op("select", inside, found, b.full(np.asarray(fill_value).astype(out.dtype), out))

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, indices, sizes, *numbers in [
            ((5,), [[1], [4], [1]], (1,), (), (0,), (0,)),
            ((5,), [[-2], [3]], (2,), (1,), (), (0,)),
            ((4, 3), [[[3, 1]], [[0, 2]]], (1, 2), (1,), (0,), (0, 1)),
            ((2, 4), [[[1], [3]], [[0], [9]]], (1, 1), (), (1,), (1,), (0,), (0,)),
            ((3, 4), [1, 1], (2, 3), (0, 1), (), (1, 0)),
            ((3, 0), [[1], [0]], (1, 0), (1,), (0,), (0,)),
        ]:
            numbers = GatherDimensionNumbers(*numbers)
            for dtype in (np.float32, np.complex64, np.int32, np.bool_):
                operands = draw(rng, shape, dtype), np.array(indices, np.int32)
                for mode in (CLIP, FILL_OR_DROP):
                    # What is read out of bounds is no NaN here: differences of NaNs tell nothing.
                    fill = 0 if mode is FILL_OR_DROP else None
                    params = gather_params(dtype, numbers, sizes, mode=mode, fill_value=fill)
                    yield Sample(operands, params)


# ---------------------------------------------------------------- scatter_add


class Additive(Scattering):
    """A scatter that is linear in operand and updates together."""

    def jvp(self, primals, tangents, **params):
        x, indices, updates = primals
        out = self.bind(x, indices, updates, **params)
        t, _, t_updates = tangents
        return out, self.bind(instantiate(t), indices, instantiate(t_updates), **params)

    def transpose(self, ct, x, indices, updates, *, dimension_numbers, mode, **params):
        ct_x = ct if type(x) is UndefinedPrimal else None
        if type(updates) is not UndefinedPrimal:
            return ct_x, None, None
        ct_updates = read_back(ct, indices, dimension_numbers, updates.aval.shape, mode)
        return ct_x, None, self.of_update(ct_updates)

    def of_update(self, ct: Any) -> Any:
        """The cotangent of an update from that of the element it is combined with."""
        return ct


class ScatterAdd(Additive):
    """The operand with updates added to the windows that begin at the indices."""

    combine = add_p
    numpy = np.add.at

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield from super().samples(rng)
        # Updates that meet at one element.
        numbers = ScatterDimensionNumbers((1,), (), (0,))
        for dtype in self.sampled:
            updates = draw(rng, (3, 2), dtype)
            operands = draw(rng, (4,), dtype), np.array([[0], [1], [0]], np.int32), updates
            yield Sample(operands, self.params(numbers, dtype))


class ScatterSub(Additive):
    """The operand with updates subtracted from the windows that begin at the indices."""

    combine = sub_p
    numpy = np.subtract.at

    def of_update(self, ct):
        return neg_p.bind(ct)


gather_p = Gather("gather")
scatter_add_p = ScatterAdd("scatter-add")
scatter_sub_p = ScatterSub("scatter-sub")


def read_back(
    x: Any,
    indices: Any,
    numbers: ScatterDimensionNumbers,
    windows: Sequence[int],
    mode: GatherScatterMode = PROMISE_IN_BOUNDS,
) -> Any:
    """Gather from where a scatter writes updates of the shape `windows`, and zero where it writes
    none."""
    aval = aval_of(x)
    sizes = window_sizes(numbers, aval.ndim, windows)
    fill_value = 0 if mode is FILL_OR_DROP else None
    mirrored = GatherDimensionNumbers(*numbers)
    params = gather_params(aval.dtype, mirrored, sizes, mode=mode, fill_value=fill_value)
    return gather_p.bind(x, indices, **params)


def gather_params(
    dtype: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: GatherScatterMode,
    fill_value: Any = None,
) -> dict[str, Any]:
    """All parameters of a gather from an operand of some dtype."""
    if mode is not FILL_OR_DROP:
        fill_value = None
    elif fill_value is None:
        fill_value = usual_fill_value(dtype)
    return dict(
        dimension_numbers=dimension_numbers,
        fill_value=fill_value,
        indices_are_sorted=bool(indices_are_sorted),
        mode=mode,
        slice_sizes=tuple(slice_sizes),
        unique_indices=bool(unique_indices),
    )


def usual_fill_value(dtype: Any) -> Any:
    """What is read out of bounds, unless the user says: NaN, an extreme number, or True."""
    if dtypes.issubdtype(dtype, np.inexact):
        return np.nan
    if dtypes.issubdtype(dtype, np.signedinteger):
        return int(dtypes.iinfo(dtype).min)
    if dtypes.issubdtype(dtype, np.unsignedinteger):
        return int(dtypes.iinfo(dtype).max)
    if dtypes.issubdtype(dtype, dtypes.prng_key):
        return int(np.iinfo(np.uint32).max)
    if dtype == np.bool_:
        return True
    raise ValueError(gather_errors.no_fill_value(dtype))


# ---------------------------------------------------------------- functions


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | GatherScatterMode | None = None,
    fill_value: Any = None,
) -> Any:
    """Slices of an array at places that indices give, put together as one array.

    Indexing, as in `x[i]` and `x.at[i].get(...)`, is made of it, and easier to use.

    Args:
      operand: an array.
      start_indices: integers; the last dimension holds the coordinates at which a slice begins.
      dimension_numbers: how the dimensions belong together.
      slice_sizes: the size of a slice in each of the operand's dimensions.
      unique_indices: a promise that no two slices overlap.
      indices_are_sorted: a promise that the indices are sorted.
      mode: what becomes of slices out of bounds; "promise_in_bounds" by default.
      fill_value: the elements of those in the mode "fill": by default NaN, for signed integers the
        least number, for unsigned ones the largest, for booleans True.

    Returns:
      An array of the operand's dtype, with the dimensions of the indices but the last, and those
      of the slices that are not collapsed.

    Raises:
      TypeError: dimension numbers, sizes and shapes do not fit.
      ValueError: the indices are not integers, or there is no such mode.

    >>> import numpy as np
    >>> from covector import lax
    >>> elements = lax.GatherDimensionNumbers((), (0,), (0,))
    >>> lax.gather(np.array([1, 2, 3]), np.array([[2], [0], [5]]), elements, (1,), mode="clip")
    Array([3, 1, 3], dtype=int32)
    """
    params = gather_params(
        aval_of(operand).dtype,
        dimension_numbers,
        canonicalize_shape(slice_sizes, "gather"),
        unique_indices=unique_indices,
        indices_are_sorted=indices_are_sorted,
        mode=PROMISE_IN_BOUNDS if mode is None else GatherScatterMode.from_any(mode),
        fill_value=fill_value,
    )
    return gather_p.bind(operand, start_indices, **params)


def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Any:
    """Parts of an array at given indices along some of its dimensions.

    Args:
      src: an array.
      idxs: for each of `axes` a vector of indices, all of one length and integer dtype. They wrap
        around: an index that is negative or too large is taken modulo the size.
      axes: distinct dimensions, counted from 0.

    Returns:
      An array whose first dimension counts the indices, followed by the other dimensions of `src`.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.index_take(np.arange(6).reshape(2, 3), (np.array([0, 3, -1]),), (1,))
    Array([[0, 3],
           [0, 3],
           [2, 5]], dtype=int32)
    """
    shape = aval_of(src).shape
    indices = concatenate([expand_dims(i, (1,)) for i in idxs], 1)
    sizes = np.array([[shape[axis] for axis in axes]], aval_of(indices).dtype)
    rest = rem_p.bind(indices, sizes)
    negative = lt_p.bind(rest, constant_like(rest, 0))
    indices = select_n_p.bind(negative, rest, add_p.bind(rest, sizes))
    dropped = tuple(sorted(axes))
    numbers = GatherDimensionNumbers(
        tuple(range(1, 1 + len(shape) - len(dropped))), dropped, tuple(axes)
    )
    slice_sizes = [1 if dim in dropped else size for dim, size in enumerate(shape)]
    return gather(src, indices, numbers, slice_sizes)


scatter_add = scatter_function(
    scatter_add_p,
    "scatter_add",
    "An array with updates added to windows of it at places that indices give.",
    instead="x.at[i].add(y)",
    example="[2., 0., 4.]",
)
scatter_sub = scatter_function(
    scatter_sub_p,
    "scatter_sub",
    "An array with updates subtracted from windows of it at places that indices give.",
    instead="x.at[i].subtract(y)",
    example="[-2.,  0., -4.]",
)
