"""`closure_convert` under the transformations that decide what is taken out of a closure."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


def convert(c, d=2.0):
    """The number of values taken out of a closure over `c`, and the result of the function."""
    f = lambda x: {"y": jnp.sum(jnp.sin(x["a"]) * c) * d}  # noqa: E731
    x = {"a": jnp.ones(2)}
    converted, values = cv.closure_convert(f, x)
    return len(values), converted(x, *values)["y"]


def test_constants_stay():
    count, y = convert(3.0)
    assert count == 0 and float(y) == pytest.approx(12 * np.sin(1.0))
    count, _ = convert(jnp.ones(2))
    assert count == 0


def test_values_with_tangents_are_taken_out():
    counts = []

    def f(c):
        count, y = convert(c)
        counts.append(count)
        return y

    assert float(cv.grad(f)(3.0)) == pytest.approx(4 * np.sin(1.0))
    assert float(cv.jvp(f, (3.0,), (1.0,))[1]) == pytest.approx(4 * np.sin(1.0))
    assert counts == [1, 1]


def test_values_that_may_get_tangents_are_taken_out():
    counts = []

    def f(c, n):
        converted, values = cv.closure_convert(lambda x: x * c + n, 1.0)
        counts.append(len(values))
        return converted(1.0, *values)

    cv.jit(f)(3.0, 2)  # the integer will not have one
    cv.vmap(f)(np.ones(2), np.arange(2))  # nor will batches of numbers
    cv.jit(cv.vmap(f))(np.ones(2), np.arange(2))
    cv.vmap(lambda c: cv.grad(f)(c, 1))(np.ones(2))
    assert counts == [1, 0, 1, 1]


def test_same_as_jax(same_as_jax):
    def program(lib):
        def f(c):
            converted, values = lib.closure_convert(lambda x, y: x * c + y, 1.0, 2.0)
            return converted(3.0, 4.0, *values) + len(values)

        return lib.grad(f)(2.0), lib.jit(f)(2.0), f(2.0)

    same_as_jax(program)


def test_other_arguments():
    converted, values = cv.closure_convert(lambda x: x, {"a": 1.0})
    with pytest.raises(TypeError) as caught:
        converted([1.0], *values)
    assert "PyTreeDef(({'a': *},)), and then 0 values" in str(caught.value)
    assert str(caught.value).endswith("but was called with PyTreeDef(([*],)).")
