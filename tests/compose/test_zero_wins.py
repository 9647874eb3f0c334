"""Derivatives in which an exact zero meets an infinite slope (docs/gradients.md)."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.base import config
from covector._src.core.show import jaxprs_in_params

ZERO3 = np.zeros(3, np.float32)


def jitted(f):
    return cv.jit(f)


# name: (function of an array, point, its gradient by mathematics)
MASKED = {
    "root of the untaken branch": (lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0), 0.0, 0.0),
    "root of a negative number": (lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0), -1.0, 0.0),
    "the taken branch is the identity": (lambda x: jnp.where(x < 1, x, jnp.sqrt(x)), 0.0, 1.0),
    "logarithm": (lambda x: jnp.where(x > 0, jnp.log(x), x), -2.0, 1.0),
    "x log x": (lambda x: jnp.where(x > 0, x * jnp.log(x), 0.0), 0.0, 0.0),
    "quotient": (lambda x: jnp.where(x == 0, 1.0, jnp.sin(x) / x), 0.0, 0.0),
    "power": (lambda x: jnp.where(x > 0, x**-1.5, 2 * x), 0.0, 2.0),
    "arcsin": (lambda x: jnp.where(abs(x) < 1, jnp.arcsin(x), 0.0), 1.0, 0.0),
    "NaN data": (lambda x: jnp.where(jnp.isnan(x), 0.0, x * x), np.nan, 0.0),
    "infinite data": (lambda x: jnp.where(jnp.isinf(x), 0.0, jnp.cos(x)), np.inf, 0.0),
    "in a jitted function": (lambda x: jnp.where(x > 0, jitted(jnp.sqrt)(x), 0.0), 0.0, 0.0),
    "selected in a jitted function": (
        lambda x: jitted(lambda y: jnp.where(x > 0, y, 0.0))(jnp.sqrt(x)),
        0.0,
        0.0,
    ),
    "selected later than the sum": (
        lambda x: jnp.sum(jnp.where(jnp.arange(3) > 0, jnp.stack([jnp.sqrt(x), x, 2 * x]), 0.0)),
        0.0,
        3.0,
    ),
    "two selections of one root": (
        lambda x: (lambda y: jnp.where(x > 0, y, 0.0) + jnp.where(x > 0, 2 * y, 0.0))(jnp.sqrt(x)),
        0.0,
        0.0,
    ),
    "a selection beside the identity": (
        lambda x: x + jnp.where(x > 0, jnp.sqrt(x), 0.0),
        0.0,
        1.0,
    ),
    "a selection of a sum": (
        lambda x: jnp.where(x > 0, jnp.sqrt(x) + x * jnp.log(x), 2 * x),
        0.0,
        2.0,
    ),
    "not the maximum": (lambda x: jnp.sqrt(jnp.maximum(x, 0.0)), -1.0, 0.0),
    "clipped": (lambda x: jnp.sqrt(jnp.clip(x, 0.0, 1.0)), -1.0, 0.0),
}


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize(
    "transformed", [lambda g: g, cv.jit, cv.vmap], ids=["eager", "jit", "vmap"]
)
def test_elements_without_part_in_the_result(name, transformed):
    f, x, want = MASKED[name]
    g = transformed(cv.grad(f))
    if transformed is cv.vmap:
        x, want = np.full(2, x, np.float32), np.full(2, want)
    np.testing.assert_allclose(np.asarray(g(x)), want, atol=1e-6)


def products_where_zeros_win(jaxpr):
    """How many there are, where calls are written out."""
    inner = [v for eqn in jaxpr.eqns for v in jaxprs_in_params(eqn.params)]
    return sum("zero_wins" in eqn.params for eqn in jaxpr.eqns) + sum(
        map(products_where_zeros_win, inner)
    )


def scanned_once(f):
    return lambda w, x: cv.lax.scan(lambda x, w: (f(w, x), ()), x, w[None])[0]


def in_one_branch(f):
    return lambda w, x: cv.lax.cond(w[0] > 0, f, f, w, x)


@pytest.mark.parametrize("wrap", [lambda f: f, cv.jit, cv.checkpoint], ids=["", "jit", "remat"])
def test_what_comes_past_a_block_too_is_not_masked(wrap):
    x, w = np.full(3, -1.0, np.float32), np.ones(3, np.float32)

    @wrap
    def block(w, x):
        return x + jnp.maximum(w * jnp.sinh(x), 0)

    def residual(blocks):
        def f(w, x):
            for _ in range(blocks):
                x = block(w, x)
            return jnp.sum(x)

        return cv.grad(f, (0, 1))

    def count(blocks):
        return products_where_zeros_win(cv.make_jaxpr(residual(blocks))(w, x).jaxpr)

    # Each block masks cotangents for itself, and for none of those before it.
    assert count(4) == 4 * count(1) > 0
    for got, want in zip(residual(4)(w, x), (0, 1)):
        np.testing.assert_allclose(np.asarray(got), want)


@pytest.mark.parametrize("wrap", [scanned_once, in_one_branch, lambda f: cv.jit(scanned_once(f))])
def test_what_a_block_masks_is_masked_before_it_whatever_is_around_it(wrap):
    x = w = np.array([0.0, 4.0], np.float32)

    def f(w, x):
        masked = wrap(cv.jit(lambda w, x: jnp.where(w > 0, w * x, 0.0)))
        return jnp.sum(masked(cv.jit(jnp.sqrt)(w), jnp.log(x)))

    for got, want in zip(cv.grad(f, (0, 1))(w, x), (np.log(4) / 4, 0.5)):
        np.testing.assert_allclose(np.asarray(got), [0, want], rtol=1e-6)


def test_elements_that_are_not_indexed():
    x = np.array([0.0, 2.0, 0.0], np.float32)
    for part in (
        lambda y: y[1:2],
        lambda y: y[np.array([1, 1])] / 2,
        lambda y: cv.lax.dynamic_slice(y, (1,), (1,)),
        lambda y: y.at[np.array([0, 2])].set(0.0),
    ):
        got = cv.grad(lambda x, part=part: jnp.sum(part(jnp.log(x))))(x)
        np.testing.assert_allclose(np.asarray(got), [0, 0.5, 0])


def test_masked_rows_of_a_product():
    x = np.array([[0.0, 0.0], [1.0, 4.0]], np.float32)
    rows = np.array([[False], [True]])

    def loss(x):
        return jnp.sum(jnp.where(rows, jnp.sqrt(x) @ np.ones((2, 2), np.float32), 0.0))

    np.testing.assert_allclose(np.asarray(cv.grad(loss)(x)), [[0, 0], [1, 0.5]])


NORMS = {
    "square": lambda x: jnp.sqrt(jnp.sum(jnp.square(x))),
    "power of two": lambda x: jnp.sqrt(jnp.sum(x**2)),
    "product with itself": lambda x: jnp.sqrt(jnp.sum(x * x)),
    "power of one half": lambda x: jnp.sum(x**2) ** 0.5,
    "fourth powers": lambda x: jnp.sum(x**4) ** 0.25,
    "in parts that are jitted": lambda x: cv.jit(jnp.sqrt)(cv.jit(lambda x: jnp.sum(x**2))(x)),
}


@pytest.mark.parametrize("name", NORMS)
def test_norms_have_the_subgradient_zero_at_zero(name):
    f = NORMS[name]
    for g in (cv.grad(f), cv.jit(cv.grad(f)), cv.jacfwd(f)):
        np.testing.assert_array_equal(np.asarray(g(ZERO3)), ZERO3)
    np.testing.assert_allclose(
        np.asarray(cv.grad(f)(np.array([3.0, 0.0, 0.0], np.float32))), [1, 0, 0], rtol=1e-6
    )


def test_the_slope_of_a_root_alone_stays_infinite():
    assert cv.grad(jnp.sqrt)(0.0) == np.inf
    assert cv.grad(lambda x: jnp.sqrt(3 * x))(0.0) == np.inf
    # An odd function is no even one: the cube root of x^3 is x, and its slope must not become 0.
    assert np.isnan(cv.grad(lambda x: jnp.cbrt(x**3))(0.0))


def test_exponentials_that_overflow():
    x = np.array([-200.0, -100.0, 0.0], np.float32)
    got = cv.grad(lambda v: jnp.sum(1 / (1 + jnp.exp(-v))))(x)
    np.testing.assert_array_equal(np.asarray(got), [0, 0, 0.25])
    got = cv.grad(lambda v: jnp.sum(1 / jnp.cosh(v)))(x)
    np.testing.assert_array_equal(np.asarray(got), [0, 0, 0])


# Functions of a number that overflows in exp: those that have a limit, and those that grow.
LIMITS = {
    "quotient": lambda x: 1 / (1 + jnp.exp(x)),
    "reciprocal": lambda x: jnp.reciprocal(1 + jnp.exp(x)),
    "whole power": lambda x: (1 + jnp.exp(x)) ** -1,
    "power": lambda x: (1 + jnp.exp(x)) ** -1.5,
    "of a root": lambda x: 1 / jnp.sqrt(1 + jnp.exp(x)),
    "reciprocal root": lambda x: lax.rsqrt(1 + jnp.exp(x)),
    "tanh": lambda x: jnp.tanh(jnp.exp(x)),
    "logistic": lambda x: lax.logistic(jnp.exp(x)),
    "erf": lambda x: lax.erf(jnp.exp(x)),
    "arctan": lambda x: jnp.arctan(jnp.exp(x)),
    "exponential": lambda x: jnp.exp(-jnp.exp(x)),
    "cosh": lambda x: 1 / jnp.cosh(x),
    "selected": lambda x: jnp.where(x < 50, jnp.log(1 + jnp.exp(x)), 0.0),
}
GROWTH = {
    "log": lambda x: jnp.log(1 + jnp.exp(x)),
    "log1p": lambda x: jnp.log1p(jnp.exp(x)),
    "log of log": lambda x: jnp.log(1 + jnp.log(1 + jnp.exp(x))),
    "root": lambda x: jnp.sqrt(1 + jnp.exp(x)),
    "power": lambda x: (1 + jnp.exp(x)) ** 0.25,
    "cube root": lambda x: jnp.cbrt(jnp.exp(x)),
    "asinh": lambda x: jnp.arcsinh(jnp.exp(x)),
    "acosh": lambda x: jnp.arccosh(jnp.cosh(x)),
    "beside a limit": lambda x: jnp.log(1 + jnp.exp(x)) + 1 / (1 + jnp.exp(x)),
    "sharing with a limit": lambda x: (lambda u: jnp.log(u) + 1 / u)(1 + jnp.exp(x)),
}


@pytest.mark.parametrize("transformed", [cv.grad, lambda f: jitted(cv.grad(f))], ids=["", "jit"])
@pytest.mark.parametrize("name", LIMITS)
def test_what_reached_its_limit_is_constant(name, transformed):
    assert transformed(LIMITS[name])(200.0) == 0


@pytest.mark.parametrize("transformed", [cv.grad, lambda f: jitted(cv.grad(f))], ids=["", "jit"])
@pytest.mark.parametrize("name", GROWTH)
def test_the_slope_of_what_grows_is_not_lost(name, transformed):
    """It is NaN, as in JAX, and never 0: these functions grow for ever."""
    assert np.isnan(transformed(GROWTH[name])(200.0))


def test_second_derivatives():
    def entropy(p):
        return jnp.sum(jnp.where(p > 0, p * jnp.log(p), 0.0))

    p = np.array([0.0, 0.5], np.float32)
    for second in (cv.hessian(entropy), cv.jacrev(cv.grad(entropy)), cv.jacfwd(cv.jacfwd(entropy))):
        np.testing.assert_allclose(np.asarray(second(p)), [[0, 0], [0, 2]])


def test_a_cotangent_that_happens_to_be_zero_has_a_derivative():
    # The gradient of (x - 1)^2 sqrt(x) passes a zero cotangent at x = 1; its slope is 2 sqrt(x).
    def f(x):
        return jnp.where(x > 0, (x - 1) ** 2 * jnp.sqrt(x), 0.0)

    assert cv.grad(f)(1.0) == 0
    for second in (cv.grad(cv.grad(f)), cv.hessian(f), cv.jacfwd(cv.grad(f))):
        np.testing.assert_allclose(second(1.0), 2, rtol=1e-6)


def test_finite_gradients_are_those_of_jax(jax):
    rng = np.random.default_rng(0)
    x = rng.uniform(0.1, 2, (4, 3)).astype(np.float32)

    def program(m):
        jnp = m.numpy

        def f(x):
            y = jnp.where(x > 1, jnp.sqrt(x**2 + 1), jnp.exp(x) / x)
            return jnp.sum(y * jnp.maximum(x, 0.5) ** 1.5)

        return m.grad(f)(x), m.hessian(f)(x[0])

    for got, want in zip(program(cv), program(jax)):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=2e-5, atol=1e-5)


def test_with_parity_they_are_nan():
    with config.parity(True):
        assert np.isnan(cv.grad(MASKED["x log x"][0])(0.0))
        assert np.isnan(cv.grad(NORMS["square"])(ZERO3)).all()
        assert np.isnan(cv.grad(lambda x: 1 / (1 + jnp.exp(-x)))(-200.0))
    assert cv.grad(MASKED["x log x"][0])(0.0) == 0


def step(c):
    """Its root has an infinite slope at c <= 1, where the selection masks the cotangent of c."""
    return jnp.sqrt(jnp.where(c > 1, c, 1.0) - 1)


LOOPS = {
    "scan": lambda x: cv.lax.scan(lambda c, _: (step(c), None), x, None, length=2)[0],
    "fori_loop": lambda x: cv.lax.fori_loop(0, 2, lambda i, c: step(c), x),
    "while_loop": lambda x: cv.lax.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, step(c[1])), (0, x)
    )[1],
    "cond": lambda x: cv.lax.cond(x < 9, lambda x: step(step(x)), step, x),
}


@pytest.mark.parametrize("name", LOOPS)
def test_steps_of_loops_mask_cotangents_for_the_step_before(name):
    for g in (cv.grad(LOOPS[name]), cv.jit(cv.grad(LOOPS[name]))):
        assert g(0.5) == 0
