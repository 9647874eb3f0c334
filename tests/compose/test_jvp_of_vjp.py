"""Forward mode over reverse mode and the other way round: second derivatives."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


def loss_of(lib):
    def loss(p):
        return lib.numpy.sum(lib.numpy.tanh(p["w"] @ p["x"]) ** 2)

    return loss


def parameters(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "w": rng.normal(size=(2, 3)).astype(np.float32),
        "x": rng.normal(size=3).astype(np.float32),
    }


def test_hessian_vector_product(same_as_jax):
    def program(lib):
        return lib.jvp(lib.grad(loss_of(lib)), (parameters(),), (parameters(1),))

    same_as_jax(program)


def test_vjp_of_jvp(same_as_jax):
    def program(lib):
        def directional(p):
            return lib.jvp(loss_of(lib), (p,), (parameters(1),))[1]

        value, pullback = lib.vjp(directional, parameters())
        return value, pullback(2.0)

    same_as_jax(program)


def test_vjp_of_vjp(same_as_jax):
    def program(lib):
        def gradient(p):
            return lib.vjp(loss_of(lib), p)[1](1.0)[0]

        value, pullback = lib.vjp(gradient, parameters())
        return value, pullback(parameters(2))

    same_as_jax(program)


def test_all_four_products_agree():
    """The Hessian is symmetric, whichever mode goes over which."""
    loss, p, v = loss_of(cv), parameters(), parameters(1)
    products = [
        cv.jvp(cv.grad(loss), (p,), (v,))[1],
        cv.grad(lambda p: cv.jvp(loss, (p,), (v,))[1])(p),
        cv.vjp(cv.grad(loss), p)[1](v)[0],
        cv.linearize(cv.grad(loss), p)[1](v),
    ]
    for product in products[1:]:
        for name in "wx":
            np.testing.assert_allclose(product[name], products[0][name], rtol=1e-4, atol=1e-5)


def test_vjp_in_the_cotangent(same_as_jax):
    """The pullback is linear in its cotangent: its transpose is the pushforward."""

    def program(lib):
        f = lambda x: lib.numpy.sin(x) * x[0]  # noqa: E731
        x = np.array([0.5, 1.5], np.float32)
        _, pullback = lib.vjp(f, x)
        _, pullback_of_pullback = lib.vjp(lambda ct: pullback(ct)[0], np.ones(2, np.float32))
        return pullback_of_pullback(x), lib.jvp(f, (x,), (x,))[1]

    (back,), forth = same_as_jax(program)
    np.testing.assert_allclose(back, forth, rtol=1e-6)


def test_jvp_of_a_pullback_in_its_residuals(same_as_jax):
    """A pullback is a tree, and what it does may be differentiated in its residuals."""

    def program(lib):
        _, pullback = lib.vjp(lambda x: lib.numpy.sin(x) * x, lib.numpy.array(0.5))
        apply = lambda pullback: pullback(2.0)[0]  # noqa: E731
        return lib.jvp(apply, (pullback,), (pullback,))

    # 2 (sin x + x cos x) with residuals sin x, x and cos x, each of which grows by itself
    _, tangent = same_as_jax(program)
    assert float(tangent) == pytest.approx(2 * (np.sin(0.5) + 2 * 0.5 * np.cos(0.5)), rel=1e-5)


def test_linearize_of_linearize(same_as_jax):
    def program(lib):
        f = lambda x: lib.linearize(lambda y: y**3 * x, x)[1](1.0)  # noqa: E731
        value, pushforward = lib.linearize(f, 2.0)
        return value, pushforward(1.0)

    # 3x^3 and 9x^2
    value, slope = same_as_jax(program)
    assert (float(value), float(slope)) == (24.0, 36.0)


def test_with_integers_on_the_way(same_as_jax):
    def program(lib):
        def f(x, n):
            steps = lib.numpy.floor(x).astype(int) + n
            return x**2 * steps

        zero = np.zeros((), cv.dtypes.float0)
        return lib.jvp(lib.grad(f), (2.5, 3), (1.0, zero))

    same_as_jax(program)


def test_second_derivative_of_a_function_with_zeros():
    # abs has no second derivative worth the name, but zero is what its rule says
    assert float(cv.grad(cv.grad(jnp.abs))(2.0)) == 0.0
    assert float(cv.jvp(cv.grad(jnp.abs), (2.0,), (1.0,))[1]) == 0.0
