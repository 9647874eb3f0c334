"""Shardings in the words of the compiler, and what those say about a mesh.

The compiler's `HloSharding` numbers the devices of a program by their places in its order, and
tells the shape of an array of tiles, and which devices hold each tile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..base import sharding_errors as errors
from ..sharding.base import Index, Sharding
from ..sharding.mesh import Mesh
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec
from .native import _jax, xla_client

HloSharding = xla_client.HloSharding
REPLICATED = HloSharding.replicate()


class GSPMDSharding(Sharding):
    """An array's sharding as the compiler says it, where no specification of a mesh says the same.

    Args:
      devices: the devices, in the order in which `hlo_sharding` numbers them.
      hlo_sharding: jaxlib's object.
      memory_kind: which memory of the devices holds the parts; the default one if None.
    """

    __slots__ = ("_device_assignment", "_hlo_sharding", "_memory_kind")

    def __init__(self, devices: Sequence[Any], hlo_sharding: Any, *, memory_kind: Any = None):
        if isinstance(hlo_sharding, xla_client.OpSharding):
            hlo_sharding = HloSharding.from_proto(hlo_sharding)
        self._device_assignment = tuple(devices)
        self._hlo_sharding = hlo_sharding
        self._memory_kind = memory_kind or self._device_assignment[0].default_memory().kind

    @classmethod
    def get_replicated(cls, devices: Sequence[Any], *, memory_kind: Any = None) -> GSPMDSharding:
        """The sharding by which each of the devices holds the whole array."""
        return cls(devices, REPLICATED, memory_kind=memory_kind)

    @property
    def memory_kind(self) -> str | None:
        return self._memory_kind

    @property
    def device_set(self) -> set[Any]:
        return {*self._device_assignment}

    @property
    def num_devices(self) -> int:
        return len(self._device_assignment)

    def _to_xla_hlo_sharding(self, num_dimensions: int) -> Any:
        return self._hlo_sharding

    @property
    def is_fully_replicated(self) -> bool:
        return math.prod(self._parts(self._rank)) == 1

    @property
    def _rank(self) -> int:
        tiled = self._hlo_sharding.is_tiled()
        return len(tiles_of(self._hlo_sharding)[0]) if tiled else 0

    def _parts(self, ndim: int) -> list[int]:
        """Into how many parts each dimension is cut."""
        if not self._hlo_sharding.is_tiled():
            return [1] * ndim
        return tiles_of(self._hlo_sharding)[0]

    def _divisor(self) -> int:
        return math.prod(self._parts(self._rank))

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        parts = self._parts(len(global_shape))
        if len(parts) != len(global_shape):
            raise ValueError(errors.other_rank(self, len(parts), global_shape))
        for i, (size, count) in enumerate(zip(global_shape, parts)):
            if size % count:
                raise errors.IndivisibleError(errors.indivisible(self, global_shape, i, count))
        return tuple(size // count for size, count in zip(global_shape, parts))

    def devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Any, Index]:
        shape = self.shard_shape(global_shape)
        if not self._hlo_sharding.is_tiled():
            return dict.fromkeys(self._device_assignment, (slice(None),) * len(shape))
        parts, holders = tiles_of(self._hlo_sharding)
        found = {}
        for place in np.ndindex(*parts):
            index = tuple(
                slice(None) if count == 1 else slice(i * size, (i + 1) * size)
                for i, size, count in zip(place, shape, parts)
            )
            found.update((int(number), index) for number in holders[place])
        return {d: found[number] for number, d in enumerate(self._device_assignment)}

    def _key(self) -> tuple[Any, ...]:
        return self._device_assignment, str(self._hlo_sharding), self._memory_kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GSPMDSharding) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"GSPMDSharding({self._hlo_sharding!r}, memory_kind={self._memory_kind})"


def tiles_of(hlo: Any) -> tuple[list[int], np.ndarray]:
    """Into how many tiles a tiled sharding cuts each dimension, and the devices that hold each.

    The devices are an array of one more dimension than there are tiles, since several devices may
    hold the same tile.
    """
    shape = list(hlo.tile_assignment_dimensions())
    copies = len(hlo.subgroup_types()) or int(hlo.replicate_on_last_tile_dim())
    parts = shape[: len(shape) - copies]
    return parts, np.array(hlo.tile_assignment_devices()).reshape(*parts, -1)


# ---------------------------------------------------------------- specifications of meshes


def device_order(sharding: Sharding) -> tuple[Any, ...]:
    """The devices of a sharding in the order in which a program takes them."""
    found = getattr(sharding, "_device_assignment", None)
    return tuple(sharding.device_set) if found is None else found


def hlo_sharding(sharding: Sharding, ndim: int) -> Any:
    """The compiler's words for the sharding of an array of rank `ndim`."""
    return sharding._to_xla_hlo_sharding(ndim)


