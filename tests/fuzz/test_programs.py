"""Random programs under random stacks of transformations, compared with JAX.

A seed makes a program, its inputs and a stack. The same program runs with both libraries; a
failure prints its seed. COVECTOR_FUZZ_SEED sets the first seed, COVECTOR_FUZZ_COUNT how many.
"""

import os

import numpy as np
import pytest

import covector as cv

FIRST = int(os.environ.get("COVECTOR_FUZZ_SEED", "0"))
COUNT = int(os.environ.get("COVECTOR_FUZZ_COUNT", "25"))
SHAPE = (3, 4)

# Steps from one array of SHAPE (and another) to an array of SHAPE; bounded, so that no stack of
# them overflows, and smooth but for a few corners that random inputs do not meet.
STEPS = [
    lambda m, x, y: m.numpy.sin(x) + 0.5 * y,
    lambda m, x, y: m.numpy.tanh(x * y),
    lambda m, x, y: m.numpy.where(x > 0.1, x, 2 * y),
    lambda m, x, y: x / (1 + y**2),
    lambda m, x, y: m.numpy.exp(-(x**2)) * y,
    lambda m, x, y: x[::-1] - y[:, ::-1],
    lambda m, x, y: m.numpy.maximum(x, y) - m.numpy.minimum(x, 0.3),
    lambda m, x, y: m.numpy.tanh((x @ y.T) @ x),
    lambda m, x, y: x - m.numpy.mean(y, axis=1, keepdims=True),
    lambda m, x, y: m.numpy.concatenate([x[1:], y[:1]]),
    lambda m, x, y: m.numpy.reshape(m.numpy.ravel(x), (4, 3)).T * m.numpy.cos(y),
    lambda m, x, y: m.jit(lambda a, b: m.numpy.tanh(a) * b)(x, y),
    lambda m, x, y: m.numpy.sqrt(1 + x**2) * m.lax.stop_gradient(y),
    lambda m, x, y: m.numpy.einsum("ij,kj->ik", x, y) @ x / 4,
    lambda m, x, y: x + m.numpy.arange(4.0) * m.numpy.max(y, axis=0),
    lambda m, x, y: (
        m.lax.dynamic_slice(m.lax.pad(x, np.float32(0), ((1, 1, 0), (1, 1, 0))), (1, 0), SHAPE) + y
    ),
]


def program(rng):
    """A function of a module that gives a function of two arrays: random steps on past values."""
    plan = [
        (int(rng.integers(len(STEPS))), int(rng.integers(100)), int(rng.integers(100)))
        for _ in range(rng.integers(2, 7))
    ]

    def of(m):
        def f(x, y):
            values = [x, y]
            for step, i, j in plan:
                values.append(STEPS[step](m, values[-1 - i % 2], values[j % len(values)]))
            return values[-1]

        return f

    return of, plan


def total(m, f):
    return lambda x, y: m.numpy.sum(f(x, y) ** 2)


# From a function of two arrays to one of two arrays whose result has the shape of the first.
LAYERS = {
    "jit": lambda m, f: m.jit(f),
    "grad": lambda m, f: m.grad(total(m, f)),
    "grad in the second": lambda m, f: m.grad(total(m, f), argnums=1),
    "jvp": lambda m, f: lambda x, y: m.jvp(f, (x, y), (y, x))[1],
    "vjp": lambda m, f: lambda x, y: m.vjp(f, x, y)[1](m.numpy.cos(x))[1],
    "linearize": lambda m, f: lambda x, y: m.linearize(f, x, y)[1](m.numpy.ones_like(x), y),
    "checked twice": lambda m, f: lambda x, y: f(x, y) + m.jit(f)(y, x),
    "vmap": lambda m, f: (
        lambda x, y: m.numpy.mean(m.vmap(f, in_axes=(0, None))(m.numpy.stack([x, -x]), y), axis=0)
    ),
    "vmap over the last": lambda m, f: (
        lambda x, y: m.numpy.sum(
            m.vmap(f, in_axes=(2, 1), out_axes=1)(
                m.numpy.stack([x, 0.5 * x], axis=2), m.numpy.stack([y, y], axis=1)
            ),
            axis=1,
        )
    ),
}


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_program(jax, seed):
    rng = np.random.default_rng(seed)
    of, plan = program(rng)
    stack = [str(name) for name in rng.choice(list(LAYERS), size=rng.integers(1, 4))]
    x, y = (rng.uniform(-1, 1, SHAPE).astype(np.float32) for _ in range(2))
    results = []
    for m in (cv, jax):
        f = of(m)
        for name in stack:
            f = LAYERS[name](m, f)
        results.append(np.asarray(f(x, y)))
    ours, theirs = results
    scale = 1 + np.abs(theirs).max()
    np.testing.assert_allclose(
        ours / scale,
        theirs / scale,
        atol=3e-5,
        err_msg=f"seed {seed}: steps {plan} under {stack}",
    )
    assert ours.dtype == theirs.dtype
