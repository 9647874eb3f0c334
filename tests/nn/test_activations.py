"""Activations against JAX 0.10.2: values, types, derivatives at the corners, programs, errors."""

import inspect

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

NAMES = (
    *("celu", "elu", "gelu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "identity"),
    *("leaky_relu", "log1mexp", "log_sigmoid", "mish", "relu", "relu6", "selu", "sigmoid", "silu"),
    *("soft_sign", "softplus", "sparse_plus", "sparse_sigmoid", "squareplus", "swish", "tanh"),
)
# The corners of all of them, their limits, and points in between.
X = np.array(
    [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 6.0, 7.5, 30.0, -30.0, 1e4, -1e4, 1e-6, -1e-6],
    np.float32,
)
EDGES = np.array([np.inf, -np.inf, np.nan], np.float32)


def close(got, want, dtype="float32", what=""):
    eps = {"float32": 2e-6, "float16": 4e-3, "bfloat16": 3e-2}[dtype]
    got, want = [np.asarray(v).astype(np.float64) for v in (got, want)]
    np.testing.assert_allclose(got, want, rtol=eps, atol=eps, err_msg=what)


def derivatives(of, x):
    """Values, first and second derivatives of all activations, in one program."""

    def of_one(name, x):
        f = getattr(of.nn, name)
        return [of.vmap(g)(x) for g in (f, of.grad(f), of.grad(of.grad(f)))]

    return of.jit(lambda x: {name: of_one(name, x) for name in NAMES})(x)


def test_values_and_slopes(optimized_jax):
    # Where a tanh is one but for its last bit, the slope is a difference of two rounded numbers.
    x = np.concatenate([X, EDGES])
    ours, theirs = derivatives(cv, x), derivatives(optimized_jax, x)
    for name in NAMES:
        for order, (got, want) in enumerate(zip(ours[name], theirs[name], strict=True)):
            got, want = np.asarray(got), np.asarray(want)
            # Where JAX's derivative is NaN ours may have a value.
            known = ~np.isnan(want) if order else slice(None)
            close(got[known], want[known], what=f"{name}, {order}")
            assert np.isfinite(got[np.isfinite(want)]).all(), name


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats(jax, dtype):
    x = X[:12].astype(dtype)
    ours, theirs = [
        of.jit(lambda x, of=of: [getattr(of.nn, name)(x) for name in NAMES])(x) for of in (cv, jax)
    ]
    for name, got, want in zip(NAMES, ours, theirs, strict=True):
        assert got.dtype == want.dtype == dtype, name
        known = np.isfinite(np.asarray(want).astype(np.float32))
        close(np.asarray(got)[known], np.asarray(want)[known], dtype, name)


def test_types(jax):
    kinds = (2, 2.5, np.int32(3), np.uint8(3), np.ones(2, np.int8), np.ones(2, "bfloat16"), True)

    def described(of, name, x):
        try:
            out = of.eval_shape(getattr(of.nn, name), x)
        except TypeError:
            return TypeError
        return str(out.dtype), out.shape, out.weak_type

    for name in NAMES:
        for x in kinds:
            assert described(cv, name, x) == described(jax, name, x), (name, x)


@pytest.mark.parametrize(
    ("name", "argument"),
    [("elu", 0.5), ("celu", 2.0), ("leaky_relu", 0.3), ("squareplus", 0.1)],
)
def test_shape_parameters(jax, name, argument):
    ours, theirs = getattr(cv.nn, name), getattr(jax.nn, name)
    close(ours(X, argument), theirs(X, argument))
    got = cv.grad(ours, argnums=1)(-1.5, argument)
    close(got, jax.grad(theirs, argnums=1)(-1.5, argument))


def test_exact_gelu(jax):
    close(cv.nn.gelu(X, approximate=False), jax.nn.gelu(X, approximate=False))
    slope = cv.vmap(cv.grad(lambda x: cv.nn.gelu(x, approximate=False)))
    close(slope(X), jax.vmap(jax.grad(lambda x: jax.nn.gelu(x, approximate=False)))(X))


def test_glu(jax):
    x = np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 4, 3)
    close(cv.nn.glu(x, axis=1), jax.nn.glu(x, axis=1))
    with pytest.raises(AssertionError, match=r"axis -1 of shape \(2, 4, 3\) has size 3"):
        cv.nn.glu(x)


def test_slopes_at_corners_are_conventions():
    slope = cv.vmap(cv.grad(cv.nn.relu))
    assert slope(jnp.array([-1.0, 0.0, 1.0])).tolist() == [0.0, 0.0, 1.0]
    slope = cv.vmap(cv.grad(cv.nn.relu6))
    assert slope(jnp.array([-1.0, 0.0, 1.0, 6.0, 7.0])).tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]
    assert float(cv.grad(cv.nn.softplus)(0.0)) == 0.5
    assert float(cv.grad(cv.grad(cv.nn.softplus))(0.0)) == 0.25


def test_log1mexp_is_accurate_for_small_and_large_arguments():
    x = np.array([1e-30, 1e-5, 0.3, 0.69, 0.7, 5.0, 80.0])
    with np.errstate(under="ignore", divide="ignore"):
        exact = np.where(x < 0.7, np.log(-np.expm1(-x)), np.log1p(-np.exp(-x)))
    np.testing.assert_allclose(cv.nn.log1mexp(x), exact, rtol=2e-6)
    assert np.isnan(cv.nn.log1mexp(-1.0)) and cv.nn.log1mexp(0.0) == -np.inf


@pytest.mark.parametrize("name", ["relu", "relu6", "sigmoid", "silu", "gelu", "celu", "soft_sign"])
def test_programs(jax, name):
    x = np.ones(3, np.float32)
    ours, theirs = getattr(cv.nn, name), getattr(jax.nn, name)
    assert str(cv.make_jaxpr(ours)(x)) == str(jax.make_jaxpr(theirs)(x))
    if name in ("relu", "relu6"):
        got, want = [
            str(of.make_jaxpr(of.vmap(of.grad(f)))(x)) for of, f in ((cv, ours), (jax, theirs))
        ]
        assert got.count("select_n") == want.count("select_n") == 1


def test_lists_are_no_arrays():
    for name in ("gelu", "silu", "elu", "glu", "mish", "soft_sign", "squareplus"):
        with pytest.raises(TypeError, match=f"{name} requires ndarray or scalar arguments"):
            getattr(cv.nn, name)([1.0, 2.0])


def test_every_name_of_jax_is_there(jax):
    for ours, theirs in ((cv.nn, jax.nn), (cv.nn.initializers, jax.nn.initializers)):
        missing = {n for n in dir(theirs) if n[0] != "_"} - set(dir(ours))
        assert not missing


def test_signatures_are_those_of_jax(jax):
    def parameters(f):
        return [(p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()]

    for ours, theirs in ((cv.nn, jax.nn), (cv.nn.initializers, jax.nn.initializers)):
        for name in dir(theirs):
            f = getattr(theirs, name)
            if name[0] != "_" and callable(f) and name not in ("Initializer", "tanh"):
                assert parameters(getattr(ours, name)) == parameters(f), name
