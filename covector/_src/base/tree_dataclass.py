"""Dataclasses as nodes of trees: `register_dataclass`, and a decorator that does all at once.

A field holds a subtree, or it is static: then its value is part of the structure, and must have
`==` and `hash`.  `field(static=True)` and `static()` mark a static field, for both decorators.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, dataclass_transform, overload

from .tree_keys import GetAttrKey
from .tree_registry import claim, is_open, register_pytree_node, registries

Cls = TypeVar("Cls", bound=Any)


def field(*, static: bool = False, **options: Any) -> Any:
    """A field of a dataclass, as `dataclasses.field`, that may be static.

    Args:
      static: the value is part of the tree's structure, not a subtree.
      options: those of `dataclasses.field`: `default`, `default_factory`, `kw_only` ...

    >>> from covector import tree, tree_util
    >>> @tree_util.dataclass
    ... class Layer:
    ...     weight: float
    ...     activation: str = tree_util.field(static=True, default="relu")
    >>> tree.structure(Layer(0.5))
    PyTreeDef(CustomNode(Layer[('relu',)], [*]))
    """
    metadata = options.pop("metadata", None) or {}
    if static:
        metadata = {"static": True, **metadata}
    return dataclasses.field(metadata=metadata, **options)


def static(**options: Any) -> Any:
    """A static field of a dataclass: `field(static=True, **options)`.

    >>> import dataclasses
    >>> from covector import tree, tree_util
    >>> @tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Scaled:
    ...     value: float
    ...     unit: str = tree.static(default="m")
    >>> tree.leaves(Scaled(2.0))
    [2.0]
    """
    return field(static=True, **options)


def register_dataclass(
    nodetype: Cls,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Cls:
    """Make a dataclass a node of trees; also as a class decorator.

    Instances are rebuilt by calling the class with the fields as keywords, so `__init__` and
    `__post_init__` run on whatever a transformation puts in the leaves' places.
    `tree_util.dataclass` makes classes for which they do not.

    Args:
      nodetype: a dataclass, or any class that takes its attributes as keywords.
      data_fields: names of the fields that hold subtrees. By default the fields of `__init__`
        that are not marked as static.
      meta_fields: names of the static fields. By default those marked by `tree.static()`, or by
        the metadata `{"static": True}`. Give both or neither.
      drop_fields: names of fields that the tree ignores; they need a default.

    Returns:
      `nodetype`.

    Raises:
      TypeError: only one of `data_fields` and `meta_fields` is given; or neither, and `nodetype`
        is no dataclass.
      ValueError: the names are not those of the fields; or the type is registered already.

    >>> import dataclasses
    >>> from covector import tree, tree_util
    >>> @tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Point:
    ...     x: float
    ...     y: float
    >>> tree.map(lambda v: 10 * v, Point(1.0, 2.0))
    Point(x=10.0, y=20.0)
    """
    if data_fields is None and meta_fields is None:
        data_fields, meta_fields = _inferred_fields(nodetype, drop_fields)
    elif data_fields is None or meta_fields is None:
        raise TypeError(
            f"register_dataclass({nodetype.__name__}): got data_fields={data_fields} and "
            f"meta_fields={meta_fields}. Give both of them, or neither to take them from the class."
        )
    _check_fields(nodetype, data_fields, meta_fields, drop_fields)
    claim(nodetype)
    for registry in registries:
        registry.register_dataclass_node(nodetype, list(data_fields), list(meta_fields))
    is_open[nodetype] = True
    return nodetype


def _inferred_fields(nodetype: Any, drop: Sequence[str]) -> tuple[list[str], list[str]]:
    if not dataclasses.is_dataclass(nodetype):
        raise TypeError(
            "register_dataclass: data_fields and meta_fields are required when nodetype is not a "
            f"dataclass. Got nodetype={nodetype}. Pass them, or put @dataclass below."
        )
    fields = [f for f in dataclasses.fields(nodetype) if f.init and f.name not in drop]
    return _split(fields)


def _split(fields: Sequence[dataclasses.Field]) -> tuple[list[str], list[str]]:
    """The names of the fields that hold subtrees, and of the static ones."""
    data = [f.name for f in fields if not f.metadata.get("static", False)]
    return data, [f.name for f in fields if f.metadata.get("static", False)]


def _set(names: Sequence[str]) -> str:
    return "{" + ", ".join(map(repr, names)) + "}"


def _check_fields(
    nodetype: Any, data: Sequence[str], meta: Sequence[str], drop: Sequence[str]
) -> None:
    where = f"register_dataclass({nodetype.__name__})"
    if both := [name for name in data if name in meta]:
        raise ValueError(
            f"{where}: data_fields and meta_fields must not overlap, so that each field is in one "
            f"of them. Overlapping fields: {_set(both)}"
        )
    if not dataclasses.is_dataclass(nodetype):
        return
    wanted = {f.name for f in dataclasses.fields(nodetype) if f.init} - set(drop)
    given = {*data, *meta}
    if missing := sorted(wanted - given):
        raise ValueError(
            f"{where}: data_fields and meta_fields must include all dataclass fields that "
            f"__init__ takes, but for drop_fields. Missing fields: {_set(missing)}"
        )
    if unknown := sorted(given - wanted):
        raise ValueError(
            f"{where}: data_fields and meta_fields must include all dataclass fields that "
            f"__init__ takes, but for drop_fields: {_set(sorted(wanted))}, and no others. "
            f"Unexpected fields: {_set(unknown)}"
        )


# ---------------------------- the decorator ----------------------------


@overload
def dataclass(cls: type[Any], /) -> Any: ...
@overload
def dataclass(cls: None = None, /, **options: Any) -> Callable[[type[Any]], Any]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field, static, dataclasses.field))
def dataclass(cls: type[Any] | None = None, /, **options: Any) -> Any:
    """Class decorator: a frozen dataclass that is a node of trees.

    Each field holds a subtree and is named `.field` in key paths, or is static (`field(static=
    True)`), and then must be hashable and no array. Trees are rebuilt without calling `__init__`
    or `__post_init__`, which therefore may check and convert their arguments. The class gets a
    method `replace(**changes)`, which makes a changed copy. A subclass is decorated again; it
    inherits the fields.

    Args:
      cls: the class.
      options: those of `dataclasses.dataclass`, such as `kw_only=True`; `frozen` is always true.

    Raises:
      TypeError: (when an instance is made) a static field holds an array, or has no hash.

    >>> from covector import tree, tree_util
    >>> @tree_util.dataclass
    ... class Layer:
    ...     weight: list
    ...     name: str = tree_util.field(static=True, default="dense")
    >>> layer = Layer([1.0, 2.0])
    >>> tree.map(lambda w: -w, layer).replace(name="minus")
    Layer(weight=[-1.0, -2.0], name='minus')
    """
    if cls is None:
        return functools.partial(_make, options=options)
    return _make(cls, options)


def _make(cls: type[Any], options: dict[str, Any]) -> Any:
    if options.get("frozen") is False:
        raise TypeError(
            f"tree_util.dataclass({cls.__name__}): frozen=False is not possible, since a node "
            "of a tree must not change. Use .replace(...) to make changed copies."
        )
    made = dataclasses.dataclass(**{**options, "frozen": True})(cls)
    data, meta = _split(dataclasses.fields(made))
    if meta:
        made.__init__ = _checked(made.__init__, meta)
    if not hasattr(made, "replace"):
        made.replace = _replace
    _register_without_init(made, data, meta)
    return made


def _replace(self: Any, /, **changes: Any) -> Any:
    """A copy with some fields changed; `__init__` runs as for a new instance."""
    return dataclasses.replace(self, **changes)


_replace.__name__ = _replace.__qualname__ = "replace"


def _register_without_init(cls: Any, data: list[str], meta: list[str]) -> None:
    keys, names = [GetAttrKey(name) for name in data], [*data, *meta]
    assign = object.__setattr__  # the class is frozen
    get_data, get_meta = _getter(data), _getter(meta)

    def flatten(node: Any) -> tuple[tuple, tuple]:
        return get_data(node), get_meta(node)

    def flatten_with_keys(node: Any) -> tuple[list[tuple[Any, Any]], tuple]:
        return list(zip(keys, get_data(node))), get_meta(node)

    def unflatten(static: tuple, children: Any) -> Any:
        node = object.__new__(cls)
        for name, value in zip(names, (*children, *static)):
            assign(node, name, value)
        return node

    register_pytree_node(cls, flatten, unflatten, flatten_with_keys)
    is_open[cls] = True


def _getter(names: list[str]) -> Callable[[Any], tuple]:
    """What gives the tuple of an object's attributes with these names."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda node: tuple([getattr(node, name) for name in names])


def _checked(init: Callable[..., None], meta: list[str]) -> Callable[..., None]:
    """`__init__`, followed by a check of the static fields."""

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        for name in meta:
            # A subclass with an `__init__` of its own may give the value later.
            if hasattr(self, name):
                _check_static(f"{type(self).__name__}.{name}", getattr(self, name))

    return __init__


def _check_static(place: str, value: Any) -> None:
    kind = type(value)
    if hasattr(value, "__array__") and hasattr(value, "shape"):
        # NumPy's scalars look like arrays, but are plain values.
        if kind.__module__ == "numpy" and kind.__hash__ is not None:
            return
        raise TypeError(
            f"{place} is a static field, but holds an array of type {kind.__name__} with shape "
            f"{value.shape} and dtype {value.dtype}. Static fields are compared and hashed as part "
            "of the tree's structure. Make it an ordinary field, or pass a tuple of numbers."
        )
    try:
        hash(value)
    except TypeError as fact:
        raise TypeError(
            f"{place} is a static field, but its value has no hash ({fact}): {value!r}. Static "
            "fields are compared and hashed as part of the tree's structure. Use a hashable value, "
            "such as a tuple for a list, or make it an ordinary field."
        ) from None
