"""Texts of errors of functions with rules of their own: custom_jvp, custom_vjp and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .errors import UnexpectedTracerError


def name_of(fun: Any) -> str:
    return getattr(fun, "__name__", None) or repr(fun)


def differentiated_in_closure(where: str, name: str) -> Exception:
    return UnexpectedTracerError(
        f"The {where} function {name} is differentiated in a value that it closes over, or in an "
        "argument that nondiff_argnums declares not to be differentiated. Its rules have no word "
        f"on that: {where} functions can't close over such values. Pass the value as an ordinary "
        f"argument, for which the rules give a derivative; or pass "
        f"`covector.lax.stop_gradient(value)` if it is to count as a constant."
    )


def no_rule(where: str, fun: Any) -> str:
    kind = "JVP" if where == "custom_jvp" else "VJP"
    method = "defjvp" if where == "custom_jvp" else "defvjp"
    return (
        f"No {kind} defined for {where} function {name_of(fun)} using {method}. Define it before "
        f"the function is called."
    )


def cannot_resolve(where: str, fun: Any, place: str, why: object) -> str:
    return (
        f"The input arguments to the {where}-decorated function {name_of(fun)}{place} do not fit "
        f"its signature:\n{why}"
    )


def unresolved_keywords(names: Sequence[str]) -> str:
    return "The following keyword arguments could not be resolved to positions: " + ", ".join(names)


def defjvps_with_nondiff(fun: Any) -> str:
    return (
        f"defjvps was called for {name_of(fun)}, a custom_jvp function with nondiff_argnums. It "
        "takes one rule for each argument; use defjvp, whose rule gets those arguments first."
    )


def result_not_an_array(where: str, fun: Any, position: int, x: object) -> str:
    return (
        f"The {where} function {name_of(fun)} returned {x!r} of type {type(x).__name__} as leaf "
        f"{position} of its result, which cannot be an array."
    )


def batched_by_rule(rule: object) -> str:
    return (
        f"[vmap] The rule {rule} makes an output, or its tangent, differ between the examples of a "
        "batch, though the function gives the same for all. Return what the function returns."
    )


def no_forward_mode() -> str:
    return (
        "can't apply forward-mode autodiff (jvp) to a custom_vjp function. Its backward rule would "
        "have to be transposed, and something in it has no transpose. Use grad or vjp, or define "
        "the derivative by custom_jvp, which serves both modes."
    )


# ---------------------------------------------------------------- results of jvp rules


def jvp_rule_no_pair(rule: Any, fun: Any, out: object) -> str:
    return (
        f"Custom JVP rule {name_of(rule)} for function {name_of(fun)} returned {out}, but must "
        "return a pair: the output of the function, and its tangent."
    )


def jvp_rule_trees(rule: Any, fun: Any, primal: object, tangent: object) -> str:
    return (
        f"Custom JVP rule {name_of(rule)} for function {name_of(fun)} returned an output with the "
        f"structure {primal}, and tangents of it with the structure {tangent}. They must be equal."
    )


def jvp_rule_tangent(rule: Any, fun: Any, path: str, want: object, primal: object, got: Any) -> str:
    return (
        f"Custom JVP rule {name_of(rule)} for function {name_of(fun)}: the tangent{path} has the "
        f"type {got}. Expected {want}, the tangent type of the output {primal}."
    )


def jvp_rule_output(rule: Any, fun: Any, kind: str, got: object, want: object) -> str:
    return (
        f"Custom JVP rule {name_of(rule)} for function {name_of(fun)} must produce a pair whose "
        f"first element is what the function itself returns. The rule's has the {kind}\n    {got}\n"
        f"and the function's the {kind}\n    {want}"
    )


# ---------------------------------------------------------------- results of vjp rules


def fwd_rule_no_pair(rule: Any, fun: Any, out: object) -> str:
    return (
        f"Custom VJP fwd rule {name_of(rule)} for function {name_of(fun)} must produce a pair (the "
        f"output of the function, and residuals for the backward rule), but returned {out}."
    )


def fwd_rule_output(rule: Any, fun: Any, kind: str, got: object, want: object) -> str:
    return (
        f"Custom VJP fwd rule {name_of(rule)} for function {name_of(fun)} must produce a pair "
        f"whose first element is what the function itself returns: got fwd output type {got} which "
        f"doesn't match the {kind} of the function's output, {want}."
    )


def bwd_rule_no_tuple(rule: Any, fun: Any, count: int, got: object) -> str:
    return (
        f"Custom VJP bwd rule {name_of(rule)} for function {name_of(fun)} must produce a tuple "
        f"with one cotangent for each of its {count} arguments, but it returned {got}."
    )


def bwd_rule_tree(rule: Any, fun: Any, position: int, want: object, got: object) -> str:
    return (
        f"Custom VJP bwd rule {name_of(rule)} for function {name_of(fun)} must produce a tuple of "
        f"cotangents that have the structures of the arguments. At output[{position}] it produced "
        f"{got}, but the argument has the structure {want}. None may stand for a zero cotangent."
    )


def bwd_rule_type(rule: Any, fun: Any, place: str, want: object, got: object, note: str) -> str:
    return (
        f"Custom VJP bwd rule {name_of(rule)} for function {name_of(fun)} must produce cotangents "
        f"of the types of the arguments. At {place} the bwd rule produced an output of type {got}, "
        f"but the argument has the cotangent type {want}.{note}"
    )


def traced_nondiff(fun: Any, aval: object) -> str:
    return (
        f"[custom_vjp] {name_of(fun)} got a traced value of type {aval} for an argument of "
        "nondiff_argnums, which the flag `parity` forbids, as JAX does. Turn the flag off, or make "
        "it an ordinary argument, for which the backward rule returns None."
    )


CONSIDER_NONE = (
    " The rule was given a symbolic zero for a cotangent. Consider just returning a None here "
    "instead of a zero of another type."
)


def describe_callable(fun: Callable[..., Any]) -> str:
    """Where a function stands, as ` at file:line`, if that is known."""
    code = getattr(fun, "__code__", None)
    return f" at {code.co_filename}:{code.co_firstlineno}" if code is not None else ""


def results_vary_differently(avals: Sequence[Any]) -> str:
    types = ", ".join([str(aval) for aval in avals])
    return (
        f"[custom_vjp] The results, of types {types}, vary along other axes of the mesh than the "
        "arguments and residuals of the forward rule. Cast them with `lax.pcast(x, axes, "
        "to='varying')`, or use `shard_map(..., check_vma=False)`."
    )
