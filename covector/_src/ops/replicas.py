"""Collectives as StableHLO: which devices act together, and the operations by which they do.

Within `shard_map` one program runs on all devices of a mesh.  XLA numbers them as they stand in the
mesh, and is told for each collective which groups of numbers act together: those that agree in
their places along all axes but the collective's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import axis_errors as errors
from ..base.shapes import inserted, with_size, without
from ..core.avals import ShapedArray
from ..sharding.spec import PartitionSpec

# One channel serves all collectives: XLA tells them apart by itself.
_CHANNEL = "#stablehlo.channel_handle<handle = 1, type = 1>"


class Region:
    """What is known of the `shard_map` whose body is being written.

    Args:
      mesh: its mesh.
      manual: the axes of the mesh that the body is mapped over.
      numbers: the program's numbers of the devices, in the shape of the mesh.

    Two that differ only in who made them are equal.
    """

    __slots__ = ("_numbers", "manual", "mesh")

    def __init__(self, mesh: Any, manual: frozenset[Any], numbers: np.ndarray):
        self.mesh = mesh
        self.manual = manual
        self._numbers = numbers

    def size(self, axis: Any) -> int:
        """The size of an axis."""
        return self.mesh.shape[axis]

    @property
    def others(self) -> frozenset[Any]:
        """The axes that the body is not mapped over."""
        return frozenset(self.mesh.axis_names) - self.manual

    def groups(self, axes: Sequence[Any]) -> np.ndarray:
        """The devices' numbers as a matrix with a row for each group.

        In a group the last of the axes counts fastest.
        """
        names = self.mesh.axis_names
        rest = [name for name in names if name not in axes]
        order = [names.index(name) for name in (*rest, *axes)]
        return self._numbers.transpose(order).reshape(-1, math.prod(map(self.size, axes)))

    def places(self, axis: Any) -> np.ndarray:
        """For each of the program's numbers the device's place along an axis."""
        index = self.mesh.axis_names.index(axis)
        places = np.empty(self._numbers.size, np.int32)
        places[self._numbers] = np.indices(self._numbers.shape, np.int32)[index]
        return places

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Region)
            and (self.mesh, self.manual) == (other.mesh, other.manual)
            and np.array_equal(self._numbers, other._numbers)
        )

    def __hash__(self) -> int:
        return hash((self.mesh, self.manual))


def region_of(b: Any, where: str, axes: Sequence[Any]) -> Region:
    """The region that is being written; raise unless it is mapped over all these axes."""
    region = b.module_context.region
    if region is None or not region.manual.issuperset(axes):
        raise NameError(errors.axis_not_mapped(where, axes))
    return region


def replica_groups(
    b: Any, where: str, axes: Sequence[Any], groups: Sequence[Sequence[int]] | None = None
) -> np.ndarray:
    """The devices' numbers with a row for each group that acts together over the axes.

    Args:
      b: the emitter.
      where: the public function, for errors.
      axes: names of axes of the mesh.
      groups: which positions along the axes act together; None means all of them.
    """
    numbers = region_of(b, where, axes).groups(axes)
    if groups is None:
        return numbers
    width = max(map(len, groups))
    rows = [
        [*row[list(group)], *[-1] * (width - len(group))] for row in numbers for group in groups
    ]
    return np.array(rows)


def all_reduce(
    b: Any,
    where: str,
    kind: Any,
    x: Any,
    axes: Sequence[Any],
    groups: Sequence[Sequence[int]] | None = None,
) -> Any:
    """The reduction of what all devices of a group hold, by a binary op of StableHLO, or by a
    primitive of two operands."""
    return reduced(b, "all_reduce", kind, x, replica_groups(b, where, axes, groups))


def reduced(
    b: Any, op: str, kind: Any, x: Any, groups: np.ndarray, out: Any = None, **more: Any
) -> Any:
    """Write an op that combines what the devices of a group hold."""
    scalar = ShapedArray((), b.avals_out[0].dtype)

    def body(first: Any, second: Any) -> list[Any]:
        if isinstance(kind, str):
            return [b.op(kind, first, second, out=scalar)]
        inner = b.replace(primitive=kind, avals_in=(scalar, scalar), avals_out=(scalar,))
        return [kind.emit(inner, first, second)]

    (result,) = b.op_with_regions(
        op,
        [x],
        [((scalar, scalar), body)],
        out=b.avals_out[:1] if out is None else [out],
        replica_groups=groups,
        channel_handle=_CHANNEL,
        use_global_device_ids=None,
        **more,
    )
    return result


def gathered(b: Any, x: Any, aval: Any, groups: np.ndarray, dim: int, tiled: bool = False) -> Any:
    """The values that all devices of a group hold, of type `aval`, as one array.

    Args:
      b: the emitter.
      x: the device's own value.
      aval: its type.
      groups: the devices' numbers with a row for each group.
      dim: the dimension that counts the devices.
      tiled: whether that dimension is one of the value, along which those of all are joined.
    """
    size = groups.shape[1]
    if not tiled:
        aval = ShapedArray(inserted(aval.shape, dim, 1), aval.dtype)
        kept = without(range(aval.ndim), (dim,))
        x = b.op("broadcast_in_dim", x, out=aval, broadcast_dimensions=kept)
    return exchanged(
        b,
        "all_gather",
        x,
        out=aval.update(shape=with_size(aval.shape, dim, aval.shape[dim] * size)),
        all_gather_dim=dim,
        replica_groups=groups,
        use_global_device_ids=None,
    )


def exchanged(b: Any, op: str, x: Any, **attributes: Any) -> Any:
    """Write an op that moves values between devices."""
    return b.op(op, x, channel_handle=_CHANNEL, **attributes)


def place_along(b: Any, where: str, axis: Any) -> Any:
    """The device's place along an axis of the mesh, an int32 scalar."""
    region = region_of(b, where, (axis,))
    out = ShapedArray((), np.int32)
    # The device's number is known only where the program is mapped over all axes.
    if region.others:
        (place,) = b.manual_region(
            region.mesh,
            region.others,
            operands=(),
            ins=(),
            outs=[(PartitionSpec(), out)],
            part_avals=(),
            body=lambda: [_place(b, region, axis)],
        )
        return place
    return _place(b, region, axis)


def place_along_all(b: Any, where: str, axes: Sequence[Any]) -> Any:
    """The device's place along several axes, of which the last counts fastest."""
    region, out = region_of(b, where, axes), ShapedArray((), np.int32)
    number = b.constant(0, np.int32)
    for axis in axes:
        number = b.op("multiply", number, b.constant(region.size(axis), np.int32), out=out)
        number = b.op("add", number, place_along(b, where, axis), out=out)
    return number


def _place(b: Any, region: Region, axis: Any) -> Any:
    """The same where the program is mapped over all axes: what stands in a table for the device."""
    place, line = ShapedArray((), np.int32), ShapedArray((1,), np.int32)
    number = b.op("partition_id", out=ShapedArray((), np.uint32))
    number = b.op("convert", number, out=place)
    table = b.constant(region.places(axis))
    return b.op(
        "reshape", b.op("dynamic_slice", table, number, out=line, slice_sizes=(1,)), out=place
    )
