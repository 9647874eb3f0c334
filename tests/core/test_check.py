"""The verifier: every kind of corruption is caught, and named with its eqn and line."""

from __future__ import annotations

import re

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector.core import ShapedArray
from covector.errors import JaxprTypeError
from covector.extend.core import (
    ClosedJaxpr,
    DropVar,
    Effect,
    Jaxpr,
    Literal,
    Var,
    check_jaxpr,
    new_jaxpr_eqn,
    no_effects,
)

X = np.arange(3, dtype=np.float32)
VECTOR = ShapedArray((3,), np.float32)
INTS = ShapedArray((3,), np.int32)
SCALAR = ShapedArray((), np.float32)


def program() -> ClosedJaxpr:
    """`mul` of the argument and a constant, `neg`, and a jitted `neg`."""
    inner = cv.jit(lambda x: lax.neg(x))
    return cv.make_jaxpr(lambda x: inner(lax.neg(lax.mul(x, X))))(X)


def with_eqn(index: int, **changes) -> Jaxpr:
    """The program with one eqn changed."""
    jaxpr = program().jaxpr
    eqns = list(jaxpr.eqns)
    eqns[index] = eqns[index].replace(**changes)
    return jaxpr.replace(eqns=eqns)


def rejected(jaxpr, fact: str) -> str:
    with pytest.raises(JaxprTypeError, match=re.escape(fact)) as error:
        check_jaxpr(jaxpr)
    return str(error.value)


def test_right_programs_pass():
    check_jaxpr(program())
    check_jaxpr(program().jaxpr)
    check_jaxpr(cv.make_jaxpr(cv.grad(lambda x: lax.sin(lax.mul(x, 2.0))))(1.0))
    check_jaxpr(cv.make_jaxpr(cv.vmap(cv.jit(lambda x: lax.sin(x))))(X))


def test_error_names_eqn_and_line():
    message = rejected(with_eqn(1, invars=[Var(VECTOR)]), "is read, but no input")
    assert message.startswith("[check_jaxpr] in eqn 1, `c:f32[3] = neg d` from " + __file__)
    assert message.endswith(
        "(program.<locals>.<lambda>): the operand d is read, but no input or earlier eqn binds it."
    )


def test_variable_read_before_it_is_bound():
    jaxpr = program().jaxpr
    swapped = [jaxpr.eqns[1], jaxpr.eqns[0], *jaxpr.eqns[2:]]
    rejected(jaxpr.replace(eqns=swapped), "is read, but no input or earlier eqn binds it")


def test_output_that_is_not_bound():
    rejected(program().jaxpr.replace(outvars=[Var(VECTOR)]), "the output e is read")


def test_variable_bound_twice():
    jaxpr = program().jaxpr
    again = jaxpr.eqns[1].replace(outvars=jaxpr.eqns[0].outvars)
    rejected(jaxpr.replace(eqns=[jaxpr.eqns[0], again, jaxpr.eqns[2]]), "is bound twice")


def test_input_bound_twice():
    var = Var(VECTOR)
    rejected(Jaxpr([], [var, var], [], []), "the input a is bound twice")
    rejected(Jaxpr([var], [var], [], []), "the input a is bound twice")


def test_dropped_result_is_read():
    drop = DropVar(VECTOR)
    jaxpr = program().jaxpr
    first = jaxpr.eqns[0].replace(outvars=[drop])
    second = jaxpr.eqns[1].replace(invars=[drop])
    rejected(jaxpr.replace(eqns=[first, second]), "the operand `_` is read")


def test_dropped_results_may_be_many():
    jaxpr = program().jaxpr
    first = jaxpr.eqns[0].replace(outvars=[DropVar(VECTOR)])
    check_jaxpr(jaxpr.replace(eqns=[first, first], outvars=jaxpr.invars))


def test_result_of_the_wrong_type():
    rejected(with_eqn(1, outvars=[Var(INTS)]), "of type int32[3] to a value of type float32[3]")


def test_too_many_results():
    rejected(with_eqn(1, outvars=[Var(VECTOR), Var(VECTOR)]), "binds 2 variables, but its primit")


