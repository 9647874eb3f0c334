"""The wording of errors about reductions over windows and cumulative reductions."""

from __future__ import annotations

from collections.abc import Sequence

Dims = Sequence[int]


def not_positive(name: str, what: str, values: Dims) -> str:
    return (
        f"{name} {what} must have every element be an integer of at least 1, got {tuple(values)}."
    )


def lengths_differ(name: str, what: str, values: Sequence[object], shape: Dims) -> str:
    return (
        f"[{name}] {what} must have one entry for each dimension of the operand, but it is "
        f"{tuple(values)}, and the operand's shape is {tuple(shape)}."
    )


def sum_dtype(name: str, dtype: object) -> str:
    return (
        f"[{name}] The operand must have a number dtype, got {dtype}. Booleans can be converted to "
        "integers first."
    )


def operand_shapes(name: str, shapes: Sequence[Dims]) -> str:
    listed = " and ".join(str(tuple(shape)) for shape in shapes)
    return f"[{name}] Operands that are reduced together must have one shape, got {listed}."


def source_shape(name: str, source: Dims, places: Dims) -> str:
    return (
        f"[{name}] The source must hold an element for each place of the window, which are "
        f"{tuple(places)}, but its shape is {tuple(source)}."
    )


def no_operands() -> str:
    return "reduce_window must have at least one operand, but the tree of operands is empty."


def trees_differ(operands: object, init_values: object) -> str:
    return (
        "[reduce_window] Operands must have the same tree structure as init_values, but the "
        f"structures are {operands} and {init_values}."
    )


def init_not_scalar(shapes: Sequence[Dims]) -> str:
    return (
        "reduce_window expected init_values to be scalars but init_values have shapes "
        f"{list(map(tuple, shapes))}. Each must leave every element as it is in the computation."
    )


def init_dtypes(operands: Sequence[object], inits: Sequence[object]) -> str:
    return (
        "reduce_window got inconsistent dtypes for operands and init_values: the operands are "
        f"{', '.join(map(str, operands))}, and init_values {', '.join(map(str, inits))}."
    )


def varying_init() -> str:
    return (
        "[reduce_window] The derivative with respect to init_value does not exist: it must be the "
        "identity of the computation. Use `lax.stop_gradient`."
    )


def dilated_maximum(dilation: Dims) -> str:
    return (
        "[reduce_window] The reverse-mode derivative of a maximum or minimum over windows that are "
        f"dilated, here by {tuple(dilation)}, does not exist. Use forward mode, or "
        "`lax.conv_general_dilated_patches` and a maximum over its features."
    )


# ---------------------------------------------------------------- cumulative reductions


def cumulative_axis(name: str, axis: int, shape: Dims) -> str:
    if axis < 0:
        return (
            f"[{name}] XLA operations do not allow negative axes, but axis is {axis}. Axes are "
            f"counted from 0; the operand's shape is {tuple(shape)}."
        )
    return f"[{name}] axis {axis} is out of bounds for array of shape {tuple(shape)}."


def cumulative_of_scalar(name: str) -> str:
    return (
        f"[{name}] The input must be non-scalar to take a cumulative sum or product of it. Give it "
        "a dimension with `x[None]`."
    )


def cumulative_axis_needed(name: str, shape: Dims) -> str:
    return (
        f"[{name}] The input array has rank {len(shape)}, however `axis` was not given: it may be "
        f"left out only if the rank is 1. The array's shape is {tuple(shape)}."
    )
