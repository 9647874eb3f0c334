"""What errors about random keys that are used twice say."""

from __future__ import annotations

from typing import Any

from . import source

_ADVICE = (
    "The same key gives the same numbers: derive a key for each use with `random.split` or "
    "`random.fold_in`, or say with `random.clone` that the repetition is meant."
)


def used_twice(eqn: Any, position: int) -> str:
    return (
        f"In {eqn.primitive.name}, argument {position} is already consumed. This use of the key is "
        f"at {source.describe(eqn.source)}. {_ADVICE}"
    )


def spent_before(name: str, position: int) -> str:
    return f"Previously-consumed key passed to {name} at index {position}. {_ADVICE}"


def constant_in_loop(where: str, position: int) -> str:
    return (
        f"{where} function leads to key reuse when repeatedly executed: each step uses the key "
        f"that it closes over (number {position} of its constants). {_ADVICE}"
    )


def carry_in_loop(where: str, position: int) -> str:
    return (
        f"{where} function leads to key reuse when repeatedly executed: it uses the key that is "
        f"number {position} of the carry, but does not put a new one in its place. {_ADVICE}"
    )


def cond_and_body() -> str:
    return f"while_loop cond and body functions both use the same key. {_ADVICE}"
