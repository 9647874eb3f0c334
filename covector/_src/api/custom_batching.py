"""`custom_vmap` and `sequential_vmap`: functions whose vectorization the user chooses."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from ..base import tree
from ..base import vmap_rule_errors as errors
from ..base.tracebacks import boundary
from ..control.custom_vmap import RuleOfFunction, VmapRule, custom_vmap_p
from ..control.map import map as loop_map
from ..core.avals import aval_of, is_valid_type
from ..core.jaxpr import ClosedJaxpr
from ..transforms.flatten import FlatFunction
from ..transforms.linearize import constvars_to_invars
from ..transforms.signatures import debug_info
from ..transforms.stage import stage
from .arguments import check_arrays
from .custom_arguments import resolve_keywords
from .custom_derivatives import Forwarding
from .wrapping import check_callable


class custom_vmap(Forwarding):
    """A function that `vmap` maps by a rule of the user's.

    Args:
      fun: a function of trees of arrays.

    The rule is defined by `def_vmap`:

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.custom_batching import custom_vmap
    >>> @custom_vmap
    ... def solve(a, b):
    ...     return jnp.linalg.solve(a, b)
    >>> @solve.def_vmap
    ... def solve_many(axis_size, in_batched, a, b):
    ...     if in_batched == [False, True]:  # one matrix: all right-hand sides at once
    ...         return solve(a, b.T).T, True
    ...     a, b = [x if batched else jnp.stack([x] * axis_size)
    ...             for x, batched in zip((a, b), in_batched)]
    ...     return jnp.linalg.solve(a, b[..., None])[..., 0], True
    >>> cv.vmap(solve, in_axes=(None, 0))(2 * jnp.eye(2), jnp.ones((3, 2))).shape
    (3, 2)

    Elsewhere it is the function that it wraps. It can be differentiated forward; for reverse mode
    wrap it in `custom_vjp` or `custom_jvp`.
    """

    where = "custom_vmap"
    # Whether the function cannot be mapped except by the rule.
    only_by_rule = False

    def __init__(self, fun: Callable[..., Any]):
        check_callable(self.where, fun)
        update_wrapper(self, fun)
        self.fun = fun
        self.vmap_rule: VmapRule | None = None

    def def_vmap(self, vmap_rule: VmapRule) -> VmapRule:
        """Define the rule. May be used as a decorator.

        Args:
          vmap_rule: takes the size of the batch, a list that has for each argument a tree of bools
            (whether its arrays are batches), and the arguments, in which batches have the batch
            dimension in front. It returns what the function returns, for the whole batch, and a
            tree of the same structure of bools: whether each array has a batch dimension in front.

        Returns:
          `vmap_rule`.
        """
        self.vmap_rule = vmap_rule
        return vmap_rule

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = resolve_keywords(self.where, self.fun, args, kwargs)
        if self.vmap_rule is None:
            raise AttributeError(errors.no_rule(self.fun))
        leaves, args_tree = tree.flatten(args)
        info = debug_info(self.where, self.fun, args, {})
        if not all(map(is_valid_type, leaves)):
            check_arrays(self.where, info, leaves)
        flat = FlatFunction(self.fun, tree.structure((args, {})))
        jaxpr, consts = stage(flat, [aval_of(x) for x in leaves], info)
        jaxpr.debug_info = flat.debug_info_of_result(info)
        consts = list(consts)
        outs = custom_vmap_p.bind(
            *consts,
            *leaves,
            call=ClosedJaxpr(constvars_to_invars(jaxpr)),
            rule=RuleOfFunction(self.vmap_rule, self.only_by_rule),
            in_tree=tree.treedef_tuple((tree.structure(consts), args_tree)),
            out_tree=flat.out_tree,
        )
        return tree.unflatten(flat.out_tree, outs)


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """A function that `vmap` applies to one example after another, in a loop.

    Args:
      f: a function of trees of arrays, such as one that cannot be mapped.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.custom_batching import sequential_vmap
    >>> cv.vmap(sequential_vmap(jnp.square))(jnp.arange(3))
    Array([0, 1, 4], dtype=int32)
    """
    mapped = custom_vmap(f)
    mapped.only_by_rule = True

    @mapped.def_vmap
    def in_a_loop(axis_size: int, in_batched: Any, *args: Any) -> tuple[Any, Any]:
        leaves, treedef = tree.flatten(args)
        flags = tree.leaves(in_batched)
        if not any(flags):
            out = f(*args)
            return out, tree.map(lambda _: False, out)

        def of_example(examples: list[Any]) -> Any:
            given = iter(examples)
            example = [next(given) if batched else x for x, batched in zip(leaves, flags)]
            return mapped(*tree.unflatten(treedef, example))

        out = loop_map(of_example, [x for x, batched in zip(leaves, flags) if batched])
        return out, tree.map(lambda _: True, out)

    return mapped
