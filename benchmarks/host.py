"""What the host side costs: importing, tracing, lowering, dispatch, eager differentiation."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .timing import Row, compare, seconds, without_garbage_collection

OPS = 200


def rows(cv: Any, jax: Any) -> Iterator[Row]:
    """The host table, row by row."""
    yield import_time()
    yield from tracing(cv, jax)
    yield lowering(cv, jax)
    yield from dispatch(cv, jax)
    yield from eager_transformations(cv, jax)


def import_time(rounds: int = 5) -> Row:
    """A fresh process that only imports the library, less one that imports nothing.

    Both libraries are imported from compiled modules, as they are from the second time on.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def run(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        return time.perf_counter() - start

    best = {"pass": 9.0, "import covector": 9.0, "import jax": 9.0}
    for _ in range(rounds):
        for code in best:
            best[code] = min(best[code], run(code))
    empty = best["pass"]
    return Row("import", best["import covector"] - empty, best["import jax"] - empty, 0.6)


# ---------------------------------------------------------------- tracing and lowering


def lax_chain(m: Any) -> Callable[[Any], Any]:
    def chain(x: Any) -> Any:
        for _ in range(OPS // 2):
            x = m.lax.sin(m.lax.mul(x, x))
        return x

    return chain


def numpy_chain(m: Any) -> Callable[[Any], Any]:
    jnp = m.numpy

    def chain(x: Any) -> Any:
        for _ in range(OPS // 4):
            x = jnp.sin(x * x) + 1.5 * jnp.exp(x)
        return jnp.sum(x)

    return chain


def traced(m: Any, transform: Callable[[Any, Any], Any], chain: Any) -> Callable[[], object]:
    """A function that traces `chain` anew each time it is called."""
    x = m.numpy.ones(8)

    def run() -> object:
        fresh = lambda x: chain(x)  # noqa: E731  (a new function object: nothing is cached)
        return m.make_jaxpr(transform(m, fresh))(x)

    return run


def tracing(cv: Any, jax: Any) -> Iterator[Row]:
    for name, transform, chain, goal in [
        ("trace a lax op", lambda m, f: f, lax_chain, 0.3),
        ("trace a numpy op", lambda m, f: f, numpy_chain, 0.2),
        ("... under grad", lambda m, f: m.grad(f), numpy_chain, 0.15),
        ("... under vmap", lambda m, f: m.vmap(f), numpy_chain, 0.15),
    ]:
        per = OPS if chain is lax_chain else OPS // 4 * 5
        run = [traced(m, transform, chain(m)) for m in (cv, jax)]
        if "vmap" in name:
            run = [batched(m, chain(m)) for m in (cv, jax)]
        yield compare(name, *run, goal=goal, count=1, rounds=20, per=per, clock=time.thread_time)


def batched(m: Any, chain: Any) -> Callable[[], object]:
    x = m.numpy.ones((4, 8))
    return lambda: m.make_jaxpr(m.vmap(lambda x: chain(x)))(x)


def lowering(cv: Any, jax: Any, rounds: int = 15) -> Row:
    """From a traced program to StableHLO; each run lowers a program that was never lowered."""
    best = [float("inf")] * 2
    for _ in range(rounds):
        for i, m in enumerate((cv, jax)):
            chain = numpy_chain(m)
            stage = m.jit(lambda x, c=chain: c(x)).trace(m.numpy.ones(8))
            with without_garbage_collection():
                best[i] = min(best[i], seconds(stage.lower, 1, time.thread_time))
    return Row("lower an op", *[b / (OPS // 4 * 5) for b in best], 0.5)


# ---------------------------------------------------------------- dispatch


def dispatch(cv: Any, jax: Any) -> Iterator[Row]:
    host = np.arange(8.0, dtype=np.float32)

    def pair(make: Callable[[Any], Callable[[], object]]) -> list[Callable[[], object]]:
        return [make(m) for m in (cv, jax)]

    def jitted(m: Any) -> Callable[[], object]:
        f, x = m.jit(lambda x: x + 1), m.numpy.asarray(host)
        return lambda: f(x)

    def jitted_dict(m: Any) -> Callable[[], object]:
        f = m.jit(lambda d: {k: v + 1 for k, v in d.items()})
        d = {k: m.numpy.asarray(host) for k in "abc"}
        return lambda: f(d)

    def jitted_numpy(m: Any) -> Callable[[], object]:
        f = m.jit(lambda x: x + 1)
        return lambda: f(host)

    yield compare("call a jitted function", *pair(jitted), goal=1.4)
    yield compare("... with a dict of 3 arrays", *pair(jitted_dict), goal=1.4)
    yield compare("... with a NumPy array", *pair(jitted_numpy), goal=None)
    for name, op, goal in [
        ("eager x + y", lambda m, x: x + x, 1.0),
        ("eager x + 1.5", lambda m, x: x + 1.5, 1.0),
        ("eager sin", lambda m, x: m.numpy.sin(x), 1.0),
        ("eager sum", lambda m, x: m.numpy.sum(x), 1.0),
        ("eager x[0]", lambda m, x: x[0], 0.25),
        ("eager x[2:5]", lambda m, x: x[2:5], None),
    ]:

        def eager(m: Any, op: Any = op) -> Callable[[], object]:
            x = m.numpy.asarray(host)
            return lambda: op(m, x)

        yield compare(name, *pair(eager), goal=goal)


# ---------------------------------------------------------------- eager transformations


def eager_transformations(cv: Any, jax: Any) -> Iterator[Row]:
    def small(m: Any) -> Callable[[], object]:
        jnp, x = m.numpy, m.numpy.arange(8.0)
        f = m.grad(lambda x: jnp.sum(jnp.tanh(x) * x))
        return lambda: f(x)

    def network(m: Any) -> Callable[[], object]:
        jnp, rng = m.numpy, np.random.default_rng(0)
        weights = [jnp.asarray(rng.standard_normal((16, 16)), jnp.float32) for _ in range(4)]
        x = jnp.ones((8, 16))

        def loss(weights: Any) -> Any:
            h = x
            for w in weights:
                h = jnp.tanh(h @ w)
            return jnp.mean(h**2)

        f = m.grad(loss)
        return lambda: f(weights)

    def mapped(m: Any) -> Callable[[], object]:
        jnp, x = m.numpy, m.numpy.ones((4, 8))
        f = m.vmap(lambda x: jnp.sum(jnp.sin(x) * x))
        return lambda: f(x)

    for name, make, goal in [
        ("eager grad of sum(tanh(x) * x)", small, 0.12),
        ("eager grad of a network of 4 layers", network, 0.12),
        ("eager vmap", mapped, 0.2),
    ]:
        yield compare(name, make(cv), make(jax), goal=goal, count=10, rounds=40)
