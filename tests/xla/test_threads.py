"""Many threads at once: each has its own trace and configuration; what is compiled is shared."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

THREADS = 16


def everywhere(fun, count=4 * THREADS):
    """The results of `fun(i)`, run by many threads that start together."""
    barrier = threading.Barrier(THREADS)

    def run(i):
        if i < THREADS:
            barrier.wait()
        return fun(i)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(count)))


def test_one_jitted_function():
    traces = []

    @cv.jit
    def f(x):
        traces.append(threading.get_ident())
        return jnp.sum(jnp.sin(x)) * 2

    x = np.arange(5, dtype=np.float32)
    got = everywhere(lambda i: float(f(x + i)))
    np.testing.assert_allclose(
        got, [2 * np.sum(np.sin(x + i)) for i in range(len(got))], rtol=1e-4, atol=1e-5
    )
    f(x)
    assert len(traces) <= THREADS  # those that came before the first had finished
    count = len(traces)
    everywhere(lambda i: f(x))
    assert len(traces) == count


def test_threads_that_come_first_start_one_client():
    program = """
import threading, numpy as np, covector as cv
barrier, results = threading.Barrier(16), []
def work(i):
    barrier.wait()
    results.append(float(cv.jit(lambda x: x.sum() + i)(cv.device_put(np.ones(3)))))
threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert sorted(results) == [3.0 + i for i in range(16)], results
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_transformations_do_not_meet():
    def work(i):
        x = float(i % 7) / 7
        kind = i % 5
        if kind == 0:
            return float(cv.grad(jnp.sin)(x)), np.cos(x)
        if kind == 1:
            return float(cv.jit(lambda y: y * i)(x)), x * i
        if kind == 2:
            return float(cv.vmap(lambda y: y + x)(jnp.arange(3.0))[2]), 2 + x
        if kind == 3:
            return float(cv.hessian(lambda y: y**3)(x)), 6 * x
        return float(cv.jvp(lambda y: y * y, (x,), (1.0,))[1]), 2 * x

    for got, want in everywhere(work):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_python_control_flow_inside_grad():
    @cv.grad
    def f(x):
        for _ in range(3):
            x = x * x if x > 0 else -x
        return x

    assert everywhere(lambda i: float(f(2.0))) == [8 * 2.0**7] * (4 * THREADS)


def test_configuration_is_per_thread():
    def work(i):
        with cv.enable_x64(i % 2 == 0):
            return str(cv.jit(lambda x: x + 1)(1.0).dtype), str(jnp.arange(3.0).dtype)

    for i, dtypes in enumerate(everywhere(work)):
        assert dtypes == (("float64",) * 2 if i % 2 == 0 else ("float32",) * 2)


def test_caches_are_cleared_meanwhile():
    f = cv.jit(lambda x: jnp.cos(x) + 1)

    def work(i):
        if i % 8 == 0:
            cv.clear_caches()
        return float(f(0.0)), float(cv.grad(lambda x: f(x))(0.0))

    assert everywhere(work) == [(2.0, 0.0)] * (4 * THREADS)


def test_a_tracer_of_another_thread_is_refused():
    leaked = []
    ready, done = threading.Event(), threading.Event()

    def holder():
        def f(x):
            leaked.append(x)
            ready.set()
            done.wait(10)
            return x

        cv.jit(f)(1.0)

    thread = threading.Thread(target=holder)
    thread.start()
    try:
        assert ready.wait(10)
        with pytest.raises(cv.errors.UnexpectedTracerError):
            np.asarray(leaked[0] + 1)
    finally:
        done.set()
        thread.join()


def test_arrays_are_shared_and_donated_once():
    f = cv.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.arange(4.0) * 2

    def work(i):
        try:
            return f(x).tolist()
        except RuntimeError:
            return None

    results = [r for r in everywhere(work) if r is not None]
    assert results and all(r == [1.0, 3.0, 5.0, 7.0] for r in results)
