"""Polynomials, samples of functions, covariances, windows and parts of numbers, against NumPy."""

import io

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector.errors import ConcretizationTypeError
from tests.numpy.comparing import assert_close, assert_same_type

RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def assert_near(got, want, tolerance=1e-4):
    """Equal but for rounding; in sequences, item by item."""
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            assert_near(g, w, tolerance)
        return
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


# ---------------------------------------------------------------- polynomials

I, F = np.array([1, 2, 3]), np.array([2, -1, 0, 4, 5], np.float32)
C = np.array([1j, 2], np.complex64)


@pytest.mark.parametrize("name", ("polyadd", "polysub", "polymul", "polydiv", "polyval"))
def test_operations(jax, name):
    for p, q in ((I, I), (F, I), (I, F), (F, C)):
        call = lambda numpy, p, q: getattr(numpy, name)(p, q)  # noqa: E731
        assert_same_type(jax, call, p, q, what=name)
        assert_near(getattr(jnp, name)(p, q), getattr(jax.numpy, name)(p, q))


@pytest.mark.parametrize("m", (0, 1, 2, 3))
def test_derivatives_and_integrals(m):
    for p in (I, F, C):
        assert_near(jnp.polyder(p, m), np.polyder(p, m) if m < p.size else np.zeros(0))
        assert_near(jnp.polyint(p, m), np.polyint(p, m))
        assert_near(jnp.polyint(p, m, np.arange(m)), np.polyint(p, m, np.arange(m)))


def test_zeros():
    for zeros in (I, F, C, np.array([[1.0, 2], [3, 4]]), np.zeros(0)):
        assert_near(jnp.poly(zeros), np.poly(zeros))
    for p in (np.array([0, 0, 1.0, -3, 2]), np.array([1.0, 2, 0, 0]), np.zeros(2), np.ones(1)):
        assert_near(np.sort_complex(jnp.roots(p)), np.sort_complex(np.roots(p)))
    every = covector.jit(lambda p: jnp.roots(p, strip_zeros=False))(np.array([0, 1.0, -3, 2]))
    assert np.isnan(every[-1]) and sorted(np.round(np.real(every[:2]), 3)) == [1, 2]
    with pytest.raises(ConcretizationTypeError, match="strip_zeros=False"):
        covector.jit(jnp.roots)(F)


def test_trimmed():
    product = jnp.polymul(np.array([0, 0, 1.0]), np.array([0, 2.0, 1]), trim_leading_zeros=True)
    assert_near(product, [2, 1])
    want = np.polydiv(np.array([1.0, 2, 3, 4]), np.array([1.0, 2]))
    assert_near(
        jnp.polydiv(np.array([1.0, 2, 3, 4]), np.array([1.0, 2]), trim_leading_zeros=True), want
    )


@pytest.mark.parametrize("columns", (False, True))
def test_polyfit(jax, columns):
    x = np.linspace(0, 3, 9).astype(np.float32)
    y = (x**2 - 3 * x + 0.1 * np.sin(9 * x)).astype(np.float32)
    y = np.stack([y, 2 * y + 1], 1) if columns else y
    for options in ({"cov": "unscaled", "w": 1 + x}, {"full": True} if columns else {"cov": True}):
        want = jax.numpy.polyfit(x, y, 2, **options)
        assert_near(jnp.polyfit(x, y, 2, **options), want, 1e-3)
    assert_near(jnp.polyfit(x, y, 2), np.polyfit(x, y, 2), 1e-3)


@pytest.mark.parametrize("count", (None, 0, 2, 5))
def test_vander(jax, count):
    for x in (I, F, C):
        for increasing in (False, True):
            want = np.vander(x, count, increasing)
            assert_near(jnp.vander(x, count, increasing), want)
        assert_same_type(jax, lambda numpy, x: numpy.vander(x, count), x, what="vander")
    with pytest.raises(ValueError, match="one-dimensional"):
        jnp.vander(np.ones((2, 2)))
    with pytest.raises(ValueError, match="nonnegative"):
        jnp.vander(I, -1)


def test_derivative_of_a_fit():
    """The coefficients are linear in the values."""
    x, y = np.linspace(0, 3, 9).astype(np.float32), floats(9)
    slope = covector.grad(lambda y: jnp.polyfit(x, y, 2)[0])(y)
    assert_near(slope, np.linalg.pinv(np.vander(x, 3))[0])


