"""The wording of errors about Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

Shape = Sequence[int]


def unknown_type(kind: object) -> str:
    what = "type" if isinstance(kind, str) else "type value"
    return (
        f"[fft] Unknown FFT {what} '{kind}'. It is one of 'fft', 'ifft', 'rfft', 'irfft', or a "
        "member of lax.FftType."
    )


def too_many_lengths(shape: Shape, lengths: Shape) -> str:
    return (
        f"[fft] FFT input shape {tuple(shape)} must have at least as many input dimensions as "
        f"fft_lengths {tuple(lengths)}."
    )


def lengths_differ(kind: str, shape: Shape, lengths: Shape) -> str:
    return (
        f"[fft] {kind} input shape {tuple(shape)} minor dimensions must be equal to fft_lengths "
        f"{tuple(lengths)}. Slice the input, or pad it with zeros."
    )


def lengths_of_half_differ(shape: Shape, lengths: Shape) -> str:
    return (
        f"[fft] IRFFT input shape {tuple(shape)} minor dimensions must be equal to all except the "
        f"last fft_length, got fft_lengths={tuple(lengths)}. Of the last dimension, of length n, "
        "n // 2 + 1 elements are read."
    )


def not_float(dtype: object) -> str:
    return f"[fft] RFFT input must be float32 or float64, got {dtype}. Convert it first."


def not_complex(kind: str, dtype: object) -> str:
    return f"[fft] {kind} input must be complex64 or complex128, got {dtype}. Convert it first."


def complex_given_to_rfft(where: str, dtype: object) -> str:
    return (
        f"[{where}] only real valued inputs supported for {where.split('.')[-1]}, got {dtype}. "
        "Use the transform for complex numbers, or take the real part."
    )


# ---------------------------------------------------------------- numpy.fft


def several_axes(name: str, axis: object) -> str:
    return (
        f"jax.numpy.fft.{name} does not support multiple axes. Please use jax.numpy.fft.{name}n. "
        f"Got axis = {axis!r}."
    )


def not_two_axes(name: str, axes: object) -> str:
    return f"jax.numpy.fft.{name} only supports 2 axes. Got axes = {axes!r}."


def repeated_axes(name: str, axes: object) -> str:
    return f"jax.numpy.fft.{name} does not support repeated axes. Got axes {axes}."


def lengths_and_axes(name: str, lengths: Shape, axes: Shape) -> str:
    return (
        f"[fft.{name}] Shape and axes have different lengths: s = {tuple(lengths)}, "
        f"axes = {tuple(axes)}."
    )


def lengths_not_positive(name: str, lengths: Shape) -> str:
    return f"[fft.{name}] Shape should be positive, but is {tuple(lengths)}."


def unknown_norm(norm: object) -> str:
    return f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".'


def frequencies_argument(name: str, what: str, kind: str, value: object) -> str:
    return f"The {what} argument of jax.numpy.fft.{name} only takes {kind}. Got {what} = {value}."
