"""The greatest or least elements, found approximately where a device is faster at that.

Only TPUs are; everywhere else XLA finds them exactly.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from ..base import dtypes, sorting_errors
from ..base.shapes import with_size
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr
from ..core.primitive import BuiltinPrimitive
from ..core.zeros import Zero
from ..ops.base import Sample, draw
from ..ops.comparison import gt_p, lt_p
from ..ops.emitted import Emitted
from ..ops.linear import reshape
from ..ops.sort_order import ordinary
from ..ops.sorting import take_along
from ..transforms.stage import stage
from ..xla.native import approx_top_k_output_size


class ApproxTopK(BuiltinPrimitive):
    """About the `k` greatest (or least) elements along a dimension, and where they are."""

    multiple_results = True

    def abstract_eval(
        self,
        x,
        *,
        k,
        reduction_dimension,
        recall_target,
        is_max_k,
        reduction_input_size_override,
        aggregate_to_topk,
    ):
        if k <= 0:
            raise ValueError(sorting_errors.approx_k_not_positive(k))
        if not x.shape:
            raise TypeError(sorting_errors.top_k_of_scalar("approx_top_k", x))
        axis = reduction_dimension % x.ndim
        size = count = x.shape[axis]
        if size < k:
            raise ValueError(sorting_errors.approx_k_exceeds_size(k, size))
        if not dtypes.issubdtype(x.dtype, np.floating):
            raise ValueError(sorting_errors.approx_not_floating(x))
        count = k
        if not aggregate_to_topk:
            count, _ = approx_top_k_output_size(
                size, x.ndim, k, recall_target, aggregate_to_topk, reduction_input_size_override
            )
        values = x.update(shape=with_size(x.shape, axis, count))
        return [values, ShapedArray(values.shape, np.dtype(np.int32))]

    def ref(self, x, *, reduction_dimension, is_max_k, **params):
        values, _ = self.abstract_eval(
            aval_of(x), reduction_dimension=reduction_dimension, is_max_k=is_max_k, **params
        )
        axis = reduction_dimension % x.ndim
        keys = ordinary(np.asarray(x))
        order = np.argsort(-keys if is_max_k else keys, axis, kind="stable")
        order = np.take(order, range(values.shape[axis]), axis)
        return [np.take_along_axis(np.asarray(x), order, axis), order.astype(np.int32)]

    def jvp(self, primals, tangents, *, reduction_dimension, **params):
        (x,), (t,) = primals, tangents
        values, indices = self.bind(x, reduction_dimension=reduction_dimension, **params)
        axis = reduction_dimension % aval_of(x).ndim
        batch = tuple([dim for dim in range(aval_of(x).ndim) if dim != axis])
        places = reshape(indices, (*aval_of(indices).shape, 1))
        tangent = take_along(t, places, axis, batch)
        return [values, indices], [tangent, Zero(aval_of(indices).to_tangent_aval())]

    def vmap(self, mapped, dims, x, *, reduction_dimension, **params):
        (dim,) = dims
        axis = reduction_dimension % (aval_of(x).ndim - 1)
        return self.bind(x, reduction_dimension=axis + (axis >= dim), **params), [dim, dim]

    def emit(
        self,
        b,
        x,
        *,
        k,
        reduction_dimension,
        recall_target,
        is_max_k,
        reduction_input_size_override,
        aggregate_to_topk,
    ):
        (aval,) = b.avals_in
        axis = reduction_dimension % aval.ndim
        config = {
            "top_k": k,
            "reduction_dim": axis,
            "recall_target": np.float32(recall_target),
            "aggregate_to_topk": bool(aggregate_to_topk),
            "reduction_input_size_override": reduction_input_size_override,
        }
        if b.platform != "tpu":
            config["is_fallback"] = True
        least = np.array(-np.inf if is_max_k else np.inf)
        return b.op(
            "custom_call",
            x,
            Emitted(b, x, aval).iota(np.dtype(np.int32), axis).value,
            b.constant(least, aval.dtype),
            b.constant(np.int32(-1)),
            call_target_name="ApproxTopK",
            called_computations=[b.function("compare", _comparison(aval.dtype, is_max_k))],
            **{"mhlo.backend_config": config},
        )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, axis, k in [((5,), -1, 3), ((3, 4), -1, 4), ((3, 4), 0, 1), ((0, 2), 1, 1)]:
            for is_max_k in (True, False):
                params = dict(
                    k=k,
                    reduction_dimension=axis,
                    recall_target=0.95,
                    is_max_k=is_max_k,
                    reduction_input_size_override=-1,
                    aggregate_to_topk=True,
                )
                for dtype in ("float32", "bfloat16"):
                    yield Sample((draw(rng, shape, dtype),), params)


@cache
def _comparison(dtype: Any, greater: bool) -> ClosedJaxpr:
    """The jaxpr that says which of two elements, given with their places, is to come first."""
    compare = gt_p if greater else lt_p
    element, place = ShapedArray((), dtype), ShapedArray((), np.dtype(np.int32))
    jaxpr, consts = stage(lambda x, y, i, j: [compare.bind(x, y)], (element,) * 2 + (place,) * 2)
    return ClosedJaxpr(jaxpr, consts)


approx_top_k_p = ApproxTopK("approx_top_k")


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Any]:
    """About the `k` greatest elements along a dimension, in falling order, and where they are.

    TPUs search parts of the dimension at once and miss some (arXiv:2206.14286); other devices find
    the exact ones.

    Args:
      operand: an array of floats.
      k: how many.
      reduction_dimension: the dimension along which they are looked for.
      recall_target: the share of the greatest elements that is to be found.
      reduction_input_size_override: if positive, the size of the dimension of which `operand` has
        only a part, for the estimate of how many are found.
      aggregate_to_topk: whether to return k elements in order. If not, they are more than k,
        in no order.

    Returns:
      The elements, and their indices as int32.

    Raises:
      ValueError: `k` is not from 1 to the size of the dimension, or the elements are not floats.
      TypeError: the operand is a scalar.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.approx_max_k(np.array([3.0, 9.0, 4.0]), 2)
    [Array([9., 4.], dtype=float32), Array([1, 2], dtype=int32)]
    """
    return _approx_top_k(
        operand,
        k,
        reduction_dimension,
        recall_target,
        True,
        reduction_input_size_override,
        aggregate_to_topk,
    )


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Any]:
    """About the `k` least elements along a dimension, in rising order, and where they are.

    The arguments are those of `approx_max_k`.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.approx_min_k(np.array([3.0, 9.0, 4.0]), 2)
    [Array([3., 4.], dtype=float32), Array([0, 2], dtype=int32)]
    """
    return _approx_top_k(
        operand,
        k,
        reduction_dimension,
        recall_target,
        False,
        reduction_input_size_override,
        aggregate_to_topk,
    )


def _approx_top_k(
    x: Any,
    k: int,
    reduction_dimension: int,
    recall_target: float,
    is_max_k: bool,
    reduction_input_size_override: int,
    aggregate_to_topk: bool,
) -> list[Any]:
    outs = approx_top_k_p.bind(
        x,
        k=operator.index(k),
        reduction_dimension=reduction_dimension,
        recall_target=recall_target,
        is_max_k=is_max_k,
        reduction_input_size_override=reduction_input_size_override,
        aggregate_to_topk=aggregate_to_topk,
    )
    return list(outs)
