"""Rematerialization: few values are kept for a derivative, and the rest is computed anew.

Linearized, an ordinary program keeps as residuals whatever its linear part reads.  Of `checkpoint`
the linear part is one eqn that reads the *inputs* of the function, and such values as the policy
lets it save; it holds the computation of all others, which so runs again in the backward pass:

    known   : known inputs -> (known outs, saved)
    unknown : (saved, known inputs, unknown inputs) -> unknown outs        one eqn, differentiated

Source of the method: Griewank & Walther, Evaluating Derivatives, ch. 12; Chen et al. 2016, Training
Deep Nets with Sublinear Memory Cost (arXiv:1604.06174).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes
from ..base.callback_errors import not_recomputed
from ..core.avals import aval_of
from ..core.effects import unrepeatable
from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, eval_jaxpr
from ..core.trace import context, current_trace
from ..ops.barrier import optimization_barrier_p
from ..ops.conversion import reduce_precision_p
from ..transforms.cache import jaxpr_cache
from ..transforms.linearize import PartialTrace, partial_eval_jaxpr
from ..transforms.simplify import drop_dead_code
from ..transforms.stage import stage_closed
from .applied import Application
from .jit import jit_p

# What a policy says of the output of an eqn: `policy(primitive, *avals of operands, **params)`.
Policy = Callable[..., Any]


class Saved:
    """What a policy answers; True and False mean the first two."""

    __slots__ = ("name", "saves")

    def __init__(self, name: str, saves: bool):
        self.name = name
        self.saves = saves

    def __repr__(self) -> str:
        return self.name

    def __bool__(self) -> bool:
        return self.saves


class Offloadable(NamedTuple):
    """The answer of a policy that a value may be kept in another memory.

    Where the device has one memory only, as a CPU has, the value is kept there.
    """

    src: str
    dst: str


Saveable, Recompute = Saved("Saveable", True), Saved("Recompute", False)


def saves(answer: Any) -> bool:
    """Whether the answer of a policy means that a value is kept."""
    return True if type(answer) is Offloadable else bool(answer)


class Checkpoint(Application):
    """The application of a jaxpr that is computed again for its derivative.

    Parameters:
      policy: which values are saved nevertheless; None saves none.  A policy with an attribute
        `choose` is asked for the whole program at once.
      prevent_cse: whether the compiler is kept from merging the second computation with the first;
        one bool for all operands, or one for each.
      differentiated: whether this is the second computation.
    """

    def shown_params(self, params):
        return {k: params[k] for k in sorted(params)}

    def applying(self, params, jaxpr, origins):
        prevent = params["prevent_cse"]
        if isinstance(prevent, tuple):
            prevent = tuple([True if i is None else prevent[i] for i in origins])
        return params | dict(jaxpr=jaxpr, prevent_cse=prevent)

    def evaluate(self, backend, args, params):
        if params["differentiated"]:
            return backend.execute(self, args, params)
        return self.ref(*args, **params)

    def partial_eval(self, trace: PartialTrace, args: Sequence[Any], params: dict[str, Any]):
        refused = unrepeatable(params["jaxpr"].effects)
        if refused:
            raise NotImplementedError(not_recomputed(refused))
        unknowns = tuple([trace.is_unknown(x) for x in args])
        split = split_program(params["jaxpr"], unknowns, params["policy"])
        known_args = [x for x, unknown in zip(args, unknowns) if not unknown]
        unknown_args = [x for x, unknown in zip(args, unknowns) if unknown]
        with current_trace(trace.parent):
            known_outs, saved = evaluate_saving(split.known, split.saved, known_args)
        operands = [*saved, *[known_args[i] for i in split.kept], *unknown_args]
        prevent = params["prevent_cse"]
        if isinstance(prevent, tuple):
            given = [p for p, unknown in zip(prevent, unknowns) if not unknown]
            rest = [p for p, unknown in zip(prevent, unknowns) if unknown]
            prevent = (*[True] * len(saved), *[given[i] for i in split.kept], *rest)
        outs = trace.unknown.process(
            self,
            operands,
            params | dict(jaxpr=split.unknown, differentiated=True, prevent_cse=prevent),
        )
        known_iter, unknown_iter = iter(known_outs), iter(outs)
        return [next(unknown_iter if unknown else known_iter) for unknown in split.out_unknowns]

    def expanded(self, avals, params):
        prevent = params["prevent_cse"]
        flags = prevent if isinstance(prevent, tuple) else (prevent,) * len(avals)
        if params["differentiated"] and any(flags):
            return _behind_a_barrier(params["jaxpr"], flags)
        return params["jaxpr"]

    def emit(self, b, *operands, **params):
        return b.inline(self.expanded(b.avals_in, params), operands)


checkpoint_p = Checkpoint("remat2")


@jaxpr_cache
def _behind_a_barrier(jaxpr: ClosedJaxpr, flags: tuple[bool, ...]) -> ClosedJaxpr:
    """The program applied to what the compiler cannot look through, as to the inputs flagged."""
    body = jaxpr.jaxpr
    hidden = [var for var, flag in zip(body.invars, flags) if flag]
    given = [Var(var.aval) for var in hidden]
    barrier = JaxprEqn(list(given), hidden, optimization_barrier_p, {})
    fresh = iter(given)
    invars = [next(fresh) if flag else var for var, flag in zip(body.invars, flags)]
    return jaxpr.replace(jaxpr=body.replace(invars=invars, eqns=[barrier, *body.eqns]))


# ---------------------------------------------------------------- the two halves


class Split(NamedTuple):
    """A program in two halves.

    Attributes:
      known: the half of what is known, whose eqns may be run one by one.
      saved: the variables of it that are saved for the other half.
      unknown: takes the saved values, the known inputs `kept`, then the unknown inputs.
      kept: which of the known inputs it reads.
      out_unknowns: for each output of the program, which half it comes from.
    """

    known: ClosedJaxpr
    saved: tuple[Var, ...]
    unknown: ClosedJaxpr
    kept: tuple[int, ...]
    out_unknowns: tuple[bool, ...]


@jaxpr_cache
def split_program(jaxpr: ClosedJaxpr, unknowns: tuple[bool, ...], policy: Policy | None) -> Split:
    """Split a program by what its unknown inputs reach, and decide what is saved."""
    known, unknown, out_unknowns, _ = partial_eval_jaxpr(jaxpr, unknowns, False)
    known = without_jits(known)
    body, count = known.jaxpr, out_unknowns.count(False)
    residuals = body.outvars[count:]
    chosen = saveable(body, residuals, policy)
    rest = _recomputation(known, unknown, residuals, chosen, policy)
    used = drop_dead_code(rest.jaxpr)[1]
    number = len(chosen)
    saved = tuple([var for i, var in enumerate(chosen) if i in used])
    kept = tuple([i - number for i in used if number <= i < number + len(body.invars)])
    rest = _recomputation(known, unknown, residuals, saved, policy)
    unknown_count = sum(unknowns)
    invars = rest.jaxpr.invars
    ordered = [
        *invars[: len(saved)],
        *[invars[len(saved) + i] for i in kept],
        *invars[len(invars) - unknown_count :],
    ]
    smaller, _ = drop_dead_code(rest.jaxpr.replace(invars=ordered), keep_inputs=True)
    value_of = dict(zip(rest.jaxpr.constvars, rest.consts))
    final = ClosedJaxpr(smaller, [value_of[var] for var in smaller.constvars])
    return Split(_known_part(known, count, saved), saved, final, kept, out_unknowns)


def _known_part(known: ClosedJaxpr, count: int, saved: Sequence[Var]) -> ClosedJaxpr:
    """The known half with its first outputs only, and what is needed for these and to be saved."""
    body = known.jaxpr
    needed, _ = drop_dead_code(
        body.replace(outvars=[*body.outvars[:count], *saved]), keep_inputs=True, deep=True
    )
    value_of = dict(zip(body.constvars, known.consts))
    consts = [value_of[var] for var in needed.constvars]
    return ClosedJaxpr(needed.replace(outvars=body.outvars[:count]), consts)


def _recomputation(
    known: ClosedJaxpr,
    unknown: ClosedJaxpr,
    residuals: Sequence[Any],
    saved: Sequence[Var],
    policy: Policy | None,
) -> ClosedJaxpr:
    """The unknown half that computes residuals from the known inputs and what is saved."""
    body = known.jaxpr
    given = len(saved), len(body.invars)
    is_saved = set(saved)
    eqns = [
        eqn
        for eqn in body.eqns
        if not (
            all(var in is_saved for var in eqn.outvars)
            if eqn.outvars
            else _saves_results(policy, eqn)  # a call for debugging
        )
    ]

    def compute(*args: Any) -> list[Any]:
        values = dict(zip(saved, args[: given[0]]))
        known_args = args[given[0] : sum(given)]
        env = run_eqns(eqns, dict(zip(body.constvars, known.consts)), body, known_args, values)
        found = [x.val if type(x) is Literal else env[x] for x in residuals]
        return eval_jaxpr(unknown.jaxpr, unknown.consts, *found, *args[sum(given) :])

    avals = [
        *[var.aval for var in saved],
        *known.in_avals,
        *unknown.in_avals[len(residuals) :],
    ]
    return stage_closed(compute, avals, body.debug_info)


def run_eqns(
    eqns: Sequence[JaxprEqn],
    env: dict[Var, Any],
    body: Jaxpr,
    args: Sequence[Any],
    given: dict[Var, Any],
    after: Callable[[Var, Any], Any] | None = None,
) -> dict[Var, Any]:
    """Run eqns under the current trace, but for variables whose values are given.

    Args:
      eqns: in their order.
      env: values of the constants; it is filled with those of all variables, and returned.
      body: the program of the eqns.
      args: values of its inputs.
      given: values of other variables.
      after: what becomes of the value of a variable once it is computed.
    """
    env.update(zip(body.invars, args))
    env.update(given)
    scope, place = context.name_stack, context.place
    try:
        for eqn in eqns:
            operands = [a.val if type(a) is Literal else env[a] for a in eqn.invars]
            context.name_stack, context.place = scope + eqn.name_stack, eqn.source
            out = context.trace.process(eqn.primitive, operands, eqn.params)
            outs = out if eqn.primitive.multiple_results else [out]
            for var, x in zip(eqn.outvars, outs):
                if var not in given:
                    env[var] = x if after is None else after(var, x)
    finally:
        context.name_stack, context.place = scope, place
    return env


def evaluate_saving(
    known: ClosedJaxpr, saved: Sequence[Var], args: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Run the known half under the current trace; returns its outputs and the saved values.

    A saved float is what it is in memory: the compiler may not compute on with more digits than are
    saved, so that both computations see the same.
    """
    body, wanted = known.jaxpr, set(saved)

    def after(var: Var, x: Any) -> Any:
        return in_memory(x) if var in wanted else x

    env = run_eqns(body.eqns, dict(zip(body.constvars, known.consts)), body, args, {}, after)
    outs = [a.val if type(a) is Literal else env[a] for a in body.outvars]
    return outs, [env[var] for var in saved]


