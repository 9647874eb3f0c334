"""The wording of what `checking_purity` finds in a traced function."""

from __future__ import annotations

from collections.abc import Sequence

WHAT_TO_DO = (
    "Python runs a function once when it is traced, and not when the traced program runs: what it "
    "writes elsewhere is written once and holds traced values, and what it reads stays as it was. "
    "Return values instead of storing them, take state as an argument and return the new one, "
    "draw numbers with `covector.random` from a key that is an argument, and use "
    "`covector.debug.callback` or `covector.experimental.io_callback` for effects that are meant "
    "to happen whenever the program runs."
)


def impure(fun: str, findings: Sequence[str]) -> str:
    count = "one finding" if len(findings) == 1 else f"{len(findings)} findings"
    listed = "\n".join(f"  - {finding}" for finding in findings)
    return f"[checking_purity] {fun} is not pure, {count}:\n{listed}\n  {WHAT_TO_DO}"


def finding(place: str, fact: str) -> str:
    return f"{place}: {fact}" if place else fact


def other_op(first: str, second: str) -> str:
    return f"the first run did `{first}` here, the second `{second}`"


def other_operand(primitive: str, first: str, second: str) -> str:
    return f"an operand of `{primitive}` was {first} in the first run, and {second} in the second"


def other_parameter(primitive: str, name: str, first: str, second: str) -> str:
    return (
        f"the parameter {name} of `{primitive}` was {first} in the first run, and {second} in the "
        "second"
    )


def other_result(first: str, second: str) -> str:
    return f"it returned {first} in the first run, and {second} in the second"


def more_ops(which: str, primitive: str) -> str:
    return f"only the {which} run did `{primitive}` here, after all ops of the other"


def second_run_failed(error: BaseException) -> str:
    return f"only the second run raised {type(error).__name__}: {error}"
