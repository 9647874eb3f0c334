"""Counting how often numbers occur."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..base import dtypes
from ..core.avals import aval_of
from ..core.zeros import Zero
from .base import Op, Sample, draw
from .emitted import Emitted
from .families import check_accepts
from .gather import scatter_add_p
from .gather_dimensions import ScatterDimensionNumbers
from .linear import expand_dims, full, move_axis
from .native import counted_lines, kernel_serves
from .thresholds import NATIVE

_INT32 = np.dtype(np.int32)


class Count(Op):
    """How often each of the numbers 0, ..., size - 1 occurs along the last axis, as int32.

    Other numbers are not counted.
    """

    def shape(self, x, *, size):
        return (*x.shape[:-1], size)

    def dtype(self, x, *, size):
        check_accepts(self.name, (np.integer,), (x,))
        return _INT32

    def weak_type(self, x, *, size):
        return False

    def ref(self, x, *, size):
        counts = np.zeros((*x.shape[:-1], size), np.int32)
        for index in np.ndindex(x.shape[:-1]):
            line = x[index]
            counts[index] = np.bincount(line[(line >= 0) & (line < size)], minlength=size)
        return counts

    def jvp(self, primals, tangents, *, size):
        out = self.bind(*primals, size=size)
        return out, Zero(aval_of(out).to_tangent_aval())

    def vmap(self, axis, dims, x, *, size):
        return self.bind(move_axis(x, dims[0], 0), size=size), 0

    def emit(self, b, x, *, size):
        numbers = Emitted(b, x, b.avals_in[0])
        if dtypes.bit_width(numbers.dtype) < 32:
            numbers = numbers.astype(_INT32)
        if kernel_serves(b, numbers.aval, numbers.aval.ndim - 1):
            return counted_lines(numbers, size).value
        return b.written(lambda x: [self.one_by_one(x, size)], [x])[0]

    def one_by_one(self, x, size):
        """The counts, by adding 1 at the place of each number."""
        *batch, count = aval_of(x).shape
        dims, along = tuple(range(len(batch))), (len(batch),)
        return scatter_add_p.apply(
            full((*batch, size), 0, _INT32),
            expand_dims(x, (len(batch) + 1,)),
            full((*batch, count), 1, _INT32),
            ScatterDimensionNumbers((), along, along, dims, dims),
        )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, size in [((5,), 3), ((2, 3), 4), ((0,), 2), ((3, 0), 1)]:
            for dtype in ("int32", "int8", "uint8"):
                yield Sample((draw(rng, shape, dtype),), dict(size=size))
        yield Sample((draw(rng, (2, NATIVE), "int32", -2, 9),), dict(size=8))


count_p = Count("count")
