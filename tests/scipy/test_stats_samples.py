"""Statistics of samples, density estimates, and distributions of several variables."""

import numpy as np
import pytest
import scipy.stats

import covector as cv
import covector.numpy as jnp
from covector.scipy import stats

RNG = np.random.default_rng(0)
SAMPLE = RNG.integers(0, 4, (5, 6)).astype(float)
HOLED = np.where(RNG.random((5, 6)) < 0.2, np.nan, SAMPLE)


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_rankdata(method, axis):
    for a in (SAMPLE, HOLED):
        for policy in ("propagate", "omit"):
            got = stats.rankdata(a, method, axis=axis, nan_policy=policy)
            want = scipy.stats.rankdata(a, method, axis=axis, nan_policy=policy)
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_mode(axis, keepdims):
    for a in (SAMPLE, HOLED, SAMPLE.astype(int)):
        for policy in ("propagate", "omit"):
            got = stats.mode(a, axis, policy, keepdims)
            want = scipy.stats.mode(a, axis, policy, keepdims)
            np.testing.assert_array_equal(got.mode, np.reshape(want.mode, got.mode.shape))
            np.testing.assert_array_equal(got.count, np.reshape(want.count, got.count.shape))
    found = stats.mode(jnp.zeros((0, 2)))
    assert found.mode.shape == (2,) and np.isnan(found.mode).all() and (found.count == 0).all()


def test_sem():
    for policy in ("propagate", "omit"):
        for a in (SAMPLE, HOLED):
            got = stats.sem(a, 0, 1, policy, keepdims=True)
            want = scipy.stats.sem(a, 0, 1, policy, keepdims=True)
            np.testing.assert_allclose(got, want, rtol=1e-6)
    np.testing.assert_allclose(stats.sem(SAMPLE, None), scipy.stats.sem(SAMPLE, None), rtol=1e-6)


def test_policies_and_methods_are_checked():
    with pytest.raises(ValueError, match=r"\[mode\] Illegal nan_policy value 'skip'"):
        stats.mode(SAMPLE, nan_policy="skip")
    with pytest.raises(NotImplementedError, match=r"\[rankdata\] nan_policy='raise'"):
        stats.rankdata(SAMPLE, nan_policy="raise")
    with pytest.raises(ValueError, match="unknown method 'first'"):
        stats.rankdata(SAMPLE, "first")
    with pytest.raises(ValueError, match="'raise' is not supported"):
        stats.sem(SAMPLE, nan_policy="raise")


# ---------------------------------------------------------------- several variables


