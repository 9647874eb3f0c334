"""Counting: how often numbers occur, and how many values lie in each of several bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes, ordering_errors
from ..base.dims import at_least
from ..base.errors import ConcretizationTypeError
from ..control.branches import cond
from ..core.array import Array, ArrayLike
from ..core.trace import Tracer
from ..ops.counting import count_p
from ..ops.emitted import Emitted
from ..ops.linear import reshape
from ..ops.native import counted_in_bins, kernel_serves
from ..ops.thresholds import HISTOGRAM, NATIVE
from . import creation, joining, logic, ranges, reductions, selection
from .arguments import index_argument
from .composite import Lowered
from .conversion import behind
from .promotion import as_array, convert, dtype_of, promote_dtypes_inexact, shape_of
from .searching import searchsorted

Bins = ArrayLike | list[ArrayLike]
Ranges = Sequence[Array | Sequence[ArrayLike] | None] | None

# ---------------------------------------------------------------- bincount


def bincount(
    x: ArrayLike,
    weights: ArrayLike | None = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """How often each of the numbers 0, 1, 2, ... occurs in a vector of integers.

    Args:
      x: a vector of integers. Negative ones count as 0.
      weights: how much each element counts, 1 if not given.
      minlength: the least length of the result.
      length: the length of the result; larger numbers are not counted. Under `jit` it must be
        given.
      out_sharding: how the result is to be sharded.

    Returns:
      A vector of counts, in the dtype of the weights.

    Raises:
      TypeError: the elements are not integers.
      ValueError: `x` is not a vector, or the weights have another shape.
      ConcretizationTypeError: `x` is traced, and there is no `length`.

    >>> import covector.numpy as jnp
    >>> jnp.bincount(jnp.array([1, 3, 1]))
    Array([0, 2, 0, 1], dtype=int32)
    """
    x = as_array("bincount", x)
    if dtype_of(x) == np.bool_:
        x = convert(x, np.dtype(np.int32))
    if not dtypes.issubdtype(dtype_of(x), np.integer):
        raise TypeError(ordering_errors.bincount_dtype(dtype_of(x)))
    if x.aval.ndim != 1:
        raise ValueError(ordering_errors.bincount_rank(shape_of(x)))
    minlength = index_argument("bincount", "minlength", minlength)
    if length is None:
        length = max(minlength, _greatest(x) + 1)
    else:
        length = index_argument("bincount", "length", length)
    if weights is None:
        return _occurrences(selection.maximum(x, 0), length, dtypes.canonicalize_dtype(np.int64))
    weights = as_array("bincount", weights)
    if shape_of(weights) != shape_of(x):
        raise ValueError(ordering_errors.bincount_weights(shape_of(x), shape_of(weights)))
    return _add_up(selection.maximum(x, 0), weights, length)


def _greatest(x: Any) -> int:
    """The greatest element of a vector that is known; -1 if there is none."""
    known = x.concrete_value() if isinstance(x, Tracer) else x
    if known is None:
        raise ConcretizationTypeError(ordering_errors.unknown_length(x.aval, behind(x)))
    values = np.asarray(known)
    return max(0, int(values.max())) if values.size else -1


def _add_up(places: Any, weights: Any, length: int) -> Any:
    """A vector of sums of the weights at each place; there are none beyond its end."""
    zeros = creation.zeros(length, dtype_of(weights))
    return zeros.at[places].add(weights, mode="drop") if length else zeros


def _occurrences(places: Any, length: int, dtype: Any) -> Any:
    """How often each place occurs; there are none beyond the end."""
    if length and at_least(places.size, NATIVE):
        return convert(count_p.bind(places, size=length), dtype)
    return _add_up(places, np.ones((), dtype), length)


# ---------------------------------------------------------------- histograms


def histogram_bin_edges(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Array | Sequence[ArrayLike] | None = None,
    weights: ArrayLike | None = None,
) -> Array:
    """The edges of the bins of a histogram.

    Args:
      a: an array.
      bins: how many bins, or their edges.
      range: the first and the last edge; by default the least and the greatest element.
      weights: not used.

    Returns:
      A vector of floats.

    Raises:
      NotImplementedError: `bins` is a string.
      ValueError: `range` is not a pair.

    >>> import covector.numpy as jnp
    >>> jnp.histogram_bin_edges(jnp.array([1.0, 2.0, 5.0]), 4)
    Array([1., 2., 3., 4., 5.], dtype=float32)
    """
    if isinstance(bins, str):
        raise NotImplementedError(ordering_errors.bins_in_words(bins))
    a = as_array("histogram_bin_edges", a)
    dtype = dtypes.to_inexact_dtype(dtype_of(a))
    if np.ndim(bins) == 1:
        return creation.asarray(bins, dtype)
    count = index_argument("histogram_bin_edges", "bins", bins)
    if count < 0:
        raise ValueError(ordering_errors.negative_bins(count))
    if range is None:
        range = (reductions.min(a), reductions.max(a))
    ends = creation.asarray(range, dtype)
    if shape_of(ends) != (2,):
        raise ValueError(ordering_errors.histogram_range(range))
    # One value alone lies in the middle of a range of length 1.
    alone = logic.equal(ends[0], ends[1])
    low = selection.where(alone, ends[0] - 0.5, ends[0])
    high = selection.where(alone, ends[1] + 0.5, ends[1])
    return ranges.linspace(low, high, count + 1, dtype=dtype)


def histogram(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[ArrayLike] | None = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, Array]:
    """How many elements of an array lie in each of several bins.

    A bin has its left edge in it, and the last one both edges.

    Args:
      a: an array.
      bins: how many bins, or a vector of their edges in order.
      range: the first and the last edge; by default the least and the greatest element.
      weights: how much each element counts, 1 if not given: an array of the shape of `a`.
      density: whether to scale the counts such that the integral over all bins is 1.

    Returns:
      A vector of counts, as floats, and the edges, of which there is one more.

    Raises:
      ValueError: the weights have another shape.

    >>> import covector.numpy as jnp
    >>> jnp.histogram(jnp.array([1.0, 2.0, 2.5, 5.0]), 4)
    (Array([1., 2., 0., 1.], dtype=float32), Array([1., 2., 3., 4., 5.], dtype=float32))
    """
    a = as_array("histogram", a)
    if weights is not None:
        weights = as_array("histogram", weights)
        if shape_of(weights) != shape_of(a):
            raise ValueError(ordering_errors.histogram_weights(shape_of(weights), shape_of(a)))
        a, weights = promote_dtypes_inexact(a, weights)
    else:
        (a,) = promote_dtypes_inexact(a)
        weights = np.ones((), dtype_of(a))
    edges = histogram_bin_edges(a, bins, range, weights)
    flat = reshape(a, (a.size,))
    if shape_of(weights):
        weights = reshape(weights, (a.size,))
    counts = _counts(flat, edges, weights, uniform=np.ndim(bins) == 0)
    if density:
        counts = counts / joining.diff(edges) / counts.sum()
    return counts, edges


def _counts_by_search(x: Any, edges: Any, weights: Any, *, uniform: bool) -> Any:
    """The sums of the weights of a vector's elements in each bin; `uniform` bins have one width."""
    (count,) = shape_of(edges)
    return _add_up(_bins(x, edges), weights, count + 1)[1:count]


