"""Trees, in full: the functions of `covector.tree` under longer names, and what extends them.

A class of one's own becomes a node of trees most simply by a decorator:

>>> from covector import tree, tree_util
>>> @tree_util.dataclass
... class Layer:
...     weight: float
...     name: str = tree_util.field(static=True, default="dense")
>>> tree.map(lambda w: w + 1, Layer(0.5))
Layer(weight=1.5, name='dense')
"""

from ._src.base.tree import all as tree_all
from ._src.base.tree import all_leaves, treedef_children, treedef_is_leaf, treedef_tuple
from ._src.base.tree import broadcast as tree_broadcast
from ._src.base.tree import flatten as tree_flatten
from ._src.base.tree import flatten_with_path as tree_flatten_with_path
from ._src.base.tree import leaves as tree_leaves
from ._src.base.tree import leaves_with_path as tree_leaves_with_path
from ._src.base.tree import map as tree_map
from ._src.base.tree import map_with_path as tree_map_with_path
from ._src.base.tree import reduce as tree_reduce
from ._src.base.tree import reduce_associative as tree_reduce_associative
from ._src.base.tree import structure as tree_structure
from ._src.base.tree import transpose as tree_transpose
from ._src.base.tree import unflatten as tree_unflatten
from ._src.base.tree_dataclass import dataclass, field, register_dataclass
from ._src.base.tree_keys import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    SequenceKey,
    keystr,
)
from ._src.base.tree_partial import Partial
from ._src.base.tree_registry import (
    PyTreeDef,
    default_registry,
    flatten_one_level,
    flatten_one_level_with_keys,
    is_tree_node,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "dataclass",
    "default_registry",
    "field",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]
