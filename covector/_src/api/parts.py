"""Arrays over several devices made of parts: from a function, or from arrays.

Where some of the devices belong to other processes, each process gives the parts that it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, process_errors
from ..base import sharding_errors as errors
from ..core.avals import ShapedArray
from ..ops.physical import physical_aval
from ..sharding.base import Index, Sharding
from ..xla.array import ArrayImpl, move, put
from ..xla.devices import is_local
from ..xla.gspmd import device_order
from ..xla.layout import Format
from ..xla.parts import joined, local_parts, place_of
from ..xla.placement import check_shape, placement_by, placement_on


def make_array_from_callback(
    shape: Sequence[int],
    sharding: Sharding | Format,
    data_callback: Callable[[Index], Any],
    dtype: Any = None,
) -> ArrayImpl:
    """An array whose parts a function makes, each for the device that is to hold it.

    Args:
      shape: of the whole array.
      sharding: how it is spread over devices.
      data_callback: from the index of a part, a slice for each dimension, to its elements. It is
        called once for each part that this process holds, of which several devices may hold a copy.
      dtype: of the elements; the function must return it. A process that holds no part must know.

    Returns:
      The array, committed to the devices.

    Raises:
      ValueError: a part has another shape than its index, or another dtype.

    >>> import numpy as np, covector as cv
    >>> sharding = cv.NamedSharding(cv.make_mesh((1,), ("x",)), cv.P("x"))
    >>> rows = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    >>> cv.make_array_from_callback((2, 3), sharding, lambda index: rows[index]).shape
    (2, 3)
    """
    where = "make_array_from_callback"
    sharding = sharding.sharding if isinstance(sharding, Format) else sharding
    check_shape(where, sharding, shape)
    made: dict[Any, ArrayImpl] = {}
    parts = []
    for device, index, _, _ in local_parts(sharding, tuple(shape)):
        place = place_of(index)
        if place not in made:
            made[place] = part_of(data_callback(index))
        parts.append(move(made[place], placement_on(device, True)))
    if dtype is not None and any(part.dtype != _canonical(dtype) for part in parts):
        raise ValueError(errors.part_dtype(where, dtype, [part.dtype for part in parts]))
    return _assembled(where, shape, sharding, parts, dtype)


def _canonical(dtype: Any) -> Any:
    return dtypes.canonicalize_dtype(dtype, allow_extended_dtype=True)


def part_of(value: Any) -> ArrayImpl:
    """What a callback returned, as an array on one device."""
    return value if isinstance(value, ArrayImpl) else put(np.asarray(value))


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[ArrayImpl], *, dtype: Any = None
) -> ArrayImpl:
    """An array made of arrays that lie on one device each, without copying them.

    Args:
      shape: of the whole array.
      sharding: how it is spread over devices.
      arrays: for each of the devices of this process, in any order, its part.
      dtype: of the elements, for processes that hold no part.

    Returns:
      The array, committed to the devices.

    Raises:
      TypeError: `arrays` is no list or tuple, or holds something else than arrays.
      ValueError: a device has no part or two, or a part has another shape than it should.

    >>> import covector as cv, covector.numpy as jnp
    >>> sharding = cv.NamedSharding(cv.make_mesh((1,), ("x",)), cv.P("x"))
    >>> cv.make_array_from_single_device_arrays((3,), sharding, [jnp.arange(3)]).sharding.spec
    P('x',)
    """
    where = "make_array_from_single_device_arrays"
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(errors.parts_not_listed(where, arrays))
    for x in arrays:
        if not isinstance(x, ArrayImpl):
            raise TypeError(errors.part_not_an_array(where, x))
    check_shape(where, sharding, shape)
    if dtype is not None and any(x.dtype != _canonical(dtype) for x in arrays):
        raise ValueError(errors.part_dtype(where, dtype, [x.dtype for x in arrays]))
    return _assembled(where, shape, sharding, arrays, dtype)


def _assembled(
    where: str, shape: Sequence[int], sharding: Sharding, arrays: Sequence[ArrayImpl], dtype: Any
) -> ArrayImpl:
    """The array of which each device of this process holds one of these."""
    devices = [device for device in device_order(sharding) if is_local(device)]
    if len(arrays) != len(devices):
        raise ValueError(errors.number_of_parts(where, len(devices), len(arrays)))
    on = {x.device: x for x in arrays if x._spread is None}
    if set(on) != set(devices):
        raise ValueError(errors.devices_of_parts(where, devices, [x.device for x in arrays]))
    parts = [on[device] for device in devices]
    want = sharding.shard_shape(tuple(shape))
    for x in parts:
        if x.shape != want:
            raise ValueError(errors.shape_of_part(where, tuple(shape), sharding, want, x.shape))
    if len({x.dtype for x in parts}) > 1:
        raise ValueError(errors.part_dtype(where, parts[0].dtype, [x.dtype for x in parts]))
    if not parts and dtype is None:
        raise ValueError(process_errors.no_dtype(where, shape))
    if parts:
        aval = ShapedArray(tuple(shape), parts[0].dtype, weak_type=parts[0].weak_type)
    else:
        aval = ShapedArray(tuple(shape), _canonical(dtype))
    placement = placement_by(sharding)
    if sharding.num_devices == 1 and parts:
        return ArrayImpl(parts[0]._buffer, aval, placement)
    buffers = [x._buffer for x in parts]
    return ArrayImpl(joined(buffers, physical_aval(aval), sharding), aval, placement)
