"""The text of programs with `scan`, and of what is built on it."""

from __future__ import annotations

import numpy as np
import pytest

X = np.ones((4, 3), np.float32)
C = np.ones(3, np.float32)
W = np.ones((3, 3), np.float32)


def cell(m):
    return lambda c, w, x: m.lax.scan(lambda c, x: (m.numpy.tanh(c @ w) + x, None), c, x)[0]


def product(m):
    return lambda c, w, x: m.lax.scan(lambda c, x: (c * m.numpy.sin(w) * x, None), c, x)[0]


def counted(m):
    def f(c, w, x):
        return m.lax.scan(lambda c, x: ((c[0] * x, c[1] + 1), c[0] * w), (c, 0), x)

    return f


def summed(f):
    return lambda *args: f(*args).sum()


PROGRAMS = {
    "closure": lambda m: m.make_jaxpr(cell(m))(C, W, X),
    "reverse and unroll": lambda m: m.make_jaxpr(
        lambda c, x: m.lax.scan(lambda c, x: (c * x, c), c, x, reverse=True, unroll=2)
    )(C, X),
    "unroll all": lambda m: m.make_jaxpr(
        lambda c, x: m.lax.scan(lambda c, x: (c * x, c), c, x, unroll=True)
    )(C, X),
    "length": lambda m: m.make_jaxpr(lambda c: m.lax.scan(lambda c, _: (c * 2, c), c, length=3))(C),
    "weak carries": lambda m: m.make_jaxpr(
        lambda x: m.lax.scan(lambda c, x: ((c[0] + x, c[1] + 1), None), (0.0, 0), x)
    )(X[:, 0]),
    "what passes through": lambda m: m.make_jaxpr(
        lambda c, x: m.lax.scan(lambda c, x: ((c[0] + x, c[1]), (x, c[1])), (c, 2.0), x)
    )(C, X),
    "captured arrays": lambda m: m.make_jaxpr(
        lambda x: m.lax.scan(lambda c, x: (c * C + x, c), C, x)
    )(X),
    "nested": lambda m: m.make_jaxpr(
        lambda c, x: m.lax.scan(lambda c, x: m.lax.scan(lambda d, y: (d * y + x, d), c, x), c, x)
    )(C, X),
    "the same body twice": lambda m: m.make_jaxpr(lambda c, x: twice(m, c, x))(C, X),
    "jvp": lambda m: m.make_jaxpr(
        lambda c, w, x: m.jvp(lambda c: counted(m)(c, w, x)[1], (c,), (c,))
    )(C, W[0], X),
    "vmap": lambda m: m.make_jaxpr(m.vmap(product(m)))(W, W, np.stack([X, X, X])),
    "vmap of inputs": lambda m: m.make_jaxpr(m.vmap(counted(m), (0, 0, 1)))(
        W, W, np.stack([X, X, X], 1)
    ),
    "grad": lambda m: m.make_jaxpr(m.grad(summed(cell(m)), (0, 1, 2)))(C, W, X),
    "grad of a part": lambda m: m.make_jaxpr(m.grad(summed(product(m)), 0))(C, C, X),
    "grad with constants": lambda m: m.make_jaxpr(m.grad(summed(product(m)), (0, 1)))(C, C, X),
    "map": lambda m: m.make_jaxpr(lambda x: m.lax.map(lambda x: m.numpy.sin(x) * x, x))(X),
    "map in batches": lambda m: m.make_jaxpr(
        lambda x: m.lax.map(lambda x: (m.numpy.sin(x), x), x, batch_size=2)
    )(np.ones((5, 3), np.float32)),
    "map of all": lambda m: m.make_jaxpr(
        lambda x: m.lax.map(lambda x: m.numpy.sin(x), x, batch_size=0)
    )(X),
    "associative scan of integers": lambda m: m.make_jaxpr(
        lambda x: m.lax.associative_scan(m.numpy.add, x, reverse=True)
    )(np.arange(5, dtype=np.int32)),
    "linear solve": lambda m: m.make_jaxpr(solution(m))(W, C),
    "symmetric linear solve": lambda m: m.make_jaxpr(solution(m, symmetric=True))(W, C),
    "grad of linear solve": lambda m: m.make_jaxpr(m.grad(summed(solution(m)), (0, 1)))(W, C),
}


def twice(m, c, x):
    def body(c, x):
        return c * x, c

    c, _ = m.lax.scan(body, c, x)
    return m.lax.scan(body, c, x)


def solution(m, **options):
    def solve(matvec, b):
        return b / 2

    if not options:
        options = dict(transpose_solve=lambda vecmat, b: b / 3)
    return lambda a, b: m.lax.custom_linear_solve(lambda x: a @ x, b, solve, **options)


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(name, same_text):
    same_text(PROGRAMS[name])
