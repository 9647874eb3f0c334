"""custom_vmap, sequential_vmap and linear_call: against JAX and against mathematics."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.custom_batching import custom_vmap, sequential_vmap
from covector.custom_derivatives import linear_call

X = np.array([0.5, -1.0, 2.0], np.float32)
MATRIX = X[:, None] + np.arange(2, dtype=np.float32)


def scaled_sine(m):
    """sin(x) * y, of which the vmap rule, wrong on purpose, makes cos(x) * y."""

    @m.custom_batching.custom_vmap
    def f(x, y):
        return {"out": m.numpy.sin(x) * y}

    @f.def_vmap
    def rule(axis_size, in_batched, x, y):
        x, y = [z if batched else m.numpy.stack([z] * axis_size)
                for z, batched in zip((x, y), in_batched)]  # fmt: skip
        return {"out": m.numpy.cos(x) * y}, {"out": True}

    return f


def linear(m):
    """7x, of which the rule makes 11x."""
    f = m.custom_batching.custom_vmap(lambda x: 7.0 * x)
    f.def_vmap(lambda axis_size, in_batched, x: (11.0 * x, in_batched[0]))
    return f


def of_a_closure(m, z):
    f = m.custom_batching.custom_vmap(lambda x: x * z)
    f.def_vmap(lambda axis_size, in_batched, x: (m.numpy.add(x, z), in_batched[0]))
    return f


def divided(m):
    """x / r with twice the transpose."""
    return lambda r, x: m.custom_derivatives.linear_call(
        lambda r, x: {"out": x / r["r"]}, lambda r, ct: 2.0 * ct["out"] / r["r"], {"r": r}, x
    )["out"]


def with_derivative(m):
    """custom_vjp around custom_vmap."""

    @m.custom_vjp
    @m.custom_batching.custom_vmap
    def f(x):
        return m.numpy.sin(x)

    f.def_vmap(lambda axis_size, in_batched, x: (m.numpy.cos(x), in_batched[0]))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (5 * ct * x,))
    return f


PROGRAMS = {
    "value": lambda m: scaled_sine(m)(X, 2.0),
    "keywords": lambda m: scaled_sine(m)(y=X, x=X),
    "jit": lambda m: m.jit(scaled_sine(m))(X, X),
    "vmap": lambda m: m.vmap(scaled_sine(m))(X, X),
    "vmap in one argument": lambda m: m.vmap(scaled_sine(m), (0, None))(X, 2.0),
    "vmap along another axis": lambda m: m.vmap(scaled_sine(m), (1, None))(MATRIX, X),
    "jit of vmap of jit": lambda m: m.jit(m.vmap(m.jit(scaled_sine(m))))(X, X),
    "vmap of vmap": lambda m: m.vmap(m.vmap(scaled_sine(m)))(MATRIX, MATRIX),
    "jvp": lambda m: m.jvp(scaled_sine(m), (X, X), (X, X)),
    "jvp of vmap": lambda m: m.jvp(m.vmap(scaled_sine(m)), (X, X), (X, X)),
    "vmap of jvp": lambda m: m.vmap(lambda x: m.jvp(scaled_sine(m), (x, x), (x, x)))(X),
    "vmap of jvp of jvp": lambda m: m.vmap(
        lambda x: m.jvp(lambda x: m.jvp(linear(m), (x,), (x,)), (x,), (x,))
    )(X),
    "vmap of jvp, batched primals": lambda m: m.vmap(
        lambda x, t: m.jvp(linear(m), (x,), (t,)), (0, None), (0, None)
    )(X, 4.0),
    "vmap of jvp, batched tangents": lambda m: m.vmap(
        lambda x, t: m.jvp(linear(m), (x,), (t,)), (None, 0), (None, 0)
    )(np.float32(4), X),
    "jacfwd": lambda m: m.jacfwd(m.vmap(linear(m)))(X),
    "closure": lambda m: m.vmap(of_a_closure(m, 3.0))(X),
    "closure over an outer tracer": lambda m: m.jit(lambda z: m.vmap(of_a_closure(m, z))(X))(2.0),
    "scan": lambda m: m.vmap(
        lambda x: m.lax.scan(lambda c, _: (linear(m)(c), c), x, None, length=3)
    )(X),
    "sequential": lambda m: m.vmap(m.custom_batching.sequential_vmap(m.numpy.sin))(X),
    "sequential in one argument": lambda m: m.vmap(
        m.custom_batching.sequential_vmap(lambda t, y: {"sum": t["x"] + y}), (0, None)
    )({"x": X}, 2.0),
    "sequential twice": lambda m: m.vmap(m.vmap(m.custom_batching.sequential_vmap(m.numpy.sin)))(
        MATRIX
    ),
    "custom_vjp": lambda m: (with_derivative(m)(1.0), m.vmap(with_derivative(m))(X)),
    "grad of custom_vjp": lambda m: m.vmap(m.grad(with_derivative(m)))(X),
    "linear_call": lambda m: divided(m)(3.0, X),
    "grad of linear_call": lambda m: m.grad(lambda x: divided(m)(3.0, x).sum())(X),
    "jit of grad of linear_call": lambda m: m.jit(m.grad(divided(m), argnums=1))(3.0, 2.0),
    "jvp of linear_call": lambda m: m.jvp(lambda x: divided(m)(3.0, x), (X,), (X,)),
    "transpose of transpose": lambda m: m.linear_transpose(
        lambda ct: m.linear_transpose(lambda x: divided(m)(3.0, x), X)(ct)[0], X
    )(X),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_jax(jax, name):
    wanted, got = PROGRAMS[name](jax), PROGRAMS[name](cv)
    assert str(jax.tree.structure(wanted)) == str(cv.tree.structure(got))
    for x, y in zip(jax.tree.leaves(wanted), cv.tree.leaves(got)):
        assert (x.dtype, x.shape, x.weak_type) == (y.dtype, y.shape, y.weak_type)
        np.testing.assert_allclose(y, x, rtol=2e-6)


def test_a_rule_sees_what_is_a_batch():
    seen = []
    f = custom_vmap(lambda tree, z: tree["x"] + tree["y"] + z)

    @f.def_vmap
    def rule(axis_size, in_batched, tree, z):
        seen.append((axis_size, in_batched, tree["x"].shape, z.shape))
        return tree["x"] + tree["y"] + z, True

    cv.vmap(f, ({"x": 1, "y": None}, None))({"x": np.ones((2, 3)), "y": 1.0}, np.float32(1))
    assert seen == [(3, [{"x": True, "y": False}, False], (3, 2), ())]


def test_jvp_of_a_rule_that_sees_batches_and_others():
    """The tangent of x alone is the same for all: it is repeated, so that the rule is right."""
    f = custom_vmap(lambda x, y: x * y)
    f.def_vmap(lambda axis_size, in_batched, x, y: (x * y, any(in_batched)))
    out, tangent = cv.vmap(lambda x, t: cv.jvp(f, (x, x), (1.0, t)))(X, X**2)
    np.testing.assert_allclose(out, X**2, rtol=1e-6)
    np.testing.assert_allclose(tangent, X + X * X**2, rtol=1e-6)


def test_jvp_of_a_rule_that_always_returns_a_batch():
    f = custom_vmap(jnp.sin)
    f.def_vmap(lambda n, in_batched, x: (jnp.sin(x if in_batched[0] else jnp.stack([x] * n)), True))
    out, tangent = cv.vmap(lambda x: cv.jvp(f, (x,), (2.0,)))(X)
    np.testing.assert_allclose(out, np.sin(X), rtol=1e-6)
    np.testing.assert_allclose(tangent, 2 * np.cos(X), rtol=1e-6)


def test_jvp_of_sequential_vmap():
    _, tangent = cv.vmap(lambda x: cv.jvp(sequential_vmap(jnp.sin), (x,), (1.0,)))(X)
    np.testing.assert_allclose(tangent, np.cos(X), rtol=1e-6)


def test_linear_call_in_its_residuals_and_in_batches():
    f = lambda r, x: linear_call(lambda r, x: x * r**2, lambda r, ct: ct * r**2, r, x)  # noqa: E731
    np.testing.assert_allclose(cv.grad(f)(3.0, 2.0), 12.0)
    np.testing.assert_allclose(cv.vmap(f, (0, None))(X, 2.0), 2 * X**2)
    np.testing.assert_allclose(cv.vmap(cv.grad(f, 1), (0, None))(X, 2.0), X**2)
    np.testing.assert_allclose(cv.grad(lambda x: cv.vmap(f, (0, None))(X, x).sum())(2.0), 5.25)


def test_program_text(jax):
    assert (
        str(cv.make_jaxpr(scaled_sine(cv))(1.0, 2.0)).partition("rule=")[0]
        == (str(jax.make_jaxpr(scaled_sine(jax))(1.0, 2.0)).partition("rule=")[0])
    )


def rule_returning(result):
    f = custom_vmap(jnp.sin)
    f.def_vmap(lambda *_: result)
    return lambda: cv.vmap(f)(X)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: custom_vmap(jnp.sin)(1.0), AttributeError, "Define it with def_vmap"),
        (rule_returning(X), TypeError, "It must return a pair"),
        (rule_returning((X, [True])), ValueError, "do not match"),
        (rule_returning(([X], [True])), ValueError, "does not match that of original"),
        (lambda: linear(cv)(), TypeError, "missing a required argument: 'x'"),
        (lambda: linear(cv)(object()), TypeError, "object"),
        (lambda: cv.grad(linear(cv))(1.0), ValueError, "differentiated forward only"),
        (
            lambda: cv.vmap(lambda z: of_a_closure(cv, z)(z))(X),
            NotImplementedError,
            "closes over a value that is itself a batch",
        ),
        (
            lambda: cv.grad(lambda x: linear_call(lambda r, x: x, lambda r, ct: [ct], (), x))(1.0),
            TypeError,
            "transpose output pytree structure must match",
        ),
    ],
)
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
