"""What errors of `shard_map` and `pmap` say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# ---------------------------------------------------------------- specifications


def applied_to(fun: Any) -> str:
    """Which call of `shard_map` an error is of."""
    return f"shard_map applied to the function {getattr(fun, '__name__', repr(fun))!r}"


def specs_not_specs(name: str, path: str, value: Any) -> str:
    return (
        f"[shard_map] {name}{path} is {value!r} of type {type(value)}; every leaf of {name} must "
        "be a `PartitionSpec`."
    )


def spec_axis_unknown(name: str, spec: Any, axis: Any, names: Any) -> str:
    return (
        f"[shard_map] {name} refers to {axis!r} in {spec}, but the axes that the function is "
        f"mapped over are {tuple(names)}."
    )


def without_mesh() -> str:
    return (
        "[shard_map] The context mesh cannot be empty. Give `mesh=`, or enter one by "
        "`with set_mesh(mesh):`."
    )


def mesh_without_devices(mesh: Any) -> str:
    return (
        f"[shard_map] {mesh} has no devices to run on. Give a `Mesh`, or enter one of these axes "
        "by `with set_mesh(mesh):`."
    )


def other_mesh(around: Any, mesh: Any) -> str:
    return (
        f"[shard_map] Within a `shard_map` over {around} a function is mapped over axes of the "
        f"same mesh, not of {mesh}. Leave `mesh` out, and name the axes in `axis_names`."
    )


def not_in_mesh(names: Any, mesh_names: Sequence[Any]) -> str:
    return (
        f"[shard_map] `axis_names` has {sorted(map(str, names))}, which the mesh lacks: its axes "
        f"are {tuple(mesh_names)}."
    )


def mapped_already(names: Sequence[Any]) -> str:
    return (
        f"[shard_map] The axes {tuple(names)} are mapped over by a `shard_map` around this one. "
        "Name others in `axis_names`."
    )


def rank_too_low(where: str, name: str, path: str, spec: Any, aval: Any) -> str:
    return (
        f"[{where}] {name} has {spec} for {path}, which has length {len(spec)}, but the array has "
        f"{getattr(aval, 'ndim', 0)} dimensions: its type is {aval}."
    )


def not_divisible(where: str, path: str, spec: Any, aval: Any, dim: int, parts: int) -> str:
    return (
        f"[{where}] in_specs says {spec} of {path} of type {aval}: dimension {dim} of size "
        f"{aval.shape[dim]} is cut into {parts} parts, by which it must be evenly divisible. Pad "
        "the array, or leave the dimension whole."
    )


def not_replicated(where: str, wrong: Sequence[tuple[str, Any, Any, Sequence[Any]]]) -> str:
    lines = [
        f"- {path} of type {aval} has the specification {spec}, which says that it is the same "
        f"along the mesh axes {tuple(axes)}; it may vary along them"
        for path, spec, aval, axes in wrong
    ]
    return (
        f"[{where}] out_specs require replication of results, where that all devices have the "
        "same cannot be statically inferred from the types:\n"
        + "\n".join(lines)
        + "\nReduce over these axes (`lax.psum`, "
        "`lax.pmean`), name them in out_specs, or, if you know the results to be equal, use "
        "`check_vma=False`."
    )


def constrained_within(spec: Any, names: Sequence[Any]) -> str:
    return (
        f"[with_sharding_constraint] {spec} names axes that are manual here, {tuple(names)}: a "
        "`shard_map` around is mapped over them, and gives each device a part of its own. Name "
        "other axes."
    )


# ---------------------------------------------------------------- transformations


def wrong_parts(wanted: Sequence[Any], given: Sequence[Any]) -> str:
    return (
        f"the program of one device takes parts of types {', '.join(map(str, wanted))}, but the "
        f"specifications cut the operands into {', '.join(map(str, given))}"
    )


def spmd_axis_in_use(names: Sequence[Any], in_specs: Any, out_specs: Any) -> str:
    return (
        f"[shard_map] vmap spmd_axis_name cannot appear in the specifications, but it has "
        f"{tuple(names)}: in_specs={in_specs}, out_specs={out_specs}. An axis cuts one dimension."
    )


def examples_mixed(names: Sequence[Any]) -> str:
    return (
        f"[shard_map] vmap spmd_axis_name has {tuple(names)}, along which the examples would be "
        "cut, but the mapped function has collectives over them, which would mix the examples. "
        "(The sum of a derivative may be one: take that outside of `jit`, or the vmap inside.)"
    )


def batch_not_divisible(size: int, names: Sequence[Any], parts: int) -> str:
    return (
        f"[vmap of shard_map] A batch of {size} cannot be cut into {parts} equal parts along the "
        f"axes {tuple(names)} of the mesh."
    )


# ---------------------------------------------------------------- pmap


def pmap_nothing_mapped() -> str:
    return (
        "pmap requires at least one argument with a mapped axis. Give an array whose entry in "
        "`in_axes` is not None."
    )


def pmap_local_size(size: int, devices: int) -> str:
    return (
        f"[pmap] In each of several processes the mapped axis has an entry for each of its "
        f"devices, of which this one has {devices}; but the axis has the size {size}."
    )


def pmap_sizes(size: int, devices: int) -> str:
    return (
        f"[pmap] The mapped axis has size {size}, and each entry needs a device of its own: there "
        f"{'is' if devices == 1 else 'are'} {devices}. Use `vmap`, which maps on one device."
    )


def pmap_sizes_differ(sizes: Sequence[tuple[str, int]]) -> str:
    each = ", ".join([f"{path} has {size}" for path, size in sizes])
    return (
        f"pmap got inconsistent sizes for array axes to be mapped: {each}. All mapped axes must "
        "have one size."
    )


def pmap_only_integers(which: str, axis: Any) -> str:
    return (
        f"pmap {which} must be an int, None, or a tree of these, but one of its leaves is {axis!r}."
    )


def pmap_axis_missing(path: str, shape: Sequence[int], axis: int) -> str:
    return (
        f"[pmap] in_axes says {axis} of the argument {path}, but it has {len(shape)} dimensions: "
        f"its shape is {tuple(shape)}."
    )


def pmap_within(mesh: Any) -> str:
    return (
        f"[pmap] The devices are in use: a `pmap` or `shard_map` around this one is mapped over "
        f"{mesh}. Use `vmap` within it, or one `shard_map` over a mesh of several axes."
    )


def pmap_without_devices() -> str:
    return "[pmap] `devices` is empty. Name some, or leave it out: then all devices may be used."


def pmap_same_devices(devices: Sequence[Any]) -> str:
    shown = ", ".join(map(str, devices))
    return f"[pmap] `devices` name a device twice: {shown}. Each entry needs one of its own."


# ---------------------------------------------------------------- smap


def smap_only_integers(which: str, axis: Any) -> str:
    return f"[smap] {which} must be an int, None, or a tree of these, but it has the leaf {axis!r}."


def smap_axis_missing(axis: int, aval: Any) -> str:
    return f"[smap] There is no dimension {axis} in an array of type {aval}."
