"""Values and derivatives of special functions of several variables, compared with SciPy's."""

import numpy as np
import pytest

import covector
from covector import lax

special = pytest.importorskip("scipy.special", reason="the oracle is not installed here")

NAN, INF = np.nan, np.inf


def assert_close(got, want, eps, factor, floor=1e-30):
    """Raise if values differ by more than `factor` units of rounding."""
    got = np.asarray(got, np.float64)
    np.testing.assert_allclose(got, want, rtol=factor * eps, atol=floor)


def parameters(rng, low, high, dtype):
    """Shapes a from 10^low to 10^high, and bounds x not too far in the tails."""
    a = (10 ** rng.uniform(low, high, 500)).astype(dtype)
    x = (a * np.exp(rng.normal(size=500) * 3 / np.sqrt(1 + a))).astype(dtype)
    keep = x > 0
    return a[keep], x[keep]


# For small a, P is near 1 and Q a difference.
@pytest.mark.parametrize(
    "low, high, factor", ((-3, 0, 2000), (0, 1, 200), (1, 2, 500), (2, 4, 800))
)
@pytest.mark.parametrize("dtype", (np.float32, np.float64))
@pytest.mark.parametrize("name", ("igamma", "igammac"))
def test_incomplete_gamma(rng, name, dtype, low, high, factor):
    with covector.enable_x64(True):
        a, x = parameters(rng, low, high, dtype)
        oracle = special.gammainc if name == "igamma" else special.gammaincc
        want = oracle(a.astype(float), x.astype(float))
        usual = want > (0.01 if low < 0 else 1e-5)
        got = getattr(lax, name)(a, x)[np.flatnonzero(usual)]
        assert_close(got, want[usual], np.finfo(dtype).eps, factor)


def test_limits_of_incomplete_gamma():
    a, x = np.meshgrid(*[np.array([0, 0.5, 3, INF, NAN, -1], np.float32)] * 2, indexing="ij")
    np.testing.assert_allclose(lax.igamma(a, x), special.gammainc(a, x), rtol=1e-5)
    np.testing.assert_allclose(lax.igammac(a, x), special.gammaincc(a, x), rtol=1e-5)


