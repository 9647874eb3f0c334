"""Meshes: devices in an array with named axes."""

from __future__ import annotations

import enum
import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..base import sharding_errors as errors
from . import current


class AxisType(enum.Enum):
    """Who decides how arrays are spread along an axis of a mesh."""

    Auto = enum.auto()  # the compiler
    Explicit = enum.auto()  # the types of the arrays
    Manual = enum.auto()  # the program, as in `shard_map`

    def __repr__(self) -> str:
        return self.name


def _axis_types(where: str, names: Sequence[Any], types: Any) -> tuple[AxisType, ...]:
    if types is None:
        types = (AxisType.Auto,) * len(names)
    types = types if isinstance(types, tuple) else (types,)
    if not all(isinstance(kind, AxisType) for kind in types):
        raise TypeError(errors.not_axis_types(where, types))
    if len(names) != len(types):
        raise ValueError(errors.axis_types_count(where, names, types))
    return types


class _Axes:
    """The named axes of a mesh, of devices or not."""

    axis_names: tuple[Any, ...]
    axis_sizes: tuple[int, ...]
    axis_types: tuple[AxisType, ...]

    @property
    def shape_tuple(self) -> tuple[tuple[Any, int], ...]:
        """The axes' names and sizes."""
        return tuple(zip(self.axis_names, self.axis_sizes))

    @property
    def shape(self) -> OrderedDict[Any, int]:
        """The axes' sizes by name."""
        return OrderedDict(self.shape_tuple)

    @property
    def size(self) -> int:
        """How many devices there are; none in a mesh without axes."""
        return math.prod(self.axis_sizes) if self.axis_names else 0

    @property
    def empty(self) -> bool:
        return self.size == 0

    def _of_type(self, kind: AxisType) -> tuple[Any, ...]:
        return tuple(name for name, t in zip(self.axis_names, self.axis_types) if t is kind)

    @property
    def auto_axes(self) -> tuple[Any, ...]:
        return self._of_type(AxisType.Auto)

    @property
    def explicit_axes(self) -> tuple[Any, ...]:
        return self._of_type(AxisType.Explicit)

    @property
    def manual_axes(self) -> tuple[Any, ...]:
        return self._of_type(AxisType.Manual)

    def _all_of_type(self, kind: AxisType) -> bool:
        return bool(self.axis_types) and set(self.axis_types) == {kind}

    @property
    def are_all_axes_auto(self) -> bool:
        return self._all_of_type(AxisType.Auto)

    @property
    def are_all_axes_explicit(self) -> bool:
        return self._all_of_type(AxisType.Explicit)

    @property
    def are_all_axes_manual(self) -> bool:
        return self._all_of_type(AxisType.Manual)

    def _shown_axes(self) -> str:
        return ", ".join(f"'{name}': {size}" for name, size in self.shape_tuple)

    def _key(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key() == other._key()

    def __hash__(self) -> int:
        found = vars(self).get("_hash")  # asked for whenever an array is put somewhere
        if found is None:
            found = self._hash = hash(self._key())
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_hash"}


class AbstractDevice(NamedTuple):
    """What kind of device a mesh consists of, without the devices."""

    device_kind: str
    num_cores: int | None
    platform: str

    def __repr__(self) -> str:
        return f"AbstractDevice({self.shown()})"

    def shown(self) -> str:
        """The fields in words."""
        return ", ".join(f"{name}={value}" for name, value in self._asdict().items())


class AbstractMesh(_Axes):
    """The axes of a mesh without its devices.

    Args:
      axis_sizes: how many devices there are along each axis.
      axis_names: the axes' names.
      axis_types: the axes' types; `AxisType.Auto` by default.
      abstract_device: what kind of devices they are, or None.

    >>> from covector.sharding import AbstractMesh
    >>> AbstractMesh((2, 3), ("x", "y")).size
    6
    """

    def __init__(
        self,
        axis_sizes: tuple[int, ...],
        axis_names: tuple[str, ...],
        axis_types: AxisType | tuple[AxisType, ...] | None = None,
        *,
        abstract_device: Any = None,
    ):
        self.axis_sizes = tuple(axis_sizes)
        self.axis_names = tuple(axis_names)
        self.axis_types = _axis_types("AbstractMesh", self.axis_names, axis_types)
        self.abstract_device = abstract_device

    @property
    def abstract_mesh(self) -> AbstractMesh:
        return self

    def update(self, **changes: Any) -> AbstractMesh:
        """The same mesh but for the given arguments."""
        fields = ("axis_sizes", "axis_names", "axis_types", "abstract_device")
        return AbstractMesh(**{name: getattr(self, name) for name in fields} | changes)

    def update_axis_types(self, name_to_type: dict[Any, AxisType]) -> AbstractMesh:
        """The same mesh with other types of some axes."""
        types = [name_to_type.get(n, t) for n, t in zip(self.axis_names, self.axis_types)]
        return self.update(axis_types=tuple(types))

    def _without_devices(self, what: str) -> NoReturn:
        raise ValueError(errors.no_devices(what))

    devices = property(lambda self: self._without_devices("devices"))
    device_ids = property(lambda self: self._without_devices("device_ids"))
    local_devices = property(lambda self: self._without_devices("local_devices"))
    local_mesh = property(lambda self: self._without_devices("local_mesh"))
    is_multi_process = property(lambda self: self._without_devices("is_multi_process"))

    def _key(self) -> tuple[Any, ...]:
        return self.shape_tuple, self.axis_types, self.abstract_device

    def __repr__(self) -> str:
        device = self.abstract_device
        kind = "" if device is None else f", {device.shown()}"
        axes = self._shown_axes() if self.axis_names else "()"
        return f"AbstractMesh({axes}, axis_types={self.axis_types}{kind})"


class Mesh(_Axes):
    """Devices in an array with named axes.

    Within `with mesh:` a `PartitionSpec` may stand for a `NamedSharding`.

    Args:
      devices: an array of devices, or a sequence of them for one axis.
      axis_names: a name for each dimension of the array; a single one may stand alone.
      axis_types: a type for each axis; `AxisType.Auto` by default.

    Raises:
      ValueError: there are not as many names, or types, as dimensions.

    >>> import covector as cv
    >>> cv.sharding.Mesh(cv.devices()[:1], "x")
    Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Auto,))
    """

    def __init__(
        self, devices: Any, axis_names: Any, axis_types: tuple[AxisType, ...] | None = None
    ):
        self.devices = np.array(devices)
        self.devices.flags.writeable = False
        names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if None in names:
            raise ValueError(errors.no_axis_name("Mesh", names))
        if self.devices.ndim != len(names):
            raise ValueError(errors.devices_and_names(self.devices.ndim, names))
        self.axis_names = names
        self.axis_sizes = self.devices.shape
        self.axis_types = _axis_types("Mesh", names, axis_types)

    @property
    def device_ids(self) -> np.ndarray:
        """The devices' numbers, in the shape of the mesh."""
        ids = [device.id for device in self.devices.flat]
        return np.array(ids, int).reshape(self.devices.shape)

    @property
    def local_devices(self) -> list[Any]:
        """The devices of this process."""
        return [d for d in self.devices.flat if d.process_index == d.client.process_index()]

    @property
    def local_mesh(self) -> Mesh:
        """The block of the mesh that the devices of this process are.

        Raises:
          ValueError: they are no block.
        """
        mine = self.local_devices
        places = np.argwhere(np.isin(self.devices, mine)) if mine else np.empty((0, 1), int)
        block = (
            tuple(slice(*ends) for ends in zip(places.min(0), places.max(0) + 1)) if mine else ()
        )
        if not mine or self.devices[block].size != len(mine):
            raise ValueError(errors.not_a_block(self, mine))
        return Mesh(self.devices[block], self.axis_names, self.axis_types)

    @property
    def is_multi_process(self) -> bool:
        return self.devices.size != len(self.local_devices)

    @property
    def is_scalar(self) -> bool:
        return self.size == 1 and not self.axis_names

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh without its devices."""
        if self.empty:
            return EMPTY_ABSTRACT_MESH
        device = self.devices.flat[0]
        cores = {"tpu": "num_cores", "gpu": "core_count"}.get(device.platform, "")
        kind = AbstractDevice(device.device_kind, getattr(device, cores, None), device.platform)
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types, abstract_device=kind)

    def update(self, **changes: Any) -> Mesh:
        """The same mesh but for the given arguments."""
        fields = {name: getattr(self, name) for name in ("devices", "axis_names", "axis_types")}
        return Mesh(**fields | {k: v for k, v in changes.items() if v is not None})

    def __enter__(self) -> Mesh:
        current.enter(self)
        return self

    def __exit__(self, *exc_info: Any) -> None:
        current.leave()

    def _key(self) -> tuple[Any, ...]:
        return tuple(self.devices.flat), self.shape_tuple, self.axis_types

    def __str__(self) -> str:
        if self.empty:
            return "Mesh()"
        return f"Mesh({self._shown_axes()}, axis_types={self.axis_types})"

    def __repr__(self) -> str:
        if self.empty:
            return "Mesh(axis_sizes=(), axis_names=())"
        return (
            f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names!r}, "
            f"axis_types={self.axis_types})"
        )


EMPTY_ABSTRACT_MESH = AbstractMesh((), ())
EMPTY_MESH = Mesh(np.empty((), object), ())


# ---------------------------------------------------------------- the mesh in use


def get_abstract_mesh() -> AbstractMesh:
    """The mesh in use, without its devices; an empty one if none is.

    >>> import covector as cv
    >>> cv.sharding.get_abstract_mesh().empty
    True
    """
    found = current.in_use().abstract_mesh
    return EMPTY_ABSTRACT_MESH if found is None else found


def mesh_in_use() -> Mesh | AbstractMesh:
    """The mesh that a PartitionSpec by itself refers to; an empty one if there is none."""
    used = current.in_use()
    if used.mesh is not None:
        return used.mesh
    if used.abstract_mesh is not None:
        return used.abstract_mesh
    return used.entered[-1] if used.entered else EMPTY_MESH
