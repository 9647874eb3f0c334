"""The wording of errors about the arguments of `scan`, and of what is built on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .difference_words import MOST_SHOWN, few
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
    types = [aval.str_short() for aval in avals]
    sizes = [aval.shape[0] for aval in avals]
    if len(avals) > MOST_SHOWN:  # each once
        types, sizes = list(dict.fromkeys(types)), list(dict.fromkeys(sizes))
    return (
        f"{where} got values with different leading axis sizes: {few(sizes)}. The leaves of xs, of "
        f"types {few(types)}, are sliced in step: give them first axes of one size."
    )


def length_disagrees(length: int, sizes: Sequence[int]) -> str:
    # Programs look for this text as it stands.
    return (
        f"scan got `length` argument of {length} which disagrees with leading axis sizes "
        f"{list(sizes)}."
    )


def no_length(where: str) -> str:
    text = f"{where} got no values to scan over"
    if where != "scan":
        return f"{text}: xs holds no array. Give one or more arrays."
    return (
        f"{text} and `length` not provided. Give the number of steps, as `length=10`, or arrays to "
        "scan over."
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


# ---------------------------------------------------------------- map and associative_scan


def batch_size_not_an_integer(batch_size: Any) -> str:
    return f"[map] `batch_size` must be an integer, or None, but it is {batch_size!r}."


def batch_size_not_known() -> str:
    return "The `batch_size` of `map` decides the shapes in the program."


def batch_size_negative(batch_size: int) -> str:
    return (
        "[map] `batch_size` is the number of examples in a batch, or 0 for all, but it is "
        f"{batch_size}."
    )


def no_elements() -> str:
    return "[associative_scan] `elems` holds no array. Give one or more arrays to combine."


def element_axis(axis: int, aval: Any) -> str:
    other = f", or an axis from {-aval.ndim} to {aval.ndim - 1}" if aval.ndim else ""
    return (
        f"[associative_scan] there is no axis {axis} in an array of type {aval.str_short()}. Give "
        f"arrays with this axis{other}."
    )


def element_counts(axis: int, avals: Sequence[Any]) -> str:
    types = ", ".join(aval.str_short() for aval in avals)
    return (
        f"[associative_scan] the arrays in `elems` must have the same size along axis {axis}, but "
        f"they are of types {types}. Each index along it is one element."
    )


def combined_structure(given: Any, returned: Any) -> str:
    return (
        f"[associative_scan] fn combines two trees of structure {given}, but returned one of "
        f"structure {returned}. Return a tree like each of its arguments."
    )


def combined_types(given: Sequence[Any], returned: Sequence[Any]) -> str:
    types = [", ".join(aval.str_short() for aval in avals) for avals in (given, returned)]
    return (
        f"[associative_scan] fn combined arrays of types {types[0]} to arrays of types {types[1]}. "
        "It is called with many elements at a time, and must return arrays of the shapes and "
        "dtypes of each of its arguments."
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
