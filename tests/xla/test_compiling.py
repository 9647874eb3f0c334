"""Compilation as users meet it: options of one `jit`, and threads that compile at the same time."""

import threading
import time

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.base import config
from covector._src.xla import compile as compile_module

X = np.linspace(0.1, 1, 8).astype(np.float32)


UNFUSED = {"xla_disable_hlo_passes": "fusion,cpu-instruction-fusion"}


def chain(x):
    return jnp.exp(jnp.sin(x) * 2) + 1


# ---------------------------------------------------------------- compiler_options


def compiled_text(**keywords):
    return cv.jit(chain, **keywords).lower(X).compile().as_text()


def test_options_reach_the_compiler():
    assert "fused_computation" in compiled_text()
    assert "fused_computation" not in compiled_text(compiler_options=UNFUSED)


@pytest.mark.parametrize(
    "options",
    [{"xla_cpu_enable_fast_math": True}, {"xla_backend_optimization_level": 0}, {}, None],
)
def test_options_change_no_result(options):
    got = cv.jit(chain, compiler_options=options)(X)
    np.testing.assert_allclose(got, np.exp(np.sin(X) * 2) + 1, rtol=1e-5)


def test_options_of_one_function_are_not_those_of_another():
    plain, special = cv.jit(chain), cv.jit(chain, compiler_options={"xla_dump_max_hlo_modules": 3})
    plain(X), special(X)
    asked = [f.lower(X).compile()._executable.loaded for f in (plain, special)]
    assert asked[0] is not asked[1]


def test_options_may_be_given_to_compile():
    lowered = cv.jit(chain).lower(X)
    assert "fused_computation" not in lowered.compile(UNFUSED).as_text()


def test_unknown_options_are_named():
    with pytest.raises(RuntimeError, match="xla_no_such_thing"):
        cv.jit(chain, compiler_options={"xla_no_such_thing": 1})(X)
    with pytest.raises(RuntimeError, match="xla_no_such_thing"):
        cv.jit(chain).lower(X).compile({"xla_no_such_thing": 1})


@pytest.mark.parametrize(
    "outer",
    [
        lambda m, f, x: m.jit(lambda x: f(x) + 1)(x),
        lambda m, f, x: m.lax.scan(lambda c, _: (f(c), None), x, None, length=2),
    ],
    ids=["jit", "scan"],
)
def test_options_inside_another_program_are_refused(jax, outer):
    def call(m):
        options = {"xla_cpu_enable_fast_math": True}
        return outer(m, m.jit(m.numpy.sin, compiler_options=options), X)

    with pytest.raises(ValueError, match="compiler_options"):
        call(jax)
    with pytest.raises(ValueError, match=r"sin has compiler_options=.*outermost `jit`"):
        call(cv)


# ---------------------------------------------------------------- several threads


def work(k):
    """A program of its own for each number, and its result on `X`."""
    with config.enable_compilation_cache(False):
        got = cv.jit(lambda x: jnp.cumsum(jnp.sin(x) * k) + jnp.sort(x * k))(X)
    np.testing.assert_allclose(got, np.cumsum(np.sin(X) * k) + np.sort(X * k), rtol=1e-5)


def run_threads(count, target):
    errors = []

    def guarded(k):
        try:
            target(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(1, count + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors, errors


def test_threads_compile_at_the_same_time(monkeypatch):
    """Each waits inside its compilation until all are there: a lock around it would stop them."""
    all_there = threading.Barrier(4)
    xla_compile = compile_module._xla_compile

    def meet_and_compile(*args):
        all_there.wait(30)
        return xla_compile(*args)

    work(100)  # the single ops of the test itself
    monkeypatch.setattr(compile_module, "_xla_compile", meet_and_compile)
    run_threads(4, work)


def test_python_runs_while_xla_compiles():
    """Compilation does not hold the interpreter's lock."""

    def slow(x):
        for i in range(25):
            x = jnp.sort(jnp.sin(x) + i)
        return x

    lowered = cv.jit(slow).lower(jnp.asarray(X))
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    with config.enable_compilation_cache(False):
        thread.start()
        start = time.perf_counter()
        try:
            compiled = lowered.compile()
        finally:
            end = time.perf_counter()
            done.set()
            thread.join()
    # With the lock held there would be one gap as long as the compilation.
    inside = [start, *[t for t in ticks if start < t < end], end]
    assert max(np.diff(inside)) < 0.8 * (end - start)
    assert np.all(np.isfinite(compiled(jnp.asarray(X))))
