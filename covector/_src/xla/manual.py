"""Manual computations in modules: a part of a program that each device runs on its own parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.jaxpr import ClosedJaxpr
from ..ops.replicas import Region
from ..sharding.mesh import AbstractMesh, Mesh
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec
from .mlir import ir
from .module import ModuleContext

# Specifications with the types of the whole arrays that they are for.
Spread = Sequence[tuple[PartitionSpec, Any]]


def manual_computation(
    b: Any,
    mesh: Any,
    axes: frozenset[Any],
    jaxpr: ClosedJaxpr,
    operands: Sequence[Any],
    in_specs: Sequence[PartitionSpec],
    out_specs: Sequence[PartitionSpec],
) -> list[Any]:
    """Write a program that is mapped over axes of a mesh; see `control/shard_map.py`.

    Args:
      b: the emitter.
      mesh, axes: the mesh, and the axes of it that the program is mapped over.
      jaxpr: the program.
      operands: MLIR values of the whole arrays.
      in_specs, out_specs: which parts of the arrays the program takes and returns.
    """
    ins, outs = list(zip(in_specs, b.avals_in)), list(zip(out_specs, b.avals_out))

    def body(*parts: Any) -> list[Any]:
        return b.inline(jaxpr, parts, "shard_map")

    return manual_region(b, mesh, axes, operands, ins, outs, jaxpr.in_avals, body)


def manual_region(
    b: Any,
    mesh: Any,
    axes: frozenset[Any],
    operands: Sequence[Any],
    ins: Spread,
    outs: Spread,
    part_avals: Sequence[Any],
    body: Callable[..., Sequence[Any]],
) -> list[Any]:
    """Write what each device does on its own, along some axes of a mesh.

    Args:
      b: the emitter.
      mesh, axes: the mesh and the axes.
      operands: MLIR values of whole arrays.
      ins, outs: how operands and results are cut.
      part_avals: the types of the parts of the operands.
      body: from MLIR values of the parts to those of the parts of the results.
    """
    module: ModuleContext = b.module_context
    if isinstance(mesh, AbstractMesh):  # it stands for one of the program's devices
        devices = np.array(module.devices, object).reshape(mesh.axis_sizes)
        mesh = Mesh(devices, mesh.axis_names, mesh.axis_types)
    around, manual = module.region, axes
    if around is not None:
        manual = axes | around.manual
    module.region = Region(mesh, manual, _numbers(module, mesh))
    try:
        if not module.devices:  # there is one, whose parts are the wholes
            return list(body(*operands))
        free = bool(module.region.others)
        op = ir.Operation.create(
            "sdy.manual_computation",
            results=[module.type_of(aval) for _, aval in outs],
            operands=operands,
            attributes={
                "in_shardings": _shardings(module, mesh, ins, free),
                "out_shardings": _shardings(module, mesh, outs, free),
                "manual_axes": _manual_axes(mesh, axes),
            },
            regions=1,
        )
        block = op.regions[0].blocks.append(*map(module.type_of, part_avals))
        with ir.InsertionPoint(block), module.without_parameters():
            results = list(body(*block.arguments))
            ir.Operation.create("sdy.return", results=[], operands=results)
        return list(op.results)
    finally:
        module.region = around


def _numbers(module: ModuleContext, mesh: Any) -> np.ndarray:
    """The program's numbers of the devices of a mesh."""
    places = {device: i for i, device in enumerate(module.devices)}
    numbers = [places.get(device, 0) for device in mesh.devices.flat]
    return np.array(numbers, np.int64).reshape(mesh.devices.shape)


def _shardings(module: ModuleContext, mesh: Any, spread: Spread, free: bool) -> ir.Attribute:
    """How values are cut; what `free` axes there are besides, the compiler may cut them by."""
    texts = [
        module.meshes.sharding(NamedSharding(mesh, spec), aval, range(aval.ndim) if free else ())
        for spec, aval in spread
    ]
    each = ", ".join([text.removeprefix("#sdy.sharding") for text in texts])
    return ir.Attribute.parse(f"#sdy.sharding_per_value<[{each}]>")


def _manual_axes(mesh: Any, axes: frozenset[Any]) -> ir.Attribute:
    names = ", ".join([f'"{name}"' for name in mesh.axis_names if name in axes])
    return ir.Attribute.parse(f"#sdy<manual_axes{{{names}}}>")
