"""The wording of errors of `example_libraries`."""

from __future__ import annotations

from typing import Any


def gradient_tree(expected: Any, got: Any) -> str:
    return (
        "[optimizer] The gradients must be a tree like the parameters that the optimizer was "
        f"initialized with: those are {expected}, and the gradients {got}."
    )


def state_tree(before: Any, after: Any) -> str:
    return (
        "[optimizer] An update must return a state of the same structure as it was given: "
        f"{before}; it returned {after}."
    )


def schedule(value: object) -> str:
    return f"[make_schedule] A step size is a number or a function of the step, got {value!r}."


def boundaries() -> str:
    return "[piecewise_constant] boundaries and values must be sequences of numbers."


def boundary_count(boundaries: int, values: int) -> str:
    return (
        f"[piecewise_constant] {boundaries} boundaries separate {boundaries + 1} values, but there "
        f"are {values}."
    )


def no_key() -> str:
    return (
        "[Dropout] The layer needs a random key; call `apply_fun(params, inputs, rng=key)` with a "
        "`key` of `covector.random.key`."
    )


def not_joined() -> str:
    return "[pack_optimizer_state] The leaves of the tree must be JoinPoints."
