"""Which convolutions are written otherwise than as XLA's own on CPUs.

XLA does groups one after another, and those of batches many times over; windows of one element it
takes for any window; three dimensions take it one core; and for 64-bit floats it has plain loops
where it does not use a library.  What is written instead is in `convolution_sums`,
`convolution_products` and `convolution_simpler`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.avals import ShapedArray
from .convolution_products import by_places, by_window
from .convolution_shapes import in_order
from .convolution_simpler import by_first_dimension, by_groups
from .convolution_sums import sum_of_shifted, sums_of_products
from .thresholds import (
    CONVOLUTION,
    CONVOLUTION_FEATURES,
    CONVOLUTION_GROUPS,
    CONVOLUTION_LIBRARY,
    CONVOLUTION_PRODUCT,
    CONVOLUTION_SLICES,
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


def emit_otherwise(b: Any, x: Any, y: Any, params: dict[str, Any]) -> Any:
    """Write a convolution as a program of other primitives, or return None if it is better not.

    Args:
      b: the emitter.
      x, y: MLIR values of lhs and rhs.
      params: the parameters of the primitive.
    """
    (out,), (x_aval, y_aval) = b.avals_out, b.avals_in
    sizes = out.size, x_aval.size, y_aval.size
    if not dtypes.issubdtype(out.dtype, np.floating) or 0 in sizes:
        return None
    rule = rule_of(out, x_aval, y_aval, params)
    if rule is None:
        return None
    if rule in (by_groups, by_first_dimension):
        rule = partial(rule, b.primitive.bind)
    (found,) = b.written(lambda x, y: [rule(x, y, out, **params)], [x, y])
    return found


def rule_of(
    out: ShapedArray, x: ShapedArray, y: ShapedArray, params: dict[str, Any]
) -> Callable[..., Any] | None:
    """The function that writes a convolution of these types as a program of other primitives."""
    numbers = params["dimension_numbers"]
    batch, features, *_ = in_order(x.shape, numbers.lhs_spec)
    outputs, count, *window = in_order(y.shape, numbers.rhs_spec)
    elements = math.prod(window)
    places = math.prod(in_order(out.shape, numbers.out_spec)[2:])
    of_features, of_batches = params["feature_group_count"], params["batch_group_count"]
    groups, large = max(of_features, of_batches), out.size >= DEPTHWISE
    few_features = of_features == features or of_features > CONVOLUTION_GROUPS
    if of_features > 1 and few_features and large and count * elements <= DEPTHWISE_WINDOW:
        return sum_of_shifted
    if 1 < of_batches == batch and places <= DEPTHWISE_RESULT and y.size >= DEPTHWISE:
        return sums_of_products
    if max(out.size, x.size, y.size) < CONVOLUTION_PRODUCT:
        return None
    if elements == 1 and of_batches == 1:
        return by_window
    if places == 1:
        return by_places
    if 1 < groups <= CONVOLUTION_GROUPS and (of_batches > 1 or out.size >= CONVOLUTION):
        return by_groups
    missing = out.dtype == np.float64 and max(count, outputs) < CONVOLUTION_LIBRARY
    if (groups > 1 or missing) and places <= min(DEPTHWISE_RESULT, elements):
        return by_places
    if groups > 1:
        return None
    if len(window) > 2 and min(window[0], out.shape[numbers.out_spec[2]]) <= CONVOLUTION_SLICES:
        return by_first_dimension
    return by_window if missing and elements <= DEPTHWISE_WINDOW else None


def prefer_own_convolution(b: Any, feature_count: int) -> None:
    """Ask for XLA's own convolution in this program, if one of so many features gains by it."""
    (out,), (x, _) = b.avals_out, b.avals_in
    narrow = dtypes.issubdtype(out.dtype, np.floating) and out.dtype != np.float64
    if narrow and feature_count >= CONVOLUTION_FEATURES and min(out.size, x.size) >= CONVOLUTION:
        b.module_context.compile_options.setdefault(*OPTION)
