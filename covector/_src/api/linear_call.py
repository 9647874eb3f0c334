"""`linear_call`: a linear function whose transpose the user writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import tree
from ..base import vmap_rule_errors as errors
from ..control.bodies import stage_body
from ..control.linear_call import Staged, Transpose, linear_call_p
from ..core.avals import aval_of


def linear_call(
    fun: Callable[..., Any], fun_transpose: Callable[..., Any], residual_args: Any, linear_args: Any
) -> Any:
    """Call a linear function that has a transpose of its own.

        fun           : r -> (a -o b)
        fun_transpose : r -> (b -o a)

    Reverse-mode differentiation and `linear_transpose` apply `fun_transpose`, and, transposing
    that again, `fun`.

    Args:
      fun: takes two trees of arrays, and is linear in the second.
      fun_transpose: takes the first of these trees, and a cotangent of the output of `fun`; returns
        the cotangent of the second. It must be linear in that of the output.
      residual_args: the first tree. Where it is differentiated, `fun` is as usual.
      linear_args: the second tree.

    Returns:
      `fun(residual_args, linear_args)`.

    >>> import covector as cv
    >>> from covector.custom_derivatives import linear_call
    >>> def scaled(factor, x):
    ...     return linear_call(lambda r, x: x * r, lambda r, ct: ct * r, factor, x)
    >>> print(scaled(3.0, 2.0), cv.grad(scaled, argnums=1)(3.0, 2.0))
    6.0 3.0
    """
    residuals, res_tree = tree.flatten(residual_args)
    linear, lin_tree = tree.flatten(linear_args)
    res_avals = [aval_of(x) for x in residuals]
    lin_avals = [aval_of(x) for x in linear]
    in_tree = tree.treedef_tuple((res_tree, lin_tree))
    body = stage_body("linear_call", fun, in_tree, [*res_avals, *lin_avals])

    def transpose() -> Transpose:
        trees = tree.treedef_tuple((res_tree, body.out_tree))
        avals = [*res_avals, *[aval.to_cotangent_aval() for aval in body.out_avals]]
        staged = stage_body("linear_call", fun_transpose, trees, avals)
        if staged.out_tree != lin_tree:
            raise TypeError(errors.transpose_structure(fun_transpose, lin_tree, staged.out_tree))
        return staged.jaxpr, staged.consts

    outs = linear_call_p.bind(
        *body.consts,
        *residuals,
        *linear,
        callee=body.jaxpr,
        transpose_thunk=Staged(transpose),
        num_callee_consts=len(body.consts),
        num_res=len(residuals),
    )
    return tree.unflatten(body.out_tree, outs)
