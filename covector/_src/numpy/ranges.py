"""Evenly spaced numbers, and grids of them."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ..api.devices import device_put
from ..api.vectorize import vmap
from ..base import dtypes, numpy_errors
from ..base.dims import Dim, max_dim
from ..base.errors import ConcretizationTypeError
from ..base.shapes import broadcast_sizes
from ..core.array import Array, ArrayLike
from ..core.trace import Tracer
from ..ops.arithmetic import add_p, div_p, mul_p, sub_p
from ..ops.creation import iota_p
from ..ops.joining import concatenate_p
from ..ops.linear import broadcast_in_dim, expand_dims, move_axis, reshape
from ..ops.linear import constant_like as like
from .arguments import axis_argument, index_argument
from .arithmetic import power
from .composite import composite
from .creation import full
from .exponential import exp, log
from .parts import floor
from .promotion import as_array, convert, dtype_of, number, operands, promote, shape_of


def iota(dtype: Any, shape: tuple[int, ...], dimension: int) -> Any:
    """The numbers 0, 1, 2, ... along one dimension."""
    return iota_p.bind(dtype=np.dtype(dtype), shape=shape, dimension=dimension, sharding=None)


# ---------------------------------------------------------------- arange


@composite
def _arange(start: Any, step: Any, *, dtype: Any, size: int) -> Any:
    return add_p.bind(start, mul_p.bind(step, iota(dtype, (size,), 0)))


@composite
def _arange_by_one(start: Any, *, dtype: Any, size: int) -> Any:
    return add_p.bind(start, iota(dtype, (size,), 0))


def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The numbers from `start` up to, but not including, `stop`.

    Args:
      start, stop: the bounds; with one of them only, from 0 to that.
      step: the difference of neighbours, which may be negative.
      dtype: the dtype; by default the common one of the bounds and the step.
      device, out_sharding: where to put the array.

    Returns:
      An array of one dimension. With a step that is not an integer, rounding can make it longer
      by one than expected; `linspace` is better then.

    Raises:
      ConcretizationTypeError: a bound or the step is a traced value.
      ValueError: it is a complex number.

    >>> import covector.numpy as jnp
    >>> jnp.arange(3), jnp.arange(1.0, 2.0, 0.25)
    (Array([0, 1, 2], dtype=int32), Array([1.  , 1.25, 1.5 , 1.75], dtype=float32))
    """
    given = [x for x in (start, stop, step) if x is not None]
    if not given or start is None:
        raise TypeError(numpy_errors.arange_without_stop())
    if dtype is None:
        dtype = dtypes.result_type(*operands("arange", given))
    else:
        dtype = dtypes.check_user_dtype_supported(dtype, "arange")
    if stop is None:
        start, stop = 0, start
        size = _count(0, _known("stop", stop), 1 if step is None else _known("step", step))
    else:
        start, stop = _known("start", start), _known("stop", stop)
        size = _count(start, stop, 1 if step is None else _known("step", step))
    if step is not None:
        first, step = number(start, dtype), number(_known("step", step), dtype)
        out = _arange(first, step, dtype=dtype, size=size)
    elif start != 0:
        out = _arange_by_one(number(start, dtype), dtype=dtype, size=size)
    else:
        out = iota(dtype, (size,), 0)
    target = device if out_sharding is None else out_sharding
    return out if target is None else device_put(out, target)


def _known(what: str, x: Any) -> Any:
    """The value of an argument of `arange` as a Python number."""
    if isinstance(x, Tracer):
        known = x.concrete_value()
        if known is None:
            raise ConcretizationTypeError(
                numpy_errors.traced_argument("arange", what, x.aval, x.origin())
            )
        x = known
    if type(x) is Dim:
        return x
    if np.ndim(x):
        raise ValueError(numpy_errors.not_a_scalar("arange", what, np.shape(x)))
    x = x if type(x) in (int, float) else np.asarray(x).item()
    if type(x) is complex:
        raise ValueError(numpy_errors.complex_range(what, x))
    return x


