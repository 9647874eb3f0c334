"""The greatest elements on CPUs, where they are so many that all are sorted, against JAX."""

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector._src.ops.thresholds import SORT

pytestmark = pytest.mark.usefixtures("without_kernels")

# Shapes, axes, and how many.
CASES = [((SORT + 9,), 0, SORT // 2), ((300, 4), 0, 100)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64", "uint64", "bool"])
def test_many_greatest_elements(dtype, jax):
    rng = np.random.default_rng(0)
    for shape, axis, k in CASES if dtype == "float32" else CASES[:1]:
        x = rng.integers(-20, 20, shape)  # with ties
        x = (np.abs(x) if np.dtype(dtype).kind in "ub" else x).astype(dtype)
        if np.dtype(dtype).kind in "fV":
            x.flat[[3, 50, 70]] = np.nan, -np.nan, np.nan
            x.flat[[90, 91, 92, 93]] = np.inf, -np.inf, -0.0, 0.0
        with cv.enable_x64(True), jax.enable_x64(True):
            found = cv.jit(lambda x, k=k, axis=axis: lax.top_k(x, k, axis=axis))(x)
            expected = jax.lax.top_k(x, k, axis=axis)
        for got, wanted in zip(found, expected):
            assert got.dtype == wanted.dtype
            if dtype == "bfloat16":  # whose NaNs NumPy does not compare
                got, wanted = [np.asarray(y).astype(np.float32) for y in (got, wanted)]
            np.testing.assert_array_equal(got, wanted)


def test_derivative_of_many_greatest_elements(jax):
    x = np.random.default_rng(0).permutation(2 * SORT).astype(np.float32)
    weights = np.arange(SORT, dtype=np.float32)

    def gradient(lib):
        return lib.jit(lib.grad(lambda x: (lib.lax.top_k(x, SORT)[0] * weights).sum()))(x)

    np.testing.assert_array_equal(gradient(cv), gradient(jax))
