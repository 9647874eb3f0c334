"""The planning of memory in compiled programs: that XLA does what it is told, on this jaxlib."""

from functools import partial

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.base import config
from covector._src.base.errors import JaxRuntimeError
from covector._src.xla import compile as compiling
from covector._src.xla.barriers import MOVES_SMALL_LOOPS, REMOVES_BARRIERS

X = np.linspace(-1, 1, 8, dtype=np.float32)


def recurrence(x, steps=8):
    """Each step reads the last one twice, at different indices: fused, its work doubles."""
    for _ in range(steps):
        x = jnp.sin(x) * 1.01 + x[0]
    return x.sum()


def in_numpy(x, steps=8):
    for _ in range(steps):
        x = np.sin(x) * np.float32(1.01) + x[0]
    return x.sum()


def disabled_passes(f, *args):
    return cv.jit(f).lower(*args)._module.module_context.disabled_passes


def barriers_in(lowered):
    return lowered.as_text().count("stablehlo.optimization_barrier")


def transcendentals_in(lowered):
    """How many sines and cosines of elements the compiled program computes."""
    return lowered.compile().cost_analysis()["transcendentals"]


# ---------------------------------------------------------------- what XLA does


# The gradient of a step needs its sine and its cosine, once each.
gradient = cv.grad(recurrence)
NEEDED = 2 * 8 * X.size


def test_without_planning_the_compiler_computes_values_again_and_again():
    """The reason for all of this. If it fails on a new jaxlib, the planning may be superfluous."""
    with config.materialization(False):
        lowered = cv.jit(gradient).lower(X)
    assert barriers_in(lowered) == 0 and transcendentals_in(lowered) > 3 * NEEDED


def test_stored_values_are_computed_once():
    lowered = cv.jit(gradient).lower(X)
    assert barriers_in(lowered) >= 4 and transcendentals_in(lowered) < 1.5 * NEEDED


def test_barriers_last():
    lowered = cv.jit(recurrence).lower(X)
    assert lowered.compile().as_text().count(" opt-barrier(") == barriers_in(lowered)


def test_barriers_do_not_last_if_their_pass_is_on():
    """So the pass has the name that we know it by."""
    lowered = cv.jit(lambda x: lax.optimization_barrier(jnp.sin(x)) + x).lower(X)
    assert " opt-barrier(" in lowered.compile().as_text()
    lowered._module.module_context.disabled_passes.clear()
    assert " opt-barrier(" not in lowered.compile().as_text()


@pytest.mark.parametrize("name", ["sin", "tan", "nextafter", "exp", "asin", "div", "sum"])
def test_what_the_families_say_of_the_compiler(name):
    """Whether the result is computed again in each of four loops that read it."""
    op, primitive = {
        "nextafter": (lambda x: lax.nextafter(x, x), lax.nextafter_p),
        "div": (lambda x: 1 / x, lax.div_p),
        "sum": (lambda x: x.reshape(8, 64, 8).sum(1).reshape(64), lax.reduce_sum_p),
    }.get(name) or (getattr(lax, name), getattr(lax, name + "_p"))

    def operations(loops):
        def f(x):
            y = op(x * 0.5)
            return [jnp.pad(y[i:], (0, i)) * 2 for i in range(loops)]

        with config.materialization(False):
            costs = cv.jit(f).lower(jnp.ones(4096)).compile().cost_analysis()
        return costs["flops"] + 8 * costs.get("transcendentals", 0)

    again = operations(4) > 3 * operations(1)
    assert again == (not primitive.fusion.stored_if_shared)


def body(x):
    y = lax.optimization_barrier(jnp.sin(x))
    return y + y[::-1]


