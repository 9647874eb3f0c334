"""Cumulative operations on CPUs that take several steps at a time, against NumPy."""

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector._src.ops.thresholds import CUMULATIVE, CUMULATIVE_LINES

pytestmark = pytest.mark.usefixtures("without_kernels")

LONG = CUMULATIVE + 5  # no multiple of the steps
UFUNCS = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}
# Shapes and axes of one line, of a few, of many, and of many with a few elements beside each other.
SHAPES = [((LONG,), 0), ((2, LONG // 2), 1), ((CUMULATIVE_LINES + 1, 500), 1), ((20, 250, 2), 1)]


def accumulated(name, x, axis, reverse):
    wide = np.flip(x, axis) if reverse else x
    kind = {"f": np.float64, "V": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype)
    out = UFUNCS[name].accumulate(wide.astype(kind), axis, dtype=kind)
    return (np.flip(out, axis) if reverse else out).astype(x.dtype)


CASES = [(name, "float32", reverse) for name in UFUNCS for reverse in (False, True)]
CASES += [(name, dtype, False) for name in ("cumsum", "cummax") for dtype in ("bfloat16", "int32")]
CASES += [("cumprod", "complex64", True), ("cumsum", "uint8", True)]


@pytest.mark.parametrize("name, dtype, reverse", CASES)
def test_values(name, dtype, reverse):
    rng = np.random.default_rng(0)
    shapes = SHAPES if dtype == "float32" else SHAPES[:1]
    xs = [rng.integers(1, 4, shape).astype(dtype) for shape, _ in shapes]
    if name == "cumprod" and np.dtype(dtype).kind not in "iu":
        xs = [(1 + x / 3000).astype(dtype) for x in xs]
    axes = [axis for _, axis in shapes]

    def run(*xs):
        return [getattr(lax, name)(x, axis, reverse) for x, axis in zip(xs, axes)]

    for got, x, axis in zip(cv.jit(run)(*xs), xs, axes):
        expected = accumulated(name, x, axis, reverse)
        if np.dtype(dtype).kind in "iu" or name in ("cummax", "cummin"):
            np.testing.assert_array_equal(got, expected)
        else:
            one = np.complex128 if dtype == "complex64" else np.float64
            rtol = 1e-2 if dtype == "bfloat16" else 1e-6
            np.testing.assert_allclose(np.asarray(got).astype(one), expected.astype(one), rtol=rtol)


def test_nan_and_infinities_come_no_earlier():
    x = np.ones(LONG, np.float32)
    x[[20, 4003]] = np.inf, np.nan
    sums, greatest, least = cv.jit(lambda x: (lax.cumsum(x), lax.cummax(x), lax.cummin(x)))(x)
    np.testing.assert_array_equal(sums, np.cumsum(x))
    np.testing.assert_array_equal(greatest, np.maximum.accumulate(x))
    np.testing.assert_array_equal(least, np.minimum.accumulate(x))


def test_derivative_of_a_long_sum():
    weights = np.random.default_rng(0).standard_normal(LONG).astype(np.float32)
    found = cv.jit(cv.grad(lambda x: (lax.cumsum(x) * weights).sum()))(np.ones(LONG, np.float32))
    expected = np.cumsum(weights[::-1].astype(np.float64))[::-1]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_batches_of_lines():
    x = np.ones((3, LONG), np.float32)
    np.testing.assert_array_equal(cv.jit(cv.vmap(lax.cumsum))(x), np.cumsum(x, 1))
