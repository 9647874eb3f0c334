"""Loops that read and write their carries: right, whatever is written in place, and never copied.

A seed makes a body of random reads and writes on two arrays and a place, and the form of the loop;
a failure prints its seed. NumPy runs the same steps one after the other.
COVECTOR_FUZZ_SEED sets the first seed, COVECTOR_FUZZ_CARRIES how many.
"""

import os
import re

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.base import config
from covector._src.xla.loops import LOOKS_AT_PLACES

FIRST = int(os.environ.get("COVECTOR_FUZZ_SEED", "0"))
COUNT = int(os.environ.get("COVECTOR_FUZZ_CARRIES", "20"))
SIZE, STEPS, WIDTH = 11, 9, 4

# Each operation twice, on arrays that change and on arrays that do not: it takes the arrays `a` and
# `b` and two places, and gives the new arrays, and a number that is read.


def set_one(m, a, b, i, j):
    value = a[i] + 1
    if m is np:
        a[i] = b[j]
        return a, b, value
    return a.at[i].set(b[j]), b, value


def add_to_one(m, a, b, i, j):
    if m is np:
        a[j] += b[i] + 3
        return a, b, a[j]
    a = a.at[j].add(b[i] + 3)
    return a, b, a[j]


def swap(m, a, b, i, j):
    if m is np:
        a[i], a[j] = a[j], a[i]
        return a, b, a[0]
    x, y = a[i], a[j]
    a = a.at[i].set(y).at[j].set(x)
    return a, b, a[0]


def swap_at_once(m, a, b, i, j):
    if m is np:
        return swap(m, a, b, i, j)
    places = jnp.stack([i, j])
    a = a.at[places].set(a[places[::-1]])
    return a, b, a[0]


def write_slice(m, a, b, i, j):
    i, j = m.minimum(i, SIZE - WIDTH), m.minimum(j, SIZE - WIDTH)
    if m is np:
        a[i : i + WIDTH] = b[j : j + WIDTH] * 3
        return a, b, a[1]
    part = cv.lax.dynamic_slice(b, (j,), (WIDTH,)) * 3
    a = cv.lax.dynamic_update_slice(a, part, (i,))
    return a, b, a[1]


def move_slice_within(m, a, b, i, j):
    i, j = m.minimum(i, SIZE - WIDTH), m.minimum(j, SIZE - WIDTH)
    if m is np:
        a[i : i + WIDTH] = a[j : j + WIDTH].copy()
        return a, b, b[j]
    part = cv.lax.dynamic_slice(a, (j,), (WIDTH,))
    return cv.lax.dynamic_update_slice(a, part, (i,)), b, b[j]


def exchange(m, a, b, i, j):
    return b, a, a[i] - b[j]


def same_array_twice(m, a, b, i, j):
    return a, a.copy() if m is np else a, a[j]


def whole_array(m, a, b, i, j):
    return b + a[::-1], a, b[i]


def branch(m, a, b, i, j):
    if m is np:
        return set_one(m, a, b, j, i) if a[i] % 2 == 0 else add_to_one(m, b, a, i, j)
    return cv.lax.cond(
        a[i] % 2 == 0,
        lambda a, b: set_one(m, a, b, j, i),
        lambda a, b: add_to_one(m, b, a, i, j),
        a,
        b,
    )


def inner_loop(m, a, b, i, j):
    def step(k, a):
        at = (i + k) % SIZE
        if m is np:
            a[at] = a[(at + 1) % SIZE] + b[j]
            return a
        return a.at[at].set(a[(at + 1) % SIZE] + b[j])

    if m is np:
        for k in range(3):
            a = step(k, a)
    else:
        a = cv.lax.fori_loop(0, 3, step, a)
    return a, b, a[i]


OPERATIONS = [
    *(set_one, add_to_one, swap, swap_at_once, write_slice, move_slice_within, exchange),
    *(same_array_twice, whole_array, branch, inner_loop),
]


def random_body(seed):
    """The step `body(m, a, b, place, i) -> a, b, place, read`."""
    rng = np.random.default_rng(seed)
    plan = [
        (OPERATIONS[rng.integers(len(OPERATIONS))], *rng.integers(1, SIZE, 4), rng.random() < 0.3)
        for _ in range(rng.integers(1, 6))
    ]

    def body(m, a, b, place, i):
        total = place * 0
        for operation, p, q, r, s, turned in plan:
            x, y = (p * i + q + place) % SIZE, (r * i + s) % SIZE
            if turned:
                b, a, read = operation(m, b, a, x, y)
            else:
                a, b, read = operation(m, a, b, x, y)
            total = total + read
            place = (place + read) % SIZE
        return a, b, place, total

    return body, rng.choice(["scan", "fori", "while"]), [op[0].__name__ for op in plan]


