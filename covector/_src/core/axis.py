"""The axis that a `vmap` maps over, as the vmap rules of primitives see it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Axis(NamedTuple):
    """Size and name (or None) of a batch axis."""

    size: int
    name: Any = None
    spmd_name: Any = None
