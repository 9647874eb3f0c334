"""The gamma distribution and what is made of it: values, and derivatives in the parameters."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import random
from tests.random.streams import assert_same_stream

SAMPLERS = {
    "gamma": lambda R, k, jnp: R.gamma(k, jnp.array([0.1, 1.0, 10.0, 1e3])),
    "gamma f16": lambda R, k, jnp: R.gamma(k, jnp.array([0.5, 2.0]), dtype="float16"),
    "loggamma": lambda R, k, jnp: R.loggamma(k, 0.01, (20,)),
    "beta": lambda R, k, jnp: R.beta(k, 2.0, 3.0, (20,)),
    "dirichlet": lambda R, k, jnp: R.dirichlet(k, jnp.ones((2, 4))),
    "t": lambda R, k, jnp: R.t(k, 3.0, (20,)),
    "f": lambda R, k, jnp: R.f(k, 3.0, 4.0, (20,)),
    "rbg": lambda R, k, jnp: R.gamma(R.key(1, impl="rbg"), 2.0, (3,)),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_stream_is_that_of_jax(jax, name):
    assert_same_stream(jax, SAMPLERS[name])


DISTRIBUTIONS = {
    "gamma": (lambda k, n: random.gamma(k, 2.5, n), "gamma", (2.5,)),
    "gamma below 1": (lambda k, n: random.gamma(k, 0.3, n), "gamma", (0.3,)),
    "loggamma": (lambda k, n: jnp.exp(random.loggamma(k, 0.8, n)), "gamma", (0.8,)),
    "beta": (lambda k, n: random.beta(k, 0.5, 2.0, n), "beta", (0.5, 2.0)),
    "chisquare": (lambda k, n: random.chisquare(k, 3.0, n), "chi2", (3.0,)),
    "t": (lambda k, n: random.t(k, 4.0, n), "t", (4.0,)),
    "f": (lambda k, n: random.f(k, 3.0, 5.0, n), "f", (3.0, 5.0)),
    "generalized": (lambda k, n: random.generalized_normal(k, 1.5, n), "gennorm", (1.5,)),
    "dirichlet": (
        lambda k, n: random.dirichlet(k, jnp.array([1.0, 2.0, 3.0]), n)[:, 0], "beta", (1.0, 5.0)
    ),
    "ball": (lambda k, n: (random.ball(k, 3, shape=n) ** 2).sum(-1) ** 1.5, "uniform", ()),
}  # fmt: skip


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_distribution_function_is_right(name):
    stats = pytest.importorskip("scipy.stats")
    sampler, law, parameters = DISTRIBUTIONS[name]
    with cv.disable_jit():  # most are made of the same gamma samples, which takes one program so
        samples = np.asarray(sampler(random.key(5), (2000,)))
    assert stats.kstest(samples, law, parameters).pvalue > 1e-3


@pytest.mark.parametrize("log_space", [False, True])
def test_the_derivative_keeps_the_distribution_function(log_space):
    """dx/da = -(dF/da) / (dF/dx), by finite differences of SciPy's F."""
    stats = pytest.importorskip("scipy.stats")
    a = np.array([0.4, 1.0, 2.5, 8.0])
    with cv.enable_x64(True):
        sampler = random.loggamma if log_space else random.gamma
        x, slope = cv.jvp(lambda a: sampler(random.key(3), a), (a,), (np.ones(4),))
        x, slope = np.asarray(x), np.asarray(slope)
    if log_space:
        x, slope = np.exp(x), slope * np.exp(x)
    h = 1e-6
    along_a = (stats.gamma.cdf(x, a + h) - stats.gamma.cdf(x, a - h)) / (2 * h)
    np.testing.assert_allclose(slope, -along_a / stats.gamma.pdf(x, a), rtol=1e-5)


GRADIENTS = {
    "gamma": lambda R, k, jnp: lambda a: R.gamma(k, a * jnp.array([0.5, 1.0, 4.0])).sum(),
    "beta": lambda R, k, jnp: lambda a: R.beta(k, a, 2.0),
    "dirichlet": lambda R, k, jnp: lambda a: R.dirichlet(k, a * jnp.array([0.5, 1.0, 4.0]))[0],
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_jax(jax, name):
    want = jax.grad(GRADIENTS[name](jax.random, jax.random.key(2), jax.numpy))(1.5)
    got = cv.grad(GRADIENTS[name](random, random.key(2), jnp))(1.5)
    np.testing.assert_allclose(got, want, rtol=1e-4)


def test_batches_of_keys_and_parameters():
    keys, a = random.split(random.key(0), 3), jnp.array([0.5, 1.5, 2.5])
    batch = cv.vmap(lambda k, a: random.gamma(k, a, (2,)))(keys, a)
    want = [random.gamma(k, x, (2,)) for k, x in zip(keys, a)]
    np.testing.assert_array_equal(batch, jnp.stack(want))
    one_key = cv.vmap(lambda a: random.gamma(keys[0], a))(a)
    assert one_key[0] == random.gamma(keys[0], a[0])
    slopes = cv.vmap(cv.grad(lambda a: random.gamma(keys[0], a)))(a)
    want = cv.grad(lambda a: random.gamma(keys[0], a))(1.5)
    assert float(slopes[1]) == pytest.approx(float(want), rel=1e-5)
