"""custom_vjp: its rules under every transformation, against JAX and against mathematics."""

from functools import partial

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.base import config
from covector.custom_derivatives import CustomVJPPrimal, SymbolicZero

X = np.array([0.5, -1.0, 2.0], np.float32)


def tripled(m):
    """sin(x) * y whose rule, wrong on purpose, gives three times the gradient."""

    @m.custom_vjp
    def f(x, y):
        return {"out": m.numpy.sin(x) * y, "y": y}

    def fwd(x, y):
        return f(x, y), (m.numpy.cos(x), m.numpy.sin(x), y)

    def bwd(residuals, cts):
        cos, sin, y = residuals
        return 3 * cts["out"] * cos * y, 3 * (cts["out"] * sin + cts["y"])

    f.defvjp(fwd, bwd)
    return f


def clipped(m):
    """The identity with gradients between -1 and 1."""
    f = m.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, ct: (m.numpy.clip(ct, -1, 1),))
    return f


PROGRAMS = {
    "value": lambda m: tripled(m)(X, X),
    "jit": lambda m: m.jit(tripled(m))(X, X),
    "grad": lambda m: m.grad(lambda x, y: tripled(m)(x, y)["out"].sum(), (0, 1))(X, X),
    "jit of grad of jit": lambda m: m.jit(
        m.grad(lambda x: m.jit(tripled(m))(x, X)["out"].sum())
    )(X),
    "vjp": lambda m: m.vjp(tripled(m), X, X)[1]({"out": X, "y": X}),
    "vmap": lambda m: m.vmap(tripled(m), (0, None))(X, X),
    "vmap of grad": lambda m: m.vmap(
        m.grad(lambda x, y: tripled(m)(x, y)["out"], (0, 1)), (0, None)
    )(X, np.float32(2)),
    "grad of vmap": lambda m: m.grad(
        lambda x, y: m.vmap(tripled(m), (0, None))(x, y)["out"].sum(), (0, 1)
    )(X, np.float32(2)),
    "grad of vmap of an output that is the same": lambda m: m.grad(
        lambda y: m.vmap(tripled(m), (0, None), {"out": 0, "y": None})(X, y)["y"]
    )(np.float32(2)),
    "vmap of vmap of grad": lambda m: m.vmap(m.vmap(
        m.grad(lambda x, y: tripled(m)(x, y)["out"]), (0, None)), (None, 0)
    )(X, X),
    "jacrev": lambda m: m.jacrev(clipped(m))(X),
    "clipped": lambda m: m.grad(lambda x: (100 * clipped(m)(x)).sum())(X),
    "second derivative": lambda m: m.grad(m.grad(
        lambda x: tripled(m)(x, x)["out"]))(np.float32(0.4)),
    "scan": lambda m: m.grad(
        lambda x: m.lax.scan(lambda c, a: (tripled(m)(c, a)["out"], c), x, X)[0]
    )(np.float32(0.3)),
    "scan under vmap": lambda m: m.vmap(m.grad(
        lambda x: m.lax.scan(lambda c, a: (tripled(m)(c, a)["out"], c), x, X)[0]
    ))(X),
    "cond": lambda m: m.grad(
        lambda x: m.lax.cond(x > 0, lambda x: tripled(m)(x, x)["out"], lambda x: x, x)
    )(np.float32(0.3)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_jax(name, same_as_jax):
    # JAX has no constants that are arrays of NumPy in rules within a program.
    same_as_jax(PROGRAMS[name], in_one=False)


# ---------------------------------------------------------------- forward mode, which JAX has not


def cubic():
    f = cv.custom_vjp(lambda x: x**3)
    f.defvjp(lambda x: (x**3, x), lambda x, ct: (3 * x**2 * ct,))
    return f


FORWARD = {
    "jvp": lambda f: cv.jvp(f, (X,), (np.ones_like(X),))[1],
    "jit of jvp": lambda f: cv.jit(lambda x: cv.jvp(f, (x,), (np.ones_like(X),))[1])(X),
    "jvp of jit": lambda f: cv.jvp(cv.jit(f), (X,), (np.ones_like(X),))[1],
    "jvp of vmap": lambda f: cv.jvp(cv.vmap(f), (X,), (np.ones_like(X),))[1],
    "vmap of jvp": lambda f: cv.vmap(lambda x: cv.jvp(f, (x,), (1.0,))[1])(X),
    "linearize": lambda f: cv.linearize(f, X)[1](np.ones_like(X)),
    "jacfwd": lambda f: jnp.diag(cv.jacfwd(f)(X)),
    "in a scan": lambda f: cv.jvp(
        lambda x: cv.lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0],
        *((X,), (np.ones_like(X),)),
    )[1],
}


@pytest.mark.parametrize("name", FORWARD)
def test_forward_mode_transposes_the_backward_rule(name):
    np.testing.assert_allclose(FORWARD[name](cubic()), 3 * X**2, rtol=1e-6)


def test_hessian():
    np.testing.assert_allclose(cv.hessian(lambda x: cubic()(x).sum())(X), np.diag(6 * X), rtol=1e-6)


def test_forward_mode_is_refused_with_parity():
    with config.parity(True), pytest.raises(TypeError, match="can't apply forward-mode"):
        cv.jvp(cubic(), (1.0,), (1.0,))


def test_a_backward_rule_without_transpose():
    f = cv.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, ct: (jnp.sin(ct),))
    np.testing.assert_allclose(cv.grad(f)(2.0), np.sin(1.0), rtol=1e-6)
    with pytest.raises(TypeError, match=r"can't apply forward-mode autodiff.*no transpose"):
        cv.jvp(f, (1.0,), (1.0,))


