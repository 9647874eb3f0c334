"""Transposition of `scan`: the loop backwards, with cotangents for carries.

    (d, c, a) -> (c', b)      one step, linear in d, c and a, maybe with residuals beside them
    (dd, cc', bb) -> (dd', cc, aa)      its transpose, with cotangents written double

What each step does with a constant d adds to its cotangent.  So a constant is taken for a carry
that every step hands on as it is; its rule is then that of other carries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.jaxpr import ClosedJaxpr
from ..core.trace import context
from ..transforms.cache import jaxpr_cache
from ..transforms.simplify import drop_unused
from ..transforms.transpose import transpose_jaxpr
from .carries import Flags, carry_fixpoint, rearranged


class Transposed(NamedTuple):
    """The body of a transposed scan.

    Attributes:
      jaxpr: takes residuals, carried cotangents, cotangents of outputs, stacked residuals.
      num_consts: how many residuals it takes that are the same in each step.
      kept: its operands, by their numbers among all of those.
      carried: for each linear constant, then for each carry, whether its cotangent is carried.
      nonzeros: for each linear operand whether it has a cotangent; these are the results.
    """

    jaxpr: ClosedJaxpr
    num_consts: int
    kept: tuple[int, ...]
    carried: Flags
    nonzeros: Flags


@jaxpr_cache
def transpose_body(
    jaxpr: ClosedJaxpr, linear: Flags, nonzero_cts: Flags, num_consts: int, num_carry: int
) -> Transposed:
    """Transpose the body of a scan that is linear in all its carries.

    Args:
      jaxpr: the body.
      linear: for each operand of the scan, whether it is linear in it; the others are residuals.
      nonzero_cts: for each result of the scan, whether its cotangent is given.
      num_consts, num_carry: how many constants and carries there are.
    """
    const_linear, xs_linear = linear[:num_consts], linear[num_consts + num_carry :]
    residuals, stacked = const_linear.count(False), xs_linear.count(False)
    passing = passing_on(jaxpr, const_linear)
    ys = nonzero_cts[num_carry:]

    def rule(carry: Flags) -> tuple[Any, Flags]:
        wanted = (*carry, *[False] * sum(xs_linear))
        transposed, nonzeros, _ = transpose_jaxpr(passing, linear, (*carry, *ys), wanted)
        return (transposed, nonzeros), nonzeros[: len(carry)]

    begun = (*[False] * sum(const_linear), *nonzero_cts[:num_carry])
    hazards = None
    while hazards != context.hazards:  # a step may get cotangents from the step behind it
        hazards = context.hazards
        (transposed, nonzeros), carried = carry_fixpoint(rule, begun)
    # The transposed jaxpr takes all values first; a scan takes what it scans over last.
    count = len(transposed.in_avals)
    last = range(residuals, residuals + stacked)
    order = (*range(residuals), *range(last.stop, count), *last)
    body, kept = drop_unused(rearranged(transposed, order), (True,) * len(transposed.out_avals))
    carries = range(residuals, residuals + sum(carried))
    operands = tuple(sorted({*kept, *carries}))
    if len(operands) > len(kept):  # the cotangent of a carry that no step reads
        invars = [transposed.jaxpr.invars[order[i]] for i in operands]
        body = ClosedJaxpr(body.jaxpr.replace(invars=invars), body.consts)
    return Transposed(body, sum(i < residuals for i in kept), operands, carried, nonzeros)


@jaxpr_cache
def passing_on(jaxpr: ClosedJaxpr, linear: Flags) -> ClosedJaxpr:
    """The body with the constants in which it is linear among its outputs, in front of the others.

    The constants are then carries that do not change.
    """
    body = jaxpr.jaxpr
    consts = [var for var, lin in zip(body.invars, linear) if lin]
    return ClosedJaxpr(body.replace(outvars=[*consts, *body.outvars]), jaxpr.consts)
