"""Cumulative reductions against JAX 0.10.2 and NumPy."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector import lax
from tests.ops.windowed import assert_close, draw, same_in_jax, text

NAMES = ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"]
# More elements than are reduced as windows, and fewer.
LONG, SHORT = 40, 5


def along(name, axis=0, reverse=False):
    return lambda m: lambda x: getattr(m.lax, name)(x, axis, reverse)


def squares(m, x):
    return m.lax.reduce_sum(x * x, tuple(range(x.ndim)))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_values(jax, name, reverse):
    for shape, axis in (((LONG, 2), 0), ((2, SHORT), 1)):
        program = along(name, axis, reverse)
        x = draw(shape)
        assert text(covector, program, (x,)) == text(jax, program, (x,))
        same_in_jax(jax, program, (x,))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "complex64", "int8", "uint8"])
def test_dtypes(jax, dtype):
    x = draw(LONG, dtype)
    for name in NAMES[: 4 if x.dtype.kind in "iu" else 5]:
        same_in_jax(jax, along(name), (x,), 5e-2 if x.dtype.itemsize == 2 else 1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_derivatives(jax, name):
    x, t = draw((2, SHORT)), draw((2, SHORT), seed=1)
    forward = along(name, 1)
    same_in_jax(jax, lambda m: lambda x, t: m.jvp(forward(m), (x,), (t,)), (x, t), 1e-3)
    backward = along(name, 1, True)
    gradient = lambda m: m.grad(lambda x: squares(m, backward(m)(x)))  # noqa: E731
    same_in_jax(jax, gradient, (x,), 1e-3)


def test_text_of_derivatives_of_sums(jax):
    x = draw((3, 4))
    for program in (
        lambda m: m.grad(lambda x: squares(m, along("cumsum", 1)(m)(x))),
        lambda m: m.vmap(along("cumsum", 0, True)(m), 1),
        lambda m: lambda x: m.jvp(along("cumsum")(m), (x,), (x,)),
    ):
        assert text(covector, program, (x,)) == text(jax, program, (x,))


@pytest.mark.parametrize("name", NAMES)
def test_batches(jax, name):
    x = draw((2, LONG, 3))
    same_in_jax(jax, lambda m: m.vmap(along(name, 1)(m), 1), (x,))
    same_in_jax(jax, lambda m: m.vmap(along(name, 0)(m), 2), (x,))


@pytest.mark.parametrize("name", NAMES)
def test_empty_arrays_and_single_elements(jax, name):
    for shape, axis in (((0, 2), 0), ((2, 0), 0), ((3, 1), 1)):
        x = np.ones(shape, np.float32)
        assert_close(getattr(lax, name)(x, axis), getattr(jax.lax, name)(x, axis))


def test_nan_and_infinities():
    x = np.ones(LONG, np.float32)
    x[[3, 20]] = np.inf, np.nan
    np.testing.assert_array_equal(lax.cumsum(x), np.cumsum(x))
    np.testing.assert_array_equal(lax.cummax(x), np.maximum.accumulate(x))
    low = np.full(LONG, -np.inf, np.float32)
    low[2] = 0
    expected = np.logaddexp.accumulate(low)
    np.testing.assert_array_equal(lax.cumlogsumexp(low), expected)


def test_errors_of_sums_do_not_grow():
    """Adding up one after the other in float32, 0.1 a million times gives 100958."""
    for dtype, tolerance in ((np.float32, 2.5e-7), (np.float16, 1e-3)):
        x = np.full(10**6 if dtype is np.float32 else 10**4, 0.1, dtype)
        exact = np.cumsum(x.astype(np.float64))
        np.testing.assert_allclose(lax.cumsum(x), exact, rtol=tolerance)


def test_derivative_of_logsumexp_where_nothing_is():
    """JAX has NaN here."""
    x = np.array([-np.inf, -np.inf, 0.0, 1.0], np.float32)
    gradient = covector.grad(lambda x: lax.cumlogsumexp(x)[3])(x)
    np.testing.assert_allclose(gradient, [0, 0, 1 / (1 + np.e), np.e / (1 + np.e)], rtol=1e-6)


def test_doubles():
    with covector.enable_x64(True):
        x = draw(LONG, "float64")
        np.testing.assert_allclose(lax.cumsum(x), np.cumsum(x), rtol=1e-13)
        np.testing.assert_allclose(lax.cumlogsumexp(x), np.logaddexp.accumulate(x), rtol=1e-13)


# ---------------------------------------------------------------- of the NumPy layer

FUNCTIONS = ["cumsum", "cumprod", "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod"]


def outcome(m, name, x, options):
    try:
        return getattr(m.numpy, name)(x, **options)
    except (ValueError, TypeError) as error:
        return type(error)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpy_functions(jax, name):
    for dtype in ("bool", "int8", "float32"):
        x = draw((2, 3), dtype) if dtype != "bool" else np.array([[1, 0, 1], [0, 1, 1]], bool)
        if dtype == "float32":
            x[0, 1] = np.nan
        for options in (
            [{}, {"axis": -1}, {"axis": 0, "dtype": "bool"}, {"axis": 1, "dtype": "float32"}]
            if name[:4] != "cumu"
            else [{}, {"axis": -1}, {"axis": 0, "dtype": "bool", "include_initial": True}]
        ):
            ours, theirs = [outcome(m, name, x, options) for m in (covector, jax)]
            if isinstance(theirs, type):
                assert ours is theirs
            else:
                assert_close(ours, theirs, 1e-5)


def test_numpy_methods():
    x = jnp.array([[1, 2], [3, 4]])
    np.testing.assert_array_equal(x.cumsum(0), [[1, 2], [4, 6]])
    np.testing.assert_array_equal(x.cumprod(), [1, 2, 6, 24])


ERRORS = {
    "negative axis": (
        lambda: lax.cumsum(np.ones(3), -1),
        ValueError,
        ["XLA operations do not allow negative axes", "-1"],
    ),
    "axis": (
        lambda: lax.cumprod(np.ones(3), 1),
        ValueError,
        ["axis 1 is out of bounds for array of shape (3,)"],
    ),
    "booleans": (lambda: lax.cummax(np.ones(3, bool)), TypeError, ["cummax", "bool"]),
    "logsumexp of integers": (
        lambda: lax.cumlogsumexp(np.ones(3, int)),
        TypeError,
        ["cumlogsumexp", "int32"],
    ),
    "out": (lambda: jnp.cumsum(jnp.ones(3), out=1), NotImplementedError, ["cumsum", "out"]),
    "a scalar": (
        lambda: jnp.cumulative_sum(1.0),
        ValueError,
        ["The input must be non-scalar to take"],
    ),
    "which axis": (
        lambda: jnp.cumulative_prod(jnp.ones((2, 3))),
        ValueError,
        ["The input array has rank 2, however", "(2, 3)"],
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, parts = ERRORS[name]
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)
