"""`Sharding`, what every way of spreading arrays over devices answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Index = tuple[slice, ...]


class Sharding:
    """How an array is spread over devices; the base of every kind.

    A subclass says which devices there are, and which part of an array each of them holds.
    """

    __slots__ = ()

    @property
    def device_set(self) -> set[Any]:
        """The devices."""
        raise NotImplementedError

    @property
    def memory_kind(self) -> str | None:
        """Which memory of the devices holds the parts."""
        raise NotImplementedError

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every device holds the whole array."""
        raise NotImplementedError

    def devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Any, Index]:
        """For each device the index of the part that it holds of an array of `global_shape`."""
        raise NotImplementedError

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what each device holds of an array of `global_shape`."""
        raise NotImplementedError

    def _to_xla_hlo_sharding(self, num_dimensions: int) -> Any:
        """The same in the compiler's words, jaxlib's `HloSharding`; by this name programs know it.

        It speaks of the devices by their numbers in the order of the program.
        """
        raise NotImplementedError

    @property
    def num_devices(self) -> int:
        return len(self.device_set)

    @property
    def addressable_devices(self) -> set[Any]:
        """Those of the devices that belong to this process."""
        return {d for d in self.device_set if d.process_index == d.client.process_index()}

    @property
    def _addressable_device_assignment(self) -> tuple[Any, ...]:
        """The same in order; by this name Orbax knows them."""
        return tuple(sorted(self.addressable_devices, key=lambda device: device.id))

    @property
    def has_addressable_devices(self) -> bool:
        """Whether one of the devices belongs to this process."""
        return bool(self.addressable_devices)

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all devices belong to this process."""
        return self.addressable_devices == self.device_set

    def addressable_devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Any, Index]:
        """`devices_indices_map` of the devices of this process."""
        mine = self.addressable_devices
        return {d: i for d, i in self.devices_indices_map(global_shape).items() if d in mine}

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        """Whether both put the same parts of arrays of rank `ndim` on the same devices.

        The rank stands for all shapes that both can divide.
        """
        if self == other:
            return True
        shape = (self._divisor() * other._divisor(),) * ndim
        return self.memory_kind == other.memory_kind and dict(
            self.devices_indices_map(shape)
        ) == dict(other.devices_indices_map(shape))

    def _divisor(self) -> int:
        """A size that can be cut into as many parts as any dimension is cut into."""
        return self.num_devices
