"""The arrays that are alive."""

from __future__ import annotations

from .array import ArrayImpl
from .devices import local_devices
from .placement import placement_on


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
        ArrayImpl(buffer, buffer.aval, placement_on(buffer._sharding._device, False))
        for buffer in client.live_arrays()
        if not buffer.is_deleted()
    ]
