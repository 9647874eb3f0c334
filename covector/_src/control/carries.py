"""Carries: what a loop hands from one step to the next, and how their types are settled.

All steps of a loop are one program, so the carry that its body returns has the structure, shapes
and dtypes of the one that it takes.  Only weak types give way: an initial carry that is a Python
number takes the dtype that the body makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..base import carry_errors, dtypes, tree
from ..core.avals import AbstractValue, aval_of, without_vma
from ..core.jaxpr import ClosedJaxpr
from ..ops.conversion import convert
from ..transforms.cache import jaxpr_cache
from ..transforms.signatures import signature_of
from .bodies import Body, operand_avals

Flags = tuple[bool, ...]
T = TypeVar("T")


def settle_carry(
    where: str,
    fun: Callable[..., Any],
    carry: Any,
    stage: Callable[[tuple[AbstractValue, ...]], Body],
    carry_of: Callable[[Body], tuple[Any, Sequence[AbstractValue]]],
) -> tuple[Body, list[Any]]:
    """Stage the body of a loop for the types that its carry has in the end.

    A weakly typed leaf that comes back with another dtype is promoted, and the body staged anew.
    Of several, one may wait for another, so this goes on until nothing changes; as a leaf is
    promoted once, it ends.

    Args:
      where: the loop's function, `"scan body"`, for errors.
      fun: the user's function, whose first argument is the carry.
      carry: the tree of initial values.
      stage: from the types of the leaves of the carry to the body.
      carry_of: from a body to the treedef and the types of the leaves of the carry it returns.

    Returns:
      The body, and the flat initial values.

    Raises:
      TypeError: the carry that the body returns has another structure, or leaves of other types.
    """
    values, in_tree = tree.flatten(carry)
    while True:
        avals = tuple(operand_avals(where.partition(" ")[0], values))
        body = stage(avals)
        out_tree, out_avals = carry_of(body)
        check_carry_structure(where, fun, in_tree, out_tree)
        promoted = list(map(promoted_to, values, out_avals))
        if all(old is new for old, new in zip(values, promoted)):
            break
        values = promoted
    check_carry_types(where, fun, in_tree, avals, out_avals)
    return body, values


def promoted_to(value: Any, out_aval: AbstractValue) -> Any:
    """An initial value in the dtype that it has in common with what a step makes of it.

    Only values that are weakly typed, and do not keep their type, are converted.
    """
    aval: Any = aval_of(value)
    if not getattr(aval, "weak_type", False) or same_type(aval, out_aval):
        return value
    return convert(value, dtypes.result_type(aval, out_aval))


def same_type(a: AbstractValue, b: AbstractValue) -> bool:
    """Whether two types agree but for being weak, and for how the values vary between devices."""
    return a is b or without_vma(a.strip_weak_type()) is without_vma(b.strip_weak_type())


def check_carry_structure(where: str, fun: Callable[..., Any], in_tree: Any, out_tree: Any) -> None:
    """Raise unless the body returns a carry in the containers of the one that it takes."""
    if in_tree != out_tree:
        text = carry_errors.carry_structure(where, carry_name(fun), in_tree, out_tree)
        if text is not None:
            raise TypeError(text)


def check_carry_types(
    where: str,
    fun: Callable[..., Any],
    in_tree: Any,
    in_avals: Sequence[AbstractValue],
    out_avals: Sequence[AbstractValue],
) -> None:
    """Raise unless the leaves of the carry that the body returns have the types of those it takes.

    Weak types agree with strong ones.
    """
    if all(map(same_type, in_avals, out_avals)):
        return
    paths = [path for path, _ in tree.leaves_with_path(tree.unflatten(in_tree, in_avals))]
    differing = [
        (path, given, returned)
        for path, given, returned in zip(paths, in_avals, out_avals)
        if not same_type(given, returned)
    ]
    raise TypeError(carry_errors.carry_types(where, carry_name(fun), differing))


def carry_name(fun: Callable[..., Any]) -> str | None:
    """How a function calls its first argument, if that can be told."""
    signature = signature_of(fun)
    return next(iter(signature.parameters), None) if signature else None


# ---------------------------------------------------------------- what is true of a carry


def carry_fixpoint(rule: Callable[[Any], tuple[T, Any]], flags: Any) -> tuple[T, Any]:
    """Transform a loop's body for what is true of its carries in some step: in that or a later one.

    A carry that begins without a tangent, say, or unbatched, need not stay so: it does if the one
    that the body returns is so as well. What is true may be a set, such as the axes along which
    it varies.

    Args:
      rule: transforms the body, given what is true of each carry that it takes. The flags that it
        returns say of which of the carries that the body returns this is true.
      flags: what is true of the initial carries.

    Returns:
      The transformed body, and the least flags that hold for all steps.
    """
    while True:
        result, returned = rule(flags)
        grown = tuple([a | b for a, b in zip(flags, returned)])
        if grown == flags:
            return result, flags
        flags = grown


@jaxpr_cache
def rearranged(
    jaxpr: ClosedJaxpr, inputs: tuple[int, ...], outputs: tuple[int, ...] | None = None
) -> ClosedJaxpr:
    """The same program with its inputs, and its outputs, in another order.

    Args:
      jaxpr: the program.
      inputs: for each of the new inputs its number among the old ones.
      outputs: the same for outputs; outputs that are not named are left out.
    """
    body = jaxpr.jaxpr
    outvars = body.outvars if outputs is None else [body.outvars[i] for i in outputs]
    invars = [body.invars[i] for i in inputs]
    return ClosedJaxpr(body.replace(invars=invars, outvars=outvars), jaxpr.consts)