# ---------------------------------------------------------------- arguments


def test_python_control_flow_in_function_and_rules():
    f = cv.custom_vjp(lambda x: x if x > 0 else 0 * x)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (7 * ct if x > 0 else 5 * ct,))
    assert cv.grad(f)(2.0) == 7 and cv.grad(f)(-2.0) == 5


@pytest.mark.parametrize("jitted", [False, True])
def test_functions_and_arrays_that_are_not_differentiated(jitted):
    @partial(cv.custom_vjp, nondiff_argnums=(0, 2))
    def apply(fun, x, scale):
        return fun(x) * scale

    def bwd(fun, scale, x, ct):
        return (2 * cv.grad(lambda x: fun(x).sum())(x) * scale * ct,)

    apply.defvjp(lambda fun, x, scale: (apply(fun, x, scale), x), bwd)

    def loss(x, scale):
        return apply(jnp.sin, x, scale).sum()

    grad = cv.jit(cv.grad(loss)) if jitted else cv.grad(loss)
    np.testing.assert_allclose(grad(X, X), 2 * np.cos(X) * X, rtol=1e-6)
    batched = cv.vmap(cv.grad(loss), (None, 0))(X, np.stack([X, 2 * X]))
    np.testing.assert_allclose(batched, 2 * np.cos(X) * np.stack([X, 2 * X]), rtol=1e-6)


def test_none_and_integers():
    @cv.custom_vjp
    def f(tree, n, z):
        return tree["a"] * z + n

    f.defvjp(
        lambda tree, n, z: (f(tree, n, z), z), lambda z, ct: ({"a": z * ct, "b": None}, 0, None)
    )
    for g in (cv.grad(f, (0, 2)), cv.jit(cv.grad(f, (0, 2)))):
        tree, z = g({"a": 2.0, "b": 3.0}, 4, 5.0)
        assert (tree, z) == ({"a": 5.0, "b": 0.0}, 0.0)


def test_cotangents_of_narrow_floats_may_be_wider():
    f = cv.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, ct: (ct.astype(jnp.bfloat16),))
    x = jnp.arange(4, dtype=jnp.float8_e4m3fn)
    (ct,) = cv.vjp(lambda x: f(x[jnp.argsort(x)]), x)[1](x)
    assert ct.dtype == jnp.bfloat16
    np.testing.assert_array_equal(np.asarray(ct, np.float32), np.arange(4))


def test_symbolic_zeros():
    seen = []

    @cv.custom_vjp
    def f(x, y):
        return x * y, y

    def fwd(x, y):
        assert type(x) is CustomVJPPrimal
        seen.append((x.perturbed, y.perturbed))
        return f(x.value, y.value), y.value

    def bwd(y, cts):
        seen.append(tuple(type(ct) is SymbolicZero for ct in cts))
        return cts[0] * y, None

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    assert cv.grad(lambda x: f(x, 3.0)[0])(2.0) == 3
    assert seen == [(True, False), (False, True)]


@pytest.mark.parametrize("transformed", [lambda f: f, cv.jit], ids=["eager", "jit"])
def test_each_run_of_a_forward_rule_reads_its_own_residuals(transformed):
    times = cv.custom_vjp(lambda x, y: x * y)

    def fwd(x, y):
        kept = {"x": x.value} if y.perturbed else {}
        return x.value * y.value, kept | ({"y": y.value} if x.perturbed else {})

    def bwd(kept, ct):
        return ct * kept["y"] if "y" in kept else None, ct * kept["x"] if "x" in kept else None

    times.defvjp(fwd, bwd, symbolic_zeros=True)
    f = transformed(times)
    pulls = [cv.vjp(lambda x: f(x, 3.0), 2.0)[1], cv.vjp(f, 2.0, 3.0)[1]]
    assert [pull(1.0) for pull in pulls] == [(3.0,), (3.0, 2.0)]
    x = np.arange(3.0, dtype=np.float32)
    pulls = [
        cv.vjp(lambda x: cv.vmap(f, (0, None))(x, 3.0), x)[1],
        cv.vjp(cv.vmap(f, (0, None)), x, 3.0)[1],
    ]
    (first,), (second, of_y) = [pull(np.ones(3, np.float32)) for pull in pulls]
    np.testing.assert_array_equal(first, [3, 3, 3])
    np.testing.assert_array_equal(second, [3, 3, 3])
    assert of_y == 3


