"""The wording of errors about named axes, and about the collectives that act over them."""

from __future__ import annotations

from collections.abc import Sequence


def unbound_axis(where: str, name: object, bound: Sequence[tuple]) -> str:
    listed = ", ".join([f"{axis[0]!r} of size {axis[1]}" for axis in bound])
    return (
        f"Found an unbound axis name: {name}. To fix this, please call {where} under "
        f"`vmap(..., axis_name={name!r})` or under `shard_map` over a mesh that has it. Axes in "
        f"scope: {listed or 'none'}."
    )


def axis_not_mapped(where: str, names: Sequence[object]) -> str:
    return (
        f"[{where}] the program to compile acts over the axes {tuple(names)}, which nothing maps "
        "over. Axes given by `axis_env` of `make_jaxpr` serve for tracing alone; map over them "
        "with `vmap(..., axis_name=...)` to run the function."
    )


def groups_not_a_partition(where: str, groups: object, size: int | None = None) -> str:
    of = "" if size is None else f" of an axis of size {size}"
    return (
        f"[{where}] axis_index_groups must cover all indices exactly once{of}, got {groups}. Give "
        "each index from 0 on in one group."
    )


def groups_differ_in_size(where: str, groups: object) -> str:
    return f"[{where}] all axis_index_groups must have the same size, got {groups}."


def groups_of_positions(where: str, axes: object) -> str:
    return (
        f"[{where}] axis_index_groups can only be used with reductions over named axes, but got: "
        f"{axes}. Reduce over the positional axes first."
    )


def groups_of_several_axes(where: str, names: object) -> str:
    return (
        f"[{where}] axis_index_groups not supported in vmap collectives over several axes: the "
        f"groups are of indices of {names} together. Use one axis, or reshape it into two."
    )


def several_axes(where: str, names: object, mapped: object) -> str:
    return (
        f"[{where}] under the vmap of the axis {mapped!r}, one axis only is supported, got {names}."
        " Act over one axis after the other."
    )


def not_a_permutation(where: str, perm: object, fact: str) -> str:
    return f"[{where}] `perm` does not represent a permutation: {perm}, since {fact}."


def source_outside(source: int, name: object, size: int) -> str:
    return (
        f"[pbroadcast] the source {source} is no index of the axis {name!r} of size {size}: "
        f"indices go from 0 to {size - 1}."
    )


def split_size(where: str, dim: int, shape: Sequence[int], names: object, size: int) -> str:
    return (
        f"[{where}] dimension {dim} of an array of shape {tuple(shape)} is split over the axis "
        f"{names} of size {size}, and {shape[dim]} is not {size}. With tiled=True it need only be "
        "a multiple of it."
    )


def split_size_tiled(where: str, dim: int, shape: Sequence[int], names: object, size: int) -> str:
    return (
        f"[{where}] dimension {dim} of an array of shape {tuple(shape)} is split over the axis "
        f"{names} of size {size}: {shape[dim]} has to be divisible by {size}. Pad the array first."
    )


def gathers_to(to: object) -> str:
    return (
        f"[all_gather] Got unexpected `to` value {to!r}. Results are 'varying', or within "
        "`shard_map` 'invarying'."
    )


def ragged_not_integers(name: str, dtype: object) -> str:
    return f"[ragged_all_to_all] {name} must be integer type, but are of dtype {dtype}."


def ragged_not_a_vector(name: str, shape: Sequence[int]) -> str:
    return (
        f"[ragged_all_to_all] {name} must be rank 1 with positive dimension size, but got shape "
        f"{tuple(shape)}: one number for each slice."
    )


def ragged_groups() -> str:
    return (
        "[ragged_all_to_all] axis_index_groups not supported in vmap. Map over two axes, and "
        "exchange over one of them."
    )


def names_in_a_set(names: object) -> str:
    return f"[pcast] axis_name={names!r} must be a tuple or a str: a set has no order."


def casts_to(to: object, kinds: Sequence[str]) -> str:
    return f"[pcast] Got unexpected `to` value {to!r}. Allowed `to` values are: {tuple(kinds)}."


def no_such_cast(to: str) -> str:
    return (
        f"[pcast] There are no values that are {to}. Cast to 'varying', and add up by `lax.psum` "
        "what is to be the same."
    )


def variation_within(primitive: str, axes: Sequence[object]) -> str:
    return (
        f"[shard_map] {primitive} applies a function that acts over the axes {tuple(axes)} of the "
        "mesh, and along which of them its results vary cannot be told. Use "
        "`shard_map(..., check_vma=False)`."
    )
