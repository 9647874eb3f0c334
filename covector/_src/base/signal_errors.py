"""What errors about signals and their spectra say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Shape = Sequence[int]


def not_one_of(where: str, what: str, value: Any, known: Iterable[Any]) -> str:
    listed = ", ".join(map(repr, known))
    return f"[{where}] `{what}` must be one of {listed}, but is {value!r}."


# ---------------------------------------------------------------- convolutions


def ranks_differ(where: str, a: Shape, b: Shape) -> str:
    return (
        f"[{where}] in1 and in2 must have the same number of dimensions, but their shapes are "
        f"{tuple(a)} and {tuple(b)}."
    )


def not_matrices(where: str, a: Shape, b: Shape) -> str:
    return (
        f"{where}() only supports 2-dimensional inputs, but the shapes are {tuple(a)} and "
        f"{tuple(b)}. For other ranks there are `convolve` and `correlate`."
    )


def empty_operand(where: str, a: Shape, b: Shape) -> str:
    return (
        f"[{where}] zero-size arrays not supported in convolutions, got shapes {tuple(a)} and "
        f"{tuple(b)}."
    )


def neither_within(where: str, a: Shape, b: Shape) -> str:
    return (
        f"[{where}] For mode 'valid' one of the arrays must be at least as large as the other in "
        f"every dimension, but their shapes are {tuple(a)} and {tuple(b)}."
    )


def other_axes_differ(a: Shape, b: Shape, axes: Shape) -> str:
    return (
        f"[fftconvolve] Along dimensions other than the axes {tuple(axes)}, arrays must be of "
        f"equal size, or of size 1, but their shapes are {tuple(a)} and {tuple(b)}."
    )


# ---------------------------------------------------------------- trends


def overwrites() -> str:
    return (
        "[detrend] The argument `overwrite_data` is not supported, since arrays are immutable. Use "
        "the function's result."
    )


def breakpoints(bp: Any, length: int) -> str:
    return (
        f"[detrend] Breakpoints must be integers from 0 to the length of the data along the axis, "
        f"{length}, but are {bp}."
    )


# ---------------------------------------------------------------- spectra


def not_positive(where: str, what: str, value: int) -> str:
    return f"[{where}] `{what}` must be a positive integer, but is {value}."


def short_transform(where: str, nfft: int, nperseg: int) -> str:
    return (
        f"[{where}] `nfft` must be greater than or equal to nperseg, but they are {nfft} and "
        f"{nperseg}."
    )


def long_overlap(where: str, noverlap: int, nperseg: int) -> str:
    return f"[{where}] `noverlap` must be less than nperseg, but is {noverlap} of {nperseg}."


def window_rank(where: str, shape: Shape) -> str:
    return f"[{where}] The window must be a vector, but has shape {tuple(shape)}."


def window_length(where: str, length: int, nperseg: int) -> str:
    return (
        f"[{where}] The window must be as long as the segments: it has {length} elements, and "
        f"`nperseg` is {nperseg}. Leave nperseg out."
    )


def window_too_long(where: str, length: int, signal: int) -> str:
    return f"[{where}] The window, of length {length}, is longer than the signal, of {signal}."


def segments_cut(nperseg: int, length: int) -> str:
    return (
        f"nperseg={nperseg} is greater than the length of the signal, {length}, which is taken "
        "instead."
    )


def complex_is_twosided() -> str:
    return (
        "Input data is complex, switching to return_onesided=False: the spectrum of negative "
        "frequencies is another one."
    )


def signals_do_not_broadcast(where: str, a: Shape, b: Shape, axis: int) -> str:
    return (
        f"[{where}] x and y cannot be broadcast together but along axis {axis}: their shapes are "
        f"{tuple(a)} and {tuple(b)}."
    )


def rank_of_transform(shape: Shape) -> str:
    return (
        f"[istft] Zxx must have at least 2 dimensions, frequencies and times, but has shape "
        f"{tuple(shape)}."
    )


def axes_coincide(axis: int) -> str:
    return f"[istft] time_axis and freq_axis must differ, but both are dimension {axis}."


# ---------------------------------------------------------------- cosine transforms


def no_such_type(where: str, kind: Any) -> str:
    return f"[{where}] The types of cosine transforms are 1, 2, 3 and 4, but got {kind!r}."


def nothing_to_transform(where: str, shape: Shape, axis: int, least: int) -> str:
    return (
        f"[{where}] At least {least} elements are needed along dimension {axis}, but the shape is "
        f"{tuple(shape)}. Set the length with `n` or `s`."
    )


def too_many_lengths(where: str, ndim: int, count: int) -> str:
    return f"[{where}] s must have at most x.ndim ({ndim}) elements, got {count}."


def lengths_and_axes(where: str, lengths: Sequence[Any], axes: Shape) -> str:
    return f"[{where}] s and axes must be equally long, but are {tuple(lengths)} and {tuple(axes)}."
