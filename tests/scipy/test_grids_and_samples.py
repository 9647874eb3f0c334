"""Interpolation on grids, integrals of samples and nearest codes against SciPy."""

import inspect

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.integrate
import scipy.interpolate

import covector as cv
import covector.numpy as jnp
from covector.scipy import cluster, integrate
from covector.scipy.interpolate import RegularGridInterpolator

RNG = np.random.default_rng(0)
POINTS = (np.array([0.0, 1.0, 3.0, 3.5]), np.array([-1.0, 0.5, 2.0]))
VALUES = RNG.normal(size=(4, 3))
PLACES = RNG.uniform([-1, -2], [5, 3], size=(30, 2))


@pytest.fixture(scope="module", autouse=True)
def nothing_implicit():
    with cv.numpy_rank_promotion("raise"), cv.numpy_dtype_promotion("strict"), cv.enable_x64(True):
        yield


def same(got, want, rtol=1e-12, atol=1e-14):
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def signature(f):
    return [(p.name, p.default) for p in inspect.signature(f).parameters.values()]


# ---------------------------------------------------------------- grids


def both(points, values, *args, **kwargs):
    theirs = scipy.interpolate.RegularGridInterpolator
    kwargs = {"bounds_error": False, **kwargs}
    return RegularGridInterpolator(points, values, *args, **kwargs), theirs(
        points, values, *args, **kwargs
    )


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_grids(method):
    for fill_value in (np.nan, 2.5, None):
        ours, theirs = both(POINTS, VALUES, method, fill_value=fill_value)
        same(ours(PLACES), theirs(PLACES))
    ours, theirs = both(POINTS, RNG.normal(size=(4, 3, 2)) + 1j)
    same(ours(PLACES, method), theirs(PLACES, method))


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_decreasing_points_and_points_that_are_nan(method):
    ours, theirs = both((POINTS[0][::-1], POINTS[1]), VALUES, method)
    places = np.concatenate([PLACES, [[np.nan, 0.0]]])
    same(ours(places), theirs(places))


def test_points_of_grids():
    ours, theirs = both(POINTS, VALUES)
    grid = np.stack(np.meshgrid(*POINTS, indexing="ij"), -1)
    same(ours(grid), VALUES)
    places = (PLACES[:, 0], PLACES[:, 1])
    same(ours(places), theirs(places))
    assert ours((0.5, jnp.ones(3))).shape == (3,)
    assert both([[1.0, 2.0], [3.0, 4.0]], [[1, 2], [3, 4]])[0]([1.5, 3.0]).tolist() == [2]
    assert ours([[0.5, 1.0]]).shape == ours(jnp.array([0.5, 1.0])).shape == (1,)
    assert ours(jnp.ones((0, 2))).shape == (0,)


def test_a_grid_of_one_point():
    ours, theirs = both((np.array([1.0]), POINTS[1]), VALUES[:1], fill_value=None)
    places = np.array([[1.0, 0.3], [1.0, 2.0]])
    same(ours(places), theirs(places))


def test_interpolators_are_trees():
    ours = RegularGridInterpolator(POINTS, VALUES)
    same(cv.jit(lambda f, x: f(x))(ours, PLACES), np.asarray(ours(PLACES)))
    doubled = cv.tree.map(lambda x: 2 * x, ours)
    same(doubled(2 * PLACES), 2 * np.asarray(ours(PLACES)))
    assert (doubled.method, doubled.bounds_error) == ("linear", False)


def test_gradients_of_grids():
    inside = RNG.uniform([0, -1], [3, 2], size=(5, 2))

    def total(values, places):
        return jnp.sum(RegularGridInterpolator(POINTS, values)(places) * np.arange(5.0))

    got = cv.jit(cv.grad(total, (0, 1)))(VALUES, inside)
    for i, at in enumerate((VALUES, inside)):
        direction = RNG.normal(size=at.shape)

        def along(t, i=i, at=at, direction=direction):
            args = [VALUES, inside]
            args[i] = at + t * direction
            return float(total(*args))

        want = (along(1e-6) - along(-1e-6)) / 2e-6
        np.testing.assert_allclose(np.sum(got[i] * direction), want, rtol=1e-7)


def test_dtypes_of_grids():
    points = (np.array([0, 1, 2]),)
    with cv.enable_x64(False), cv.numpy_dtype_promotion("standard"):
        out = RegularGridInterpolator(points, np.array([1, 3, 2]))(jnp.array([[0.5], [5.0]]))
    assert out.dtype == np.float32
    assert np.array_equal(out, [2, np.nan], equal_nan=True)


def test_signature_of_grids(jax):
    import jax.scipy.interpolate

    theirs = jax.scipy.interpolate.RegularGridInterpolator
    assert str(signature(RegularGridInterpolator)) == str(signature(theirs))


def test_errors_of_grids():
    make = RegularGridInterpolator
    with pytest.raises(ValueError, match="no method 'cubic'"):
        make(POINTS, VALUES, "cubic")
    with pytest.raises(NotImplementedError, match="bounds_error"):
        make(POINTS, VALUES, bounds_error=True)
    with pytest.raises(ValueError, match=r"3 arrays of points.*\(4, 3\)"):
        make((*POINTS, POINTS[0]), VALUES)
    with pytest.raises(ValueError, match=r"points\[1\] must be a vector of 3 elements.*\(4,\)"):
        make((POINTS[0], POINTS[0]), VALUES)
    with pytest.raises(ValueError, match=r"points\[0\] must increase"):
        make((np.array([0.0, 1.0, 1.0, 2.0]), POINTS[1]), VALUES)
    with pytest.raises(ValueError, match="complex128, and they are float64"):
        make(POINTS, VALUES, fill_value=1j)
    f = make(POINTS, VALUES)
    with pytest.raises(ValueError, match=r"last dimension of size 2.*\(5, 3\)"):
        f(np.ones((5, 3)))
    with pytest.raises(ValueError, match=r"size 2.*\(3,\)"):
        f(np.ones(3))
    with pytest.raises(ValueError, match="no method 'spline'"):
        f(PLACES, "spline")


