"""Which types are nodes of a tree: Covector's own registries, and what extends them.

The traversals themselves are jaxlib's C++ code.  The registries are ours alone: what is registered
here is unknown to any other library in the process, and the other way round.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from ..xla.native import pytree
from .tree_keys import DictKey, GetAttrKey, sorted_keys

PyTreeDef = pytree.PyTreeDef
Cls = TypeVar("Cls", bound=Any)

default_registry = pytree.PyTreeRegistry()
# The same nodes, except that None is a leaf: for specifications such as `in_axes=(0, None)`.
none_leaf_registry = pytree.PyTreeRegistry(enable_none=False)
registries = (default_registry, none_leaf_registry)

# A registry is pickled (inside of each treedef) as a reference to a global of its module.
for _name in ("default_registry", "none_leaf_registry"):
    globals()[_name].__module__, globals()[_name].__name__ = __name__, _name

# The types registered from Python.
_registered: set[type] = set()


class _OpenTypes(dict):
    """For each type met: whether its instances' children can be had without running its code."""

    def __missing__(self, kind: type) -> bool:
        self[kind] = is_namedtuple(kind)
        return self[kind]


is_open = _OpenTypes({dict: True, tuple: True, list: True})


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Iterable[Any]], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """Make every instance of a type a node of trees, with children of its own.

    Args:
      nodetype: the type. Subclasses are not included.
      flatten_func: takes an instance, returns `(children, static)`: the subtrees inside it, and
        the rest of it, which becomes part of the treedef and so must have `==` and `hash`.
      unflatten_func: takes `static` and the children, returns an instance. The children may be
        any objects, for instance placeholders, so it should not look at them.
      flatten_with_keys_func: as `flatten_func`, but each child is given as a pair `(key, child)`.
        Without it the children are named by their index.

    Raises:
      ValueError: the type is registered already.

    >>> from covector import tree, tree_util
    >>> class Interval:
    ...     def __init__(self, low, high, unit):
    ...         self.low, self.high, self.unit = low, high, unit
    >>> tree_util.register_pytree_node(
    ...     Interval,
    ...     lambda i: ((i.low, i.high), i.unit),
    ...     lambda unit, ends: Interval(*ends, unit))
    >>> doubled = tree.map(lambda x: 2 * x, Interval(1.0, 4.0, "m"))
    >>> doubled.low, doubled.high, doubled.unit
    (2.0, 8.0, 'm')
    """
    claim(nodetype)
    for registry in registries:
        registry.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


def claim(nodetype: type) -> None:
    """Note that a type is being registered; a type is registered once and for all."""
    if nodetype in _registered or (is_tree_node(nodetype) and not is_namedtuple(nodetype)):
        raise ValueError(
            f"{nodetype.__module__}.{nodetype.__qualname__} is already a node of trees, and a type "
            "can be registered only once. Remove the second registration (a cell that runs twice "
            "registers the new class it defines, which is fine), or register a subclass."
        )
    _registered.add(nodetype)
    is_open[nodetype] = False


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Iterable[Any]], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """Make a type a node of trees whose children have names in key paths.

    Args:
      nodetype: the type. Subclasses are not included.
      flatten_with_keys: takes an instance, returns `(pairs, static)`, each pair being
        `(key, child)` with a key such as `GetAttrKey("weight")`.
      unflatten_func: takes `static` and the children, returns an instance.
      flatten_func: the same as `flatten_with_keys` without the keys, where a faster way exists.

    Raises:
      ValueError: the type is registered already.

    >>> from covector import tree, tree_util
    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> name = tree_util.GetAttrKey
    >>> tree_util.register_pytree_with_keys(
    ...     Interval,
    ...     lambda i: ([(name("low"), i.low), (name("high"), i.high)], None),
    ...     lambda _, ends: Interval(*ends))
    >>> [tree_util.keystr(path) for path, _ in tree.leaves_with_path([Interval(1, 4)])]
    ['[0].low', '[0].high']
    """

    def without_keys(node: Any) -> tuple[list[Any], Hashable]:
        pairs, static = flatten_with_keys(node)
        return [child for _, child in pairs], static

    register_pytree_node(nodetype, flatten_func or without_keys, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls: Cls) -> Cls:
    """Class decorator: a node of trees that says itself how it is taken apart and rebuilt.

    The class has a method `tree_flatten(self) -> (children, static)` and a class method
    `tree_unflatten(cls, static, children)`.

    >>> from covector import tree, tree_util
    >>> @tree_util.register_pytree_node_class
    ... class Pair:
    ...     def __init__(self, a, b): self.a, self.b = a, b
    ...     def tree_flatten(self): return (self.a, self.b), None
    ...     @classmethod
    ...     def tree_unflatten(cls, _, children): return cls(*children)
    >>> tree.leaves(Pair(1, Pair(2, 3)))
    [1, 2, 3]
    """
    register_pytree_node(cls, operator.methodcaller("tree_flatten"), cls.tree_unflatten)
    return cls


