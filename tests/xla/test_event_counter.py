"""Counts of traces, lowerings and compilations, as JAX counts them."""

import numpy as np
import pytest

import covector as cv
from covector import lax

X = np.arange(3, dtype=np.float32)


def jax_counters():
    from jax._src import test_util

    return test_util


def scenario(m):
    """Calls of jitted functions, each a step that is counted by itself."""
    f = m.jit(lambda x: m.lax.sin(x))
    g = m.jit(lambda x, n: m.lax.neg(f(x)), static_argnums=1)
    x, y = m.numpy.asarray(X), m.numpy.asarray(X[:2])
    return [
        lambda: f(x), lambda: f(x), lambda: f(y), lambda: g(x, 1), lambda: g(x, 1),
        lambda: g(x, 2), lambda: f.trace(x), lambda: m.jit(f)(x),
    ]  # fmt: skip


COUNTERS = [
    "count_jit_tracing_cache_miss", "count_pjit_cpp_cache_miss", "count_jit_and_pmap_lowerings",
]  # fmt: skip


@pytest.mark.parametrize("name", COUNTERS)
def test_counts_are_those_of_jax(jax, name):
    counts = []
    for m, counter in [
        (cv, lambda: cv._test_event_counter(name)),
        (jax, getattr(jax_counters(), name)),
    ]:
        counts.append([])
        for step in scenario(m):
            with counter() as count:
                step()
            counts[-1].append(count())
    assert counts[0] == counts[1]


def test_compilations_and_the_cache_on_disk(tmp_path):
    f = cv.jit(lambda x: x * 3 + 1)
    with cv._test_event_counter("count_jit_compilation_cache_miss") as compiled:
        f(X), f(X), f(X[:1])
    assert compiled() == 2


def test_primitives():
    with cv._test_event_counter("count_primitive_compiles") as count:
        lax.add(1, 2), lax.add(2, 3)
        assert count() == 1
        lax.add(1.0, 2.0)
    assert count() == 2
    lax.mul(1, 2)
    assert count() == 2


def test_collected_programs():
    with cv._test_event_counter("collect_lowered_jaxprs") as collected:
        cv.jit(lambda x: cv.numpy.cos(x))(X)
    ((jaxpr, module),) = collected
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["cos"]
    assert "stablehlo.cosine" in str(module)


def test_unknown_events():
    with pytest.raises(KeyError), cv._test_event_counter("count_sheep"):
        pass