def test_errors_of_polynomials():
    with pytest.raises(ValueError, match="expected deg >= 0"):
        jnp.polyfit(I, I, -1)
    with pytest.raises(TypeError, match="expected x and y to have same length"):
        jnp.polyfit(I, F, 1)
    with pytest.raises(ValueError, match="Order of integral must be positive"):
        jnp.polyint(F, -1)
    with pytest.raises(ValueError, match="k must be a scalar"):
        jnp.polyint(F, 3, I[:2])
    with pytest.raises(ValueError, match="rank-1 array"):
        jnp.roots(np.ones((2, 2)))


# ---------------------------------------------------------------- samples of functions


@pytest.mark.parametrize("options", ({}, {"left": -1, "right": 7.0}, {"period": 2.5}), ids=str)
def test_interp(options):
    xp, fp = np.array([0, 1, 2, 3.0], np.float32), np.array([1, 2, 5, 3.0], np.float32)
    x = np.array([[-1, 0, 0.5, 1], [2, 3, 4, np.nan]], np.float32)
    assert_near(jnp.interp(x, xp, fp, **options), np.interp(x, xp, fp, **options))
    assert_near(jnp.interp(1.5, xp, fp, **options), np.interp(1.5, xp, fp, **options))


def test_slopes_between_points_of_numpy():
    xp, fp = np.array([0, 1, 3], np.float32), np.array([5, 7, 1], np.float32)
    slope = covector.grad(lambda x: jnp.interp(x, xp, fp).sum())
    np.testing.assert_allclose(covector.jit(slope)(np.array([0.5, 2, 9], np.float32)), [2, -3, 0])


def test_interp_beyond_the_ends():
    xp, fp = np.array([0, 1, 1, 3.0]), np.array([1, 2, 5, 3.0])
    got = jnp.interp(np.array([-1.0, 4]), xp, fp, "extrapolate", "extrapolate")
    assert_near(got, [0, 2])
    slope = covector.grad(lambda x: jnp.interp(x, xp, fp).sum())(np.array([-1, 0.5, 1, 2, 9]))
    assert_near(slope, [0, 1, -1, -1, 0])
    with pytest.raises(ValueError, match="'extrapolate', but got: 'x'"):
        jnp.interp(I, xp, fp, left="x")
    with pytest.raises(ValueError, match="one-dimensional arrays of equal size"):
        jnp.interp(I, xp, fp[:2])


def test_gradient():
    a = floats(3, 4, 5)
    assert_near(jnp.gradient(a), np.gradient(a))
    assert_near(jnp.gradient(a, 2.0, axis=-2), np.gradient(a, 2.0, axis=-2))
    places = np.array([1, 2, 4, 9.0], np.float32)
    steps = 2, places, 0.5
    assert_near(jnp.gradient(a, *steps), np.gradient(a, *steps))
    assert_near(jnp.gradient(np.array([1, 4, 9])), [3, 4, 5])
    assert jnp.gradient(3.0) == []
    for args, error in (
        ((a, 1, 2), TypeError),
        ((a[:1],), ValueError),
        ((a, places, places, places), ValueError),
    ):
        with pytest.raises(error, match=r"\[gradient\]"):
            jnp.gradient(*args)


def test_trapezoid():
    y, x = floats(3, 4, 5), np.arange(4) ** 2
    for options in ({}, {"dx": 2, "axis": 0}, {"x": x, "axis": 1}, {"x": y + 1, "axis": -1}):
        assert_near(jnp.trapezoid(y, **options), np.trapezoid(y, **options))
    assert_near(jnp.trapezoid(np.arange(5)), 8.0)


def test_unwrap():
    p = floats(3, 6) * 9
    for options in ({}, {"axis": 0}, {"discont": 4.0}, {"period": 3}):
        assert_near(jnp.unwrap(p, **options), np.unwrap(p, **options))
    whole = p.astype(int)
    for period in (4, 5):
        np.testing.assert_array_equal(
            jnp.unwrap(whole, period=period), np.unwrap(whole, period=period)
        )
    assert jnp.unwrap(np.zeros((0, 2)), axis=0).shape == (0, 2)
    with pytest.raises(ValueError, match="complex"):
        jnp.unwrap(p * 1j)


# ---------------------------------------------------------------- covariances

