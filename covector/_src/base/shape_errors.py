"""The wording of errors about shapes, axes and the sizes of slices.

Each names the function, the shapes that were given, and what to give instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Shape = Sequence[int]


def _listed(shapes: Iterable[Shape]) -> str:
    return ", ".join(str(tuple(shape)) for shape in shapes)


# ---------------------------------------------------------------- axes and shapes in general


def axis_out_of_bounds(axis: int, ndim: int) -> str:
    if ndim == 0:
        return f"axis {axis} is out of bounds for array of dimension 0, which has no axes."
    return (
        f"axis {axis} is out of bounds for array of dimension {ndim}: its axes go from {-ndim} "
        f"to {ndim - 1}."
    )


def not_a_shape(where: str, shape: object) -> str:
    return (
        "Shapes must be 1D sequences of concrete values of integer type, but "
        f"lax.{where} was given {shape}. Under `jit` a size cannot depend on a traced value: make "
        "it a static argument (static_argnums), or compute it outside."
    )


def not_integers(where: str, what: str, values: object) -> str:
    return f"lax.{where}: {what} must be a sequence of concrete integers, but is {values}."


def negative_sizes(where: str, what: str, values: Shape) -> str:
    return f"{where} {what} must have every element be nonnegative, got {tuple(values)}."


# ---------------------------------------------------------------- broadcasting


def incompatible_shapes(shapes: Iterable[Shape]) -> str:
    return (
        f"Incompatible shapes for broadcasting: {_listed(shapes)}. Counted from the last "
        "dimension, the sizes must be equal or 1."
    )


def negative_size_in_broadcast(shape: Shape) -> str:
    return (
        "[broadcast_shapes] Only non-negative indices are allowed as sizes, but one of the shapes "
        f"is {tuple(shape)}."
    )


def broadcast_dims_count(dims: Shape, shape: Shape) -> str:
    return (
        "broadcast_in_dim broadcast_dimensions must have length equal to operand ndim, but "
        f"{tuple(dims)} has {len(dims)} for an operand of shape {tuple(shape)}. Name one output "
        "dimension for each dimension of the operand."
    )


def broadcast_to_lower_rank(shape: Shape, target: Shape) -> str:
    return (
        "broadcast_in_dim target broadcast shape must have equal or higher rank to the operand "
        f"shape: {tuple(shape)} cannot become {tuple(target)}."
    )


def broadcast_dims_outside(dims: Shape, target: Shape) -> str:
    return (
        "broadcast_in_dim broadcast_dimensions must be a subset of output dimensions: the output "
        f"of shape {tuple(target)} has {len(target)}, counted from 0, but got {tuple(dims)}."
    )


def broadcast_dims_repeat(dims: Shape) -> str:
    return (
        f"broadcast_in_dim broadcast_dimensions must not contain duplicates, but are {tuple(dims)}."
    )


def broadcast_sizes_differ(shape: Shape, target: Shape, dims: Shape) -> str:
    return (
        "broadcast_in_dim operand dimension sizes must either be 1, or be equal to their "
        "corresponding dimensions in the target broadcast shape: the operand has shape "
        f"{tuple(shape)}, the target {tuple(target)}, and broadcast_dimensions are {tuple(dims)}."
    )


def cannot_broadcast_to(where: str, shape: Shape, target: Shape) -> str:
    fact = "Incompatible shapes for broadcasting"
    if len(shape) > len(target):
        fact = "Cannot broadcast to shape with fewer dimensions"
    return (
        f"[{where}] {fact}: {tuple(shape)} to {tuple(target)}. Counted from the "
        "last dimension, each size must be 1 or that of the target."
    )


def rank_too_high(shape: Shape, rank: int) -> str:
    return (
        f"[broadcast_to_rank] An array of shape {tuple(shape)} has more than {rank} dimensions. "
        "Dimensions can only be added."
    )


# ---------------------------------------------------------------- reshaping, permuting


def reshape_sizes_negative(new_sizes: Shape) -> str:
    return (
        f"lax.reshape: new_sizes must all be positive or 0, but are {tuple(new_sizes)}. Only "
        "covector.numpy.reshape takes -1 for a size that is to be inferred."
    )


def reshape_changes_size(shape: Shape, new_sizes: Shape, old: int, new: int) -> str:
    return (
        f"lax.reshape: an array of shape {tuple(shape)} has {old} elements and cannot be reshaped "
        f"to {tuple(new_sizes)}, which has {new}."
    )


def reshape_dimensions(dimensions: Shape, shape: Shape) -> str:
    return (
        "lax.reshape: dimensions must be a permutation of operand dimensions, but are "
        f"{tuple(dimensions)} for an operand of shape {tuple(shape)}."
    )


def not_a_permutation(permutation: Shape, shape: Shape) -> str:
    return (
        f"lax.transpose: {tuple(permutation)} is no permutation of the dimensions 0 to "
        f"{len(shape) - 1} of an operand of shape {tuple(shape)}."
    )


def squeeze_not_unique(dimensions: Shape) -> str:
    return f"lax.squeeze: dimensions are not unique: {tuple(dimensions)}."


def squeeze_outside(dimensions: Shape, shape: Shape) -> str:
    return (
        f"lax.squeeze: dimensions {tuple(dimensions)} are not all among those of an array of "
        f"shape {tuple(shape)}."
    )


def squeeze_not_one(dimensions: Shape, shape: Shape) -> str:
    return (
        "lax.squeeze: cannot select an axis to squeeze out unless its size is 1, but the shape "
        f"is {tuple(shape)} and the dimensions are {tuple(dimensions)}."
    )


def expand_repeats(dimensions: Shape) -> str:
    return f"repeated axis in lax.expand_dims: {tuple(dimensions)}."


def collapse_range(shape: Shape, start: int, stop: int | None) -> str:
    return (
        f"lax.collapse: the range of dimensions from {start} to {stop} of an array of shape "
        f"{tuple(shape)} ends before it starts."
    )


def rev_repeats(dimensions: Shape) -> str:
    return f"rev dimensions must be unique, but are {tuple(dimensions)}."


def rev_outside(dimensions: Shape, shape: Shape) -> str:
    return (
        "rev dimensions must all be less than operand ndim, but are "
        f"{tuple(dimensions)} for an operand of shape {tuple(shape)}."
    )


def tile_reps(reps: Shape, shape: Shape) -> str:
    return (
        f"lax.tile: reps must hold one nonnegative number for each dimension of the operand, but "
        f"is {tuple(reps)} for shape {tuple(shape)}."
    )


# ---------------------------------------------------------------- reductions


def axes_repeat(axes: Shape) -> str:
    return f"duplicate value in 'axes' of reduction: {tuple(axes)}. Name each axis once."


def axes_outside(name: str, axes: Shape, aval: object, ndim: int) -> str:
    has = f"its axes go from 0 to {ndim - 1}" if ndim else "it has no axes"
    return f"{name}: reduction axes {tuple(axes)} contains out-of-bounds indices for {aval}: {has}."


def logical_dtype(name: str, dtype: object) -> str:
    return (
        f"{name}: logical reduction requires operand dtype bool or int, but it is {dtype}. Compare "
        "with 0 first, as in `x != 0`."
    )


def f16_reduction(name: str, aval: object) -> str:
    return (
        f"{name} on operand {aval} is not allowed when jax_allow_f16_reductions=False. Convert it "
        "to float32 before, or set the flag."
    )


def arg_axis(name: str, axis: int, shape: Shape) -> str:
    return (
        f"lax.{name}: Invalid axis {axis} for operand of shape {tuple(shape)}: axes are counted "
        "from 0."
    )


def arg_empty(name: str, axis: int, shape: Shape) -> str:
    return (
        f"lax.{name}: argmin and argmax require non-empty reduced dimension, but axis {axis} of "
        f"an operand of shape {tuple(shape)} has size 0."
    )


def arg_index_dtype(name: str, dtype: object) -> str:
    return f"lax.{name}: index_dtype must be an integer type, such as int32, but is {dtype}."


# ---------------------------------------------------------------- joining and splitting


def nothing_to_join(name: str) -> str:
    return f"lax.{name} requires at least one array, got an empty sequence."


def join_ranks(name: str, shapes: Iterable[Shape]) -> str:
    return f"Cannot {name} arrays with different numbers of dimensions: got {_listed(shapes)}."


def concatenate_outside(dimension: int, shapes: Iterable[Shape]) -> str:
    return (
        f"concatenate dimension out of bounds: dimension {dimension} for shapes "
        f"{_listed(shapes)}. It is counted from 0."
    )


def concatenate_shapes(dimension: int, shapes: Iterable[Shape]) -> str:
    return (
        f"lax.concatenate: along dimension {dimension}, arrays may differ in the size of that "
        f"dimension only, but the shapes are {_listed(shapes)}."
    )


def stack_shapes(shapes: Iterable[Shape]) -> str:
    return f"lax.stack: All input arrays must have the same shape. Got {_listed(shapes)}."


def unstack_scalar() -> str:
    return "lax.unstack requires an array with at least one dimension, got a scalar of shape ()."


def split_negative(sizes: Shape) -> str:
    return f"Sizes passed to split must be nonnegative, got {list(sizes)}."


def split_total(sizes: Shape, axis: int, shape: Shape) -> str:
    return (
        f"Sum of sizes {sum(sizes)} must be equal to dimension {axis} of the operand, whose shape "
        f"is {tuple(shape)}; sizes are {list(sizes)}."
    )


# ---------------------------------------------------------------- slices and padding


def slice_length(what: str, values: Shape, shape: Shape) -> str:
    return (
        f"slice {what} must have length equal to the number of dimensions of the operand, which "
        f"is {len(shape)} for shape {tuple(shape)}, but is {tuple(values)}."
    )


def slice_bounds(start: Shape, limit: Shape, shape: Shape) -> str:
    return (
        "lax.slice: in each dimension, start_indices must be from 0 up to limit_indices, and these "
        f"up to the size; but they are {tuple(start)} and {tuple(limit)}, and the shape is "
        f"{tuple(shape)}."
    )


def slice_strides(strides: Shape) -> str:
    return f"slice strides must be positive, but are {tuple(strides)}. To go backwards use lax.rev."


def index_out_of_bounds(index: int, axis: int, shape: Shape) -> str:
    return (
        f"index {index} is out of bounds for axis {axis} with size {shape[axis]}: the shape is "
        f"{tuple(shape)}."
    )


def pad_value(shape: Shape) -> str:
    return f"lax.pad: padding_value must be a scalar, but its shape is {tuple(shape)}."


def pad_length(config: Sequence[Shape], shape: Shape) -> str:
    return (
        "lax.pad: padding_config must hold (low, high, interior) for each dimension of the "
        f"operand, but is {tuple(config)} for shape {tuple(shape)}."
    )


def pad_interior(config: Sequence[Shape]) -> str:
    return (
        "lax.pad: interior padding in padding_config must be nonnegative, but the config is "
        f"{tuple(config)}. Only low and high padding can be negative."
    )


def pad_negative(out: Shape, config: Sequence[Shape], shape: Shape) -> str:
    return (
        "lax.pad: Dimension size after padding is not at least 0: the result would have shape "
        f"{tuple(out)}, as padding_config {tuple(config)} removes more than there is in shape "
        f"{tuple(shape)}."
    )


def pad_dtypes(operand: object, value: object) -> str:
    return (
        f"pad operand and padding_value must be same dtype, but they are {operand} and {value}. "
        "Convert the value, as in `np.array(value, operand.dtype)`."
    )


def slice_sizes(sizes: Shape, shape: Shape) -> str:
    return (
        "lax.dynamic_slice: slice_sizes must hold for each dimension a number less than or equal "
        f"to its size, and at least 0, but are {tuple(sizes)} for an operand of shape "
        f"{tuple(shape)}."
    )


def index_dtypes(name: str, found: Iterable[object]) -> str:
    return (
        f"index arguments to {name} must be integers of the same type, but their dtypes are "
        f"{', '.join(map(str, found))}."
    )


def index_shapes(name: str, shapes: Iterable[Shape]) -> str:
    return (
        f"lax.{name}: start_indices must be one scalar for each dimension, but their shapes are "
        f"{_listed(shapes)}."
    )


def index_count(name: str, count: int, shape: Shape) -> str:
    return (
        f"lax.{name}: start_indices must hold one index for each dimension of the operand, but "
        f"there are {count}, and its shape is {tuple(shape)}."
    )


def index_array(name: str, shape: Shape) -> str:
    return f"lax.{name}: start_indices must be a 1D sequence, but they have shape {tuple(shape)}."


def index_negative(name: str, index: int, size: int) -> str:
    return (
        f"lax.{name}: Index {index} is out of bounds for a dimension of size {size}, as "
        "allow_negative_indices is False."
    )


def update_shape(update: Shape, operand: Shape) -> str:
    return (
        "lax.dynamic_update_slice: the update must have the same rank as operand, and be no larger "
        f"in any dimension, but its shape is {tuple(update)}, and that of the operand "
        f"{tuple(operand)}."
    )


def update_index_rank(update: Shape, operand: Shape) -> str:
    return (
        "lax.dynamic_update_index_in_dim: the update must have as many dimensions as the operand, "
        f"or one less, but their shapes are {tuple(update)} and {tuple(operand)}."
    )


# ---------------------------------------------------------------- creation


def iota_dimension(dimension: int, shape: Shape) -> str:
    return (
        f"lax.broadcasted_iota: iota dimension must be between 0 and {len(shape) - 1} for shape "
        f"{tuple(shape)}, but is {dimension}."
    )


def start_outside(name: str, start: int, axis: int, size: int) -> str:
    return (
        f"lax.{name}: the index {start} is out of bounds for axis {axis} with size {size}. Parts "
        "at traced indices are moved; to have this one moved, clip its index, or turn on the flag "
        "`parity`."
    )
