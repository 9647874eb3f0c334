"""Forward-mode differentiation.

    jvp : (a -> b)  ->  (a, T a) -> (b, T b)

A `JVPTrace` pairs each primal value with its tangent, and applies the primitives' jvp rules under
its parent trace.  A tangent that is known to be zero is a symbolic `Zero`: an op all of whose
tangents are zero is not differentiated at all.  Each call of `jvp` makes a trace of its own, and a
tracer belongs to one trace, so the tangents of nested calls cannot be confused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base.source import current_place
from ..base.transform_errors import function
from ..core.avals import AbstractValue, aval_of
from ..core.jaxpr import ClosedJaxpr, jaxpr_as_fun
from ..core.leaks import leaves_no_tracers
from ..core.primitive import Primitive
from ..core.trace import Trace, Tracer, context, tracer_type
from ..core.zeros import Zero
from ..ops.linear import add_any, instantiate
from ..ops.varying import vary
from .cache import jaxpr_cache
from .stage import JaxprTracer, write_down

# ---------------------------------------------------------------- state


@tracer_type
class JVPTracer(Tracer):
    """A primal value with its tangent, which is not a symbolic zero."""

    __slots__ = ("aval", "primal", "tangent")
    aval: AbstractValue

    def __init__(self, trace: JVPTrace, primal: Any, tangent: Any):
        self._trace = trace
        self.primal = primal
        self.tangent = tangent
        self.aval = aval_of(primal)

    def __repr__(self) -> str:
        primal, tangent = self.primal, self.tangent
        if type(tangent) is JaxprTracer and tangent._trace.linear:
            short = tangent.aval.str_short(short_dtypes=True)
            return f"GradTracer({primal=!s}, typeof(tangent)={short})"
        return f"JVPTracer({primal=!s}, {tangent=!s})"

    def concrete_value(self) -> Any:
        return self.primal.concrete_value() if isinstance(self.primal, Tracer) else self.primal

    def origin(self) -> str:
        if isinstance(self.primal, Tracer):
            return self.primal.origin()
        return f"in {self._trace.describe()}"


class JVPTrace(Trace):
    """Forward-mode differentiation of whatever the parent trace does.

    `fun` is the function that is differentiated, for error messages.
    """

    __slots__ = ("fun",)
    parent: Trace

    def __init__(self, parent: Trace, fun: Callable[..., Any]):
        super().__init__(parent)
        self.fun = fun

    def describe(self) -> str:
        where = getattr(self.fun, "where", "differentiation")
        return f"{where} of the function {function(getattr(self.fun, 'fun', self.fun))}"

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        for arg in args:
            if type(arg) is JVPTracer and arg._trace is self:
                break
        else:
            return self.parent.process(primitive, args, params)
        primals, tangents = [], []
        for arg in args:
            if type(arg) is JVPTracer and arg._trace is self:
                primals.append(arg.primal)
                tangents.append(arg.tangent)
            else:
                primals.append(arg)
                tangents.append(Zero(aval_of(arg).to_tangent_aval()))
        previous, place = context.trace, context.place
        context.trace = self.parent
        # All ops of the rule stem from this one line of the user's program.
        context.place = place or current_place(2)
        try:
            out, out_tangent = primitive.jvp(primals, tangents, **params)
            if context.axis_env:
                out_tangent = varying_alike(primitive, out, out_tangent)
        finally:
            context.trace, context.place = previous, place
        if primitive.multiple_results:
            return [self.pair(x, t) for x, t in zip(out, out_tangent)]
        return self.pair(out, out_tangent)

    def pair(self, primal: Any, tangent: Any) -> Any:
        """A primal with its tangent; the primal alone where the tangent is zero."""
        return primal if type(tangent) is Zero else JVPTracer(self, primal, tangent)

    def unpair(self, x: Any) -> tuple[Any, Any]:
        if type(x) is JVPTracer and x._trace is self:
            return x.primal, x.tangent
        return x, Zero(aval_of(x).to_tangent_aval())

    def primal_of(self, x: Any) -> Any:
        """Any object without the tangent that this trace may have given it."""
        return x.primal if type(x) is JVPTracer and x._trace is self else x


def varying_alike(primitive: Primitive, out: Any, tangent: Any) -> Any:
    """Tangents of results that vary, within `shard_map`, along the same axes as the results.

    A sum of what all devices share and of what each has its own of has a derivative in the former
    that all share, too.  It is cast, that the transpose of the cast may add up what the devices
    have for it.
    """
    if primitive.multiple_results:
        return list(map(_varying_as, out, tangent))
    return _varying_as(out, tangent)


def _varying_as(x: Any, tangent: Any) -> Any:
    return tangent if type(tangent) is Zero else vary(tangent, aval_of(x).vma)


# ---------------------------------------------------------------- entry


@leaves_no_tracers
def jvp(
    fun: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Push tangents forward through a function of flat arguments.

    Args:
      fun: takes the primals, returns a sequence of values.
      primals: values or tracers.
      tangents: one for each primal, of its tangent type, or a `Zero`.

    Returns:
      The outputs and their tangents, where a `Zero` says that an output does not depend on the
      inputs in which `tangents` is not `Zero`.
    """
    return push_forward(fun, primals, tangents)


