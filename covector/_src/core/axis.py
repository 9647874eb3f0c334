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


class ManualAxis(NamedTuple):
    """An axis of a mesh in scope, within `shard_map`; of other axes there are name and size alone.

    Attributes:
      name, size: of the axis.
      checked: whether types tell along which such axes values vary.
      mesh: the mesh.
    """

    name: Any
    size: int
    checked: bool
    mesh: Any


def manual_axes() -> list[ManualAxis]:
    """The axes of meshes in scope."""
    return [axis for axis in context.axis_env if type(axis) is ManualAxis]


def checked_axes(names: Iterable[Any]) -> tuple[Any, ...]:
    """Those of the names that are axes of meshes of whose values the types tell how they vary."""
    bound: dict[Any, Any] = {axis[0]: axis for axis in context.axis_env}
    return tuple([n for n in names if type(bound.get(n)) is ManualAxis and bound[n].checked])


def in_order(vma: Iterable[Any]) -> tuple[Any, ...]:
    """Names of axes in scope in the order of their mesh."""
    wanted = {*vma}
    return tuple(dict.fromkeys([axis[0] for axis in context.axis_env if axis[0] in wanted]))


def size_of_axis(name: Any, where: str) -> int:
    """The size of a named axis in scope: that of the innermost of this name.

    Raises:
      NameError: there is none; `where` says who asks.
    """
    for axis in reversed(context.axis_env):
        if axis[0] == name:
            return axis[1]
    raise NameError(unbound_axis(where, name, context.axis_env))


def check_axes_bound(names: Iterable[Any], where: str) -> None:
    """Raise NameError unless there are axes of all these names in scope."""
    for name in names:
        size_of_axis(name, where)
