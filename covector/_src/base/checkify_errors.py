"""The wording of the errors of `checkify`."""

from __future__ import annotations

from typing import Any


def not_functionalized() -> str:
    return (
        "Cannot abstractly evaluate a check that is left in a program to be compiled: a compiled "
        "program cannot raise. Apply checkify.checkify to the function with the check before jit, "
        "scan and the like do, and look at the error that it returns; or use "
        "checkify.debug_check, which compiles to nothing."
    )


def predicate_not_scalar(where: str, pred: Any) -> str:
    return (
        f"{where} takes a scalar pred as argument, one bool that is true if all is well, but was "
        f"given {pred} of type {type(pred).__name__}. Combine an array of bools first, as "
        "jnp.all(pred) does."
    )


def value_not_an_array(where: str, value: Any) -> str:
    return (
        f"Formatting arguments of {where} must be trees of arrays, but one of them holds "
        f"{value!r} of type {type(value).__name__}. Write what is known already into the message "
        "itself, and numbers as jnp.asarray(x)."
    )


def not_an_error(value: Any) -> str:
    return (
        "check_error takes an Error, the first result of a function made by checkify, but was "
        f"given {value!r} of type {type(value).__name__}."
    )


def batched_loop() -> str:
    return (
        "checkify-of-vmap-of-while: checkify met a while_loop whose condition differs between the "
        "examples of a vmap, and cannot tell errors of examples that go on from those of examples "
        "that are done. Apply vmap last: vmap(checkify(f)) instead of checkify(vmap(f))."
    )


def place_of_check(place: str) -> str:
    return f"The check is at {place}."
