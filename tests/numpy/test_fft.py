"""`numpy.fft`, compared with NumPy's."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp

RNG = np.random.default_rng(0)
X = (RNG.normal(size=(3, 4, 5)) + 1j * RNG.normal(size=(3, 4, 5))).astype(np.complex64)
NORMS = (None, "backward", "ortho", "forward")
OF_REALS = ("rfft", "ihfft", "rfftn", "rfft2")


def check(name, *args):
    x = X.real if name in OF_REALS else X
    got, want = (getattr(m.fft, name)(x, *args) for m in (jnp, np))
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
@pytest.mark.parametrize("norm", NORMS)
def test_one_dimension(name, norm):
    for n in (None, 3, 8):
        for axis in (-1, 0):
            check(name, n, axis, norm)


@pytest.mark.parametrize("name", ("fftn", "ifftn", "rfftn", "irfftn"))
@pytest.mark.parametrize("norm", NORMS)
def test_several_dimensions(name, norm):
    for s, axes in ((None, None), (None, (2, 0)), ((2, 6), (0, 1))):
        check(name, s, axes, norm)


@pytest.mark.parametrize("name", ("fft2", "ifft2", "rfft2", "irfft2"))
def test_two_dimensions(name):
    check(name)
    check(name, (3, 6), (1, 0))


@pytest.mark.parametrize("name", ("fftn", "ifftn", "rfftn", "irfftn"))
@pytest.mark.parametrize("ndim", (4, 5))
def test_more_dimensions_than_xla_transforms(name, ndim):
    x = RNG.normal(size=(2, 3, 2, 3, 4)[:ndim])
    x = x.astype(np.float32 if name == "rfftn" else np.complex64)
    got, want = (getattr(m.fft, name)(x) for m in (jnp, np))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_frequencies():
    for n in (1, 4, 5):
        for name in ("fftfreq", "rfftfreq"):
            got, want = (getattr(m.fft, name)(n, 0.5) for m in (jnp, np))
            np.testing.assert_allclose(got, want, rtol=1e-6)
    assert jnp.fft.fftfreq(4, dtype=np.float16).dtype == np.float16


@pytest.mark.parametrize("axes", (None, 1, (0, -1)))
def test_shifts(axes):
    for name in ("fftshift", "ifftshift"):
        got, want = (getattr(m.fft, name)(X, axes) for m in (jnp, np))
        np.testing.assert_array_equal(got, want)


def test_convolution_by_fft_has_the_right_transpose():
    kernel = np.float32([1, 2, 0, 0])

    def convolve(x):
        return jnp.real(jnp.fft.ifft(jnp.fft.fft(x) * jnp.fft.fft(kernel)))

    matrix = covector.jacobian(convolve)(np.zeros(4, np.float32))
    want = np.stack([np.roll(kernel, i) for i in range(4)], 1)
    np.testing.assert_allclose(matrix, want, atol=1e-5)
    (row,) = covector.linear_transpose(convolve, np.zeros(4, np.float32))(np.eye(4, dtype="f4")[1])
    np.testing.assert_allclose(row, want[1], atol=1e-5)


@pytest.mark.parametrize(
    "call, words",
    (
        (lambda: jnp.fft.fft(X, axis=[1, 1]), r"fft.fft does not support multiple axes"),
        (lambda: jnp.fft.fft2(X, axes=[0]), r"fft2 only supports 2 axes. Got axes = \[0\]"),
        (lambda: jnp.fft.fftn(X, axes=(0, -3)), "does not support repeated axes"),
        (lambda: jnp.fft.fftn(X, (2,), (0, 1)), "different lengths"),
        (lambda: jnp.fft.fft(X, 0), "Shape should be positive"),
        (lambda: jnp.fft.fft(X, norm="x"), "Invalid norm value x"),
        (lambda: jnp.fft.rfft(X), "only real valued inputs supported for rfft"),
        (lambda: jnp.fft.fftfreq([0, 1]), r"fftfreq only takes an int. Got n = \[0, 1\]"),
        (lambda: jnp.fft.rfftfreq(2, [0]), r"rfftfreq only takes a single value. Got d = \[0\]"),
    ),
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