def _counts_by_division(x: Any, edges: Any, weights: Any, *, uniform: bool) -> Any:
    """The same, with the number of the bin from a division, put right at the edges.

    Should that not be enough (of narrow bins, rounded edges may be bins away from where they should
    be), the bins are searched for.
    """
    last = shape_of(edges)[0] - 2
    low, high = edges[0], edges[-1]
    inside = (x >= low) & (x <= high)
    scale = (last + 1) / convert(high - low, np.dtype(np.float32))
    place = convert(convert(x - low, np.dtype(np.float32)) * scale, np.dtype(np.int32))
    place = selection.clip(place, 0, last)
    place = selection.maximum(place - convert(x < edges[place], np.dtype(np.int32)), 0)
    above = (x >= edges[place + 1]) & (place < last)
    place = place + convert(above, np.dtype(np.int32))
    right = (x >= edges[place]) & ((x < edges[place + 1]) | (place == last))
    place = cond(reductions.all(right | ~inside), lambda: place, lambda: _bins(x, edges) - 1)
    place = selection.where(inside, place, last + 1)
    if shape_of(weights):
        return _add_up(place, weights, last + 2)[:-1]
    counts = _occurrences(place, last + 2, np.dtype(np.int32))[:-1]
    return convert(counts, dtype_of(weights)) * weights


def _division_pays(x: Any, edges: Any, weights: Any, *, uniform: bool) -> bool:
    return uniform and x.size >= HISTOGRAM and edges.size > 1


def _counts_by_kernel(x: Emitted, edges: Emitted, weights: Emitted, *, uniform: bool) -> Any:
    """The same by a kernel, where all weights are one number."""
    if weights.aval.shape or not kernel_serves(x.b, x.aval, 0):
        return None
    counts = counted_in_bins(x, edges).astype(weights.dtype)
    weight = x.b.broadcast_to(weights.value, weights.aval, counts.aval.shape)
    return counts * Emitted(x.b, weight, counts.aval)


