"""What the scatters have in common: types, batches, and how they are written for XLA."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dims import at_least
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import Jaxpr, JaxprEqn, Var
from ..core.primitive import Primitive
from .base import Op, Sample, draw
from .families import check_same_dtypes
from .gather_dimensions import (
    GatherScatterMode,
    ScatterDimensionNumbers,
    check_numbers,
    check_updates,
    numbers_of_batch,
    places,
    upper_bounds,
    window_sizes,
)
from .linear import bring_to
from .physical import element_dims, element_shape, physical_aval

CLIP, FILL_OR_DROP = GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP
PROMISE_IN_BOUNDS = GatherScatterMode.PROMISE_IN_BOUNDS


class Scattering(Op):
    """An op that combines windows of an operand with updates, at places that indices give.

    Class attributes:
      combine: the primitive that combines an element with its update; None if it is replaced.
      numpy: the NumPy function that combines in place, such as `np.add.at`.
    """

    combine: Primitive | None = None
    numpy: Any

    def shape(self, x, indices, updates, *, dimension_numbers, **params):
        check_numbers(self.name, dimension_numbers, x, indices)
        check_updates(self.name, dimension_numbers, x.shape, indices.shape, updates.shape)
        return x.shape

    def dtype(self, x, indices, updates, **params):
        check_same_dtypes(self.name, (x, updates))
        return x.dtype

    def weak_type(self, x, indices, updates, **params):
        return x.weak_type

    def ref(self, x, indices, updates, *, dimension_numbers, mode, **params):
        sizes = window_sizes(dimension_numbers, np.ndim(x), np.shape(updates))
        index, inside = places(dimension_numbers, np.shape(x), indices, sizes)
        shape = np.shape(updates)
        written = np.broadcast_to(True if mode is CLIP else inside, shape)
        index = [np.broadcast_to(place, shape)[written] for place in index]
        out = np.array(x)
        # With one dimension more in front, also a scalar has one to index.
        row = np.zeros(np.count_nonzero(written), int)
        self.numpy(out[None], (row, *index), np.asarray(updates)[written])
        return out

    def vmap(self, axis, dims, x, indices, updates, *, dimension_numbers, **params):
        x_dim, indices_dim, updates_dim = dims
        x, updates = bring_to(x, axis.size, x_dim, 0), bring_to(updates, axis.size, updates_dim, 0)
        if indices_dim is not None:
            indices = bring_to(indices, axis.size, indices_dim, 0)
        numbers = numbers_of_batch(dimension_numbers, True, indices_dim is not None)
        return self.bind(x, indices, updates, dimension_numbers=numbers, **params), 0

    def emit(self, b, x, indices, updates, *, dimension_numbers, mode, **params):
        x_aval, indices_aval, updates_aval = b.avals_in
        if not updates_aval.size:
            return x
        if indices_aval.ndim == 1 and not element_shape(x_aval):
            return emit_one(b, (x, indices, updates), dimension_numbers, mode, self.combined)
        promises = {key: params[key] for key in ("indices_are_sorted", "unique_indices")}
        operands = (x, indices, updates)
        return emit_many(b, operands, dimension_numbers, mode, self.combined, **promises)

    def combined(self, b: Any, aval: ShapedArray, x: Any, update: Any) -> Any:
        """Write what becomes of elements, an array of type `aval`, with their updates."""
        assert self.combine is not None
        inner = b.replace(primitive=self.combine, avals_in=(aval, aval), avals_out=(aval,))
        return self.combine.emit(inner, x, update)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in self.sampled:
            for x, indices, updates, numbers in scatter_samples(rng, dtype):
                for mode in (CLIP, FILL_OR_DROP):
                    yield Sample((x, indices, updates), self.params(numbers, dtype, mode=mode))

    sampled: Sequence[Any] = (np.float32, np.complex64, np.int32)

    def params(
        self,
        dimension_numbers: ScatterDimensionNumbers,
        dtype: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: GatherScatterMode | str | None = None,
    ) -> dict[str, Any]:
        """All parameters of a scatter into an operand of some dtype."""
        return dict(
            dimension_numbers=dimension_numbers,
            indices_are_sorted=indices_are_sorted,
            mode=GatherScatterMode.from_any(mode),
            unique_indices=unique_indices,
            update_consts=(),
            update_jaxpr=None if self.combine is None else update_program(self.combine, dtype),
        )

    def apply(self, x: Any, indices: Any, updates: Any, numbers: Any, **options: Any) -> Any:
        """Bind the primitive with the parameters that are not given filled in."""
        params = self.params(numbers, aval_of(x).dtype, **options)
        return self.bind(x, indices, updates, **params)


@lru_cache(maxsize=1024)
def update_program(combine: Primitive, dtype: Any) -> Jaxpr:
    """The jaxpr by which a scatter combines an element with its update; it is only shown."""
    x, update, out = (Var(ShapedArray((), dtype)) for _ in range(3))
    return Jaxpr([], [x, update], [out], [JaxprEqn([x, update], [out], combine, {})])


# ---------------------------------------------------------------- for XLA

Combine = Callable[[Any, ShapedArray, Any, Any], Any]


def emit_many(
    b: Any,
    operands: Sequence[Any],
    numbers: ScatterDimensionNumbers,
    mode: GatherScatterMode,
    combined: Combine,
    **promises: bool,
) -> Any:
    """Write a scatter."""
    x, indices, updates = operands
    x_aval, indices_aval, updates_aval = b.avals_in
    if mode is CLIP:
        sizes = window_sizes(numbers, x_aval.ndim, updates_aval.shape)
        indices = clamped(b, indices, indices_aval, upper_bounds(numbers, x_aval.shape, sizes))
    window, inserted, coordinates, operand_batch, indices_batch = numbers
    # An element of an extended dtype lies within the window.
    described = dimension_attribute(
        "scatter",
        update_window_dims=(*window, *element_dims(updates_aval)),
        inserted_window_dims=inserted,
        input_batching_dims=operand_batch,
        scatter_indices_batching_dims=indices_batch,
        scatter_dims_to_operand_dims=coordinates,
        index_vector_dim=indices_aval.ndim - 1,
    )
    element = ShapedArray((), physical_aval(x_aval).dtype)
    (out,) = b.op_with_regions(
        "scatter",
        (x, indices, updates),
        [((element, element), lambda old, new: [combined(b, element, old, new)])],
        scatter_dimension_numbers=described,
        **promises,
    )
    return out


def emit_one(
    b: Any,
    operands: Sequence[Any],
    numbers: ScatterDimensionNumbers,
    mode: GatherScatterMode,
    combined: Combine,
) -> Any:
    """Write a scatter to a single window as slices, which XLA compiles in a third of the time."""
    x, indices, updates = operands
    x_aval, indices_aval, updates_aval = b.avals_in
    sizes = window_sizes(numbers, x_aval.ndim, updates_aval.shape)
    part = ShapedArray(sizes, x_aval.dtype)
    first = dict(zip(numbers[2], range(indices_aval.size)))
    coordinate = ShapedArray((), indices_aval.dtype)
    starts = [
        entry(b, indices, coordinate, first[dim])
        if dim in first
        else b.constant(0, coordinate.dtype)
        for dim in range(x_aval.ndim)
    ]
    old = b.op("dynamic_slice", x, *starts, out=part, slice_sizes=sizes)
    new = combined(b, part, old, b.op("reshape", updates, out=part))
    if mode is not CLIP:
        inside = windows_inside(
            b, indices, indices_aval, upper_bounds(numbers, x_aval.shape, sizes)
        )
        new = b.op("select", inside, new, old, out=part)
    return b.op("dynamic_update_slice", x, new, *starts)


def entry(b: Any, vector: Any, scalar: ShapedArray, i: int) -> Any:
    """An entry of a vector."""
    part = b.op(
        "slice",
        vector,
        out=ShapedArray((1,), scalar.dtype),
        start_indices=(i,),
        limit_indices=(i + 1,),
        strides=(1,),
    )
    return b.op("reshape", part, out=scalar)


def clamped(b: Any, indices: Any, aval: ShapedArray, bounds: Sequence[int]) -> Any:
    """Indices moved to where their windows lie in the operand."""
    zero, most = b.constant(0, aval.dtype), bounds_like(b, aval, bounds)
    least = b.broadcast_to(zero, ShapedArray((), aval.dtype), aval.shape)
    return b.op("clamp", least, indices, most, out=aval)


def windows_inside(b: Any, indices: Any, aval: ShapedArray, bounds: Sequence[int]) -> Any:
    """For each index whether its window lies in the operand."""
    true = aval.update(dtype=np.bool_)
    inside = b.compare("LE", indices, bounds_like(b, aval, bounds), aval.dtype, out=true)
    if not dtypes.issubdtype(aval.dtype, np.unsignedinteger):
        above = b.compare("GE", indices, b.full(0, aval), aval.dtype, out=true)
        inside = b.op("and", inside, above, out=true)
    each = b.replace(avals_out=(true.update(shape=aval.shape[:-1]),))
    return each.reduce("and", inside, True, (aval.ndim - 1,))


def bounds_like(b: Any, aval: ShapedArray, bounds: Sequence[int]) -> Any:
    """The largest coordinates, beside the indices; what exceeds their dtype bounds nothing."""
    limit = min(int(dtypes.iinfo(aval.dtype).max), np.iinfo(np.int64).max)
    dims = (aval.ndim - 1,)
    most = [limit if at_least(bound, limit) else bound for bound in bounds]
    most = b.constant(most, aval.dtype)
    return b.op("broadcast_in_dim", most, out=aval, broadcast_dimensions=dims)


def dimension_attribute(kind: str, **fields: Any) -> str:
    """Dimension numbers as the attribute of a StableHLO op."""
    listed = [
        f"{name} = {list(map(int, dims)) if isinstance(dims, Sequence) else dims}"
        for name, dims in fields.items()
    ]
    return f"#stablehlo.{kind}<{', '.join(listed)}>"


# ---------------------------------------------------------------- public functions


def scatter_function(
    primitive: Scattering,
    name: str,
    summary: str,
    *,
    instead: str,
    example: str,
    start: str = "zeros",
) -> Callable[..., Any]:
    """The public function of a scatter.

    Args:
      primitive: the primitive.
      name: the function's name.
      summary: what it does, in one line.
      instead: how to write the same with `.at`.
      example: the result for an operand of three zeros (or as `start` says), and the updates
        1, 2, 3 at the elements 2, 0, 2.
      start: the NumPy function that makes the operand of the example.
    """
    apply = primitive.apply

    def function(
        operand: Any,
        scatter_indices: Any,
        updates: Any,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
    ) -> Any:
        promises = dict(indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)
        return apply(operand, scatter_indices, updates, dimension_numbers, mode=mode, **promises)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "covector.lax"
    function.__doc__ = _DOCSTRING.format(**locals())
    return function


_DOCSTRING = """{summary}

