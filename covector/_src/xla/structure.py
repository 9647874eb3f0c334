"""Whether two jaxprs say the same, though they are two objects.

A function that is jitted anew in each turn of a Python loop, or defined anew for each layer of a
network, gives a jaxpr each time.  Where they differ only in the names of variables, in places in
the user's program and in the values of constants, one function of the compiled program serves all.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var


class Structures:
    """Numbers for jaxprs: the same for those that say the same."""

    def __init__(self) -> None:
        self._by_structure: dict[Hashable, int] = {}
        # The jaxprs themselves are the keys, so that none of them dies and leaves its id to others.
        self._by_jaxpr: dict[Jaxpr, int] = {}

    def number(self, jaxpr: Jaxpr) -> int:
        """The number of a jaxpr."""
        found = self._by_jaxpr.get(jaxpr)
        if found is None:
            structure = self._structure(jaxpr)
            found = self._by_structure.setdefault(structure, len(self._by_structure))
            self._by_jaxpr[jaxpr] = found
        return found

    def _structure(self, jaxpr: Jaxpr) -> Hashable:
        """A jaxpr as a tuple in which variables are numbered as they appear."""
        given = [*jaxpr.constvars, *jaxpr.invars]
        numbers: dict[Var, int] = {v: i for i, v in enumerate(given)}
        eqns = tuple([self._eqn(eqn, numbers) for eqn in jaxpr.eqns])
        outs = tuple([_atom(a, numbers) for a in jaxpr.outvars])
        return tuple([v.aval for v in given]), len(jaxpr.constvars), eqns, outs

    def _eqn(self, eqn: JaxprEqn, numbers: dict[Var, int]) -> Hashable:
        operands = tuple([_atom(a, numbers) for a in eqn.invars])
        for v in eqn.outvars:
            numbers[v] = len(numbers)
        results = tuple([v.aval for v in eqn.outvars])
        params = tuple([(name, self._param(value)) for name, value in eqn.params.items()])
        return eqn.primitive, operands, results, params, eqn.name_stack, eqn.effects

    def _param(self, value: Any) -> Hashable:
        """A parameter of an eqn, as what it says; what cannot be compared, as the object it is."""
        kind = type(value)
        if kind is int or kind is bool or value is None:
            return value
        if isinstance(value, tuple):
            return kind, tuple([self._param(item) for item in value])
        if isinstance(value, ClosedJaxpr):  # its constants are written into the program
            return "closed", self.number(value.jaxpr), tuple(map(id, value.consts))
        if isinstance(value, Jaxpr):
            return "jaxpr", self.number(value)
        if kind is float or kind is complex:  # the two zeros are equal, and NaN is not
            return kind, repr(value)
        try:
            hash(value)
        except TypeError:
            return "object", id(value)
        return kind, value


def _atom(atom: Any, numbers: dict[Var, int]) -> Hashable:
    if type(atom) is not Literal:
        return numbers[atom]
    value = np.asarray(atom.val, dtype=atom.aval.dtype)
    return atom.aval, value.tobytes()
