"""Loops of Covector, the same loops in plain Python, and exact derivatives of those.

The derivative of a real analytic function is the imaginary part of f(x + ih) / h, to full precision
if h is small enough.
"""

import numpy as np

import covector as cv
import covector.numpy as jnp
from covector import lax


class Plain:
    """Loops of Python, and NumPy."""

    sin, cos, tanh, sum = np.sin, np.cos, np.tanh, np.sum

    @staticmethod
    def jit(fun):
        return fun

    @staticmethod
    def fori(n, body, x, **limits):
        for i in range(int(n)):
            x = body(i, x)
        return x

    @staticmethod
    def choose(which, first, second, x):
        return first(x) if which else second(x)

    @staticmethod
    def scan(step, x, slices):
        ys = []
        for part in slices:
            x, y = step(x, part)
            ys.append(y)
        return x, np.stack(ys)


class Ours:
    """Loops of Covector, whose number of steps is never known."""

    sin, cos, tanh, sum, jit = jnp.sin, jnp.cos, jnp.tanh, jnp.sum, cv.jit

    @staticmethod
    def fori(n, body, x, **limits):
        init = (jnp.asarray(0), jnp.asarray(n), x)

        def step(s):
            return (s[0] + 1, s[1], body(s[0], s[2]))

        return lax.while_loop(lambda s: s[0] < s[1], step, init, **limits)[2]

    @staticmethod
    def choose(which, first, second, x):
        return lax.cond(which, first, second, x)

    @staticmethod
    def scan(step, x, slices):
        return lax.scan(step, x, slices)


def complex_step(fun, *args):
    """The derivative of a real analytic function in its first argument."""
    x, *rest = args
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[i] += 1e-30j
        out[i] = fun(Plain, moved, *rest).imag / 1e-30
    return out


def close(got, want, rtol=1e-12):
    np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-14)
