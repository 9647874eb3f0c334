"""Loops within loops, and branches within loops: each reads the carries that were, not the new."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.xla.loops import LOOKS_AT_PLACES


def times(i, x):
    """`x` changed `i` times."""
    return lax.while_loop(lambda t: t[0] < i, lambda t: (t[0] + 1, t[1] * 2 + i), (0, x))[1]


def times_in_python(i, x):
    for _ in range(i):
        x = x * 2 + i
    return x


def while_in_while(x, n):
    step = lambda s: (s[0] + 1, times(s[0], s[1]))  # noqa: E731
    return lax.while_loop(lambda s: s[0] < n, step, (0, x))[1]


def jit_of_while_in_while(x, n):
    inner = cv.jit(times)
    x = inner(jnp.int32(0), x)
    step = lambda s: (s[0] + 1, inner(s[0], s[1]))  # noqa: E731
    return lax.while_loop(lambda s: s[0] < n, step, (jnp.int32(0), x))[1]


def scan_in_scan(x, n):
    def step(carry, _):
        i, x = carry
        x = lax.scan(lambda b, go: (jnp.where(go < i, b * 2 + i, b), None), x, jnp.arange(4))[0]
        return (i + 1, x), None

    return lax.scan(step, (0, x), None, length=n)[0][1]


def branch_in_while(x, n):
    branches = [lambda x, k=k: times_in_python(k, x) for k in range(4)]
    step = lambda s: (s[0] + 1, lax.switch(s[0], branches, s[1]))  # noqa: E731
    return lax.while_loop(lambda s: s[0] < n, step, (0, x))[1]


@pytest.mark.parametrize(
    "f", [while_in_while, jit_of_while_in_while, scan_in_scan, branch_in_while]
)
def test_values(f):
    x = np.array([0.5, -1.0], np.float32)
    want = x
    for i in range(4):
        want = times_in_python(i, want)
    np.testing.assert_array_equal(cv.jit(f, static_argnums=1)(x, 4), want)


def option_of(f):
    lowered = cv.jit(f, static_argnums=1).lower(np.ones(2, np.float32), 4)
    return lowered._module.module_context.compile_options.get(LOOKS_AT_PLACES)


def test_carries_are_written_in_place_only_without_loops_in_loops():
    assert not option_of(while_in_while) and not option_of(jit_of_while_in_while)
    if cv.devices()[0].platform == "cpu":
        assert option_of(branch_in_while)
        assert option_of(lambda x, n: times(n, times(n, x)))
