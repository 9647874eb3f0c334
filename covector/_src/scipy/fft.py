"""Discrete cosine transforms of the types 1 to 4.

They are sums of the elements of x with cosines, in the definitions of SciPy:

  1: x[0] + (-1)^k x[N-1] + 2 sum of x[n] cos(pi k n / (N-1)) over 0 < n < N-1
  2: 2 sum of x[n] cos(pi k (2n + 1) / 2N)
  3: x[0] + 2 sum of x[n] cos(pi (2k + 1) n / 2N) over n > 0
  4: 2 sum of x[n] cos(pi (2k + 1) (2n + 1) / 4N)

Type 3 is the inverse of type 2 but for a factor 2N, 4 is its own, and so is 1 for a factor 2(N-1).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import signal_errors as errors
from ..core.array import Array, ArrayLike
from ..numpy.arguments import axes_argument, axis_argument
from ..numpy.composite import composite
from ..numpy.fourier import fft, ifft, rfft
from ..numpy.joining import concatenate, stack
from ..numpy.padding import pad
from ..numpy.parts import imag, real
from ..numpy.promotion import as_array
from ..numpy.shaping import flip, moveaxis
from ..ops.complex import complex as complex_
from ..ops.complex import complex_dtype, is_complex
from .transformable import as_transformable

Norm = str | None

NORMS = (None, "backward", "ortho", "forward")
# The types that undo the types, but for a factor.
_INVERSES = {1: 1, 2: 3, 3: 2, 4: 4}

# ---------------------------------------------------------------- the sums, over the last dimension


def _row(values: np.ndarray, x: Any, dtype: Any) -> np.ndarray:
    """A vector, computed on the host in double precision, along the last dimension of x."""
    return values.astype(dtype).reshape((1,) * (x.ndim - 1) + (-1,))


def _phases(numbers: np.ndarray, period: int, x: Any) -> np.ndarray:
    """exp(-i pi numbers / period) along the last dimension of x."""
    return _row(np.exp(-1j * np.pi * numbers / period), x, complex_dtype(x.dtype))


def _dct1(x: Any) -> Any:
    """Type 1: the Fourier transform of x followed by its mirror image."""
    return real(rfft(concatenate([x, flip(x[..., 1:-1], -1)], -1)))


def _dct2(x: Any) -> Any:
    """Type 2, by the Fourier transform of the even elements followed by the odd ones in reverse.

    For these, v[m] = x[2m] and v[N-1-m] = x[2m+1], the angles pi k (2n + 1) / 2N are, up to sign
    and whole turns, 2 pi k m / N + pi k / 2N: J. Makhoul, IEEE Trans. ASSP 28(1), 1980.
    """
    count = x.shape[-1]
    v = concatenate([x[..., ::2], flip(x[..., 1::2], -1)], -1)
    return 2 * real(fft(v) * _phases(np.arange(count), 2 * count, x))


def _dct3(x: Any) -> Any:
    """Type 3, by the same angles read the other way."""
    count = x.shape[-1]
    twice = _row(np.where(np.arange(count) > 0, 2, 1), x, x.dtype)
    phases = np.conj(_phases(np.arange(count), 2 * count, x))
    v = real(ifft((x * twice).astype(phases.dtype) * phases, norm="forward"))
    even, odd = v[..., : (count + 1) // 2], flip(v[..., (count + 1) // 2 :], -1)
    if count % 2:
        odd = pad(odd, [(0, 0)] * (x.ndim - 1) + [(0, 1)])
    return stack([even, odd], -1).reshape((*x.shape[:-1], -1))[..., :count]


def _dct4(x: Any) -> Any:
    """Type 4: (2k + 1) (2n + 1) / 4N is k n / N and terms in k alone and in n alone."""
    count = x.shape[-1]
    numbers = np.arange(count)
    phases = _phases(numbers, 2 * count, x)
    spectrum = fft(x.astype(phases.dtype) * phases, 2 * count)[..., :count]
    return 2 * real(spectrum * _phases(2 * numbers + 1, 4 * count, x))


_SUMS: dict[int, Callable[[Any], Any]] = {1: _dct1, 2: _dct2, 3: _dct3, 4: _dct4}

# ---------------------------------------------------------------- normalization


def _orthogonal(x: Any, kind: int) -> Any:
    """The transform that preserves lengths of vectors.

    Before and behind the sums, elements that cosines count once are weighed so that the matrix is
    orthogonal, which then needs a factor only.
    """
    count = x.shape[-1]
    root = float(np.sqrt(2))
    before = {1: [0, -1], 3: [0]}.get(kind, [])
    behind = {1: [0, -1], 2: [0]}.get(kind, [])
    out = _SUMS[kind](x * _weights(before, root, x))
    return out * _weights(behind, 1 / root, out) / float(np.sqrt(_period(kind, count)))


def _weights(places: list[int], weight: float, x: Any) -> np.ndarray:
    weights = np.ones(x.shape[-1])
    weights[places] = weight
    return _row(weights, x, x.dtype)


def _period(kind: int, count: int) -> int:
    return 2 * (count - (kind == 1))


@composite
def _transformed(
    x: Any, *, kind: int, inverse: bool, lengths: tuple[int, ...], axes: tuple[int, ...], norm: Norm
) -> Any:
    x = as_transformable(x)
    if is_complex(x.dtype):
        options = dict(kind=kind, inverse=inverse, lengths=lengths, axes=axes, norm=norm)
        return complex_(_transformed(real(x), **options), _transformed(imag(x), **options))
    kind = _INVERSES[kind] if inverse else kind
    for axis, length in zip(axes, lengths):
        x = _of_length(moveaxis(x, axis, -1), length)
        if norm == "ortho":
            x = _orthogonal(x, kind)
        else:
            x = _SUMS[kind](x)
            if inverse == (norm != "forward"):
                x = x / _period(kind, length)
        x = moveaxis(x, -1, axis)
    return x


def _of_length(x: Any, length: int) -> Any:
    """An array cut, or filled up with zeros, along its last dimension."""
    missing = max(0, length - x.shape[-1])
    return pad(x[..., :length], [(0, 0)] * (x.ndim - 1) + [(0, missing)])


# ---------------------------------------------------------------- public functions


def _over_axes(
    name: str, x: Any, kind: Any, lengths: Sequence[Any], axes: tuple[int, ...], norm: Any
) -> Any:
    if kind not in _SUMS:
        raise ValueError(errors.no_such_type(name, kind))
    if norm not in NORMS:
        raise ValueError(errors.not_one_of(name, "norm", norm, NORMS))
    sizes = tuple(
        [
            x.aval.shape[axis] if length is None else operator.index(length)
            for axis, length in zip(axes, lengths)
        ]
    )
    least = 2 if kind == 1 else 1
    for axis, size in zip(axes, sizes):
        if size < least:
            raise ValueError(errors.nothing_to_transform(name, x.aval.shape, axis, least))
    inverse = name.startswith("i")
    return _transformed(x, kind=int(kind), inverse=inverse, lengths=sizes, axes=axes, norm=norm)


def _over_one(name: str, x: Any, kind: Any, n: Any, axis: Any, norm: Any) -> Any:
    x = as_array(name, x)
    axis = axis_argument(name, axis, x.aval.ndim)
    return _over_axes(name, x, kind, [n], (axis,), norm)


def _over_several(name: str, x: Any, kind: Any, s: Any, axes: Any, norm: Any) -> Any:
    x = as_array(name, x)
    ndim = x.aval.ndim
    if s is not None:
        s = list(s) if isinstance(s, Sequence) or np.ndim(s) else [s]
        if len(s) > ndim:
            raise ValueError(errors.too_many_lengths(name, ndim, len(s)))
    if axes is None and s is not None:
        axes = range(ndim - len(s), ndim)
    dims = axes_argument(name, axes if axes is None else _sequence(axes), ndim)
    if s is not None and len(s) != len(dims):
        raise ValueError(errors.lengths_and_axes(name, s, dims))
    return _over_axes(name, x, kind, s or [None] * len(dims), dims, norm)


def _sequence(axes: Any) -> Any:
    return (axes,) if isinstance(axes, int) else tuple(axes)


def dct(
    x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: Norm = None
) -> Array:
    """The discrete cosine transform.

    Args:
      x: an array. Of complex numbers, real and imaginary parts are transformed.
      type: 1, 2, 3 or 4, as described by `scipy.fft.dct`.
      n: the length of the transform, to which `x` is cut or filled up with zeros; by default that
        which it has.
      axis: the dimension.
      norm: what is divided by 2n, or by 2 (n - 1) for type 1: "backward", or None, the inverse,
        "forward" this transform; "ortho" makes both orthogonal.

    Returns:
      An array of floats, or of complex numbers.

    Raises:
      ValueError: there is no such type or norm, or there are no elements; type 1 needs two.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.fft.dct(jnp.array([1.0, 1.0, 1.0]))
    Array([6., 0., 0.], dtype=float32)
    """
    return _over_one("dct", x, type, n, axis, norm)


def idct(
    x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: Norm = None
) -> Array:
    """The inverse of `dct`, whose arguments it takes.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.fft.idct(jnp.array([6.0, 0.0, 0.0]))
    Array([1., 1., 1.], dtype=float32)
    """
    return _over_one("idct", x, type, n, axis, norm)


def dctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
) -> Array:
    """The discrete cosine transform over several dimensions.

    Args:
      x: an array.
      type: as for `dct`.
      s: the lengths of the transforms; by default those that the dimensions have.
      axes: the dimensions; by default the last `len(s)`, or all.
      norm: as for `dct`.

    Returns:
      An array of floats, or of complex numbers.

    Raises:
      ValueError: there is no such type or norm, dimensions repeat or are not as many as lengths, or
        there are no elements.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.fft.dctn(jnp.ones((2, 2)))
    Array([[16.,  0.],
           [ 0.,  0.]], dtype=float32)
    """
    return _over_several("dctn", x, type, s, axes, norm)


def idctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
) -> Array:
    """The inverse of `dctn`, whose arguments it takes.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.fft.idctn(jnp.array([[16.0, 0.0], [0.0, 0.0]]))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _over_several("idctn", x, type, s, axes, norm)
