"""The verifier: whether a jaxpr is well formed and well typed.

Run after every transformation when the flag `enable_checks` is on; `extend.core.check_jaxpr` is it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base import tracing_errors as errors
from ..base.errors import JaxprTypeError
from .avals import AbstractValue, ShapedArray, aval_of, is_valid_type
from .jaxpr import Atom, ClosedJaxpr, DropVar, Jaxpr, JaxprEqn, Literal, Var, jaxprs_in_params
from .show import Printer, Settings, layout, printer_of


def check_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> None:
    """Verify a jaxpr and the jaxprs in it.

    Every variable is bound once, and before it is read; literals are scalars of their types;
    constants have the types of their variables; each eqn binds what its primitive's rule gives, and
    has the effects that it gives; the jaxpr has the effects of its eqns.

    Raises:
      JaxprTypeError: something is wrong; says with which eqn, and which line of the user's it is.

    >>> import covector as cv
    >>> jaxpr = cv.make_jaxpr(lambda x: cv.lax.neg(x))(1.0)
    >>> cv.extend.core.check_jaxpr(jaxpr)
    """
    _check_consts(jaxpr)
    _Checker(jaxpr.jaxpr, set()).check()


class _Checker:
    """What has been seen of one jaxpr: the variables that are bound so far."""

    __slots__ = ("bound", "checked", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, checked: set[int]):
        self.jaxpr = jaxpr
        self.bound: set[Var] = set()
        # The ids of nested jaxprs that have been found right, all over the program.
        self.checked = checked

    def check(self) -> None:
        jaxpr = self.jaxpr
        for var in (*jaxpr.constvars, *jaxpr.invars):
            self.bind(var, "input")
        for index, eqn in enumerate(jaxpr.eqns):
            try:
                self.check_eqn(eqn)
            except JaxprTypeError as error:
                text = eqn.primitive.name if jaxprs_in_params(eqn.params) else self.text(eqn)
                place = eqn.source_line
                raise JaxprTypeError(errors.wrong_eqn(index, text, place, str(error))) from error
        for atom in jaxpr.outvars:
            self.read(atom, "output")

    def check_eqn(self, eqn: JaxprEqn) -> None:
        avals = tuple([self.read(atom, "operand") for atom in eqn.invars])
        with eqn.primitive.scope(eqn.params):
            self.check_nested(eqn)
        primitive = eqn.primitive
        try:
            primitive.check_operands(avals, eqn.params)
            out, effects = primitive.typecheck(avals, eqn.params)
        except JaxprTypeError:
            raise
        except (TypeError, ValueError) as error:
            raise JaxprTypeError(errors.operands_rejected(str(error))) from error
        outs = list(out) if primitive.multiple_results else [out]
        if len(outs) != len(eqn.outvars):
            raise JaxprTypeError(errors.wrong_result_count(len(eqn.outvars), len(outs)))
        for var, aval in zip(eqn.outvars, outs):
            self.bind(var, "result")
            if not same_type(var.aval, aval):
                raise JaxprTypeError(errors.wrong_result_type(self.name(var), var.aval, aval))
        if set(eqn.effects) != set(effects):
            raise JaxprTypeError(errors.wrong_effects(eqn.effects, effects))
        if not set(effects) <= set(self.jaxpr.effects):
            raise JaxprTypeError(errors.effects_not_declared(effects, self.jaxpr.effects))

    def check_nested(self, eqn: JaxprEqn) -> None:
        for value in eqn.params.values():
            for sub in value if isinstance(value, tuple) else (value,):
                if isinstance(sub, (Jaxpr, ClosedJaxpr)) and id(sub) not in self.checked:
                    _check_consts(sub)
                    _Checker(sub.jaxpr, self.checked).check()
                    self.checked.add(id(sub))

    def bind(self, var: Var, role: str) -> None:
        if var in self.bound:
            raise JaxprTypeError(errors.bound_twice(role, self.name(var)))
        if not isinstance(var, DropVar):
            self.bound.add(var)

    def read(self, atom: Atom, role: str) -> AbstractValue:
        if isinstance(atom, Literal):
            _check_literal(atom)
        elif isinstance(atom, DropVar):
            raise JaxprTypeError(errors.dropped_is_read(role))
        elif not isinstance(atom, Var):
            raise JaxprTypeError(errors.not_an_atom(role, atom))
        elif atom not in self.bound:
            raise JaxprTypeError(errors.read_unbound(role, self.name(atom)))
        return atom.aval

    def name(self, atom: Atom) -> str:
        """A variable as the text of the jaxpr calls it."""
        return self._printer().atom(atom)

    def text(self, eqn: JaxprEqn) -> str:
        """An eqn as it stands in the text of the jaxpr."""
        return layout(self._printer().eqn(eqn)).rstrip()

    def _printer(self) -> Printer:
        printer = printer_of(self.jaxpr, Settings())
        printer.lambda_(self.jaxpr)  # gives the variables their names
        return printer


def _check_consts(jaxpr: Jaxpr | ClosedJaxpr) -> None:
    """Raise unless a closed jaxpr has a constant of the right type for each of its constvars."""
    if isinstance(jaxpr, Jaxpr):
        return
    constvars = jaxpr.jaxpr.constvars
    if len(constvars) != len(jaxpr.consts):
        raise JaxprTypeError(errors.wrong_const_count(len(constvars), len(jaxpr.consts)))
    for i, (var, value) in enumerate(zip(constvars, jaxpr.consts)):
        if not same_type(var.aval, aval_of(value)):
            raise JaxprTypeError(errors.wrong_const_type(i, var.aval, aval_of(value)))


def _check_literal(literal: Literal) -> None:
    """Raise unless a literal is a scalar of its type."""
    value, aval = literal.val, literal.aval
    if not is_valid_type(value) or not isinstance(aval, ShapedArray):
        raise JaxprTypeError(errors.not_a_literal(value, aval))
    if np.shape(value) != () or aval.shape != () or not _has_dtype(value, aval.dtype):
        raise JaxprTypeError(errors.not_a_literal(value, aval))


def _has_dtype(value: Any, dtype: Any) -> bool:
    """Whether a scalar may be a literal of `dtype`: Python numbers fit all dtypes of their kind."""
    if type(value) in (bool, int, float, complex):
        return dtypes.scalar_type_of(dtype) is type(value)
    return aval_of(value).dtype == dtype


def same_type(a: AbstractValue, b: AbstractValue) -> bool:
    """Whether two avals agree in all but the weakness of their type."""
    if isinstance(a, ShapedArray) and isinstance(b, ShapedArray):
        return a.shape == b.shape and a.dtype == b.dtype
    return type(a) is type(b)


def check_applied(jaxpr: ClosedJaxpr, avals: Sequence[AbstractValue]) -> None:
    """Raise unless a jaxpr may be applied to operands of these types."""
    if len(avals) != len(jaxpr.in_avals):
        raise JaxprTypeError(errors.wrong_operand_count(len(jaxpr.in_avals), len(avals)))
    for i, (expected, given) in enumerate(zip(jaxpr.in_avals, avals)):
        if not same_type(expected, given):
            raise JaxprTypeError(errors.wrong_operand_type(i, expected, given))
