"""Every order of three transformations, out of jit, grad, jvp and vmap, on the same functions.

Each transformation is made a map from scalar functions to scalar functions, so that any order of
them has a meaning.
"""

import itertools

import numpy as np
import pytest


def by_jit(lib, f):
    return lib.jit(f)


def by_grad(lib, f):
    return lib.grad(f)


def by_jvp(lib, f):
    return lambda x: lib.jvp(f, (x,), (0.5 * x,))[1]


def by_vmap(lib, f):
    jnp = lib.numpy
    return lambda x: jnp.dot(lib.vmap(f)(jnp.array([0.5, 1.0]) * x), jnp.array([1.0, -0.25]))


TRANSFORMATIONS = [by_jit, by_grad, by_jvp, by_vmap]


def norm_of_tanh(lib):
    jnp = lib.numpy
    matrix = jnp.array([[1.0, 2.0], [0.5, -1.0], [0.0, 1.5]])
    return lambda x: jnp.sum(jnp.tanh(matrix @ jnp.stack([x, x * x])) ** 2)


def nested(lib):
    """A function that differentiates by itself, with its argument closed over."""
    jnp = lib.numpy

    def inner(x, y):
        return jnp.where(y > 0.6, jnp.sin(x * y) * y, jnp.sqrt(y + 2.0))

    return lambda x: lib.grad(lambda y: inner(x, y))(x) + lib.jit(jnp.cos)(x)


@pytest.mark.parametrize(
    "order",
    list(itertools.product(TRANSFORMATIONS, repeat=3)),
    ids=lambda order: "_of_".join(t.__name__.removeprefix("by_") for t in order),
)
def test_order(order, same_as_jax):
    def program(lib):
        one, other = norm_of_tanh(lib), nested(lib)
        f = lambda x: one(x) + other(x)  # noqa: E731
        for transformation in reversed(order):
            f = transformation(lib, f)
        return f(np.float32(0.7))

    same_as_jax(program, rtol=1e-4)
