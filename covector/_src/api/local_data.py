"""Arrays over the devices of several processes, made of the data that each process has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes, process_errors, tree
from ..base import sharding_errors as errors
from ..core.array import Array
from ..core.avals import aval_of
from ..sharding.base import Index, Sharding
from ..sharding.mesh import Mesh
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec
from ..xla.array import ArrayImpl, move
from ..xla.devices import process_count
from ..xla.native import Device
from ..xla.parts import local_parts
from ..xla.placement import SingleDeviceSharding, check_shape, placement_by
from .constraints import sharding_of
from .devices import device_put
from .parts import make_array_from_callback, make_array_from_single_device_arrays, part_of

_WHERE = "make_array_from_process_local_data"


def make_array_from_process_local_data(
    sharding: Sharding, local_data: Any, global_shape: Any = None
) -> Any:
    """Arrays spread over devices, of the data that this process has.

    In each dimension the data has the size of the whole array, or of what this process holds of it,
    in the same order. A single process has all of the data.

    Args:
      sharding: how each array is spread, or a device; or a prefix tree of these.
      local_data: a tree of NumPy arrays, of the same types in all processes.
      global_shape: the arrays' shape, or a tree of shapes. None is for data that is what this
        process holds of the array, and of which other processes hold other parts, or the same.

    Returns:
      The tree of arrays.

    Raises:
      ValueError: the data has another shape than `global_shape` and the sharding ask for.

    >>> import numpy as np, covector as cv
    >>> sharding = cv.NamedSharding(cv.make_mesh((1,), ("x",)), cv.P("x"))
    >>> cv.make_array_from_process_local_data(sharding, np.ones(4, np.float32)).sharding.spec
    P('x',)
    """
    leaves, treedef = tree.flatten(local_data)
    shardings = tree.flatten_axes(f"{_WHERE} sharding", treedef, sharding)
    if global_shape is None or isinstance(global_shape, tuple):
        shapes = [global_shape] * len(leaves)
    else:
        shapes = tree.leaves(global_shape, is_leaf=lambda x: x is None or isinstance(x, tuple))
    if len(shapes) != len(leaves):
        found = [aval_of(x).shape for x in leaves]
        raise ValueError(errors.local_shape(_WHERE, global_shape, found))
    made = [_array(x, *target) for x, *target in zip(leaves, shardings, shapes)]
    return treedef.unflatten(made)


def _array(data: Any, target: Any, shape: Sequence[int] | None) -> ArrayImpl:
    """The array of which this process has some data."""
    if isinstance(target, Device):
        target = SingleDeviceSharding(target)
    sharding = sharding_of(_WHERE, target)
    if process_count() > 1:
        return _array_of_many(part_of(data).to_numpy(), sharding, shape)
    found = aval_of(data).shape
    if shape is not None and tuple(shape) != found:
        raise ValueError(errors.local_shape(_WHERE, shape, found))
    check_shape(_WHERE, sharding, found)
    return move(part_of(data), placement_by(sharding))


def _array_of_many(data: np.ndarray, sharding: Sharding, shape: Sequence[int] | None) -> ArrayImpl:
    """The array of which all processes have some data."""
    if shape is None:
        shape = [size * _shares(sharding, data.shape, i) for i, size in enumerate(data.shape)]
    if None in shape:
        raise ValueError(process_errors.global_shape_with_holes(tuple(shape)))
    shape = tuple(shape)
    check_shape(_WHERE, sharding, shape)
    sizes = sharding.shard_shape(shape)
    # For each dimension where the parts begin that this process holds, in order.
    indices = [part.index for part in local_parts(sharding, shape)]
    starts = [sorted({index[i].start or 0 for index in indices}) for i in range(len(shape))]
    for i, (have, whole, size, mine) in enumerate(zip(data.shape, shape, sizes, starts)):
        if have not in (whole, size * len(mine)):
            text = process_errors.local_size(i, data.shape, size * len(mine), shape)
            raise ValueError(text)

    def part(index: Index) -> np.ndarray:
        places = []
        for have, whole, size, mine, piece in zip(data.shape, shape, sizes, starts, index):
            number = mine.index(piece.start or 0)
            places.append(piece if have == whole else slice(number * size, (number + 1) * size))
        return data[tuple(places)]

    return make_array_from_callback(shape, sharding, part, dtype=data.dtype)


def _shares(sharding: Sharding, local: Sequence[int], dimension: int) -> int:
    """Into how many shares the processes divide a dimension.

    Each process has one share, as large as that of any other, and shares are equal or have nothing
    in common.
    """
    if sharding.is_fully_replicated:
        return 1
    trial = (sharding.num_devices,) * len(local)  # which any sharding of these devices can cut
    shares: dict[int, set[int]] = {}
    for device, index in sharding.devices_indices_map(trial).items():
        shares.setdefault(device.process_index, set()).add(index[dimension].start or 0)
    distinct = {frozenset(share) for share in shares.values()}
    covered = frozenset.union(*distinct)
    sizes = {len(share) for share in distinct}
    if len(sizes) > 1 or sum(map(len, distinct)) > len(covered):
        raise ValueError(process_errors.shape_not_told(local, sharding, dimension))
    return len(distinct)


# ---------------------------------------------------------------- blocks of meshes


def is_over_processes(x: Any) -> bool:
    """Whether a value is an array of which other processes hold parts."""
    return isinstance(x, ArrayImpl) and not x.is_fully_addressable


def global_of(x: Any, mesh: Mesh, spec: PartitionSpec) -> Any:
    """The array spread over a mesh of which this process's devices hold what `x` is."""
    if is_over_processes(x):
        return x
    local = NamedSharding(mesh.local_mesh, spec)
    held = device_put(_without_float0(x), local)
    if not mesh.is_multi_process:
        return held
    return _of_parts(held, local, NamedSharding(mesh, spec))


def local_of(x: Any, mesh: Mesh, spec: PartitionSpec) -> Any:
    """What this process's devices hold of an array that is spread over a mesh."""
    if isinstance(x, Array) and not is_over_processes(x):
        return x
    local = NamedSharding(mesh.local_mesh, spec)
    if not isinstance(x, Array):
        return device_put(_without_float0(x), local)
    spread = NamedSharding(mesh, spec)
    return _of_parts(device_put(x, spread), spread, local)


def _of_parts(x: ArrayImpl, before: NamedSharding, after: NamedSharding) -> ArrayImpl:
    """The array that the parts of another one make, which this process holds."""
    sizes = before.shard_shape(x.shape)
    shape = [size * after._parts(i) for i, size in enumerate(sizes)]
    pieces: Sequence[Any] = [shard.data for shard in x.addressable_shards]
    return make_array_from_single_device_arrays(shape, after, pieces)


def _without_float0(x: Any) -> Any:
    return np.zeros(np.shape(x), np.bool_) if dtypes.dtype_of(x) == dtypes.float0 else x
