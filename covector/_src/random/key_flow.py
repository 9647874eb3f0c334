"""Looking for random keys that are used twice: which keys a jaxpr uses up, and which it makes.

    key_flow : jaxpr  ->  what it does to the keys among its inputs and outputs

Drawing from a key, and splitting it, use it up; so does everything unknown.  A key is fresh where
`random_seed` and the like make it.  Reshaping and copying hand on the same key.  Of an array of
keys, each element is looked at: slices use up what they read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..base import key_reuse_errors
from ..base.errors import KeyReuseError
from ..base.keys import KeyTy
from ..control import random_keys
from ..control.cond import cond_p
from ..control.jit import jit_p
from ..control.scan import scan_p
from ..control.while_loop import while_p
from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from ..core.primitive import Primitive
from ..numpy.composite import Composite
from ..ops import (
    comparison,
    conversion,
    dynamic_slicing,
    gather,
    identities,
    joining,
    linear,
    scatter,
    shaping,
    slicing,
    transfer,
)
from ..ops import random_keys as arrays_of_keys
from ..transforms.cache import jaxpr_cache


class KeyFlow(NamedTuple):
    """What a program, or an eqn, does to keys.

    Attributes:
      spends: for some inputs, by number, which of their elements are used up: an array of booleans
        of the input's shape.
      fresh: the outputs, by number, that are new keys.
      hands_on: for some outputs the input that they are.
    """

    spends: dict[int, np.ndarray]
    fresh: frozenset[int]
    hands_on: dict[int, int]


NOTHING = KeyFlow({}, frozenset(), {})


def holds_keys(aval: Any) -> bool:
    """Whether arrays of this type are random keys."""
    return isinstance(getattr(aval, "dtype", None), KeyTy)


def all_of(aval: Any) -> np.ndarray:
    return np.ones(aval.shape, bool)


# ---------------------------------------------------------------- programs


@jaxpr_cache
def key_flow(closed: ClosedJaxpr) -> KeyFlow:
    """What a program does to its keys; its constants count as further inputs, behind the others.

    Raises KeyReuseError if it uses a key twice.
    """
    return _Uses(closed.jaxpr).flow()


class _Uses:
    """The keys of a jaxpr, each with the elements that are spent so far."""

    def __init__(self, jaxpr: Jaxpr):
        self.jaxpr = jaxpr
        self.spent: dict[Var, np.ndarray] = {}
        self.same_as: dict[Var, Var] = {}
        for eqn in jaxpr.eqns:
            self.apply(eqn)

    def source(self, atom: Any) -> Any:
        """The variable whose keys a variable holds."""
        while atom in self.same_as:
            atom = self.same_as[atom]
        return atom

    def apply(self, eqn: JaxprEqn) -> None:
        flow = flow_of_eqn(eqn)
        for i, elements in flow.spends.items():
            if isinstance(eqn.invars[i], Var) and holds_keys(eqn.invars[i].aval):
                self.spend(eqn, i, elements)
        for i, var in enumerate(eqn.outvars):
            if not holds_keys(var.aval):
                continue
            if i in flow.hands_on:
                self.same_as[var] = self.source(eqn.invars[flow.hands_on[i]])
            elif i not in flow.fresh:
                self.spent[var] = all_of(var.aval)

    def spend(self, eqn: JaxprEqn, i: int, elements: np.ndarray) -> None:
        var = self.source(eqn.invars[i])
        if elements.shape != var.aval.shape:  # the key was broadcast or reshaped in between
            elements = np.full(var.aval.shape, elements.any())
        before = self.spent.get(var, False)
        if np.any(before & elements):
            raise KeyReuseError(key_reuse_errors.used_twice(eqn, i))
        self.spent[var] = before | elements

    def flow(self) -> KeyFlow:
        """What was found out about inputs and outputs."""
        inputs = [*self.jaxpr.invars, *self.jaxpr.constvars]
        numbers = {var: i for i, var in enumerate(inputs)}
        spends = {i: self.spent[var] for var, i in numbers.items() if var in self.spent}
        fresh, hands_on = set(), {}
        for i, var in enumerate(self.jaxpr.outvars):
            if not isinstance(var, Var) or not holds_keys(var.aval):
                continue
            source = self.source(var)
            if source in numbers:
                hands_on[i] = numbers[source]
            elif not np.any(self.spent.get(source, False)):
                fresh.add(i)
        return KeyFlow(spends, frozenset(fresh), hands_on)


# ---------------------------------------------------------------- eqns


def flow_of_eqn(eqn: JaxprEqn) -> KeyFlow:
    """What an eqn does to its keys: what its primitive does with them, or its jaxpr."""
    rule = RULES.get(eqn.primitive)
    if rule is not None:
        return rule(eqn)
    if isinstance(eqn.primitive, Composite):
        avals = tuple([atom.aval for atom in eqn.invars])
        return _of_inner(eqn.primitive.staged(avals, eqn.params))
    inner = [value for value in eqn.params.values() if isinstance(value, ClosedJaxpr)]
    if len(inner) == 1 and len(inner[0].in_avals) == len(eqn.invars):
        return _of_inner(inner[0])
    return KeyFlow(dict(_spent_whole(eqn)), frozenset(), {})


def _of_inner(closed: ClosedJaxpr) -> KeyFlow:
    """The flow of a jaxpr in an eqn, whose constants are no operands of the eqn."""
    flow, count = key_flow(closed), len(closed.jaxpr.invars)
    return KeyFlow(
        {i: elements for i, elements in flow.spends.items() if i < count},
        flow.fresh,
        {out: i for out, i in flow.hands_on.items() if i < count},
    )


def _spent_whole(eqn: JaxprEqn) -> Iterator[tuple[int, np.ndarray]]:
    for i, atom in enumerate(eqn.invars):
        if holds_keys(atom.aval):
            yield i, all_of(atom.aval)


def _leaves(eqn: JaxprEqn) -> KeyFlow:
    return NOTHING


def _makes(eqn: JaxprEqn) -> KeyFlow:
    return KeyFlow({}, frozenset(range(len(eqn.outvars))), {})


def _spends(eqn: JaxprEqn) -> KeyFlow:
    return KeyFlow(dict(_spent_whole(eqn)), frozenset(), {})


def _replaces(eqn: JaxprEqn) -> KeyFlow:
    return _spends(eqn)._replace(fresh=frozenset(range(len(eqn.outvars))))


def _passes(eqn: JaxprEqn) -> KeyFlow:
    return KeyFlow({}, frozenset(), {0: 0})


def _passes_each(eqn: JaxprEqn) -> KeyFlow:
    return KeyFlow({}, frozenset(), {i: i for i in range(len(eqn.outvars))})


def _writes(position: int) -> Callable[[JaxprEqn], KeyFlow]:
    """The first operand, into which keys of another one are written."""

    def rule(eqn: JaxprEqn) -> KeyFlow:
        return KeyFlow({position: all_of(eqn.invars[position].aval)}, frozenset(), {0: 0})

    return rule


def _slice(eqn: JaxprEqn) -> KeyFlow:
    params = eqn.params
    bounds = zip(
        params["start_indices"],
        params["limit_indices"],
        params["strides"] or (1,) * len(params["start_indices"]),
    )
    read = np.zeros(eqn.invars[0].aval.shape, bool)
    read[tuple(slice(*bound) for bound in bounds)] = True
    return KeyFlow({0: read}, frozenset({0}), {})


def _cond(eqn: JaxprEqn) -> KeyFlow:
    """What some branch spends is spent; what all branches make is fresh."""
    flows = [_of_inner(branch) for branch in eqn.params["branches"]]
    spends: dict[int, np.ndarray] = {}
    for flow in flows:
        for i, elements in flow.spends.items():
            spends[i + 1] = spends.get(i + 1, False) | elements
    common = set.intersection(*[set(flow.hands_on.items()) for flow in flows])
    fresh = frozenset.intersection(*[flow.fresh for flow in flows])
    return KeyFlow(spends, fresh, {out: i + 1 for out, i in common})


def _scan(eqn: JaxprEqn) -> KeyFlow:
    """Each step must spend no constant, and only such parts of the carry as it makes anew."""
    params = eqn.params
    consts, carried = params["num_consts"], params["num_carry"]
    flow = _of_inner(params["jaxpr"])
    _check_loop("scan body", flow, consts, consts + carried, flow.fresh)
    # A batch of keys that steps run over is spent whole.
    spends = {i: all_of(eqn.invars[i].aval) for i in flow.spends}
    hands_on = {out: i for out, i in flow.hands_on.items() if i < consts + carried}
    return KeyFlow(spends, flow.fresh, hands_on)


def _while(eqn: JaxprEqn) -> KeyFlow:
    """As `scan`; the condition and the body must not spend the same part of the carry either."""
    params = eqn.params
    of_cond, of_body = params["cond_nconsts"], params["body_nconsts"]
    cond, body = _of_inner(params["cond_jaxpr"]), _of_inner(params["body_jaxpr"])
    _check_loop("while_loop cond", cond, of_cond, len(eqn.invars), body.fresh)
    _check_loop("while_loop body", body, of_body, len(eqn.invars), body.fresh)
    in_cond = {i - of_cond for i in cond.spends}
    if in_cond & {i - of_body for i in body.spends}:
        raise KeyReuseError(key_reuse_errors.cond_and_body())
    return KeyFlow(
        {i + of_cond: elements for i, elements in body.spends.items()},
        body.fresh,
        {out: i + of_cond for out, i in body.hands_on.items()},
    )


def _check_loop(where: str, flow: KeyFlow, consts: int, end: int, fresh: frozenset[int]) -> None:
    for i in flow.spends:
        if i < consts:
            raise KeyReuseError(key_reuse_errors.constant_in_loop(where, i))
        if i < end and i - consts not in fresh:
            raise KeyReuseError(key_reuse_errors.carry_in_loop(where, i - consts))


RULES: dict[Primitive, Callable[[JaxprEqn], KeyFlow]] = {
    random_keys.random_seed_p: _makes,
    random_keys.random_fold_in_p: _makes,
    random_keys.random_split_p: _replaces,
    random_keys.random_bits_p: _spends,
    arrays_of_keys.random_wrap_p: _makes,
    arrays_of_keys.random_clone_p: _makes,
    arrays_of_keys.random_unwrap_p: _leaves,
    comparison.eq_p: _leaves,
    comparison.ne_p: _leaves,
    linear.broadcast_in_dim_p: _passes,
    linear.reshape_p: _passes,
    linear.transpose_p: _passes,
    shaping.squeeze_p: _passes,
    identities.copy_p: _passes,
    conversion.convert_element_type_p: _passes,
    gather.gather_p: _passes,
    dynamic_slicing.dynamic_slice_p: _passes,
    dynamic_slicing.dynamic_update_slice_p: _writes(1),
    scatter.scatter_p: _writes(2),
    slicing.slice_p: _slice,
    joining.concatenate_p: _replaces,
    joining.stack_p: _replaces,
    joining.unstack_p: _replaces,
    transfer.device_put_p: _passes_each,
    jit_p: lambda eqn: _of_inner(eqn.params["jaxpr"]),
    cond_p: _cond,
    scan_p: _scan,
    while_p: _while,
}
