"""Grids and joined arrays, written as indices: `mgrid[0:3, 0:2]`, `r_[1:4, 0]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import config, position_errors
from ..base.errors import ConcretizationTypeError
from ..core.array import Array
from ..core.trace import Tracer
from .creation import array
from .joining import concatenate, stack
from .promotion import promote_dtypes
from .ranges import arange, linspace, meshgrid
from .shaping import expand_dims, moveaxis

# ---------------------------------------------------------------- grids


def _range(name: str, part: slice) -> Any:
    """The numbers that a slice stands for; with an imaginary step, as many evenly spaced ones."""
    for what in ("start", "stop", "step"):
        x = getattr(part, what)
        if isinstance(x, Tracer) and x.concrete_value() is None:
            message = position_errors.traced_range(name, what, x.aval, x.origin())
            raise ConcretizationTypeError(message)
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    if np.iscomplexobj(step):
        return linspace(start, part.stop, int(abs(step)))
    return arange(start, part.stop, step)


class Grid:
    """What makes a grid of the ranges that it is indexed with.

    Args:
      name: its public name.
      sparse: whether to return an array for each dimension which has its numbers along that only.
      doc: its documentation.
    """

    def __init__(self, name: str, sparse: bool, doc: str):
        self._name = name
        self._sparse = sparse
        self.__doc__ = doc

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any:
        if isinstance(key, slice):
            return _range(self._name, key)
        with config.numpy_dtype_promotion("standard"):
            parts = promote_dtypes(*[_range(self._name, part) for part in key]) if key else []
        grids = meshgrid(*parts, indexing="ij", sparse=self._sparse)
        if self._sparse:
            return grids
        return stack(grids) if grids else arange(0)


mgrid = Grid(
    "mgrid",
    False,
    """The coordinates of all points of a grid, stacked along a new first dimension.

    Each dimension is a slice: its step is the distance of neighbours, or, if it is imaginary, the
    number of points, of which the last is `stop`.

    >>> import covector.numpy as jnp
    >>> jnp.mgrid[0:2, 0:3]
    Array([[[0, 0, 0],
            [1, 1, 1]],
    <BLANKLINE>
           [[0, 1, 2],
            [0, 1, 2]]], dtype=int32)
    >>> jnp.mgrid[0:1:3j]
    Array([0. , 0.5, 1. ], dtype=float32)
    """,
)

ogrid = Grid(
    "ogrid",
    True,
    """The coordinates of the points of a grid, an array for each dimension; see `mgrid`.

    >>> import covector.numpy as jnp
    >>> jnp.ogrid[0:2, 0:3]
    [Array([[0],
           [1]], dtype=int32), Array([[0, 1, 2]], dtype=int32)]
    """,
)

# ---------------------------------------------------------------- joined parts


class Joined:
    """What joins the ranges, arrays and numbers that it is indexed with.

    Args:
      name: its public name.
      layout: the axis along which to join; the least rank of the parts; and the place of the first
        dimension of a part of lower rank, -1 for the last.
      doc: its documentation.
    """

    def __init__(self, name: str, layout: tuple[int, int, int], doc: str):
        self._name = name
        self._layout = layout
        self.__doc__ = doc

    def __getitem__(self, key: Any) -> Array:
        parts = list(key) if isinstance(key, tuple) else [key]
        directive = parts.pop(0) if isinstance(parts[0], str) else ""
        (axis, rank, first), matrix = self._read(directive)
        for part in parts:
            if isinstance(part, str):
                raise ValueError(position_errors.late_directive(self._name, part))
        out = concatenate([_raised(self._name, part, rank, first) for part in parts], axis)
        return out if matrix is None or out.ndim != 1 else expand_dims(out, matrix)

    def __len__(self) -> int:
        return 0

    def _read(self, directive: str) -> tuple[tuple[int, int, int], int | None]:
        """What a string at the beginning says: the layout, and where a vector that is to be a
        matrix gets a dimension of size 1."""
        if directive in ("", "r", "c"):
            return self._layout, {"r": 0, "c": 1}.get(directive)
        try:
            given = [int(word) for word in directive.split(",")[:3]]
        except ValueError:
            message = position_errors.unknown_directive(self._name, directive)
            raise ValueError(message) from None
        axis, rank, first = (*given, *self._layout[len(given) :])
        return (axis, rank, first), None


def _raised(name: str, part: Any, rank: int, first: int) -> Any:
    """A part as an array of at least a rank, with its own dimensions from a place on.

    The new ones are in front of it if `first` is -1; if it is 0, they follow. From there on places
    count as those of `first` up to the number of new dimensions, and go round after them.
    """
    if isinstance(part, slice):
        part, own = _range(name, part), 0
    else:
        own = np.ndim(part)
    out = array(part, copy=False, ndmin=rank)
    if own >= rank or first == -1:
        return out
    turns = rank - abs(rank + first + 1) % rank
    order = [*range(rank)][turns:] + [*range(rank)][:turns]
    return moveaxis(out, order, range(rank))


r_ = Joined(
    "r_",
    (0, 1, -1),
    """Ranges, arrays and numbers joined along the first dimension.

    A slice stands for a range, as in `mgrid`. A string at the beginning may give up to three
    integers with commas: the axis along which to join, the least rank of the parts, and the place
    of the dimensions of parts of lower rank; "r" and "c" make a row or a column of a vector.

    >>> import covector.numpy as jnp
    >>> jnp.r_[jnp.array([1, 2]), 0, 5:8]
    Array([1, 2, 0, 5, 6, 7], dtype=int32)
    >>> jnp.r_["c", 1:3].shape
    (2, 1)
    """,
)

c_ = Joined(
    "c_",
    (-1, 2, 0),
    """Ranges, arrays and numbers joined along the last dimension, vectors as columns; see `r_`.

    >>> import covector.numpy as jnp
    >>> jnp.c_[jnp.array([1, 2]), jnp.array([3, 4])]
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """,
)

# An index as it is written: `s_[1:, None]` is `(slice(1, None), None)`.
s_, index_exp = np.s_, np.index_exp
