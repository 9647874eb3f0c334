"""Places of extrema on CPUs, looked for in passes over many elements, against NumPy."""

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector._src.ops.thresholds import ARGMAX, ARGMAX_BLOCKS

pytestmark = pytest.mark.usefixtures("without_kernels")

LINE = ARGMAX + 37  # no block divides it


def array(dtype, shape):
    rng = np.random.default_rng(0)
    x = rng.integers(-9, 9, shape)  # with ties
    return np.abs(x).astype(dtype) if np.dtype(dtype).kind in "bu" else x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "uint8", "bool"])
def test_first_of_equal_elements(dtype):
    x, matrix = array(dtype, (LINE,)), array(dtype, (ARGMAX_BLOCKS, 40))

    places = [("max", x, 0), ("min", x, 0), ("max", matrix, 0), ("min", matrix.T, 1)]

    def run(*xs):
        return [
            getattr(lax, "arg" + kind)(y, axis, "int16") for y, (kind, _, axis) in zip(xs, places)
        ]

    found = cv.jit(run)(*[y for _, y, _ in places])
    for got, (kind, y, axis) in zip(found, places):
        np.testing.assert_array_equal(got, getattr(np, "arg" + kind)(y, axis))


def test_nan_is_first_and_infinities_are_numbers():
    x = array("float32", (6, LINE))
    x[0, [77, 2000]] = np.nan
    x[1], x[2], x[3] = -np.inf, np.inf, np.nan
    x[4, -1], x[5, -1] = np.inf, -np.inf
    both = cv.jit(lambda x: (lax.argmax(x, 1, "int32"), lax.argmin(x, 1, "int32")))
    for got, f in zip(both(x), (np.argmax, np.argmin)):
        np.testing.assert_array_equal(got, f(x, 1))


def test_index_dtypes_that_are_too_narrow():
    """The index wraps around as it does for XLA's operation."""
    x = np.zeros(LINE, np.float32)
    x[300] = 1
    assert lax.argmax(x, 0, "uint8") == np.uint8(300 % 256)


def test_batches():
    x = array("float32", (3, LINE))
    np.testing.assert_array_equal(cv.vmap(lambda v: lax.argmax(v, 0, "int32"))(x), np.argmax(x, 1))


@pytest.mark.parametrize(
    "shape, axes",
    [
        ((9000,), (0,)),
        ((90, 100), (1,)),
        ((90, 100), (0,)),
        ((8, 1024), (1,)),  # more rows of 32 than are folded up at once
        ((2, 4099), (1,)),  # no rows without a rest
        ((300, 70), (0,)),  # slices, which overlap
        ((700, 7), (0,)),
        ((4, 10, 5, 40), (0, 2)),
        ((4, 10, 5, 40), (1, 3)),
        ((64, 1, 64), (0, 1, 2)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_maxima_and_minima_keep_nan(shape, axes, dtype):
    x = array(dtype, shape)
    numbers = np.where(np.isin(x, [-9, 8]), 0, x)
    numbers.flat[[7, -2]] = 20, -20
    x.flat[[5, 4000, -1]] = np.nan
    both = cv.jit(lambda x: (lax.reduce_max(x, axes), lax.reduce_min(x, axes)))
    for y in (x, numbers.astype(dtype)):
        for got, f in zip(both(y), (np.max, np.min)):
            np.testing.assert_array_equal(got, f(y, axes))


def test_jaxpr_does_not_know():
    x = np.zeros(LINE, np.float32)
    (eqn,) = cv.make_jaxpr(lambda x: lax.argmax(x, 0, "int32"))(x).eqns
    assert str(eqn.primitive) == "argmax"


@pytest.mark.parametrize("name", ["max", "min"])
def test_maxima_and_minima_of_windows_keep_nan(name):
    x = array("float32", (90, 100))
    x.flat[[5, 4000, -1]] = np.nan
    start = -np.inf if name == "max" else np.inf
    window = (2, 2)
    pool = cv.jit(
        lambda x: lax.reduce_window(x, start, getattr(lax, name), window, window, "VALID")
    )
    expected = getattr(np, name)(x.reshape(45, 2, 50, 2), axis=(1, 3))
    np.testing.assert_array_equal(pool(x), expected)
