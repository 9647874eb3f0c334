"""Generators beside the default one, older streams, and generators of one's own."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import extend, lax, random
from tests.random.streams import assert_same_stream, draw

DRAWS = {
    "split": lambda R, k, jnp: R.split(k, (2, 2)),
    "fold_in": lambda R, k, jnp: R.fold_in(k, 3),
    "bits": lambda R, k, jnp: R.bits(k, (5,)),
    "bits 8": lambda R, k, jnp: R.bits(k, (5,), "uint8"),
    "normal": lambda R, k, jnp: R.normal(k, (31,)),
}


OTHERS = ("rbg", "unsafe_rbg", "threefry4x32", "philox2x32", "philox4x32")


@pytest.mark.parametrize("impl", OTHERS)
@pytest.mark.parametrize("name", DRAWS)
def test_streams_of_other_generators(jax, name, impl):
    assert_same_stream(jax, DRAWS[name], impl=impl)


@pytest.mark.parametrize("impl", OTHERS)
def test_streams_of_64_bits(jax, impl):
    with jax.enable_x64(True), cv.enable_x64(True):
        assert_same_stream(jax, DRAWS["bits"], impl=impl, seed=2**40 + 5)


@pytest.mark.parametrize("impl", ["rbg", "unsafe_rbg"])
def test_batches_of_keys_of_other_generators(jax, impl):
    for got, want in zip(*[drawn_in_batches(library, impl) for library in (cv, jax)]):
        np.testing.assert_array_equal(got, want)


def drawn_in_batches(m, impl):
    keys = m.random.split(m.random.key(1, impl=impl), (2, 2))
    bits = m.vmap(m.vmap(lambda key: m.random.bits(key, (3,))))(keys)
    new = m.vmap(lambda data: m.random.fold_in(keys[0, 0], data))(np.arange(3))
    return np.asarray(bits), np.asarray(m.random.key_data(new))


@pytest.mark.parametrize("name", [*DRAWS, "bits 16", "scalar"])
def test_streams_from_before_they_could_be_parted(jax, name):
    more = {
        "bits 16": lambda R, k, jnp: R.bits(k, (3, 5), "uint16"),
        "scalar": lambda R, k, jnp: R.bits(k),
    }
    sampler = (DRAWS | more)[name]
    with jax.threefry_partitionable(False), cv.threefry_partitionable(False):
        assert_same_stream(jax, sampler)
        older = draw(cv, sampler)
    if name != "fold_in":
        assert (older != draw(cv, sampler)).any()


def test_the_default_generator_is_a_flag():
    with cv.default_prng_impl("rbg"):
        assert random.key_impl(random.key(0)) == "rbg"
        assert random.PRNGKey(0).shape == (4,)
        assert random.uniform(random.PRNGKey(0)).shape == ()
    assert random.key(0, impl="unsafe_rbg").dtype == random.key_dtype("unsafe_rbg")


def test_seeds():
    assert random.PRNGKey(7).tolist() == [0, 7]
    assert random.PRNGKey(-1).tolist() == [0, 2**32 - 1]
    assert random.PRNGKey(2**40 + 3).tolist() == [0, 3]
    assert random.PRNGKey(np.uint8(255)).tolist() == [0, 255]
    with cv.enable_x64(True):
        assert random.PRNGKey(2**40 + 3).tolist() == [256, 3]
        assert random.PRNGKey(-1).tolist() == [2**32 - 1] * 2
    with pytest.raises(OverflowError):
        random.key(2**64)
    previous = cv.config.jax_random_seed_offset
    cv.config.update("jax_random_seed_offset", 3)
    try:
        assert random.PRNGKey(4).tolist() == [0, 7]
    finally:
        cv.config.update("jax_random_seed_offset", previous)


def counting():
    """A generator whose bits are its key, and whose keys count up."""
    return extend.random.define_prng_impl(
        key_shape=(1, 1),
        seed=lambda seed: jnp.asarray(seed, "uint32").reshape(1, 1),
        split=lambda key, shape: (
            key + jnp.arange(np.prod(shape), dtype="uint32").reshape(*shape, 1, 1)
        ),
        random_bits=lambda key, width, shape: jnp.full(shape, key[0, 0], f"uint{width}"),
        fold_in=lambda key, data: key + data,
        name="counting",
        tag="count",
    )


def test_a_generator_of_ones_own():
    key = random.key(5, impl=counting())
    assert str(key.dtype) == "key<count>" and key.shape == ()
    assert random.bits(key, (2,)).tolist() == [5, 5]
    assert random.key_data(random.split(key, 2)).tolist() == [[[5]], [[6]]]
    assert random.key_data(random.fold_in(key, 9)).tolist() == [[14]]
    assert cv.vmap(random.bits)(random.split(key, 3)).tolist() == [5, 6, 7]
    assert str(random.key_impl(key)) == "count"
    assert random.key(1, impl=random.key_impl(key)).dtype == key.dtype
    assert key.dtype != random.key(0).dtype


def test_bits_of_xla(jax):
    state = np.arange(4, dtype=np.uint32)
    for algorithm in lax.RandomAlgorithm:
        want = jax.lax.rng_bit_generator(state, (2, 3), algorithm=int(algorithm))
        for got, expected in zip(lax.rng_bit_generator(state, (2, 3), algorithm=algorithm), want):
            np.testing.assert_array_equal(got, expected)
    states = np.arange(8, dtype=np.uint32).reshape(4, 2)
    want = jax.vmap(lambda s: jax.lax.rng_bit_generator(s, (3,), "uint8"), in_axes=1)(states)
    got = cv.vmap(lambda s: lax.rng_bit_generator(s, (3,), "uint8"), in_axes=1)(states)
    for ours, theirs in zip(got, want):
        np.testing.assert_array_equal(ours, theirs)


def test_uniform_numbers_of_xla():
    x = lax.rng_uniform(np.float32(2), np.float32(3), (50,))
    assert (x >= 2).all() and (x < 3).all() and len(set(x.tolist())) > 1
    with pytest.raises(ValueError, match="bounds must be scalars"):
        lax.rng_uniform(np.zeros(2, "float32"), np.float32(1), (2,))
