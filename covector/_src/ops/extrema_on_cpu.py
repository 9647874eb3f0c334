"""Maxima and minima of many numbers as they are written for CPUs.

XLA hands large reductions over to a library whose maxima and minima lose NaN.  It knows them by
the function that combines two elements; written as

    max(x, y) = -min(-x, -y)

they stay with XLA, whose code generator sees through that and keeps NaN.  But XLA takes reductions
apart first: one over windows of 32 elements, in slow loops, and one over what they leave.  It does
so unless all reduced dimensions are as short as a window, so lines are folded up until they are,
and neighbouring reductions get two different spellings of the same function, that they may not be
merged again:

    a line of n = 32 k elements:  k rows of 32; over the rows, element by element; over the 32

(over 8 rows at a time where there are many, which leaves shorter lines).

Several devices each find the extremum of their part, and then one of all; which knows the function
by its name alone, and loses NaN again.  So there they find besides whether there is a NaN.

Where lines do not lie along the last dimension, such loops would jump through memory.  There the
first step is elementwise, the greatest of some slices, and what is left is XLA's to take apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from ..core.avals import ShapedArray
from .thresholds import EXTREMUM_SLICED, EXTREMUM_SLICES, EXTREMUM_WINDOW

# Lines of more rows than that are folded up so many rows at a time.
_MOST_ROWS, _ROWS = 16, 8


def emit_combined(b: Any, scalar: ShapedArray, mirrored: str, x: Any, y: Any) -> Any:
    """Write the extremum of two elements so that the library does not know it.

    Args:
      b: the emitter.
      scalar: the type of an element.
      mirrored: the StableHLO op of the counterpart: of the minimum for the maximum.
      x, y: the elements.
    """
    other = b.op(mirrored, *[b.op("negate", v, out=scalar) for v in (x, y)], out=scalar)
    return b.op("negate", other, out=scalar)


def emit_extremum(b: Any, x: Any, axes: Sequence[int], op: str, mirrored: str, start: Any) -> Any:
    """Write the extremum over some dimensions.

    Args:
      b: the emitter.
      x: the operand, an MLIR value of any shape that has elements.
      axes: distinct dimensions.
      op, mirrored: the StableHLO ops of the extremum and of its counterpart.
      start: the extremum of nothing.
    """
    (aval,), (out,) = b.avals_in, b.avals_out
    # Neighbouring dimensions count as one if both are reduced, or both kept.
    groups = [
        (reduced, math.prod([aval.shape[dim] for dim in dims]))
        for reduced, dims in groupby(range(aval.ndim), lambda dim: dim in axes)
    ]
    writer = _Writer(b, out.dtype, op, mirrored, start)
    shape = [size for _, size in groups]
    if groups and groups[-1][0]:
        *shape, count = shape
        lines = math.prod(shape)
        x = writer.of_lines(writer.reshaped(x, (lines, count)), lines, count)
    x = writer.reshaped(x, tuple(shape))
    inner = [i for i in range(len(shape)) if groups[i][0]]
    if inner:
        x = writer.of_columns(x, tuple(shape), inner)
    return writer.reshaped(x, out.shape)


def emit_beside_nan(b: Any, x: Any, axes: Sequence[int], found: Any) -> Any:
    """Write NaN where there is one, and otherwise what was found.

    Args:
      b: the emitter of an extremum.
      x: its operand.
      axes: the dimensions over which it goes.
      found: the extremum, wherever there is no NaN.
    """
    (aval,), (out,) = b.avals_in, b.avals_out
    flag = ShapedArray((), np.dtype(np.bool_))
    is_nan = b.compare("NE", x, x, aval.dtype, out=ShapedArray(aval.shape, flag.dtype))
    (some,) = b.op_with_regions(
        "reduce",
        [is_nan, b.constant(False)],
        [((flag, flag), lambda p, q: [b.op("or", p, q, out=flag)])],
        out=[ShapedArray(out.shape, flag.dtype)],
        dimensions=tuple(axes),
    )
    return b.op("select", some, b.full(np.nan, out), found, out=out)


class _Writer:
    """Writes the parts of one extremum; the arrays are MLIR values, whose shapes go with them."""

    def __init__(self, b: Any, dtype: Any, op: str, mirrored: str, start: Any):
        self.b = b
        self.op = op
        self.mirrored = mirrored
        self.scalar = ShapedArray((), dtype)
        self.start = b.constant(start)
        self.swapped = False

    def aval(self, shape: tuple[int, ...]) -> ShapedArray:
        return ShapedArray(shape, self.scalar.dtype)

    def reshaped(self, x: Any, shape: tuple[int, ...]) -> Any:
        return self.b.op("reshape", x, out=self.aval(shape))

    def part(self, x: Any, shape: Sequence[int], dim: int, start: int, stop: int) -> Any:
        """The elements from `start` up to `stop` along a dimension."""
        starts, stops = [0] * len(shape), list(shape)
        starts[dim], stops[dim] = start, stop
        out = self.aval(tuple(stop - start for start, stop in zip(starts, stops)))
        strides = [1] * len(shape)
        return self.b.op(
            "slice", x, out=out, start_indices=starts, limit_indices=stops, strides=strides
        )

    def greater(self, x: Any, y: Any, shape: tuple[int, ...]) -> Any:
        return self.b.op(self.op, x, y, out=self.aval(shape))

    def combined(self, x: Any, y: Any) -> list[Any]:
        """The extremum of two elements, in a spelling that changes from reduction to reduction."""
        both = (y, x) if self.swapped else (x, y)
        return [emit_combined(self.b, self.scalar, self.mirrored, *both)]

    def reduced(self, x: Any, shape: tuple[int, ...], dims: Sequence[int]) -> Any:
        left = tuple([size for dim, size in enumerate(shape) if dim not in dims])
        (out,) = self.b.op_with_regions(
            "reduce",
            [x, self.start],
            [((self.scalar, self.scalar), self.combined)],
            out=[self.aval(left)],
            dimensions=tuple(dims),
        )
        self.swapped = not self.swapped
        return out

    def of_lines(self, x: Any, lines: int, count: int) -> Any:
        """Of the lines of a matrix of so many lines of so many elements."""
        if count <= EXTREMUM_WINDOW:
            return self.reduced(x, (lines, count), (1,))
        width = _row(count)
        many = count > width * _MOST_ROWS
        rest = count % (width * _ROWS if many else width)
        if rest:
            whole = count - rest
            head = self.part(x, (lines, count), 1, 0, whole)
            tail = self.part(x, (lines, count), 1, whole, count)
            parts = self.of_lines(head, lines, whole), self.of_lines(tail, lines, rest)
            return self.greater(*parts, (lines,))
        rows = _ROWS if many else count // width
        blocks = count // (rows * width)
        x = self.reshaped(x, (lines * blocks, rows, width))
        x = self.reduced(x, (lines * blocks, rows, width), (1,))
        x = self.reduced(x, (lines * blocks, width), (1,))
        return self.of_lines(self.reshaped(x, (lines, blocks)), lines, blocks) if many else x

    def of_columns(self, x: Any, shape: tuple[int, ...], dims: Sequence[int]) -> Any:
        """Over dimensions of which none is the last one."""
        dim = dims[0]
        long = shape[dim] > EXTREMUM_SLICES * EXTREMUM_WINDOW
        if len(dims) == 1 and long and math.prod(shape[dim + 1 :]) >= EXTREMUM_SLICED:
            # What occurs in two slices, if they overlap, does not change the greatest.
            count = shape[dim]
            size = -(-count // EXTREMUM_SLICES)
            starts = [min(i * size, count - size) for i in range(EXTREMUM_SLICES)]
            parts = [self.part(x, shape, dim, start, start + size) for start in starts]
            shape = (*shape[:dim], size, *shape[dim + 1 :])
            while len(parts) > 1:
                parts = [self.greater(*two, shape) for two in zip(parts[::2], parts[1::2])]
            (x,) = parts
        return self.reduced(x, shape, dims)


def _row(count: int) -> int:
    """How many elements of a line make a row: as many as a window has, or a divisor nearby with
    which nothing is left over."""
    few = range(EXTREMUM_WINDOW, EXTREMUM_WINDOW // 2, -1)
    exact = (w for w in few if count % w == 0 and count // w <= _MOST_ROWS)
    return next(exact, EXTREMUM_WINDOW)
