"""`jvp` and `linearize`."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import tree, tree_util


def test_of_trees(same_as_jax):
    def program(lib):
        def f(p, x):
            return {"out": p["w"] * x, "count": 3, "one": 1.0}, lib.numpy.sum(p["b"])

        p = {"w": np.ones((2, 3)), "b": np.arange(2.0)}
        dp = {"w": np.full((2, 3), 2.0), "b": np.ones(2)}
        return lib.jvp(f, (p, np.arange(3.0)), (dp, np.ones(3)))

    same_as_jax(program)


def test_lists_of_arguments():
    value, tangent = cv.jvp(lambda x, y: x * y, [2.0, 3.0], [1.0, 0.0])
    assert (float(value), float(tangent)) == (6.0, 3.0)


def test_integers(same_as_jax):
    zero = np.zeros((), cv.dtypes.float0)
    same_as_jax(lambda lib: lib.jvp(lambda x, n: (x * n, n + 1), (2.0, 3), (1.0, zero)))
    same_as_jax(lambda lib: lib.jvp(lambda x: x.astype(int) + 1, (2.0,), (1.0,)))


def test_aux(same_as_jax):
    def program(lib):
        return lib.jvp(lambda x: (x**2, {"x": 2 * x, "none": None}), (3.0,), (1.0,), has_aux=True)

    same_as_jax(program)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_dtypes(dtype, same_as_jax):
    def program(lib):
        x = lib.numpy.arange(3).astype(dtype)
        return lib.jvp(lambda x: lib.numpy.exp(-x) * x, (x,), (x,))

    same_as_jax(program, rtol=1e-2)


def test_agrees_with_a_difference_quotient():
    with cv.enable_x64(True):
        x, v = jnp.linspace(0.1, 2.0, 5), jnp.linspace(-1.0, 1.0, 5)
        f = lambda x: jnp.log(x) * jnp.tanh(x) / x  # noqa: E731
        _, tangent = cv.jvp(f, (x,), (v,))
        h = 1e-6
        np.testing.assert_allclose(tangent, (f(x + h * v) - f(x - h * v)) / (2 * h), rtol=1e-8)


# ---------------------------------------------------------------- linearize


def test_parts_of_a_linearized_function():
    _, push = cv.linearize(lambda x: jnp.sin(x) * 2.0, 3.0)
    assert "mul" in str(push.func.args[0])
    np.testing.assert_array_equal(push.func(*push.args, 1.0), push(1.0))
    np.testing.assert_allclose(push(1.0), 2.0 * np.cos(3.0), rtol=1e-6)


def test_linearize_of_trees(same_as_jax):
    def program(lib):
        def f(p, x):
            return {"out": p["w"] * lib.numpy.sin(x), "count": 3, "one": 1.0}

        p = {"w": np.ones((2, 3)), "b": np.arange(2)}
        dp = {"w": np.full((2, 3), 2.0), "b": np.zeros(2, cv.dtypes.float0)}
        result, pushforward = lib.linearize(f, p, np.arange(3.0))
        return result, pushforward(dp, np.ones(3)), pushforward(dp, np.zeros(3))

    same_as_jax(program)


def test_linearize_with_aux(same_as_jax):
    def program(lib):
        result, pushforward, aux = lib.linearize(lambda x: (x * x, (x, 1)), 3.0, has_aux=True)
        return result, pushforward(2.0), aux

    same_as_jax(program)


def test_linearize_evaluates_the_function_once():
    calls = []

    def f(x):
        calls.append(x)
        return jnp.sin(x)

    _, pushforward = cv.linearize(f, 0.0)
    assert [float(pushforward(t)) for t in (1.0, 2.0)] == [1.0, 2.0] and len(calls) == 1


def test_the_pushforward_is_a_tree(same_as_jax):
    def program(lib):
        forward = lib.jit(lambda x: lib.linearize(lambda x: lib.numpy.sin(x) * x, x)[1])
        apply = lib.jit(lambda pushforward, t: pushforward(t))
        return [apply(forward(x), 2.0) for x in (1.0, 2.0)]

    same_as_jax(program)
    _, pushforward = cv.linearize(jnp.sin, 3.0)
    (residual,) = tree.leaves(pushforward)
    assert float(residual) == pytest.approx(np.cos(3.0))
    assert tree_util.tree_structure(pushforward).num_leaves == 1


def test_repr():
    _, pushforward = cv.linearize(jnp.sin, np.ones(3))
    assert repr(pushforward).startswith("<derivative of sin")
    assert repr(pushforward).endswith("(float32[3],) -> float32[3]>")


def test_linearize_agrees_with_jvp(same_as_jax):
    def f(x):
        return jnp.flip(jnp.exp(x)) / (1 + x * x)

    x, t = jnp.linspace(-1, 1, 4), jnp.arange(4.0)
    value, pushforward = cv.linearize(f, x)
    expected_value, expected = cv.jvp(f, (x,), (t,))
    np.testing.assert_allclose(value, expected_value, rtol=1e-6)
    np.testing.assert_allclose(pushforward(t), expected, rtol=1e-5)
