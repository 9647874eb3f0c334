"""Discrete cosine transforms against SciPy in double precision."""

import inspect

import numpy as np
import pytest
import scipy.fft as sp

import covector as cv
import covector.numpy as jnp
from covector.scipy import fft

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 5))
NORMS = [None, "ortho", "forward"]


@pytest.fixture(scope="module", autouse=True)
def nothing_implicit():
    with cv.numpy_rank_promotion("raise"), cv.numpy_dtype_promotion("strict"):
        yield


def agree(name, *args, **kwargs):
    with cv.enable_x64(True):
        got = getattr(fft, name)(*args, **kwargs)
    want = getattr(sp, name)(*args, **kwargs)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_all_types_and_norms(kind, norm):
    for name in ("dct", "idct"):
        agree(name, X, kind, norm=norm)
        agree(name, X, kind, axis=0, norm=norm)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_few_elements(kind):
    for count in (2, 3) if kind == 1 else (1, 2, 3):
        agree("dct", X[0, :count], kind, norm="ortho")


@pytest.mark.parametrize("name", ["dct", "idct"])
def test_lengths_and_complex_numbers(name):
    agree(name, X, n=3)
    agree(name, X, n=7, axis=0)
    agree(name, X + 1j * X[::-1], 2, norm="ortho")
    agree(name, 3.0 * np.ones(1))


@pytest.mark.parametrize("name", ["dctn", "idctn"])
def test_several_dimensions(name):
    agree(name, X)
    agree(name, RNG.normal(size=(2, 3, 4)), 3, axes=(2, 0), norm="ortho")
    agree(name, X, s=[3, 6], axes=(-1, 0))
    agree(name, X, s=3)


def test_that_of_jax(jax):
    import jax.scipy.fft

    for name in ("dct", "idct", "dctn", "idctn"):
        got = getattr(fft, name)(X.astype(np.float32), norm="ortho")
        want = getattr(jax.scipy.fft, name)(X.astype(np.float32), norm="ortho")
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["dct", "idct", "dctn", "idctn"])
def test_signatures(jax, name):
    import jax.scipy.fft

    ours = inspect.signature(getattr(fft, name)).parameters
    theirs = inspect.signature(getattr(jax.scipy.fft, name)).parameters
    assert [(p.name, p.default) for p in ours.values()] == [
        (p.name, p.default) for p in theirs.values()
    ]


@pytest.mark.parametrize("dtype", ["int32", "float16", "bfloat16", "bool"])
def test_dtypes(dtype):
    assert fft.dct(jnp.ones(3, dtype)).dtype == np.float32
    assert fft.idct(jnp.ones(3, dtype)).dtype == np.float32


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_gradients(kind):
    # The gradient of a sum weighted with w is the product of w with the transposed matrix.
    w = RNG.normal(size=5)
    with cv.enable_x64(True):
        got = cv.grad(lambda x: jnp.sum(fft.dct(x, kind) * w))(X[0])
        np.testing.assert_allclose(got, sp.dct(np.eye(5), kind, axis=-1) @ w, rtol=1e-12)


def test_vmap_and_jit():
    got = cv.jit(cv.vmap(fft.idct, 1, 1))(X)
    np.testing.assert_allclose(got, sp.idct(X, axis=0), rtol=1e-5, atol=1e-6)


def test_errors():
    with pytest.raises(ValueError, match=r"\[dct\] The types .* 1, 2, 3 and 4, but got 5"):
        fft.dct(X, 5)
    with pytest.raises(ValueError, match="`norm` must be one of"):
        fft.idct(X, norm="unit")
    with pytest.raises(ValueError, match=r"At least 1 elements .* shape is \(0,\)"):
        fft.dct(jnp.zeros(0))
    with pytest.raises(ValueError, match="At least 2 elements"):
        fft.dct(jnp.zeros(1), 1)
    with pytest.raises(ValueError, match=r"s must have at most x.ndim \(2\) elements, got 3"):
        fft.dctn(X, s=(2, 3, 4))
    with pytest.raises(ValueError, match=r"\(2,\) and \(0, 1\)"):
        fft.idctn(X, s=(2,), axes=(0, 1))
    with pytest.raises(ValueError, match="duplicate"):
        fft.dctn(X, axes=(0, -2))
    with pytest.raises(ValueError, match="out of bounds"):
        fft.dct(X, axis=2)
    with pytest.raises(TypeError, match="dct requires ndarray"):
        fft.dct([1.0, 2.0])