def test_slopes_of_incomplete_gamma(rng):
    with covector.enable_x64(True):
        a, x = parameters(rng, -1, 2, np.float64)
        step = 1e-5 * a
        rise = special.gammainc(a + step, x) - special.gammainc(a - step, x)
        slope = rise / (2 * step)
        density = np.exp((a - 1) * np.log(x) - x - special.gammaln(a))
        np.testing.assert_allclose(lax.igamma_grad_a(a, x), slope, rtol=1e-6, atol=1e-8)
        usual = density > 1e-3
        got = lax.random_gamma_grad(a, x)[np.flatnonzero(usual)]
        np.testing.assert_allclose(got, (-slope / density)[usual], rtol=1e-5, atol=1e-6)
        for sign, function in ((1, lax.igamma), (-1, lax.igammac)):
            primals, tangents = (a, x), (np.ones_like(a), np.ones_like(x))
            _, total = covector.jvp(function, primals, tangents)
            np.testing.assert_allclose(total, sign * (slope + density), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("low, high, factor", ((-2, 0, 800), (0, 1, 800), (1, 2, 800), (2, 3, 800)))
@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_incomplete_beta(rng, dtype, low, high, factor):
    with covector.enable_x64(True):
        a, b = (10 ** rng.uniform(low, high, (2, 500))).astype(dtype)
        x = special.betaincinv(a.astype(float), b.astype(float), rng.uniform(0.01, 0.99, 500))
        x = np.clip(x, 1e-3, 1 - 1e-3).astype(dtype)
        want = special.betainc(a.astype(float), b.astype(float), x.astype(float))
        usual = want > 1e-3
        got = lax.betainc(a, b, x)[np.flatnonzero(usual)]
        assert_close(got, want[usual], np.finfo(dtype).eps, factor)


def test_limits_of_incomplete_beta():
    values = np.array([0, 0.5, 2, INF, NAN, -1], np.float32)
    a, b, x = np.meshgrid(values, values, np.array([0, 0.25, 1, NAN, 2, -1], np.float32))
    np.testing.assert_allclose(lax.betainc(a, b, x), special.betainc(a, b, x), rtol=1e-5)


def test_slope_of_incomplete_beta():
    slope = covector.grad(lambda x: lax.betainc(2.0, 3.0, x))(0.25)
    np.testing.assert_allclose(slope, 12 * 0.25 * 0.75**2, rtol=1e-5)
    with pytest.raises(ValueError, match="with respect to a and b not supported"):
        covector.grad(lambda a: lax.betainc(a, 3.0, 0.25))(2.0)


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
@pytest.mark.parametrize("name", ("bessel_i0e", "bessel_i1e"))
def test_bessel_functions(rng, name, dtype):
    with covector.enable_x64(True):
        x = np.concatenate([rng.uniform(-20, 20, 800), 10 ** rng.uniform(1, 5, 200)]).astype(dtype)
        want = getattr(special, name[7:])(x.astype(float))
        assert_close(getattr(lax, name)(x), want, np.finfo(dtype).eps, 16)
        edges = np.array([0, -0.0, INF, -INF, NAN], dtype)
        want = getattr(special, name[7:])(edges)
        np.testing.assert_allclose(getattr(lax, name)(edges), want, rtol=1e-6)


def test_slopes_of_bessel_functions():
    # I_0' = I_1 and I_1' = I_0 - I_1 / x, each with the slope of exp(-|x|).
    for x in (-3.0, 1e-9, 0.5, 20.0):
        i0, i1, sign = special.i0e(x), special.i1e(x), np.sign(x)
        np.testing.assert_allclose(covector.grad(lax.bessel_i0e)(x), i1 - sign * i0, rtol=1e-5)
        slope = 0.5 if x == 1e-9 else i0 - i1 / x - sign * i1
        np.testing.assert_allclose(covector.grad(lax.bessel_i1e)(x), slope, rtol=1e-5)


def test_zeta(rng):
    x, q = rng.uniform(1.1, 20, 500), rng.uniform(0.1, 20, 500)
    with covector.enable_x64(True):
        np.testing.assert_allclose(lax.zeta(x, q), special.zeta(x, q), rtol=1e-13)
        slope = covector.jvp(lambda q: lax.zeta(x, q), (q,), (np.ones_like(q),))[1]
        np.testing.assert_allclose(slope, -x * special.zeta(x + 1, q), rtol=1e-12)
    with pytest.raises(NotImplementedError, match="with respect to `x`"):
        covector.grad(lax.zeta)(2.0, 1.0)


@pytest.mark.parametrize("name", ("igamma", "igammac", "igamma_grad_a", "random_gamma_grad"))
def test_results_do_not_depend_on_the_neighbours(rng, name):
    a, x = parameters(rng, -1, 3, np.float32)
    function = getattr(lax, name)
    together = np.asarray(function(a, x))
    for i in (0, 50, 100):
        np.testing.assert_array_equal(function(a[i : i + 3], x[i : i + 3]), together[i : i + 3])


@pytest.mark.parametrize("dtype", ("bfloat16", "float16"))
def test_low_precision_is_rounded_from_float32(dtype):
    a, x = np.float32([0.5, 3, 10]), np.float32([0.25, 2.5, 11])
    for name in ("igamma", "igammac", "igamma_grad_a", "random_gamma_grad"):
        got = getattr(lax, name)(a.astype(dtype), x.astype(dtype))
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, getattr(lax, name)(a, x).astype(dtype))


def test_shapes_and_dtypes():
    assert lax.igamma(np.ones((2, 1), np.float32), np.ones((1, 3), np.float32)).shape == (2, 3)
    assert lax.betainc(1.0, np.ones((2, 0), np.float32), 0.5).shape == (2, 0)
    for call in (lambda: lax.igamma(1, 2), lambda: lax.bessel_i0e(1), lambda: lax.zeta(2, 1)):
        with pytest.raises(TypeError, match="does not accept dtype int32"):
            call()


@pytest.fixture
def rng():
    return np.random.default_rng(0)
