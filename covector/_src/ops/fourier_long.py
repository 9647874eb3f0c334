"""Fourier transforms of long vectors, written for CPUs.

XLA's CPU library transforms up to 2^16 elements in the cache, and several such vectors on all
cores; longer ones it does on one core, going through memory again and again.  So a long transform
is split into short ones (decimation in frequency; Cooley and Tukey, Mathematics of Computation 19
(1965)).
With n = r m, w = exp(-2 pi i / n), j = a m + b and k = r c + d:

    y_(r c + d) = sum over b of (w^r)^(b c)  w^(b d)  sum over a of (w^m)^(a d) x_(a m + b)

From the right: transforms of r elements that lie m apart, factors, and r transforms of m elements.
The transform of real numbers is had from that of half as many complex ones (`real`).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.avals import aval_of
from .arithmetic import add_p, mul_p, sub_p
from .comparison import eq_p
from .complex import complex_p, conj_p, imag_p, real_p
from .creation import broadcasted_iota
from .joining import concatenate
from .linear import broadcast_in_dim, constant_like, full, reshape, transpose
from .rounding import rem_p
from .select import select_n_p
from .shaping import rev
from .slicing import slice_in_dim, slice_p
from .thresholds import FFT_LONG, FFT_LONGEST, FFT_SHORT

Transform = Callable[[Any, bool], Any]


def is_long(shape: Sequence[int], length: int) -> bool:
    """Whether one vector of this length is better transformed in parts."""
    power_of_two = length & (length - 1) == 0
    return power_of_two and FFT_LONG <= length <= FFT_LONGEST and math.prod(shape[:-1]) == 1


def in_parts(x: Any, inverse: bool, transform: Transform) -> Any:
    """The transform of a vector of complex numbers.

    Args:
      x: the vector, of a length that is a power of two above `FFT_SHORT`.
      inverse: whether it is the inverse transform.
      transform: transforms the rows of a matrix of complex numbers, as a short transform.
    """
    (count,) = aval_of(x).shape
    size = FFT_SHORT
    number = count // size
    sign = 1 if inverse else -1
    rows = [slice_in_dim(x, a * size, (a + 1) * size) for a in range(number)]
    mixed = butterflies(rows, sign)
    factored = [_times(row, _powers(sign * d, count, size, x)) for d, row in enumerate(mixed)]
    matrix = concatenate([reshape(row, (1, size)) for row in factored], 0)
    out = reshape(transpose(transform(matrix, inverse), (1, 0)), (count,))
    return mul_p.bind(out, constant_like(out, 1 / number)) if inverse else out


def butterflies(rows: Sequence[Any], sign: int) -> list[Any]:
    """The transforms of the columns of a matrix, given by its rows, whose number is a power of two.

    The rows of even number in the result are the transform of the sums of the upper and the lower
    half, those of odd number that of their differences, times powers of the root of unity.
    """
    count, half = len(rows), len(rows) // 2
    if count == 1:
        return list(rows)
    upper, lower = rows[:half], rows[half:]
    even = [add_p.bind(x, y) for x, y in zip(upper, lower)]
    odd = [
        _times_number(sub_p.bind(x, y), cmath.exp(sign * 2j * cmath.pi * i / count))
        for i, (x, y) in enumerate(zip(upper, lower))
    ]
    pairs = zip(butterflies(even, sign), butterflies(odd, sign))
    return [row for pair in pairs for row in pair]


def real(x: Any, transform: Transform) -> Any:
    """The first half of the transform of a vector of an even number n of real numbers.

    The even elements as real parts, and the odd ones as imaginary parts, make a vector of half the
    length, which is transformed.
    """
    (count,) = aval_of(x).shape
    parts = [
        slice_p.bind(x, start_indices=(i,), limit_indices=(count,), strides=(2,)) for i in (0, 1)
    ]
    return of_real(transform(complex_p.bind(*parts), False))


def of_real(z: Any) -> Any:
    """From transforms of pairs of real numbers, as complex ones, to those of all, along the last
    dimension.

    With m pairs and n = 2 m numbers, the parts of z that are symmetric (about m, and with the
    conjugate of the other) belong to the first ones of the pairs, and the others to the second:

        y_k = (z_k + conj z_(m-k)) / 2  +  exp(-2 pi i k / n) (z_k - conj z_(m-k)) / 2i
    """
    last, half = aval_of(z).ndim - 1, aval_of(z).shape[-1]
    z = concatenate([z, slice_in_dim(z, 0, 1, axis=last)], last)
    mirrored = conj_p.bind(rev(z, (last,)), input_dtype=aval_of(z).dtype)
    even = mul_p.bind(add_p.bind(z, mirrored), constant_like(z, 0.5))
    odd = mul_p.bind(sub_p.bind(z, mirrored), constant_like(z, -0.5j))
    powers = _powers(-1, 2 * half, half + 1, z)
    return add_p.bind(even, _times(odd, broadcast_in_dim(powers, aval_of(z).shape, (last,))))


def to_real(y: Any) -> Any:
    """The other way: the z of the first halves of transforms of real numbers.

    The first and the last element stand for themselves, and their imaginary parts are not read:

        z_k = (y_k + conj y_(m-k)) / 2  +  i exp(2 pi i k / n) (y_k - conj y_(m-k)) / 2
    """
    last, half = aval_of(y).ndim - 1, aval_of(y).shape[-1] - 1
    re, im = real_p.bind(y), imag_p.bind(y)
    place = broadcasted_iota(np.dtype(np.int32), aval_of(y).shape, last)
    inner = rem_p.bind(place, constant_like(place, half))
    at_end = eq_p.bind(inner, constant_like(inner, 0))
    none = full(aval_of(im).shape, 0, aval_of(im).dtype)
    y = complex_p.bind(re, select_n_p.bind(at_end, im, none))
    mirrored = conj_p.bind(rev(y, (last,)), input_dtype=aval_of(y).dtype)
    y, mirrored = [slice_in_dim(x, 0, half, axis=last) for x in (y, mirrored)]
    first = mul_p.bind(add_p.bind(y, mirrored), constant_like(y, 0.5))
    second = mul_p.bind(sub_p.bind(y, mirrored), constant_like(y, 0.5j))
    powers = _powers(1, 2 * half, half, y)
    return add_p.bind(first, _times(second, broadcast_in_dim(powers, aval_of(y).shape, (last,))))


# ---------------------------------------------------------------- complex numbers


def _powers(exponent: int, count: int, size: int, like: Any) -> Any:
    """exp(2 pi i exponent / count)^b for b from 0 to size - 1, with the dtype of another array.

    They are products of two of some hundred numbers, since a table of all would be as long as the
    vector itself, and a program must not hold that.
    """
    dtype = aval_of(like).dtype
    width = 1 << (size.bit_length() // 2)
    rows = -(-size // width)
    unit = 2j * np.pi * exponent / count
    high = np.exp(unit * width * np.arange(rows)).astype(dtype)
    low = np.exp(unit * np.arange(width)).astype(dtype)
    shape = (rows, width)
    table = _times(broadcast_in_dim(high, shape, (0,)), broadcast_in_dim(low, shape, (1,)))
    return slice_in_dim(reshape(table, (rows * width,)), 0, size)


def _times(x: Any, y: Any) -> Any:
    """The product of complex numbers, from their parts.

    XLA's own product looks for infinities, which its library of transforms does not keep anyway.
    """
    a, b, c, d = real_p.bind(x), imag_p.bind(x), real_p.bind(y), imag_p.bind(y)
    re = sub_p.bind(mul_p.bind(a, c), mul_p.bind(b, d))
    im = add_p.bind(mul_p.bind(a, d), mul_p.bind(b, c))
    return complex_p.bind(re, im)


def _times_number(x: Any, number: complex) -> Any:
    """The product with a number, without the products with 1 and 0."""
    if number == 1:
        return x
    re, im = real_p.bind(x), imag_p.bind(x)
    if abs(number.real) < 1e-9:
        sign = constant_like(re, round(number.imag))
        return complex_p.bind(mul_p.bind(im, constant_like(re, -sign)), mul_p.bind(re, sign))
    return _times(x, constant_like(x, number))