def named_over(mesh: Mesh, hlo: Any, ndim: int) -> NamedSharding | None:
    """The sharding over a mesh that the compiler's words describe; None if there is none.

    The devices of the mesh are numbered in its order. Along each axis of it the number of the tile
    of at most one dimension changes, by a step: the axes with larger steps vary slower.
    """
    if not hlo.is_tiled():
        return NamedSharding(mesh, PartitionSpec())
    parts, holders = tiles_of(hlo)
    places = np.empty((holders.size, len(parts)), int)
    for place in np.ndindex(*parts):
        places[holders[place]] = place
    at = places.reshape(*mesh.axis_sizes, len(parts))
    first = (0,) * len(mesh.axis_sizes)
    entries: list[Any] = [[] for _ in parts]
    for i, (name, size) in enumerate(mesh.shape_tuple):
        if size > 1:
            step = at[(*first[:i], 1, *first[i + 1 :])] - at[first]
            for dimension in np.flatnonzero(step):
                entries[dimension].append((-step[dimension], i, name))
    spec = [tuple(name for _, _, name in sorted(entry)) for entry in entries][:ndim]
    while spec and not spec[-1]:
        spec.pop()
    if len({name for entry in spec for name in entry}) < sum(map(len, spec)):
        return None
    named = NamedSharding(mesh, PartitionSpec(*spec))
    same = str(hlo) == str(hlo_sharding(named, len(parts))) or _holds(named, parts, at)
    return named if same else None


def _holds(named: NamedSharding, parts: Sequence[int], at: np.ndarray) -> bool:
    """Whether a sharding cuts into as many parts, and puts those with these numbers in place."""
    if any(named._parts(i) != count for i, count in enumerate(parts)):
        return False
    indices = named.devices_indices_map(parts).values()
    numbers = [[part.indices(n)[0] for part, n in zip(index, parts)] for index in indices]
    return np.array_equal(np.array(numbers).reshape(at.shape), at)


def renumbered(sharding: Sharding, devices: tuple[Any, ...], ndim: int) -> GSPMDSharding:
    """A sharding of arrays of rank `ndim`, for a program that has its devices in another order."""
    hlo, order = hlo_sharding(sharding, ndim), device_order(sharding)
    if not hlo.is_tiled():
        return GSPMDSharding(devices, hlo)
    numbers = np.array([devices.index(device) for device in order])
    holders = numbers[tiles_of(hlo)[1]]
    kinds = [xla_client.OpSharding.Type.REPLICATED]
    return GSPMDSharding(
        devices, HloSharding.subgroup_with_device_ordering(holders, subgroup_types=kinds)
    )


# ---------------------------------------------------------------- jaxlib's shardings


@cache
def device_list_of(devices: tuple[Any, ...]) -> Any:
    """Devices in their order, for jaxlib."""
    return _jax.DeviceList(devices)


@cache
def jaxlib_sharding(sharding: Sharding, ndim: int) -> Any:
    """A sharding of several devices, for jaxlib."""
    return _jax.GSPMDSharding(device_list_of(device_order(sharding)), hlo_sharding(sharding, ndim))


# ---------------------------------------------------------------- as bytes


def get_op_sharding_from_serialized_proto(sharding: bytes) -> Any:
    """The compiler's `OpSharding` that was written as bytes."""
    found = xla_client.OpSharding()
    found.ParseFromString(sharding)
    return found


def get_hlo_sharding_from_serialized_proto(sharding: bytes) -> Any:
    """The compiler's `HloSharding` that was written as bytes."""
    return HloSharding.from_proto(get_op_sharding_from_serialized_proto(sharding))


def get_serialized_proto_from_hlo_sharding(sharding: Any) -> bytes:
    """The compiler's `HloSharding` as bytes.

    >>> import covector as cv
    >>> from covector.extend import sharding
    >>> hlo = cv.NamedSharding(cv.make_mesh((1,), ("x",)), cv.P("x"))._to_xla_hlo_sharding(1)
    >>> text = sharding.get_serialized_proto_from_hlo_sharding(hlo)
    >>> sharding.get_hlo_sharding_from_serialized_proto(text) == hlo
    True
    """
    return sharding.to_proto().SerializeToString()
