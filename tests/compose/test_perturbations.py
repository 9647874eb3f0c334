"""Nested derivatives: each knows its own perturbation.

The inner derivative closes over the variable of the outer one; were their perturbations mixed up,
the tangent of the one would be taken for that of the other. (The examples are those of Siskind and
Pearlmutter, "Perturbation Confusion and Referential Transparency", 2005, and their kin.)
"""

import itertools

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


def backward(f):
    return cv.grad(f)


def forward(f):
    return lambda x: cv.jvp(f, (x,), (1.0,))[1]


def linearized(f):
    return lambda x: cv.linearize(f, x)[1](1.0)


MODES = [backward, forward, linearized]
TWO_MODES = pytest.mark.parametrize("outer, inner", list(itertools.product(MODES, repeat=2)))


@TWO_MODES
def test_the_inner_derivative_is_constant(outer, inner):
    # d/dx [x d/dy (x + y)] = d/dx x = 1; mixed up, it would be 2
    assert float(outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0)) == 1.0


@TWO_MODES
def test_the_inner_derivative_is_taken_at_the_outer_variable(outer, inner):
    # d/dx [2xy at y = x] = d/dx 2x^2 = 4x
    assert float(outer(lambda x: inner(lambda y: x * y * y)(x))(3.0)) == 12.0
    # d/dx [x - 2y at y = x] = -1
    assert float(outer(lambda x: inner(lambda y: y * (x - y))(x))(1.0)) == -1.0


@TWO_MODES
def test_a_function_made_by_the_outer_one(outer, inner):
    """The derivative of s -> (x -> f(x + s)) at 0, applied to a derivative of its own."""

    def shift(f, s):
        return lambda x: f(x + s)

    cube = lambda x: x**3  # noqa: E731
    # d/ds (x + s)^3 at 0 is 3x^2, whose derivative at 2 is 12
    assert float(inner(lambda x: outer(lambda s: shift(cube, s)(x))(0.0))(2.0)) == 12.0


@pytest.mark.parametrize("modes", list(itertools.product(MODES, repeat=3)))
def test_three_deep(modes):
    first, second, third = modes
    # d3/dxdydz (x^2 y^2 z^2) at (2, 3, 5) = 8xyz
    f = first(lambda x: second(lambda y: third(lambda z: x**2 * y**2 * z**2)(5.0))(3.0))
    assert float(f(2.0)) == pytest.approx(240.0)


@TWO_MODES
def test_under_jit_and_vmap(outer, inner):
    f = outer(lambda x: inner(lambda y: jnp.sin(x * y))(2.0))
    # d/dx [x cos(2x)] = cos(2x) - 2x sin(2x)
    x = np.array([0.5, -1.0], np.float32)
    expected = np.cos(2 * x) - 2 * x * np.sin(2 * x)
    np.testing.assert_allclose(cv.jit(f)(0.5), expected[0], rtol=1e-5)
    np.testing.assert_allclose(cv.vmap(f)(x), expected, rtol=1e-5)
    np.testing.assert_allclose(cv.jit(cv.vmap(f))(x), expected, rtol=1e-5)


@TWO_MODES
def test_across_jit(outer, inner):
    """The outer variable is closed over by a compiled function that the inner one calls."""

    def f(x):
        compiled = cv.jit(lambda y: x * jnp.sin(y) + x)
        return inner(compiled)(x)

    # d/dx [x cos x] = cos x - x sin x
    assert float(outer(f)(0.5)) == pytest.approx(np.cos(0.5) - 0.5 * np.sin(0.5), rel=1e-5)


@pytest.mark.parametrize("n", range(1, 7))
def test_towers(n):
    f = jnp.sin
    for _ in range(n):
        f = cv.grad(f)
    assert float(f(0.3)) == pytest.approx(np.sin(0.3 + n * np.pi / 2), abs=1e-6)


def test_an_example_of_an_outer_vmap_in_an_inner_derivative():
    x, y = np.array([1.0, 2.0], np.float32), np.array([3.0, 4.0, 5.0], np.float32)
    # d/dy (x y^2) = 2xy, for all pairs
    pairs = cv.vmap(lambda x: cv.vmap(cv.grad(lambda y: x * y * y))(y))(x)
    np.testing.assert_allclose(pairs, 2 * np.outer(x, y))


def test_a_derivative_whose_variable_is_not_used():
    # the outer variable does not reach the result: zero, not the inner derivative
    assert float(cv.grad(lambda x: cv.grad(lambda y: y * y)(2.0))(1.0)) == 0.0
    assert float(cv.jvp(lambda x: cv.grad(lambda y: y * y)(2.0), (1.0,), (1.0,))[1]) == 0.0
