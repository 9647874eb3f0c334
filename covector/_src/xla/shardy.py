"""Shardings in modules: the meshes that a module names, and the attributes that refer to them."""

from __future__ import annotations

from typing import Any

from ..core.avals import ShapedArray
from ..ops.physical import physical_aval
from ..sharding.base import Sharding
from ..sharding.mesh import Mesh
from ..sharding.named import NamedSharding
from ..sharding.spec import UNCONSTRAINED
from .gspmd import GSPMDSharding, tiles_of
from .mlir import ir


class Meshes:
    """The meshes that a module names.

    Args:
      module: jaxlib's object for the module; within its context the methods are called.
      devices: those of the program, in its order; the one device if there is one.
    """

    def __init__(self, module: Any, devices: tuple[Any, ...]):
        self.devices = devices
        self._module = module
        self._numbers = {device: i for i, device in enumerate(devices)}
        self._symbols: dict[str, str] = {}
        self._ops: list[Any] = []

    def symbol(self, mesh: Mesh) -> str:
        """The symbol of a mesh of the program's devices."""
        axes = ", ".join(f"{_quoted(name)}={size}" for name, size in mesh.shape_tuple)
        return self._named("mesh", axes, [self._numbers[device] for device in mesh.devices.flat])

    def _named(self, name: str, axes: str, numbers: list[int]) -> str:
        text = f"#sdy.mesh<[{axes}]"
        if numbers != list(range(len(numbers))) or not axes:
            text += f", device_ids={numbers}"
        text += ">"
        symbol = self._symbols.get(text)
        if symbol is None:
            others = sum(s.rstrip("_0123456789") == name for s in self._symbols.values())
            symbol = self._symbols[text] = f"{name}_{others}" if others else name
            with ir.InsertionPoint.at_block_begin(self._module.body):
                op = ir.Operation.create(
                    "sdy.mesh",
                    attributes={
                        "sym_name": ir.StringAttr.get(symbol),
                        "mesh": ir.Attribute.parse(text),
                    },
                )
            self._ops.append(op)
        return symbol

    def to_front(self) -> None:
        """Let the meshes stand before the functions, where readers look for them."""
        for op in reversed(self._ops):
            first = self._module.body.operations[0].operation
            if op != first:
                op.move_before(first)

    def sharding(self, sharding: Sharding, aval: ShapedArray, unconstrained: Any = ()) -> str:
        """A sharding of an array, as the text of an attribute.

        Args:
          sharding: over the program's devices.
          aval: the type of the array.
          unconstrained: the dimensions that the compiler may cut as it likes.
        """
        rank = len(physical_aval(aval).shape)
        if isinstance(sharding, NamedSharding):
            spec, symbol = sharding.spec, self.symbol(sharding.mesh)
            entries = [list(map(_quoted, spec.axes_of(i))) for i in range(rank)]
            free = {i for i, entry in enumerate(spec) if entry is UNCONSTRAINED} | {*unconstrained}
        else:
            symbol, entries = self._tiles(sharding, rank)
            free = {*unconstrained}
        for i in free:
            entries[i].append("?")
        cuts = ", ".join("{" + ", ".join(entry) + "}" for entry in entries)
        return f"#sdy.sharding<@{symbol}, [{cuts}]>"

    def free(self, mesh: Mesh, aval: ShapedArray) -> str:
        """The sharding that leaves all dimensions of an array to the compiler, but none within
        its elements."""
        rank, ndim = len(physical_aval(aval).shape), len(aval.shape)
        cuts = ", ".join(["{?}"] * ndim + ["{}"] * (rank - ndim))
        return f"#sdy.sharding<@{self.symbol(mesh)}, [{cuts}]>"

    def on_first(self, count: int) -> str:
        """The attribute by which the first device alone holds that many results of an operation."""
        each = ", ".join([f"<@{self._named('first', '', [0])}, []>"] * count)
        return f"#sdy.sharding_per_value<[{each}]>"

    def _tiles(self, sharding: Any, rank: int) -> tuple[str, list[list[str]]]:
        """The mesh of which the compiler's own words speak, and the axes of each dimension."""
        tiled = isinstance(sharding, GSPMDSharding) and sharding._hlo_sharding.is_tiled()
        if not tiled:
            axes = f'"all"={len(self.devices)}'
            numbers = list(range(len(self.devices)))
            return self._named("mesh", axes, numbers), [[] for _ in range(rank)]
        parts, holders = tiles_of(sharding._hlo_sharding)
        sizes = [*parts, holders.shape[-1]]
        axes = ", ".join(f'"tile{i}"={size}' for i, size in enumerate(sizes))
        numbers = [int(n) for n in holders.flat]
        entries = [[f'"tile{i}"'] if n > 1 else [] for i, n in enumerate(parts)]
        return self._named("tiles", axes, numbers), entries + [[] for _ in range(rank - len(parts))]


def _quoted(name: Any) -> str:
    text = str(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
