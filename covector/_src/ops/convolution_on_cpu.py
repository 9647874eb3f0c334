"""Convolutions as they are written for CPUs.

A depthwise convolution, in which each feature has its own window, is a convolution of as many
groups as there are features, and XLA does one after another.  It is better written as what it is, a
sum of shifted arrays, one for each element of the window (left), which XLA makes one loop of.  Its
cotangents are convolutions of the same kind, and of another kind, whose window is large and whose
result is small (right); they are written element by element of the result:

    out_i = sum over j of  w_j x_(s i + d j)          out_j = sum over i of  w_i x_(s j + d i)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.avals import ShapedArray, aval_of
from .arithmetic import add_p, mul_p
from .barrier import optimization_barrier_p
from .conversion import convert
from .convolution_shapes import in_order, out_of_order
from .joining import concatenate
from .linear import broadcast_in_dim, constant_like, reduce_sum, reshape, transpose
from .slicing import pad_p, slice_p
from .thresholds import (
    CONVOLUTION,
    CONVOLUTION_FEATURES,
    DEPTHWISE,
    DEPTHWISE_RESULT,
    DEPTHWISE_WINDOW,
)

# XLA's own convolution, on all cores, rather than that of a library on one; what else the library
# does by default, it goes on doing.
OPTION = (
    "xla_cpu_experimental_ynn_fusion_type",
    "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_DOT",
)


def emit_by_sums(b: Any, x: Any, y: Any, params: dict[str, Any]) -> Any:
    """Write a convolution as sums of products, or return None if it is not of these kinds.

    Args:
      b: the emitter.
      x, y: MLIR values of lhs and rhs.
      params: the parameters of the primitive.
    """
    (out,), (x_aval, y_aval) = b.avals_out, b.avals_in
    if not dtypes.issubdtype(out.dtype, np.floating) or not out.size or not x_aval.size:
        return None
    numbers = params["dimension_numbers"]
    lhs, rhs = in_order(x_aval.shape, numbers.lhs_spec), in_order(y_aval.shape, numbers.rhs_spec)
    sizes = in_order(out.shape, numbers.out_spec)[2:]
    features, batches = params["feature_group_count"], params["batch_group_count"]
    if 1 < features == lhs[1] and worthwhile(rhs[2:], DEPTHWISE_WINDOW, out.size):
        rule = sum_of_shifted
    elif 1 < batches == lhs[0] and worthwhile(sizes, DEPTHWISE_RESULT, y_aval.size):
        rule = sums_of_products
    else:
        return None
    (found,) = b.written(lambda x, y: [rule(x, y, out, **params)], [x, y])
    return found


def worthwhile(sizes: Sequence[int], limit: int, size: int) -> bool:
    """Whether few enough places, those of a window or of a result, meet enough elements."""
    return 0 < math.prod(sizes) <= limit and size >= DEPTHWISE


def prefer_own_convolution(b: Any, feature_count: int) -> None:
    """Ask for XLA's own convolution in this program, if one of so many features gains by it."""
    size = min(b.avals_out[0].size, b.avals_in[0].size)
    if feature_count >= CONVOLUTION_FEATURES and size >= CONVOLUTION:
        b.module_context.compile_options.setdefault(*OPTION)


# ---------------------------------------------------------------- the two kinds


def sum_of_shifted(
    x: Any,
    y: Any,
    out: ShapedArray,
    *,
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
    dimension_numbers: Any,
    **params: Any,
) -> Any:
    """A convolution of as many groups of features as there are features."""
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    x = padded(ordered(x, lhs_spec, out.dtype), padding, lhs_dilation)
    y = ordered(y, rhs_spec, out.dtype)
    batch, outputs, *sizes = in_order(out.shape, out_spec)
    times = outputs // aval_of(x).shape[1]  # outputs for each feature
    total = None
    for place in itertools.product(*map(range, aval_of(y).shape[2:])):
        part = spaced(x, place, rhs_dilation, sizes, window_strides)
        part = repeated(part, times)
        weight = reshape(spaced(y, place, (1,) * len(sizes), (1,) * len(sizes), None), (outputs,))
        term = mul_p.bind(part, broadcast_in_dim(weight, (batch, outputs, *sizes), (1,)))
        total = term if total is None else add_p.bind(total, term)
    return in_place(total, out, out_spec)


def sums_of_products(
    x: Any,
    y: Any,
    out: ShapedArray,
    *,
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
    dimension_numbers: Any,
    **params: Any,
) -> Any:
    """A convolution of as many groups of batches as there are batches, whose result is small."""
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    x = padded(ordered(x, lhs_spec, out.dtype), padding, lhs_dilation)
    y = ordered(y, rhs_spec, out.dtype)
    (outputs, count, *window), sizes = aval_of(y).shape, in_order(out.shape, out_spec)[2:]
    groups = aval_of(x).shape[0]
    y = reshape(y, (groups, outputs // groups, count, *window))
    dims = (0, *range(2, len(window) + 3))
    results = []
    for place in itertools.product(*map(range, sizes)):
        part = spaced(x, place, window_strides, window, rhs_dilation)
        wide = broadcast_in_dim(part, aval_of(y).shape, dims)
        # XLA's reduction adds up what is in memory many times as fast as what it computes itself.
        (products,) = optimization_barrier_p.bind(mul_p.bind(wide, y))
        results.append(reshape(reduce_sum(products, dims[1:]), (outputs, 1)))
    return in_place(reshape(concatenate(results, 1), (1, outputs, *sizes)), out, out_spec)


# ---------------------------------------------------------------- parts of them


def ordered(x: Any, spec: Sequence[int], dtype: Any) -> Any:
    """An operand with its dimensions in the primitive's own order, in the dtype of the sums."""
    x = convert(x, np.dtype(np.float32) if dtypes.bit_width(dtype) < 32 else dtype)
    return x if tuple(spec) == tuple(range(len(spec))) else transpose(x, tuple(spec))


def in_place(x: Any, out: ShapedArray, spec: Sequence[int]) -> Any:
    """A result with its dimensions where they belong."""
    order = out_of_order(range(out.ndim), spec)
    return convert(x if order == tuple(range(out.ndim)) else transpose(x, order), out.dtype)


def padded(x: Any, padding: Sequence[tuple[int, int]], dilation: Sequence[int]) -> Any:
    """An operand with zeros around, and between, its elements."""
    config = [(low, high, step - 1) for (low, high), step in zip(padding, dilation)]
    if not any(itertools.chain(*config)):
        return x
    return pad_p.bind(x, constant_like(x, 0), padding_config=((0, 0, 0), (0, 0, 0), *config))


def spaced(
    x: Any,
    place: Sequence[int],
    step: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int] | None,
) -> Any:
    """So many elements of the spatial dimensions of x, from `place` times `step` on."""
    shape = aval_of(x).shape
    strides = (1,) * len(sizes) if strides is None else strides
    starts = [i * by for i, by in zip(place, step)]
    limits = [start + (n - 1) * by + 1 for start, n, by in zip(starts, sizes, strides)]
    return slice_p.bind(
        x,
        start_indices=(0, 0, *starts),
        limit_indices=(*shape[:2], *limits),
        strides=(1, 1, *strides),
    )


def repeated(x: Any, times: int) -> Any:
    """Each feature so often, one after the other."""
    if times == 1:
        return x
    batch, features, *sizes = aval_of(x).shape
    dims = (0, 1, *range(3, len(sizes) + 3))
    wide = broadcast_in_dim(x, (batch, features, times, *sizes), dims)
    return reshape(wide, (batch, features * times, *sizes))
