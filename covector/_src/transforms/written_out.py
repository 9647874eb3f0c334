"""A program with all its calls written out, as one list of eqns with numbers for its values.

`inline.py` says why calls are written out.  Here values have numbers such that the data flow of a
part of the program is an array of integers, which the search for unrolled loops compares with that
of the next part.  What eqns compute is numbered from 0 up in the order of the program; whatever is
there before, inputs, constants and literals, is numbered from -1 down, equal literals alike.

Slices of an array stand right behind what computes the array, so that reading the next element of
an array in each turn of an unrolled loop is no part of the turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, Var
from ..ops.shaping import squeeze_p
from ..ops.slicing import slice_p
from .inline import scopes_of_call


class Call(NamedTuple):
    """A call that was written out.

    Attributes:
      start, stop: the eqns numbered from `start` up to `stop` stand in its place.
      eqn: the call itself, from and to variables of the whole program.
      operands: the numbers of its operands.
    """

    start: int
    stop: int
    eqn: JaxprEqn
    operands: list[int]


class WrittenOut:
    """A program whose calls are written out.

    Attributes:
      eqns: all of them.
      first: for each eqn the number of its first result; and how many results there are in all.
      places: for each eqn the place of its first operand in `operands`; and the length of those.
      operands: the numbers of the operands of all eqns, one after the other.
      results: the variables of what eqns compute.
      before: the atoms of what is there before; that numbered -1 is the first.
      outputs: the numbers of the program's results.
      calls: those that were written out, in the order in which they begin, outer ones first.
      constants: variables of the constants of the program and of its calls, with their values.
      originals: what variables that had to be renamed were called in their own jaxprs.
      closed: the program itself.
    """

    def __init__(self, closed: ClosedJaxpr):
        self.closed = closed
        self.eqns: list[JaxprEqn] = []
        self.first: list[int] = []
        self.places: list[int] = []
        self.results: list[Var] = []
        self.before: list[Atom] = []
        self.calls: list[Call] = []
        self.constants: dict[Var, Any] = {}
        self.originals: dict[Var, Var] = {}
        self._operands: list[int] = []
        self._literals: dict[Any, int] = {}
        self._captured: dict[int, int] = {}
        env = {var: self._number_before(var) for var in closed.invars}
        self.outputs = self._add_eqns(closed, slices_first(closed.eqns), env, None)
        self.first.append(len(self.results))
        self.places.append(len(self._operands))
        self.operands = np.array(self._operands, np.int64)

    def atom(self, number: int) -> Atom:
        """The value of a number."""
        return self.results[number] if number >= 0 else self.before[-1 - number]

    def operands_of(self, index: int) -> list[int]:
        """The numbers of the operands of an eqn."""
        return self._operands[self.places[index] : self.places[index + 1]]

    def _number_before(self, atom: Atom) -> int:
        self.before.append(atom)
        return -len(self.before)

    def _number(self, atom: Atom, env: dict[Var, int]) -> int:
        if type(atom) is not Literal:
            return env[atom]
        value = atom.val
        given = value if type(value) is np.ndarray else np.asarray(value, dtype=atom.aval.dtype)
        key = (atom.aval, given.tobytes())
        found = self._literals.get(key)
        if found is None:
            found = self._literals[key] = self._number_before(atom)
        return found

    def _constant(self, var: Var, value: Any) -> int:
        """The number of a constant; the same for an array that several calls captured."""
        found = self._captured.get(id(value))
        if found is None:
            self.constants[var] = value
            found = self._captured[id(value)] = self._number_before(var)
        return found

    def _add_eqns(
        self,
        closed: ClosedJaxpr,
        eqns: Sequence[JaxprEqn],
        env: dict[Var, int],
        scopes: tuple[str, ...] | None,
    ) -> list[int]:
        """Add the eqns of a jaxpr, given the numbers of its inputs; the numbers of its outputs.

        Args:
          closed: the program, or what one of its calls applies.
          eqns: its eqns in the order that they are to have.
          env: the numbers of its variables; is filled.
          scopes: of the call; None for the program itself, whose variables stay as they are.
        """
        for var, value in zip(closed.constvars, closed.consts):
            env[var] = self._constant(var if scopes is None else Var(var.aval), value)
        for eqn in eqns:
            operands = [self._number(atom, env) for atom in eqn.invars]
            if eqn.primitive.fusion.applies:
                numbers = self._add_call(eqn, operands, scopes or ())
                env.update(zip(eqn.outvars, numbers))
            else:
                self.first.append(len(self.results))
                self.places.append(len(self._operands))
                self._operands += operands
                env.update(zip(eqn.outvars, range(len(self.results), 1 << 62)))
                self.eqns.append(eqn if scopes is None else self._renamed(eqn, operands, scopes))
                self.results += self.eqns[-1].outvars
        return [self._number(atom, env) for atom in closed.outvars]

    def _renamed(self, eqn: JaxprEqn, operands: Sequence[int], scopes: tuple[str, ...]) -> JaxprEqn:
        """An eqn of a call, with variables that this call alone has."""
        outvars = [Var(var.aval) for var in eqn.outvars]
        self.originals.update(zip(outvars, eqn.outvars))
        stack = (*scopes, *eqn.name_stack)
        invars = list(map(self.atom, operands))
        return JaxprEqn(invars, outvars, eqn.primitive, eqn.params, eqn.effects, eqn.source, stack)

    def _add_call(self, eqn: JaxprEqn, operands: list[int], scopes: tuple[str, ...]) -> list[int]:
        closed = eqn.primitive.expanded([atom.aval for atom in eqn.invars], eqn.params)
        start, place, first = len(self.eqns), len(self.calls), len(self.results)
        within = scopes_of_call(eqn, scopes)
        env = dict(zip(closed.invars, operands))
        outputs = self._add_eqns(closed, closed.eqns, env, within)
        outvars, bound = [], set()
        for var, number in zip(eqn.outvars, outputs):
            computed = number >= first and number not in bound
            outvars.append(self.results[number] if computed else Var(var.aval))
            bound.add(number)
        stack = (*scopes, *eqn.name_stack)
        whole = JaxprEqn(
            list(map(self.atom, operands)),
            outvars,
            eqn.primitive,
            eqn.params,
            eqn.effects,
            eqn.source,
            stack,
        )
        self.calls.insert(place, Call(start, len(self.eqns), whole, operands))
        return outputs


def count_eqns(closed: ClosedJaxpr) -> int:
    """How many eqns a program has, calls written out."""
    count = len(closed.jaxpr.eqns)
    for eqn in closed.jaxpr.eqns:
        if eqn.primitive.fusion.applies:
            avals = [atom.aval for atom in eqn.invars]
            count += count_eqns(eqn.primitive.expanded(avals, eqn.params)) - 1
    return count


def slices_first(eqns: Sequence[JaxprEqn]) -> list[JaxprEqn]:
    """The eqns in an order in which slices stand right behind what computes the array.

    Those of inputs and constants come first of all, and of arrays with many slices before others:
    the last are perhaps those of the initial state of a loop, whose first turn they belong to.
    """
    slices = Counter([eqn.invars[0] for eqn in eqns if eqn.primitive is slice_p])
    if not slices:
        return list(eqns)
    place: dict[Var, int] = {}
    keys = []
    for index, eqn in enumerate(eqns):
        key = index
        if eqn.primitive is slice_p or eqn.primitive is squeeze_p:
            (operand,) = eqn.invars
            if type(operand) is not Literal:
                key = place.get(operand, -slices[operand])
        keys.append(key)
        for var in eqn.outvars:
            place[var] = key
    return [eqns[i] for i in sorted(range(len(eqns)), key=keys.__getitem__)]
