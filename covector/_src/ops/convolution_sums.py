"""Convolutions of many groups of few features, as sums of shifted arrays.

A depthwise convolution, in which each feature has its own window, is a convolution of as many
groups as there are features, and XLA does one after another.  It is better written as what it is, a
sum of shifted arrays, one for each element of the window (left), which XLA makes one loop of; so is
one with a few features in each group.  The cotangents of a depthwise one are convolutions of the
same kind, and of another kind, whose window is large and whose result is small (right); they are
written element by element of the result:

    out_i = sum over j of  w_j x_(s i + d j)          out_j = sum over i of  w_i x_(s j + d i)
"""

from __future__ import annotations

import itertools
from typing import Any

from ..core.avals import ShapedArray, aval_of
from .arithmetic import add_p, mul_p
from .barrier import optimization_barrier_p
from .convolution_parts import in_place, ordered, padded, part_of, repeated, spaced, surrounded
from .convolution_shapes import Convolution, in_order
from .joining import concatenate
from .linear import broadcast_in_dim, reduce_sum, reshape


def sum_of_shifted(x: Any, y: Any, out: ShapedArray, conv: Convolution) -> Any:
    """A convolution of many groups of few features."""
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    x = surrounded(ordered(x, lhs_spec, out.dtype), conv.padding, conv.lhs_dilation)
    y = ordered(y, rhs_spec, out.dtype)
    batch, outputs, *sizes = in_order(out.shape, out_spec)
    _, count, *window = aval_of(y).shape
    groups = conv.feature_group_count
    total = None
    for index in range(count):
        of_groups = taken(x, index, count, groups)
        weights = part_of(y, 1, index, count)
        for place in itertools.product(*map(range, window)):
            part = spaced(of_groups, place, conv.rhs_dilation, sizes, conv.window_strides)
            part = repeated(part, outputs // groups)
            ones = (1,) * len(sizes)
            weight = reshape(spaced(weights, place, ones, ones, None), (outputs,))
            term = mul_p.bind(part, broadcast_in_dim(weight, (batch, outputs, *sizes), (1,)))
            total = term if total is None else add_p.bind(total, term)
    # So many terms are not to be computed again by each operation that reads the result.
    (total,) = optimization_barrier_p.bind(total)
    return in_place(total, out, out_spec)


def taken(x: Any, index: int, count: int, groups: int) -> Any:
    """The feature of this index of each group, of so many in one."""
    if count == 1:
        return x
    batch, _, *sizes = aval_of(x).shape
    # A group's features beside one another are like the parts of a dimension.
    x = reshape(x, (batch * groups, count, *sizes))
    return reshape(part_of(x, 1, index, count), (batch, groups, *sizes))


def sums_of_products(x: Any, y: Any, out: ShapedArray, conv: Convolution) -> Any:
    """A convolution of as many groups of batches as there are batches, whose result is small."""
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    x = padded(ordered(x, lhs_spec, out.dtype), conv.padding, conv.lhs_dilation)
    y = ordered(y, rhs_spec, out.dtype)
    (outputs, count, *window), sizes = aval_of(y).shape, in_order(out.shape, out_spec)[2:]
    groups = aval_of(x).shape[0]
    y = reshape(y, (groups, outputs // groups, count, *window))
    dims = (0, *range(2, len(window) + 3))
    results = []
    for place in itertools.product(*map(range, sizes)):
        part = spaced(x, place, conv.window_strides, window, conv.rhs_dilation)
        wide = broadcast_in_dim(part, aval_of(y).shape, dims)
        # XLA's reduction adds up what is in memory many times as fast as what it computes itself.
        (products,) = optimization_barrier_p.bind(mul_p.bind(wide, y))
        results.append(reshape(reduce_sum(products, dims[1:]), (outputs, 1)))
    return in_place(reshape(concatenate(results, 1), (1, outputs, *sizes)), out, out_spec)
