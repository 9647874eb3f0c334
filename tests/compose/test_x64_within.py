"""Functions that switch 64-bit dtypes on within themselves, differentiated while these are off."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

X = 0.7


def sine(x):
    return jnp.sin(x)


by_jvp = cv.custom_jvp(sine)
by_jvp.defjvp(lambda xs, ts: (by_jvp(*xs), jnp.cos(xs[0]) * ts[0]))
by_vjp = cv.custom_vjp(sine)
by_vjp.defvjp(lambda x: (by_vjp(x), jnp.cos(x)), lambda slope, ct: (slope * ct,))

FUNCTIONS = {"plain": sine, "custom_jvp": by_jvp, "custom_vjp": by_vjp}


def wide(f):
    def g(x):
        with cv.enable_x64(True):
            return f(jnp.array(x, jnp.float64))

    return g


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_have_the_dtype_of_the_argument(name, x64):
    g = wide(FUNCTIONS[name])
    dtype = np.float64 if x64 else np.float32
    with cv.enable_x64(x64):
        assert g(X).dtype == np.float64
        for wanted in (np.cos(X), -np.sin(X), -np.cos(X)):
            g = cv.grad(g)
            slope = g(X)
            assert slope.dtype == dtype
            np.testing.assert_allclose(slope, wanted, rtol=1e-12 if x64 else 1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_under_jit_and_vmap(name):
    gradient = cv.grad(wide(FUNCTIONS[name]))
    with cv.enable_x64(False):
        xs = np.linspace(0.1, 0.7, 4, dtype=np.float32)
        for slopes in (cv.vmap(gradient)(xs), cv.jit(cv.vmap(gradient))(xs)):
            assert slopes.dtype == np.float32
            np.testing.assert_allclose(slopes, np.cos(xs), rtol=1e-6)
