"""Tokens as arguments, constants and results of jitted functions."""

import numpy as np

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector.extend.core import Token

X = np.arange(3, dtype=np.float32)


def test_arguments_and_results():
    f = cv.jit(lambda tree, x: ({"token": lax.after_all(tree["token"])}, x + 1))
    given = lax.create_token()
    for _ in range(2):
        out, y = f({"token": given}, X)
        assert type(out["token"]) is Token and out["token"] is not given
        np.testing.assert_array_equal(y, X + 1)
        given = lax.after_all(out["token"], given)
    assert type(cv.jit(lax.create_token)(1.0)) is Token


def test_captured_and_handed_through():
    token = lax.create_token()
    for _ in range(2):
        kept, y = cv.jit(lambda x: (token, x * 2))(X)
        assert type(kept) is Token
        np.testing.assert_array_equal(y, 2 * X)
    (same,) = cv.jit(lambda t: (t,))(token)
    same.block_until_ready()
    assert type(same) is Token


def test_within_other_transformations():
    @cv.jit
    def f(token, x):
        return lax.after_all(token), jnp.sin(x)

    def loss(x):
        _, y = f(lax.create_token(), x)
        return y.sum()

    np.testing.assert_allclose(cv.grad(loss)(X), np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(cv.jit(cv.grad(loss))(X), np.cos(X), rtol=1e-6)


def test_donated_neighbours():
    f = cv.jit(lambda token, x: (token, x + 1), donate_argnums=1)
    x = jnp.array(X)
    _, y = f(lax.create_token(), x)
    np.testing.assert_array_equal(y, X + 1)
    assert x.is_deleted()
