"""Reductions over segments: over the rows of an array that bear the same number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..base.errors import ConcretizationTypeError
from ..core.array import Array, ArrayLike
from ..core.trace import Tracer
from . import reductions
from .arguments import index_argument
from .at import IndexUpdateRef
from .creation import astype, full
from .promotion import BOOL, as_array

Segments = Callable[..., Array]


def _least(dtype: Any) -> Any:
    if dtype == BOOL:
        return False
    return dtypes.iinfo(dtype).min if dtypes.issubdtype(dtype, np.integer) else -np.inf


def _greatest(dtype: Any) -> Any:
    if dtype == BOOL:
        return True
    return dtypes.iinfo(dtype).max if dtypes.issubdtype(dtype, np.integer) else np.inf


# For each reduction the update that it is made of, the value of no row, and the reduction of an
# axis.
_REDUCTIONS: dict[str, tuple[str, Callable[[Any], Any], Callable[..., Any]]] = {
    "sum": ("add", lambda dtype: 0, reductions.sum),
    "prod": ("multiply", lambda dtype: 1, reductions.prod),
    "min": ("min", _greatest, reductions.min),
    "max": ("max", _least, reductions.max),
}


def _segments(what: str, words: str, example: str) -> Segments:
    """The function that reduces over segments, which does what the words say."""
    name = f"segment_{what}"
    kind, identity, reduce = _REDUCTIONS[what]

    def function(
        data: ArrayLike,
        segment_ids: ArrayLike,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        bucket_size: int | None = None,
        mode: Any = None,
        out_sharding: Any = None,
    ) -> Array:
        data, ids = as_array(name, data), as_array(name, segment_ids)
        count = _count(name, ids) if num_segments is None else num_segments
        count = index_argument(name, "num_segments", count)
        if count < 0:
            raise ValueError(numpy_errors.negative_count(name, count))
        dtype, rest = data.dtype, data.shape[1:]
        index: Any = ids
        shape = (count, *rest)
        if bucket_size is not None:
            size = ids.shape[0]
            shape = (-(-size // bucket_size), *shape)
            index = (np.arange(size) // bucket_size, ids)
        out = IndexUpdateRef(full(shape, identity(dtype), dtype), index)
        out = getattr(out, kind)(
            data,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            mode=mode,
            wrap_negative_indices=False,
        )
        return out if bucket_size is None else astype(reduce(out, axis=0), dtype)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "covector.ops"
    function.__doc__ = _DOCSTRING.format(name=name, words=words, example=example)
    return function


def _count(name: str, ids: Any) -> int:
    """The number of segments, if the numbers of the rows are known."""
    known = ids.concrete_value() if isinstance(ids, Tracer) else ids
    if known is None:
        raise ConcretizationTypeError(
            numpy_errors.traced_argument(name, "num_segments", ids.aval, ids.origin())
        )
    return int(np.max(np.asarray(known), initial=-1)) + 1


_DOCSTRING = """{words} over the rows of an array that bear the same number.

Args:
  data: an array.
  segment_ids: for each row the number of its segment. A row whose number is negative, or not
    below the number of segments, is left out.
  num_segments: how many segments there are; by default one more than the greatest number, which
    must be known then.
  indices_are_sorted: a promise that the numbers rise.
  unique_indices: a promise that they differ from one another.
  bucket_size: how many rows to reduce by themselves at first, which rounds less.
  mode: what becomes of numbers out of bounds: see `numpy.ndarray.at`.
  out_sharding: how the result is to be sharded.

Returns:
  An array with one row for each segment.

>>> import covector.numpy as jnp
>>> from covector import ops
>>> ops.{name}(jnp.array([3, 1, 2]), jnp.array([0, 0, 1]))
Array({example}, dtype=int32)
"""

segment_sum = _segments("sum", "Sums", "[4, 2]")
segment_prod = _segments("prod", "Products", "[3, 2]")
segment_min = _segments("min", "The smallest elements", "[1, 2]")
segment_max = _segments("max", "The largest elements", "[3, 2]")
