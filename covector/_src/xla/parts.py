"""The parts of arrays that are spread over several devices: cut, put together, and counted.

Some of the devices may belong to other processes. jaxlib's arrays then hold the parts that are on
those of this process alone, in the order of the devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..sharding.base import Index, Sharding
from .devices import is_local
from .gspmd import device_order, jaxlib_sharding
from .host import elements_of
from .native import _jax, xla_client


def cut(
    host: np.ndarray, shape: Sequence[int], sharding: Sharding, may_alias: bool = False
) -> list[np.ndarray]:
    """What each device of this process is to hold of an array whose elements are on the host.

    Args:
      host: the elements; of an extended dtype, the numbers that they are made of.
      shape: of the array.
      sharding: how it is spread.
      may_alias: whether the parts may be views of the array, instead of copies of their own.
    """
    pieces: list[np.ndarray] = []
    places: dict[Any, np.ndarray] = {}
    for part in local_parts(sharding, tuple(shape)):
        place = place_of(part.index)
        if place not in places:
            piece = host[part.index]
            places[place] = piece if may_alias else np.array(piece, order="C")
        pieces.append(places[place])
    return pieces


def joined(parts: Sequence[Any], stored: Any, sharding: Sharding) -> Any:
    """Parts that are on their devices already as one of jaxlib's arrays, which shares them.

    Args:
      parts: jaxlib's arrays of each device of this process, in the order of the sharding.
      stored: the type of the whole array, in numbers.
      sharding: how it is spread.
    """
    spread = jaxlib_sharding(sharding, len(stored.shape))
    return _jax.ArrayImpl(stored, spread, list(parts), committed=True, _skip_checks=True)


def put_parts(parts: Sequence[np.ndarray], stored: Any, sharding: Sharding) -> Any:
    """Parts on the host as jaxlib's array.

    The devices may share the host's memory, which must never change.  jaxlib itself would copy it,
    but not where two parts lie in the same memory.

    Args:
      parts: of each device of this process what it is to hold.
      stored: the type of the whole array, in numbers.
      sharding: how it is spread.
    """
    return xla_client.batched_device_put(
        stored,
        jaxlib_sharding(sharding, len(stored.shape)),
        list(parts),
        [device for device in device_order(sharding) if is_local(device)],
        committed=True,
        enable_x64=True,
    )


def gathered(buffer: Any, stored: Any, sharding: Sharding, ndim: int) -> np.ndarray:
    """The elements of jaxlib's array on the host, put together from its parts.

    Args:
      buffer: jaxlib's array.
      stored: its type, in numbers.
      sharding: how it is spread.
      ndim: the rank of the array, without dimensions within elements.
    """
    arrays = buffer._arrays
    if sharding.is_fully_replicated:
        return elements_of(arrays[0])
    whole = np.empty(stored.shape, stored.dtype)
    for array, part in zip(arrays, local_parts(sharding, stored.shape[:ndim])):
        if part.is_first_here:
            whole[part.index] = elements_of(array)
    return whole


class Part(NamedTuple):
    """A part of an array.

    Attributes:
      device: that holds it.
      index: its place in the array.
      copy: which of the equal copies of the part it is.
      is_first_here: whether it is the first of those copies on a device of this process.
    """

    device: Any
    index: Index
    copy: int
    is_first_here: bool


@lru_cache(1024)
def all_parts(sharding: Sharding, shape: tuple[int, ...]) -> Sequence[Part]:
    """The parts of an array, those of other processes too, in the order of the devices."""
    found, indices = [], sharding.devices_indices_map(shape)
    copies: dict[Any, int] = {}
    here = set()
    for device in device_order(sharding):
        index = indices[device]
        place = place_of(index)
        copies[place] = copies.get(place, -1) + 1
        found.append(Part(device, index, copies[place], is_local(device) and place not in here))
        if is_local(device):
            here.add(place)
    return found


@lru_cache(1024)
def local_parts(sharding: Sharding, shape: tuple[int, ...]) -> Sequence[Part]:
    """The parts of an array that this process holds."""
    return [part for part in all_parts(sharding, shape) if is_local(part.device)]


@lru_cache(1024)
def is_whole_here(sharding: Sharding, shape: tuple[int, ...]) -> bool:
    """Whether this process holds all of an array's elements: others may hold copies of them."""
    places = {place_of(part.index) for part in all_parts(sharding, shape)}
    return places == {place_of(part.index) for part in local_parts(sharding, shape)}


def place_of(index: Index) -> tuple[Any, ...]:
    """An index as a key."""
    return tuple((part.start, part.stop) for part in index)
