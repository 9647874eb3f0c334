"""Sets and histograms, compared with NumPy and, where sizes are given, with JAX."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector.errors import ConcretizationTypeError

RNG = np.random.default_rng(0)
A, B = RNG.integers(0, 6, 10), RNG.integers(3, 9, 8)
F = np.float32([1, np.nan, 2, np.nan, 1, -0.0, 0])
M = RNG.integers(0, 2, (5, 2))
ALL = dict(return_index=True, return_inverse=True, return_counts=True)


def assert_same(ours, theirs):
    ours, theirs = covector.tree.leaves(ours), covector.tree.leaves(theirs)
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


@pytest.mark.parametrize("x", (A, F, M, F + 0j, np.zeros(0, np.int32)))
def test_unique(x):
    assert_same(jnp.unique(x, **ALL), np.unique(x, **ALL))


@pytest.mark.parametrize("axis", (0, 1))
def test_unique_parts(axis):
    assert_same(jnp.unique(M, axis=axis, **ALL), np.unique(M, axis=axis, **ALL))


@pytest.mark.parametrize("size, fill_value", ((3, None), (12, None), (12, -1)))
def test_unique_of_a_size(jax, size, fill_value):
    for x in (A, F):
        ours = covector.jit(lambda x: jnp.unique(x, **ALL, size=size, fill_value=fill_value))(x)
        theirs = jax.numpy.unique(x, **ALL, size=size, fill_value=fill_value)
        assert_same(list(ours), list(map(np.asarray, theirs)))


@pytest.mark.parametrize("name", ("unique_all", "unique_counts", "unique_inverse", "unique_values"))
def test_unique_of_the_array_api(name):
    ours, theirs = (getattr(m, name)(F) for m in (jnp, np))
    assert getattr(ours, "_fields", None) == getattr(theirs, "_fields", None)
    assert_same(list(ours), list(theirs))


SETS = ("union1d", "intersect1d", "setdiff1d", "setxor1d")


@pytest.mark.parametrize("name", SETS)
def test_sets(name):
    for x, y in ((A, B), (A.astype(np.float32), B), (A, B[:0]), (F, np.float32([1, 2, 5]))):
        assert_same(getattr(jnp, name)(x, y), getattr(np, name)(x, y))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("size, fill_value", ((2, None), (12, None), (12, -1)))
def test_sets_of_a_size(jax, name, size, fill_value):
    ours = covector.jit(lambda x, y: getattr(jnp, name)(x, y, size=size, fill_value=fill_value))
    theirs = getattr(jax.numpy, name)(A, B, size=size, fill_value=fill_value)
    assert_same(ours(A, B), np.asarray(theirs))


def test_sets_of_distinct_elements():
    x, y = np.array([5, 3, 1]), np.array([7, 3])
    for name in SETS[1:]:
        got = getattr(jnp, name)(x, y, assume_unique=True)
        assert_same(got, getattr(np, name)(x, y, assume_unique=True))


def test_indices_of_intersection():
    got = jnp.intersect1d(A, B, return_indices=True)
    assert_same(got, np.intersect1d(A, B, return_indices=True))


@pytest.mark.parametrize("method", ("auto", "compare_all", "binary_search", "sort"))
@pytest.mark.parametrize("invert", (False, True))
def test_isin(method, invert):
    for x, y in ((M, A), (np.arange(40), np.arange(9, 30)), (F, F), (A, A[:0])):
        got = jnp.isin(x, y, invert=invert, method=method)
        assert_same(got, np.isin(x, y, invert=invert))


# ---------------------------------------------------------------- histograms


def test_bincount():
    weights = RNG.random(10).astype(np.float32)
    assert_same(jnp.bincount(A), np.bincount(A))
    assert_same(jnp.bincount(A, minlength=9), np.bincount(A, minlength=9))
    np.testing.assert_allclose(jnp.bincount(A, weights), np.bincount(A, weights), rtol=1e-6)
    assert_same(covector.jit(lambda x: jnp.bincount(x, length=3))(A), np.bincount(A)[:3])
    assert jnp.bincount(A[:0]).shape == (0,)


Y, W = RNG.normal(size=(2, 30)).astype(np.float32)
W = np.abs(W)


@pytest.mark.parametrize(
    "arguments",
    (
        {},
        dict(bins=5, range=(-1, 1)),
        dict(bins=np.float32([-1, 0, 0.5, 3])),
        dict(weights=W),
        dict(bins=4, weights=W, density=True),
    ),
)
def test_histogram(arguments):
    for x in (Y, np.ones_like(Y)):
        for got, want in zip(jnp.histogram(x, **arguments), np.histogram(x, **arguments)):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
    arguments = {k: (v, None) if k == "range" else v for k, v in arguments.items()}
    for got, want in zip(jnp.histogram2d(Y, W, **arguments), np.histogram2d(Y, W, **arguments)):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


def test_histogram_of_points():
    points = np.stack([Y, W, Y[::-1]], 1)
    bins = (2, 3, np.float32([-1, 0, 1]))
    got, want = (m.histogramdd(points, bins, density=True) for m in (jnp, np))
    np.testing.assert_allclose(got[0], want[0], rtol=1e-4)
    for ours, theirs in zip(got[1], want[1]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize(
    "call, error, words",
    (
        (lambda: covector.jit(jnp.union1d)(A, B), ConcretizationTypeError, "as `size`"),
        (lambda: jnp.unique(A[:0], size=2), ValueError, "fill_value must be specified"),
        (lambda: jnp.isin(A, B, method="x"), ValueError, "method='x' is not implemented"),
        (lambda: jnp.bincount(Y), TypeError, "must have an integer type; got float32"),
        (lambda: jnp.bincount(M), ValueError, "only 1-dimensional input"),
        (lambda: jnp.bincount(A, B), ValueError, "shape of weights"),
        (lambda: covector.jit(jnp.bincount)(A), ConcretizationTypeError, "static `length`"),
        (lambda: jnp.histogram(Y, "auto"), NotImplementedError, "string values for `bins`"),
        (lambda: jnp.histogram(Y, weights=A), ValueError, "same shape as a"),
        (lambda: jnp.histogram(Y, range=(1, 2, 3)), ValueError, "sequence of scalars"),
        (lambda: jnp.histogramdd(M, (2, 2, 2)), ValueError, "a bin for each dimension"),
        (lambda: jnp.histogramdd(M, weights=A), ValueError, "one weight for each sample"),
        (lambda: jnp.histogramdd(M, range=((0, 1),)), ValueError, "pairs or Nones"),
    ),
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()
