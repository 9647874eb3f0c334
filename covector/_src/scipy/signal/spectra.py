"""Spectra of signals: those of overlapping segments, and their averages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import signal_errors as errors
from ...base.warn import warn
from ...core.array import Array, ArrayLike
from ...numpy.arguments import axis_argument
from ...numpy.composite import composite_list
from ...numpy.creation import asarray, zeros
from ...numpy.exponential import sqrt
from ...numpy.fourier import fft, fftfreq, rfft, rfftfreq
from ...numpy.order_statistics import median
from ...numpy.padding import pad
from ...numpy.parts import conjugate, imag, real
from ...numpy.promotion import as_array, operands, promote_dtypes_inexact
from ...numpy.shaping import moveaxis
from ...numpy.taking import take
from ...ops.complex import complex as complex_
from ...ops.complex import complex_dtype, is_complex, real_dtype
from ..transformable import as_transformable
from .segments import Segments, segments_argument, window_argument
from .trends import TYPES
from .trends import detrend as without_trend

Detrend = str | bool | Callable[[Any], Any] | None

SCALINGS = ("density", "spectrum")
AVERAGES = ("mean", "median")
# What continues a signal beyond its ends, as arguments of `numpy.pad`.
BOUNDARIES: dict[str, dict[str, str]] = {
    "even": {"mode": "reflect"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
    "constant": {"mode": "edge"},
    "zeros": {"mode": "constant"},
}

# ---------------------------------------------------------------- spectra of segments


def _spectra(
    where: str,
    signals: list[Any],
    fs: Any,
    window: Any,
    lengths: tuple[Any, Any, Any],
    axis: Any,
    detrend: Detrend,
    onesided: bool,
    scaling: str,
    boundary: str | None = None,
    padded: bool = False,
) -> Any:
    """The frequencies, times and spectra of the segments of a signal, or of two.

    Args:
      where: the public function.
      signals: one signal or two.
      fs: how many elements there are in a unit of time.
      window: by name or as an array.
      lengths: `nperseg`, `noverlap` and `nfft`.
      axis: the dimension of time.
      detrend, onesided, scaling, boundary, padded: as described in `stft`.

    Returns:
      For `stft` the Fourier transforms of segments; for others their products with the conjugates
      of the same, or of the other signal's. Segments are counted by a last dimension.
    """
    if scaling not in SCALINGS:
        raise ValueError(errors.not_one_of(where, "scaling", scaling, SCALINGS))
    if boundary is not None and boundary not in BOUNDARIES:
        known = [*BOUNDARIES, None]
        raise ValueError(errors.not_one_of(where, "boundary", boundary, known))
    if (isinstance(detrend, str) and detrend not in TYPES) or detrend is True:
        raise ValueError(errors.not_one_of(where, "detrend", detrend, [*TYPES, False]))
    signals = [as_array(where, x) for x in operands(where, signals)]
    axis = axis_argument(where, axis, signals[0].aval.ndim)
    sizes = [x.aval.shape[axis] for x in signals] if _alike(where, signals, axis) else []
    kinds = [promote_dtypes_inexact(x)[0].aval.dtype for x in signals]
    if any(not x.aval.size for x in signals):
        return _empty(signals, axis)
    window, nperseg = window_argument(where, window, lengths[0], max(sizes))
    segments = segments_argument(where, nperseg, *lengths[1:])
    twosided = not onesided
    if onesided and any(map(is_complex, kinds)):
        warn(errors.complex_is_twosided())
        twosided = True
    # What a function does is not known by its identity: a program that calls one is not kept.
    run = _of_segments.fun if callable(detrend) else _of_segments
    return run(
        fs,
        window,
        *signals,
        segments=segments,
        axis=axis,
        detrend=detrend,
        twosided=twosided,
        density=scaling == "density",
        boundary=boundary,
        padded=padded,
        transforms=where == "stft",
    )


def _alike(where: str, signals: list[Any], axis: int) -> bool:
    """Whether signals are as many dimensional, and broadcast together but for that of time."""
    shapes = [x.aval.shape for x in signals]
    outer = [shape[:axis] + shape[axis + 1 :] for shape in shapes]
    try:
        np.broadcast_shapes(*outer)
        alike = len(set(map(len, shapes))) == 1
    except ValueError:
        alike = False
    if not alike:
        raise ValueError(errors.signals_do_not_broadcast(where, *shapes, axis))
    return alike


def _empty(signals: list[Any], axis: int) -> list[Any]:
    """As in SciPy, an array without elements has three of its shape for spectra."""
    shapes = [x.aval.shape for x in signals]
    outer = np.broadcast_shapes(*[shape[:axis] + shape[axis + 1 :] for shape in shapes])
    size = min([shape[axis] for shape in shapes])
    shape = (*outer[:axis], size, *outer[axis:])
    dtype = as_transformable(signals[0]).aval.dtype
    real_kind, complex_kind = real_dtype(complex_dtype(dtype)), complex_dtype(dtype)
    return [zeros(shape, real_kind), zeros(shape, real_kind), zeros(shape, complex_kind)]


@composite_list
def _of_segments(
    fs: Any,
    window: Any,
    *signals: Any,
    segments: Segments,
    axis: int,
    detrend: Any,
    twosided: bool,
    density: bool,
    boundary: str | None,
    padded: bool,
    transforms: bool,
) -> list[Any]:
    signals = promote_dtypes_inexact(*[as_transformable(x) for x in signals])
    length, step, _ = segments
    dtype = np.dtype(real_dtype(signals[0].dtype))
    window = asarray(window)
    window = window.astype(complex_dtype(dtype) if is_complex(window.dtype) else dtype)
    fs = asarray(fs).astype(dtype)

    signals = _of_one_length([moveaxis(x, axis, -1) for x in signals])
    spectra = []
    for x in signals:
        if boundary is not None:
            x = _behind(x, length // 2, length // 2, **BOUNDARIES[boundary])
        if padded:
            missing = (-(x.shape[-1] - length) % step) % length
            x = _behind(x, 0, missing, mode="constant")
        frames = _without_trends(_frames(x, segments), detrend, axis)
        spectra.append(_transformed(frames, window, segments, twosided))
    out = spectra[0] if transforms else conjugate(spectra[0]) * spectra[-1]

    scale = 1 / (fs * (window * window).sum()) if density else 1 / window.sum() ** 2
    out = out * (sqrt(scale) if transforms else scale).astype(out.dtype)
    if not twosided and not transforms:
        out = out * _doubled(segments.transform, out.dtype, out.ndim)
    if len(signals) == 1 and not transforms:
        out = real(out)
    frequencies = fftfreq if twosided else rfftfreq
    starts = np.arange(0, x.shape[-1] - length + 1, step)
    times = starts if boundary is not None else starts + length / 2
    return [
        frequencies(segments.transform, 1 / fs, dtype=dtype),
        times.astype(dtype) / fs,
        moveaxis(out, -1, axis),
    ]


def _behind(x: Any, before: int, after: int, **how: str) -> Any:
    """A signal continued before and after."""
    return pad(x, [(0, 0)] * (x.ndim - 1) + [(before, after)], **how)


def _of_one_length(signals: list[Any]) -> list[Any]:
    """Signals, all but the longest followed by zeros."""
    length = max([x.shape[-1] for x in signals])
    return [_behind(x, 0, length - x.shape[-1], mode="constant") for x in signals]


def _frames(x: Any, segments: Segments) -> Any:
    """The segments of a signal, of shape `(..., segments, length)`."""
    starts = np.arange(0, x.shape[-1] - segments.length + 1, segments.step)
    places = starts[:, None] + np.arange(segments.length)
    return take(x, places.astype(np.int32), axis=-1, mode="clip")


def _without_trends(frames: Any, detrend: Detrend, axis: int) -> Any:
    if not detrend:
        return frames
    if isinstance(detrend, str):
        return without_trend(frames, type=detrend)
    if axis == frames.ndim - 2:  # the last dimension of the signal
        return detrend(frames)
    # A function gets time where the signal has it.
    return moveaxis(detrend(moveaxis(frames, -1, axis)), axis, -1)


def _transformed(frames: Any, window: Any, segments: Segments, twosided: bool) -> Any:
    if is_complex(window.dtype):
        frames = frames.astype(window.dtype)
    frames = frames * window.astype(frames.dtype).reshape((1,) * (frames.ndim - 1) + window.shape)
    return fft(frames, segments.transform) if twosided else rfft(real(frames), segments.transform)


def _doubled(length: int, dtype: Any, ndim: int) -> Any:
    """Factors that count positive frequencies twice, for the negative ones: all between the ends.

    The highest frequency of an even length is its own opposite.
    """
    factors = np.full(length // 2 + 1, 2, dtype)
    factors[0] = 1
    if length % 2 == 0:
        factors[-1] = 1
    return factors.reshape((1,) * (ndim - 1) + (-1,))


# ---------------------------------------------------------------- public functions


def stft(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """The Fourier transforms of overlapping segments of a signal.

    Args:
      x: an array.
      fs: how many elements there are in a unit of time.
      window: what segments are multiplied with: a name, or a tuple of a name and parameters, that
        `scipy.signal.get_window` knows; or a vector.
      nperseg: the length of segments.
      noverlap: how many elements of each belong also to the next one; by default half of them.
      nfft: the length of the transforms, by default that of segments; zeros are added.
      detrend: what is removed from segments beforehand: False for nothing, a `type` of `detrend`,
        or a function of segments.
      return_onesided: whether to leave out negative frequencies, at which real signals have the
        conjugates; those of complex ones are kept, with a warning.
      boundary: what the signal is continued with, by half a segment on either side, so that the
        first and the last one are centred on its ends: "zeros", "even" or "odd" for mirror images,
        "constant" for its first and last elements, or None for no continuation.
      padded: whether zeros are added where the last segment would be incomplete.
      axis: the dimension of time.

    Returns:
      `(f, t, Zxx)`: frequencies, times of the middles of segments, and transforms, with frequencies
      in place of time and segments in a last dimension.

    Raises:
      ValueError: an argument is not of these kinds, or lengths do not fit.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> f, t, Zxx = jsp.signal.stft(jnp.ones(16), nperseg=4)
    >>> f.shape, t.shape, Zxx.shape
    ((3,), (9,), (3, 9))
    """
    lengths = (nperseg, noverlap, nfft)
    f, t, out = _spectra(
        *("stft", [x], fs, window, lengths, axis, detrend),
        *(return_onesided, "spectrum", boundary, bool(padded)),
    )
    return f, t, out


def csd(
    x: ArrayLike,
    y: ArrayLike | None,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The cross spectral density of two signals, estimated by the method of Welch.

    Args:
      x: an array.
      y: another, of the same rank. The shorter one is continued with zeros, and other dimensions
        are broadcast. None stands for `x`, and gives real numbers.
      fs, window, noverlap, nfft, detrend, return_onesided, axis: as for `stft`.
      nperseg: the length of segments, by default 256 or the whole signal.
      scaling: "density" for the power in a unit of frequency, "spectrum" for that of sines.
      average: "mean" or "median", how segments are combined; the median is taken of real and
        imaginary parts, and divided by its expectation for Gaussian noise of power 1.

    Returns:
      `(f, Pxy)`: frequencies, and densities that have them in place of time. Where x comes later
      than y, phases rise with the frequency: x is conjugated.

    Raises:
      ValueError: an argument is not of these kinds, or shapes or lengths do not fit.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> x = jnp.cos(jnp.arange(64) * jnp.pi / 2)
    >>> f, Pxy = jsp.signal.csd(x, 2 * x, nperseg=8)
    >>> f[jnp.argmax(jnp.abs(Pxy))]
    Array(0.25, dtype=float32)
    """
    return _welch(
        "csd",
        x,
        y,
        fs,
        window,
        (nperseg, noverlap, nfft),
        axis,
        detrend,
        return_onesided,
        scaling,
        average,
    )


