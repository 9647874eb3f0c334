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

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes
from ..base.callback_errors import not_recomputed
from ..core.avals import aval_of
from ..core.effects import unrepeatable
from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, eval_jaxpr
from ..core.trace import current_trace
from ..ops.barrier import optimization_barrier_p
from ..ops.conversion import reduce_precision_p
from ..transforms.cache import jaxpr_cache
from ..transforms.linearize import PartialTrace, partial_eval_jaxpr
from ..transforms.simplify import drop_dead_code
from ..transforms.stage import stage_closed
from .applied import Application
from .checkpoint_eqns import run_eqns, without_jits
from .checkpoint_log import log_saved
from .checkpoint_policy import Policy, joined, looks_at_eqns
from .checkpoint_within import Forms, eqns_in_two_forms


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
        return self.ref(*args, **params)

    def partial_eval(self, trace: PartialTrace, args: Sequence[Any], params: dict[str, Any]):
        refused = unrepeatable(params["jaxpr"].effects)
        if refused:
            raise NotImplementedError(not_recomputed(refused))
        unknowns = tuple([trace.is_unknown(x) for x in args])
        split = split_program(params["jaxpr"], unknowns, params["policy"])
        number = len(split.saved)
        inputs = split.unknown.in_avals[number : number + len(split.kept)]
        log_saved(split.known.jaxpr, split.saved, inputs)
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
        scopes = ["checkpoint", "rematted_computation"][: 1 + params["differentiated"]]
        return b.inline(self.expanded(b.avals_in, params), operands, *scopes)


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
    jaxpr = saving_within(jaxpr, policy)
    known, unknown, out_unknowns, _ = partial_eval_jaxpr(jaxpr, unknowns, False)
    known = without_jits(known)
    count = out_unknowns.count(False)
    residuals = known.jaxpr.outvars[count:]
    forms = _in_two_forms(known.jaxpr, residuals, policy)
    known = known.replace(jaxpr=known.jaxpr.replace(eqns=forms.forward))
    rest = _recomputation(known, unknown, residuals, forms)
    smaller, used = drop_dead_code(rest.jaxpr, deep=True)
    invars, number = rest.jaxpr.invars, len(forms.saved)
    first_unknown = number + len(known.in_avals)
    saved = tuple([var for i, var in enumerate(forms.saved) if i in {*used}])
    kept = tuple([i - number for i in used if number <= i < first_unknown])
    ordered = [*[invars[i] for i in used if i < first_unknown], *invars[first_unknown:]]
    value_of = dict(zip(rest.jaxpr.constvars, rest.consts))
    final = ClosedJaxpr(
        smaller.replace(invars=ordered), [value_of[var] for var in smaller.constvars]
    )
    return Split(_known_part(known, count, saved), saved, final, kept, out_unknowns)


def _in_two_forms(body: Jaxpr, residuals: Sequence[Any], policy: Policy | None) -> Forms:
    """The eqns of the known half for the forward and for the backward pass."""
    if policy is None or looks_at_eqns(policy):
        return eqns_in_two_forms(body, policy)
    saved = tuple(policy.choose(body, residuals))
    is_saved = set(saved)
    again = [e for e in body.eqns if not e.outvars or not is_saved.issuperset(e.outvars)]
    return Forms(body.eqns, again, saved)


@jaxpr_cache
def saving_within(jaxpr: ClosedJaxpr, policy: Policy | None) -> ClosedJaxpr:
    """The program whose checkpoints save also what a policy around them saves."""
    if policy is None or not looks_at_eqns(policy):
        return jaxpr
    eqns = []
    for eqn in jaxpr.eqns:
        params = {name: _saving_within(x, policy) for name, x in eqn.params.items()}
        if eqn.primitive is checkpoint_p:
            params["policy"] = joined(params["policy"], policy)
        changed = any(params[name] is not x for name, x in eqn.params.items())
        eqns.append(eqn.replace(params=params) if changed else eqn)
    unchanged = all(map(operator.is_, eqns, jaxpr.eqns))
    return jaxpr if unchanged else jaxpr.replace(jaxpr=jaxpr.jaxpr.replace(eqns=eqns))


def _saving_within(x: Any, policy: Policy) -> Any:
    """`saving_within` of a parameter of an eqn."""
    if type(x) is ClosedJaxpr:
        return saving_within(x, policy)
    if type(x) is not tuple or not any(type(part) is ClosedJaxpr for part in x):
        return x
    parts = tuple([_saving_within(part, policy) for part in x])
    return x if all(map(operator.is_, parts, x)) else parts


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
    forms: Forms,
) -> ClosedJaxpr:
    """The unknown half that computes residuals from the known inputs and what is saved."""
    body, saved = known.jaxpr, forms.saved
    given = len(saved), len(body.invars)

    def compute(*args: Any) -> list[Any]:
        values = dict(zip(saved, args[: given[0]]))
        known_args = args[given[0] : sum(given)]
        env = run_eqns(
            forms.again, dict(zip(body.constvars, known.consts)), body, known_args, values
        )
        found = [x.val if type(x) is Literal else env[x] for x in residuals]
        return eval_jaxpr(unknown.jaxpr, unknown.consts, *found, *args[sum(given) :])

    avals = [
        *[var.aval for var in saved],
        *known.in_avals,
        *unknown.in_avals[len(residuals) :],
    ]
    return stage_closed(compute, avals, body.debug_info)


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
