"""The tables of rules are views: what is set is used, what is built in can be read."""

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector.core import ShapedArray
from covector.extend.core import Primitive
from covector.interpreters import ad, batching

X = np.array([0.5, 1.0, 2.0], np.float32)
T = np.array([1.0, -1.0, 3.0], np.float32)


def simple(name, impl):
    """A primitive that evaluates `impl` and has the types of elementwise operations."""
    p = Primitive(name)
    p.def_impl(impl)
    p.def_abstract_eval(lambda *avals, **_: avals[0])
    return p


# ---------------------------------------------------------------- reading


def test_a_built_in_jvp_rule(jax):
    ours = ad.primitive_jvps[lax.sin_p]((X,), (T,))
    rule = jax.interpreters.ad.primitive_jvps[jax.lax.sin_p]
    theirs = rule((X,), (T,), accuracy=None)
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_a_built_in_transpose_rule():
    undefined = ad.UndefinedPrimal(ShapedArray((3,), np.float32))
    ct_x, ct_y = ad.primitive_transposes[lax.mul_p](T, undefined, X)
    np.testing.assert_array_equal(ct_x, T * X)
    assert ct_y is None
    assert ad.get_primitive_transpose(lax.mul_p)(T, X, undefined)[0] is None


def test_built_in_batching_rules():
    xs = np.stack([X, T], 1)
    out, dim = batching.primitive_batchers[lax.neg_p]((xs,), (1,))
    np.testing.assert_array_equal(np.moveaxis(np.asarray(out), dim, 0), [-X, -T])
    axis = type("Axis", (), dict(size=2, name="i", spmd_name=None))()
    out, dim = batching.fancy_primitive_batchers[lax.neg_p](axis, (xs,), (1,))
    np.testing.assert_array_equal(np.moveaxis(np.asarray(out), dim, 0), [-X, -T])


def test_missing_rules_are_missing_entries():
    p = Primitive("bare")
    for table in (ad.primitive_jvps, ad.primitive_transposes, batching.primitive_batchers):
        assert p not in table
        assert table.get(p) is None
        with pytest.raises(KeyError):
            table[p]
        with pytest.raises(KeyError):
            del table[p]
    with pytest.raises(NotImplementedError, match="Transpose rule"):
        ad.get_primitive_transpose(p)(1.0)


def test_tables_can_be_walked_through():
    p = simple("walked", lambda x: x)
    before = len(ad.primitive_jvps)
    ad.primitive_jvps[p] = lambda primals, tangents: (primals[0], tangents[0])
    assert len(ad.primitive_jvps) == before + 1
    assert {p, lax.sin_p} <= set(ad.primitive_jvps)
    assert repr(ad.primitive_jvps) == f"<primitive_jvps: the rules of {before + 1} primitives>"
    del ad.primitive_jvps[p]
    assert p not in set(ad.primitive_jvps)


def test_a_key_that_is_no_primitive():
    with pytest.raises(TypeError) as error:
        ad.primitive_jvps["sin"] = None
    assert str(error.value) == (
        "[primitive_jvps] The key 'sin' of type str is no primitive. Use the primitive itself, "
        "such as `covector.lax.sin_p`."
    )


# ---------------------------------------------------------------- writing


def test_a_rule_of_a_built_in_primitive_can_be_replaced_and_restored():
    ad.primitive_jvps[lax.sin_p] = lambda primals, tangents: (lax.sin(*primals), tangents[0])
    try:
        assert float(np.asarray(cv.grad(lax.sin)(1.0))) == 1.0
    finally:
        del ad.primitive_jvps[lax.sin_p]
    np.testing.assert_allclose(cv.grad(lax.sin)(1.0), np.cos(1.0), rtol=1e-6)


def test_the_two_batching_tables_are_one_slot():
    p = simple("sloted", lambda x: np.negative(x))
    batching.fancy_primitive_batchers[p] = lambda axis, args, dims: (p.bind(*args), dims[0])
    np.testing.assert_array_equal(cv.vmap(p.bind)(X), -X)
    out, dim = batching.primitive_batchers[p]((X,), (0,))
    np.testing.assert_array_equal(out, -X)
    assert dim == 0


def test_a_rule_of_the_axis_learns_its_size_and_name():
    p, seen = simple("axis_of_mine", lambda x: x), []

    def rule(size, name, _, args, dims):
        seen.append((size, name, dims))
        return args[0], dims[0]

    batching.axis_primitive_batchers[p] = rule
    cv.vmap(p.bind, axis_name="i")(X)
    assert seen == [(3, "i", (0,))]


def test_a_transpose_rule_with_the_wrong_number_of_cotangents():
    p = simple("short", lambda x, y: x + y)
    ad.primitive_jvps[p] = lambda primals, tangents: (primals[0], p.bind(*tangents))
    ad.primitive_transposes[p] = lambda ct, x, y: [ct]
    with pytest.raises(TypeError) as error:
        cv.vjp(p.bind, 1.0, 2.0)[1](np.float32(1.0))
    assert str(error.value) == (
        "[transpose of short] The rule returned 1 cotangents for 2 operands. Return a sequence "
        "with one entry for each operand: the cotangent of a linear one, None for the others."
    )


# ---------------------------------------------------------------- declaring derivatives


def test_defjvp_adds_what_the_operands_contribute():
    p = simple("product3", lambda x, y, z: np.multiply(np.multiply(x, y), z))
    ad.defjvp(
        p,
        lambda t, x, y, z: lax.mul(t, lax.mul(y, z)),
        None,
        lambda t, x, y, z: lax.mul(t, lax.mul(x, y)),
    )
    one = np.float32(1.0)
    _, t = cv.jvp(p.bind, (X, T, X), (T, T, X))
    np.testing.assert_allclose(t, T * T * X + X * T * X, rtol=1e-6)
    # The middle operand is declared to contribute nothing.
    _, t = cv.jvp(lambda y: p.bind(one, y, one), (one,), (one,))
    assert float(np.asarray(t)) == 0.0


