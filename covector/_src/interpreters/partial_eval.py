"""Making jaxprs of functions, and dropping from them what is not used.

The table of rules for the latter is a view of the primitives' slot `prune`; see `tables.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.avals import AbstractValue, aval_of
from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn
from ..core.trace import context
from ..transforms.linearize import PartialTrace
from ..transforms.simplify import drop_dead_code
from ..transforms.stage import stage
from .tables import Rule, RuleTable


def trace_to_jaxpr_dynamic(
    fun: Callable[..., Sequence[Any]], in_avals: Sequence[AbstractValue]
) -> tuple[Jaxpr, list[AbstractValue], list[Any]]:
    """Trace a function of flat arguments to a jaxpr.

    Args:
      fun: takes as many arrays as there are `in_avals`, and returns a sequence of arrays; or an
        object with such a method `call_wrapped`.
      in_avals: the types of the arguments.

    Returns:
      The jaxpr, the types of its outputs, and the values of its constants.

    >>> import covector as cv
    >>> from covector.interpreters import partial_eval as pe
    >>> aval = cv.core.ShapedArray((3,), "float32")
    >>> jaxpr, out_avals, consts = pe.trace_to_jaxpr_dynamic(lambda x: [cv.lax.neg(x)], [aval])
    >>> print(jaxpr)
    { lambda ; a:f32[3]. let b:f32[3] = neg a in (b,) }
    """
    jaxpr, consts = stage(getattr(fun, "call_wrapped", fun), in_avals)
    return jaxpr, jaxpr.out_avals, consts


class PartialVal(NamedTuple):
    """An argument of partial evaluation: a known value, or the type of an unknown one.

    Attributes:
      aval: the type of an unknown value; None for a known one.
      value: the known value; None for an unknown one.
    """

    aval: AbstractValue | None
    value: Any

    @classmethod
    def known(cls, value: Any) -> PartialVal:
        return cls(None, value)

    @classmethod
    def unknown(cls, aval: AbstractValue) -> PartialVal:
        return cls(aval, None)

    def is_known(self) -> bool:
        return self.aval is None

    def get_known(self) -> Any:
        """The value if it is known, else None."""
        return self.value

    def get_aval(self) -> AbstractValue:
        """The type, of either kind."""
        return aval_of(self.value) if self.aval is None else self.aval


def trace_to_jaxpr_nounits(
    fun: Any, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[PartialVal], list[Any]]:
    """Evaluate what depends on known arguments only, and write down the rest as a jaxpr.

    Args:
      fun: takes flat arguments and returns a sequence of arrays; or an object with such a method
        `call_wrapped`.
      pvals: the arguments.
      instantiate: for each result, whether it is an output of the jaxpr even if it is known.

    Returns:
      The jaxpr of the unknown results as a function of the unknown arguments, the results, and the
      values of the jaxpr's constants.

    >>> import covector as cv
    >>> from covector.interpreters import partial_eval as pe
    >>> aval = cv.core.ShapedArray((), "float32")
    >>> jaxpr, outs, consts = pe.trace_to_jaxpr_nounits(
    ...     lambda x, y: [cv.lax.neg(x), cv.lax.sin(x) * y],
    ...     [pe.PartialVal.known(cv.numpy.float32(0)), pe.PartialVal.unknown(aval)])
    >>> print(jaxpr)
    { lambda a:f32[]; b:f32[]. let c:f32[] = mul a b in (c,) }
    >>> [pval.is_known() for pval in outs]
    [True, False]
    """
    partial = PartialTrace(context.trace)
    try:
        context.trace = partial
        args = [p.value if p.is_known() else partial.unknown.new_input(p.get_aval()) for p in pvals]
        outs = getattr(fun, "call_wrapped", fun)(*args)
        wanted = [
            keep or partial.is_unknown(x) for x, keep in zip(outs, _flags(instantiate, len(outs)))
        ]
        jaxpr, consts = partial.unknown.to_jaxpr([x for x, w in zip(outs, wanted) if w])
    finally:
        context.trace = partial.parent
        partial.close()
    known = [
        PartialVal.unknown(aval_of(x)) if w else PartialVal.known(x) for x, w in zip(outs, wanted)
    ]
    return jaxpr, known, consts


def dce_jaxpr(
    jaxpr: Jaxpr,
    used_outputs: bool | Sequence[bool],
    instantiate: bool | Sequence[bool] = False,
) -> tuple[Jaxpr, list[bool]]:
    """Drop the outputs of a jaxpr that are not used, and all that only they need.

    Args:
      jaxpr: the program.
      used_outputs: for each output, whether it is used; one bool means the same for all.
      instantiate: for each input, whether it stays even if nothing reads it.

    Returns:
      The smaller program, which has all of the constants, and for each input whether it is among
      those of the smaller program.
    """
    smaller, kept = _live_part(jaxpr, used_outputs, instantiate)
    return smaller.replace(constvars=jaxpr.constvars), kept


def _live_part(
    jaxpr: Jaxpr, used_outputs: bool | Sequence[bool], instantiate: bool | Sequence[bool]
) -> tuple[Jaxpr, list[bool]]:
    """What `dce_jaxpr` returns, but for constants that nothing reads."""
    used_outputs = _flags(used_outputs, len(jaxpr.outvars))
    instantiate = _flags(instantiate, len(jaxpr.invars))
    outvars = [atom for atom, used in zip(jaxpr.outvars, used_outputs) if used]
    smaller, read = drop_dead_code(jaxpr.replace(outvars=outvars, effects=None), deep=True)
    kept = [keep or i in read for i, keep in enumerate(instantiate)]
    invars = [var for var, keep in zip(jaxpr.invars, kept) if keep]
    return smaller.replace(invars=invars, effects=None), kept


def dce_jaxpr_consts(
    jaxpr: Jaxpr, used_outputs: Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[bool], list[bool]]:
    """As `dce_jaxpr`, and also says which constants of the jaxpr are still read.

    Returns:
      The smaller program; for each constant of `jaxpr`, and for each input, whether it is among
      those of the smaller program.
    """
    smaller, used_inputs = _live_part(jaxpr, used_outputs, instantiate)
    read = set(smaller.constvars)
    return smaller, [var in read for var in jaxpr.constvars], used_inputs


# ---------------------------------------------------------------- rules of primitives


def _as_dce_rule(prune: Rule) -> Rule:
    def rule(used_outputs: Sequence[bool], eqn: JaxprEqn) -> tuple[list[bool], JaxprEqn | None]:
        part = prune(eqn, tuple(used_outputs))
        read = () if part is None else part.invars
        return [atom in read for atom in eqn.invars], part

    return rule


# Each rule is called as `rule(used_outputs, eqn)`, with a bool for each output of an eqn whose
# primitive carries programs.  It returns for each input whether it is still used, and the eqn with
# those inputs and outputs alone, or None if the eqn is not needed at all.
dce_rules = RuleTable(
    "dce_rules",
    "prune",
    lambda primitive, rule: lambda eqn, used: rule(list(used), eqn)[1],
    _as_dce_rule,
)


def dce_jaxpr_call_rule(
    used_outputs: Sequence[bool], eqn: JaxprEqn
) -> tuple[list[bool], JaxprEqn | None]:
    """The rule in `dce_rules` of primitives that apply their parameter `call_jaxpr`, a `Jaxpr`.

    >>> from covector.extend.core import Primitive
    >>> from covector.interpreters import partial_eval as pe
    >>> my_call_p = Primitive("my_call")
    >>> pe.dce_rules[my_call_p] = pe.dce_jaxpr_call_rule
    """
    smaller, used_inputs = dce_jaxpr(eqn.params["call_jaxpr"], used_outputs)
    return used_inputs, _part(eqn, smaller, used_inputs, used_outputs)


def dce_jaxpr_closed_call_rule(
    used_outputs: Sequence[bool], eqn: JaxprEqn
) -> tuple[list[bool], JaxprEqn | None]:
    """As `dce_jaxpr_call_rule`, where `call_jaxpr` is a `ClosedJaxpr`."""
    closed = eqn.params["call_jaxpr"]
    smaller, used_inputs = dce_jaxpr(closed.jaxpr, used_outputs)
    part = _part(eqn, ClosedJaxpr(smaller, closed.consts), used_inputs, used_outputs)
    return used_inputs, part


def _part(
    eqn: JaxprEqn,
    call_jaxpr: Jaxpr | ClosedJaxpr,
    used_inputs: Sequence[bool],
    used_outputs: Sequence[bool],
) -> JaxprEqn | None:
    """The eqn that applies a part of its program; None if there is neither output nor effect."""
    if not any(used_outputs) and not call_jaxpr.effects:
        return None
    return eqn.replace(
        invars=[atom for atom, used in zip(eqn.invars, used_inputs) if used],
        outvars=[var for var, used in zip(eqn.outvars, used_outputs) if used],
        params=eqn.params | dict(call_jaxpr=call_jaxpr),
        effects=call_jaxpr.effects,
    )


def _flags(flags: bool | Sequence[bool], count: int) -> list[bool]:
    return [flags] * count if isinstance(flags, bool) else list(flags)
