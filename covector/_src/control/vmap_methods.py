"""How operations are mapped that vmap cannot look into: calls of Python functions, foreign calls.

Whoever calls says with `vmap_method` whether the call takes batches, and how they lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import callback_errors as errors
from ..core.primitive import BuiltinPrimitive
from ..ops.linear import move_axis
from ..ops.shaping import broadcast
from ..transforms.vmap import batch_aval
from .scan import scan

VMAP_METHODS = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
    None,
)


class MappedByMethod(BuiltinPrimitive):
    """An operation whose parameter `vmap_method` says how it is mapped.

    Parameters:
      result_avals: the types of the results.
      vmap_method: one of `VMAP_METHODS`.
    """

    multiple_results = True

    def vmap(self, axis, dims, *args, vmap_method, result_avals, **params):
        args = [x if dim is None else move_axis(x, dim, 0) for x, dim in zip(args, dims)]
        longer = [dim is not None for dim in dims]
        if vmap_method in ("sequential", "sequential_unrolled"):
            params |= dict(vmap_method=vmap_method, result_avals=result_avals)
            outs = self.in_a_loop(args, longer, vmap_method == "sequential_unrolled", params)
            return outs, [0] * len(outs)
        if vmap_method in ("expand_dims", "broadcast_all"):
            size = axis.size if vmap_method == "broadcast_all" else 1
            args = [x if is_batch else broadcast(x, (size,)) for x, is_batch in zip(args, longer)]
            longer = [True] * len(args)
        elif vmap_method != "legacy_vectorized":
            raise NotImplementedError(errors.no_vmap_method(self.name, vmap_method))
        avals = tuple([batch_aval(aval, axis.size, 0) for aval in result_avals])
        params = self.batched_params(longer, **params)
        outs = self.bind(*args, vmap_method=vmap_method, result_avals=avals, **params)
        return outs, [0] * len(outs)

    def batched_params(self, longer: Sequence[bool], **params: Any) -> dict[str, Any]:
        """The parameters of the call on batches; `longer` says which operands have a new leading
        dimension, as all results have."""
        return params

    def in_a_loop(
        self, args: Sequence[Any], batched: Sequence[bool], unroll: bool, params: dict[str, Any]
    ) -> list[Any]:
        """Apply the operation to one example after another."""

        def step(_: Any, examples: list[Any]) -> tuple[tuple[()], list[Any]]:
            return (), self.bind(*merged(args, batched, examples), **params)

        xs = [x for x, is_batch in zip(args, batched) if is_batch]
        return scan(step, (), xs, unroll=unroll)[1]


def merged(args: Sequence[Any], batched: Sequence[bool], examples: Sequence[Any]) -> list[Any]:
    """The arguments of one example: its own, and those that all share."""
    own = iter(examples)
    return [next(own) if is_batch else x for x, is_batch in zip(args, batched)]
