"""The wording of errors about the arguments of `scan`, and of what is built on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .tree_errors import describe


def not_callable(where: str, what: str, fun: Any) -> str:
    return f"lax.{where}: {what} must be a callable, but it is {fun!r}."


def no_leading_axis(where: str, avals: Sequence[Any]) -> str:
    types = ", ".join(aval.str_short() for aval in avals)
    return (
        f"{where} got value with no leading axis to scan over: {types}. Every leaf of xs is sliced "
        "along its first axis; close over what is the same in all steps, or put it in the carry."
    )


def lengths_differ(where: str, avals: Sequence[Any]) -> str:
    types = ", ".join(aval.str_short() for aval in avals)
    return (
        f"{where} got values with different leading axis sizes: "
        f"{', '.join(str(aval.shape[0]) for aval in avals)}. The leaves of xs, of types {types}, "
        "are sliced in step: give them first axes of one size."
    )


def length_disagrees(length: int, sizes: Sequence[int]) -> str:
    # Programs look for this text as it stands.
    return (
        f"scan got `length` argument of {length} which disagrees with leading axis sizes "
        f"{list(sizes)}."
    )


def no_length() -> str:
    return (
        "scan got no values to scan over and `length` not provided. Give the number of steps, as "
        "`length=10`, or arrays to scan over."
    )


def length_not_known() -> str:
    return (
        "The `length` argument to `scan` expects a concrete `int` value. A number of steps that "
        "the program computes is for `lax.while_loop` or `lax.fori_loop`."
    )


def length_not_an_integer(length: Any) -> str:
    return f"[scan] `length` is the number of steps, an integer, but it is {length!r}."


def length_negative(length: int) -> str:
    return f"[scan] `length` is the number of steps, but it is {length}."


def unroll_not_known() -> str:
    return (
        "The `unroll` argument to `scan` expects a concrete `int` or `bool` value: how often the "
        "body is written out is settled when the program is compiled."
    )


def unroll_negative(unroll: int) -> str:
    return (
        "[scan] `unroll` must be a `bool`, or the number of steps in one turn of the loop, 0 or "
        f"more, but it is {unroll}."
    )


def unroll_not_an_integer(unroll: Any) -> str:
    return f"[scan] `unroll` must be a `bool` or an integer, but it is {unroll!r}."


def result_not_a_pair(out_tree: Any, out_avals: Sequence[Any]) -> str:
    found = str(out_avals[0]) if out_tree.num_nodes == 1 and out_avals else describe(out_tree)
    return (
        f"scan body output must be a pair, got {found}. Return the new carry, and what to stack "
        "of this step, or None: `return carry, y`."
    )


def no_steps_without_jit() -> str:
    return (
        "zero-length scan is not supported in disable_jit() mode, where no step is run to find out "
        "the type of the outputs. Leave such a scan out, or run it with jit enabled."
    )


# ---------------------------------------------------------------- equations


def wrong_param(name: str, value: Any, wanted: str) -> str:
    return f"invalid scan param {name} of type {type(value).__name__}, {wanted} required: {value}"


def wrong_carry(given: Sequence[Any], returned: Sequence[Any]) -> str:
    types = [", ".join(aval.str_short() for aval in avals) for avals in (given, returned)]
    return f"the body of a scan takes a carry of types {types[0]}, but returns {types[1]}"


def wrong_operands(wanted: Sequence[Any], given: Sequence[Any]) -> str:
    types = [", ".join(aval.str_short() for aval in avals) for avals in (wanted, given)]
    return f"the body of a scan asks for operands of types {types[0]}, but they are {types[1]}"
