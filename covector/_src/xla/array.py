"""Concrete arrays: a buffer on a device, its aval, and nothing that is not asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes, events
from ..base.errors import array_deleted, no_cuda_interface
from ..base.process_errors import elements_elsewhere
from ..base.random_errors import key_as_numpy
from ..base.ref_errors import not_an_array
from ..base.sharding_errors import parts_not_one_buffer
from ..core.array import Array
from ..core.avals import ShapedArray, aval_getters, aval_of
from ..ops.physical import physical_aval
from ..sharding.base import Sharding
from . import parts
from .devices import device_list, first_device, sharding_on
from .failures import failure_behind
from .host import elements_of, start_reading
from .layout import Format, layout_of
from .native import _jax, xla_client
from .placement import Placement, SingleDeviceSharding, placement_on
from .shard import Shard


class ArrayImpl(Array):
    """An array whose elements exist, or are being computed.

    Slots:
      aval: shape, dtype and weak type.
      _buffer: jaxlib's array.
      _placement: where the array is, and whether it is committed to stay there; None for the
        usual case, an uncommitted array on the process's first device.
      _host: the elements on the host, once they have been asked for.
      _spent: which elements are random keys that were used; set only while somebody looks for
        keys that are used twice.
    """

    __slots__ = ("_buffer", "_host", "_placement", "_spent", "aval")
    aval: ShapedArray
    __hash__ = None

    def __init__(self, buffer: Any, aval: ShapedArray, placement: Placement | None = None):
        self._buffer = buffer
        self.aval = aval
        self._placement = placement
        self._host = None

    # ---------------------------------------------------------------- type

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

    # ---------------------------------------------------------------- random keys

    @property
    def _impl(self) -> Any:
        """The generator of an array of random keys; by this name programs know it."""
        return self.aval.dtype._impl

    @property
    def _base_array(self) -> ArrayImpl:
        """The numbers that an array of random keys is made of; by this name programs know them."""
        if not isinstance(self.aval.dtype, dtypes.ExtendedDType):
            raise AttributeError(f"an array of dtype {self.aval.dtype} has no _base_array")
        return ArrayImpl(self._buffer, physical_aval(self.aval), self._placement)

    # ---------------------------------------------------------------- place and life

    @property
    def device(self) -> Any:
        """The device that holds the array; its sharding, if there are several."""
        placement = self._placement
        if placement is None:
            return first_device()
        return placement.sharding if placement.is_spread else placement.device

    @property
    def _first_device(self) -> Any:
        """The device that holds the array, or the first of them."""
        return first_device() if self._placement is None else self._placement.device

    @property
    def _spread(self) -> Any:
        """How the array is spread over several devices; None if it lies on one."""
        placement = self._placement
        return placement.sharding if placement is not None and placement.is_spread else None

    @property
    def committed(self) -> bool:
        """Whether computations with the array must run on its device."""
        return self._placement is not None and self._placement.committed

    _committed = committed

    @property
    def sharding(self) -> Sharding:
        """How the array is spread over devices."""
        placement = self._placement
        if placement is not None and placement.sharding is not None:
            return placement.sharding
        return SingleDeviceSharding(self.device)

    def devices(self) -> set[Any]:
        """The set of devices that hold the array."""
        return {first_device()} if self._placement is None else {*self._placement.devices}

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all devices that hold the array belong to this process."""
        return self._placement is None or self._placement.is_local

    @property
    def _is_whole_here(self) -> bool:
        """Whether this process holds all of the elements."""
        placement = self._placement
        if placement is None or placement.is_local:
            return True
        if not placement.local:
            return False
        return parts.is_whole_here(placement.sharding, self.shape)

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each of the devices holds the whole array."""
        return self._spread is None or self._spread.is_fully_replicated

    @property
    def addressable_shards(self) -> list[Shard]:
        """The parts of the array on the devices of this process."""
        return [shard for shard in self.global_shards if shard.data is not None]

    @property
    def global_shards(self) -> list[Shard]:
        """The parts of the array on all devices; those of other processes have None for `data`."""
        self._check_alive()
        spread, placement = self._spread, self._placement
        if spread is None:
            here = self.is_fully_addressable
            return [Shard(self.device, (slice(None),) * self.ndim, 0, self if here else None)]
        aval = self.aval.update(shape=spread.shard_shape(self.shape))
        held = {
            device: ArrayImpl(array, aval, placement_on(device, True))
            for device, array in zip(placement.local, self._buffer._arrays)
        }
        return [
            Shard(part.device, part.index, part.copy, held.get(part.device))
            for part in parts.all_parts(spread, self.shape)
        ]

    def addressable_data(self, index: int) -> ArrayImpl:
        """The part of the array with this number among `addressable_shards`."""
        if self._placement is not None and not self._placement.local:
            raise RuntimeError(elements_elsewhere(self.aval, self.sharding))
        return self.addressable_shards[index].data

    @property
    def format(self) -> Format:
        """Where the array is, and how its elements lie there."""
        self._check_alive()
        return Format(layout_of(self._buffer._pjrt_layout), self.sharding)

    @property
    def traceback(self) -> Any:
        """The Python frames that made the array, innermost first, as jaxlib keeps them."""
        return self._buffer.traceback

    def block_until_ready(self) -> ArrayImpl:
        """Wait until the elements are computed; returns the array itself."""
        self._check_alive()
        try:
            self._buffer.block_until_ready()
        except xla_client.XlaRuntimeError as error:
            raise failure_behind(error) from None
        return self

    def is_ready(self) -> bool:
        """Whether the elements are computed, without waiting."""
        self._check_alive()
        return self._buffer.is_ready()

    def delete(self) -> None:
        """Free the array's memory now; the array cannot be used afterwards."""
        self._host = None
        if not self._buffer.is_deleted():
            self._buffer.delete()

    def is_deleted(self) -> bool:
        """Whether the memory was freed, by `delete` or by donation to a compiled program."""
        return self._buffer.is_deleted()

    def _check_alive(self) -> None:
        if self._buffer.is_deleted():
            raise RuntimeError(array_deleted(self.aval))

    def on_device_size_in_bytes(self) -> int:
        """How much memory the array takes on its device."""
        return self._buffer.on_device_size_in_bytes()

    def unsafe_buffer_pointer(self) -> int:
        """The address of the elements; valid only as long as the array lives."""
        return self._buffer.unsafe_buffer_pointer()

    def copy_to_host_async(self) -> None:
        """Begin copying the elements to the host, so that reading them later need not wait."""
        self._check_alive()
        for part in [self._buffer] if self._spread is None else self._buffer._arrays:
            start_reading(part)

    # ---------------------------------------------------------------- elements

    def to_numpy(self) -> np.ndarray:
        """The elements as a read-only NumPy array, sharing the device's memory where it can.

        Of an extended dtype, the numbers that the elements are made of.
        """
        host = self._host
        if host is None:
            self._check_alive()
            try:
                host = self._read()
            except xla_client.XlaRuntimeError as error:
                raise failure_behind(error) from None
            if self.aval.dtype == dtypes.float0:
                host = np.zeros(self.aval.shape, dtypes.float0)
            host.flags.writeable = False
            self._host = host
        elif self._buffer.is_deleted():
            self._check_alive()
        return host

    @property
    def _value(self) -> np.ndarray:
        """The elements on the host; by this name programs know them."""
        return self.to_numpy()

    def _read(self) -> np.ndarray:
        """The elements on the host."""
        if not self._is_whole_here:
            raise RuntimeError(elements_elsewhere(self.aval, self.sharding))
        if self._spread is None:
            return elements_of(self._buffer)
        return parts.gathered(self._buffer, physical_aval(self.aval), self._spread, self.ndim)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if isinstance(self.aval.dtype, dtypes.ExtendedDType):
            raise TypeError(key_as_numpy())
        host = self.to_numpy()
        if dtype is not None and dtype != host.dtype:
            if copy is False:
                raise ValueError(f"an array of dtype {host.dtype} as {dtype} needs a copy")
            return host.astype(dtype)
        return host.copy() if copy else host

    if sys.version_info >= (3, 12):

        def __buffer__(self, flags: int) -> memoryview:
            return memoryview(self.__array__())

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: Any = None,
    ) -> Any:
        if self._spread is not None:
            raise BufferError(parts_not_one_buffer(self.aval, self._spread))
        here = self.__dlpack_device__()
        if dl_device is not None and tuple(dl_device) != here:
            raise BufferError(f"the array is on the DLPack device {here}, not on {dl_device}")
        array = self.__copy__() if copy else self
        array.block_until_ready()
        return xla_client._xla.buffer_to_dlpack_managed_tensor(array._buffer, stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        device = self._first_device
        kinds = {"cpu": 1, "cuda": 2, "gpu": 2, "rocm": 10}
        return kinds[device.platform], device.local_hardware_id if device.platform != "cpu" else 0

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._spread is not None or self._first_device.platform != "gpu":
            raise AttributeError(no_cuda_interface(self.device))
        return self._buffer.__cuda_array_interface__

    def __copy__(self) -> ArrayImpl:
        placement = self._placement
        if placement is not None and not placement.is_local:
            copies = list(map(_copied, self._buffer._arrays, placement.local))
            return _joined(copies, self.aval, placement)
        return put(self.to_numpy(), self._placement, self.aval)

    def __deepcopy__(self, memo: Any) -> ArrayImpl:
        return self.__copy__()

    def __reduce__(self) -> tuple:
        return _unpickle, (np.array(self.to_numpy()), self.aval)


aval_getters[ArrayImpl] = lambda x: x.aval

_FLOAT0 = dtypes.float0


def _unpickle(host: np.ndarray, aval: ShapedArray) -> ArrayImpl:
    if isinstance(aval.dtype, np.dtype):  # which may not exist here: 64 bits, while x64 is off
        aval = aval.update(dtype=dtypes.canonicalize_dtype(aval.dtype))
    return put(host, None, aval)


def wait_for(values: Sequence[Any]) -> int:
    """Wait until the elements of the arrays among some values are computed; counts the arrays."""
    buffers = [x._buffer for x in values if type(x) is ArrayImpl]
    try:
        _jax.batched_block_until_ready(buffers)
    except Exception:
        for x in values:  # which raises what went wrong, as one who asked that array would see it
            if type(x) is ArrayImpl:
                x.block_until_ready()
        raise
    return len(buffers)


_batched_device_put = xla_client.batched_device_put
_COPY = xla_client.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
_ALIAS = xla_client.HostBufferSemantics.ZERO_COPY


def put(
    x: Any,
    placement: Placement | None = None,
    aval: ShapedArray | None = None,
    may_alias: bool = False,
) -> ArrayImpl:
    """Put a NumPy array or Python scalar on a device.

    Args:
      x: the value; its dtype is canonicalized.
      placement: where to, and whether to stay; None is the first device, uncommitted.
      aval: the type of the result if it is known.
      may_alias: whether the array may share the memory of `x`, which then must never change.
    """
    if aval is None:
        aval = aval_of(x)
        if not isinstance(aval, ShapedArray):
            raise TypeError(not_an_array("device_put", aval))
    stored = physical_aval(aval)
    if aval.dtype is _FLOAT0:  # which XLA lacks
        stored = aval.update(dtype=np.bool_)
        x = np.zeros(aval.shape, np.bool_)
    host = np.asarray(x, stored.dtype)
    if placement is not None and (placement.is_spread or not placement.local):
        return put_spread(host, placement, aval, may_alias)
    device = first_device() if placement is None else placement.device
    return ArrayImpl(_put_buffer(host, stored, device, may_alias), aval, placement)


def put_spread(
    host: np.ndarray, placement: Placement, aval: ShapedArray, may_alias: bool = False
) -> ArrayImpl:
    """Put numbers on the host on several devices, each of which gets its part of them.

    Those of other processes get theirs from there.
    """
    sharding = placement.sharding or SingleDeviceSharding(placement.device)
    stored = physical_aval(aval)
    events.record("put", stored)
    alias = may_alias and not host.flags.writeable
    pieces = parts.cut(host, aval.shape, sharding, alias)
    return ArrayImpl(parts.put_parts(pieces, stored, sharding), aval, placement)


def without_parts(aval: ShapedArray, placement: Placement) -> ArrayImpl:
    """What this process has of an array on devices of other processes: nothing but its type."""
    sharding = placement.sharding or SingleDeviceSharding(placement.device)
    return ArrayImpl(parts.joined([], physical_aval(aval), sharding), aval, placement)


def _put_buffer(host: np.ndarray, aval: ShapedArray, device: Any, may_alias: bool) -> Any:
    """Host memory as a buffer; without `may_alias` it may change as soon as this returns."""
    events.record("put", aval)
    alias = may_alias and not host.flags.writeable
    semantics = _ALIAS if alias else _COPY
    return _batched_device_put(
        aval, sharding_on(device), [host], [device], True, not alias, semantics, True
    )


def move(x: ArrayImpl, placement: Placement | None) -> ArrayImpl:
    """The array at another placement; its buffer is shared if the elements stay where they are."""
    if x._placement is placement:
        return x
    if placement is not None and not placement.local:
        return without_parts(x.aval, placement)
    if x._spread is not None or (placement is not None and placement.is_spread):
        return _respread(x, placement)
    device = first_device() if placement is None else placement.device
    if x.device == device:
        return ArrayImpl(x._buffer, x.aval, placement)
    x._check_alive()
    return ArrayImpl(_copied(x._buffer, device), x.aval, placement)


def _copied(buffer: Any, device: Any) -> Any:
    """A buffer of one device, on another."""
    (copy,) = xla_client.batched_copy_array_to_devices_with_sharding(
        [buffer],
        [device_list(device)],
        [sharding_on(device)],
        [xla_client.ArrayCopySemantics.ALWAYS_COPY],
    )
    return copy


def in_order(x: ArrayImpl, placement: Placement) -> ArrayImpl:
    """An array at a placement that has the same parts on the same devices, in another order."""
    on = dict(zip(x._placement.local, x._buffer._arrays))
    return _joined([on[device] for device in placement.local], x.aval, placement)


def _joined(pieces: Sequence[Any], aval: ShapedArray, placement: Placement) -> ArrayImpl:
    """The array of which the devices of this process hold these buffers."""
    buffer = parts.joined(pieces, physical_aval(aval), placement.sharding)
    return ArrayImpl(buffer, aval, placement)


def _respread(x: ArrayImpl, placement: Placement | None) -> ArrayImpl:
    """The array at another placement, where it or that one has several devices."""
    x._check_alive()
    before = x._spread
    if placement is not None and placement.is_spread and before is not None:
        after = placement.sharding
        same = placement.devices == x._placement.devices
        if same and before.is_equivalent_to(after, x.ndim):
            return ArrayImpl(x._buffer, x.aval, placement)
    if (before is None or before.is_fully_replicated) and x._is_whole_here:
        whole = x._buffer if before is None else x._buffer._arrays[0]
        devices = (first_device(),) if placement is None else placement.devices
        if placement is None or not placement.is_spread:
            return ArrayImpl(_copied(whole, devices[0]), x.aval, placement)
        if placement.sharding.is_fully_replicated and devices[0].platform != "cpu":
            copies = [_copied(whole, device) for device in placement.local]
            return _joined(copies, x.aval, placement)
    return put(x.to_numpy(), placement, x.aval)
