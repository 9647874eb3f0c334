"""`NamedSharding`: a mesh, and how its axes divide an array."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..base import sharding_errors as errors
from ..xla.native import xla_client
from .base import Index, Sharding
from .current import in_use
from .mesh import EMPTY_ABSTRACT_MESH, AbstractMesh, Mesh, mesh_in_use
from .spec import PartitionSpec


class NamedSharding(Sharding):
    """Each dimension of an array is divided by the axes of a mesh that a specification names.

    Args:
      mesh: the mesh.
      spec: a `PartitionSpec`.
      memory_kind: which memory of the devices holds the parts; the default one if None.

    Raises:
      ValueError: the specification names an axis that the mesh lacks.
      DuplicateSpecError: it names an axis twice.

    >>> import covector as cv
    >>> from covector.sharding import AbstractMesh, NamedSharding, PartitionSpec as P
    >>> NamedSharding(AbstractMesh((2, 3), ("x", "y")), P(None, ("x", "y"))).shard_shape((5, 12))
    (5, 2)
    >>> mesh = cv.make_mesh((1,), ("x",))
    >>> cv.device_put(cv.numpy.ones(4), NamedSharding(mesh, P("x"))).sharding.spec
    P('x',)
    """

    __slots__ = ("_memory_kind", "mesh", "spec")

    def __init__(
        self, mesh: Mesh | AbstractMesh, spec: PartitionSpec, *, memory_kind: str | None = None
    ):
        if not isinstance(mesh, (Mesh, AbstractMesh)):
            raise TypeError(errors.not_a_mesh("NamedSharding", "Mesh", mesh))
        if not isinstance(spec, PartitionSpec):
            raise TypeError(errors.not_a_spec("NamedSharding", spec))
        seen = set()
        for name in spec.names():
            if name not in mesh.axis_names:
                raise ValueError(errors.axis_not_in_mesh(spec, name, mesh.axis_names))
            if name in seen:
                raise errors.DuplicateSpecError(errors.axis_twice(spec, name))
            seen.add(name)
        if memory_kind is None and isinstance(mesh, Mesh) and not mesh.empty:
            memory_kind = mesh.devices.flat[0].default_memory().kind
        self.mesh = mesh
        self.spec = spec
        self._memory_kind = memory_kind

    # ---------------------------------------------------------------- devices

    @property
    def memory_kind(self) -> str | None:
        return self._memory_kind

    @property
    def num_devices(self) -> int:
        return self.mesh.size

    @property
    def device_set(self) -> set[Any]:
        return {*self.mesh.devices.flat}

    @property
    def _device_assignment(self) -> tuple[Any, ...]:
        """The devices in the order of the mesh; by this name programs know them."""
        return tuple(self.mesh.devices.flat)

    # ---------------------------------------------------------------- parts

    def _parts(self, dimension: int) -> int:
        """Into how many parts a dimension is cut."""
        sizes = self.mesh.shape
        return math.prod(sizes[name] for name in self.spec.axes_of(dimension))

    def _divisor(self) -> int:
        return math.prod(self._parts(i) for i in range(len(self.spec)))

    @property
    def is_fully_replicated(self) -> bool:
        return self._divisor() == 1

    @property
    def replicated_axes(self) -> frozenset[Any]:
        """The axes of the mesh along which all devices hold the same."""
        used = {*self.spec.names()} | self.spec.unreduced | self.spec.reduced
        return frozenset(self.mesh.axis_names) - used

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        """Raise ValueError if arrays of this shape have fewer dimensions than the specification."""
        if len(aval_shape) < len(self.spec):
            raise ValueError(errors.rank_too_low("NamedSharding", self.spec, aval_shape))

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        shape = []
        for i, size in enumerate(global_shape):
            parts = self._parts(i)
            if size % parts:
                raise errors.IndivisibleError(errors.indivisible(self, global_shape, i, parts))
            shape.append(size // parts)
        return tuple(shape)

    def devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Any, Index]:
        shape = self.shard_shape(global_shape)
        devices = self.mesh.devices
        return {
            devices[place]: tuple(
                self._slice_at(dict(zip(self.mesh.axis_names, place)), i, size)
                for i, size in enumerate(shape)
            )
            for place in np.ndindex(devices.shape)
        }

    def _slice_at(self, place: Mapping[Any, int], dimension: int, size: int) -> slice:
        """The part of a dimension, of `size`, that the device at a place of the mesh holds."""
        names = self.spec.axes_of(dimension)
        sizes = tuple(self.mesh.shape[name] for name in names)
        if math.prod(sizes) == 1:
            return slice(None)
        number = int(np.ravel_multi_index([place[name] for name in names], sizes))
        return slice(number * size, (number + 1) * size)

    def _to_xla_hlo_sharding(self, num_dimensions: int) -> Any:
        return _of_spec(self.mesh.shape_tuple, self.spec, num_dimensions)

    # ---------------------------------------------------------------- values

    def update(self, **changes: Any) -> NamedSharding:
        """The same sharding but for the given arguments."""
        spec = changes.pop("spec", self.spec)
        fields = {"mesh": self.mesh, "memory_kind": self._memory_kind} | changes
        return NamedSharding(
            spec=spec if isinstance(spec, PartitionSpec) else PartitionSpec(*spec), **fields
        )

    def with_memory_kind(self, kind: str) -> NamedSharding:
        """The same sharding in another memory of the devices."""
        return self.update(memory_kind=kind)

    def _key(self) -> tuple[Any, ...]:
        return self.mesh, self.spec, self._memory_kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedSharding) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        kind = "" if self._memory_kind is None else f", memory_kind={self._memory_kind}"
        return f"NamedSharding(mesh={self.mesh!s}, spec={self.spec}{kind})"


def named(where: str, sharding: Any) -> Any:
    """A PartitionSpec as a sharding on the mesh in use; anything else as it is.

    A sharding over a mesh without devices is one over the mesh in use, if that has these axes.
    """
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh):
        used = in_use().mesh
        same = used is not None and used.abstract_mesh.shape_tuple == sharding.mesh.shape_tuple
        return sharding.update(mesh=used) if same else sharding
    if not isinstance(sharding, PartitionSpec):
        return sharding
    mesh = mesh_in_use()
    if mesh.empty:
        raise errors.NoMeshError(errors.no_mesh(where, sharding))
    return NamedSharding(mesh, sharding)


@cache
def unspecified(ndim: int) -> NamedSharding:
    """The sharding of arrays of which nothing is said: each dimension is whole, on no mesh."""
    return NamedSharding(EMPTY_ABSTRACT_MESH, PartitionSpec(*[None] * ndim))


@cache
def _of_spec(axes: tuple[tuple[Any, int], ...], spec: PartitionSpec, ndim: int) -> Any:
    """The compiler's words for a specification: shapes and orders of tiles and devices."""
    names, sizes = [name for name, _ in axes], dict(axes)
    order = spec.names()
    parts = [math.prod(sizes[name] for name in spec.axes_of(i)) for i in range(ndim)]
    if math.prod(parts) == 1:
        return xla_client.HloSharding.replicate()
    rest = [name for name in names if name not in order]
    copies = math.prod(sizes[name] for name in rest)
    # The tiles in order are those of the axes that divide; the devices in order those of the mesh.
    return xla_client.HloSharding.iota_tile(
        (*parts, copies) if copies > 1 else parts,
        reshape_dims=[size for _, size in axes],
        transpose_perm=[names.index(name) for name in [*order, *rest]],
        subgroup_types=[xla_client.OpSharding.Type.REPLICATED] if copies > 1 else [],
    )
