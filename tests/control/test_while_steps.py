"""Reverse mode through loops of any number of steps: the schedule of checkpoints, its costs."""

import math

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.control.while_tape import Tape, _with_checkpoint
from tests.control.plain_loops import Ours, close


@pytest.fixture(autouse=True)
def double_precision():
    with cv.enable_x64(True):
        yield


def slow(x, n, **limits):
    """A loop whose derivative stays of order 1 for as long as it goes."""

    def body(i, a):
        return 0.999 * a + 0.01 * jnp.sin(x * a) + 0.001 * x * jnp.cos(0.001 * i)

    return Ours.fori(n, body, x, **limits)


def slow_by_hand(x, n, dtype=np.float64):
    x = dtype(x)
    kept = [x]
    for i in range(n):
        a = kept[-1]
        kept.append(0.999 * a + 0.01 * np.sin(x * a) + 0.001 * x * np.cos(0.001 * i))
    ct, ct_x = 1.0, 0.0
    for i in reversed(range(n)):
        slope = 0.01 * np.cos(x * kept[i])
        ct_x += ct * (slope * kept[i] + 0.001 * np.cos(0.001 * i))
        ct *= 0.999 + slope * x
    return kept[-1], ct + ct_x


NUMBERS = [0, 1, 2, 63, 64, 65, 128, 1000, 4097, 100_000]


def test_any_number_of_steps():
    fun = cv.jit(cv.value_and_grad(slow))
    for n in NUMBERS:
        close(fun(0.7, n), slow_by_hand(0.7, n), 1e-11)


def test_single_precision():
    with cv.enable_x64(False):
        fun = cv.jit(cv.value_and_grad(slow))
        for n in NUMBERS:
            np.testing.assert_allclose(fun(0.7, n), slow_by_hand(0.7, n), rtol=1e-4)


@pytest.mark.parametrize(
    "limits",
    [
        dict(checkpoints=2),
        dict(checkpoints=3),
        dict(checkpoints=3, max_steps=1),
        dict(checkpoints=8, max_steps=5),
        dict(max_steps=65),
    ],
)
def test_limits(limits):
    fun = cv.jit(cv.grad(lambda x, n: slow(x, n, **limits)))
    for n in (0, 1, 2, 3, 5, 16, 65, 66, 200):
        close(fun(0.7, n), slow_by_hand(0.7, n)[1])


def repetitions(places, segments):
    """How often the tape has each segment of a loop run again."""
    zeros = np.zeros(places, np.int32)
    tape = Tape(0, zeros, zeros, [], [])
    for i in range(segments):
        tape = _with_checkpoint(tape, np.int32(i), [])
    counts, end = np.zeros(segments, int), segments
    while end:
        begin = int(np.max(tape.steps)) - 1
        if end < segments:
            for i in range(begin, end):
                tape = _with_checkpoint(tape, np.int32(i), [])
            counts[begin:end] += 1
        latest = int(np.argmax(tape.steps))
        end = int(tape.steps[latest]) - 1
        tape = tape._replace(steps=np.where(np.arange(places) == latest, 0, tape.steps))
    return counts


@pytest.mark.parametrize("places, r", [(3, 2), (4, 2), (4, 3), (5, 2)])
def test_as_few_repetitions_as_can_be(places, r):
    most = math.comb(places - 1 + r, r)
    assert repetitions(places, most).max() == r
    assert repetitions(places, most + 1).max() == r + 1


def test_memory_is_that_of_the_checkpoints():
    x = np.ones(10_000)

    def fun(x, n):
        return jnp.sum(Ours.fori(n, lambda i, a: jnp.sin(a) * x, x, checkpoints=8))

    memory = cv.jit(cv.grad(fun)).lower(x, 3).compile().memory_analysis()
    carries = memory.temp_size_in_bytes / x.nbytes
    assert 16 <= carries < 24
