"""MLIR contexts that serve one module after the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import covector as cv
import covector.numpy as jnp
from covector._src.xla import vocabulary


def lowered(constant=1.0):
    return cv.jit(lambda x: x * constant).lower(jnp.ones(3))


def test_a_context_serves_the_next_module():
    first = lowered()._module.module_context.context
    assert lowered()._module.module_context.context is first


def test_no_two_living_modules_share_a_context():
    modules = [lowered() for _ in range(3)]
    assert len({id(m._module.module_context.context) for m in modules}) == 3


def test_a_module_that_somebody_holds_keeps_its_context_to_itself():
    module = lowered(2.5).compiler_ir()
    text = str(module)
    assert all(m._module.module_context.context != module.context for m in map(lowered, [1.0, 2.0]))
    assert "2.5" in text and str(module) == text


def test_a_context_that_holds_much_is_given_up():
    table = jnp.arange(1000.0)
    for _ in range(2):
        context = lowered()._module.module_context
        context._vocabulary.nbytes += vocabulary.MOST_BYTES + 1
        used = context._vocabulary
        del context
        assert used not in vocabulary._idle
    assert cv.jit(lambda x: x + table)(table)[-1] == 1998.0


def test_the_places_of_a_program_count():
    stage = cv.jit(lambda x: jnp.sin(jnp.cos(x))).lower(1.0)
    used = stage._module.module_context._vocabulary
    places = used.places
    del stage
    assert used.places >= places + 2


def test_zeros_and_nans_are_written_as_they_are():
    f = cv.jit(lambda x: (x * 0 + 0.0, x * 0 - 0.0, jnp.copysign(1.0, -0.0 * x), x + jnp.nan))
    for _ in range(2):
        zero, _, sign, nan = f(jnp.float32(1.0))
        assert zero == 0 and sign == -1 and jnp.isnan(nan)
        cv.clear_caches()


def test_threads_write_at_the_same_time():
    def work(i):
        f = cv.jit(lambda x: x * i + jnp.sin(x) * (i + 1))
        return [f.lower(jnp.ones(n)).as_text().count("stablehlo.sine") for n in range(1, 6)]

    with ThreadPoolExecutor(4) as pool:
        assert all(counts == [1] * 5 for counts in pool.map(work, range(12)))
