"""The wording of errors about sorting and searching for the greatest elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Shape = Sequence[int]


def nothing_to_sort() -> str:
    return "[sort] Sort requires at least one operand, but the sequence of operands is empty."


def num_keys(count: int, operands: int) -> str:
    if operands == 1:
        return (
            f"[sort] num_keys={count} must equal 1 for a single operand. Give a tuple of arrays to "
            "sort by several of them."
        )
    return (
        f"[sort] num_keys={count} must be between 1 and {operands}, the number of operands: the "
        "first num_keys operands are those to sort by."
    )


def sort_shapes(shapes: Iterable[Shape]) -> str:
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return (
        f"[sort] Arguments to sort must have equal shapes, got: {listed}. Broadcast them to one "
        "shape first."
    )


def complex_top_k(aval: object) -> str:
    return (
        f"[top_k] top_k is not compatible with complex inputs, but the operand is {aval}. Take its "
        "absolute value, or its real part."
    )


def negative_k(k: int) -> str:
    return f"[top_k] k argument to top_k must be nonnegative, got {k}."


def top_k_of_scalar(name: str, aval: object) -> str:
    return (
        f"[{name}] {name} operand must have >= 1 dimension, got {aval}. Elements are compared "
        "along a dimension."
    )


def top_k_axis(axis: int, shape: Shape) -> str:
    return (
        f"[top_k] axis argument out of range: axis={axis}, but the operand of shape "
        f"{tuple(shape)} has {len(shape)} dimensions."
    )


def k_exceeds_size(k: int, axis: int, shape: Shape) -> str:
    return (
        "[top_k] k argument to top_k must be no larger than size along axis; got "
        f"k={k} with shape={tuple(shape)} and axis={axis}."
    )


def top_k_overflow(shape: Shape, limit: int) -> str:
    return (
        "[top_k] top_k returns int32 indices, which will overflow for array dimensions larger "
        f"than the maximum int32 ({limit}). The operand has shape {tuple(shape)}: search parts "
        "of it."
    )


def approx_k_not_positive(k: int) -> str:
    return f"[approx_top_k] k must be positive, got {k}."


def approx_k_exceeds_size(k: int, size: int) -> str:
    return (
        "[approx_top_k] k must be smaller than the size of reduction_dim "
        f"{size}, got {k}; it may be as large."
    )


def approx_not_floating(aval: object) -> str:
    return (
        f"[approx_top_k] operand must be a floating type, but is {aval}. Convert it, or use "
        "lax.top_k."
    )
