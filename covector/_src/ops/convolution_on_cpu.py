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
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes
from ..base.dims import at_least, max_dim
from ..core.avals import ShapedArray
from .convolution_products import by_places, by_window
from .convolution_shapes import Convolution, in_order
from .convolution_simpler import by_first_dimension, by_groups
from .convolution_sums import sum_of_shifted, sums_of_products
from .thresholds import (
    CONVOLUTION,
    CONVOLUTION_FEATURES,
    CONVOLUTION_GROUPS,
    CONVOLUTION_LIBRARY,
    CONVOLUTION_PAIRS,
    CONVOLUTION_PRODUCT,
    CONVOLUTION_SLICES,
    CONVOLUTION_TERMS,
    CONVOLUTION_WINDOW,
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

# Writes a convolution of two arrays, with the type of its result and the `Convolution`.
Rule = Callable[..., Any]


def emit_otherwise(b: Any, x: Any, y: Any, conv: Convolution) -> Any:
    """Write a convolution as a program of other primitives, or return None if it is better not.

    Args:
      b: the emitter.
      x, y: MLIR values of lhs and rhs.
      conv: the parameters of the primitive.
    """
    (out,), (x_aval, y_aval) = b.avals_out, b.avals_in
    sizes = out.size, x_aval.size, y_aval.size
    if not dtypes.issubdtype(out.dtype, np.floating) or 0 in sizes:
        return None
    rule = rule_of(kind_of(out, x_aval, y_aval, conv))
    if rule is None:
        return None
    if rule in (by_groups, by_first_dimension):
        rule = partial(rule, b.primitive.bind)
    (found,) = b.written(lambda x, y: [rule(x, y, out, conv)], [x, y])
    return found


class Kind(NamedTuple):
    """What the choice of a rule depends on.

    Attributes:
      groups, of_batches: how many groups there are, and whether they are of batches.
      single: whether each group is one feature, or one example, of lhs.
      count, outputs: features of a group of lhs, and outputs of all groups.
      window, places: sizes of the window, and how many places it has along each dimension.
      size, of_window, largest: elements of the result, of rhs, and of the largest of all arrays.
      is_wide: whether the numbers are of 64 bits.
    """

    groups: int
    of_batches: bool
    single: bool
    count: int
    outputs: int
    window: tuple[int, ...]
    places: tuple[int, ...]
    size: int
    of_window: int
    largest: int
    is_wide: bool


def kind_of(out: ShapedArray, x: ShapedArray, y: ShapedArray, conv: Convolution) -> Kind:
    numbers = conv.dimension_numbers
    batch, features, *_ = in_order(x.shape, numbers.lhs_spec)
    outputs, count, *window = in_order(y.shape, numbers.rhs_spec)
    of_batches = conv.batch_group_count > 1
    return Kind(
        groups=conv.groups,
        of_batches=of_batches,
        single=conv.groups == (batch if of_batches else features),
        count=count,
        outputs=outputs,
        window=tuple(window),
        places=in_order(out.shape, numbers.out_spec)[2:],
        size=out.size,
        of_window=y.size,
        largest=max_dim(max_dim(out.size, x.size), y.size),
        is_wide=out.dtype == np.float64,
    )


def rule_of(kind: Kind) -> Rule | None:
    """The function that writes such a convolution as a program of other primitives."""
    elements, places = math.prod(kind.window), math.prod(kind.places)
    rule = rule_of_groups(kind, elements, places) if kind.groups > 1 else None
    if rule is not None or not at_least(kind.largest, CONVOLUTION_PRODUCT):
        return rule
    if elements == 1 and not kind.of_batches:
        return by_window
    if places == 1:
        return by_places
    if kind.groups == 1:
        return rule_of_one(kind, elements, places)
    if kind.groups <= CONVOLUTION_GROUPS and (kind.of_batches or kind.size >= CONVOLUTION):
        return by_groups
    return by_places if places <= min(DEPTHWISE_RESULT, elements) else None


def rule_of_groups(kind: Kind, elements: int, places: int) -> Rule | None:
    """That of many groups that are small."""
    if kind.of_batches:
        small = kind.of_window >= DEPTHWISE and places <= DEPTHWISE_RESULT
        return sums_of_products if kind.single and small else None
    many = kind.single or kind.groups > CONVOLUTION_GROUPS
    few = kind.count * elements <= DEPTHWISE_WINDOW and kind.size >= DEPTHWISE
    return sum_of_shifted if many and few else None


def rule_of_one(kind: Kind, elements: int, places: int) -> Rule | None:
    """That of a convolution without groups, whose window has elements and places."""
    terms, rank = kind.count * elements, len(kind.window)
    if max(kind.count, kind.outputs) < CONVOLUTION_LIBRARY:
        few = terms <= DEPTHWISE_WINDOW and terms * kind.outputs <= CONVOLUTION_TERMS
        if few and kind.size >= DEPTHWISE:
            return sum_of_shifted
        wide = kind.is_wide or (rank > 1 and elements >= CONVOLUTION_WINDOW)
        if wide and places <= min(DEPTHWISE_RESULT, elements):
            return by_places
    if rank > 2 and min(kind.window[0], kind.places[0]) <= CONVOLUTION_SLICES:
        return by_first_dimension
    slow = kind.is_wide and max(kind.count, kind.outputs) < CONVOLUTION_LIBRARY
    return by_window if slow and elements <= DEPTHWISE_WINDOW else None


def prefer_own_convolution(b: Any, conv: Convolution) -> None:
    """Ask for XLA's own convolution in this program, if one of so many features gains by it."""
    (out,), (x, y) = b.avals_out, b.avals_in
    outputs, features, *_ = in_order(y.shape, conv.dimension_numbers.rhs_spec)
    narrow = dtypes.issubdtype(out.dtype, np.floating) and out.dtype != np.float64
    many = features >= CONVOLUTION_FEATURES and features * outputs >= CONVOLUTION_PAIRS
    if narrow and many and min(out.size, x.size) >= CONVOLUTION:
        b.module_context.compile_options.setdefault(*OPTION)
