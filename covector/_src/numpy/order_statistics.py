"""Medians, percentiles and quantiles: what stands at a place among sorted elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes, ordering_errors
from ..base.dims import at_least
from ..core.array import Array, ArrayLike
from ..ops import sorting as lax
from ..ops.arithmetic import add_p, max_p, min_p, mul_p, sub_p
from ..ops.bitwise import not_p, or_p
from ..ops.comparison import eq_p, le_p, lt_p, ne_p
from ..ops.joining import concatenate
from ..ops.linear import (
    broadcast_in_dim,
    constant_like,
    expand_dims,
    full,
    reduce_sum,
    reshape,
    transpose,
)
from ..ops.rounding import RoundingMethod, ceil_p, floor_p, round_p
from ..ops.select import select_n_p
from ..ops.slicing import slice_in_dim
from ..ops.thresholds import QUANTILE, QUANTILES
from .arguments import axes_argument
from .arithmetic import divide
from .composite import Lowered
from .cumulative import cumsum
from .promotion import (
    as_array,
    convert,
    dtype_of,
    promote_dtypes_inexact,
    shape_of,
)
from .selecting import key_after, key_at, keys_of, values_of
from .taking import take_along_axis

Axes = int | tuple[int, ...] | None

# ---------------------------------------------------------------- quantiles


def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """What a part q of the elements does not exceed: 0 gives the least, 1 the greatest element.

    Args:
      a: an array of real numbers.
      q: the part, from 0 to 1: a scalar, or a vector of several.
      axis: the dimensions over which elements are sorted; None for all.
      out, overwrite_input: not supported.
      method: what to return between two elements: "linear" interpolates, "lower", "higher",
        "nearest" and "midpoint" say so themselves; "inverted_cdf" returns the first element that q
        of all elements do not exceed. The others are those of R. J. Hyndman and
        Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996):
        "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
        "weibull", "median_unbiased" and "normal_unbiased".
      keepdims: whether these dimensions remain, with size 1.
      weights: how much each element counts: an array of the shape of `a`, or of that of the
        dimensions `axis`. For the method "inverted_cdf" only.

    Returns:
      An array of floats, with a first dimension for q if that is a vector; NaN where an element is
      NaN.

    Raises:
      ValueError: the elements are complex, q has more dimensions, or there is no such method.

    >>> import covector.numpy as jnp
    >>> jnp.quantile(jnp.array([1.0, 2.0, 4.0]), 0.75)
    Array(3., dtype=float32)
    """
    check_no_input_overwritten("quantile", out, overwrite_input)
    return _of_arrays("quantile", a, q, axis, method, keepdims, weights, False)


def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Like `quantile`, of the elements that are not NaN.

    >>> import covector.numpy as jnp
    >>> jnp.nanquantile(jnp.array([1.0, jnp.nan, 4.0]), 0.5)
    Array(2.5, dtype=float32)
    """
    check_no_input_overwritten("nanquantile", out, overwrite_input)
    return _of_arrays("nanquantile", a, q, axis, method, keepdims, weights, True)


def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Like `quantile`, with q in percent.

    >>> import covector.numpy as jnp
    >>> jnp.percentile(jnp.array([1.0, 2.0, 4.0]), jnp.array([0, 50, 100]))
    Array([1., 2., 4.], dtype=float32)
    """
    check_no_input_overwritten("percentile", out, overwrite_input)
    q = divide(q, 100)
    return _of_arrays("percentile", a, q, axis, method, keepdims, weights, False)


def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Like `percentile`, of the elements that are not NaN.

    >>> import covector.numpy as jnp
    >>> jnp.nanpercentile(jnp.array([1.0, jnp.nan, 4.0]), 50)
    Array(2.5, dtype=float32)
    """
    check_no_input_overwritten("nanpercentile", out, overwrite_input)
    q = divide(q, 100)
    return _of_arrays("nanpercentile", a, q, axis, method, keepdims, weights, True)


def median(
    a: ArrayLike,
    axis: Axes = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The element in the middle, or the mean of the two that are there.

    The arguments are those of `quantile`.

    >>> import covector.numpy as jnp
    >>> jnp.median(jnp.array([[1, 5, 3], [8, 2, 9]]), axis=1)
    Array([3., 8.], dtype=float32)
    """
    return quantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)


def nanmedian(
    a: ArrayLike,
    axis: Axes = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The median of the elements that are not NaN; the arguments are those of `quantile`.

    >>> import covector.numpy as jnp
    >>> jnp.nanmedian(jnp.array([1.0, jnp.nan, 4.0]))
    Array(2.5, dtype=float32)
    """
    return nanquantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)


