"""Reductions that leave out NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..core.array import Array, ArrayLike
from ..ops.bitwise import and_p, not_p
from ..ops.comparison import ne_p
from . import reductions
from .arguments import check_no_out
from .composite import composite
from .promotion import BOOL, as_array, dtype_of, number, operand, raise_rank, shape_of
from .selection import select_where

# ---------------------------------------------------------------- what counts


def _is_number(a: Any) -> Any:
    """Where an array is not NaN."""
    return not_p.bind(ne_p.bind(a, a))


def _taking_part(name: str, a: Any, where: Any) -> tuple[Any, Any]:
    """An array, and a mask of its elements that are not NaN, and that `where` lets take part.

    The mask is None if all do: there is no NaN among integers.
    """
    a = as_array(name, a)
    if where is not None:
        where = operand(name, where)
        if dtype_of(where) != BOOL:
            raise ValueError(numpy_errors.mask_not_boolean(name, dtype_of(where)))
    if not dtypes.issubdtype(a.dtype, np.inexact):
        return a, where
    return a, _is_number_and(a) if where is None else _is_number_and(a, where)


@composite
def _is_number_and(a: Any, *masks: Any) -> Any:
    numbers = _is_number(a)
    for mask in masks:
        rank = len(shape_of(mask))
        mask = raise_rank(mask, rank, len(shape_of(a))) if rank else mask
        numbers = and_p.bind(numbers, mask)
    return numbers


# ---------------------------------------------------------------- sums and means


def nansum(
    a: ArrayLike,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Sum of the elements that are not NaN; the arguments are those of `sum`.

    >>> import covector.numpy as jnp
    >>> jnp.nansum(jnp.array([1.0, jnp.nan, 3.0]))
    Array(4., dtype=float32)
    """
    a, mask = _taking_part("nansum", a, where)
    return reductions.sum(a, axis, dtype, out, keepdims, initial, mask)


def nanprod(
    a: ArrayLike,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Product of the elements that are not NaN; the arguments are those of `sum`.

    >>> import covector.numpy as jnp
    >>> jnp.nanprod(jnp.array([2.0, jnp.nan, 3.0]))
    Array(6., dtype=float32)
    """
    a, mask = _taking_part("nanprod", a, where)
    return reductions.prod(a, axis, dtype, out, keepdims, initial, mask)


def nanmean(
    a: ArrayLike,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: ArrayLike | None = None,
) -> Array:
    """Mean of the elements that are not NaN; the arguments are those of `mean`.

    >>> import covector.numpy as jnp
    >>> jnp.nanmean(jnp.array([1.0, jnp.nan, 3.0]))
    Array(2., dtype=float32)
    """
    a, mask = _taking_part("nanmean", a, where)
    return reductions.mean(a, axis, dtype, out, keepdims, where=mask)


def nanvar(
    a: ArrayLike,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array:
    """Variance of the elements that are not NaN; the arguments are those of `var`.

    >>> import covector.numpy as jnp
    >>> jnp.nanvar(jnp.array([1.0, jnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    a, mask = _taking_part("nanvar", a, where)
    return reductions.var(a, axis, dtype, out, ddof, keepdims, where=mask, mean=mean)


def nanstd(
    a: ArrayLike,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array:
    """Standard deviation of the elements that are not NaN; the arguments are those of `std`.

    >>> import covector.numpy as jnp
    >>> jnp.nanstd(jnp.array([1.0, jnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    a, mask = _taking_part("nanstd", a, where)
    return reductions.std(a, axis, dtype, out, ddof, keepdims, where=mask, mean=mean)


# ---------------------------------------------------------------- extrema


def _extremum(
    kind: reductions.Reduction,
    a: Any,
    axis: Any,
    out: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
) -> Any:
    """An extremum of what is not NaN; where there is nothing else, it is NaN."""
    name = f"nan{kind.name}"
    check_no_out(name, out)
    reduction = getattr(reductions, kind.name)
    a = as_array(name, a)
    if not dtypes.issubdtype(a.dtype, np.inexact):
        return reduction(a, axis, None, keepdims, initial, where)
    numbers = _is_number(a)
    found = reduction(
        select_where(numbers, a, kind.identity(a.dtype)), axis, None, keepdims, initial, where
    )
    if initial is not None:
        return found
    some = reductions.any(numbers, axis, keepdims=keepdims, where=where)
    return select_where(some, found, number(np.nan, a.dtype))


def nanmax(
    a: ArrayLike,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Largest of the elements that are not NaN; NaN if there is none. See `max`.

    >>> import covector.numpy as jnp
    >>> jnp.nanmax(jnp.array([1.0, jnp.nan, 3.0]))
    Array(3., dtype=float32)
    """
    return _extremum(reductions.MAX, a, axis, out, keepdims, initial, where)


def nanmin(
    a: ArrayLike,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Smallest of the elements that are not NaN; NaN if there is none. See `min`.

    >>> import covector.numpy as jnp
    >>> jnp.nanmin(jnp.array([1.0, jnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    return _extremum(reductions.MIN, a, axis, out, keepdims, initial, where)


def _arg_extremum(
    kind: reductions.Reduction, a: Any, axis: int | None, out: Any, keepdims: bool | None
) -> Any:
    """The index of an extremum of what is not NaN; -1 where there is nothing else."""
    check_no_out(f"nanarg{kind.name}", out)
    find = getattr(reductions, f"arg{kind.name}")
    a = as_array(f"nanarg{kind.name}", a)
    if not dtypes.issubdtype(a.dtype, np.inexact):
        return find(a, axis, keepdims=keepdims)
    numbers = _is_number(a)
    index = find(select_where(numbers, a, kind.identity(a.dtype)), axis, keepdims=keepdims)
    some = reductions.any(numbers, axis, keepdims=bool(keepdims))
    return select_where(some, index, number(-1, dtype_of(index)))


def nanargmax(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """Index of the largest of the elements that are not NaN; -1 if there is none. See `argmax`.

    >>> import covector.numpy as jnp
    >>> jnp.nanargmax(jnp.array([1.0, jnp.nan, 3.0]))
    Array(2, dtype=int32)
    """
    return _arg_extremum(reductions.MAX, a, axis, out, keepdims)


def nanargmin(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """Index of the smallest of the elements that are not NaN; -1 if there is none. See `argmin`.

    >>> import covector.numpy as jnp
    >>> jnp.nanargmin(jnp.array([jnp.nan, 1.0, 3.0]))
    Array(1, dtype=int32)
    """
    return _arg_extremum(reductions.MIN, a, axis, out, keepdims)
