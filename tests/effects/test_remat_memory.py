"""Programs with `checkpoint` need less memory when they run, as XLA itself counts it."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax

WIDTH = 32


def normal(seed, *shape):
    draws = np.random.default_rng(seed).normal(size=shape) / np.sqrt(shape[-2])
    return draws.astype(np.float32)


def layer(w, x):
    return jnp.tanh(jnp.sin(x @ w) * jnp.exp(-x))


def block(params, x):
    """A transformer block with one head, without learned scales."""

    def normalized(x):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)

    wq, wk, wv, wo, up, down = params
    h = normalized(x)
    weights = jnp.exp(jnp.tanh(jnp.einsum("btd,bsd->bts", h @ wq, h @ wk)))
    attention = weights / weights.sum(-1, keepdims=True)
    x = x + jnp.einsum("bts,bsd->btd", attention, h @ wv) @ wo
    return x + jnp.maximum(normalized(x) @ up, 0) @ down


def block_params(seed):
    square = [normal(seed + i, WIDTH, WIDTH) for i in range(4)]
    return (*square, normal(seed, WIDTH, 4 * WIDTH), normal(seed, 4 * WIDTH, WIDTH))


LAYERS = {
    "mlp": (layer, [normal(i, WIDTH, WIDTH) for i in range(6)], normal(9, 512, WIDTH)),
    "transformer": (block, [block_params(i) for i in range(3)], normal(9, 2, 64, WIDTH)),
}


def unrolled(layer):
    def loss(params, x):
        for p in params:
            x = layer(p, x)
        return jnp.sum(x**2)

    return loss


def scanned(layer):
    def loss(params, x):
        stacked = cv.tree.map(lambda *xs: jnp.stack(xs), *params)
        return jnp.sum(lax.scan(lambda x, p: (layer(p, x), None), x, stacked)[0] ** 2)

    return loss


def compiled(loss, *args):
    return cv.jit(cv.grad(loss)).lower(*args).compile()


def temporary_bytes(program):
    return program.memory_analysis().temp_size_in_bytes


@pytest.mark.parametrize(
    ("kind", "loss"), [("mlp", unrolled), ("mlp", scanned), ("transformer", unrolled)]
)
def test_less_memory_and_the_same_gradient(kind, loss):
    layer, *args = LAYERS[kind]
    plain = compiled(loss(layer), *args)
    again = compiled(loss(cv.checkpoint(layer)), *args)
    assert temporary_bytes(again) < 0.6 * temporary_bytes(plain)
    for a, b in zip(cv.tree.leaves(again(*args)), cv.tree.leaves(plain(*args)), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4 * np.abs(b).max())


def test_what_a_policy_saves_lies_between():
    layer, *args = LAYERS["mlp"]
    sizes = [
        temporary_bytes(compiled(unrolled(wrapped), *args))
        for wrapped in (
            cv.checkpoint(layer),
            cv.checkpoint(layer, policy=cv.checkpoint_policies.dots_saveable),
            layer,
        )
    ]
    assert sizes == sorted(set(sizes))


def test_without_barriers_the_second_computation_is_merged_with_the_first():
    layer, *args = LAYERS["mlp"]
    kept, merged = (
        temporary_bytes(compiled(unrolled(cv.checkpoint(layer, prevent_cse=prevent)), *args))
        for prevent in (True, False)
    )
    assert kept < 0.8 * merged


def test_barriers_in_small_loops_and_branches_compile():
    """For these XLA has an older generator of code, which knows no barriers."""
    step = cv.checkpoint(lambda c: jnp.sin(c) * 2)

    def f(x):
        c = lax.fori_loop(0, 3, lambda _, c: step(c), x)
        return jnp.sum(lax.cond(c[0] > 0, step, lambda c: c, c))

    x = np.array([0.3, 0.7], np.float32)
    want, slope = x.astype(np.float64), np.ones(2)
    for _ in range(3):
        want, slope = 2 * np.sin(want), slope * 2 * np.cos(want)
    slope *= 2 * np.cos(want)  # the fourth time, in the branch
    assert want[0] > 0
    np.testing.assert_allclose(cv.jit(cv.grad(f))(x), slope, rtol=1e-5)