# ---------------------------------------------------------------- integrals

Y = RNG.normal(size=(3, 6))
X = np.cumsum(RNG.uniform(0.5, 1, size=6))
XS = np.cumsum(RNG.uniform(0.5, 1, size=(3, 6)), -1)


@pytest.mark.parametrize("name", ["trapezoid", "simpson", "cumulative_trapezoid"])
@pytest.mark.parametrize("count", [5, 6])
def test_integrals(name, count):
    ours, theirs = getattr(integrate, name), getattr(scipy.integrate, name)
    y = Y[:, :count]
    same(ours(y, dx=0.5), theirs(y, dx=0.5))
    with cv.numpy_rank_promotion("allow"):
        same(ours(y, X[:count]), theirs(y, X[:count]))
    same(ours(y.T, XS[:, :count].T, axis=0), theirs(y.T, XS[:, :count].T, axis=0))


def test_places_of_lower_rank():
    y = RNG.normal(size=(2, 3, 6))
    with cv.numpy_rank_promotion("allow"):
        got = integrate.trapezoid(y, XS, axis=-2)
    same(got, scipy.integrate.trapezoid(y, XS, axis=-2))


def test_simpson_is_exact_for_parabolas():
    np.testing.assert_allclose(integrate.simpson(X**2, X), (X[-1] ** 3 - X[0] ** 3) / 3, rtol=1e-13)


def test_first_running_integral():
    got = integrate.cumulative_trapezoid(Y, X, initial=0)
    same(got, scipy.integrate.cumulative_trapezoid(Y, X, initial=0))
    assert integrate.cumulative_trapezoid(np.ones((2, 1))).shape == (2, 0)
    assert np.array_equal(integrate.simpson(np.ones((2, 1))), [0, 0])


@pytest.mark.parametrize("name", ["simpson", "cumulative_trapezoid"])
def test_gradients_of_integrals(name):
    # The integral is linear in the samples.
    def total(y):
        return jnp.sum(getattr(integrate, name)(y, X))

    got = cv.grad(total)(Y[0])
    same(got, np.array([float(total(row)) for row in np.eye(6)]))


def test_signatures_of_integrals(jax):
    import jax.scipy.integrate

    assert signature(integrate.trapezoid) == signature(jax.scipy.integrate.trapezoid)
    assert signature(integrate.simpson) == signature(scipy.integrate.simpson)
    theirs = scipy.integrate.cumulative_trapezoid
    assert signature(integrate.cumulative_trapezoid) == signature(theirs)


def test_errors_of_integrals():
    with pytest.raises(ValueError, match=r"\[simpson\] At least one sample"):
        integrate.simpson(np.ones((2, 0)))
    with pytest.raises(ValueError, match=r"\(5,\) and \(3, 6\)"):
        integrate.cumulative_trapezoid(Y, X[:5])
    with pytest.raises(ValueError, match=r"`initial` must be a number.*\(2,\)"):
        integrate.cumulative_trapezoid(Y, initial=np.ones(2))


# ---------------------------------------------------------------- codes


@pytest.mark.parametrize("shapes", [((5, 3), (4, 3)), ((5,), (4,)), ((0, 2), (1, 2))], ids=str)
def test_vq(shapes):
    obs, codes = (RNG.normal(size=shape) for shape in shapes)
    got = cluster.vq.vq(obs, codes)
    if obs.size:
        want = scipy.cluster.vq.vq(obs, codes)
        assert np.array_equal(got[0], want[0])
        np.testing.assert_allclose(got[1], want[1], rtol=1e-12)
    assert got[0].shape == got[1].shape == shapes[0][:1]
    assert got[0].dtype == np.int64 and got[1].dtype == np.float64


def test_vq_under_transformations():
    obs, codes = RNG.normal(size=(2, 5, 3)), RNG.normal(size=(4, 3))
    got = cv.jit(cv.vmap(cluster.vq.vq, (0, None)))(obs, codes)[0]
    assert np.array_equal(got, [scipy.cluster.vq.vq(x, codes)[0] for x in obs])
    # The gradient of the distance is the direction from the code.
    index, distance = scipy.cluster.vq.vq(obs[0], codes)
    got = cv.grad(lambda x: jnp.sum(cluster.vq.vq(x, codes)[1]))(obs[0])
    np.testing.assert_allclose(got, (obs[0] - codes[index]) / distance[:, None], rtol=1e-12)


def test_vq_signature_and_errors(jax):
    import jax.scipy.cluster

    assert signature(cluster.vq.vq) == signature(jax.scipy.cluster.vq.vq)
    with pytest.raises(ValueError, match=r"\(5, 3\) and \(4, 2\)"):
        cluster.vq.vq(np.ones((5, 3)), np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"\(5,\) and \(4, 2\)"):
        cluster.vq.vq(np.ones(5), np.ones((4, 2)))
    with pytest.raises(ValueError, match="at least one row"):
        cluster.vq.vq(np.ones((5, 3)), np.ones((0, 3)))