def check_no_input_overwritten(where: str, out: Any, overwrite_input: bool) -> None:
    """Raise if the result, or the sorted elements, are to be written to a given array."""
    if overwrite_input or out is not None:
        raise ValueError(ordering_errors.overwritten_input(where))


# ---------------------------------------------------------------- checks


def _of_arrays(
    where: str,
    a: Any,
    q: Any,
    axis: Axes,
    method: str,
    keepdims: bool,
    weights: Any,
    skip_nans: bool,
) -> Any:
    a, q = as_array(where, a), as_array(where, q)
    if method not in (*_METHODS, "inverted_cdf"):
        methods = (*_METHODS, "inverted_cdf")
        raise ValueError(ordering_errors.quantile_method(where, method, methods))
    if dtypes.issubdtype(dtype_of(a), np.complexfloating):
        raise ValueError(ordering_errors.quantile_of_complex(where, dtype_of(a)))
    if q.aval.ndim > 1:
        raise ValueError(ordering_errors.quantile_rank(where, shape_of(q)))
    axes = tuple(sorted(axes_argument(where, axis, a.aval.ndim)))
    more = []
    if weights is not None:
        more = [_checked_weights(where, a, as_array(where, weights), axis, axes, method)]
    options = dict(axes=axes, method=method, keepdims=bool(keepdims), skip_nans=skip_nans)
    return _quantile(a, q, *more, **options)


def _checked_weights(
    where: str, a: Any, weights: Any, axis: Any, axes: tuple[int, ...], method: str
) -> Any:
    """Weights of the shape of the array."""
    if dtypes.issubdtype(dtype_of(weights), np.complexfloating):
        raise ValueError(ordering_errors.quantile_weights_complex(where))
    if method != "inverted_cdf":
        raise NotImplementedError(ordering_errors.quantile_weights_method(where, method))
    shape, given = shape_of(a), shape_of(weights)
    if given == shape:
        return weights
    if axis is None:
        raise ValueError(ordering_errors.quantile_weights_without_axis(where, given, shape))
    order = axes_argument(where, axis, len(shape))
    expected = tuple([shape[dim] for dim in order])
    if given != expected:
        raise ValueError(ordering_errors.quantile_weights_shape(where, given, expected))
    return broadcast_in_dim(weights, shape, order)


# ---------------------------------------------------------------- computation


def _over_axes(
    of_lines: Callable[..., Any],
    a: Any,
    q: Any,
    *weights: Any,
    axes: tuple[int, ...],
    method: str,
    keepdims: bool,
    skip_nans: bool,
) -> Any:
    """The quantiles over axes, by a function of lines of elements, which go along a last dimension.

    It returns the quantiles of each line in a line too.
    """
    shape, vector = shape_of(a), bool(shape_of(q))
    a, *weights = promote_dtypes_inexact(a, *weights)
    (q,) = promote_dtypes_inexact(q)
    q = reshape(convert(q, wide_float(dtype_of(q))), (math.prod(shape_of(q)),))
    kept = tuple([dim for dim in range(len(shape)) if dim not in axes])
    lines, *weights = [_lines(x, kept, axes) for x in (a, *weights)]
    if not shape_of(lines)[-1]:
        out = full((*shape_of(lines)[:-1], shape_of(q)[0]), np.nan, dtype_of(a))
    else:
        out = of_lines(lines, q, weights, method, skip_nans)
    # The quantiles go to the front, or away if there is but one.
    ndim = len(kept)
    out = transpose(out, (ndim, *range(ndim)))
    sizes = tuple([1 if dim in axes else n for dim, n in enumerate(shape)])
    rest = sizes if keepdims else tuple([shape[dim] for dim in kept])
    return reshape(out, (*shape_of(q), *rest) if vector else rest)


