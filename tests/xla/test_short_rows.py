"""Rows of a dozen elements: with how much effort LLVM optimizes programs that choose in them."""

import os
import subprocess
import sys

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.base import config
from covector._src.xla.compile import lower_jaxpr
from covector._src.xla.short_rows import EFFORT


def choose(x, times=8):
    for i in range(times):
        x = jnp.where(x > i, x * x, x)
    return x


def effort(f, *args):
    """The level of optimization that writing the program asks for, if any."""
    lowered = lower_jaxpr(cv.make_jaxpr(f)(*args))
    return lowered.module_context.compile_options.get(EFFORT)


SHORT, LONG = np.ones((4, 16), np.float32), np.ones((4, 64), np.float32)


def test_many_choices_in_short_rows_take_the_second_level():
    assert effort(choose, SHORT) == 2
    assert effort(cv.grad(lambda x: jnp.sum(choose(x))), SHORT) == 2
    assert effort(lambda x: jnp.sum(jnp.maximum(choose(x, 7), 0), 1), SHORT) == 2


@pytest.mark.parametrize("inner", [cv.jit, cv.checkpoint])
def test_calls_count_as_often_as_they_are_made(inner):
    once = inner(lambda x: choose(x, 2))
    assert effort(lambda x: once(once(once(x))), SHORT) is None
    assert effort(lambda x: once(once(once(once(x)))), SHORT) == 2


def test_other_programs_take_the_usual_level():
    for x in (LONG, SHORT.T, SHORT[0], np.float32(1), np.ones((3, 0), np.float32)):
        assert effort(choose, x) is None
    assert effort(lambda x: choose(x, 7), SHORT) is None
    assert effort(lambda x: sum(x + i for i in range(20)), SHORT) is None


def test_branches_are_moved_out_of_loops_at_the_usual_level_only():
    assert effort(lambda x: choose(jnp.roll(x, 1)), SHORT) is None
    assert effort(lambda x: choose(jnp.pad(x, ((0, 0), (1, 0)))), SHORT) is None
    assert effort(lambda x: choose(cv.jit(jnp.roll, static_argnums=1)(x, 1)), SHORT) is None


def test_users_come_first():
    lowered = cv.jit(choose).lower(SHORT)
    want = choose(SHORT)
    for level in (0, 3):
        compiled = lowered.compile(compiler_options={EFFORT: level})
        np.testing.assert_array_equal(np.asarray(compiled(SHORT)), np.asarray(want))
    with config.disable_most_optimizations(True):
        assert effort(choose, SHORT) is None
    code = (
        "import numpy as np, covector as cv\n"
        "from tests.xla.test_short_rows import *\n"
        "assert effort(choose, SHORT) is None\n"
    )
    environment = {**os.environ, "XLA_FLAGS": f"--{EFFORT}=1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_compiler_still_writes_more_code_for_it_at_the_third_level():
    """If this fails on a new version of XLA, `short_rows.py` may have become superfluous."""

    def f(x, y):
        for _ in range(2):
            x = jnp.where(x == 0, 0, x * y)
        return x

    lowered = cv.jit(f).lower(np.ones((4, 16, 16, 16), np.float32), np.ones(16, np.float32))
    with config.enable_compilation_cache(False):  # what comes from disk, serialize() shortens
        compiled = [lowered.compile(compiler_options={EFFORT: level}) for level in (2, 3)]
    second, third = (len(program.runtime_executable().serialize()) for program in compiled)
    assert second < 0.8 * third
