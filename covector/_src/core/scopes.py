"""The names of scopes: in which parts of a program, and under which transformations, an op is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class TransformScope(str):
    """A transformation among the names of scopes: it wraps the scope within, as in `jvp(loss)`."""

    __slots__ = ()


class AttributeScope(str):
    """Attributes for the compiler among the names of scopes: what is traced in it carries them.

    It has no name of its own, so it is no part of the path of a scope.

    Args:
      attributes: texts by name; None takes that of a scope around it away.
    """

    __slots__ = ("attributes",)
    attributes: dict[str, str | None]

    def __new__(cls, attributes: Mapping[str, str | None]):
        items = sorted(attributes.items())
        self = super().__new__(cls, repr(items))
        self.attributes = dict(items)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return AttributeScope, (self.attributes,)


def attribute_scopes(stack: Sequence[str]) -> tuple[str, ...]:
    """Those among the names of scopes that are attributes."""
    return tuple([name for name in stack if type(name) is AttributeScope])


def attributes_within(stack: Sequence[str]) -> dict[str, str]:
    """The attributes that hold within scopes, of which the inner ones have the last word."""
    merged: dict[str, str | None] = {}
    for name in stack:
        if type(name) is AttributeScope:
            merged.update(name.attributes)
    return {name: text for name, text in merged.items() if text is not None}


class NameStack(tuple[str, ...]):
    """The names of scopes, outermost first; its text is `scope_path`."""

    __slots__ = ()

    @property
    def stack(self) -> tuple[str, ...]:
        return tuple(self)

    def extend(self, name: str) -> NameStack:
        """The names with that of a scope within."""
        return NameStack((*self, name))

    def transform(self, transform_name: str) -> NameStack:
        """The names with a transformation, which wraps the scopes within."""
        return NameStack((*self, TransformScope(transform_name)))

    def __str__(self) -> str:
        return scope_path(self)


JVP = TransformScope("jvp")
TRANSPOSE = TransformScope("transpose")
VMAP = TransformScope("vmap")


def scope_path(stack: Sequence[str]) -> str:
    """Names of scopes, outermost first, as one text: `model/vmap(jvp(loss))`."""
    parts: list[str] = []  # innermost first
    for name in reversed(stack):
        if type(name) is AttributeScope:
            continue
        if not isinstance(name, TransformScope):
            parts.append(name)
        elif parts:
            parts[-1] = f"{name}({parts[-1]})"
        else:
            parts.append(f"{name}()")
    return "/".join(reversed(parts))
