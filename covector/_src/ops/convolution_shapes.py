"""Dimension numbers and shapes of convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..base import convolution_errors
from .windows_shapes import Padding, Sizes, dilated, padded, padtype_to_pads, window_places

# ---------------------------------------------------------------- which dimension is which


class ConvDimensionNumbers(NamedTuple):
    """Which dimension of a convolution's arrays is which.

    Attributes:
      lhs_spec: dimensions of lhs: that of the batch, that of the features, then the spatial ones.
      rhs_spec: dimensions of rhs: output features, input features, spatial ones in that order.
      out_spec: dimensions of the result: batch, features, spatial ones in that order.
    """

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]


class Convolution(NamedTuple):
    """The parameters of a convolution, all in the form in which the primitive takes them."""

    window_strides: Sizes
    padding: Padding
    lhs_dilation: Sizes
    rhs_dilation: Sizes
    dimension_numbers: ConvDimensionNumbers
    feature_group_count: int
    batch_group_count: int
    precision: Any
    preferred_element_type: Any
    out_sharding: Any

    @property
    def groups(self) -> int:
        """How many groups there are, of features or of batches."""
        return max(self.feature_group_count, self.batch_group_count)


ConvGeneralDilatedDimensionNumbers = None | ConvDimensionNumbers | tuple[str, str, str]

# How strings name the first two dimensions of lhs, rhs and the result.
_CHARACTERS = (("N", "C"), ("O", "I"), ("N", "C"))


def conv_dimension_numbers(
    lhs_shape: Sizes, rhs_shape: Sizes, dimension_numbers: ConvGeneralDilatedDimensionNumbers
) -> ConvDimensionNumbers:
    """Dimension numbers of a convolution in the form in which the primitive takes them.

    Args:
      lhs_shape, rhs_shape: shapes of the operands.
      dimension_numbers: None for batch, features, spatial dimensions, in that order, and for rhs
        output features, input features, spatial dimensions; or three strings, which name the
        dimensions of lhs, rhs and the result: `"N"` is the batch, `"C"` the features, `"O"` and
        `"I"` those that come out of and go into rhs, any other character a spatial dimension; or
        a `ConvDimensionNumbers`, which is returned as it is.

    Returns:
      A `ConvDimensionNumbers`.

    Raises:
      TypeError: the strings do not fit the shapes.

    >>> from covector import lax
    >>> lax.conv_dimension_numbers((1, 8, 8, 3), (2, 2, 3, 4), ("NHWC", "HWIO", "NHWC"))
    ConvDimensionNumbers(lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2))
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if len(lhs_shape) != len(rhs_shape):
        raise TypeError(convolution_errors.numbers_ranks(lhs_shape, rhs_shape))
    if dimension_numbers is None:
        in_order = tuple(range(len(lhs_shape)))
        return ConvDimensionNumbers(in_order, in_order, in_order)
    strings = (
        isinstance(dimension_numbers, (list, tuple))
        and len(dimension_numbers) == 3
        and all(isinstance(spec, str) for spec in dimension_numbers)
    )
    if not strings:
        raise TypeError(convolution_errors.numbers_kind(dimension_numbers))
    if any(len(spec) != len(lhs_shape) for spec in dimension_numbers):
        raise TypeError(convolution_errors.numbers_length(dimension_numbers, lhs_shape, rhs_shape))
    return ConvDimensionNumbers(*conv_general_permutations(dimension_numbers))


