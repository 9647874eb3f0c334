"""Texts of errors of foreign functions: those of covector.ffi."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def not_a_result_type(position: int, value: Any) -> str:
    return (
        "[ffi_call] All elements of result_shape_dtypes must have a shape and a dtype, as "
        f"`covector.ShapeDtypeStruct` has, but that at position {position} is {value!r}."
    )


def legacy_config(version: int) -> str:
    return (
        "[ffi_call] The use of the legacy_backend_config is for targets of an untyped interface, "
        f"custom_call_api_version < 4, but the version is {version}. Pass attributes by keyword "
        "to the function that ffi_call returns."
    )


def attributes_without_types(names: Sequence[str], version: int) -> str:
    return (
        "[ffi_call] The use of ffi_call attributes requires the typed interface, "
        f"custom_call_api_version >= 4, but {list(names)} were given with version {version}. Put "
        "what the target has to know into legacy_backend_config."
    )


def config_not_a_dict(config: Any) -> str:
    return (
        f"[ffi_lowering] backend_config is {config!r}, but targets of the typed interface "
        "(api_version >= 4) take attributes by name. Pass a dict of MLIR attributes."
    )


def number_of_layouts(what: str, layouts: int, values: int) -> str:
    return (
        f"[ffi_call] {what}_layouts has {layouts} entries, but there are {values} {what}s. Give "
        "one for each; None means rows one after another."
    )


def tiled(layout: Any) -> str:
    return (
        f"[ffi] the layout {layout} has tiles, which foreign functions do not know. Give a layout "
        "without tiling, or the order of the dimensions."
    )


def alias_out_of_range(pair: tuple[int, int], what: str, count: int) -> str:
    return (
        f"[ffi_call] input_output_aliases maps input {pair[0]} to output {pair[1]}, with {what} "
        f"index out of range: there are {count} {what}s."
    )


def alias_types_differ(pair: tuple[int, int], given: Any, result: Any) -> str:
    return (
        f"[ffi_call] input_output_aliases maps input {pair[0]} to output {pair[1]}, referring to "
        f"an input with abstract value {given} and an output with {result}. What shares memory "
        "must have one type."
    )


def alias_layouts_differ(pair: tuple[int, int], given: Any, result: Any) -> str:
    return (
        f"[ffi_call] input_output_aliases maps input {pair[0]} to output {pair[1]}, referring to "
        f"an input with layout {given} and an output with layout {result} (dimensions of the "
        "smallest stride first). What shares memory must have one layout."
    )


def not_hashable(name: str, value: Any) -> str:
    return (
        f"[ffi_call] the attribute {name} is {value!r}, which is not hashable. Attributes are "
        "numbers, strings, NumPy arrays, and dicts or tuples of these."
    )


def not_differentiable(target: str) -> str:
    return (
        f"[ffi_call] the foreign function `{target}` cannot be differentiated: what it computes is "
        "not known here. Put the call into a function with `covector.custom_jvp` or "
        "`covector.custom_vjp`, which say what its derivative is."
    )


def type_ids_are_gone(name: str) -> str:
    return (
        f"[register_ffi_type_id] jaxlib no longer takes a type id alone (here for {name!r}). Call "
        'register_ffi_type with {"type_id": ...}.'
    )


def kernels_not_loaded(path: Any, error: Exception) -> str:
    return (
        f"Covector's own kernels at {path} cannot be used with this jaxlib ({error}); programs are "
        "made of XLA's operations instead. Install Covector again to compile the kernels anew, or "
        "set the flag native_kernels to False."
    )
