"""Why a function was traced again: `explain_retraces`, and the log of `explain_cache_misses`."""

import logging
from functools import partial

import numpy as np

import covector as cv

F32 = np.float32(2)
X = np.arange(3, dtype=np.float32)
I = np.arange(3, dtype=np.int32)


def reasons_of(*calls, **options):
    @partial(cv.jit, **options)
    def f(x, y=None):
        return x

    for args, kwargs in calls:
        f(*args, **kwargs)
    return cv.explain_retraces(f).reasons


def test_reasons():
    assert reasons_of(((X,), {}), ((X[:2],), {}), ((I,), {}), ((1.0,), {}), ((F32,), {})) == [
        "the first call",
        "x was float32[3], now float32[2]",
        "x was float32[3], now int32[3]",
        "x was float32[3], now float32[] (weakly typed)",
        "x was float32[3], now float32[]",
    ]
    tree, other = reasons_of((({"a": X},), {}), (([X, X],), {}))
    assert tree == "the first call"
    assert other.startswith("the arguments' tree was PyTreeDef(") and "now PyTreeDef(" in other
    assert reasons_of((({"a": X, "b": 1},), {}), (({"a": X, "b": 1.0},), {}))[1] == (
        "x['b'] was int32[] (weakly typed), now float32[] (weakly typed)"
    )
    assert reasons_of(((X, 2), {}), ((X, 3), {}), static_argnums=1)[1] == (
        "the static argument number 1 was 2, now 3"
    )
    assert reasons_of(((X,), {"y": 2}), ((X,), {"y": "b"}), static_argnames="y")[1] == (
        "the static argument y was 2, now 'b'"
    )


def test_the_reason_compares_with_the_most_similar_call():
    calls = [((X, X), {}), ((I, I[:1]), {}), ((I, X), {}), ((I, I), {})]
    assert reasons_of(*calls)[2:] == [
        "x was float32[3], now int32[3]", "y was int32[1], now int32[3]",
    ]  # fmt: skip


def test_reasons_of_configuration_and_axes():
    f = cv.jit(lambda x: x + 1)
    f(I)
    with cv.numpy_rank_promotion("raise"):
        f(I)
    cv.vmap(lambda x: f(x), axis_name="i")(np.zeros((2, 3), np.int32))
    report = cv.explain_retraces(f)
    assert report.reasons[1] == "the flag jax_numpy_rank_promotion was allow, now raise"
    assert report.reasons[2].startswith("the named axes were (), now (('i', 2)")
    assert (report.traces, report.compilations) == (3, 2)


def test_report():
    @cv.jit
    def area(width, height):
        return width * height

    area(1.0, 2.0)
    area(X, 2.0)
    report = cv.explain_retraces(area)
    head, first, second = repr(report).splitlines()
    assert head == "area: traced 2 times, compiled 2 times"
    assert first.startswith("  1. the first call   [") and __file__ in first
    assert second.startswith("  2. width was float32[] (weakly typed), now float32[3]   [")
    assert any(r.name == "area" and r.traces == 2 for r in cv.explain_retraces())
    assert cv.explain_retraces(lambda x: x).traces == 0


def test_each_retracing_is_logged_with_its_reason(caplog):
    f = cv.jit(lambda x: x + 2)
    with cv.explain_cache_misses(True), caplog.at_level(logging.WARNING, "covector"):
        f(X)
        f(X)
        f(X[:2])
    first, second = [r.getMessage() for r in caplog.records]
    assert first.startswith("tracing <lambda> at ") and first.endswith(": the first call")
    assert second.endswith(": x was float32[3], now float32[2]")
