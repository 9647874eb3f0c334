"""Tapes that are not worth keeping: where a recorded loop is in the body of a scan.

What the first scan of a split hands to the second is stacked over all steps, and the tape of a loop
holds over a hundred of its carries.  The loop's operands are much less.  So the second scan records
the loop once more, from these, and the first need not record it.  Loops within jitted functions are
found as well: such a function is written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.jaxpr import Atom, ClosedJaxpr, DropVar, Jaxpr, JaxprEqn, Literal, Var
from ..core.trace import context
from ..transforms.cache import jaxpr_cache
from ..transforms.simplify import prune
from ..transforms.stage import stage_closed
from .jit import jit_p
from .while_record import while_record_p


@jaxpr_cache
def without_tapes(
    known: ClosedJaxpr, unknown: ClosedJaxpr, results: int, num_consts: int
) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """Let the second of two programs record loops again instead of taking their tapes.

    Args:
      known: from constants and other inputs to results, then residuals.
      unknown: takes the residuals, then other inputs.
      results: how many results there are.
      num_consts: how many inputs of `known` are constants. A loop over these alone stays where it
        is: it is the same in each step, and recorded once.

    Returns:
      The two programs, with other residuals.
    """
    known = _with_calls_written_out(known)
    first, second = known.jaxpr, unknown.jaxpr
    residuals = first.outvars[results:]
    moved = _recorded(first, residuals, num_consts)
    if not moved:
        return known, unknown
    taken = {id(var) for eqn in moved for var in _tape_of(eqn)}
    inputs = {id(atom): var for atom, var in zip(residuals, second.invars)}
    kept: list[Atom] = [atom for atom in residuals if id(atom) not in taken]
    given = [var for atom, var in zip(residuals, second.invars) if id(atom) not in taken]

    def operand(atom: Atom) -> Atom:
        if type(atom) is Literal:
            return atom
        if id(atom) not in inputs:
            inputs[id(atom)] = Var(atom.aval)
            kept.append(atom)
            given.append(inputs[id(atom)])
        return inputs[id(atom)]

    again = [
        eqn.replace(
            invars=list(map(operand, eqn.invars)),
            outvars=[
                inputs[id(var)] if id(var) in taken and id(var) in inputs else DropVar(var.aval)
                for var in eqn.outvars
            ],
        )
        for eqn in moved
    ]
    smaller, consts = prune(first.replace(outvars=[*first.outvars[:results], *kept]), known.consts)
    invars = [*given, *second.invars[len(residuals) :]]
    whole = second.replace(invars=invars, eqns=[*again, *second.eqns])
    return ClosedJaxpr(smaller, consts), unknown.replace(jaxpr=whole)


def _recorded(jaxpr: Jaxpr, residuals: Sequence[Any], num_consts: int) -> list[JaxprEqn]:
    """The loops whose tapes are among the residuals, and which do not depend on constants alone."""
    wanted = set(map(id, residuals))
    varying: set[Any] = set(jaxpr.invars[num_consts:])
    found = []
    for eqn in jaxpr.eqns:
        if any(type(atom) is not Literal and atom in varying for atom in eqn.invars):
            varying.update(eqn.outvars)
            if eqn.primitive is while_record_p and any(id(v) in wanted for v in _tape_of(eqn)):
                found.append(eqn)
    return found


def _tape_of(eqn: JaxprEqn) -> list[Var]:
    """What a recorded loop gives besides its last carry."""
    return eqn.outvars[len(eqn.params["stored"]) :]


# ---------------------------------------------------------------- loops in jitted functions


def _with_calls_written_out(known: ClosedJaxpr) -> ClosedJaxpr:
    """The same program with the eqns of those jitted functions that record a loop."""
    if not any(_is_call_that_records(eqn) for eqn in known.jaxpr.eqns):
        return known
    return stage_closed(lambda *args: _evaluated(known, args), known.in_avals)


def _is_call_that_records(eqn: JaxprEqn) -> bool:
    return eqn.primitive is jit_p and any(
        inner.primitive is while_record_p or _is_call_that_records(inner)
        for inner in eqn.params["jaxpr"].jaxpr.eqns
    )


def _evaluated(closed: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
    """The results of a program, with such calls interpreted eqn by eqn."""
    jaxpr = closed.jaxpr
    env: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *args]))

    def read(atom: Atom) -> Any:
        return atom.val if type(atom) is Literal else env[atom]

    for eqn in jaxpr.eqns:
        operands = list(map(read, eqn.invars))
        if _is_call_that_records(eqn):
            outs = _evaluated(eqn.params["jaxpr"], operands)
        else:
            outs = context.trace.process(eqn.primitive, operands, eqn.params)
        env.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]))
    return list(map(read, jaxpr.outvars))
