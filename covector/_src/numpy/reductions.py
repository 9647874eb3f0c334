"""Sums, products, extrema, means and variances over dimensions of an array."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes, numpy_errors
from ..core.array import Array, ArrayLike
from ..core.primitive import Primitive
from ..ops.arithmetic import add_p, div_p, max_p, min_p, mul_p, sub_p
from ..ops.bitwise import and_p, or_p
from ..ops.comparison import gt_p, ne_p
from ..ops.complex import conj_p, real_p
from ..ops.linear import constant_like as like
from ..ops.linear import expand_dims, reduce_sum_p, reshape
from ..ops.powers import sqrt_p, square_p
from ..ops.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
)
from .aliases import alias
from .arguments import axes_argument, axis_argument, check_no_out
from .composite import composite
from .promotion import (
    BOOL,
    INEXACT,
    as_array,
    convert,
    dtype_of,
    number,
    operand,
    own,
    promote_inexact,
    raise_rank,
    shape_of,
)
from .selection import select_where
from .shaping import broadcast_to, transpose

# ---------------------------------------------------------------- the family


class Reduction(NamedTuple):
    """What distinguishes one reduction from another.

    Attributes:
      name: of the public function.
      reduce: the primitive.
      combine: the primitive that takes an initial value into account.
      widens: whether float16 and bfloat16 are reduced in float32.
      promotes: whether booleans and short integers become integers of the default width.
      of_truth: whether elements count as booleans.
      nan_elsewhere: whether NaN reaches all that is computed from the result by another way, too.
    """

    name: str
    reduce: Primitive
    combine: Primitive
    widens: bool = False
    promotes: bool = False
    of_truth: bool = False
    nan_elsewhere: bool = False

    def identity(self, dtype: Any) -> Any:
        """The result of reducing nothing."""
        return number(0, dtype) if self is SUM else self.reduce.identity(dtype)


SUM = Reduction("sum", reduce_sum_p, add_p, widens=True, promotes=True)
PROD = Reduction("prod", reduce_prod_p, mul_p, widens=True, promotes=True)
MAX = Reduction("max", reduce_max_p, max_p)
MAX_BESIDE_NAN = MAX._replace(nan_elsewhere=True)
MIN = Reduction("min", reduce_min_p, min_p)
ALL = Reduction("all", reduce_and_p, and_p, of_truth=True)
ANY = Reduction("any", reduce_or_p, or_p, of_truth=True)

# The sum of booleans is "or", their product "and", if a boolean result is asked for.
_OF_BOOLEANS = {SUM: ANY, PROD: ALL}

_HALF = frozenset((np.dtype(np.float16), np.dtype(dtypes.bfloat16)))
_FLOAT32 = np.dtype(np.float32)
# What `sum` and the others reduce as it is, whatever the configuration.
_DIRECT = frozenset(map(np.dtype, (np.float32, np.float64, np.complex64, np.complex128)))


def default_integer(dtype: Any) -> Any:
    """The dtype in which booleans and integers are added up: at least the default width."""
    for kind, default in ((np.unsignedinteger, np.uint64), (np.integer, np.int64)):
        if dtypes.issubdtype(dtype, kind):
            wide = dtypes.canonicalize_dtype(default)
            return wide if wide.itemsize > dtype.itemsize else dtype
    return dtypes.canonicalize_dtype(np.int64) if dtype == BOOL else dtype


@composite
def _reduced(a: Any, *extras: Any, kind: Reduction, axes: Any, keepdims: bool, dtypes: Any) -> Any:
    """Reduce in one dtype and return another; extras are the mask and the initial value, if any."""
    compute, result, masked = dtypes
    a = convert(a, compute)
    if masked:
        mask, *extras = extras
        a = _masked(mask, a, kind.identity(compute))
    if compute == BOOL:
        kind = _OF_BOOLEANS.get(kind, kind)
    out = _bind(kind, a, axes)
    if extras:
        out = kind.combine.bind(convert(extras[0], compute), out)
    if keepdims:
        out = expand_dims(out, sorted(axes))
    return convert(out, result)


def _bind(kind: Reduction, a: Any, axes: tuple[int, ...]) -> Any:
    p = kind.reduce
    if p is reduce_sum_p:
        return p.bind(a, axes=axes, out_sharding=None)
    if kind.nan_elsewhere:
        return p.bind(a, axes=axes, nan_elsewhere=True)
    return p.bind(a, axes=axes)


def _reduce(
    kind: Reduction,
    a: Any,
    axis: Any,
    dtype: Any,
    out: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
    promotes: bool,
) -> Any:
    """The general case of a reduction; its first branch is the one that needs no conversion."""
    name = kind.name
    if out is not None:
        check_no_out(name, out)
    if not own[type(a)]:
        a = operand(name, a)
        if not own[type(a)]:
            a = as_array(name, a)
    aval = a.aval
    axes = tuple(range(aval.ndim)) if axis is None else axes_argument(name, axis, aval.ndim)
    if dtype is initial is where is None and not keepdims:
        if aval.dtype in _DIRECT and not aval.weak_type and not kind.of_truth and aval.size:
            return _bind(kind, a, axes)
    compute, result = _dtypes(kind, aval.dtype, dtype, promotes)
    extras = []
    if where is not None:
        extras.append(_mask(name, where))
    if initial is not None:
        initial = operand(name, initial)
        if shape_of(initial) != ():
            raise ValueError(numpy_errors.initial_not_scalar(name, shape_of(initial)))
        extras.append(initial)
    _check_identity(kind, aval.shape, axes, initial, where)
    types = (compute, result, where is not None)
    return _reduced(a, *extras, kind=kind, axes=axes, keepdims=bool(keepdims), dtypes=types)


def _dtypes(kind: Reduction, given: Any, wanted: Any, promotes: bool) -> tuple[Any, Any]:
    """The dtype in which to reduce, and that of the result."""
    if kind.of_truth:
        return BOOL, BOOL
    if wanted is not None:
        wanted = dtypes.check_user_dtype_supported(wanted, kind.name)
        return wanted, wanted
    result = default_integer(given) if promotes else given
    return (_FLOAT32 if kind.widens and result in _HALF else result), result


def _mask(name: str, where: Any) -> Any:
    """The argument `where`, which must be of booleans."""
    where = operand(name, where)
    if dtype_of(where) != BOOL:
        raise ValueError(numpy_errors.mask_not_boolean(name, dtype_of(where)))
    return where


def _masked(mask: Any, a: Any, value: Any) -> Any:
    """An array with one value in the place of what is masked out; the mask may be of lower rank."""
    rank = len(shape_of(mask))
    mask = raise_rank(mask, rank, len(shape_of(a))) if rank else mask
    return select_where(mask, a, value)


def _check_identity(kind: Reduction, shape: Any, axes: Any, initial: Any, where: Any) -> None:
    """Raise if an extremum of nothing is asked for."""
    if kind.promotes or kind.of_truth or initial is not None:
        return
    if 0 in [shape[i] for i in axes]:
        raise ValueError(numpy_errors.nothing_to_reduce(kind.name, shape, axes))
    if where is not None:
        raise ValueError(numpy_errors.mask_needs_initial(kind.name))


# ---------------------------------------------------------------- sums, products, extrema, truth


def sum(
    a: ArrayLike,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
    promote_integers: bool = True,
) -> Array:
    """Sum of elements.

    Args:
      a: an array.
      axis: the dimensions that are summed over: an integer, a sequence, or None for all.
      dtype: the dtype in which to add, and that of the result. By default that of `a`; but
        booleans and short integers are added in the default integer dtype, and float16 and
        bfloat16 in float32 before the result is rounded.
      out: not supported.
      keepdims: whether these dimensions stay, with size 1.
      initial: a number to begin with.
      where: booleans, broadcast against `a`: which elements take part.
      promote_integers: whether booleans and short integers are promoted.

    Returns:
      An array without the dimensions summed over.

    >>> import covector.numpy as jnp
    >>> jnp.sum(jnp.array([[1, 2], [3, 4]]), axis=0)
    Array([4, 6], dtype=int32)
    """
    return _reduce(SUM, a, axis, dtype, out, keepdims, initial, where, promote_integers)


def prod(
    a: ArrayLike,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
    promote_integers: bool = True,
) -> Array:
    """Product of elements; the arguments are those of `sum`.

    >>> import covector.numpy as jnp
    >>> jnp.prod(jnp.array([[1, 2], [3, 4]]), axis=0)
    Array([3, 8], dtype=int32)
    """
    return _reduce(PROD, a, axis, dtype, out, keepdims, initial, where, promote_integers)


def max(
    a: ArrayLike,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Largest element; NaN if one is NaN.

    Args:
      a: an array.
      axis, out, keepdims, initial, where: as for `sum`. `initial` is needed where there may be no
        element: with `where`, or for an empty dimension.

    Returns:
      An array without the dimensions reduced.

    Raises:
      ValueError: there is no element, and no `initial`.

    >>> import covector.numpy as jnp
    >>> jnp.max(jnp.array([[1, 2], [3, 4]]), axis=0)
    Array([3, 4], dtype=int32)
    """
    return _reduce(MAX, a, axis, None, out, keepdims, initial, where, False)


