"""Where arrays are not zero: indices, whose number depends on the values unless it is given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..base.errors import ConcretizationTypeError
from ..control.cumulative import cumsum_p
from ..core.array import Array, ArrayLike
from ..core.trace import Tracer, context
from ..ops.arithmetic import add_p, div_p, sub_p
from ..ops.bitwise import and_p
from ..ops.comparison import ge_p, lt_p, ne_p
from ..ops.creation import iota_p
from ..ops.emitted import Emitted
from ..ops.gather_dimensions import ScatterDimensionNumbers
from ..ops.joining import concatenate
from ..ops.linear import broadcast_in_dim, expand_dims, full, reshape
from ..ops.linear import constant_like as like
from ..ops.native import places_of_true
from ..ops.rounding import rem_p
from ..ops.scatter import scatter_p
from ..ops.scattering import FILL_OR_DROP
from ..ops.select import select_n_p
from ..ops.thresholds import NATIVE
from .arguments import index_argument
from .composite import Lowered, composite_list
from .conversion import behind
from .promotion import BOOL, as_array, convert, dtype_of, number, operand, shape_of


def nonzero(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """The indices of the elements that are not zero, in row-major order.

    How many they are is known only if the array is; under `jit` give `size`.

    Args:
      a: an array that is not a scalar.
      size: how many indices to return: what is missing is filled up, what is too much left out.
      fill_value: the indices that are filled in: an integer, or a tuple of one for each dimension;
        0 if not given.

    Returns:
      For each dimension an array of indices along it.

    Raises:
      ConcretizationTypeError: the array is traced, and there is no `size`.
      ValueError: the array is a scalar.

    >>> import covector.numpy as jnp
    >>> jnp.nonzero(jnp.array([3, 0, 5]))
    (Array([0, 2], dtype=int32),)
    >>> jnp.nonzero(jnp.array([3, 0, 5]), size=3, fill_value=-1)
    (Array([ 0,  2, -1], dtype=int32),)
    """
    return _nonzero("nonzero", operand("nonzero", a), size, fill_value)


def _nonzero(where: str, a: Any, size: Any, fill_value: Any) -> tuple[Array, ...]:
    shape = shape_of(a)
    if not shape:
        raise ValueError(numpy_errors.nonzero_of_scalar(where))
    if size is not None:
        size = index_argument(where, "size", size)
        fills = fill_value if isinstance(fill_value, tuple) else (fill_value,) * len(shape)
        if len(fills) != len(shape) or any(map(np.ndim, fills)):
            raise ValueError(numpy_errors.fill_values_of_indices(where, fill_value, len(shape)))
        return tuple(_indices(a, *[0 if fill is None else fill for fill in fills], size=size))
    known = a.concrete_value() if isinstance(a, Tracer) else a
    if known is None:
        raise ConcretizationTypeError(numpy_errors.unknown_count(where, a.aval, behind(a)))
    dtype = dtypes.canonicalize_dtype(np.int64)
    found = np.nonzero(np.asarray(known))
    return tuple([context.trace.lift(indices.astype(dtype)) for indices in found])


@composite_list
def _indices(a: Any, *fills: Any, size: int) -> list[Any]:
    """For each dimension the indices of the elements that are not zero, `size` of them."""
    shape, dtype = shape_of(a), dtypes.canonicalize_dtype(np.int64)
    count = math.prod(shape)
    if not count or not size:
        return [full((size,), 0, dtype) for _ in shape]
    if dtype_of(a) != BOOL:
        a = ne_p.bind(a, like(a, 0))
    flat = _places_of_true(reshape(a, (count,)), size=size, dtype=dtype)
    missing = ge_p.bind(flat, number(count, dtype))
    found, stride = [], count
    for dim, (n, fill) in enumerate(zip(shape, fills)):
        stride //= n
        index = div_p.bind(flat, number(stride, dtype)) if stride > 1 else flat
        if dim > 0:
            index = rem_p.bind(index, number(n, dtype))
        fill = broadcast_in_dim(convert(fill, dtype), (size,), ())
        found.append(select_n_p.bind(missing, index, fill))
    return found


def _places_of_true_by_sums(mask: Any, *, size: int, dtype: Any) -> Any:
    """The first `size` indices of true elements of a vector; what is missing is its length."""
    (count,) = shape_of(mask)
    # The n-th of them goes to place n, if that is one of `size`; the others behind these places,
    # each to one of its own, that all are distinct.
    every = iota_p.bind(dtype=dtype, shape=(count,), dimension=0, sharding=None)
    place = sub_p.bind(running_sum(convert(mask, dtype)), number(1, dtype))
    chosen = and_p.bind(mask, lt_p.bind(place, number(size, dtype)))
    place = select_n_p.bind(chosen, add_p.bind(every, number(size, dtype)), place)
    numbers = ScatterDimensionNumbers((), (0,), (0,))
    out = full((size,), count, dtype)
    places = reshape(place, (count, 1))
    return scatter_p.apply(out, places, every, numbers, unique_indices=True, mode=FILL_OR_DROP)


def _kernel_pays(mask: Any, *, size: int, dtype: Any) -> bool:
    return mask.size >= NATIVE


def _places_of_true_by_kernel(mask: Emitted, *, size: int, dtype: Any) -> Emitted | None:
    return places_of_true(mask, size, dtype) if mask.b.has_kernels else None


_places_of_true = Lowered(
    _places_of_true_by_sums,
    _places_of_true_by_sums,
    _kernel_pays,
    name="places_of_true",
    native=_places_of_true_by_kernel,
)


def running_sum(x: Any) -> Any:
    """For each element of a vector the sum of those up to it."""
    return cumsum_p.bind(x, axis=0, reverse=False)


def flatnonzero(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of the elements that are not zero in the raveled array.

    Args:
      a: an array.
      size, fill_value: as for `nonzero`.

    >>> import covector.numpy as jnp
    >>> jnp.flatnonzero(jnp.array([[0, 2], [3, 0]]))
    Array([1, 2], dtype=int32)
    """
    a = as_array("flatnonzero", a)
    (found,) = _nonzero("flatnonzero", reshape(a, (a.aval.size,)), size, fill_value)
    return found


def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of the elements that are not zero, one row for each.

    Args:
      a: an array.
      size, fill_value: as for `nonzero`.

    Returns:
      An array of as many columns as `a` has dimensions.

    >>> import covector.numpy as jnp
    >>> jnp.argwhere(jnp.array([[0, 2], [3, 0]]))
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    a = as_array("argwhere", a)
    rank = a.aval.ndim
    found = _nonzero("argwhere", a if rank else reshape(a, (1,)), size, fill_value)
    rows = concatenate([expand_dims(x, (1,)) for x in found], 1)
    return rows if rank else rows[:, :0]
