"""What a pullback is to do with each cotangent: add it to a reference, return it, or drop it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import ref_errors
from ..base.tree_registry import register_static
from ..control.refs import WHOLE, addupdate_p, apply
from ..core.refs import Ref
from ..core.zeros import Zero
from .values import instantiate


class _Mark:
    """What stands in the place of a cotangent."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class GradValue(_Mark):
    """Asks `with_refs` for the cotangent itself."""


class DontWant(_Mark):
    """Asks `with_refs` for no cotangent."""


class _Answer(_Mark):
    """Stands where a cotangent would; a tree without leaves, so that functions may return it."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


@register_static
class GradRef(_Answer):
    """Stands for a cotangent that was added to a reference."""


@register_static
class DidntWant(_Answer):
    """Stands for a cotangent that was not asked for."""


def check_destinations(leaves: Sequence[Any]) -> None:
    """Raise unless each leaf says what is to be done with a cotangent."""
    for x in leaves:
        if not isinstance(x, (Ref, GradValue, DontWant)):
            raise TypeError(ref_errors.no_destination(x))


def delivered(destinations: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """Do with each cotangent what its destination says, and return what stands in its place."""
    return [_delivered(to, ct) for to, ct in zip(destinations, cotangents)]


def _delivered(destination: Any, ct: Any) -> Any:
    if isinstance(destination, DontWant):
        return DidntWant()
    if isinstance(destination, GradValue):
        return instantiate(ct)
    if type(ct) is not Zero:
        apply(addupdate_p, destination, ct, index=WHOLE)
    return GradRef()
