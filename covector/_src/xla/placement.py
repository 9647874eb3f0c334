"""Where an array is, and whether it may be moved."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..base import config
from ..base.errors import devices_differ
from .devices import device_of, first_device


class Placement:
    """A device, and whether arrays there are committed to it; equal placements are one object."""

    __slots__ = ("committed", "device")

    def __init__(self, device: Any, committed: bool):
        self.device = device
        self.committed = committed

    def __repr__(self) -> str:
        return f"Placement({self.device}, committed={self.committed})"


@cache
def _interned(device: Any, committed: bool) -> Placement:
    return Placement(device, committed)


def placement_on(device: Any, committed: bool) -> Placement | None:
    """The placement of arrays on a device; None for uncommitted ones on the first device."""
    if not committed and device == first_device():
        return None
    return _interned(device, committed)


def default_placement() -> Placement | None:
    """Where new arrays go."""
    chosen = config.default_device.value
    return None if chosen is None else placement_on(device_of(chosen), False)


def common_placement(arrays: Sequence[Any], doing: str) -> Placement | None:
    """Where a computation on these arrays runs: where those that are committed lie.

    Raises:
      ValueError: two of them are committed to different devices.
    """
    found = None
    for x in arrays:
        placement = x._placement
        if placement is None or not placement.committed or placement is found:
            continue
        if found is not None:
            raise ValueError(devices_differ(doing, [(y.aval, y.device) for y in arrays]))
        found = placement
    return default_placement() if found is None else found


class Sharding:
    """How an array is spread over devices; the base of every kind."""

    __slots__ = ()


class SingleDeviceSharding(Sharding):
    """The sharding of an array that lies whole on one device.

    >>> import covector as cv
    >>> cv.sharding.SingleDeviceSharding(cv.devices()[0])
    SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)
    """

    __slots__ = ("_device", "memory_kind")

    def __init__(self, device: Any, *, memory_kind: str | None = None):
        self._device = device
        self.memory_kind = memory_kind or device.default_memory().kind

    @property
    def device_set(self) -> set[Any]:
        return {self._device}

    @property
    def is_fully_addressable(self) -> bool:
        return True

    @property
    def is_fully_replicated(self) -> bool:
        return True

    @property
    def num_devices(self) -> int:
        return 1

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, tuple[slice, ...]]:
        """For each device the index of the part that it holds of an array of `global_shape`."""
        return {self._device: (slice(None),) * len(global_shape)}

    addressable_devices_indices_map = devices_indices_map

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what each device holds of an array of `global_shape`."""
        return tuple(global_shape)

    def __hash__(self) -> int:
        return hash((self._device, self.memory_kind))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SingleDeviceSharding)
            and self._device == other._device
            and self.memory_kind == other.memory_kind
        )

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind={self.memory_kind})"
