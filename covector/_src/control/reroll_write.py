"""Writing a program with some of its recurrences as scans: see `reroll.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from ..core.primitive import Primitive
from ..ops.joining import concatenate_p, stack_p
from ..ops.shaping import rev_p, squeeze_p
from ..ops.slicing import slice_p
from ..transforms.recurrence import Carry, nbytes
from ..transforms.simplify import drop_dead_code
from ..transforms.vmap import batch_aval
from .reroll import Loop, Piece, Rolled, Row, Stacked, rolled
from .scan import scan_p


def rerolled(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with loops in place of those recurrences where that pays; itself if there are
    none.

    It computes the same as before, and takes and returns the same.
    """
    found = rolled(closed)
    return closed if found is None else Writer(found).program()


class Writer:
    """Writes a program anew.

    Attributes:
      originals: what variables that had to be renamed were called in the program before.
    """

    def __init__(self, found: Rolled):
        self.found = found
        self.before = found.program
        self.originals = dict(self.before.originals)
        self.eqns: list[JaxprEqn] = []
        self._constants = dict(self.before.constants)
        # The arrays that the scans stack, and whether those hold the last turn first.
        self._stacked: dict[Stacked, Var] = {}
        self._backwards: dict[int, int | None] = {}
        # What stands for values that are no longer computed as they were, by number.
        self._instead: dict[int, Atom] = {}
        self._place: JaxprEqn | None = None

    def program(self) -> ClosedJaxpr:
        """The program."""
        index, loops, calls = 0, iter(self.found.loops), iter(self.before.calls)
        loop, call = next(loops, None), next(calls, None)
        while index < len(self.before.eqns):
            limit = len(self.before.eqns) if loop is None else loop.recurrence.start
            while call is not None and not (
                index <= call.start < call.stop and (call.stop <= limit or limit <= call.start)
            ):
                call = next(calls, None)
            if loop is not None and index == limit:
                self._write_loop(loop)
                index, loop = loop.recurrence.stop, next(loops, None)
            elif call is not None and call.start == index:
                self._write_eqn(call.eqn, call.operands)
                index = call.stop
            else:
                self._write_inner(index)
                index += 1
        outvars = [self._atom(number) for number in self.before.outputs]
        jaxpr = self.before.closed.jaxpr.replace(
            constvars=list(self._constants), outvars=outvars, eqns=self.eqns
        )
        jaxpr, _ = drop_dead_code(jaxpr, keep_inputs=True)
        return ClosedJaxpr(jaxpr, [self._constants[var] for var in jaxpr.constvars])

    # ---------------------------------------------------------------- outside of loops

    def _write_inner(self, index: int) -> None:
        eqn, pieces = self.before.eqns[index], self.found.joined.get(index)
        if pieces is None:
            self._write_eqn(eqn, self.before.operands_of(index))
        else:
            self._place = eqn
            self._instead[self.before.first[index]] = self._array(list(map(self._placed, pieces)))

    def _write_eqn(self, eqn: JaxprEqn, operands: Iterable[int]) -> None:
        self._place = eqn
        invars = [self._atom(number) for number in operands]
        self.eqns.append(
            JaxprEqn(
                invars,
                eqn.outvars,
                eqn.primitive,
                eqn.params,
                eqn.effects,
                eqn.source,
                eqn.name_stack,
            )
        )

    def _apply(self, primitive: Primitive, operands: Sequence[Atom], **params: Any) -> Var:
        """Write an eqn of one result, at the place of the one that needs it."""
        aval, effects = primitive.typecheck(tuple([atom.aval for atom in operands]), params)
        outvar = Var(aval)
        place = self._place
        assert place is not None
        self.eqns.append(
            JaxprEqn(
                list(operands),
                [outvar],
                primitive,
                params,
                effects,
                place.source,
                place.name_stack,
            )
        )
        return outvar

    def _atom(self, number: int) -> Atom:
        """The value of a number; if it is a row of what a loop stacked, it is read first."""
        found = self._instead.get(number)
        if found is None:
            found = self.before.atom(number)
            piece = self.found.row(number)
            if isinstance(piece.array, tuple):
                self._instead[number] = found = self._read(self._placed(piece), found)
        return found

    def _read(self, piece: Piece, original: Atom) -> Atom:
        read = self._apply(squeeze_p, [self._rows_of(piece)], dimensions=(0,))
        assert type(original) is Var
        self.originals[read] = original
        return read

    # ---------------------------------------------------------------- arrays of rows

    def _placed(self, piece: Piece) -> Piece:
        """A piece in terms of the places in its array, which may hold the last turn first."""
        if isinstance(piece.array, tuple):
            last = self._backwards[piece.array[0]]
            if last is not None:
                return piece._replace(start=last - piece.start, step=-piece.step)
        return piece

    def _array_of(self, piece: Piece) -> Atom:
        if isinstance(piece.array, tuple):
            return self._stacked[piece.array]
        return self._atom(piece.array)

    def _rows_of(self, piece: Piece) -> Atom:
        """The rows of a piece."""
        array = self._array_of(piece)
        shape = array.aval.shape
        low = piece.start if piece.step > 0 else piece.start - piece.count + 1
        if piece.count < shape[0]:
            start, stop = (low, *[0] * (len(shape) - 1)), (low + piece.count, *shape[1:])
            array = self._apply(
                slice_p, [array], start_indices=start, limit_indices=stop, strides=None
            )
        if piece.step < 0 and piece.count > 1:
            array = self._apply(rev_p, [array], dimensions=(0,))
        return array

    def _array(self, pieces: Sequence[Piece]) -> Atom:
        """The array that is made of pieces."""
        parts: list[Atom] = []
        single: list[Atom] = []
        for piece in pieces:
            if not piece.step:
                single.append(self._array_of(piece))
                continue
            if single:
                parts.append(self._apply(stack_p, single, axis=0))
                single = []
            parts.append(self._rows_of(piece))
        if single:
            parts.append(self._apply(stack_p, single, axis=0))
        return parts[0] if len(parts) == 1 else self._apply(concatenate_p, parts, dimension=0)

    def _input(self, row: Row, reverse: bool) -> Atom:
        """The array that a scan goes over."""
        if row.pieces:
            pieces = list(map(self._placed, row.pieces))
            return self._array(list(map(_reversed, reversed(pieces))) if reverse else pieces)
        literals = [self.before.atom(number) for number in row.values]
        if reverse:
            literals.reverse()
        aval = literals[0].aval
        values = np.array([np.asarray(atom.val) for atom in literals], aval.dtype)
        constant = Var(batch_aval(aval, len(literals), 0))
        self._constants[constant] = values
        return constant

    # ---------------------------------------------------------------- loops

    def _write_loop(self, loop: Loop) -> None:
        recurrence = loop.recurrence
        self._place = place = self.before.eqns[recurrence.start]
        reverse = self._runs_backwards(loop)
        xs = [self._input(row, reverse) for row in loop.rows]
        carries = list(recurrence.initial)
        init = [self._atom(number) for number in recurrence.initial.values()]
        stacked = sorted([r for first, r in self.found.stacked if first == recurrence.first])
        body = _Body(self, loop, carries, stacked)
        outvars = [self._last(loop, carry) for carry in carries]
        for result, var in zip(stacked, body.jaxpr.outvars[len(carries) :]):
            array = Var(batch_aval(var.aval, recurrence.times, 0))
            self._stacked[recurrence.first, result] = array
            outvars.append(array)
        self._backwards[recurrence.first] = recurrence.times - 1 if reverse else None
        params = dict(
            jaxpr=ClosedJaxpr(body.jaxpr),
            length=recurrence.times,
            reverse=reverse,
            num_consts=len(body.constants),
            num_carry=len(carries),
            unroll=1,
        )
        operands = [*map(self._atom, body.constants), *init, *xs]
        self.eqns.append(
            JaxprEqn(
                operands,
                outvars,
                scan_p,
                params,
                body.jaxpr.effects,
                place.source,
                place.name_stack,
            )
        )

    def _last(self, loop: Loop, carry: Carry) -> Var:
        """The variable that a carry is, after the last turn."""
        result, age = carry
        recurrence = loop.recurrence
        number = recurrence.last - age * recurrence.results + result
        var = self.before.atom(number)
        assert type(var) is Var
        self._instead[number] = var
        return var

    def _runs_backwards(self, loop: Loop) -> bool:
        """Whether most bytes of its inputs are read from the last row to the first."""
        total = 0
        for row in loop.rows:
            for piece in map(self._placed, row.pieces):
                if piece.count > 1:
                    total += piece.step * piece.count * nbytes(self.before.atom(row.values[0]))
        return total < 0


