"""Sorting with the kernels and without: both as NumPy's stable sort, to the bit."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.base import config

CASES = [(True, dtype) for dtype in ("float32", "float64", "int32", "int64", "uint32")]
CASES += [(False, "float32")]  # other dtypes without kernels: see tests/ops
# Shapes and axes: of one long line, which threads share; a few lines; many short ones; lines that
# do not lie one after another.
LINES = [((70001,), 0), ((3, 1500), 1), ((700, 7), 1), ((2, 60, 50), 1)]

pytestmark = pytest.mark.usefixtures("either_way")


def with_nans(x):
    """NaNs of both signs and different contents."""
    if x.dtype.kind == "f":
        bits = x.reshape(-1).view(f"u{x.itemsize}")
        nan = np.array(np.nan, x.dtype).view(bits.dtype)
        bits[::61] = nan + np.arange(bits[::61].size, dtype=bits.dtype) % 5
        bits[9::67] = nan | bits.dtype.type(1 << (8 * x.itemsize - 1))
    return x


def same_bits(got, expected):
    assert got.dtype == expected.dtype
    kind = f"u{expected.itemsize}"
    np.testing.assert_array_equal(np.asarray(got).view(kind), expected.view(kind))


@pytest.mark.parametrize("either_way, dtype", CASES, indirect=["either_way"])
def test_sorts(dtype, numbers):
    xs = [with_nans(numbers(shape, dtype)) for shape, _ in LINES]
    axes = [axis for _, axis in LINES]

    @cv.jit
    def run(xs):
        return [(lax.sort(x, axis), jnp.argsort(x, axis)) for x, axis in zip(xs, axes)]

    for (values, order), x, axis in zip(run(xs), xs, axes):
        expected = np.argsort(x, axis, kind="stable")
        np.testing.assert_array_equal(order, expected)
        same_bits(values, np.take_along_axis(x, expected, axis))


@pytest.mark.parametrize("keys", [["int32", "float64"], ["float16"], ["bool", "uint8", "float32"]])
def test_several_keys_and_other_dtypes(keys, numbers):
    integers = numbers((6000,), "int32") % 100
    arrays = [(integers + 7 * np.arange(6000) % 3).astype(dtype) for dtype in keys]
    values = np.arange(6000, dtype=np.complex64)
    found = cv.jit(lambda *xs: lax.sort(xs, num_keys=len(keys)))(*arrays, values)
    order = np.lexsort(arrays[::-1])
    for got, x in zip(found, [*arrays, values]):
        np.testing.assert_array_equal(got, x[order])


def test_the_greatest_come_in_the_total_order():
    """NaN is greater than all or less, by its sign; 0 is greater than -0."""
    x = np.arange(5000, dtype=np.float32) + 1
    x[[5, 9, 11, 13]] = np.nan, -np.nan, -0.0, 0.0
    values, places = cv.jit(lambda x: lax.top_k(x, 4999))(x)
    numbers = [i for i in reversed(range(5000)) if i not in (5, 9, 11, 13)]
    np.testing.assert_array_equal(places, [5, *numbers, 13, 11])
    same_bits(values, x[np.asarray(places)])


def test_batches_and_derivatives():
    x = np.random.default_rng(0).permutation(9000).reshape(3, 3000).astype(np.float32)
    found = cv.jit(cv.vmap(jnp.argsort))(x)
    np.testing.assert_array_equal(found, np.argsort(x, 1))
    columns = cv.jit(cv.vmap(jnp.sort, in_axes=1, out_axes=1))(x.T)
    np.testing.assert_array_equal(columns, np.sort(x.T, 0))
    weights = np.arange(3000.0, dtype=np.float32)
    gradient = cv.jit(cv.grad(lambda x: (jnp.sort(x, 1) * weights).sum()))(x)
    np.testing.assert_array_equal(gradient, np.argsort(np.argsort(x, 1), 1))


def test_denormal_numbers_keep_their_values(installed):
    """Only the kernels tell them from 0."""
    x = np.random.default_rng(0).permutation(9000).astype(np.uint32).view(np.float32)
    with config.native_kernels(True):
        same_bits(cv.jit(jnp.sort)(x), np.arange(9000, dtype=np.uint32).view(np.float32))
        same_bits(cv.jit(jnp.argsort)(x), np.argsort(x))


def test_values_that_are_in_order_or_all_the_same():
    """Digits that all elements share are not moved."""
    for x in (np.arange(9000), np.arange(9000)[::-1], np.full(9000, -7), np.zeros(9000)):
        for dtype in ("float32", "int64"):
            y = x.astype(dtype)
            np.testing.assert_array_equal(cv.jit(jnp.sort)(y), np.sort(y))
            np.testing.assert_array_equal(cv.jit(jnp.argsort)(y), np.argsort(y, kind="stable"))