OPTIONS = (
    *({}, {"rowvar": False}, {"bias": True}, {"ddof": 2}, {"fweights": np.arange(1, 8)}),
    *({"aweights": np.arange(1, 8) / 2}, {"fweights": np.arange(1, 8), "aweights": np.ones(7)}),
)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_cov(options):
    m = floats(7, 7)
    for x in (m, m[0], m * (1 + 1j)):
        assert_near(jnp.cov(x, **options), np.cov(x, **options), 1e-3)
    if set(options) <= {"rowvar"}:
        assert_near(jnp.corrcoef(m, **options), np.corrcoef(m, **options), 1e-3)


def test_cov_of_two():
    m = floats(4, 7)
    assert_near(jnp.cov(m[:3], m[3]), np.cov(m[:3], m[3]), 1e-3)
    assert_near(jnp.corrcoef(m[0], m[3]), np.corrcoef(m[0], m[3]), 1e-3)


def test_cov_of_little():
    assert jnp.cov(np.zeros((0, 3))).shape == (0, 0) and np.isnan(jnp.cov(np.zeros((2, 0)))).all()
    with pytest.raises(RuntimeError, match="incompatible numbers of samples"):
        jnp.cov(floats(2, 3), fweights=np.arange(2))
    with pytest.raises(TypeError, match="fweights must be integer"):
        jnp.cov(floats(2, 3), fweights=np.ones(3))
    with pytest.raises(ValueError, match="more than 2 dimensions"):
        jnp.cov(floats(2, 3, 4))


# ---------------------------------------------------------------- windows, integers, floats


@pytest.mark.parametrize("M", (0, 1, 2, 5, 12))
def test_windows(M):
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        assert_near(getattr(jnp, name)(M), getattr(np, name)(M), 1e-6)
    assert_near(jnp.kaiser(M, 3.5), np.kaiser(M, 3.5), 1e-6)


def test_i0():
    x = np.linspace(-9, 9, 13).astype(np.float32)
    np.testing.assert_allclose(jnp.i0(x), np.i0(x), rtol=1e-6)
    assert_near(covector.grad(jnp.i0)(1.0), 0.5651591)  # I1(1)
    assert_near(covector.grad(covector.grad(jnp.i0))(0.0), 0.5)
    with pytest.raises(ValueError, match="Unsupported input type"):
        jnp.i0(1j)


def test_divisors(jax):
    x, y = np.arange(-12, 12)[:, None], np.arange(-7, 9)
    np.testing.assert_array_equal(jnp.gcd(x, y), np.gcd(x, y))
    np.testing.assert_array_equal(jnp.lcm(x, y), np.lcm(x, y))
    for z in (np.uint8(4), 6, True):
        assert_same_type(jax, lambda numpy, z: numpy.gcd(z, np.int16(4)), z, what="gcd")
        assert_same_type(jax, lambda numpy, z: numpy.lcm(z, np.int16(4)), z, what="lcm")
    with pytest.raises(ValueError, match="must be integers"):
        jnp.gcd(1.5, 2)


@pytest.mark.parametrize("axis", (None, 0, -1))
@pytest.mark.parametrize("order", ("big", "little"))
def test_bits(axis, order):
    x = RNG.integers(0, 2, (3, 11)).astype(bool)
    packed = np.packbits(x, axis, order)
    assert_close(np.asarray(jnp.packbits(x, axis, order)), packed, "packbits")
    for count in (None, 5, -2, 100):
        want = np.unpackbits(packed, axis, count, order)
        assert_close(np.asarray(jnp.unpackbits(packed, axis, count, order)), want, "unpackbits")
    with pytest.raises(TypeError, match="unsigned byte"):
        jnp.unpackbits(x)


@pytest.mark.parametrize("dtype", ("float16", "bfloat16", "float32", "float64"))
def test_parts_of_floats(dtype):
    with covector.enable_x64(True):
        x = np.array([0, -0.0, 1, -3, 6e-8, 1e-42, 60000, np.inf, np.nan, 0.1], jnp.dtype(dtype))
        mantissas, exponents = jnp.frexp(x)
        wide = x.astype(np.float64)
        want = np.frexp(wide)
        np.testing.assert_array_equal(np.asarray(mantissas, np.float64), want[0])
        np.testing.assert_array_equal(exponents[:7], want[1][:7])
        assert mantissas.dtype == dtype and exponents.dtype == np.int32
        with np.errstate(over="ignore", under="ignore"):
            np.testing.assert_array_equal(
                np.asarray(jnp.ldexp(mantissas, exponents), np.float64)[x > 1e-5], wide[x > 1e-5]
            )


