"""`linear_transpose`: of linear functions, with parts that are not linear in other values."""

import types

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


def dot(x, y):
    return float(np.sum(np.asarray(x) * np.asarray(y)))


@pytest.mark.parametrize(
    "linear",
    [
        lambda x: 2.0 * x,
        lambda x: jnp.sin(3.0) * x - x / jnp.exp(0.5),
        lambda x: jnp.flip(x)[1:],
        lambda x: jnp.stack([x, -x]).sum(axis=1),
        lambda x: x @ jnp.arange(12.0).reshape(3, 4),
        lambda x: cv.jit(lambda x: (3.0 * x, x > 0))(x)[0],
        lambda x: cv.vmap(lambda x: x * 2)(x),
    ],
)
def test_is_the_transpose(linear):
    """<ct, J x> = <J^T ct, x>."""
    x = jnp.array([1.0, -2.0, 0.5])
    y = linear(x)
    ct = jnp.linspace(1.0, 2.0, y.size).reshape(y.shape)
    (back,) = cv.linear_transpose(linear, x)(ct)
    assert back.shape == x.shape
    assert dot(ct, y) == pytest.approx(dot(back, x), rel=1e-5)


def test_of_trees(same_as_jax):
    def program(lib):
        def f(p, x):
            return {"sum": p["a"] + 2 * x, "none": None}, p["b"]

        p = {"a": np.ones(2, np.float32), "b": np.float32(1)}
        transpose = lib.linear_transpose(f, p, np.ones(2, np.float32))
        return transpose(({"sum": np.arange(2, dtype=np.float32), "none": None}, np.float32(4)))

    same_as_jax(program)


def test_only_types_of_the_arguments_are_asked_for(same_as_jax):
    like = types.SimpleNamespace(shape=(3,), dtype=np.dtype(np.float32))

    def program(lib):
        return lib.linear_transpose(lambda x: 2 * x, like)(np.arange(3, dtype=np.float32))

    same_as_jax(program)
    cv.linear_transpose(lambda x: 2 * x, cv.ShapeDtypeStruct((3,), np.float32))(jnp.ones(3))


def test_complex_numbers_are_not_conjugated(same_as_jax):
    same_as_jax(lambda lib: lib.linear_transpose(lambda x: (1 + 2j) * x, 1j)(3 + 4j))


def test_integers(same_as_jax):
    same_as_jax(lambda lib: lib.linear_transpose(lambda x: 2 * x, 1)(3))


def test_unused_arguments(same_as_jax):
    same_as_jax(lambda lib: lib.linear_transpose(lambda x: x[0] * 2.0, [1.0, 2.0])(3.0))


def test_through_jit(same_as_jax):
    def program(lib):
        make = lib.jit(lambda x: lib.linear_transpose(lambda y: lib.numpy.sin(x) * y, x))
        return lib.jit(lambda transpose, ct: transpose(ct))(make(2.0), 3.0)

    same_as_jax(program)


def test_known_parts_are_evaluated_once():
    calls = []

    def f(x):
        calls.append(x)
        return jnp.sin(2.0) * x

    transpose = cv.linear_transpose(f, 1.0)
    assert float(transpose(1.0)[0]) == pytest.approx(np.sin(2.0))
    assert float(transpose(2.0)[0]) == pytest.approx(2 * np.sin(2.0))
    assert len(calls) == 1


def test_twice_is_the_function():
    f = lambda x: jnp.flip(x) * 2  # noqa: E731
    x = jnp.arange(3.0)
    once = cv.linear_transpose(f, x)
    twice = cv.linear_transpose(lambda ct: once(ct)[0], x)
    np.testing.assert_allclose(twice(x)[0], f(x))


def test_repr():
    transpose = cv.linear_transpose(jnp.flip, jnp.ones(3))
    assert repr(transpose).startswith("<transpose of flip")
