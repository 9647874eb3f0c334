"""How two trees, or two types, differ, in words: for errors of functions that must agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .tree_errors import child_keys, is_leaf_def
from .tree_keys import keystr

# Of a long list of differences, which trees of many leaves have, so many are shown.
MOST_SHOWN = 20


def parted(
    first: Any, second: Any, sides: Sequence[str], leaf: str = "leaf"
) -> tuple[str, str, str]:
    """Two nodes that differ, and in what, in words.

    Args:
      first, second: the treedefs of the nodes.
      sides: what the two trees are called.
      leaf: what a leaf is called.
    """
    kinds = [_kind(first), _kind(second)]
    if is_leaf_def(first) or is_leaf_def(second) or kinds[0] is not kinds[1]:
        words = [leaf if kind is None else str(kind) for kind in kinds]
        return words[0], words[1], "their Python types differ"
    kind, counts = kinds[0], [len(treedef.children()) for treedef in (first, second)]
    if counts[0] != counts[1] and kind in (tuple, list):
        lengths = [f"{kind.__name__} of length {count}" for count in counts]
        return lengths[0], lengths[1], "the lengths do not match"
    if counts[0] != counts[1]:
        words = [f"{kind} with {n} {'child' if n == 1 else 'children'}" for n in counts]
        only = _of_one(first, second, sides)
        return words[0], words[1], f"the numbers of children do not match{only}"
    known = [_metadata(treedef) for treedef in (first, second)]
    words = [f"{kind} with pytree metadata {metadata!r}" for metadata in known]
    return words[0], words[1], "the metadata do not match"


def _kind(treedef: Any) -> Any:
    node = treedef.node_data()
    return None if node is None else node[0]


def _metadata(treedef: Any) -> Any:
    kind, static = treedef.node_data()
    return tuple(static) if issubclass(kind, dict) and isinstance(static, list) else static


def _of_one(first: Any, second: Any, sides: Sequence[str]) -> str:
    """The children that only one of two nodes has, by their names."""
    ours, theirs = ([keystr([key]) for key in child_keys(treedef)] for treedef in (first, second))
    parts = [
        f"only the {side} has {few(only)}"
        for side, keys, others in zip(sides, (ours, theirs), (set(theirs), set(ours)))
        if (only := [key for key in keys if key not in others])
    ]
    return f": {' and '.join(parts)}" if parts else ""


def type_difference(first: Any, second: Any) -> str:
    """In what two types differ: `, so the dtypes do not match`."""
    parts = [
        f"the {what}s do not match"
        for what in ("dtype", "shape")
        if getattr(first, what, None) != getattr(second, what, None)
    ]
    return f", so {', and '.join(parts)}" if parts else ""


def listed(found: Sequence[str]) -> str:
    """One difference as a sentence, several as a list, of which the first ones are shown."""
    if len(found) == 1:
        return f"{found[0]}."
    shown = [f"  * {text}" for text in found[:MOST_SHOWN]]
    if len(found) > MOST_SHOWN:
        shown.append(f"  * and {len(found) - MOST_SHOWN} more like these")
    return ";\n".join(shown) + "."


def few(items: Sequence[Any]) -> str:
    """A text of some items: of all, or of the first ones of many."""
    shown = ", ".join(map(str, items[:MOST_SHOWN]))
    more = len(items) - MOST_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def capitalized(text: str) -> str:
    """A text as the beginning of a sentence."""
    return f"{text[:1].upper()}{text[1:]}"
