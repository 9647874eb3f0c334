"""Sorting as NumPy does it: -0 and 0 are equal, NaN comes last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes, ordering_errors
from ..base.dims import at_least
from ..base.shapes import canonicalize_axis
from ..core.array import Array, ArrayLike
from ..ops import sorting as lax
from ..ops.creation import broadcasted_iota
from ..ops.linear import reshape
from ..ops.shaping import rev
from .arguments import axis_argument, index_argument
from .composite import composite
from .promotion import as_array, convert, dtype_of, shape_of

Axis = int | None


def sort(
    a: ArrayLike,
    axis: Axis = -1,
    *,
    kind: Any = None,
    order: Any = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """The elements of an array in order.

    Args:
      a: an array. Complex numbers are ordered by their real parts, then by their imaginary ones.
      axis: the dimension along which to sort; None sorts the raveled array.
      kind, order: not supported.
      stable: whether equal elements are to keep their order.
      descending: whether the greatest element is to come first, or NaN if there is one.

    Returns:
      An array like `a`.

    Raises:
      TypeError: `kind` or `order` is given.

    >>> import covector.numpy as jnp
    >>> jnp.sort(jnp.array([3, 1, 2]), descending=True)
    Array([3, 2, 1], dtype=int32)
    """
    x, axis = _operand("sort", a, axis, kind, order)
    return _sort(x, axis=axis, stable=bool(stable), descending=bool(descending))


@composite
def _sort(x: Any, *, axis: int, stable: bool, descending: bool) -> Any:
    out = lax.sort(x, axis, stable)
    return rev(out, (axis,)) if descending else out


def argsort(
    a: ArrayLike,
    axis: Axis = -1,
    *,
    kind: Any = None,
    order: Any = None,
    stable: bool = True,
    descending: bool = False,
    dtype: Any = None,
) -> Array:
    """The indices that put an array in order.

    Args:
      a, axis, kind, order, stable, descending: as for `sort`.
      dtype: the dtype of the indices, int32 by default.

    Returns:
      An array of indices, such that `take_along_axis(a, indices, axis)` is in order.

    Raises:
      TypeError: `kind` or `order` is given.

    >>> import covector.numpy as jnp
    >>> jnp.argsort(jnp.array([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    x, axis = _operand("argsort", a, axis, kind, order)
    if dtype is None:
        dtype = index_dtype(shape_of(x)[axis])
    else:
        dtype = dtypes.check_user_dtype_supported(dtype, "argsort")
    return _argsort(x, axis=axis, stable=bool(stable), descending=bool(descending), dtype=dtype)


@composite
def _argsort(x: Any, *, axis: int, stable: bool, descending: bool, dtype: Any) -> Any:
    places = broadcasted_iota(dtype, shape_of(x), axis)
    if descending and stable:  # what is turned around twice keeps its order
        x, places = rev(x, (axis,)), rev(places, (axis,))
    _, indices = lax.sort_key_val(x, places, axis, stable)
    return rev(indices, (axis,)) if descending else indices


def index_dtype(size: int) -> np.dtype:
    """The dtype of indices along a dimension of this size."""
    large = at_least(size, dtypes.greatest(np.int32) + 1)
    return np.dtype(np.int64) if large else dtypes.canonicalize_dtype(np.int64)


def _operand(where: str, a: Any, axis: Any, kind: Any, order: Any) -> tuple[Any, int]:
    """The array to sort, raveled if there is no axis, and the axis."""
    x = as_array(where, a)
    if kind is not None:
        raise TypeError(ordering_errors.kind_of_sort(where))
    if order is not None:
        raise TypeError(ordering_errors.order_of_sort(where))
    if axis is None:
        return reshape(x, (x.aval.size,)), 0
    return x, axis_argument(where, axis, x.aval.ndim)


def lexsort(keys: Array | np.ndarray | Sequence[ArrayLike], axis: int = -1) -> Array:
    """The indices that put several arrays in order, the last of which matters most.

    Args:
      keys: a sequence of arrays of one shape, or an array of them. Where elements of the last are
        equal, the one before it decides, and so on.
      axis: the dimension along which to sort.

    Returns:
      An array of indices of the shape of a key.

    Raises:
      TypeError: there is no key.
      ValueError: their shapes differ.

    >>> import covector.numpy as jnp
    >>> minutes, hours = jnp.array([15, 40, 5]), jnp.array([9, 8, 8])
    >>> jnp.lexsort((minutes, hours))
    Array([2, 1, 0], dtype=int32)
    """
    arrays = [as_array("lexsort", key) for key in keys]
    if not arrays:
        raise TypeError(ordering_errors.no_keys())
    shapes = [shape_of(x) for x in arrays]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError(ordering_errors.key_shapes(shapes))
    if not shapes[0]:
        return as_array("lexsort", np.zeros((), dtypes.canonicalize_dtype(np.int64)))
    return _lexsort(*arrays, axis=axis_argument("lexsort", axis, len(shapes[0])))


@composite
def _lexsort(*keys: Any, axis: int) -> Any:
    shape = shape_of(keys[0])
    places = broadcasted_iota(index_dtype(shape[axis]), shape, axis)
    return lax.sort((*keys[::-1], places), axis, num_keys=len(keys))[-1]


def sort_complex(a: ArrayLike) -> Array:
    """The elements of an array as complex numbers, in order along the last dimension.

    >>> import covector.numpy as jnp
    >>> jnp.sort_complex(jnp.array([2, 1]))
    Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    out = sort(as_array("sort_complex", a))
    return convert(out, dtypes.to_complex_dtype(dtype_of(out)))


# ---------------------------------------------------------------- partitions


def partition(a: ArrayLike, kth: int | Sequence[int], axis: int | None = -1) -> Array:
    """The elements of an array, with those before the k-th not greater, and those after not less.

    They are in order altogether.

    Args:
      a: an array of real numbers.
      kth: the place of the element that divides the others, or several; negative ones count from
        the end.
      axis: the dimension along which to divide; None for the raveled array.

    Returns:
      An array like `a`.

    Raises:
      NotImplementedError: the elements are complex.
      ValueError: there is no such place or dimension.

    >>> import covector.numpy as jnp
    >>> jnp.partition(jnp.array([3, 5, 1, 4]), 1)[1]
    Array(3, dtype=int32)
    """
    return sort(*_partitioned("partition", a, kth, axis))


def argpartition(a: ArrayLike, kth: int | Sequence[int], axis: int | None = -1) -> Array:
    """The indices that divide an array as `partition` does; the arguments are the same.

    >>> import covector.numpy as jnp
    >>> jnp.argpartition(jnp.array([3, 5, 1, 4]), 1)[1]
    Array(0, dtype=int32)
    """
    x, axis = _partitioned("argpartition", a, kth, axis)
    dtype = np.dtype(np.int32 if shape_of(x)[axis] <= np.iinfo(np.int32).max else np.int64)
    return _argsort(x, axis=axis, stable=True, descending=False, dtype=dtype)


def _partitioned(where: str, a: Any, kth: Any, axis: Any) -> tuple[Any, int]:
    x = as_array(where, a)
    if dtypes.issubdtype(dtype_of(x), np.complexfloating):
        raise NotImplementedError(ordering_errors.complex_partition(where, dtype_of(x)))
    if axis is None:
        x, axis = reshape(x, (x.aval.size,)), 0
    axis = axis_argument(where, axis, x.aval.ndim)
    for place in kth if isinstance(kth, Sequence) or np.ndim(kth) else (kth,):
        canonicalize_axis(index_argument(where, "kth", place), shape_of(x)[axis])
    return x, axis
