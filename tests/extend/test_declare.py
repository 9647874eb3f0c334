"""`extend.primitive`: what a class says is used, and what it does not say is derived."""

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector.core import ShapedArray
from covector.extend import primitive
from covector.interpreters import ad, mlir
from covector.testing import Sample, check_primitive

X = np.array([0.5, 1.0, 2.0], np.float32)


def eqns(fun, *args):
    return [eqn.primitive.name for eqn in cv.make_jaxpr(fun)(*args).eqns]


@primitive
class square_plus:
    """x * x + y, elementwise."""

    elementwise = True

    def ref(self, x, y):
        return x * x + y

    def decompose(self, x, y):
        return lax.add(lax.mul(x, x), y)

    def samples(self, rng):
        for shape in [(), (3,), (2, 3)]:
            yield Sample(tuple(rng.normal(size=(2, *shape)).astype(np.float32)), {})


@primitive(name="sincos")
class SinCos:
    """The sine and the cosine of x times `rate`."""

    multiple_results = True

    def decompose(self, x, *, rate):
        x = lax.mul(x, lax.full_like(x, rate))
        return [lax.sin(x), lax.cos(x)]

    def samples(self, rng):
        yield Sample((rng.normal(size=(2, 3)).astype(np.float32),), dict(rate=2.0))


@primitive
class total:
    """The sum of all elements: linear."""

    def decompose(self, x):
        return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)), out_sharding=None)

    def samples(self, rng):
        yield Sample((rng.normal(size=(2, 3)).astype(np.float32),), {})


def test_a_primitive_is_called_and_stands_in_jaxprs():
    assert square_plus.name == "square_plus" and SinCos.name == "sincos"
    assert square_plus.__doc__ == "x * x + y, elementwise."
    np.testing.assert_allclose(square_plus(X, X), X * X + X)
    assert eqns(square_plus, X, X) == ["square_plus"]
    assert isinstance(square_plus, cv.extend.core.Primitive)


@pytest.mark.parametrize("p", [square_plus, SinCos, total], ids=lambda p: p.name)
def test_everything_follows_from_a_decomposition(p):
    report = check_primitive(p)
    assert report.ok, str(report)
    assert not report.missing, str(report)


def test_the_batch_of_an_elementwise_primitive_is_the_primitive():
    assert eqns(cv.vmap(square_plus), X, X) == ["square_plus"]
    assert "sincos" not in eqns(cv.vmap(lambda x: SinCos(x, rate=1.0)), X)


def test_the_transpose_follows_from_the_decomposition():
    undefined = ad.UndefinedPrimal(ShapedArray((2, 3), np.float32))
    (ct,) = total.transpose(np.float32(2.0), undefined)
    np.testing.assert_array_equal(ct, np.full((2, 3), 2.0))


def test_reference_mode_uses_ref():
    with cv.reference_mode():
        np.testing.assert_allclose(square_plus(X, X), X * X + X)
        np.testing.assert_allclose(SinCos(X, rate=2.0)[0], np.sin(2 * X), rtol=1e-6)


def test_a_rule_of_the_class_goes_before_a_derived_one():
    @primitive
    class tripled:
        def decompose(self, x):
            return lax.add(x, lax.add(x, x))

        def jvp(self, primals, tangents):
            return self(*primals), lax.neg(*tangents)

        def emit(self, b, x):
            return b.op("negate", x)

        def vmap(self, axis, dims, x):
            return lax.sin(x), dims[0]

    _, t = cv.jvp(tripled, (X,), (X,))
    np.testing.assert_array_equal(t, -X)
    np.testing.assert_array_equal(tripled(X), -X)
    np.testing.assert_allclose(cv.vmap(tripled)(X), np.sin(X), rtol=1e-6)


def test_a_class_with_nothing_but_ref_evaluates_and_has_types():
    @primitive
    class power:
        def ref(self, x, *, n):
            return np.linalg.matrix_power(x, n)

    matrix = np.array([[1.0, 1.0], [0.0, 1.0]], np.float32)
    np.testing.assert_array_equal(power(matrix, n=5), [[1.0, 5.0], [0.0, 1.0]])
    assert cv.eval_shape(lambda x: power(x, n=2), matrix).shape == (2, 2)
    # A mean of integers is a float: the type that NumPy gives, as far as it exists.
    mean = primitive(type("mean", (), {"ref": lambda self, x: np.mean(x)}))
    out = cv.eval_shape(mean, np.arange(3))
    assert (out.shape, out.dtype) == ((), np.float32)
    for fun in (cv.jit(mean), cv.vmap(mean), lambda x: cv.jvp(mean, (x,), (x,))):
        with pytest.raises(NotImplementedError, match="'mean'"):
            fun(X)


def test_a_class_with_nothing():
    empty = primitive(type("empty", (), {}))
    with pytest.raises(NotImplementedError, match="Abstract evaluation for 'empty'"):
        empty(1.0)


def test_tables_and_lowering_rules_apply():
    halved = primitive(type("halved", (), {"ref": lambda self, x: x / 2}))
    ad.deflinear(halved, lambda ct: [halved(ct)])
    np.testing.assert_array_equal(cv.grad(halved)(1.0), 0.5)
    mlir.register_lowering(
        halved, mlir.lower_fun(lambda x: lax.div(x, lax.full_like(x, 2)), multiple_results=False)
    )
    np.testing.assert_array_equal(cv.jit(halved)(X), X / 2)


def test_reverse_mode_needs_only_the_jvp():
    @primitive
    class softplus:
        elementwise = True

        def ref(self, x):
            return np.log1p(np.exp(x))

        def jvp(self, primals, tangents):
            (x,), (t,) = primals, tangents
            return self(x), lax.mul(t, lax.logistic(x))

    np.testing.assert_allclose(cv.grad(softplus)(1.0), 1 / (1 + np.exp(-1.0)), rtol=1e-6)
    np.testing.assert_allclose(cv.vmap(softplus)(X), np.log1p(np.exp(X)), rtol=1e-6)
