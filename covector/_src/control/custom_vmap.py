"""Functions whose vectorization the user writes.

    vmap(f) = rule(axis_size, in_batched, batches...) -> (outs, out_batched)

The function is a jaxpr, so that it can be differentiated, staged and compiled like any other; the
rule stays a Python function, which runs when the op meets a batch.  The jvp of a function with a
rule is again one, whose rule is the jvp of the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import tree
from ..base import vmap_rule_errors as errors
from ..core.axis import Axis
from ..core.check import check_applied
from ..core.fusion import APPLYING
from ..core.jaxpr import eval_jaxpr, jaxpr_as_fun
from ..core.primitive import BuiltinPrimitive
from ..ops.creation import iota
from ..ops.dynamic_indices import dynamic_slice_in_dim
from ..ops.linear import bring_to, instantiate, move_axis
from ..ops.shaping import squeeze
from ..transforms.jvp import jvp, jvp_jaxpr
from ..transforms.vmap import vmap

# (axis_size, in_batched, *args) -> (out, out_batched), of trees.
VmapRule = Callable[..., tuple[Any, Any]]


class CustomVmapCall(BuiltinPrimitive):
    """The application of a jaxpr that has a vmap rule.

    Parameters:
      call: the jaxpr; what the function closes over comes first among its inputs.
      rule: takes the axis's size, and two trees of the structure `in_tree`: whether each operand is
        a batch, and the operands. Those that are have the batch dimension in front.
      in_tree, out_tree: structures of the operands and of the result.
    """

    multiple_results = True
    fusion = APPLYING

    def expanded(self, avals, params):
        return params["call"]

    def effectful_abstract_eval(self, *avals, call, **params):
        check_applied(call, avals)
        return list(call.out_avals), call.effects

    def evaluate(self, backend, args, params):
        return jaxpr_as_fun(params["call"])(*args)

    def ref(self, *args, call, **params):
        return eval_jaxpr(call.jaxpr, call.consts, *args)

    def jvp(self, primals, tangents, *, call, rule, in_tree, out_tree):
        both, _ = jvp_jaxpr(call, (True,) * len(primals), True)
        outs = self.bind(
            *primals,
            *map(instantiate, tangents),
            call=both,
            rule=RuleOfJVP(rule, in_tree, out_tree),
            in_tree=tree.treedef_tuple((in_tree, in_tree)),
            out_tree=tree.treedef_tuple((out_tree, out_tree)),
        )
        count = len(call.out_avals)
        return outs[:count], outs[count:]

    def partial_eval(self, trace, args, params):
        raise ValueError(errors.no_reverse_mode())

    def vmap(self, axis, dims, *args, call, rule, in_tree, out_tree):
        in_batched = tree.unflatten(in_tree, [dim is not None for dim in dims])
        args = tree.unflatten(in_tree, to_front(args, dims))
        outs, batched = checked_results(rule(axis.size, in_batched, args), rule, out_tree)
        return outs, [0 if flag else None for flag in batched]

    def emit(self, b, *operands, call, **params):
        return b.inline(call, operands)


custom_vmap_p = CustomVmapCall("custom_vmap_call")


def to_front(args: Sequence[Any], dims: Sequence[int | None]) -> list[Any]:
    """The arguments with the batch dimension in front, where they have one."""
    return [x if dim is None else move_axis(x, dim, 0) for x, dim in zip(args, dims)]


def checked_results(result: Any, rule: Any, out_tree: Any) -> tuple[list[Any], list[bool]]:
    """The flat outputs of a vmap rule, and for each whether it is a batch."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(errors.rule_no_pair(rule.shown, result))
    outs, found = tree.flatten(result[0])
    batched, batched_tree = tree.flatten(result[1])
    if found != batched_tree:
        raise ValueError(errors.rule_trees_differ(rule.shown, found, batched_tree))
    if found != out_tree:
        raise ValueError(errors.rule_output_differs(rule.shown, out_tree, found))
    return outs, batched


class RuleOfFunction:
    """The user's rule, as one of the closed-over values and the arguments of the function.

    Attributes:
      shown: the user's rule.
      joint: whether it is to see a primal and its tangent as batches if one of the two is.
    """

    __slots__ = ("joint", "shown")

    def __init__(self, rule: VmapRule, joint: bool = False):
        self.shown = rule
        self.joint = joint

    def __call__(self, axis_size: int, in_batched: Any, operands: Any) -> tuple[Any, Any]:
        consts_batched, args_batched = in_batched
        if any(consts_batched):
            raise NotImplementedError(errors.batched_in_closure(self.shown))
        return self.shown(axis_size, list(args_batched), *operands[1])

    def __repr__(self) -> str:
        return repr(self.shown)


