"""Dicts as nodes: keys that Python cannot sort, and the order in which a caller wrote the keys.

A dict's children are always visited in the order of its sorted keys, so that dicts with the same
keys have the same structure.  jaxlib's C++ code does that for keys that Python can compare.  For
the others the traversals are written out here; they make treedefs of the same kind, since a
treedef can be assembled from a node's data and its children.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .tree_keys import KeyPath
from .tree_registry import PyTreeDef, default_registry, one_level

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
            return PyTreeDef.from_node_data_and_children(registry, None, ())
        pairs, static = level
        children = [visit((*path, key), child) for key, child in pairs]
        return PyTreeDef.from_node_data_and_children(registry, (type(node), static), children)

    return found, visit((), tree)


def flatten_up_to(treedef: Any, tree: Any) -> list[Any]:
    """The subtrees of `tree` at the leaves of `treedef`.

    Raises:
      ValueError: the tree does not have the treedef's containers.
    """
    try:
        return treedef.flatten_up_to(tree)
    except ValueError:
        pass
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
            raise ValueError(f"expected a dict with the keys {static}, got {tree!r}")
        subtrees: Iterable[Any] = [tree[key] for key in static]
    else:
        subtrees = _one_node(treedef, len(children)).flatten_up_to(tree)
    for child, subtree in zip(children, subtrees):
        _collect(child, subtree, found)


def _one_node(treedef: Any, count: int) -> Any:
    """The treedef's root alone, with leaves for children."""
    leaf = PyTreeDef.from_node_data_and_children(default_registry, None, ())
    node = treedef.node_data()
    return PyTreeDef.from_node_data_and_children(default_registry, node, [leaf] * count)
