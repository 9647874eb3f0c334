"""The wording of errors about tracing, about traced values that escape, and about jaxprs."""

from __future__ import annotations

from collections.abc import Sequence

# ---------------------------------------------------------------- tracing


def result_not_an_array(traced: str, result: object) -> str:
    return (
        f"[{traced}] the function returned a value of type {type(result)}, which is not a valid "
        f"array type: {result!r}. Return arrays and Python numbers, in tuples, lists and dicts."
    )


def scope_not_a_string(name: object) -> str:
    return f"[named_scope] the name of a scope must be a string, but it is {name!r}."


def leaked_tracers(transform: str, leaks: Sequence[tuple[object, str, str]]) -> str:
    """`leaks` holds for each traced value its type, its origin, and who holds it."""
    lines = []
    for aval, origin, holder in leaks:
        made = f" made {origin}," if origin else ""
        lines.append(f"  - a value of type {aval},{made} held by {holder or 'an unknown object'}")
    listed = "\n".join(lines)
    return (
        f"[checking_leaks] Leaked tracers: {len(leaks)} traced value(s) outlived "
        f"{transform}, which made them:\n{listed}\n"
        "  A traced value stands for an array only while its function is being transformed. "
        "Return it from the function instead of storing it."
    )
