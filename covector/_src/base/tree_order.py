"""Dicts as nodes: keys that Python cannot sort, and the order in which a caller wrote the keys.

A dict's children are always visited in the order of its sorted keys, so that dicts with the same
keys have the same structure.  jaxlib's C++ code does that for keys that Python can compare.  For
the others the traversals are written out here; they make treedefs of the same kind, since a
treedef can be assembled from a node's data and its children.

What is built from a treedef has its dicts in sorted order.  The last two functions put the keys
back into the order of the tree that the treedef was taken from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Any

from .tree_keys import KeyPath
from .tree_registry import PyTreeDef, children_views, default_registry, one_level

PathPredicate = Callable[[KeyPath, Any], bool] | None


def flatten_by_hand(registry: Any, tree: Any, is_leaf: PathPredicate = None) -> tuple[list, Any]:
    """What `registry.flatten_with_path` does, for trees with dicts whose keys have no order."""
    found: list[tuple[KeyPath, Any]] = []

    def visit(path: KeyPath, node: Any) -> Any:
        level = None
        if is_leaf is None or not is_leaf(path, node):
            level = one_level(node, registry)
        if level is None:
            found.append((path, node))
            return _assemble(None, (), registry)
        pairs, static = level
        children = [visit((*path, key), child) for key, child in pairs]
        return _assemble((type(node), static), children, registry)

    return found, visit((), tree)


def _assemble(node: Any, children: Iterable[Any], registry: Any = default_registry) -> Any:
    return PyTreeDef.from_node_data_and_children(registry, node, children)


def flatten_up_to(treedef: Any, tree: Any) -> list[Any]:
    """The subtrees of `tree` at the leaves of `treedef`.

    Raises:
      ValueError: the tree does not have the treedef's containers.
    """
    try:
        return treedef.flatten_up_to(tree)
    except ValueError:
        pass  # some dict's keys have no order, or the trees differ, which is found again
    found: list[Any] = []
    _collect(treedef, tree, found)
    return found


def _collect(treedef: Any, tree: Any, found: list[Any]) -> None:
    node = treedef.node_data()
    if node is None:
        found.append(tree)
        return
    kind, static = node
    children = treedef.children()
    if kind is dict:
        if type(tree) is not dict or tree.keys() != set(static):
            raise ValueError(f"Expected a dict with the keys {static}, got {tree!r}.")
        subtrees: Iterable[Any] = [tree[key] for key in static]
    else:
        root_alone = _assemble(node, [_assemble(None, ())] * len(children))
        subtrees = root_alone.flatten_up_to(tree)
    for child, subtree in zip(children, subtrees):
        _collect(child, subtree, found)


def restore_key_order(like: Any, out: Any, leaf_ids: Collection[int] = ()) -> None:
    """Give the dicts of `out` the key order that they have in `like`, in place.

    Both have the same structure, and `out` was built for the caller just now.  Containers whose
    `id` is in `leaf_ids` are leaves.  Only classes whose children can be had without running code
    of their own are entered.
    """
    kind = type(like)
    if kind is dict or kind is defaultdict:
        if [*like] != [*out]:
            in_order = {key: out[key] for key in like}
            out.clear()
            out.update(in_order)
    view = children_views[kind]
    children = view(like)
    if not any(map(children_views.__getitem__, map(type, children))):
        return
    for child, built in zip(view(like), view(out)):
        if children_views[type(child)] is not None and id(child) not in leaf_ids:
            restore_key_order(child, built, leaf_ids)


def unflattener(tree: Any) -> Callable[[Iterable[Any]], Any]:
    """What unflattens leaves to the structure of `tree` with its dicts' keys in the same order.

    The leaves are given in the usual order.  Where all keys are sorted already, the result is the
    treedef's own method.

    >>> from covector._src.base.tree_order import unflattener
    >>> unflattener({"y": 0, "x": (0, 0)})([1, 2, 3])
    {'y': 3, 'x': (1, 2)}
    """
    [(_, treedef)] = [flatten_by_hand(default_registry, tree)]
    in_order, places = _in_callers_order(treedef, tree, 0)
    if places == list(range(treedef.num_leaves)):
        return in_order.unflatten

    def unflatten(leaves: Iterable[Any]) -> Any:
        leaves = list(leaves)
        return in_order.unflatten([leaves[place] for place in places])

    return unflatten


def _in_callers_order(treedef: Any, tree: Any, start: int) -> tuple[Any, list[int]]:
    """The treedef with dict keys as in `tree`, and for each of its leaves the usual position."""
    node = treedef.node_data()
    if node is None:
        return treedef, [start]
    kind, static = node
    level = one_level(tree)
    parts = []
    for (_, subtree), child in zip(level[0] if level else (), treedef.children()):
        parts.append(_in_callers_order(child, subtree, start))
        start += child.num_leaves
    if kind is dict:
        by_key = dict(zip(static, parts))
        static, parts = list(tree), [by_key[key] for key in tree]
    children = [child for child, _ in parts]
    return _assemble((kind, static), children), [place for _, places in parts for place in places]
