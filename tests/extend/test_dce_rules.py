"""Rules by which primitives of the user's, which carry programs, lose what nothing uses."""

import numpy as np
import pytest

import covector as cv
from covector.extend import core
from covector.extend.core import Primitive
from covector.interpreters import partial_eval as pe

X = np.arange(3, dtype=np.float32)


def body(x, y, z):
    a = cv.lax.sin(x)
    return a, cv.lax.mul(a, y), cv.lax.cos(z)


def my_call(closed, rule):
    """A primitive that applies a program of three inputs and outputs, with a rule for its parts."""
    p = Primitive("my_call")
    p.multiple_results = True

    def run(*args, call_jaxpr):
        jaxpr, consts = (call_jaxpr.jaxpr, call_jaxpr.consts) if closed else (call_jaxpr, ())
        return core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, consts))(*args)

    p.def_impl(run)
    p.def_abstract_eval(
        lambda *_, call_jaxpr: (
            call_jaxpr.out_avals if closed else [var.aval for var in call_jaxpr.outvars]
        )
    )
    pe.dce_rules[p] = rule
    program = cv.make_jaxpr(body)(X, X, X)
    program = program if closed else program.jaxpr
    return p, lambda *args: p.bind(*args, call_jaxpr=program)


CASES = [(False, pe.dce_jaxpr_call_rule), (True, pe.dce_jaxpr_closed_call_rule)]


@pytest.mark.parametrize("closed, rule", CASES)
@pytest.mark.parametrize("used, inputs", [(0, [0]), (1, [0, 1]), (2, [2])])
def test_parts_of_a_call(closed, rule, used, inputs):
    p, call = my_call(closed, rule)
    jaxpr = cv.make_jaxpr(lambda *args: call(*args)[used])(X, X, X).jaxpr
    smaller, used_inputs = pe.dce_jaxpr(jaxpr, True)
    assert [i for i, used in enumerate(used_inputs) if used] == inputs
    (eqn,) = smaller.eqns
    assert eqn.primitive is p
    assert (len(eqn.invars), len(eqn.outvars)) == (len(inputs), 1)
    assert len(eqn.params["call_jaxpr"].eqns) == (2 if used == 1 else 1)
    args = [X + i for i in range(3)]
    got = cv.core.eval_jaxpr(smaller, [], *[args[i] for i in inputs])
    np.testing.assert_allclose(got[0], body(*args)[used], rtol=1e-6)


def test_rule_of_ones_own():
    """The rule is asked which outputs are used, and may say that nothing of the eqn is needed."""
    asked = []

    def rule(used_outputs, eqn):
        asked.append(used_outputs)
        return [False] * len(eqn.invars), None

    p, call = my_call(True, rule)
    assert pe.dce_rules[p] is rule and p in pe.dce_rules
    jaxpr = cv.make_jaxpr(lambda *args: call(*args))(X, X, X).jaxpr
    pe.dce_jaxpr(jaxpr, [False, False, False])
    assert asked == []
    with pytest.raises(Exception):  # noqa: B017  the output has no eqn left
        cv.core.eval_jaxpr(pe.dce_jaxpr(jaxpr, [True, False, True])[0], [], X, X, X)
    assert asked == [[True, False, True]]
    del pe.dce_rules[p]
    assert p not in pe.dce_rules


def test_rules_of_covectors_own_primitives():
    def loop(c, d):
        return cv.lax.scan(lambda s, _: ((s[0] * 2, s[1] + 1), None), (c, d), None, length=3)[0]

    (eqn,) = cv.make_jaxpr(loop)(1.0, 2.0).jaxpr.eqns
    used, part = pe.dce_rules[cv.lax.scan_p]([True, False], eqn)
    assert used == [True, False] and len(part.outvars) == 1
    assert cv.lax.sin_p not in pe.dce_rules
