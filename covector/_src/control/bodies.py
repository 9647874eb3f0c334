"""Bodies of control flow: the functions that a user hands over, staged once per function and types.

A body may close over arrays and over tracers of the functions around it.  Neither stays inside its
jaxpr: all become leading inputs of it, and operands of the op that the body belongs to, where every
transformation finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..base import config, ref_errors, tree
from ..core.avals import AbstractValue, aval_of
from ..core.jaxpr import ClosedJaxpr, Jaxpr, Var
from ..core.refs import Ref
from ..core.trace import Tracer, context
from ..transforms.cache import jaxpr_cache
from ..transforms.flatten import FlatFunction
from ..transforms.linearize import constvars_to_invars
from ..transforms.signatures import debug_info
from ..transforms.stage import stage
from .discharge import discharge, makes_refs, takes_refs


class Body(NamedTuple):
    """A staged function of control flow.

    Attributes:
      jaxpr: takes the values that the function closes over, then its flat arguments.
      consts: these values; some may be tracers.
      out_tree: the structure of its result.
      takes_refs: whether inputs of it are mutable references.
    """

    jaxpr: ClosedJaxpr
    consts: list[Any]
    out_tree: Any
    takes_refs: bool = False

    @property
    def out_avals(self) -> list[AbstractValue]:
        return self.jaxpr.out_avals


def operand_avals(where: str, operands: Sequence[Any]) -> list[AbstractValue]:
    """The types of the flat operands that a user gave to the public function `where`."""
    try:
        return list(map(aval_of, operands))
    except TypeError as error:
        raise TypeError(f"[{where}] {error}") from None


def stage_body(
    where: str, fun: Callable[..., Any], in_tree: Any, avals: Sequence[AbstractValue]
) -> Body:
    """Stage a user's function.

    It is staged anew only if the function, the types, or what it closes over are new: a function
    that closes over tracers, which live as long as one trace, is staged each time.

    Args:
      where: the public function that it was given to (`"scan"`), for errors.
      fun: a function of trees of arrays, of positional arguments.
      in_tree: the structure of the tuple of its arguments.
      avals: the types of the leaves.
    """
    try:
        staged = _bodies.setdefault(fun, {})
    except TypeError:  # neither hash nor weak reference: it is staged each time
        staged = {}
    key = (where, in_tree, tuple(avals), config.trace_key(), context.axis_env)
    body = staged.get(key)
    if body is None:
        body = _stage(where, fun, in_tree, avals)
        if not any(isinstance(const, (Tracer, Ref)) for const in body.consts):
            staged[key] = body
    return body


def _stage(where: str, fun: Callable[..., Any], in_tree: Any, avals: Sequence[Any]) -> Body:
    args = tree.unflatten(in_tree, avals)
    flat = FlatFunction(fun, tree.structure((args, {})))
    info = debug_info(where, fun, args, {})
    jaxpr, consts = stage(flat, avals, info)
    jaxpr.debug_info = flat.debug_info_of_result(info)
    closed = ClosedJaxpr(constvars_to_invars(jaxpr))
    if makes_refs(closed) and not takes_refs(closed):
        closed, _ = discharge(closed)
    with_refs = takes_refs(closed)
    if with_refs and where not in _WITH_REFS:
        raise NotImplementedError(ref_errors.not_with_refs(where, info.func_name))
    return Body(closed, list(consts), flat.out_tree, with_refs)


# The functions whose bodies may take mutable references, or close over some.
_WITH_REFS = frozenset(("checkpoint", "cond", "map", "scan", "switch", "while_body", "while_cond"))


_bodies: WeakKeyDictionary[Any, dict[Any, Body]] = WeakKeyDictionary()


def clear_bodies() -> None:
    """Forget every staged function."""
    _bodies.clear()


def with_common_consts(bodies: Sequence[Body]) -> tuple[list[ClosedJaxpr], list[Any]]:
    """Let bodies that are applied to the same operands, such as branches, take the same constants.

    Returns:
      The jaxprs, each with an input for every constant of any of them, then its arguments; and the
      constants.
    """
    consts: dict[int, Any] = {id(x): x for body in bodies for x in body.consts}
    position = {which: i for i, which in enumerate(consts)}
    avals = {id(x): v.aval for body in bodies for x, v in zip(body.consts, body.jaxpr.jaxpr.invars)}
    return [
        with_more_inputs(
            body.jaxpr,
            tuple([position[id(x)] for x in body.consts]),
            tuple([avals[which] for which in consts]),
        )
        for body in bodies
    ], list(consts.values())


@jaxpr_cache
def with_more_inputs(
    jaxpr: ClosedJaxpr, positions: tuple[int, ...], avals: tuple[AbstractValue, ...]
) -> ClosedJaxpr:
    """The same program with more leading inputs, which it ignores.

    Args:
      jaxpr: the program.
      positions: which of the new leading inputs its first inputs become.
      avals: the types of the new leading inputs.
    """
    if positions == tuple(range(len(avals))):
        return jaxpr
    body: Jaxpr = jaxpr.jaxpr
    own = dict(zip(positions, body.invars))
    leading = [own.get(i) or Var(aval) for i, aval in enumerate(avals)]
    return jaxpr.replace(jaxpr=body.replace(invars=[*leading, *body.invars[len(positions) :]]))