def in_memory(x: Any) -> Any:
    """A float rounded to its own dtype."""
    dtype: Any = getattr(aval_of(x), "dtype", None)
    if dtype is None or not dtypes.issubdtype(dtype, np.floating):
        return x
    info = dtypes.finfo(dtype)
    return reduce_precision_p.bind(x, exponent_bits=info.nexp, mantissa_bits=info.nmant)


def saveable(body: Jaxpr, residuals: Sequence[Any], policy: Policy | None) -> tuple[Var, ...]:
    """The variables of the known half that a policy lets the other half have."""
    if policy is None:
        return ()
    choose = getattr(policy, "choose", None)
    if choose is not None:
        return tuple(choose(body, residuals))
    return tuple([var for eqn in body.eqns if _saves_results(policy, eqn) for var in eqn.outvars])


def _saves_results(policy: Policy | None, eqn: JaxprEqn) -> bool:
    """Whether a policy that looks at one eqn at a time has the results of this one saved."""
    if policy is None or hasattr(policy, "choose"):
        return False
    return saves(policy(eqn.primitive, *[a.aval for a in eqn.invars], **eqn.params))


@jaxpr_cache
def without_jits(jaxpr: ClosedJaxpr) -> ClosedJaxpr:
    """The same program with the bodies of its jitted functions written out."""
    if not any(eqn.primitive is jit_p for eqn in jaxpr.jaxpr.eqns):
        return jaxpr

    def written_out(*args: Any) -> list[Any]:
        return _eval_inlined(jaxpr, args)

    return stage_closed(written_out, jaxpr.in_avals, jaxpr.jaxpr.debug_info)


def _eval_inlined(jaxpr: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
    body = jaxpr.jaxpr
    env: dict[Var, Any] = dict(zip(body.constvars, jaxpr.consts))
    env.update(zip(body.invars, args))
    for eqn in body.eqns:
        operands = [a.val if type(a) is Literal else env[a] for a in eqn.invars]
        if eqn.primitive is jit_p:
            env.update(zip(eqn.outvars, _eval_inlined(eqn.params["jaxpr"], operands)))
            continue
        one = body.replace(invars=[], constvars=[], eqns=[eqn], outvars=list(eqn.outvars))
        values = run_eqns([eqn], dict(env), one, [], {})
        env.update((var, values[var]) for var in eqn.outvars)
    return [a.val if type(a) is Literal else env[a] for a in body.outvars]
