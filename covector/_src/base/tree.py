"""Trees: nested containers of leaves, taken apart, rebuilt, mapped over and compared.

The functions carry the names of the public namespace `covector.tree`; `map`, `all` and `reduce`
hide the builtins in this module only.  Each is as thin as it can be over jaxlib's C++ traversal.
"""

from __future__ import annotations

from builtins import all as _all
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..xla.native import pytree
from .tree_errors import is_leaf_def, map_error, mismatches, prefix_report, same_node
from .tree_order import flatten_by_hand
from .tree_order import flatten_up_to as flatten_up_to
from .tree_order import restore_key_order
from .tree_order import unflattener as unflattener
from .tree_partial import Partial as Partial
from .tree_registry import PyTreeDef as PyTreeDef
from .tree_registry import default_registry, none_leaf_registry
from .tree_registry import register_pytree_node as register_pytree_node

IsLeaf = Callable[[Any], bool] | None

_flatten = default_registry.flatten
_flatten_with_path = default_registry.flatten_with_path


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], Any]:
    """Take a tree apart into its leaves and its structure.

    Args:
      tree: nested tuples, lists, dicts, namedtuples, `None`, instances of registered classes;
        anything else is a leaf. `None` is a node without children. A dict's children come in the
        order of its sorted keys.
      is_leaf: called with each node from the root down; where it returns true, the whole subtree
        counts as one leaf.

    Returns:
      `(leaves, treedef)`: a list, and a `PyTreeDef`, which can be hashed and compared.

    >>> from covector import tree
    >>> leaves, treedef = tree.flatten({"b": (1.0, None), "a": [2.0]})
    >>> leaves
    [2.0, 1.0]
    >>> treedef
    PyTreeDef({'a': [*], 'b': (*, None)})
    """
    try:
        return _flatten(tree, is_leaf)
    except ValueError:
        pass  # some dict's keys have no order, or a container raises what it will raise again
    return _flatten_any_keys(default_registry, tree, is_leaf)


def _flatten_any_keys(registry: Any, tree: Any, is_leaf: IsLeaf) -> tuple[list[Any], Any]:
    predicate = None if is_leaf is None else lambda _, node: is_leaf(node)
    found, treedef = flatten_by_hand(registry, tree, predicate)
    return [leaf for _, leaf in found], treedef


