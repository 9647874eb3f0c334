"""Special functions of several variables against SciPy, and of sums along axes."""

import numpy as np
import pytest
import scipy.special as sp

import covector as cv
import covector.numpy as jnp
from covector.scipy import special
from tests.scipy.comparing import agree, slopes_agree

SIZES = np.array([0.03, 0.5, 1.0, 2.0, 3.7, 10.0, 41.5, 200.0])
ROW = SIZES[:, None]
EDGES = np.array([-np.inf, -1.0, -0.4, 0.0, 0.3, 1.0, 2.5, 1e300, 1e-300, np.inf, np.nan])
FINITE = EDGES[np.isfinite(EDGES) & (np.abs(EDGES) < 10) & (np.abs(EDGES) != 1e-300)]


@pytest.mark.parametrize("name", ["beta", "betaln", "gammainc", "gammaincc"])
def test_beta_and_gamma(name):
    agree(getattr(special, name), getattr(sp, name), ROW, SIZES, rtol=5e-12, atol=1e-280)


def test_log_beta_keeps_digits():
    # B(a, 2) = 1 / (a (a + 1)), which differences of logarithms of the gamma function lose.
    with cv.enable_x64(True):
        for a in (1e3, 1e8, 1e15):
            want = -np.log(a) - np.log1p(a)
            np.testing.assert_allclose(special.betaln(a, 2.0), want, rtol=1e-14)


def test_incomplete_beta():
    x = np.array([0, 1e-3, 0.3, 0.5, 0.9, 1])
    agree(special.betainc, sp.betainc, ROW[:, None], ROW, x, rtol=1e-11, atol=1e-280)


def test_slopes_of_gamma_quotients():
    a, b = np.array([0.3, 2.0, 15.0, 3.0]), np.array([0.7, 12.0, 22.0, 1.5])
    for name in ("beta", "betaln", "poch", "comb"):
        slopes_agree(getattr(special, name), a + b, b, wrt=(0, 1))
    slopes_agree(special.gammainc, a, b, wrt=(0, 1))


def test_factorials():
    n = np.arange(-2.0, 30)
    agree(special.comb, sp.comb, n[:, None], n)
    agree(special.comb, sp.comb, n[2:, None] + 0.3, n[2:])
    assert special.comb(5, 2, repetition=True) == 15
    z = np.linspace(-6.3, 60, 40)[:, None]
    agree(special.poch, sp.poch, z, np.linspace(-3, 7, 21))
    with pytest.raises(NotImplementedError, match="exact=True"):
        special.factorial(3, exact=True)


def test_zeta_and_polygamma():
    agree(special.zeta, sp.zeta, ROW + 1.1, SIZES, atol=1e-280)
    agree(special.polygamma, sp.polygamma, np.arange(6)[:, None], SIZES, atol=1e-13)
    slopes_agree(lambda x: special.polygamma(1, x), SIZES[1:])
    with pytest.raises(ValueError, match=r"must be of integer type. Got dtype float32"):
        special.polygamma(1.0, 2.0)


def test_multigammaln():
    for d in (1, 2, 5):
        agree(
            lambda a, d=d: special.multigammaln(a, d), lambda a, d=d: sp.multigammaln(a, d), ROW + 3
        )


@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "rel_entr", "kl_div"])
def test_entropies(name):
    ours, theirs = getattr(special, name), getattr(sp, name)
    agree(ours, theirs, FINITE[:, None], EDGES[np.abs(EDGES) < np.inf])
    slopes_agree(ours, np.array([0.3, 1.0, 2.0]), np.array([0.5, 0.2, 3.0]), wrt=(0, 1))


def test_products_with_zero_have_finite_slopes():
    assert cv.grad(special.xlogy)(0.0, 2.0) == np.float32(np.log(2))
    assert np.isnan(special.xlogy(0.0, np.nan)) and special.xlogy(0.0, 0.0) == 0


@pytest.mark.parametrize("name", ["boxcox", "boxcox1p"])
def test_power_transforms(name):
    x, exponent = np.array([0.2, 1.0, 3.0, 50.0]), np.array([-2.0, 0, 1e-9, 1e-3, 0.5, 2])
    agree(getattr(special, name), getattr(sp, name), x, exponent[:, None])
    slopes_agree(getattr(special, name), x, x * 0 + 0.02, wrt=(0, 1))
    slopes_agree(getattr(special, name), x, x * 0, wrt=(0,))


def test_owens_t():
    a = np.array([0, 0.01, 0.9, 1, 1.2, 50, -2, -0.4, np.inf])
    agree(special.owens_t, sp.owens_t, np.linspace(-9, 9, 37)[:, None], a)
    slopes_agree(
        special.owens_t, np.array([0.3, 2.0, -1.0]), np.array([0.5, 3.0, -0.7]), wrt=(0, 1)
    )


