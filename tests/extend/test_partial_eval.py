"""Making jaxprs and dropping parts of them, beside JAX."""

import importlib

import numpy as np
import pytest

import covector as cv
from covector.core import ShapedArray
from covector.extend.core import Effect, Primitive
from covector.interpreters import partial_eval as pe

X = np.ones(3, np.float32)


def program(lib):
    """The jaxpr of a function with outputs that need different inputs, in either library."""

    def fun(x, y, z):
        a = lib.lax.sin(x)
        return a, lib.lax.mul(a, y), lib.lax.cos(z)

    return lib.make_jaxpr(fun)(X, X, X).jaxpr


@pytest.mark.parametrize("instantiate", [False, True, [False, True, False]])
@pytest.mark.parametrize(
    "used", [True, [True, False, False], [False, True, False], [False, False, False]]
)
def test_dce_jaxpr(jax, used, instantiate):
    theirs = importlib.import_module("jax.interpreters.partial_eval")
    want, want_used = theirs.dce_jaxpr(program(jax), used, instantiate)
    got, got_used = pe.dce_jaxpr(program(cv), used, instantiate)
    assert (str(got), got_used) == (str(want), want_used)


def test_dce_jaxpr_keeps_effects():
    class Shout(Effect):
        pass

    shout, p = Shout(), Primitive("shout")
    p.def_effectful_abstract_eval(lambda x: (x, {shout}))
    jaxpr = cv.make_jaxpr(lambda x, y: [p.bind(x), y])(1.0, 2.0).jaxpr
    smaller, used = pe.dce_jaxpr(jaxpr, [False, False])
    assert [eqn.primitive for eqn in smaller.eqns] == [p]
    assert used == [True, False]
    assert smaller.effects == {shout}


def test_dce_jaxpr_consts(jax):
    theirs = importlib.import_module("jax.interpreters.partial_eval")

    def program(lib):
        return lib.make_jaxpr(lambda x: (lib.lax.add(x, X), lib.lax.mul(x, 2 * X)))(X).jaxpr

    for used in ([True, False], [False, True], [False, False]):
        want = theirs.dce_jaxpr_consts(program(jax), used)
        got = pe.dce_jaxpr_consts(program(cv), used)
        assert (str(got[0]), *got[1:]) == (str(want[0]), *want[1:])


def test_trace_to_jaxpr_dynamic():
    aval = ShapedArray((3,), np.float32)
    jaxpr, out_avals, consts = pe.trace_to_jaxpr_dynamic(lambda x: [cv.lax.add(x, X)], [aval])
    assert str(jaxpr) == "{ lambda a:f32[3]; b:f32[3]. let c:f32[3] = add b a in (c,) }"
    assert out_avals == [aval]
    assert consts[0] is X

    class Wrapped:
        def call_wrapped(self, x):
            return [cv.lax.neg(x)]

    jaxpr, _, _ = pe.trace_to_jaxpr_dynamic(Wrapped(), [aval])
    assert str(jaxpr) == "{ lambda ; a:f32[3]. let b:f32[3] = neg a in (b,) }"
