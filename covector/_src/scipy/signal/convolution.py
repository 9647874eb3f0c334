"""Convolutions and correlations of arrays, directly and by Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import signal_errors as errors
from ...core.array import Array, ArrayLike
from ...numpy.arguments import axes_argument
from ...numpy.composite import composite
from ...numpy.fourier import fftn, ifftn, irfftn, rfftn
from ...numpy.padding import pad
from ...numpy.parts import conjugate
from ...numpy.promotion import as_array, operands, promote_dtypes_inexact
from ...numpy.shaping import flip
from ...ops.complex import is_complex
from ...ops.convolution import conv_general_dilated
from ...ops.precision import canonicalize_precision
from ..transformable import as_transformable

Shape = tuple[int, ...]

MODES = ("full", "same", "valid")
# Boundaries by the mode of `numpy.pad` that makes them.
BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}

# ---------------------------------------------------------------- which part is wanted


def _part(mode: str, size: int, other: int) -> tuple[int, int]:
    """Where in the full convolution of so many elements that of a mode starts, and its length."""
    if mode == "same":
        return (other - 1) // 2, size
    if mode == "valid":
        return min(size, other) - 1, abs(size - other) + 1
    return 0, size + other - 1


def _checked(where: str, in1: Any, in2: Any, mode: Any) -> list[Any]:
    """The operands of a convolution as arrays of one rank that have such a part."""
    if mode not in MODES:
        raise ValueError(errors.not_one_of(where, "mode", mode, MODES))
    arrays = [as_array(where, x) for x in operands(where, (in1, in2))]
    a, b = (x.aval.shape for x in arrays)
    if len(a) != len(b):
        raise ValueError(errors.ranks_differ(where, a, b))
    return arrays


def _check_within(where: str, mode: str, a: Shape, b: Shape, axes: Sequence[int]) -> None:
    larger = [a[axis] >= b[axis] for axis in axes]
    smaller = [a[axis] <= b[axis] for axis in axes]
    if mode == "valid" and not (all(larger) or all(smaller)):
        raise ValueError(errors.neither_within(where, a, b))


# ---------------------------------------------------------------- directly


@composite
def _direct(
    in1: Any, in2: Any, *, parts: tuple[tuple[int, int], ...], correlates: bool, precision: Any
) -> Any:
    """The sums of in1[l] in2[k - l] over l, for k in the given parts of all.

    With `correlates`, in2 is conjugated and reversed beforehand.
    """
    in1, in2 = promote_dtypes_inexact(in1, in2)
    if correlates:
        in2 = conjugate(in2)
    else:
        in2 = flip(in2)
    # The window is correlated with in1: place k of the full convolution needs in2.size - 1 more
    # elements on either side.
    padding = [
        (other - 1 - start, start + length - size)
        for (start, length), size, other in zip(parts, in1.shape, in2.shape)
    ]
    strides = (1,) * in1.ndim
    out = conv_general_dilated(
        in1[None, None], in2[None, None], strides, padding, precision=precision
    )
    return out[0, 0]


def _directly(where: str, in1: Any, in2: Any, mode: str, correlates: bool, precision: Any) -> Any:
    in1, in2 = _checked(where, in1, in2, mode)
    a, b = in1.aval.shape, in2.aval.shape
    if 0 in a + b:
        raise ValueError(errors.empty_operand(where, a, b))
    _check_within(where, mode, a, b, range(len(a)))
    parts = tuple([_part(mode, size, other) for size, other in zip(a, b)])
    precision = canonicalize_precision(precision)
    return _direct(in1, in2, parts=parts, correlates=correlates, precision=precision)


METHODS = ("auto", "direct", "fft")


def convolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    method: str = "auto",
    precision: Any = None,
) -> Array:
    """The convolution of two arrays: the sums of in1[l] in2[k - l] over l, for each k.

    Args:
      in1, in2: arrays of the same rank that are not empty.
      mode: `"full"` for all k at which the arrays meet, `"same"` for as many in the middle as in1
        has elements, `"valid"` for those at which one array is within the other.
      method: `"direct"`, `"fft"` for `fftconvolve`, or `"auto"`, which is the first.
      precision: how exactly to multiply, as for `dot`.

    Returns:
      An array of the common dtype, made floating.

    Raises:
      ValueError: the ranks differ, an array is empty, there is no such mode or method, or neither
        array fits into the other where that is asked for.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> x = jnp.array([1.0, 2.0, 3.0, 2.0])
    >>> jsp.signal.convolve(x, jnp.array([1.0, 10.0]), mode="valid")
    Array([12., 23., 32.], dtype=float32)
    """
    if method not in METHODS:
        raise ValueError(errors.not_one_of("convolve", "method", method, METHODS))
    if method == "fft":
        return fftconvolve(in1, in2, mode=mode)
    return _directly("convolve", in1, in2, mode, False, precision)


def correlate(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    method: str = "auto",
    precision: Any = None,
) -> Array:
    """The correlation of two arrays: the sums of in1[l + k] conj(in2[l]) over l, for each k.

    The arguments and the result are those of `convolve`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> x = jnp.array([1.0, 2.0, 3.0, 2.0])
    >>> jsp.signal.correlate(x, jnp.array([1.0, 10.0]), mode="valid")
    Array([21., 32., 23.], dtype=float32)
    """
    if method not in METHODS:
        raise ValueError(errors.not_one_of("correlate", "method", method, METHODS))
    if method == "fft":
        return fftconvolve(in1, flip(conjugate(in2)), mode=mode)
    return _directly("correlate", in1, in2, mode, True, precision)


# ---------------------------------------------------------------- matrices with a boundary


def convolve2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """The convolution of two matrices, as `convolve`, with a choice of what is beyond the edges.

    Args:
      in1, in2: matrices that are not empty.
      mode: as for `convolve`.
      boundary: what is beyond the edges of in1, or of the larger one if the mode is "valid":
        `"fill"` for one number, `"wrap"` for the matrix again, `"symm"` for its mirror image.
      fillvalue: that number.
      precision: how exactly to multiply.

    Returns:
      A matrix of the common dtype, made floating.

    Raises:
      ValueError: an argument is no matrix or empty, there is no such mode or boundary, or neither
        matrix fits into the other where that is asked for.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
    >>> jsp.signal.convolve2d(x, jnp.array([[1.0, 0.0, 10.0]]), mode="same", boundary="wrap")
    Array([[22., 11.],
           [44., 33.]], dtype=float32)
    """
    return _of_matrices("convolve2d", in1, in2, mode, boundary, fillvalue, precision)


def correlate2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """The correlation of two matrices, as `correlate`; the arguments are those of `convolve2d`.

    As in SciPy, the middle that mode "same" takes is one element further than that of `correlate`
    where in2 has an even number of them; and if in1 is the smaller one, mode "valid" gives the
    conjugates.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
    >>> jsp.signal.correlate2d(x, jnp.array([[1.0, 10.0]]))
    Array([[10., 21.,  2.],
           [30., 43.,  4.]], dtype=float32)
    """
    return _of_matrices("correlate2d", in1, in2, mode, boundary, fillvalue, precision)


def _of_matrices(
    where: str, in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any, precision: Any
) -> Any:
    in1, in2 = _checked(where, in1, in2, mode)
    a, b = in1.aval.shape, in2.aval.shape
    if len(a) != 2:
        raise ValueError(errors.not_matrices(where, a, b))
    if 0 in a + b:
        raise ValueError(errors.empty_operand(where, a, b))
    if boundary not in BOUNDARIES:
        raise ValueError(errors.not_one_of(where, "boundary", boundary, BOUNDARIES))
    _check_within(where, mode, a, b, range(2))
    correlates = where == "correlate2d"
    parts = [_part(mode, size, other) for size, other in zip(a, b)]
    if correlates and mode == "same":
        parts = [(other // 2, size) for size, other in zip(a, b)]
    if mode != "valid" and (boundary != "fill" or np.shape(fillvalue) or fillvalue != 0):
        in1 = _extended(in1, b, boundary, fillvalue)
        parts = [(start + other - 1, length) for (start, length), other in zip(parts, b)]
    precision = canonicalize_precision(precision)
    out = _direct(in1, in2, parts=tuple(parts), correlates=correlates, precision=precision)
    return conjugate(out) if correlates and mode == "valid" and a != b and _fits(a, b) else out


def _fits(a: Shape, b: Shape) -> bool:
    return all(size <= other for size, other in zip(a, b))


def _extended(x: Any, window: Shape, boundary: str, fillvalue: Any) -> Any:
    """A matrix with as much around it as a window at its edge reaches."""
    values = {"constant_values": fillvalue} if boundary == "fill" else {}
    (x,) = promote_dtypes_inexact(x)
    return pad(x, [(size - 1, size - 1) for size in window], BOUNDARIES[boundary], **values)


# ---------------------------------------------------------------- by Fourier transforms


def fftconvolve(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: Sequence[int] | None = None
) -> Array:
    """The convolution of two arrays by Fourier transforms, which is quicker for large ones.

    Args:
      in1, in2: arrays of the same rank.
      mode: as for `convolve`.
      axes: the dimensions along which to convolve, by default all. Along others, the arrays are
        broadcast.

    Returns:
      An array of the common dtype, made floating. Its elements err by about the rounding error of
      the largest one.

    Raises:
      ValueError: the ranks differ, an array is empty, there is no such mode, neither array fits
        into the other where that is asked for, or shapes differ along other dimensions.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> x = jnp.array([1.0, 2.0, 3.0, 2.0])
    >>> jsp.signal.fftconvolve(x, jnp.array([1.0, 10.0]), mode="valid").round()
    Array([12., 23., 32.], dtype=float32)
    """
    where = "fftconvolve"
    in1, in2 = _checked(where, in1, in2, mode)
    a, b = in1.aval.shape, in2.aval.shape
    if 0 in a + b:
        raise ValueError(errors.empty_operand(where, a, b))
    dims = axes_argument(where, axes, len(a))
    if any(
        axis not in dims and a[axis] != b[axis] and 1 not in (a[axis], b[axis])
        for axis in range(len(a))
    ):
        raise ValueError(errors.other_axes_differ(a, b, dims))
    _check_within(where, mode, a, b, dims)
    return _by_transforms(in1, in2, mode=mode, axes=tuple(sorted(dims)))


@composite
def _by_transforms(in1: Any, in2: Any, *, mode: str, axes: tuple[int, ...]) -> Any:
    in1, in2 = promote_dtypes_inexact(in1, in2)
    a, b = in1.shape, in2.shape
    # Where one array has a single element, convolution is multiplication.
    proper = [axis for axis in axes if a[axis] != 1 and b[axis] != 1]
    if proper:
        lengths = [_quick_length(a[axis] + b[axis] - 1) for axis in proper]
        forth, back = (fftn, ifftn) if is_complex(in1.dtype) else (rfftn, irfftn)
        spectra = [forth(as_transformable(x), lengths, proper) for x in (in1, in2)]
        out = back(spectra[0] * spectra[1], lengths, proper).astype(in1.dtype)
    else:
        out = in1 * in2
    index = [slice(None)] * in1.ndim
    for axis in axes:
        start, length = _part(mode, a[axis], b[axis])
        index[axis] = slice(start, start + length)
    return out[tuple(index)]


def _quick_length(least: int) -> int:
    """The least length, from this one on, whose prime factors are 2, 3 and 5.

    Transforms of lengths with large ones take several times as long.
    """
    length = least
    while math.gcd(length, 30 ** length.bit_length()) != length:
        length += 1
    return length
