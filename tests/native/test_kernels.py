"""When programs call the kernels, and that calls from many threads end."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax, random
from covector._src.base import config
from covector._src.ops.thresholds import NATIVE, NATIVE_FOURIER
from covector._src.xla import kernels

ROOT = Path(__file__).parents[2]


def calls(function, *args):
    """How many kernels the program of a function calls."""
    return cv.jit(function).lower(*args).as_text().count("custom_call @covector_")


# ---------------------------------------------------------------- when they are called

many, few = np.ones(NATIVE, np.float32), np.ones(NATIVE - 1, np.float32)
FUNCTIONS = {
    "sort": jnp.sort,
    "argsort": jnp.argsort,
    "top_k": lambda x: lax.top_k(x, x.size // 2),
    "argmax": jnp.argmax,
    "argmin": jnp.argmin,
    "cumsum": jnp.cumsum,
    "bincount": lambda x: jnp.bincount(x.astype("int32"), length=3),
    "histogram": lambda x: jnp.histogram(x, 3),
    "searchsorted": lambda x: jnp.searchsorted(x[:3], x),
    "nonzero": lambda x: jnp.nonzero(x, size=3),
    "bits": lambda x: random.bits(random.key(0), x.shape),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_large_arrays_alone_reach_them(name, installed):
    function = FUNCTIONS[name]
    assert calls(function, many) == 1
    assert calls(function, few) == 0
    with config.native_kernels(False):
        assert calls(function, many) == 0


def test_long_transforms_alone_reach_them(installed):
    for count, expected in [(NATIVE_FOURIER, 1), (NATIVE_FOURIER - 1, 0), (NATIVE_FOURIER // 2, 0)]:
        assert calls(jnp.fft.fft, np.ones(count, np.complex64)) == expected
        assert calls(jnp.fft.rfft, np.ones(2 * count, np.float32)) == expected
    with config.native_kernels(False):
        assert calls(jnp.fft.fft, np.ones(NATIVE_FOURIER, np.complex64)) == 0


def test_small_arrays_in_loops_and_batches_do_not(installed):
    def step(carry, x):
        return jnp.sort(carry), jnp.argmax(x)

    assert calls(lambda c, xs: lax.scan(step, c, xs), few, np.ones((3, 100), np.float32)) == 0
    assert calls(cv.vmap(jnp.argmax), np.ones((NATIVE, 4), np.float32)) == 0
    assert calls(cv.vmap(lax.cumsum), np.ones((NATIVE, 4), np.float32)) == 0
    assert calls(cv.vmap(jnp.sort), np.ones((4, NATIVE // 4), np.float32)) == 1


def test_an_order_is_not_gathered_from_the_places(installed):
    """What follows the keys is their places: in that order they are the order."""
    for function, x in [(jnp.argsort, many), (cv.vmap(jnp.argsort), np.stack([many, many]))]:
        text = cv.jit(function).lower(x).as_text()
        assert text.count('"stablehlo.gather"(') <= 1  # of the keys, which nothing uses


def test_other_dtypes_do_not(installed):
    for dtype in ("float16", "bfloat16", "uint8", "complex64"):
        x = many.astype(dtype)
        assert calls(jnp.cumsum, x) == 0
        if dtype != "complex64":
            assert calls(jnp.argmax, x) == 0


def test_a_function_is_compiled_for_both_settings(installed):
    x = np.random.default_rng(0).standard_normal(NATIVE).astype(np.float32)
    traces = []
    sort = cv.jit(lambda x: traces.append(x) or jnp.sort(x))
    with config.native_kernels(False):
        pure, text = sort(x), sort.lower(x).as_text()
    np.testing.assert_array_equal(sort(x), pure)
    assert sort.lower(x).as_text() != text
    assert len(traces) == 1


# ---------------------------------------------------------------- where there are none


def test_programs_do_without_a_library(monkeypatch, tmp_path):
    load = kernels.load.__wrapped__  # which remembers nothing
    monkeypatch.setattr(kernels, "LIBRARY", tmp_path / "missing.so")
    assert load() is False
    monkeypatch.setattr(kernels, "load", load)
    assert calls(jnp.sort, many) == 0
    np.testing.assert_array_equal(cv.jit(jnp.sort)(many[::-1]), many)


def test_a_library_of_no_use_is_told(monkeypatch, tmp_path):
    library = tmp_path / "libkernels.so"
    library.write_text("no library")
    monkeypatch.setattr(kernels, "LIBRARY", library)
    with pytest.warns(UserWarning, match="cannot be used with this jaxlib"):
        assert kernels.load.__wrapped__() is False


def test_installation_goes_on_without_a_compiler(tmp_path):
    pytest.importorskip("setuptools")
    build = ["build_ext", "--build-lib", str(tmp_path), "--build-temp", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "setup.py", *build],
        cwd=ROOT,
        env={**os.environ, "CC": "false", "CXX": "false"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.rglob("libkernels*"))


# ---------------------------------------------------------------- threads

TIMEOUT = 120  # seconds; a call takes milliseconds


@cv.jit
def work(x):
    return jnp.sort(x), jnp.argsort(x), jnp.cumsum(x), jnp.argmax(x)


def check(x, found):
    values, order, sums, place = found
    np.testing.assert_array_equal(values, np.sort(x))
    np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))
    np.testing.assert_allclose(sums, np.cumsum(x, dtype=float), atol=1)
    assert place == np.argmax(x)


def test_calls_from_many_threads(installed):
    xs = np.random.default_rng(0).standard_normal((8, 70000)).astype(np.float32)

    def repeat(x):
        for _ in range(10):
            found = work(x)
        check(x, found)

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(repeat, x) for x in xs]:
            done.result(TIMEOUT)


def test_calls_that_nobody_waits_for(installed):
    x = np.random.default_rng(0).standard_normal(70000).astype(np.float32)

    def run():
        return [work(x) for _ in range(100)]

    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(lambda: cv.block_until_ready(run())).result(TIMEOUT)
    check(x, found[0])
    check(x, found[-1])


def test_calls_in_loops(installed):
    x = np.random.default_rng(0).permutation(70000).astype(np.float32)

    @cv.jit
    def run(x):
        def step(x, i):
            x = jnp.roll(jnp.sort(x), i)
            return x, (jnp.argmax(x), jnp.cumsum(x)[-1])

        return lax.scan(step, x, jnp.arange(20))

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(run, x) for _ in range(4)]:
            last, (places, _) = done.result(TIMEOUT)
            np.testing.assert_array_equal(places, (69999 + np.arange(20)) % 70000)
            np.testing.assert_array_equal(last, np.roll(np.arange(70000), 19))
