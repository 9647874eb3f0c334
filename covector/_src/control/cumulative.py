"""Cumulative reductions: of the elements up to each one along an axis.

On CPUs they are a loop over the axis, which visits every element once.  Where there is but a number
or a few at each step, the loop takes several steps at a time, so that most of their combinations do
not wait for those of the step before; where there are many that lie far apart, they are brought
side by side.  On other devices, and where there are few elements, they are reductions over windows
that reach back to the first element; XLA makes a tree of these.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import config, dtypes, errors, window_errors
from ..base.dims import at_least
from ..base.shapes import with_size
from ..core.avals import ShapedArray
from ..core.primitive import Primitive
from ..ops.arithmetic import add_p, max_p, min_p, mul_p
from ..ops.base import Op, Sample, draw
from ..ops.emitted import Emitted
from ..ops.families import INEXACT, check_accepts
from ..ops.joining import emit_part
from ..ops.linear import Linear, move_axis
from ..ops.logaddexp import logaddexp, logaddexp_duals
from ..ops.native import kernel_sums, summed_lines
from ..ops.reductions import greatest, least
from ..ops.shaping import rev
from ..ops.thresholds import CUMULATIVE, CUMULATIVE_LINES, CUMULATIVE_ROW, CUMULATIVE_WIDTH
from ..ops.windows_family import emit_scalars, emit_windows, window_params
from ..transforms.stage import stage_closed
from .associative_scan import prefixes

# Up to this many elements, windows are no slower than a loop.
AT_ONCE = 16

# ---------------------------------------------------------------- the family


class Cumulative(Op):
    """Fold up the elements along `axis` as far as each of them; from the last on if `reverse`.

    Class attributes:
      combine: the primitive that combines two elements.
      ufunc: the NumPy function that does.
      rounds: whether combining rounds floats, so that it is better done in more digits.
      in_blocks: whether a loop may take several steps at a time.
      sampled: dtypes on which the contract tests sample it.
    """

    combine: Primitive
    ufunc: np.ufunc
    rounds = True
    in_blocks = True
    sampled: tuple[str, ...] = ("float32", "bfloat16", "complex64", "int32")

    def identity(self, dtype: Any) -> np.ndarray:
        """What leaves every element as it is."""
        raise NotImplementedError

    def shape(self, x, *, axis, reverse):
        if not 0 <= axis < x.ndim:
            raise ValueError(window_errors.cumulative_axis(self.name, axis, x.shape))
        return x.shape

    def dtype(self, x, *, axis, reverse):
        if not dtypes.issubdtype(x.dtype, np.number):
            raise TypeError(errors.dtype_not_accepted(self.name, x.dtype, (np.number,), 0, 1))
        return x.dtype

    def ref(self, x, *, axis, reverse):
        wide = x.astype(wider(x.dtype) if self.rounds else x.dtype)
        if reverse:
            wide = np.flip(wide, axis)
        out = self.ufunc.accumulate(wide, axis, wide.dtype)
        return (np.flip(out, axis) if reverse else out).astype(x.dtype)

    def jvp(self, primals, tangents, *, axis, reverse):
        # All partial combinations, of elements with their tangents.
        both = [*primals, *tangents]
        if reverse:
            both = [rev(x, (axis,)) for x in both]
        both = prefixes(self.combine_duals, both, axis)
        if reverse:
            both = [rev(x, (axis,)) for x in both]
        out, t = both
        return out, t

    def combine_duals(self, first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
        """Combine elements that have tangents."""
        (x, t), (y, u) = first, second
        return list(self.combine.jvp((x, y), (t, u)))

    def vmap(self, batch, dims, x, *, axis, reverse):
        (dim,) = dims
        return self.bind(x, axis=axis + (axis >= dim), reverse=reverse), dim

    def emit(self, b, x, *, axis, reverse):
        (aval,) = b.avals_in
        if aval.size == 0 or aval.shape[axis] == 1:
            return x
        count, none = aval.shape[axis], ((0, 0),) * aval.ndim
        if b.platform == "cpu" and at_least(count, AT_ONCE + 1):
            return self.emit_on_cpu(b, x, axis, reverse)
        window = window_params(
            with_size((1,) * aval.ndim, axis, count),
            padding=with_size(none, axis, (0, count - 1) if reverse else (count - 1, 0)),
        )
        scalar = aval.update(shape=())
        init = b.constant(self.identity(aval.dtype))

        def body(x: Any, y: Any) -> list[Any]:
            return [self.emit_combined(b, scalar, x, y)]

        (out,) = emit_windows(b, [x], [init], [scalar], body, window)
        return out

    def emit_on_cpu(self, b, x, axis, reverse):
        """Write the kind of loop that suits the shape."""
        (aval,) = b.avals_in
        lines, row = math.prod(aval.shape[:axis]), math.prod(aval.shape[axis + 1 :])
        if aval.size < CUMULATIVE or row >= CUMULATIVE_ROW or not self.in_blocks:
            return self.emit_loop(b, x, axis, reverse, 1)
        if lines < CUMULATIVE_LINES:
            return self.emit_loop(b, x, axis, reverse, CUMULATIVE_WIDTH)

        def side_by_side(x: Any) -> list[Any]:
            return [move_axis(self.bind(move_axis(x, axis, 0), axis=0, reverse=reverse), 0, axis)]

        return b.written(side_by_side, [x])[0]

    def emit_loop(self, b, x, axis, reverse, width):
        """Write the loop over the axis, which takes `width` elements at a step.

        What is added up or multiplied is kept in twice the digits: one by one, the error would
        grow with the number of elements.
        """
        (aval,) = b.avals_in
        count, rest = aval.shape[axis], aval.shape[axis] % width
        index = ShapedArray((), np.dtype(np.int32))
        part = aval.update(shape=with_size(aval.shape, axis, 1))
        total = part.update(dtype=wider(aval.dtype) if self.rounds else aval.dtype)
        begin, end = (count, rest) if reverse else (0, count - rest)
        first, last, stride = [b.constant(i, np.int32) for i in (begin, end, width)]

        def proceed(i: Any, *_: Any) -> list[Any]:
            flag = index.update(dtype=np.dtype(np.bool_))
            return [b.compare("GT" if reverse else "LT", i, last, np.int32, out=flag)]

        def step(i: Any, x: Any, acc: Any, out: Any) -> list[Any]:
            following = b.op("subtract" if reverse else "add", i, stride, out=index)
            at = following if reverse else i
            return [following, x, *self.emit_block(b, x, acc, out, axis, at, width, reverse)]

        state = [index, aval, total, aval]
        start = [first, x, b.full(self.identity(total.dtype), total), b.full(0, aval)]
        regions = [(state, proceed), (state, step)]
        _, _, acc, out = b.op_with_regions("while", start, regions, state)
        if rest:
            at = b.constant(0, np.int32) if reverse else last
            _, out = self.emit_block(b, x, acc, out, axis, at, rest, reverse)
        return out

    def emit_block(self, b, x, acc, out, axis, at, width, reverse):
        """Write one step: `width` elements from the index `at` on are combined with one another,
        and with the total `acc` of those before, and written into `out`."""
        (aval,) = b.avals_in
        block, part = [aval.update(shape=with_size(aval.shape, axis, n)) for n in (width, 1)]
        total = part.update(dtype=wider(aval.dtype) if self.rounds else aval.dtype)
        within = total if width == 1 else part.update(dtype=self.block_dtype(aval.dtype))
        starts = with_size([b.constant(0, np.int32)] * aval.ndim, axis, at)
        elements = b.op("dynamic_slice", x, *starts, out=block, slice_sizes=block.shape)
        chain, results = None, []
        for i in reversed(range(width)) if reverse else range(width):
            element = elements if width == 1 else emit_part(b, elements, block, axis, i, 1)
            element = b.convert(element, part, within.dtype)
            chain = element if chain is None else self.emit_combined(b, within, chain, element)
            wide = b.convert(chain, within, total.dtype)
            results.append(self.emit_combined(b, total, acc, wide))
        written = [b.convert(result, total, aval.dtype) for result in results]
        written = written[::-1] if reverse else written
        joined = (
            written[0] if width == 1 else b.op("concatenate", *written, out=block, dimension=axis)
        )
        return results[-1], b.op("dynamic_update_slice", out, joined, *starts, out=aval)

    def block_dtype(self, dtype: Any) -> Any:
        """The dtype in which the few elements of one step of a loop are combined."""
        return wider(dtype) if self.rounds else dtype

    def emit_combined(self, b: Any, aval: ShapedArray, x: Any, y: Any) -> Any:
        """Write the combination of two arrays of one type."""
        return emit_scalars(b, self.combine, aval, x, y)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, axis in [((5,), 0), ((2, 3), 1), ((3, 1, 2), 0), ((2, 1), 1), ((0, 2), 0)]:
            for dtype in self.sampled:
                for reverse in (False, True):
                    yield Sample((draw(rng, shape, dtype),), dict(axis=axis, reverse=reverse))


def wider(dtype: Any) -> Any:
    """The dtype in which floats of a dtype are added up; integers stay as they are."""
    for kind, wide in ((np.floating, np.float64), (np.complexfloating, np.complex128)):
        if dtypes.issubdtype(dtype, kind):
            return np.dtype(wide)
    return dtype


class CumSum(Cumulative, Linear):
    """The sum of the elements up to each one."""

    combine = add_p
    ufunc = np.add
    jvp = Linear.jvp

    def identity(self, dtype):
        return np.array(0, dtype)

    def block_dtype(self, dtype):
        # A few numbers lose next to nothing if they are added up in their own digits, which takes
        # two thirds of the time.
        narrow = dtypes.issubdtype(dtype, np.floating) and dtypes.bit_width(dtype) < 32
        return np.dtype(np.float32) if narrow else dtype

    def emit_on_cpu(self, b, x, axis, reverse):
        (aval,) = b.avals_in
        if kernel_sums(b, aval, axis):
            return summed_lines(Emitted(b, x, aval), axis, reverse).value
        return super().emit_on_cpu(b, x, axis, reverse)

    def transpose(self, ct, x, *, axis, reverse):
        return (self.bind(ct, axis=axis, reverse=not reverse),)


class CumProd(Cumulative):
    """The product of the elements up to each one."""

    combine = mul_p
    ufunc = np.multiply

    def identity(self, dtype):
        return np.array(1, dtype)


class CumMax(Cumulative):
    """The greatest of the elements up to each one."""

    combine = max_p
    ufunc = np.maximum
    rounds = False

    def identity(self, dtype):
        return least(dtype)


class CumMin(Cumulative):
    """The least of the elements up to each one."""

    combine = min_p
    ufunc = np.minimum
    rounds = False

    def identity(self, dtype):
        return greatest(dtype)


class CumLogSumExp(Cumulative):
    """The logarithm of the sum of the exponentials of the elements up to each one."""

    in_blocks = False
    sampled = ("float32", "bfloat16", "complex64")

    def identity(self, dtype):
        return least(dtype)

    def dtype(self, x, **params):
        check_accepts(self.name, INEXACT, (x,))
        return x.dtype

    def ref(self, x, *, axis, reverse):
        parts = np.moveaxis(x.astype(wider(x.dtype)), axis, 0)
        parts = parts[::-1] if reverse else parts
        out = np.empty_like(parts)
        for i in range(len(parts)):
            # Scaled by the greatest real part so far; where all are -inf, by nothing.
            greatest = np.max(parts[: i + 1].real, 0)
            scale = np.where(np.isinf(greatest), 0, greatest)
            out[i] = np.log(np.sum(np.exp(parts[: i + 1] - scale), 0)) + scale
        out = out[::-1] if reverse else out
        return np.moveaxis(out, 0, axis).astype(x.dtype)

    def combine_duals(self, first, second):
        (x, t), (y, u) = first, second
        return logaddexp_duals(x, t, y, u)

    def emit_combined(self, b, aval, x, y):
        with config.enable_x64(True):
            closed = stage_closed(lambda x, y: [logaddexp(x, y)], (aval, aval))
        (out,) = b.inline(closed, (x, y))
        return out


cumsum_p = CumSum("cumsum")
cumprod_p = CumProd("cumprod")
cummax_p = CumMax("cummax")
cummin_p = CumMin("cummin")
cumlogsumexp_p = CumLogSumExp("cumlogsumexp")

# ---------------------------------------------------------------- public functions


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The sums of the elements of an array up to each one along an axis.

    Args:
      operand: an array of numbers. They are added up in their own dtype, which may be narrow.
      axis: counted from 0.
      reverse: whether to begin with the last element.

    Returns:
      An array of the same shape and dtype.

    Raises:
      ValueError: there is no such axis.
      TypeError: the operand is boolean.

    >>> from covector import lax
    >>> lax.cumsum(np.array([1, 2, 3]))
    Array([1, 3, 6], dtype=int32)
    >>> lax.cumsum(np.array([1, 2, 3]), reverse=True)
    Array([6, 5, 3], dtype=int32)
    """
    return cumsum_p.bind(operand, axis=operator.index(axis), reverse=bool(reverse))


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The products of the elements up to each one along an axis; see `cumsum`.

    >>> from covector import lax
    >>> lax.cumprod(np.array([1, 2, 3]))
    Array([1, 2, 6], dtype=int32)
    """
    return cumprod_p.bind(operand, axis=operator.index(axis), reverse=bool(reverse))


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The greatest of the elements up to each one along an axis; see `cumsum`.

    >>> from covector import lax
    >>> lax.cummax(np.array([1, 3, 2]))
    Array([1, 3, 3], dtype=int32)
    """
    return cummax_p.bind(operand, axis=operator.index(axis), reverse=bool(reverse))


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The least of the elements up to each one along an axis; see `cumsum`.

    >>> from covector import lax
    >>> lax.cummin(np.array([2, 3, 1]))
    Array([2, 2, 1], dtype=int32)
    """
    return cummin_p.bind(operand, axis=operator.index(axis), reverse=bool(reverse))


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The logarithm of the sum of the exponentials of the elements up to each one; see `cumsum`.

    No power overflows. The operand is an array of floats or complex numbers.

    >>> from covector import lax
    >>> lax.cumlogsumexp(np.log(np.array([1.0, 2.0, 5.0]))).round(4)
    Array([0.    , 1.0986, 2.0794], dtype=float32)
    """
    return cumlogsumexp_p.bind(operand, axis=operator.index(axis), reverse=bool(reverse))
