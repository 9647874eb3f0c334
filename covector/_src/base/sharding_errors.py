"""What errors about meshes of devices, and arrays spread over them, say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


class DuplicateSpecError(Exception):
    """A specification names an axis of a mesh twice."""


class NoMeshError(ValueError, RuntimeError):
    """A specification speaks of a mesh, and none is in use."""


class IndivisibleError(ValueError):
    """A dimension cannot be cut into equal parts."""


# ---------------------------------------------------------------- meshes


def devices_and_names(ndim: int, names: Sequence[Any]) -> str:
    return (
        f"[Mesh] `axis_names` must name each dimension of the array of devices once: it has {ndim} "
        f"dimensions, and the names are {tuple(names)}."
    )


def no_axis_name(where: str, names: Sequence[Any]) -> str:
    return f"[{where}] None is no name of an axis, but the names are {tuple(names)}."


def not_axis_types(where: str, types: Any) -> str:
    return f"[{where}] `axis_types` must hold a `sharding.AxisType` for each axis, not {types!r}."


def axis_types_count(where: str, names: Sequence[Any], types: Sequence[Any]) -> str:
    return (
        f"[{where}] There must be one axis type for each axis: the names are {tuple(names)}, the "
        f"types {tuple(types)}."
    )


def no_devices(what: str) -> str:
    return (
        f"An AbstractMesh has no {what}: it says only how many devices there are along each axis. "
        "Use a `Mesh` of devices."
    )


def too_few_devices(shape: Sequence[int], available: int) -> str:
    return (
        f"[make_mesh] A mesh of shape {tuple(shape)} takes more devices than there are: {available}"
    )


def not_as_many_devices(shape: Sequence[int], count: int) -> str:
    return f"[create_device_mesh] A mesh of shape {shape} does not take all of the {count} devices."


def not_a_mesh(where: str, wanted: str, mesh: Any) -> str:
    return f"[{where}] The mesh must be a `sharding.{wanted}`, not {mesh!r} of type {type(mesh)}."


def not_a_block(mesh: Any, mine: Sequence[Any]) -> str:
    return (
        f"[Mesh.local_mesh] The devices of this process, {[d.id for d in mine]}, are no block of "
        f"{mesh}, and so no mesh by themselves. Use a mesh of which they are one, as `make_mesh` "
        "gives it, or make arrays by `make_array_from_single_device_arrays`."
    )


def only_outside(where: str, instead: str) -> str:
    return f"[{where}] It can be used only outside of transformed functions; {instead}."


def mesh_size_changes(new: Any, previous: Any) -> str:
    return (
        "[use_abstract_mesh] The size of the mesh in use cannot change: it is "
        f"{previous.size} ({previous}), and would become {new.size} ({new})."
    )


def no_mesh(where: str, spec: Any) -> str:
    return (
        f"[{where}] A PartitionSpec needs a mesh, and none is in use: {spec}. Enter one by "
        "`with set_mesh(mesh):`, or give a `NamedSharding(mesh, spec)`."
    )


# ---------------------------------------------------------------- specifications


def nested_names(entry: Any) -> str:
    return (
        f"[PartitionSpec] The entry {entry!r} holds names of axes, and one of them is a tuple; "
        "write the names side by side."
    )


def not_a_spec(where: str, spec: Any) -> str:
    return f"[{where}] A `PartitionSpec` is needed, not {spec!r} of type {type(spec)}."


def axis_twice(spec: Any, name: Any) -> str:
    return (
        f"[NamedSharding] {spec} names the axis {name!r} twice; an axis of a mesh may divide one "
        "dimension of an array at most."
    )


def axis_not_in_mesh(spec: Any, name: Any, names: Sequence[Any]) -> str:
    return (
        f"[NamedSharding] {spec} names the axis {name!r}, which the mesh lacks; its axes are "
        f"{tuple(names)}."
    )


def sharding_without_devices(where: str, sharding: Any) -> str:
    return (
        f"[{where}] {sharding} is over a mesh without devices. Use a `Mesh` of devices, or enter "
        "one of the same axes by `with set_mesh(mesh):`."
    )


def rank_too_low(where: str, spec: Any, shape: Sequence[int]) -> str:
    return (
        f"[{where}] {spec} is for arrays of at least {len(spec)} dimensions, but the array has "
        f"shape {tuple(shape)}."
    )


def other_rank(sharding: Any, ndim: int, shape: Sequence[int]) -> str:
    return f"{sharding} is for arrays of {ndim} dimensions, but the array has shape {tuple(shape)}."


def parts_not_one_buffer(aval: Any, sharding: Any) -> str:
    return (
        f"[__dlpack__] an array of type {aval} is spread over several devices by {sharding}; other "
        "libraries can take its parts, `x.addressable_shards[i].data`."
    )


def indivisible(sharding: Any, shape: Sequence[int], axis: int, parts: int) -> str:
    return (
        f"{sharding} cuts dimension {axis} into {parts} parts, which should evenly divide the "
        f"shape {tuple(shape)}, but the size is {shape[axis]}. Pad the array, or leave the "
        "dimension whole."
    )


def spmd_axis_used(spec: Any, names: Any) -> str:
    return (
        f"[vmap] the spmd_axis_name {names} names an axis that a sharding constraint within, "
        f"{spec}, uses already. Let the examples be distributed over another axis of the mesh."
    )


# ---------------------------------------------------------------- devices of programs


def incompatible_devices(where: str, claims: Sequence[tuple[str, Sequence[Any]]]) -> str:
    listed = "; ".join(
        f"{who} on devices {[device.id for device in devices]} on platform "
        f"{devices[0].platform.upper()}"
        for who, devices in claims
    )
    return (
        f"[{where}] Received incompatible devices for jitted computation: {listed}. A program runs "
        "on one list of devices: move its arguments there with `device_put`, and use shardings "
        "over one mesh."
    )


def other_sharding(where: str, position: int, aval: Any, before: Any, wanted: Any) -> str:
    return (
        f"[{where}] Sharding passed to jit does not match the sharding on the respective arg: "
        f"argument {position} of type {aval} lies by {before}, and in_shardings asks for {wanted}. "
        "Move it there with `device_put`, or leave the sharding out."
    )


def unconstrained(where: str, sharding: Any) -> str:
    return (
        f"[{where}] Unconstrained dims are not allowed, as in {sharding}, but in "
        "`with_sharding_constraint`. Leave the dimension whole, or leave the sharding out."
    )


def compiled_for_others(where: str, wrong: Sequence[tuple[str, Any, Any, Any]]) -> str:
    listed = "".join(
        f"\n  argument {name} of type {aval} lies by {got}, and is to lie by {want}"
        for name, aval, got, want in wrong
    )
    return (
        f"[{where}] The program was compiled for input shardings that disagree with the shardings "
        f"of these arguments; move them there with `device_put`:{listed}"
    )


def shardings_and_device() -> str:
    return (
        "[jit] `device` and `backend` say where a program runs, and so do `in_shardings` and "
        "`out_shardings`; give one or the other. `SingleDeviceSharding(device)` is a sharding."
    )


def shardings_and_keywords() -> str:
    return (
        "[jit] in_shardings are for positional arguments, and the call has keyword arguments; pass "
        "these by position."
    )


def not_a_sharding(where: str, sharding: Any) -> str:
    return (
        f"[{where}] Not a sharding: {sharding!r} of type {type(sharding)}. Give a "
        "`NamedSharding`, a `SingleDeviceSharding`, or a `PartitionSpec` within `set_mesh`."
    )


# ---------------------------------------------------------------- arrays made of parts


def part_dtype(where: str, wanted: Any, dtypes: Sequence[Any]) -> str:
    found = ", ".join(sorted({str(dtype) for dtype in dtypes}))
    return f"[{where}] The parts must all be of dtype {wanted}, but there are parts of {found}."


def parts_not_listed(where: str, arrays: Any) -> str:
    return f"[{where}] `arrays` must be a list or tuple of arrays, not a {type(arrays)}."


def part_not_an_array(where: str, x: Any) -> str:
    return (
        f"[{where}] The parts must be arrays on their devices, not a {type(x)}; put it there with "
        "`device_put`."
    )


def number_of_parts(where: str, devices: int, parts: int) -> str:
    return f"[{where}] There must be a part for each of the {devices} devices, but got {parts}."


def devices_of_parts(where: str, wanted: Sequence[Any], found: Sequence[Any]) -> str:
    return (
        f"[{where}] Each of the devices {[d.id for d in wanted]} must hold one part, but the parts "
        f"lie on {', '.join(map(str, found))}."
    )


def shape_of_part(where: str, shape: Any, sharding: Any, wanted: Any, found: Any) -> str:
    return (
        f"[{where}] Expected shard shape {wanted}, as {sharding} cuts an array of shape {shape}, "
        f"but a part has shape {found}."
    )


def local_shape(where: str, wanted: Any, found: Any) -> str:
    return (
        f"[{where}] One process has all of the data: global_shape must be None or the shape of the "
        f"data, {found}, not {wanted}."
    )


def no_such_groups(device: object, key: str) -> str:
    return (
        f"[create_hybrid_device_mesh] the device {device} does not have attribute {key}, by which "
        "devices are grouped. If each process is a group, pass process_is_granule=True."
    )


def not_as_many_groups(count: int, shape: tuple[int, ...]) -> str:
    return (
        f"[create_hybrid_device_mesh] there are {count} groups of devices, and dcn_mesh_shape "
        f"{shape} takes {math.prod(shape)}. Give a shape of which {count} is the product."
    )


def no_spec(where: str) -> str:
    return (
        f"[{where}] `None` is not a valid input to the pspecs argument: write PartitionSpec() for "
        "an array of which each device is to have the whole."
    )


def other_layout(layout: object, ndim: int) -> str:
    return (
        f"[device_put] Arrays lie in memory with their last dimension innermost, but {layout} was "
        f"asked for an array of rank {ndim}. Pass no layout; `with_layout_constraint` gives values "
        "within a program another one."
    )
