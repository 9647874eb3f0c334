"""Convolutions as simpler convolutions: those of groups without groups, of three dimensions of two.

XLA takes a few groups one after another, and groups of batches many times over.  In three
dimensions it uses one core, and works with the zeros between dilated elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.avals import ShapedArray, aval_of
from .convolution_parts import in_place, ordered, part_of, spaced, surrounded
from .convolution_shapes import ConvDimensionNumbers, Convolution, in_order
from .joining import concatenate
from .linear import reshape, transpose


def by_groups(
    bind: Callable[..., Any],
    x: Any,
    y: Any,
    out: ShapedArray,
    conv: Convolution,
) -> Any:
    """A convolution of groups as a convolution for each, by the primitive's `bind`."""
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    groups = conv.groups
    dim = lhs_spec[1 if conv.feature_group_count > 1 else 0]
    alone = conv._replace(feature_group_count=1, batch_group_count=1)
    parts = [
        bind(part_of(x, dim, i, groups), part_of(y, rhs_spec[0], i, groups), **alone._asdict())
        for i in range(groups)
    ]
    return concatenate(parts, out_spec[1])


def by_first_dimension(
    bind: Callable[..., Any],
    x: Any,
    y: Any,
    out: ShapedArray,
    conv: Convolution,
) -> Any:
    """A convolution as one of a spatial dimension less, by the primitive's `bind`.

    What the window covers along the first spatial dimension becomes features, and its places there
    become examples.
    """
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    x, y = ordered(x, lhs_spec, out.dtype), ordered(y, rhs_spec, out.dtype)
    rest = len(conv.window_strides) - 1
    x = surrounded(x, (conv.padding[0], *((0, 0),) * rest), (conv.lhs_dilation[0], *(1,) * rest))
    (outputs, count, elements, *window), places = aval_of(y).shape, out.shape[out_spec[2]]
    same = tuple(range(out.ndim - 1))
    simpler = conv._replace(
        window_strides=conv.window_strides[1:],
        padding=conv.padding[1:],
        lhs_dilation=conv.lhs_dilation[1:],
        rhs_dilation=conv.rhs_dilation[1:],
        dimension_numbers=ConvDimensionNumbers(same, same, same),
        preferred_element_type=None,
    )
    result = bind(
        covered(x, places, elements, conv.window_strides[0], conv.rhs_dilation[0]),
        reshape(exchanged(y), (outputs, elements * count, *window)),
        **simpler._asdict(),
    )
    batch, _, _, *sizes = in_order(out.shape, out_spec)
    return in_place(exchanged(reshape(result, (batch, places, outputs, *sizes))), out, out_spec)


def covered(x: Any, places: int, elements: int, stride: int, step: int) -> Any:
    """What windows of so many elements cover of the first spatial dimension, at so many places.

    The places are part of the batch of the result, and the elements part of its features.
    """
    batch, count, _, *sizes = aval_of(x).shape
    ones = (1,) * len(sizes)

    def piece(start: int, size: int, by: int) -> Any:
        return exchanged(
            spaced(x, (start, *(0,) * len(sizes)), (1, *ones), (size, *sizes), (by, *ones))
        )

    if elements <= places:
        pieces = [piece(i * step, places, stride) for i in range(elements)]
        found = concatenate(pieces, 2)
    else:
        shape = (batch, 1, elements * count, *sizes)
        pieces = [reshape(piece(i * stride, elements, step), shape) for i in range(places)]
        found = concatenate(pieces, 1)
    return reshape(found, (batch * places, elements * count, *sizes))


def exchanged(x: Any) -> Any:
    """An array with its second and third dimensions in each other's place."""
    return transpose(x, (0, 2, 1, *range(3, aval_of(x).ndim)))
