"""Where two trees differ, said so that the place and the repair are plain.

All comparisons are made on treedefs, so that no code of a user's container runs on placeholders
unless the names of its children are wanted for a message.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .tree_keys import DictKey, FlattenedIndexKey, GetAttrKey, KeyPath, SequenceKey, keystr
from .tree_registry import is_namedtuple, one_level, root_alone


def too_deep() -> RecursionError:
    return RecursionError(
        "A tree is nested deeper than Python's recursion limit allows "
        f"({sys.getrecursionlimit()}). Is a container perhaps, by mistake, inside of itself, or a "
        "linked list meant to be a list? Otherwise raise the limit with sys.setrecursionlimit."
    )


class Mismatch(NamedTuple):
    """A place where two trees differ, and the two subtrees there."""

    path: KeyPath
    first: Any
    second: Any


def is_leaf_def(treedef: Any) -> bool:
    return treedef.num_nodes == 1 and treedef.num_leaves == 1


def mismatches(first: Any, second: Any, *, prefix: bool) -> Iterator[Mismatch]:
    """The outermost places where two treedefs differ.

    With `prefix`, a leaf of the first treedef agrees with any subtree of the second.
    """
    return _mismatches((), first, second, prefix)


def _mismatches(path: KeyPath, first: Any, second: Any, prefix: bool) -> Iterator[Mismatch]:
    if is_leaf_def(first) and (prefix or is_leaf_def(second)):
        return
    if not same_node(first, second):
        yield Mismatch(path, first, second)
        return
    for key, child, other in zip(child_keys(first), first.children(), second.children()):
        yield from _mismatches((*path, key), child, other, prefix)


def same_node(first: Any, second: Any) -> bool:
    """Whether the roots of two treedefs agree: same type, static data and number of children."""
    ours, theirs = first.node_data(), second.node_data()
    if ours is None or theirs is None:
        return ours is theirs
    if ours[0] is not theirs[0] or not agree(ours[1], theirs[1]):
        return False
    return len(first.children()) == len(second.children())


def agree(first: Any, second: Any) -> bool:
    """`first == second`; data that cannot be compared, such as arrays, do not agree."""
    try:
        return first is second or bool(first == second)
    except Exception:
        return False


def child_keys(treedef: Any) -> list[Any]:
    """The key-path entries of a node's children, as far as the treedef knows them."""
    kind, static = treedef.node_data()
    count = len(treedef.children())
    if kind is dict or kind is OrderedDict:
        return [DictKey(key) for key in static]
    if kind is defaultdict:
        return [DictKey(key) for key in static[1]]
    if kind is list or kind is tuple:
        return [SequenceKey(i) for i in range(count)]
    if is_namedtuple(kind):
        return [GetAttrKey(name) for name in kind._fields]
    try:
        # Only an instance knows the names that its type gave to the children.
        level = one_level(root_alone(treedef).unflatten([object()] * count))
    except Exception:
        level = None
    if level is None or len(level[0]) != count:
        return [FlattenedIndexKey(i) for i in range(count)]
    return [key for key, _ in level[0]]


def describe(treedef: Any) -> str:
    """A node in words: its type, and what else decides whether two nodes agree."""
    node = treedef.node_data()
    if node is None:
        return "a leaf"
    kind, static = node
    if kind is type(None):
        return "None"
    count = len(treedef.children())
    if kind is list or kind is tuple:
        return f"a {kind.__name__} of length {count}"
    if kind is dict or kind is OrderedDict:
        return f"{_article(kind)} with {_keys(static)}"
    if kind is defaultdict:
        return f"a defaultdict({static[0]!r}) with {_keys(static[1])}"
    children = f"{count} {'child' if count == 1 else 'children'}"
    metadata = "" if static is None or static == () else f" and static data {_short(repr(static))}"
    return f"{_article(kind)} with {children}{metadata}"


def _article(kind: type) -> str:
    return f"{'an' if kind.__name__[:1] in 'AEIOUaeiou' else 'a'} {kind.__name__}"


def _keys(keys: Any) -> str:
    listed = ", ".join(repr(key) for key in keys)
    return f"the keys {_short(listed)}" if keys else "no keys"


def _short(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


def _report(headline: str, labels: tuple[str, str], mismatch: Mismatch, advice: str) -> str:
    """The text of one mismatch: the place, both structures there, what to do."""
    lines = [headline]
    for label, treedef in zip(labels, mismatch[1:]):
        lines.append(f"  {label}: {describe(treedef)}, {_short(str(treedef))}")
    ours, theirs = _dict_keys(mismatch.first), _dict_keys(mismatch.second)
    if ours is not None and theirs is not None:
        for label, keys, others in zip(labels, (ours, theirs), (set(theirs), set(ours))):
            if only := [repr(key) for key in keys if key not in others]:
                lines.append(f"  only in {label}: {_short(', '.join(only))}")
    return "\n".join([*lines, advice])


def _dict_keys(treedef: Any) -> list[Any] | None:
    node = treedef.node_data()
    if node is None or node[0] not in (dict, OrderedDict, defaultdict):
        return None
    return list(node[1][1] if node[0] is defaultdict else node[1])


def prefix_report(name: str, mismatch: Mismatch) -> str:
    """Why a specification called `name` is no tree prefix of its value."""
    place = f"{name}{keystr(mismatch.path)}"
    return _report(
        f"{place}: pytree structure error, different types or sizes of containers.",
        (place, "the value there"),
        mismatch,
        "Use the same containers in both, down to where one entry stands for a whole subtree of "
        "the value.",
    )


def map_error(where: str, number: int, first: Any, other: Any) -> ValueError | None:
    """Why the tree with this number cannot be mapped over beside the first tree."""
    mismatch = next(mismatches(first, other, prefix=True), None)
    if mismatch is None:
        return None
    return ValueError(
        _report(
            f"{where}: pytree structure error, tree {number} does not have the structure of tree 1 "
            f"at {keystr(mismatch.path) or 'its root'}.",
            ("tree 1", f"tree {number}"),
            mismatch,
            "Give every tree the same containers, with the same keys and lengths, down to the "
            "leaves of tree 1.",
        )
    )


def prefix_errors(prefix: Any, full: Any) -> list[Callable[[str], ValueError]]:
    """For each place where a treedef is no prefix of another: takes a name, makes the error."""

    def error(mismatch: Mismatch) -> Callable[[str], ValueError]:
        return lambda name: ValueError(prefix_report(name, mismatch))

    return [error(mismatch) for mismatch in mismatches(prefix, full, prefix=True)]
