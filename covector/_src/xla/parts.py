"""The parts of arrays that are spread over several devices: cut, put together, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..sharding.base import Index, Sharding
from .gspmd import device_order, jaxlib_sharding
from .host import elements_of
from .native import _jax, xla_client


def cut(
    host: np.ndarray, shape: Sequence[int], sharding: Sharding, may_alias: bool = False
) -> list[np.ndarray]:
    """What each device is to hold of an array whose elements are on the host.

    Args:
      host: the elements; of an extended dtype, the numbers that they are made of.
      shape: of the array.
      sharding: how it is spread.
      may_alias: whether the parts may be views of the array, instead of copies of their own.
    """
    pieces: list[np.ndarray] = []
    places: dict[Any, np.ndarray] = {}
    for _, index, _ in numbered(sharding, shape):
        place = _place(index)
        if place not in places:
            places[place] = host[index] if may_alias else np.array(host[index], order="C")
        pieces.append(places[place])
    return pieces


def joined(parts: Sequence[Any], stored: Any, sharding: Sharding) -> Any:
    """Parts that are on their devices already as one of jaxlib's arrays, which shares them.

    Args:
      parts: jaxlib's arrays of each device, in the order of the sharding.
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
      parts: of each device what it is to hold.
      stored: the type of the whole array, in numbers.
      sharding: how it is spread.
    """
    return xla_client.batched_device_put(
        stored,
        jaxlib_sharding(sharding, len(stored.shape)),
        list(parts),
        list(device_order(sharding)),
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
    parts = buffer._arrays
    if sharding.is_fully_replicated:
        return elements_of(parts[0])
    whole = np.empty(stored.shape, stored.dtype)
    for number, index, copy in numbered(sharding, stored.shape[:ndim]):
        if copy == 0:
            whole[index] = elements_of(parts[number])
    return whole


@lru_cache(1024)
def numbered(sharding: Sharding, shape: tuple[int, ...]) -> Sequence[tuple[int, Index, int]]:
    """Of each part its number, its place in the array, and which of the equal copies it is."""
    found, indices = [], sharding.devices_indices_map(shape)
    copies: dict[Any, int] = {}
    for number, device in enumerate(device_order(sharding)):
        index = indices[device]
        place = _place(index)
        copies[place] = copies.get(place, -1) + 1
        found.append((number, index, copies[place]))
    return found


def _place(index: Index) -> tuple[Any, ...]:
    """An index as a key."""
    return tuple((part.start, part.stop) for part in index)
