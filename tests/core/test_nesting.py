"""How deep jitted functions may be nested before Python's stack ends."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


@pytest.fixture
def on_an_empty_stack():
    """Runs a function in a thread of its own, with Python's default limit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        with ThreadPoolExecutor(1) as pool:
            yield lambda fun: pool.submit(fun).result()
    finally:
        sys.setrecursionlimit(limit)


def nested(depth):
    f = jnp.sin
    for _ in range(depth):
        f = cv.jit(lambda x, f=f: f(x) * 1.0)
    return f


def test_jitted_functions(on_an_empty_stack):
    f = nested(120)
    assert on_an_empty_stack(lambda: float(f(0.5))) == pytest.approx(np.sin(0.5))


def test_their_gradient(on_an_empty_stack):
    f = cv.grad(nested(100))
    assert on_an_empty_stack(lambda: float(f(0.5))) == pytest.approx(np.cos(0.5))


def test_what_is_too_deep_says_so_and_leaves_all_as_it_was(on_an_empty_stack):
    with pytest.raises(RecursionError):
        on_an_empty_stack(lambda: nested(300)(0.5))
    assert on_an_empty_stack(lambda: float(nested(3)(0.5))) == pytest.approx(np.sin(0.5))
