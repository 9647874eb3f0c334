"""Loops that Python unrolled, rolled up again before a program is compiled.

    for i in range(1000):               17,000 eqns, for which XLA takes seconds; as a scan of
        state = state + h * f(state)    a body of 17 eqns it takes milliseconds, and runs faster

`transforms/recurrence.py` finds what is a loop in all but its writing.  Here is weighed whether a
`scan` in its place pays, and the scan is written.  Of what a turn reads,

    results of turns before are carries, one for each turn that they are old,
    what is the same in all turns is a constant of the body,
    the rest are rows of arrays over which the scan runs.

Those rows mostly lie in an array already: the backward part of a gradient reads what the forward
part computed, turn by turn in reverse, which is what that scan stacked; and a loop over an array
reads its slices.  Rows that have no array yet are stacked, and results that are read one by one
behind the loop are sliced out: that is what the loop costs, beside its turns.

Of the loop's eqns, those of the first turn are kept, with their places in the user's program.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core.jaxpr import ClosedJaxpr, Literal
from ..ops.joining import stack_p, unstack_p
from ..ops.shaping import squeeze_p
from ..ops.slicing import slice_p
from ..transforms.recurrence import LEAST_SAVED, Recurrence, nbytes, recurrences
from ..transforms.written_out import WrittenOut, count_eqns

# Values that have to be stacked for a loop may have so many bytes in all.
MOST_STACKED = 1 << 14
# And so many of them may be computed before: collecting the residuals of a forward part that stays
# unrolled takes longer than its backward part as a loop saves.
MOST_COLLECTED = 16
# The rows that a turn reads may have so many bytes, and those that it adds to what is stacked, too:
# each is a copy, where the turns written out compute along with what reads the value.
MOST_IN_ROWS = 1 << 11
# And so many they may be, if something in the turn is not fused, such as a product of matrices:
# then the body is no single function, and each row is a function that is started in each turn.
MOST_ROWS_BETWEEN_KERNELS = 8
# Reading one row takes two eqns: a slice, and dropping its first dimension.
EQNS_OF_A_ROW = 2
# A `stack` of rows is made of pieces of arrays if these have at least so many rows on average.
ROWS_OF_A_PIECE = 4

# What a recurrence computes turn by turn, stacked: the number of its first result, and the place of
# the stacked one among the results of a turn.
Stacked = tuple[int, int]


class Piece(NamedTuple):
    """Rows of an array that follow one another, from `start` on; backwards if `step` is -1.

    A value that is no row is a piece of its own: its array is the value, and its `step` is 0.
    An array is known by its number, or is what a scan stacks.
    """

    array: int | Stacked
    start: int
    count: int
    step: int


class Row(NamedTuple):
    """An input that is scanned over.

    Attributes:
      values: the numbers of its values, turn by turn.
      pieces: what its array is made of; nothing if all values are literals.
    """

    values: list[int]
    pieces: list[Piece]


class Loop(NamedTuple):
    """A recurrence as a scan.

    Attributes:
      recurrence: what it is.
      rows: the inputs that are scanned over.
      columns: for each operand of a turn, which of them it reads, or -1.
      singles: the results that are read one by one behind the loop, as numbers of turns and of
        results within a turn.
    """

    recurrence: Recurrence
    rows: list[Row]
    columns: list[int]
    singles: list[tuple[int, int]]

    @property
    def saved(self) -> int:
        """How many eqns fewer the program has, those that put rows in and read them included."""
        pieces = sum([len(row.pieces) + 1 for row in self.rows])
        return self.recurrence.saved - pieces - EQNS_OF_A_ROW * len(self.singles)


class Rolled:
    """A program, some recurrences of which are scans.

    Attributes:
      program: as it is.
      recurrences: those which are scans.
    """

    def __init__(self, program: WrittenOut, recurrences: list[Recurrence]):
        self.program = program
        self.recurrences = recurrences
        self._starts = [recurrence.first for recurrence in recurrences]

    @cached_property
    def loops(self) -> list[Loop]:
        """The scans."""
        return list(map(self._loop, self.recurrences))

    @cached_property
    def joined(self) -> dict[int, list[Piece]]:
        """For those `stack`s whose operands are rows, by the index of the eqn, the pieces."""
        found = {}
        for index in self._outside:
            eqn = self.program.eqns[index]
            if eqn.primitive is stack_p and eqn.params["axis"] == 0:
                pieces = self.pieces(self.program.operands_of(index))
                if ROWS_OF_A_PIECE * len(pieces) <= len(eqn.invars):
                    found[index] = pieces
        return found

    @cached_property
    def stacked(self) -> set[Stacked]:
        """What the scans must stack."""
        rows = [row.pieces for loop in self.loops for row in loop.rows]
        arrays = {piece.array for row in (*self.joined.values(), *rows) for piece in row}
        found = {array for array in arrays if type(array) is tuple}
        for loop in self.loops:
            found |= {(loop.recurrence.first, result) for _, result in loop.singles}
        return found

    @cached_property
    def _outside(self) -> list[int]:
        """The eqns that are in no loop."""
        start, outside = 0, []
        for recurrence in self.recurrences:
            outside += range(start, recurrence.start)
            start = recurrence.stop
        return [*outside, *range(start, len(self.program.eqns))]

    @cached_property
    def _read_outside(self) -> np.ndarray:
        """The numbers of the values that are read outside of the loops, sorted."""
        program = self.program
        read = set(program.outputs)
        for index in self._outside:
            if index not in self.joined:
                read.update(program.operands_of(index))
        return np.array(sorted(read), np.int64)

    def pieces(self, numbers: Sequence[int]) -> list[Piece]:
        """Values in order as pieces of arrays, as few as possible."""
        found: list[Piece] = []
        for number in numbers:
            piece = self.row(number)
            if found and piece.step and found[-1].array == piece.array and found[-1].step:
                before = found[-1]
                step = piece.start - before.start if before.count == 1 else before.step
                if abs(step) == 1 and piece.start == before.start + step * before.count:
                    found[-1] = before._replace(count=before.count + 1, step=step)
                    continue
            found.append(piece)
        return found

    def row(self, number: int) -> Piece:
        """A value as a row of an array, if it is one."""
        index = bisect_right(self._starts, number) - 1
        if index >= 0 and number < self.recurrences[index].last:
            turn, result = self.recurrences[index].turn(number)
            return Piece((self._starts[index], result), turn, 1, 1)
        array, row = self._rows.get(number, (number, -1))
        return Piece(array, row, 1, 1) if row >= 0 else Piece(number, 0, 1, 0)

    @cached_property
    def _rows(self) -> dict[int, tuple[int, int]]:
        """Of values that are rows of arrays the number of the array, and which row they are."""
        return dict(_rows_of_arrays(self.program))

    def _loop(self, recurrence: Recurrence) -> Loop:
        rows: list[Row] = []
        columns: list[int] = []
        known: dict[bytes, int] = {}
        for age, column in zip(recurrence.ages, recurrence.operands.T):
            index = -1
            if age < 0 and (column != column[0]).any():
                index = known.setdefault(column.tobytes(), len(rows))
                if index == len(rows):
                    values = column.tolist()
                    rows.append(Row(values, [] if self._known(values) else self.pieces(values)))
            columns.append(index)
        bounds = np.searchsorted(self._read_outside, [recurrence.first, recurrence.last])
        read = map(recurrence.turn, self._read_outside[slice(*bounds)].tolist())
        singles = [(turn, result) for turn, result in read if not recurrence.is_carry(turn, result)]
        return Loop(recurrence, rows, columns, singles)

    def _known(self, values: Sequence[int]) -> bool:
        return max(values) < 0 and all(type(self.program.atom(v)) is Literal for v in values)

    def pays(self, loop: Loop) -> bool:
        """Whether a scan is better than its turns written out."""
        single = [
            piece.array
            for row in loop.rows
            for piece in row.pieces
            if isinstance(piece.array, int) and not piece.step
        ]
        return (
            loop.saved >= LEAST_SAVED
            and sum([nbytes(self.program.atom(number)) for number in single]) <= MOST_STACKED
            and sum([number >= 0 for number in single]) <= MOST_COLLECTED
            and self._moves_little(loop.recurrence, self._read_in_turns(loop))
            and self._moves_little(loop.recurrence, self._stacked_in_turns(loop))
        )

    def _moves_little(self, recurrence: Recurrence, rows: Sequence[int]) -> bool:
        """Whether rows that each turn reads, or adds, are few enough for it."""
        turn = self.program.eqns[recurrence.start : recurrence.start + recurrence.period]
        fused = all(eqn.primitive.fusion.fused for eqn in turn)
        return sum(rows) <= MOST_IN_ROWS and (fused or len(rows) <= MOST_ROWS_BETWEEN_KERNELS)

    def _read_in_turns(self, loop: Loop) -> list[int]:
        """The sizes of the rows that a turn reads."""
        return [nbytes(self.program.atom(row.values[0])) for row in loop.rows]

    def _stacked_in_turns(self, loop: Loop) -> list[int]:
        """The sizes of the results of a turn that are stacked."""
        first = loop.recurrence.first
        results = [result for start, result in self.stacked if start == first]
        return [nbytes(self.program.results[first + result]) for result in results]


def rolled(closed: ClosedJaxpr) -> Rolled | None:
    """A program with those of its recurrences as scans where that pays; None if nowhere."""
    if count_eqns(closed) <= LEAST_SAVED:
        return None
    program = WrittenOut(closed)
    found = recurrences(program)
    while found:
        attempt = Rolled(program, found)
        paying = [loop.recurrence for loop in attempt.loops if attempt.pays(loop)]
        if len(paying) == len(found):
            return attempt
        found = paying  # without those that do not pay, others may pay no longer
    return None


def _rows_of_arrays(program: WrittenOut) -> Iterator[tuple[int, tuple[int, int]]]:
    """The values that are rows of arrays: what is unstacked, and slices of one row each."""
    sliced: dict[int, tuple[int, int]] = {}
    for index, eqn in enumerate(program.eqns):
        primitive, params = eqn.primitive, eqn.params
        if primitive is slice_p:
            row = _sliced_row(eqn.invars[0].aval.shape, **params)
            if row is not None:
                sliced[program.first[index]] = program.operands_of(index)[0], row
        elif primitive is squeeze_p and params["dimensions"] == (0,):
            found = sliced.get(program.operands_of(index)[0])
            if found is not None:
                yield program.first[index], found
        elif primitive is unstack_p and params["axis"] == 0:
            for row in range(len(eqn.outvars)):
                yield program.first[index] + row, (program.operands_of(index)[0], row)


def _sliced_row(
    shape: Sequence[int], start_indices: Any, limit_indices: Any, strides: Any
) -> int | None:
    """Which row of an array of this shape a slice is, or None if it is none."""
    whole = (*start_indices[1:], *limit_indices[1:]) == (*[0] * (len(shape) - 1), *shape[1:])
    if not whole or limit_indices[0] - start_indices[0] != 1 or set(strides or (1,)) != {1}:
        return None
    return start_indices[0]
