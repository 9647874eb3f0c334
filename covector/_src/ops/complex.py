"""Complex numbers and their parts; absolute values.

    real  <->  complex(., 0)       imag  <->  complex(0, -.)       conj  <->  conj

Transposes are with respect to the bilinear form Re(ct * v), without a conjugation, as JAX's are:
Im(v) = Re(-i v), which is why the transpose of `imag` multiplies by -i.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import dtypes, elementwise_errors
from ..core.array import Array
from ..core.avals import aval_of
from .arithmetic import div_p, mul_p, neg_p
from .base import Sample
from .comparison import eq_p, ge_p
from .conversion import convert
from .families import (
    COMPLEXES,
    LinearBinary,
    LinearUnary,
    Unary,
    filled_like,
)
from .functions import binary, unary
from .linear import constant_like
from .select import select_n_p


def real_dtype(dtype: Any) -> np.dtype:
    """The dtype of the parts of complex numbers; of real numbers, their own."""
    return dtypes.finfo(dtype).dtype if is_complex(dtype) else dtype


def complex_dtype(dtype: Any) -> np.dtype:
    """The dtype of complex numbers whose parts are of a real dtype; of complex ones, their own."""
    return np.result_type(dtype, np.complex64)


def is_complex(dtype: Any) -> bool:
    return dtypes.issubdtype(dtype, np.complexfloating)


class Part(LinearUnary):
    """The real or the imaginary part of complex numbers."""

    accepts = COMPLEXES
    returns = "An array of the shape of `x`, of dtype float32 or float64."

    def dtype(self, x):
        return real_dtype(super().dtype(x))


class Real(Part):
    """Elementwise real part."""

    example = "lax.real(1 + 2j)", "Array(1., dtype=float32, weak_type=True)"
    hlo = "real"
    numpy = np.real

    def transpose(self, ct, x):
        return (complex_p.bind(ct, constant_like(ct, 0)),)


class Imag(Part):
    """Elementwise imaginary part."""

    example = "lax.imag(1 + 2j)", "Array(2., dtype=float32, weak_type=True)"
    hlo = "imag"
    numpy = np.imag

    def transpose(self, ct, x):
        return (complex_p.bind(constant_like(ct, 0), neg_p.bind(ct)),)


class Complex(LinearBinary):
    """Elementwise complex number x + iy."""

    example = "lax.complex(1.0, 2.0)", "Array(1.+2.j, dtype=complex64, weak_type=True)"
    accepts = (np.float32, np.float64)
    returns = "An array of the common shape, of dtype complex64 or complex128."
    hlo = "complex"

    @staticmethod
    def numpy(x, y):
        x, y = np.broadcast_arrays(x, y)
        out = np.empty(x.shape, complex_dtype(x.dtype))  # x + 1j * y has NaN where y is inf
        out.real, out.imag = x, y
        return out

    def dtype(self, x, y):
        return complex_dtype(super().dtype(x, y))

    def derivative_x(self, t, x, y, z):
        return self.bind(t, constant_like(t, 0))

    def derivative_y(self, t, x, y, z):
        return self.bind(constant_like(t, 0), t)

    def transpose_x(self, ct):
        return real_p.bind(ct)

    def transpose_y(self, ct):
        return imag_p.bind(neg_p.bind(ct))


class Conj(LinearUnary):
    """Elementwise complex conjugate; of floats, the complex numbers that they are.

    `input_dtype` is the operand's dtype, which its transpose returns to.
    """

    accepts = (np.float32, np.float64, np.complexfloating)

    def dtype(self, x, *, input_dtype):
        return complex_dtype(super().dtype(x))

    def ref(self, x, *, input_dtype):
        return np.conj(x).astype(complex_dtype(np.asarray(x).dtype))

    def transpose(self, ct, x, *, input_dtype):
        return (conj(ct) if is_complex(input_dtype) else real_p.bind(ct),)

    def emit(self, b, x, *, input_dtype):
        (aval,) = b.avals_in
        part = aval.update(dtype=real_dtype(aval.dtype))
        if not is_complex(aval.dtype):
            return b.op("complex", x, b.full(0, part))
        imag = b.op("negate", b.op("imag", x, out=part), out=part)
        return b.op("complex", b.op("real", x, out=part), imag)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in ("complex64", "float32"):
            for sample in self.samples_of(rng, np.dtype(dtype)):
                yield sample._replace(params={"input_dtype": np.dtype(dtype)})


real_p = Real("real")
imag_p = Imag("imag")
complex_p = Complex("complex")
conj_p = Conj("conj")

real = unary(real_p)
imag = unary(imag_p)
complex = binary(complex_p)


def conj(x: Any) -> Array:
    """Elementwise complex conjugate.

    Args:
      x: an array of complex numbers, or of floats, which are taken for complex numbers.

    Returns:
      An array of the shape of `x`, of dtype complex64 or complex128.

    Raises:
      TypeError: `x` has another dtype.

    >>> from covector import lax
    >>> lax.conj(1 + 2j)
    Array(1.-2.j, dtype=complex64, weak_type=True)
    """
    return conj_p.bind(x, input_dtype=aval_of(x).dtype)


# ---------------------------------------------------------------- absolute value


class Abs(Unary):
    """Elementwise absolute value; of complex numbers, the modulus."""

    example = "lax.abs(3 - 4j)", "Array(5., dtype=float32, weak_type=True)"
    accepts = (np.signedinteger, np.floating, np.complexfloating)
    returns = "An array of the shape of `x`, and of its dtype, or of its parts' if it is complex."
    hlo = "abs"
    numpy = np.abs

    def dtype(self, x):
        dtype = super().dtype(x)
        if dtypes.issubdtype(dtype, np.integer) and dtypes.itemsize_bits(dtype) < 8:
            raise TypeError(elementwise_errors.narrow_integer_not_accepted(self.name, dtype))
        return real_dtype(dtype)

    def derivative(self, t, x, y):
        dtype = aval_of(x).dtype
        if not is_complex(dtype):
            return select_n_p.bind(ge_p.bind(x, constant_like(x, 0)), neg_p.bind(t), t)
        # |x|^2 = x conj(x), hence d|x| = Re(dx conj(x)) / |x|; and 0 at x = 0.
        modulus = convert(y, dtype)
        is_zero = eq_p.bind(modulus, constant_like(modulus, 0))
        modulus = select_n_p.bind(is_zero, modulus, filled_like(modulus, 1))
        return real_p.bind(mul_p.bind(t, div_p.bind(conj(x), modulus)))


abs_p = Abs("abs")
abs = unary(abs_p)
