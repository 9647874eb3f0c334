"""Reading parts of arrays: `x[...]` with integers, slices, `...` and `None`.

An index is turned into a `Plan`: for each dimension of the array a start, a size and a step, and
what is done to the part thus cut out (dimensions reversed, removed, added).  Of its starts some may
be known only at run time: arrays of rank 0.  Where values are concrete, all are passed to the
compiled program as operands, so that another index does not mean another compilation.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes, numpy_errors
from ..core.primitive import Primitive
from ..core.trace import Tracer, context, eval_trace
from ..ops.arithmetic import add_p
from ..ops.bitwise import and_p
from ..ops.comparison import ge_p, le_p, lt_p
from ..ops.dynamic_slicing import dynamic_slice_p
from ..ops.linear import broadcast_in_dim_p
from ..ops.select import select_n_p
from ..ops.shaping import rev_p, squeeze_p
from ..ops.slicing import slice_p
from .composite import composite
from .promotion import BOOL, convert, dtype_of, number, own, shape_of

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


# ---------------------------------------------------------------- parsing


def parse(shape: tuple[int, ...], index: Any) -> tuple[Plan, list[Any]]:
    """The plan of an index into an array of the given shape, and the starts that are operands.

    A start that is an operand is an integer array of rank 0, not yet checked against the size.
    Raises `NotImplementedError` for indices that are arrays of integers or booleans.
    """
    entries = _expanded(shape, index if isinstance(index, tuple) else (index,), index)
    sizes, starts, steps, operands = [], [], [], []
    reversed_, removed, added = [], [], []
    dim = place = 0
    for entry in entries:
        if entry is None:
            added.append(place)
            place += 1
            continue
        if isinstance(entry, slice):
            start, size, step = _slice(entry, shape[dim])
            if step < 0:
                reversed_.append(dim)
            step = abs(step)
            place += 1
        else:
            start, size, step = entry, 1, 1
            removed.append(dim)
            if type(entry) is int:
                start = entry + shape[dim] if entry < 0 else entry
            else:
                operands.append(entry)
                start = None
        sizes.append(size)
        starts.append(start)
        steps.append(step)
        dim += 1
    plan = Plan(*map(tuple, (sizes, starts, steps, reversed_, removed, added)))
    return plan, operands


def _expanded(shape: tuple[int, ...], entries: tuple[Any, ...], index: Any) -> list[Any]:
    """The entries of an index: one for each dimension, and None for each added one."""
    out = []
    ellipses = 0
    for entry in entries:
        if entry is Ellipsis:
            ellipses += 1
            out.append(entry)
        elif entry is None or isinstance(entry, slice) or type(entry) is int:
            out.append(entry)
        else:
            out.append(_scalar_entry(entry, index))
    if ellipses > 1:
        raise IndexError(numpy_errors.two_ellipses(index))
    given = sum(entry is not None and entry is not Ellipsis for entry in out)
    missing = len(shape) - given
    if missing < 0:
        raise IndexError(numpy_errors.too_many_indices(shape, given))
    if not ellipses:
        return out + [slice(None)] * missing
    i = next(i for i, entry in enumerate(out) if entry is Ellipsis)
    return out[:i] + [slice(None)] * missing + out[i + 1 :]


def _scalar_entry(entry: Any, index: Any) -> Any:
    """An entry that is neither a slice nor a Python integer: an integer of some other kind."""
    if hasattr(type(entry), "__jax_array__"):
        entry = entry.__jax_array__()
    kind = type(entry)
    if own[kind]:
        aval = entry.aval
        if aval.shape == () and dtypes.issubdtype(aval.dtype, np.integer):
            known = entry.concrete_value() if isinstance(entry, Tracer) else None
            return entry if known is None or own[type(known)] else operator.index(known)
        raise _not_basic(aval.shape, aval.dtype, index)
    if isinstance(entry, (list, tuple)):
        raise TypeError(numpy_errors.index_of_sequence(entry))
    if isinstance(entry, (bool, np.bool_, str, float, complex, np.inexact)):
        if isinstance(entry, (bool, np.bool_)):
            raise _not_basic((), BOOL, index)
        raise TypeError(numpy_errors.index_type(entry))
    if isinstance(entry, np.ndarray):
        if entry.ndim == 0 and entry.dtype.kind in "iu":
            return int(entry)
        raise _not_basic(entry.shape, entry.dtype, index)
    try:
        return operator.index(entry)
    except TypeError:
        raise TypeError(numpy_errors.index_type(entry)) from None


def _not_basic(shape: tuple[int, ...], dtype: Any, index: Any) -> Exception:
    if dtype == BOOL:
        return NotImplementedError(numpy_errors.boolean_index(shape))
    if dtypes.issubdtype(dtype, np.integer):
        return NotImplementedError(numpy_errors.array_index(shape))
    return TypeError(numpy_errors.index_dtype(dtype))


def _slice(entry: slice, size: int) -> tuple[int, int, int]:
    """First index, number of elements and step of a slice; the first index is the lowest."""
    parts = [_bound(part, entry, name) for part, name in _parts(entry)]
    try:
        indices = range(*slice(*parts).indices(size))
    except ValueError:
        raise ValueError(numpy_errors.slice_step_zero()) from None
    count = len(indices)
    if indices.step > 0:
        return indices.start, count, indices.step
    start = indices[-1] if count else 0
    return start, count, indices.step


def _parts(entry: slice) -> list[tuple[Any, str]]:
    return [(entry.start, "start"), (entry.stop, "stop"), (entry.step, "step")]


def _bound(part: Any, entry: slice, name: str) -> int | None:
    """A part of a slice as a Python integer."""
    if part is None or type(part) is int:
        return part
    if isinstance(part, Tracer):
        known = part.concrete_value()
        if known is None:
            raise IndexError(numpy_errors.traced_slice(name, part.aval, part.origin()))
        part = known
    return operator.index(part)


# ---------------------------------------------------------------- applying a plan


def take(x: Any, plan: Plan, operands: Sequence[Any]) -> Any:
    """The part of an array that a plan describes."""
    if not operands:
        for p, params in static_steps(shape_of(x), plan):
            x = p.bind(x, **params)
        return x
    x, plan = _take_strided(x, plan)
    starts = start_operands(shape_of(x), plan, operands)
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
    strided = any(step > 1 for step in plan.steps)
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


def clamped(shape: tuple[int, ...], plan: Plan) -> list[int]:
    """The starts, moved to where their part lies in the array."""
    return [
        start if step > 1 else max(0, min(start, size - n))  # type: ignore[type-var]
        for start, n, step, size in zip(plan.starts, plan.sizes, plan.steps, shape)
    ]


def _limits(shape: tuple[int, ...], plan: Plan, starts: list[int]) -> list[int]:
    """Behind the last element of each dimension, or as far as no other one is met."""
    return [
        start + n if step == 1 else min(start + n * step, size)
        for start, n, step, size in zip(starts, plan.sizes, plan.steps, shape)
    ]


def _take_strided(x: Any, plan: Plan) -> tuple[Any, Plan]:
    """An array without what the strided dimensions of a plan leave out, and the plan for that."""
    shape = shape_of(x)
    if all(step == 1 for step in plan.steps):
        return x, plan
    columns = list(zip(shape, plan.sizes, plan.starts, plan.steps))
    first = Plan(
        tuple([n if step > 1 else size for size, n, _, step in columns]),
        tuple([start if step > 1 else 0 for *_, start, step in columns]),
        plan.steps,
        *((), (), ()),
    )
    starts = tuple([0 if step > 1 else start for *_, start, step in columns])
    return take(x, first, ()), plan._replace(starts=starts, steps=(1,) * len(shape))


def start_operands(shape: tuple[int, ...], plan: Plan, operands: Sequence[Any]) -> list[Any]:
    """All starts as operands of one dtype; of those given, negative ones count from the end."""
    given = list(operands)
    dtype = index_dtype(given)
    out = []
    for start, size in zip(plan.starts, shape):
        if start is None:
            out.append(_from_end(given.pop(0), size, dtype))
        else:
            out.append(number(start, dtype))
    return out


def index_dtype(operands: Sequence[Any]) -> Any:
    """The dtype in which starts are computed: of at least 32 bits."""
    found = {dtype_of(x) for x in operands}
    if len(found) == 1:
        dtype = found.pop()
        if dtype.itemsize >= 4:
            return dtype
    wide = any(dtype.itemsize == 8 for dtype in found)
    return np.dtype(np.int64) if wide else _INT


def _from_end(start: Any, size: int, dtype: Any) -> Any:
    """A start, where it is negative, counted from the end of a dimension."""
    unsigned = dtypes.issubdtype(dtype_of(start), np.unsignedinteger)
    start = convert(start, dtype)
    if unsigned:
        return start
    negative = lt_p.bind(start, number(0, dtype))
    return select_n_p.bind(negative, start, add_p.bind(start, number(size, dtype)))


def in_bounds(shape: tuple[int, ...], plan: Plan, starts: Sequence[Any]) -> Any:
    """Whether the part lies in the array: a boolean, or None if it is known to.

    The starts are those that `start_operands` returns.
    """
    within = None
    for start, given, size, n in zip(starts, plan.starts, shape, plan.sizes):
        if given is not None:
            continue
        dtype = dtype_of(start)
        inside = le_p.bind(start, number(size - n, dtype))
        if not dtypes.issubdtype(dtype, np.unsignedinteger):
            inside = and_p.bind(ge_p.bind(start, number(0, dtype)), inside)
        within = inside if within is None else and_p.bind(within, inside)
    return within


def misses(shape: tuple[int, ...], plan: Plan) -> bool:
    """Whether an integer of the index is known to be out of bounds."""
    return any(
        start is not None and not 0 <= start <= size - n and n > 0
        for start, size, n in zip(plan.starts, shape, plan.sizes)
    )


# ---------------------------------------------------------------- x[index]


class Prepared(NamedTuple):
    """What is known of an index whose parts are all known.

    Attributes:
      steps: what is bound to the array where it is traced.
      static: the plan.
      misses: whether an integer is out of bounds.
      plan, starts: the plan, and its operands, with which concrete arrays are indexed: starts are
        operands of the compiled program, so that it serves other indices too.
    """

    steps: Steps
    static: Plan
    misses: bool
    plan: Plan
    starts: list[Any]


_prepared: dict[Any, Prepared] = {}
_PREPARED_LIMIT = 8192


def _key(index: Any) -> Any:
    """An index as a key, or None if something in it is neither an integer nor a slice."""
    kind = type(index)
    if kind is int or index is None or index is Ellipsis:
        return index
    if kind is slice:
        return (slice, index.start, index.stop, index.step)
    if kind is tuple:
        keys = [_key(entry) for entry in index]
        known = all(key is not None or entry is None for key, entry in zip(keys, index))
        return (tuple, *keys) if known else None
    return None


def prepare(shape: tuple[int, ...], index: Any) -> Prepared | None:
    """What is known of an index; None if it has parts that are known only at run time."""
    key = _key(index)
    if key is None and index is not None:
        return None
    try:
        found = _prepared.get((shape, key))
    except TypeError:  # the bound of a slice is an array
        return None
    if found is None:
        plan, _ = parse(shape, index)
        steps = static_steps(shape, plan)
        found = Prepared(steps, plan, misses(shape, plan), *with_operands(shape, plan))
        if len(_prepared) >= _PREPARED_LIMIT:
            _prepared.clear()
        _prepared[shape, key] = found
    return found


def with_operands(shape: tuple[int, ...], plan: Plan) -> tuple[Plan, list[Any]]:
    """A plan whose starts are operands, as far as they may differ between indices."""
    if any(step > 1 for step in plan.steps):
        return plan, []
    starts = clamped(shape, plan)
    varies = [0 < n < size for n, size in zip(plan.sizes, shape)]
    operands = [number(start, _INT) for start, v in zip(starts, varies) if v]
    return plan._replace(starts=tuple([None if v else 0 for v in varies])), operands


@composite
def _taken(x: Any, *starts: Any, plan: Plan) -> Any:
    return take(x, plan, starts)


def getitem(x: Any, index: Any) -> Any:
    """`x[index]`: a part of an array.

    Integers, and slices with steps, count from the end where they are negative. `None` adds a
    dimension of size 1, `...` stands for the dimensions that are not mentioned. An integer may be a
    traced one; the bounds of slices must be known. An integer out of bounds reads the element
    nearest to it.
    """
    prepared = prepare(x.aval.shape, index)
    if prepared is None:
        plan, operands = parse(x.aval.shape, index)
        return _taken(x, *operands, plan=plan)
    if context.trace is eval_trace:
        return _taken(x, *prepared.starts, plan=prepared.plan) if prepared.steps else x
    for p, params in prepared.steps:
        x = p.bind(x, **params)
    return x