def max_beside_nan(
    a: Any, axis: Any, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Array:
    """`max`, which may lose NaN, and so is faster: for what is taken away from exponents.

    If an element is NaN, the sum of the exponentials is, whatever was taken away.
    """
    return _reduce(MAX_BESIDE_NAN, a, axis, None, None, keepdims, initial, where, False)


def min(
    a: ArrayLike,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Smallest element; NaN if one is NaN. The arguments are those of `max`.

    >>> import covector.numpy as jnp
    >>> jnp.min(jnp.array([[1, 2], [3, 4]]), axis=0)
    Array([1, 2], dtype=int32)
    """
    return _reduce(MIN, a, axis, None, out, keepdims, initial, where, False)


amax = alias("amax", max)
amin = alias("amin", min)


def all(
    a: ArrayLike,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
) -> Array:
    """Whether all elements are true, or not zero; the arguments are those of `sum`.

    >>> import covector.numpy as jnp
    >>> jnp.all(jnp.array([[True, True], [True, False]]), axis=0)
    Array([ True, False], dtype=bool)
    """
    return _reduce(ALL, a, axis, None, out, keepdims, None, where, False)


def any(
    a: ArrayLike,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
) -> Array:
    """Whether any element is true, or not zero; the arguments are those of `sum`.

    >>> import covector.numpy as jnp
    >>> jnp.any(jnp.array([[False, True], [False, False]]), axis=0)
    Array([False,  True], dtype=bool)
    """
    return _reduce(ANY, a, axis, None, out, keepdims, None, where, False)


def count_nonzero(a: ArrayLike, axis: Any = None, keepdims: bool = False) -> Array:
    """Number of elements that are not zero.

    Args:
      a: an array.
      axis, keepdims: as for `sum`.

    Returns:
      An array of integers without the dimensions reduced.

    >>> import covector.numpy as jnp
    >>> jnp.count_nonzero(jnp.array([[0, 2], [3, 4]]), axis=0)
    Array([1, 2], dtype=int32)
    """
    a = operand("count_nonzero", a)
    nonzero = a if dtype_of(a) == BOOL else ne_p.bind(a, like(a, 0))
    return sum(nonzero, axis, keepdims=keepdims)


@composite
def _ptp(a: Any, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    span = sub_p.bind(reduce_max_p.bind(a, axes=axes), reduce_min_p.bind(a, axes=axes))
    return expand_dims(span, sorted(axes)) if keepdims else span


def ptp(a: ArrayLike, axis: Any = None, out: None = None, keepdims: bool = False) -> Array:
    """Difference of the largest and the smallest element ("peak to peak").

    Args:
      a: an array.
      axis, out, keepdims: as for `max`.

    Returns:
      An array without the dimensions reduced.

    Raises:
      ValueError: there is no element.

    >>> import covector.numpy as jnp
    >>> jnp.ptp(jnp.array([1.0, 5.0, 3.0]))
    Array(4., dtype=float32)
    """
    check_no_out("ptp", out)
    a = as_array("ptp", a)
    axes = axes_argument("ptp", axis, a.ndim)
    _check_identity(MAX._replace(name="ptp"), a.shape, axes, None, None)
    return _ptp(convert(a, a.dtype), axes=axes, keepdims=bool(keepdims))


# ---------------------------------------------------------------- where the extremum is


def _arg_extremum(p: Primitive, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    name = p.name
    check_no_out(name, out)
    a = as_array(name, a)
    ndim = a.ndim
    if axis is None:
        a, dim = reshape(a, (a.size,)), 0
    else:
        dim = axis_argument(name, axis, ndim)
    if a.shape[dim] == 0:
        raise ValueError(numpy_errors.arg_of_nothing(name, a.shape))
    index = p.bind(a, axes=(dim,), index_dtype=dtypes.canonicalize_dtype(np.int64))
    if not keepdims:
        return index
    return expand_dims(index, range(ndim) if axis is None else (dim,))


def argmax(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """Index of the largest element, the first of several, or of the first NaN.

    Args:
      a: an array.
      axis: the dimension along which to search; None searches the raveled array.
      out: not supported.
      keepdims: whether the dimension stays, with size 1.

    Returns:
      An array of integers.

    Raises:
      ValueError: there is no element.

    >>> import covector.numpy as jnp
    >>> jnp.argmax(jnp.array([[1, 5], [3, 4]]), axis=1)
    Array([1, 1], dtype=int32)
    """
    return _arg_extremum(argmax_p, a, axis, out, keepdims)


def argmin(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """Index of the smallest element; see `argmax`.

    >>> import covector.numpy as jnp
    >>> jnp.argmin(jnp.array([[1, 5], [4, 3]]), axis=1)
    Array([0, 1], dtype=int32)
    """
    return _arg_extremum(argmin_p, a, axis, out, keepdims)


# ---------------------------------------------------------------- means


def _count(mask: Any, shape: tuple[int, ...], axes: tuple[int, ...], dtype: Any) -> Any:
    """How many elements take part: a constant, unless a mask decides."""
    if mask is None:
        return number(math.prod([shape[i] for i in axes]), dtype)
    broadcast = broadcast_to(mask, shape)
    return _bind(SUM, convert(broadcast, dtype), axes)


@composite
def _mean(a: Any, *masks: Any, axes: Any, keepdims: bool, compute: Any, result: Any) -> Any:
    mask = masks[0] if masks else None
    a = convert(a, compute)
    count = _count(mask, shape_of(a), axes, compute)
    if mask is not None:
        a = _masked(mask, a, number(0, compute))
    total = _bind(SUM, a, axes)
    if keepdims:
        total = expand_dims(total, sorted(axes))
        count = expand_dims(count, sorted(axes)) if mask is not None else count
    return convert(div_p.bind(total, count), result)


def mean(
    a: ArrayLike,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
) -> Array:
    """Arithmetic mean of elements.

    Args:
      a: an array.
      axis, keepdims, where: as for `sum`.
      dtype: the dtype in which to compute, and that of the result; by default that of `a`, made
        floating. float16 and bfloat16 are added in float32.
      out: not supported.

    Returns:
      An array without the dimensions reduced; NaN where no element takes part.

    >>> import covector.numpy as jnp
    >>> jnp.mean(jnp.array([[1, 2], [3, 4]]), axis=0)
    Array([2., 3.], dtype=float32)
    """
    check_no_out("mean", out)
    a = as_array("mean", a)
    compute, result = _mean_dtypes("mean", a.dtype, dtype)
    if result.kind in "iu":  # of what integers keep of the elements
        a = convert(a, result)
    axes = axes_argument("mean", axis, a.ndim)
    masks = [] if where is None else [_mask("mean", where)]
    return _mean(a, *masks, axes=axes, keepdims=bool(keepdims), compute=compute, result=result)


def _mean_dtypes(where: str, given: Any, wanted: Any) -> tuple[Any, Any]:
    """The dtype in which to compute a mean, and that of the result."""
    if wanted is None:
        return _default_mean_dtypes(given)
    result = dtypes.check_user_dtype_supported(wanted, where)
    inexact = result in INEXACT
    return (result if inexact else dtypes.to_inexact_dtype(given)), result


@functools.cache
def _default_mean_dtypes(given: Any) -> tuple[Any, Any]:
    result = given if given in INEXACT else dtypes.to_inexact_dtype(given)
    return (_FLOAT32 if result in _HALF else result), result


def average(
    a: ArrayLike,
    axis: Any = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any:
    """Weighted mean of elements.

    Args:
      a: an array.
      axis, keepdims: as for `sum`.
      weights: an array of the shape of `a`, or a vector along the one dimension `axis`. None
        weighs all elements alike.
      returned: whether to return the sum of the weights too.

    Returns:
      An array without the dimensions reduced, or a pair of that and the sums of the weights.

    >>> import covector.numpy as jnp
    >>> jnp.average(jnp.array([1.0, 2.0]), weights=jnp.array([3.0, 1.0]))
    Array(1.25, dtype=float32)
    """
    if weights is None:
        (a,) = promote_inexact("average", as_array("average", a))
        out = mean(a, axis, keepdims=keepdims)
        count = math.prod([a.shape[i] for i in axes_argument("average", axis, a.ndim)])
        totals = broadcast_to(number(count, out.dtype), out.shape)
    else:
        a, weights = (as_array("average", x) for x in (a, weights))
        weights = _weights_like(a, weights, axis)
        a, weights = promote_inexact("average", a, weights)
        totals = sum(weights, axis, keepdims=keepdims)
        out = div_p.bind(sum(mul_p.bind(a, weights), axis, keepdims=keepdims), totals)
        totals = broadcast_to(totals, out.shape)
    return (out, totals) if returned else out


def _weights_like(a: Any, weights: Any, axis: Any) -> Any:
    """Weights in the shape of `a`, but for dimensions of size 1."""
    if a.shape == weights.shape:
        return weights
    if axis is None:
        raise ValueError(numpy_errors.weights_need_axis(a.shape, weights.shape))
    axes = axes_argument("average", axis, a.ndim)
    if weights.shape != tuple([a.shape[i] for i in axes]):
        raise ValueError(numpy_errors.weights_shape(a.shape, weights.shape, axes))
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    return expand_dims(transpose(weights, order), [i for i in range(a.ndim) if i not in axes])


# ---------------------------------------------------------------- variances


class Variance(NamedTuple):
    """How to compute a variance.

    Attributes:
      given: names of the operands beside the array: "where", "mean", "ddof".
      axes, keepdims: as for `sum`, the axes as distinct numbers.
      ddof: what is subtracted from the number of elements, if that is a number.
      compute, result: the dtype in which to compute, and that of the result.
      root: whether the standard deviation is wanted.
    """

    given: tuple[str, ...]
    axes: tuple[int, ...]
    keepdims: bool
    ddof: Any
    compute: Any
    result: Any
    root: bool


@composite
def _var(a: Any, *operands: Any, how: Variance) -> Any:
    """The mean square of the differences from the mean."""
    given = dict(zip(how.given, operands))
    mask, axes, compute = given.get("where"), how.axes, how.compute
    a = convert(a, compute)
    if "mean" in given:
        center = convert(given["mean"], compute)
    else:
        masks = [] if mask is None else [mask]
        center = _mean(a, *masks, axes=axes, keepdims=True, compute=compute, result=compute)
    differences = sub_p.bind(a, center)
    if mask is not None:  # before they are squared: what is masked may be NaN, and so its slope
        differences = _masked(mask, differences, number(0, compute))
    squares = _squared_moduli(differences)
    real = dtype_of(squares)
    total = _bind(SUM, squares, axes)
    if mask is None and "ddof" not in given:
        # The number of elements is known, and so is whether it is large enough.
        count = math.prod([shape_of(a)[i] for i in axes]) - how.ddof
        out = div_p.bind(total, number(count if count > 0 else np.nan, real))
    else:
        ddof = convert(given["ddof"], real) if "ddof" in given else number(how.ddof, real)
        count = sub_p.bind(_count(mask, shape_of(a), axes, real), ddof)
        enough = gt_p.bind(count, number(0, real))
        out = select_where(enough, div_p.bind(total, count), number(np.nan, real))
    out = convert(out, how.result)
    out = sqrt_p.bind(out) if how.root else out
    return expand_dims(out, sorted(axes)) if how.keepdims else out


def _squared_moduli(x: Any) -> Any:
    dtype = dtype_of(x)
    if dtype.kind != "c":
        return square_p.bind(x)
    return real_p.bind(mul_p.bind(x, conj_p.bind(x, input_dtype=dtype)))


def _variance(
    name: str, a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, mean: Any
) -> Any:
    a = as_array(name, a)
    compute, result = _variance_dtypes(name, a.dtype, dtype)
    given: dict[str, Any] = {}
    if where is not None:
        given["where"] = _mask(name, where)
    if mean is not None:
        given["mean"] = operand(name, mean)
    if not isinstance(ddof, (int, float, np.integer, np.floating)):
        given["ddof"] = operand(name, ddof)
        ddof = None
    axes = axes_argument(name, axis, a.ndim)
    root = name == "std"
    how = Variance(tuple(given), axes, bool(keepdims), ddof, compute, result, root)
    return _var(a, *given.values(), how=how)


def _variance_dtypes(name: str, given: Any, wanted: Any) -> tuple[Any, Any]:
    """The dtype in which to compute a variance, and the real one of the result."""
    inexact = dtypes.to_inexact_dtype(given)
    if wanted is None:
        result = dtypes.to_floating_dtype(inexact)
        compute = inexact
    else:
        wanted = dtypes.check_user_dtype_supported(wanted, name)
        if inexact.kind == "c" and wanted.kind != "c":
            raise ValueError(numpy_errors.real_variance_of_complex(name, given, wanted))
        compute = wanted if wanted in INEXACT else inexact
        result = wanted
    return (_FLOAT32 if compute in _HALF else compute), result


def _ddof(name: str, ddof: Any, correction: Any) -> Any:
    """What is subtracted from the number of elements; it goes by two names."""
    if correction is None:
        return ddof
    if isinstance(ddof, int) and ddof != 0:
        raise ValueError(numpy_errors.ddof_and_correction(name))
    return correction


def var(
    a: ArrayLike,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: int | float | None = None,
) -> Array:
    """Variance of elements: the mean square of the differences from their mean.

    Args:
      a: an array.
      axis, keepdims, where: as for `sum`.
      dtype: the dtype of the result; by default that of `a`, made floating and real.
      out: not supported.
      ddof: what is subtracted from the number of elements in the mean square.
      mean: the mean, if it is known; computed with `keepdims=True`.
      correction: another name of `ddof`.

    Returns:
      An array without the dimensions reduced; NaN where there are no more than `ddof` elements.

    >>> import covector.numpy as jnp
    >>> jnp.var(jnp.array([[1.0, 2.0], [3.0, 6.0]]), axis=0)
    Array([1., 4.], dtype=float32)
    """
    check_no_out("var", out)
    return _variance("var", a, axis, dtype, _ddof("var", ddof, correction), keepdims, where, mean)


def std(
    a: ArrayLike,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: int | float | None = None,
) -> Array:
    """Standard deviation of elements, the square root of their variance; see `var`.

    >>> import covector.numpy as jnp
    >>> jnp.std(jnp.array([[1.0, 2.0], [3.0, 6.0]]), axis=0)
    Array([1., 2.], dtype=float32)
    """
    check_no_out("std", out)
    ddof = _ddof("std", ddof, correction)
    if dtype is not None and not dtypes.issubdtype(dtype, np.inexact):
        raise ValueError(numpy_errors.integer_std(dtype))
    return _variance("std", a, axis, dtype, ddof, keepdims, where, mean)
