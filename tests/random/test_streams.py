"""The same key gives the numbers that JAX draws: bits, integers, floats, selections."""

import numpy as np
import pytest

import covector as cv
from tests.random.streams import as_numpy, assert_same_stream, draw

SAMPLERS = {
    "split": lambda R, k, jnp: R.split(k, 3),
    "split shape": lambda R, k, jnp: R.split(k, (2, 2)),
    "fold_in": lambda R, k, jnp: R.fold_in(k, 5),
    "bits": lambda R, k, jnp: R.bits(k, (700,)),
    "bits 8": lambda R, k, jnp: R.bits(k, (5,), "uint8"),
    "bits 16": lambda R, k, jnp: R.bits(k, (3, 7), "uint16"),
    "bits none": lambda R, k, jnp: R.bits(k, (0, 2)),
    "uniform": lambda R, k, jnp: R.uniform(k, (3, 4), minval=-2, maxval=3),
    "uniform scalar": lambda R, k, jnp: R.uniform(k),
    "uniform f16": lambda R, k, jnp: R.uniform(k, (30,), "float16", -1, 2),
    "uniform bf16": lambda R, k, jnp: R.uniform(k, (30,), "bfloat16", -1, 2),
    "uniform f8": lambda R, k, jnp: R.uniform(k, (30,), jnp.float8_e4m3fn, -1, 2),
    "uniform bounds": lambda R, k, jnp: R.uniform(
        k, (3, 2), minval=jnp.zeros(2), maxval=jnp.array([1.0, 2.0])
    ),
    "randint": lambda R, k, jnp: R.randint(k, (50,), -5, 1000000),
    "randint u8": lambda R, k, jnp: R.randint(k, (50,), 0, 256, "uint8"),
    "randint i8": lambda R, k, jnp: R.randint(k, (50,), -128, 128, "int8"),
    "randint u32": lambda R, k, jnp: R.randint(k, (50,), 0, np.uint32(2**32 - 1), "uint32"),
    "randint empty range": lambda R, k, jnp: R.randint(k, (50,), 5, 5),
    "randint bounds": lambda R, k, jnp: R.randint(k, (2, 3), jnp.array([0, 1, 2]), 7),
    "bernoulli": lambda R, k, jnp: R.bernoulli(k, 0.3, (20,)),
    "bernoulli high": lambda R, k, jnp: R.bernoulli(k, 0.3, (20,), mode="high"),
    "bernoulli p": lambda R, k, jnp: R.bernoulli(k, jnp.array([0.1, 0.5]), (3, 2)),
    "rademacher": lambda R, k, jnp: R.rademacher(k, (20,), "float32"),
    "permutation": lambda R, k, jnp: R.permutation(k, 10),
    "permutation rows": lambda R, k, jnp: R.permutation(k, jnp.arange(12).reshape(3, 4)),
    "permutation each": lambda R, k, jnp: R.permutation(
        k, jnp.arange(12).reshape(3, 4), axis=1, independent=True
    ),
    "choice": lambda R, k, jnp: R.choice(k, jnp.arange(12).reshape(3, 4), (2,), axis=1),
    "choice p": lambda R, k, jnp: R.choice(k, 5, (7,), p=jnp.array([0.1, 0.2, 0.3, 0.2, 0.2])),
    "choice without": lambda R, k, jnp: R.choice(k, 5, (3,), replace=False),
    "choice without p": lambda R, k, jnp: R.choice(
        k, 5, (3,), replace=False, p=jnp.array([0.1, 0.2, 0.3, 0.2, 0.2])
    ),
    "categorical": lambda R, k, jnp: R.categorical(
        k, jnp.arange(6.0).reshape(2, 3), axis=0, shape=(4, 3)
    ),
    "categorical without": lambda R, k, jnp: R.categorical(
        k, jnp.arange(6.0).reshape(2, 3), axis=0, shape=(2, 3), replace=False
    ),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_stream_is_that_of_jax(optimized_jax, name):
    # With its usual options, since sums of products are rounded as those say.
    assert_same_stream(optimized_jax, SAMPLERS[name])


@pytest.mark.parametrize("name", ["split", "fold_in", "bits", "uniform", "permutation"])
def test_raw_keys_give_the_same_stream(name):
    raw, typed = draw(cv, SAMPLERS[name], typed=False), draw(cv, SAMPLERS[name])
    np.testing.assert_array_equal(raw, typed)


@pytest.mark.parametrize("name", ["split shape", "fold_in", "uniform", "randint", "choice p"])
def test_a_jitted_draw_is_the_same(name):
    sampler = SAMPLERS[name]
    key = cv.random.key(3)
    jitted = cv.jit(lambda key: sampler(cv.random, key, cv.numpy))(key)
    np.testing.assert_array_equal(
        as_numpy(cv, jitted), as_numpy(cv, sampler(cv.random, key, cv.numpy))
    )


@pytest.mark.parametrize("name", ["split shape", "fold_in", "bits 8", "uniform", "categorical"])
def test_a_batch_of_keys_draws_what_each_key_draws(name):
    sampler = SAMPLERS[name]
    keys = cv.random.split(cv.random.key(3), 4)
    batch = as_numpy(cv, cv.vmap(lambda key: sampler(cv.random, key, cv.numpy))(keys))
    for row, key in zip(batch, keys):
        np.testing.assert_array_equal(row, as_numpy(cv, sampler(cv.random, key, cv.numpy)))


def test_shapes_may_be_integers():
    key = cv.random.key(0)
    assert cv.random.normal(key, 3).tolist() == cv.random.normal(key, (3,)).tolist()


def test_the_first_keys_of_a_split_do_not_depend_on_their_number():
    key = cv.random.key(5)
    few, many = cv.random.split(key, 3), cv.random.split(key, 600)
    assert (few == many[:3]).all()


@pytest.mark.parametrize("name", ["bits", "uniform", "randint"])
def test_streams_of_64_bits(jax, name):
    samplers = {
        "bits": lambda R, k, jnp: R.bits(k, (20,)),
        "uniform": lambda R, k, jnp: R.uniform(k, (20,)),
        "randint": lambda R, k, jnp: R.randint(k, (20,), -(10**12), 10**12),
    }
    with jax.enable_x64(True), cv.enable_x64(True):
        assert draw(cv, samplers[name]).dtype.itemsize == 8
        assert_same_stream(jax, samplers[name], seed=2**40 + 1)