def welch(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The power spectral density of a signal, estimated by the method of Welch.

    The arguments, and the result, are those of `csd`. P. D. Welch, "The use of the fast Fourier
    transform for the estimation of power spectra", IEEE Trans. Audio Electroacoust. 15 (1967).

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> x = jnp.cos(jnp.arange(64) * jnp.pi / 2)
    >>> f, Pxx = jsp.signal.welch(x, nperseg=8, scaling="spectrum")
    >>> Pxx.max().round(1)
    Array(0.5, dtype=float32)
    """
    return _welch(
        "welch",
        x,
        None,
        fs,
        window,
        (nperseg, noverlap, nfft),
        axis,
        detrend,
        return_onesided,
        scaling,
        average,
    )


def _welch(where: str, x: Any, y: Any, *arguments: Any) -> Any:
    *arguments, average = arguments
    if average not in AVERAGES:
        raise ValueError(errors.not_one_of(where, "average", average, AVERAGES))
    signals = [x] if y is None else [x, y]
    f, _, out = _spectra(where, signals, *arguments)
    if out.size:
        out = out.mean(-1) if average == "mean" else _median(out)
    return f, out if y is not None else real(out)


def _median(x: Any) -> Any:
    """The median of the last dimension, over the expectation of that of exponential variables.

    That is, for n of them, the alternating sum 1 - 1/2 + 1/3 ... of n terms, the last one positive:
    B. Allen and others, "FINDCHIRP", Physical Review D 85 (2012), appendix B.
    """
    out = median(real(x), -1)
    if is_complex(x.dtype):
        out = complex_(out, median(imag(x), -1))
    n = np.arange(2, x.shape[-1], 2, dtype=float)
    return out / (1 + float(np.sum(1 / (n + 1) - 1 / n)))
