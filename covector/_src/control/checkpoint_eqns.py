"""Programs whose eqns are run one by one, those of jitted functions among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from ..core.trace import context
from ..transforms.cache import jaxpr_cache
from ..transforms.stage import stage_closed
from .jit import jit_p


def run_eqns(
    eqns: Sequence[JaxprEqn],
    env: dict[Var, Any],
    body: Jaxpr,
    args: Sequence[Any],
    given: dict[Var, Any],
    after: Callable[[Var, Any], Any] | None = None,
) -> dict[Var, Any]:
    """Run eqns under the current trace, but for variables whose values are given.

    Args:
      eqns: in their order.
      env: values of the constants; it is filled with those of all variables, and returned.
      body: the program of the eqns.
      args: values of its inputs.
      given: values of other variables.
      after: what becomes of the value of a variable once it is computed.
    """
    env.update(zip(body.invars, args))
    env.update(given)
    scope, place = context.name_stack, context.place
    try:
        for eqn in eqns:
            operands = [a.val if type(a) is Literal else env[a] for a in eqn.invars]
            context.name_stack, context.place = scope + eqn.name_stack, eqn.source
            out = context.trace.process(eqn.primitive, operands, eqn.params)
            outs = out if eqn.primitive.multiple_results else [out]
            for var, x in zip(eqn.outvars, outs):
                if var not in given:
                    env[var] = x if after is None else after(var, x)
    finally:
        context.name_stack, context.place = scope, place
    return env


@jaxpr_cache
def without_jits(jaxpr: ClosedJaxpr) -> ClosedJaxpr:
    """The same program with the bodies of its jitted functions written out."""
    if not any(eqn.primitive is jit_p for eqn in jaxpr.jaxpr.eqns):
        return jaxpr

    def written_out(*args: Any) -> list[Any]:
        return _eval_inlined(jaxpr, args)

    return stage_closed(written_out, jaxpr.in_avals, jaxpr.jaxpr.debug_info)


def _eval_inlined(jaxpr: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
    body = jaxpr.jaxpr
    env: dict[Var, Any] = dict(zip(body.constvars, jaxpr.consts))
    env.update(zip(body.invars, args))
    for eqn in body.eqns:
        operands = [a.val if type(a) is Literal else env[a] for a in eqn.invars]
        if eqn.primitive is jit_p:
            env.update(zip(eqn.outvars, _eval_inlined(eqn.params["jaxpr"], operands)))
            continue
        one = body.replace(invars=[], constvars=[], eqns=[eqn], outvars=list(eqn.outvars))
        values = run_eqns([eqn], dict(env), one, [], {})
        env.update((var, values[var]) for var in eqn.outvars)
    return [a.val if type(a) is Literal else env[a] for a in body.outvars]
