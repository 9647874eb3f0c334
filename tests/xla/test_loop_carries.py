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
COUNT = int(os.environ.get("COVECTOR_FUZZ_CARRIES", "14"))
SIZE, STEPS, WIDTH = 11, 9, 4


def updated(m, x, places, values, add=False):
    """A new array that differs from `x` at some places."""
    if m is jnp:
        return x.at[places].add(values) if add else x.at[places].set(values)
    x = x.copy()
    if add:
        np.add.at(x, places, values)
    else:
        x[places] = values
    return x


# Operations on two arrays, old ones or new ones, and two places: each gives a new array.


def set_one(m, x, y, i, j):
    return updated(m, x, i, y[j] + 1)


def add_to_one(m, x, y, i, j):
    return updated(m, x, i, y[j] + 2, add=True)


def swap(m, x, y, i, j):
    return updated(m, updated(m, x, i, y[j]), j, x[i])


def swap_at_once(m, x, y, i, j):
    places = m.stack([i, i + (j != i)]) % SIZE
    return updated(m, x, places, y[places[::-1]])


def add_to_many(m, x, y, i, j):
    places = (m.asarray([0, 3, 3, 1]) + i) % SIZE
    return updated(m, x, places, y[:WIDTH] * 3, add=True)


def write_slice(m, x, y, i, j):
    i, j = m.minimum(i, SIZE - WIDTH), m.minimum(j, SIZE - WIDTH)
    if m is jnp:
        return cv.lax.dynamic_update_slice(x, cv.lax.dynamic_slice(y, (j,), (WIDTH,)), (i,))
    return updated(m, x, slice(i, i + WIDTH), y[j : j + WIDTH])


def reverse(m, x, y, i, j):
    return x[::-1] + 0


def combine(m, x, y, i, j):
    return m.where(x > y, x * 3, y[::-1])


def sort(m, x, y, i, j):
    return m.sort(x)


def accumulate(m, x, y, i, j):
    return m.cumsum(y, dtype=np.int32)


def branch(m, x, y, i, j):
    if m is jnp:
        even = lambda x, y: updated(m, x, i, y[i])  # noqa: E731
        return cv.lax.cond(y[j] % 2 == 0, even, lambda x, y: updated(m, x, j, 1, add=True), x, y)
    return updated(m, x, i, y[i]) if y[j] % 2 == 0 else updated(m, x, j, 1, add=True)


def choose(m, x, y, i, j):
    if m is jnp:
        return cv.lax.cond(x[j] % 3 == 0, lambda x, y: y, lambda x, y: x, x, y)
    return y if x[j] % 3 == 0 else x


def inner_loop(m, x, y, i, j):
    step = lambda k, x: updated(m, x, (i + k) % SIZE, x[(i + k + 1) % SIZE] + y[k])  # noqa: E731
    if m is jnp:
        return cv.lax.fori_loop(0, 3, step, x)
    for k in range(3):
        x = step(k, x)
    return x


OPERATIONS = [
    *(set_one, add_to_one, swap, swap_at_once, add_to_many, write_slice, reverse, combine, sort),
    *(accumulate, branch, choose),
]
# The option is not used with loops in loops, which are rare here for that reason.
NESTED = [*OPERATIONS, inner_loop]


def random_body(seed):
    """The step `body(m, a, b, place, i) -> a, b, place, read`, the form of the loop, its plan.

    All arrays of a step stay in use: the old ones are read after the new ones are made.
    """
    rng = np.random.default_rng(seed)
    operations = NESTED if seed % 8 == 0 else OPERATIONS
    plan = [
        (operations[rng.integers(len(operations))], *rng.integers(1, 1000, 6))
        for _ in range(rng.integers(2, 8))
    ]
    new_a, new_b = rng.integers(0, 1000, 2)

    def body(m, a, b, place, i):
        arrays, total = [a, b], place * 0
        for operation, p, q, r, s, one, other in plan:
            at, from_ = (p % SIZE * i + q + place) % SIZE, (r % SIZE * i + s) % SIZE
            x, y = arrays[one % len(arrays)], arrays[other % len(arrays)]
            arrays.append(operation(m, x, y, at, from_))
            total = total + arrays[q % len(arrays)][from_] * 3 + arrays[s % len(arrays)][at]
            if q % 3 == 0:
                place = (place + arrays[p % len(arrays)][at]) % SIZE
        return arrays[new_a % len(arrays)], arrays[new_b % len(arrays)], place, total

    return body, rng.choice(["scan", "fori", "while"]), [row[0].__name__ for row in plan]


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
