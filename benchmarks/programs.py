"""Compiled programs: the same HLO reaches XLA, so that they should run at JAX's speed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .timing import Row, compare

Program = Callable[[Any], tuple[Callable[..., Any], list[np.ndarray]]]


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def elementwise(m: Any) -> Any:
    jnp = m.numpy
    return lambda x: jnp.tanh(x) * jnp.exp(-x * x) + jnp.sin(x) / (1 + x * x), [_random(400_000)]


def softmax(m: Any) -> Any:
    jnp = m.numpy

    def f(x: Any) -> Any:
        e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
        return e / jnp.sum(e, axis=-1, keepdims=True)

    return f, [_random(1000, 512)]


def layer_norm(m: Any) -> Any:
    jnp = m.numpy

    def f(x: Any) -> Any:
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        return centred / jnp.sqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-6)

    return f, [_random(1000, 512)]


def matmul(m: Any) -> Any:
    return lambda a, b: a @ b, [_random(384, 384), _random(384, 384)]


def network_gradient(m: Any) -> Any:
    jnp = m.numpy

    def loss(w1: Any, w2: Any, x: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ w1) @ w2) ** 2)

    return m.grad(loss, argnums=(0, 1)), [_random(128, 256), _random(256, 32), _random(256, 128)]


def hessian(m: Any) -> Any:
    jnp = m.numpy
    return m.hessian(lambda x: jnp.sum(jnp.tanh(x) ** 2 * x[::-1])), [_random(96)]


def per_example_gradients(m: Any) -> Any:
    jnp = m.numpy
    g = m.grad(lambda w, x: jnp.sum(jnp.sin(x @ w) ** 2))
    return m.vmap(g, in_axes=(None, 0)), [_random(32, 16), _random(200, 8, 32)]


def pairwise_distances(m: Any) -> Any:
    jnp = m.numpy
    return lambda x: jnp.sqrt(jnp.sum((x[:, None] - x[None, :]) ** 2, axis=-1) + 1e-9), [
        _random(400, 16)
    ]


def attention(m: Any) -> Any:
    jnp = m.numpy

    def f(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8.0
        e = jnp.exp(scores - jnp.max(scores, axis=-1, keepdims=True))
        return jnp.einsum("bhqk,bhkd->bhqd", e / jnp.sum(e, axis=-1, keepdims=True), v)

    return f, [_random(2, 4, 128, 64)] * 3


def stencil(m: Any) -> Any:
    def f(x: Any) -> Any:
        for _ in range(8):
            inner = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 4
            x = m.lax.dynamic_update_slice(x, inner, (1, 1))
        return x

    return f, [_random(256, 256)]


def polynomial(m: Any) -> Any:
    def f(x: Any) -> Any:
        y = x
        for k in range(24):
            y = y * x + 1.0 / (k + 1)
        return y

    return f, [_random(400_000)]


def prefix_statistics(m: Any) -> Any:
    jnp = m.numpy

    def f(x: Any) -> Any:
        return jnp.stack([jnp.mean(x, 0), jnp.max(x, 0), jnp.min(x, 0), jnp.var(x, 0)])

    return f, [_random(2000, 200)]


PROGRAMS: list[Program] = [
    elementwise, softmax, layer_norm, matmul, network_gradient, hessian, per_example_gradients,
    pairwise_distances, attention, stencil, polynomial, prefix_statistics,
]  # fmt: skip


def rows(cv: Any, jax: Any) -> Iterator[Row]:
    """Run times of the compiled programs, and a check that both libraries compute the same."""
    for program in PROGRAMS:
        runs = []
        results = []
        for m in (cv, jax):
            f, args = program(m)
            jitted, arrays = m.jit(f), [m.numpy.asarray(a) for a in args]
            results.append(m.tree.leaves(jitted(*arrays)))
            runs.append(
                lambda m=m, jitted=jitted, arrays=arrays: m.block_until_ready(jitted(*arrays))
            )
        for x, y in zip(*results):
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=2e-4, atol=2e-4)
        yield compare(program.__name__.replace("_", " "), *runs, goal=1.05, count=5, rounds=15)
