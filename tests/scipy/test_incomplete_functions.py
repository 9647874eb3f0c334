"""Incomplete gamma and beta functions of large and of tiny parameters."""

import numpy as np
import scipy.special as sp

import covector as cv
from covector.scipy import special
from tests.scipy.comparing import agree

LARGE = np.array([1e4, 1e6, 1e9, 1e15])[:, None]
DEVIATIONS = np.array([-30.0, -5, -1, -1e-3, 0, 1e-3, 1, 5, 30])


def beside_peak(a):
    """Points a number of standard deviations from the mean of the gamma distribution."""
    return a + DEVIATIONS * np.sqrt(a)


def test_upper_gamma_of_large_parameters():
    x = beside_peak(LARGE)
    right = x >= LARGE  # elsewhere SciPy loses digits
    a, x = np.broadcast_to(LARGE, x.shape)[right], x[right]
    agree(special.gammaincc, sp.gammaincc, a, x, rtol=2e-12)


def test_lower_gamma_of_large_parameters():
    # The distribution tends to the normal one, with the skewness 2 / sqrt(a) (Edgeworth).
    with cv.enable_x64(True):
        for a in (1e10, 1e14):
            z = np.array([-3.0, -1, 0, 2])
            x = a + z * np.sqrt(a)
            normal = sp.ndtr(z) + (1 - z**2) * np.exp(-(z**2) / 2) / np.sqrt(18 * np.pi * a)
            np.testing.assert_allclose(special.gammainc(a, x), normal, rtol=60 / a)
        far = special.gammainc(1e12, 1e12 - 30e6)
        np.testing.assert_allclose(np.log(far), sp.log_ndtr(-30), rtol=1e-4)


def test_upper_gamma_of_tiny_parameters():
    # Q(a, x) tends to a E_1(x).
    x = np.array([1e-10, 0.01, 0.5, 1.0, 1.5, 20.0])
    with cv.enable_x64(True):
        got = special.gammaincc(1e-20, x)
        np.testing.assert_allclose(got, 1e-20 * sp.exp1(x), rtol=1e-14)
    a = np.array([1e-8, 1e-3, 0.1, 0.3, 0.5])[:, None]
    agree(special.gammaincc, sp.gammaincc, a, x, rtol=5e-14)
    agree(special.gammainc, sp.gammainc, a, np.append(x, 1e-300), rtol=5e-14)


def test_beta_of_large_parameters():
    with cv.enable_x64(True):
        np.testing.assert_allclose(special.betainc(1e12, 1e12, 0.5), 0.5, rtol=1e-15)
        b, y = 1e9, np.array([1e-11, 2.1414213517423346e-09, 5e-9])
        tail = np.exp(b * np.log1p(-y)) * (1 + b * y)
        np.testing.assert_allclose(special.betainc(2.0, b, y), 1 - tail, rtol=1e-12)
        z = np.array([-30.0, -3, 0, 2])
        got = special.betainc(1e11, 1e11, 0.5 + z / np.sqrt(8e11))
        np.testing.assert_allclose(got, sp.ndtr(z), rtol=3e-6)


def test_beta_against_scipy():
    a = np.array([1e-5, 0.3, 1, 9.5, 17, 1000, 1e6])
    a, b = a[:, None, None], np.array([0.3, 1, 12, 500, 1e5])[:, None]
    mean, width = a / (a + b), np.sqrt(a * b / (a + b + 1)) / (a + b)
    x = np.clip(mean + width * np.array([-3, -1, 0.5, 4]), 1e-3, 1 - 1e-3)
    agree(special.betainc, sp.betainc, a, b, x, rtol=5e-11)


def test_beta_at_the_ends():
    x = np.array([1e-15, 1e-5, 0.3, 0.5, 0.9])
    with cv.enable_x64(True):
        got = special.betainc(0.5, 0.5, x)
        np.testing.assert_allclose(got, 2 / np.pi * np.arcsin(np.sqrt(x)), rtol=2e-14)
        # For b near 0 it tends to b times the integral of u^(a-1) / (1 - u).
        got = special.betainc(1.0, 1e-18, x)
        np.testing.assert_allclose(got, -1e-18 * np.log1p(-x), rtol=1e-13)
        assert special.betainc(10.0, 1e4, 1e-30) > 0


def test_single_precision():
    a = np.array([1e4, 1e7, 1e10], np.float32)
    np.testing.assert_allclose(special.gammainc(a, a), sp.gammainc(a, a), rtol=1e-6)
    np.testing.assert_allclose(special.betainc(a, a, np.float32(0.5)), 0.5, rtol=1e-6)
