"""Loops, and the operations that are more than elementwise: tracing with lowering, and run time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from .timing import Row, compare

Program = Callable[[Any], tuple[Callable[..., Any], list[np.ndarray]]]


@cache
def _random(*shape: int) -> np.ndarray:
    """Numbers for a program; made once, so that no time of a program holds theirs."""
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def scan_of_a_small_body(m: Any) -> Any:
    def f(x: Any) -> Any:
        return m.lax.scan(lambda c, _: (m.numpy.sin(c) * 0.5 + 1, None), x, None, length=10_000)[0]

    return f, [_random(8)]


def _rnn(m: Any) -> Any:
    def loss(w: Any, u: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = m.numpy.tanh(h @ w + x @ u)
            return h, h

        _, hs = m.lax.scan(step, m.numpy.zeros((16, 64), "float32"), xs)
        return m.numpy.mean(hs**2)

    return loss, [_random(64, 64) / 8, _random(32, 64) / 8, _random(200, 16, 32)]


def recurrent_network(m: Any) -> Any:
    return _rnn(m)


def gradient_of_recurrent_network(m: Any) -> Any:
    loss, args = _rnn(m)
    return m.grad(loss, argnums=(0, 1)), args


def while_of_100000_steps(m: Any) -> Any:
    def f(x: Any) -> Any:
        step = lambda c: (c[0] + 1, m.numpy.cos(c[1]))  # noqa: E731
        return m.lax.while_loop(lambda c: c[0] < 100_000, step, (0, x))[1]

    return f, [_random(4)]


def branch(m: Any) -> Any:
    def f(x: Any) -> Any:
        return m.lax.cond(x[0, 0] > 0, m.numpy.sin, lambda x: x @ x, x)

    return m.grad(lambda x: f(x).sum()), [_random(128, 128)]


def cumulative_sum(m: Any) -> Any:
    return lambda x: m.lax.cumsum(x, axis=1), [_random(1000, 1000)]


def sort(m: Any) -> Any:
    return lambda x: m.lax.sort(x), [_random(200_000)]


def convolution(m: Any) -> Any:
    return lambda x, k: m.lax.conv(x, k, (1, 1), "SAME"), [
        _random(8, 16, 32, 32),
        _random(32, 16, 3, 3),
    ]


def gradient_of_convolution(m: Any) -> Any:
    f, args = convolution(m)
    return m.grad(lambda x, k: (f(x, k) ** 2).sum(), argnums=(0, 1)), args


def max_pool_gradient(m: Any) -> Any:
    def pooled(x: Any) -> Any:
        window = (1, 1, 2, 2)
        return m.lax.reduce_window(x, -np.inf, m.lax.max, window, window, "VALID")

    return m.grad(lambda x: (pooled(x) ** 2).sum()), [_random(8, 16, 64, 64)]


@cache
def _positive(n: int) -> np.ndarray:
    a = _random(n, n)
    return a @ a.T + n * np.eye(n, dtype=np.float32)


def cholesky(m: Any) -> Any:
    return lambda a: m.lax.linalg.cholesky(a), [_positive(300)]


@cache
def _rows(count: int, limit: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, limit, count).astype(np.int32)


def gather_and_scatter(m: Any) -> Any:
    def f(x: Any, i: Any) -> Any:
        return m.numpy.zeros_like(x).at[i].add(x[i] * 2)

    return f, [_random(5000, 16), _rows(20_000, 5000)]


def fourier_transform(m: Any) -> Any:
    return lambda x: m.lax.fft(m.lax.complex(x, -x), "FFT", (1024,)), [_random(64, 1024)]


PROGRAMS: list[Program] = [
    scan_of_a_small_body, recurrent_network, gradient_of_recurrent_network, while_of_100000_steps,
    branch, cumulative_sum, sort, convolution, gradient_of_convolution, max_pool_gradient, cholesky,
    gather_and_scatter, fourier_transform,
]  # fmt: skip


def staged(m: Any, program: Program) -> Callable[[], object]:
    """A function that traces and lowers a program anew."""

    def run() -> object:
        f, args = program(m)
        return m.jit(f).lower(*args)

    return run


def rows(cv: Any, jax: Any) -> Iterator[Row]:
    """Both times of each program, and a check that both libraries compute the same."""
    for program in PROGRAMS:
        name = program.__name__.replace("_", " ")
        stages = [staged(m, program) for m in (cv, jax)]
        lowered = f"{name}: trace, lower"
        yield compare(lowered, *stages, goal=0.3, count=1, rounds=25, clock=time.thread_time)
        runs, results = [], []
        for m in (cv, jax):
            f, args = program(m)
            jitted, arrays = m.jit(f), [m.numpy.asarray(a) for a in args]
            results.append(m.tree.leaves(jitted(*arrays)))
            runs.append(
                lambda m=m, jitted=jitted, arrays=arrays: m.block_until_ready(jitted(*arrays))
            )
        for x, y in zip(*results):
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=2e-4, atol=2e-4)
        yield compare(f"{name}: run", *runs, goal=1.05, count=3, rounds=15)
