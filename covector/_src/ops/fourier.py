"""Discrete Fourier transforms.

With w = exp(-2 pi i / n), the transform of x is  y_k = sum over j of x_j w^(jk),  and the inverse
one has w^(-jk) and divides by n.  Both matrices are symmetric.  If x is real, y_(n-k) is the
conjugate of y_k, and only the elements up to y_(n // 2) are computed, or read by the inverse.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, fourier_errors
from ..base.shapes import canonicalize_shape
from ..core.avals import ShapedArray, aval_of
from .arithmetic import div_p, mul_p
from .base import Sample, draw
from .complex import complex_dtype, conj_p, is_complex, real_dtype
from .conversion import convert
from .emitted import Emitted
from .fourier_long import in_parts, is_long, of_real, real, to_real
from .linear import Linear, broadcast_in_dim, constant_like, full, move_axis, reshape, scalar
from .native import kernel_transforms, transformed_lines
from .slicing import pad_p


class FftType(enum.IntEnum):
    """Which Fourier transform to compute: forwards or back, of complex or of real numbers.

    >>> from covector import lax
    >>> lax.FftType.RFFT
    <FftType.RFFT: 2>
    """

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


FFT, IFFT, RFFT, IRFFT = FftType


class Fft(Linear):
    """The Fourier transform over the last dimensions, whose lengths are `fft_lengths`."""

    def shape(self, x, *, fft_type, fft_lengths):
        count = len(fft_lengths)
        if count > x.ndim:
            raise ValueError(fourier_errors.too_many_lengths(x.shape, fft_lengths))
        batch, sizes = x.shape[: x.ndim - count], x.shape[x.ndim - count :]
        if fft_type == IRFFT:
            if sizes[:-1] != fft_lengths[:-1]:
                raise ValueError(fourier_errors.lengths_of_half_differ(x.shape, fft_lengths))
            return (*batch, *fft_lengths)
        if sizes != fft_lengths:
            kind = "RFFT" if fft_type == RFFT else "FFT"
            raise ValueError(fourier_errors.lengths_differ(kind, x.shape, fft_lengths))
        if fft_type == RFFT:
            return (*batch, *fft_lengths[:-1], fft_lengths[-1] // 2 + 1)
        return x.shape

    def dtype(self, x, *, fft_type, fft_lengths):
        if fft_type == RFFT:
            if x.dtype not in (np.float32, np.float64):
                raise ValueError(fourier_errors.not_float(x.dtype))
            return complex_dtype(x.dtype)
        if not is_complex(x.dtype):
            kind = "IRFFT" if fft_type == IRFFT else "FFT"
            raise ValueError(fourier_errors.not_complex(kind, x.dtype))
        return real_dtype(x.dtype) if fft_type == IRFFT else x.dtype

    def abstract_eval(self, x, **params):
        dtype = self.dtype(x, **params)  # the first to complain
        return ShapedArray(self.shape(x, **params), dtype, x.weak_type)

    def ref(self, x, *, fft_type, fft_lengths):
        aval: Any = self.abstract_eval(aval_of(x), fft_type=fft_type, fft_lengths=fft_lengths)
        axes = range(-len(fft_lengths), 0)
        return _REFERENCE[fft_type](x, fft_lengths, axes).astype(aval.dtype)

    def transpose(self, ct, x, *, fft_type, fft_lengths):
        if fft_type in (FFT, IFFT):
            return (self.bind(ct, fft_type=fft_type, fft_lengths=fft_lengths),)
        rule = transpose_rfft if fft_type == RFFT else transpose_irfft
        return (rule(ct, fft_lengths),)

    def vmap(self, axis, dims, x, *, fft_type, fft_lengths):
        x = move_axis(x, dims[0], 0)
        return self.bind(x, fft_type=fft_type, fft_lengths=fft_lengths), 0

    def emit(self, b, x, *, fft_type, fft_lengths):
        if fft_type == IRFFT and len(fft_lengths) > 1 and b.platform in ("cuda", "rocm"):
            return _emit_in_two_steps(b, x, fft_lengths)
        if b.platform == "cpu" and len(fft_lengths) == 1:
            (length,), (aval,) = fft_lengths, b.avals_in
            of_complex = fft_type in (FFT, IFFT)
            if kernel_transforms(b, length if of_complex else _half(length)):
                return _emit_natively(b, x, fft_type, length)
            if is_long(aval.shape, length) and fft_type != IRFFT:
                return b.written(lambda x: [_of_long(x, fft_type, b.avals_out[0])], [x])[0]
        return emit_fft(b, x, b.avals_out[0], fft_type, fft_lengths)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, lengths in [((5,), (5,)), ((2, 4), (4,)), ((2, 3, 4), (3, 4)), ((0, 3), (3,))]:
            half = (*shape[:-1], lengths[-1] // 2 + 1)
            for kind, dtype in [(FFT, "complex64"), (IFFT, "complex64"), (RFFT, "float32")]:
                yield Sample((draw(rng, shape, dtype),), dict(fft_type=kind, fft_lengths=lengths))
            params = dict(fft_type=IRFFT, fft_lengths=lengths)
            yield Sample((draw(rng, half, "complex64"),), params)


_REFERENCE: dict[FftType, Callable[..., np.ndarray]] = {
    FFT: np.fft.fftn,
    IFFT: np.fft.ifftn,
    RFFT: np.fft.rfftn,
    IRFFT: np.fft.irfftn,
}

fft_p = Fft("fft")

# ---------------------------------------------------------------- real transforms are transposed


def transpose_rfft(ct: Any, lengths: Sequence[int]) -> Any:
    """The cotangent of a real array from that of its transform.

    It is  Re sum over k of ct_k w^(jk),  the conjugate of which the inverse transform would be, if
    it did not divide by n and count each k once for itself and once for n - k.
    """
    halved = div_p.bind(conj_p.bind(ct, input_dtype=aval_of(ct).dtype), _multiplicity(ct, lengths))
    x = fft_p.bind(halved, fft_type=IRFFT, fft_lengths=lengths)
    return mul_p.bind(constant_like(x, math.prod(lengths)), x)


def transpose_irfft(ct: Any, lengths: Sequence[int]) -> Any:
    """The cotangent of the half of a transform from that of the real array it belongs to.

    With c_k the number of times that the inverse transform counts k, it is
    c_k / n times the sum over j of ct_j w^(-jk).
    """
    y = fft_p.bind(ct, fft_type=RFFT, fft_lengths=lengths)
    y = mul_p.bind(_multiplicity(y, lengths), y)
    y = mul_p.bind(constant_like(y, 1 / math.prod(lengths)), y)
    return conj_p.bind(y, input_dtype=aval_of(y).dtype)


def _multiplicity(y: Any, lengths: Sequence[int]) -> Any:
    """For each k of the half y of a transform the number of elements that it stands for.

    It is 2, but 1 for k = 0 and k = n / 2. The shape broadcasts against that of `y`.
    """
    aval = aval_of(y)
    even = int(lengths[-1] % 2 == 0)
    twos = full((aval.shape[-1] - 1 - even,), 2, aval.dtype)
    counts = pad_p.bind(twos, scalar(1, aval.dtype), padding_config=((1, even, 0),))
    ones = (1,) * (aval.ndim - 1)
    return broadcast_in_dim(counts, (*ones, aval.shape[-1]), (aval.ndim - 1,))


# ---------------------------------------------------------------- lowering


def emit_fft(b: Any, x: Any, out: Any, kind: FftType, lengths: Sequence[int]) -> Any:
    """Write one transform with a result of type `out`."""
    kind_attribute = f"#stablehlo<fft_type {kind.name}>"
    return b.op("fft", x, out=out, fft_type=kind_attribute, fft_length=tuple(lengths))


def _of_long(x: Any, kind: FftType, out: ShapedArray) -> Any:
    """The transform of a long vector, of the shape and type `out`, from short ones."""

    def transform(rows: Any, inverse: bool) -> Any:
        lengths = aval_of(rows).shape[-1:]
        return fft_p.bind(rows, fft_type=IFFT if inverse else FFT, fft_lengths=lengths)

    line = reshape(x, (aval_of(x).size,))
    y = real(line, transform) if kind == RFFT else in_parts(line, kind == IFFT, transform)
    return reshape(y, out.shape)


def _half(length: int) -> int:
    """Half an even number; 0 for an odd one."""
    return 0 if length % 2 else length // 2


def _emit_natively(b: Any, x: Any, kind: FftType, length: int) -> Any:
    """Write transforms along the last dimension by our own kernel, which is of complex numbers.

    Real numbers are transformed as half as many complex ones.
    """
    (aval,), (out,) = b.avals_in, b.avals_out
    if kind in (FFT, IFFT):
        return transformed_lines(Emitted(b, x, aval), kind == IFFT, out).value
    if kind == RFFT:
        half = ShapedArray((*aval.shape[:-1], length // 2), out.dtype)
        z = transformed_lines(Emitted(b, x, aval), False, half)
        return b.replace(avals_in=(half,)).written(lambda z: [of_real(z)], [z.value])[0]
    half = ShapedArray((*aval.shape[:-1], length // 2), aval.dtype)
    (z,) = b.written(lambda y: [to_real(y)], [x])
    return transformed_lines(Emitted(b, z, half), True, out).value


def _emit_in_two_steps(b: Any, x: Any, lengths: Sequence[int]) -> Any:
    """Write an inverse transform to real numbers over several dimensions for GPUs.

    Their library expects that the other half is the conjugate of this one in all dimensions
    together. So the others are transformed first, when the last one stands in front of them.
    """
    (aval,) = b.avals_in
    first, ndim = aval.ndim - len(lengths), aval.ndim
    forth = [*range(first), ndim - 1, *range(first, ndim - 1)]
    back = [*range(first), *range(first + 1, ndim), first]
    moved = ShapedArray([aval.shape[dim] for dim in forth], aval.dtype)
    x = b.op("transpose", x, out=moved, permutation=tuple(forth))
    x = emit_fft(b, x, moved, IFFT, lengths[:-1])
    x = b.op("transpose", x, out=aval, permutation=tuple(back))
    return emit_fft(b, x, b.avals_out[0], IRFFT, lengths[-1:])


# ---------------------------------------------------------------- the function


def fft(x: Any, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Any:
    """The discrete Fourier transform over the last dimensions of an array.

    Args:
      x: an array. Real numbers are converted for the complex transforms.
      fft_type: `FFT`, `IFFT` (the inverse), `RFFT` (of real numbers, with the half of the result
        that determines the other) or `IRFFT` (its inverse), as a `FftType` or a string.
      fft_lengths: the lengths of these dimensions, those of the result for `IRFFT`.

    Returns:
      A complex array, for `IRFFT` a real one. For `RFFT` its last dimension is of size n // 2 + 1
      where the length is n. `x` itself if there are no lengths.

    Raises:
      ValueError: the lengths are not those of the dimensions, `x` is complex but should be real,
        or there is no such transform.
      TypeError: `fft_type` is neither a `FftType` nor a string.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.fft(np.array([1.0, 2.0, 3.0, 4.0]), "rfft", (4,))
    Array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    kind = _fft_type(fft_type)
    dtype = dtypes.dtype_of(x)
    if kind != RFFT:
        x = convert(x, dtypes.to_complex_dtype(dtype))
    elif is_complex(dtype):
        raise ValueError(fourier_errors.complex_given_to_rfft("fft.rfft", dtype))
    else:
        x = convert(x, dtypes.to_inexact_dtype(dtype))
    lengths = canonicalize_shape(fft_lengths, "fft")
    return fft_p.bind(x, fft_type=kind, fft_lengths=lengths) if lengths else x


def _fft_type(kind: Any) -> FftType:
    if isinstance(kind, FftType):
        return kind
    if not isinstance(kind, str):
        raise TypeError(fourier_errors.unknown_type(kind))
    if kind not in _FFT_TYPES:
        raise ValueError(fourier_errors.unknown_type(kind))
    return _FFT_TYPES[kind]


_FFT_TYPES = {name: kind for kind in FftType for name in (kind.name, kind.name.lower())}