def test_custom_gradient():
    @cv.custom_gradient
    def f(x, y):
        z = jnp.sin(x)
        return z * y, lambda ct: (2 * ct * jnp.cos(x) * y, 3 * ct * z)

    for g in (cv.grad(f, (0, 1)), cv.jit(cv.grad(f, (0, 1)))):
        np.testing.assert_allclose(g(0.3, 2.0), (4 * np.cos(0.3), 3 * np.sin(0.3)), rtol=1e-6)
    np.testing.assert_allclose(cv.vmap(cv.grad(f), (0, None))(X, 2.0), 4 * np.cos(X), rtol=1e-6)


# ---------------------------------------------------------------- mistakes


def with_rules(fwd, bwd):
    f = cv.custom_vjp(lambda x, y: {"a": x * y})
    f.defvjp(fwd, bwd)
    return cv.grad(lambda x, y: f(x, y)["a"].sum())


def fwd(x, y):
    return {"a": x * y}, None


MISTAKES = {
    "no pair": (
        lambda x, y: 3.0,
        lambda r, ct: (ct, ct),
        TypeError,
        "must produce a pair.*but returned 3.0",
    ),
    "no tuple": (fwd, lambda r, ct: ct["a"], TypeError, "must produce a tuple.*2 arguments"),
    "one cotangent": (fwd, lambda r, ct: (ct["a"],), TypeError, "must produce a tuple"),
    "other shape": (
        fwd,
        lambda r, ct: (ct["a"], jnp.ones(3)),
        ValueError,
        r"output\[1\] the bwd rule produced an output of type float32\[3\].*float32\[\]",
    ),
    "other structure": (
        fwd,
        lambda r, ct: (ct["a"], {"b": ct["a"]}),
        TypeError,
        r"output\[1\] it produced",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_of_rules_are_named(name):
    fwd, bwd, error, text = MISTAKES[name]
    with pytest.raises(error, match=text):
        with_rules(fwd, bwd)(1.0, 2.0)


def test_a_forward_rule_whose_output_is_not_the_functions():
    f = cv.custom_vjp(lambda x: x)
    f.defvjp(lambda x: ((x, x), None), lambda _, ct: (ct,))
    with pytest.raises(TypeError, match=r"fwd rule .* must produce a pair whose first element"):
        cv.grad(cv.jit(f))(1.0)


def test_calls_without_rules():
    with pytest.raises(AttributeError, match="No VJP defined for custom_vjp function"):
        cv.custom_vjp(lambda x: x)(1.0)


def test_cotangents_with_more_digits_than_the_argument(jax):
    """A rule may return a float32 cotangent for a bfloat16 argument, which keeps its digits."""

    def gradient(lib):
        @lib.custom_vjp
        def f(x):
            return x.astype("float32")

        f.defvjp(lambda x: (f(x), None), lambda _, ct: (ct * 1.001,))
        return lib.grad(lambda x: f(x).sum())(lib.numpy.ones(2, "bfloat16"))

    got, want = gradient(cv), gradient(jax)
    assert got.dtype == want.dtype == "float32"
    np.testing.assert_array_equal(got, want)


def test_traced_values_in_nondiff_argnums():
    """The rules are given them; with the flag `parity` they are refused, as in JAX."""

    @partial(cv.custom_vjp, nondiff_argnums=(0,))
    def f(scale, x):
        return scale * x

    f.defvjp(lambda scale, x: (f(scale, x), None), lambda scale, _, ct: (10 * scale * ct,))
    gradient = cv.jit(lambda scale, x: cv.grad(f, 1)(scale, x))
    assert gradient(2.0, 3.0) == 20.0
    with config.parity(True), pytest.raises(cv.errors.UnexpectedTracerError, match="parity"):
        gradient(2, 3.0)


def test_optimize_remat():
    """In the first pass over a checkpointed function the function runs, not the forward rule."""

    def gradient(optimize, transform):
        shift = jnp.ones(())

        @cv.custom_vjp
        def f(x):
            return jnp.sin(x) * shift

        def fwd(x):  # another value, so that the two are told apart
            return jnp.tan(x), jnp.cos(x)

        f.defvjp(fwd, lambda c, ct: (c * ct,), optimize_remat=optimize)
        g = transform(lambda x: cv.checkpoint(f)(x) ** 2)
        return cv.value_and_grad(lambda x: g(x).sum())

    for transform in (lambda f: f, cv.jit, cv.vmap):
        x = jnp.arange(1.0, 3.0)
        value, slope = gradient(True, transform)(x)
        np.testing.assert_allclose(value, (np.sin(x) ** 2).sum(), rtol=1e-6)
        np.testing.assert_allclose(slope, 2 * np.sin(x) * np.cos(x), rtol=1e-6)
        value, _ = gradient(False, transform)(x)
        np.testing.assert_allclose(value, (np.tan(x) ** 2).sum(), rtol=1e-5)
    text = str(cv.make_jaxpr(gradient(True, cv.jit))(x))
    assert text.count(" tan ") == 0 and text.count(" sin ") == 1