def unflatten(treedef: Any, leaves: Iterable[Any]) -> Any:
    """Build the tree of a given structure from its leaves; the inverse of `flatten`.

    Args:
      treedef: a structure, from `flatten` or `structure`.
      leaves: as many objects as the structure has leaves.

    Raises:
      ValueError: the number of leaves is not that of the structure.

    >>> from covector import tree
    >>> tree.unflatten(tree.structure({"a": 0, "b": (0, 0)}), [1, 2, 3])
    {'a': 1, 'b': (2, 3)}
    """
    return treedef.unflatten(leaves)


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree, in the order of `flatten`.

    >>> from covector import tree
    >>> tree.leaves([1, (2, {"y": 4, "x": 3}), None])
    [1, 2, 3, 4]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> Any:
    """The structure of a tree: its containers without its leaves, as a `PyTreeDef`.

    >>> from covector import tree
    >>> tree.structure([1, (2, None)])
    PyTreeDef([*, (*, None)])
    """
    return flatten(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply a function to each leaf and put the results in the leaves' places.

    The leaves are visited in the order of `flatten`; dicts in the result have the key order that
    they have in `tree`.

    Args:
      f: called as `f(leaf)`, or `f(leaf, subtree_of_rest_0, ...)` with more trees.
      tree: its structure is the result's, and its leaves say how deep the mapping goes.
      rest: trees with the same containers down to the leaves of `tree`.
      is_leaf: as in `flatten`; asked about nodes of `tree` only.

    Raises:
      ValueError: one of `rest` lacks the structure of `tree`; the message names the place.

    >>> from covector import tree
    >>> tree.map(lambda x, step: x - step, {"w": [1.0, 2.0]}, {"w": [0.5, 0.5]})
    {'w': [0.5, 1.5]}
    """
    leaves, treedef = flatten(tree, is_leaf)
    if rest:
        columns = _columns("tree.map", treedef, rest)
        results = [f(*xs) for xs in zip(leaves, *columns)]
    else:
        results = [f(leaf) for leaf in leaves]
    return _rebuild(tree, treedef, results, leaves if is_leaf else ())


def _rebuild(tree: Any, treedef: Any, results: list[Any], maybe_nodes: Sequence[Any]) -> Any:
    """Unflatten, with the keys of dicts in the order in which they stand in `tree`."""
    out = treedef.unflatten(results)
    containers = treedef.num_nodes - len(results)
    if containers > 1:
        restore_key_order(tree, out, {id(leaf) for leaf in maybe_nodes})
    elif containers == 1 and type(tree) is dict and [*tree] != [*out]:
        return {key: out[key] for key in tree}
    return out


def _columns(where: str, treedef: Any, rest: Sequence[Any]) -> list[list[Any]]:
    """For each further tree, its subtrees at the leaves of the first."""
    columns = []
    for number, tree in enumerate(rest, start=2):
        try:
            columns.append(flatten_up_to(treedef, tree))
        except ValueError as fact:
            raise (map_error(where, number, treedef, structure(tree)) or fact) from None
    return columns


def broadcast_prefix(prefix: Any, full: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of `prefix`, each repeated for every leaf of `full` that it stands for."""
    entries, prefix_def = flatten(prefix, is_leaf)
    full_def = structure(full)
    repeats = _repeats(prefix_def, full_def)
    if repeats is None:
        raise ValueError(_prefix_text("tree.broadcast: prefix", prefix_def, full_def))
    return [entry for entry, count in zip(entries, repeats) for _ in range(count)]


def flatten_axes(name: str, treedef: Any, axis_tree: Any) -> list[Any]:
    """One entry of a specification such as `in_axes` for each leaf of the value it is for.

    Args:
      name: what the specification is called, for errors: `"vmap in_axes"`.
      treedef: the structure of the value.
      axis_tree: a tree prefix of the value, in which None is an entry like any other.

    Raises:
      ValueError: `axis_tree` is no tree prefix; the message names the place.
    """
    entries, axis_def = _flatten_axis_tree(axis_tree)
    if len(entries) == 1 and axis_def.num_nodes == 1:
        return entries * treedef.num_leaves
    repeats = _repeats(axis_def, treedef)
    if repeats is None:
        raise ValueError(_prefix_text(name, axis_def, treedef, none_leaf_registry))
    return [entry for entry, count in zip(entries, repeats) for _ in range(count)]


def _flatten_axis_tree(axis_tree: Any) -> tuple[list[Any], Any]:
    try:
        return none_leaf_registry.flatten(axis_tree)
    except ValueError:
        pass
    return _flatten_any_keys(none_leaf_registry, axis_tree, None)


def _repeats(prefix: Any, full: Any) -> list[int] | None:
    """How many leaves of `full` each leaf of `prefix` stands for; None if it is no prefix."""
    if prefix == full:
        return [1] * full.num_leaves
    counts: list[int] = []

    def visit(prefix: Any, full: Any) -> bool:
        if is_leaf_def(prefix):
            counts.append(full.num_leaves)
            return True
        if not same_node(prefix, full):
            return False
        return _all(visit(a, b) for a, b in zip(prefix.children(), full.children()))

    return counts if visit(prefix, full) else None


def _prefix_text(name: str, prefix: Any, full: Any, registry: Any = default_registry) -> str:
    reports = [prefix_report(name, found) for found in mismatches(prefix, full, prefix=True)]
    text = "\n".join(reports[:3])
    if len(reports) > 3:
        text += f"\n({len(reports) - 3} more places differ.)"
    singleton = pytree.treedef_tuple(registry, [prefix])
    if _repeats(singleton, full) is not None:
        text += f"\nA tuple of length 1 around it fits: {name} may lack the tuple of arguments."
    return text