def test_defjvp2_hands_the_result_to_the_rules():
    p = simple("exp_of_mine", np.exp)
    ad.defjvp2(p, lambda t, out, x: lax.mul(t, np.asarray(out)))
    _, t = cv.jvp(p.bind, (X,), (T,))
    np.testing.assert_allclose(t, T * np.exp(X), rtol=1e-6)


def test_deflinear_and_deflinear2():
    p = simple("difference", lambda x, y: np.subtract(x, y))
    ad.deflinear2(p, lambda ct, x, y: [ct, lax.neg(ct)])
    _, t = cv.jvp(p.bind, (X, T), (T, X))
    np.testing.assert_array_equal(t, T - X)
    ct_x, ct_y = cv.vjp(p.bind, X, T)[1](X)
    np.testing.assert_array_equal(ct_x, X)
    np.testing.assert_array_equal(ct_y, -X)
    # With respect to one operand, the other's tangent is zero.
    _, t = cv.jvp(lambda y: p.bind(X, y), (T,), (X,))
    np.testing.assert_array_equal(t, -X)


def test_defbilinear():
    p = simple("times", lambda x, y: np.multiply(x, y))
    ad.defbilinear(
        p, lambda ct, x, y: p.bind(ct, np.asarray(y)), lambda ct, x, y: p.bind(np.asarray(x), ct)
    )
    _, t = cv.jvp(p.bind, (X, T), (T, X))
    np.testing.assert_allclose(t, T * T + X * X, rtol=1e-6)
    ct_x, ct_y = cv.vjp(p.bind, X, T)[1](X)
    np.testing.assert_allclose(ct_x, X * T, rtol=1e-6)
    np.testing.assert_allclose(ct_y, X * X, rtol=1e-6)
    undefined = ad.UndefinedPrimal(ShapedArray((3,), np.float32))
    with pytest.raises(TypeError, match="here both of them depend on what is transposed"):
        ad.primitive_transposes[p](X, undefined, undefined)


def test_zeros_and_tangents():
    aval = ShapedArray((2,), np.float32)
    zero = ad.Zero(aval)
    np.testing.assert_array_equal(ad.instantiate_zeros(zero), np.zeros(2))
    assert ad.instantiate_zeros(X) is X
    assert ad.add_tangents(zero, X) is ad.add_tangents(X, zero) is X
    np.testing.assert_array_equal(ad.add_tangents(X, T), X + T)
    np.testing.assert_array_equal(ad.add_jaxvals(X, T), X + T)
    np.testing.assert_array_equal(ad.zeros_like_aval(aval), np.zeros(2))
    assert ad.is_undefined_primal(ad.UndefinedPrimal(aval)) and not ad.is_undefined_primal(X)


def test_jvp_of_flat_functions():
    outs, tangents = ad.jvp(
        lambda x, y: [lax.mul(x, x), y], [X, T], [T, ad.Zero(ShapedArray((3,), np.float32))]
    )
    np.testing.assert_allclose(tangents[0], 2 * X * T, rtol=1e-6)
    np.testing.assert_array_equal(tangents[1], np.zeros(3))
    assert len(outs) == 2


# ---------------------------------------------------------------- declaring batches


@pytest.mark.parametrize("dims", [(0, 0), (1, 0), (0, None), (None, 1)])
def test_defvectorized_and_defbroadcasting(dims):
    xs, ys = np.arange(6.0, dtype=np.float32).reshape(2, 3), np.ones((3, 2), np.float32)
    xs = xs.T if dims[0] == 1 else xs
    ys = ys.T if dims[1] == 0 else ys
    xs = xs[0] if dims[0] is None else xs
    ys = ys[:, 0] if dims[1] is None else ys
    want = [
        np.add(
            xs if dims[0] is None else np.take(xs, i, dims[0]),
            ys if dims[1] is None else np.take(ys, i, dims[1]),
        )
        for i in range(2)
    ]
    for declare in (batching.defvectorized, batching.defbroadcasting):
        p = simple("plus", lambda x, y: np.add(x, y))
        declare(p)
        np.testing.assert_array_equal(cv.vmap(p.bind, in_axes=dims)(xs, ys), want)


def test_defvectorized_gives_its_rule_operands_of_one_shape():
    shapes = []
    p = simple("plus", lambda x, y: shapes.append((x.shape, y.shape)) or np.add(x, y))
    batching.defvectorized(p)
    cv.vmap(p.bind, in_axes=(1, None))(np.ones((3, 2), np.float32), X)
    assert shapes == [((3, 2), (3, 2))]


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_defreducer(dim):
    p = Primitive("sum_of_mine")
    p.def_impl(lambda x, *, axes: np.sum(np.asarray(x), axes))
    batching.defreducer(p)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    got = cv.vmap(lambda x: p.bind(x, axes=(1,)), in_axes=dim)(x)
    np.testing.assert_array_equal(got, np.moveaxis(x, dim, 0).sum(2))


def test_helpers_of_batching_rules():
    np.testing.assert_array_equal(batching.broadcast(X, 2, 1), np.stack([X, X], 1))
    np.testing.assert_array_equal(batching.bdim_at_front(X, None, 2), np.stack([X, X]))
    x = np.ones((3, 2))
    assert batching.bdim_at_front(x, 1, 2).shape == (2, 3)
