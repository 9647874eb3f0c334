"""Recurrences that were unrolled: where a program is a loop but for how it is written.

A Python loop that is traced leaves its body once for each turn.  `repetition.py` finds parts of a
program that say the same over and over; a *recurrence* is such a part in which also the data flow
repeats.  Each operand of an eqn in a turn is then, in all turns alike,

    what an eqn of the same turn computes,
    what the same eqn of the turn before, or of the one before that ..., computed,
    or something else, which was there before the first turn.

With the numbers of `WrittenOut`, the operands of k turns are a matrix of k rows.  What is computed
in a turn has numbers that grow by the number of results of a turn from each row to the next; so one
look at the matrix tells the three cases apart, row by row.

Where a turn begins, the text does not say, for a period of it can begin with any of its letters.
The cut is made where the fewest bytes are alive, which is where the loop stood if its state is
small.  The turns at either end may differ, for the first begins with what is no result of a turn,
and the last may lack what nobody reads; so the longest range of equal turns is taken, and those
turns before it that are equal but for reading initial values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.avals import ShapedArray
from ..core.jaxpr import Atom, JaxprEqn, Var
from ..ops.convolution import conv_general_dilated_p
from ..ops.physical import physical_aval
from .repetition import Stretch, letters_of, stretches
from .written_out import WrittenOut

# A loop must save so many eqns.  Below, the compiler is quick, and what a loop costs at each turn
# may outweigh what it saves.
LEAST_SAVED = 2000
# Nothing that a turn computes may have more bytes: loops over small state run in the first cache,
# and in one function; with large state the compiler copies the state from turn to turn.
MOST_BYTES = 4096
# A turn may read what was computed so many turns before.
MOST_TURNS = 4
# How many stretches, multiples of their periods, and beginnings of a turn are tried.
STRETCHES, MULTIPLES, CUTS = 12, 4, 3
# Fewer turns are no loop.
LEAST_TIMES = 4

# In place of an age, that an operand comes from outside.
OUTSIDE = -1

# A result of a turn by its place among those of the turn, and how many turns ago that was.
Carry = tuple[int, int]


class Recurrence(NamedTuple):
    """A loop that was unrolled.

    Attributes:
      start: the number of its first eqn.
      period: how many eqns a turn has.
      times: how many turns there are.
      first: the number of its first result.
      results: how many results a turn has.
      ages: for each operand of a turn, how many turns ago it was computed, or OUTSIDE.
      sources: for each operand, which of the results of that turn it is.
      operands: their numbers, a row for each turn.
      initial: for each result that is read in a later turn, the number of its value before the
        first turn.
    """

    start: int
    period: int
    times: int
    first: int
    results: int
    ages: np.ndarray
    sources: np.ndarray
    operands: np.ndarray
    initial: dict[Carry, int]

    @property
    def stop(self) -> int:
        return self.start + self.period * self.times

    @property
    def last(self) -> int:
        """The number behind that of its last result."""
        return self.first + self.results * self.times

    @property
    def saved(self) -> int:
        """How many eqns fewer the program has with a loop in its place."""
        return self.period * (self.times - 1)

    def turn(self, number: int) -> tuple[int, int]:
        """In which turn one of its results is computed, and which result of the turn it is."""
        return divmod(number - self.first, self.results)

    def is_carry(self, turn: int, result: int) -> bool:
        """Whether the last turn hands a result on, so that it is at hand behind the loop."""
        return (result, self.times - turn) in self.initial


def recurrences(program: WrittenOut) -> list[Recurrence]:
    """The recurrences of a program that are worth a loop, in order; they do not overlap."""
    letters = letters_of(program.eqns, _may_repeat)
    found: list[Recurrence] = []
    parts = [(0, len(letters))]
    while parts:
        start, stop = parts.pop()
        if stop - start > LEAST_SAVED:
            best = _best(program, letters, start, stop)
            if best is not None:
                found.append(best)
                parts += [(start, best.start), (best.stop, stop)]
    return sorted(found, key=lambda recurrence: recurrence.start)


def _may_repeat(eqn: JaxprEqn) -> bool:
    """Whether an eqn may stand in a loop that is made of a recurrence."""
    if eqn.effects or eqn.primitive.fusion.bodies or eqn.primitive is conv_general_dilated_p:
        return False
    return all(map(_is_small, eqn.outvars))


def _is_small(var: Var) -> bool:
    return isinstance(var.aval, ShapedArray) and 0 < nbytes(var) <= MOST_BYTES


def nbytes(atom: Atom) -> int:
    """How many bytes an array takes, also one of random keys."""
    aval = physical_aval(atom.aval)
    return aval.size * aval.dtype.itemsize


def _best(program: WrittenOut, letters: np.ndarray, start: int, stop: int) -> Recurrence | None:
    """The recurrence among some eqns that saves most."""
    best: Recurrence | None = None
    for stretch in stretches(letters[start:stop])[:STRETCHES]:
        if stretch.saved < (LEAST_SAVED if best is None else best.saved):
            break
        moved = stretch._replace(start=stretch.start + start, stop=stretch.stop + start)
        for found in _recurrences_in(program, moved):
            if found.saved >= LEAST_SAVED and (best is None or found.saved > best.saved):
                best = found
    return best


def _recurrences_in(program: WrittenOut, stretch: Stretch) -> Iterator[Recurrence]:
    """What there is in a stretch, with its period or, if there is nothing, a multiple of it."""
    for multiple in range(1, MULTIPLES + 1):
        start, stop, period = stretch.start, stretch.stop, multiple * stretch.period
        if (stop - start) // period < LEAST_TIMES:
            return
        found = None
        for cut in _narrowest_cuts(program, stretch._replace(period=period)):
            found = _flow(program, start + cut, period, (stop - start - cut) // period)
            if found is not None:
                yield found
        if found is not None:
            return


def _narrowest_cuts(program: WrittenOut, stretch: Stretch) -> list[int]:
    """Where in a period the fewest bytes are alive, the narrowest place first."""
    period, first, places = stretch.period, program.first, program.places
    middle = stretch.start + (stretch.times // 2) * period
    before, after = middle - period, min(middle + 2 * period, stretch.stop)
    last_use: dict[int, int] = {}
    for index in range(before, after):
        for number in program.operands[places[index] : places[index + 1]].tolist():
            last_use[number] = index
    alive = np.zeros(period + 1, np.int64)
    for index in range(before, min(middle + period, after)):
        for number in range(first[index], first[index + 1]):
            use = last_use.get(number, -1)
            begin, end = max(index + 1, middle) - middle, min(use - middle, period - 1)
            if begin <= end:
                size = nbytes(program.results[number]) + 1
                alive[begin] += size
                alive[end + 1] -= size
    return np.argsort(np.cumsum(alive)[:period], kind="stable")[:CUTS].tolist()


def _flow(program: WrittenOut, start: int, period: int, times: int) -> Recurrence | None:
    """The recurrence in so many turns, if their data flow repeats in enough of them."""
    if times < LEAST_TIMES:
        return None
    first, places = program.first, program.places
    base, results = first[start], first[start + period] - first[start]
    if not results:
        return None
    operands = program.operands[places[start] : places[start + times * period]]
    operands = operands.reshape(times, -1)
    turns, sources = np.divmod(operands - base, results)
    ages = np.where(operands < base, OUTSIDE, np.arange(times)[:, None] - turns)
    middle = times // 2
    # What is the same in two turns is no result of one of them, and neither is what is too old.
    fixed = (operands[middle] == operands[middle - 1]) | (ages[middle] > MOST_TURNS)
    wanted = np.where(fixed, OUTSIDE, ages[middle])
    same = ((ages == wanted) & (sources == sources[middle])) | (wanted == OUTSIDE)
    table = _Turns(operands, turns, sources[middle], wanted, same, base, results)
    window = table.equal_turns(middle)
    if window is None:
        return None
    early, late, initial = window
    return Recurrence(
        start + early * period,
        period,
        late - early,
        base + early * results,
        results,
        wanted,
        sources[middle],
        operands[early:late],
        initial,
    )


class _Turns(NamedTuple):
    """The operands of the turns of a stretch, a row each.

    Attributes:
      operands: their numbers.
      turns: in which turn each is computed; negative if before the first.
      sources, ages: what the operands of a turn ought to be, as in `Recurrence`.
      same: where they are that.
      base: the number of the first result.
      results: how many a turn has.
    """

    operands: np.ndarray
    turns: np.ndarray
    sources: np.ndarray
    ages: np.ndarray
    same: np.ndarray
    base: int
    results: int

    def equal_turns(self, middle: int) -> tuple[int, int, dict[Carry, int]] | None:
        """The longest range of equal turns around one, and the initial values before it."""
        bad = np.flatnonzero(~self.same.all(axis=1))
        early = int(bad[bad < middle].max(initial=-1)) + 1
        late = int(bad[bad >= middle].min(initial=len(self.same)))
        # Where the operands from outside were computed last.
        made = np.where(self.ages == OUTSIDE, self.turns, -1).max(axis=1, initial=-1)
        if late - early >= LEAST_TIMES:
            early = max(early, int(made[early:late].max()) + 1)
        depth = max(0, int(self.ages.max(initial=0)))
        for begin in range(max(0, early - depth), early + 1):
            if late - begin < max(LEAST_TIMES, depth + 1) or made[begin:late].max() >= begin:
                continue
            if self._begins(begin, depth):
                initial = self._initial(begin)
                if initial is not None:
                    return begin, late, initial
        return None

    def _begins(self, begin: int, depth: int) -> bool:
        """Whether a turn can be the first: what later turns read of earlier ones is initial."""
        for turn in range(begin, begin + depth):
            earlier = self.ages > turn - begin
            if not (self.same[turn] | earlier).all():
                return False
            if (self.turns[turn][earlier] >= begin).any():
                return False
        return True

    def _initial(self, begin: int) -> dict[Carry, int] | None:
        """The values that stand for results of turns before the first; None if two disagree."""
        initial: dict[Carry, int] = {}
        for operand in np.flatnonzero(self.ages > 0).tolist():
            age, source = int(self.ages[operand]), int(self.sources[operand])
            for back in range(1, age + 1):
                number = int(self.operands[begin + age - back, operand])
                if initial.setdefault((source, back), number) != number:
                    return None
        return initial
