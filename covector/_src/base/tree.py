"""Trees: nested containers of leaves, taken apart, rebuilt, mapped over and compared.

The functions carry the names of the public namespace `covector.tree`; `map`, `all` and `reduce`
hide the builtins in this module only.  Each is as thin as it can be over jaxlib's C++ traversal.
"""

from __future__ import annotations

import functools
from builtins import all as _all
from builtins import map as _map
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..xla.native import pytree
from .tree_by_hand import flatten_by_hand
from .tree_errors import agree, is_leaf_def, map_error, mismatches, prefix_report, same_node
from .tree_keys import KeyPath, keystr
from .tree_order import flatten_up_to as flatten_up_to
from .tree_order import unflatten_like
from .tree_order import unflattener as unflattener
from .tree_partial import Partial as Partial
from .tree_registry import PyTreeDef as PyTreeDef
from .tree_registry import default_registry, none_leaf_registry
from .tree_registry import register_pytree_node as register_pytree_node

IsLeaf = Callable[[Any], bool] | None

_flatten = default_registry.flatten
_MISSING: Any = object()


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
    except Exception:
        pass  # some dict's keys have no order, or a container raises what it will raise again
    return flatten_again(default_registry, tree, is_leaf)


def flatten_again(registry: Any, tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], Any]:
    """`registry.flatten(tree, is_leaf)` by hand, after that has raised."""
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
    columns = _columns("tree.map", treedef, rest) if rest else ()
    results = [*_map(f, leaves, *columns)]
    if len(results) < len(leaves):
        raise _stopped("tree.map", len(results))
    return unflatten_like(tree, treedef, results)


def _columns(where: str, treedef: Any, rest: Sequence[Any]) -> list[list[Any]]:
    """For each further tree, its subtrees at the leaves of the first."""
    try:
        return [treedef.flatten_up_to(other) for other in rest]
    except ValueError:
        pass  # some dict's keys have no order, or a tree differs, which is found again
    columns = []
    for number, other in enumerate(rest, start=2):
        try:
            columns.append(flatten_up_to(treedef, other))
        except ValueError as fact:
            raise (map_error(where, number, treedef, structure(other)) or fact) from None
    return columns


def _stopped(where: str, count: int) -> RuntimeError:
    # The builtin `map` takes StopIteration, from whatever it calls, for its own end.
    return RuntimeError(
        f"{where}: the function raised StopIteration at leaf {count}. If it takes values from an "
        "iterator, give the iterator as many values as the tree has leaves."
    )


def all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Whether every leaf is true; `True` for a tree without leaves.

    >>> from covector import tree
    >>> tree.all({"a": True, "b": [1, None]}), tree.all((True, 0))
    (True, False)
    """
    return _all(leaves(tree, is_leaf))


def reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _MISSING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combine the leaves from the first to the last: `f(f(f(initializer, x0), x1), x2)`.

    Without `initializer` the first leaf takes its place.

    Raises:
      TypeError: the tree has no leaves and there is no `initializer`.

    >>> from covector import tree
    >>> tree.reduce(lambda total, x: total + x, {"a": 1, "b": (2, 3)}, 10)
    16
    """
    items = leaves(tree, is_leaf)
    if initializer is not _MISSING:
        return functools.reduce(function, items, initializer)
    if not items:
        raise _no_leaves("reduce", "initializer")
    return functools.reduce(function, items)


def reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _MISSING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combine the leaves pairwise, in a balanced way: `f(f(x0, x1), f(x2, x3))`.

    For an associative operation this is `reduce`, with less rounding error in long sums and
    fewer operations that wait for one another.

    Args:
      operation: the associative function of two arguments.
      tree: the tree whose leaves are combined.
      identity: the result for a tree without leaves.
      is_leaf: as in `flatten`.

    Raises:
      TypeError: the tree has no leaves and there is no `identity`.

    >>> from covector import tree
    >>> tree.reduce_associative(lambda x, y: f"({x}{y})", list("abcde"))
    '((ab)(c(de)))'
    """
    items = leaves(tree, is_leaf)
    if not items and identity is _MISSING:
        raise _no_leaves("reduce_associative", "identity")

    def combine(start: int, stop: int) -> Any:
        if stop - start == 1:
            return items[start]
        middle = (start + stop) // 2
        return operation(combine(start, middle), combine(middle, stop))

    return combine(0, len(items)) if items else identity


def _no_leaves(name: str, argument: str) -> TypeError:
    return TypeError(
        f"tree.{name}: the tree has no leaves, so there is nothing to combine. "
        f"Pass {argument}=... for the result in that case."
    )


def transpose(outer_treedef: Any, inner_treedef: Any | None, pytree_to_transpose: Any) -> Any:
    """Turn a tree of trees inside out.

    Args:
      outer_treedef: the structure of the outer tree.
      inner_treedef: the structure that every subtree has; None takes it from the first one.
      pytree_to_transpose: a tree of structure `outer_treedef` of trees `inner_treedef`.

    Returns:
      A tree of structure `inner_treedef` of trees `outer_treedef`.

    Raises:
      TypeError: the tree has not the number of leaves that the two structures give.

    >>> from covector import tree
    >>> tree.transpose(tree.structure([0, 0]), None, [{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    {'x': [1, 3], 'y': [2, 4]}
    """
    items, treedef = flatten(pytree_to_transpose)
    inner = inner_treedef
    if inner is None:
        inner = structure(flatten_up_to(outer_treedef, pytree_to_transpose)[0])
    step = inner.num_leaves
    if len(items) != outer_treedef.num_leaves * step:
        raise TypeError(
            f"tree.transpose: Mismatch, the tree has {len(items)} leaves, but outer_treedef has "
            f"{outer_treedef.num_leaves} and inner_treedef {step}, together "
            f"{outer_treedef.num_leaves * step}.\n"
            f"  tree: {treedef}\n"
            f"  expected: {outer_treedef.compose(inner)}\n"
            "Pass tree.structure of the outer tree with a leaf in the place of each inner one."
        )
    columns = [outer_treedef.unflatten(items[place::step]) for place in range(step)]
    return inner.unflatten(columns)


# ---------------------------- with key paths ----------------------------


def flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], Any]:
    """As `flatten`, each leaf in a pair with its key path, a tuple of key entries.

    Args:
      tree: the tree.
      is_leaf: as in `flatten`.
      is_leaf_takes_path: call `is_leaf(path, node)` instead of `is_leaf(node)`.

    >>> from covector import tree
    >>> pairs, _ = tree.flatten_with_path({"x": [5.0, 6.0]})
    >>> pairs[1]
    ((DictKey(key='x'), SequenceKey(idx=1)), 6.0)
    """
    predicate = is_leaf
    if is_leaf is not None and not is_leaf_takes_path:
        predicate = lambda _, node: is_leaf(node)  # noqa: E731
    try:
        return default_registry.flatten_with_path(tree, predicate)
    except Exception:
        pass
    return flatten_by_hand(default_registry, tree, predicate)


def leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """The pairs of `flatten_with_path`, without the structure.

    >>> from covector import tree, tree_util
    >>> [(tree_util.keystr(path), x) for path, x in tree.leaves_with_path({"b": 2, "a": (0, 1)})]
    [("['a'][0]", 0), ("['a'][1]", 1), ("['b']", 2)]
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """As `map`, with the key path as the function's first argument: `f(path, leaf, ...)`.

    >>> from covector import tree, tree_util
    >>> tree.map_with_path(lambda path, x: f"{tree_util.keystr(path)} = {x}", {"x": [5, 6]})
    {'x': ["['x'][0] = 5", "['x'][1] = 6"]}
    """
    pairs, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = _columns("tree.map_with_path", treedef, rest) if rest else ()
    results = [f(*pair, *others) for pair, *others in zip(pairs, *columns)]
    return unflatten_like(tree, treedef, results)


def key_path_of_leaves(tree: Any) -> list[str]:
    """The key path of each leaf as text, in the order of `flatten`."""
    return [keystr(path) for path, _ in leaves_with_path(tree)]


# ---------------------------- treedefs ----------------------------


def treedef_tuple(treedefs: Iterable[Any]) -> Any:
    """The structure of a tuple whose members have the given structures.

    >>> from covector import tree, tree_util
    >>> tree_util.treedef_tuple([tree.structure([1, 2]), tree.structure({"a": 3})])
    PyTreeDef(([*, *], {'a': *}))
    """
    return pytree.treedef_tuple(default_registry, list(treedefs))


def treedef_children(treedef: Any) -> list[Any]:
    """The structures of the root's children.

    >>> from covector import tree, tree_util
    >>> tree_util.treedef_children(tree.structure(([1, 2], {"a": 3})))
    [PyTreeDef([*, *]), PyTreeDef({'a': *})]
    """
    return treedef.children()


def treedef_is_leaf(treedef: Any) -> bool:
    """Whether a structure is a single leaf, or a node without children such as `None`.

    >>> from covector import tree, tree_util
    >>> tree_util.treedef_is_leaf(tree.structure(1)), tree_util.treedef_is_leaf(tree.structure([1]))
    (True, False)
    """
    return treedef.num_nodes == 1


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Whether every member of an iterable is a leaf.

    >>> from covector import tree_util
    >>> tree_util.all_leaves([1.0, "text"]), tree_util.all_leaves([1.0, (2.0,)])
    (True, False)
    """
    items = list(iterable)
    found = leaves(items, is_leaf)
    return len(found) == len(items) and _all(x is y for x, y in zip(found, items))


# ---------------------------- prefixes ----------------------------


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Repeat the leaves of a tree prefix until it has the structure of the full tree.

    Args:
      prefix_tree: has the containers of `full_tree` from the root down, and may have a leaf where
        `full_tree` has a subtree.
      full_tree: the tree whose structure the result has.
      is_leaf: as in `flatten`; asked about nodes of `prefix_tree`.

    Raises:
      ValueError: `prefix_tree` is no prefix of `full_tree`; the message names the place.

    >>> from covector import tree
    >>> tree.broadcast({"w": 0.1, "b": 0.0}, {"w": [1, 2], "b": 3})
    {'w': [0.1, 0.1], 'b': 0.0}
    """
    entries = broadcast_prefix(prefix_tree, full_tree, is_leaf)
    return unflatten_like(full_tree, structure(full_tree), entries)


def broadcast_prefix(prefix: Any, full: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of `prefix`, each repeated for every leaf of `full` that it stands for."""
    entries, prefix_def = flatten(prefix, is_leaf)
    full_def = structure(full)
    spread = _spread(entries, prefix_def, full_def)
    if spread is None:
        raise ValueError(_prefix_text("tree.broadcast: prefix", prefix_def, full_def))
    return spread


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
    spread = _spread(entries, axis_def, treedef)
    if spread is None:
        raise ValueError(_prefix_text(name, axis_def, treedef, none_leaf_registry))
    return spread


def _flatten_axis_tree(axis_tree: Any) -> tuple[list[Any], Any]:
    try:
        return none_leaf_registry.flatten(axis_tree)
    except Exception:
        pass
    return flatten_again(none_leaf_registry, axis_tree)


def _spread(entries: list[Any], prefix: Any, full: Any) -> list[Any] | None:
    """The entries, each once for every leaf of `full` that it stands for; None if no prefix."""
    if prefix.num_leaves == full.num_leaves and agree(prefix, full):
        return entries
    spread: list[Any] = []
    rest = iter(entries)

    def visit(prefix: Any, full: Any) -> bool:
        if is_leaf_def(prefix):
            spread.extend([next(rest)] * full.num_leaves)
            return True
        if not same_node(prefix, full):
            return False
        return _all(visit(a, b) for a, b in zip(prefix.children(), full.children()))

    return spread if visit(prefix, full) else None


def _prefix_text(name: str, prefix: Any, full: Any, registry: Any = default_registry) -> str:
    reports = [prefix_report(name, found) for found in mismatches(prefix, full, prefix=True)]
    text = (
        f"{name} specification must be a tree prefix of the corresponding value; it is none. "
        f"Mismatch details ({len(reports)} found):\n" + "\n".join(reports[:3])
    )
    if len(reports) > 3:
        text += f"\n({len(reports) - 3} more places differ.)"
    singleton = pytree.treedef_tuple(registry, [prefix])
    if _spread([None] * prefix.num_leaves, singleton, full) is not None:
        text += f"\nA tuple of length 1 around it fits: {name} may lack the tuple of arguments."
    return text
