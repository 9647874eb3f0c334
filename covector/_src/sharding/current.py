"""Which mesh is in use, for each thread: what `set_mesh` and `with mesh:` have chosen.

What a function is traced to may depend on it, so it belongs to the trace key.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..base.flag_kinds import Anything
from ..base.flags import Flag


class InUse(NamedTuple):
    """The meshes in use.

    Attributes:
      mesh: the one that `set_mesh` chose.
      abstract_mesh: the same without devices, or the one that `use_abstract_mesh` chose.
      entered: those whose `with` statements are being executed, the innermost last.
    """

    mesh: Any = None
    abstract_mesh: Any = None
    entered: tuple[Any, ...] = ()


_flag = Flag(
    "mesh_in_use",
    InUse(),
    Anything(),
    "The mesh that a PartitionSpec refers to where none is given.",
    affects_tracing=True,
)


def in_use() -> InUse:
    """The meshes that this thread uses."""
    return _flag.value


def use(**changes: Any) -> InUse:
    """Let this thread use other meshes; returns those that it used before."""
    before = _flag.value
    _flag.cover(before._replace(**changes))
    return before


def use_again(before: InUse) -> None:
    """Let this thread use the meshes that it used before."""
    _flag.cover(before)


def enter(mesh: Any) -> None:
    """Use a mesh until `leave`."""
    use(entered=(*_flag.value.entered, mesh))


def leave() -> None:
    """No longer use the mesh that was entered last."""
    use(entered=_flag.value.entered[:-1])
