"""Arrays made longer at their ends: with constants, with copies of what is there, with means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..core.array import Array, ArrayLike
from ..ops.arithmetic import mul_p, sub_p
from ..ops.conversion import convert_element_type_p
from ..ops.joining import concatenate_p
from ..ops.linear import constant_like as like
from ..ops.shaping import rev_p, tile_p
from ..ops.slicing import pad_p, slice_in_dim
from . import reductions
from .applied import apply_along_axis
from .arguments import index_argument
from .composite import composite
from .order_statistics import median
from .parts import round as round_
from .promotion import as_array, convert, dtype_of, operand, shape_of
from .ranges import linspace
from .shaping import broadcast_to

Widths = tuple[tuple[int, int], ...]

# ---------------------------------------------------------------- how much


def _widths(pad_width: Any, ndim: int) -> Widths:
    """How many elements to add before and behind each dimension."""
    if isinstance(pad_width, dict):
        given = [pad_width.get(i, pad_width.get(i - ndim, 0)) for i in range(ndim)]
        return tuple([pair for entry in given for pair in _widths(entry, 1)])
    pairs = _pairs(pad_width, ndim, "pad_width")
    out = tuple([tuple([index_argument("pad", "pad_width", n) for n in pair]) for pair in pairs])
    if any(n < 0 for pair in out for n in pair):
        raise ValueError(numpy_errors.negative_padding(out))
    return out


def _pairs(values: Any, ndim: int, what: str) -> list[tuple[Any, Any]]:
    """A pair for each dimension, from one value, one pair, or a sequence of pairs."""
    if not isinstance(values, (tuple, list, np.ndarray)) or np.ndim(values) == 0:
        return [(values, values)] * ndim
    rows = [
        tuple(v) if isinstance(v, (tuple, list, np.ndarray)) and np.ndim(v) else v for v in values
    ]
    if not any(isinstance(row, tuple) for row in rows):
        if len(rows) == 1:
            return [(rows[0], rows[0])] * ndim
        if len(rows) == 2:
            return [(rows[0], rows[1])] * ndim
    pairs = [row * 2 if isinstance(row, tuple) and len(row) == 1 else row for row in rows]
    if len(pairs) == 1:
        pairs *= ndim
    if len(pairs) != ndim or not all(isinstance(p, tuple) and len(p) == 2 for p in pairs):
        raise ValueError(numpy_errors.padding_pairs(what, values, ndim))
    return pairs


# ---------------------------------------------------------------- constants


@composite
def _with_constants(array: Any, *values: Any, widths: Widths) -> Any:
    """Constants around an array: one for all sides, or one for each side of each dimension."""
    values = [convert(v, dtype_of(array)) for v in values]
    if len(values) == 1:
        return pad_p.bind(array, values[0], padding_config=tuple([(*w, 0) for w in widths]))
    for axis, (before, behind) in enumerate(widths):
        for value, config in zip(values[2 * axis : 2 * axis + 2], ((before, 0, 0), (0, behind, 0))):
            sides = [(0, 0, 0)] * len(widths)
            sides[axis] = config
            array = pad_p.bind(array, value, padding_config=tuple(sides))
    return array


def _constant(array: Any, widths: Widths, constant_values: Any = 0) -> Any:
    pairs = _pairs(constant_values, array.ndim, "constant_values")
    values = [operand("pad", v) for pair in pairs for v in pair]
    if not isinstance(constant_values, (tuple, list, np.ndarray)):
        values = values[:1] or [operand("pad", constant_values)]
    return _with_constants(array, *values, widths=widths)


def _empty(array: Any, widths: Widths) -> Any:
    return _constant(array, widths)


# ---------------------------------------------------------------- what is there already


def _join(parts: list[Any], axis: int) -> Any:
    parts = [part for part in parts if shape_of(part)[axis]]
    return concatenate_p.bind(*parts, dimension=axis) if len(parts) > 1 else parts[0]


def _repeated(edge: Any, count: int, axis: int) -> Any:
    """An edge, of size 1 along an axis, copied along it."""
    shape = shape_of(edge)
    return broadcast_to(edge, (*shape[:axis], count, *shape[axis + 1 :]))


def _edges(array: Any, before: int, behind: int, axis: int) -> Any:
    size = shape_of(array)[axis]
    first = slice_in_dim(array, 0, 1, axis=axis)
    last = slice_in_dim(array, size - 1, size, axis=axis)
    return _join([_repeated(first, before, axis), array, _repeated(last, behind, axis)], axis)


def _wrapped(array: Any, before: int, behind: int, axis: int) -> Any:
    """The array again and again on both sides."""
    size = shape_of(array)[axis]
    left, right = -(-before // size), -(-behind // size)
    reps = [left + 1 + right if dim == axis else 1 for dim in range(len(shape_of(array)))]
    start = left * size - before
    return slice_in_dim(
        tile_p.bind(array, reps=tuple(reps)), start, start + before + size + behind, axis=axis
    )


def _mirrored(array: Any, before: int, behind: int, axis: int, gap: int, odd: bool) -> Any:
    """The array mirrored at its edges, each time as far as it reaches.

    With a gap of 1 the element at the edge is the mirror and not repeated. Odd reflection negates
    differences from it.
    """
    if shape_of(array)[axis] == 1 and gap:
        return _edges(array, before, behind, axis)
    while before or behind:
        size = shape_of(array)[axis]
        reach = size - gap
        for side in ("before", "behind"):
            count = min(before if side == "before" else behind, reach)
            if not count:
                continue
            start = gap if side == "before" else size - gap - count
            part = rev_p.bind(
                slice_in_dim(array, start, start + count, axis=axis), dimensions=(axis,)
            )
            if odd:
                edge = 0 if side == "before" else shape_of(array)[axis] - 1
                mirror = slice_in_dim(array, edge, edge + 1, axis=axis)
                part = sub_p.bind(mul_p.bind(mirror, like(mirror, 2)), part)
            array = _join([part, array] if side == "before" else [array, part], axis)
            if side == "before":
                before, size = before - count, size + count
            else:
                behind -= count
    return array


def _by_axis(side: Callable[..., Any]) -> Callable[..., Any]:
    """A function that pads one dimension as one that pads all, in a single program."""

    def padded(array: Any, *, widths: Widths, options: tuple[Any, ...] = ()) -> Any:
        for axis, (before, behind) in enumerate(widths):
            if before or behind:
                if shape_of(array)[axis] == 0:
                    raise ValueError(numpy_errors.nothing_to_copy(axis, shape_of(array)))
                array = side(array, before, behind, axis, *options)
        return array

    padded.__name__ = side.__name__
    return composite(padded)


_edge_program, _wrap_program, _mirror_program = map(_by_axis, (_edges, _wrapped, _mirrored))


def _edge(array: Any, widths: Widths) -> Any:
    return _edge_program(array, widths=widths)


def _wrap(array: Any, widths: Widths) -> Any:
    return _wrap_program(array, widths=widths)


def _reflect(array: Any, widths: Widths, reflect_type: str = "even") -> Any:
    return _mirror_program(array, widths=widths, options=(1, _is_odd(reflect_type)))


def _symmetric(array: Any, widths: Widths, reflect_type: str = "even") -> Any:
    return _mirror_program(array, widths=widths, options=(0, _is_odd(reflect_type)))


def _is_odd(reflect_type: str) -> bool:
    if reflect_type not in ("even", "odd"):
        raise ValueError(numpy_errors.reflect_type(reflect_type))
    return reflect_type == "odd"


# ---------------------------------------------------------------- what is computed


def _linear_ramp(array: Any, widths: Widths, end_values: Any = 0) -> Any:
    ends = _pairs(end_values, array.ndim, "end_values")
    for axis, ((before, behind), (low, high)) in enumerate(zip(widths, ends)):
        size = shape_of(array)[axis]
        first = slice_in_dim(array, 0, 1, axis=axis)
        last = slice_in_dim(array, size - 1, size, axis=axis)
        left = _ramp(low, first, before, axis)
        right = rev_p.bind(_ramp(high, last, behind, axis), dimensions=(axis,))
        array = _join([left, array, right], axis)
    return array


def _ramp(end: Any, edge: Any, count: int, axis: int) -> Any:
    """From an end value up to, but not including, an edge."""
    edge = edge.squeeze(axis)
    end = convert(operand("pad", end), dtype_of(edge))
    return linspace(end, edge, count, endpoint=False, dtype=dtype_of(edge), axis=axis)


def _statistic(array: Any, widths: Widths, of: Callable[..., Any], stat_length: Any = None) -> Any:
    lengths = _pairs(stat_length, array.ndim, "stat_length")
    for axis, ((before, behind), (left, right)) in enumerate(zip(widths, lengths)):
        size = shape_of(array)[axis]
        left, right = (size if n is None else min(n, size) for n in (left, right))
        if left < 1 or right < 1:
            raise ValueError(numpy_errors.stat_length(stat_length))
        first = slice_in_dim(array, 0, left, axis=axis)
        last = slice_in_dim(array, size - right, size, axis=axis)
        sides = [_in_dtype(of(part, axis=axis, keepdims=True), array) for part in (first, last)]
        left_side, right_side = sides
        parts = [_repeated(left_side, before, axis), array, _repeated(right_side, behind, axis)]
        array = _join(parts, axis)
    return array


def _in_dtype(value: Any, array: Any) -> Any:
    """A statistic in the dtype of the array, rounded if that is an integer one."""
    if dtypes.issubdtype(dtype_of(array), np.integer):
        value = round_(value)
    return convert(value, dtype_of(array))


def _maximum(array: Any, widths: Widths, stat_length: Any = None) -> Any:
    return _statistic(array, widths, reductions.max, stat_length)


def _minimum(array: Any, widths: Widths, stat_length: Any = None) -> Any:
    return _statistic(array, widths, reductions.min, stat_length)


def _mean(array: Any, widths: Widths, stat_length: Any = None) -> Any:
    return _statistic(array, widths, reductions.mean, stat_length)


def _median(array: Any, widths: Widths, stat_length: Any = None) -> Any:
    return _statistic(array, widths, median, stat_length)


def _by_function(array: Any, widths: Widths, function: Callable[..., Any], kwargs: Any) -> Any:
    """Zeros around an array, replaced by a function of vectors along each dimension in turn."""
    array = _empty(array, widths)
    for axis, pair in enumerate(widths):
        array = apply_along_axis(function, axis, array, pair, axis, kwargs)
    return array


# ---------------------------------------------------------------- public

_MODES: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "constant": (_constant, ("constant_values",)),
    "edge": (_edge, ()),
    "empty": (_empty, ()),
    "linear_ramp": (_linear_ramp, ("end_values",)),
    "maximum": (_maximum, ("stat_length",)),
    "mean": (_mean, ("stat_length",)),
    "median": (_median, ("stat_length",)),
    "minimum": (_minimum, ("stat_length",)),
    "reflect": (_reflect, ("reflect_type",)),
    "symmetric": (_symmetric, ("reflect_type",)),
    "wrap": (_wrap, ()),
}


def pad(
    array: ArrayLike, pad_width: Any, mode: str | Callable[..., Any] = "constant", **kwargs: Any
) -> Array:
    """Put elements before and behind an array.

    Args:
      array: an array.
      pad_width: how many on each side: an integer; a pair, before and behind, for every dimension;
        a sequence of such pairs; or a dict from dimensions to them.
      mode: "constant"; "edge", the outermost elements; "reflect" and "symmetric", mirrored with and
        without the edge as the mirror; "wrap", from the other end; "linear_ramp"; "maximum",
        "minimum", "mean" and "median" of the elements along the dimension; "empty", for which zeros
        are used. Or a function: of a vector along a dimension, with zeros where elements are added,
        of their numbers before and behind, of the dimension, and of a dict of the other arguments.
        It returns the vector with these elements filled in.
      **kwargs: `constant_values` of "constant"; `end_values` of "linear_ramp"; `reflect_type`,
        "even" or "odd", of "reflect" and "symmetric"; `stat_length`, how many elements at each end
        count, of "maximum", "minimum", "mean" and "median". Values may differ between
        sides as `pad_width`.

    Returns:
      An array of the same dtype.

    Raises:
      ValueError: the widths are negative or do not fit, or an argument does not belong to the mode.

    >>> import covector.numpy as jnp
    >>> jnp.pad(jnp.array([1, 2, 3]), (2, 1))
    Array([0, 0, 1, 2, 3, 0], dtype=int32)
    >>> jnp.pad(jnp.array([1, 2, 3]), 2, mode="reflect")
    Array([3, 2, 1, 2, 3, 2, 1], dtype=int32)
    """
    array = as_array("pad", array)
    if callable(mode):
        return _by_function(array, _widths(pad_width, array.ndim), mode, kwargs)
    if mode not in _MODES:
        raise NotImplementedError(numpy_errors.padding_mode(mode, _MODES))
    padded, known = _MODES[mode]
    unknown = set(kwargs) - set(known)
    if unknown:
        raise ValueError(numpy_errors.padding_arguments(mode, sorted(unknown), known))
    widths = _widths(pad_width, array.ndim)
    if array.ndim == 0:
        return array
    out = padded(array, widths, **kwargs)
    if array.aval.weak_type and not out.aval.weak_type:
        out = convert_element_type_p.bind(out, new_dtype=out.dtype, weak_type=True, sharding=None)
    return out
