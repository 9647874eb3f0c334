"""The wording of errors about gathers and scatters.

Each names the function, the dimension numbers and shapes that were given, and what to give instead.
"""

from __future__ import annotations

from collections.abc import Sequence

Shape = Sequence[int]


def unknown_mode(mode: object) -> str:
    return (
        f"There is no mode {mode!r} for indices out of bounds. The modes are 'clip', 'fill' or "
        "'drop', 'promise_in_bounds', and for `take_along_axis` 'one_hot'."
    )


def one_hot(name: str) -> str:
    return (
        f"[{name}] The mode 'one_hot' is one of `jnp.take_along_axis` alone. Give 'clip', 'fill' "
        "or 'promise_in_bounds'."
    )


def no_fill_value(dtype: object) -> str:
    return (
        f"[gather] There is no usual fill value for the dtype {dtype}. Give `fill_value`, or a "
        "mode other than 'fill'."
    )


# ---------------------------------------------------------------- dimension numbers


def indices_dtype(name: str, dtype: object) -> str:
    return f"[{name}] Indices must have an integer type, but their dtype is {dtype}."


def no_index_dimension(name: str) -> str:
    return (
        f"[{name}] The last dimension of the indices holds the coordinates of one index, but they "
        "are a scalar. Give them a dimension of size 1 with `indices[None]`."
    )


def _op(name: str) -> str:
    """The kind of an op, as errors name it: `gather op` or `scatter op`."""
    return f"{name.partition('-')[0]} op"


def dims_not_sorted(name: str, field: str, dims: Shape) -> str:
    return f"[{name}] {field} in {_op(name)} must be sorted, but are {tuple(dims)}."


def dims_repeat(name: str, field: str, dims: Shape) -> str:
    return f"[{name}] {field} in {_op(name)} must not repeat, but are {tuple(dims)}."


def dims_outside(name: str, field: str, dims: Shape, what: str, rank: int) -> str:
    return (
        f"[{name}] Invalid {field} set in {_op(name)}; valid range is [0, {rank}), the dimensions "
        f"of the {what}, but they are {tuple(dims)}."
    )


def mapping_outside(name: str, field: str, dims: Shape, rank: int) -> str:
    return (
        f"[{name}] Invalid {field} mapping: it is {tuple(dims)}, but the dimensions of the operand "
        f"are numbers in [0, {rank})."
    )


def offset_outside(name: str, position: int, dims: Shape, rank: int) -> str:
    return (
        f"[{name}] Offset dimension {position} in {_op(name)} is out of bounds: offset_dims are "
        f"{tuple(dims)}, but the result has {rank} dimensions."
    )


def batching_coordinates(name: str, field: str, dims: Shape, last: int) -> str:
    return (
        f"[{name}] {field} are {tuple(dims)}, but the index vector dimension as a batching "
        f"dimension makes no sense: dimension {last} of the indices holds the coordinates."
    )


def dims_overlap(name: str, fields: tuple[str, str], dims: tuple[Shape, Shape]) -> str:
    return (
        f"[{name}] {fields[0]} and {fields[1]} in {_op(name)} must be disjoint, but are "
        f"{tuple(dims[0])} and {tuple(dims[1])}."
    )


def index_length(name: str, field: str, dims: Shape, shape: Shape) -> str:
    return (
        f"[{name}] {field} must name a dimension for each coordinate of an index, but are "
        f"{tuple(dims)}, where the last dimension of the indices, of shape {tuple(shape)}, has "
        f"size {shape[-1]}."
    )


def batching_counts(name: str, fields: tuple[str, str], dims: tuple[Shape, Shape]) -> str:
    return (
        f"[{name}] {_op(name).capitalize()} requires equal numbers of {fields[0]} and {fields[1]}, "
        f"but they are {tuple(dims[0])} and {tuple(dims[1])}."
    )


def batching_sizes(name: str, operand: Shape, indices: Shape) -> str:
    return (
        f"[{name}] The batching dimensions of operand and indices must have the same sizes, but "
        f"those have {tuple(operand)} and these {tuple(indices)}."
    )


def window_rank(name: str, fields: Sequence[str], dims: Sequence[Shape], shape: Shape) -> str:
    listed = ", ".join(f"{field}={tuple(d)}" for field, d in zip(fields, dims))
    return (
        f"[{name}] {_op(name).capitalize()} has window of size {sum(map(len, dims))}; doesn't "
        f"match operand of rank {len(shape)}. Each dimension of the operand, of shape "
        f"{tuple(shape)}, must be kept in the windows, dropped, or a batching one: {listed}."
    )


# ---------------------------------------------------------------- sizes


def slice_sizes_count(sizes: Shape, shape: Shape) -> str:
    return (
        "[gather] Gather op must have one slice size for every input dimension, but slice_sizes "
        f"are {tuple(sizes)} for an operand of shape {tuple(shape)}."
    )


def slice_sizes_outside(dim: int, sizes: Shape, shape: Shape) -> str:
    return (
        f"[gather] Slice size at index {dim} in gather op is out of range: slice_sizes are "
        f"{tuple(sizes)} for an operand of shape {tuple(shape)}."
    )


def slice_size_dropped(field: str, dim: int, sizes: Shape) -> str:
    return (
        f"[gather] A dimension in {field} has slices of size 1, but in dimension {dim} the size "
        f"is {sizes[dim]}: slice_sizes are {tuple(sizes)}."
    )


def updates_rank(name: str, shape: Shape, indices: Shape, dims: Shape) -> str:
    rank = len(indices) - 1 + len(dims)
    return (
        f"[{name}] Updates tensor must be of rank {rank}; got {len(shape)}. They have the "
        f"dimensions of the indices but for the last one, {len(indices) - 1}, and those of the "
        f"windows, {len(dims)}, but their shape is {tuple(shape)}."
    )


def updates_batch(name: str, given: Shape, indices: Shape) -> str:
    return (
        f"[{name}] Bounds of the scatter dimensions differ: but for update_window_dims, the "
        f"updates must have the sizes of the indices, of shape {tuple(indices)}, without the last; "
        f"they have {tuple(given)}."
    )


def updates_window(name: str, given: Shape, most: Shape) -> str:
    return (
        f"[{name}] Bounds of the window dimensions exceed those of the operand: in "
        f"update_window_dims the updates have the sizes {tuple(given)}, the operand has "
        f"{tuple(most)}."
    )


# ---------------------------------------------------------------- derivatives


def repeated_factors() -> str:
    return (
        "scatter_mul gradients are only implemented if `unique_indices=True`: with respect to "
        "updates that may meet at one element. Promise it if it is so, or combine the updates "
        "before."
    )


def repeated_apply() -> str:
    return (
        "scatter_apply has a derivative only where unique_indices=True: otherwise the function may "
        "be applied to one element several times. Promise it if it is so, or write "
        "`x.at[i].set(f(x[i]))`."
    )


def apply_captures(aval: object) -> str:
    return (
        f"[scatter_apply] The function uses a traced value of type {aval} from outside. Only what "
        "is known while tracing may be used in it; write `x.at[i].set(f(x[i]))` instead."
    )


def apply_result(given: object, wanted: object) -> str:
    return (
        f"[scatter_apply] The function must return a scalar of its argument's type {wanted}, but "
        f"returned {given}."
    )
