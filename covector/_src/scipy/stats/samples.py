"""Statistics of samples: the most frequent element, ranks, and the error of the mean."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...base import dtypes
from ...base import stats_errors as errors
from ...control.cumulative import cummax, cummin, cumsum
from ...core.array import Array, ArrayLike
from ...numpy.arguments import axis_argument
from ...numpy.composite import composite, composite_list
from ...numpy.creation import full
from ...numpy.exponential import sqrt
from ...numpy.joining import concatenate
from ...numpy.nan_reductions import nanstd
from ...numpy.promotion import as_array, convert, promote_dtypes_inexact, shape_of
from ...numpy.reductions import any as any_of
from ...numpy.reductions import argmax, std
from ...numpy.reductions import sum as sum_of
from ...numpy.selection import where
from ...numpy.shaping import moveaxis, ravel, reshape
from ...numpy.sorting import argsort, sort
from ...numpy.taking import take_along_axis
from ...ops.creation import broadcasted_iota

# ---------------------------------------------------------------- runs of equal elements


def _is_nan(x: Any) -> Any:
    return x != x


def _starts(ordered: Any) -> Any:
    """Which elements of sorted rows differ from those before; NaNs are equal."""
    before, after = ordered[..., :-1], ordered[..., 1:]
    differ = (before != after) & ~(_is_nan(before) & _is_nan(after))
    first = full((*differ.shape[:-1], min(1, ordered.shape[-1])), True)
    return concatenate([first, differ], axis=-1)


def _bounds(starts: Any) -> tuple[Any, Any]:
    """For each element of sorted rows the places of the first and the last that are equal to it."""
    axis = starts.ndim - 1
    places = broadcasted_iota(dtypes.canonicalize_dtype(int), starts.shape, axis)
    last = max(starts.shape[-1] - 1, 0)
    ends = concatenate([starts[..., 1:], full((*starts.shape[:-1], min(1, last + 1)), True)], -1)
    ends = ends[..., : starts.shape[-1]]
    return cummax(where(starts, places, 0), axis), cummin(where(ends, places, last), axis, True)


# ---------------------------------------------------------------- the mode


class ModeResult(NamedTuple):
    """The most frequent elements, and how often they occur."""

    mode: Array
    count: Array


@composite_list
def _mode(rows: Any, *, omit: bool) -> Any:
    ordered = sort(rows)
    first, last = _bounds(_starts(ordered))
    counts = last - first + 1
    if omit:
        counts = where(_is_nan(ordered), 0, counts)
    best = argmax(counts, axis=-1)[..., None]
    return [take_along_axis(x, best, axis=-1)[..., 0] for x in (ordered, counts)]


def mode(
    a: ArrayLike, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> ModeResult:
    """The most frequent elements along an axis, and of several the smallest.

    Args:
      a: an array.
      axis: the axis; with None all elements are taken together.
      nan_policy: "propagate" takes NaN for a value like others, greater than all; "omit" leaves NaN
        out.
      keepdims: whether the axis stays, with size 1.

    Returns:
      A named tuple of the elements, `mode`, and how often each occurs, `count`. Of no elements the
      mode is NaN.

    Raises:
      NotImplementedError: `nan_policy` is "raise".
      ValueError: there is no such policy.

    >>> import covector.numpy as jnp
    >>> from covector.scipy import stats
    >>> found = stats.mode(jnp.array([3, 1, 3, 2]))
    >>> print(found.mode, found.count)
    3 2
    """
    _check_policy("mode", nan_policy)
    x = as_array("mode", a)
    shape = shape_of(x) or (1,)
    if axis is None:
        rows, kept = ravel(x), (1,) * len(shape)
    else:
        axis = axis_argument("mode", axis, len(shape))
        rows = moveaxis(reshape(x, shape), axis, -1)
        kept = (*shape[:axis], 1, *shape[axis + 1 :])
    if rows.shape[-1] == 0:
        dtype = dtypes.default_float_dtype()
        found, count = (full(rows.shape[:-1], value, dtype) for value in (np.nan, 0))
    else:
        found, count = _mode(rows, omit=nan_policy == "omit")
    if keepdims:
        found, count = reshape(found, kept), reshape(count, kept)
    return ModeResult(found, count)


def _check_policy(where_: str, nan_policy: str) -> None:
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError(errors.nan_policy(where_, nan_policy))
    if nan_policy == "raise":
        raise NotImplementedError(errors.no_raising(where_))


# ---------------------------------------------------------------- ranks

METHODS = ("average", "min", "max", "dense", "ordinal")


@composite
def _ranks(rows: Any, *, method: str, omit: bool) -> Any:
    dtype = dtypes.default_float_dtype()
    order = argsort(rows)
    places = argsort(order)
    if method == "ordinal":
        ranks = places + 1
    else:
        starts = _starts(take_along_axis(rows, order, axis=-1))
        first, last = (convert(x, dtype) for x in _bounds(starts))
        of_sorted = {
            "average": 0.5 * (first + last) + 1,
            "min": first + 1,
            "max": last + 1,
            "dense": cumsum(convert(starts, order.dtype), starts.ndim - 1),
        }[method]
        ranks = take_along_axis(of_sorted, places, axis=-1)
    nan = _is_nan(rows)
    return where(
        nan if omit else any_of(nan, axis=-1, keepdims=True), np.nan, convert(ranks, dtype)
    )


def rankdata(
    a: ArrayLike,
    method: str = "average",
    *,
    axis: int | None = None,
    nan_policy: str = "propagate",
) -> Array:
    """The ranks of elements among those along an axis, from 1 for the smallest.

    Args:
      a: an array.
      method: the rank of equal elements: the "average", "min" or "max" of the ranks which they take
        together; "dense", the number of different elements that are not greater; "ordinal", by
        their order in the array.
      axis: the axis; with None all elements are ranked together.
      nan_policy: with "propagate" all ranks along the axis are NaN if an element is; with "omit"
        only NaN itself is not ranked.

    Returns:
      An array of floats, of the shape of `a`; with `axis=None` a vector.

    Raises:
      NotImplementedError: `nan_policy` is "raise".
      ValueError: there is no such method or policy.

    >>> import covector.numpy as jnp
    >>> from covector.scipy import stats
    >>> stats.rankdata(jnp.array([3.0, 1.0, 3.0, 2.0]))
    Array([3.5, 1. , 3.5, 2. ], dtype=float32)
    """
    _check_policy("rankdata", nan_policy)
    if method not in METHODS:
        raise ValueError(errors.rank_method(method, METHODS))
    x = as_array("rankdata", a)
    omit = nan_policy == "omit"
    if axis is None:
        return _ranks(ravel(x), method=method, omit=omit)
    axis = axis_argument("rankdata", axis, x.ndim)
    return moveaxis(_ranks(moveaxis(x, axis, -1), method=method, omit=omit), -1, axis)


# ---------------------------------------------------------------- errors of means


def sem(
    a: ArrayLike,
    axis: int | None = 0,
    ddof: int = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The standard error of the mean: the standard deviation over the square root of the count.

    Args:
      a: an array of numbers.
      axis: the axis; with None all elements are taken together.
      ddof: what the number of elements is reduced by for the standard deviation.
      nan_policy: "propagate", or "omit", which leaves NaN out.
      keepdims: whether the axis stays, with size 1.

    Returns:
      An array of floats.

    Raises:
      ValueError: there is no such policy.

    >>> import covector.numpy as jnp
    >>> from covector.scipy import stats
    >>> stats.sem(jnp.array([1.0, 3.0, 5.0, 7.0]), ddof=0)
    Array(1.118034, dtype=float32)
    """
    (x,) = promote_dtypes_inexact(as_array("sem", a))
    if nan_policy == "propagate":
        count = x.size if axis is None else x.shape[axis_argument("sem", axis, x.ndim)]
        return std(x, axis, ddof=ddof, keepdims=keepdims) / convert(sqrt(1.0 * count), x.dtype)
    if nan_policy == "omit":
        count = sum_of(~_is_nan(x), axis, keepdims=keepdims)
        return nanstd(x, axis, ddof=ddof, keepdims=keepdims) / sqrt(convert(count, x.dtype))
    raise ValueError(errors.sem_policy(nan_policy))
