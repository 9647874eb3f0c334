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
        "at x, now f32[2] and before f32[3]",
        "at x, now i32[3] and before f32[3]",
        "at x, now f32[] (weakly typed) and before f32[3]",
        "at x, now f32[] and before f32[3]",
    ]
    tree, other = reasons_of((({"a": X},), {}), (([X, X],), {}))
    assert tree == "the first call"
    assert other.startswith("arguments, now PyTreeDef(") and "before PyTreeDef(" in other
    assert reasons_of((({"a": X, "b": 1},), {}), (({"a": X, "b": 1.0},), {}))[1] == (
        "at x['b'], now f32[] (weakly typed) and before i32[] (weakly typed)"
    )
    assert reasons_of(((X, 2), {}), ((X, 3), {}), static_argnums=1)[1] == (
        "static argument 1, now 3 and before 2"
    )
    assert reasons_of(((X,), {"y": 2}), ((X,), {"y": "b"}), static_argnames="y")[1] == (
        "static argument y, now 'b' and before 2"
    )


def test_the_reason_compares_with_the_most_similar_call():
    calls = [((X, X), {}), ((I, I[:1]), {}), ((I, X), {}), ((I, I), {})]
    assert reasons_of(*calls)[2:] == [
        "at x, now i32[3] and before f32[3]", "at y, now i32[3] and before i32[1]",
    ]  # fmt: skip


def test_reasons_of_configuration_and_axes():
    f = cv.jit(lambda x: x + 1)
    f(I)
    with cv.numpy_rank_promotion("raise"):
        f(I)
    cv.vmap(lambda x: f(x), axis_name="i")(np.zeros((2, 3), np.int32))
    report = cv.explain_retraces(f)
    assert report.reasons[1] == "flag jax_numpy_rank_promotion, now raise and before allow"
    assert report.reasons[2].startswith("named axes, now (('i', 2)")
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
    assert second.startswith("  2. at width, now f32[3] and before f32[] (weakly typed)   [")
    assert any(r.name == "area" and r.traces == 2 for r in cv.explain_retraces())
    assert cv.explain_retraces(lambda x: x).traces == 0


def test_each_retracing_is_logged_with_its_reason(caplog):
    f = cv.jit(lambda x: x + 2)
    with cv.explain_cache_misses(True), caplog.at_level(logging.WARNING, "covector"):
        f(X)
        f(X)
        f(X[:2])
    first, second = [r.getMessage() for r in caplog.records]
    assert first.startswith("TRACING CACHE MISS of <lambda> at ")
    assert first.endswith(": never seen function: the first call")
    assert second.endswith(": different input types: at x, now f32[2] and before f32[3]")


def test_the_log_groups_reasons_by_their_kind(caplog):
    f = cv.jit(lambda x, y: x)
    f(X, X)
    logging_on = caplog.at_level(logging.WARNING, "covector")
    with cv.explain_cache_misses(True), logging_on, cv.numpy_rank_promotion("raise"):
        f(I, I)
    (line,) = [r.getMessage() for r in caplog.records]
    assert line.endswith(
        ": different input types: at x, now i32[3] and before f32[3], "
        "at y, now i32[3] and before f32[3]; different tracing context: "
        "flag jax_numpy_rank_promotion, now raise and before allow"
    )


def test_functions_that_a_loop_makes(caplog):
    with cv.explain_cache_misses(True), caplog.at_level(logging.WARNING, "covector"):
        for factor in range(2):
            cv.jit(lambda x: factor * x)(X)  # noqa: B023
    first, second = [r.getMessage() for r in caplog.records]
    assert "another function" not in first
    assert "another function defined on the same line was traced before" in second
