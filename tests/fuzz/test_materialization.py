"""Random programs give the same with and without the planning of memory."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.base import config

UNARY = [
    *(jnp.sin, jnp.cos, jnp.tanh, jnp.abs, jnp.negative, lambda x: jnp.exp(-x * x)),
    *(lambda x: x[::-1], lambda x: x.T, lambda x: jnp.roll(x, 1, 0), lambda x: x / (1 + x * x)),
    *(lambda x: x + x[0], lambda x: x - x.mean(1, keepdims=True), lambda x: jnp.sqrt(1 + x * x)),
    *(lambda x: jnp.concatenate([x[1:], x[:1]]), lambda x: jnp.pad(x[1:-1], ((1, 1), (0, 0)))),
    *(lambda x: x.reshape(-1)[::-1].reshape(x.shape), lambda x: x.astype(jnp.bfloat16) * 0.5),
    *(lambda x: x.at[1].set(x[2]), lambda x: jnp.cumsum(x, 0) / 4, lambda x: jnp.sort(x, 0)),
]
BINARY = [
    *(jnp.add, jnp.subtract, jnp.multiply, jnp.minimum, lambda x, y: jnp.where(x > y, x, 0.5 * y)),
    *(lambda x, y: x @ y / 4, lambda x, y: jnp.hypot(x, y + 3), lambda x, y: x * y[0]),
    lambda x, y: lax.cond(x[0, 0] > y[0, 0], jnp.add, lambda x, y: jnp.cos(x) * y[::-1], x, y),
]
NESTED = [
    cv.jit(lambda x: jnp.sin(x) * jnp.cos(x[::-1]) + x.T),
    cv.checkpoint(lambda x: jnp.tanh(jnp.sin(x) + x[::-1]) * x),
    cv.nn.gelu,
    lambda x: lax.fori_loop(0, 2, lambda i, x: jnp.cos(x) + 0.1 * x[::-1], x),
]


def program(seed, length):
    """A function of one matrix: ops drawn at random, applied to values drawn at random."""

    def run(x):
        rng = np.random.default_rng(seed)
        values = [x, jnp.cos(x)]
        for _ in range(length):
            recent = [values[-1 - min(int(rng.exponential(2)), len(values) - 1)] for _ in range(2)]
            kind = rng.uniform()
            if kind < 0.5:
                made = UNARY[rng.integers(len(UNARY))](recent[0])
            elif kind < 0.9:
                made = BINARY[rng.integers(len(BINARY))](*recent)
            else:
                made = NESTED[rng.integers(len(NESTED))](recent[0])
            values.append(jnp.clip(made.astype(jnp.float32), -3, 3))
        return sum(v.mean() for v in values[-3:]), values[-1]

    return run


@pytest.mark.parametrize("seed", range(2))
def test_planned_programs_compute_the_same(seed):
    x = np.random.default_rng(100 + seed).normal(size=(6, 6)).astype("float32")
    results, pinned = [], []
    for planned in (True, False):
        with config.materialization(planned):
            lowered = cv.jit(cv.value_and_grad(program(seed, 9), has_aux=True)).lower(x)
            pinned.append(lowered.as_text().count("optimization_barrier"))
            results.append(lowered.compile()(x))
    assert pinned[0] > pinned[1], "nothing was planned: is this a test at all?"
    for ours, plain in zip(*map(cv.tree.leaves, results)):
        np.testing.assert_allclose(ours, plain, rtol=2e-3, atol=2e-3)
