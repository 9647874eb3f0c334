"""Reductions over windows: sums, maxima and minima of what a window covers at each of its places.

These are pooling layers.  Any other reduction is `control/reduce_window.py`; derivatives of maxima
and minima are `windows_selection.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import dtypes, window_errors
from ..core.avals import aval_of
from ..core.primitive import Primitive
from .arithmetic import add_p, max_p, min_p
from .base import Op, Sample, draw
from .comparison import ge_p, le_p
from .extrema_on_cpu import emit_combined
from .linear import Linear, constant_like
from .reductions import (
    Extremum,
    greatest,
    least,
    loses_nan,
    reduce_max_p,
    reduce_min_p,
)
from .slicing import pad_p
from .windows_family import (
    check_windows,
    emit_scalars,
    emit_windows,
    window_params,
    with_batch,
)
from .windows_reference import windows_of
from .windows_selection import select_and_gather_add_p
from .windows_shapes import adjoint_padding

# ---------------------------------------------------------------- the family


class WindowReduction(Op):
    """Fold up what a window covers, at each of its places, with an associative operation.

    Class attributes:
      combine: the primitive that combines two elements.
      ufunc: the NumPy function that does.
    """

    combine: Primitive
    ufunc: np.ufunc

    def identity(self, dtype: Any) -> np.ndarray:
        """What padding holds: it leaves every element as it is."""
        raise NotImplementedError

    def shape(self, x, **window):
        return check_windows(self.name, x.shape, **window)

    def ref(self, x, **window):
        identity = self.identity(x.dtype)
        windows = windows_of(x, identity, **window)
        axes = tuple(range(x.ndim, 2 * x.ndim))
        return self.ufunc.reduce(windows, axes, x.dtype, initial=identity)

    def vmap(self, axis, dims, x, **window):
        return self.bind(x, **with_batch(window, dims[0])), dims[0]

    def emit(self, b, x, **window):
        scalar = b.avals_out[0].update(shape=())

        def body(x: Any, y: Any) -> list[Any]:
            return [self.emit_combined(b, scalar, x, y)]

        init = b.constant(self.identity(scalar.dtype))
        (out,) = emit_windows(b, [x], [init], [scalar], body, window)
        return out

    def emit_combined(self, b, scalar, x, y):
        """Write the combination of two elements."""
        return emit_scalars(b, self.combine, scalar, x, y)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, window in [
            ((), window_params(())),
            ((6,), window_params((2,), (2,))),
            ((5, 4), window_params((3, 2), (1, 2), ((1, 0), (0, 1)))),
            ((4, 3), window_params((2, 2), base_dilation=(1, 2), padding=((0, 0), (1, 1)))),
            ((3, 0), window_params((2, 1))),
        ]:
            for dtype in ("float32", "bfloat16", "int32"):
                yield Sample((draw(rng, shape, dtype),), window)


# ---------------------------------------------------------------- sums


class ReduceWindowSum(WindowReduction, Linear):
    """The sum over what a window covers, at each of its places."""

    combine = add_p
    ufunc = np.add

    def identity(self, dtype):
        return np.array(0, dtype)

    def dtype(self, x, **window):
        if not dtypes.issubdtype(x.dtype, np.number):
            raise TypeError(window_errors.sum_dtype(self.name, x.dtype))
        return x.dtype

    def transpose(self, ct, x, **window):
        # Sums over the same windows of cotangents that are dilated by the strides.
        shape, strides = x.aval.shape, window["window_strides"]
        pads = adjoint_padding(
            shape,
            window["window_dimensions"],
            strides,
            aval_of(ct).shape,
            window["padding"],
            window["base_dilation"],
            window["window_dilation"],
        )
        config = tuple([(low, high, step - 1) for (low, high), step in zip(pads, strides)])
        ct = pad_p.bind(ct, constant_like(ct, 0), padding_config=config)
        window = window | dict(
            window_strides=window["base_dilation"],
            padding=((0, 0),) * len(shape),
            base_dilation=(1,) * len(shape),
        )
        return (self.bind(ct, **window),)

    def samples(self, rng):
        yield from super().samples(rng)
        yield Sample((draw(rng, (2, 3), "complex64"),), window_params((2, 1), (1, 2)))
        yield Sample((draw(rng, (7,), "float32"),), window_params((3,), window_dilation=(2,)))


# ---------------------------------------------------------------- maxima and minima


class WindowExtremum(WindowReduction):
    """The greatest or least of what a window covers, at each of its places.

    The first of several that are so gets all of the derivative.

    Class attributes:
      prefers: the relation, `ge` or `le`, of the wanted element to those behind it.
      of_axes: the same over whole dimensions.
    """

    prefers: Primitive
    of_axes: Extremum

    def jvp(self, primals, tangents, **window):
        (x,), (t,) = primals, tangents
        out = self.bind(x, **window)
        return out, select_and_gather_add_p.bind(t, x, select_prim=self.prefers, **window)

    def emit_combined(self, b, scalar, x, y):
        if loses_nan(b, scalar.dtype):
            return emit_combined(b, scalar, self.of_axes.mirrored.hlo, x, y)
        return super().emit_combined(b, scalar, x, y)


class ReduceWindowMax(WindowExtremum):
    """The greatest of what a window covers, at each of its places."""

    combine = max_p
    ufunc = np.maximum
    prefers = ge_p
    of_axes = reduce_max_p

    def identity(self, dtype):
        return least(dtype)


class ReduceWindowMin(WindowExtremum):
    """The least of what a window covers, at each of its places."""

    combine = min_p
    ufunc = np.minimum
    prefers = le_p
    of_axes = reduce_min_p

    def identity(self, dtype):
        return greatest(dtype)


reduce_window_sum_p = ReduceWindowSum("reduce_window_sum")
reduce_window_max_p = ReduceWindowMax("reduce_window_max")
reduce_window_min_p = ReduceWindowMin("reduce_window_min")
