"""The same elements in other shapes and orders: reshape, transpose, broadcast, flip, roll."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import config, dtypes, numpy_errors
from ..base.shapes import broadcast_sizes
from ..base.warn import warn
from ..core.array import Array, ArrayLike
from ..core.trace import Tracer
from ..ops.dynamic_slicing import dynamic_slice_p
from ..ops.identities import copy_p
from ..ops.joining import concatenate_p
from ..ops.linear import constant_like as like
from ..ops.linear import expand_dims as expand
from ..ops.linear import reshape_p, transpose_p
from ..ops.shaping import broadcast_to as broadcast_operand
from ..ops.shaping import rev_p, squeeze_p
from ..ops.slicing import slice_p
from .arguments import axes_argument, axis_argument, index_argument, shape_argument
from .arithmetic import negative, remainder
from .composite import composite
from .promotion import as_array, convert, operand, operands, own, shape_of

# ---------------------------------------------------------------- reshape


def reshape(
    a: ArrayLike,
    shape: Any,
    order: str = "C",
    *,
    copy: bool | None = None,
    out_sharding: Any = None,
) -> Array:
    """The elements of an array in another shape.

    Args:
      a: an array.
      shape: the shape; one size may be -1, and is then what the others leave.
      order: "C", where the last index runs first, or "F", where the first one does; "A" is "C".
      copy: True for a copy in any case.
      out_sharding: how the result is to be sharded.

    Returns:
      An array with the same elements in the same order.

    Raises:
      TypeError: the number of elements would change, or a size is a traced value.

    >>> import covector.numpy as jnp
    >>> jnp.reshape(jnp.arange(6), (2, -1))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    a = as_array("reshape", a)
    sizes = _sizes("reshape", shape, a.aval)
    if order in ("C", "A"):
        out = _reshaped(a, sizes, out_sharding)
    elif order == "F":
        backwards = transpose(a)
        out = transpose(_reshaped(backwards, sizes[::-1], out_sharding))
    else:
        raise ValueError(numpy_errors.unknown_order("reshape", order))
    return copy_p.bind(out) if copy else out


def _reshaped(a: Any, sizes: tuple[int, ...], sharding: Any = None) -> Any:
    if a.aval.shape == sizes and sharding is None:
        return a
    return reshape_p.bind(a, new_sizes=sizes, dimensions=None, sharding=sharding)


def _sizes(where: str, shape: Any, aval: Any) -> tuple[int, ...]:
    """A shape that an array of type `aval` may take, with -1 replaced."""
    if type(shape) is int:
        shape = (shape,)
    elif not isinstance(shape, (tuple, list)):
        shape = tuple(shape) if getattr(shape, "ndim", None) == 1 else (shape,)
    sizes = [index_argument(where, "shape", size) for size in shape]
    known = math.prod([size for size in sizes if size != -1])
    if sizes.count(-1) == 1 and known > 0 and aval.size % known == 0:
        sizes[sizes.index(-1)] = aval.size // known
    elif sizes.count(-1) == 1 and known == 0 and aval.size == 0:
        sizes[sizes.index(-1)] = 0
    elif any(size < 0 for size in sizes) or known != aval.size:
        raise TypeError(numpy_errors.cannot_reshape(aval.shape, sizes, aval.size))
    return tuple(sizes)


def ravel(a: ArrayLike, order: str = "C", *, out_sharding: Any = None) -> Array:
    """The elements of an array in one dimension.

    Args:
      a: an array.
      order: "C", where the last index runs first, or "F", where the first one does; "A" and "K" are
        "C", since that is how elements are kept.
      out_sharding: how the result is to be sharded.

    >>> import covector.numpy as jnp
    >>> jnp.ravel(jnp.array([[1, 2], [3, 4]]))
    Array([1, 2, 3, 4], dtype=int32)
    """
    a = as_array("ravel", a)
    return reshape(a, (a.size,), "C" if order == "K" else order, out_sharding=out_sharding)


# ---------------------------------------------------------------- dimensions in another order


