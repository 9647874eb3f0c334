"""Tracers that outlive their transformation are found where they were made, if one asks."""

from __future__ import annotations

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector.errors import UnexpectedTracerError

X = np.arange(3, dtype=np.float32)
KEPT: list = []


class Holder:
    pass


@pytest.fixture(autouse=True)
def forget():
    KEPT.clear()
    yield
    KEPT.clear()


def keeping(x):
    KEPT.append(lax.sin(x))
    return lax.cos(x)


def keeping_linear(x):
    KEPT.append(lax.neg(x))
    return x


TRANSFORMED = {
    "jit": lambda: cv.jit(keeping)(X),
    "make_jaxpr": lambda: cv.make_jaxpr(keeping)(X),
    "eval_shape": lambda: cv.eval_shape(keeping, X),
    "grad": lambda: cv.grad(keeping)(1.0),
    "jvp": lambda: cv.jvp(keeping, (1.0,), (1.0,)),
    "vjp": lambda: cv.vjp(keeping, 1.0),
    "linearize": lambda: cv.linearize(keeping, 1.0),
    "linear_transpose": lambda: cv.linear_transpose(lambda x: keeping_linear(x), 1.0),
    "vmap": lambda: cv.vmap(keeping)(X),
    "vmap of grad": lambda: cv.vmap(cv.grad(keeping))(X),
    "jit of grad": lambda: cv.jit(cv.grad(keeping))(1.0),
    "grad of jit": lambda: cv.grad(cv.jit(lambda x: keeping(x)))(1.0),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_leak_is_found(name):
    with cv.checking_leaks(), pytest.raises(Exception, match="Leaked tracer") as error:
        TRANSFORMED[name]()
    assert "KEPT[0]" in str(error.value)


def clean(x):
    return lax.cos(lax.sin(x))


@cv.custom_vjp
def with_rule(x):
    return lax.sin(x)


with_rule.defvjp(lambda x: (lax.sin(x), x), lambda x, ct: (ct * lax.cos(x),))


CLEAN = {
    "jit of custom_vjp": lambda: cv.jit(with_rule)(X),
    "grad of jit of custom_vjp": lambda: cv.grad(cv.jit(with_rule))(1.0),
    "jit": lambda: cv.jit(clean)(X),
    "jit twice": lambda: [cv.jit(clean)(X), cv.jit(clean)(X)],
    "grad": lambda: cv.grad(clean)(1.0),
    "value and auxiliary": lambda: cv.value_and_grad(lambda x: (clean(x), x), has_aux=True)(1.0),
    "jvp": lambda: cv.jvp(clean, (1.0,), (1.0,)),
    "vjp": lambda: cv.vjp(clean, 1.0)[1](1.0),
    "linearize": lambda: cv.linearize(clean, 1.0)[1](1.0),
    "linear_transpose": lambda: cv.linear_transpose(lax.neg, 1.0)(1.0),
    "vmap": lambda: cv.vmap(clean)(X),
    "vmap of grad of jit": lambda: cv.vmap(cv.grad(cv.jit(clean)))(X),
    "jit of vmap of grad": lambda: cv.jit(cv.vmap(cv.grad(clean)))(X),
    "grad of grad of jit": lambda: cv.grad(cv.grad(cv.jit(clean)))(1.0),
    "hessian": lambda: cv.hessian(clean)(1.0),
    "inner jit closes over outer tracer": lambda: cv.jit(
        lambda x: cv.jit(lambda y: lax.mul(x, y))(x)
    )(X),
}


@pytest.mark.parametrize("name", CLEAN)
def test_no_false_alarm(name):
    with cv.checking_leaks():
        CLEAN[name]()


def test_without_the_flag_nothing_is_said_until_the_tracer_is_used():
    cv.jit(keeping)(X)
    with pytest.raises(UnexpectedTracerError):
        lax.sin(KEPT[0])


def test_whole_message():
    def remember(x):
        KEPT.append(lax.sin(x))
        return x

    line = remember.__code__.co_firstlineno
    with cv.checking_leaks(), pytest.raises(Exception) as error:
        cv.make_jaxpr(remember)(X)
    assert str(error.value) == (
        "[checking_leaks] Leaked tracers: 1 traced value(s) outlived make_jaxpr of the function "
        f"remember at {__file__}:{line}, which made them:\n"
        f"  - a value of type float32[3], made on line {__file__}:{line + 1}:20 "
        f"(test_whole_message.<locals>.remember) by `sin`, held by {__name__}.KEPT[0]\n"
        "  A traced value stands for an array only while its function is being transformed. "
        "Return it from the function instead of storing it."
    )


def held_by(function) -> str:
    with cv.checking_leaks(), pytest.raises(Exception, match="Leaked tracer") as error:
        cv.make_jaxpr(function)(X)
    return str(error.value)


def test_holder_is_an_attribute():
    KEPT.append(Holder())

    def function(x):
        KEPT[0].value = {"inside": x}
        return x

    message = held_by(function)
    assert "made as the argument x of make_jaxpr" in message
    assert "KEPT[0].value['inside']" in message


def test_holder_is_a_closure():
    seen = []

    def function(x):
        seen.append(x)
        return x

    assert "test_holder_is_a_closure.<locals>.function as seen[0]" in held_by(function)


def test_two_leaks_are_both_told():
    def function(x):
        KEPT.extend([lax.sin(x), lax.cos(x)])
        return x

    message = held_by(function)
    assert "2 traced value(s)" in message
    assert "KEPT[0]" in message and "KEPT[1]" in message


def test_tracer_in_a_reference_cycle_is_no_leak():
    def function(x):
        holder = Holder()
        holder.itself, holder.value = holder, x
        return x

    with cv.checking_leaks():
        cv.make_jaxpr(function)(X)


def test_error_of_the_function_itself_is_not_hidden():
    def function(x):
        KEPT.append(x)
        raise ZeroDivisionError

    with cv.checking_leaks(), pytest.raises(ZeroDivisionError):
        cv.jit(function)(X)


@pytest.mark.parametrize("steps", [3, None])
def test_loops_do_not_keep_their_bodies(steps):
    # The body closes over a tracer, which would outlive the trace with it.
    def looped(x, n):
        y = x + 1
        return lax.fori_loop(0, n if steps is None else steps, lambda i, c: c * y, x)

    with cv.checking_leaks():
        assert cv.jit(looped)(1.0, 3) == 8
