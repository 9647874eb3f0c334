"""Sizes of windows that move over arrays: what reductions over windows and convolutions share.

Along one dimension, an array of n elements that is dilated by a has N = (n - 1) a + 1: between each
two elements stand a - 1 that do not exist.  A window of k elements dilated by b spans
K = (k - 1) b + 1.  With padding, it has (low + N + high - K) // s + 1 places at a stride of s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import convolution_errors
from ..base.dims import max_dim, size_of
from ..base.shapes import integers

Sizes = Sequence[int]
Padding = tuple[tuple[int, int], ...]


def dilated(sizes: Sizes, dilation: Sizes) -> tuple[int, ...]:
    """The sizes of an array of which each dimension is dilated."""
    if any(step < 1 for step in dilation):
        raise TypeError(convolution_errors.dilations_not_positive(dilation))
    return tuple([max(0, (size - 1) * step + 1) for size, step in zip(sizes, dilation)])


def padded(sizes: Sizes, padding: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The sizes of an array with padding `(low, high)` in each dimension."""
    return tuple([low + size + high for size, (low, high) in zip(sizes, padding)])


def window_places(sizes: Sizes, window: Sizes, strides: Sizes) -> tuple[int, ...]:
    """How many places a window has in an array of these sizes, in each dimension."""
    return tuple([max_dim(0, (n - k) // s + 1) for n, k, s in zip(sizes, window, strides)])


def pads_of_pairs(padding: Any, where: str) -> Padding:
    """The padding that a user gave as pairs, as a tuple of pairs of integers."""
    try:
        pairs = [integers(pair, where, "padding") for pair in padding]
    except TypeError:
        raise ValueError(convolution_errors.padding_pairs(where, padding)) from None
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(convolution_errors.padding_pairs(where, padding))
    return tuple(pairs)


def padtype_to_pads(
    in_shape: Sizes, window_shape: Sizes, window_strides: Sizes, padding: str
) -> list[tuple[int, int]]:
    """The padding that a name stands for, in numbers.

    Args:
      in_shape: the sizes of an array; of a convolution, the spatial ones.
      window_shape: the sizes of the window, dilated.
      window_strides: by how much it moves in each dimension.
      padding: `"VALID"` for none, or `"SAME"` for as much as gives a window as many places as the
        strides leave of the array's elements, `ceil(size / stride)`. Where that is an odd number,
        `"SAME"` puts one more behind the elements, and `"SAME_LOWER"` before them.

    Returns:
      A list of pairs `(low, high)`.

    Raises:
      RuntimeError: a string is none of these.
      TypeError: `padding` is not a string.

    >>> from covector import lax
    >>> lax.padtype_to_pads((10, 10), (3, 2), (1, 1), "SAME")
    [(1, 1), (0, 1)]
    """
    if not isinstance(padding, str):
        raise TypeError(convolution_errors.padding_kind(padding))
    kind = padding.upper()
    if kind == "VALID":
        return [(0, 0)] * len(in_shape)
    if kind not in ("SAME", "SAME_LOWER"):
        raise RuntimeError(convolution_errors.padding_name(padding))
    pads = []
    for size, window, stride in zip(in_shape, window_shape, window_strides):
        size = size_of(size)
        places = -(-size // int(stride))
        total = max_dim(0, (places - 1) * int(stride) + int(window) - size)
        less, more = total // 2, total - total // 2
        pads.append((less, more) if kind == "SAME" else (more, less))
    return pads


def adjoint_padding(
    sizes: Sizes,
    window: Sizes,
    strides: Sizes,
    places: Sizes,
    padding: Padding,
    base_dilation: Sizes,
    window_dilation: Sizes,
) -> Padding:
    """The padding with which the adjoint of a sum over windows moves over the cotangents.

    Out of y_i = sum_j x_{s i + b j - low} w_j, where x is dilated by a and has N elements then:

        ct_x_q = sum over (i, j) with s i + b j - low = a q of ct_y_i w_j .

    In terms of the window reversed, j' = k - 1 - j, for which b j = K - 1 - b j', the condition is
    s i = a q + b j' - (K - 1 - low): that of a window dilated by b which moves, at a stride of a,
    over cotangents that are dilated by s, M elements then, and padded by K - 1 - low before them.
    It is to have as many places as x has elements: K - 1 + N = low' + M + high'.
    """
    pads = []
    for n, k, m, (low, _) in zip(
        dilated(sizes, base_dilation),
        dilated(window, window_dilation),
        dilated(places, strides),
        padding,
    ):
        before = k - 1 - low
        pads.append((before, n + k - 1 - m - before))
    return tuple(pads)


def reduce_window_shape_tuple(
    operand_shape: Sizes,
    window_dimensions: Sizes,
    window_strides: Sizes,
    padding: Sequence[Sequence[int]],
    base_dilation: Sizes | None = None,
    window_dilation: Sizes | None = None,
) -> tuple[int, ...]:
    """The shape of a reduction over windows: in each dimension, how many places a window has.

    Args:
      operand_shape: the shape of the array.
      window_dimensions: that of the window.
      window_strides: by how much it moves.
      padding: pairs `(low, high)`.
      base_dilation, window_dilation: the steps between elements of the array, and of the window;
        None means 1.

    Returns:
      A tuple of integers.

    >>> from covector import lax
    >>> lax.reduce_window_shape_tuple((10, 8), (2, 2), (2, 1), ((0, 0), (0, 0)))
    (5, 7)
    """
    if base_dilation is not None:
        operand_shape = dilated(operand_shape, base_dilation)
    if window_dilation is not None:
        window_dimensions = dilated(window_dimensions, window_dilation)
    return window_places(padded(operand_shape, padding), window_dimensions, window_strides)
