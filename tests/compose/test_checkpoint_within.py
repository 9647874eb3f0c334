"""Policies of checkpoint reach values within loops, branches, custom rules and checkpoints."""

import numpy as np
import pytest

import covector as cv
from covector.ad_checkpoint import checkpoint_name, saved_residuals

W = np.full((4, 4), 0.3, np.float32) + np.eye(4, dtype=np.float32) / 4
X = np.linspace(0.1, 0.7, 32, dtype=np.float32).reshape(8, 4)
POLICIES = ("none", "everything", "dots", "names")


def programs(m, name):
    """Functions of a square matrix and of rows, with a product and a sine in different places."""
    jnp, lax = m.numpy, m.lax

    def layer(w, x):
        return jnp.sin(name(jnp.dot(x, w), "product"))

    def cond(w, x):
        return lax.cond(x[0, 0] > 0, lambda: jnp.sin(layer(w, jnp.sin(x))), lambda: x * 2).sum()

    def switch(w, x):
        branches = [layer, lambda w, x: jnp.cos(layer(w, layer(w, x))), lambda w, x: x]
        return lax.switch(jnp.int32(x[0, 0] + 1), branches, w, x).sum()

    def scan(w, x):
        return lax.scan(lambda c, _: (layer(w, jnp.sin(c)), None), x, None, length=5)[0].sum()

    def scan_with_outputs(w, x):
        step = lambda c, _: (layer(w, jnp.sin(c)), jnp.cos(c))  # noqa: E731
        _, ys = lax.scan(step, x, None, length=5)
        return (ys * ys).sum()

    def scan_over_inputs(w, x):
        xs = jnp.stack([x, x + 1])
        return lax.scan(lambda c, v: (c + layer(w, v).sum(), None), 0.0, xs, reverse=True)[0]

    def jit(w, x):
        return m.jit(lambda w, x: m.jit(layer)(w, jnp.sin(x)))(w, x).sum()

    def jit_in_cond(w, x):
        return lax.cond(x[0, 0] > 0, lambda: m.jit(layer)(w, x), lambda: x * 2).sum()

    def cond_in_scan(w, x):
        def step(c, _):
            return lax.cond(c[0, 0] > 0, lambda c: layer(w, jnp.sin(c)), lambda c: c, c), None

        return lax.scan(step, x, None, length=5)[0].sum()

    def scan_in_scan(w, x):
        def step(c, _):
            return lax.scan(lambda c, _: (layer(w, jnp.sin(c)), None), c, None, length=2)[0], None

        return lax.scan(step, x, None, length=3)[0].sum()

    def nested(w, x):
        return jnp.sin(m.checkpoint(lambda w, x: layer(w, jnp.sin(x)))(w, x)).sum()

    def nested_policies(w, x):
        inner = m.checkpoint(layer, policy=m.checkpoint_policies.dots_saveable)
        return jnp.sin(inner(w, jnp.sin(x))).sum()

    def checkpoint_in_scan(w, x):
        def step(c, _):
            return m.checkpoint(lambda c: layer(w, jnp.sin(c)))(c), None

        return lax.scan(step, x, None, length=5)[0].sum()

    def fori_loop(w, x):
        return lax.fori_loop(0, 4, lambda _, c: layer(w, jnp.sin(c)), x).sum()

    def mapped(w, x):
        return lax.map(lambda v: layer(w, jnp.sin(v)), jnp.stack([x, x])).sum()

    by_jvp = m.custom_jvp(layer)
    by_jvp.defjvp(
        lambda p, t: (
            by_jvp(*p),
            jnp.cos(name(jnp.dot(p[1], p[0]), "product")) * (jnp.dot(t[1], p[0]) + p[1] @ t[0]),
        )
    )

    def custom_jvp(w, x):
        return by_jvp(w, jnp.sin(x)).sum()

    def forward(w, x):
        y = jnp.dot(x, w)
        return jnp.sin(y), (y, w, x)

    def backward(residuals, ct):
        y, w, x = residuals
        return x.T @ (ct * jnp.cos(y)), (ct * jnp.cos(y)) @ w.T

    by_vjp = m.custom_vjp(layer)
    by_vjp.defvjp(forward, backward)

    def custom_vjp(w, x):
        return by_vjp(w, jnp.sin(x)).sum()

    def while_loop(w, x):
        last = lax.while_loop(lambda c: c.sum() < 0, lambda c: layer(w, c), x)
        return (layer(w, x) * lax.stop_gradient(last)).sum()

    return {f.__name__: f for f in [
        cond, switch, scan, scan_with_outputs, scan_over_inputs, jit, jit_in_cond, cond_in_scan,
        scan_in_scan, nested, nested_policies, checkpoint_in_scan, fori_loop, mapped, custom_jvp,
        custom_vjp, while_loop,
    ]}  # fmt: skip


def policies(m):
    p = m.checkpoint_policies
    found = (None, p.everything_saveable, p.dots_saveable, p.save_only_these_names("product"))
    return dict(zip(POLICIES, found, strict=True))


OURS = programs(cv, checkpoint_name)


def types(residuals):
    return sorted(str(aval).removeprefix("ShapedArray(").removesuffix(")") for aval, _ in residuals)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("program", OURS)
def test_what_is_saved_is_what_jax_saves(program, policy):
    jax = pytest.importorskip("jax")
    from jax._src.ad_checkpoint import checkpoint_name as name_of_jax
    from jax._src.ad_checkpoint import saved_residuals as residuals_of_jax

    theirs = programs(jax, name_of_jax)[program]
    theirs = jax.checkpoint(theirs, policy=policies(jax)[policy])
    ours = cv.checkpoint(OURS[program], policy=policies(cv)[policy])
    assert types(saved_residuals(ours, W, X)) == types(residuals_of_jax(theirs, W, X))


@pytest.mark.parametrize("program", OURS)
def test_gradients_are_those_without_checkpoint(program):
    f = OURS[program]

    def gradients(w, x):
        wrapped = [cv.checkpoint(f, policy=policies(cv)[name]) for name in POLICIES]
        return [cv.grad(g, argnums=(0, 1))(w, x) for g in [f, *wrapped]]

    want, *found = cv.jit(gradients)(W, X)
    for gradient in found:
        for a, b in zip(gradient, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_product_that_is_saved_is_not_computed_again():
    def products(program):
        text = str(cv.make_jaxpr(cv.grad(program))(W, X))
        return text.count("dot_general[")

    for name in ("scan", "cond", "checkpoint_in_scan", "cond_in_scan"):
        saving = cv.checkpoint(OURS[name], policy=cv.checkpoint_policies.dots_saveable)
        plain = "scan" if name == "checkpoint_in_scan" else name
        assert products(saving) == products(OURS[plain])
        assert products(cv.checkpoint(OURS[name])) > products(OURS[name])
