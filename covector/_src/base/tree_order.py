"""Dicts as nodes: keys that Python cannot sort, and the order in which a caller wrote the keys.

A dict's children are always visited in the order of its sorted keys, so that dicts with the same
keys have the same structure.  jaxlib's C++ code does that for keys that Python can compare; for
the others the traversals are written out, that from the tree to its leaves in tree_by_hand.py.

What is built from a treedef has its dicts in sorted order.  The last two functions put the keys
back into the order of the tree that the treedef was taken from.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from .tree_keys import GetAttrKey, bare
from .tree_registry import assemble, is_open, one_level, root_alone


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
        subtrees = root_alone(treedef).flatten_up_to(tree)
    for child, subtree in zip(children, subtrees):
        _collect(child, subtree, found)


# ---------------------------- the caller's order of keys ----------------------------


class _Order(NamedTuple):
    """The order of the keys in a tree's dicts."""

    dicts: list[tuple[Callable[[Any], Any], list[Any]]]  # what finds a dict in the tree; its keys
    unflatten: Callable[[list[Any]], Any]


# For a structure, the order of keys that it had last.  A program meets few structures, and writes
# the keys of each mostly in one order.
_last_orders: dict[Any, _Order] = {}
_MOST_ORDERS = 512


def unflatten_like(tree: Any, treedef: Any, leaves: list[Any]) -> Any:
    """`treedef.unflatten(leaves)`, with the keys of dicts in the order they have in `tree`.

    The treedef is that of `tree`.  Dicts inside of nodes that only their registered functions can
    take apart keep the sorted order.
    """
    if not is_open[type(tree)]:
        return treedef.unflatten(leaves)
    try:
        order = _last_orders.get(treedef) or _remember(tree, treedef)
        for find, keys in order.dicts:
            if [*find(tree)] != keys:
                order = _remember(tree, treedef)
                break
    except Exception:  # static data whose == or hash fails
        return treedef.unflatten(leaves)
    return order.unflatten(leaves)


def _remember(tree: Any, treedef: Any) -> _Order:
    if len(_last_orders) >= _MOST_ORDERS:
        _last_orders.clear()
    order = _last_orders[treedef] = _order_of(tree, treedef)
    return order


def unflattener(tree: Any, treedef: Any) -> Callable[[list[Any]], Any]:
    """`treedef.unflatten` for the treedef of `tree`, with the key order that dicts have there.

    The leaves are given in the usual order.  Where all keys are sorted already, the result is the
    treedef's own method.

    >>> from covector import tree
    >>> from covector._src.base.tree_order import unflattener
    >>> written = {"y": 0, "x": (0, 0)}
    >>> unflattener(written, tree.structure(written))([1, 2, 3])
    {'y': 3, 'x': (1, 2)}
    """
    return _order_of(tree, treedef).unflatten


def _order_of(tree: Any, treedef: Any) -> _Order:
    dicts: list[tuple[Callable[[Any], Any], list[Any]]] = []
    in_order, places = _in_callers_order(tree, treedef, 0, (), dicts)
    if in_order is treedef:
        return _Order(dicts, treedef.unflatten)
    return _Order(dicts, lambda leaves: in_order.unflatten([leaves[place] for place in places]))


def _in_callers_order(
    tree: Any, treedef: Any, start: int, path: tuple[Any, ...], dicts: list
) -> tuple[Any, list[int]]:
    """The treedef with dict keys as in `tree`, and for each of its leaves the usual position.

    It is the given treedef itself where all keys are sorted.
    """
    node, kind = treedef.node_data(), type(tree)
    level = one_level(tree) if node is not None and is_open[kind] else None
    if level is None:
        return treedef, list(range(start, start + treedef.num_leaves))
    pairs, static = level
    children = treedef.children()
    parts = []
    for (key, subtree), child in zip(pairs, children):
        parts.append(_in_callers_order(subtree, child, start, (*path, key), dicts))
        start += child.num_leaves
    order: Sequence[int] = range(len(parts))
    if kind is dict or kind is defaultdict:
        position = {key.key: i for i, (key, _) in enumerate(pairs)}
        keys, order = list(tree), [position[key] for key in tree]
        dicts.append((_finder(path), keys))
        static = keys if kind is dict else (tree.default_factory, tuple(keys))
    places = [place for i in order for place in parts[i][1]]
    if all(parts[i][0] is children[i] and order[i] == i for i in range(len(parts))):
        return treedef, places
    return assemble((kind, static), [parts[i][0] for i in order]), places


def _finder(path: tuple[Any, ...]) -> Callable[[Any], Any]:
    """What takes a tree to its subtree at a key path."""
    if not path:
        return lambda tree: tree
    *outer, key = path
    getter = operator.attrgetter if type(key) is GetAttrKey else operator.itemgetter
    step = getter(bare(key))
    if not outer:
        return step
    find = _finder(tuple(outer))
    return lambda tree: step(find(tree))
