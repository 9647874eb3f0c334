"""Arrays of other libraries, taken over without copying."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..base.errors import dlpack_dtype_unsupported
from ..core.avals import ShapedArray
from .array import ArrayImpl, move
from .devices import devices
from .host import elements_of
from .native import xla_client
from .placement import SingleDeviceSharding, placement_on

# The device types of the DLPack standard that have a platform here.
_PLATFORMS = {1: "cpu", 2: "cuda", 10: "rocm"}

_UNSUPPORTED = ("int4", "uint4", "int2", "uint2", "float4_e2m1fn")


def is_supported_dtype(dtype: Any) -> bool:
    """Whether arrays of this dtype can be exchanged through DLPack.

    >>> from covector import dlpack
    >>> dlpack.is_supported_dtype("float32"), dlpack.is_supported_dtype("int4")
    (True, False)
    """
    dtype = np.dtype(dtype)
    return dtypes.is_supported(dtype) and dtype.name not in _UNSUPPORTED


def from_dlpack(external_array: Any, device: Any = None, copy: bool | None = None) -> ArrayImpl:
    """An array of another library as an array of ours, sharing its memory where that is possible.

    Args:
      external_array: an object with `__dlpack__` and `__dlpack_device__`, such as an array of
        NumPy, PyTorch or CuPy. While memory is shared it must not be changed.
      device: where the result is to be; by default where the array is.
      copy: True copies in any case; False raises if a copy is needed.

    Raises:
      TypeError: the object does not speak DLPack, or its dtype has no counterpart.
      ValueError: a copy is needed, and `copy` is False.

    >>> import numpy as np
    >>> from covector import dlpack
    >>> print(dlpack.from_dlpack(np.arange(3, dtype=np.int32)))
    [0 1 2]
    """
    if not hasattr(external_array, "__dlpack__") or not hasattr(
        external_array, "__dlpack_device__"
    ):
        raise TypeError(
            f"[from_dlpack] expected an array with the methods __dlpack__ and __dlpack_device__, "
            f"but got a value of type {type(external_array)}."
        )
    kind, index = external_array.__dlpack_device__()
    if kind not in _PLATFORMS:
        raise TypeError(f"[from_dlpack] arrays on DLPack devices of type {kind} are not supported.")
    source = devices(_PLATFORMS[kind])[index if kind != 1 else 0]
    try:
        capsule = external_array.__dlpack__()
        buffer = xla_client._xla.dlpack_managed_tensor_to_buffer(capsule, source, None)
    except (RuntimeError, BufferError) as error:
        raise TypeError(dlpack_dtype_unsupported(external_array, error)) from error
    host = elements_of(buffer)
    aval = ShapedArray(host.shape, dtypes.canonicalize_dtype(host.dtype))
    array = ArrayImpl(buffer, ShapedArray(host.shape, host.dtype), placement_on(source, True))
    if aval.dtype != host.dtype:
        raise TypeError(dlpack_dtype_unsupported(external_array, f"{host.dtype} needs enable_x64"))
    return _moved(array, device, copy)


def _moved(array: ArrayImpl, device: Any, copy: bool | None) -> ArrayImpl:
    target = device._device if isinstance(device, SingleDeviceSharding) else device
    if target is not None and target != array.device:
        if copy is False:
            raise ValueError(
                f"[from_dlpack] the array is on {array.device}: moving it to {target} needs a "
                "copy, which copy=False forbids."
            )
        return move(array, placement_on(target, True))
    return array.__copy__() if copy else array