def run_numpy(body, a, b):
    a, b, place, reads = a.copy(), b.copy(), np.int32(0), []
    with np.errstate(over="ignore"):
        for i in range(STEPS):
            a, b, place, read = body(np, a, b, place, np.int32(i))
            reads.append(read)
    return a, b, place, np.array(reads)


def run_ours(body, form, a, b):
    zero = jnp.int32(0)
    if form == "scan":

        def step(carry, i):
            *carry, read = body(jnp, *carry, i)
            return tuple(carry), read

        carry, reads = cv.lax.scan(step, (a, b, zero), jnp.arange(STEPS, dtype=jnp.int32))
        return *carry, reads

    def store(i, state):
        *carry, read = body(jnp, *state[:3], i)
        return *carry, state[3].at[i].set(read)

    start = (a, b, zero, jnp.zeros(STEPS, jnp.int32))
    if form == "fori":
        return cv.lax.fori_loop(jnp.int32(0), jnp.int32(STEPS), store, start)
    return cv.lax.while_loop(
        lambda s: s[0] < STEPS, lambda s: (s[0] + 1, store(s[0], s[1])), (zero, start)
    )[1]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_body(seed):
    body, form, names = random_body(seed)
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-50, 50, (2, SIZE)).astype(np.int32)
    got = cv.jit(lambda a, b: run_ours(body, form, a, b))(a, b)
    for x, y in zip(got, run_numpy(body, a, b), strict=True):
        np.testing.assert_array_equal(x, y, err_msg=f"seed {seed}: {form} of {names}")


# ---------------------------------------------------------------- no copies

N = 5000


def reads_and_writes(x, places):
    def step(carry, i):
        return carry.at[(i * 7) % N].add(carry[i]), carry[i]

    return cv.lax.scan(step, x, places)


def copies(fun, *args):
    """How many copies of large arrays there are in the loops of the compiled program."""
    text = cv.jit(fun).lower(*args).compile().as_text()
    entry = text.index("ENTRY")
    pattern = rf"f32\[{N}\]\S* copy\("
    return len(re.findall(pattern, text[:entry]))


def test_a_carry_is_not_copied():
    args = np.ones(N, np.float32), np.arange(20, dtype=np.int32)
    assert copies(reads_and_writes, *args) == 0
    with config.cpu_alias_loop_carries(False):
        assert copies(reads_and_writes, *args) > 0


def test_the_option_is_of_loops_on_cpus_alone():
    def needed(fun, platform="cpu"):
        lowered = cv.jit(fun).trace(1.0).lower(lowering_platforms=(platform,))
        return lowered._module.module_context.compile_options

    def loop(x):
        return cv.lax.while_loop(lambda x: x < 9, lambda x: x + 1, x)

    assert needed(loop) == {LOOKS_AT_PLACES: True}
    assert needed(lambda x: cv.jit(loop)(x) + 1) == {LOOKS_AT_PLACES: True}
    assert LOOKS_AT_PLACES not in needed(jnp.sin)
    assert LOOKS_AT_PLACES not in needed(loop, "cuda")
    with config.cpu_alias_loop_carries(False):
        assert LOOKS_AT_PLACES not in needed(loop)


def test_gradient_of_a_loop_that_writes():
    def total(m, x):
        a = m.asarray(x) if m is jnp else x
        for i in range(5):
            a = a.at[(i * 3) % 7].add(a[i] ** 2)
        return (a**3).sum()

    def looped(x):
        step = lambda i, a: a.at[(i * 3) % 7].add(a[i] ** 2)  # noqa: E731
        return (cv.lax.scan(lambda a, i: (step(i, a), None), x, jnp.arange(5))[0] ** 3).sum()

    x = np.linspace(-0.5, 0.6, 7).astype(np.float32)
    want = cv.grad(lambda x: total(jnp, x))(x)  # not a loop, nor one program
    np.testing.assert_allclose(cv.jit(cv.grad(looped))(x), want, rtol=1e-5)


def test_versions_of_xla_without_the_option(monkeypatch):
    monkeypatch.setattr("covector._src.xla.loops.LOOKS_AT_PLACES", "xla_no_such_option")
    with config.enable_compilation_cache(False):
        f = cv.jit(lambda x: cv.lax.fori_loop(0, 3, lambda i, x: x + i, x))
        assert float(f(1.0)) == 4.0
