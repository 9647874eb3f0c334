"""The texts of what `cond`, `switch` and `platform_dependent` refuse."""

import re

import numpy as np
import pytest

import covector as cv
from covector import lax

HERE = re.escape(__file__)


def refused(kind, text, call):
    with pytest.raises(kind) as caught:
        call()
    assert re.sub(rf"{HERE}:\d+", "here", str(caught.value)) == text


def identity(x):
    return x


ARGUMENTS = [
    (
        TypeError,
        "[cond] cond predicate is None. Give a boolean, or a number, which holds if nonzero.",
        lambda: lax.cond(None, identity, identity, 1.0),
    ),
    (
        TypeError,
        "[cond] Pred must be a scalar, got [1. 1.] of shape (2,). Choose elementwise with "
        "`lax.select` or `covector.numpy.where`, or map `cond` over the predicates with `vmap`.",
        lambda: lax.cond(np.ones(2), identity, identity, 1.0),
    ),
    (
        TypeError,
        "[cond] Pred must be a scalar, got (1.0, 2.0) of type <class 'tuple'>. Choose elementwise "
        "with `lax.select` or `covector.numpy.where`, or map `cond` over the predicates with "
        "`vmap`.",
        lambda: lax.cond((1.0, 2.0), identity, identity, 1.0),
    ),
    (
        TypeError,
        "[cond] Pred type must be either boolean or number, got complex64. Compare first, as in "
        "`x != 0`.",
        lambda: lax.cond(1j, identity, identity, 1.0),
    ),
    (
        TypeError,
        "lax.cond: true_fun should be callable, but is 3 of type <class 'int'>. Give functions of "
        "the operands, which return trees of arrays of the same types.",
        lambda: lax.cond(True, 3, identity, 1.0),
    ),
    (
        TypeError,
        "lax.cond: false_fun should be callable, but is 3 of type <class 'int'>. Give functions of "
        "the operands, which return trees of arrays of the same types.",
        lambda: lax.cond(True, identity, 3, 1.0),
    ),
    (
        TypeError,
        "[switch] got operand=2.0 and positional operands (1.0,). Pass all operands by position; "
        "the keyword is for a single one.",
        lambda: lax.switch(0, [identity, identity], 1.0, operand=2.0),
    ),
    (
        ValueError,
        "[switch] Empty branch sequence: give one function at least.",
        lambda: lax.switch(0, [], 1.0),
    ),
    (
        TypeError,
        "[switch] Index type must be an integer, got 1.5 as float32. Give the number of a branch, "
        "counted from 0.",
        lambda: lax.switch(1.5, [identity, identity], 1.0),
    ),
    (
        TypeError,
        "[switch] Index type must be an integer, got foo. Give the number of a branch, counted "
        "from 0.",
        lambda: lax.switch("foo", [identity, identity], 1.0),
    ),
    (
        TypeError,
        "[switch] Branch index must be scalar, got [0 1] of shape (2,). Map `switch` over the "
        "indices with `vmap`.",
        lambda: lax.switch(np.arange(2), [identity, identity], 1.0),
    ),
    (
        ValueError,
        "[platform_dependent] 'gpu' stands for several platforms. Use 'cuda' or 'rocm' for "
        "lax.platform_dependent; one function may be given for both.",
        lambda: lax.platform_dependent(1.0, gpu=identity),
    ),
    (
        NotImplementedError,
        "MLIR translation rule for primitive 'platform_index(platforms=(('tpu',),))' not found for "
        "platform cpu. Give a branch for it, or a `default`.",
        lambda: cv.jit(lambda x: lax.platform_dependent(x, tpu=lax.sin))(1.0),
    ),
]

RESULTS = [
    (
        "cond branch outputs must have the same pytree structure, but they differ:\n\n"
        "true_fun is <lambda> at here\nfalse_fun is <lambda> at here\n\n"
        "true_fun output at path ['a'] is a pytree leaf but false_fun output at path ['a'] is a "
        "<class 'tuple'>, so their Python types differ.\n\nReturn the same containers from both.",
        lambda: lax.cond(True, lambda x: {"a": x}, lambda x: {"a": (x,)}, 1.0),
    ),
    (
        "cond branch outputs must have the same pytree structure, but they differ:\n\n"
        "true_fun is identity at here\nfalse_fun is <lambda> at here\n\n"
        "true_fun output is a pytree leaf but false_fun output is a <class 'NoneType'>, so their "
        "Python types differ.\n\nReturn the same containers from both.",
        lambda: lax.cond(True, identity, lambda x: None, 1.0),
    ),
    (
        "switch branch outputs must have the same pytree structure, but they differ:\n\n"
        "branch 0 is <lambda> at here\nbranch1 is <lambda> at here\n\n"
        "branch 0 output is a tuple of length 2 but branch1 output is a tuple of length 3, so the "
        "lengths do not match.\n\nReturn the same containers from both.",
        lambda: lax.switch(0, [lambda x: (x, x), lambda x: (x, x, x)], 1.0),
    ),
    (
        "cond branches must have equal output types but they differ.\n\n"
        "true_fun is identity at here\nfalse_fun is <lambda> at here\n\n"
        "The output of true_fun has type float32[] but the corresponding output of false_fun has "
        "type float32[3], so the shapes do not match.\n\n"
        "Both branches are parts of one program, so their results have one shape and dtype.",
        lambda: lax.cond(True, identity, lambda x: np.ones(3, np.float32), 1.0),
    ),
    (
        "cond branches must have equal output types but they differ.\n\n"
        "true_fun is <lambda> at here\nfalse_fun is <lambda> at here\n\n"
        "  * the output of true_fun at path ['a'] has type float32[] but the corresponding output "
        "of false_fun has type int32[], so the dtypes do not match;\n"
        "  * the output of true_fun at path ['b'][1] has type float32[] but the corresponding "
        "output of false_fun has type bool[], so the dtypes do not match.\n\n"
        "Convert one of them with `.astype`.",
        lambda: lax.cond(
            True,
            lambda x: {"a": x, "b": [x, x]},
            lambda x: {"a": 1, "b": [x, x > 0]},
            1.0,
        ),
    ),
]


@pytest.mark.parametrize("kind,text,call", ARGUMENTS)
def test_arguments(kind, text, call):
    refused(kind, text, call)


@pytest.mark.parametrize("text,call", RESULTS)
def test_results(text, call):
    refused(TypeError, text, call)


def test_jaxprs_from_other_hands():
    jaxpr = cv.make_jaxpr(lambda x: lax.switch(0, [lax.sin, lax.cos], x))(1.0).jaxpr
    eqn = jaxpr.eqns[-1]
    branches = eqn.params["branches"]
    other = cv.make_jaxpr(lambda x: (x, x))(1.0)
    for wrong, text in [
        (
            (4, 2),
            "invalid cond param branches of type tuple, tuple of ClosedJaxpr required: (4, 2)",
        ),
        ((branches[0], other), "cond branches 0 and 1 have mismatching output types"),
    ]:
        eqn.params["branches"] = wrong
        with pytest.raises(TypeError, match=re.escape(text)):
            cv.extend.core.check_jaxpr(jaxpr)
