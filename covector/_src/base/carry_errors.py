"""The wording of errors about carries: what a loop hands from one step to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .difference_words import capitalized, listed, parted, type_difference
from .tree_errors import mismatches
from .tree_keys import KeyPath, keystr

# ---------------------------------------------------------------- structure


def carry_structure(where: str, name: str | None, given: Any, returned: Any) -> str | None:
    """How the trees of two carries differ; None if they do not.

    Args:
      where: the loop's function, `"scan body"`.
      name: how that function calls its carry, if known.
      given, returned: the treedefs of the carry that it takes and of the one that it returns.
    """
    found = [
        _places(name, path, *parted(first, second, ("input", "output")))
        for path, first, second in mismatches(given, returned, prefix=False)
    ]
    if not found:
        return None
    return (
        f"{where} function carry input and carry output must have the same pytree structure, "
        f"but they differ:\n\n{_listed(found)}\n\n"
        "Return a carry with the containers of the one that the function is called with."
    )


def _places(name: str | None, path: KeyPath, first: str, second: str, reason: str) -> str:
    return (
        f"{component(name, path)} is a {first} but the corresponding component of the carry "
        f"output is a {second}, so {reason}"
    )


# ---------------------------------------------------------------- types


def carry_types(where: str, name: str | None, differing: Sequence[tuple[KeyPath, Any, Any]]) -> str:
    """What changes its type: for each leaf its path, its type in the carry given and returned."""
    found = [
        f"{component(name, path)} has type {given.str_short()} but the corresponding output "
        f"carry component has type {returned.str_short()}{type_difference(given, returned)}"
        for path, given, returned in differing
    ]
    return (
        f"{where} function carry input and carry output must have equal types, but they differ:"
        f"\n\n{_listed(found)}\n\n{_advice(differing)}"
    )


def _advice(differing: Sequence[tuple[KeyPath, Any, Any]]) -> str:
    if all(getattr(a, "shape", None) == getattr(b, "shape", None) for _, a, b in differing):
        return (
            "Begin with a carry of the dtype that the function returns, or convert what it returns "
            "with `.astype`."
        )
    return (
        "Every step is the same program, so a carry keeps its shape and dtype. Begin with one of "
        "the type that the function returns, or let it return one of the type that it is given."
    )


# ---------------------------------------------------------------- what both share


def component(name: str | None, path: KeyPath) -> str:
    """A part of the carry as the user's function would write it."""
    if name is None:
        return f"the input carry at path {keystr(path)}" if path else "the input carry"
    return f"the input carry {'component ' if path else ''}{name}{keystr(path)}"


def _listed(found: Sequence[str]) -> str:
    """One difference as a sentence, several as a list."""
    return listed([capitalized(found[0])] if len(found) == 1 else found)
