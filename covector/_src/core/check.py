"""The verifier: whether a jaxpr is well formed and well typed.

Run after every transformation when the flag `enable_checks` is on; `extend.core.check_jaxpr` is it.
"""

from __future__ import annotations

from ..base.errors import JaxprTypeError
from .avals import AbstractValue, ShapedArray
from .jaxpr import Atom, DropVar, Jaxpr, JaxprEqn, Literal, Var, jaxprs_in_params


def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Raise `JaxprTypeError` unless every variable is bound once before it is read, every eqn has
    the types that its primitive's rule gives, and the effects are those of the eqns."""
    bound: set[Var] = set()
    for var in (*jaxpr.constvars, *jaxpr.invars):
        _bind(bound, var, "input")
    for index, eqn in enumerate(jaxpr.eqns):
        try:
            _check_eqn(bound, eqn, jaxpr)
        except JaxprTypeError as error:
            place = f" from {eqn.source_line}" if eqn.source_line else ""
            raise JaxprTypeError(f"in eqn {index}, `{eqn.primitive}`{place}: {error}") from None
    for atom in jaxpr.outvars:
        _read(bound, atom, "output")


def _bind(bound: set[Var], var: Var, what: str) -> None:
    if var in bound:
        raise JaxprTypeError(f"the {what} {var} is bound twice")
    if not isinstance(var, DropVar):
        bound.add(var)


def _read(bound: set[Var], atom: Atom, what: str) -> AbstractValue:
    if isinstance(atom, Literal):
        return atom.aval
    if atom not in bound:
        raise JaxprTypeError(f"the {what} {atom} is read before it is bound")
    return atom.aval


def _check_eqn(bound: set[Var], eqn: JaxprEqn, jaxpr: Jaxpr) -> None:
    avals = tuple([_read(bound, atom, "operand") for atom in eqn.invars])
    for sub in jaxprs_in_params(eqn.params):
        check_jaxpr(sub)
    out, effects = eqn.primitive.typecheck(avals, eqn.params)
    outs = list(out) if eqn.primitive.multiple_results else [out]
    if len(outs) != len(eqn.outvars):
        raise JaxprTypeError(f"it binds {len(eqn.outvars)} variables but makes {len(outs)} values")
    for var, aval in zip(eqn.outvars, outs):
        if not same_type(var.aval, aval):
            raise JaxprTypeError(f"it binds a variable of type {var.aval} to a value of {aval}")
        _bind(bound, var, "output variable")
    if not set(effects) <= set(jaxpr.effects):
        raise JaxprTypeError(f"its effects {set(effects)} are not among the jaxpr's")


def same_type(a: AbstractValue, b: AbstractValue) -> bool:
    """Whether two avals agree in all but the weakness of their type."""
    if isinstance(a, ShapedArray) and isinstance(b, ShapedArray):
        return a.shape == b.shape and a.dtype == b.dtype
    return type(a) is type(b)