class _Body:
    """The body of a scan.

    Attributes:
      jaxpr: from constants, carries and rows to carries and what is stacked.
      constants: the numbers of the constants.
    """

    def __init__(
        self, writer: Writer, loop: Loop, carries: Sequence[Carry], stacked: Sequence[int]
    ):
        self.loop = loop
        self.before = writer.before
        self.constants: dict[int, Var] = {}
        recurrence = loop.recurrence
        originals = self.before.results[recurrence.first : recurrence.first + recurrence.results]
        self.results = [Var(var.aval) for var in originals]
        self.carries = {carry: Var(self.results[carry[0]].aval) for carry in carries}
        self.rows = [Var(self.before.atom(row.values[0]).aval) for row in loop.rows]
        eqns = self._eqns()
        outvars = [
            self.results[result] if age == 1 else self.carries[result, age - 1]
            for result, age in carries
        ]
        outvars += [self.results[result] for result in stacked]
        invars = [*self.constants.values(), *self.carries.values(), *self.rows]
        self.jaxpr = Jaxpr([], invars, outvars, eqns)
        writer.originals.update(zip(self.results, originals))

    def _eqns(self) -> list[JaxprEqn]:
        recurrence, eqns, operand, result = self.loop.recurrence, [], 0, 0
        for index in range(recurrence.start, recurrence.start + recurrence.period):
            eqn = self.before.eqns[index]
            behind, after = operand + len(eqn.invars), result + len(eqn.outvars)
            invars = list(map(self._operand, range(operand, behind)))
            outvars = self.results[result:after]
            eqns.append(
                JaxprEqn(
                    invars,
                    outvars,
                    eqn.primitive,
                    eqn.params,
                    eqn.effects,
                    eqn.source,
                    eqn.name_stack,
                )
            )
            operand, result = behind, after
        return eqns

    def _operand(self, operand: int) -> Atom:
        """What an operand of a turn is called in the body."""
        recurrence = self.loop.recurrence
        age, source = int(recurrence.ages[operand]), int(recurrence.sources[operand])
        if age == 0:
            return self.results[source]
        if age > 0:
            return self.carries[source, age]
        if self.loop.columns[operand] >= 0:
            return self.rows[self.loop.columns[operand]]
        number = int(recurrence.operands[0, operand])
        atom = self.before.atom(number)
        if type(atom) is Literal:
            return atom
        return self.constants.setdefault(number, Var(atom.aval))


def _reversed(piece: Piece) -> Piece:
    """The rows of a piece from the last to the first."""
    return piece._replace(start=piece.start + piece.step * (piece.count - 1), step=-piece.step)
