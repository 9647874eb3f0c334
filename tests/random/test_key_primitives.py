"""The primitives of random keys: their programs as text, their batches, their errors."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import extend, lax, random
from covector._src.control.random_keys import random_bits_p, random_fold_in_p, random_split_p
from covector._src.ops.random_bits import iota_2x32_shape_p

PROGRAMS = {
    "seed": lambda m, x: m.random.key(x),
    "raw": lambda m, x: m.random.split(m.random.PRNGKey(x)),
    "split": lambda m, x: m.random.split(m.random.key(x), (2, 3)),
    "fold_in": lambda m, x: m.random.fold_in(m.random.key(x), 7),
    "bits": lambda m, x: m.random.bits(m.random.key(x), (3,), "uint8"),
    "clone": lambda m, x: m.random.clone(m.random.key(x)),
    "data": lambda m, x: m.random.wrap_key_data(m.random.key_data(m.random.key(x))),
    "rbg": lambda m, x: m.random.bits(m.random.key(x, impl="rbg")),
    "uniform": lambda m, x: m.random.uniform(m.random.key(x), (2,)),
    "normal": lambda m, x: m.random.normal(m.random.key(x), (2,)),
    "exponential": lambda m, x: m.random.exponential(m.random.key(x), (2,)),
    "cauchy": lambda m, x: m.random.cauchy(m.random.key(x), (2,)),
    "laplace": lambda m, x: m.random.laplace(m.random.key(x), (2,)),
    "gamma": lambda m, x: m.random.gamma(m.random.key(x), 2.0, (2,)),
    "batch": lambda m, x: m.vmap(m.random.bits)(m.random.split(m.random.key(x), 3)),
    "batch of seeds": lambda m, x: m.vmap(m.random.key)(m.numpy.arange(3) + x),
    "batch of fold_in": lambda m, x: m.vmap(m.random.fold_in, (None, 0))(
        m.random.key(x), m.numpy.array([1, 2], "uint32")
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(jax, name):
    program = PROGRAMS[name]
    ours = cv.make_jaxpr(lambda x: program(cv, x))(3)
    theirs = jax.make_jaxpr(lambda x: program(jax, x))(3)
    assert str(ours) == str(theirs)


KNOWN_ANSWERS = [  # of the distribution of Random123, file kat_vectors
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize("size", [1, 511, 512])  # as a loop, and in a row
@pytest.mark.parametrize(("key", "block", "want"), KNOWN_ANSWERS)
def test_the_cipher(key, block, want, size):
    words = [jnp.full(size, word, "uint32") for word in (*key, *block)]
    for got, word in zip(extend.random.threefry2x32_p.bind(*words), want):
        assert (np.asarray(got) == np.uint32(word)).all()


def test_encryption_of_an_odd_number_of_words(jax):
    from jax.extend.random import threefry_2x32

    words = np.arange(7, dtype=np.uint32).reshape(7, 1)
    key = (np.uint32(1), np.uint32(2))
    want = threefry_2x32(tuple(map(jax.numpy.asarray, key)), jax.numpy.asarray(words))
    got = extend.random.threefry_2x32(key, words)
    np.testing.assert_array_equal(got, want)


def test_counters_beyond_32_bits():
    high, low = cv.eval_shape(lambda: iota_2x32_shape_p.bind(shape=(2**17, 2**16)))
    assert high.shape == low.shape == (2**17, 2**16)
    first, second = iota_2x32_shape_p.bind(shape=(3, 0, 2))
    assert first.size == second.size == 0


def test_batches_along_any_dimension():
    keys = random.split(random.key(0), (2, 3))
    bits = cv.vmap(lambda k: random_bits_p.bind(k, bit_width=32, shape=(4,)), 1, 1)(keys)
    want = jnp.stack([random_bits_p.bind(k, bit_width=32, shape=(4,)) for k in keys.T], 1)
    assert (bits == want).all()
    split = cv.vmap(lambda k: random_split_p.bind(k, shape=(2,)), 1)(keys)
    assert (split == jnp.stack([random_split_p.bind(k, shape=(2,)) for k in keys.T])).all()


def test_keys_and_integers_broadcast():
    keys = random.split(random.key(0), (2, 1))
    data = jnp.arange(3, dtype="uint32")[None]
    out = random_fold_in_p.bind(keys, data)
    assert out.shape == (2, 3)
    assert (out[1, 2] == random.fold_in(keys[1, 0], 2)).all()


def test_no_keys_at_all():
    keys = random.split(random.key(0), 0)
    assert cv.vmap(random.split)(keys).shape == (0, 2)
    assert cv.vmap(random.bits)(keys).shape == (0,)


@pytest.mark.parametrize(
    ("bind", "text"),
    [
        (lambda x: random_bits_p.bind(x, bit_width=32, shape=()), "takes an array of random keys"),
        (lambda x: random_split_p.bind(x, shape=()), "takes an array of random keys"),
        (lambda x: extend.random.threefry2x32_p.bind(x, x, x, x), "must have the dtype uint32"),
        (lambda x: lax.rng_bit_generator(x, (2,)), "must be a uint32 array of shape"),
    ],
)
def test_operands_of_other_types(bind, text):
    with pytest.raises(TypeError, match=text):
        bind(jnp.ones(2))
