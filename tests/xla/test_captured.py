"""Arrays that functions capture: large ones are parameters of the program, wherever that happens.

That they are is told from the text of the module, which then holds none of their values.
"""

import re
import time
import warnings

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.base import config, events

rng = np.random.default_rng(0)
LARGE = rng.standard_normal((40, 30)).astype(np.float32)  # 4800 bytes
SMALL = rng.standard_normal(30).astype(np.float32)
X = rng.standard_normal(30).astype(np.float32)


def constants_in(text):
    """How many constants of more than one number the text of a module has."""
    return len(re.findall(r'stablehlo\.constant dense<["\[]', text))


def product(x):
    return jnp.sum(jnp.asarray(LARGE) @ x)


@cv.custom_vjp
def with_own_rule(x):
    return (LARGE * x).sum()


with_own_rule.defvjp(
    lambda x: (with_own_rule(x), None), lambda _, ct: (ct * jnp.asarray(LARGE).sum(0),)
)
inner = cv.jit(lambda x: (LARGE * x).sum())
total = np.sum(LARGE * X)


def in_a_loop(x):
    return cv.lax.fori_loop(0, 3, lambda i, y: y + inner(x), 0.0)


def in_a_scan(x):
    return cv.lax.scan(lambda y, _: (y + inner(x), inner(x)), 0.0, None, length=3)[0]


def in_a_while(x):
    return cv.lax.while_loop(lambda y: y[0] < 3, lambda y: (y[0] + 1, y[1] + inner(x)), (0, 0.0))[1]


CASES = [
    ("directly", lambda x: (LARGE * x).sum(), total),
    ("inner jit", lambda x: inner(x) + 1, total + 1),
    ("twice", lambda x: inner(x) + (LARGE * x).sum() + inner(2 * x), 4 * total),
    ("jit in jit in jit", lambda x: cv.jit(lambda y: cv.jit(inner)(y) + 1)(x), total + 1),
    ("fori_loop", in_a_loop, 3 * total),
    ("scan", in_a_scan, 3 * total),
    ("while_loop", in_a_while, 3 * total),
    ("jit of scan", lambda x: cv.jit(in_a_scan)(x) + inner(x), 4 * total),
    ("cond", lambda x: cv.lax.cond(x[0] > 9, lambda x: x[0], inner, x), total),
    ("gradient", lambda x: cv.grad(inner)(x).sum(), LARGE.sum()),
    ("custom_vjp", lambda x: cv.grad(with_own_rule)(x).sum(), LARGE.sum()),
    ("checkpoint", lambda x: cv.grad(cv.checkpoint(inner))(x).sum(), LARGE.sum()),
    ("vmap", lambda x: cv.vmap(inner)(jnp.stack([x, x])).sum(), 2 * total),
]


@pytest.mark.parametrize(("name", "fun", "want"), CASES, ids=[case[0] for case in CASES])
def test_no_value_is_in_the_program(name, fun, want):
    jitted = cv.jit(fun)
    assert constants_in(jitted.lower(X).as_text()) == 0
    np.testing.assert_allclose(jitted(X), want, rtol=1e-4)
    np.testing.assert_allclose(jitted.lower(X).compile()(X), want, rtol=1e-4)


def test_small_ones_are_constants():
    jitted = cv.jit(lambda x: cv.jit(lambda x: x * SMALL)(x) + 1)
    assert constants_in(jitted.lower(X).as_text()) == 1
    np.testing.assert_allclose(jitted(X), X * SMALL + 1, rtol=1e-6)


def test_a_reduction_may_capture_what_it_likes():
    table = cv.jit(lambda a: a + LARGE.sum() * 0 + jnp.sum(jnp.asarray(LARGE)) * 0)
    f = cv.jit(lambda x: cv.lax.reduce(x, 0.0, lambda a, b: table(a) + b, (0,)))
    np.testing.assert_allclose(f(X), X.sum(), rtol=1e-4)


