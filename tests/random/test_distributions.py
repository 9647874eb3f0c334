"""Samplers draw from the distributions whose names they bear."""

import numpy as np
import pytest

import covector as cv
from tests.random.streams import draw

COVARIANCE = [[2.0, 0.5], [0.5, 1.0]]

CONTINUOUS = {
    "normal": (lambda R, k, n: R.normal(k, n), ()),
    "expon": (lambda R, k, n: R.exponential(k, n), ()),
    "cauchy": (lambda R, k, n: R.cauchy(k, n), ()),
    "laplace": (lambda R, k, n: R.laplace(k, n), ()),
    "logistic": (lambda R, k, n: R.logistic(k, n), ()),
    "gumbel_r": (lambda R, k, n: R.gumbel(k, n, mode="highest"), ()),
    "pareto": (lambda R, k, n: R.pareto(k, 3.0, n), (3.0,)),
    "rayleigh": (lambda R, k, n: R.rayleigh(k, 2.0, n), (0, 2.0)),
    "weibull_min": (lambda R, k, n: R.weibull_min(k, 2.0, 1.5, n), (1.5, 0, 2.0)),
    "triang": (lambda R, k, n: R.triangular(k, 0.0, 1.0, 4.0, n), (0.25, 0, 4)),
    "invgauss": (lambda R, k, n: R.wald(k, 0.5, n), (0.5,)),
    "maxwell": (lambda R, k, n: R.maxwell(k, n), ()),
    "lognorm": (lambda R, k, n: R.lognormal(k, 0.5, n), (0.5,)),
    "truncnorm": (lambda R, k, n: R.truncated_normal(k, -1.0, 2.0, n), (-1, 2)),
    "uniform": (lambda R, k, n: R.uniform(k, n, minval=2.0, maxval=5.0), (2, 3)),
}
NAMES = {"normal": "norm"}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_distribution_function_is_right(name):
    stats = pytest.importorskip("scipy.stats")
    sampler, parameters = CONTINUOUS[name]
    samples = np.asarray(sampler(cv.random, cv.random.key(11), (3000,)))
    assert stats.kstest(samples, NAMES.get(name, name), parameters).pvalue > 1e-3


DISCRETE = {
    "poisson few": ("poisson", lambda R, k, n: R.poisson(k, 4.0, n), (4.0,)),
    "poisson many": ("poisson", lambda R, k, n: R.poisson(k, 30.0, n), (30.0,)),
    "binomial few": ("binom", lambda R, k, n: R.binomial(k, 12, 0.3, n), (12, 0.3)),
    "binomial many": ("binom", lambda R, k, n: R.binomial(k, 80, 0.7, n), (80, 0.7)),
    "geometric": ("geom", lambda R, k, n: R.geometric(k, 0.2, n), (0.2,)),
    "randint": ("randint", lambda R, k, n: R.randint(k, n, -2, 5), (-2, 5)),
    "bernoulli": ("bernoulli", lambda R, k, n: R.bernoulli(k, 0.3, n), (0.3,)),
}


@pytest.mark.parametrize("case", DISCRETE)
def test_the_frequencies_of_counts_are_right(case):
    stats = pytest.importorskip("scipy.stats")
    name, sampler, parameters = DISCRETE[case]
    samples = np.asarray(sampler(cv.random, cv.random.key(11), (4000,))).astype(int)
    values, counts = np.unique(samples, return_counts=True)
    expected = len(samples) * getattr(stats, name)(*parameters).pmf(values)
    common = expected > 5
    chi2 = ((counts - expected) ** 2 / expected)[common].sum()
    assert stats.chi2.sf(chi2, common.sum()) > 1e-3


def test_multinomial_counts_add_up():
    counts = cv.random.multinomial(cv.random.key(0), 50, cv.numpy.array([[0.2, 0.8], [1.0, 0.0]]))
    assert counts.sum(1).tolist() == [50, 50] and counts[1].tolist() == [50, 0]


def test_multivariate_normal_has_the_covariance():
    samples = draw(
        cv, lambda R, k, jnp: R.multivariate_normal(k, jnp.zeros(2), jnp.array(COVARIANCE), (9000,))
    )
    np.testing.assert_allclose(np.cov(samples.T), COVARIANCE, atol=0.1)


@pytest.mark.parametrize("method", ["svd", "eigh"])
def test_singular_covariances_are_allowed(method):
    flat = cv.numpy.array([[1.0, 1.0], [1.0, 1.0]])
    x = cv.random.multivariate_normal(
        cv.random.key(0), cv.numpy.zeros(2), flat, (5,), method=method
    )
    np.testing.assert_allclose(x[:, 0], x[:, 1], atol=1e-3)


def test_unitary_matrices():
    q = np.asarray(cv.random.orthogonal(cv.random.key(0), 4, dtype="complex64"))
    np.testing.assert_allclose(q @ q.conj().T, np.eye(4), atol=1e-5)
