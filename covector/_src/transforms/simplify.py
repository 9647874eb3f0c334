"""Simplification of jaxprs: dropping what nothing uses, or what is known without it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.effects import must_stay
from ..core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from .cache import jaxpr_cache


def drop_dead_code(
    jaxpr: Jaxpr, keep_inputs: bool = False, deep: bool = False
) -> tuple[Jaxpr, list[int]]:
    """Drop eqns whose outputs nothing uses and that have no effect, then unused inputs.

    Args:
      jaxpr: the program.
      keep_inputs: whether unused inputs stay.
      deep: whether the programs within eqns lose what only unused outputs of the eqn need, too.

    Returns:
      The smaller program, and the indices of the inputs that it keeps.
    """
    live: set[Var] = {atom for atom in jaxpr.outvars if type(atom) is not Literal}
    eqns: list[JaxprEqn] = []
    for eqn in reversed(jaxpr.eqns):
        if must_stay(eqn.effects) or any(var in live for var in eqn.outvars):
            if deep and eqn.primitive.prune is not None:
                part = eqn.primitive.prune(eqn, tuple([var in live for var in eqn.outvars]))
                if part is None:  # so says a user's rule
                    continue
                eqn = part
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


def prune(jaxpr: Jaxpr, consts: Sequence[Any]) -> tuple[Jaxpr, list[Any]]:
    """Drop what nothing uses and has no effect, also within eqns, then unused constants."""
    smaller, _ = drop_dead_code(jaxpr, keep_inputs=True, deep=True)
    return smaller, _consts_of(smaller, jaxpr, consts)


def _consts_of(smaller: Jaxpr, jaxpr: Jaxpr, consts: Sequence[Any]) -> list[Any]:
    """The constants that are left in a part of a program."""
    value_of = dict(zip(jaxpr.constvars, consts))
    return [value_of[var] for var in smaller.constvars]


@jaxpr_cache
def drop_unused(jaxpr: ClosedJaxpr, used: tuple[bool, ...]) -> tuple[ClosedJaxpr, list[int]]:
    """Drop outputs that are not `used`, then what nothing uses and has no effect, inputs included.

    Returns:
      The smaller program (the same object if nothing is dropped), and the indices of its inputs.
    """
    outvars = [atom for atom, wanted in zip(jaxpr.jaxpr.outvars, used) if wanted]
    smaller, kept = drop_dead_code(jaxpr.jaxpr.replace(outvars=outvars), deep=True)
    if all(used) and len(kept) == len(jaxpr.in_avals) and smaller.eqns == jaxpr.eqns:
        return jaxpr, kept
    return ClosedJaxpr(smaller, _consts_of(smaller, jaxpr.jaxpr, jaxpr.consts)), kept


@jaxpr_cache
def drop_copied_outputs(jaxpr: ClosedJaxpr, results: int) -> tuple[ClosedJaxpr, Origins]:
    """Drop outputs that whoever applies the program has anyway, then eqns that nothing needs.

    The outputs are those that are inputs or constants; and, after the first `results` of them,
    those that stand among the outputs before.

    Returns:
      The program with fewer outputs, and how to find the values of all.
    """
    body = jaxpr.jaxpr
    found = {id(var): ("constant", x) for var, x in zip(body.constvars, jaxpr.consts)}
    found |= {id(var): ("input", i) for i, var in enumerate(body.invars)}
    copies: dict[int, tuple[str, Any]] = {}
    kept: list[Atom] = []
    origins: Origins = []
    for i, atom in enumerate(body.outvars):
        origin = found.get(id(atom)) or (copies.get(id(atom)) if i >= results else None)
        if origin is None:
            origin = copies[id(atom)] = ("output", len(kept))
            kept.append(atom)
        origins.append(origin)
    smaller, consts = prune(body.replace(outvars=kept), jaxpr.consts)
    unchanged = len(kept) == len(body.outvars) and smaller.eqns == body.eqns
    return jaxpr if unchanged else ClosedJaxpr(smaller, consts), origins


# For each output of a program, whether its value is an input, a constant, or an output of a smaller
# program; and which one.
Origins = list[tuple[str, Any]]


def values_from(origins: Origins, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The outputs of a program, from inputs and outputs of the one `drop_copied_outputs` gave."""
    values = {"input": inputs, "output": outputs}
    return [which if kind == "constant" else values[kind][which] for kind, which in origins]


@jaxpr_cache
def without_places(jaxpr: ClosedJaxpr) -> ClosedJaxpr:
    """The same program as if it were written out where it is applied: its eqns have no place."""
    eqns = [
        JaxprEqn(e.invars, e.outvars, e.primitive, e.params, e.effects, None, e.name_stack)
        for e in jaxpr.eqns
    ]
    return jaxpr.replace(jaxpr=jaxpr.jaxpr.replace(eqns=eqns))
