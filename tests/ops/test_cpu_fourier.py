"""Fourier transforms of long vectors, which CPUs do in parts, against NumPy in double precision."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.ops.thresholds import FFT_LONG

rng = np.random.default_rng(0)
REAL = rng.standard_normal(FFT_LONG).astype(np.float32)
COMPLEX = (REAL + 1j * rng.standard_normal(FFT_LONG)).astype(np.complex64)
NAMES = {"fft": COMPLEX, "ifft": COMPLEX, "rfft": REAL, "fft of real": REAL}


def transform(lib, name, x):
    return getattr(lib.fft, name.split()[0])(x)


def check(found, expected, tolerance=2e-6):
    """The error, compared with the root of the mean square of the result, is of rounding only."""
    assert found.shape == expected.shape
    scale = np.sqrt(np.mean(np.abs(expected) ** 2))
    assert np.abs(np.asarray(found) - expected).max() < tolerance * scale


@pytest.mark.parametrize("name", NAMES)
def test_values(name):
    x = NAMES[name]
    expected = transform(np, name, x.astype(np.complex128 if x.dtype.kind == "c" else np.float64))
    check(cv.jit(lambda x: transform(jnp, name, x))(x), expected)


def test_of_four_parts_and_in_double_precision():
    x = np.concatenate([COMPLEX, COMPLEX[::-1]]).astype(np.complex128)
    with cv.enable_x64(True):
        check(cv.jit(jnp.fft.fft)(x), np.fft.fft(x), 1e-14)
        check(cv.jit(jnp.fft.ifft)(x[None]), np.fft.ifft(x[None]), 1e-14)


def test_derivative_of_a_long_transform():
    """That of sum of w |y|^2 is twice the transform back of w y, times the length."""
    weights = rng.standard_normal(FFT_LONG).astype(np.float32)

    def loss(x):
        y = jnp.fft.fft(x)
        return (weights * (y.real**2 + y.imag**2)).sum()

    y = np.fft.fft(REAL.astype(np.float64))
    expected = 2 * FFT_LONG * np.fft.ifft(weights * y).real
    check(cv.jit(cv.grad(loss))(REAL), expected, 1e-5)


def test_transposed_and_in_batches():
    cotangent = COMPLEX
    (found,) = cv.linear_transpose(jnp.fft.fft, REAL)(cotangent)
    check(found, np.fft.fft(cotangent.astype(np.complex128)).real)
    check(cv.jit(cv.vmap(jnp.fft.fft))(REAL[None]), np.fft.fft(REAL[None].astype(np.float64)))


def test_other_lengths():
    x = np.append(REAL, np.float32(1))
    check(cv.jit(jnp.fft.fft)(x), np.fft.fft(x.astype(np.float64)), 1e-5)


def test_jaxpr_does_not_know():
    (eqn,) = cv.make_jaxpr(lambda x: cv.lax.fft(x, "FFT", (FFT_LONG,)))(COMPLEX).eqns
    assert str(eqn.primitive) == "fft"