def test_operands_that_the_rule_rejects():
    jaxpr = program().jaxpr
    x = jaxpr.invars[0]
    eqn = jaxpr.eqns[0].replace(invars=[x, Literal(np.float32(1), SCALAR)])
    check_jaxpr(jaxpr.replace(eqns=[eqn], outvars=[]))
    wrong = eqn.replace(invars=[x, Literal(np.int32(1), ShapedArray((), np.int32))])
    rejected(jaxpr.replace(eqns=[wrong], outvars=[]), "its primitive rejects the operands")


@pytest.mark.parametrize(
    ("value", "aval"),
    [
        (X, VECTOR),
        (np.float32(1), ShapedArray((), np.int32)),
        (1, SCALAR),
        (1.0, ShapedArray((), np.int32)),
        ("one", SCALAR),
        (X, SCALAR),
    ],
)
def test_literal_that_is_no_scalar_of_its_type(value, aval):
    rejected(program().jaxpr.replace(outvars=[Literal(value, aval)]), "the literal")


@pytest.mark.parametrize(
    ("value", "aval"),
    [(1.0, SCALAR), (2, ShapedArray((), np.int8)), (np.array(1, "float32"), SCALAR)],
)
def test_right_literals(value, aval):
    check_jaxpr(program().jaxpr.replace(outvars=[Literal(value, aval)]))


def test_operand_that_is_no_atom():
    rejected(with_eqn(1, invars=[X]), "must be a `Var` or a `Literal`")


def test_number_of_constants():
    closed = program()
    rejected(closed.replace(consts=[]), "has 1 constvars, but there are 0 constants")


def test_type_of_constants():
    closed = program()
    rejected(closed.replace(consts=[X[:2]]), "constant 0 is of type float32[2]")


def test_operands_of_a_nested_jaxpr():
    jaxpr = program().jaxpr
    (x,), last = jaxpr.invars, jaxpr.eqns[2]
    twice = jaxpr.replace(eqns=[*jaxpr.eqns[:2], last.replace(invars=[x, x])])
    rejected(twice, "takes 1 operands, but the eqn has 2")
    narrow = cv.make_jaxpr(cv.jit(lambda x: lax.neg(x)))(X[:2]).eqns[0].params
    eqn = last.replace(params=narrow)
    wrong = jaxpr.replace(eqns=[*jaxpr.eqns[:2], eqn])
    rejected(wrong, "takes float32[2] for operand 0, but the eqn has float32[3]")


def test_corruption_in_a_nested_jaxpr():
    jaxpr = program().jaxpr
    last = jaxpr.eqns[2]
    inner = last.params["jaxpr"].jaxpr
    broken = ClosedJaxpr(inner.replace(outvars=[Var(VECTOR)]))
    eqn = last.replace(params=last.params | {"jaxpr": broken})
    message = rejected(jaxpr.replace(eqns=[*jaxpr.eqns[:2], eqn]), "the output b is read")
    assert message.startswith("[check_jaxpr] in eqn 2, `jit` from ")


class Noise(Effect):
    pass


def test_effects_of_an_eqn_are_its_primitives():
    effects = frozenset({Noise()})
    rejected(with_eqn(1, effects=effects), "its primitive gives {}")


def test_effects_of_a_jaxpr_cover_its_eqns():
    primitive = cv.extend.core.Primitive("noise")
    noise = Noise()
    primitive.def_effectful_abstract_eval(lambda x: (x, {noise}))
    x, y = Var(VECTOR), Var(VECTOR)
    eqn = new_jaxpr_eqn([x], [y], primitive, {}, {noise})
    check_jaxpr(Jaxpr([], [x], [y], [eqn]))
    rejected(Jaxpr([], [x], [y], [eqn], no_effects), "but the jaxpr declares {}")


def test_flag_checks_after_tracing():
    """An effect that only the eqn knows of is found, but only by those who ask for checks."""
    primitive = cv.extend.core.Primitive("moody")
    answers = iter([(VECTOR, no_effects), (VECTOR, {Noise()})] * 2)
    primitive.typecheck = lambda avals, params: next(answers)
    trace = cv.make_jaxpr(lambda x: primitive.bind(x))
    with cv.enable_checks(True), pytest.raises(JaxprTypeError, match=r"its primitive gives \{<"):
        trace(X)
    trace(X)