_counts = Lowered(
    _counts_by_search,
    _counts_by_division,
    _division_pays,
    name="histogram_counts",
    native=_counts_by_kernel,
)


def _bins(a: Any, edges: Any) -> Any:
    """For each value the number of edges that are not greater; the last edge is in the last bin."""
    place = searchsorted(edges, a, "right")
    return selection.where(logic.equal(a, edges[-1]), shape_of(edges)[0] - 1, place)


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Bins = 10,
    range: Ranges = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, Array, Array]:
    """How many points of the plane lie in each of several rectangles.

    Args:
      x, y: vectors of coordinates.
      bins: how many bins in both dimensions, or a vector of their edges; or a pair of such.
      range, weights, density: as for `histogramdd`.

    Returns:
      A matrix of counts, and the edges of the bins in x and in y.

    >>> import covector.numpy as jnp
    >>> jnp.histogram2d(jnp.array([0.0, 1.0, 1.0]), jnp.array([0.0, 0.0, 1.0]), 2)[0]
    Array([[1, 0],
           [1, 1]], dtype=int32)
    """
    sample = joining.stack([as_array("histogram2d", v) for v in (x, y)], 1)
    if _count(bins) not in (None, 1, 2):  # the edges of both dimensions
        bins = [creation.asarray(bins)] * 2
    counts, edges = histogramdd(sample, bins, range, weights, density)
    return counts, edges[0], edges[1]


def _count(bins: Any) -> int | None:
    """How many entries a sequence or vector has; None of a number."""
    try:
        return len(bins)
    except TypeError:
        return None


def histogramdd(
    sample: ArrayLike,
    bins: Bins = 10,
    range: Ranges = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, list[Array]]:
    """How many points lie in each of several boxes.

    Args:
      sample: a matrix with a row for each point and a column for each dimension.
      bins: how many bins in each dimension, or a sequence with, for each dimension, how many or
        their edges.
      range: for each dimension the first and the last edge, or None.
      weights: how much each point counts, 1 if not given.
      density: whether to scale the counts such that the integral over all boxes is 1.

    Returns:
      An array of counts with a dimension for each of the sample's, and the list of the edges.

    Raises:
      ValueError: the shapes, or the numbers of dimensions, do not fit.

    >>> import covector.numpy as jnp
    >>> counts, edges = jnp.histogramdd(jnp.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), 2)
    >>> counts
    Array([[1, 0],
           [1, 1]], dtype=int32)
    """
    sample = as_array("histogramdd", sample)
    count, ndim = shape_of(sample)
    if weights is not None:
        weights = as_array("histogramdd", weights)
        if shape_of(weights) != (count,):
            raise ValueError(ordering_errors.sample_weights(shape_of(weights), shape_of(sample)))
        sample, weights = promote_dtypes_inexact(sample, weights)
    else:
        (sample,) = promote_dtypes_inexact(sample)
    if range is not None and (
        len(range) != ndim or any(r is not None and np.shape(r)[0] != 2 for r in range)
    ):
        raise ValueError(ordering_errors.sample_ranges(shape_of(sample), range))
    bins = [bins] * ndim if _count(bins) is None else list(bins)
    if len(bins) != ndim:
        raise ValueError(ordering_errors.sample_bins(len(bins), ndim))
    return _over_boxes(sample, bins, [None] * ndim if range is None else range, weights, density)


def _over_boxes(sample: Any, bins: Any, ends: Any, weights: Any, density: Any) -> Any:
    """The counts of points in boxes, and the edges."""
    columns = [sample[:, i] for i in range(len(bins))]
    edges = [histogram_bin_edges(x, b, e, weights) for x, b, e in zip(columns, bins, ends)]
    counts = _counts_in_boxes(columns, edges, weights)
    if density:
        counts = convert(counts, dtype_of(sample))
        counts = counts / counts.sum()
        for i, edge in enumerate(edges):
            shape = [-1 if dim == i else 1 for dim in range(len(edges))]
            counts = counts / joining.diff(edge).reshape(shape)
    return counts, edges


def _counts_in_boxes(columns: list[Any], edges: list[Any], weights: Any) -> Any:
    """Number the boxes, with those outside of the edges, in row-major order, and count."""
    sizes = [shape_of(edge)[0] + 1 for edge in edges]
    place: Any = 0
    for x, edge, size in zip(columns, edges, sizes):
        place = place * size + _bins(x, edge)
    length = math.prod(sizes)
    if weights is None:
        counts = _occurrences(place, length, dtypes.canonicalize_dtype(np.int64))
    else:
        counts = _add_up(place, weights, length)
    counts = reshape(counts, tuple(sizes))
    return counts[tuple([slice(1, -1)] * len(sizes))]