named = cv.jit(body)
LOOPS = {
    "scan": lambda x: lax.scan(lambda c, _: (body(c), c.sum()), x, None, length=3),
    "fori_loop": lambda x: lax.fori_loop(0, 3, lambda i, x: body(x), x),
    "condition": lambda x: lax.while_loop(
        lambda c: lax.optimization_barrier(c[1]) < 3, lambda c: (2 * c[0], c[1] + 1), (x, 0)
    ),
    "function in a loop": lambda x: lax.fori_loop(0, 3, lambda i, x: named(x), named(x)),
    "branch in a loop": lambda x: lax.fori_loop(
        0, 3, lambda i, x: lax.cond(i > 1, body, jnp.cos, x), x
    ),
    "checkpoint": cv.grad(
        lambda x: lax.scan(cv.checkpoint(lambda c, _: (jnp.sin(c) * c, None)), x, None, length=3)[
            0
        ].sum()
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_barriers_in_loops(name):
    f = LOOPS[name]
    assert disabled_passes(f, X) == {REMOVES_BARRIERS, MOVES_SMALL_LOOPS}
    compiled = cv.jit(f).lower(X).compile()
    assert " opt-barrier(" in compiled.as_text()
    with config.materialization(False):
        plain = cv.jit(f)(X)
    for ours, theirs in zip(cv.tree.leaves(compiled(X)), cv.tree.leaves(plain)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_barriers_in_branches():
    def f(x):
        return lax.cond(x[0] > 0, body, jnp.cos, x)

    assert disabled_passes(f, X) == {REMOVES_BARRIERS}
    np.testing.assert_allclose(cv.jit(f)(X), np.cos(X), rtol=1e-6)


def test_barriers_on_elements_are_removed():
    def f(x):
        return lax.reduce(x, 0.0, lambda a, b: lax.optimization_barrier(a + b), (0,))

    assert disabled_passes(f, X) == set()
    np.testing.assert_allclose(cv.jit(f)(X), X.sum(), atol=1e-6)


def test_a_program_that_xla_refuses_without_the_passes_is_compiled_with_them(monkeypatch):
    real, tried = compiling._xla_compile, []

    def refuse(lowered, device, options):
        tried.append(options.executable_build_options.debug_options.xla_disable_hlo_passes)
        if tried[-1]:
            raise JaxRuntimeError("no code can be generated for opt-barrier")
        return real(lowered, device, options)

    monkeypatch.setattr(compiling, "_xla_compile", refuse)
    with config.enable_compilation_cache(False):
        compiled = cv.jit(recurrence).lower(X).compile()
    assert tried == [REMOVES_BARRIERS, ""]
    np.testing.assert_allclose(compiled(X), in_numpy(X), rtol=1e-5)


# ---------------------------------------------------------------- what programs become


def test_programs_without_barriers_are_compiled_as_ever():
    f = cv.value_and_grad(lambda x: jnp.tanh(x).sum())
    assert disabled_passes(f, X) == set()
    text = cv.jit(f).lower(X).as_text()
    with config.materialization(False):
        assert cv.jit(f).lower(X).as_text() == text


def test_jaxprs_stay_as_they_are():
    text = str(cv.make_jaxpr(cv.grad(recurrence))(X))
    assert "optimization_barrier" not in text
    assert str(cv.jit(cv.grad(recurrence)).trace(X).jaxpr) == text
    with config.materialization(False):
        assert str(cv.make_jaxpr(cv.grad(recurrence))(X)) == text


def test_the_flag_the_parity_and_the_platform():
    f = cv.jit(recurrence)
    assert barriers_in(f.lower(X))
    assert not barriers_in(f.lower(X, lowering_platforms=("cuda",)))
    with config.parity(True):
        assert not barriers_in(f.lower(X))
    with config.materialization(False):
        assert not barriers_in(f.lower(X))


def test_the_flag_makes_new_programs_of_the_same_traces():
    traces = []
    f = cv.jit(lambda x: traces.append(x) or recurrence(x))
    f(X)
    with cv._test_event_counter("count_jit_compilation_cache_miss") as compilations:
        with config.materialization(False):
            f(X), f(X)
        f(X)
    assert len(traces) == 1 and compilations() == 1


def step(x):
    """Two values of it are stored where a loop before makes them costly, none where it stands."""
    return jnp.sin(x) * 1.01 + x[0]


def test_only_calls_with_stored_values_are_written_out():
    inner, plain = cv.jit(step), cv.jit(lambda x: jnp.cos(x) + 1)

    def f(x):
        y = plain(plain(x))  # one text
        for _ in range(4):
            y = inner(y)
        return plain(y)

    text = cv.jit(f).lower(X).as_text()
    assert text.count("func.func private") == 2, text  # `plain`, and `step` of the last call
    assert "optimization_barrier" in text
    x = np.cos(np.cos(X) + 1) + 1
    for _ in range(4):
        x = np.sin(x) * np.float32(1.01) + x[0]
    np.testing.assert_allclose(cv.jit(f)(X), np.cos(x) + 1, rtol=1e-5)


def test_constants_of_calls_that_are_written_out():
    table = np.arange(8, dtype=np.float32)
    inner = cv.jit(lambda x: jnp.sin(x) * jnp.asarray(table) + x[0])

    def f(x):
        for _ in range(4):
            x = inner(x)
        return x

    want = X
    for _ in range(4):
        want = np.sin(want) * table + want[0]
    assert "optimization_barrier" in cv.jit(f).lower(X).as_text()
    np.testing.assert_allclose(cv.jit(f)(X), want, rtol=1e-4)


def test_donated_arguments_and_unused_ones():
    f = cv.jit(lambda x, y, z: (recurrence(x + z), 2 * x + z), donate_argnums=0)
    x = jnp.asarray(X)
    total, y = f(x, 1.0, jnp.zeros(8))
    assert x.is_deleted()
    np.testing.assert_allclose(total, in_numpy(X), rtol=1e-5)
    np.testing.assert_allclose(y, 2 * X)


def test_effects_keep_their_order(capfd):
    def f(x):
        for i in range(5):
            x = jnp.sin(x) * 1.01 + x[0]
            cv.debug.print("{i}", i=i, ordered=True)
        return x.sum()

    assert barriers_in(cv.jit(f).lower(X))
    np.testing.assert_allclose(cv.jit(f)(X), in_numpy(X, 5), rtol=1e-5)
    cv.effects_barrier()
    assert capfd.readouterr().out.split() == ["0", "1", "2", "3", "4"]


def test_checkpoint_needs_less_memory():
    def layer(x, w):
        for _ in range(3):
            x = jnp.tanh(x @ w)
        return x

    def loss(wrap, ws, x):
        for w in ws:
            x = wrap(layer)(x, w)
        return (x * x).sum()

    args = [np.zeros((32, 32), np.float32)] * 6, np.zeros((512, 32), np.float32)

    def temporaries(loss):
        compiled = cv.jit(cv.grad(loss)).lower(*args).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    assert temporaries(partial(loss, cv.checkpoint)) < 0.6 * temporaries(partial(loss, lambda f: f))
