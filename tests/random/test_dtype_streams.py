"""The same key draws the numbers that JAX draws, in every dtype and with every kind of key.

What is compared bit by bit are integers, booleans and uniform floats; floats that went through a
transcendental function may differ in what XLA leaves open.
"""

import numpy as np
import pytest

import covector as cv
from tests.random.streams import as_numpy

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int16", "uint32", "int64", "uint64")
SHAPE = (3,)

# Each takes the module, a key and a dtype.
OF_FLOATS = {
    "uniform": lambda R, k, d: R.uniform(k, SHAPE, d),
    "normal": lambda R, k, d: R.normal(k, SHAPE, d),
    "laplace": lambda R, k, d: R.laplace(k, SHAPE, d),
}
OF_INTEGERS = {
    "bits": lambda R, k, d: R.bits(k, SHAPE, d) if d[0] == "u" else R.randint(k, SHAPE, -5, 9, d),
    "randint": lambda R, k, d: R.randint(k, SHAPE, 0, 100, d),
    "rademacher": lambda R, k, d: R.rademacher(k, SHAPE, d),
}
KINDS = {
    "typed": lambda R: R.key(3),
    "raw": lambda R: R.PRNGKey(3),
    "rbg": lambda R: R.key(3, impl="rbg"),
    "unsafe_rbg": lambda R: R.key(3, impl="unsafe_rbg"),
}


def drawn(library, samplers, kind, dtypes):
    """What all samplers draw in all dtypes, in one program."""
    key = KINDS[kind](library.random)
    program = library.jit(
        lambda key: {
            (name, dtype): sampler(library.random, key, dtype)
            for name, sampler in samplers.items()
            for dtype in dtypes
        }
    )
    return {name: as_numpy(library, x) for name, x in program(key).items()}


def compare(jax, samplers, kind, dtypes):
    with jax.enable_x64(True), cv.enable_x64(True):
        wanted = drawn(jax, samplers, kind, dtypes)
        got = drawn(cv, samplers, kind, dtypes)
    for name, want in wanted.items():
        x = got[name]
        assert (x.dtype, x.shape) == (want.dtype, want.shape), name
        if want.dtype.kind in "biu" or name[0] == "uniform":
            assert x.tobytes() == want.tobytes(), (name, x, want)
            continue
        eps = float(cv.numpy.finfo(want.dtype).eps)
        wide = [np.asarray(y, np.float64) for y in (x, want)]
        np.testing.assert_allclose(*wide, rtol=8 * eps, atol=8 * eps, err_msg=str(name))


@pytest.mark.parametrize("kind", ["typed", "rbg", "unsafe_rbg"])
def test_floats(jax, kind):
    compare(jax, OF_FLOATS, kind, FLOATS if kind == "typed" else FLOATS[::3])


def test_integers(jax):
    compare(jax, OF_INTEGERS, "raw", INTEGERS)


def test_streams_from_before_they_could_be_parted(jax):
    few = {"uniform": OF_FLOATS["uniform"]}
    with jax.threefry_partitionable(False), cv.threefry_partitionable(False):
        compare(jax, few, "typed", FLOATS)


REPARAMETRIZED = {
    "gamma": lambda R, k, a: R.gamma(k, a),
    "beta": lambda R, k, a: R.beta(k, a, a[::-1] + 1),
}


def slopes(library, a):
    """The derivatives of all reparametrized samples in their parameter."""

    def total(sampler):
        return lambda a: (sampler(library.random, library.random.key(2), a) ** 2).sum()

    program = library.jit(
        lambda a: {name: library.grad(total(f))(a) for name, f in REPARAMETRIZED.items()}
    )
    return {name: np.asarray(x) for name, x in program(a).items()}


def test_gradients_of_samples(jax):
    a = np.array([0.3, 1.5, 7.0])
    with jax.enable_x64(True), cv.enable_x64(True):
        wanted, got = slopes(jax, a), slopes(cv, a)
    for name, want in wanted.items():
        np.testing.assert_allclose(got[name], want, rtol=1e-9, err_msg=name)
