"""Transposition of linear programs, and reverse-mode differentiation made of it.

    transpose : (T a -o T b)  ->  (T b -o T a)
    vjp       = linearize, then transpose:  (a -> b)  ->  a -> (b, T b -o T a)

The transpose of a linear map J is the map for which <ct, J v> = <J^T ct, v> for all v and ct.  Of
a composition it is the composition of the transposes in reverse order; where a variable is used
twice (v -> (v, v)), its transpose adds.  Hence the backward pass: walk the eqns from the last to
the first, hand the cotangent of each eqn's output to the transpose rule of its primitive, and add
up what the rules return for each variable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.effects import must_stay
from ..core.hazards import MASKED, hazards_of_any, hazards_of_sum
from ..core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from ..core.scopes import TRANSPOSE
from ..core.trace import Scope, context
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.linear import add_any, instantiate
from .cache import jaxpr_cache
from .linearize import LinearMap, linearize
from .simplify import drop_dead_code
from .stage import stage, write_down

# ---------------------------------------------------------------- entry


def backward_pass(
    jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any], cts: Sequence[Any]
) -> list[Any]:
    """Transpose a program that is linear in some of its inputs, and apply the transpose.

    Args:
      jaxpr: the program.
      consts: values of its `constvars`.
      args: for each input its value, or an `UndefinedPrimal` where the program is linear in it.
      cts: cotangents of the outputs, or `Zero`s.

    Returns:
      For each input its cotangent (maybe a `Zero`), or None where `args` gives a value.
      `context.hazards_of_each` says for each what it may hold.
    """
    results, hazards = _pulled_back(jaxpr, consts, args, cts)
    context.hazards_of_each = hazards
    return results


def _pulled_back(
    jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any], cts: Sequence[Any]
) -> tuple[list[Any], list[int]]:
    """The results of `backward_pass`, and for each what it may hold."""
    values: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    for var, arg in zip(jaxpr.invars, args):
        if type(arg) is not UndefinedPrimal:
            values[var] = arg
    linear_eqns = [eqn for eqn in jaxpr.eqns if not _evaluate_if_known(eqn, values)]
    cotangents = Cotangents()
    for atom, ct in zip(jaxpr.outvars, cts):
        if type(atom) is not Literal and atom not in values:
            cotangents.add(atom, ct, context.hazards)
    pull_back(linear_eqns, values, cotangents)
    results, hazards = [], []
    for var, arg in zip(jaxpr.invars, args):
        context.hazards = 0
        results.append(cotangents.pop(var) if type(arg) is UndefinedPrimal else None)
        hazards.append(context.hazards)
    context.hazards = hazards_of_any(hazards)
    return results, hazards


def vjp(
    fun: Callable[..., Sequence[Any]], primals: Sequence[Any]
) -> tuple[list[Any], Callable[[Sequence[Any]], list[Any]]]:
    """Evaluate a function of flat arguments, and return its derivative there, transposed.

    Args:
      fun: takes the primals, returns a sequence of values.
      primals: values or tracers.

    Returns:
      The outputs, and a function from cotangents of the outputs to cotangents of the inputs,
      where `Zero`s stand for inputs that no output depends on.
    """
    outs, linear = linearize(fun, primals)
    return outs, lambda cts: transpose_linear(linear, cts)


def transpose_linear(linear: LinearMap, cts: Sequence[Any]) -> list[Any]:
    """Apply the transpose of a linear map to cotangents of its outputs."""
    jaxpr = linear.jaxpr
    wanted = [ct for ct, nonzero in zip(cts, linear.nonzeros) if nonzero]
    cotangents = Cotangents()
    hazards, context.hazards = context.hazards, 0
    try:
        for atom, ct in zip(jaxpr.outvars, wanted):
            cotangents.add(atom, ct, 0)
        with Scope(TRANSPOSE):
            pull_back(jaxpr.eqns, dict(zip(jaxpr.constvars, linear.residuals)), cotangents)
        return [cotangents.pop(var) for var in jaxpr.invars]
    finally:
        context.hazards = hazards


# ---------------------------------------------------------------- the backward pass


class Cotangents:
    """The cotangents of a linear program's variables, as far as they are known; no Zeros.

    With each goes what it may hold (`core/hazards.py`).
    """

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[Var, tuple[Any, int]] = {}

    def add(self, atom: Atom, ct: Any, hazards: int) -> None:
        """Add what one use of a variable contributes to its cotangent."""
        if type(ct) is Zero or type(atom) is Literal:
            return
        known = self.known.get(atom)
        if known is not None:
            ct, hazards = add_any(known[0], ct), hazards_of_sum(known[1], hazards)
        self.known[atom] = ct, hazards

    def pop(self, var: Var) -> Any:
        """Take the cotangent of a variable that is final: every use of it has been passed.

        What it may hold is added to `context.hazards`.
        """
        known = self.known.pop(var, None)
        if known is None:
            return Zero(var.aval.to_cotangent_aval())
        context.hazards |= known[1]
        return known[0]


def pull_back(eqns: Sequence[JaxprEqn], values: dict[Var, Any], cotangents: Cotangents) -> None:
    """Walk linear eqns from the last to the first, and move the cotangents of their outputs to
    their linear operands, which are those that have no value."""
    place, scope = context.place, context.name_stack
    try:
        for eqn in reversed(eqns):
            primitive = eqn.primitive
            if primitive.multiple_results:
                context.hazards = 0
                ct = [cotangents.pop(var) for var in eqn.outvars]
                if all(type(x) is Zero for x in ct) and not must_stay(eqn.effects):
                    continue
            else:
                known = cotangents.known.pop(eqn.outvars[0], None)
                if known is None:
                    continue
                ct, context.hazards = known
            operands = []
            for atom in eqn.invars:
                value = atom.val if type(atom) is Literal else values.get(atom)
                operands.append(UndefinedPrimal(atom.aval) if value is None else value)
            context.place, context.name_stack = eqn.source, scope + eqn.name_stack
            results = primitive.transpose(ct, *operands, **eqn.params)
            if primitive.masks_cotangents:
                context.hazards |= MASKED
            hazards, each = context.hazards, context.hazards_of_each
            if each is not None:
                context.hazards_of_each = None
            for i, ct in enumerate(results):
                if ct is not None:
                    cotangents.add(eqn.invars[i], ct, each[i] if each else hazards)
    finally:
        context.place, context.name_stack = place, scope
        context.hazards_of_each = None


def _evaluate_if_known(eqn: JaxprEqn, values: dict[Var, Any]) -> bool:
    """Evaluate an eqn that depends on no linear input, and say whether it was one."""
    operands = []
    for atom in eqn.invars:
        if type(atom) is Literal:
            operands.append(atom.val)
        elif atom in values:
            operands.append(values[atom])
        else:
            return False
    out = context.trace.process(eqn.primitive, operands, eqn.params)
    if eqn.primitive.multiple_results:
        values.update(zip(eqn.outvars, out))
    else:
        values[eqn.outvars[0]] = out
    return True


# ---------------------------------------------------------------- why a program is not linear


def nonlinear_eqn(jaxpr: Jaxpr) -> JaxprEqn | None:
    """The first eqn that is not linear in what depends on the inputs of the program, if any."""
    varying = set(jaxpr.invars)
    for eqn in jaxpr.eqns:
        varies = [type(atom) is not Literal and atom in varying for atom in eqn.invars]
        if any(varies):
            if not _is_linear(eqn, varies):
                return eqn
            varying.update(eqn.outvars)
    return None


def _is_linear(eqn: JaxprEqn, varies: Sequence[bool]) -> bool:
    """Whether an eqn is linear in some of its operands, as far as its jvp rule tells.

    A map is linear, up to a constant, if its derivative is the same everywhere: if the tangents of
    its outputs depend on no operand that varies.  Where it is zero, the op is a step.
    """
    primal_avals = [atom.aval for atom in eqn.invars]
    tangent_avals = [aval.to_tangent_aval() for aval in primal_avals]
    count = len(primal_avals)

    def tangents_of_outputs(*args: Any) -> list[Any]:
        given = iter(args[count:])
        tangents = [next(given) if v else Zero(a) for a, v in zip(tangent_avals, varies)]
        _, out = eqn.primitive.jvp(args[:count], tangents, **eqn.params)
        outs = out if eqn.primitive.multiple_results else [out]
        return [t for t in outs if type(t) is not Zero]

    given_avals = [aval for aval, v in zip(tangent_avals, varies) if v]
    try:
        jaxpr, _ = stage(tangents_of_outputs, [*primal_avals, *given_avals])
    except (NotImplementedError, TypeError):
        return False
    _, used = drop_dead_code(jaxpr)
    return bool(jaxpr.outvars) and not any(i < count and varies[i] for i in used)


# ---------------------------------------------------------------- jaxprs


@jaxpr_cache
def transpose_jaxpr(
    jaxpr: ClosedJaxpr,
    linear: tuple[bool, ...],
    nonzero_cts: tuple[bool, ...],
    instantiate_outputs: bool | tuple[bool, ...] = False,
) -> tuple[ClosedJaxpr, tuple[bool, ...], tuple[int, ...]]:
    """The transpose of a jaxpr that is linear in some of its inputs.

        jaxpr      : (values..., linear inputs...) -> outs       (in any order)
        transposed : (values..., nonzero cts of outs...) -> nonzero cts of linear inputs

    Args:
      jaxpr: the program.
      linear: for each input, whether the program is linear in it.
      nonzero_cts: for each output, whether its cotangent is given; the others are zero.
      instantiate_outputs: for each linear input, whether its cotangent is wanted even if it is
        zero; one bool means the same for all.

    Returns:
      The transposed program, for each linear input whether its cotangent is among the outputs, and
      what it may hold.  `context.hazards` says what any of them may hold.
    """
    if isinstance(instantiate_outputs, bool):
        instantiate_outputs = (instantiate_outputs,) * sum(linear)
    nonzeros: list[bool] = []
    hazards: list[int] = []

    def transposed(*operands: Any) -> list[Any]:
        given = iter(operands)
        args = [
            UndefinedPrimal(aval) if lin else next(given)
            for aval, lin in zip(jaxpr.in_avals, linear)
        ]
        cts = [
            next(given) if nonzero else Zero(aval.to_cotangent_aval())
            for aval, nonzero in zip(jaxpr.out_avals, nonzero_cts)
        ]
        results, held = _pulled_back(jaxpr.jaxpr, jaxpr.consts, args, cts)
        wanted = [ct for ct, lin in zip(results, linear) if lin]
        hazards[:] = [h for h, lin in zip(held, linear) if lin]
        nonzeros[:] = [
            keep or type(ct) is not Zero for ct, keep in zip(wanted, instantiate_outputs)
        ]
        return [instantiate(ct) for ct, keep in zip(wanted, nonzeros) if keep]

    avals = [aval for aval, lin in zip(jaxpr.in_avals, linear) if not lin]
    avals += [
        aval.to_cotangent_aval() for aval, nonzero in zip(jaxpr.out_avals, nonzero_cts) if nonzero
    ]
    staged = ClosedJaxpr(*write_down(transposed, avals, jaxpr.jaxpr.debug_info))
    return staged, tuple(nonzeros), tuple(hazards)
