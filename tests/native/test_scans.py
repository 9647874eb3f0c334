"""Places of extrema and cumulative sums, with the kernels and without, against NumPy."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax

CASES = [(True, dtype) for dtype in ("float32", "float64", "int32", "int64", "uint32")]
CASES += [(False, "float32")]  # other dtypes without kernels: see tests/ops
dtypes = pytest.mark.parametrize("either_way, dtype", CASES, indirect=["either_way"])
# One long line, a few, many; and lines side by side, in more columns than the kernel takes at once.
LINES = [((150001,), 0), ((3, 40000), 1), ((50, 200), 1), ((2, 30, 300), 1)]

pytestmark = pytest.mark.usefixtures("either_way")


@dtypes
def test_places_of_extrema(dtype, numbers):
    xs = [numbers(shape, dtype) for shape, _ in LINES]
    if dtype.startswith("float"):
        xs[1][1, [39999, 20000, 3]] = np.nan
        xs[1][2, [25000, 39999]] = np.nan, -np.nan
        xs[2][7:9], xs[2][9] = -np.inf, np.nan
        xs[3][1, [29, 7], 299] = np.nan
        xs += [np.full(5000, value, dtype) for value in (-np.inf, np.inf, np.nan, 0)]
        xs[-1][3000:] = -0.0
    axes = [axis for _, axis in LINES] + [0] * 4

    @cv.jit
    def run(xs):
        return [(jnp.argmax(x, axis), jnp.argmin(x, axis)) for x, axis in zip(xs, axes)]

    for found, x, axis in zip(run(xs), xs, axes):
        for got, f in zip(found, (np.argmax, np.argmin)):
            assert got.dtype == np.int64
            np.testing.assert_array_equal(got, f(x, axis))


@pytest.mark.parametrize("reverse", [False, True])
@dtypes
def test_cumulative_sums(dtype, reverse, numbers):
    shapes = LINES[:3]
    xs = [numbers(shape, dtype) for shape, _ in shapes]
    for x in xs:
        if x.dtype.kind == "f":
            x[~np.isfinite(x)] = 1
    run = cv.jit(lambda xs: [lax.cumsum(x, axis, reverse) for x, (_, axis) in zip(xs, shapes)])
    for got, x, (_, axis) in zip(run(xs), xs, shapes):
        line = np.flip(x, axis) if reverse else x
        kind = np.longdouble if x.dtype.kind == "f" else x.dtype  # integers wrap around
        expected = np.cumsum(line, axis, dtype=kind)
        expected = np.flip(expected, axis) if reverse else expected
        assert got.dtype == x.dtype
        if x.dtype.kind == "f":
            # Sums of a few are rounded in their own digits, each by its share of the size.
            bound = 4 * np.finfo(dtype).eps * np.cumsum(np.abs(line), axis, dtype=float).max()
            np.testing.assert_allclose(np.asarray(got, kind), expected, rtol=0, atol=bound)
        else:
            np.testing.assert_array_equal(got, expected)


def test_infinities_and_nan_come_no_earlier():
    x = np.ones(100000, np.float32)
    x[[70003, 70005]] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        expected = np.cumsum(x)
    np.testing.assert_array_equal(cv.jit(lax.cumsum)(x), expected)
    np.testing.assert_array_equal(cv.jit(lax.cumsum)(-x)[:70005], -expected[:70005])


def test_many_small_numbers_are_not_lost():
    x = np.full(2**18, 0.1, np.float32)
    np.testing.assert_allclose(cv.jit(jnp.cumsum)(x)[-1], 0.1 * 2**18, rtol=1e-6)


def test_derivative_of_sums():
    weights = np.random.default_rng(0).standard_normal(5000)
    found = cv.jit(cv.grad(lambda x: (jnp.cumsum(x) * weights).sum()))(np.ones(5000))
    np.testing.assert_allclose(found, np.cumsum(weights[::-1])[::-1], rtol=1e-9, atol=1e-9)
