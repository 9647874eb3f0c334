"""Sorting, searching and quantiles, compared with NumPy."""

from functools import partial

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector.errors import ConcretizationTypeError

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(4, 6)) * 3).astype(np.float32)
WITH_NANS = np.where(RNG.random((4, 6)) < 0.2, np.nan, X).astype(np.float32)

# ---------------------------------------------------------------- sorting


@pytest.mark.parametrize("axis", (0, -1, None))
def test_sort(axis):
    np.testing.assert_array_equal(jnp.sort(WITH_NANS, axis), np.sort(WITH_NANS, axis))
    falling = np.flip(np.sort(WITH_NANS, axis), -1 if axis is None else axis)
    np.testing.assert_array_equal(jnp.sort(WITH_NANS, axis, descending=True), falling)
    np.testing.assert_array_equal(jnp.array(X).sort(axis), np.sort(X, axis))


@pytest.mark.parametrize("axis", (0, -1, None))
def test_argsort(axis):
    got = jnp.argsort(WITH_NANS, axis)
    np.testing.assert_array_equal(got, np.argsort(WITH_NANS, axis, kind="stable"))
    # Equal elements keep their order also if they fall.
    falling = np.argsort(-X, axis, kind="stable")
    np.testing.assert_array_equal(jnp.argsort(X, axis, descending=True), falling)
    assert jnp.argsort(X, dtype="uint8").dtype == np.uint8


def test_lexsort():
    keys = np.array([[3, 1, 2, 0], [1, 0, 1, 0], [0, 0, 0, 0]])
    np.testing.assert_array_equal(jnp.lexsort(keys), np.lexsort(keys))
    np.testing.assert_array_equal(jnp.lexsort((X, -X), axis=0), np.lexsort((X, -X), axis=0))


def test_sort_complex():
    x = np.array([2, 1 + 1j, 1 - 1j], np.complex64)
    np.testing.assert_array_equal(jnp.sort_complex(x), np.sort_complex(x))
    assert jnp.sort_complex(X.astype(np.float16)).dtype == np.complex64


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("kth", (0, 2, -1))
def test_partition(axis, kth):
    divided = np.moveaxis(np.asarray(jnp.partition(X, kth, axis)), axis, 0)
    pivot = np.moveaxis(np.sort(X, axis), axis, 0)[kth]
    place = kth % len(divided)
    assert (divided[:place] <= pivot).all() and (divided[place:] >= pivot).all()
    by_index = jnp.take_along_axis(X, jnp.argpartition(X, kth, axis), axis)
    np.testing.assert_array_equal(np.moveaxis(np.asarray(by_index), axis, 0)[kth], pivot)


def test_partition_at_several_places():
    for kth in ([1, -2], np.array([0, 3])):
        got = jnp.partition(X, kth, None)
        np.testing.assert_array_equal(got[np.array(kth)], np.sort(X, None)[np.array(kth)])
    with pytest.raises(ValueError, match="out of bounds"):
        jnp.argpartition(X, [0, 6])


def test_gradient_of_sort():
    grad = covector.grad(lambda x: (jnp.sort(x) * np.arange(3)).sum())(np.float32([5, 1, 3]))
    np.testing.assert_array_equal(grad, [2, 0, 1])


# ---------------------------------------------------------------- searching

METHODS = ("scan", "scan_unrolled", "sort", "compare_all", "default")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("side", ("left", "right"))
@pytest.mark.parametrize("dtype", (np.float32, np.int32, np.complex64))
def test_searchsorted(method, side, dtype):
    a = np.sort(np.round(RNG.normal(size=33) * 4).astype(dtype))
    v = np.round(RNG.normal(size=(2, 9)) * 5).astype(dtype)
    if dtype is np.float32:
        a[-2:] = v[0, 0] = np.nan
    got = jnp.searchsorted(a, v, side, method=method)
    np.testing.assert_array_equal(got, np.searchsorted(a, v, side))


def test_searchsorted_elsewhere():
    a = np.array([3, 1, 2])
    np.testing.assert_array_equal(jnp.searchsorted(a, 2, sorter=np.argsort(a)), 1)
    np.testing.assert_array_equal(jnp.searchsorted(np.zeros(0), np.ones(2)), [0, 0])
    rows = np.sort(X, 1)
    got = covector.vmap(jnp.searchsorted)(rows, X[:, 0])
    np.testing.assert_array_equal(got, [np.searchsorted(r, v) for r, v in zip(rows, X[:, 0])])


@pytest.mark.parametrize("right", (False, True))
@pytest.mark.parametrize("bins", ([-2, 0, 1, 3], [3, 1, 0, -2]))
def test_digitize(right, bins):
    np.testing.assert_array_equal(
        jnp.digitize(X, np.array(bins), right), np.digitize(X, bins, right)
    )


# ---------------------------------------------------------------- quantiles

