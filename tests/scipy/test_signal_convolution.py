"""Convolutions of arrays against SciPy in double precision."""

import inspect
import itertools

import numpy as np
import pytest
import scipy.signal as sp

import covector as cv
import covector.numpy as jnp
from covector.scipy import signal

RNG = np.random.default_rng(0)
NAMES = ["convolve", "correlate", "fftconvolve", "convolve2d", "correlate2d"]


@pytest.fixture(scope="module", autouse=True)
def nothing_implicit():
    with cv.numpy_rank_promotion("raise"), cv.numpy_dtype_promotion("strict"):
        yield


def normal(shape, is_complex=False):
    x = RNG.normal(size=shape)
    return x + 1j * RNG.normal(size=shape) if is_complex else x


def agree(name, *args, **kwargs):
    with cv.enable_x64(True):
        got = getattr(signal, name)(*args, **kwargs)
    want = getattr(sp, name)(*args, **kwargs)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve"])
def test_vectors(name, mode):
    for a, b in [((5,), (4,)), ((3,), (6,)), ((4,), (4,)), ((1,), (3,)), ((), ())]:
        agree(name, normal(a, a == (5,)), normal(b, a == (5,)), mode)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", NAMES)
def test_matrices(name, mode):
    for a, b in [((4, 5), (3, 2)), ((2, 3), (4, 6))]:
        agree(name, normal(a, True), normal(b, True), mode)


@pytest.mark.parametrize("mode", ["full", "same"])
def test_neither_needs_to_be_the_larger_one(mode):
    agree("convolve", normal((3, 6)), normal((4, 2)), mode)
    agree("correlate2d", normal((3, 6)), normal((4, 2)), mode)


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
@pytest.mark.parametrize(
    "boundary", [{"boundary": "wrap"}, {"boundary": "symm"}, {"fillvalue": 2.5}], ids=str
)
def test_boundaries(name, boundary):
    for mode in ("full", "same", "valid"):
        agree(name, normal((4, 5)), normal((3, 2)), mode, **boundary)


def test_by_transforms_along_some_axes():
    a, b = normal((3, 6, 2)), normal((3, 4, 1))
    for axes, mode in itertools.product([1, [-2], (1, 2)], ["full", "same", "valid"]):
        agree("fftconvolve", a, b, mode, axes=axes)


def test_method():
    for name in ("convolve", "correlate"):
        agree(name, normal(7), normal(3), "full", "fft")


@pytest.mark.parametrize("name", NAMES)
def test_signatures(jax, name):
    import jax.scipy.signal

    ours = inspect.signature(getattr(signal, name)).parameters
    theirs = inspect.signature(getattr(jax.scipy.signal, name)).parameters
    assert [(p.name, p.default) for p in ours.values()] == [
        (p.name, p.default) for p in theirs.values()
    ]


@pytest.mark.parametrize("dtype", ["int32", "bool", "bfloat16", "complex64"])
def test_dtypes(dtype):
    want = {"int32": "float32", "bool": "float32"}.get(dtype, dtype)
    x = jnp.array([1, 0, 1], dtype)
    for name in ("convolve", "fftconvolve"):
        out = getattr(signal, name)(x, x)
        assert out.dtype == want
        assert np.array_equal(np.round(np.asarray(out, complex)), [1, 0, 2, 0, 1])


@pytest.mark.parametrize("name", ["convolve2d", "fftconvolve"])
def test_gradients(name):
    a, b, weights = normal((4, 3)), normal((2, 3)), normal((5, 5))

    def weighted(a, b):
        return jnp.sum(getattr(signal, name)(a, b) * weights)

    with cv.enable_x64(True):
        got = cv.jit(cv.grad(weighted, (0, 1)))(a, b)
        # The adjoint of a convolution is a correlation.
        np.testing.assert_allclose(got[0], sp.correlate(weights, b, "valid"), rtol=1e-12)
        np.testing.assert_allclose(got[1], sp.correlate(weights, a, "valid"), rtol=1e-12)


def test_vmap():
    a, b = normal((2, 5)), normal((2, 3))
    with cv.enable_x64(True):
        for name in ("correlate", "fftconvolve"):
            fun = getattr(signal, name)
            want = [fun(x, y, "same") for x, y in zip(a, b)]
            got = cv.vmap(lambda x, y, fun=fun: fun(x, y, "same"))(a, b)
            np.testing.assert_allclose(got, np.stack(want), rtol=1e-12, atol=1e-14)


def test_errors():
    x, m = jnp.ones(3), jnp.ones((2, 3))
    with pytest.raises(ValueError, match=r"\[convolve\] .* \(3,\) and \(2, 3\)"):
        signal.convolve(x, m)
    with pytest.raises(ValueError, match="`mode` must be one of 'full', 'same', 'valid'"):
        signal.correlate(x, x, "some")
    with pytest.raises(ValueError, match="`method` must be one of"):
        signal.convolve(x, x, method="choose")
    with pytest.raises(ValueError, match="zero-size arrays"):
        signal.fftconvolve(x, jnp.ones(0))
    with pytest.raises(ValueError, match=r"mode 'valid' .* \(2, 3\) and \(3, 2\)"):
        signal.convolve2d(m, m.T, "valid")
    with pytest.raises(ValueError, match="only supports 2-dimensional inputs"):
        signal.correlate2d(x, x)
    with pytest.raises(ValueError, match="`boundary` must be one of 'fill', 'wrap', 'symm'"):
        signal.convolve2d(m, m, boundary="mirror")
    with pytest.raises(ValueError, match=r"other than the axes \(0,\)"):
        signal.fftconvolve(m, jnp.ones((2, 2)), axes=0)
    with pytest.raises(TypeError, match="convolve requires ndarray"):
        signal.convolve([1.0, 2.0], x)
