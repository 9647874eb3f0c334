"""NumPy's Fourier transforms: over any axes, cut or filled up to any lengths, and scaled."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes, fourier_errors
from ..base.shapes import canonicalize_axis
from ..core.array import Array, ArrayLike
from ..ops.arithmetic import mul_p
from ..ops.complex import is_complex
from ..ops.fourier import FFT, IFFT, IRFFT, RFFT, FftType
from ..ops.fourier import fft as transform
from ..ops.joining import concatenate
from ..ops.linear import constant_like
from ..ops.shaping import rev
from ..ops.slicing import slice_in_dim
from ..ops.thresholds import FFT_LONG
from . import creation, parts
from .arithmetic import divide
from .composite import Lowered, composite
from .padding import pad
from .promotion import as_array, dtype_of, shape_of
from .shaping import moveaxis, roll

Shape = Sequence[int]
Norm = str | None

# XLA transforms so many dimensions at once.
_MOST_DIMENSIONS = 3

# ---------------------------------------------------------------- several dimensions


def fftn(
    a: ArrayLike, s: Shape | None = None, axes: Sequence[int] | None = None, norm: Norm = None
) -> Array:
    """The Fourier transform over several dimensions.

    Args:
      a: an array.
      s: the lengths of these dimensions, to which they are cut or filled up with zeros; by default
        those that they have.
      axes: the dimensions; by default the last `len(s)`, or all.
      norm: what is divided by the number n of elements: "backward" (the default) the inverse
        transform, "forward" this one; with "ortho" both are divided by its square root.

    Returns:
      A complex array.

    Raises:
      ValueError: axes repeat, or are not as many as the lengths, a length is not positive, or there
        is no such norm.

    >>> import covector.numpy as jnp
    >>> jnp.fft.fftn(jnp.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _over_axes("fftn", FFT, a, s, axes, norm)


def ifftn(
    a: ArrayLike, s: Shape | None = None, axes: Sequence[int] | None = None, norm: Norm = None
) -> Array:
    """The inverse of `fftn`, whose arguments it takes.

    >>> import covector.numpy as jnp
    >>> jnp.fft.ifftn(jnp.array([[4.0, 0.0], [0.0, 0.0]]))
    Array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]], dtype=complex64)
    """
    return _over_axes("ifftn", IFFT, a, s, axes, norm)


def rfftn(
    a: ArrayLike, s: Shape | None = None, axes: Sequence[int] | None = None, norm: Norm = None
) -> Array:
    """The Fourier transform of real numbers over several dimensions.

    Of the last of these dimensions, of length n, the result has the first n // 2 + 1 elements; the
    others are conjugates of them. The arguments are those of `fftn`.

    >>> import covector.numpy as jnp
    >>> jnp.fft.rfftn(jnp.ones((2, 3)))
    Array([[6.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _over_axes("rfftn", RFFT, a, s, axes, norm)


def irfftn(
    a: ArrayLike, s: Shape | None = None, axes: Sequence[int] | None = None, norm: Norm = None
) -> Array:
    """The inverse of `rfftn`, whose arguments it takes.

    The last length is that of the result; by default 2 (m - 1) where `a` has m elements.

    >>> import covector.numpy as jnp
    >>> jnp.fft.irfftn(jnp.array([[6.0, 0.0], [0.0, 0.0]]), (2, 3))
    Array([[1., 1., 1.],
           [1., 1., 1.]], dtype=float32)
    """
    return _over_axes("irfftn", IRFFT, a, s, axes, norm)


def fft2(
    a: ArrayLike, s: Shape | None = None, axes: Sequence[int] = (-2, -1), norm: Norm = None
) -> Array:
    """`fftn` over two dimensions.

    >>> import covector.numpy as jnp
    >>> jnp.fft.fft2(jnp.ones((2, 2)))[0, 0]
    Array(4.+0.j, dtype=complex64)
    """
    return _over_two("fft2", FFT, a, s, axes, norm)


def ifft2(
    a: ArrayLike, s: Shape | None = None, axes: Sequence[int] = (-2, -1), norm: Norm = None
) -> Array:
    """`ifftn` over two dimensions.

    >>> import covector.numpy as jnp
    >>> jnp.fft.ifft2(jnp.ones((2, 2)))[0, 0]
    Array(1.+0.j, dtype=complex64)
    """
    return _over_two("ifft2", IFFT, a, s, axes, norm)


def rfft2(
    a: ArrayLike, s: Shape | None = None, axes: Sequence[int] = (-2, -1), norm: Norm = None
) -> Array:
    """`rfftn` over two dimensions.

    >>> import covector.numpy as jnp
    >>> jnp.fft.rfft2(jnp.ones((2, 4))).shape
    (2, 3)
    """
    return _over_two("rfft2", RFFT, a, s, axes, norm)


def irfft2(
    a: ArrayLike, s: Shape | None = None, axes: Sequence[int] = (-2, -1), norm: Norm = None
) -> Array:
    """`irfftn` over two dimensions.

    >>> import covector.numpy as jnp
    >>> jnp.fft.irfft2(jnp.ones((2, 3))).shape
    (2, 4)
    """
    return _over_two("irfft2", IRFFT, a, s, axes, norm)


# ---------------------------------------------------------------- one dimension


def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """The Fourier transform over one dimension.

    Args:
      a: an array.
      n: the length to which the dimension is cut or filled up with zeros; by default the one that
        it has.
      axis: the dimension.
      norm: what is divided by n: "backward" (the default) the inverse transform, "forward" this
        one; with "ortho" both are divided by its square root.

    Returns:
      A complex array.

    Raises:
      ValueError: there is more than one axis, the length is not positive, or there is no such norm.

    >>> import covector.numpy as jnp
    >>> jnp.fft.fft(jnp.array([1.0, 2.0, 3.0, 4.0]))
    Array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j], dtype=complex64)
    """
    return _over_one("fft", FFT, a, n, axis, norm)


def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """The inverse of `fft`, whose arguments it takes.

    >>> import covector.numpy as jnp
    >>> jnp.fft.ifft(jnp.array([4.0, 0.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _over_one("ifft", IFFT, a, n, axis, norm)


def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """The first n // 2 + 1 elements of the Fourier transform of real numbers.

    The others are conjugates of them. The arguments are those of `fft`.

    >>> import covector.numpy as jnp
    >>> jnp.fft.rfft(jnp.array([1.0, 2.0, 3.0, 4.0]))
    Array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    return _over_one("rfft", RFFT, a, n, axis, norm)


def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """The inverse of `rfft`, whose arguments it takes.

    The length n is that of the result; by default 2 (m - 1) where `a` has m elements.

    >>> import covector.numpy as jnp
    >>> jnp.fft.irfft(jnp.array([4.0, 0.0, 0.0]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return _over_one("irfft", IRFFT, a, n, axis, norm)


def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """The Fourier transform, which is real, of what has the elements of `a` in its first half.

    The other half are their conjugates. The arguments are those of `fft`, the length is that of the
    result.

    >>> import covector.numpy as jnp
    >>> jnp.fft.hfft(jnp.array([1.0, 0.5, 0.0]))
    Array([2., 1., 0., 1.], dtype=float32)
    """
    return _over_one("hfft", IRFFT, parts.conjugate(a), n, axis, _reversed(norm))


def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """The inverse of `hfft`, whose arguments it takes.

    >>> import covector.numpy as jnp
    >>> jnp.fft.ihfft(jnp.array([2.0, 1.0, 0.0, 1.0]))
    Array([1. -0.j, 0.5-0.j, 0. -0.j], dtype=complex64)
    """
    return parts.conjugate(_over_one("ihfft", RFFT, a, n, axis, _reversed(norm)))


def _reversed(norm: Norm) -> Norm:
    """The norm for a transform in the other direction."""
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


# ---------------------------------------------------------------- computation


def _over_one(name: str, kind: FftType, a: Any, n: Any, axis: Any, norm: Norm) -> Any:
    if isinstance(axis, (list, tuple)):
        raise ValueError(fourier_errors.several_axes(name, axis))
    axes = None if axis is None else (axis,)
    return _over_axes(name, kind, a, None if n is None else (n,), axes, norm)


def _over_two(name: str, kind: FftType, a: Any, s: Any, axes: Any, norm: Norm) -> Any:
    if len(axes) != 2:
        raise ValueError(fourier_errors.not_two_axes(name, axes))
    return _over_axes(name, kind, a, s, axes, norm)


def _over_axes(name: str, kind: FftType, a: Any, s: Any, axes: Any, norm: Norm) -> Any:
    """Check the arguments of a transform, and apply it."""
    a = as_array(f"jax.numpy.fft.{name}", a)
    shape = shape_of(a)
    if s is not None:
        s = tuple(map(operator.index, s))
        if min(s, default=1) <= 0:
            raise ValueError(fourier_errors.lengths_not_positive(name, s))
        if axes is not None and len(s) != len(axes):
            raise ValueError(fourier_errors.lengths_and_axes(name, s, axes))
    if axes is None:
        axes = range(len(shape) - len(s), len(shape)) if s is not None else range(len(shape))
    numbered = tuple([canonicalize_axis(axis, len(shape)) for axis in axes])
    if len(set(axes)) != len(axes) or len(set(numbered)) != len(numbered):
        raise ValueError(fourier_errors.repeated_axes(name, axes))
    if norm not in _SCALES:
        raise ValueError(fourier_errors.unknown_norm(norm))
    if kind == RFFT and is_complex(dtype_of(a)):
        raise ValueError(fourier_errors.complex_given_to_rfft(f"fft.{name}", dtype_of(a)))
    lengths = _default_lengths(kind, [shape[axis] for axis in numbered]) if s is None else s
    return _transformed(a, kind=kind, lengths=lengths, axes=numbered, norm=norm)


def _default_lengths(kind: FftType, sizes: list[int]) -> tuple[int, ...]:
    if kind == IRFFT and sizes:
        sizes[-1] = max(0, 2 * (sizes[-1] - 1))
    return tuple(sizes)


# By the norm, the power of the number of elements that a forward transform is multiplied with, and
# the power that an inverse one is, beyond being divided by that number.
_SCALES: dict[Norm, tuple[float, float]] = {
    None: (0, 0),
    "backward": (0, 0),
    "ortho": (-0.5, 0.5),
    "forward": (-1, 1),
}


@composite
def _transformed(
    a: Any, *, kind: FftType, lengths: tuple[int, ...], axes: tuple[int, ...], norm: Norm
) -> Any:
    ndim = len(shape_of(a))
    last = tuple(range(ndim - len(axes), ndim))
    a = moveaxis(a, axes, last)
    sizes = list(shape_of(a))
    for dim, length in zip(last, lengths):
        sizes[dim] = length
    if kind == IRFFT and axes:
        sizes[-1] = lengths[-1] // 2 + 1
    out = _of_last_dimensions(_fitted(a, sizes), kind, lengths)
    power = _SCALES[norm][kind in (IFFT, IRFFT)]
    if power:
        scale = float(math.prod(lengths)) ** power
        out = mul_p.bind(out, constant_like(out, scale))
    return moveaxis(out, last, axes)


def _fitted(a: Any, sizes: Sequence[int]) -> Any:
    """An array cut, or filled up with zeros, to a shape."""
    if shape_of(a) == tuple(sizes):
        return a
    a = a[tuple([slice(size) for size in sizes])]
    return pad(a, [(0, size - given) for size, given in zip(sizes, shape_of(a))])


def _of_last_dimensions(a: Any, kind: FftType, lengths: tuple[int, ...]) -> Any:
    """The transform over the last dimensions, as many at once as XLA can."""
    rest = len(lengths) - _MOST_DIMENSIONS
    if rest <= 0:
        if kind == FFT and len(lengths) == 1 and not is_complex(dtype_of(a)):
            return _of_real(a, length=lengths[0])
        return transform(a, kind, lengths)
    ndim = len(shape_of(a))
    first = tuple(range(ndim - len(lengths), ndim - _MOST_DIMENSIONS))
    last = tuple(range(ndim - rest, ndim))
    if kind in (FFT, RFFT):
        a = transform(a, kind, lengths[rest:])
        a = _of_last_dimensions(moveaxis(a, first, last), FFT, lengths[:rest])
        return moveaxis(a, last, first)
    a = _of_last_dimensions(moveaxis(a, first, last), IFFT, lengths[:rest])
    return transform(moveaxis(a, last, first), kind, lengths[rest:])


def _of_real_as_complex(a: Any, *, length: int) -> Any:
    """The transform of real numbers along the last dimension."""
    return transform(a, FFT, (length,))


def _of_real_by_half(a: Any, *, length: int) -> Any:
    """The same, with the second half taken from the first, of which it is the mirror image."""
    half = transform(a, RFFT, (length,))
    others = slice_in_dim(half, 1, (length + 1) // 2, axis=-1)
    mirrored = rev(parts.conj(others), (others.ndim - 1,))
    return concatenate([half, mirrored], others.ndim - 1)


def _half_pays(a: Any, *, length: int) -> bool:
    return length >= FFT_LONG


_of_real = Lowered(_of_real_as_complex, _of_real_by_half, _half_pays, name="fft_of_real")


# ---------------------------------------------------------------- frequencies


def fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies that the elements of `fft` belong to.

    Args:
      n: the length of the transform.
      d: the distance of two elements of what is transformed.
      dtype: the dtype of the result.
      device: where it is to be.

    Returns:
      A vector of 0, 1, ... up to (n - 1) // 2, and -(n // 2), ..., -1, divided by n d.

    Raises:
      ValueError: `n` or `d` is a list.

    >>> import covector.numpy as jnp
    >>> jnp.fft.fftfreq(4)
    Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    _check_scalars("fftfreq", n, d)
    numbers = np.arange(n)
    return _frequencies((numbers + n // 2) % n - n // 2, n, d, dtype, device)


def rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies that the elements of `rfft` belong to; the arguments are those of `fftfreq`.

    >>> import covector.numpy as jnp
    >>> jnp.fft.rfftfreq(4)
    Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    _check_scalars("rfftfreq", n, d)
    return _frequencies(np.arange(n // 2 + 1), n, d, dtype, device)


def _check_scalars(name: str, n: Any, d: Any) -> None:
    if isinstance(n, (list, tuple)):
        raise ValueError(fourier_errors.frequencies_argument(name, "n", "an int", list(n)))
    if isinstance(d, (list, tuple)):
        raise ValueError(fourier_errors.frequencies_argument(name, "d", "a single value", list(d)))


def _frequencies(numbers: np.ndarray, n: int, d: Any, dtype: Any, device: Any) -> Any:
    if dtype is None:
        dtype = dtypes.default_float_dtype()
    dtype = dtypes.check_user_dtype_supported(dtype, "fftfreq")
    compute = dtypes.to_floating_dtype(dtype)
    step = creation.asarray(d, compute) * creation.asarray(n, compute)
    out = divide(creation.asarray(numbers, compute), step).astype(dtype)
    return out if device is None else out.to_device(device)


def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """Elements turned around such that the frequency 0 is in the middle.

    Args:
      x: an array.
      axes: the dimensions; by default all.

    >>> import covector.numpy as jnp
    >>> jnp.fft.fftshift(jnp.array([0, 1, 2, -2, -1]))
    Array([-2, -1,  0,  1,  2], dtype=int32)
    """
    return _shift("fftshift", x, axes, 1)


def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """The inverse of `fftshift`, whose arguments it takes.

    >>> import covector.numpy as jnp
    >>> jnp.fft.ifftshift(jnp.array([-2, -1, 0, 1, 2]))
    Array([ 0,  1,  2, -2, -1], dtype=int32)
    """
    return _shift("ifftshift", x, axes, -1)


def _shift(name: str, x: Any, axes: Any, sign: int) -> Any:
    x = as_array(name, x)
    axes = range(x.aval.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
    return roll(x, tuple([sign * (shape_of(x)[axis] // 2) for axis in axes]), tuple(axes))
