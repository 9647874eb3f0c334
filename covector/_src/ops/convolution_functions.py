"""Functions made of `conv_general_dilated`: plain and transposed convolutions, patches, and
convolutions with a window of its own at each place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import convolution_errors
from ..base.shapes import integers, without
from ..core.avals import aval_of
from .comparison import eq
from .contraction import dot_general
from .conversion import convert
from .convolution import conv_general_dilated
from .convolution_shapes import (
    ConvGeneralDilatedDimensionNumbers,
    conv_dimension_numbers,
    in_order,
    transposed_pads,
)
from .creation import broadcasted_iota
from .linear import broadcast_in_dim, transpose
from .precision import Precision, PrecisionLike, canonicalize_precision
from .shaping import reshape, rev
from .windows_shapes import dilated

# ---------------------------------------------------------------- fewer options


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
) -> Any:
    """A convolution without dilations and groups; see `conv_general_dilated`.

    Args:
      lhs: an array of batch, features, and n dimensions in which the windows move.
      rhs: an array of output features, input features, and the n dimensions of a window.
      window_strides: by how much the windows move.
      padding: `"SAME"`, `"SAME_LOWER"`, `"VALID"`, or pairs `(low, high)`.
      precision, preferred_element_type: as for `conv_general_dilated`.

    Returns:
      An array of batch, output features, and the places of the window.

    >>> from covector import lax
    >>> lax.conv(np.ones((2, 3, 10, 8)), np.ones((5, 3, 2, 2)), (1, 1), "SAME").shape
    (2, 5, 10, 8)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
) -> Any:
    """A convolution with dilations but without groups; see `conv_general_dilated`.

    >>> from covector import lax
    >>> x, y = np.ones((1, 1, 5)), np.ones((1, 1, 2))
    >>> lax.conv_with_general_padding(x, y, (1,), [(1, 1)], (2,), (1,)).shape
    (1, 1, 10)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


# ---------------------------------------------------------------- transposed convolutions

# Where the features are the last dimension, and the output features those of rhs, by rank.
_FEATURES_LAST = {
    2: ("NC", "IO", "NC"),
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    transpose_kernel: bool = False,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Any:
    """A transposed convolution: it spreads each element of an array over a window.

    It is a convolution of lhs dilated by `strides`, which makes it that many times as large. It is
    the adjoint of the convolution with rhs if the windows are reversed and their features
    exchanged, for which there is `transpose_kernel`.

    Args:
      lhs: an array of n + 2 dimensions.
      rhs: windows: an array of n + 2 dimensions.
      strides: those of the convolution that is transposed.
      padding: `"SAME"` or `"VALID"`: that of the convolution which is transposed. Pairs
        `(low, high)` are the padding of lhs, dilated; with `use_consistent_padding` they, too,
        are that of the other convolution.
      rhs_dilation: the steps between elements of a window; None means 1.
      dimension_numbers: as for `conv_general_dilated`, but None means that the features are last,
        such as `("NHWC", "HWIO", "NHWC")`.
      transpose_kernel: whether the windows are reversed, and their features exchanged.
      precision, preferred_element_type: as for `conv_general_dilated`.
      use_consistent_padding: what pairs in `padding` mean.

    Returns:
      An array of n + 2 dimensions.

    Raises:
      ValueError: the padding is unknown, or there is no default of the dimension numbers.

    >>> from covector import lax
    >>> x, y = np.array([[[1.0], [2.0]]]), np.array([[[1.0]], [[10.0]]])
    >>> lax.conv_transpose(x, y, (2,), "SAME", transpose_kernel=True)[0, :, 0]
    Array([ 1., 10.,  2., 20.], dtype=float32)
    """
    x, y = aval_of(lhs).shape, aval_of(rhs).shape
    ndim = len(x)
    if dimension_numbers is None:
        dimension_numbers = _FEATURES_LAST.get(ndim)
        if dimension_numbers is None:
            raise ValueError(convolution_errors.no_default_numbers(ndim))
    numbers = conv_dimension_numbers(x, y, dimension_numbers)
    rhs_spec = tuple(numbers.rhs_spec)
    rhs_dilation = (1,) * (ndim - 2) if rhs_dilation is None else tuple(rhs_dilation)
    pads: Any = padding
    if use_consistent_padding or padding in ("SAME", "VALID"):
        window = dilated(in_order(y, rhs_spec[2:]), rhs_dilation)
        given = [padding] * len(strides) if isinstance(padding, str) else padding
        pads = [transposed_pads(k, s, pad) for k, s, pad in zip(window, strides, given)]
    if transpose_kernel:
        for dim in rhs_spec[2:]:
            rhs = rev(rhs, (dim,))
        exchange = dict(zip(rhs_spec[:2], rhs_spec[1::-1]))
        rhs = transpose(rhs, [exchange.get(dim, dim) for dim in range(ndim)])
    return conv_general_dilated(
        lhs,
        rhs,
        (1,) * (ndim - 2),
        pads,
        strides,
        rhs_dilation,
        numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


# ---------------------------------------------------------------- patches


def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: Precision | None = None,
    preferred_element_type: Any = None,
) -> Any:
    """What a window covers of an array, at each of its places.

    Args:
      lhs: an array of n + 2 dimensions.
      filter_shape: the n sizes of the window, in the order of the middle string of
        `dimension_numbers`.
      window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers,
        preferred_element_type: as for `conv_general_dilated`.
      precision: None or a `Precision`.

    Returns:
      An array of n + 2 dimensions, of which the features are the elements of a patch: those of a
      window for the first feature of lhs in row-major order, then for the second, and so on.

    >>> from covector import lax
    >>> x = np.arange(4.0).reshape(1, 1, 4)
    >>> lax.conv_general_dilated_patches(x, (2,), (1,), "VALID")
    Array([[[0., 1., 2.],
            [1., 2., 3.]]], dtype=float32)
    """
    aval = aval_of(lhs)
    window = integers(filter_shape, "conv_general_dilated_patches", "filter_shape")
    numbers = conv_dimension_numbers(aval.shape, (1, 1, *window), dimension_numbers)
    size, features = math.prod(window), aval.shape[numbers.lhs_spec[1]]
    # Each output feature is one element of the window: the windows are rows of the unit matrix.
    rows, columns = [broadcasted_iota(np.int32, (size, size), dim) for dim in (0, 1)]
    one_hot = convert(eq(rows, columns), aval.dtype)
    windows = broadcast_in_dim(one_hot, (features, size, size), (1, 2))
    windows = reshape(windows, (features * size, 1, *window))
    return conv_general_dilated(
        lhs,
        with_dims_at(windows, (0, 1), numbers.rhs_spec[:2]),
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        numbers,
        feature_group_count=features,
        precision=None if precision is None else (precision, Precision.DEFAULT),
        preferred_element_type=preferred_element_type,
    )


def with_dims_at(x: Any, sources: Sequence[int], destinations: Sequence[int]) -> Any:
    """`x` with dimensions `sources` at `destinations`, and the others around them in order."""
    ndim = aval_of(x).ndim
    moved, others = dict(zip(destinations, sources)), iter(without(range(ndim), sources))
    return transpose(x, [moved[dim] if dim in moved else next(others) for dim in range(ndim)])


# ---------------------------------------------------------------- a window for each place


def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: PrecisionLike = None,
) -> Any:
    """A convolution with a window of its own at each place: a locally connected layer.

    Args:
      lhs: an array of n + 2 dimensions.
      rhs: an array of n + 2 dimensions: output features; the elements of a patch, in the order of
        `conv_general_dilated_patches`; and the places of the window.
      filter_shape: the n sizes of the window.
      window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers: as for
        `conv_general_dilated`.
      precision: None, a `Precision` or its name, or a pair of these.

    Returns:
      An array of n + 2 dimensions: batch, output features, and the places of the window.

    >>> from covector import lax
    >>> x = np.arange(4.0).reshape(1, 1, 4)
    >>> windows = np.array([[1.0, 1.0, 10.0], [0.0, 10.0, 0.0]]).reshape(1, 2, 3)
    >>> lax.conv_general_dilated_local(x, windows, (1,), "VALID", (2,))
    Array([[[ 0., 21., 20.]]], dtype=float32)
    """
    canonical = canonicalize_precision(precision)
    if canonical is not None and type(canonical) is not tuple:
        raise ValueError(convolution_errors.local_precision(precision))
    patches = conv_general_dilated_patches(
        lhs,
        filter_shape,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        dimension_numbers,
        None if canonical is None else canonical[0],
    )
    shape = aval_of(lhs).shape
    _, rhs_spec, out_spec = conv_dimension_numbers(shape, (1, 1, *filter_shape), dimension_numbers)
    # The product of patches and windows over the patch, place by place: places, batch, outputs.
    places = sorted(zip(out_spec[2:], rhs_spec[2:]))
    of_patches, of_windows = [tuple(dims) for dims in zip(*places)] if places else [(), ()]
    numbers = (((out_spec[1],), (rhs_spec[1],)), (of_patches, of_windows))
    out = dot_general(patches, rhs, numbers, precision)
    return with_dims_at(out, (len(places), len(places) + 1), out_spec[:2])
