"""`Primitive`: when its rules are called, with what, and what is said if they are wrong."""

import functools

import numpy as np
import pytest
from jaxlib.mlir.dialects import stablehlo as hlo

import covector as cv
from covector.core import ShapedArray
from covector.extend.core import Effect, Primitive, no_effects
from covector.interpreters import ad, batching, mlir, xla

X = np.array([1.0, 2.0, 3.0], np.float32)


def scale_primitive():
    """x -> factor * x, with all rules, and a log of their calls."""
    p, calls = Primitive("scale"), []

    @p.def_impl
    def impl(x, *, factor):
        calls.append("impl")
        return np.asarray(x) * np.float32(factor)

    @p.def_abstract_eval
    def abstract_eval(x, *, factor):
        calls.append("abstract_eval")
        return ShapedArray(x.shape, x.dtype)

    def lowering(ctx, x, *, factor):
        calls.append("lowering")
        constant = mlir.ir_constant(np.full(ctx.avals_in[0].shape, factor, np.float32))
        return [hlo.multiply(x, constant)]

    mlir.register_lowering(p, lowering)
    ad.deflinear(p, lambda ct, *, factor: [p.bind(ct, factor=factor)])
    batching.defvectorized(p)
    return p, calls


def test_parameters_reach_every_rule():
    p, _ = scale_primitive()
    fun = functools.partial(p.bind, factor=3.0)
    np.testing.assert_array_equal(fun(X), 3 * X)
    np.testing.assert_array_equal(cv.jit(fun)(X), 3 * X)
    np.testing.assert_array_equal(cv.jvp(fun, (X,), (X,))[1], 3 * X)
    np.testing.assert_array_equal(cv.vjp(fun, X)[1](X)[0], 3 * X)
    np.testing.assert_array_equal(cv.vmap(fun)(X), 3 * X)
    assert (
        str(cv.make_jaxpr(fun)(X))
        == "{ lambda ; a:f32[3]. let b:f32[3] = scale[factor=3.0] a in (b,) }"
    )


def test_rules_are_asked_each_time():
    p, calls = scale_primitive()
    for _ in range(2):
        p.bind(X, factor=2.0)
        cv.make_jaxpr(lambda x: p.bind(x, factor=2.0))(X)
    assert calls == ["impl", "abstract_eval"] * 2


def test_the_result_of_impl_is_the_result():
    p = Primitive("identity_of_mine")
    results = []

    @p.def_impl
    def impl(x):
        results.append(np.float32(x))
        return results[-1]

    assert p.bind(2.0) is results[0]


def test_operands_have_dtypes_that_exist():
    p = Primitive("show")
    p.def_impl(lambda x: x)
    wide = np.arange(3.0)
    assert p.bind(wide).dtype == np.float32
    with cv.enable_x64(True):
        assert p.bind(wide) is wide


def test_multiple_results():
    p = Primitive("both")
    p.multiple_results = True
    p.def_impl(lambda x: [np.sin(x), np.cos(x)])
    p.def_abstract_eval(lambda x: [ShapedArray(x.shape, x.dtype)] * 2)
    mlir.register_lowering(p, lambda ctx, x: [hlo.sine(x), hlo.cosine(x)])
    batching.primitive_batchers[p] = lambda args, dims: (p.bind(*args), [dims[0]] * 2)

    def jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        sin, cos = p.bind(x)
        return [sin, cos], [cv.lax.mul(t, cos), cv.lax.neg(cv.lax.mul(t, sin))]

    ad.primitive_jvps[p] = jvp
    for fun in (p.bind, cv.jit(p.bind), cv.vmap(p.bind)):
        sin, cos = fun(X)
        np.testing.assert_allclose(sin, np.sin(X), rtol=1e-6)
        np.testing.assert_allclose(cos, np.cos(X), rtol=1e-6)
    (_, pullback) = cv.vjp(p.bind, X)
    (ct,) = pullback([np.ones(3, np.float32), np.zeros(3, np.float32)])
    np.testing.assert_allclose(ct, np.cos(X), rtol=1e-6)


def test_effects_are_those_of_the_rule():
    class Shout(Effect):
        pass

    shout, p = Shout(), Primitive("shout")
    p.def_effectful_abstract_eval(lambda x: (x, {shout}))
    closed = cv.make_jaxpr(p.bind)(1.0)
    assert closed.effects == {shout}
    assert closed.eqns[0].effects == {shout}
    quiet = Primitive("quiet")
    quiet.def_abstract_eval(lambda x: x)
    assert cv.make_jaxpr(quiet.bind)(1.0).effects == no_effects


def test_every_primitive_is_a_primitive():
    assert isinstance(cv.lax.sin_p, Primitive)
    assert not isinstance(np.sin, Primitive)


def test_apply_primitive_evaluates_by_the_lowering_rule():
    p, calls = scale_primitive()
    p.def_impl(functools.partial(xla.apply_primitive, p))
    for _ in range(2):
        np.testing.assert_array_equal(p.bind(X, factor=2.0), 2 * X)
    assert calls == ["abstract_eval", "lowering"]
    np.testing.assert_array_equal(p.bind(X, factor=3.0), 3 * X)
    assert calls == ["abstract_eval", "lowering"] * 2


def test_an_operand_that_is_no_array():
    p, _ = scale_primitive()
    with pytest.raises(TypeError) as error:
        p.bind([1.0], factor=2.0)
    assert str(error.value) == (
        "[scale] The operand at position 0 is of type <class 'list'>, which is no array. Operands "
        "are arrays, NumPy arrays and numbers; give other values to `bind` by name, as parameters."
    )


def test_a_list_of_types_for_one_result():
    p = Primitive("one")
    p.def_abstract_eval(lambda x: [x])
    with pytest.raises(ValueError) as error:
        cv.make_jaxpr(p.bind)(1.0)
    assert str(error.value) == (
        "one.abstract_eval() method should return a tuple or list of types only if "
        "`multiple_results` is True. It is False, and the rule returned 1 types: return one type, "
        "or set `multiple_results` to True."
    )


def test_one_type_for_a_list_of_results():
    p = Primitive("many")
    p.multiple_results = True
    p.def_abstract_eval(lambda x: x)
    with pytest.raises(ValueError) as error:
        cv.make_jaxpr(p.bind)(X)
    assert str(error.value) == (
        "many.abstract_eval() method should return a tuple or list of types, one a result: "
        "`multiple_results` is True, but it returned ShapedArray(float32[3])."
    )


def test_another_evaluation_of_a_primitive_of_covector():
    lax, own = cv.lax, cv.lax.sin_p.impl
    sin_p = lax.sin_p
    seen = []

    @sin_p.def_impl
    def counting(x, **params):
        seen.append(x.shape)
        return own(x, **params)

    try:
        np.testing.assert_allclose(lax.sin(X), np.sin(X), rtol=1e-6)
        np.testing.assert_allclose(cv.grad(lambda x: lax.sin(x).sum())(X), np.cos(X), rtol=1e-6)
        cv.jit(lax.sin)(X)
    finally:
        sin_p.def_impl(own)
    lax.sin(X)
    assert seen == [X.shape, X.shape]
    assert "evaluate" not in vars(sin_p)


def test_a_tracer_that_outlived_its_trace():
    p, _ = scale_primitive()
    kept = []
    cv.make_jaxpr(lambda x: kept.append(x) or x)(1.0)
    with pytest.raises(cv.errors.UnexpectedTracerError):
        p.bind(kept[0], factor=1.0)
