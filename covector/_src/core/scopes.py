"""The names of scopes: in which parts of a program, and under which transformations, an op is."""

from __future__ import annotations

from collections.abc import Sequence


class TransformScope(str):
    """A transformation among the names of scopes: it wraps the scope within, as in `jvp(loss)`."""

    __slots__ = ()


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
        if not isinstance(name, TransformScope):
            parts.append(name)
        elif parts:
            parts[-1] = f"{name}({parts[-1]})"
        else:
            parts.append(f"{name}()")
    return "/".join(reversed(parts))
