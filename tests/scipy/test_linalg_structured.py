"""Structured matrices beside SciPy's, and batches beside loops over them."""

import inspect

import numpy as np
import pytest
import scipy.linalg as osp

import covector as cv
from covector.scipy import linalg

VECTORS = {
    "circulant": [(4,), (1,)],
    "companion": [(2,), (5,)],
    "fiedler": [(4,), (1,)],
    "fiedler_companion": [(2,), (3,), (4,), (5,), (6,), (7,)],
    "hankel": [(4,), (1,)],
    "toeplitz": [(4,), (1,)],
}
SIZED = {
    "dft": [{}, dict(scale="sqrtn"), dict(scale="n")],
    "hadamard": [{}],
    "helmert": [{}, dict(full=True)],
    "hilbert": [{}],
    "invhilbert": [{}],
    "invpascal": [{}, dict(kind="lower"), dict(kind="upper")],
    "pascal": [{}, dict(kind="lower"), dict(kind="upper")],
}


def numbers(shape, dtype):
    rng = np.random.default_rng(sum(shape))
    x = rng.uniform(1, 9, shape)
    return (x + 1j * rng.uniform(1, 9, shape) if dtype == "complex64" else x).astype(dtype)


@pytest.mark.parametrize("dtype", ["int32", "float32", "complex64"])
@pytest.mark.parametrize("name", list(VECTORS))
def test_from_a_vector(name, dtype):
    for shape in VECTORS[name]:
        x = numbers(shape, dtype)
        ours = getattr(linalg, name)(x)
        np.testing.assert_allclose(ours, getattr(osp, name)(x), rtol=1e-6)


@pytest.mark.parametrize("name", [*VECTORS, "convolution_matrix"])
def test_batches(name):
    options = (3,) if name == "convolution_matrix" else ()
    x = numbers((2, 3, 5), "float32")
    fun = getattr(linalg, name)
    expected = [[getattr(osp, name)(row, *options) for row in rows] for rows in x]
    np.testing.assert_allclose(fun(x, *options), expected, rtol=1e-6)
    np.testing.assert_allclose(cv.jit(lambda x: fun(x, *options))(x), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["toeplitz", "hankel"])
def test_a_column_and_a_row(name):
    for m, n in [(3, 5), (5, 3), (1, 4), (4, 1)]:
        c, r = numbers((m,), "float32"), numbers((n,), "complex64")
        ours = getattr(linalg, name)(c, r)
        assert ours.dtype == np.complex64
        np.testing.assert_allclose(ours, getattr(osp, name)(c, r), rtol=1e-6)
    ours = getattr(linalg, name)(numbers((2, 3), "float32"), numbers((2,), "float32"))
    assert ours.shape == (2, 3, 2)
    assert getattr(linalg, name)(np.zeros((0,), "float32")).shape == (0, 0)


def test_leslie():
    f, s = numbers((4,), "float32"), numbers((3,), "float32")
    np.testing.assert_allclose(linalg.leslie(f, s), osp.leslie(f, s), rtol=1e-6)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution_matrix(mode):
    for m, n in [(3, 5), (5, 3), (1, 4), (4, 4)]:
        a, x = numbers((m,), "float32"), numbers((n,), "float32")
        ours = linalg.convolution_matrix(a, n, mode)
        np.testing.assert_allclose(ours, osp.convolution_matrix(a, n, mode), rtol=1e-6)
        np.testing.assert_allclose(ours @ x, np.convolve(a, x, mode), rtol=1e-5)


@pytest.mark.parametrize("name", list(SIZED))
def test_from_a_size(name):
    with cv.enable_x64(True):
        for n in [1, 2, 4, 8]:
            for options in SIZED[name]:
                ours = getattr(linalg, name)(n, **options)
                expected = getattr(osp, name)(n, **options)
                np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-14)
    assert getattr(linalg, name)(2).dtype in (np.float32, np.complex64, np.int32)


def test_an_infinite_element_spoils_no_other():
    x = np.array([1.0, np.inf, 3.0], np.float32)
    np.testing.assert_array_equal(linalg.hankel(x), osp.hankel(x))
    companion = np.asarray(linalg.companion(x))
    assert np.isfinite(companion[1:]).all() and np.isinf(companion[0, 0])


def test_derivatives():
    r = np.arange(2.0, 5.0, dtype="float32")
    c = np.arange(1.0, 4.0, dtype="float32")
    count = cv.grad(lambda c, r: linalg.toeplitz(c, r).sum(), (0, 1))(c, r)
    np.testing.assert_array_equal(count[0], [3, 2, 1])
    np.testing.assert_array_equal(count[1], [0, 2, 1])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: linalg.hankel(1.0), "at least 1-dimensional"),
        (lambda: linalg.companion(np.ones(1)), "length of `a` along the last axis"),
        (lambda: linalg.fiedler_companion(np.ones(0)), "nonzero number"),
        (lambda: linalg.leslie(np.ones(1), np.ones(0)), "length of f along the last axis"),
        (lambda: linalg.leslie(np.ones(3), np.ones(3)), "Incorrect lengths"),
        (lambda: linalg.convolution_matrix(np.ones(3), 0), "positive integer"),
        (lambda: linalg.convolution_matrix(np.ones(0), 2), "at least 1"),
        (lambda: linalg.convolution_matrix(np.ones(3), 2, "half"), "mode must be one of"),
        (lambda: linalg.hadamard(6), "power of 2"),
        (lambda: linalg.helmert(0), "positive integer"),
        (lambda: linalg.pascal(3, "left"), "Expected kind"),
        (lambda: linalg.dft(3, "m"), "scale must be"),
        (lambda: linalg.dft(3, dtype="float32"), "dtype must be"),
    ],
)
def test_mistakes(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_signatures_are_those_of_jax(jax):
    for name in [*VECTORS, *SIZED, "leslie", "convolution_matrix"]:
        ours = inspect.signature(getattr(linalg, name)).parameters
        theirs = inspect.signature(getattr(jax.scipy.linalg, name)).parameters
        assert [(p.name, p.default, p.kind) for p in ours.values()] == [
            (p.name, p.default, p.kind) for p in theirs.values()
        ], name
