"""Quantiles, histograms and sets of long vectors, which CPUs count instead of sorting."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.ops.thresholds import HISTOGRAM, QUANTILE

rng = np.random.default_rng(0)
N = QUANTILE + 1
NORMAL = (rng.standard_normal(N) * 100).astype(np.float32)
LINES = {
    "normal": NORMAL,
    "NaN": np.where(rng.random(N) < 0.1, np.float32(np.nan), NORMAL),
    "ties": np.round(NORMAL / 50),
    "infinities": np.where(NORMAL < 0, np.float32(-np.inf), np.float32(np.inf)),
    "all NaN": np.full(N, np.nan, np.float32),
    "negative": -np.abs(NORMAL),
}


@cv.jit
def medians(x):
    return jnp.median(x), jnp.nanmedian(x[1:], keepdims=True)


@pytest.mark.filterwarnings("ignore:All-NaN slice")
@pytest.mark.parametrize("name", LINES)
def test_medians(name):
    x = LINES[name]
    expected = np.median(x), np.nanmedian(x[1:], keepdims=True)
    for got, wanted in zip(medians(x), expected):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_medians_of_other_dtypes(dtype):
    x = NORMAL.astype(dtype)
    with cv.enable_x64(dtype == "float64"):
        found = cv.jit(jnp.median)(x)
    assert found.dtype == x.dtype
    assert np.asarray(found) == np.sort(x)[N // 2]


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_quantiles(method, jax):
    # Several dimensions that are one line together.
    x, q = NORMAL[: 4 * (N // 4)].reshape(4, 1, -1), np.array([0.123, 1.0], np.float32)
    params = dict(axis=(0, 2), method=method)
    found = cv.jit(lambda x, q: jnp.quantile(x, q, **params))(x, q)
    np.testing.assert_allclose(found, jax.numpy.quantile(x, q, **params), rtol=1e-5)


def test_derivatives_and_batches(jax):
    x = LINES["ties"][1:]

    def loss(lib):
        return lambda x: lib.numpy.median(x) ** 2

    found = cv.jit(cv.grad(cv.jit(loss(cv))))(x)
    np.testing.assert_array_equal(found, jax.grad(loss(jax))(x))
    rows = np.stack([x, -x])
    np.testing.assert_array_equal(cv.jit(cv.vmap(cv.jit(jnp.median)))(rows), np.median(rows, 1))


def test_the_jaxpr_holds_the_quantile_as_one():
    """What it becomes is not known before the program is written; short ones are sorted."""
    assert [str(eqn.primitive) for eqn in cv.make_jaxpr(jnp.median)(NORMAL).eqns] == ["quantile"]
    assert "sort[" in str(cv.make_jaxpr(jnp.median)(NORMAL[:9]))


# ---------------------------------------------------------------- histograms

BINS = {
    "many": dict(bins=1000, range=(-250, 250)),
    "inside": dict(bins=37, range=(-10.5, 7)),
    "density": dict(bins=7, density=True),
}
VALUES = {
    "integers": np.round(NORMAL[:HISTOGRAM]).astype(np.int32),
    "one value": np.full(HISTOGRAM, 3, np.float32),
    # So close to one another that edges are rounded far away from where they should be.
    "close": (1 + NORMAL[:HISTOGRAM] * np.float32(1e-8)).astype(np.float32),
}


@pytest.mark.parametrize("bins", BINS)
@pytest.mark.parametrize("values", VALUES)
def test_histograms(bins, values, jax):
    x, params = VALUES[values], BINS[bins]
    found = cv.jit(lambda x: jnp.histogram(x, **params))(x)
    expected = jax.jit(lambda x: jax.numpy.histogram(x, **params))(x)
    for got, wanted in zip(found, expected):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_histogram_with_weights_and_what_is_in_no_bin():
    x = NORMAL.copy()
    x[[5, 6, 7]] = np.nan, np.inf, -np.inf
    weights = rng.integers(0, 5, N).astype(np.float32)
    params = dict(bins=16, range=(-128, 128))
    counts, _ = cv.jit(lambda x, w: jnp.histogram(x, weights=w, **params))(x, weights)
    np.testing.assert_array_equal(counts, np.histogram(x, weights=weights, **params)[0])


# ---------------------------------------------------------------- sets


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_distinct_elements(dtype):
    x = np.round(NORMAL[:2000] / 20).astype(dtype)
    names = ("return_index", "return_inverse", "return_counts")
    for wanted in ((False, False, False), (True, True, True)):
        flags = dict(zip(names, wanted))
        found, expected = jnp.unique(x, **flags), np.unique(x, **flags)
        for got, right in zip(*[y if any(wanted) else (y,) for y in (found, expected)]):
            np.testing.assert_array_equal(got, right)


def test_indices_of_what_is_not_zero():
    mask = NORMAL[:9000] > 50
    (expected,) = np.nonzero(mask)
    for size in (len(expected), 10, 9000):
        (found,) = cv.jit(lambda x, size=size: jnp.nonzero(x, size=size, fill_value=-1))(mask)
        padded = np.append(expected, np.full(9000, -1))[:size]
        np.testing.assert_array_equal(found, padded)


def test_bins_that_fall():
    edges = np.array([100, 3, 3, -50], np.float32)
    for right in (False, True):
        found = jnp.digitize(NORMAL, edges, right)
        np.testing.assert_array_equal(found, np.digitize(NORMAL, edges, right))


def test_other_platforms_sort():
    program = cv.jit(jnp.median).trace(NORMAL)
    assert "stablehlo.sort" not in program.lower().as_text()
    assert "stablehlo.sort" in program.lower(lowering_platforms=("cuda",)).as_text()
