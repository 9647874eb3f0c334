"""Programs with their calls written out, to be looked at as a whole, and changed in places.

A call (`jit`, `custom_jvp`, `checkpoint` ...) hides from an analysis what happens around it.  So
the analysis sees one list of values, in the order in which they are computed, as if each call were
written out where it stands:

    jaxpr:   b = f(a); c = f(b)         with f(x) = { y = sin x; z = mul y x; in z }
    values:  0 a   1 y = sin 0   2 z = mul 1 0   3 y = sin 2   4 z = mul 3 2

What it finds of a value is then written back: into the jaxpr, if the value is its own; if it is
one of a call, the call is written out indeed.  Calls in which nothing is found stay calls, so that
a function that is called often is still compiled from one text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..core.avals import ShapedArray
from ..core.fusion import BOUNDARY, COPYING, Fusion
from ..core.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, Var
from ..ops.barrier import optimization_barrier_p

# An op with more operands is not fused into what reads it: in practice, a long concatenation.
MOST_OPERANDS = 8

# The number of the value that stands for all scalars written in place of operands of calls.
_LITERAL = 0


class Body:
    """A jaxpr, once as a whole or once for each call of it, and the numbers of its values.

    Attributes:
      closed: the jaxpr.
      start, stop: the values of its eqns and constants are numbered from `start` up to `stop`.
      first: for each of its eqns, the number of its first result.
      calls: the bodies of its eqns that are calls, by the index of the eqn.
    """

    __slots__ = ("calls", "closed", "first", "start", "stop")

    def __init__(self, closed: ClosedJaxpr, start: int):
        self.closed = closed
        self.start = self.stop = start
        self.first: list[int] = []
        self.calls: dict[int, Body] = {}


class Values:
    """The values of a program whose calls are written out.

    Attributes:
      fusions: how the compiler fuses what computes each value; inputs and constants are boundaries.
        What is computed from copies of one number copies one, too.
      reads: the numbers of the values that it is computed from, each once. Of an op with several
        results that is a boundary, the first stands for all.
      variables: by which its jaxpr knows it; of a call, the one within.
      eqns: where each comes from, or None.
      outputs: the numbers of the program's results, each once.
      body: the program itself.
    """

    __slots__ = ("body", "eqns", "fusions", "outputs", "reads", "variables")

    def __init__(self, closed: ClosedJaxpr):
        self.fusions: list[Fusion] = []
        self.reads: list[tuple[int, ...]] = []
        self.variables: list[Any] = []
        self.eqns: list[JaxprEqn | None] = []
        self._add(BOUNDARY, (), None, None)
        env = {var: self._add(BOUNDARY, (), var, None) for var in closed.invars}
        self.body = Body(closed, len(self.reads))
        outs = self._add_eqns(self.body, env)
        self.outputs = list(dict.fromkeys(out for out in outs if out != _LITERAL))

    def __len__(self) -> int:
        return len(self.reads)

    def with_bodies(self) -> Iterator[int]:
        """The numbers of the first results of loops and conditionals."""
        before = None
        for number, (fusion, eqn) in enumerate(zip(self.fusions, self.eqns)):
            if fusion.bodies and eqn is not before:
                yield number
            before = eqn

    def _add(self, fusion: Fusion, reads: tuple[int, ...], var: Any, eqn: Any) -> int:
        self.fusions.append(fusion)
        self.reads.append(reads)
        self.variables.append(var)
        self.eqns.append(eqn)
        return len(self.reads) - 1

    def _add_eqns(self, body: Body, env: dict[Var, int]) -> list[int]:
        """Add the values of a body, given those of its inputs; the numbers of its outputs."""
        jaxpr = body.closed.jaxpr
        for var in jaxpr.constvars:
            env[var] = self._add(BOUNDARY, (), var, None)
        for index, eqn in enumerate(jaxpr.eqns):
            body.first.append(len(self.reads))
            if eqn.primitive.fusion.applies:
                operands = [_LITERAL if type(a) is Literal else env[a] for a in eqn.invars]
                outs = self._add_call(body, index, eqn, operands)
                env.update(zip(eqn.outvars, outs))
            else:
                self._add_results(eqn, env)
        body.stop = len(self.reads)
        return [_LITERAL if type(a) is Literal else env[a] for a in jaxpr.outvars]

    def _add_call(self, body: Body, index: int, eqn: JaxprEqn, operands: list[int]) -> list[int]:
        closed = eqn.primitive.expanded([atom.aval for atom in eqn.invars], eqn.params)
        call = body.calls[index] = Body(closed, len(self.reads))
        return self._add_eqns(call, dict(zip(closed.invars, operands)))

    def _add_results(self, eqn: JaxprEqn, env: dict[Var, int]) -> None:
        read = [env[atom] for atom in eqn.invars if type(atom) is not Literal]
        reads = tuple(read) if len(read) < 2 else tuple(dict.fromkeys(read))
        fusion, outvars = self._fusion_of(eqn, reads), eqn.outvars
        for var in outvars:
            env[var] = self._add(fusion, reads, var, eqn)
            if not fusion.fused:
                reads = ()
        if not outvars:
            self._add(BOUNDARY, reads, None, eqn)

    def _fusion_of(self, eqn: JaxprEqn, reads: tuple[int, ...]) -> Fusion:
        """How the compiler fuses an op that reads these values."""
        fusion = eqn.primitive.fusion
        if not fusion.fused:
            return fusion
        if len(reads) > MOST_OPERANDS or not all(map(_is_dense, eqn.outvars)):
            return BOUNDARY
        if fusion.repeats:
            larger = eqn.invars and eqn.outvars[0].aval.size > 1
            return COPYING if larger and all(map(self._is_number, reads)) else fusion
        if reads and self.fusions[reads[0]].copies:
            return COPYING if all(self.fusions[r].copies for r in reads) else fusion
        return fusion

    def _is_number(self, v: int) -> bool:
        """Whether a value is one number, or copies of one."""
        return v == _LITERAL or self.variables[v].aval.size == 1 or self.fusions[v].copies


def _is_dense(var: Var) -> bool:
    """Whether a variable is an array of numbers, and has any."""
    aval = var.aval
    return type(aval) is ShapedArray and aval.size > 0 and isinstance(aval.dtype, np.dtype)


def with_barriers(
    values: Values, pinned: Iterable[int], params: Mapping[int, dict[str, Any]] | None = None
) -> ClosedJaxpr:
    """The program with a barrier behind each of the given values; it computes the same.

    Args:
      values: the program, calls written out.
      pinned: numbers of values that eqns compute.
      params: parameters in place of those that eqns have, by the number of the first result.
    """
    return _Writer(set(pinned), params or {}).program(values.body)


class _Writer:
    """Writes a program anew."""

    def __init__(self, pinned: set[int], params: Mapping[int, dict[str, Any]]):
        self.pinned = pinned
        self.params = params
        self.changed = sorted({*pinned, *params})
        self.eqns: list[JaxprEqn] = []
        self.constants: dict[Var, Any] = {}

    def program(self, body: Body) -> ClosedJaxpr:
        jaxpr = body.closed.jaxpr
        env: dict[Var, Atom] = {var: var for var in (*jaxpr.constvars, *jaxpr.invars)}
        self.constants.update(zip(jaxpr.constvars, body.closed.consts))
        self.write(body, env, None)
        outvars = [_in(env, atom) for atom in jaxpr.outvars]
        written = jaxpr.replace(constvars=list(self.constants), outvars=outvars, eqns=self.eqns)
        return ClosedJaxpr(written, list(self.constants.values()))

    def write(self, body: Body, env: dict[Var, Atom], scopes: tuple[str, ...] | None) -> None:
        """Write the eqns of a body, of whose variables `env` has the new ones.

        Args:
          body: the program, or one of its calls.
          env: is filled.
          scopes: of the call; None for the program itself, whose variables stay as they are.
        """
        for index, eqn in enumerate(body.closed.jaxpr.eqns):
            call = body.calls.get(index)
            if call is not None and self._changes(call.start, call.stop):
                self._write_call(eqn, call, env, scopes or ())
                continue
            invars = [_in(env, atom) for atom in eqn.invars]
            first = body.first[index]
            params = eqn.params | self.params[first] if first in self.params else eqn.params
            outvars, stack = eqn.outvars, eqn.name_stack
            if scopes is not None:
                outvars, stack = [Var(var.aval) for var in outvars], (*scopes, *stack)
            self.eqns.append(
                JaxprEqn(invars, outvars, eqn.primitive, params, eqn.effects, eqn.source, stack)
            )
            env.update(zip(eqn.outvars, outvars))
            if call is None and self._changes(first, first + len(outvars)):
                self._write_barriers(eqn, first, env, stack)

    def _changes(self, start: int, stop: int) -> bool:
        """Whether something changes at one of the values numbered from `start` up to `stop`."""
        at = bisect_left(self.changed, start)
        return at < len(self.changed) and self.changed[at] < stop

    def _write_call(
        self, eqn: JaxprEqn, call: Body, env: dict[Var, Atom], scopes: tuple[str, ...]
    ) -> None:
        jaxpr = call.closed.jaxpr
        inner = dict(zip(jaxpr.invars, [_in(env, atom) for atom in eqn.invars]))
        for var, value in zip(jaxpr.constvars, call.closed.consts):
            inner[var] = constant = Var(var.aval)
            self.constants[constant] = value
        self.write(call, inner, scopes_of_call(eqn, scopes))
        env.update(zip(eqn.outvars, [_in(inner, atom) for atom in jaxpr.outvars]))

    def _write_barriers(
        self, eqn: JaxprEqn, first: int, env: dict[Var, Atom], stack: tuple[str, ...]
    ) -> None:
        for number, var in enumerate(eqn.outvars, first):
            if number in self.pinned:
                behind = Var(var.aval)
                barrier = JaxprEqn([env[var]], [behind], optimization_barrier_p, {})
                self.eqns.append(barrier.replace(source=eqn.source, name_stack=stack))
                env[var] = behind


def scopes_of_call(eqn: JaxprEqn, scopes: tuple[str, ...]) -> tuple[str, ...]:
    """The scopes of what a call applies, where the call itself is in the given ones."""
    within = (*scopes, *eqn.name_stack)
    if eqn.primitive.shares_names:  # XLA names the ops of a function after its call
        within = (*within, f"{eqn.primitive.name}({eqn.params['name']})")
    return within


def _in(env: dict[Var, Atom], atom: Atom) -> Atom:
    return atom if type(atom) is Literal else env[atom]
