"""Windows of NumPy arrays, for the reference rules of reductions over them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .slicing import pad_p
from .windows_shapes import Padding, Sizes, dilated, padded, window_places


def windows_of(
    x: np.ndarray,
    fill: Any,
    *,
    window_dimensions: Sizes,
    window_strides: Sizes,
    padding: Padding,
    base_dilation: Sizes,
    window_dilation: Sizes,
) -> np.ndarray:
    """What a window covers of an array at each of its places.

    Its places come first among the dimensions of the result, then the elements of the window.
    What the array does not have, around its elements and between them, is `fill`.
    """
    config = [(low, high, step - 1) for (low, high), step in zip(padding, base_dilation)]
    window = dilated(window_dimensions, window_dilation)
    space = padded(dilated(x.shape, base_dilation), padding)
    places = window_places(space, window, window_strides)
    if 0 in places:
        return np.zeros((*places, *window_dimensions), x.dtype)
    full = pad_p.ref(x, np.array(fill, x.dtype), padding_config=tuple(config))
    views = np.lib.stride_tricks.sliding_window_view(full, window)
    return views[tuple([slice(None, None, step) for step in (*window_strides, *window_dilation)])]
