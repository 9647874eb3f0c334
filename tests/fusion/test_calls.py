"""Calls of all kinds are looked into by the planning, as if they were written out."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.base import config
from covector._src.transforms.inline import Values

X = np.linspace(0.1, 0.5, 8, dtype=np.float32)


def recurrence(x):
    """Each step reads the last one twice, at different indices: fused, its work doubles."""
    for _ in range(8):
        x = jnp.sin(x) * 1.01 + x[0]
    return x


custom_jvp = cv.custom_jvp(recurrence)
custom_jvp.defjvp(lambda primals, tangents: (recurrence(*primals), *tangents))
custom_vjp = cv.custom_vjp(recurrence)
custom_vjp.defvjp(lambda x: (recurrence(x), None), lambda _, ct: (ct,))
custom_vmap = cv.custom_batching.custom_vmap(recurrence)
custom_vmap.def_vmap(lambda size, batched, x: (recurrence(x), batched[0]))


def linear_call(x):
    def linear(factor, t):
        return recurrence(factor) * t

    return cv.custom_derivatives.linear_call(linear, linear, x, 2 * x)


def custom_root(x):
    return lax.custom_root(
        lambda y: y - recurrence(x), x, lambda f, guess: recurrence(x), lambda g, y: y
    )


def custom_linear_solve(x):
    return lax.custom_linear_solve(lambda y: 2 * y, x, lambda _, b: recurrence(b) / 2)


CALLS = {
    "jit": cv.jit(recurrence),
    "checkpoint": cv.checkpoint(recurrence),
    "custom_jvp_call": custom_jvp,
    "custom_vjp_call": custom_vjp,
    "custom_vmap_call": custom_vmap,
    "linear_call": linear_call,
    "custom_root": custom_root,
    "custom_linear_solve": custom_linear_solve,
}


@pytest.mark.parametrize("name", CALLS)
def test_values_within_are_stored(name):
    call = CALLS[name]
    plain, lowered = (cv.jit(f).lower(X) for f in (recurrence, call))
    wanted = plain.as_text().count("stablehlo.optimization_barrier")
    assert lowered.as_text().count("stablehlo.optimization_barrier") >= wanted > 2
    got = lowered.compile()(X)
    with config.materialization(False):
        np.testing.assert_allclose(got, call(X), rtol=1e-5)


@pytest.mark.parametrize("name", CALLS)
def test_no_call_is_a_boundary(name):
    values = Values(cv.make_jaxpr(CALLS[name])(X))
    primitives = {eqn.primitive for eqn in values.eqns if eqn is not None}
    assert lax.sin_p in primitives
    assert all(primitive.fusion.fused for primitive in primitives)
