"""Distributions whose parameters or arguments are extreme, against SciPy."""

import numpy as np
import scipy.stats as theirs

import covector as cv
from covector.scipy import stats
from tests.scipy.comparing import agree

X = np.array([-np.inf, -1e9, -37, -5, -1.5, -0.5, -1e-9, 0, 1e-3, 1, 8, np.inf])


def test_student_of_many_degrees_of_freedom():
    df = np.array([1e3, 1.9e4, 2.1e4, 1e6, 1e10, 1e15, np.inf])[:, None]
    agree(stats.t.cdf, theirs.t.cdf, X, df, rtol=2e-12)


def test_slope_of_student_is_the_density():
    with cv.enable_x64(True):
        slopes = cv.vmap(cv.grad(stats.t.cdf), (0, None))(X[1:-1], 1e6)
    np.testing.assert_allclose(slopes, theirs.t.pdf(X[1:-1], 1e6), rtol=1e-9, atol=1e-300)


def test_student_in_single_precision():
    x, df = np.float32([-8, -1, 0.3, 2]), np.float32([200, 400, 3e4, 1e8])
    np.testing.assert_allclose(stats.t.cdf(x, df), theirs.t.cdf(x, df), rtol=4e-6)


def test_complements_beside_zero():
    x, a = np.array([1e-30, 1e-20, 1e-3, 0.5]), np.array([0.1, 2.0])[:, None]
    agree(stats.beta.sf, theirs.beta.sf, x, a, 500.0, rtol=1e-11)
    k = np.array([1.0, 2, 4])
    with cv.enable_x64(True):
        # Of rare successes in many trials the numbers have nearly Poisson's distribution.
        got = stats.binom.cdf(k, 1e12, 1e-12)
        np.testing.assert_allclose(got, theirs.poisson.cdf(k, 1.0), rtol=1e-11)
        got = stats.nbinom.sf(k, 1.0, 1e-12)
        np.testing.assert_allclose(got, np.exp((k + 1) * np.log1p(-1e-12)), rtol=1e-15)
