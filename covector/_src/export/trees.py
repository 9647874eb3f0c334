"""The structures of arguments and results, written down.

A structure becomes lists and strings that JSON can hold. Of a type that users registered, the name
and the bytes of its static data are kept; what the bytes mean only the type's own functions know,
and those are looked up by the name, among what was registered in the process that reads.
"""

from __future__ import annotations

import base64
import collections
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from ..base import export_errors as errors
from ..base import tree
from ..base.tree_registry import assemble, is_namedtuple, is_tree_node

T = TypeVar("T", bound=type)


class Registration(NamedTuple):
    """How the nodes of a type are written and read."""

    kind: type
    name: str
    serialize: Callable[[Any], bytes]
    deserialize: Callable[[bytes], Any]
    from_children: Callable[[Any, Sequence[Any]], Any] | None


_by_type: dict[type, Registration] = {}
_by_name: dict[str, Registration] = {}


def register_pytree_node_serialization(
    nodetype: T,
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Sequence[Any]], Any] | None = None,
) -> T:
    """Let exported programs with arguments or results of a type be serialized.

    Args:
      nodetype: a type that `tree_util.register_pytree_node` made a node of trees.
      serialized_name: the name that stands for it in files.
      serialize_auxdata: takes the static data of a node, as the type's own function for flattening
        gives it, and returns bytes.
      deserialize_auxdata: takes the bytes, and returns the static data.
      from_children: takes the static data and the children, and returns an instance, from which
        nothing but the structure is taken; for types that are nodes without being registered.

    Returns:
      The type, so that this may be part of a class decorator.

    Raises:
      ValueError: the type, or the name, is registered already; or the type is no node of trees.
    """
    if nodetype in _by_type:
        raise ValueError(errors.type_registered_twice(nodetype, _by_type[nodetype].name))
    if serialized_name in _by_name:
        raise ValueError(
            errors.name_registered_twice(serialized_name, _by_name[serialized_name][0])
        )
    if from_children is None and (is_namedtuple(nodetype) or not is_tree_node(nodetype)):
        raise ValueError(errors.not_a_node(nodetype))
    entry = Registration(
        nodetype, serialized_name, serialize_auxdata, deserialize_auxdata, from_children
    )
    _by_type[nodetype] = _by_name[serialized_name] = entry
    return nodetype


def register_namedtuple_serialization(nodetype: T, *, serialized_name: str) -> T:
    """Let exported programs with arguments or results of a namedtuple type be serialized.

    Args:
      nodetype: the type. Where the program is read, it must have the same fields.
      serialized_name: the name that stands for it in files.

    Returns:
      The type, so that this may be part of a class decorator.

    Raises:
      ValueError: the type, or the name, is registered already; or it is no namedtuple.

    >>> import collections
    >>> from covector import export
    >>> Point = collections.namedtuple("Point", "x y")
    >>> export.register_namedtuple_serialization(Point, serialized_name="example.Point").__name__
    'Point'
    """
    if not (isinstance(nodetype, type) and is_namedtuple(nodetype)):
        raise ValueError(errors.not_a_namedtuple(nodetype))

    def build(fields: Sequence[str], children: Sequence[Any]) -> Any:
        if set(fields) != set(nodetype._fields):
            raise ValueError(errors.fields_differ(nodetype, fields))
        return nodetype(**dict(zip(fields, children)))

    return register_pytree_node_serialization(
        nodetype,
        serialized_name=serialized_name,
        serialize_auxdata=lambda _: json.dumps(nodetype._fields).encode(),
        deserialize_auxdata=json.loads,
        from_children=build,
    )


def _keys_as_bytes(keys: Sequence[Any]) -> bytes:
    if not all(isinstance(key, str) for key in keys):
        raise TypeError(errors.dict_keys_not_strings(keys))
    return json.dumps(list(keys)).encode()


register_pytree_node_serialization(
    collections.OrderedDict,
    serialized_name="collections.OrderedDict",
    serialize_auxdata=_keys_as_bytes,
    deserialize_auxdata=lambda data: tuple(json.loads(data)),
)


# ---------------------------------------------------------------- writing and reading


def encoded_tree(treedef: Any) -> Any:
    """A structure as what JSON can hold.

    Raises:
      TypeError: the keys of a dict are no strings.
      ValueError: a type is not registered for serialization.
    """
    node = treedef.node_data()
    if node is None:
        return "*"
    kind, static = node
    if kind is type(None):
        return None
    children = [encoded_tree(child) for child in treedef.children()]
    if kind in (tuple, list):
        return [kind.__name__, *children]
    if kind is dict:
        _keys_as_bytes(static)
        return ["dict", list(static), *children]
    if kind not in _by_type:
        raise ValueError(errors.type_not_registered(kind))
    entry = _by_type[kind]
    data = entry.serialize(static)
    if not isinstance(data, (bytes, bytearray)):
        raise ValueError(errors.auxiliary_not_bytes(kind, data))
    return ["node", entry.name, base64.b64encode(data).decode("ascii"), *children]


def decoded_tree(code: Any, avals: Sequence[Any]) -> Any:
    """The structure that was written; `avals` are the types of its leaves.

    Raises:
      ValueError: a type is not registered here.
    """
    return _decoded(code, iter(avals))


def _decoded(code: Any, avals: Iterator[Any]) -> Any:
    if code == "*":
        next(avals)
        return tree.structure(0)
    if code is None:
        return tree.structure(None)
    kind, *rest = code
    if kind in ("tuple", "list"):
        return assemble((tuple if kind == "tuple" else list, None), _all(rest, avals))
    if kind == "dict":
        return assemble((dict, rest[0]), _all(rest[1:], avals))
    name, data, *codes = rest
    if name not in _by_name:
        raise ValueError(errors.name_not_registered(name))
    return _node(_by_name[name], base64.b64decode(data), codes, avals)


def _all(codes: Sequence[Any], avals: Iterator[Any]) -> list[Any]:
    return [_decoded(code, avals) for code in codes]


def _node(entry: Registration, data: bytes, codes: Sequence[Any], avals: Iterator[Any]) -> Any:
    """The structure of a node of a registered type."""
    static = entry.deserialize(data)
    if entry.from_children is None:
        return assemble((entry.kind, static), _all(codes, avals))
    children = []
    for code in codes:
        seen: list[Any] = []
        child = _decoded(code, _noting(avals, seen))
        children.append(tree.unflatten(child, seen))
    return tree.structure(entry.from_children(static, children))


def _noting(values: Iterator[Any], seen: list[Any]) -> Iterator[Any]:
    """The same values, each of which is added to a list when it is taken."""
    for value in values:
        seen.append(value)
        yield value