class RuleOfJVP:
    """The rule of the jvp of a function that has a rule: the jvp of that.

    A rule is told for each argument whether it is a batch, and so has one answer for a primal and
    its tangent.  Where one of the two alone is a batch,

      - if no pair is, the rule sees single examples, and the jvp of it is mapped over the axis;
      - else the other one of the pair is broadcast, since a rule that sees some arguments as
        batches combines all of them along one axis.  So it is for rules of functions that cannot
        be mapped at all.
    """

    __slots__ = ("in_tree", "joint", "out_tree", "rule", "shown")

    def __init__(self, rule: Any, in_tree: Any, out_tree: Any):
        self.rule = rule
        self.in_tree = in_tree
        self.out_tree = out_tree
        self.shown = rule.shown
        self.joint = rule.joint

    def __call__(self, axis_size: int, in_batched: Any, operands: Any) -> tuple[Any, Any]:
        primals, tangents = map(tree.leaves, operands)
        of_primals, of_tangents = map(tree.leaves, in_batched)
        if self.joint or any(p and t for p, t in zip(of_primals, of_tangents)):
            either = [p or t for p, t in zip(of_primals, of_tangents)]
            primals = broadcast_where(either, of_primals, primals, axis_size)
            tangents = broadcast_where(either, of_tangents, tangents, axis_size)
            outs, out_tangents, batched = self.of_batches(axis_size, either, primals, tangents)
            return self.in_trees(outs, out_tangents), self.in_trees(batched, batched)
        return self.of_examples(axis_size, of_primals, of_tangents, primals, tangents)

    def of_batches(
        self, axis_size: int, batched: Sequence[bool], primals: Any, tangents: Any
    ) -> tuple[list[Any], list[Any], list[bool]]:
        """The jvp of the rule, where primals and tangents are batches alike."""
        in_batched = tree.unflatten(self.in_tree, batched)
        out_batched: list[bool] = []

        def of_rule(*args: Any) -> list[Any]:
            result = self.rule(axis_size, in_batched, tree.unflatten(self.in_tree, args))
            outs, out_batched[:] = checked_results(result, self.rule, self.out_tree)
            return outs

        outs, out_tangents = jvp(of_rule, primals, tangents)
        return outs, list(map(instantiate, out_tangents)), out_batched

    def of_examples(
        self, axis_size: int, of_primals: Any, of_tangents: Any, primals: Any, tangents: Any
    ) -> tuple[Any, Any]:
        """The jvp of the rule mapped over the axis, where the rule sees no batch."""
        count = len(primals)

        def of_example(place: Any, *args: Any) -> list[Any]:
            none = [False] * count
            outs, out_tangents, batches = self.of_batches(
                axis_size, none, args[:count], args[count:]
            )
            return [  # of a batch, which the rule is free to return, the element of this example
                squeeze(dynamic_slice_in_dim(x, place, 1), (0,)) if is_batch else x
                for x, is_batch in zip([*outs, *out_tangents], batches * 2)
            ]

        dims = [0 if batched else None for batched in (*of_primals, *of_tangents)]
        args = [iota(np.int32, axis_size), *primals, *tangents]
        values, found = vmap(of_example, Axis(axis_size), args, [0, *dims])
        values, batched = to_front(values, found), [dim is not None for dim in found]
        half = self.out_tree.num_leaves
        outs = self.in_trees(values[:half], values[half:])
        return outs, self.in_trees(batched[:half], batched[half:])

    def in_trees(self, *leaves: Sequence[Any]) -> tuple[Any, ...]:
        """Flat results, once for the primals and once for the tangents, as trees."""
        return tuple([tree.unflatten(self.out_tree, xs) for xs in leaves])


def broadcast_where(
    wanted: Sequence[bool], batched: Sequence[bool], values: Sequence[Any], axis_size: int
) -> list[Any]:
    """The values, repeated for all examples where a batch is wanted of what is none."""
    return [
        bring_to(x, axis_size, None, 0) if want and not is_batch else x
        for x, want, is_batch in zip(values, wanted, batched)
    ]
