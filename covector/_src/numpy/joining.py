"""Arrays put together, cut into parts, repeated, and padded."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..base.dims import size_of
from ..base.errors import ConcretizationTypeError
from ..core.array import Array, ArrayLike
from ..core.trace import Tracer
from ..ops.arithmetic import sub_p
from ..ops.comparison import ne_p
from ..ops.gather import scatter_add_p
from ..ops.gather_dimensions import ScatterDimensionNumbers
from ..ops.joining import concatenate_p, split_p, stack_p, unstack_p
from ..ops.linear import broadcast_in_dim, full
from ..ops.linear import reshape as reshape_operand
from ..ops.shaping import tile_p
from ..ops.slicing import slice_in_dim
from .arguments import (
    axis_argument,
    check_no_out,
    index_argument,
    known_array,
    shape_argument,
)
from .composite import composite
from .conversion import behind
from .creation import filled
from .nonzero import running_sum
from .promotion import (
    as_array,
    convert,
    dtype_of,
    operands,
    own,
    promote_dtypes,
    raise_rank,
    shape_of,
)
from .shaping import _at_least_1d, _at_least_2d, _at_least_3d, ndim, ravel, reshape, transpose
from .taking import take

# ---------------------------------------------------------------- joining


def _parts(where: str, arrays: Any, dtype: Any) -> list[Any]:
    """The arrays to be joined, in one dtype."""
    if isinstance(arrays, np.ndarray) or own[type(arrays)]:
        if not shape_of(arrays):
            raise ValueError(numpy_errors.zero_dimensional(where))
        arrays = unstack_p.bind(arrays, axis=0)
    parts = operands(where, arrays)
    if not parts:
        raise ValueError(numpy_errors.nothing_to_join(where))
    if dtype is not None:
        dtype = dtypes.check_user_dtype_supported(dtype, where)
        return [convert(x, dtype) for x in parts]
    first = parts[0]
    if own[type(first)] and all(own[type(x)] for x in parts):
        dtype, weak = first.aval.dtype, first.aval.weak_type
        if all(x.aval.dtype == dtype and x.aval.weak_type == weak for x in parts):
            return parts
    return promote_dtypes(*parts) if len(parts) > 1 else [as_array(where, first)]


def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Array:
    """Join arrays along a dimension that they have.

    Args:
      arrays: a sequence of arrays whose shapes differ in that dimension only; or one array, which
        stands for its elements along the first dimension.
      axis: the dimension; None joins the raveled arrays.
      dtype: the dtype of the result; by default the common one.

    Returns:
      An array.

    >>> import covector.numpy as jnp
    >>> jnp.concatenate([jnp.array([1, 2]), jnp.array([3.0])])
    Array([1., 2., 3.], dtype=float32)
    """
    parts = _parts("concatenate", arrays, dtype)
    if axis is None:
        parts, axis = [ravel(x) for x in parts], 0
    rank = len(shape_of(parts[0]))
    if rank == 0:
        raise ValueError(numpy_errors.zero_dimensional("concatenate"))
    axis = axis_argument("concatenate", axis, rank)
    return concatenate_p.bind(*parts, dimension=axis)


def concat(arrays: Sequence[ArrayLike], /, *, axis: int | None = 0) -> Array:
    """Join arrays along a dimension that they have; see `concatenate`.

    >>> import covector.numpy as jnp
    >>> jnp.concat([jnp.array([1, 2]), jnp.array([3])])
    Array([1, 2, 3], dtype=int32)
    """
    return concatenate(arrays, axis)


def stack(arrays: Any, axis: int = 0, out: None = None, dtype: Any = None) -> Array:
    """Join arrays of one shape along a new dimension.

    Args:
      arrays: a sequence of arrays; or one array, which stands for its elements along the first
        dimension.
      axis: where the new dimension is in the result.
      out: not supported.
      dtype: the dtype of the result; by default the common one.

    >>> import covector.numpy as jnp
    >>> jnp.stack([jnp.array([1, 2]), jnp.array([3, 4])], axis=1)
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    check_no_out("stack", out)
    parts = _parts("stack", arrays, dtype)
    shapes = {shape_of(x) for x in parts}
    if len(shapes) > 1:
        raise ValueError(numpy_errors.stack_shapes(shapes))
    axis = axis_argument("stack", axis, len(shapes.pop()) + 1)
    return stack_p.bind(*parts, axis=axis)


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The elements of an array along a dimension.

    >>> import covector.numpy as jnp
    >>> jnp.unstack(jnp.array([[1, 2], [3, 4]]))
    (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    x = as_array("unstack", x)
    if x.ndim == 0:
        raise ValueError(numpy_errors.zero_dimensional("unstack"))
    return tuple(unstack_p.bind(x, axis=axis_argument("unstack", axis, x.ndim)))


def _raised(where: str, arrays: Any, raised: Any, dtype: Any) -> list[Any]:
    """The arrays to be joined, with more dimensions."""
    return [raised(as_array(where, x)) for x in _parts(where, arrays, dtype)]


def hstack(tup: Any, dtype: Any = None) -> Array:
    """Join arrays along the second dimension, and vectors along their only one.

    >>> import covector.numpy as jnp
    >>> jnp.hstack([jnp.array([1, 2]), jnp.array([3])])
    Array([1, 2, 3], dtype=int32)
    """
    parts = _raised("hstack", tup, _at_least_1d, dtype)
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(tup: Any, dtype: Any = None) -> Array:
    """Join arrays along the first dimension; vectors are rows.

    >>> import covector.numpy as jnp
    >>> jnp.vstack([jnp.array([1, 2]), jnp.array([3, 4])])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """
    return concatenate(_raised("vstack", tup, _at_least_2d, dtype), 0)


def dstack(tup: Any, dtype: Any = None) -> Array:
    """Join arrays along the third dimension; see `atleast_3d`.

    >>> import covector.numpy as jnp
    >>> jnp.dstack([jnp.array([1, 2]), jnp.array([3, 4])]).shape
    (1, 2, 2)
    """
    return concatenate(_raised("dstack", tup, _at_least_3d, dtype), 2)


def column_stack(tup: Any) -> Array:
    """Join arrays along the second dimension; vectors are columns.

    >>> import covector.numpy as jnp
    >>> jnp.column_stack([jnp.array([1, 2]), jnp.array([3, 4])])
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """

    def column(x: Any) -> Any:
        return x if x.ndim >= 2 else transpose(_at_least_2d(x))

    return concatenate(_raised("column_stack", tup, column, None), 1)


def block(arrays: Any) -> Array:
    """Join nested lists of arrays: the innermost ones along the last dimension, and so on out.

    >>> import covector.numpy as jnp
    >>> jnp.block([[jnp.ones((2, 2)), jnp.zeros((2, 1))]])
    Array([[1., 1., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    joined, _ = _block(arrays, 1)
    return joined


def _block(arrays: Any, depth: int) -> tuple[Any, int]:
    """A block, and the depth of the lists that it came from."""
    if isinstance(arrays, tuple):
        raise TypeError(numpy_errors.block_of_tuple(arrays))
    if not isinstance(arrays, list):
        return as_array("block", arrays), 0
    if not arrays:
        raise ValueError(numpy_errors.empty_block())
    blocks = [_block(x, depth + 1) for x in arrays]
    levels = {level for _, level in blocks}
    if len(levels) > 1:
        raise ValueError(numpy_errors.block_depths(sorted(levels)))
    level = levels.pop() + 1
    rank = max(level, *[x.ndim for x, _ in blocks])
    parts = [raise_rank(x, x.ndim, rank) for x, _ in blocks]
    return concatenate(parts, rank - level), level


def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """Join two arrays along a dimension, or raveled if `axis` is None.

    Args:
      arr: an array.
      values: what to put behind it, of the same shape but for the size along `axis`.
      axis: the dimension; None ravels both.

    Returns:
      An array of their common dtype.

    >>> import covector.numpy as jnp
    >>> jnp.append(jnp.array([1, 2]), 3)
    Array([1, 2, 3], dtype=int32)
    """
    if axis is None:
        return concatenate([ravel(arr), ravel(values)])
    return concatenate([arr, values], axis)


# ---------------------------------------------------------------- splitting


def _split(where: str, ary: Any, parts: Any, axis: int, uneven: bool) -> list[Any]:
    ary = as_array(where, ary)
    axis = axis_argument(where, axis, ary.ndim)
    size = ary.shape[axis]
    if ndim(parts) == 0:
        sizes = _even_sizes(where, size, _whole(where, parts), uneven)
    else:
        stops = [_whole(where, x) for x in parts]
        stops = [min(max(x + size if x < 0 else x, 0), size) for x in stops]
        bounds = [0, *np.maximum.accumulate(stops).tolist(), size] if stops else [0, size]
        sizes = np.diff(bounds).tolist()
        if stops and stops != sorted(stops):
            return _overlapping(ary, [0, *stops], [*stops, size], axis)
    return list(split_p.bind(ary, sizes=tuple(sizes), axis=axis))


def _whole(where: str, x: Any) -> int:
    """A number of parts, or an index: an integer, or a float that is one."""
    message = partial(numpy_errors.traced_argument, where, "indices_or_sections")
    value = known_array(x, message).item()
    return int(value) if type(value) is float and value.is_integer() else size_of(value)


def _overlapping(ary: Any, starts: list[int], stops: list[int], axis: int) -> list[Any]:
    """The parts between bounds that do not rise: as NumPy's slices, some of them empty."""
    parts = []
    for start, stop in zip(starts, stops):
        index = [slice(None)] * ary.ndim
        index[axis] = slice(start, max(start, stop))
        parts.append(ary[tuple(index)])
    return parts


def _even_sizes(where: str, size: int, count: int, uneven: bool) -> list[int]:
    """The sizes of `count` parts; the first of them are longer by one where there is a rest."""
    if count <= 0:
        raise ValueError(numpy_errors.no_sections(where, count))
    part, rest = divmod(size, count)
    if rest and not uneven:
        raise ValueError(numpy_errors.uneven_split(where, size, count))
    return [part + 1] * rest + [part] * (count - rest)


def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """The parts of an array along a dimension.

    Args:
      ary: an array.
      indices_or_sections: the number of parts, all of one size; or the indices before which the
        array is cut.
      axis: the dimension.

    Returns:
      A list of arrays.

    Raises:
      ValueError: the array cannot be divided into so many parts of one size.

    >>> import covector.numpy as jnp
    >>> jnp.split(jnp.arange(4), 2)
    [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis, False)


def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """The parts of an array along a dimension; their sizes may differ by one. See `split`.

    >>> import covector.numpy as jnp
    >>> jnp.array_split(jnp.arange(3), 2)
    [Array([0, 1], dtype=int32), Array([2], dtype=int32)]
    """
    return _split("array_split", ary, indices_or_sections, axis, True)


def hsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """The parts of an array along the second dimension, or of a vector. See `split`.

    >>> import covector.numpy as jnp
    >>> [x.shape for x in jnp.hsplit(jnp.ones((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    ary = as_array("hsplit", ary)
    return _split("hsplit", ary, indices_or_sections, 0 if ary.ndim == 1 else 1, False)


def vsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """The parts of an array along the first dimension. See `split`.

    >>> import covector.numpy as jnp
    >>> [x.shape for x in jnp.vsplit(jnp.ones((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    return _split("vsplit", ary, indices_or_sections, 0, False)


def dsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """The parts of an array along the third dimension. See `split`.

    >>> import covector.numpy as jnp
    >>> [x.shape for x in jnp.dsplit(jnp.ones((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return _split("dsplit", ary, indices_or_sections, 2, False)


# ---------------------------------------------------------------- repeating


def tile(A: ArrayLike, reps: Any) -> Array:
    """An array as a whole put beside itself.

    Args:
      A: an array.
      reps: how often along each dimension; an integer means the last one. What has fewer
        dimensions, `A` or `reps`, is completed by ones in front.

    >>> import covector.numpy as jnp
    >>> jnp.tile(jnp.array([1, 2]), (2, 2))
    Array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)
    """
    A = as_array("tile", A)
    counts = reps if isinstance(reps, (tuple, list)) or np.ndim(reps) else (reps,)
    counts = tuple([index_argument("tile", "reps", n) for n in counts])
    rank = max(A.ndim, len(counts))
    counts = (1,) * (rank - len(counts)) + counts
    return tile_p.bind(raise_rank(A, A.ndim, rank), reps=counts)


def repeat(
    a: ArrayLike,
    repeats: Any,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """Each element of an array several times in sequence.

    Args:
      a: an array.
      repeats: how often; an integer, or one for each element along the dimension.
      axis: the dimension; None repeats the elements of the raveled array.
      total_repeat_length: the size of that dimension of the result. Needed where `repeats` is a
        traced array, whose sum is not known.
      out_sharding: how the result is to be sharded.

    >>> import covector.numpy as jnp
    >>> jnp.repeat(jnp.array([1, 2]), 2)
    Array([1, 1, 2, 2], dtype=int32)
    """
    a = as_array("repeat", a)
    if axis is None:
        a, axis = ravel(a), 0
    elif not a.ndim:  # as one of a single element
        a = ravel(a)
    axis = axis_argument("repeat", axis, a.ndim)
    known = repeats.concrete_value() if isinstance(repeats, Tracer) else repeats
    if total_repeat_length is not None or known is None:
        return _repeat_counted(a, repeats, axis, total_repeat_length)
    counts = np.asarray(known)
    if counts.size and counts.min() < 0:
        raise ValueError(numpy_errors.negative_repeats(known))
    if counts.size == 1:
        count = operator.index(counts.reshape(()).item())
        shape = (*a.shape[: axis + 1], count, *a.shape[axis + 1 :])
        copied = broadcast_in_dim(a, shape, [i + (i > axis) for i in range(a.ndim)])
        return reshape(copied, (*a.shape[:axis], count * a.shape[axis], *a.shape[axis + 1 :]))
    if counts.shape != (a.shape[axis],):
        raise ValueError(numpy_errors.repeats_shape(counts.shape, a.shape[axis]))
    return take(a, np.repeat(np.arange(counts.size, dtype=np.int32), counts), axis)


def _repeat_counted(a: Any, repeats: Any, axis: int, length: int | None) -> Any:
    """`repeat` for a result of a given size: what is missing is the last element once more."""
    counts, size = as_array("repeat", repeats), a.shape[axis]
    if length is None:
        raise ConcretizationTypeError(numpy_errors.unknown_total(counts.aval, behind(counts)))
    if counts.size != 1 and counts.shape != (size,):
        raise ValueError(numpy_errors.repeats_shape(counts.shape, size))
    length = index_argument("repeat", "total_repeat_length", length)
    counts = broadcast_in_dim(reshape(counts, (counts.size,)), (size,), (0,))
    return take(a, _sources(counts, length=length), axis, mode="clip")


@composite
def _sources(counts: Any, *, length: int) -> Any:
    """For each place of a result of `length` the element that is repeated there."""
    (size,) = shape_of(counts)
    ends = running_sum(convert(counts, np.dtype(np.int32)))
    # The place lies behind the ends of all elements before.
    ones = full((size,), 1, np.dtype(np.int32))
    numbers = ScatterDimensionNumbers((), (0,), (0,))
    zeros = full((length,), 0, np.dtype(np.int32))
    places = reshape_operand(ends, (size, 1))
    return running_sum(scatter_add_p.apply(zeros, places, ones, numbers))


@composite
def _resized(a: Any, *, shape: tuple[int, ...]) -> Any:
    size, wanted = shape_of(a)[0], math.prod(shape)
    repeated = tile_p.bind(a, reps=(-(-wanted // size),))
    part = repeated if shape_of(repeated)[0] == wanted else slice_in_dim(repeated, 0, wanted)
    return reshape_operand(part, shape)


def resize(a: ArrayLike, new_shape: Any) -> Array:
    """The elements of an array in a shape of any size: cut off, or repeated as often as needed.

    >>> import covector.numpy as jnp
    >>> jnp.resize(jnp.array([1, 2, 3]), (2, 4))
    Array([[1, 2, 3, 1],
           [2, 3, 1, 2]], dtype=int32)
    """
    shape = shape_argument("resize", new_shape)
    a = ravel(a)
    if a.size == 0 or 0 in shape:
        return filled(shape, 0, a.dtype)
    return _resized(a, shape=shape)


# ---------------------------------------------------------------- differences


def diff(
    a: ArrayLike,
    n: int = 1,
    axis: int = -1,
    prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> Array:
    """Differences of neighbours along a dimension.

    Args:
      a: an array; the differences of booleans say whether neighbours differ.
      n: how often to take differences.
      axis: the dimension.
      prepend, append: what to put before and behind the elements first; an array, or a number.

    Returns:
      An array that is shorter by `n` along the dimension.

    >>> import covector.numpy as jnp
    >>> jnp.diff(jnp.array([1, 4, 9, 16]))
    Array([3, 5, 7], dtype=int32)
    """
    a = as_array("diff", a)
    n = index_argument("diff", "n", n)
    if n < 0:
        raise ValueError(numpy_errors.negative_count("diff", n))
    if n == 0:
        return a
    if a.ndim == 0:
        raise ValueError(numpy_errors.zero_dimensional("diff"))
    axis = axis_argument("diff", axis, a.ndim)
    ends = [_end_of("diff", end, a, axis) for end in (prepend, append)]
    if any(end is not None for end in ends):
        a = concatenate([x for x in (ends[0], a, ends[1]) if x is not None], axis)
    minus = ne_p if dtype_of(a) == np.bool_ else sub_p
    return _differences(a, minus=minus, n=n, axis=axis)


def _end_of(where: str, end: Any, a: Any, axis: int) -> Any:
    """What to put at an end of an array; a number is copied along the other dimensions."""
    if end is None:
        return None
    end = as_array(where, end)
    shape = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
    return broadcast_in_dim(end, shape, ()) if end.ndim == 0 else end


@composite
def _differences(a: Any, *, minus: Any, n: int, axis: int) -> Any:
    for _ in range(n):
        size = shape_of(a)[axis]
        later = slice_in_dim(a, min(1, size), size, axis=axis)
        a = minus.bind(later, slice_in_dim(a, 0, max(size - 1, 0), axis=axis))
    return a


def ediff1d(
    ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None
) -> Array:
    """Differences of neighbours in the raveled array.

    Args:
      ary: an array of numbers.
      to_end, to_begin: what to put behind and before the differences, converted to their dtype.

    >>> import covector.numpy as jnp
    >>> jnp.ediff1d(jnp.array([1, 4, 9]), to_begin=0)
    Array([0, 3, 5], dtype=int32)
    """
    differences = _differences(ravel(ary), minus=sub_p, n=1, axis=0)
    if to_begin is to_end is None:
        return differences
    given = [to_begin, differences, to_end]
    return concatenate([convert(ravel(x), differences.dtype) for x in given if x is not None])