def register_pytree_with_keys_class(cls: Cls) -> Cls:
    """Class decorator: as `register_pytree_node_class`, with names for the children.

    The class has a method `tree_flatten_with_keys(self)`, which returns pairs `(key, child)` and
    the static rest, and a class method `tree_unflatten(cls, static, children)`; a `tree_flatten`
    without keys is used where it exists.

    >>> from covector import tree, tree_util
    >>> @tree_util.register_pytree_with_keys_class
    ... class Pair:
    ...     def __init__(self, a, b): self.a, self.b = a, b
    ...     def tree_flatten_with_keys(self):
    ...         return [(tree_util.GetAttrKey(n), getattr(self, n)) for n in "ab"], None
    ...     @classmethod
    ...     def tree_unflatten(cls, _, children): return cls(*children)
    >>> [tree_util.keystr(path) for path, _ in tree.leaves_with_path(Pair(1, Pair(2, 3)))]
    ['.a', '.b.a', '.b.b']
    """
    with_keys = operator.methodcaller("tree_flatten_with_keys")
    plain = operator.methodcaller("tree_flatten") if hasattr(cls, "tree_flatten") else None
    register_pytree_with_keys(cls, with_keys, cls.tree_unflatten, plain)
    return cls


def register_static(cls: Cls) -> Cls:
    """Class decorator: instances are part of a tree's structure and hold no leaves.

    So an instance may be an argument of a compiled function, which is compiled anew for each
    value that differs by `==`. The class must be hashable.

    >>> from covector import tree, tree_util
    >>> @tree_util.register_static
    ... class Mode(str): pass
    >>> tree.leaves((Mode("train"), 1.0))
    [1.0]
    >>> tree.structure(Mode("train")) == tree.structure(Mode("test"))
    False
    """
    register_pytree_node(cls, lambda node: ((), node), lambda node, _: node)
    return cls


def is_tree_node(typ: type) -> bool:
    """Whether instances of a type are nodes of trees: built-in, registered, or a namedtuple.

    >>> from covector import tree_util
    >>> tree_util.is_tree_node(dict), tree_util.is_tree_node(float)
    (True, False)
    """
    return default_registry.is_node(typ)


def one_level(tree: Any, registry: Any = default_registry) -> tuple[list[Any], Any] | None:
    """The node's `(key, child)` pairs and its static data; None for a leaf.

    The static data are in the form in which `PyTreeDef.node_data` gives them.
    """
    kind = type(tree)
    if kind is dict:
        keys = sorted_keys(tree)
        return [(DictKey(key), tree[key]) for key in keys], keys
    if is_namedtuple(kind):
        # jaxlib's own one-level function repeats the first field's name for all of them.
        return [(GetAttrKey(name), child) for name, child in zip(kind._fields, tree)], None
    level = registry.flatten_one_level_with_keys(tree)
    return None if level is None else (list(level[0]), level[1])


def assemble(node: Any, children: Iterable[Any], registry: Any = default_registry) -> Any:
    """The treedef of a node from its `node_data` and its children's treedefs; None for a leaf."""
    return PyTreeDef.from_node_data_and_children(registry, node, children)


def root_alone(treedef: Any) -> Any:
    """The treedef's root, with leaves for children."""
    return assemble(treedef.node_data(), [assemble(None, ())] * len(treedef.children()))


def is_namedtuple(kind: type) -> bool:
    """Whether a type is a node for being a namedtuple, not for being registered."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields") and kind not in _registered


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Hashable]:
    """A node's children, not taken apart further, and its static data.

    Raises:
      ValueError: the tree is a leaf.

    >>> from covector import tree_util
    >>> children, static = tree_util.flatten_one_level({"b": {"c": 3}, "a": [1, 2]})
    >>> list(children), static
    ([[1, 2], {'c': 3}], ('a', 'b'))
    """
    pairs, static = flatten_one_level_with_keys(tree)
    return [child for _, child in pairs], static


def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[Any, Any]], Hashable]:
    """As `flatten_one_level`, each child in a pair with its key-path entry.

    Raises:
      ValueError: the tree is a leaf.

    >>> from covector import tree_util
    >>> pairs, _ = tree_util.flatten_one_level_with_keys([10, (20, 30)])
    >>> list(pairs)
    [(SequenceKey(idx=0), 10), (SequenceKey(idx=1), (20, 30))]
    """
    level = one_level(tree)
    kind = type(tree)
    if level is None:
        raise ValueError(
            f"flatten_one_level: can't tree-flatten type {kind.__qualname__}, whose instances "
            "are leaves without children. Ask tree_util.is_tree_node(type(x)) first, or "
            "register the type as a node."
        )
    pairs, static = level
    if kind is dict:
        return pairs, tuple(static)
    return pairs, kind if is_namedtuple(kind) else static


def _flatten_defaultdict(node: collections.defaultdict) -> tuple[list[tuple[Any, Any]], Any]:
    keys = sorted_keys(node)
    return [(DictKey(key), node[key]) for key in keys], (node.default_factory, tuple(keys))


register_pytree_with_keys(
    collections.OrderedDict,
    lambda node: ([(DictKey(key), child) for key, child in node.items()], tuple(node)),
    lambda keys, children: collections.OrderedDict(zip(keys, children)),
    lambda node: (node.values(), tuple(node)),
)
register_pytree_with_keys(
    collections.defaultdict,
    _flatten_defaultdict,
    lambda static, children: collections.defaultdict(static[0], zip(static[1], children)),
)
is_open[collections.OrderedDict] = is_open[collections.defaultdict] = True
