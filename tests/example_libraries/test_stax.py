"""Layers beside JAX's: the same parameters from the same key, the same outputs."""

import numpy as np
import pytest

import covector as cv
from covector.example_libraries import stax

LAYERS = {
    "dense": lambda m: m.Dense(3),
    "convolution": lambda m: m.Conv(3, (2, 3), strides=(1, 2), padding="SAME"),
    "transposed convolution": lambda m: m.ConvTranspose(3, (2, 3), strides=(2, 2)),
    "batch norm": lambda m: m.BatchNorm(),
    "batch norm without scale": lambda m: m.BatchNorm(axis=(0, 1), scale=False),
    "max pool": lambda m: m.MaxPool((2, 2), strides=(2, 1)),
    "sum pool": lambda m: m.SumPool((2, 3), padding="SAME"),
    "average pool": lambda m: m.AvgPool((2, 3), padding="SAME"),
    "pool of channels first": lambda m: m.AvgPool((2, 2), spec="NCHW"),
    "dropout": lambda m: m.Dropout(0.6),
    "no dropout": lambda m: m.Dropout(0.6, mode="test"),
    "branches": lambda m: m.serial(
        m.FanOut(2), m.parallel(m.Dense(2), m.serial(m.Tanh, m.Dense(3))), m.FanInConcat()
    ),
    "residual": lambda m: m.serial(m.FanOut(2), m.parallel(m.Identity, m.Dense(4)), m.FanInSum),
    "shape dependent": lambda m: m.shape_dependent(lambda shape: m.Dense(shape[-1] + 1)),
    "classifier": lambda m: m.serial(
        m.Conv(2, (3, 3)), m.Relu, m.Flatten, m.Dense(5), m.LogSoftmax
    ),
}
INPUTS = np.random.default_rng(0).normal(size=(2, 4, 5, 4)).astype(np.float32)
ELEMENTWISE = [
    "Tanh",
    "Relu",
    "Exp",
    "LogSoftmax",
    "Softmax",
    "Softplus",
    "Sigmoid",
    "Elu",
    "LeakyRelu",
    "Selu",
    "Gelu",
]


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("jax.example_libraries.stax")


def run(library, random, layer):
    key = random.PRNGKey(1)
    init_fun, apply_fun = layer(library)
    shape, params = init_fun(key, INPUTS.shape)
    out = apply_fun(params, INPUTS, rng=key)
    assert tuple(shape) == out.shape
    return cv.tree.map(np.asarray, (cv.tree.leaves(params), out))


@pytest.mark.parametrize("name", list(LAYERS))
def test_layers_are_those_of_jax(jax, theirs, name):
    ours = run(stax, cv.random, LAYERS[name])
    expected = run(theirs, jax.random, LAYERS[name])
    cv.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-6), ours, expected)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_layers_are_those_of_jax(theirs, name):
    ours, expected = [getattr(m, name)[1]((), INPUTS) for m in (stax, theirs)]
    np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)


def test_dropout_needs_a_key():
    with pytest.raises(ValueError, match="needs a random key"):
        stax.Dropout(0.5)[1]((), INPUTS)
