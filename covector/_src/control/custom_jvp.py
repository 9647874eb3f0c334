"""Functions with a forward derivative rule of their own.

The user's function and rule are Python functions, and stay so as long as possible: evaluated, the
function runs operation by operation, with Python's control flow; differentiated, the rule runs in
its place.  Hence two primitives.  `custom_jvp_function` has the two functions for parameters, and
is what a call of a `custom_jvp` binds; it stands in no jaxpr.  Where a jaxpr is written it becomes
a `custom_jvp_call`, whose first parameter is the jaxpr of the function; and whatever transforms
that eqn turns it back into functions.

Operands come in two parts: first what the function closes over, or takes as an argument in which
it is declared not to be differentiated; then the arguments of the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import custom_errors
from ..core.array import as_array
from ..core.avals import aval_of
from ..core.jaxpr import ClosedJaxpr, jaxpr_as_fun
from ..core.primitive import Primitive
from ..core.trace import context
from ..core.zeros import Zero
from ..ops.linear import bring_to
from ..transforms.cache import jaxpr_cache
from ..transforms.linearize import constvars_to_invars
from ..transforms.simplify import drop_dead_code
from ..transforms.stage import JaxprTrace, stage
from ..transforms.transpose import backward_pass
from ..transforms.vmap import vmap
from .applied import Application
from .discharge import discharge, makes_refs, takes_refs, without_rules

# (primals, tangents) -> (outputs, tangents of the outputs), all flat.  A tangent may be a `Zero`.
Rule = Callable[[Sequence[Any], Sequence[Any]], tuple[list[Any], list[Any]]]


class CustomJVPFunction(Primitive):
    """The application of a Python function that has a rule.

    Parameters:
      fun: takes all operands, returns a list.
      rule: the derivative in the operands but the first `num_consts`.
    """

    multiple_results = True

    def evaluate(self, backend, args, params):
        return params["fun"](*args)

    def stage(self, trace: JaxprTrace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        """Write a `custom_jvp_call`; what the function closes over becomes operands of it."""
        jaxpr, consts = stage(params["fun"], [aval_of(x) for x in args], params["debug_info"])
        closed = ClosedJaxpr(constvars_to_invars(jaxpr))
        if takes_refs(closed):
            return without_rules("custom_jvp", trace, [*consts, *args], args, params)
        return custom_jvp_call_p.bind(
            *consts,
            *args,
            call_jaxpr=discharge(closed).jaxpr if makes_refs(closed) else closed,
            jvp_jaxpr_fun=without_consts(params["rule"], len(consts)),
            num_consts=params["num_consts"] + len(consts),
            symbolic_zeros=params["symbolic_zeros"],
        )

    def jvp(self, primals, tangents, *, fun, rule, num_consts, name, **params):
        if any(type(t) is not Zero for t in tangents[:num_consts]):
            raise custom_errors.differentiated_in_closure("custom_jvp", name)
        # The user's line that an op of the rule stems from is one of the rule.
        place, context.place = context.place, None
        try:
            return rule(primals, tangents)
        finally:
            context.place = place

    def vmap(self, axis, dims, *args, fun, rule, **params):
        mapped = Mapped(fun, rule, axis, dims)
        outs = self.bind(*args, fun=mapped.function, rule=mapped.rule, **params)
        return outs, mapped.out_dims


custom_jvp_function_p = CustomJVPFunction("custom_jvp_function")


# ---------------------------------------------------------------- rules made of rules


class Named:
    """A function that is printed as another one."""

    __slots__ = ("fun", "shown")

    def __init__(self, fun: Callable[..., Any], shown: Any):
        self.fun = fun
        self.shown = shown

    def __call__(self, *args: Any) -> Any:
        return self.fun(*args)

    def __repr__(self) -> str:
        return repr(self.shown)


def without_consts(rule: Rule, count: int) -> Rule:
    """A rule for operands after `count` more, in which nothing is differentiated."""
    return Named(lambda primals, tangents: rule(primals[count:], tangents[count:]), rule)


def of_outputs(rule: Rule, used: Sequence[bool]) -> Rule:
    """A rule for those outputs that are used."""

    def some(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        both = rule(primals, tangents)
        return tuple([[x for x, wanted in zip(xs, used) if wanted] for xs in both])

    return Named(some, rule)


class Mapped:
    """A function and its rule on batches.

    One of the two runs, and says which outputs are batches; where both do, because the function is
    staged and differentiated later, the rule keeps to what the function said.
    """

    def __init__(self, fun: Callable[..., list], rule: Rule, axis: Any, dims: Sequence[int | None]):
        self.fun = fun
        self.inner_rule = rule
        self.axis = axis
        self.dims = dims
        self.out_dims: list[int | None] | None = None
        self.rule = Named(self._rule, rule)

    def function(self, *args: Any) -> list[Any]:
        outs, self.out_dims = vmap(self.fun, self.axis, args, self.dims)
        return outs

    def _rule(self, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        nonzero = [type(t) is not Zero for t in tangents]
        out_nonzero: list[bool] = []

        def both(*args: Any) -> list[Any]:
            given = iter(args[len(primals) :])
            examples = [
                next(given) if keep else Zero(aval_of(x).to_tangent_aval())
                for x, keep in zip(args, nonzero)
            ]
            outs, out_tangents = self.inner_rule(args[: len(primals)], examples)
            out_nonzero[:] = [type(t) is not Zero for t in out_tangents]
            return outs + [t for t in out_tangents if type(t) is not Zero]

        given = [t for t in tangents if type(t) is not Zero]
        dims = [*self.dims, *[dim for dim, keep in zip(self.dims, nonzero) if keep]]
        values, found = vmap(both, self.axis, [*primals, *given], dims)
        count = len(out_nonzero)
        if self.out_dims is None:
            self.out_dims = self.common_dims(found, out_nonzero)
        wanted = [*self.out_dims, *[d for d, keep in zip(self.out_dims, out_nonzero) if keep]]
        if any(dim is None and at is not None for dim, at in zip(wanted, found)):
            raise TypeError(custom_errors.batched_by_rule(self.rule))
        values = [
            x if dim is None else bring_to(x, self.axis.size, at, dim)
            for x, at, dim in zip(values, found, wanted)
        ]
        out_tangents = iter(values[count:])
        outs = values[:count]
        return outs, [
            next(out_tangents) if keep else Zero(aval_of(x).to_tangent_aval())
            for x, keep in zip(outs, out_nonzero)
        ]

    def common_dims(self, found: Sequence[Any], out_nonzero: Sequence[bool]) -> list[int | None]:
        """For each output its batch dimension; 0 where only its tangent is a batch."""
        given = iter(found[len(out_nonzero) :])
        of_tangents = [next(given) if keep else None for keep in out_nonzero]
        return [
            0 if dim is None and of_tangent is not None else dim
            for dim, of_tangent in zip(found, of_tangents)
        ]


@jaxpr_cache
def with_outputs(jaxpr: ClosedJaxpr, used: tuple[bool, ...]) -> ClosedJaxpr:
    """A program with some of its outputs, and what is needed for these; all inputs stay."""
    outvars = [atom for atom, wanted in zip(jaxpr.jaxpr.outvars, used) if wanted]
    smaller, _ = drop_dead_code(jaxpr.jaxpr.replace(outvars=outvars), keep_inputs=True, deep=True)
    value_of = dict(zip(jaxpr.jaxpr.constvars, jaxpr.consts))
    return ClosedJaxpr(smaller, [value_of[var] for var in smaller.constvars])


class CustomCall(Application):
    """The application of a jaxpr that has rules; the first `num_consts` operands are constants."""

    jaxpr_name = "call_jaxpr"
    partial_eval = None  # what is unknown is written down whole, and keeps its rules

    def evaluate(self, backend, args, params):
        return backend.execute_body(params["call_jaxpr"], self, args, params)

    def named(self, params: dict[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
        """What is shown, between the name of the function and what all such calls show."""
        shown = {"name": params["call_jaxpr"].jaxpr.debug_info.func_name} | shown
        if params["num_consts"]:
            shown["num_consts"] = params["num_consts"]
        return shown | {"symbolic_zeros": params["symbolic_zeros"]}

    def emit(self, b, *operands, call_jaxpr, **params):
        return b.inline(call_jaxpr, operands)


class CustomJVPCall(CustomCall):
    """A `CustomCall` whose rule, of all operands, is `jvp_jaxpr_fun`."""

    def shown_params(self, params):
        shown = {"call_jaxpr": params["call_jaxpr"], "jvp": params["jvp_jaxpr_fun"]}
        return self.named(params, shown)

    def jvp(self, primals, tangents, **params):
        primals = [*map(as_array, primals)]  # for the user's rule literals are arrays, too
        return custom_jvp_function_p.jvp(primals, tangents, **_as_functions(params))

    def prune(self, eqn, used):
        jaxpr = with_outputs(eqn.params["call_jaxpr"], used)
        rule = of_outputs(eqn.params["jvp_jaxpr_fun"], used)
        return eqn.replace(
            outvars=[var for var, wanted in zip(eqn.outvars, used) if wanted],
            params=eqn.params | dict(call_jaxpr=jaxpr, jvp_jaxpr_fun=rule),
        )

    def transpose(self, cts, *args, call_jaxpr, **params):
        return backward_pass(call_jaxpr.jaxpr, call_jaxpr.consts, args, cts)

    def vmap(self, axis, dims, *args, **params):
        return custom_jvp_function_p.vmap(axis, dims, *args, **_as_functions(params))


def _as_functions(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a `custom_jvp_call` as those of a `custom_jvp_function`."""
    jaxpr: ClosedJaxpr = params["call_jaxpr"]
    info = jaxpr.jaxpr.debug_info
    return dict(
        fun=jaxpr_as_fun(jaxpr),
        rule=params["jvp_jaxpr_fun"],
        num_consts=params["num_consts"],
        symbolic_zeros=params["symbolic_zeros"],
        name=info.func_name if info else "",
        debug_info=info,
    )


custom_jvp_call_p = CustomJVPCall("custom_jvp_call")
