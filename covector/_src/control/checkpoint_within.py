"""What a policy of `checkpoint` saves within loops, branches and checkpoints.

A loop or a choice is one eqn of the program that is checkpointed.  If the policy has values of its
body saved, the eqn takes two forms:

    forward  : operands -> (results, saved)          in the forward pass
    again    : (operands, saved) -> results          in the backward pass: computes the rest

So does the body, whose values are told by the same policy; a scan stacks them, a choice has a place
for them whichever branch is taken.  A result that is itself a saved value needs no second place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from ..core.primitive import Primitive
from ..ops.conversion import reduce_precision_p
from ..ops.creation import empty2_p
from ..transforms.cache import jaxpr_cache
from ..transforms.simplify import drop_dead_code
from ..transforms.vmap import batch_aval
from .checkpoint_eqns import without_jits
from .checkpoint_policy import Policy, looks_at_eqns, saves_results
from .cond import cond_p, shared_places, with_residuals
from .scan import scan_p


class Forms(NamedTuple):
    """A program, or a list of eqns, in two forms.

    Attributes:
      forward: computes the results, and what is saved.
      again: computes the results from what is saved.
      saved: the variables that are saved.
    """

    forward: Any
    again: Any
    saved: tuple[Var, ...]


def eqns_in_two_forms(jaxpr: Jaxpr, policy: Policy | None) -> Forms:
    """The eqns of a program for the forward pass and for the backward pass.

    Args:
      jaxpr: the program.
      policy: looks at one eqn at a time, or saves nothing.
    """
    forward: list[JaxprEqn] = []
    again: list[JaxprEqn] = []
    saved: dict[Var, None] = {}
    fillers: set[Var] = set()  # made of what nobody reads, for residuals of another branch
    for eqn in jaxpr.eqns:
        split = _SPLIT_BODIES.get(eqn.primitive)
        forms = None
        if split is not None and policy is not None and looks_at_eqns(policy):
            forms = split(eqn, policy)
        if forms is not None:
            forward.append(forms.forward)
            again.append(forms.again)
            saved.update(dict.fromkeys(forms.saved))
            continue
        forward.append(eqn)
        if eqn.primitive is empty2_p or not fillers.isdisjoint(_variables(eqn)):
            fillers.update(eqn.outvars)
            again.append(eqn)
        elif split is None and (saves_results(policy, eqn) or _rounds_saved(eqn, saved)):
            saved.update(dict.fromkeys(eqn.outvars))
        else:
            again.append(eqn)
    return Forms(forward, again, tuple(saved))


def _variables(eqn: JaxprEqn) -> list[Var]:
    return [atom for atom in eqn.invars if type(atom) is Var]


def _rounds_saved(eqn: JaxprEqn, saved: dict[Var, None]) -> bool:
    """Whether an eqn is the rounding with which a checkpoint within the program saves a value."""
    return eqn.primitive is reduce_precision_p and any(var in saved for var in _variables(eqn))


@jaxpr_cache
def body_in_two_forms(jaxpr: ClosedJaxpr, policy: Policy) -> Forms:
    """A body as one that also returns what is saved, and as one that also takes it, at last."""
    body = without_jits(jaxpr)
    forward, again, saved = eqns_in_two_forms(body.jaxpr, policy)
    second = body.jaxpr.replace(invars=[*body.jaxpr.invars, *saved], eqns=again)
    second, used = drop_dead_code(second, deep=True)
    saved = tuple([var for i, var in enumerate(saved, len(body.jaxpr.invars)) if i in {*used}])
    second = second.replace(invars=[*body.jaxpr.invars, *saved])
    value_of = dict(zip(body.jaxpr.constvars, body.consts))
    return Forms(
        body.replace(jaxpr=body.jaxpr.replace(eqns=forward)),
        ClosedJaxpr(second, [value_of[var] for var in second.constvars]),
        saved,
    )


def _places_among(saved: Sequence[Var], outvars: Sequence[Any], start: int = 0) -> dict[Var, int]:
    """For the saved variables that are outputs, from number `start` on, the number of one."""
    numbers = {id(var): i for i, var in enumerate(outvars) if i >= start}
    return {var: numbers[id(var)] for var in saved if id(var) in numbers}


def _in_two_forms(
    eqn: JaxprEqn,
    kept: Sequence[int],
    added: Sequence[Var],
    forward: dict[str, Any],
    again: dict[str, Any],
) -> Forms:
    """An eqn in two forms.

    Args:
      eqn: the eqn.
      kept: which of its results are saved.
      added: variables for what is saved besides.
      forward, again: the parameters of the two forms; the second takes what is saved at last.
    """
    saved = (*[eqn.outvars[i] for i in kept], *added)
    fresh = [Var(var.aval) if i in kept else var for i, var in enumerate(eqn.outvars)]
    return Forms(
        eqn.replace(outvars=[*eqn.outvars, *added], params=forward),
        eqn.replace(invars=[*eqn.invars, *saved], outvars=fresh, params=again),
        saved,
    )


# ---------------------------------------------------------------- loops and branches


def _of_scan(eqn: JaxprEqn, policy: Policy) -> Forms | None:
    """A scan stacks what is saved, and scans over it again."""
    params: Any = eqn.params
    first, second, saved = body_in_two_forms(params["jaxpr"], policy)
    if not saved:
        return None
    body: Jaxpr = first.jaxpr
    results = _places_among(saved, body.outvars, params["num_carry"])
    others = [var for var in saved if var not in results]
    given = second.jaxpr.invars[: len(body.invars)]
    second = second.replace(jaxpr=second.jaxpr.replace(invars=[*given, *results, *others]))
    first = first.replace(jaxpr=body.replace(outvars=[*body.outvars, *others]))
    return _in_two_forms(
        eqn,
        list(results.values()),
        [Var(batch_aval(var.aval, params["length"], 0)) for var in others],
        params | dict(jaxpr=first),
        params | dict(jaxpr=second),
    )


def _of_choice(eqn: JaxprEqn, policy: Policy) -> Forms | None:
    """A choice has a place for what one of its branches saves; the others fill it with anything."""
    branches: tuple[ClosedJaxpr, ...] = eqn.params["branches"]
    forms = [body_in_two_forms(branch, policy) for branch in branches]
    if not any(saved for *_, saved in forms):
        return None
    results = [_places_among(saved, first.jaxpr.outvars) for first, _, saved in forms]
    kept = sorted({i for places in results for i in places.values()})
    others = [[v for v in saved if v not in places] for (*_, saved), places in zip(forms, results)]
    avals, positions = shared_places([[var.aval for var in variables] for variables in others])
    first, second = [], []
    for form, places, variables, where in zip(forms, results, others, positions):
        body: Jaxpr = form.forward.jaxpr
        outs = [*body.outvars, *variables]
        whole = form.forward.replace(jaxpr=body.replace(outvars=outs))
        first.append(with_residuals(whole, len(body.outvars), where, avals))
        at = {i: var for var, i in places.items()}
        taken = [at.get(i) or Var(eqn.outvars[i].aval) for i in kept]
        at = dict(zip(where, variables))
        taken += [at.get(i) or Var(aval) for i, aval in enumerate(avals)]
        invars = [*form.again.jaxpr.invars[: len(body.invars)], *taken]
        second.append(form.again.replace(jaxpr=form.again.jaxpr.replace(invars=invars)))
    return _in_two_forms(
        eqn,
        kept,
        [Var(aval) for aval in avals],
        eqn.params | dict(branches=tuple(first)),
        eqn.params | dict(branches=tuple(second)),
    )


_SPLIT_BODIES: dict[Primitive, Callable[[JaxprEqn, Policy], Forms | None]] = {
    scan_p: _of_scan,
    cond_p: _of_choice,
}
