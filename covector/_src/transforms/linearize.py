"""Linearization: evaluate a function at a point, and keep its derivative there as a linear program.

    linearize : (a -> b)  ->  a -> (b, T a -o T b)

It is `jvp` under a parent trace that evaluates *partially*: the primal values are known, and ops
on them go straight on to the outer trace; the tangents are unknown, and an op that depends on one
is written into the linear jaxpr.  Known values that such an op needs are the residuals.  A jvp
rule such as that of sine, `mul(t, cos(x))`, is thereby split of itself: the cosine is computed,
the product recorded.

Ops that carry jaxprs (`jit`, loops) are split by splitting the jaxpr: `partial_eval_jaxpr`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import config
from ..base.dtypes import float0
from ..core.avals import AbstractValue, aval_of
from ..core.check import check_jaxpr
from ..core.jaxpr import ClosedJaxpr, Jaxpr, jaxpr_as_fun
from ..core.leaks import leaves_no_tracers
from ..core.primitive import Primitive
from ..core.scopes import JVP
from ..core.trace import Trace, context, current_trace
from ..core.zeros import Zero
from .cache import jaxpr_cache
from .jvp import JVPTrace, JVPTracer
from .simplify import prune
from .stage import JaxprTracer, write_down, writing_trace

# ---------------------------------------------------------------- state


class PartialTrace(Trace):
    """Evaluation of what is known under the parent; the rest is written down in `unknown`."""

    __slots__ = ("unknown",)
    parent: Trace

    def __init__(self, parent: Trace):
        super().__init__(parent)
        self.unknown = writing_trace(parent, linear=True)

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        unknown = self.unknown
        for arg in args:
            if type(arg) is JaxprTracer and arg._trace is unknown:
                break
        else:
            return self.parent.process(primitive, args, params)
        if primitive.partial_eval is not None:
            return primitive.partial_eval(self, args, params)
        return unknown.process(primitive, args, params)

    def is_unknown(self, x: Any) -> bool:
        return type(x) is JaxprTracer and x._trace is self.unknown

    def close(self) -> None:
        self.alive = self.unknown.alive = False


class LinearMap:
    """A linear program with its residuals: what `linearize` keeps of a function at a point.

    Attributes:
      jaxpr: its `invars` are the tangents, its `constvars` the residuals.
      residuals: the values of the `constvars`.
      out_avals: types of the output tangents.
      nonzeros: for each output, whether its tangent is among the outputs of `jaxpr`.
    """

    __slots__ = ("jaxpr", "nonzeros", "out_avals", "residuals")

    def __init__(
        self,
        jaxpr: Jaxpr,
        residuals: list[Any],
        out_avals: list[AbstractValue],
        nonzeros: list[bool],
    ):
        self.jaxpr = jaxpr
        self.residuals = residuals
        self.out_avals = out_avals
        self.nonzeros = nonzeros

    def pruned(self) -> LinearMap:
        """The same map without the eqns and residuals that no output needs."""
        jaxpr, residuals = prune(self.jaxpr, self.residuals)
        return LinearMap(jaxpr, residuals, self.out_avals, self.nonzeros)


# ---------------------------------------------------------------- entry


@leaves_no_tracers
def linearize(
    fun: Callable[..., Sequence[Any]], primals: Sequence[Any]
) -> tuple[list[Any], LinearMap]:
    """Evaluate a function of flat arguments, and linearize it there.

    Args:
      fun: takes the primals, returns a sequence of values.
      primals: values or tracers.

    Returns:
      The outputs, and the linear map from tangents of the inputs to tangents of the outputs.
    """
    partial = PartialTrace(context.trace)
    trace = JVPTrace(partial, fun)
    scope = context.name_stack
    try:
        context.trace, context.name_stack = trace, (*scope, JVP)
        outs = fun(*[_with_unknown_tangent(trace, partial, x) for x in primals])
        pairs = [trace.unpair(out) for out in outs]
        nonzeros = [type(t) is not Zero for _, t in pairs]
        jaxpr, residuals = partial.unknown.to_jaxpr([t for _, t in pairs if type(t) is not Zero])
    finally:
        context.trace, context.name_stack = partial.parent, scope
        trace.alive = False
        partial.close()
    _strip_scopes(jaxpr, len(scope))
    if config.enable_checks.value:
        check_jaxpr(jaxpr)
    out_avals = [aval_of(x).to_tangent_aval() for x, _ in pairs]
    return [x for x, _ in pairs], LinearMap(jaxpr, residuals, out_avals, nonzeros)


def _with_unknown_tangent(trace: JVPTrace, partial: PartialTrace, x: Any) -> Any:
    """A primal paired with an input of the linear jaxpr; integers have only the zero tangent."""
    aval = aval_of(x).to_tangent_aval()
    tangent = partial.unknown.new_input(aval)
    return x if aval.dtype == float0 else JVPTracer(trace, x, tangent)


def _strip_scopes(jaxpr: Jaxpr, count: int) -> None:
    """Take the outermost scopes off eqns: the program may be applied within other ones."""
    if count:
        for eqn in jaxpr.eqns:
            eqn.name_stack = eqn.name_stack[count:]


@leaves_no_tracers
def linear_program(
    fun: Callable[..., Sequence[Any]], in_avals: Sequence[AbstractValue]
) -> LinearMap:
    """A linear function of flat arguments as the program that `transpose_linear` takes.

    Args:
      fun: linear in its arguments; what it computes of other values is evaluated here.
      in_avals: the types of the arguments.
    """
    partial = PartialTrace(context.trace)
    try:
        context.trace = partial
        outs = fun(*[partial.unknown.new_input(aval) for aval in in_avals])
        nonzeros = [partial.is_unknown(x) for x in outs]
        jaxpr, residuals = partial.unknown.to_jaxpr([x for x in outs if partial.is_unknown(x)])
    finally:
        context.trace = partial.parent
        partial.close()
    _strip_scopes(jaxpr, len(context.name_stack))
    return LinearMap(jaxpr, residuals, [aval_of(x) for x in outs], nonzeros)


# ---------------------------------------------------------------- partial evaluation of jaxprs


@jaxpr_cache
def partial_eval_jaxpr(
    jaxpr: ClosedJaxpr, unknowns: tuple[bool, ...], instantiate: bool | tuple[bool, ...]
) -> tuple[ClosedJaxpr, ClosedJaxpr, tuple[bool, ...], list[AbstractValue]]:
    """Split a jaxpr into what can be computed from its known inputs, and the rest.

        jaxpr   : (known..., unknown...) -> outs          (in any order)
        known   : known inputs -> (known outs..., residuals...)
        unknown : (residuals..., unknown inputs) -> unknown outs

    Args:
      jaxpr: the program.
      unknowns: for each input, whether it is unknown.
      instantiate: for each output, whether it must be among the unknown ones even if it is known.

    Returns:
      The two jaxprs, for each output whether it is unknown, and the avals of the residuals.
    """
    if isinstance(instantiate, bool):
        instantiate = (instantiate,) * len(jaxpr.jaxpr.outvars)
    outcome: dict[str, Any] = {}

    def run_known(*known: Any) -> list[Any]:
        partial = PartialTrace(context.trace)
        given = iter(known)
        try:
            with current_trace(partial):
                args = [
                    partial.unknown.new_input(aval) if unknown else next(given)
                    for aval, unknown in zip(jaxpr.in_avals, unknowns)
                ]
                outs = jaxpr_as_fun(jaxpr)(*args)
                out_unknowns = tuple(
                    bool(forced or partial.is_unknown(x)) for x, forced in zip(outs, instantiate)
                )
            rest, residuals = partial.unknown.to_jaxpr(
                [x for x, unknown in zip(outs, out_unknowns) if unknown]
            )
            rest, residuals = prune(rest, residuals)
        finally:
            partial.close()
        outcome.update(rest=rest, out_unknowns=out_unknowns)
        return [x for x, unknown in zip(outs, out_unknowns) if not unknown] + residuals

    known_avals = [a for a, unknown in zip(jaxpr.in_avals, unknowns) if not unknown]
    known = ClosedJaxpr(*write_down(run_known, known_avals, jaxpr.jaxpr.debug_info))
    rest: Jaxpr = outcome["rest"]
    residual_avals = [v.aval for v in rest.constvars]
    unknown = ClosedJaxpr(constvars_to_invars(rest))
    return known, unknown, outcome["out_unknowns"], residual_avals


def constvars_to_invars(jaxpr: Jaxpr) -> Jaxpr:
    """The same program with its constants as leading inputs."""
    return jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars])