def wide_float(dtype: Any) -> np.dtype:
    """The dtype for places: narrower floats cannot number many elements."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def _lines(x: Any, kept: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """An array with the dimensions `axes` made one, the last."""
    shape = shape_of(x)
    size = math.prod([shape[axis] for axis in axes])
    return reshape(transpose(x, (*kept, *axes)), (*[shape[dim] for dim in kept], size))


def _quantile_by_sorting(*args: Any, **params: Any) -> Any:
    return _over_axes(_of_lines, *args, **params)


def _quantile_by_selection(*args: Any, **params: Any) -> Any:
    return _over_axes(_of_one_line, *args, **params)


def _selection_pays(
    a: Any, q: Any, *weights: Any, axes: tuple[int, ...], method: str, **params: Any
) -> bool:
    """Whether it is a quantile or two of one long line."""
    count = math.prod([a.shape[axis] for axis in axes])
    return (
        count == a.size
        and at_least(count, QUANTILE)
        and q.size <= QUANTILES
        and not weights
        and method != "inverted_cdf"
    )


_quantile = Lowered(_quantile_by_sorting, _quantile_by_selection, _selection_pays, name="quantile")


def _of_lines(lines: Any, q: Any, weights: list[Any], method: str, skip_nans: bool) -> Any:
    lines, *weights = lax.sort((lines, *weights))
    size = shape_of(lines)[-1]
    nans = ne_p.bind(lines, lines)
    if skip_nans:
        count = reduce_sum(convert(not_p.bind(nans), dtype_of(q)), (lines.aval.ndim - 1,))
        count = reshape(count, (*shape_of(count), 1))
    else:
        count = full((1,) * lines.aval.ndim, size, dtype_of(q))
    q = reshape(q, (*(1,) * (lines.aval.ndim - 1), *shape_of(q)))
    last = max_p.bind(sub_p.bind(count, constant_like(count, 1)), constant_like(count, 0))
    if method == "inverted_cdf":
        out, bad = _by_weight(lines, q, last, nans, weights)
    else:
        low, high, weight = _places(q, last, dtype_of(lines), method)
        values = [_elements(lines, index) for index in (low, high)]
        out, bad = _METHODS[method].between(*values, _wide(weight, shape_of(values[0]))), None
    if not skip_nans:  # a NaN of the line has come to its end
        end = slice_in_dim(nans, size - 1, size, axis=-1)
        bad = end if bad is None else or_p.bind(bad, end)
    return out if bad is None else _unless(bad, out)


def _of_one_line(lines: Any, q: Any, weights: list[Any], method: str, skip_nans: bool) -> Any:
    """The same of a line that is not sorted, without weights."""
    shape, dtype = shape_of(lines), dtype_of(lines)
    line = convert(reshape(lines, (shape[-1],)), wide_float(dtype))
    keys = keys_of(line)
    nans = reduce_sum(convert(ne_p.bind(line, line), np.dtype(np.int32)), (0,))
    count: Any = np.int32(shape[-1])
    if skip_nans:
        count = sub_p.bind(count, nans)
    last = convert(max_p.bind(sub_p.bind(count, np.int32(1)), np.int32(0)), dtype_of(q))
    low, high, weight = _places(q, broadcast_in_dim(last, shape_of(q), ()), dtype, method)
    values: list[list[Any]] = [[], []]
    for i in range(shape_of(q)[0]):
        at, after = [convert(places[i], np.dtype(np.int32)) for places in (low, high)]
        key = key_at(keys, at)
        for found, chosen in zip(values, (key, key_after(keys, key, after))):
            found.append(reshape(convert(values_of(chosen, dtype_of(line)), dtype), (1,)))
    out = _METHODS[method].between(*[concatenate(found, 0) for found in values], weight)
    if not skip_nans:
        out = _unless(reshape(ne_p.bind(nans, np.int32(0)), (1,)), out)
    return reshape(out, (*shape[:-1], *shape_of(q)))


def _places(q: Any, last: Any, dtype: Any, method: str) -> tuple[Any, Any, Any]:
    """The places before and after quantiles, and how far in between they are, as dtype.

    With alpha and beta of a method, the place of the quantile q of n elements is, counted from 1,
    n q + alpha + q (1 - alpha - beta).

    Args:
      q: the quantiles.
      last: the last place of a line, n - 1.
      dtype: of the elements.
      method: a key of `_METHODS`.
    """
    _, alpha, beta, bounds = _METHODS[method]
    if alpha == beta == 1:
        place = mul_p.bind(q, last)
    else:
        factor = add_p.bind(last, constant_like(last, 2 - alpha - beta))
        place = add_p.bind(mul_p.bind(q, factor), constant_like(q, alpha - 1))
    low, high = [_clipped(bound, last) for bound in bounds(place)]
    place = place if alpha == beta == 1 else _clipped(place, last)
    return low, high, convert(sub_p.bind(place, low), dtype)


def _around(place: Any) -> tuple[Any, Any]:
    return floor_p.bind(place), ceil_p.bind(place)


def _above(place: Any) -> tuple[Any, Any]:
    """The element at a place or behind it, and the one behind it: two only at an element."""
    after = add_p.bind(floor_p.bind(place), constant_like(place, 1))
    return ceil_p.bind(place), after


def _closest(place: Any) -> tuple[Any, Any]:
    """The element that is closest; of two, the one whose number is even, counted from 1."""
    one = constant_like(place, 1)
    number = round_p.bind(add_p.bind(place, one), rounding_method=RoundingMethod.TO_NEAREST_EVEN)
    return (sub_p.bind(number, one),) * 2


def _unless(bad: Any, x: Any) -> Any:
    """The elements of x, but NaN in lines that are bad."""
    nan = full(shape_of(x), np.nan, dtype_of(x))
    return select_n_p.bind(_wide(bad, shape_of(x)), x, nan)


def _wide(x: Any, shape: tuple[int, ...]) -> Any:
    return broadcast_in_dim(x, shape, tuple(range(len(shape))))


def _clipped(place: Any, last: Any) -> Any:
    return min_p.bind(max_p.bind(place, constant_like(place, 0)), last)


def _elements(lines: Any, place: Any) -> Any:
    """The elements of each line at places, given for each line or for all of them."""
    index = convert(place, np.dtype(np.int32))
    return take_along_axis(lines, index, -1, mode="promise_in_bounds")


def _by_weight(lines: Any, q: Any, last: Any, nans: Any, weights: list[Any]) -> tuple[Any, Any]:
    """The first elements up to which weights add up to q of their sum, and where they are bad."""
    given = weights[0] if weights else full(shape_of(lines), 1, dtype_of(lines))
    zero = full(shape_of(given), 0, dtype_of(given))
    wrong = or_p.bind(lt_p.bind(given, zero), ne_p.bind(given, given))
    sums = cumsum(select_n_p.bind(or_p.bind(wrong, nans), given, zero), -1)
    size = shape_of(lines)[-1]
    total = slice_in_dim(sums, size - 1, size, axis=-1)
    target = mul_p.bind(convert(q, dtype_of(sums)), total)
    ndim = len(shape_of(sums))
    before = lt_p.bind(expand_dims(sums, (ndim - 1,)), expand_dims(target, (ndim,)))
    place = reduce_sum(convert(before, dtype_of(last)), (before.aval.ndim - 1,))
    out = _elements(lines, min_p.bind(place, last))
    none_left = slice_in_dim(nans, 0, 1, axis=-1)  # even the first element is NaN
    some_wrong = reduce_sum(convert(wrong, np.dtype(np.int32)), (wrong.aval.ndim - 1,))
    some_wrong = reshape(ne_p.bind(some_wrong, constant_like(some_wrong, 0)), shape_of(total))
    return out, or_p.bind(none_left, some_wrong)


def _lower(low: Any, high: Any, weight: Any) -> Any:
    return low


def _higher(low: Any, high: Any, weight: Any) -> Any:
    return high


def _nearest(low: Any, high: Any, weight: Any) -> Any:
    return select_n_p.bind(le_p.bind(weight, constant_like(weight, 0.5)), high, low)


def _midpoint(low: Any, high: Any, weight: Any) -> Any:
    return mul_p.bind(add_p.bind(low, high), constant_like(low, 0.5))


def _linear(low: Any, high: Any, weight: Any) -> Any:
    # At an element itself the other one has no part, not even if it is infinite.
    rest = sub_p.bind(constant_like(weight, 1), weight)
    between = add_p.bind(mul_p.bind(low, rest), mul_p.bind(high, weight))
    return select_n_p.bind(eq_p.bind(weight, constant_like(weight, 0)), between, low)


class _Method(NamedTuple):
    """A method of quantiles.

    Attributes:
      between: combines the elements before and after a place, and how far in between it is.
      alpha, beta: how the place follows from the part q; see `_places`.
      bounds: the places of the two elements.
    """

    between: Callable[[Any, Any, Any], Any]
    alpha: float = 1
    beta: float = 1
    bounds: Callable[[Any], tuple[Any, Any]] = _around


_METHODS = {
    "linear": _Method(_linear),
    "lower": _Method(_lower),
    "higher": _Method(_higher),
    "midpoint": _Method(_midpoint),
    "nearest": _Method(_nearest),
    "averaged_inverted_cdf": _Method(_midpoint, 0, 1, _above),
    "closest_observation": _Method(_lower, 0, 1, _closest),
    "interpolated_inverted_cdf": _Method(_linear, 0, 1),
    "hazen": _Method(_linear, 1 / 2, 1 / 2),
    "weibull": _Method(_linear, 0, 0),
    "median_unbiased": _Method(_linear, 1 / 3, 1 / 3),
    "normal_unbiased": _Method(_linear, 3 / 8, 3 / 8),
}
