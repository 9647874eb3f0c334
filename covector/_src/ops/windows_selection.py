"""What follows from where the maximum or minimum of a window is: two linear maps, an adjoint pair.

select_and_gather_add  <->  select_and_scatter_add

The first takes from each window the element of one array that stands where the maximum of another
is; it is the derivative of the maximum.  The second puts each element of an array where the maximum
of its window is, adding up what meets there.  Neither has a derivative in the array of which the
maxima are taken.  Where several elements are the greatest, the first of them counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import window_errors
from ..core.avals import aval_of
from ..core.primitive import Primitive
from ..core.zeros import Zero
from .arithmetic import add_p
from .base import Op, Sample, draw
from .bitwise import or_p
from .comparison import ge_p, le_p
from .linear import bring_to
from .reductions import greatest, least
from .slicing import pad_p, slice_p
from .windows_family import (
    Window,
    check_windows,
    emit_scalars,
    emit_windows,
    window_attributes,
    window_params,
    with_batch,
)
from .windows_reference import windows_of


def last_choice(select_prim: Primitive, dtype: Any) -> np.ndarray:
    """The number of a dtype that a selection by `ge` or `le` prefers to no other."""
    return least(dtype) if select_prim is ge_p else greatest(dtype)


class Selection(Op):
    """A primitive that is linear in its first operand; the second only tells where it acts."""

    def jvp(self, primals, tangents, **params):
        (x, operand), (t, _) = primals, tangents
        out = self.bind(x, operand, **params)
        if type(t) is Zero:
            return out, Zero(aval_of(out).to_tangent_aval())
        return out, self.bind(t, operand, **params)

    def vmap(self, axis, dims, x, operand, *, select_prim, **window):
        x, operand = [bring_to(v, axis.size, dim, 0) for v, dim in zip((x, operand), dims)]
        return self.bind(x, operand, select_prim=select_prim, **with_batch(window, 0)), 0


class SelectAndGatherAdd(Selection):
    """The elements of `tangents` that stand where those of `operand` are the greatest, or least."""

    def shape(self, tangents, operand, *, select_prim, **window):
        if tangents.shape != operand.shape:
            shapes = [tangents.shape, operand.shape]
            raise TypeError(window_errors.operand_shapes(self.name, shapes))
        return check_windows(self.name, operand.shape, **window)

    def ref(self, tangents, operand, *, select_prim, **window):
        fill = last_choice(select_prim, operand.dtype)
        return chosen(operand, tangents, fill, 0, select_prim, window)

    def transpose(self, ct, tangents, operand, *, select_prim, **window):
        base, dilation = window.pop("base_dilation"), window.pop("window_dilation")
        if any(step != 1 for step in dilation):
            raise NotImplementedError(window_errors.dilated_maximum(dilation))
        dilates = any(step != 1 for step in base)
        if dilates:
            between = tuple([(0, 0, step - 1) for step in base])
            fill = last_choice(select_prim, aval_of(operand).dtype)
            operand = pad_p.bind(operand, fill, padding_config=between)
        out = select_and_scatter_add_p.bind(ct, operand, select_prim=select_prim, **window)
        if dilates:
            shape = aval_of(out).shape
            starts = (0,) * len(shape)
            out = slice_p.bind(out, start_indices=starts, limit_indices=shape, strides=base)
        return out, None

    def emit(self, b, tangents, operand, *, select_prim, **window):
        (out,) = b.avals_out
        of_tangents, of_operand = [aval.update(shape=()) for aval in b.avals_in]

        def body(x: Any, t: Any, y: Any, u: Any) -> list[Any]:
            first = emit_scalars(b, select_prim, of_operand, x, y)
            chosen = b.op("select", first, x, y, out=of_operand)
            return [chosen, b.op("select", first, t, u, out=of_tangents)]

        inits = [last_choice(select_prim, of_operand.dtype), np.array(0, of_tangents.dtype)]
        _, result = emit_windows(
            b,
            [operand, tangents],
            [b.constant(init) for init in inits],
            [of_operand, of_tangents],
            body,
            window,
            [out.update(dtype=of_operand.dtype), out],
        )
        return result

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, window in [
            ((6,), window_params((2,), (2,))),
            ((5, 4), window_params((3, 2), (1, 2), ((1, 0), (0, 1)))),
            ((3, 4), window_params((2, 2), base_dilation=(2, 1))),
            ((0, 4), window_params((1, 2))),
        ]:
            for select_prim in (ge_p, le_p):
                args = (draw(rng, shape, "float32"), draw(rng, shape, "float32"))
                yield Sample(args, window | dict(select_prim=select_prim), constant=(1,))


class SelectAndScatterAdd(Selection):
    """Add each element of `source` to where `operand` is the greatest, or least, in its window."""

    def shape(self, source, operand, *, select_prim, **window):
        places = check_windows(self.name, operand.shape, **window_params(**window))
        if source.shape != places:
            raise TypeError(window_errors.source_shape(self.name, source.shape, places))
        return operand.shape

    def ref(self, source, operand, *, select_prim, **window):
        window = window_params(**window)
        places = np.arange(operand.size).reshape(operand.shape)
        fill = last_choice(select_prim, operand.dtype)
        where = chosen(operand, places, fill, -1, select_prim, window)
        out = np.zeros(operand.size, source.dtype)
        np.add.at(out, where[where >= 0], source[where >= 0])
        return out.reshape(operand.shape)

    def transpose(self, ct, source, operand, *, select_prim, **window):
        window = window_params(**window)
        return select_and_gather_add_p.bind(ct, operand, select_prim=select_prim, **window), None

    def emit(self, b, source, operand, *, select_prim, **window):
        of_source, of_operand = b.avals_in
        padding = window["padding"]
        if not padding:  # one window, one element; XLA aborts on it
            return source
        if b.platform != "tpu" and any(pad != (0, 0) for pad in padding):
            # XLA's own padding fails on CPUs and GPUs: pad, and take the middle of the result.
            fill = last_choice(select_prim, of_operand.dtype)
            return self.emit_padded(b, source, operand, fill, select_prim, window)
        scalar, value = of_operand.update(shape=()), of_source.update(shape=())
        total = or_p if value.dtype == np.bool_ else add_p
        (out,) = b.op_with_regions(
            "select_and_scatter",
            [operand, source, b.constant(0, value.dtype)],
            [
                ((scalar, scalar), lambda x, y: [emit_scalars(b, select_prim, scalar, x, y)]),
                ((value, value), lambda x, y: [emit_scalars(b, total, value, x, y)]),
            ],
            **window_attributes(window),
        )
        return out

    def emit_padded(self, b, source, operand, fill, select_prim, window):
        """Write it for an operand that is padded first, of which no padding is left then."""
        of_source, of_operand = b.avals_in
        low, high = zip(*window["padding"])
        sizes = [lo + size + hi for size, (lo, hi) in zip(of_operand.shape, window["padding"])]
        wide = of_operand.update(shape=sizes)
        operand = b.op(
            "pad",
            operand,
            b.constant(fill),
            out=wide,
            edge_padding_low=low,
            edge_padding_high=high,
            interior_padding=(0,) * len(low),
        )
        out = of_source.update(shape=sizes)
        inner = b.replace(avals_in=(of_source, wide), avals_out=(out,))
        window = window | dict(padding=((0, 0),) * len(low))
        out = self.emit(inner, source, operand, select_prim=select_prim, **window)
        limits = [lo + size for lo, size in zip(low, of_operand.shape)]
        return b.op("slice", out, start_indices=low, limit_indices=limits, strides=(1,) * len(low))

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, places, window in [
            ((6,), (3,), window_params((2,), (2,))),
            ((5, 4), (5, 2), window_params((3, 2), (1, 2), ((1, 1), (0, 1)))),
            ((0, 4), (0, 3), window_params((1, 2))),
        ]:
            del window["base_dilation"], window["window_dilation"]
            for select_prim in (ge_p, le_p):
                args = (draw(rng, places, "float32"), draw(rng, shape, "float32"))
                yield Sample(args, window | dict(select_prim=select_prim), constant=(1,))


def chosen(
    keys: np.ndarray,
    values: np.ndarray,
    fill_key: Any,
    fill_value: Any,
    select_prim: Primitive,
    window: Window,
) -> np.ndarray:
    """In each window the value where the key is preferred to those before it; of NumPy arrays."""
    prefers = np.greater_equal if select_prim is ge_p else np.less_equal
    n = keys.ndim
    views = windows_of(keys, fill_key, **window), windows_of(values, fill_value, **window)
    places = views[0].shape[:n]
    size = math.prod(window["window_dimensions"])
    columns = [np.moveaxis(view.reshape(*places, size), -1, 0) for view in views]
    key, value = np.full(places, fill_key), np.full(places, fill_value, values.dtype)
    for next_key, next_value in zip(*columns):
        stays = prefers(key, next_key)
        key, value = np.where(stays, key, next_key), np.where(stays, value, next_value)
    return value


select_and_gather_add_p = SelectAndGatherAdd("select_and_gather_add")
select_and_scatter_add_p = SelectAndScatterAdd("select_and_scatter_add")
