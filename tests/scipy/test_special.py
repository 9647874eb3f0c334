"""Special functions of one variable against SciPy, over their domains with the tails."""

import numpy as np
import pytest
import scipy.special as sp

import covector as cv
from covector.scipy import special
from tests.scipy.comparing import agree, slopes_agree

LINE = np.linspace(-35, 35, 561)
TAILS = np.concatenate([10.0 ** np.arange(-10, 3), -(10.0 ** np.arange(-10, 3))])
REALS = np.concatenate([LINE, TAILS, [0.0, np.nan]])
POSITIVE = REALS[REALS > 0]
INNER = np.linspace(-5.3, 7.1, 32)

EVERYWHERE = ["erf", "erfc", "ndtr", "dawsn", "erfcx", "expit", "entr", "expi", "sici", "fresnel"]
EVERYWHERE += ["i0", "i0e", "i1", "i1e", "factorial", "gammasgn"]
SMOOTH = ["erf", "erfc", "ndtr", "log_ndtr", "dawsn", "erfcx", "expit", "expi", "i0", "i0e", "i1"]
SMOOTH += ["i1e", "gamma", "gammaln", "digamma"]


@pytest.mark.parametrize("name", EVERYWHERE)
def test_values(name):
    agree(getattr(special, name), getattr(sp, name), REALS, atol=1e-300)


@pytest.mark.parametrize("name", ["erf", "ndtr", "expit", "erfc", "exp1", "entr", "gamma", "ndtri"])
def test_values_at_infinity(name):
    agree(getattr(special, name), getattr(sp, name), np.array([np.inf, -np.inf]))


def test_integrals_at_infinity():
    agree(special.sici, sp.sici, np.array([np.inf, -np.inf]))
    agree(special.fresnel, sp.fresnel, np.array([np.inf, -np.inf]))
    agree(special.expi, sp.expi, np.array([np.inf]))


@pytest.mark.parametrize("name", ["gammaln", "gamma", "digamma", "loggamma", "exp1", "spence"])
def test_values_of_positive_numbers(name):
    agree(getattr(special, name), getattr(sp, name), POSITIVE, atol=1e-14)


@pytest.mark.parametrize("name", ["gamma", "gammaln", "digamma"])
def test_gamma_functions_of_negative_numbers(name):
    agree(getattr(special, name), getattr(sp, name), np.linspace(-40.37, 0, 99)[:-1], atol=1e-12)


def test_poles_of_gamma():
    agree(special.gamma, sp.gamma, np.array([0.0, -0.0, -1.0, -2.0, 171.5, 172.0, 1e3]))


def test_log_ndtr():
    agree(special.log_ndtr, sp.log_ndtr, REALS[REALS < 8])


def test_quantiles():
    p = np.concatenate([np.linspace(0, 1, 301), 10.0 ** -np.arange(1, 300, 9), [-0.1, 1.2, np.nan]])
    agree(special.ndtri, sp.ndtri, p)
    agree(special.erfinv, sp.erfinv, np.linspace(-1, 1, 101))
    agree(special.logit, sp.logit, np.linspace(0, 1, 301), atol=1e-15)


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes(name):
    slopes_agree(getattr(special, name), INNER)


@pytest.mark.parametrize("name", ["exp1", "spence", "ndtri", "logit", "entr"])
def test_slopes_between_zero_and_one(name):
    slopes_agree(getattr(special, name), np.linspace(0.02, 0.97, 20))


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", ["sici", "fresnel"])
def test_slopes_of_pairs(name, which):
    slopes_agree(lambda x: getattr(special, name)(x)[which], INNER)


@pytest.mark.parametrize("name", ["erfcx", "dawsn", "log_ndtr"])
def test_second_derivatives(name):
    slopes_agree(cv.vmap(cv.grad(getattr(special, name))), np.linspace(-4, 4, 9))


def test_slope_of_log_ndtr_in_the_tail():
    # The reciprocal Mills ratio x + 1/x - 2/x^3 + ...
    with cv.enable_x64(True):
        assert abs(cv.grad(special.log_ndtr)(-1e4) - (1e4 + 1e-4 - 2e-12)) < 1e-11


# ---------------------------------------------------------------- complex


def plane(seed, low, high):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=500) + 1j * rng.normal(size=500)
    return z * 10.0 ** rng.uniform(low, high, 500)


def test_faddeeva():
    agree(special.wofz, sp.wofz, plane(0, -3, 0.6))
    agree(special.wofz, sp.wofz, np.abs(plane(1, 0, 12).real) * (1 + 1j))
    agree(special.wofz, sp.wofz, LINE)


def test_gamma_of_complex_numbers():
    agree(special.loggamma, sp.loggamma, plane(0, -3, 1.6))
    agree(special.gamma, sp.gamma, plane(1, -3, 1.5))


def test_derivatives_of_complex_functions():
    z = 0.7 - 0.4j
    with cv.enable_x64(True):
        slope = cv.grad(special.loggamma, holomorphic=True)
        np.testing.assert_allclose(slope(z), sp.digamma(z), rtol=1e-12)
        np.testing.assert_allclose(slope(-z), sp.digamma(-z), rtol=1e-12)
        want = 2j / np.sqrt(np.pi) - 2 * z * sp.wofz(z)
        np.testing.assert_allclose(cv.grad(special.wofz, holomorphic=True)(z), want, rtol=1e-12)


# ---------------------------------------------------------------- dtypes


@pytest.mark.parametrize("name", ["ndtri", "dawsn", "erfcx", "spence", "exp1", "gamma", "log_ndtr"])
def test_single_precision(name):
    x = np.linspace(0.01, 0.99, 50, dtype=np.float32)
    got = getattr(special, name)(x)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, getattr(sp, name)(x.astype(float)), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["dawsn", "gamma", "expi", "sici", "i0", "factorial"])
def test_half_precision_and_integers(name):
    fun = getattr(special, name)
    halves, integers = fun(np.float16(1.5)), fun(3)
    first = halves[0] if isinstance(halves, tuple) else halves
    assert first.dtype == np.float16
    np.testing.assert_allclose(integers, getattr(sp, name)(3), rtol=1e-6)


@pytest.mark.parametrize("name", ["ndtr", "ndtri", "log_ndtr", "spence"])
def test_functions_of_floats_only(name):
    with pytest.raises(TypeError, match=rf"\[{name}\] x.dtype=int32 is not supported"):
        getattr(special, name)(1)


def test_bernoulli():
    agree(lambda: special.bernoulli(60), lambda: sp.bernoulli(60), rtol=1e-11)
    np.testing.assert_array_equal(special.bernoulli(0), [1])
    np.testing.assert_array_equal(special.bernoulli(1), [1, -0.5])
    with pytest.raises(ValueError, match=r"non-negative integer, but got -1"):
        special.bernoulli(-1)
