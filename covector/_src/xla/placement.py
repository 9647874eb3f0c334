"""Where an array is, and whether it may be moved."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..base import config, tree
from ..base.errors import devices_differ
from ..base.sharding_errors import not_a_sharding, rank_too_low, several_devices, shardings_differ
from ..sharding.base import Sharding
from ..sharding.mesh import AbstractMesh
from ..sharding.named import NamedSharding, named
from .devices import device_of, first_device


class Placement:
    """A device, and whether arrays there are committed to it; equal placements are one object.

    The sharding by which an array was put there, if it says more than the device, is kept for who
    asks for it; computations with the array know the device alone.
    """

    __slots__ = ("committed", "device", "sharding")

    def __init__(self, device: Any, committed: bool, sharding: Sharding | None = None):
        self.device = device
        self.committed = committed
        self.sharding = sharding

    def __repr__(self) -> str:
        return f"Placement({self.device}, committed={self.committed})"


@cache
def _interned(device: Any, committed: bool, sharding: Sharding | None) -> Placement:
    return Placement(device, committed, sharding)


def placement_on(device: Any, committed: bool) -> Placement | None:
    """The placement of arrays on a device; None for uncommitted ones on the first device."""
    if not committed and device == first_device():
        return None
    return _interned(device, committed, None)


def placement_by(where: str, sharding: Sharding) -> Placement | None:
    """The placement that a sharding of one device asks for; None if it names no device.

    Raises:
      NotImplementedError: it has several devices.
    """
    device = device_of_sharding(where, sharding)
    if device is None:
        return None
    whole = type(sharding) is SingleDeviceSharding
    return _interned(device, True, None if whole else sharding)


def device_of_sharding(where: str, sharding: Sharding) -> Any:
    """The device of a sharding of one device; None for one without devices.

    Raises:
      NotImplementedError: it has several.
    """
    check_one_device(where, sharding, sharding.num_devices)
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh):
        return None
    (device,) = sharding.device_set
    return device


def device_of_shardings(where: str, *shardings: Any) -> Any:
    """The one device that trees of shardings name; None if it is the default one, or none is."""
    found = []
    for target in tree.leaves(shardings, is_leaf=lambda x: isinstance(x, Sharding)):
        target = named(where, target)
        if not isinstance(target, Sharding):
            raise ValueError(not_a_sharding(where, target))
        device = device_of_sharding(where, target)
        if device is not None and device not in found:
            found.append(device)
    if len(found) > 1:
        raise ValueError(shardings_differ(where, found))
    return None if not found or found == [first_device()] else found[0]


def check_one_device(where: str, what: Any, count: int) -> None:
    """Raise NotImplementedError if a sharding or mesh has several devices."""
    if count > 1:
        raise NotImplementedError(several_devices(where, what, count))


def check_shape(where: str, sharding: Sharding, shape: Sequence[int]) -> None:
    """Raise ValueError if a sharding speaks of dimensions that arrays of this shape lack."""
    if isinstance(sharding, NamedSharding) and len(shape) < len(sharding.spec):
        raise ValueError(rank_too_low(where, sharding.spec, shape))


def lie_together(arrays: Sequence[Any]) -> bool:
    """Whether a computation on these arrays moves none of them, with the default device unset."""
    placements = {x._placement for x in arrays} - {None}
    if not placements:
        return True
    devices = {x.device for x in arrays}
    if not any(placement.committed for placement in placements):
        devices.add(first_device())  # where those go that are not committed
    return len(devices) == 1


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
        if placement is None or not placement.committed:
            continue
        placement = _interned(placement.device, True, None)
        if found is not None and placement is not found:
            raise ValueError(devices_differ(doing, [(y.aval, y.device) for y in arrays]))
        found = placement
    return default_placement() if found is None else found


class SingleDeviceSharding(Sharding):
    """The sharding of an array that lies whole on one device.

    >>> import covector as cv
    >>> cv.sharding.SingleDeviceSharding(cv.devices()[0])
    SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)
    """

    __slots__ = ("_device", "_memory_kind")

    def __init__(self, device: Any, *, memory_kind: str | None = None):
        self._device = device
        self._memory_kind = memory_kind or device.default_memory().kind

    @property
    def memory_kind(self) -> str | None:
        return self._memory_kind

    @property
    def device_set(self) -> set[Any]:
        return {self._device}

    @property
    def is_fully_replicated(self) -> bool:
        return True

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, tuple[slice, ...]]:
        return {self._device: (slice(None),) * len(global_shape)}

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
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
