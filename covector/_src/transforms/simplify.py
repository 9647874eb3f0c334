"""Simplification of jaxprs: dropping what nothing uses, or what is known without it."""

from __future__ import annotations

from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from .cache import jaxpr_cache


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


@jaxpr_cache
def drop_unused_inputs(jaxpr: ClosedJaxpr) -> tuple[ClosedJaxpr, list[int]]:
    """`drop_dead_code` of a closed jaxpr."""
    smaller, kept = drop_dead_code(jaxpr.jaxpr)
    if len(kept) == len(jaxpr.jaxpr.invars):
        return jaxpr, kept
    live = set(smaller.constvars)
    consts = [c for var, c in zip(jaxpr.jaxpr.constvars, jaxpr.consts) if var in live]
    return ClosedJaxpr(smaller, consts), kept


@jaxpr_cache
def drop_copied_outputs(
    jaxpr: ClosedJaxpr, first: int
) -> tuple[ClosedJaxpr, list[tuple[bool, int]]]:
    """Drop outputs that whoever applies the program has anyway: inputs, and outputs given twice.

    Args:
      jaxpr: the program.
      first: the outputs before this one stay.

    Returns:
      The program with fewer outputs; and for each output from `first` on where its value is found:
      `(True, i)` is input i, `(False, i)` is output i of the smaller program.
    """
    body = jaxpr.jaxpr
    inputs = {id(var): (True, i) for i, var in enumerate(body.invars)}
    found = {id(atom): (False, i) for i, atom in enumerate(body.outvars[:first])} | inputs
    kept = body.outvars[:first]
    origins = []
    for atom in body.outvars[first:]:
        origin = found.get(id(atom))
        if origin is None:
            origin = found[id(atom)] = (False, len(kept))
            kept.append(atom)
        origins.append(origin)
    if len(kept) == len(body.outvars):
        return jaxpr, origins
    return jaxpr.replace(jaxpr=body.replace(outvars=kept)), origins
