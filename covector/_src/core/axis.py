"""Named axes: the one that a `vmap` maps over, as the vmap rules of primitives see it, and those
that are in scope, which collectives may refer to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..base.axis_errors import unbound_axis
from .trace import context


class Axis(NamedTuple):
    """Size and name (or None) of a batch axis."""

    size: int
    name: Any = None
    spmd_name: Any = None


def size_of_axis(name: Any, where: str) -> int:
    """The size of a named axis in scope: that of the innermost of this name.

    Raises:
      NameError: there is none; `where` says who asks.
    """
    for known, size in reversed(context.axis_env):
        if known == name:
            return size
    raise NameError(unbound_axis(where, name, context.axis_env))


def check_axes_bound(names: Iterable[Any], where: str) -> None:
    """Raise NameError unless there are axes of all these names in scope."""
    for name in names:
        size_of_axis(name, where)
