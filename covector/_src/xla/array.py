"""Concrete arrays: a buffer on a device, its aval, and nothing that is not asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..core.array import Array
from ..core.avals import ShapedArray, aval_getters, aval_of
from .devices import default_device, sharding_on
from .native import xla_client


class ArrayImpl(Array):
    """An array whose elements exist.

    Slots:
      aval: shape, dtype and weak type.
      _buffer: jaxlib's array.
      _placement: None on the default device; otherwise the device the array is committed to.
    """

    __slots__ = ("_buffer", "_host", "_placement", "aval")
    aval: ShapedArray
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, buffer: Any, aval: ShapedArray, placement: Any = None):
        self._buffer = buffer
        self.aval = aval
        self._placement = placement
        self._host = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return self.aval.ndim

    @property
    def size(self) -> int:
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        return self.aval.weak_type

    def to_numpy(self) -> np.ndarray:
        """The elements as a read-only NumPy array, on the host; shared where it can be."""
        if self._host is None:
            host = self._buffer._single_device_array_to_np_array_did_copy()[0]
            host.flags.writeable = False
            self._host = host
        return self._host

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        host = self.to_numpy()
        if dtype is not None and dtype != host.dtype:
            if copy is False:
                raise ValueError(f"an array of dtype {host.dtype} as {dtype} needs a copy")
            return host.astype(dtype)
        return host.copy() if copy else host

    def block_until_ready(self) -> ArrayImpl:
        """Wait until the elements are computed; returns the array itself."""
        self._buffer.block_until_ready()
        return self


aval_getters[ArrayImpl] = lambda x: x.aval


def put(x: Any, device: Any = None, aval: Any = None) -> ArrayImpl:
    """Put a NumPy array or Python scalar on a device.

    Args:
      x: the value; its dtype is canonicalized.
      device: commits the array to that device; None means the default one, uncommitted.
      aval: the type of the result if it is known.
    """
    if aval is None:
        aval = aval_of(x)
    target = default_device() if device is None else device
    host = np.asarray(x, dtype=aval.dtype if aval.dtype != dtypes.float0 else np.bool_)
    buffer = put_buffer(host, aval, target)
    return ArrayImpl(buffer, aval, device)


def put_buffer(host: np.ndarray, aval: ShapedArray, device: Any) -> Any:
    """Copy host memory to a device; the memory may be changed as soon as this returns."""
    return xla_client.batched_device_put(
        aval,
        sharding_on(device),
        [host],
        [device],
        True,
        force_copy=True,
        host_buffer_semantics=xla_client.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL,
        enable_x64=True,
    )
