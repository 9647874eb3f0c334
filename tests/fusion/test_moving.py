"""Ops that read at other indices within one shape are planned as if the shape were another."""

import time

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.base import config

X = np.linspace(-1, 1, 8, dtype=np.float32)
PLACES = np.array([3, 0, 7, 1, 2, 6, 5, 4])

MOVES = {
    "reversal": lambda x: x[::-1],
    "padding that cuts off": lambda x: lax.pad(x, np.float32(0), [(1, -1, 0)]),
    "gather": lambda x: x[PLACES],
}


@pytest.mark.parametrize("name", MOVES)
def test_what_is_moved_is_stored(name):
    def f(x):
        for _ in range(6):
            x = jnp.sin(x) * 1.01 + MOVES[name](x)
        return x

    lowered = cv.jit(f).lower(X)
    assert lowered.as_text().count("stablehlo.optimization_barrier") >= 2
    np.testing.assert_allclose(lowered.compile()(X), f(X), rtol=1e-5, atol=1e-6)


def cpu_seconds(compiled):
    start = time.process_time()
    cv.block_until_ready(compiled(X))
    return time.process_time() - start


def test_the_compiler_computes_what_is_reversed_again():
    """A tenth of a second for eight steps, and ten times that for each two more: the clock says so.

    If that fails on a new jaxlib, reversals may be like additions.
    """

    def change(x):
        return jnp.sin(x) * 0.9 + jnp.cos(x[::-1]) * 0.1 - x * 0.3

    def total(x):
        f1, f2 = change(x), change(0.9 * x)
        for _ in range(8):
            f0 = change(x)
            x, f1, f2 = x + 0.01 * (1.5 * f0 - 0.5 * f1 + 0.1 * f2), f0, f1
        return x.sum()

    results, seconds = [], []
    for planned in (True, False):
        with config.materialization(planned):
            compiled = cv.jit(cv.grad(total)).lower(X).compile()
        results.append(compiled(X))
        # The least CPU time of some runs: what else the machine does hardly counts.
        seconds.append(min(cpu_seconds(compiled) for _ in range(5)))
    np.testing.assert_allclose(*results, rtol=1e-4)
    assert 10 * seconds[0] < seconds[1]
