"""Composites: one program where values are concrete, and only functions under every trace."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector._src.core.trace import eval_trace

CALLS = {
    "mean": lambda x: x.mean(axis=0),
    "var": lambda x: x.var(),
    "floor_divide": lambda x: x // 2,
    "where": lambda x: jnp.where(x > 1, x, 0.0),
    "promoted": lambda x: x + np.arange(3),
    "indexed": lambda x: x[1, ::-1],
    "updated": lambda x: x.at[0].add(1.0),
    "einsum": lambda x: jnp.einsum("ij,kj->ik", x, x),
    "linspace": lambda x: jnp.linspace(x[0], x[1], 4),
    "hypot": lambda x: jnp.hypot(x, 1),
    "sinc": lambda x: jnp.sinc(x),
    "pad": lambda x: jnp.pad(x, 1, "reflect"),
    "tril": lambda x: jnp.tril(x),
    "roll": lambda x: jnp.roll(x, 1),
}
X = np.array([[0.5, 1.5, -2.5], [3.0, 0.0, 1.0]], np.float32)


@pytest.mark.parametrize("name", CALLS)
def test_same_everywhere(name):
    call, x = CALLS[name], jnp.asarray(X)
    want = np.asarray(call(x))
    np.testing.assert_allclose(np.asarray(covector.jit(call)(x)), want, rtol=1e-6)
    with covector.disable_jit():
        np.testing.assert_allclose(np.asarray(call(x)), want, rtol=1e-6)
    with covector.reference_mode():
        np.testing.assert_allclose(np.asarray(call(x)), want, rtol=1e-5, atol=1e-6)
    got = covector.vmap(call)(jnp.stack([x, x + 1]))
    np.testing.assert_allclose(np.asarray(got[0]), want, rtol=1e-6)
    (slope,) = covector.vjp(call, x)[1](jnp.ones_like(call(x)))
    jitted = covector.jit(lambda x: covector.vjp(call, x)[1](jnp.ones_like(call(x)))[0])(x)
    np.testing.assert_allclose(np.asarray(slope), np.asarray(jitted), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["mean", "var", "floor_divide", "updated", "einsum", "tril"])
def test_one_program(name):
    x = jnp.arange(35.0).reshape(5, 7)
    ops = eval_trace.backend._ops
    call = CALLS[name]
    before = len(ops)
    call(x)
    assert len(ops) == before + 1
    call(x + 0)
    call(x)
    assert len(ops) <= before + 2


def test_traces_see_the_primitives():
    jaxpr = covector.make_jaxpr(lambda x: jnp.where(x > 0, x, 0.0).mean())(X)
    names = [eqn.primitive.name for eqn in jaxpr.eqns]
    assert names == ["gt", "broadcast_in_dim", "select_n", "reduce_sum", "div"]


def test_on_another_device():
    device = covector.devices()[0]
    x = covector.device_put(X, device)
    for name, call in CALLS.items():
        y = call(x)
        assert y.committed and y.devices() == {device}, name
