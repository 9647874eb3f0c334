"""The wording of errors of the NumPy layer.

Each names the function, the shapes, dtypes or values that were given, and what to give instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Shape = Sequence[int]


def _shortened(x: object, limit: int = 80) -> str:
    text = repr(x)
    return text if len(text) <= limit else text[: limit - 3] + "..."


# ---------------------------------------------------------------- operands


def not_an_operand(where: str, x: object, position: int) -> str:
    hint = ""
    if isinstance(x, (list, tuple)):
        hint = " Make an array of it first: `jnp.array(...)`."
    elif x is None:
        hint = " None stands for no array."
    return (
        f"{where} requires ndarray or scalar arguments, got {type(x)} at position {position}: "
        f"{_shortened(x)}.{hint}"
    )


def implicit_rank_promotion(where: str, shapes: Sequence[Shape], forbidden: bool) -> str:
    listed = " and ".join(str(tuple(shape)) for shape in shapes)
    outcome = "is an error" if forbidden else "gives this warning"
    return (
        f"[{where}] The operands with shapes {listed} require rank promotion, which {outcome} "
        "because of the flag `numpy_rank_promotion`. Add dimensions with `x[None]` or `reshape`, "
        "or set the flag to 'allow'."
    )


def dtypes_do_not_mix(where: str, found: Sequence[object]) -> str:
    listed = ", ".join(map(str, found))
    return (
        f"{where} does not accept dtypes {listed}. Random keys meet only keys; "
        "`random.key_data(keys)` gives the integers that they are made of."
    )


def not_for_complex(where: str, dtype: object) -> str:
    return f"[{where}] Complex numbers are not supported, but the dtype is {dtype}."


def out_not_supported(where: str) -> str:
    return (
        f"[{where}] The argument `out` is not supported, since arrays are immutable. Use the "
        "function's result."
    )


def negative_power_of_integers(aval: object, exponent: int) -> str:
    return (
        f"[power] Integers cannot be raised to negative powers, got {aval} to the power of "
        f"{exponent}. Convert the base first, as in `x.astype(float)`."
    )


def where_needs_both_or_neither() -> str:
    return (
        "[where] Either both of x and y must be given, or neither. With the condition alone, the "
        "result is that of `nonzero`."
    )


def where_takes_no_size() -> str:
    return (
        "[where] `size` and `fill_value` describe the indices that `where(condition)` returns; "
        "they have no meaning beside x and y."
    )


def select_lengths(conditions: int, choices: int) -> str:
    return (
        f"[select] condlist must have the same length as choicelist, and not be empty; they have "
        f"{conditions} and {choices} elements."
    )


# ---------------------------------------------------------------- arguments


def traced_argument(where: str, what: str, aval: object, origin: str) -> str:
    made = f" It was made {origin}." if origin else ""
    lead = "Abstract tracer value encountered where concrete value is expected"
    if what == "shape":
        lead = "Shapes must be 1D sequences of concrete values of integer type"
    return (
        f"[{where}] {lead}, but this is a traced value of type {aval}. It arose in the jnp.{where} "
        f"argument {what!r}.{made} This concrete value was not available in Python because it "
        "depends on what the traced function is called with: pass it as a static argument "
        "(static_argnums or static_argnames of jit), or compute it outside."
    )


def not_a_shape(where: str, shape: object) -> str:
    return (
        "Shapes must be 1D sequences of concrete values of integer type, but "
        f"{where} was given {_shortened(shape)}."
    )


def negative_size(where: str, shape: Shape) -> str:
    return f"[{where}] The shape must have every element be nonnegative, got {shape}."


def repeated_axes(where: str, axes: object) -> str:
    return f"[{where}] There is a repeated axis, a duplicate value in 'axis': {axes}."


# ---------------------------------------------------------------- arrays from values


def order_not_supported(where: str, order: object) -> str:
    return f"[{where}] Only implemented for order='K', got {order!r}: arrays have no other layout."


def none_in_array() -> str:
    return (
        "None is not a valid value for jnp.array. For a missing number use `jnp.nan`, or leave "
        "the place out."
    )


def not_numeric(value: object, dtype: object) -> str:
    return (
        f"[array] The value {_shortened(value)} with dtype {dtype} is not a valid JAX array type: "
        "arrays hold booleans, integers, floats and complex numbers."
    )


def ragged(parts: Sequence[Any]) -> str:
    shapes = ", ".join(str(part.shape) for part in parts)
    return (
        f"[array] setting an array element with a sequence: the elements of one list have the "
        f"shapes {shapes}, which must be equal."
    )


def view_width(aval: object, dtype: object) -> str:
    return (
        f"[view] The last dimension of an array of type {aval} does not divide into elements of "
        f"dtype {dtype}. Its size in bytes must be a multiple of theirs."
    )


_WIDER = "Give a wider dtype, or make 64-bit integers the default with the flag `enable_x64`."


def integer_too_large(value: int, dtype: object) -> str:
    return f"[array] Python int {value} too large to convert to {dtype}. {_WIDER}"


def integer_out_of_bounds(numpy_says: OverflowError) -> str:
    return f"{numpy_says}. {_WIDER}"


def imaginary_part_lost(old: object, new: object) -> str:
    return (
        f"[astype] Casting from complex to real dtypes loses the imaginary parts; here {old} "
        f"becomes {new}. Take `x.real` where that is meant."
    )


def contains_by_parity(shape: Shape, of_value: Shape) -> str:
    wanted = (
        "query value must be a scalar"
        if len(shape) == 1
        else ("search array must be one-dimensional")
    )
    return (
        f"Array.__contains__: {wanted} while the flag `parity` is on, but an array of shape "
        f"{shape} was asked for a value of shape {of_value}. Write `(array == value).any()`."
    )


def contains_no_operand(kind: type) -> str:
    return (
        f"Array.__contains__: unsupported operand type {kind.__name__}. Elements of an array are "
        "numbers."
    )


def list_by_parity(where: str, value: object) -> str:
    return (
        f"{where} requires ndarray or scalar arguments while the flag `parity` is on, but was "
        f"given a {type(value).__name__}. Make an array of it: `jnp.array(...)`."
    )


def axis_needed(where: str) -> str:
    return f"[{where}] The axis must be an integer or several, not None."


def deprecated_positions(where: str) -> str:
    return (
        f"[{where}] Passing the copy, order, and ndmin arguments to jnp.{where} by position is "
        f"deprecated: NumPy takes them by name only. Write `jnp.{where}(x, dtype, copy=..., "
        "order=..., ndmin=...)`."
    )


def too_many_arguments(where: str, most: int, given: int) -> str:
    return f"{where}() takes at most {most} positional arguments, but {given} were given."


def argument_given_twice(where: str, name: str) -> str:
    return f"{where}() got multiple values for argument {name!r}: by position and by name."


# ---------------------------------------------------------------- ranges and matrices


def arange_without_stop() -> str:
    return "[arange] required argument stop is missing: give the end of the range, as `arange(5)`."


def complex_range(what: str, value: complex) -> str:
    return (
        f"[arange] Complex numbers have no order, but {what} is {value}. Give real numbers, and a "
        "complex dtype if that is wanted."
    )


def not_a_scalar(where: str, what: str, shape: Shape) -> str:
    return f"[{where}] arguments must be scalars, but `{what}` is an array of shape {tuple(shape)}."


def negative_count(where: str, num: int) -> str:
    return f"[{where}] Number of samples, {num}, must be non-negative."


def meshgrid_without_copy() -> str:
    return "[meshgrid] Only `copy=True` is supported: arrays are immutable and share nothing."


def meshgrid_indexing(indexing: object) -> str:
    return f"[meshgrid] Valid values for indexing are 'xy' and 'ij', got {indexing!r}."


def meshgrid_rank(shape: Shape) -> str:
    return (
        "[meshgrid] Arguments must be 1D, the coordinates along one axis each, but one has shape "
        f"{tuple(shape)}."
    )


def not_matrices(where: str, shape: Shape) -> str:
    return f"[{where}] The array must be at least 2D, but has shape {tuple(shape)}."


def neither_vector_nor_matrix(where: str, shape: Shape) -> str:
    return f"[{where}] The array must be 1D or 2D, but has shape {tuple(shape)}."


def equal_axes(where: str, axis: int) -> str:
    return f"[{where}] axis1 and axis2 can not be same: both are {axis}."


# ---------------------------------------------------------------- shapes


def cannot_broadcast(where: str, shapes: Sequence[Shape]) -> str:
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return (
        f"[{where}] Incompatible shapes for broadcasting: {listed}. Counted from the last "
        "dimension, the sizes must be equal or 1."
    )


def cannot_reshape(shape: Shape, sizes: Shape, count: int) -> str:
    return (
        f"[reshape] cannot reshape array of shape {tuple(shape)} (size {count}) into shape "
        f"{tuple(sizes)}: the number of elements must stay the same. One size may be -1, and is "
        "then what the others leave."
    )


def unknown_order(where: str, order: object) -> str:
    return f"[{where}] Unexpected value for 'order': {order!r}. It is 'C' or 'F'."


def not_all_axes(where: str, axes: object, shape: Shape) -> str:
    return (
        f"[{where}] The axes {axes} are no permutation of the {len(shape)} dimensions of an array "
        f"of shape {tuple(shape)}. Name each of them once."
    )


def moveaxis_counts(source: object, destination: object) -> str:
    return (
        "[moveaxis] `source` and `destination` must have as many elements, but are "
        f"{source} and {destination}."
    )


def rollaxis_start(start: int, ndim: int) -> str:
    return f"[rollaxis] `start` must be from {-ndim} to {ndim}, but is {start}."


def roll_counts(shifts: int, axes: int) -> str:
    return (
        f"[roll] The numbers of shifts and of axes must agree, but are {shifts} and {axes}. Give "
        "one shift for each axis, or one for all."
    )


# ---------------------------------------------------------------- joining and splitting


def zero_dimensional(where: str) -> str:
    return (
        f"[{where}] Zero-dimensional arrays cannot be joined or taken apart, having no dimension. "
        "Use `stack` for numbers."
    )


def nothing_to_join(where: str) -> str:
    return f"[{where}] Need at least one array to {where}."


def stack_shapes(shapes: Iterable[Shape]) -> str:
    listed = ", ".join(sorted(str(tuple(shape)) for shape in shapes))
    return f"[stack] All input arrays must have the same shape, but the shapes are {listed}."


def block_of_tuple(arrays: object) -> str:
    return f"[block] Nested blocks are lists, got a tuple: {_shortened(arrays)}."


def empty_block() -> str:
    return "[block] A list of blocks is empty. Leave it out, or give an array of size 0."


def block_depths(depths: Sequence[int]) -> str:
    return (
        "[block] All blocks of a list must be nested equally deep, but some are "
        f"{' and some '.join(map(str, depths))} lists deep."
    )


def no_sections(where: str, count: int) -> str:
    return f"[{where}] The number of parts must be larger than 0, but is {count}."


def uneven_split(where: str, size: int, count: int) -> str:
    return (
        f"[{where}] array split does not result in an equal division: a dimension of size {size} "
        f"has no {count} parts of one size. Use `array_split`, or give the indices."
    )


# ---------------------------------------------------------------- padding


def negative_padding(widths: object) -> str:
    return f"[pad] index can't contain negative values, but pad_width means {widths}."


def padding_pairs(what: str, values: object, ndim: int) -> str:
    return (
        f"[pad] `{what}` must be one value, one pair, or {ndim} pairs, one for each dimension, but "
        f"is {_shortened(values)}."
    )


def nothing_to_copy(axis: int, shape: Shape) -> str:
    return (
        f"[pad] Dimension {axis} of an array of shape {tuple(shape)} is empty: there is nothing to "
        "copy from. Use the mode 'constant'."
    )


def reflect_type(given: object) -> str:
    return f"[pad] `reflect_type` is 'even' or 'odd', but {given!r} was given."


def stat_length(given: object) -> str:
    return f"[pad] `stat_length` must be 1 or more on each side, but is {given}."


def padding_mode(mode: object, modes: Iterable[str]) -> str:
    return f"[pad] The mode {mode!r} is not supported. The modes are {', '.join(modes)}."


def padding_arguments(mode: str, unknown: object, known: Sequence[str]) -> str:
    takes = f"it takes {', '.join(known)}" if known else "it takes none"
    return f"[pad] unsupported keyword arguments for mode '{mode}': {unknown}; {takes}."


# ---------------------------------------------------------------- reductions


def initial_not_scalar(where: str, shape: Shape) -> str:
    return f"[{where}] The initial value must be a scalar. Got array of shape {tuple(shape)}."


def mask_not_boolean(where: str, dtype: object) -> str:
    return (
        f"jnp.{where}: where must be None or a boolean array, but its dtype is {dtype}. Write a "
        "comparison, such as `mask != 0`."
    )


def nothing_to_reduce(where: str, shape: Shape, axes: Shape) -> str:
    return (
        f"zero-size array to reduction operation {where} which has no identity: the shape is "
        f"{tuple(shape)}, the axes are {tuple(axes)}. Give `initial`, the result for no element."
    )


def mask_needs_initial(where: str) -> str:
    return (
        f"reduction operation {where} does not have an identity, so to use a where mask one has "
        "to specify 'initial', the result for no element."
    )


def arg_of_nothing(where: str, shape: Shape) -> str:
    return f"attempt to get {where} of an empty sequence: the array has shape {tuple(shape)}."


def weights_need_axis(shape: Shape, weights: Shape) -> str:
    return (
        "[average] Axis must be specified when shapes of a and weights differ: they are "
        f"{tuple(shape)} and {tuple(weights)}."
    )


def weights_shape(shape: Shape, weights: Shape, axes: Shape) -> str:
    return (
        f"[average] The weights of shape {tuple(weights)} must have the sizes of an array of shape "
        f"{tuple(shape)} along the axes {tuple(axes)}."
    )


def real_variance_of_complex(where: str, given: object, wanted: object) -> str:
    return (
        f"[{where}] The variance of complex numbers cannot be computed in the real dtype {wanted}; "
        f"the array has dtype {given}. Leave `dtype` out, or give a complex one."
    )


def ddof_and_correction(where: str) -> str:
    return f"[{where}] `ddof` and `correction` are names of one thing. Give one of them."


def integer_std(dtype: object) -> str:
    return f"[std] The dtype must be a floating one, but is {dtype}."


# ---------------------------------------------------------------- products


def matmul_of_scalar(x: Shape, y: Shape) -> str:
    return (
        f"[matmul] Operands must have ndim at least 1, but the shapes are {tuple(x)} and "
        f"{tuple(y)}. Use `*` to multiply by a number."
    )


def matmul_batches(x: Shape, y: Shape) -> str:
    return (
        f"[matmul] The batch dimensions of shapes {tuple(x)} and {tuple(y)} cannot be broadcast: "
        "but for the last two dimensions, the sizes must be equal or 1."
    )


def vecdot_sizes(x: Shape, y: Shape) -> str:
    return (
        "[vecdot] The vectors must be of one size, but with those along the last dimension the "
        f"shapes are {tuple(x)} and {tuple(y)}."
    )


def tensordot_count(axes: object, x: Shape, y: Shape) -> str:
    return (
        f"[tensordot] Number of tensordot axes, {axes}, exceeds input ranks: the shapes are "
        f"{tuple(x)} and {tuple(y)}."
    )


def tensordot_axes(axes: object) -> str:
    return (
        "[tensordot] `axes` must be an integer, or a pair of integers or of sequences of them, but "
        f"is {axes!r}."
    )


def tensordot_lengths(x: Shape, y: Shape) -> str:
    return (
        "[tensordot] Dimensions are summed over in pairs, but the axes given are "
        f"{tuple(x)} and {tuple(y)}."
    )


def cross_sizes(x: Shape, y: Shape) -> str:
    return (
        "[cross] Vectors must have 2 or 3 components, but with those along the last dimension the "
        f"shapes are {tuple(x)} and {tuple(y)}."
    )


def einsum_rank(names: str, shape: Shape) -> str:
    return (
        f"[einsum] The subscripts {names!r} name {len(names)} dimensions, but the operand has "
        f"shape {tuple(shape)}."
    )


def einsum_sizes(name: str, first: int, second: int) -> str:
    return (
        f"[einsum] The dimensions named {name!r} must be of one size, or 1, but have {first} and "
        f"{second}."
    )


# ---------------------------------------------------------------- indices


def two_ellipses(index: object) -> str:
    return f"an index can only have a single ellipsis ('...'), got {_shortened(index)}."


def too_many_indices(shape: Shape, given: int) -> str:
    return (
        f"Too many indices: array is {len(shape)}-dimensional, but {given} were indexed; its shape "
        f"is {tuple(shape)}."
    )


def index_of_sequence(entry: object, instead: str) -> str:
    return (
        "Using a non-tuple sequence for multidimensional indexing is not allowed: the index is "
        f"{_shortened(entry)}. Use `arr[{instead}(seq)]` instead of `arr[seq]`."
    )


def index_type(entry: object) -> str:
    return (
        f"Indexer must have integer or boolean type, got indexer with type {type(entry).__name__}: "
        f"{_shortened(entry)}."
    )


def index_dtype(dtype: object) -> str:
    return (
        f"Indexer must have integer or boolean type, got indexer with type {dtype}: an array. "
        "Convert it, as in `x[i.astype(int)]`."
    )


def index_shapes(shapes: Iterable[Shape]) -> str:
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return (
        f"Incompatible shapes for broadcasting: the arrays of an index have the shapes {listed}. "
        "Counted from the last dimension, the sizes must be equal or 1."
    )


def static_index(index: int, axis: int, size: int) -> str:
    return (
        f"index {index} out of bounds for axis {axis} with size {size}. Known indices go from "
        f"{-size} to {size - 1}; say what others mean with `x.at[...].get(mode='clip')` or "
        "`x.at[...].set(y, mode='drop')`. With the flag `parity`, reads are clipped and writes are "
        "dropped, as those at traced indices are."
    )


def traced_slice(name: str, aval: object, origin: str) -> str:
    made = f" It was made {origin}." if origin else ""
    return (
        f"Slice entries must be static integers, but the {name} of one is a traced value of type "
        f"{aval}.{made} Use `lax.dynamic_slice` for a part of constant size at a computed place, "
        "or make the value a static argument."
    )


def slice_step_zero() -> str:
    return "slice step cannot be zero"


def nothing_to_index(dim: int, shape: Shape) -> str:
    return (
        f"index is out of bounds for axis {dim} with size 0: an array of shape {tuple(shape)} has "
        "no elements along it."
    )


def mask_shape(mask: Shape, sizes: Shape) -> str:
    return (
        "boolean index did not match shape of indexed array: the mask has the sizes "
        f"{tuple(mask)} along dimensions of the sizes {tuple(sizes)}."
    )


def traced_mask(aval: object, origin: str) -> str:
    return (
        f"Array boolean indices must be concrete, but a mask is a traced value of type {aval}: how "
        f"many elements it selects is not known while the function is traced. {origin}\n"
        "  Use `jnp.where(mask, x, other)`, or `x.at[mask].set(y)` with one value for all, whose "
        "shapes do not depend on the mask; or indices of a fixed number, "
        "`x[jnp.nonzero(mask, size=n)]`."
    )


def traced_mask_of_update(aval: object, value: Shape, part: Shape, origin: str) -> str:
    return (
        f"An update by a traced mask of type {aval} takes a value that does not depend on how many "
        f"elements the mask selects, but the value has shape {tuple(value)}, where the part has "
        f"{tuple(part)} but for that number, here written as 1. {origin}\n"
        "  Give one value for all, or use `jnp.where(mask, y, x)` with a value for each place."
    )


def traced_mask_among_arrays(aval: object, origin: str) -> str:
    return (
        f"A traced mask of type {aval} cannot be combined with arrays or other masks in an index. "
        f"{origin}\n  Use `jnp.where(mask, y, x)`, or `jnp.nonzero(mask, size=n)` to make arrays "
        "of indices of it."
    )


def unknown_count(where: str, aval: object, origin: str) -> str:
    return (
        f"[{where}] How many elements of a traced array of type {aval} are not zero is not known "
        f"while the function is traced. {origin}\n"
        "  Give `size`, the number of indices to return, as a Python integer."
    )


def nonzero_of_scalar(where: str) -> str:
    return (
        f"[{where}] Calling nonzero on 0d arrays is not allowed: a scalar has no dimension to give "
        "indices for. Use `jnp.atleast_1d(x)`."
    )


def fill_values_of_indices(where: str, value: object, ndim: int) -> str:
    return (
        f"[{where}] fill_value must be a scalar or a tuple of length {ndim}, one scalar for each "
        f"dimension; it is {_shortened(value)}."
    )


def negative_repeats(repeats: object) -> str:
    return f"[repeat] repeats may not contain negative values, but they are {repeats}."


def repeats_shape(repeats: Shape, size: int) -> str:
    return (
        f"[repeat] `repeats` must be an integer, or one for each of the {size} elements, but has "
        f"shape {tuple(repeats)}."
    )


def unknown_total(aval: object, origin: str) -> str:
    return (
        "[repeat] When jit-compiling jnp.repeat, the total number of repeats must be static, but "
        f"`repeats` is a traced value of type {aval}. {origin}\n"
        "  Give `total_repeat_length`, the size of the result along the axis."
    )


def take_indices(where: str, dtype: object) -> str:
    return f"{where} indices must be of integer type, got {dtype}."


def take_from_nothing(axis: int, shape: Shape) -> str:
    return (
        f"[take] a non-empty jnp.take() needs elements, but axis {axis} of an array of shape "
        f"{tuple(shape)} has none."
    )


def take_mode(where: str, mode: object, modes: str) -> str:
    return f"[{where}] Invalid mode {mode!r}. The modes are {modes}."


def mode_raise(where: str) -> str:
    return (
        f"[{where}] The 'raise' mode is not supported: compiled programs cannot raise errors. Use "
        "'fill', 'clip' or 'wrap'."
    )


def along_axis_ranks(where: str, array: Shape, indices: Shape) -> str:
    return (
        f"[{where}] indices and arr must have the same number of dimensions, but their shapes are "
        f"{tuple(indices)} and {tuple(array)}."
    )


def in_place(where: str) -> str:
    return (
        f"[{where}] Arrays are immutable, and cannot be changed in-place. Pass inplace=False to "
        "get the changed array as the result."
    )


def fill_value_not_scalar(shape: Shape) -> str:
    return (
        f"[at] fill_value must be a scalar, but has shape {tuple(shape)}. Use `jnp.where` for "
        "values that differ from place to place."
    )


def unsafe_update(given: object, target: object) -> str:
    return (
        f"scatter inputs have incompatible types: cannot safely cast value from dtype={given} to "
        f"dtype={target}. Convert it explicitly, as in `x.at[i].set(y.astype(x.dtype))`; in future "
        "this will be an error."
    )


def other_api_version(asked: str | None, version: str) -> str:
    return (
        f"[__array_namespace__] Version {asked} of the array API is not available; the namespace "
        f"follows version {version}. Ask for that one, or for none."
    )
