"""The wording of errors about convolutions and the padding of windows."""

from __future__ import annotations

from collections.abc import Sequence

Dims = Sequence[int]

# ---------------------------------------------------------------- padding


def padding_name(padding: str) -> str:
    return (
        f"[padtype_to_pads] {padding!r} is no kind of padding. The kinds are 'VALID' (none), "
        "'SAME' and 'SAME_LOWER'; or give a pair (low, high) for each dimension."
    )


def padding_kind(padding: object) -> str:
    return (
        "[padtype_to_pads] A kind of padding is a string, 'VALID', 'SAME' or 'SAME_LOWER', but "
        f"got {padding!r} of type {type(padding).__name__}."
    )


def padding_pairs(where: str, padding: object) -> str:
    return (
        f"[{where}] The padding argument must be a string or hold a pair of integers (low, high) "
        f"for each spatial dimension, got {padding}."
    )


def padding_count(padding: Sequence[object], count: int) -> str:
    return (
        f"[convolution] The padding holds {len(padding)} pairs (low, high), {tuple(padding)}, but "
        f"there are {count} spatial dimensions. Give one for each."
    )


def padding_negative(padding: Sequence[object], sizes: Dims) -> str:
    return (
        f"[convolution] The padding {tuple(padding)} removes more than there is: the spatial sizes "
        f"of lhs, dilated, are {tuple(sizes)}."
    )


def padding_by_name_of_dilated(padding: str, dilation: Dims) -> str:
    return (
        f"[conv_general_dilated] The padding {padding!r} has no meaning where lhs is dilated, here "
        f"by {tuple(dilation)}. Give pairs (low, high), or use `conv_transpose`."
    )


def transposed_padding(padding: object) -> str:
    return (
        f"[conv_transpose] The padding of a dimension must be 'SAME', 'VALID' or a tuple of "
        f"integers (low, high), but got {padding!r}."
    )


def dilations_not_positive(dilation: Dims) -> str:
    return f"Dilations must be at least 1, where 1 dilates nothing; got {tuple(dilation)}."


# ---------------------------------------------------------------- dimension numbers


def numbers_kind(numbers: object) -> str:
    return (
        "[conv_dimension_numbers] The dimension_numbers must be None, a ConvDimensionNumbers, or "
        f"three strings such as ('NHWC', 'HWIO', 'NHWC'), but got {numbers!r} of type "
        f"{type(numbers).__name__}."
    )


def numbers_length(numbers: Sequence[str], lhs: Dims, rhs: Dims) -> str:
    return (
        "[conv_dimension_numbers] Each string of dimension_numbers must name every dimension of "
        f"its array with a character, but they are {tuple(numbers)} for lhs of shape {tuple(lhs)} "
        f"and rhs of shape {tuple(rhs)}."
    )


def numbers_ranks(lhs: Dims, rhs: Dims) -> str:
    return (
        "[conv_dimension_numbers] lhs and rhs must have equally many dimensions, but their shapes "
        f"are {tuple(lhs)} and {tuple(rhs)}."
    )


def numbers_characters(which: int, spec: str, pair: Sequence[str]) -> str:
    return (
        f"[conv_general_permutations] The string dimension_numbers[{which}], {spec!r}, must hold "
        f"{pair[0]!r} and {pair[1]!r} once, and no other character twice."
    )


def numbers_spatial(numbers: Sequence[str]) -> str:
    return (
        "[conv_general_permutations] The three strings must name the same spatial dimensions, but "
        f"they are {tuple(numbers)}."
    )


def no_default_numbers(ndim: int) -> str:
    return (
        f"[conv_transpose] For arrays of {ndim} dimensions there is no default of "
        "dimension_numbers. Give them."
    )


# ---------------------------------------------------------------- operands


def ranks_differ(lhs: Dims, rhs: Dims) -> str:
    return (
        "conv_general_dilated lhs and rhs must have the same number of dimensions, but their "
        f"shapes are {tuple(lhs)} and {tuple(rhs)}."
    )


def strides_count(strides: Dims, window: Dims) -> str:
    return (
        "conv_general_dilated window and window_strides must have the same number of dimensions, "
        f"but the spatial sizes of rhs are {tuple(window)} and window_strides {tuple(strides)}."
    )


def groups_not_positive(what: str, count: int) -> str:
    return f"conv_general_dilated {what} must be a positive integer, got {count}."


def groups_of_both_kinds(features: int, batches: int) -> str:
    return (
        f"[conv_general_dilated] Only one of feature_group_count and batch_group_count may be more "
        f"than 1, but they are {features} and {batches}."
    )


def groups_do_not_divide(what: str, count: int, dimension: str, size: int, shape: Dims) -> str:
    return (
        f"conv_general_dilated {what} must divide the {dimension}, but {count} does not divide "
        f"{size}, in shape {tuple(shape)}."
    )


def features_differ(lhs: int, groups: int, rhs: int) -> str:
    return (
        "[conv_general_dilated] rhs must take as many input features as lhs has in each of its "
        f"groups: lhs has {lhs} in {groups} groups, but the input features of rhs are {rhs}."
    )


def preferred_type(name: str, preferred: object, dtype: object) -> str:
    return (
        f"[{name}] Input type is incompatible with `preferred_element_type`: operands of {dtype} "
        f"cannot be added up in {preferred}. Integers go to integers that are signed as they are, "
        "or to floats; floats to floats, complex numbers to complex numbers."
    )


def preferred_narrow(name: str, preferred: object, dtype: object) -> str:
    return (
        f"[{name}] `preferred_element_type` must not be narrower than the original type: it is "
        f"{preferred}, the operands are {dtype}. Convert the result instead."
    )


def local_precision(precision: object) -> str:
    return (
        f"[conv_general_dilated_local] The precision must be a `lax.Precision` or a pair of them, "
        f"but got {precision!r}."
    )


# ---------------------------------------------------------------- convolve and correlate


def not_vectors(name: str, shapes: Sequence[Dims]) -> str:
    listed = " and ".join(str(tuple(shape)) for shape in shapes)
    return (
        f"{name}() only support 1-dimensional inputs, but the shapes are {listed}. For more "
        "dimensions there is `lax.conv_general_dilated`."
    )


def empty_vectors(name: str, shapes: Sequence[Dims]) -> str:
    listed = " and ".join(str(tuple(shape)) for shape in shapes)
    return f"{name}: inputs cannot be empty, but their shapes are {listed}."


def unknown_mode(name: str, mode: object) -> str:
    return f"[{name}] The mode must be one of 'full', 'same' and 'valid', but is {mode!r}."
