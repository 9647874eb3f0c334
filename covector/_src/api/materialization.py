"""What the planning of memory does to a program, as a report for its user.

The planning itself is `transforms/materialize.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..core.jaxpr import ClosedJaxpr, Var
from ..core.show import names_of_variables
from ..transforms.materialize import MOST_COST, Pinned, nbytes, times_computed
from ..transforms.memory_plan import Plan, plan_of
from ..transforms.repetition import Repetition, longest_repetition
from ..transforms.simplify import drop_dead_code
from ..xla.barriers import are_kept

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
        cost = f"{self.cost} or more" if self.cost >= MOST_COST else str(self.cost)
        return (
            f"{self.name}:{self.type}  {self.nbytes:,} bytes; would be computed at least "
            f"{self.times:,} times, at {cost} additions an element\n    {self.place}"
        )


class Materialization:
    """Which values of a program are stored rather than computed again and again; and why.

    Attributes:
      name: of the function.
      stored: the values, in the order in which they are computed.
      count: how many values the program computes, loops and branches as one each.
      repetition: the part of the program that would be shorter as a loop, or None.
      enabled: whether the flags say that they are stored indeed.

    Its text says all of it.
    """

    __slots__ = ("count", "enabled", "name", "repetition", "stored")

    def __init__(
        self, name: str, stored: list[StoredValue], count: int, repetition: Repetition | None
    ):
        self.name = name
        self.stored = stored
        self.count = count
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
        lines += map(str, self.stored)
        if self.repetition is not None:
            lines.append(_hint(self.repetition))
        return "\n".join(lines)


def _hint(repetition: Repetition) -> str:
    places = [eqn.source_line for eqn in repetition.eqns if eqn.source_line]
    where = f" from {places[0]} on" if places else ""
    return (
        f"{len(repetition.eqns)} operations{where} are repeated {repetition.times} times: as a "
        f"loop (`lax.scan`, `lax.fori_loop`) the program would have {repetition.saved:,} operations"
        " fewer, and would compile faster"
    )


def explain(closed: ClosedJaxpr, name: str) -> Materialization:
    """The report on a program."""
    jaxpr, _ = drop_dead_code(closed.jaxpr)
    given = dict(zip(closed.constvars, closed.consts))
    plan = plan_of(ClosedJaxpr(jaxpr, [given[var] for var in jaxpr.constvars]))
    stored = list(_stored_values(plan, names_of_variables(closed.jaxpr)))
    repetition = longest_repetition(plan.values)
    if repetition is not None and repetition.saved < LONG_REPETITION:
        repetition = None
    computed = sum([eqn is not None for eqn in plan.values.eqns])
    return Materialization(name, stored, computed, repetition)


def _stored_values(plan: Plan, names: Mapping[Var, str]) -> Iterator[StoredValue]:
    """The values that are stored by a plan, those in loops and branches after the others."""
    times = times_computed(plan.values)
    for pin in plan.pinned:
        yield _stored(pin, names[pin.variable], times[pin.number])
    for bodies in plan.bodies.values():
        for plans in bodies.values():
            for inner in plans:
                yield from _stored_values(inner, names)


def _stored(pin: Pinned, name: str, times: int) -> StoredValue:
    kind = pin.variable.aval.str_short(short_dtypes=True)
    place = pin.eqn.source_line or "at no known line"
    return StoredValue(name, kind, nbytes(pin.variable), times, pin.cost, place)
