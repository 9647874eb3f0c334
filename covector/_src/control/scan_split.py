"""Partial evaluation of `scan`: one scan of what is known, and one of the rest.

What the second needs of the first are the residuals.  A value of each step must be stacked, which
takes the memory that reverse-mode differentiation is known for; so as little as possible is:

  - what is computed from constants alone is the same in each step.  It is computed once, in front
    of both scans, and a constant of theirs;
  - an input that is scanned over is passed on as it is;
  - so is an output that is stacked anyway, and a value that is needed twice is stacked once;
  - a loop that is recorded on a tape is recorded again by the second scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.effects import must_stay
from ..core.jaxpr import ClosedJaxpr, Jaxpr
from ..transforms.cache import jaxpr_cache
from ..transforms.linearize import partial_eval_jaxpr
from ..transforms.simplify import prune
from .carries import Flags, carry_fixpoint, rearranged
from .while_in_scan import without_tapes


class Split(NamedTuple):
    """The parts of a scan's body.

    Attributes:
      unknowns: for each operand, whether the second scan takes it.
      out_unknowns: for each result, whether the second scan gives it.
      invariant: from known constants to `hoisted`, then to the constants of the first scan.
      hoisted: how many residuals are the same in each step.
      known: the body of the first scan: known results, then what is stacked.
      sources: for each residual that is not hoisted, where the second scan finds it: "x", an input
        that the first scans over, or "y", one of its stacked outputs; and its number among them.
      unknown: the body of the second scan. It takes hoisted residuals and constants, carry, inputs,
        and at last the other residuals.
    """

    unknowns: Flags
    out_unknowns: Flags
    invariant: ClosedJaxpr
    hoisted: int
    known: ClosedJaxpr
    sources: list[tuple[str, int]]
    unknown: ClosedJaxpr


@jaxpr_cache
def split_body(jaxpr: ClosedJaxpr, unknowns: Flags, num_consts: int, num_carry: int) -> Split:
    """Split the body of a scan.

    Args:
      jaxpr: takes constants, carry, and a slice of each input; returns the carry, and outputs.
      unknowns: for each operand of the scan, whether it is unknown.
      num_consts, num_carry: how many constants and carries there are.
    """
    num_ys = len(jaxpr.out_avals) - num_carry
    consts, xs = unknowns[:num_consts], unknowns[num_consts + num_carry :]

    def rule(carry: Flags) -> tuple[Any, Flags]:
        wanted = (*carry, *[False] * num_ys)
        parts = partial_eval_jaxpr(jaxpr, (*consts, *carry, *xs), wanted)
        return parts, parts[2][:num_carry]

    parts, carry = carry_fixpoint(rule, unknowns[num_consts : num_consts + num_carry])
    known, unknown, out_unknowns, _ = parts
    known_consts, known_carry = consts.count(False), carry.count(False)
    results = out_unknowns.count(False)
    known, unknown = without_tapes(known, unknown, results, known_consts)
    invariant, known, stacked = hoist(known, known_consts, results)
    known, sources = keep_once(known, known_carry, xs.count(False), results)
    inner = [i for i, s in enumerate(stacked) if not s]
    outer = [i for i, s in enumerate(stacked) if s]
    rest = range(len(stacked), len(unknown.in_avals))
    return Split(
        unknowns=(*consts, *carry, *xs),
        out_unknowns=out_unknowns,
        invariant=invariant,
        hoisted=len(inner),
        known=known,
        sources=sources,
        unknown=rearranged(unknown, (*inner, *rest, *outer)),
    )


def hoist(
    known: ClosedJaxpr, num_consts: int, results: int
) -> tuple[ClosedJaxpr, ClosedJaxpr, Flags]:
    """Take what is the same in each step out of the body of the first scan.

    It is what can be computed of the constants: partial evaluation with all but these unknown.

    Args:
      known: takes constants, carry and inputs; returns results, then residuals.
      num_consts, results: how many constants and results there are.

    Returns:
      A program from the constants to the residuals that are the same in each step, then to the
      constants of the new body; that body, without these residuals; and for each residual whether
      it is one of those that differ between steps.
    """
    if must_stay(known.effects):
        return hoist_operands(known, num_consts, results)
    others = len(known.in_avals) - num_consts
    residuals = len(known.out_avals) - results
    invariant, body, out_varies, _ = partial_eval_jaxpr(
        known,
        (*[False] * num_consts, *[True] * others),
        (*[True] * results, *[False] * residuals),
    )
    smaller, values = prune(invariant.jaxpr, invariant.consts)
    return ClosedJaxpr(smaller, values), body, out_varies[results:]


def hoist_operands(
    known: ClosedJaxpr, num_consts: int, results: int
) -> tuple[ClosedJaxpr, ClosedJaxpr, Flags]:
    """`hoist` for a body with effects: only constants themselves are taken out of it.

    An effect takes place in each step, even if its operands are always the same.
    """
    jaxpr = known.jaxpr
    consts = jaxpr.invars[:num_consts]
    residuals = jaxpr.outvars[results:]
    varies = tuple([not any(atom is var for var in consts) for atom in residuals])
    hoisted = [atom for atom, v in zip(residuals, varies) if not v]
    kept = [atom for atom, v in zip(residuals, varies) if v]
    body = ClosedJaxpr(jaxpr.replace(outvars=[*jaxpr.outvars[:results], *kept]), known.consts)
    return ClosedJaxpr(Jaxpr([], consts, [*hoisted, *consts], [])), body, varies


def keep_once(
    known: ClosedJaxpr, num_carry: int, num_xs: int, results: int
) -> tuple[ClosedJaxpr, list[tuple[str, int]]]:
    """Drop outputs of the first scan that are found elsewhere.

    Args:
      known: takes constants, `num_carry` carries and `num_xs` inputs; returns as many carries and
        other results, `results` of them together, then residuals.

    Returns:
      The smaller body, and where to find each residual (see `Split.sources`).
    """
    jaxpr = known.jaxpr
    xs = jaxpr.invars[len(jaxpr.invars) - num_xs :]
    found = {id(var): ("y", i) for i, var in enumerate(jaxpr.outvars[num_carry:results])}
    found |= {id(var): ("x", i) for i, var in enumerate(xs)}
    kept, sources = jaxpr.outvars[:results], []
    for atom in jaxpr.outvars[results:]:
        source = found.get(id(atom))
        if source is None:
            source = found[id(atom)] = ("y", len(kept) - num_carry)
            kept.append(atom)
        sources.append(source)
    return ClosedJaxpr(jaxpr.replace(outvars=kept), known.consts), sources


def residual_values(
    sources: Sequence[tuple[str, int]], xs: Sequence[Any], ys: Sequence[Any]
) -> list[Any]:
    """The stacked residuals, from inputs and outputs of the first scan."""
    return [(xs if kind == "x" else ys)[i] for kind, i in sources]