def push_forward(
    fun: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """`jvp` within a transformation that looks for leaks itself."""
    trace = JVPTrace(context.trace, fun)
    try:
        context.trace = trace
        outs = fun(*[trace.pair(x, t) for x, t in zip(primals, tangents)])
        pairs = [trace.unpair(out) for out in outs]
    finally:
        context.trace = trace.parent
        trace.alive = False
    return [x for x, _ in pairs], [t for _, t in pairs]


@jaxpr_cache
def jvp_jaxpr(
    jaxpr: ClosedJaxpr, nonzeros: tuple[bool, ...], instantiate_outputs: bool | tuple[bool, ...]
) -> tuple[ClosedJaxpr, tuple[bool, ...]]:
    """The jaxpr of the jvp of a jaxpr.

        (a1, ..., an) -> (b1, ..., bm)
        becomes  (a1, ..., an, T ai for the i in nonzeros) -> (b1, ..., bm, T bj for nonzero j)

    Args:
      jaxpr: the program.
      nonzeros: for each input, whether it has a tangent.
      instantiate_outputs: for each output, whether its tangent is wanted even if it is zero; one
        bool means the same for all.

    Returns:
      The program, and for each output of `jaxpr` whether its tangent is among the outputs.
    """
    count = len(jaxpr.jaxpr.outvars)
    if isinstance(instantiate_outputs, bool):
        instantiate_outputs = (instantiate_outputs,) * count
    wanted: list[bool] = []

    def jvp_of_jaxpr(*args: Any) -> list[Any]:
        primals, given = args[: len(nonzeros)], iter(args[len(nonzeros) :])
        tangents = [
            next(given) if nonzero else Zero(aval.to_tangent_aval())
            for nonzero, aval in zip(nonzeros, jaxpr.in_avals)
        ]
        outs, out_tangents = push_forward(jaxpr_as_fun(jaxpr), primals, tangents)
        wanted[:] = [
            keep or type(t) is not Zero for t, keep in zip(out_tangents, instantiate_outputs)
        ]
        return outs + [instantiate(t) for t, keep in zip(out_tangents, wanted) if keep]

    tangent_avals = [
        aval.to_tangent_aval() for aval, nonzero in zip(jaxpr.in_avals, nonzeros) if nonzero
    ]
    in_avals = [*jaxpr.in_avals, *tangent_avals]
    staged = ClosedJaxpr(*write_down(jvp_of_jaxpr, in_avals, jaxpr.jaxpr.debug_info))
    return staged, tuple(wanted)


# ---------------------------------------------------------------- helpers of the rules


def add_tangents(x: Any, y: Any) -> Any:
    """The sum of two tangents, either of which may be a symbolic zero."""
    if type(x) is Zero:
        return y
    if type(y) is Zero:
        return x
    return add_any(x, y)
