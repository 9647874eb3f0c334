"""Values between the elements of arrays against SciPy in double precision, and JAX."""

import inspect

import numpy as np
import pytest
import scipy.ndimage as sp

import covector as cv
import covector.numpy as jnp
from covector.scipy.ndimage import map_coordinates
from tests.scipy.compiling import QUICK_TO_COMPILE

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 5))
# Their names in SciPy.
MODES = {
    "constant": "grid-constant",
    "nearest": "nearest",
    "wrap": "grid-wrap",
    "mirror": "mirror",
    "reflect": "reflect",
}
PLACES = RNG.uniform(-9, 15, size=(2, 40))
INSIDE = RNG.uniform(0, 4, size=(2, 10))


@pytest.fixture(scope="module", autouse=True)
def nothing_implicit():
    with cv.numpy_rank_promotion("raise"), cv.numpy_dtype_promotion("strict"):
        yield


def ours(x, places, *args):
    program = cv.jit(
        lambda x, places: map_coordinates(x, places, *args), compiler_options=QUICK_TO_COMPILE
    )
    with cv.enable_x64(True):
        return np.asarray(program(x, places))


@pytest.mark.parametrize("order", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("mode", MODES)
def test_values(mode, order):
    got = ours(X, PLACES, order, mode, 1.5)
    # SciPy filters as if the array ended 12 elements behind its edges, or is wrong near them.
    near = mode in ("constant", "nearest", "reflect") and order > 1
    error = {2: 1e-8, 3: 1e-6, 4: 1e-4, 5: 1e-3}.get(order) if near else 1e-12
    want = sp.map_coordinates(X, PLACES, order=order, mode=MODES[mode], cval=1.5)
    np.testing.assert_allclose(got, want, rtol=0, atol=error)
    assert got.dtype == want.dtype


@pytest.mark.parametrize("mode", ["constant", "nearest", "reflect"])
def test_splines_of_arrays_that_go_on(mode):
    # The spline through a longer array with the same elements agrees within the shorter one.
    kwargs = {"constant_values": 1.5} if mode == "constant" else {}
    longer = np.pad(X, 60, {"nearest": "edge", "reflect": "symmetric"}.get(mode, mode), **kwargs)
    places = RNG.uniform(-5, 10, size=(2, 20))
    for order in (2, 5):
        got = ours(X, places, order, mode, 1.5)
        want = sp.map_coordinates(longer, places + 60, order=order, mode="mirror")
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("order", [2, 5])
def test_splines_interpolate(order):
    places = np.indices(X.shape)
    np.testing.assert_allclose(ours(X, places, order, "mirror"), X, rtol=1e-12, atol=1e-14)


def test_that_of_jax(jax):
    import jax.scipy.ndimage

    x, places = X.astype(np.float32), PLACES.astype(np.float32)
    for order in (0, 1):
        for mode in ["constant", "reflect"][order:]:
            got = map_coordinates(x, places, order, mode, 1.5)
            want = jax.scipy.ndimage.map_coordinates(x, places, order, mode, 1.5)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_signature(jax):
    import jax.scipy.ndimage

    theirs = inspect.signature(jax.scipy.ndimage.map_coordinates).parameters
    assert [
        (p.name, p.default) for p in inspect.signature(map_coordinates).parameters.values()
    ] == [(p.name, p.default) for p in theirs.values()]


def test_integers_are_rounded_and_exact():
    x = np.array([2**30 + 1, 5, -4], np.int32)
    assert np.array_equal(map_coordinates(x, [np.array([0, 0.4])], 0), [2**30 + 1] * 2)
    got = map_coordinates(np.array([0, 1, -2]), [np.array([0.5, 1.5, 1.75])], 1)
    assert got.dtype == np.int32 and np.array_equal(got, [1, -1, -1])
    with cv.numpy_dtype_promotion("standard"):
        for dtype in (jnp.bfloat16, jnp.complex64):
            out = map_coordinates(jnp.ones(3, dtype), [jnp.ones(2)], 3, "mirror")
            assert out.dtype == dtype and np.allclose(np.asarray(out, complex), 1)


def test_halves_and_integer_coordinates():
    x = jnp.arange(5.0)
    got = map_coordinates(x, [jnp.array([0.5, 1.5, 2.5])], 0, "nearest")
    assert np.array_equal(got, [1, 2, 3])
    for order in (0, 1, 3):
        got = map_coordinates(x, [jnp.array([0, 3])], order)
        np.testing.assert_allclose(got, [0, 3], atol=1e-6)


def test_one_element_and_none():
    for mode in MODES:
        for order in (1, 3) if mode in ("constant", "mirror") else (3,):
            got = ours(np.array([2.5]), [np.array([0.0, 0.0])], order, mode, 2.5)
            np.testing.assert_allclose(got, 2.5, rtol=1e-12)
    assert np.array_equal(map_coordinates(jnp.zeros(0), [jnp.ones(2)], 1, cval=7), [7, 7])
    assert map_coordinates(X, [jnp.ones((0, 2))] * 2, 3).shape == (0, 2)
    assert map_coordinates(jnp.array(3.0), [], 1) == 3
    assert map_coordinates([1.0, 3.0], [[0.5]], 1).tolist() == [2]
    assert np.isnan(map_coordinates(jnp.ones(3), [jnp.array([jnp.nan])], 1, "nearest"))


def test_coordinates_broadcast():
    places = [np.array([[0.5], [1.5]]), np.array([[0.0, 1.0, 2.5]])]
    got = ours(X, places, 1)
    want = sp.map_coordinates(X, np.broadcast_arrays(*places), order=1)
    np.testing.assert_allclose(got, want, rtol=1e-12)


# ---------------------------------------------------------------- transformations


@pytest.mark.parametrize("order", [1, 4])
def test_gradients(order):
    with cv.enable_x64(True):

        def value(x, places):
            return jnp.sum(map_coordinates(x, places, order, "mirror") * np.arange(10.0))

        got = cv.jit(cv.grad(value, (0, 1)))(X, INSIDE)
        for i, at in enumerate((X, INSIDE)):
            direction = RNG.normal(size=at.shape)

            def along(t, i=i, at=at, direction=direction):
                args = [X, INSIDE]
                args[i] = at + t * direction
                want = sp.map_coordinates(*args, order=order, mode="mirror")
                return np.sum(want * np.arange(10.0))

            want = (along(1e-6) - along(-1e-6)) / 2e-6
            np.testing.assert_allclose(np.sum(got[i] * direction), want, rtol=1e-6)


def test_vmap():
    with cv.enable_x64(True):
        got = cv.vmap(lambda x, c: map_coordinates(x, [c], 2, "wrap"))(X, PLACES[0, :6, None])
    want = [
        sp.map_coordinates(x, [c], order=2, mode="grid-wrap")
        for x, c in zip(X, PLACES[0, :6, None])
    ]
    np.testing.assert_allclose(got, want, rtol=1e-12)


# ---------------------------------------------------------------- errors


def test_errors():
    x, c = jnp.ones((3, 4)), jnp.ones(2)
    with pytest.raises(ValueError, match=r"sequence of length input.ndim.*there are 1.*\(3, 4\)"):
        map_coordinates(x, [c], 1)
    with pytest.raises(NotImplementedError, match=r"order .* from 0 to 5, but is 6"):
        map_coordinates(x, [c, c], 6)
    with pytest.raises(NotImplementedError, match=r"no mode 'edge'.*'nearest'"):
        map_coordinates(x, [c, c], 1, mode="edge")
    with pytest.raises(TypeError, match=r"Coordinates must be real numbers.*complex64"):
        map_coordinates(x, [c, jnp.ones(2, complex)], 1)
    with pytest.raises(ValueError, match=r"nothing to interpolate between.*\(0,\)"):
        map_coordinates(jnp.zeros(0), [c], 1, mode="nearest")
