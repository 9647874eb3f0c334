"""Counts, histograms and places, with the kernels and without, against NumPy."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

either = pytest.mark.parametrize("either_way", [True, False], indirect=True)
CASES = [(True, dtype) for dtype in ("float32", "float64", "int32", "int64", "uint32")]
CASES += [(False, "float32"), (True, "bfloat16"), (True, "complex64"), (True, "uint8")]
dtypes = pytest.mark.parametrize("either_way, dtype", CASES, indirect=["either_way"])

pytestmark = pytest.mark.usefixtures("either_way")

# ---------------------------------------------------------------- counts


@pytest.mark.parametrize(
    "dtype, length",
    [("int32", 1), ("int32", 9000), ("int64", 100), ("uint32", 9000), ("uint8", 99), ("uint64", 9)],
)
def test_counts(dtype, length):
    rng = np.random.default_rng(0)
    limits = np.iinfo(dtype)
    x = rng.integers(max(limits.min, -50), min(limits.max, 12000), 200000, endpoint=True)
    x = x.astype(dtype)
    x[:3] = limits.max  # too large, in any number of digits
    found = cv.jit(lambda x: jnp.bincount(x, length=length))(x)
    assert found.dtype == np.int64
    inside = np.maximum(x, 0)
    inside = inside[inside < length].astype(np.int64)
    np.testing.assert_array_equal(found, np.bincount(inside, minlength=length))


def test_counts_of_batches():
    x = np.random.default_rng(0).integers(0, 9, (3, 5000))
    for axis in (0, 1):
        count = cv.vmap(lambda x: jnp.bincount(x, length=10), in_axes=axis)
        lines = x if axis == 0 else x.T[:20]
        expected = [np.bincount(line, minlength=10) for line in (x if axis == 0 else lines.T)]
        np.testing.assert_array_equal(cv.jit(count)(lines), expected)


# ---------------------------------------------------------------- histograms


def counts_between(edges, x):
    """How many elements lie in each bin, by its edges; the last bin has both of them in it."""
    x = x[~np.isnan(x)]
    bins = np.searchsorted(edges, x, "right") - 1
    bins[x == edges[-1]] = edges.size - 2
    inside = (x >= edges[0]) & (x <= edges[-1])
    return np.bincount(bins[inside], minlength=edges.size - 1)


def samples(dtype):
    return np.random.default_rng(0).standard_normal((50, 1400)).astype(dtype)


def samples_with(value):
    x = samples("float32")
    return np.where(x > 2, np.float32(value), x)


HISTOGRAMS = {
    "all": (samples("float32"), 30, None),
    "in double precision": (samples("float64"), 100, None),
    "one bin": (samples("float32"), 1, None),
    "some are outside": (samples("float32"), 7, (-1.0, 0.5)),
    "all are outside": (samples("float32"), 7, (90.0, 91.0)),
    "values at edges": (np.round(samples("float32") * 8) / 8, 64, (-4.0, 4.0)),
    "bins that rounding moves": (1000 + samples("float32") * np.float32(1e-2), 300, None),
    "all alike": (np.full(5000, 3, np.float32), 4, None),
    "NaN": (samples_with(np.nan), 9, (-3, 3)),
    "infinities": (samples_with(np.inf), 9, (-3, 3)),
}


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histograms(name):
    x, bins, limits = HISTOGRAMS[name]
    counts, edges = cv.jit(lambda x: jnp.histogram(x, bins, limits))(x)
    assert counts.dtype == edges.dtype == x.dtype
    np.testing.assert_array_equal(counts, counts_between(np.asarray(edges), x.ravel()))


def test_histograms_with_weights_and_in_batches():
    x, weights = samples("float32"), np.arange(50 * 1400).reshape(50, 1400) % 3
    counts, edges = cv.jit(lambda x, w: jnp.histogram(x, 20, weights=w))(x, weights)
    expected = np.histogram(x, np.asarray(edges), weights=weights)[0]
    np.testing.assert_array_equal(counts, expected)
    lines = samples("float32").reshape(5, -1)
    counts, edges = cv.jit(cv.vmap(lambda x: jnp.histogram(x, 20)))(lines)
    for got, edge, line in zip(counts, edges, lines):
        np.testing.assert_array_equal(got, counts_between(np.asarray(edge), line))


# ---------------------------------------------------------------- places of true elements


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 1])
def test_places_of_true_elements(share):
    mask = np.random.default_rng(0).random(100001) < share
    expected = np.flatnonzero(mask)
    sizes = [1, 777, 100001, 100100]
    run = cv.jit(lambda m: [jnp.flatnonzero(m, size=size, fill_value=-1) for size in sizes])
    for got, size in zip(run(mask), sizes):
        assert got.dtype == np.int64
        count = min(size, expected.size)
        np.testing.assert_array_equal(got[:count], expected[:count])
        np.testing.assert_array_equal(got[count:], -1)


def test_places_in_several_dimensions_and_batches():
    x = np.random.default_rng(0).integers(0, 3, (20, 30, 40))
    found = cv.jit(lambda x: jnp.nonzero(x, size=17000, fill_value=(1, 2, 3)))(x)
    for got, expected, fill in zip(found, np.nonzero(x), (1, 2, 3)):
        np.testing.assert_array_equal(got[: expected.size], expected)
        np.testing.assert_array_equal(got[expected.size :], fill)
    lines = x.reshape(4, -1)
    found = cv.jit(cv.vmap(lambda x: jnp.flatnonzero(x, size=100)))(lines)
    np.testing.assert_array_equal(found, [np.flatnonzero(line)[:100] for line in lines])


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64"])
def test_distinct_elements(dtype):
    x = (np.random.default_rng(0).integers(-50, 50, 9000) / 4).astype(dtype)
    if dtype == "float32":
        x[::97], x[1::89], x[2::83] = np.nan, -0.0, 0.0
    values, places, counts = np.unique(x, return_index=True, return_counts=True)
    found = cv.jit(lambda x: jnp.unique(x, True, False, True, size=values.size + 3))(x)
    padding = [values[0]] * 3, None, [0] * 3
    for got, expected, rest in zip(found, (values, places, counts), padding):
        np.testing.assert_array_equal(got[:-3], expected)
        if rest is not None:
            np.testing.assert_array_equal(got[-3:], rest)


# ---------------------------------------------------------------- places of values in order


@dtypes
@pytest.mark.parametrize("side", ["left", "right"])
def test_places_of_values_in_order(dtype, side, numbers):
    kind = {"bfloat16": "float32", "complex64": "float32", "uint8": "int32"}.get(dtype, dtype)
    values = numbers((70, 101), kind)
    for size in (0, 1, 2, 1000, 1023):
        a, v = np.sort(values.ravel()[::7][:size].astype(dtype)), values.astype(dtype)
        if dtype.startswith("float") and size > 3:
            a[-2:], v[3, ::5] = np.nan, np.nan
        found = cv.jit(lambda a, v: jnp.searchsorted(a, v, side))(a, v)
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, np.searchsorted(a, v, side))


def test_edges_of_their_own_and_batches():
    x, edges = samples("float32"), np.array([-2, -1.5, 0, 0, 0.25, 3], np.float32)
    np.testing.assert_array_equal(jnp.digitize(x, edges), np.digitize(x, edges))
    found = cv.jit(cv.vmap(jnp.searchsorted, (0, None)))(np.stack([edges, edges + 1]), x)
    np.testing.assert_array_equal(found, [np.searchsorted(e, x) for e in (edges, edges + 1)])
