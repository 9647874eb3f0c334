"""What the planning of a program does to it, as a report for its user.

The planning itself is `transforms/materialize.py`, and for loops `control/reroll.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..control.reroll import rolled
from ..control.reroll_write import Writer
from ..core.jaxpr import ClosedJaxpr, JaxprEqn, Var
from ..core.show import names_of_variables
from ..transforms.materialize import MOST_SAVED, Pinned, nbytes, times_computed
from ..transforms.memory_plan import Plan, plan_of
from ..transforms.repetition import Repetition, longest_repetition
from ..transforms.simplify import drop_dead_code
from ..xla.barriers import are_kept
from ..xla.loops import are_rolled_up

# A report speaks of a repetition in which a loop would save at least so many operations.
LONG_REPETITION = 2000


class StoredValue(NamedTuple):
    """A value that gets memory of its own.

    Attributes:
      name: of the variable in the printed jaxpr.
      type: its dtype and shape, as there.
      nbytes: the memory it takes.
      times: how often at least it would be computed if nothing were stored.
      cost: what an element costs, in additions, from other stored values; 64 means at least that.
      place: the user's line that it comes from: `file:line:column (function)`.
    """

    name: str
    type: str
    nbytes: int
    times: int
    cost: int
    place: str

    def __str__(self) -> str:
        cost = f"{self.cost} or more" if self.cost >= MOST_SAVED else str(self.cost)
        return (
            f"{self.name}:{self.type}  {self.nbytes:,} bytes; would be computed at least "
            f"{self.times:,} times, at {cost} additions an element\n    {self.place}"
        )


class RolledLoop(NamedTuple):
    """A loop that Python unrolled, and that is compiled as a loop.

    Attributes:
      operations: how many a turn has.
      times: how many turns there are.
      saved: how many operations fewer the program has.
      place: the user's line that the first of them comes from, or the empty string.
    """

    operations: int
    times: int
    saved: int
    place: str

    def __str__(self) -> str:
        where = f" from {self.place} on" if self.place else ""
        return (
            f"{self.operations} operations{where} are repeated {self.times:,} times, and compiled "
            f"as a loop: {self.saved:,} operations fewer"
        )


class Materialization:
    """Which values of a program are stored rather than computed again and again; and why.

    Attributes:
      name: of the function.
      stored: the values, in the order in which they are computed.
      count: how many values the program computes, loops and branches as one each.
      loops: the loops that Python unrolled, and that are compiled as loops.
      repetition: the part of the program that would be shorter as a loop, or None.
      enabled: whether the flags say that they are stored indeed.

    Its text says all of it.
    """

    __slots__ = ("count", "enabled", "loops", "name", "repetition", "stored")

    def __init__(
        self,
        name: str,
        stored: list[StoredValue],
        count: int,
        loops: list[RolledLoop],
        repetition: Repetition | None,
    ):
        self.name = name
        self.stored = stored
        self.count = count
        self.loops = loops
        self.repetition = repetition
        self.enabled = are_kept("cpu")

    @property
    def nbytes(self) -> int:
        """The memory that the stored values would take, were all of them there at once."""
        return sum([value.nbytes for value in self.stored])

    def __repr__(self) -> str:
        lines = [
            f"{self.name}: {len(self.stored)} values are stored, {self.nbytes:,} bytes in all; "
            f"the program computes {self.count}"
        ]
        if not self.enabled:
            lines.append("(they would be; the flag `materialization` is off, or `parity` is on)")
        lines += map(str, [*self.stored, *self.loops])
        if self.repetition is not None:
            lines.append(_hint(self.repetition))
        return "\n".join(lines)


def _hint(repetition: Repetition) -> str:
    place = _place_of(repetition.eqns)
    where = f" from {place} on" if place else ""
    return (
        f"{len(repetition.eqns)} operations{where} are repeated {repetition.times} times: as a "
        f"loop (`lax.scan`, `lax.fori_loop`) the program would have {repetition.saved:,} operations"
        " fewer, and would compile faster"
    )


def _place_of(eqns: Sequence[JaxprEqn]) -> str:
    """The first line of the user that some eqns come from, or the empty string."""
    return next((eqn.source_line for eqn in eqns if eqn.source_line), "")


def explain(closed: ClosedJaxpr, name: str) -> Materialization:
    """The report on a program."""
    jaxpr, _ = drop_dead_code(closed.jaxpr)
    given = dict(zip(closed.constvars, closed.consts))
    program = ClosedJaxpr(jaxpr, [given[var] for var in jaxpr.constvars])
    program, originals, loops = _with_loops(program)
    plan = plan_of(program)
    names = names_of_variables(closed.jaxpr)

    def name_of(var: Var) -> str:
        while var in originals:
            var = originals[var]
        return names.get(var, "_")

    stored = list(_stored_values(plan, name_of))
    repetition = longest_repetition(plan.values)
    if repetition is not None and repetition.saved < LONG_REPETITION:
        repetition = None
    computed = sum([eqn is not None for eqn in plan.values.eqns])
    return Materialization(name, stored, computed, loops, repetition)


def _with_loops(
    program: ClosedJaxpr,
) -> tuple[ClosedJaxpr, Mapping[Var, Var], list[RolledLoop]]:
    """The program with loops where Python unrolled them, and what its variables were called."""
    found = rolled(program) if are_rolled_up("cpu") else None
    if found is None:
        return program, {}, []
    loops = []
    for loop in found.loops:
        start, period, times = loop.recurrence[:3]
        place = _place_of(found.program.eqns[start : start + period])
        loops.append(RolledLoop(period, times, loop.saved, place))
    writer = Writer(found)
    return writer.program(), writer.originals, loops


def _stored_values(plan: Plan, name_of: Callable[[Var], str]) -> Iterator[StoredValue]:
    """The values that are stored by a plan, those in loops and branches after the others."""
    times = times_computed(plan.values)
    for pin in plan.pinned:
        yield _stored(pin, name_of(pin.variable), times[pin.number])
    for bodies in plan.bodies.values():
        for plans in bodies.values():
            for inner in plans:
                yield from _stored_values(inner, name_of)


def _stored(pin: Pinned, name: str, times: int) -> StoredValue:
    kind = pin.variable.aval.str_short(short_dtypes=True)
    place = pin.eqn.source_line or "at no known line"
    return StoredValue(name, kind, nbytes(pin.variable), times, pin.cost, place)
