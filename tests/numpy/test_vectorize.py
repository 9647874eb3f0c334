"""`vectorize` against NumPy's and JAX 0.10.2's, and what it says about calls that do not fit."""

from functools import partial

import numpy as np
import pytest

import covector
import covector.numpy as jnp

MATRICES = "(n,m),(m,k)->(n,k)"


def compare(jax, function, args, **options):
    """The same values and dtypes as JAX's."""
    ours = jnp.vectorize(partial(function, jnp), **options)(*args)
    theirs = jax.numpy.vectorize(partial(function, jax.numpy), **options)(*args)
    for got, want in zip(*(out if isinstance(out, tuple) else (out,) for out in (ours, theirs))):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize(
    ("shapes", "signature"),
    [
        (((2, 3), (3, 4)), MATRICES),
        (((2, 3), (1, 3, 4)), MATRICES),
        (((5, 2, 3), (1, 3, 4)), MATRICES),
        (((6, 1, 2, 3), (5, 3, 4)), MATRICES),
        (((4, 2, 3), (1, 3)), "(n,m),(m)->(n)"),
        (((3,), (2, 3)), "(m),(m)->()"),
        (((1, 1, 3), (1, 3)), "(m),(m)->()"),
        (((0, 3), (3,)), "(m),(m)->()"),
        (((2, 3), (3,)), " (m), (m) -> () "),
    ],
)
def test_products(shapes, signature):
    x, y = (np.random.default_rng(0).normal(size=shape).astype(np.float32) for shape in shapes)
    got = jnp.vectorize(jnp.dot, signature=signature)(x, y)
    want = np.vectorize(np.dot, signature=signature)(x, y) if x.size else np.zeros(got.shape)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_against_jax(jax):
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    column = np.array([[1], [2]], np.int32)
    compare(jax, lambda np, x, y: x * y + 1, (x, column))
    compare(jax, lambda np, x: (x, np.sum(x)), (x,), signature="(n)->(n),()")
    compare(jax, lambda np, x: np.stack([x, -x]), (x,), signature="()->(k)")
    compare(jax, lambda np, x: x + np.arange(4), (x,))
    compare(jax, lambda np, x, y: x if y is None else x + y, (x, None))
    compare(jax, lambda np, x: (x, x), (x[:1, :1],))


def test_arguments_that_are_excluded():
    x = np.arange(3)

    @partial(jnp.vectorize, excluded=(0, "scale"))
    def f(name, x, scale=1):
        assert x.ndim == 0
        return x * scale if name == "times" else x

    assert f("times", x).tolist() == [0, 1, 2]
    assert f("times", x, scale=3).tolist() == [0, 3, 6]
    assert covector.jit(f, static_argnums=0)("times", x).tolist() == [0, 1, 2]


def test_arguments_by_keyword_are_mapped_over_as_in_numpy():
    x, y = np.arange(3), np.arange(2)[:, None]
    function = lambda x, y=0: x - y  # noqa: E731
    got = jnp.vectorize(function)(x, y=y)
    assert got.tolist() == np.vectorize(function)(x, y=y).tolist()


def test_trees_of_results():
    out = jnp.vectorize(lambda x: {"sum": jnp.sum(x), "both": [x, -x]}, excluded=())(
        np.ones((1, 2))
    )
    assert out["sum"].shape == (1, 2) and out["both"][1].tolist() == [[-1, -1]]


def test_transformations():
    norm = jnp.vectorize(lambda x: jnp.sqrt(jnp.sum(x * x)), signature="(n)->()")
    x = np.array([[3.0, 4.0], [6.0, 8.0]], np.float32)
    gradient = covector.grad(lambda x: norm(x).sum())(x)
    np.testing.assert_allclose(gradient, [[0.6, 0.8], [0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(covector.jit(covector.vmap(norm))(x[None]), [[5.0, 10.0]], rtol=1e-6)
    assert norm.__name__ == "<lambda>" and jnp.vectorize(jnp.dot).__name__ == "dot"


def test_errors():
    matmul = jnp.vectorize(jnp.dot, signature=MATRICES)
    ones = np.ones
    for call, error, words in [
        (lambda: jnp.vectorize(len, excluded={1.5}), TypeError, "can only exclude"),
        (lambda: jnp.vectorize(len, excluded={-1}), ValueError, "contains negative numbers"),
        (lambda: jnp.vectorize(len, signature="n->n"), ValueError, "not a valid gufunc signature"),
        (lambda: matmul(ones((2, 2))), TypeError, "wrong number of positional arguments"),
        (lambda: matmul(ones(2), ones((2, 2))), ValueError, "does not have enough dimensions"),
        (lambda: matmul(ones((2, 3)), ones((4, 5))), ValueError, "inconsistent size .* 'm'"),
        (lambda: matmul(None, ones((4, 5))), ValueError, "Cannot pass None at locations {0}"),
        (lambda: matmul(ones((2, 1, 1)), ones((3, 1, 1))), ValueError, r"\(2,\), \(3,\)"),
        (
            lambda: jnp.vectorize(lambda x: x, signature="(n)->(m),()")(ones(2)),
            TypeError,
            "must be a tuple of 2",
        ),
        (
            lambda: jnp.vectorize(lambda x: (x, x), signature="(n)->(n)")(ones(2)),
            TypeError,
            "wrong number of output arguments: .* 2",
        ),
        (
            lambda: jnp.vectorize(lambda x: x, signature="(n)->()")(ones(2)),
            ValueError,
            r"output shape \(2,\) does not match",
        ),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_rank_promotion_is_reported():
    add = jnp.vectorize(jnp.add, signature="(),()->()")
    with covector.numpy_rank_promotion("raise"):
        assert add(np.ones((2, 2)), 1.0).shape == (2, 2)
        with pytest.raises(ValueError, match="require rank promotion"):
            add(np.ones((2, 2)), np.ones(2))
