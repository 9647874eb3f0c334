"""Gradients for each example, and gradients through a batch; with jit at every place."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


def loss_of(lib):
    def loss(w, x, y):
        return lib.numpy.sum((lib.numpy.tanh(w["a"] @ x) * w["b"] - y) ** 2)

    return loss


def data():
    rng = np.random.default_rng(0)
    w = {"a": rng.normal(size=(2, 3)).astype(np.float32), "b": np.float32(0.5)}
    return w, rng.normal(size=(4, 3)).astype(np.float32), rng.normal(size=(4, 2)).astype(np.float32)


@pytest.mark.parametrize("jits", ["", "i", "m", "o", "io", "imo"])
def test_gradient_of_each_example(jits, same_as_jax):
    """vmap of grad, with jit inside of the gradient, between the two, or around both."""

    def program(lib):
        maybe = lambda place, f: lib.jit(f) if place in jits else f  # noqa: E731
        gradient = maybe("m", lib.grad(maybe("i", loss_of(lib))))
        w, x, y = data()
        return maybe("o", lib.vmap(gradient, (None, 0, 0)))(w, x, y)

    same_as_jax(program)


@pytest.mark.parametrize("jits", ["", "i", "m", "o", "imo"])
def test_gradient_through_a_batch(jits, same_as_jax):
    """grad of vmap."""

    def program(lib):
        maybe = lambda place, f: lib.jit(f) if place in jits else f  # noqa: E731
        losses = maybe("m", lib.vmap(maybe("i", loss_of(lib)), (None, 0, 0)))
        return maybe("o", lib.grad(lambda *args: lib.numpy.mean(losses(*args))))(*data())

    same_as_jax(program)


def test_the_two_agree():
    w, x, y = data()
    each = cv.vmap(cv.grad(loss_of(cv)), (None, 0, 0))(w, x, y)
    total = cv.grad(lambda w: jnp.sum(cv.vmap(loss_of(cv), (None, 0, 0))(w, x, y)))(w)
    for name in ("a", "b"):
        np.testing.assert_allclose(np.sum(each[name], axis=0), total[name], rtol=1e-4, atol=1e-6)


def test_is_a_loop():
    w, x, y = data()
    each = cv.vmap(cv.grad(loss_of(cv)), (None, 0, 0))(w, x, y)
    for i in range(4):
        one = cv.grad(loss_of(cv))(w, x[i], y[i])
        np.testing.assert_allclose(each["a"][i], one["a"], rtol=1e-5, atol=1e-6)


def test_value_and_aux_of_each_example(same_as_jax):
    def program(lib):
        def f(x):
            return lib.numpy.sum(x**2), {"max": lib.numpy.max(x), "constant": 1.0}

        x = np.arange(6, dtype=np.float32).reshape(3, 2)
        return lib.vmap(lib.value_and_grad(f, has_aux=True))(x)

    same_as_jax(program)


@pytest.mark.parametrize("in_axes, out_axes", [(0, 0), (1, 1), (-1, 0), (1, -1)])
def test_axes(in_axes, out_axes, same_as_jax):
    def program(lib):
        gradient = lib.grad(lambda x: lib.numpy.prod(x[:2]) + lib.numpy.sum(x**2))
        x = np.arange(9, dtype=np.float32).reshape(3, 3)
        return lib.vmap(gradient, in_axes, out_axes)(x)

    same_as_jax(program)


def test_two_vmaps_and_two_gradients(same_as_jax):
    def program(lib):
        inner = lib.grad(lambda x, y: lib.numpy.sin(x * y), argnums=1)
        f = lib.vmap(
            lib.grad(lambda x, y: lib.numpy.sum(lib.vmap(inner, (None, 0))(x, y))), (0, None)
        )
        return f(np.arange(3, dtype=np.float32), np.ones(2, np.float32))

    same_as_jax(program)


def test_shared_arguments_have_one_gradient_for_all(same_as_jax):
    """What is not mapped has no batch axis, and neither has what depends on it alone."""

    def program(lib):
        f = lib.grad(lambda w, x: lib.numpy.sum(w**2), argnums=(0, 1))
        return lib.vmap(f, (None, 0), (None, 0))(
            np.ones(2, np.float32), np.ones((3, 2), np.float32)
        )

    same_as_jax(program)
