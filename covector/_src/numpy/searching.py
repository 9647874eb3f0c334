"""Where values belong among others that are in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes, ordering_errors
from ..base.dims import at_least
from ..core.array import Array, ArrayLike
from ..ops.arithmetic import add_p, min_p, sub_p
from ..ops.bitwise import and_p, not_p, or_p
from ..ops.comparison import eq_p, le_p, lt_p, ne_p
from ..ops.complex import imag_p, real_p
from ..ops.emitted import Emitted
from ..ops.gather import gather_p, gather_params
from ..ops.gather_dimensions import GatherDimensionNumbers
from ..ops.joining import concatenate
from ..ops.linear import broadcast_in_dim, expand_dims, full, reduce_sum, reshape
from ..ops.native import kernel_serves, searched
from ..ops.scattering import PROMISE_IN_BOUNDS
from ..ops.select import select_n_p
from ..ops.slicing import slice_in_dim
from ..ops.thresholds import NATIVE
from .composite import Lowered, composite
from .promotion import as_array, convert, dtype_of, number, promote_dtypes, shape_of
from .selection import where as choose
from .shaping import flip
from .sorting import argsort

# ---------------------------------------------------------------- the order of sorting


def precedes(x: Any, y: Any, or_equal: bool = False) -> Any:
    """Where x comes before y in the order of sorting, in which NaNs are last and equal."""
    dtype = dtype_of(x)
    if dtypes.issubdtype(dtype, np.complexfloating):
        real, imag = ((part.bind(x), part.bind(y)) for part in (real_p, imag_p))
        tie = not_p.bind(or_p.bind(precedes(*real), precedes(*real[::-1])))
        return or_p.bind(precedes(*real), and_p.bind(tie, precedes(*imag, or_equal)))
    before = (le_p if or_equal else lt_p).bind(x, y)
    if not dtypes.issubdtype(dtype, np.floating):
        return before
    y_nan = ne_p.bind(y, y)
    if or_equal:
        return or_p.bind(before, y_nan)
    return or_p.bind(before, and_p.bind(eq_p.bind(x, x), y_nan))


# ---------------------------------------------------------------- searchsorted


def searchsorted(
    a: ArrayLike,
    v: ArrayLike,
    side: str = "left",
    sorter: ArrayLike | None = None,
    *,
    method: str = "scan",
) -> Array:
    """Where values belong in an array that is in order.

    Args:
      a: a vector in rising order.
      v: an array of values.
      side: "left" for the first place at which a value keeps the array in order, "right" for the
        last.
      sorter: indices that put `a` in order, if it is not.
      method: how to search: "scan", "scan_unrolled" and "default" halve the range again and again;
        "sort" sorts all values together, "compare_all" compares each with each. The results are the
        same.

    Returns:
      An array of indices from 0 to `len(a)`, of the shape of `v`.

    Raises:
      ValueError: `a` is not a vector, or there is no such side or method.

    >>> import covector.numpy as jnp
    >>> jnp.searchsorted(jnp.array([10, 20, 30]), jnp.array([5, 20, 99]))
    Array([0, 1, 3], dtype=int32)
    """
    a, v = as_array("searchsorted", a), as_array("searchsorted", v)
    if a.aval.ndim != 1:
        raise ValueError(ordering_errors.sorted_not_vector(shape_of(a)))
    if side not in ("left", "right"):
        raise ValueError(ordering_errors.search_side(side))
    if method not in _METHODS:
        raise ValueError(ordering_errors.search_method(method, _METHODS))
    if sorter is not None:
        a = a[as_array("searchsorted", sorter)]
    return _searchsorted(a, v, side=side, method=method)


@composite
def _searchsorted(a: Any, v: Any, *, side: str, method: str) -> Any:
    a, v = promote_dtypes(a, v)
    (size,) = shape_of(a)
    dtype = np.dtype(np.int64 if at_least(size, np.iinfo(np.int32).max) else np.int32)
    if not size:
        return full(shape_of(v), 0, dtype)
    return _METHODS[method](a, v, side == "right", dtype)


def _halve(a: Any, v: Any, *, right: bool, dtype: Any) -> Any:
    """Count the elements in front of each value, from the highest binary digit downwards.

    Of an array of a symbolic size, all digits that the dtype has are tried.
    """
    (size,) = shape_of(a)
    digits = size.bit_length() if isinstance(size, int) else np.iinfo(dtype).bits - 1
    elements = GatherDimensionNumbers((), (0,), (0,))
    params = gather_params(dtype_of(a), elements, (1,), mode=PROMISE_IN_BOUNDS)
    last = number(size - 1, dtype)
    count = full(shape_of(v), 0, dtype)
    for digit in reversed(range(digits)):
        following = add_p.bind(count, number(1 << digit, dtype))
        place = min_p.bind(sub_p.bind(following, number(1, dtype)), last)
        found = gather_p.bind(a, expand_dims(place, (len(shape_of(v)),)), **params)
        enough = and_p.bind(
            precedes(found, v, or_equal=right), le_p.bind(following, number(size, dtype))
        )
        count = select_n_p.bind(enough, count, following)
    return count


def _kernel_pays(a: Any, v: Any, *, right: bool, dtype: Any) -> bool:
    return at_least(v.size, NATIVE)


def _search_natively(a: Emitted, v: Emitted, *, right: bool, dtype: Any) -> Emitted | None:
    # It has many values: that they are not along an axis does not matter.
    flat = v.aval.update(shape=(v.aval.size,))
    return searched(a, v, right) if kernel_serves(v.b, flat, 0) else None


_halving = Lowered(_halve, _halve, _kernel_pays, name="halving", native=_search_natively)


def _by_halving(a: Any, v: Any, right: bool, dtype: Any) -> Any:
    return _halving(a, v, right=right, dtype=dtype)


def _by_comparing(a: Any, v: Any, right: bool, dtype: Any) -> Any:
    ndim = len(shape_of(v))
    shape = (*shape_of(v), *shape_of(a))
    each = broadcast_in_dim(a, shape, (ndim,))
    values = broadcast_in_dim(v, shape, tuple(range(ndim)))
    return reduce_sum(convert(precedes(each, values, or_equal=right), dtype), (ndim,))


def _by_sorting(a: Any, v: Any, right: bool, dtype: Any) -> Any:
    """Sort all together; of those in front of a value, some are values themselves."""
    (size,) = shape_of(a)
    values = reshape(v, (v.aval.size,))
    count = values.aval.size
    both = [a, values] if right else [values, a]
    rank = convert(argsort(argsort(concatenate(both, 0))), dtype)
    among_all = slice_in_dim(rank, size, None) if right else slice_in_dim(rank, 0, count)
    among_values = convert(argsort(argsort(values)), dtype)
    return reshape(sub_p.bind(among_all, among_values), shape_of(v))


_METHODS: dict[str, Callable[..., Any]] = {
    "scan": _by_halving,
    "scan_unrolled": _by_halving,
    "sort": _by_sorting,
    "compare_all": _by_comparing,
    "default": _by_halving,
}


def digitize(
    x: ArrayLike, bins: ArrayLike, right: bool = False, *, method: str | None = None
) -> Array:
    """The number of the bin in which each value lies.

    Args:
      x: an array.
      bins: a vector of edges of bins, which rises or falls.
      right: whether a value at an edge belongs to the bin on whose right side it is.
      method: as for `searchsorted`.

    Returns:
      An array of the shape of `x`: i where x lies between the edges i - 1 and i, 0 or `len(bins)`
      where it lies outside.

    Raises:
      ValueError: `bins` is not a vector.

    >>> import covector.numpy as jnp
    >>> jnp.digitize(jnp.array([0.5, 1.0, 7.0]), jnp.array([0.0, 1.0, 2.0]))
    Array([1, 2, 3], dtype=int32)
    """
    x, edges = as_array("digitize", x), as_array("digitize", bins)
    if edges.aval.ndim != 1:
        raise ValueError(ordering_errors.bins_not_vector(shape_of(edges)))
    (size,) = shape_of(edges)
    if not size:
        return full(shape_of(x), 0, np.dtype(np.int32))
    side = "left" if right else "right"
    method = "default" if method is None else method
    rises = edges[-1] >= edges[0]
    place = searchsorted(choose(rises, edges, flip(edges)), x, side, method=method)
    return choose(rises, place, size - place)
