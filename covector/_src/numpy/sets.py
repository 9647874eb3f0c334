"""Arrays as sets: distinct elements, unions, intersections, differences.

How many elements a result has depends on the values.  It is found out if they are known; for
traced arrays the user gives the `size`, and what is missing is filled up.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes, ordering_errors
from ..base.errors import ConcretizationTypeError
from ..core.array import Array, ArrayLike
from ..core.trace import Tracer
from ..ops import sorting as lax
from ..ops.bitwise import and_p, not_p, or_p
from ..ops.comparison import eq_p, ne_p
from ..ops.complex import is_complex
from ..ops.gather_dimensions import ScatterDimensionNumbers
from ..ops.joining import concatenate
from ..ops.linear import broadcast_in_dim, full, reshape
from ..ops.reductions import reduce_or_p
from ..ops.scatter import scatter_p
from ..ops.select import select_n_p
from ..ops.slicing import slice_in_dim
from . import logic
from .arguments import axis_argument, index_argument
from .composite import composite, composite_list
from .conversion import behind
from .nonzero import nonzero, running_sum
from .promotion import BOOL, as_array, convert, dtype_of, promote_dtypes, shape_of
from .searching import searchsorted
from .selection import where as choose
from .shaping import moveaxis
from .sorting import argsort, index_dtype, lexsort, sort
from .taking import take

# ---------------------------------------------------------------- distinct elements


def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: bool = True,
) -> Any:
    """The distinct elements of an array, in order.

    Args:
      ar: an array.
      return_index: whether to return, for each of them, the index of its first occurrence too.
      return_inverse: whether to return, for each element of `ar`, its index among them too.
      return_counts: whether to return, for each of them, how often it occurs too.
      axis: the dimension whose parts are compared as wholes; None compares the elements.
      equal_nan: whether NaNs count as one element.
      size: how many elements to return. Under `jit` it must be given.
      fill_value: what fills up missing elements; the least element by default.
      sorted: the elements are in order in any case.

    Returns:
      The distinct elements, or a tuple with what else was asked for, in the order of the arguments.

    Raises:
      ConcretizationTypeError: the array is traced, and there is no `size`.
      ValueError: there is no element and no `fill_value` to fill up with.

    >>> import covector.numpy as jnp
    >>> jnp.unique(jnp.array([3, 1, 3, 2]))
    Array([1, 2, 3], dtype=int32)
    >>> jnp.unique(jnp.array([3, 1, 3]), return_counts=True, size=3, fill_value=0)
    (Array([1, 3, 0], dtype=int32), Array([1, 2, 0], dtype=int32))
    """
    wanted = (True, return_index, return_inverse, return_counts)
    results = _unique("unique", ar, axis, equal_nan, size, fill_value, wanted)
    chosen = tuple([x for x, given in zip(results, wanted) if given])
    return chosen if len(chosen) > 1 else chosen[0]


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: Array
    inverse_indices: Array


def unique_all(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> UniqueAllResult:
    """The distinct elements of an array with all that `unique` returns; each NaN is distinct.

    >>> import covector.numpy as jnp
    >>> jnp.unique_all(jnp.array([3, 1, 3])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    return UniqueAllResult(*_unique("unique_all", x, None, False, size, fill_value))


def unique_counts(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> UniqueCountsResult:
    """The distinct elements of an array, and how often each occurs; each NaN is distinct.

    >>> import covector.numpy as jnp
    >>> jnp.unique_counts(jnp.array([3, 1, 3])).counts
    Array([1, 2], dtype=int32)
    """
    values, _, _, counts = _unique("unique_counts", x, None, False, size, fill_value)
    return UniqueCountsResult(values, counts)


def unique_inverse(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> UniqueInverseResult:
    """The distinct elements, and for each element its index among them; each NaN is distinct.

    >>> import covector.numpy as jnp
    >>> jnp.unique_inverse(jnp.array([3, 1, 3])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    values, _, inverse, _ = _unique("unique_inverse", x, None, False, size, fill_value)
    return UniqueInverseResult(values, inverse)


def unique_values(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> Array:
    """The distinct elements of an array; each NaN is distinct.

    >>> import covector.numpy as jnp
    >>> jnp.unique_values(jnp.array([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    return _unique("unique_values", x, None, False, size, fill_value)[0]


def _unique(
    where: str,
    x: Any,
    axis: Any,
    equal_nan: bool,
    size: Any,
    fill_value: Any,
    wanted: tuple[bool, bool, bool, bool] = (True,) * 4,
) -> tuple[Any, Any, Any, Any]:
    """The distinct parts of an array, the indices of the first ones, the inverse, the counts.

    What is not `wanted` of these may be None.
    """
    x = as_array(where, x)
    shape = shape_of(x)
    if axis is None:
        x, axis = reshape(x, (math.prod(shape),)), 0
        inverse_shape = shape
    else:
        axis = axis_argument(where, axis, len(shape))
        inverse_shape = (shape[axis],)
    size = _known_size(where, size, x)
    if not shape_of(x)[axis] and size and fill_value is None:
        raise ValueError(ordering_errors.nothing_to_fill_with(where))
    parts = moveaxis(x, axis, 0)
    ordered, order, first = _ordered_parts(
        parts, equal_nan=bool(equal_nan), with_order=wanted[1] or wanted[2]
    )
    # One more of them than asked for tells where the last one ends.
    (starts,) = nonzero(first, size=None if size is None else size + 1, fill_value=0)
    count, total = first.sum(dtype=starts.dtype), shape_of(first)[0]
    ends = concatenate([starts[1:], full((min(1, shape_of(starts)[0]),), total, starts.dtype)], 0)
    starts, ends = (starts, ends) if size is None else (starts[:size], ends[:size])
    values = take(ordered, starts, 0, mode="clip") if shape_of(ordered)[0] else _none(ordered, size)
    place = _index_range(starts)
    if size is not None and fill_value is not None:
        given = reshape(place < count, (size, *(1,) * (len(shape_of(values)) - 1)))
        values = choose(given, values, as_array(where, fill_value).astype(dtype_of(values)))
    indices = take(order, starts, 0, mode="clip") if shape_of(order)[0] else starts
    inverse = reshape(_inverse(first, order), inverse_shape) if wanted[2] else None
    ends = choose(place + 1 < count, ends, total)
    counts = choose(place < count, ends - starts, 0)
    return moveaxis(values, 0, axis), indices, inverse, counts


def _known_size(where: str, size: Any, *arrays: Any) -> int | None:
    """The size that was given; None if the values of all arrays are known."""
    if size is not None:
        return index_argument(where, "size", size)
    for x in arrays:
        if isinstance(x, Tracer) and x.concrete_value() is None:
            raise ConcretizationTypeError(ordering_errors.unknown_values(where, x.aval, behind(x)))
    return None


def _none(x: Any, size: int | None) -> Any:
    return full((size or 0, *shape_of(x)[1:]), 0, dtype_of(x))


def _index_range(x: Any) -> Any:
    return as_array("unique", np.arange(shape_of(x)[0], dtype=dtype_of(x)))


@composite_list
def _ordered_parts(parts: Any, *, equal_nan: bool, with_order: bool) -> list[Any]:
    """The parts of an array along dimension 0 in order, where they were, and which differ from the
    one before.

    Without `with_order`, they are said to have been where they are.
    """
    count, *rest = shape_of(parts)
    if is_complex(dtype_of(parts)):
        # A complex number is NaN as a whole.
        nan = full(shape_of(parts), np.nan, dtype_of(parts))
        parts = select_n_p.bind(ne_p.bind(parts, parts), parts, nan)
    flat = reshape(parts, (count, math.prod(rest)))
    width = shape_of(flat)[1]
    if not count or not width:
        order = as_array("unique", np.arange(count, dtype=index_dtype(count)))
        return [parts, order, full((count,), False, BOOL) if count == 0 else _only_first(count)]
    if width == 1 and not with_order:
        order = as_array("unique", np.arange(count, dtype=index_dtype(count)))
        ordered = lax.sort(parts, 0)
    else:
        columns = [flat[:, i] for i in reversed(range(width))]
        order = argsort(columns[0]) if width == 1 else lexsort(columns)
        ordered = take(parts, order, 0, mode="clip")
    before, after = slice_in_dim(ordered, 0, count - 1), slice_in_dim(ordered, 1, None)
    differ = _differ(before, after, equal_nan)
    if rest:
        differ = reduce_or_p.bind(differ, axes=tuple(range(1, len(rest) + 1)))
    return [ordered, order, concatenate([full((1,), True, BOOL), differ], 0)]


def _only_first(count: int) -> Any:
    return as_array("unique", np.arange(count) == 0)


@composite
def _inverse(first: Any, order: Any) -> Any:
    """For each part its number among the distinct ones."""
    numbers = running_sum(convert(first, dtype_of(order))) - 1
    if not shape_of(order)[0]:
        return numbers
    count = shape_of(order)[0]
    places, scatters = reshape(order, (count, 1)), ScatterDimensionNumbers((), (0,), (0,))
    return scatter_p.apply(numbers, places, numbers, scatters, unique_indices=True)


# ---------------------------------------------------------------- unions and so on


def union1d(
    ar1: ArrayLike, ar2: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> Array:
    """The distinct elements of two arrays together, in order.

    Args:
      ar1, ar2: arrays.
      size, fill_value: as for `unique`.

    >>> import covector.numpy as jnp
    >>> jnp.union1d(jnp.array([3, 1]), jnp.array([2, 3]))
    Array([1, 2, 3], dtype=int32)
    """
    x, y = _vectors("union1d", ar1, ar2)
    return _unique("union1d", concatenate([x, y], 0), None, True, size, fill_value)[0]


def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Any:
    """The distinct elements that are in both of two arrays, in order.

    Args:
      ar1, ar2: arrays.
      assume_unique: a promise that no element occurs twice in one array.
      return_indices: whether to return the indices of the first occurrences in both arrays too.
      size: as for `unique`.
      fill_value: what fills up missing elements; by default the least of the results. Missing
        indices are the sizes of the arrays.

    >>> import covector.numpy as jnp
    >>> jnp.intersect1d(jnp.array([3, 1, 2]), jnp.array([2, 3]))
    Array([2, 3], dtype=int32)
    """
    x, y = _vectors("intersect1d", ar1, ar2)
    size = _known_size("intersect1d", size, x, y)
    values, place_x, place_y, found = _common(x, y)
    (chosen,) = nonzero(found, size=size, fill_value=shape_of(found)[0])
    results = _filled(values, chosen, found, fill_value, size)
    if not return_indices:
        return results
    indices = [
        take(place, chosen, 0, mode="fill", fill_value=shape_of(source)[0])
        if shape_of(place)[0]
        else full(shape_of(chosen), shape_of(source)[0], dtype_of(chosen))
        for place, source in ((place_x, x), (place_y, y))
    ]
    return (results, *indices)


@composite_list
def _common(x: Any, y: Any) -> list[Any]:
    """The elements of two vectors in order, each with its places in both, and which are first ones
    that are in both."""
    count, total = shape_of(x)[0], shape_of(x)[0] + shape_of(y)[0]
    both = concatenate([x, y], 0)
    dtype = index_dtype(total)
    # Of equal ones, those of the first vector come first, in the order of their places.
    places = as_array("intersect1d", np.arange(total, dtype=dtype))
    values, order = lax.sort_key_val(both, places)
    start = searchsorted(values, values, "left")
    first = and_p.bind(eq_p.bind(convert(start, dtype), places), eq_p.bind(values, values))
    end = searchsorted(values, values, "right")
    of_x = convert(order < count, dtype)
    before = concatenate([full((1,), 0, dtype), running_sum(of_x)], 0)
    in_x = take(before, end, 0, mode="clip") - take(before, start, 0, mode="clip")
    in_both = and_p.bind(in_x > 0, convert(end - start, dtype) > in_x)
    place_y = take(order, start + in_x, 0, mode="clip") - count if total else order
    return [values, order, place_y, and_p.bind(first, in_both)]


def setdiff1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """The distinct elements of an array that are not in another, in order.

    Args:
      ar1, ar2: arrays.
      assume_unique: a promise that no element occurs twice in `ar1`; they then keep their order.
      size: as for `unique`.
      fill_value: what fills up missing elements, 0 by default.

    >>> import covector.numpy as jnp
    >>> jnp.setdiff1d(jnp.array([3, 1, 2]), jnp.array([2]))
    Array([1, 3], dtype=int32)
    """
    x, y = as_array("setdiff1d", ar1), as_array("setdiff1d", ar2)
    x, y = reshape(x, (x.aval.size,)), reshape(y, (y.aval.size,))
    size = _known_size("setdiff1d", size, x, y)
    if not assume_unique:
        x = sort(x)
    outside = logic.logical_not(isin(x, y, method="binary_search"))
    if not assume_unique:
        outside = and_p.bind(outside, _starts(x))
    (chosen,) = nonzero(outside, size=size, fill_value=shape_of(x)[0])
    return _filled(x, chosen, outside, 0 if fill_value is None else fill_value, size)


def setxor1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """The distinct elements that are in one of two arrays only, in order.

    Args:
      ar1, ar2: arrays.
      assume_unique: a promise that no element occurs twice in one array.
      size: as for `unique`.
      fill_value: what fills up missing elements; by default the least of the results.

    >>> import covector.numpy as jnp
    >>> jnp.setxor1d(jnp.array([3, 1, 2]), jnp.array([2, 5]))
    Array([1, 3, 5], dtype=int32)
    """
    x, y = _vectors("setxor1d", ar1, ar2)
    size = _known_size("setxor1d", size, x, y)
    both = sort(concatenate([x, y], 0))
    starts = _starts(both)
    if assume_unique:  # then what is in one only occurs once
        last = full((min(1, shape_of(both)[0]),), True, BOOL)
        found = and_p.bind(starts, concatenate([starts[1:], last], 0))
    else:
        in_x, in_y = [isin(both, v, method="binary_search") for v in (x, y)]
        # NaN is in neither, being equal to nothing.
        in_one = or_p.bind(ne_p.bind(in_x, in_y), ne_p.bind(both, both))
        found = and_p.bind(in_one, starts)
    (chosen,) = nonzero(found, size=size, fill_value=shape_of(both)[0])
    return _filled(both, chosen, found, fill_value, size)


def _vectors(where: str, x: Any, y: Any) -> list[Any]:
    """Two arrays raveled, in one dtype."""
    x, y = promote_dtypes(as_array(where, x), as_array(where, y))
    return [reshape(as_array(where, v), (math.prod(shape_of(v)),)) for v in (x, y)]


@composite
def _starts(x: Any) -> Any:
    """Where a vector in order has an element that differs from the one before; NaNs are equal."""
    (count,) = shape_of(x)
    before, after = slice_in_dim(x, 0, max(0, count - 1)), slice_in_dim(x, min(1, count), None)
    return concatenate([full((min(1, count),), True, BOOL), _differ(before, after, True)], 0)


def _differ(x: Any, y: Any, equal_nan: bool) -> Any:
    """Where elements differ; NaNs do if they are not to be equal."""
    differ = ne_p.bind(x, y)
    if not (equal_nan and dtypes.issubdtype(dtype_of(x), np.inexact)):
        return differ
    return and_p.bind(differ, not_p.bind(and_p.bind(ne_p.bind(x, x), ne_p.bind(y, y))))


def _filled(values: Any, chosen: Any, found: Any, fill_value: Any, size: int | None) -> Any:
    """The chosen elements of a vector, and for those that are missing the fill value, or else the
    least of the chosen ones."""
    if not shape_of(values)[0]:
        return full(shape_of(chosen), 0 if fill_value is None else fill_value, dtype_of(values))
    results = take(values, chosen, 0, mode="fill", fill_value=0)
    if size is None:
        return results
    given = _index_range(chosen) < found.sum(dtype=dtype_of(chosen))
    if fill_value is None:
        fill_value = results[:1] if size else 0
    return choose(given, results, as_array("unique", fill_value).astype(dtype_of(values)))


# ---------------------------------------------------------------- membership


def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Array:
    """Where an array has elements that are in another.

    Args:
      element: an array.
      test_elements: the array of what is looked for.
      assume_unique: a promise that no element occurs twice in one array.
      invert: whether to return where it has others.
      method: "compare_all" compares each element with each; "binary_search" and "sort" sort the
        second array, which is faster if it is large. "auto" chooses.

    Returns:
      A boolean array of the shape of `element`.

    Raises:
      ValueError: there is no such method.

    >>> import covector.numpy as jnp
    >>> jnp.isin(jnp.array([3, 1, 2]), jnp.array([2, 3]))
    Array([ True, False,  True], dtype=bool)
    """
    if method not in ("auto", "compare_all", "binary_search", "sort"):
        raise ValueError(ordering_errors.membership_method(method))
    x, y = as_array("isin", element), as_array("isin", test_elements)
    found = _isin(x, y, by_comparing=_few(method, y.aval.size))
    return logic.logical_not(found) if invert else found


_FEW = 16


def _few(method: str, count: int) -> bool:
    return method == "compare_all" or (method == "auto" and count <= _FEW)


@composite
def _isin(x: Any, y: Any, *, by_comparing: bool) -> Any:
    shape = shape_of(x)
    x, y = promote_dtypes(x, y)
    (count,) = (math.prod(shape_of(y)),)
    if not count:
        return full(shape, False, BOOL)
    y = reshape(y, (count,))
    if by_comparing:
        wide = (*shape, count)
        each = broadcast_in_dim(x, wide, tuple(range(len(shape))))
        equal = eq_p.bind(each, broadcast_in_dim(y, wide, (len(shape),)))
        return reduce_or_p.bind(equal, axes=(len(shape),))
    y = lax.sort(y)
    return eq_p.bind(take(y, searchsorted(y, x), 0, mode="clip"), x)