def test_dirichlet():
    alpha = np.array([0.5, 2.0, 3.5])
    x = RNG.dirichlet(alpha, 4).T
    want = scipy.stats.dirichlet.logpdf(x, alpha)
    with cv.enable_x64(True):
        np.testing.assert_allclose(stats.dirichlet.logpdf(x, alpha), want, rtol=1e-12)
        np.testing.assert_allclose(stats.dirichlet.pdf(x[:2], alpha), np.exp(want), rtol=1e-12)
    assert stats.dirichlet.logpdf(np.array([0.4, 0.4, 0.4]), alpha) == -np.inf
    np.testing.assert_allclose(stats.dirichlet.pdf(np.array([0.0, 1.0]), np.ones(2)), 1, rtol=1e-5)
    slope = cv.grad(lambda x: stats.dirichlet.logpdf(x, alpha))(np.array([-1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(slope, 0)
    with pytest.raises(ValueError, match="`alpha` must be one-dimensional"):
        stats.dirichlet.logpdf(x, np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"got x.shape=\(5,\), alpha.shape=\(3,\)"):
        stats.dirichlet.logpdf(np.ones(5), alpha)


def test_multinomial():
    x, p = np.array([[1, 2, 3], [6, 0, 0], [1, 1, 1]]), np.array([0.2, 0.3, 0.5])
    want = scipy.stats.multinomial.logpmf(x, 6, p)
    with cv.enable_x64(True):
        np.testing.assert_allclose(stats.multinomial.logpmf(x, 6, p), want, rtol=1e-12)
        np.testing.assert_allclose(stats.multinomial.pmf(x, 6, p), np.exp(want), rtol=1e-12)
        slopes = cv.grad(lambda p: stats.multinomial.logpmf(x[0], 6, p))(p)
    np.testing.assert_allclose(slopes, x[0] / p, rtol=1e-12)
    with pytest.raises(ValueError, match="x and n must be of integer type"):
        stats.multinomial.logpmf(x.astype(float), 6, p)


def test_multivariate_normal():
    factor = RNG.normal(size=(2, 3, 3))
    cov = factor @ factor.transpose(0, 2, 1)
    x, mean = RNG.normal(size=(4, 3)), RNG.normal(size=3)
    with cv.enable_x64(True):
        got = stats.multivariate_normal.logpdf(x, mean, cov[0])
        want = scipy.stats.multivariate_normal.logpdf(x, mean, cov[0])
        np.testing.assert_allclose(got, want, rtol=1e-10)
        batch = stats.multivariate_normal.logpdf(x[:, None], mean, cov)
        np.testing.assert_allclose(batch[:, 0], want, rtol=1e-10)
        assert batch.shape == (4, 2)
        slopes = cv.grad(lambda x: stats.multivariate_normal.logpdf(x, mean, cov[0]))(x[0])
        np.testing.assert_allclose(slopes, -np.linalg.solve(cov[0], x[0] - mean), rtol=1e-10)
        got = stats.multivariate_normal.pdf(0.3, 0.1, 2.0)
        np.testing.assert_allclose(got, scipy.stats.norm.pdf(0.3, 0.1, 2**0.5), rtol=1e-12)
        got = stats.multivariate_normal.logpdf(x, mean, 2.0)
        want = scipy.stats.multivariate_normal.logpdf(x, mean, 2.0)
        np.testing.assert_allclose(got, want, rtol=1e-12)
    with pytest.raises(ValueError, match="incompatible shapes"):
        stats.multivariate_normal.logpdf(x, mean, np.eye(2))
    with pytest.raises(NotImplementedError, match="allow_singular"):
        stats.multivariate_normal.logpdf(x, mean, cov[0], True)


# ---------------------------------------------------------------- density estimates


def test_density_estimate():
    data, at, weights = RNG.normal(size=(2, 12)), RNG.normal(size=(2, 4)), RNG.random(12)
    theirs = scipy.stats.gaussian_kde(data, "silverman", weights)
    mean, cov = np.array([0.1, 0.2]), np.array([[1.0, 0.3], [0.3, 2.0]])
    with cv.enable_x64(True):
        ours = stats.gaussian_kde(data, "silverman", weights)
        for got, want in [
            (ours(at), theirs(at)),
            (ours.logpdf(at), theirs.logpdf(at)),
            (ours.neff, theirs.neff),
            (ours.covariance, theirs.covariance),
            (ours.integrate_gaussian(mean, cov), theirs.integrate_gaussian(mean, cov)),
            (ours.integrate_kde(ours), theirs.integrate_kde(theirs)),
        ]:
            np.testing.assert_allclose(got, want, rtol=1e-10)
        one = stats.gaussian_kde(data[0], lambda kde: kde.n**-0.5)
        want = scipy.stats.gaussian_kde(data[0], 12**-0.5)
        got = one.integrate_box_1d(-1.0, 0.5)
        np.testing.assert_allclose(got, want.integrate_box_1d(-1, 0.5), rtol=1e-10)
    assert (ours.d, ours.n, one.d) == (2, 12, 1)


def test_density_estimates_are_trees():
    kde = stats.gaussian_kde(jnp.array([0.0, 1.0, 3.0]))
    points = jnp.array([0.5, 2.0])
    np.testing.assert_allclose(cv.jit(lambda k: k(points))(kde), kde(points), rtol=1e-6)
    slopes = cv.grad(lambda k: jnp.sum(k.logpdf(points)))(kde)
    assert np.isfinite(slopes.dataset).all() and slopes.dataset.shape == (1, 3)


def test_samples_of_density_estimates(jax):
    data = np.array([[0.0, 1, 3], [2, 0, 1]], np.float32)
    got = stats.gaussian_kde(data).resample(cv.random.key(3), (5,))
    want = jax.scipy.stats.gaussian_kde(data).resample(jax.random.key(3), (5,))
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert stats.gaussian_kde(data).resample(cv.random.key(3), (2, 4)).shape == (2, 2, 4)


def test_errors_of_density_estimates():
    kde = stats.gaussian_kde(np.arange(6.0).reshape(2, 3) ** 2)
    for error, match, call in [
        (ValueError, "multiple elements", lambda: stats.gaussian_kde(np.ones(1))),
        (NotImplementedError, "complex", lambda: stats.gaussian_kde(np.ones(3) * 1j)),
        (ValueError, "length 3", lambda: stats.gaussian_kde(np.ones(3), weights=np.ones(2))),
        (ValueError, "`bw_method`", lambda: stats.gaussian_kde(np.arange(3.0), "best")),
        (ValueError, "points have dimension 3", lambda: kde(np.ones((3, 4)))),
        (ValueError, "mean does not have", lambda: kde.integrate_gaussian(np.ones(3), np.eye(2))),
        (ValueError, "only handles 1D", lambda: kde.integrate_box_1d(0, 1)),
        (NotImplementedError, "1D box", lambda: kde.integrate_box(0, 1)),
        (NotImplementedError, "bandwidth", lambda: kde.set_bandwidth(1.0)),
    ]:
        with pytest.raises(error, match=match):
            call()
