"""The report of `explain_materialization`."""

import numpy as np

import covector as cv
import covector.numpy as jnp
from covector._src.base import config

X = np.linspace(-1, 1, 8, dtype=np.float32)


@cv.jit
def total(x):
    for _ in range(3):
        x = jnp.sin(x) * jnp.cos(x) + x[0]
    return x.sum()


LINE = total.__wrapped__.__code__.co_firstlineno + 3


def test_the_text():
    text = str(total.explain_materialization(X))
    assert text.splitlines() == [
        "total: 2 values are stored, 64 bytes in all; the program computes 19",
        "g:f32[8]  32 bytes; would be computed at least 4 times, at 32 additions an element",
        f"    {__file__}:{LINE}:12 (total)",
        "m:f32[8]  32 bytes; would be computed at least 2 times, at 32 additions an element",
        f"    {__file__}:{LINE}:12 (total)",
    ]
    assert str(total.explain_materialization(X)) == text


def test_the_names_are_those_of_the_printed_program():
    report = total.explain_materialization(X)
    printed = str(cv.make_jaxpr(total.__wrapped__)(X))
    for value in report.stored:
        assert f"{value.name}:{value.type} = add" in printed


def test_values_within_calls():
    def f(x):
        return total(x) + x

    report = cv.jit(f).explain_materialization(X)
    assert [value.place for value in report.stored] == [f"{__file__}:{LINE}:12 (total)"] * 2
    printed = str(cv.make_jaxpr(f)(X))
    for value in report.stored:
        assert f"{value.name}:{value.type} = add" in printed


def test_nothing_is_stored():
    report = cv.jit(lambda x: x + 1).explain_materialization(1.0)
    assert str(report) == "<lambda>: 0 values are stored, 0 bytes in all; the program computes 1"
    assert report.stored == [] and report.repetition is None


def test_the_flag_is_off():
    with config.materialization(False):
        text = str(total.explain_materialization(X))
    assert "the flag `materialization` is off" in text and "g:f32[8]" in text


def test_static_arguments_and_keywords():
    f = cv.jit(lambda x, *, n: sum([total(x + i) for i in range(n)]), static_argnames="n")
    assert len(f.explain_materialization(X, n=2).stored) == 4


def recurrence(x, steps):
    for _ in range(steps):
        x = jnp.sin(x) * 1.01 + x[0]
    return x


def test_a_long_repetition_is_compiled_as_a_loop():
    f = cv.jit(recurrence, static_argnums=1)
    assert f.explain_materialization(X, 100).loops == []
    report = f.explain_materialization(X, 500)
    assert report.repetition is None
    (loop,) = report.loops
    assert loop.times == 500 and loop.saved == 499 * loop.operations
    line = recurrence.__code__.co_firstlineno + 2
    text = str(report).splitlines()[-1]
    assert text.startswith(f"{loop.operations} operations from {__file__}:{line}:")
    assert text.endswith(f"times, and compiled as a loop: {loop.saved:,} operations fewer")
    with config.roll_loops(False):
        report = f.explain_materialization(X, 500)
    assert report.loops == [] and report.repetition.times == 500


def test_a_long_repetition_of_large_values_should_be_a_loop():
    f = cv.jit(recurrence, static_argnums=1)
    large = np.zeros(2048, np.float32)
    assert f.explain_materialization(large, 100).repetition is None
    report = f.explain_materialization(large, 500)
    assert report.repetition.times == 500
    period = len(report.repetition.eqns)
    hint = str(report).splitlines()[-1]
    line = recurrence.__code__.co_firstlineno + 2
    assert hint.startswith(f"{period} operations from {__file__}:{line}:")
    assert "are repeated 500 times: as a loop (`lax.scan`, `lax.fori_loop`)" in hint
    assert f"{499 * period:,} operations fewer" in hint
