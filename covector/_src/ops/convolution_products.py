"""Convolutions as products of matrices.

At one element of the window, a convolution is a product of what the window's places cover of lhs
with that element; at one place of the window, it is a product of what is covered there with the
whole window.  So a convolution of windows of one element is a single product, and so is one with a
window that has a single place, as the cotangent for such windows.  Of groups they are products of
batches of matrices.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ..core.avals import ShapedArray, aval_of
from .arithmetic import add_p
from .contraction import dot_general_p, dot_params
from .convolution_parts import in_place, ordered, padded, spaced, surrounded
from .convolution_shapes import Convolution, in_order
from .joining import concatenate
from .linear import broadcast_in_dim, reshape, transpose


def by_window(x: Any, y: Any, out: ShapedArray, conv: Convolution) -> Any:
    """A convolution as a sum of products, one for each element of the window."""
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    x, y = ordered(x, lhs_spec, out.dtype), ordered(y, rhs_spec, out.dtype)
    features_last = lhs_spec[1] == out.ndim - 1
    sizes, window = in_order(out.shape, out_spec)[2:], aval_of(y).shape[2:]
    ones, start = (1,) * len(sizes), (0,) * len(sizes)

    def product(part: Any, place: Sequence[int]) -> Any:
        weight = reshape(spaced(y, place, ones, ones, None), aval_of(y).shape[:2])
        return weighted(part, weight, conv.feature_group_count, features_last, conv.precision)

    if math.prod(window) == 1 and any(step > 1 for step in conv.lhs_dilation):
        # What is multiplied with zeros between the elements is zero: a quarter of the work.
        total = padded(product(x, start), conv.padding, conv.lhs_dilation)
        return in_place(spaced(total, start, ones, sizes, conv.window_strides), out, out_spec)
    around = padded if math.prod(window) == 1 else surrounded
    x, total = around(x, conv.padding, conv.lhs_dilation), None
    for place in itertools.product(*map(range, window)):
        part = spaced(x, place, conv.rhs_dilation, sizes, conv.window_strides)
        term = product(part, place)
        total = term if total is None else add_p.bind(total, term)
    return in_place(total, out, out_spec)


def weighted(x: Any, weight: Any, groups: int, features_last: bool, precision: Any) -> Any:
    """The features of x multiplied with a matrix of (output features, features of a group).

    Features that are last in memory are rows of a matrix, of which there is one for all examples.
    Other ones are columns of a matrix for each example; weights are repeated for each, if that does
    not make more numbers than there are in x.
    """
    (batch, _, *sizes), (outputs, count) = aval_of(x).shape, aval_of(weight).shape
    x = reshape(x, (batch, groups, count, *sizes))
    weight = reshape(weight, (groups, outputs // groups, count))
    if not features_last and outputs <= math.prod(sizes):
        wide = broadcast_in_dim(weight, (batch, *aval_of(weight).shape), (1, 2, 3))
        numbers = (((3,), (2,)), ((0, 1), (0, 1)))
        out = dot_general_p.bind(wide, x, **dot_params(numbers, precision))
        return reshape(out, (batch, outputs, *sizes))
    out = dot_general_p.bind(x, weight, **dot_params((((2,), (2,)), ((1,), (0,))), precision))
    last = len(sizes) + 2  # of groups, batch, sizes and outputs
    return reshape(transpose(out, (1, 0, last, *range(2, last))), (batch, outputs, *sizes))


def by_places(x: Any, y: Any, out: ShapedArray, conv: Convolution) -> Any:
    """A convolution as products, one for each place of the window."""
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    x, y = ordered(x, lhs_spec, out.dtype), ordered(y, rhs_spec, out.dtype)
    groups, of_groups = conv.groups, int(conv.batch_group_count == 1)
    (batch, outputs, *sizes), (_, count, *window) = in_order(out.shape, out_spec), aval_of(y).shape
    around = padded if math.prod(sizes) == 1 else surrounded
    x = around(x, conv.padding, conv.lhs_dilation)
    y = reshape(y, (groups, outputs // groups, count, *window))
    examples = (batch, groups) if of_groups else (groups, batch)
    contracting = tuple(range(2, len(window) + 3))
    numbers = ((contracting, contracting), ((of_groups,), (0,)))
    results = []
    for place in itertools.product(*map(range, sizes)):
        part = spaced(x, place, conv.window_strides, window, conv.rhs_dilation)
        part = reshape(part, (*examples, count, *window))
        product = dot_general_p.bind(part, y, **dot_params(numbers, conv.precision))
        results.append(reshape(product, (*aval_of(product).shape, 1)))
    found = transpose(concatenate(results, 3), (1, 0, 2, 3))
    return in_place(reshape(found, (batch, outputs, *sizes)), out, out_spec)
