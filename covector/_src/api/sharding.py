"""Where arrays lie: meshes of the devices there are, and shardings as constraints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np

from ..base import sharding_errors as errors
from ..base import tree
from ..sharding.mesh import AxisType, Mesh
from ..xla.devices import devices as all_devices
from ..xla.placement import SingleDeviceSharding
from .constraints import constrained_as


def create_device_mesh(
    mesh_shape: tuple[int, ...],
    devices: Any = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """An array of devices, in their order.

    Args:
      mesh_shape: its shape.
      devices: as many devices as that takes; by default those of the default platform.
      contiguous_submeshes, allow_split_physical_axes: how the devices of TPUs may be arranged,
        which have an order in space.

    Raises:
      ValueError: there are more or fewer devices.

    >>> from covector.experimental import mesh_utils
    >>> mesh_utils.create_device_mesh((1, 1)).shape
    (1, 1)
    """
    chosen = all_devices() if devices is None else devices
    if math.prod(mesh_shape) != len(chosen):
        raise ValueError(errors.not_as_many_devices(tuple(mesh_shape), len(chosen)))
    return np.array(chosen, object).reshape(mesh_shape)


def create_hybrid_device_mesh(
    mesh_shape: tuple[int, ...],
    dcn_mesh_shape: tuple[int, ...],
    devices: Any = None,
    *,
    process_is_granule: bool = False,
    should_sort_granules_by_key: bool = True,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """An array of devices in groups, within which the network is faster than between them.

    Along each axis, neighbours are in one group as far as it reaches.

    Args:
      mesh_shape: the shape of the array of each group.
      dcn_mesh_shape: the shape of the array of groups, of as many dimensions.
      devices: by default those of the default platform.
      process_is_granule: whether a group are the devices of one process; otherwise, of one slice,
        which devices tell as `slice_index`.
      should_sort_granules_by_key: whether groups are in the order of these numbers, and not in
        that of `devices`.
      allow_split_physical_axes: as for `create_device_mesh`.

    Returns:
      An array of the shape of products of both shapes.

    Raises:
      ValueError: there are more or fewer groups, or devices in one; or devices have no slices.

    >>> from covector.experimental import mesh_utils
    >>> mesh_utils.create_hybrid_device_mesh((1, 1), (1, 1), process_is_granule=True).shape
    (1, 1)
    """
    chosen = all_devices() if devices is None else devices
    key = "process_index" if process_is_granule else "slice_index"
    if not hasattr(chosen[0], key):
        raise ValueError(errors.no_such_groups(chosen[0], key))
    groups: dict[int, list[Any]] = {}
    for device in chosen:
        groups.setdefault(getattr(device, key), []).append(device)
    if math.prod(dcn_mesh_shape) != len(groups):
        raise ValueError(errors.not_as_many_groups(len(groups), tuple(dcn_mesh_shape)))
    order = sorted(groups) if should_sort_granules_by_key else groups
    options = dict(allow_split_physical_axes=allow_split_physical_axes)
    blocks = [create_device_mesh(tuple(mesh_shape), groups[k], **options) for k in order]
    # (groups along each axis..., devices along each axis...), then pairwise: groups, devices.
    stacked = np.stack(blocks).reshape(*dcn_mesh_shape, *mesh_shape)
    ndim = len(mesh_shape)
    pairwise = stacked.transpose([axis for i in range(ndim) for axis in (i, ndim + i)])
    return pairwise.reshape([m * n for m, n in zip(dcn_mesh_shape, mesh_shape)])


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[str],
    axis_types: tuple[AxisType, ...] | None = None,
    *,
    devices: Sequence[Any] | None = None,
) -> Mesh:
    """A mesh of the first devices there are.

    Args:
      axis_shapes: how many devices there are along each axis.
      axis_names: the axes' names.
      axis_types: the axes' types; `AxisType.Explicit` by default.
      devices: the devices to take them from; by default those of the default platform.

    Raises:
      ValueError: there are too few devices.

    >>> import covector as cv
    >>> cv.make_mesh((1, 1), ("rows", "columns")).shape_tuple
    (('rows', 1), ('columns', 1))
    """
    available = all_devices() if devices is None else devices
    shape = tuple(axis_shapes)
    count = math.prod(shape)
    if count > len(available):
        raise ValueError(errors.too_few_devices(shape, len(available)))
    types = (AxisType.Explicit,) * len(shape) if axis_types is None else axis_types
    return Mesh(create_device_mesh(shape, available[:count]), axis_names, types)


def make_single_device_sharding(
    device: Any, *, memory_kind: str | None = None
) -> SingleDeviceSharding:
    """The sharding of arrays that lie whole on a device."""
    return SingleDeviceSharding(device, memory_kind=memory_kind)


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """Arrays where shardings say they are to lie.

    Within a compiled program the compiler follows them, also where a dimension cannot be cut into
    equal parts; gradients are spread as the values are. What is left out of a specification stays
    whole, and what is `PartitionSpec.UNCONSTRAINED` is left to the compiler.

    Args:
      x: a tree of arrays.
      shardings: a sharding, or a `PartitionSpec` within `set_mesh`; or a tree of them that is a
        prefix of `x`.

    Returns:
      The tree of arrays.

    Raises:
      ValueError: a specification has more entries than its array dimensions, or there is no mesh.

    >>> import covector as cv
    >>> mesh = cv.make_mesh((1,), ("x",))
    >>> sharding = cv.NamedSharding(mesh, cv.P("x"))
    >>> cv.jit(lambda x: cv.lax.with_sharding_constraint(2 * x, sharding))(cv.numpy.ones(2))
    Array([2., 2.], dtype=float32)
    """
    return _constrained("with_sharding_constraint", x, shardings)


def _constrained(where: str, x: Any, shardings: Any) -> Any:
    leaves, treedef = tree.flatten(x)
    targets = tree.flatten_axes(f"{where} shardings", treedef, shardings)
    return treedef.unflatten([constrained_as(where, *pair) for pair in zip(leaves, targets)])


def reshard(xs: Any, out_shardings: Any) -> Any:
    """Arrays spread in another way.

    Args:
      xs: a tree of arrays.
      out_shardings: a sharding, or a `PartitionSpec` within `set_mesh`; or a prefix tree of them.

    Returns:
      The tree of arrays.

    >>> import covector as cv
    >>> with cv.set_mesh(cv.make_mesh((1,), ("x",))):
    ...     cv.sharding.reshard(cv.numpy.ones(3), cv.P("x")).sharding.spec
    P('x',)
    """
    return _constrained("reshard", xs, out_shardings)


def auto_axes(
    f: Callable[..., Any] | None = None, /, *, axes: Any = None, out_sharding: Any = None
) -> Any:
    """Decorator: leave it to the compiler how arrays within a function are spread.

    Args:
      f: a function of trees of arrays.
      axes: the axes of the mesh in use that are meant; all by default.
      out_sharding: how the result is spread; it may also be given, by this name, to each call.

    Returns:
      The function, whose results lie as `out_sharding` says.
    """
    if f is None:
        return partial(auto_axes, axes=axes, out_sharding=out_sharding)

    @wraps(f)
    def spread(*args: Any, **kwargs: Any) -> Any:
        target = kwargs.pop("out_sharding", None) if out_sharding is None else out_sharding
        out = f(*args, **kwargs)
        return out if target is None else reshard(out, target)

    return spread


def explicit_axes(
    f: Callable[..., Any] | None = None, /, *, axes: Any = None, in_sharding: Any = None
) -> Any:
    """Decorator: let the arguments of a function say how arrays within it are spread.

    Args:
      f: a function of trees of arrays.
      axes: the axes of the mesh in use that are meant; all by default.
      in_sharding: how the arguments are spread; it may also be given, by this name, to each call.

    Returns:
      The function, whose arguments lie as `in_sharding` says.
    """
    if f is None:
        return partial(explicit_axes, axes=axes, in_sharding=in_sharding)

    @wraps(f)
    def spread(*args: Any, **kwargs: Any) -> Any:
        target = kwargs.pop("in_sharding", None) if in_sharding is None else in_sharding
        return f(*(args if target is None else reshard(args, target)), **kwargs)

    return spread
