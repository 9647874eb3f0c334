"""Random scans under random stacks of transformations, compared with JAX and Python's loop.

A seed makes a body, the form of the loop, and a stack; a failure prints its seed.
COVECTOR_FUZZ_SEED sets the first seed, COVECTOR_FUZZ_SCANS how many.
"""

import os

import numpy as np
import pytest

import covector as cv

FIRST = int(os.environ.get("COVECTOR_FUZZ_SEED", "0"))
COUNT = int(os.environ.get("COVECTOR_FUZZ_SCANS", "10"))

# Steps from some vectors of three numbers, and a counter, to another vector; bounded.
STEPS = [
    lambda m, x, y, i: m.numpy.sin(x) + 0.3 * y,
    lambda m, x, y, i: m.numpy.tanh(x * y),
    lambda m, x, y, i: m.numpy.where(i % 2 == 0, x, m.numpy.cos(y)),
    lambda m, x, y, i: x / (1 + y**2),
    lambda m, x, y, i: m.numpy.tanh(m.numpy.outer(x, y) @ y),
    lambda m, x, y, i: x[::-1],
    lambda m, x, y, i: 0.5 * x + i / 7,
    lambda m, x, y, i: m.lax.stop_gradient(x) * m.numpy.exp(-(y**2)),
    lambda m, x, y, i: m.lax.cond(i > 1, lambda: x * 0.5, lambda: m.numpy.sin(y)),
    lambda m, x, y, i: m.jit(lambda a, b: m.numpy.tanh(a - b))(x, y),
    lambda m, x, y, i: m.lax.scan(lambda c, z: (c * 0.5 + z * y[0], c), x[0], y)[1],
]


def program(rng):
    """A scan with several carries, closed-over vectors, and outputs, all at random.

    Returns a function of a scan (the library's, or Python's loop) and a library that gives a
    function of three arrays, and what tells of it.
    """
    plan = [tuple(int(k) for k in rng.integers(0, 1000, 3)) for _ in range(rng.integers(2, 6))]
    order = [int(k) for k in rng.integers(0, 1000, 6)]
    form = dict(
        reverse=bool(rng.integers(2)), unroll=[1, 1, 2, 3, True][rng.integers(5)]
    )  # fmt: skip

    def of(scan, m):
        def f(w, c, xs):
            outside = m.numpy.sin(w) * 0.7

            def body(carry, x):
                a, b, i = carry
                values = [a, b, x, w, outside]
                for step, j, k in plan:
                    x, y = values[j % len(values)], values[k % len(values)]
                    values.append(STEPS[step % len(STEPS)](m, x, y, i))
                values.append(values[-1])  # the newest is chosen twice as often
                a, b, *ys = [values[k % len(values)] for k in order]
                return (a, b, i + 1), (ys[:2], {"i": i, "y": ys[2]})

            (a, b, i), ((y, z), rest) = scan(body, (c, 0.5 * c, 0), xs, **form)
            return a + 2 * b + i, (y * z, rest["y"], rest["i"])

        return f

    return of, (plan, order, form)


def python_loop(m):
    """`scan` as a loop of Python."""

    def scan(f, carry, xs, reverse=False, unroll=1):
        steps = range(xs.shape[0])
        ys = {}
        for k in reversed(steps) if reverse else steps:
            carry, ys[k] = f(carry, xs[k])
        stacked = m.tree.map(lambda *y: m.numpy.stack(y), *[ys[k] for k in steps])
        return carry, stacked

    return scan


def total(m, f):
    def scalar(*args):
        a, (yz, y, i) = f(*args)
        return m.numpy.sum(a) + m.numpy.sum(yz) + m.numpy.sum(m.numpy.cos(y) * i[:, None])

    return scalar


STACKS = {
    "values": lambda m, f: f,
    "jvp": lambda m, f: lambda *a: m.jvp(f, a, a)[1][0],
    "jvp of a part": lambda m, f: lambda w, c, xs: m.jvp(lambda c: f(w, c, xs)[1][:2], (c,), (w,)),
    "grad": lambda m, f: m.grad(total(m, f), (0, 1, 2)),
    "grad of a part": lambda m, f: m.grad(total(m, f), 1),
    "vmap": lambda m, f: lambda w, c, xs: m.vmap(f, (None, 0, None))(w, m.numpy.stack([c, w]), xs),
    "vmap of grad": lambda m, f: (
        lambda w, c, xs: m.vmap(m.grad(total(m, f)), (None, None, 1))(
            w, c, m.numpy.stack([xs, -xs], 1)
        )
    ),
    "grad of vmap": lambda m, f: m.grad(
        lambda w, c, xs: m.vmap(total(m, f), (0, None, None))(m.numpy.stack([w, c]), c, xs).sum(),
        (0, 2),
    ),
    "hessian": lambda m, f: m.hessian(total(m, f), 1),
    "jvp of grad": lambda m, f: lambda *a: m.jvp(m.grad(total(m, f), 0), a, a)[1],
}


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_scan(seed, jax):
    rng = np.random.default_rng(seed)
    of, plan = program(rng)
    stack = list(STACKS)[seed % len(STACKS)]
    shapes = [(3,), (3,), (int(rng.integers(1, 5)), 3)]
    args = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    around = cv.jit if seed % 3 else lambda f: f
    got = around(STACKS[stack](cv, of(cv.lax.scan, cv)))(*args)
    want = jax.jit(STACKS[stack](jax, of(jax.lax.scan, jax)))(*args)
    told = f"seed {seed}: {stack} of {plan}"
    compare(got, want, jax, told)
    if stack in ("values", "grad"):
        unrolled = cv.jit(STACKS[stack](cv, of(python_loop(cv), cv)))(*args)
        compare(got, unrolled, cv, f"{told}, and the loop written out")


def compare(got, want, library, told):
    pairs = zip(cv.tree.leaves(got), library.tree.leaves(want), strict=True)
    for x, y in pairs:
        x, y = np.asarray(x), np.asarray(y)
        assert (x.shape, x.dtype) == (y.shape, y.dtype), told
        if x.dtype != cv.dtypes.float0:
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-4, err_msg=told)
