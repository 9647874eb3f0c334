"""`optimize_remat`: residuals of forward rules that nothing uses are not even computed.

A forward rule computes the outputs of its function together with residuals, and so may be slower
than the function, such as a fused kernel that forgets what the backward rule needs.  In the first
pass over a checkpointed function the residuals are dropped.  There the function itself runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.avals import aval_of
from ..core.jaxpr import ClosedJaxpr, Jaxpr, Var
from ..core.trace import context
from ..transforms.simplify import drop_unused
from ..transforms.stage import JaxprTrace, stage
from .applied import Application


class ForwardRule(Application):
    """The application of a forward rule, or of the function that it belongs to.

    Parameters:
      fwd_jaxpr: the rule: operands to outputs and residuals.
      fun_jaxpr: the function: the same operands to outputs; None once the rule was transformed.
      num_outs: how many outputs there are.
    """

    jaxpr_name = "fwd_jaxpr"

    def applying(self, params, jaxpr, origins):
        return params | dict(fwd_jaxpr=jaxpr, fun_jaxpr=None)

    def prune(self, eqn, used):
        fun, count = eqn.params["fun_jaxpr"], eqn.params["num_outs"]
        if fun is None or any(used[count:]):
            return super().prune(eqn, used)
        jaxpr, kept = drop_unused(fun, tuple(used[:count]))
        return eqn.replace(
            invars=[eqn.invars[i] for i in kept],
            outvars=[var for var, wanted in zip(eqn.outvars, used) if wanted],
            params=eqn.params | dict(fwd_jaxpr=jaxpr, fun_jaxpr=None),
        )

    def emit(self, b, *operands, fwd_jaxpr, **params):
        return b.inline(fwd_jaxpr, operands)


forward_rule_p = ForwardRule("remat_opt")


def run_forward(
    fun: Callable[..., Sequence[Any]],
    fwd: Callable[..., Any],
    operands: Sequence[Any],
    perturbed: Sequence[bool],
) -> tuple[list[Any], list[Any], Any]:
    """Run a forward rule, as one op if a program is being written.

    Args:
      fun: the function, flat.
      fwd: its forward rule; see `custom_vjp.Forward`.
      operands, perturbed: what the rule takes.

    Returns:
      What the rule returns.
    """
    if type(context.trace) is not JaxprTrace:
        return fwd(operands, perturbed)
    known: list[Any] = []

    def rule(*args: Any) -> list[Any]:
        outs, residuals, backward = fwd(args, perturbed)
        known[:] = len(outs), backward
        return [*outs, *residuals]

    avals = [aval_of(x) for x in operands]
    (of_rule, rule_consts), (of_fun, fun_consts) = stage(rule, avals), stage(fun, avals)
    count, backward = known
    outs = forward_rule_p.bind(
        *rule_consts,
        *fun_consts,
        *operands,
        fwd_jaxpr=_with_inputs(of_rule, of_rule.constvars, _fresh(of_fun)),
        fun_jaxpr=_with_inputs(of_fun, _fresh(of_rule), of_fun.constvars),
        num_outs=count,
    )
    return outs[:count], outs[count:], backward


def _with_inputs(jaxpr: Jaxpr, *constants: Sequence[Var]) -> ClosedJaxpr:
    """A program that takes the constants of both programs, and then its own inputs."""
    invars = [var for variables in (*constants, jaxpr.invars) for var in variables]
    return ClosedJaxpr(jaxpr.replace(constvars=[], invars=invars))


def _fresh(jaxpr: Jaxpr) -> list[Var]:
    """New variables for the constants of a program, in another one that does not read them."""
    return [Var(var.aval) for var in jaxpr.constvars]
