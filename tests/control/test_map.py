"""`map` and `associative_scan` against loops of Python and JAX."""

import itertools

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax

X = np.linspace(-1, 2, 14, dtype=np.float32).reshape(7, 2)


def slice_wise(x, y):
    return {"a": jnp.sin(x) * y, "b": (x[0] > 0, x)}


@pytest.mark.parametrize("batch_size", [None, 0, 1, 2, 3, 7, 9])
def test_map(batch_size):
    y = np.arange(7, dtype=np.float32)
    got = lax.map(lambda xy: slice_wise(*xy), (X, y), batch_size=batch_size)
    want = [slice_wise(*xy) for xy in zip(X, y)]
    want = cv.tree.map(lambda *parts: np.stack(list(map(np.asarray, parts))), *want)
    assert cv.tree.structure(got) == cv.tree.structure(want)
    for a, b in zip(cv.tree.leaves(got), cv.tree.leaves(want)):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("batch_size", [None, 0, 2])
def test_map_of_nothing(batch_size):
    out = lax.map(lambda x: (x.sum(), jnp.exp(x)), X[:0], batch_size=batch_size)
    assert [leaf.shape for leaf in out] == [(0,), (0, 2)]


@pytest.mark.parametrize("batch_size", [None, 3])
def test_map_under_transformations(batch_size, same_as_jax):
    def f(m):
        return lambda w, x: m.lax.map(lambda x: m.numpy.sin(x * w), x, batch_size=batch_size)

    w = np.array([0.5, 2], np.float32)
    same_as_jax(lambda m: m.jit(m.grad(lambda w, x: f(m)(w, x).sum(), (0, 1)))(w, X))
    same_as_jax(lambda m: m.vmap(f(m), (0, None))(np.stack([w, -w]), X))


def test_map_without_jit():
    seen = []
    with cv.disable_jit():
        out = lax.map(lambda x: seen.append(float(x)) or x + 1, np.arange(3.0))
    assert seen == [0, 1, 2]
    np.testing.assert_array_equal(out, [1, 2, 3])


# ---------------------------------------------------------------- associative_scan


SIZES = list(itertools.product([0, 1, 2, 3, 6, 9], [False, True]))


@pytest.mark.parametrize(("size", "reverse"), SIZES)
def test_partial_sums_and_products(size, reverse):
    x = np.arange(1, 2 * size + 1, dtype=np.int32).reshape(2, size)
    got = lax.associative_scan(jnp.add, x, reverse=reverse, axis=-1)
    flip = slice(None, None, -1 if reverse else 1)
    np.testing.assert_array_equal(got, np.cumsum(x[:, flip], 1)[:, flip])
    rows = lax.associative_scan(jnp.multiply, x.T % 3, reverse=reverse)
    np.testing.assert_array_equal(rows, np.cumprod(x.T[flip] % 3, 0)[flip])


def test_order_is_kept():
    """Matrix products, which do not commute."""
    matrices = np.random.default_rng(0).normal(size=(5, 2, 2)).astype(np.float32)
    got = lax.associative_scan(jnp.matmul, matrices)
    want = list(itertools.accumulate(matrices, np.matmul))
    np.testing.assert_allclose(got, np.stack(want), rtol=1e-4, atol=1e-5)
    got = lax.associative_scan(lambda a, b: b @ a, matrices, reverse=True)
    want = list(itertools.accumulate(matrices[::-1], lambda a, b: b @ a))[::-1]
    np.testing.assert_allclose(got, np.stack(want), rtol=1e-4, atol=1e-5)


def test_recurrence_is_the_scan():
    """y[i] = a[i] y[i-1] + b[i] both ways, with its gradient."""
    a = np.linspace(0.2, 1.4, 7, dtype=np.float32)
    b = np.cos(np.arange(7, dtype=np.float32))

    def after(first, second):
        return {"a": first["a"] * second["a"], "b": second["a"] * first["b"] + second["b"]}

    parallel = lambda a, b: lax.associative_scan(after, {"a": a, "b": b})["b"]  # noqa: E731
    step = lambda y, ab: (ab[0] * y + ab[1],) * 2  # noqa: E731
    serial = lambda a, b: lax.scan(step, 0.0, (a, b))[1]  # noqa: E731
    np.testing.assert_allclose(parallel(a, b), serial(a, b), rtol=1e-5)
    weigh = lambda f: cv.jit(cv.grad(lambda a, b: jnp.vdot(f(a, b), b), (0, 1)))  # noqa: E731
    for x, y in zip(weigh(parallel)(a, b), weigh(serial)(a, b)):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["bool", "int8", "bfloat16", "complex64"])
def test_dtypes(name):
    x = np.array([1, 0, 1, 1, 0], jnp.dtype(name))
    combine = jnp.logical_or if name == "bool" else jnp.add
    got = lax.associative_scan(combine, x)
    assert got.dtype == x.dtype
    want = [bool(i) or True for i in range(5)] if name == "bool" else [1, 1, 2, 3, 3]
    np.testing.assert_array_equal(np.asarray(got).astype(complex), want)


def test_zeros_keep_their_sign():
    x = np.array([0.0, -0.0, -0.0, -0.0, -0.0], np.float32)
    got = lax.associative_scan(lambda a, b: b, x)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(x))
    got = lax.associative_scan(lambda a, b: b, x.astype(np.complex64) * 1)
    assert got.dtype == np.complex64


def test_not_a_number_stays_where_it_is():
    x = np.array([1, np.inf, 2, np.nan, 1], np.float32)
    np.testing.assert_array_equal(
        lax.associative_scan(jnp.maximum, x), [1, np.inf, np.inf, np.nan, np.nan]
    )