def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """The dimensions of an array in another order.

    Args:
      a: an array.
      axes: for each dimension of the result the one of `a`; None reverses the order.

    Returns:
      An array whose dimension i is dimension `axes[i]` of `a`.

    >>> import covector.numpy as jnp
    >>> jnp.transpose(jnp.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    a = as_array("transpose", a)
    ndim = a.ndim
    if axes is None:
        order = tuple(range(ndim - 1, -1, -1))
    else:
        order = tuple([axis_argument("transpose", axis, ndim) for axis in axes])
        if sorted(order) != list(range(ndim)):
            raise ValueError(numpy_errors.not_all_axes("transpose", axes, a.shape))
    return a if order == tuple(range(ndim)) else transpose_p.bind(a, permutation=order)


def permute_dims(a: ArrayLike, /, axes: tuple[int, ...]) -> Array:
    """The dimensions of an array in another order; see `transpose`.

    >>> import covector.numpy as jnp
    >>> jnp.permute_dims(jnp.ones((2, 3)), (1, 0)).shape
    (3, 2)
    """
    return transpose(a, axes)


def matrix_transpose(x: ArrayLike, /) -> Array:
    """The transposes of the matrices in the last two dimensions.

    >>> import covector.numpy as jnp
    >>> jnp.matrix_transpose(jnp.ones((5, 2, 3))).shape
    (5, 3, 2)
    """
    x = as_array("matrix_transpose", x)
    if x.ndim < 2:
        raise ValueError(numpy_errors.not_matrices("matrix_transpose", x.shape))
    return swapaxes(x, -1, -2)


def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """An array with two dimensions exchanged.

    Args:
      a: an array.
      axis1, axis2: the dimensions.

    Returns:
      An array of the same elements.

    >>> import covector.numpy as jnp
    >>> jnp.swapaxes(jnp.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    a = as_array("swapaxes", a)
    i, j = (axis_argument("swapaxes", axis, a.ndim) for axis in (axis1, axis2))
    order = list(range(a.ndim))
    order[i], order[j] = j, i
    return transpose(a, order)


def moveaxis(a: ArrayLike, source: Any, destination: Any) -> Array:
    """An array with some dimensions moved; the others keep their order.

    Args:
      a: an array.
      source, destination: a dimension and its new place, or a sequence of each.

    >>> import covector.numpy as jnp
    >>> jnp.moveaxis(jnp.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a = as_array("moveaxis", a)
    froms = axes_argument("moveaxis", source, a.ndim)
    tos = axes_argument("moveaxis", destination, a.ndim)
    if len(froms) != len(tos):
        raise ValueError(numpy_errors.moveaxis_counts(source, destination))
    order = [dim for dim in range(a.ndim) if dim not in froms]
    for to, from_ in sorted(zip(tos, froms)):
        order.insert(to, from_)
    return transpose(a, order)


def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """An array with one dimension moved in front of another; `moveaxis` is easier to read.

    Args:
      a: an array.
      axis: the dimension that is moved.
      start: that in front of which it is put; `a.ndim` puts it last.

    Returns:
      An array of the same elements.

    >>> import covector.numpy as jnp
    >>> jnp.rollaxis(jnp.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    a = as_array("rollaxis", a)
    axis = axis_argument("rollaxis", axis, a.ndim)
    start = index_argument("rollaxis", "start", start)
    if not -a.ndim <= start <= a.ndim:
        raise ValueError(numpy_errors.rollaxis_start(start, a.ndim))
    start += a.ndim if start < 0 else 0
    return moveaxis(a, axis, start - (axis < start))


# ---------------------------------------------------------------- dimensions of size 1


def expand_dims(a: ArrayLike, axis: Any) -> Array:
    """An array with new dimensions of size 1.

    Args:
      a: an array.
      axis: where the new dimensions are in the result; an integer or a sequence.

    >>> import covector.numpy as jnp
    >>> jnp.expand_dims(jnp.ones(3), (0, 2)).shape
    (1, 3, 1)
    """
    a = as_array("expand_dims", a)
    if axis is None:
        raise TypeError(numpy_errors.axis_needed("expand_dims"))
    count = len(axis) if isinstance(axis, Sequence) or np.ndim(axis) else 1
    axes = axes_argument("expand_dims", axis, a.ndim + count)
    return expand(a, sorted(axes)) if axes else a


def squeeze(a: ArrayLike, axis: Any = None) -> Array:
    """An array without some dimensions of size 1.

    Args:
      a: an array.
      axis: which; an integer or a sequence. None takes all dimensions of size 1.

    Raises:
      ValueError: a dimension is not of size 1.

    >>> import covector.numpy as jnp
    >>> jnp.squeeze(jnp.ones((1, 3, 1))).shape
    (3,)
    """
    a = as_array("squeeze", a)
    if axis is None:
        axes = tuple([dim for dim, size in enumerate(a.shape) if size == 1])
    else:
        axes = tuple(sorted(axes_argument("squeeze", axis, a.ndim)))
    return squeeze_p.bind(a, dimensions=axes) if axes else a


def _at_least(where: str, arrays: Sequence[Any], raised: Any) -> Any:
    """Each of the arrays with more dimensions; one alone not in a list."""
    out = [raised(x) for x in (as_array(where, x) for x in arrays)]
    return out[0] if len(out) == 1 else out


def _at_least_1d(x: Any) -> Any:
    return x if x.ndim else expand(x, (0,))


def _at_least_2d(x: Any) -> Any:
    return x if x.ndim >= 2 else expand(x, (0, 1) if x.ndim == 0 else (0,))


def _at_least_3d(x: Any) -> Any:
    missing = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}
    return x if x.ndim >= 3 else expand(x, missing[x.ndim])


def atleast_1d(*arys: ArrayLike) -> Any:
    """Arrays with a dimension of size 1 if they have none.

    >>> import covector.numpy as jnp
    >>> jnp.atleast_1d(1.0).shape
    (1,)
    """
    return _at_least("atleast_1d", arys, _at_least_1d)


def atleast_2d(*arys: ArrayLike) -> Any:
    """Arrays with dimensions of size 1 in front, so that they have two or more.

    >>> import covector.numpy as jnp
    >>> jnp.atleast_2d(jnp.ones(3)).shape
    (1, 3)
    """
    return _at_least("atleast_2d", arys, _at_least_2d)


def atleast_3d(*arys: ArrayLike) -> Any:
    """Arrays with three or more dimensions: vectors become `(1, n, 1)`, matrices `(n, m, 1)`.

    >>> import covector.numpy as jnp
    >>> jnp.atleast_3d(jnp.ones(3)).shape
    (1, 3, 1)
    """
    return _at_least("atleast_3d", arys, _at_least_3d)


# ---------------------------------------------------------------- broadcasting


def broadcast_to(array: ArrayLike, shape: Any, *, out_sharding: Any = None) -> Array:
    """An array copied along new leading dimensions, and along those of size 1.

    Args:
      array: an array.
      shape: the shape of the result.
      out_sharding: how the result is to be sharded.

    Raises:
      ValueError: the array cannot be broadcast to the shape.

    >>> import covector.numpy as jnp
    >>> jnp.broadcast_to(jnp.array([1, 2]), (2, 2))
    Array([[1, 2],
           [1, 2]], dtype=int32)
    """
    array = as_array("broadcast_to", array)
    return broadcast_operand(array, shape_argument("broadcast_to", shape), "broadcast_to")


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape to which arrays of the given shapes are broadcast together.

    Raises:
      ValueError: they cannot be.

    >>> import covector.numpy as jnp
    >>> jnp.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    shapes = tuple([shape_argument("broadcast_shapes", shape) for shape in shapes])
    try:
        return broadcast_sizes(*shapes)
    except ValueError:
        raise ValueError(numpy_errors.cannot_broadcast("broadcast_shapes", shapes)) from None


def broadcast_arrays(*args: ArrayLike) -> list[Array]:
    """Arrays broadcast against each other.

    Raises:
      ValueError: they cannot be.

    >>> import covector.numpy as jnp
    >>> x, y = jnp.broadcast_arrays(jnp.ones((2, 1)), jnp.ones(3))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    arrays = [as_array("broadcast_arrays", x) for x in operands("broadcast_arrays", args)]
    shapes = [x.shape for x in arrays]
    shape = broadcast_shapes(*shapes)
    return [broadcast_operand(x, shape, "broadcast_arrays") for x in arrays]


# ---------------------------------------------------------------- order of the elements


def flip(m: ArrayLike, axis: Any = None) -> Array:
    """An array with the order of its elements reversed along some dimensions.

    Args:
      m: an array.
      axis: an integer, a sequence, or None for all dimensions.

    >>> import covector.numpy as jnp
    >>> jnp.flip(jnp.array([1, 2, 3]))
    Array([3, 2, 1], dtype=int32)
    """
    m = as_array("flip", m)
    return rev_p.bind(m, dimensions=axes_argument("flip", axis, m.ndim))


def fliplr(m: ArrayLike) -> Array:
    """An array with the order of its second dimension reversed.

    >>> import covector.numpy as jnp
    >>> jnp.fliplr(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 1],
           [4, 3]], dtype=int32)
    """
    return flip(m, 1)


def flipud(m: ArrayLike) -> Array:
    """An array with the order of its first dimension reversed.

    >>> import covector.numpy as jnp
    >>> jnp.flipud(jnp.array([[1, 2], [3, 4]]))
    Array([[3, 4],
           [1, 2]], dtype=int32)
    """
    return flip(m, 0)


def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """An array turned by right angles in the plane of two dimensions.

    Args:
      m: an array.
      k: how often, from the first of the axes towards the second.
      axes: the dimensions of the plane.

    >>> import covector.numpy as jnp
    >>> jnp.rot90(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    m = as_array("rot90", m)
    i, j = (axis_argument("rot90", axis, m.ndim) for axis in axes)
    if i == j:
        raise ValueError(numpy_errors.equal_axes("rot90", i))
    k = index_argument("rot90", "k", k) % 4
    if k == 0:
        return m
    if k == 1:
        return swapaxes(flip(m, j), i, j)
    if k == 2:
        return flip(m, (i, j))
    return flip(swapaxes(m, i, j), j)


@composite
def _roll(a: Any, *, shifts: tuple[tuple[int, int], ...]) -> Any:
    """An array turned by constant numbers of elements along some dimensions."""
    for axis, shift in shifts:
        size = shape_of(a)[axis]
        shift = shift % size if size else 0
        if shift:
            parts = [_part(a, axis, size - shift, size), _part(a, axis, 0, size - shift)]
            a = concatenate_p.bind(*parts, dimension=axis)
    return a


def _part(a: Any, axis: int, start: int, stop: int) -> Any:
    """The elements from `start` to before `stop` along one dimension."""
    shape = shape_of(a)
    starts = [0] * len(shape)
    limits = list(shape)
    starts[axis], limits[axis] = start, stop
    return slice_p.bind(
        a, start_indices=tuple(starts), limit_indices=tuple(limits), strides=(1,) * len(shape)
    )


@composite
def _roll_by_traced(a: Any, shift: Any, *, axis: int) -> Any:
    """An array turned by a number of elements that is not known yet.

    In two copies after one another, the result begins `shift` elements before the second.
    """
    size = shape_of(a)[axis]
    start = remainder(negative(shift), size)
    twice = concatenate_p.bind(a, a, dimension=axis)
    zero = like(start, 0)
    starts = [start if dim == axis else zero for dim in range(len(shape_of(a)))]
    return dynamic_slice_p.bind(twice, *starts, slice_sizes=shape_of(a))


def roll(a: ArrayLike, shift: Any, axis: Any = None) -> Array:
    """An array with its elements moved along dimensions; those beyond the end come back in front.

    Args:
      a: an array.
      shift: by how many elements; an integer or a sequence, which may be traced.
      axis: the dimensions; an integer or a sequence. None moves the elements of the raveled array.

    Returns:
      An array of the same type.

    >>> import covector.numpy as jnp
    >>> jnp.roll(jnp.array([1, 2, 3, 4]), 1)
    Array([4, 1, 2, 3], dtype=int32)
    """
    a = as_array("roll", a)
    if axis is None:
        return reshape(roll(reshape(a, (a.size,)), _total(shift), 0), a.shape)
    axes = [axis] if np.ndim(axis) == 0 else list(axis)
    axes = [axis_argument("roll", x, a.ndim) for x in axes]
    shifts = _each(shift, len(axes))
    if len(axes) == 1 and len(shifts) > 1:
        axes = axes * len(shifts)
    if any(isinstance(x, Tracer) and x.concrete_value() is None for x in shifts):
        for dim, by in zip(axes, shifts):
            if a.shape[dim]:
                a = _roll_by_traced(a, by, axis=dim)
        return a
    return _roll(a, shifts=tuple([(i, int(by)) for i, by in zip(axes, shifts)]))


def _total(shift: Any) -> Any:
    """The sum of the shifts where all act on one dimension."""
    parts = _each(shift, 1)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _each(shift: Any, count: int) -> list[Any]:
    """One shift for each of `count` dimensions."""
    if isinstance(shift, (tuple, list)) or getattr(shift, "ndim", 0) == 1:
        shifts = [_whole_shift(x) for x in operands("roll", shift)]
        if len(shifts) == count or count == 1:
            return shifts
        if len(shifts) == 1:
            return shifts * count
        raise ValueError(numpy_errors.roll_counts(len(shifts), count))
    return [_whole_shift(operand("roll", shift))] * count


def _whole_shift(shift: Any) -> Any:
    """A shift as an integer; what is behind the point of a float does not count."""
    floating = own[type(shift)] and dtypes.issubdtype(shift.dtype, np.floating)
    return convert(shift, dtypes.canonicalize_dtype(np.int64)) if floating else shift


# ---------------------------------------------------------------- shapes of values


def ndim(a: Any) -> int:
    """The number of dimensions of an array.

    >>> import covector.numpy as jnp
    >>> jnp.ndim(jnp.ones((2, 3)))
    2
    """
    return len(_shape("ndim", a))


def shape(a: Any) -> tuple[int, ...]:
    """The shape of an array.

    >>> import covector.numpy as jnp
    >>> jnp.shape(jnp.ones((2, 3)))
    (2, 3)
    """
    return _shape("shape", a)


def _shape(where: str, a: Any) -> tuple[int, ...]:
    if hasattr(a, "shape"):
        return tuple(a.shape)
    if isinstance(a, (list, tuple)):
        if config.parity.value:
            warn(numpy_errors.list_by_parity(where, a), DeprecationWarning)
        parts = {shape(x) for x in a}
        return (len(a), *parts.pop()) if len(parts) == 1 else np.shape(a)
    (a,) = operands(where, (a,))
    return shape_of(a)


def size(a: Any, axis: Any = None) -> int:
    """The number of elements of an array, or along some of its dimensions.

    >>> import covector.numpy as jnp
    >>> jnp.size(jnp.ones((2, 3))), jnp.size(jnp.ones((2, 3)), 1)
    (6, 3)
    """
    sizes = _shape("size", a)
    return math.prod([sizes[i] for i in axes_argument("size", axis, len(sizes))])


def isscalar(element: Any) -> bool:
    """Whether something is a number, or an array of no dimensions.

    >>> import covector.numpy as jnp
    >>> jnp.isscalar(1.0), jnp.isscalar(jnp.ones(1))
    (True, False)
    """
    kind = type(element)
    if own[kind] or kind is np.ndarray or hasattr(kind, "__jax_array__"):
        return shape(element) == ()
    return np.isscalar(element)
