"""Random bits with the kernel and without: those of JAX, and those of the definition."""

import numpy as np
import pytest

import covector as cv
from covector import random
from covector._src.ops.random_bits import threefry2x32_p

pytestmark = pytest.mark.usefixtures("either_way")

# Of many words, whose number is not one of whole blocks; of several dimensions.
SHAPES = [(4096,), (70003,), (3, 5, 700)]


def by_definition(key, shape):
    """The places in an array, encrypted: both words of each."""
    count = np.arange(np.prod(shape), dtype=np.uint64).reshape(shape)
    words = (count >> np.uint64(32)).astype(np.uint32), count.astype(np.uint32)
    return threefry2x32_p.ref(*np.asarray(random.key_data(key)), *words)


@pytest.mark.parametrize("shape", SHAPES)
def test_bits(shape):
    key = random.key(2**40 + 7)
    high, low = by_definition(key, shape)
    wide = high.astype(np.uint64) << np.uint64(32) | low
    for dtype, expected in [("uint64", wide), ("uint32", high ^ low), ("uint8", high ^ low)]:
        found = cv.jit(random.bits, static_argnums=(1, 2))(key, shape, dtype)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected.astype(dtype))


DRAWS = {
    "uniform": lambda r, key: r.uniform(key, (5000,)),
    "normal": lambda r, key: r.normal(key, (5000,)),
    "bernoulli": lambda r, key: r.bernoulli(key, 0.3, (5000,)),
    "randint": lambda r, key: r.randint(key, (5000,), 0, 1000),
    "uniform float32": lambda r, key: r.uniform(key, (5000,), "float32"),
}


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_are_those_of_jax(name, jax):
    with jax.enable_x64(True):
        expected = jax.jit(lambda key: DRAWS[name](jax.random, key))(jax.random.key(3))
    found = cv.jit(lambda key: DRAWS[name](random, key))(random.key(3))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_bits_of_many_keys():
    keys = random.split(random.key(5), 3)
    found = cv.jit(cv.vmap(lambda key: random.bits(key, (4099,), "uint32")))(keys)
    for got, key in zip(found, keys):
        high, low = by_definition(key, (4099,))
        np.testing.assert_array_equal(got, high ^ low)