`{instead}` is made of it, and easier to use.

Args:
  operand: an array.
  scatter_indices: integers; the last dimension holds the coordinates at which a window begins.
  updates: an array of the operand's dtype, with the dimensions of the indices but the last, and
    those of the windows that are not inserted.
  dimension_numbers: how the dimensions belong together.
  indices_are_sorted: a promise that the indices are sorted.
  unique_indices: a promise that no two windows overlap.
  mode: what becomes of windows out of bounds; by default they are left out.

Returns:
  An array of the operand's shape and dtype.

Raises:
  TypeError: dimension numbers, shapes and dtypes do not fit.
  ValueError: the indices are not integers, or there is no such mode.

>>> import numpy as np
>>> from covector import lax
>>> elements = lax.ScatterDimensionNumbers((), (0,), (0,))
>>> i, y = np.array([[2], [0], [2]]), np.array([1.0, 2.0, 3.0])
>>> lax.{name}(np.{start}(3), i, y, elements)
Array({example}, dtype=float32)
"""

# ---------------------------------------------------------------- samples


def scatter_samples(rng: np.random.Generator, dtype: Any) -> Iterator[tuple[Any, ...]]:
    """Operands and dimension numbers of scatters whose windows do not overlap."""
    for shape, indices, updates, *numbers in [
        ((5,), [[1], [3]], (2,), (), (0,), (0,)),
        ((4, 3), [[3], [0]], (2, 3), (1,), (0,), (0,)),
        ((3, 5), [[1, 4], [0, 0]], (2, 1, 2), (1, 2), (), (0, 1)),
        ((2, 4), [[[1]], [[3]]], (2, 1), (), (1,), (1,), (0,), (0,)),
        ((3, 4), [1, 2], (2,), (0,), (0,), (0, 1)),
        ((3, 4), [5, 1], (2,), (0,), (0,), (0, 1)),
        ((), [], (), (), (), ()),
        ((4, 3), np.zeros((0, 1)), (0, 3), (1,), (0,), (0,)),
    ]:
        operands = draw(rng, shape, dtype), np.array(indices, np.int32), draw(rng, updates, dtype)
        yield *operands, ScatterDimensionNumbers(*numbers)
