"""The wording of errors about products of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Dims = Sequence[int]


def not_a_precision(precision: object, names: Iterable[object], presets: Iterable[str]) -> str:
    return (
        f"[precision] Precision argument must be one of these, but got {precision!r}:\n"
        "  None, a lax.Precision, or a pair of these for the two operands;\n"
        f"  the name of one: {', '.join(repr(name) for name in names if name)};\n"
        f"  a lax.DotAlgorithm, a lax.DotAlgorithmPreset, or its name: {', '.join(presets)}."
    )


def algorithm_wants_float8(algorithm: object, lhs: object, rhs: object) -> str:
    return (
        f"[dot_general] The dot algorithm {algorithm} takes operands of 8-bit floats, but they are "
        f"{lhs} and {rhs}. Convert both, or choose another algorithm."
    )


def algorithm_not_on_cpu(algorithm: object, supported: Iterable[object]) -> str:
    return (
        f"[dot_general] The precision '{algorithm}' is not supported by dot_general on CPU. CPUs "
        f"support {', '.join(sorted(map(str, supported)))}."
    )


def dimension_numbers_needed(lhs: Dims, rhs: Dims) -> str:
    return (
        "[dot] dimension_numbers must be specified unless the operands are vectors or matrices of "
        f"which the last dimension of lhs and the first of rhs agree; their shapes are "
        f"{tuple(lhs)} and {tuple(rhs)}."
    )


def dims_out_of_range(side: str, batch: Dims, contracting: Dims, shape: Dims) -> str:
    return (
        f"dot_general requires {side} dimension numbers to be nonnegative and less than the number "
        f"of its axes, which is {len(shape)} for shape {tuple(shape)}, but {side}_batch is "
        f"{tuple(batch)} and {side}_contracting is {tuple(contracting)}."
    )


def dims_repeat(side: str, kind: str, dims: Dims) -> str:
    return f"dot_general requires {side} {kind} dimensions to be distinct, but got {tuple(dims)}."


def dims_overlap(side: str, batch: Dims, contracting: Dims) -> str:
    return (
        f"dot_general requires {side} batch dimensions to be disjoint from contracting dimensions, "
        f"but {side}_batch is {tuple(batch)} and {side}_contracting is {tuple(contracting)}."
    )


def batch_counts_differ(lhs_batch: Dims, rhs_batch: Dims) -> str:
    return (
        "dot_general requires equal numbers of lhs_batch and rhs_batch dimensions, but they are "
        f"{tuple(lhs_batch)} and {tuple(rhs_batch)}."
    )


def sizes_differ(kind: str, lhs_sizes: Dims, rhs_sizes: Dims, lhs: Dims, rhs: Dims) -> str:
    return (
        f"dot_general requires {kind} dimensions to have the same shape, got {tuple(lhs_sizes)} "
        f"and {tuple(rhs_sizes)}: lhs has shape {tuple(lhs)}, rhs has shape {tuple(rhs)}."
    )


def dtypes_incompatible(lhs: object, rhs: object) -> str:
    return (
        f"lax.dot_general argument type error: {lhs}, {rhs}. Neither of these dtypes takes in the "
        "other; convert one of the operands."
    )


def preferred_too_narrow(preferred: object, result: object) -> str:
    return (
        "[dot_general] `preferred_element_type` must not be narrower than the original type: it is "
        f"{preferred}, and the product is of dtype {result}. Convert the result instead."
    )


def batch_matmul_ranks(lhs: Dims, rhs: Dims) -> str:
    return (
        "[batch_matmul] The operands must be matrices, or batches of matrices with equally many "
        f"dimensions, but their shapes are {tuple(lhs)} and {tuple(rhs)}."
    )


# ---------------------------------------------------------------- ragged products


def group_offset() -> str:
    return "[ragged_dot] group_offset is not supported; slice the groups out before the product."


def group_sizes_dtype(dtype: object) -> str:
    return f"[ragged_dot] group_sizes must be integers, but their dtype is {dtype}."


def group_sizes_shape(wanted: Dims, given: Dims) -> str:
    return f"[ragged_dot] expected group_sizes to have shape {tuple(wanted)}, got {tuple(given)}."


def ragged_dimensions(dims: Dims, rank: int) -> str:
    return (
        f"[ragged_dot] ragged_dot_general expects exactly one lhs ragged dimension, of {rank}, but "
        f"lhs_ragged_dimensions are {tuple(dims)}."
    )


def group_dimensions(dims: Dims, wanted: int) -> str:
    return (
        f"[ragged_dot] ragged_dot_general takes {wanted} rhs group dimensions here, none of them a "
        f"batch or contracting one, but rhs_group_dimensions are {tuple(dims)}."
    )


def group_count(given: int, wanted: int) -> str:
    return (
        f"[ragged_dot] The right operand has {given} groups, but there are {wanted} group_sizes: "
        f"expected rhs group dimension size to be {wanted}, got {given}."
    )


def scales_do_not_fit(shape: Dims, scales: Dims) -> str:
    return (
        f"[scaled_dot] An operand of shape {tuple(shape)} cannot have scales of shape "
        f"{tuple(scales)}: of as many dimensions, each must divide that of the operand."
    )