def test_every_argument_keeps_its_place():
    @cv.jit
    def f(unused, x, y, z):
        return inner(x) + z, cv.jit(lambda y: (y * LARGE[:, :1]).sum())(y)

    a, b = f(9.0, X, np.float32(2), np.float32(3))
    np.testing.assert_allclose(a, total + 3, rtol=1e-4)
    np.testing.assert_allclose(b, 2 * LARGE[:, 0].sum(), rtol=1e-4)
    layouts, _ = f.lower(9.0, X, np.float32(2), np.float32(3)).compile().input_formats
    assert len(layouts) == 4


def test_donation_beside_captured_arrays():
    f = cv.jit(lambda n, x: (n + 1, inner(x), x * 2), donate_argnums=1)
    x = jnp.asarray(X) + 0
    n, y, doubled = f(1.0, x)
    np.testing.assert_allclose(doubled, 2 * X, rtol=1e-6)
    np.testing.assert_allclose((n, y), (2, total), rtol=1e-4)
    assert x.is_deleted()


def test_an_array_of_64_bits_is_captured_once():
    wide = rng.standard_normal((30, 30))
    jaxpr = cv.make_jaxpr(lambda x: x * wide + wide @ x - (wide > x))(X)
    assert len(jaxpr.consts) == 1
    f = cv.jit(lambda x: x * wide + wide @ x)
    text = f.lower(X).as_text()
    assert constants_in(text) == 0
    assert "tensor<30x30xf32>" in text.split("->")[0]
    w = wide.astype(np.float32)
    np.testing.assert_allclose(f(X), X * w + w @ X, rtol=1e-4, atol=1e-4)
    with cv.enable_x64(True):
        got = cv.jit(lambda x: x * wide)(X)
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, X * wide, rtol=1e-12)


def test_integers_of_64_bits_wrap_as_before():
    wide = np.arange(300, dtype=np.int64) + 2**32
    x = np.ones(300, np.int32)
    np.testing.assert_array_equal(cv.jit(lambda x: x + wide)(x), np.arange(300) + 1)
    np.testing.assert_array_equal(jnp.asarray(x) + wide, np.arange(300) + 1)


def test_another_value_compiles_nothing(tmp_path):
    """A function made anew in each turn of a loop, around another array."""
    compiled = []
    with config.compilation_cache_dir(str(tmp_path)), config.enable_compilation_cache(True):
        for i in range(4):
            matrix = LARGE * i
            f = cv.jit(lambda x, matrix=matrix: cv.jit(lambda y: (matrix * y).sum())(x) * 3)
            with events.listen(lambda kind, about: compiled.append(kind)):
                np.testing.assert_allclose(f(X), 3 * i * total, rtol=1e-4)
    assert compiled.count("compile anew") == 1
    assert compiled.count("compile") == 4


def test_programs_in_use_are_shared(tmp_path):
    with config.compilation_cache_dir(str(tmp_path)), config.enable_compilation_cache(True):
        fs = [cv.jit(lambda x, a=LARGE * i: (a * x).sum() * 5).lower(X).compile() for i in range(2)]
    assert fs[0]._executable.loaded is fs[1]._executable.loaded
    np.testing.assert_allclose([f(X) for f in fs], [0, 5 * total], rtol=1e-4)


def test_large_ones_take_no_time():
    """100 MB are neither written into the program nor folded."""
    big = jnp.ones((25, 1_000_000))
    inner = cv.jit(lambda x: (big * x).sum() + jnp.sum(jnp.sin(big)))
    start = time.process_time()
    cv.jit(lambda x: inner(x) + 1).lower(1.0).compile()
    assert time.process_time() - start < 2  # 12 seconds when they were


def test_the_warning_of_large_ones_counts_those_of_inner_functions():
    with config.captured_constants_warn_bytes(4000), pytest.warns(UserWarning, match="in 1 arrays"):
        cv.jit(lambda x: inner(x) + 7).lower(X)
    with config.captured_constants_warn_bytes(5000), warnings.catch_warnings():
        cv.jit(lambda x: inner(x) + 8).lower(X)
