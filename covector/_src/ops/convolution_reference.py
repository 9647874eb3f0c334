"""Convolutions of NumPy arrays, for the reference rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from .convolution_shapes import Convolution
from .windows_reference import windows_of


def convolved(x: np.ndarray, y: np.ndarray, dtype: Any, conv: Convolution) -> np.ndarray:
    """The sums of products of windows, in groups, computed in float32 at least."""
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    x, y = np.transpose(x, lhs_spec), np.transpose(y, rhs_spec)
    # Windows of one example and one feature; these two dimensions, of size 1, go again.
    windows = windows_of(
        x,
        0,
        window_dimensions=(1, 1, *y.shape[2:]),
        window_strides=(1, 1, *conv.window_strides),
        padding=((0, 0), (0, 0), *conv.padding),
        base_dilation=(1, 1, *conv.lhs_dilation),
        window_dilation=(1, 1, *conv.rhs_dilation),
    ).squeeze((x.ndim, x.ndim + 1))
    batch, features, *sizes = windows.shape
    groups = conv.groups
    # Name the dimensions: the group 0, the batch 1, features 2, outputs 3; then places and windows.
    places, window = range(4, 2 + x.ndim), range(2 + x.ndim, 2 * x.ndim)
    if conv.feature_group_count > 1:
        windows = windows.reshape(batch, groups, features // groups, *sizes)
        of_x = [1, 0, 2, *places, *window]
    else:
        windows = windows.reshape(groups, batch // groups, features, *sizes)
        of_x = [0, 1, 2, *places, *window]
    y = y.reshape(groups, len(y) // groups, *y.shape[1:])
    narrow = dtypes.issubdtype(dtype, np.floating) and dtypes.itemsize_bits(dtype) < 32
    wide = np.float32 if narrow else dtype
    operands = (np.asarray(windows, wide), of_x, np.asarray(y, wide), [0, 3, 2, *window])
    out = np.einsum(*operands, [1, 0, 3, *places])
    out = out.reshape(out.shape[0], groups * out.shape[2], *out.shape[3:]).astype(dtype)
    return np.transpose(out, np.argsort(out_spec))
