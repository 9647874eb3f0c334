"""What may be shown or left out of a jaxpr's text, and the texts of its parts."""

from __future__ import annotations

import numpy as np
import pytest

import covector

X = np.arange(3, dtype=np.float32)


def scoped(m):
    def fun(x):
        with m.named_scope("outer"):
            y = m.lax.neg(x)
            with m.named_scope("inner"):
                return m.lax.mul(y, 2.0)

    return m.make_jaxpr(fun)(X)


def loss(m):
    def fun(x):
        with m.named_scope("inner"):
            y = m.lax.sin(x)
        return m.lax.cos(y)

    return fun


# Transformations wrap the names of the scopes within them.
TRANSFORMED = {
    "grad": lambda m: (m.grad(loss(m)), 1.0),
    "grad of grad": lambda m: (m.grad(m.grad(loss(m))), 1.0),
    "grad of jit": lambda m: (m.grad(m.jit(loss(m))), 1.0),
    "vmap": lambda m: (m.vmap(loss(m)), X),
    "vmap of grad": lambda m: (m.vmap(m.grad(loss(m))), X),
    "jvp": lambda m: (lambda x: m.jvp(loss(m), (x,), (x,)), X),
    "vjp": lambda m: (lambda x: m.vjp(loss(m), x)[1](x), X),
    "linearize": lambda m: (lambda x: m.linearize(loss(m), x)[1](x), X),
}


def program(m):
    inner = m.jit(lambda x: (m.lax.neg(x), m.lax.mul(x, x)))
    return m.make_jaxpr(lambda x: inner(m.lax.add(x, X))[1])(X)


@pytest.mark.parametrize("width", [20, 40, 79, 80, 100, 1000])
def test_width(width, same_text):
    same_text(program, width=width)


def test_without_shapes(same_text):
    same_text(program, print_shapes=False)


def test_source_lines(same_text):
    same_text(program, source_info=True)
    same_text(scoped, source_info=True)


def test_source_lines_of_an_inlined_function_are_those_of_its_call(same_text):
    def inlining(m):
        inner = m.jit(lambda x: m.lax.sin(m.lax.neg(x)), inline=True)
        return m.make_jaxpr(lambda x: m.lax.cos(inner(x)))(X)

    same_text(inlining, source_info=True)


def test_name_stack(same_text):
    same_text(scoped, name_stack=True)


@pytest.mark.parametrize("name", TRANSFORMED)
def test_name_stack_under_transformations(name, same_text):
    def scoped_in_outer(m):
        fun, x = TRANSFORMED[name](m)
        return m.make_jaxpr(m.named_scope("outer")(fun))(x)

    same_text(scoped_in_outer, name_stack=True)


def test_source_lines_and_name_stack(same_text):
    same_text(scoped, name_stack=True, source_info=True)


def test_effects_of_a_pure_program(same_text):
    same_text(program, print_effects=True)


def test_all_params_are_shown_without_the_rules_of_the_primitives():
    jaxpr = covector.make_jaxpr(lambda x: covector.lax.broadcast_in_dim(x, (2, 3), (1,)))(X)
    assert "shape" not in jaxpr.pretty_print()
    shown = jaxpr.pretty_print(custom_pp_eqn_rules=False, width=200)
    assert "broadcast_in_dim[broadcast_dimensions=(1,) shape=(2, 3) sharding=None]" in shown


def test_closed_and_open_jaxprs_have_one_text():
    closed = program(covector)
    assert str(closed) == repr(closed) == str(closed.jaxpr) == repr(closed.jaxpr)


def test_eqns_and_atoms(jax):
    ours, theirs = [
        m.make_jaxpr(lambda x, m=m: m.lax.neg(m.lax.mul(x, np.float32(2))))(X)
        for m in (covector, jax)
    ]
    for eqn, other in zip(ours.eqns, theirs.eqns, strict=True):
        assert repr(eqn) == repr(other)
    assert repr(ours.eqns[0].invars[1]) == repr(theirs.eqns[0].invars[1])
    var = ours.jaxpr.invars[0]
    assert repr(var) == f"Var(id={id(var)}):float32[3]"


def test_colours_change_no_characters():
    jaxpr = program(covector)
    coloured = jaxpr.pretty_print(use_color=True)
    assert "\x1b[" in coloured
    plain = "".join(part.split("m", 1)[-1] for part in ("m" + coloured).split("\x1b["))
    assert plain == jaxpr.pretty_print(use_color=False)


def test_addresses_are_hidden():
    primitive = covector._src.core.primitive.Primitive("opaque")
    primitive.abstract_eval = lambda x, fun: x
    jaxpr = covector.make_jaxpr(lambda x: primitive.bind(x, fun=object()))(X)
    assert "fun=<object object at 0xXXXXXXXXXXXX>" in str(jaxpr)
