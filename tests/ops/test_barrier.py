"""Ops that compute nothing: barriers, sinks, tokens; and operations with a name of their own."""

from functools import partial

import numpy as np
import pytest

import covector
from covector import lax
from covector.errors import UnexpectedTracerError

X = np.arange(3, dtype=np.float32)

# ---------------------------------------------------------------- barriers and sinks


def test_barrier_keeps_a_tree():
    x, (y, none) = lax.optimization_barrier((1.0, (X, None)))
    assert x == 1.0 and none is None
    np.testing.assert_array_equal(y, X)
    assert lax.optimization_barrier(()) == ()


def test_barrier_is_in_the_program():
    text = covector.jit(lambda x: lax.optimization_barrier((x, 2 * x))).lower(X).as_text()
    assert "stablehlo.optimization_barrier" in text


def test_derivatives_pass_the_barrier():
    def f(x):
        x, y = lax.optimization_barrier((x, 3 * x))
        return x * y

    assert covector.grad(f)(2.0) == 12.0
    assert covector.grad(covector.grad(f))(2.0) == 6.0
    np.testing.assert_array_equal(covector.vmap(covector.grad(f))(X), 6 * X)


def test_what_goes_into_a_sink_stays():
    def f(x):
        lax.dce_sink((lax.sin(x), x))
        return 2 * x

    eqns = covector.make_jaxpr(f)(1.0).eqns
    assert [eqn.primitive.name for eqn in eqns] == ["sin", "dce_sink", "dce_sink", "mul"]
    assert covector.jit(f)(1.0) == 2.0
    np.testing.assert_array_equal(covector.vmap(f)(X), 2 * X)
    assert covector.jvp(f, (1.0,), (1.0,))[1] == 2.0


def test_tokens():
    token = lax.after_all(lax.create_token(), lax.create_token())
    token.block_until_ready()
    lax.after_all().block_until_ready()
    with pytest.raises(TypeError, match="Arguments to after_all must be tokens"):
        lax.after_all(1.0)


# ---------------------------------------------------------------- composite


@partial(lax.composite, name="my.affine", version=2)
def affine(x, *, factor, offset=None):
    return {"y": x * factor if offset is None else x * factor + offset}


def test_composite_is_its_decomposition():
    np.testing.assert_array_equal(affine(X, factor=2.0)["y"], 2 * X)
    offset = np.ones(3, np.float32)
    got = covector.jit(lambda x: affine(x, factor=2.0, offset=offset))(X)
    np.testing.assert_array_equal(got["y"], 2 * X + 1)
    batch = covector.vmap(lambda x: affine(x, factor=2.0)["y"])(np.stack([X, X + 1]))
    np.testing.assert_array_equal(batch, [2 * X, 2 * X + 2])


def test_attributes_of_composite():
    attributes = dict(
        factor=2.5, offset=None, text="bar", kind=np.dtype(np.float32), array=np.zeros(2, "float32")
    )

    @partial(lax.composite, name="my.scale")
    def scale(x, *, factor, **_):
        return lax.mul(x, np.float32(factor))

    text = covector.jit(lambda x: scale(x, **attributes)).lower(np.float32(1)).as_text()
    assert (
        'stablehlo.composite "my.scale" %arg0 {composite_attributes = {'
        "array = dense<0.000000e+00> : tensor<2xf32>, factor = 2.500000e+00 : f64, kind = f32, "
        'text = "bar"}, decomposition = @my.scale}'
    ) in text
    assert "func.func private @my.scale" in text


def test_composite_has_a_version_and_constants():
    constant = np.array([2.0, 3.0, 4.0], np.float32)
    times = lax.composite(lambda x: x * constant, "my.times", 7)
    np.testing.assert_array_equal(times(X), X * constant)
    assert "version = 7 : i32" in covector.jit(times).lower(X).as_text()


def test_errors_of_composite():
    with pytest.raises(ValueError, match="JVP rule for composite not implemented"):
        covector.grad(lambda x: affine(x, factor=2.0)["y"])(1.0)
    with pytest.raises(UnexpectedTracerError, match="use numpy arrays instead"):
        covector.jit(lambda x, f: affine(x, factor=f))(X, 2.0)
    with pytest.raises(UnexpectedTracerError, match="uses a traced value from outside"):
        covector.jit(lambda x, y: lax.composite(lambda x: x * y, "my.times")(x))(X, X)


def test_empty_and_shape_as_value(jax):
    assert (lax.empty((2, 3), np.int8).shape, lax.empty(3, float).dtype) == ((2, 3), np.float32)
    for shape in ((), (2,), (2, 3)):
        ours, theirs = lax.shape_as_value(shape), jax.lax.shape_as_value(shape)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
