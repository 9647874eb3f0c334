"""Fourier transforms of long lines with the kernel and without, against NumPy."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.ops.thresholds import NATIVE_FOURIER

pytestmark = pytest.mark.usefixtures("either_way")

# Even and odd powers of two, as they split into equal and unequal parts; several lines.
SHAPES = [(NATIVE_FOURIER,), (2, 2 * NATIVE_FOURIER), (1, 3, NATIVE_FOURIER)]
KINDS = {"float32": 2e-6, "float64": 4e-15}
rng = np.random.default_rng(0)


def signal(shape, dtype):
    x = rng.standard_normal((2, *shape))
    return (x[0] + 1j * x[1]).astype(np.result_type(dtype, np.complex64))


def check(found, expected, dtype, tolerance):
    """The error is of rounding only, compared with the root of the mean square."""
    assert (found.shape, found.dtype) == (expected.shape, dtype)
    scale = np.sqrt(np.mean(np.abs(expected) ** 2))
    assert np.abs(np.asarray(found) - expected).max() < tolerance * scale


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_complex(shape, dtype):
    x = signal(shape, dtype)
    wide, tolerance = x.astype(complex), KINDS[dtype]
    check(cv.jit(jnp.fft.fft)(x), np.fft.fft(wide), x.dtype, tolerance)
    check(cv.jit(jnp.fft.ifft)(x), np.fft.ifft(wide), x.dtype, tolerance)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [SHAPES[1], (3, 4 * NATIVE_FOURIER)])
def test_real(shape, dtype):
    z = signal(shape, dtype)
    x, half = z.real.copy(), z[..., : shape[-1] // 2 + 1]
    wide, tolerance = x.astype(float), KINDS[dtype]
    check(cv.jit(jnp.fft.rfft)(x), np.fft.rfft(wide), z.dtype, tolerance)
    check(cv.jit(jnp.fft.fft)(x), np.fft.fft(wide), z.dtype, tolerance)
    # Of the first and the last element of half a transform, the imaginary parts do not count.
    check(cv.jit(jnp.fft.irfft)(half), np.fft.irfft(half.astype(complex)), x.dtype, tolerance)


def test_there_and_back():
    x = signal((2**18,), "float32")
    back = cv.jit(lambda x: jnp.fft.ifft(jnp.fft.fft(x)))(x)
    check(back, x, x.dtype, 2e-6)
    back = cv.jit(lambda x: jnp.fft.irfft(jnp.fft.rfft(x)))(x.real)
    check(back, x.real, np.float32, 2e-6)


def test_derivative():
    """That of sum of w |y|^2 is twice the transform back of w y, times the length."""
    count = 2 * NATIVE_FOURIER
    x, weights = rng.standard_normal((2, count))

    def loss(x):
        y = jnp.fft.rfft(x)
        w = weights[: count // 2 + 1]
        return (w * (y.real**2 + y.imag**2)).sum()

    y = np.fft.rfft(x) * weights[: count // 2 + 1]
    expected = 2 * np.fft.fft(np.append(y, np.zeros(count - y.size)).conj()).real
    check(cv.jit(cv.grad(loss))(x), expected, np.float64, 1e-12)


def test_single_frequencies():
    """The transform of a wave is one number, at the right place."""
    count = NATIVE_FOURIER
    for k in (0, 1, 255, 256, 257, count - 1):
        wave = np.exp(2j * np.pi * k * np.arange(count) / count).astype(np.complex64)
        found = np.abs(np.asarray(cv.jit(jnp.fft.fft)(wave))) / count
        assert np.argmax(found) == k
        assert abs(found[k] - 1) < 1e-6
        assert np.delete(found, k).max() < 1e-6
