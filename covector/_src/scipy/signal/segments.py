"""Signals as sequences of overlapping segments: the arguments that describe them, and windows."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np

from ...base import config
from ...base import signal_errors as errors
from ...base.warn import warn
from ...numpy.arguments import index_argument
from ...numpy.promotion import operand, shape_of

DEFAULT_LENGTH = 256


class Segments(NamedTuple):
    """How a signal is cut: into segments of a length, each a step after the one before it."""

    length: int
    step: int
    transform: int  # the length of their Fourier transforms, which are of segments and zeros


def whole_number(where: str, what: str, value: Any) -> int:
    """An argument as a Python integer; floats lose their fractions, as in SciPy."""
    if isinstance(value, (float, np.floating)):
        value = int(value)
    return index_argument(where, what, value)


def segments_argument(where: str, nperseg: int, noverlap: int | None, nfft: int | None) -> Segments:
    """Segments of a known length, with the rest of the arguments that describe them."""
    overlap = nperseg // 2 if noverlap is None else whole_number(where, "noverlap", noverlap)
    transform = nperseg if nfft is None else whole_number(where, "nfft", nfft)
    if transform < nperseg:
        raise ValueError(errors.short_transform(where, transform, nperseg))
    if overlap >= nperseg:
        raise ValueError(errors.long_overlap(where, overlap, nperseg))
    return Segments(nperseg, nperseg - overlap, transform)


def length_argument(where: str, nperseg: Any) -> int:
    """The length of a segment, which must be positive."""
    length = whole_number(where, "nperseg", nperseg)
    if length < 1:
        raise ValueError(errors.not_positive(where, "nperseg", length))
    return length


def named_window(window: str | tuple[Any, ...], length: int) -> np.ndarray:
    """A window by its name, or by a tuple of its name and parameters, as SciPy describes them."""
    if window == "hann":
        return np.sin(np.pi * np.arange(length) / length) ** 2 if length > 1 else np.ones(1)
    # Loaded here and not with this module, since that takes longer than loading all of Covector.
    return importlib.import_module("scipy.signal").get_window(window, length)


def window_argument(where: str, window: Any, nperseg: Any, length: int) -> tuple[Any, int]:
    """The window for a signal of a given length, and the length of segments.

    A window by name is as long as the segments, by default 256 elements or the whole signal; an
    array determines their length.
    """
    wanted = None if nperseg is None else length_argument(where, nperseg)
    if isinstance(window, (str, tuple)):
        if wanted is not None and wanted > length:
            warn(errors.segments_cut(wanted, length))
        if wanted is None:
            # JAX documents this default, but takes the whole signal.
            wanted = length if config.parity.value else DEFAULT_LENGTH
        size = min(wanted, length)
        return named_window(window, size), size
    window = _vector(where, window)
    (size,) = shape_of(window)
    if size > length:
        raise ValueError(errors.window_too_long(where, size, length))
    if wanted not in (None, size):
        raise ValueError(errors.window_length(where, size, wanted))
    return window, size


def window_of_segments(where: str, window: Any, length: int) -> Any:
    """The window for segments of a known length."""
    if isinstance(window, (str, tuple)):
        return named_window(window, length)
    window = _vector(where, window)
    if shape_of(window) != (length,):
        raise ValueError(errors.window_length(where, shape_of(window)[0], length))
    return window


def _vector(where: str, window: Any) -> Any:
    window = np.asarray(window) if isinstance(window, list) else operand(where, window)
    if len(shape_of(window)) != 1:
        raise ValueError(errors.window_rank(where, shape_of(window)))
    return window
