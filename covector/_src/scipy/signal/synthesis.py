"""Signals out of the Fourier transforms of their segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import config
from ...base import signal_errors as errors
from ...core.array import Array, ArrayLike
from ...numpy.arguments import axis_argument
from ...numpy.composite import composite_list
from ...numpy.creation import asarray
from ...numpy.fourier import ifft, irfft
from ...numpy.padding import pad
from ...numpy.parts import absolute
from ...numpy.promotion import as_array
from ...numpy.selection import where
from ...numpy.shaping import broadcast_to, moveaxis
from ...ops.complex import complex_dtype, is_complex, real_dtype
from ..transformable import as_transformable
from .segments import (
    Segments,
    length_argument,
    segments_argument,
    window_of_segments,
)

# Where windows add up to less, nothing is known of the signal.
_NEGLIGIBLE = 1e-10


def istft(
    Zxx: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """The signal of which `stft` gave the Fourier transforms of segments.

    If they are not those of any signal, the one whose segments are nearest to them in the sense of
    least squares: D. W. Griffin and J. S. Lim, IEEE Trans. ASSP 32 (1984).

    Args:
      Zxx: the transforms.
      fs, window, noverlap: as they were given to `stft`.
      nperseg: the length of segments, by default the even number that has as many frequencies.
      nfft: the length of transforms, by default that of segments.
      input_onesided: whether negative frequencies have been left out.
      boundary: whether the signal was continued by half a segment on either side.
      time_axis: the dimension that counts segments.
      freq_axis: the dimension of frequencies.

    Returns:
      `(t, x)`: times, as many as x has elements along its first dimension, and the signal, with
      elements in place of segments; real if negative frequencies had been left out.

    Raises:
      ValueError: lengths, shapes or axes do not fit.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> _, _, Zxx = jsp.signal.stft(jnp.array([1.0, 2.0, 3.0, 2.0]), nperseg=4)
    >>> _, x = jsp.signal.istft(Zxx)
    >>> x.round()
    Array([1., 2., 3., 2.], dtype=float32)
    """
    Zxx = as_array("istft", Zxx)
    ndim, shape = Zxx.aval.ndim, Zxx.aval.shape
    if ndim < 2:
        raise ValueError(errors.rank_of_transform(shape))
    time, frequency = (axis_argument("istft", axis, ndim) for axis in (time_axis, freq_axis))
    if time == frequency:
        raise ValueError(errors.axes_coincide(time))
    count = shape[frequency]
    even = 2 * (count - 1) if input_onesided else count
    length = length_argument("istft", even if nperseg is None else nperseg)
    if noverlap == 0 and config.parity.value:  # JAX takes this for the default
        noverlap = None
    if nfft is None:
        nfft = even + (input_onesided and length == even + 1)
    segments = segments_argument("istft", length, noverlap, nfft)
    t, x = _joined(
        Zxx,
        fs,
        window_of_segments("istft", window, length),
        segments=segments,
        onesided=bool(input_onesided),
        boundary=bool(boundary),
        axes=(frequency, time),
    )
    return t, x


@composite_list
def _joined(
    Zxx: Any,
    fs: Any,
    window: Any,
    *,
    segments: Segments,
    onesided: bool,
    boundary: bool,
    axes: tuple[int, int],
) -> list[Any]:
    length, step, transform = segments
    Zxx = as_transformable(Zxx)
    frames = moveaxis(Zxx.astype(complex_dtype(Zxx.dtype)), axes, (-1, -2))
    frames = (irfft if onesided else ifft)(frames, transform)[..., :length]
    window = asarray(window)
    dtype = np.dtype(real_dtype(frames.dtype))
    window = window.astype(frames.dtype if is_complex(window.dtype) else dtype)
    rows = window.reshape((1,) * (frames.ndim - 1) + (length,))
    x = _overlapped(frames * (window.sum() * rows).astype(frames.dtype), step)
    # Each element was multiplied with the window twice, in all segments that it belongs to.
    each = broadcast_to(rows * rows, (1,) * (frames.ndim - 2) + frames.shape[-2:])
    weights = _overlapped(each, step)
    if boundary:
        half = length // 2
        x = x[..., half : x.shape[-1] - half]
        weights = weights[..., half : weights.shape[-1] - half]
    x = x / where(absolute(weights) > _NEGLIGIBLE, weights, 1).astype(x.dtype)
    frequency, time = axes
    x = moveaxis(x, -1, time - (frequency < time))
    return [np.arange(x.shape[0]).astype(dtype) / asarray(fs).astype(dtype), x]


def _overlapped(frames: Any, step: int) -> Any:
    """The sum of frames, `(..., frames, length)`, each placed a step after the one before it.

    Frames are cut into r pieces of that step.  Piece j of frame f belongs to row f + j of the sum:
    if the pieces j of all frames, followed by r rows of zeros, are laid one after the other, a new
    line every F + r - 1 rows brings that to row f + j of line j.
    """
    *outer, count, length = frames.shape
    pieces = -(-length // step)
    lead = [(0, 0)] * len(outer)
    frames = pad(frames, [*lead, (0, 0), (0, pieces * step - length)])
    x = moveaxis(frames.reshape((*outer, count, pieces, step)), -2, -3)
    x = pad(x, [*lead, (0, 0), (0, pieces), (0, 0)])
    rows = count + pieces - 1
    x = x.reshape((*outer, pieces * (rows + 1), step))[..., : pieces * rows, :]
    x = x.reshape((*outer, pieces, rows * step)).sum(-2)
    return x[..., : step * (count - 1) + length]
