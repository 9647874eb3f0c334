"""Arrays over several devices made of parts: from a function, from local data, from arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base import sharding_errors as errors
from ..core.avals import ShapedArray, aval_of
from ..ops.physical import physical_aval
from ..sharding.base import Index, Sharding
from ..xla.array import ArrayImpl, move, put
from ..xla.gspmd import device_order
from ..xla.layout import Format
from ..xla.native import Device
from ..xla.parts import joined
from ..xla.placement import SingleDeviceSharding, check_shape, placement_by, placement_on
from .constraints import sharding_of


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
        called once for each part, of which several devices may hold a copy.
      dtype: of the elements; the function must return it.

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
    indices = sharding.addressable_devices_indices_map(tuple(shape))
    made: dict[Any, ArrayImpl] = {}
    parts = []
    for device in device_order(sharding):
        place = tuple((part.start, part.stop) for part in indices[device])
        if place not in made:
            made[place] = _part(data_callback(indices[device]))
        parts.append(move(made[place], placement_on(device, True)))
    if dtype is not None and any(part.dtype != dtypes.canonicalize_dtype(dtype) for part in parts):
        raise ValueError(errors.part_dtype(where, dtype, [part.dtype for part in parts]))
    return _assembled(where, shape, sharding, parts)


def _part(value: Any) -> ArrayImpl:
    """What a callback returned, as an array on one device."""
    return value if isinstance(value, ArrayImpl) else put(np.asarray(value))


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[ArrayImpl], *, dtype: Any = None
) -> ArrayImpl:
    """An array made of arrays that lie on one device each, without copying them.

    Args:
      shape: of the whole array.
      sharding: how it is spread over devices.
      arrays: for each of the devices, in any order, its part.
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
    if dtype is not None and any(x.dtype != dtypes.canonicalize_dtype(dtype) for x in arrays):
        raise ValueError(errors.part_dtype(where, dtype, [x.dtype for x in arrays]))
    return _assembled(where, shape, sharding, arrays)


def _assembled(
    where: str, shape: Sequence[int], sharding: Sharding, arrays: Sequence[ArrayImpl]
) -> ArrayImpl:
    """The array of which each device holds one of these."""
    devices = device_order(sharding)
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
    aval = ShapedArray(tuple(shape), parts[0].dtype, weak_type=parts[0].weak_type)
    placement = placement_by(sharding)
    if len(devices) == 1:
        return ArrayImpl(parts[0]._buffer, aval, placement)
    buffers = [x._buffer for x in parts]
    return ArrayImpl(joined(buffers, physical_aval(aval), sharding), aval, placement)


def make_array_from_process_local_data(
    sharding: Sharding, local_data: Any, global_shape: Any = None
) -> Any:
    """Arrays spread over devices, of the data that this process has.

    There is one process, which has all of the data.

    Args:
      sharding: how each array is spread, or a device; or a prefix tree of these.
      local_data: a tree of NumPy arrays.
      global_shape: the arrays' shape, or a tree of shapes; that of the data if None.

    Returns:
      The tree of arrays.

    Raises:
      ValueError: an array has another shape than `global_shape` says.

    >>> import numpy as np, covector as cv
    >>> sharding = cv.NamedSharding(cv.make_mesh((1,), ("x",)), cv.P("x"))
    >>> cv.make_array_from_process_local_data(sharding, np.ones(4, np.float32)).sharding.spec
    P('x',)
    """
    where = "make_array_from_process_local_data"
    leaves, treedef = tree.flatten(local_data)
    shardings = tree.flatten_axes(f"{where} sharding", treedef, sharding)
    if global_shape is None or isinstance(global_shape, tuple):
        shapes = [global_shape] * len(leaves)
    else:
        shapes = tree.leaves(global_shape, is_leaf=lambda x: x is None or isinstance(x, tuple))
    if len(shapes) != len(leaves):
        raise ValueError(
            errors.local_shape(where, global_shape, [aval_of(x).shape for x in leaves])
        )
    made = []
    for x, target, shape in zip(leaves, shardings, shapes):
        aval = aval_of(x)
        if isinstance(target, Device):
            target = SingleDeviceSharding(target)
        target = sharding_of(where, target)
        if shape is not None and tuple(shape) != aval.shape:
            raise ValueError(errors.local_shape(where, shape, aval.shape))
        check_shape(where, target, aval.shape)
        made.append(move(_part(x), placement_by(target)))
    return treedef.unflatten(made)
