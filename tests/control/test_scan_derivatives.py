"""Derivatives and batches of `scan`, against JAX and against loops written out."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax

rng = np.random.default_rng(5)
W = rng.normal(size=(3, 3)).astype(np.float32)
H = rng.normal(size=3).astype(np.float32)
XS = rng.normal(size=(5, 3)).astype(np.float32)


def cell(m, w, h, xs, **form):
    """A recurrent cell that closes over its weights, with a counter beside it."""

    def step(carry, x):
        h, i = carry
        h = m.numpy.tanh(h @ w + x)
        return (h, i + 1), {"y": h.sum() * i, "x": m.numpy.cos(x)}

    return m.lax.scan(step, (h, 0), xs, **form)


def loss(m, **form):
    def f(w, h, xs):
        (h, _), ys = cell(m, w, h, xs, **form)
        return m.numpy.sum(h**2) + m.numpy.sum(ys["y"] * ys["x"][:, 0])

    return f


def nested(m, w, h, xs):
    """Two levels; the inner body closes over values of both outer ones."""

    def outer(c, x):
        d, ys = m.lax.scan(lambda d, y: (m.numpy.sin(d * y) + c, d * w[0]), c * x, xs)
        return d, ys.sum(0)

    d, ys = m.lax.scan(outer, h, xs[:3])
    return m.numpy.sum(d * ys)


TRANSFORMED = {
    "grad": lambda m: m.grad(loss(m), (0, 1, 2))(W, H, XS),
    "grad in reverse": lambda m: m.grad(loss(m, reverse=True), (0, 1, 2))(W, H, XS),
    "grad unrolled": lambda m: m.jit(m.grad(loss(m, unroll=2), (0, 1, 2)))(W, H, XS),
    "grad unrolled in reverse": lambda m: m.grad(loss(m, unroll=True, reverse=True))(W, H, XS),
    "grad of jit": lambda m: m.grad(m.jit(loss(m)), (0, 1, 2))(W, H, XS),
    "jvp": lambda m: m.jvp(lambda *a: cell(m, *a)[1], (W, H, XS), (W, 2 * H, XS)),
    "jvp of a part": lambda m: m.jvp(lambda h: cell(m, W, h, XS)[0][0], (H,), (H,)),
    "hessian": lambda m: m.hessian(loss(m), 1)(W, H, XS),
    "jacfwd of grad": lambda m: m.jacfwd(m.grad(loss(m), 0), 1)(W, H, XS),
    "grad of grad": lambda m: m.grad(lambda h: m.grad(loss(m), 1)(W, h, XS)[1])(H),
    "vmap over weights": lambda m: m.vmap(loss(m), (0, None, None))(np.stack([W, W.T]), H, XS),
    "vmap over the carry": lambda m: m.vmap(
        lambda h: cell(m, W, h, XS), out_axes=((0, None), {"y": 1, "x": None})
    )(np.stack([H, -H])),
    "vmap over inputs": lambda m: m.vmap(lambda xs: cell(m, W, H, xs)[1], 2)(
        np.stack([XS, -XS], 2)
    ),
    "vmap of grad": lambda m: m.vmap(m.grad(loss(m)), (None, 0, None))(W, np.stack([H, -H]), XS),
    "grad of vmap": lambda m: m.grad(
        lambda w: m.vmap(loss(m), (None, 0, None))(w, np.stack([H, -H]), XS).sum()
    )(W),
    "grad of nested": lambda m: m.jit(m.grad(lambda *a: nested(m, *a), (0, 1, 2)))(W, H, XS),
    "vmap with a named axis": lambda m: m.vmap(
        lambda xs: m.lax.scan(
            lambda c, x: (c + m.lax.psum(x, "i"), m.lax.axis_index("i")), 0 * H, xs
        ),
        axis_name="i",
    )(np.stack([XS, -2 * XS])),
    "linear transpose": lambda m: m.linear_transpose(
        lambda xs: m.lax.scan(lambda c, x: (0.5 * c + x * W[0], c), 0 * H, xs), XS
    )((H, XS)),
    "linear transpose with a counter": lambda m: m.linear_transpose(
        lambda h: m.lax.scan(lambda c, x: ((c[0] * x, c[1] + 1.0), c[0] * c[1]), (h, 1.0), XS)[1],
        H,
    )(XS),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_against_jax(name, same_as_jax):
    same_as_jax(TRANSFORMED[name], rtol=3e-5)


def test_a_carry_gets_its_tangent_late():
    """In the last of a chain of carries the tangent arrives after as many steps."""

    def shifted(x):
        init = (x, 1.0, 2.0, 3.0)
        return lax.scan(lambda c, _: ((c[0], *c[:3]), c[3]), init, None, length=5)[1]

    out, tangent = cv.jvp(shifted, (7.0,), (1.0,))
    np.testing.assert_array_equal(out, [3, 2, 1, 7, 7])
    np.testing.assert_array_equal(tangent, [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(cv.jacrev(shifted)(7.0), [0, 0, 0, 1, 1])
    batch = cv.vmap(shifted)(jnp.array([7.0, 8.0]))
    np.testing.assert_array_equal(batch, [[3, 2, 1, 7, 7], [3, 2, 1, 8, 8]])


def test_integers_have_no_derivative():
    def f(x, n):
        (y, _), ns = lax.scan(lambda c, k: ((c[0] * x, c[1] + k), c[1]), (1.0, n), n + np.arange(3))
        return y, ns

    (_, ns), pull_back = cv.vjp(f, 2.0, 4)
    np.testing.assert_array_equal(ns, [4, 8, 13])
    x_bar, n_bar = pull_back((1.0, np.zeros(3, cv.dtypes.float0)))
    assert float(x_bar) == 12
    assert n_bar.dtype == cv.dtypes.float0
    _, (y_dot, ns_dot) = cv.jvp(f, (2.0, 4), (1.0, np.zeros((), cv.dtypes.float0)))
    assert float(y_dot) == 12
    assert (ns_dot.dtype, ns_dot.shape) == (cv.dtypes.float0, (3,))


def test_complex_carries():
    def f(z):
        return lax.scan(lambda c, _: (c * z + 1, c), 1 + 0j, None, length=3)[0]

    z = 0.3 - 0.7j
    assert np.allclose(cv.grad(f, holomorphic=True)(z), 3 * z**2 + 2 * z + 1)


def test_bfloat16():
    xs = np.linspace(0.5, 1, 4).astype(jnp.bfloat16)
    g = cv.grad(lambda xs: lax.scan(lambda c, x: (c * x, None), jnp.bfloat16(1), xs)[0])(xs)
    want = np.prod(xs.astype(float)) / xs.astype(float)
    assert g.dtype == jnp.bfloat16
    np.testing.assert_allclose(g.astype(np.float32), want, rtol=0.02)


def test_no_steps():
    f = lambda c, xs: lax.scan(lambda c, x: (jnp.sin(c) * x, c), c, xs)[0]  # noqa: E731
    value, (c_bar, xs_bar) = cv.value_and_grad(f, (0, 1))(2.0, np.zeros(0, np.float32))
    assert (float(value), float(c_bar), xs_bar.shape) == (2, 1, (0,))


# ---------------------------------------------------------------- what is kept of each step


def stacked_shapes(f, *args):
    """The shapes of what the forward scan of a gradient stacks."""
    eqns = cv.make_jaxpr(cv.vjp, static_argnums=0)(f, *args).eqns
    (scan,) = [eqn for eqn in eqns if eqn.primitive.name == "scan"]
    return [var.aval.shape for var in scan.outvars[scan.params["num_carry"] :]]


def test_residuals_of_constants_are_not_stacked():
    w, c, xs = np.ones((3, 3), np.float32), np.ones(3, np.float32), np.ones((6, 3), np.float32)

    def linear(w, c):
        return lax.scan(lambda c, x: (c @ w + x, None), c, xs)[0]

    assert stacked_shapes(linear, w, c) == [(6, 3)], "the carry, for the derivative by w"
    assert stacked_shapes(lambda c: linear(w, c), c) == []

    def of_constants(w, c):
        return lax.scan(lambda c, x: (c @ jnp.exp(jnp.sin(w)), None), c, xs)[0]

    assert stacked_shapes(of_constants, w, c) == [(6, 3)]
    jaxpr = cv.make_jaxpr(cv.grad(lambda w: of_constants(w, c).sum()))(w)
    names = [eqn.primitive.name for eqn in jaxpr.eqns]
    assert {"sin", "cos", "exp"} <= set(names), "computed once, outside of the loop"


def test_inputs_and_outputs_serve_as_residuals():
    c, xs = np.float32(1), np.ones(6, np.float32)
    assert stacked_shapes(lambda c: lax.scan(lambda c, x: (c * x, None), c, xs)[0], c) == []
    with_output = lambda c, xs: lax.scan(lambda c, x: (c * x, c), c, xs)  # noqa: E731
    assert stacked_shapes(with_output, c, xs) == [(6,)]
    # Squares need their operand twice, and keep it once.
    assert stacked_shapes(lambda c: lax.scan(lambda c, x: (c * c, None), c, xs)[0], c) == [(6,)]


def test_effects_are_not_taken_out_of_the_loop():
    """What is computed from constants alone still has its effect in each step."""

    class Beep(cv.extend.core.Effect):
        pass

    beep = cv.extend.core.Primitive("beep")
    beep.multiple_results = True
    effects = {Beep()}
    beep.def_effectful_abstract_eval(lambda x: ([], effects))

    def f(w, c):
        def body(c, x):
            beep.bind(lax.stop_gradient(w))
            beep.bind(2)
            return c * jnp.sin(c) * w, None

        return lax.scan(body, c, np.ones(6))[0]

    jaxpr = cv.make_jaxpr(cv.vjp, static_argnums=0)(f, np.float32(1), np.float32(2))
    assert jaxpr.effects == effects
    (scan,) = jaxpr.eqns
    assert scan.effects == effects
    body, consts = scan.params["jaxpr"].jaxpr, scan.params["num_consts"]
    assert [eqn.primitive.name for eqn in body.eqns].count("beep") == 2
    # For the derivative by c, it needs w in the end; that is not stacked, being a constant.
    assert consts and not any(out is var for out in body.outvars for var in body.invars[:consts])