def conv_general_permutations(dimension_numbers: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """For each of three strings that name dimensions, the dimensions in the primitive's order.

    >>> from covector import lax
    >>> lax.conv_general_permutations(("NHWC", "HWIO", "NHWC"))
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    for which, (spec, pair) in enumerate(zip(dimension_numbers, _CHARACTERS)):
        if not set(pair) <= set(spec) or len(set(spec)) != len(spec):
            raise TypeError(convolution_errors.numbers_characters(which, spec, pair))
    spatial = [
        [c for c in spec if c not in pair] for spec, pair in zip(dimension_numbers, _CHARACTERS)
    ]
    if not set(spatial[0]) == set(spatial[1]) == set(spatial[2]):
        raise TypeError(convolution_errors.numbers_spatial(dimension_numbers))
    return tuple(
        [
            tuple([spec.index(c) for c in (*pair, *spatial[1])])
            for spec, pair in zip(dimension_numbers, _CHARACTERS)
        ]
    )


def in_order(shape: Sizes, spec: Sizes) -> tuple[int, ...]:
    """The sizes of an array's dimensions in the order of a spec."""
    return tuple([shape[dim] for dim in spec])


def out_of_order(sizes: Sizes, spec: Sizes) -> tuple[int, ...]:
    """The shape of an array of which the sizes are given in the order of a spec."""
    return tuple([size for _, size in sorted(zip(spec, sizes))])


# ---------------------------------------------------------------- shapes


def conv_shape_tuple(
    lhs_shape: Sizes, rhs_shape: Sizes, strides: Sizes, pads: Any, batch_group_count: int = 1
) -> tuple[int, ...]:
    """The shape of a convolution of dilated arrays whose dimensions are in the primitive's order.

    Args:
      lhs_shape: batch, features, then the spatial sizes, dilated.
      rhs_shape: output features, input features, then the spatial sizes, dilated.
      strides: by how much the window moves.
      pads: pairs `(low, high)`, or the name of a padding.
      batch_group_count: the number of groups of examples.

    Returns:
      The batch, the features and the spatial sizes of the result.

    >>> from covector import lax
    >>> lax.conv_shape_tuple((2, 3, 10, 8), (5, 3, 2, 2), (1, 1), "VALID")
    (2, 5, 9, 7)
    """
    if isinstance(pads, str):
        pads = padtype_to_pads(lhs_shape[2:], rhs_shape[2:], strides, pads)
    if len(pads) != len(lhs_shape) - 2:
        raise TypeError(convolution_errors.padding_count(pads, len(lhs_shape) - 2))
    space = padded(lhs_shape[2:], pads)
    if any(size < 0 for size in space):
        raise ValueError(convolution_errors.padding_negative(pads, lhs_shape[2:]))
    places = window_places(space, rhs_shape[2:], strides)
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *places)


def conv_general_shape_tuple(
    lhs_shape: Sizes,
    rhs_shape: Sizes,
    window_strides: Sizes,
    padding: Any,
    dimension_numbers: Sequence[str],
) -> tuple[int, ...]:
    """The shape of a convolution, with dimensions named by strings.

    >>> from covector import lax
    >>> numbers = ("NHWC", "HWIO", "NHWC")
    >>> lax.conv_general_shape_tuple((2, 10, 8, 3), (2, 2, 3, 5), (1, 1), "VALID", numbers)
    (2, 9, 7, 5)
    """
    lhs_spec, rhs_spec, out_spec = conv_general_permutations(dimension_numbers)
    lhs, rhs = in_order(lhs_shape, lhs_spec), in_order(rhs_shape, rhs_spec)
    return out_of_order(conv_shape_tuple(lhs, rhs, window_strides, padding), out_spec)


def conv_transpose_shape_tuple(
    lhs_shape: Sizes,
    rhs_shape: Sizes,
    window_strides: Sizes,
    padding: Any,
    dimension_numbers: Sequence[str],
) -> tuple[int, ...]:
    """The shape of a transposed convolution, with dimensions named by strings.

    >>> from covector import lax
    >>> numbers = ("NHWC", "HWIO", "NHWC")
    >>> lax.conv_transpose_shape_tuple((2, 5, 4, 3), (2, 2, 3, 5), (2, 2), "SAME", numbers)
    (2, 10, 8, 5)
    """
    lhs_spec, rhs_spec, out_spec = conv_general_permutations(dimension_numbers)
    lhs, rhs = in_order(lhs_shape, lhs_spec), in_order(rhs_shape, rhs_spec)
    if isinstance(padding, str):
        padding = [transposed_pads(k, s, padding) for k, s in zip(rhs[2:], window_strides)]
    space = padded(dilated(lhs[2:], window_strides), padding)
    places = [n - k + 1 for n, k in zip(space, rhs[2:])]
    return out_of_order((lhs[0], rhs[0], *places), out_spec)


def transposed_pads(window: int, stride: int, padding: Any) -> tuple[int, int]:
    """The padding, in one dimension, of the convolution that transposes one.

    Args:
      window: the size of the window, dilated.
      stride: that of the convolution which is transposed: the dilation of the other.
      padding: that of the convolution which is transposed, by name or as `(low, high)`. With
        `"SAME"` the result has `stride` times as many elements as lhs, and with `"VALID"` as many
        as the longest array in which the window has so many places.
    """
    if padding == "SAME":
        total = window + stride - 2
        low = window - 1 if stride > window - 1 else -(-total // 2)
    elif padding == "VALID":
        total = window + stride - 2 + max(window - stride, 0)
        low = window - 1
    elif isinstance(padding, tuple):
        low, high = [window - 1 - pad for pad in padding]
        total = low + high
    else:
        raise ValueError(convolution_errors.transposed_padding(padding))
    return low, total - low
