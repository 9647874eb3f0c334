"""Where an array is, how it is spread there, and whether it may be moved."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..base import config
from ..base.errors import devices_differ
from ..base.sharding_errors import rank_too_low
from ..sharding.base import Sharding
from ..sharding.mesh import AbstractMesh
from ..sharding.named import NamedSharding
from .devices import device_of, first_device, is_local
from .gspmd import REPLICATED, GSPMDSharding, device_order


class Placement:
    """Devices, how an array is spread over them, and whether it is committed to them.

    Equal placements are one object. Nearly all have one device; then `sharding` is kept only if it
    says more than the device, for who asks for it, and computations know the device alone.

    Attributes:
      devices: the devices, in the order in which programs number them.
      device: the first of them, which often is the only one.
      sharding: a sharding over them; None for a whole array on one device.
      committed: whether computations with the array must run there.
      local: those of the devices that belong to this process, in the same order.
    """

    __slots__ = ("committed", "device", "devices", "local", "sharding")

    def __init__(self, devices: tuple[Any, ...], committed: bool, sharding: Sharding | None = None):
        self.devices = devices
        self.device = devices[0]
        self.committed = committed
        self.sharding = sharding
        self.local = tuple([d for d in devices if is_local(d)])

    @property
    def is_local(self) -> bool:
        """Whether all of the devices belong to this process."""
        return len(self.local) == len(self.devices)

    @property
    def is_spread(self) -> bool:
        """Whether there are several devices."""
        return len(self.devices) > 1

    def __repr__(self) -> str:
        place = self.sharding if self.is_spread else self.device
        return f"Placement({place}, committed={self.committed})"


@cache
def _interned(devices: tuple[Any, ...], committed: bool, sharding: Sharding | None) -> Placement:
    return Placement(devices, committed, sharding)


def placement_on(device: Any, committed: bool) -> Placement | None:
    """The placement of arrays on a device; None for uncommitted ones on the first device."""
    if not committed and device == first_device():
        return None
    return _interned((device,), committed, None)


def whole_on(devices: tuple[Any, ...]) -> Placement:
    """The placement of committed arrays of which each of the devices holds the whole."""
    if len(devices) == 1:
        return _interned(devices, True, None)
    return _interned(devices, True, GSPMDSharding.get_replicated(devices))


def whole_as(placement: Placement) -> Placement:
    """The placement of arrays of which each of a placement's devices holds the whole."""
    if isinstance(placement.sharding, NamedSharding):
        return _interned(placement.devices, True, placement.sharding.update(spec=()))
    return whole_on(placement.devices)


def placement_by(sharding: Sharding) -> Placement | None:
    """The placement for which a sharding asks; None if it names no device."""
    devices = devices_of_sharding(sharding)
    if devices is None:
        return None
    whole = type(sharding) is SingleDeviceSharding
    return _interned(devices, True, None if whole else sharding)


def devices_of_sharding(sharding: Sharding) -> tuple[Any, ...] | None:
    """The devices of a sharding, in the order of programs; None for one without devices."""
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh):
        return None
    return device_order(sharding)


def check_shape(where: str, sharding: Sharding, shape: Sequence[int]) -> None:
    """Raise ValueError unless a sharding can spread arrays of this shape."""
    check_rank(where, sharding, shape)
    sharding.shard_shape(shape)


def check_rank(where: str, sharding: Sharding, shape: Sequence[int]) -> None:
    """Raise ValueError if a sharding speaks of dimensions that arrays of this shape lack."""
    if isinstance(sharding, NamedSharding) and len(shape) < len(sharding.spec):
        raise ValueError(rank_too_low(where, sharding.spec, shape))


def is_spread(arrays: Sequence[Any]) -> bool:
    """Whether one of these arrays lies on several devices."""
    return any(x._placement is not None and x._placement.is_spread for x in arrays)


def on_same_devices(one: Placement | None, other: Placement | None) -> bool:
    """Whether two placements have the same devices, several of them, in whatever order."""
    if one is None or other is None or not (one.is_spread and other.is_spread):
        return False
    return {*one.devices} == {*other.devices}


def have_shardings(arrays: Sequence[Any]) -> bool:
    """Whether one of these arrays was put somewhere by a sharding that says more than where."""
    return any(x._placement is not None and x._placement.sharding is not None for x in arrays)


def lie_together(arrays: Sequence[Any]) -> bool:
    """Whether a computation on these arrays moves none of them, with the default device unset."""
    placements = {x._placement for x in arrays} - {None}
    if not placements:
        return True
    if any(placement.is_spread for placement in placements):
        return False
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

    Of several devices each is to hold the whole of what there is no other word about.

    Raises:
      ValueError: two of them are committed to different devices.
    """
    found = None
    for x in arrays:
        placement = x._placement
        if placement is None or not placement.committed:
            continue
        placement = whole_on(placement.devices)
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
    def _device_assignment(self) -> tuple[Any, ...]:
        return (self._device,)

    @property
    def is_fully_replicated(self) -> bool:
        return True

    def _to_xla_hlo_sharding(self, num_dimensions: int) -> Any:
        return REPLICATED

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
