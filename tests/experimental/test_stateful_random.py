"""Generators with a state draw what JAX's draw."""

import inspect

import jax
import jax.experimental.random as in_jax
import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.experimental.random import StatefulPRNG, stateful_rng

DRAWS = {
    "random": lambda rng, np: rng.random((2, 3)),
    "uniform": lambda rng, np: rng.uniform(np.arange(3.0), 5),
    "normal": lambda rng, np: rng.normal(np.arange(2), 3.0),
    "integers": lambda rng, np: rng.integers(0, np.array([3, 1000])),
    "integers up to": lambda rng, np: rng.integers(7, size=(5,), dtype="int8"),
    "nothing": lambda rng, np: rng.random(0),
}


def test_the_same_numbers_as_in_jax():
    ours, theirs = stateful_rng(42), in_jax.stateful_rng(42)
    for name, draw in DRAWS.items():
        x, y = draw(ours, jnp), draw(theirs, jax.numpy)
        assert (x.shape, x.dtype) == (y.shape, y.dtype), name
        np.testing.assert_array_equal(x, y, err_msg=name)
    for shape in ((), 3, (2, 1)):
        np.testing.assert_array_equal(
            cv.random.key_data(ours.key(shape)), jax.random.key_data(theirs.key(shape))
        )
    for x, y in zip(ours.spawn(2), theirs.spawn(2)):
        np.testing.assert_array_equal(x.random(2), y.random(2))


def test_under_transformations():
    ours, theirs = stateful_rng(1), in_jax.stateful_rng(1)

    def drawn(lib, rng):
        np_ = lib.numpy
        inner = lib.jit(lambda rng: rng.random(2))(rng)
        mapped = lib.vmap(lambda rng, x: x + rng.uniform())(rng.split(3), np_.zeros(3))
        # JAX cannot do this; a draw has no derivative, and is the slope.
        slope = cv.grad(lambda x: x * rng.random())(3.0) if lib is cv else rng.random()
        return inner, mapped, slope, rng.random()

    for x, y in zip(drawn(cv, ours), drawn(jax, theirs)):
        np.testing.assert_array_equal(x, y)
    with_seed = cv.jit(lambda seed: stateful_rng(seed).random())
    assert with_seed(3) == stateful_rng(3).random()


def test_it_is_a_tree():
    rng = stateful_rng(0, impl="rbg")
    leaves, treedef = cv.tree.flatten(rng)
    again = cv.tree.unflatten(treedef, leaves)
    assert len(leaves) == 2 and str(again._base_key.dtype) == "key<rbg>"
    rng.key()
    assert again._counter[...] == 1  # the same reference
    cv.vmap(lambda rng: rng.random(), in_axes=0)(rng.split(2))


def test_seeds_from_the_system_differ():
    assert stateful_rng().random() != stateful_rng().random()


def test_mistakes():
    with pytest.raises(TypeError, match="requires an explicit seed"):
        cv.jit(lambda: stateful_rng().random())()
    with pytest.raises(ValueError, match="cannot operate on split stateful generator"):
        stateful_rng(0).split(3).key()
    with pytest.raises(ValueError, match="Expected base_key to be a typed PRNG key"):
        StatefulPRNG(cv.random.PRNGKey(0), cv.new_ref(0))
    with pytest.raises(ValueError, match="Expected counter to be a scalar integer ref"):
        StatefulPRNG(cv.random.key(0), 0)


def test_signatures_are_those_of_jax():
    names = [n for n in dir(in_jax.StatefulPRNG) if n[0] != "_"]
    pairs = [(getattr(StatefulPRNG, n), getattr(in_jax.StatefulPRNG, n)) for n in names]
    for ours, theirs in [*pairs, (stateful_rng, in_jax.stateful_rng)]:
        if callable(theirs):
            ours, theirs = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
            assert [(p.name, p.kind, p.default) for p in ours.values()] == [
                (p.name, p.kind, p.default) for p in theirs.values()
            ]
