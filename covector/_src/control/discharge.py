"""State discharge: programs that use references become functions of what the references hold.

    discharge : jaxpr of (Ref a, b) -> c   ->   jaxpr of (a, b) -> (c, a)

`jit`, loops, branches and `checkpoint` discharge the functions that they are given as soon as these
are traced.  They read the references, apply the function, and write what comes out; so no
operation has a reference for an operand but those on references.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..base import ref_errors
from ..core.avals import aval_of
from ..core.effects import rules_lost
from ..core.jaxpr import ClosedJaxpr, DebugInfo, jaxpr_as_fun
from ..core.primitive import Primitive
from ..core.refs import AbstractRef, Ref
from ..core.trace import EvalTrace, Trace, context, current_trace
from ..transforms.cache import jaxpr_cache
from ..transforms.stage import JaxprTrace, write_down
from .refs import (
    WHOLE,
    RefPrimitive,
    addupdate_p,
    apply,
    free_ref_p,
    get_p,
    held_by,
    rules_lost_p,
    swap_p,
)


class DischargeTrace(Trace):
    """Evaluation under the parent trace, with boxes for the references of a program."""

    __slots__ = ()
    parent: Trace

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if isinstance(primitive, RefPrimitive):
            if args and type(args[0]) is Ref and args[0]._value is None:
                raise ValueError(ref_errors.freed(args[0].aval))
            with current_trace(self.parent):
                return primitive.on_box(*args, **params)
        with current_trace(self.parent):
            return self.parent.process(primitive, args, params)


class WithBoxes:
    """A function of values and references as one of values alone, in a transformation.

    It returns what the references hold at the end behind its other results.

    Args:
      fun: the function; takes flat arguments.
      refs: for each argument a reference that it gets a box in place of, or None.
    """

    def __init__(self, fun: Callable[..., Sequence[Any]], refs: Sequence[Ref | None]):
        self.fun = fun
        self.refs = refs

    def __call__(self, *args: Any) -> list[Any]:
        boxes = [
            x if ref is None else Ref(_type_of(x, ref.aval), context.trace, x)
            for x, ref in zip(args, self.refs)
        ]
        outs = self.fun(*boxes)
        return [*outs, *[box._value for box, ref in zip(boxes, self.refs) if ref is not None]]


def _type_of(x: Any, like: AbstractRef) -> AbstractRef:
    return AbstractRef(aval_of(x), like.memory_space, like.kind)


class Discharged(NamedTuple):
    """A program without references.

    Attributes:
      jaxpr: takes the values of references in their places, and has further outputs.
      written: the inputs whose last values these are.
    """

    jaxpr: ClosedJaxpr
    written: tuple[int, ...]


def takes_refs(jaxpr: ClosedJaxpr) -> bool:
    """Whether inputs of a program are references."""
    return any(type(aval) is AbstractRef for aval in jaxpr.in_avals)


def makes_refs(jaxpr: ClosedJaxpr) -> bool:
    """Whether a program that takes no references makes some for itself."""
    return bool(jaxpr.effects) and any(
        isinstance(eqn.primitive, RefPrimitive) for eqn in jaxpr.eqns
    )


def written_inputs(jaxpr: ClosedJaxpr) -> tuple[int, ...]:
    """The inputs of a program that are references to which it writes."""
    place = {var: i for i, var in enumerate(jaxpr.invars)}
    written = {
        place[eqn.invars[0]]
        for eqn in jaxpr.eqns
        if eqn.primitive in (swap_p, addupdate_p, free_ref_p) and eqn.invars[0] in place
    }
    return tuple(sorted(written))


@jaxpr_cache
def discharge(jaxpr: ClosedJaxpr, written: tuple[int, ...] | None = None) -> Discharged:
    """The program on values for one on references.

    Args:
      jaxpr: the program; no jaxpr among the parameters of its eqns uses references.
      written: the inputs whose last values become outputs; by default those that are written to.
    """
    if written is None:
        written = written_inputs(jaxpr)
    in_avals: list[Any] = jaxpr.in_avals

    def run(*args: Any) -> list[Any]:
        trace = DischargeTrace(context.trace)
        boxes = [
            Ref(aval, context.trace, x) if type(aval) is AbstractRef else x
            for x, aval in zip(args, in_avals)
        ]
        with current_trace(trace):
            outs = jaxpr_as_fun(jaxpr)(*boxes)
        trace.alive = False
        return [*outs, *[boxes[i]._value for i in written]]

    avals = [aval.inner_aval if type(aval) is AbstractRef else aval for aval in in_avals]
    return Discharged(ClosedJaxpr(*write_down(run, avals, jaxpr.jaxpr.debug_info)), written)


def without_rules(
    where: str, trace: Trace, operands: Sequence[Any], args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """Write a function with rules of its own out in a program, since it uses references.

    As long as nothing is differentiated in them, the rules are of no use.

    Args:
      where: `"custom_jvp"` or `"custom_vjp"`, for errors.
      trace: writes the program.
      operands: what the function closes over, and its arguments.
      args: its arguments.
      params: `fun` is the function, and `name` its name.
    """
    with current_trace(trace):
        values = [x for x in operands if type(x) is not Ref]
        rules_lost_p.bind(*values, where=where, name=params["name"])
        return params["fun"](*args)


def needs_lost_rules(jaxpr: ClosedJaxpr) -> bool:
    """Whether rules were lost in a program that is about to be applied under a transformation,
    which may ask for them. Then the function that it was traced from is called instead."""
    if not jaxpr.effects or rules_lost not in jaxpr.effects:
        return False
    return not isinstance(context.trace, (EvalTrace, JaxprTrace))


# ---------------------------------------------------------------- reading, applying, writing


def read(x: Any) -> Any:
    """What a reference holds; anything else as it is."""
    return apply(get_p, x, index=WHOLE) if type(x) is Ref else x


def write(ref: Ref, value: Any) -> None:
    """Let a reference hold another array."""
    apply(swap_p, ref, value, index=WHOLE)


def with_refs(
    apply_to: Callable[..., Sequence[Any]], written: Sequence[int], operands: Sequence[Any]
) -> list[Any]:
    """Apply an operation to operands of which some are references.

    Args:
      apply_to: takes the values of all operands, and returns the outputs of a program that was
        discharged.
      written: the operands whose last values are the last of these outputs.
      operands: references, and values.
    """
    outs = list(apply_to(*map(read, operands)))
    count = len(outs) - len(written)
    for i, value in zip(written, outs[count:]):
        write(operands[i], value)
    return outs[:count]


def run_with_refs(
    run: Callable[..., Sequence[Any]], written: Sequence[int], operands: Sequence[Any]
) -> list[Any]:
    """`with_refs` for a program that runs at once, overwrites what the references hold, and has
    arrays for results that nobody else has; so nothing is copied."""
    values = [held_by(x) if type(x) is Ref else x for x in operands]
    outs = list(run(*values))
    count = len(outs) - len(written)
    for i, value in zip(written, outs[count:]):
        operands[i]._value = value
    return outs[:count]


def check_aliases(info: DebugInfo | None, operands: Sequence[Any]) -> None:
    """Raise if a reference is passed twice, or passed to a function that closes over it.

    Args:
      info: what is known of the function, above all the names of its arguments.
      operands: what it closes over, then its arguments.
    """
    if info is None or not info.arg_names:
        return
    where = f"{info.func_name} traced for {info.traced_for}"
    count = len(operands) - len(info.arg_names)
    closed_over = {id(x) for x in operands[:count] if type(x) is Ref}
    seen: dict[int, str] = {}
    for name, x in zip(info.arg_names, operands[count:]):
        if type(x) is not Ref:
            continue
        if id(x) in closed_over:
            raise ValueError(ref_errors.closed_over_and_passed(where, x.aval, name))
        if id(x) in seen:
            raise ValueError(ref_errors.aliased(where, x.aval, (seen[id(x)], name)))
        seen[id(x)] = name
