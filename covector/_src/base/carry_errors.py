"""The wording of errors about carries: what a loop hands from one step to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .tree_errors import child_keys, is_leaf_def, mismatches
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
        _places(name, path, *_parted(first, second))
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


def _parted(first: Any, second: Any) -> tuple[str, str, str]:
    """Two nodes that differ, and in what, in words."""
    kinds = [_kind(first), _kind(second)]
    if is_leaf_def(first) or is_leaf_def(second) or kinds[0] is not kinds[1]:
        return _shown(kinds[0]), _shown(kinds[1]), "their Python types differ"
    kind, counts = kinds[0], [len(treedef.children()) for treedef in (first, second)]
    if counts[0] != counts[1] and kind in (tuple, list):
        lengths = [f"{kind.__name__} of length {count}" for count in counts]
        return lengths[0], lengths[1], "the lengths do not match"
    if counts[0] != counts[1]:
        words = [f"{kind} with {n} {'child' if n == 1 else 'children'}" for n in counts]
        return words[0], words[1], f"the numbers of children do not match{_of_one(first, second)}"
    known = [_metadata(treedef) for treedef in (first, second)]
    words = [f"{kind} with pytree metadata {metadata!r}" for metadata in known]
    return words[0], words[1], "the metadata do not match"


def _kind(treedef: Any) -> Any:
    node = treedef.node_data()
    return None if node is None else node[0]


def _shown(kind: Any) -> str:
    return "leaf" if kind is None else str(kind)


def _metadata(treedef: Any) -> Any:
    kind, static = treedef.node_data()
    return tuple(static) if issubclass(kind, dict) and isinstance(static, list) else static


def _of_one(first: Any, second: Any) -> str:
    """The children that only one of two nodes has, by their names."""
    ours, theirs = ([keystr([key]) for key in child_keys(treedef)] for treedef in (first, second))
    parts = [
        f"only the {side} has {', '.join(only)}"
        for side, keys, others in (("input", ours, theirs), ("output", theirs, ours))
        if (only := [key for key in keys if key not in others])
    ]
    return f": {' and '.join(parts)}" if parts else ""


# ---------------------------------------------------------------- types


def carry_types(where: str, name: str | None, differing: Sequence[tuple[KeyPath, Any, Any]]) -> str:
    """What changes its type: for each leaf its path, its type in the carry given and returned."""
    found = [
        f"{component(name, path)} has type {given.str_short()} but the corresponding output "
        f"carry component has type {returned.str_short()}{_type_difference(given, returned)}"
        for path, given, returned in differing
    ]
    return (
        f"{where} function carry input and carry output must have equal types, but they differ:"
        f"\n\n{_listed(found)}\n\n{_advice(differing)}"
    )


def _type_difference(given: Any, returned: Any) -> str:
    parts = [
        f"the {what}s do not match"
        for what in ("dtype", "shape")
        if getattr(given, what, None) != getattr(returned, what, None)
    ]
    return f", so {', and '.join(parts)}" if parts else ""


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
    if len(found) == 1:
        return f"{found[0][:1].upper()}{found[0][1:]}."
    return ";\n".join([f"  * {text}" for text in found]) + "."