def test_ldexp():
    x = np.array([0, -0.0, 1, -3, 3e38, 1e-42, np.inf, np.nan], np.float32)
    for n in (-20, 0, 3, 260, 2**30, -(2**31) + 1):
        with np.errstate(over="ignore", under="ignore"):
            want = np.ldexp(x, n)
        normal = ~(np.abs(want) < np.finfo(np.float32).tiny) | (x == 0)
        np.testing.assert_array_equal(np.asarray(jnp.ldexp(x, n))[normal], want[normal])
    assert covector.grad(lambda x: jnp.ldexp(x, 3))(0.0) == 8
    assert covector.grad(lambda x: jnp.frexp(x)[0])(3.0) == 0.25
    with pytest.raises(ValueError, match="ldexp not supported"):
        jnp.ldexp(1.0, 2.0)
    with pytest.raises(TypeError, match="complex"):
        jnp.frexp(1j)


def test_spacing():
    x = np.array([1, -3, 1e30, 0.1, np.nan], np.float32)
    np.testing.assert_array_equal(jnp.spacing(x), np.spacing(x))
    short = x[[0, 3, 4]].astype(np.float16)
    with np.errstate(invalid="ignore"):
        want = np.spacing(short)
    np.testing.assert_array_equal(jnp.spacing(short), want)


# ---------------------------------------------------------------- functions along axes, files


@pytest.mark.parametrize("axis", (0, 1, -1))
def test_apply_along_axis(axis):
    x = floats(2, 3, 4)
    for name in ("sum", "cumsum", "flip"):
        got = jnp.apply_along_axis(getattr(jnp, name), axis, x)
        assert_near(got, np.apply_along_axis(getattr(np, name), axis, x))
    got = jnp.apply_along_axis(lambda v, w: jnp.outer(v, w), axis, x, I)
    assert_near(got, np.apply_along_axis(lambda v, w: np.outer(v, w), axis, x, I))


def test_apply_over_axes():
    x = floats(2, 3, 4)
    assert_near(jnp.apply_over_axes(jnp.sum, x, [0, -1]), np.apply_over_axes(np.sum, x, [0, -1]))
    with pytest.raises(ValueError, match="correct shape"):
        jnp.apply_over_axes(lambda a, axis: a.sum(), x, [0])


def test_piecewise():
    x = np.array([[-3.0, -1, 0, 2, 5]], np.float32)
    for conditions in ([x < 0, x > 1], [x < 0, x < 3]):
        for functions in ([lambda x: -x, 3], [4, lambda x: x * x, lambda x: x + 1]):
            want = np.piecewise(x, conditions, functions)
            assert_near(jnp.piecewise(x, conditions, functions), want)
            assert_near(
                covector.jit(jnp.piecewise, static_argnums=2)(x, conditions, tuple(functions)), want
            )
    slope = covector.grad(lambda x: jnp.piecewise(x, [x < 0], [lambda x: x * x]).sum())(x)
    assert_near(slope, [[-6, -2, 0, 0, 0]])
    with pytest.raises(ValueError, match="either 1 or 2 functions are expected; got 3"):
        jnp.piecewise(x, [x < 0], [1, 2, 3])


def test_files():
    x = jnp.array([[1.5, 2], [3, 4]], "bfloat16")
    file = io.BytesIO()
    jnp.save(file, x)
    file.seek(0)
    assert_close(jnp.load(file), x, "load")
    assert_near(jnp.frombuffer(I.astype("int16").tobytes(), "int16", 2, 2), [2, 3])
    assert_near(jnp.fromstring("1,2.5", sep=","), [1, 2.5])
    assert_near(jnp.from_dlpack(I.astype("int32")), I)
    for name in ("fromfile", "fromiter"):
        with pytest.raises(NotImplementedError, match="non-pure"):
            getattr(jnp, name)([1])
    assert jnp.iterable([1]) and not jnp.iterable(jnp.ones(()))
    assert jnp.ComplexWarning is np.exceptions.ComplexWarning
