"""The plan of a program's memory: what is stored in it, and in the bodies of its loops.

`materialize.py` has the rule for a program, whose inputs and results are in memory.  The body of a
loop is such a program, and a branch of a conditional too.  But a barrier in a loop has a price.
Small loops are compiled as one function, in which the values of all turns stay in registers; with a
barrier, each fusion of the body is a kernel that is started anew in each turn.  And much of what is
written twice in the code of a small body the later stages of the compiler see to be the same.  So
for bodies of loops the whole plan must pay: it must save WORK_IN_LOOPS of the work, and additions
for each barrier that make up for kernels that are started.

Measured, with barriers against without: the gradient of 20 turns of four steps of the heat equation
on 128x128 points 0.01, of 200 turns of five Euler steps of Lorenz' equations 0.5, of 100 turns of a
Runge-Kutta step for six bodies 0.7; and, where this rule places none, of an LSTM 2.2, and of 1000
turns of a Runge-Kutta step of Lorenz' equations 8.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..core.jaxpr import ClosedJaxpr, JaxprEqn
from .inline import Values, with_barriers
from .materialize import COST, Pinned, choose, times_computed, work

# In a loop, the plan must leave at most this part of the work ...
WORK_IN_LOOPS = 0.5
# ... and save so many additions in each turn, for each value that it stores.
GAIN_IN_LOOPS = 1 << 15


class Plan(NamedTuple):
    """What is stored in a program.

    Attributes:
      values: the program, calls written out.
      pinned: the values that are stored, in the order in which they are computed.
      bodies: the plans of the bodies of loops and branches in which something is stored, by the
        number of the first result of the loop, and the name of the parameter. Beside a branch that
        has a plan the others have one, too.
    """

    values: Values
    pinned: list[Pinned]
    bodies: dict[int, dict[str, list[Plan]]]

    @property
    def is_empty(self) -> bool:
        return not self.pinned and not self.bodies


def plan_of(closed: ClosedJaxpr, in_loop: bool = False) -> Plan:
    """The plan of a program, or of the body of a loop."""
    values = Values(closed)
    pinned = choose(values)
    if in_loop and pinned and not _pays_in_a_loop(values, pinned):
        pinned = []
    bodies: dict[int, dict[str, list[Plan]]] = {}
    for number in values.with_bodies():
        eqn = values.eqns[number]
        assert eqn is not None
        fusion = eqn.primitive.fusion
        for name in fusion.bodies:
            body = eqn.params[name]
            parts = body if isinstance(body, tuple) else (body,)
            plans = [plan_of(part, in_loop or fusion.loops) for part in parts]
            if not all(plan.is_empty for plan in plans):
                bodies.setdefault(number, {})[name] = plans
    return Plan(values, pinned, bodies)


def _pays_in_a_loop(values: Values, pinned: list[Pinned]) -> bool:
    before = work(values, times_computed(values))
    after = work(values, times_computed(values, {pin.number for pin in pinned}))
    return after <= WORK_IN_LOOPS * before and before - after >= GAIN_IN_LOOPS * len(pinned)


def written(plan: Plan) -> ClosedJaxpr:
    """The program with a barrier behind each value that is stored."""
    closed = plan.values.body.closed
    if plan.is_empty:
        return closed
    params = {
        number: {
            name: tuple(map(written, plans))
            if isinstance(eqn.params[name], tuple)
            else written(plans[0])
            for name, plans in bodies.items()
        }
        for number, bodies in plan.bodies.items()
        if (eqn := plan.values.eqns[number]) is not None
    }
    return with_barriers(plan.values, [pin.number for pin in plan.pinned], params)


def materialized(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with barriers behind the values that are to be stored; itself if there are none.

    It computes the same as before, and takes and returns the same.
    """
    return closed if cost_again(closed) < COST else written(plan_of(closed))


def cost_again(closed: ClosedJaxpr) -> int:
    """What the ops of a program, or of a body in it, cost that are computed again, in additions.

    By how much it is more than COST does not matter, and is not counted.
    """
    cost = 0
    for eqn in closed.jaxpr.eqns:
        primitive = eqn.primitive
        fusion = primitive.fusion
        if fusion.applies:
            avals = [atom.aval for atom in eqn.invars]
            cost += cost_again(primitive.expanded(avals, eqn.params))
        elif fusion.bodies:
            if any(cost_again(part) >= COST for part in bodies_of(eqn)):
                return COST
        else:
            cost += fusion.again
        if cost >= COST:
            break
    return cost


def bodies_of(eqn: JaxprEqn) -> Iterator[ClosedJaxpr]:
    """The bodies and branches of a loop or conditional."""
    for name in eqn.primitive.fusion.bodies:
        body = eqn.params[name]
        yield from body if isinstance(body, tuple) else (body,)
