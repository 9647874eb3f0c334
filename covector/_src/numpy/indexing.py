"""Reading parts of arrays: `x[...]`.

An index of integers, slices, `...` and `None` is turned into a `Plan`: for each dimension of the
array a start, a size and a step, and what is done to the part thus cut out (dimensions reversed,
removed, added).  Of its starts some may be known only at run time: arrays of rank 0.  Where values
are concrete, all are passed to the compiled program as operands, so that another index does not
mean another compilation.

An index with arrays in it, or with steps as well as integers that are not known, is a gather.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import numpy_errors
from ..base.dims import Dim, has_symbolic, max_dim, min_dim
from ..base.errors import NonConcreteBooleanIndexError
from ..core.primitive import Primitive
from ..core.trace import context, eval_trace
from ..ops.dynamic_slicing import dynamic_slice_p
from ..ops.gather import gather_p, gather_params
from ..ops.linear import broadcast_in_dim_p, expand_dims
from ..ops.scattering import CLIP, PROMISE_IN_BOUNDS
from ..ops.shaping import rev_p, squeeze_p
from ..ops.slicing import slice_p
from ..xla.array import ArrayImpl, put
from ..xla.placement import whole_as
from . import indices
from .composite import composite
from .conversion import behind
from .creation import filled
from .gathering import Pattern, Place, coordinate_dtype, from_end, is_staged, locate, pattern_of
from .indices import Cut, Index
from .promotion import BOOL, convert, number, own, shape_of

_INT = np.dtype(np.int32)


class Plan(NamedTuple):
    """How to cut a part out of an array.

    Attributes:
      sizes: for each dimension, how many elements are taken.
      starts: for each dimension the first of them, or None if it is an operand.
      steps: for each dimension, the distance of two of them; at least 1.
      reversed: the dimensions whose order is reversed then.
      removed: the dimensions, of size 1, that are removed then.
      added: the dimensions of size 1 that the result has in addition.
    """

    sizes: tuple[int, ...]
    starts: tuple[int | None, ...]
    steps: tuple[int, ...]
    reversed: tuple[int, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]

    def shape(self) -> tuple[int, ...]:
        """The shape of `x[index]`."""
        shape = [n for dim, n in enumerate(self.sizes) if dim not in self.removed]
        for place in self.added:
            shape.insert(place, 1)
        return tuple(shape)


# ---------------------------------------------------------------- from an index to a plan


def plan_of(shape: tuple[int, ...], index: Index) -> tuple[Plan, list[Any]]:
    """The plan of a basic index, and the starts that are operands.

    A start that is an operand is an integer array of rank 0, not yet checked against the size.
    """
    sizes, starts, steps, operands = [], [], [], []
    reversed_, removed, added = [], [], []
    for entry in index.entries:
        dim = len(sizes)
        if entry is None:
            added.append(dim - len(removed) + len(added))
            continue
        if type(entry) is Cut:
            start, size, step = entry
            if step < 0:
                reversed_.append(dim)
                start = start + (size - 1) * step if size else 0
            if own[type(start)]:
                operands.append(start)
                start = None
        else:
            if not shape[dim]:
                raise IndexError(numpy_errors.nothing_to_index(dim, shape))
            start, size, step = entry, 1, 1
            removed.append(dim)
            if type(entry) not in (int, Dim):
                operands.append(entry)
                start = None
        sizes.append(size)
        starts.append(start)
        steps.append(abs(step))
    return Plan(*map(tuple, (sizes, starts, steps, reversed_, removed, added))), operands


# ---------------------------------------------------------------- applying a plan


def take(x: Any, plan: Plan, operands: Sequence[Any], written: bool = False) -> Any:
    """The part of an array that a plan describes.

    With `written`, known starts are treated as the operands are, that the program may be read as
    one of operands alone.
    """
    if not operands and is_within(shape_of(x), plan):
        for p, params in static_steps(shape_of(x), plan):
            x = p.bind(x, **params)
        return x
    starts = start_operands(shape_of(x), plan, operands, written and bool(operands))
    return finish(dynamic_slice_p.bind(x, *starts, slice_sizes=plan.sizes), plan)


def finish(x: Any, plan: Plan) -> Any:
    """`x[index]` from the part as it lies in `x`."""
    for p, params in _finishing_steps(plan):
        x = p.bind(x, **params)
    return x


# What is bound to an array, one after another.
Steps = list[tuple[Primitive, dict[str, Any]]]


def static_steps(shape: tuple[int, ...], plan: Plan) -> Steps:
    """How to take a part whose starts are all known."""
    if plan.sizes == shape:
        return _finishing_steps(plan)
    starts = clamped(shape, plan)
    strided = any(step != 1 for step in plan.steps)
    params = dict(
        start_indices=tuple(starts),
        limit_indices=tuple(_limits(shape, plan, starts)),
        strides=plan.steps if strided else None,
    )
    return [(slice_p, params), *_finishing_steps(plan)]


def _finishing_steps(plan: Plan) -> Steps:
    """How to reverse, remove and add dimensions."""
    steps: Steps = []
    if plan.reversed:
        steps.append((rev_p, dict(dimensions=plan.reversed)))
    if plan.removed:
        steps.append((squeeze_p, dict(dimensions=plan.removed)))
    if plan.added:
        shape = plan.shape()
        dims = tuple([dim for dim in range(len(shape)) if dim not in plan.added])
        params = dict(shape=shape, broadcast_dimensions=dims, sharding=None)
        steps.append((broadcast_in_dim_p, params))
    return steps


def is_within(shape: tuple[int, ...], plan: Plan) -> bool:
    """Whether the part whose starts are all known lies in the array.

    One that does not, which only the flag `parity` allows, is taken as if its starts were known at
    run time only: the program then shows where they are, and `checkify` finds it.
    """
    return tuple(clamped(shape, plan)) == plan.starts


def clamped(shape: tuple[int, ...], plan: Plan) -> list[int]:
    """The starts, moved to where their part lies in the array."""
    return [
        start if step != 1 else max_dim(0, min_dim(start, size - n))
        for start, n, step, size in zip(plan.starts, plan.sizes, plan.steps, shape)
    ]


def _limits(shape: tuple[int, ...], plan: Plan, starts: list[int]) -> list[int]:
    """Behind the last element of each dimension, or as far as no other one is met."""
    return [
        start + n if step == 1 else min_dim(start + n * step, size)
        for start, n, step, size in zip(starts, plan.sizes, plan.steps, shape)
    ]


def start_operands(
    shape: tuple[int, ...], plan: Plan, operands: Sequence[Any], written: bool
) -> list[Any]:
    """All starts as operands of one dtype; of those given, negative ones count from the end."""
    given = iter(operands)
    dtype = coordinate_dtype(shape)
    out = []
    for start, size in zip(plan.starts, shape):
        if start is None:
            start = next(given)
            start = from_end(convert(start, dtype) if len(shape) > 1 else start, size, True)
        else:
            start = number(start, dtype)
            start = from_end(context.trace.lift(start), size) if written else start
        out.append(start)
    return out


# ---------------------------------------------------------------- x[index]


class Prepared(NamedTuple):
    """What is known of an index whose parts are all known.

    Attributes:
      steps: what is bound to the array where it is traced.
      plan, starts: the plan, and its operands, with which concrete arrays are indexed: starts are
        operands of the compiled program, so that it serves other indices too.
    """

    steps: Steps
    plan: Plan
    starts: list[Any]


_prepared: dict[Any, Prepared] = {}
_PREPARED_LIMIT = 8192


def index_key(index: Any) -> Any:
    """An index as a key, or None if something in it is neither an integer nor a slice."""
    if type(index) is not tuple:
        return _entry_key(index)
    keys = [_entry_key(entry) for entry in index]
    known = all(key is not None or entry is None for key, entry in zip(keys, index))
    return (tuple, *keys) if known else None


def _entry_key(entry: Any) -> Any:
    """The same of one entry; a tuple among entries is an array of integers."""
    kind = type(entry)
    if kind is int or entry is None or entry is Ellipsis:
        return entry
    return (slice, entry.start, entry.stop, entry.step) if kind is slice else None


def prepare(shape: tuple[int, ...], index: Any) -> Prepared | None:
    """What is known of an index; None if parts of it are known only at run time, or outside."""
    key = index_key(index)
    if key is None and index is not None:
        return None
    try:
        found = _prepared.get((shape, key))
    except TypeError:  # the bound of a slice is an array
        return None
    if found is None:
        plan, _ = plan_of(shape, indices.read(shape, index))
        if not is_within(shape, plan):
            return None
        found = Prepared(static_steps(shape, plan), *with_operands(shape, plan))
        if len(_prepared) >= _PREPARED_LIMIT:
            _prepared.clear()
        _prepared[shape, key] = found
    return found


def with_operands(shape: tuple[int, ...], plan: Plan) -> tuple[Plan, list[Any]]:
    """A plan whose starts are operands, as far as they may differ between indices."""
    if any(step != 1 for step in plan.steps) or has_symbolic(shape):  # of which there are no arrays
        return plan, []
    starts = clamped(shape, plan)
    varies = [n not in (0, size) for n, size in zip(plan.sizes, shape)]
    operands = [number(start, _INT) for start, v in zip(starts, varies) if v]
    return plan._replace(starts=tuple([None if v else 0 for v in varies])), operands


@composite
def _taken(x: Any, *starts: Any, plan: Plan) -> Any:
    return take(x, plan, starts)


def getitem(x: Any, index: Any) -> Any:
    """`x[index]`: a part of an array.

    Integers, arrays of them, and slices with steps, count from the end where they are negative.
    `None` adds a dimension of size 1, `...` stands for the dimensions that are not mentioned, and
    an array of booleans for the indices where it is true. The bounds of slices must be known, and
    booleans too. A Python integer out of bounds is an error; one that is known only at run time
    reads the element nearest to it.
    """
    indices.check_literals(x.aval.shape, index)
    prepared = prepare(x.aval.shape, index)
    if prepared is None:
        if context.trace is eval_trace and _selects(index):
            part = _selected(x, index)
            if part is not None:
                return part
        return get(x, indices.read(x.aval.shape, index))
    if context.trace is eval_trace:
        return _taken(x, *prepared.starts, plan=prepared.plan) if prepared.steps else x
    for p, params in prepared.steps:
        x = p.bind(x, **params)
    return x


def _selects(index: Any) -> bool:
    """Whether a mask is in an index."""
    entries = index if type(index) is tuple else (index,)
    return any(getattr(entry, "dtype", None) == BOOL and np.ndim(entry) for entry in entries)


def _selected(x: Any, index: Any) -> Any:
    """What a mask selects from an array, or None if the host cannot do it as well.

    A program would have to be compiled for each number of elements that are selected.
    """
    if type(x) is not ArrayImpl or not isinstance(x.dtype, np.dtype):
        return None
    if x._first_device.platform != "cpu":
        return None
    entries = index if type(index) is tuple else (index,)
    host = tuple([np.asarray(entry) if own[type(entry)] else entry for entry in entries])
    try:
        part = np.asarray(np.asarray(x)[host])
    except IndexError:  # maybe an integer out of bounds, which here is no error
        return None
    part.flags.writeable = False
    aval = x.aval.update(shape=part.shape)
    placement = x._placement
    if placement is not None and placement.is_spread:  # by a sharding for arrays of other sizes
        placement = whole_as(placement)
    return put(part, placement, aval, may_alias=True)


def get(x: Any, index: Index, wrap: bool = True, **options: Any) -> Any:
    """`x[index]` of an index that has been read; the options are those of `gather_at`."""
    shape = x.aval.shape
    mask = index.mask()
    if mask is not None:
        raise NonConcreteBooleanIndexError(numpy_errors.traced_mask(mask.aval, behind(mask)))
    if index.is_basic() and options.get("mode") in _NEAREST and wrap:
        plan, operands = plan_of(shape, index)
        if context.trace is eval_trace:
            if not operands:
                plan, operands = with_operands(shape, plan)
            return _taken(x, *operands, plan=plan)
        return take(x, plan, operands, is_staged())
    pattern, operands = pattern_of(shape, index)
    # What is computed from numbers in an index is computed here, unless a program has them.
    if context.trace is eval_trace or all(own[type(x)] for x in operands):
        return _gathered(x, *operands, pattern=pattern, wrap=wrap, **options)
    return gather_at(x, locate(shape, index, wrap), **options)


# The modes in which an integer out of bounds reads the nearest element.
_NEAREST = (None, PROMISE_IN_BOUNDS, CLIP)


@composite
def _gathered(x: Any, *operands: Any, pattern: Pattern, wrap: bool, **options: Any) -> Any:
    return gather_at(x, locate(shape_of(x), pattern.filled(operands), wrap), **options)


def gather_at(
    x: Any,
    place: Place,
    mode: Any = None,
    fill_value: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
) -> Any:
    """The elements of an array at a place."""
    aval = x.aval
    if 0 in place.shape:
        return filled(place.shape, 0, aval.dtype, aval.weak_type)
    if place.widened:
        x = expand_dims(x, place.widened)
    for dim, size in enumerate(shape_of(x)):
        if place.sizes[dim] > size:
            raise IndexError(numpy_errors.nothing_to_index(dim, aval.shape))
    if np.shape(place.coordinates)[-1]:
        params = gather_params(
            aval.dtype,
            place.numbers,
            place.sizes,
            unique_indices=unique_indices or place.unique,
            indices_are_sorted=indices_are_sorted or place.unique,
            mode=PROMISE_IN_BOUNDS if mode is None else mode,
            fill_value=fill_value,
        )
        x = gather_p.bind(x, place.coordinates, **params)
    if place.reversed:
        x = rev_p.bind(x, dimensions=place.reversed)
    return expand_dims(x, place.added) if place.added else x
