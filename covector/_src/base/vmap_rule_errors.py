"""Texts of errors of custom_vmap, whose rule the user writes, of linear_call, and of batches of
types that the user registers."""

from __future__ import annotations

from typing import Any

from .custom_errors import describe_callable, name_of


def no_rule(fun: Any) -> str:
    return (
        f"No batching rule defined for custom_vmap function {name_of(fun)}{describe_callable(fun)}."
        " Define it with def_vmap before the function is called."
    )


def rule_no_pair(rule: Any, out: object) -> str:
    return (
        f"[custom_vmap] the vmap rule {name_of(rule)} returned {out!r}. It must return a pair: the "
        "output for the whole batch, and, in the same structure, a bool for each array of it that "
        "says whether it has a batch dimension."
    )


def rule_trees_differ(rule: Any, out: object, batched: object) -> str:
    return (
        "[custom_vmap] structure of output value and output batching specification returned by "
        f"custom vmap rule ({name_of(rule)}) do not match. The output has the structure\n"
        f"    {out}\nand the specification\n    {batched}\nIt takes one bool for each array."
    )


def rule_output_differs(rule: Any, want: object, got: object) -> str:
    return (
        f"[custom_vmap] structure of output returned by custom vmap rule ({name_of(rule)}) does "
        "not match that of original custom-vmapped function. The function returns\n"
        f"    {want}\nand the rule\n    {got}"
    )


def batched_in_closure(rule: Any) -> str:
    return (
        f"[custom_vmap] the function of the vmap rule {name_of(rule)} closes over a value that is "
        "itself a batch of this vmap. The rule is told of arguments only: pass the value as one."
    )


def no_reverse_mode() -> str:
    return (
        "Linearization failed to produce known values for all output primals. A custom_vmap "
        "function is differentiated forward only: by jvp, not by grad, vjp or linearize. Wrap it "
        "in custom_vjp or custom_jvp, outside of custom_vmap, to give it a derivative rule."
    )


def transpose_structure(where: Any, want: object, got: object) -> str:
    return (
        "[linear_call] transpose output pytree structure must match that of linear inputs: "
        f"{name_of(where)} returned the structure\n    {got}\nfor linear arguments of the "
        f"structure\n    {want}"
    )


def no_place_for_batch(aval: Any) -> str:
    return (
        f"[register_vmappable] a handler from_elt asked for the batch of a value of type {aval} "
        "along the axis None, but the value differs between examples. Ask for it along an axis, "
        "such as 0."
    )
