"""The arrays that are alive."""

from __future__ import annotations

from typing import Any

from .array import ArrayImpl
from .devices import local_devices
from .gspmd import GSPMDSharding
from .placement import Placement, placement_by, placement_on


def live_arrays(platform: str | None = None) -> list[ArrayImpl]:
    """All arrays in the memory of a platform's devices, those that Covector keeps included.

    Each is a view of the memory: deleting it deletes the array.

    Args:
      platform: its name; by default that of the default device.

    >>> import covector as cv, covector.numpy as jnp
    >>> x = jnp.arange(12345)
    >>> any(y.shape == (12345,) for y in cv.live_arrays())
    True
    """
    client = local_devices(backend=platform)[0].client
    return [
        ArrayImpl(buffer, buffer.aval, _placement_of(buffer._sharding))
        for buffer in client.live_arrays()
        if not buffer.is_deleted()
    ]


def _placement_of(sharding: Any) -> Placement | None:
    """The placement of an array that jaxlib spreads in this way."""
    if not hasattr(sharding, "_hlo_sharding"):
        return placement_on(sharding._device, False)
    return placement_by(GSPMDSharding(sharding._internal_device_list, sharding._hlo_sharding))