def _count(start: Any, stop: Any, step: Any) -> int:
    """How many numbers there are from `start` to before `stop`."""
    if all(type(x) in (int, Dim) for x in (start, stop, step)):
        return max_dim(0, -((start - stop) // step))
    return max(0, math.ceil(((stop - start) / step).real))


# ---------------------------------------------------------------- linspace and its kin


@composite
def _linspace(start: Any, stop: Any, *, num: int, endpoint: bool) -> Any:
    """`num` numbers along a new first dimension: start (1 - t) + stop t, and `stop` itself."""
    dtype = dtype_of(start)
    real = dtypes.to_floating_dtype(dtype)
    steps = num - 1 if endpoint else num
    shape = (steps, *[1] * len(shape_of(start)))
    t = div_p.bind(iota(real, (steps,), 0), number(steps, real))
    t = convert(reshape(t, shape), dtype)
    first, last = (expand_dims(x, (0,)) for x in (start, stop))
    rest = sub_p.bind(number(1, dtype), t)
    out = add_p.bind(mul_p.bind(first, rest), mul_p.bind(last, t))
    return concatenate_p.bind(out, last, dimension=0) if endpoint else out


def _spaced(start: Any, stop: Any, num: int, endpoint: bool) -> Any:
    """Evenly spaced numbers along a new first dimension, from operands of one type."""
    shape, dtype = shape_of(start), dtype_of(start)
    if num < 2:
        return expand_dims(start, (0,)) if num else full((0, *shape), 0, dtype)
    return _linspace(start, stop, num=num, endpoint=endpoint)


def _interval(where: str, start: Any, stop: Any, num: Any) -> tuple[Any, Any, int]:
    """The ends of an interval in one floating dtype and shape, and the checked count."""
    num = index_argument(where, "num", num)
    if num < 0:
        raise ValueError(numpy_errors.negative_count(where, num))
    start, stop = promote(where, start, stop)
    dtype = dtypes.to_inexact_dtype(dtype_of(start))
    shape = broadcast_sizes(shape_of(start), shape_of(stop))
    start, stop = (
        broadcast_in_dim(convert(x, dtype), shape, range(len(shape) - len(shape_of(x)), len(shape)))
        for x in (start, stop)
    )
    return start, stop, num


def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Evenly spaced numbers from `start` to `stop`.

    Args:
      start, stop: the ends; arrays of them give an array of such sequences.
      num: how many numbers.
      endpoint: whether `stop` is the last one; it is then met exactly.
      retstep: whether to return the difference of neighbours too.
      dtype: the dtype of the result, by default a floating one; to integers, numbers are rounded
        down.
      axis: the dimension of the result along which the numbers are.
      device: where to put the result.

    Returns:
      An array with one dimension more than the ends, or a pair of that and the step.

    Raises:
      ValueError: `num` is negative.

    >>> import covector.numpy as jnp
    >>> jnp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    start, stop, num = _interval("linspace", start, stop, num)
    out = _spaced(start, stop, num, bool(endpoint))
    if dtype is not None:
        dtype = dtypes.check_user_dtype_supported(dtype, "linspace")
        out = convert(floor(out) if dtypes.issubdtype(dtype, np.integer) else out, dtype)
    out = move_axis(out, 0, axis_argument("linspace", axis, out.ndim))
    if device is not None:
        out = device_put(out, device)
    if not retstep:
        return out
    steps = num - 1 if endpoint else num
    if steps <= 0:
        return out, full(shape_of(start), np.nan, dtype_of(start))
    return out, div_p.bind(sub_p.bind(stop, start), like(start, steps))


def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Numbers from base^start to base^stop whose logarithms are evenly spaced.

    Args:
      start, stop: the exponents of the ends.
      num, endpoint, dtype, axis: as for `linspace`.
      base: the base.

    >>> import covector.numpy as jnp
    >>> jnp.logspace(0, 2, 3, base=2)
    Array([1., 2., 4.], dtype=float32)
    """
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    out = power(base, exponents)
    return (
        out if dtype is None else convert(out, dtypes.check_user_dtype_supported(dtype, "logspace"))
    )


@composite
def _geomspace(start: Any, stop: Any, *, num: int, endpoint: bool) -> Any:
    """start (stop/start)^t for evenly spaced t; the ends are put in as they are."""
    dtype = dtype_of(start)
    steps = num - 1 if endpoint else num
    inner = num - 2 if endpoint else num - 1
    t = div_p.bind(add_p.bind(iota(dtype, (inner,), 0), number(1, dtype)), number(steps, dtype))
    t = reshape(t, (inner, *[1] * len(shape_of(start))))
    first, last = (expand_dims(x, (0,)) for x in (start, stop))
    growth = exp(mul_p.bind(log(div_p.bind(last, first)), t))
    parts = [first, mul_p.bind(first, growth), *([last] if endpoint else [])]
    return concatenate_p.bind(*parts, dimension=0)


def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Numbers from `start` to `stop` with a constant ratio of neighbours.

    Args:
      start, stop: the ends, of one sign if they are real; both are met exactly.
      num, endpoint, dtype, axis: as for `linspace`.

    >>> import covector.numpy as jnp
    >>> jnp.geomspace(1, 8, 4)
    Array([1., 2., 4., 8.], dtype=float32)
    """
    start, stop, num = _interval("geomspace", start, stop, num)
    if num < 2:
        out = _spaced(start, stop, num, bool(endpoint))
    else:
        out = _geomspace(start, stop, num=num, endpoint=bool(endpoint))
    if dtype is not None:
        out = convert(out, dtypes.check_user_dtype_supported(dtype, "geomspace"))
    return move_axis(out, 0, axis_argument("geomspace", axis, out.ndim))


# ---------------------------------------------------------------- grids


def meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[Array]:
    """Coordinates of the points of a grid, from the coordinates along its axes.

    Args:
      *xi: vectors or numbers, one for each axis.
      copy: must be true; arrays are immutable, so nothing can be shared visibly.
      sparse: whether the results have size 1 along all axes but their own.
      indexing: "ij", where axis i of the results belongs to the i-th vector, or "xy", where the
        first two axes are exchanged.

    Returns:
      A list with an array for each vector.

    >>> import covector.numpy as jnp
    >>> jnp.meshgrid(jnp.arange(2), jnp.arange(3), indexing="ij")[1]
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    if not copy:
        raise ValueError(numpy_errors.meshgrid_without_copy())
    if indexing not in ("xy", "ij"):
        raise ValueError(numpy_errors.meshgrid_indexing(indexing))
    vectors = [as_array("meshgrid", x) for x in operands("meshgrid", xi)]
    for x in vectors:
        if len(shape_of(x)) > 1:
            raise ValueError(numpy_errors.meshgrid_rank(shape_of(x)))
    sizes = [(shape_of(x) or (1,))[0] for x in vectors]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    shape = tuple([sizes[i] for i in order])
    out = []
    for i, x in enumerate(vectors):
        axis = order.index(i)
        target = tuple([n if j == axis else 1 for j, n in enumerate(shape)]) if sparse else shape
        out.append(broadcast_in_dim(x, target, (axis,) if shape_of(x) else ()))
    return out


def indices(dimensions: Any, dtype: Any = None, sparse: bool = False) -> Any:
    """The indices of all elements of an array of a given shape.

    Args:
      dimensions: the shape.
      dtype: of the result; integers by default.
      sparse: whether to return a tuple of arrays that are broadcast against each other.

    Returns:
      An array with a leading dimension for the axes, or the tuple.

    >>> import covector.numpy as jnp
    >>> jnp.indices((2, 2))[0]
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    shape = tuple([operator.index(size) for size in dimensions])
    dtype = dtypes.check_user_dtype_supported(int if dtype is None else dtype, "indices")
    if sparse:
        return tuple(
            iota(dtype, tuple([n if j == i else 1 for j, n in enumerate(shape)]), i)
            for i in range(len(shape))
        )
    if not shape:
        return full((0,), 0, dtype)
    rows = [expand_dims(iota(dtype, shape, i), (0,)) for i in range(len(shape))]
    return concatenate_p.bind(*rows, dimension=0) if len(rows) > 1 else rows[0]


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """An array of what a function makes of the indices of each element.

    Args:
      function: takes the index along each axis, a number each; it is vectorized by `vmap`, where
        NumPy gives it arrays of all indices.
      shape: the shape.
      dtype: of the indices.
      **kwargs: passed to the function, the same for all elements.

    Returns:
      The results: of the given shape, followed by that of one result. A function may also return
      trees of arrays.

    >>> import covector.numpy as jnp
    >>> jnp.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype=int)
    Array([[ 0,  1,  2],
           [10, 11, 12]], dtype=int32)
    """
    shape = tuple([operator.index(size) for size in shape])
    dtype = dtypes.check_user_dtype_supported(dtype, "fromfunction")
    function = functools.partial(function, **kwargs)
    for i in reversed(range(len(shape))):
        function = vmap(function, in_axes=[0 if i == j else None for j in range(len(shape))])
    return function(*[iota(dtype, (size,), 0) for size in shape])
