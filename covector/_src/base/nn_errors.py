"""What errors about neural networks' functions say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Shape = Sequence[int]

# ---------------------------------------------------------------- functions


def odd_axis(shape: Shape, axis: int) -> str:
    return (
        f"[glu] The axis must be divisible by 2 into values and gates, but axis {axis} of shape "
        f"{tuple(shape)} has size {shape[axis]}."
    )


def unknown_algorithm(algorithm: Any) -> str:
    return (
        f"[standardize] Unknown algorithm '{algorithm}'. Give algorithm='fast' or "
        "algorithm='stable'."
    )


def one_hot_floats(dtype: Any) -> str:
    return (
        f"jax.nn.one_hot input should be integer-typed; got dtype={dtype}. Convert the indices "
        "first: `x.astype(int)`."
    )


def one_hot_axis_size(axis: Any, num_classes: int, size: int) -> str:
    return (
        f"[one_hot] Expected num_classes to match the size of axis {axis}, but {num_classes} != "
        f"{size}: along a named axis each class has one position."
    )


def traced_num_classes(aval: Any, origin: str) -> str:
    return (
        f"The number of classes is traced, of type {aval}{origin}, but it decides a shape, and "
        "must be known. The error arose in jax.nn.one_hot argument `num_classes`. Give a Python "
        "integer, or make the argument static: `jit(..., static_argnames=...)`."
    )


# ---------------------------------------------------------------- attention


def attention_rank(name: str, rank: int, shape: Shape) -> str:
    return (
        f"[dot_product_attention] {name} ndim should be {rank}, but got {len(shape)}: its shape is "
        f"{tuple(shape)}."
    )


def attention_dtype(name: str, wanted: Any, dtype: Any) -> str:
    return (
        f"[dot_product_attention] {name} dtype should be {wanted}, but got {dtype}. Convert it: "
        f"`{name}.astype({wanted})`."
    )


def attention_shape(name: str, wanted: Sequence[int | None], shape: Shape) -> str:
    sizes = ", ".join("any" if size is None else str(size) for size in wanted)
    return f"[dot_product_attention] {name} shape should be ({sizes}): but got {tuple(shape)}."


def attention_heads(queries: int, keys: int) -> str:
    return (
        "[dot_product_attention] The number of query heads must be a multiple of key/value heads, "
        f"but got {queries} vs {keys}."
    )


def attention_implementation(implementation: Any) -> str:
    return (
        f"[dot_product_attention] Unsupported implementation option: {implementation}. Give 'xla', "
        "or None, which is the same."
    )


# ---------------------------------------------------------------- scaled products


def scaled_ranks(shapes: Sequence[Shape]) -> str:
    return (
        "scaled_matmul requires all inputs to be 3-dimensional arrays, but got shapes "
        f"{', '.join(map(str, shapes))}."
    )


def scaled_contraction(what: str, a: Shape, b: Shape) -> str:
    return (
        f"scaled_matmul requires {what} to have matching batch (B) and contract (K) dimensions, "
        f"but got shapes {tuple(a)} and {tuple(b)}."
    )


def scaled_rows(a: Shape, b: Shape, a_scales: Shape, b_scales: Shape) -> str:
    return (
        "scaled_matmul requires scales to match non-contract dimensions of inputs, but got shapes "
        f"a: {tuple(a)}, b: {tuple(b)}, a_scales: {tuple(a_scales)}, b_scales: {tuple(b_scales)}."
    )


def scaled_blocks(name: str, size: int, blocks: int) -> str:
    return (
        f"[scaled_matmul] The contracted dimension of {name}, of size {size}, cannot be cut into "
        f"{blocks} blocks of one size, one for each scale."
    )


def scaling_mode(mode: Any) -> str:
    return f"[get_scaled_dot_general_config] Unsupported mode: {mode}. Give 'nvfp4' or 'mxfp8'."


def scaled_result_dtype(dtype: Any) -> str:
    return (
        "[scaled_dot_general] Only support preferred_element_type in (f32, bf16, f16), but got "
        f"{dtype}."
    )


def block_size(size: int, block: int) -> str:
    return (
        f"[scaled_dot_general] The contracted size {size} is no multiple of the block size {block} "
        "of the configuration. Pad the operands with zeros."
    )


# ---------------------------------------------------------------- initializers


def fans_of_rank(rank: int) -> str:
    return (
        f"Can't compute input and output sizes of a {rank}-dimensional weights tensor with default "
        "in_axis. Must be at least 2D or specify in_axis explicitly."
    )


def scaling_option(what: str, value: Any, valid: Sequence[str]) -> str:
    return (
        f"invalid {what} for variance scaling initializer: {value}. Give one of "
        f"{', '.join(map(repr, valid))}."
    )


def orthogonal_rank(shape: Shape) -> str:
    return f"orthogonal initializer requires at least a 2D shape, but got {tuple(shape)}."


def delta_orthogonal_rank(shape: Shape) -> str:
    return f"Delta orthogonal initializer requires a 3D, 4D or 5D shape, but got {tuple(shape)}."


def delta_orthogonal_fans(shape: Shape) -> str:
    return (
        "[delta_orthogonal] `fan_in` must be less or equal than `fan_out`, the last two sizes, but "
        f"the shape is {tuple(shape)}."
    )


def no_sharding(where: str) -> str:
    return (
        f"[{where}] The argument `out_sharding` is not supported. Move the result: "
        "`device_put(weights, sharding)`."
    )
