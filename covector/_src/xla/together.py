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
from .placement import placement_by


@cache
def one_of_each() -> tuple[Any, ...]:
    """The first device of each process, in the order of the processes."""
    first: dict[int, Any] = {}
    for device in devices():
        first.setdefault(device.process_index, device)
    return tuple(first[index] for index in sorted(first))


@cache
def _shardings() -> tuple[NamedSharding, NamedSharding]:
    """How arrays lie on one device of each process: cut along rows, and whole."""
    mesh = Mesh(one_of_each(), "process")
    return NamedSharding(mesh, PartitionSpec("process")), NamedSharding(mesh, PartitionSpec())


def stacked(mine: np.ndarray) -> tuple[ArrayImpl, NamedSharding]:
    """The array whose rows are the processes' arrays, of one type, and how it would be whole."""
    cut, whole = _shardings()
    aval = ShapedArray((len(one_of_each()), *mine.shape), mine.dtype)
    buffer = parts.put_parts([mine[None]], aval, cut)
    return ArrayImpl(buffer, aval, placement_by(cut)), whole


def digest_of(host: np.ndarray) -> np.ndarray:
    """Eight numbers that tell arrays apart, by their types and all of their bits."""
    digest = hashlib.sha256(f"{host.dtype}{host.shape}".encode())
    digest.update(np.ascontiguousarray(host).view(np.uint8).data if host.size else b"")
    return np.frombuffer(digest.digest(), np.uint32)
