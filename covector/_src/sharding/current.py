"""Which mesh is in use, for each thread: what `set_mesh` and `with mesh:` have chosen."""

from __future__ import annotations

import threading
from typing import Any


class _InUse(threading.local):
    """The meshes in use.

    Attributes:
      mesh: the one that `set_mesh` chose.
      abstract_mesh: the same without devices, or the one that `use_abstract_mesh` chose.
      entered: those whose `with` statements are being executed, the innermost last.
    """

    def __init__(self) -> None:
        self.mesh: Any = None
        self.abstract_mesh: Any = None
        self.entered: list[Any] = []


in_use = _InUse()


def enter(mesh: Any) -> None:
    """Use a mesh until `leave`."""
    in_use.entered.append(mesh)


def leave() -> None:
    """No longer use the mesh that was entered last."""
    in_use.entered.pop()