QUANTILES = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf")
HYNDMAN_AND_FAN = (
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
)


@pytest.mark.parametrize("method", QUANTILES)
@pytest.mark.parametrize("axis", (None, 1, (0, 1)))
def test_quantile(method, axis):
    for q in (0.33, np.float32([0, 0.62, 1])):  # not halfway between two elements
        got = jnp.quantile(X, q, axis, method=method)
        want = np.quantile(X, q, axis, method=method)
        np.testing.assert_allclose(got, want, rtol=1e-5)
        got = jnp.nanquantile(WITH_NANS, q, axis, method=method, keepdims=True)
        want = np.nanquantile(WITH_NANS, q, axis, method=method, keepdims=True)
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("method", HYNDMAN_AND_FAN)
def test_other_methods_of_quantiles(method):
    q = np.float32([0, 0.1, 0.25, 0.3, 0.5, 0.625, 0.9, 1])  # some on an element of 8, some halfway
    for x in (X[0, :1], X[:, :5], np.arange(8, dtype=np.float32) ** 2):
        got = jnp.quantile(x, q, -1, method=method)
        np.testing.assert_allclose(got, np.quantile(x, q, -1, method=method), 1e-5, 1e-5)
    got = jnp.nanpercentile(WITH_NANS, 30, 1, method=method)
    want = np.nanpercentile(WITH_NANS, 30, 1, method=method)
    np.testing.assert_allclose(got, want, 1e-5, 1e-5)


def test_other_methods_select_from_long_lines():
    x = RNG.normal(size=40_000).astype(np.float32)
    for method in ("averaged_inverted_cdf", "closest_observation", "hazen"):
        got = covector.jit(partial(jnp.quantile, q=0.3, method=method))(x)
        np.testing.assert_allclose(got, np.quantile(x, 0.3, method=method), rtol=1e-5)


@pytest.mark.parametrize("axis", (None, 0, 1))
def test_median(axis):
    np.testing.assert_allclose(jnp.median(X, axis), np.median(X, axis))
    np.testing.assert_allclose(jnp.nanmedian(WITH_NANS, axis), np.nanmedian(WITH_NANS, axis))
    np.testing.assert_allclose(jnp.percentile(X, 30, axis), np.percentile(X, 30, axis), rtol=1e-5)
    got, want = (m.nanpercentile(WITH_NANS, 30, axis) for m in (jnp, np))
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_weighted_quantile():
    weights = RNG.random((4, 6)).astype(np.float32)
    got = jnp.quantile(X, 0.4, 1, method="inverted_cdf", weights=weights)
    want = np.quantile(X, 0.4, 1, method="inverted_cdf", weights=weights)
    np.testing.assert_array_equal(got, want)


def test_quantile_at_the_edges():
    assert jnp.isnan(jnp.median(np.float32([1, np.nan, 3])))
    assert jnp.isnan(jnp.nanmedian(np.float32([np.nan]))) and jnp.isnan(jnp.median(np.zeros(0)))
    assert jnp.median(np.float32([1, np.inf, np.inf])) == np.inf
    assert jnp.median(np.arange(4)).dtype == np.float32
    grad = covector.grad(jnp.median)(np.float32([7, 1, 3, 5]))
    np.testing.assert_array_equal(grad, [0, 0, 0.5, 0.5])


@pytest.mark.parametrize(
    "call, error, words",
    (
        (lambda: jnp.sort(X, kind="heapsort"), TypeError, "'kind' argument to sort"),
        (lambda: jnp.argsort(X, order="f"), TypeError, "'order' argument to argsort"),
        (lambda: jnp.lexsort(()), TypeError, "need sequence of keys"),
        (lambda: jnp.lexsort((X, X[0])), ValueError, "need to be the same shape"),
        (lambda: jnp.partition(X + 0j, 1), NotImplementedError, "for complex dtype"),
        (lambda: jnp.searchsorted(X, 1), ValueError, "a should be 1-dimensional"),
        (lambda: jnp.searchsorted(X[0], 1, "up"), ValueError, "invalid value for keyword 'side'"),
        (lambda: jnp.searchsorted(X[0], 1, method="x"), ValueError, "for keyword 'method'"),
        (lambda: jnp.digitize(X, X), ValueError, "must be a 1-dimensional array"),
        (lambda: jnp.quantile(X, 0.5, method="x"), ValueError, "method can only be"),
        (lambda: jnp.quantile(X + 0j, 0.5), ValueError, "does not support complex"),
        (lambda: jnp.quantile(X, X), ValueError, "q must be have rank <= 1"),
        (lambda: jnp.median(X, overwrite_input=True), ValueError, "overwrite_input=True"),
        (lambda: jnp.quantile(X, 0.5, weights=X), NotImplementedError, "doesn't support weights"),
        (lambda: covector.jit(jnp.unique)(X), ConcretizationTypeError, "Give their number"),
    ),
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()
