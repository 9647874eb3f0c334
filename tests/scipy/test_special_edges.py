"""Special functions beside their poles, zeros and branch cuts, and far out."""

import numpy as np
import pytest
import scipy.special as sp

import covector as cv
from covector import lax
from covector.scipy import special
from tests.scipy.comparing import agree, slopes_agree

FRACTIONS = np.array([-0.3, -1.5, -10.7, -33.2, -1000.25])
# zeta'(s) of Riemann by the series of Stieltjes and the functional equation, from DLMF 25.6.11 on.
SLOPES_OF_ZETA = {
    2.0: -0.93754825431584375370,
    3.0: -0.19812624288563685333,
    0.0: -0.91893853320467274178,
    -1.0: -0.16542114370045092921,
    -2.0: -0.03044845705839327079,
}

TABLE = {
    "polygamma left of zero": (special.polygamma, sp.polygamma, np.arange(1, 5)[:, None],
                               FRACTIONS),
    "zeta left of zero": (special.zeta, sp.zeta, np.arange(2.0, 9)[:, None], FRACTIONS),
    "zeta of large q": (special.zeta, sp.zeta, np.array([1.5, 4, 9]), np.array([1e9, 1e100, 1e30])),
    "zeta of Riemann": (special.zeta, sp.zeta, np.array([-40.5, -3, -0.7, -0.2, 0.3, 1, 1.1, 60])),
    "gammaln at its zeros": (special.gammaln, sp.gammaln, np.array([0.7, 2 + 1e-9, 2.4])),
    "loggamma at its zeros": (special.loggamma, sp.loggamma, np.array([1.3, 1, 2, 2 + 1e-9])),
    "erfinv in the tails": (special.erfinv, sp.erfinv, 1 - 10.0 ** np.arange(-16, 0)),
    "erfinv on the left": (special.erfinv, sp.erfinv, 10.0 ** np.arange(-16, 0) - 1),
    "poch from pole to pole": (special.poch, sp.poch, np.array([-3.0, -3, 0, -1e4, 1e4, 1e4]),
                               np.array([-1.0, 3, -3, 10, -3, -0.5])),
    "poch to a pole": (special.poch, sp.poch, np.array([-0.5, -3.0]), np.array([0.5, 4])),
    "beta at poles": (special.beta, sp.beta, np.array([-2.0, -2, 1, -2, -1.5, -5]),
                      np.array([1.0, 2, -2, 0.5, 0.5, 7])),
    "betaln at poles": (special.betaln, sp.betaln, np.array([-2.0, 2, -2]), np.array([1.0, -2, 5])),
    "nothing of nothing": (lambda n, k: special.comb(n, k, repetition=True),
                           lambda n, k: sp.comb(n, k, repetition=True),
                           np.array([0.0, 0, 3]), np.array([0.0, 4, 2])),
    "erfcx of complex numbers": (special.erfcx, sp.erfcx, np.array([1 + 2j, -3 + 0.1j, 20 - 30j])),
    "gamma on the cut": (special.gamma, sp.gamma, np.array([-0.5 + 0j, -1.5 - 0j, -2.5 + 1e-12j])),
    "hyp1f1 of large parameters": (special.hyp1f1, sp.hyp1f1, np.array([10, 5, 1e-5, -0.5, 1.0]),
                                   np.array([100, 100, 100, 100, 30.0]),
                                   np.array([101, 150, 150, 101, 90.0])),
    "hyp2f1 far left": (special.hyp2f1, sp.hyp2f1, np.array([-0.5, 10, 0.5, 0.5, -0.5]),
                        np.array([10, 0.5, 10, 4, 4]), np.array([20, 10, 1.5, -2.5, 1]),
                        np.array([-100, -100, -10, 1, 1.0])),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_values(case):
    ours, theirs, *args = TABLE[case]
    agree(ours, theirs, *args, rtol=2e-12, atol=1e-300)


def test_logarithm_of_gamma_beside_one():
    # log Gamma(1 + u) = -gamma u + pi^2 u^2 / 12 - ... (DLMF 5.7.3), where SciPy loses digits.
    x = 1 + 2.0**-30
    with cv.enable_x64(True):
        want = -np.euler_gamma * 2.0**-30 + np.pi**2 / 12 * 2.0**-60
        np.testing.assert_allclose(special.gammaln(x), want, rtol=1e-15)


def test_poles_of_complex_gamma():
    values = np.asarray(special.gamma(np.array([0, -1, -5 + 0j], np.complex64)))
    assert np.isnan(values.real).all() and np.isnan(values.imag).all()


def test_slope_of_riemanns_zeta():
    with cv.enable_x64(True):
        for s, want in SLOPES_OF_ZETA.items():
            np.testing.assert_allclose(cv.grad(special.zeta)(s), want, rtol=1e-13)
        np.testing.assert_allclose(cv.grad(special.zeta)(2.0, 1.0), SLOPES_OF_ZETA[2.0], rtol=1e-13)


def test_slopes_of_zeta():
    s, q = np.array([1.3, 2.0, 7.5, 30.0]), np.array([0.2, 3.0, 11.0, 2.0])
    slopes_agree(special.zeta, s, q, wrt=(0, 1))


def test_slope_of_digamma_left_of_zero():
    with cv.enable_x64(True):
        slopes = cv.vmap(cv.grad(lax.digamma))(FRACTIONS)
    np.testing.assert_allclose(slopes, sp.polygamma(1, FRACTIONS), rtol=1e-12)


@pytest.mark.parametrize("name, y", [("xlogy", 3.0), ("xlog1py", 2.0)])
def test_mixed_derivative_where_the_factor_is_zero(name, y):
    mixed = cv.grad(cv.grad(getattr(special, name), 1), 0)(0.0, y)
    np.testing.assert_allclose(mixed, 1 / 3, rtol=1e-6)
    pole = 0.0 if name == "xlogy" else -1.0
    assert cv.grad(getattr(special, name), 1)(0.0, pole) == 0


def test_phase_of_fresnels_integrals_in_single_precision():
    x = np.float32([726.2073, -3162.2776, 1e24, 12345.678, 1.5e7])
    s, c = special.fresnel(x)
    want_s, want_c = sp.fresnel(x.astype(float))
    np.testing.assert_allclose(s, want_s, rtol=1e-6)
    np.testing.assert_allclose(c, want_c, rtol=1e-6)


def test_sum_of_one_exponential_without_compilation():
    with cv.disable_jit():
        assert special.logsumexp(1.0) == 1 and special.logsumexp(1.0, b=1.0) == 1


def test_bessel_functions_keep_ranks_apart():
    z = np.array([[0.5, 2.0], [0.0, 7.0]])
    with cv.numpy_rank_promotion("raise"), cv.enable_x64(True):
        got = special.bessel_jn(z, v=3)
    np.testing.assert_allclose(got, sp.jv(np.arange(4)[:, None, None], z), rtol=1e-12, atol=1e-15)


def test_harmonics_of_negative_angles():
    theta, phi = np.array([-2.0, -0.5, 1.0]), np.array([0.3, 0.2, 0.1])
    m, n = np.array([1, 1, -1]), np.array([1, 3, 2])
    agree(special.sph_harm_y, sp.sph_harm_y, n, m, theta, phi)
