"""Fourier transforms compared with NumPy's, and their derivatives with what the sums say."""

import numpy as np
import pytest

import covector
from covector import lax

KINDS = ("fft", "ifft", "rfft", "irfft")


def operand(rng, kind, shape, dtype=np.float32):
    """A random operand whose transform over the last dimension has length shape[-1]."""
    x = rng.normal(size=shape)
    if kind == "rfft":
        return x.astype(dtype)
    if kind == "irfft":
        x = rng.normal(size=(*shape[:-1], shape[-1] // 2 + 1))
    return (x + 1j * rng.normal(size=x.shape)).astype(np.result_type(dtype, np.complex64))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape, count", (((6,), 1), ((3, 5), 1), ((2, 3, 4), 2), ((2, 3, 5), 3)))
def test_values(rng, kind, shape, count):
    x = operand(rng, kind, shape)
    lengths = shape[len(shape) - count :]
    want = getattr(np.fft, f"{kind}n")(x, lengths, axes=range(-count, 0))
    got = lax.fft(x, kind, lengths)
    assert got.dtype == (np.float32 if kind == "irfft" else np.complex64)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_double_precision(rng, kind):
    with covector.enable_x64(True):
        x = operand(rng, kind, (2, 9), np.float64)
        got = lax.fft(x, lax.FftType[kind.upper()], (9,))
        np.testing.assert_allclose(got, getattr(np.fft, kind)(x, 9), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", (1, 2, 3, 8))
def test_cotangents_are_jaxs(jax, rng, kind, length):
    x = operand(rng, kind, (2, length))
    out, theirs = jax.vjp(lambda x: jax.lax.fft(x, kind, (length,)), x)
    ct = rng.normal(size=out.shape).astype(np.float32)
    if kind != "irfft":
        ct = (ct + 1j * rng.normal(size=out.shape)).astype(np.complex64)
    _, ours = covector.vjp(lambda x: lax.fft(x, kind, (length,)), x)
    np.testing.assert_allclose(ours(ct)[0], theirs(ct)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_cotangents_over_two_dimensions(jax, rng, kind):
    x = operand(rng, kind, (3, 4))
    out, theirs = jax.vjp(lambda x: jax.lax.fft(x, kind, (3, 4)), x)
    _, ours = covector.vjp(lambda x: lax.fft(x, kind, (3, 4)), x)
    ct = np.asarray(out)
    np.testing.assert_allclose(ours(ct)[0], theirs(ct)[0], rtol=1e-5, atol=1e-5)


def test_hessian_of_the_energy():
    # By Parseval's theorem the energy of the transform is n times that of x.
    def energy(x):
        y = lax.abs(lax.fft(x, "fft", (3,)))
        return lax.reduce_sum(y * y, (0,))

    hessian = covector.hessian(energy)(np.array([1.0, 2.0, 0.5], np.float32))
    np.testing.assert_allclose(hessian, 2 * 3 * np.eye(3), atol=1e-4)


@pytest.mark.parametrize("axis", (0, 1, 2))
def test_batches(rng, axis):
    x = np.moveaxis(operand(rng, "fft", (5, 2, 3)), 0, axis)
    got = covector.vmap(lambda x: lax.fft(x, "fft", (3,)), in_axes=axis, out_axes=axis)(x)
    last = [dim for dim in range(3) if dim != axis][-1]
    np.testing.assert_allclose(got, np.fft.fft(x, axis=last), rtol=1e-5, atol=1e-5)


def test_no_lengths_and_conversions():
    x = np.arange(3)
    assert lax.fft(x, "fft", ()).dtype == np.complex64
    assert lax.fft(x, "rfft", ()).dtype == np.float32
    np.testing.assert_allclose(lax.fft(x, "RFFT", (3,)), np.fft.rfft(x), rtol=1e-6)


X = np.ones((2, 14, 15), np.float32)


@pytest.mark.parametrize(
    "call, error, words",
    (
        (lambda: lax.fft(X[0], "fft", (4, 5, 6)), ValueError, r"fft_lengths \(4, 5, 6\)"),
        (lambda: lax.fft(X[0], "fft", (17,)), ValueError, r"FFT input shape \(14, 15\)"),
        (lambda: lax.fft(X, "rfft", (14, 12)), ValueError, r"RFFT input shape \(2, 14, 15\)"),
        (lambda: lax.fft(X, "irfft", (13, 15)), ValueError, r"got fft_lengths=\(13, 15\)"),
        (lambda: lax.fft(X.astype(np.float16), "rfft", (5, 6)), ValueError, "got float16"),
        (lambda: lax.fft(X + 0j, "rfft", (15,)), ValueError, "only real valued inputs supported"),
        (lambda: lax.fft(X, "dct", (15,)), ValueError, "Unknown FFT type 'dct'"),
        (lambda: lax.fft(X, 3, (15,)), TypeError, "Unknown FFT type value '3'"),
        (
            lambda: lax.fft_p.bind(X, fft_type=lax.FftType.FFT, fft_lengths=(15,)),
            ValueError,
            "must be complex64 or complex128, got float32",
        ),
    ),
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.fixture
def rng():
    return np.random.default_rng(0)
