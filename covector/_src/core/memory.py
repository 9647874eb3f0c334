"""The memories that an array may lie in."""

from __future__ import annotations

import enum


class MemorySpace(enum.Enum):
    """A kind of memory: that of the device which computes, or that of its host."""

    Device = enum.auto()
    Host = enum.auto()
    Any = enum.auto()

    def __repr__(self) -> str:
        return f"MemorySpace.{self.name}"
