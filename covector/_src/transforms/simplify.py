"""Simplification of jaxprs: dropping what nothing uses."""

from __future__ import annotations

from ..core.jaxpr import Jaxpr, JaxprEqn, Literal, Var


def drop_dead_code(jaxpr: Jaxpr, keep_inputs: bool = False) -> tuple[Jaxpr, list[int]]:
    """Drop eqns whose outputs nothing uses and that have no effect, then unused inputs.

    Args:
      jaxpr: the program.
      keep_inputs: whether unused inputs stay.

    Returns:
      The smaller program, and the indices of the inputs that it keeps.
    """
    live: set[Var] = {atom for atom in jaxpr.outvars if type(atom) is not Literal}
    eqns: list[JaxprEqn] = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or any(var in live for var in eqn.outvars):
            eqns.append(eqn)
            live.update(atom for atom in eqn.invars if type(atom) is not Literal)
    eqns.reverse()
    kept = [i for i, var in enumerate(jaxpr.invars) if keep_inputs or var in live]
    smaller = jaxpr.replace(
        constvars=[var for var in jaxpr.constvars if var in live],
        invars=[jaxpr.invars[i] for i in kept],
        eqns=eqns,
    )
    return smaller, kept
