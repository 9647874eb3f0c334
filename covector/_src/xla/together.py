"""Arrays to which each of several processes gives a part of its own."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import numpy as np

from ..core.avals import ShapedArray
from ..sharding.mesh import Mesh
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec
from . import parts
from .array import ArrayImpl
from .devices import devices
from .placement import Placement, placement_by


@cache
def one_of_each() -> tuple[Any, ...]:
    """The first device of each process, in the order of the processes."""
    first: dict[int, Any] = {}
    for device in devices():
        first.setdefault(device.process_index, device)
    return tuple(first[index] for index in sorted(first))


@cache
def _placements() -> tuple[Placement, Placement]:
    """How arrays are placed on one device of each process: cut along rows, and whole."""
    mesh = Mesh(one_of_each(), "process")
    cut, whole = (NamedSharding(mesh, PartitionSpec(*spec)) for spec in (("process",), ()))
    return placement_by(cut), placement_by(whole)  # pyright: ignore[reportReturnType]


def stacked(mine: np.ndarray) -> tuple[ArrayImpl, Placement]:
    """The array whose rows are the processes' arrays, of one type, and where it would be whole."""
    cut, whole = _placements()
    aval = ShapedArray((len(one_of_each()), *mine.shape), mine.dtype)
    return ArrayImpl(parts.put_parts([mine[None]], aval, cut.sharding), aval, cut), whole


def digest_of(host: np.ndarray) -> np.ndarray:
    """Eight numbers that tell arrays apart, by their types and all of their bits."""
    digest = hashlib.sha256(f"{host.dtype}{host.shape}".encode())
    digest.update(np.ascontiguousarray(host).view(np.uint8).data if host.size else b"")
    return np.frombuffer(digest.digest(), np.uint32)
