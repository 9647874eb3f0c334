"""Composites in programs that are being written: copied from the jaxpr of their types."""

from __future__ import annotations

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.numpy.composite import composite
from covector._src.transforms import cache


class Calls:
    """A composite that counts how often its function runs."""

    def __init__(self):
        self.count = 0
        self.composite = composite(self.shifted)

    def shifted(self, x, y, *, by=2.0):
        self.count += 1
        return cv.lax.add(cv.lax.mul(x, y), jnp.asarray(by, x.dtype)) if by else y


@pytest.fixture
def calls():
    return Calls()


def test_the_function_runs_once_for_each_combination_of_types(calls):
    x = jnp.ones(3)
    for _ in range(3):
        cv.make_jaxpr(lambda x: calls.composite(calls.composite(x, x), x))(x)
    assert calls.count == 1
    cv.make_jaxpr(lambda x: calls.composite(x, x, by=3.0))(x)
    cv.make_jaxpr(lambda x: calls.composite(x, 2.0))(x)
    cv.make_jaxpr(lambda x: calls.composite(x, x))(x.astype("int32"))
    assert calls.count == 4


def test_the_program_is_what_the_function_writes(calls):
    x = jnp.ones(3)
    copied = cv.make_jaxpr(lambda x: calls.composite(x, 2.0))(x)
    assert str(copied) == str(cv.make_jaxpr(lambda x: calls.shifted(x, 2.0))(x))
    assert str(cv.make_jaxpr(lambda x: calls.composite(x, x, by=0))(x)) == (
        "{ lambda ; a:f32[3]. let  in (a,) }"
    )


def test_numbers_are_folded_as_if_they_were_converted_in_place():
    closed = cv.make_jaxpr(lambda x: jnp.clip(x, -1, 2.5))(jnp.ones(3))
    assert [eqn.primitive.name for eqn in closed.eqns] == ["max", "min"]


def test_eqns_have_the_line_and_the_scopes_of_the_call(calls):
    def f(x):
        with cv.named_scope("outer"):
            return calls.composite(x, x)

    eqns = cv.make_jaxpr(f)(jnp.ones(3)).eqns
    assert len(eqns) == 2
    for eqn in eqns:
        assert "test_composite_in_programs.py" in eqn.source_line
        assert "(test_eqns_have" in eqn.source_line
        assert [str(scope) for scope in eqn.name_stack] == ["outer"]


def test_constants_of_the_function_are_constants_of_the_program():
    table = jnp.arange(6.0)
    looked_up = composite(lambda i: cv.lax.mul(table, i))
    closed = cv.make_jaxpr(lambda x: looked_up(looked_up(x)))(jnp.ones(6))
    assert len(closed.consts) == 1 and closed.consts[0] is table


def test_values_and_derivatives(calls):
    x = jnp.array([1.0, 2.0, 3.0])
    f = lambda x: calls.composite(x, jnp.sin(x))  # noqa: E731
    np.testing.assert_allclose(cv.jit(f)(x), np.asarray(x) * np.sin(x) + 2, rtol=1e-6)
    slope = np.sin(x) + np.asarray(x) * np.cos(x)
    for g in (cv.vmap(cv.grad(f)), cv.jit(cv.vmap(cv.grad(f))), cv.vmap(cv.jit(cv.grad(f)))):
        np.testing.assert_allclose(g(x), slope, rtol=1e-5)


def test_parameters_that_cannot_be_hashed(calls):
    f = cv.jit(lambda x: calls.composite(x, x, by=np.float32([5.0])))
    np.testing.assert_allclose(f(jnp.ones(1)), [6.0])


def test_what_is_traced_is_forgotten_when_it_is_much(calls, monkeypatch):
    monkeypatch.setattr(cache, "FUNCTION_LIMIT", 3)
    for size in range(1, 9):
        cv.make_jaxpr(lambda x: calls.composite(x, x))(jnp.ones(size))
    (table,) = [t for f, t in cache._current.by_function.items() if f is calls.composite]
    assert calls.count == 8 and len(table) <= 3


def test_settings_that_tracing_depends_on(calls):
    for x64 in (False, True):
        with cv.enable_x64(x64):
            closed = cv.make_jaxpr(lambda x: calls.composite(x, 2.0))(jnp.ones(2))
            assert closed.out_avals[0].dtype == ("float64" if x64 else "float32")


def test_numbers_that_are_folded_stay_weak():
    closed = cv.make_jaxpr(lambda x: jnp.where(True, x * 0, 1))(1.0)
    assert closed.out_avals[0].weak_type
    (out,) = cv.extend.core.jaxpr_as_fun(closed)(1.0)
    assert out.weak_type and out == 0.0
