"""The parts of an array on single devices. Here an array lies on one device, so it has one part."""

from __future__ import annotations

from typing import Any


class Shard:
    """The part of an array that lies on one device.

    Attributes:
      device: the device.
      index: where the part lies in the whole array: a slice for each dimension.
      replica_id: which of the equal copies of the part it is.
      data: the part, as an array.

    >>> import covector.numpy as jnp
    >>> (shard,) = jnp.arange(3).addressable_shards
    >>> shard.index, shard.data.tolist()
    ((slice(None, None, None),), [0, 1, 2])
    """

    __slots__ = ("data", "device", "index", "replica_id")

    def __init__(self, device: Any, index: tuple[slice, ...], replica_id: int, data: Any):
        self.device = device
        self.index = index
        self.replica_id = replica_id
        self.data = data

    def __repr__(self) -> str:
        return (
            f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}, "
            f"data={self.data})"
        )
