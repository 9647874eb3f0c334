"""Orders of sorting and of the greatest elements, compared with JAX and NumPy bit by bit."""

import ml_dtypes  # noqa: F401  makes bfloat16 known to NumPy
import numpy as np
import pytest

import covector
from covector import lax
from covector._src.ops.thresholds import SORT as MANY

DTYPES = ("float32", "bfloat16", "float16", "complex64", "int32", "uint32", "int8", "uint8", "bool")
# Sorted by comparisons, and by words.
SIZES = (7, 2 * MANY)


def hard_to_sort(rng, shape, dtype):
    """Random elements with ties; floats with both zeros, NaNs and an infinity."""
    dtype = np.dtype(dtype)
    x = np.round(rng.normal(size=shape) * 5).astype(dtype)
    flat = x.reshape(-1)
    if not np.issubdtype(dtype, np.integer) and dtype != np.dtype(bool):
        flat[::3] = 0
        flat[::5] *= -1
        flat[1], flat[4], flat[5] = np.nan, -np.nan, -np.inf
    if dtype == np.complex64:
        flat.imag = hard_to_sort(rng, flat.shape, "float32")
    return x


def assert_bits_equal(ours, theirs):
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_is_jaxs(jax, rng, dtype, size):
    x = hard_to_sort(rng, (size,), dtype)
    assert_bits_equal([lax.sort(x)], [jax.lax.sort(x)])
    places = np.arange(size, dtype=np.int32)
    assert_bits_equal(lax.sort_key_val(x, places), jax.lax.sort_key_val(x, places))


@pytest.mark.parametrize("size", SIZES)
def test_several_keys(jax, rng, size):
    keys = [hard_to_sort(rng, (size,), d) for d in ("int8", "float32", "complex64")]
    operands = (*keys, np.arange(size, dtype=np.int32))
    for count in (1, 2, 3):
        got = lax.sort(operands, num_keys=count)
        assert_bits_equal(got, jax.lax.sort(operands, num_keys=count))


@pytest.mark.parametrize("dtype", ("float64", "int64", "uint64", "complex128"))
def test_keys_of_64_bits(jax, rng, dtype):
    if dtype in ("int64", "uint64"):
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, 2 * MANY, dtype=dtype, endpoint=True)
        x[:3] = info.min, info.max, 0
    else:
        narrow = "float32" if dtype == "float64" else "complex64"
        x = hard_to_sort(rng, (2 * MANY,), narrow).astype(dtype)
        x[7:300] *= 1 + 1e-12 * np.arange(293)
    places = np.arange(x.size)
    with covector.enable_x64(True), jax.enable_x64(True):
        assert_bits_equal(lax.sort_key_val(x, places), jax.lax.sort_key_val(x, places))


@pytest.mark.parametrize("shape", ((40, 50), (3, 4), (3, 0), (0, 3), (2, 3, 400)))
@pytest.mark.parametrize("dimension", (0, 1, -1))
def test_dimensions(rng, shape, dimension):
    x = rng.normal(size=shape).astype(np.float32)
    np.testing.assert_array_equal(lax.sort(x, dimension), np.sort(x, dimension))
    for stable in (True, False):
        np.testing.assert_array_equal(lax.sort(x, dimension, stable), np.sort(x, dimension))


def test_equal_keys_keep_their_order(rng):
    keys = rng.integers(0, 3, 3 * MANY).astype(np.float32)
    _, order = lax.sort_key_val(keys, np.arange(keys.size, dtype=np.int32))
    np.testing.assert_array_equal(order, np.argsort(keys, kind="stable"))


def test_derivatives_follow_the_elements(jax, rng):
    x = rng.normal(size=(3, 5)).astype(np.float32)
    y, weights = rng.normal(size=(2, 3, 5)).astype(np.float32)

    def loss(m, x, y):
        keys, values = m.lax.sort_key_val(x, y, dimension=0)
        return m.lax.reduce_sum(m.lax.sin(keys) * values * weights, (0, 1))

    for argnum in (0, 1):
        ours = covector.grad(lambda x, y: loss(covector, x, y), argnum)(x, y)
        theirs = jax.grad(lambda x, y: loss(jax, x, y), argnum)(x, y)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("dtype", ("float32", "bfloat16", "int32", "uint8", "bool"))
@pytest.mark.parametrize("axis", (0, 1))
def test_top_k(jax, rng, dtype, axis):
    x = hard_to_sort(rng, (6, 8), dtype)
    for k in (0, 1, 5):
        assert_bits_equal(lax.top_k(x, k, axis=axis), jax.lax.top_k(x, k, axis=axis))


@pytest.mark.parametrize("name", ("approx_max_k", "approx_min_k"))
@pytest.mark.parametrize(
    "arguments",
    (
        dict(k=5),
        dict(k=2, reduction_dimension=0),
        dict(k=5, aggregate_to_topk=False),
        dict(k=3, recall_target=0.5, reduction_input_size_override=4000),
    ),
)
def test_approximate_search(jax, rng, name, arguments):
    x = rng.normal(size=(4, 700)).astype(np.float32)
    x[0, 3] = x[0, 8] = 9
    assert_bits_equal(getattr(lax, name)(x, **arguments), getattr(jax.lax, name)(x, **arguments))


def test_derivative_of_approximate_search():
    x = np.array([3.0, 9.0, 4.0], np.float32)
    grad = covector.grad(lambda x: lax.reduce_sum(lax.approx_max_k(x, 2)[0] * x[:2], (0,)))(x)
    # The sum is x_1 x_0 + x_2 x_1.
    np.testing.assert_allclose(grad, [9, 3 + 4, 9])


def test_a_batch_of_values_with_the_same_keys(rng):
    keys, values = rng.normal(size=5).astype(np.float32), rng.normal(size=(5, 3))
    got = covector.vmap(lax.sort_key_val, in_axes=(None, 1))(keys, values.astype(np.float32))[1]
    np.testing.assert_array_equal(got, values[np.argsort(keys)].T.astype(np.float32))


X = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    "call, error, words",
    (
        (lambda: lax.sort(()), TypeError, "at least one operand"),
        (lambda: lax.sort(X, num_keys=2), ValueError, "num_keys=2 must equal 1"),
        (lambda: lax.sort((X, X), num_keys=3), ValueError, "between 1 and 2"),
        (lambda: lax.sort((X, X[0])), TypeError, r"equal shapes, got: \(2, 3\), \(3,\)"),
        (lambda: lax.sort(X, 2), ValueError, "axis 2 is out of bounds"),
        (lambda: lax.top_k(X, -1), ValueError, "must be nonnegative, got -1"),
        (lambda: lax.top_k(X, 4), ValueError, r"k=4 with shape=\(2, 3\) and axis=1"),
        (lambda: lax.top_k(X + 0j, 1), ValueError, "not compatible with complex"),
        (lambda: lax.approx_max_k(X, 0), ValueError, "k must be positive, got 0"),
        (lambda: lax.approx_max_k(X, 4), ValueError, "size of reduction_dim 3, got 4"),
        (lambda: lax.approx_max_k(X.astype(int), 1), ValueError, "must be a floating type"),
        (lambda: lax.approx_max_k(X[0, 0], 1), TypeError, ">= 1 dimension"),
    ),
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.fixture
def rng():
    return np.random.default_rng(0)