def test_expn():
    x = np.array([0, 1e-8, 0.3, 1.0, 1.1, 4.0, 30.0, 700.0, np.inf, np.nan, -1.0])
    agree(special.expn, sp.expn, np.arange(7)[:, None], x)
    slopes_agree(special.expn, np.full(3, 2.0), np.array([0.3, 1.5, 8.0]), wrt=(1,))


# ---------------------------------------------------------------- series


def test_confluent_hypergeometric():
    x = np.array([-500, -90, -20, -3, -0.1, 0, 0.1, 5, 30, 90, 150.0])
    agree(special.hyp1f1, sp.hyp1f1, ROW[1:6, None], ROW[1:6], x)
    agree(special.hyp1f1, sp.hyp1f1, np.array([[-3.0], [-0.5]]), 1.7, x[3:], rtol=1e-11)
    slopes_agree(
        special.hyp1f1,
        np.array([1.0, 0.3]),
        np.array([2.0, 0.7]),
        np.array([3.0, -2]),
        wrt=(0, 1, 2),
    )
    np.testing.assert_allclose(special.hyp1f1(np.array([0.0, -1, 1]), -2.0, 0.5), [1, 1.25, np.inf])


def test_hypergeometric():
    x = np.array([-50, -5, -0.3, 0, 0.1, 0.5, 0.6, 0.9, 0.99, 0.9999])
    agree(special.hyp2f1, sp.hyp2f1, ROW[1:5, None, None], ROW[1:5, None], ROW[1:5], x, rtol=1e-9)
    # Polynomials, and Gauss's sum at one.
    a, b = np.array([-2.0, -2, -2, 1, 1]), np.array([1.5, 1.5, 1.5, 2, 2.5])
    c, x = np.array([2.5, 2.5, 2.5, 4.2, 4.2]), np.array([-3, 0.4, 2, 1, 1])
    agree(special.hyp2f1, sp.hyp2f1, a, b, c, x)
    x = np.array([-2.0, 0.4, 0.8, -0.3, 0.1])
    slopes_agree(special.hyp2f1, *[np.full(5, v) for v in (1.2, 0.7, 2.3)], x, wrt=(2, 3))


def test_bessel():
    z = np.linspace(-20, 20, 41)
    with cv.enable_x64(True):
        got = special.bessel_jn(z, v=5, n_iter=60)
        want = [sp.jv(k, z) for k in range(6)]
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)
    slopes_agree(lambda z: special.bessel_jn(z, v=3), np.array([0.0, 0.5, 6.0]), single=False)
    assert special.bessel_jn(1.0, v=0).shape == (1,)
    assert special.bessel_jn(np.ones((2, 3), np.float32), v=2).shape == (3, 2, 3)


def test_spherical_harmonics():
    n, m = [a.ravel() for a in np.mgrid[0:7, -6:7]]
    n, m = n[abs(m) <= n], m[abs(m) <= n]
    theta, phi = np.linspace(0, np.pi, n.size), np.linspace(0, 6, n.size)
    agree(special.sph_harm_y, sp.sph_harm_y, n, m, theta, phi, atol=1e-14)
    angles = np.array([0.4, 1.3])
    n, m = np.array([3, 2]), np.array([1, -2])
    slopes_agree(lambda t: special.sph_harm_y(n, m, t, angles).real, angles)


def test_errors_of_harmonics():
    one = jnp.ones(1)
    with pytest.raises(NotImplementedError, match="diff_n"):
        special.sph_harm_y(np.array([1]), np.array([1]), one, one, diff_n=1)
    with pytest.raises(TypeError, match="`n` must have integer type, but has dtype float32"):
        special.sph_harm_y(one, np.array([1]), one, one)
    with pytest.raises(cv.errors.ConcretizationTypeError):
        cv.jit(special.sph_harm_y)(np.array([1]), np.array([1]), one, one)


# ---------------------------------------------------------------- along axes


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_along_axes(name, axis):
    x = np.linspace(-40, 900, 12).reshape(3, 4)
    ours, theirs = getattr(special, name), getattr(sp, name)
    agree(lambda x: ours(x, axis=axis), lambda x: np.asarray(theirs(x, axis=axis)), x)


def test_complex_numbers_are_refused():
    for name in ("betainc", "entr", "kl_div", "exp1", "hyp1f1", "gammasgn"):
        count = {"betainc": 3, "kl_div": 2, "hyp1f1": 3}.get(name, 1)
        with pytest.raises(ValueError, match=f"{name} does not support complex-valued inputs"):
            getattr(special, name)(*[1j] * count)
    with pytest.raises(TypeError, match="lgamma does not accept dtype complex64"):
        special.gammaln(1j)
