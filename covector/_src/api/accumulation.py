"""What a pullback is to do with each cotangent: add it to a reference, return it, or drop it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import ref_errors
from ..control.refs import WHOLE, addupdate_p, apply
from ..core.refs import Ref
from ..core.zeros import Zero
from .values import instantiate


class _Mark:
    """A leaf in place of a cotangent."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class GradValue(_Mark):
    """Asks `with_refs` for the cotangent itself."""


class DontWant(_Mark):
    """Asks `with_refs` for no cotangent."""


class GradRef(_Mark):
    """Stands for a cotangent that was added to a reference."""


class DidntWant(_Mark):
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
