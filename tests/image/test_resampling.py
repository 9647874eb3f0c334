"""Images in other sizes against JAX and against mathematics."""

import inspect

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import image
from covector.image import ResizeMethod

RNG = np.random.default_rng(0)
IMAGE = RNG.normal(size=(7, 5, 2))
LINEAR, CUBIC_PYTORCH = ResizeMethod.LINEAR, ResizeMethod.CUBIC_PYTORCH
KERNELS = [LINEAR, ResizeMethod.LANCZOS3, ResizeMethod.CUBIC, ResizeMethod.AREA]


@pytest.fixture(scope="module", autouse=True)
def nothing_implicit():
    with cv.numpy_rank_promotion("raise"), cv.numpy_dtype_promotion("strict"):
        yield


@pytest.mark.parametrize("method", list(ResizeMethod), ids=lambda m: m.name)
def test_resize_is_that_of_jax(jax, method):
    import jax.image

    theirs = jax.image.ResizeMethod[method.name]
    with cv.enable_x64(True), jax.enable_x64(True):
        for antialias in (True, False) if method in (LINEAR, CUBIC_PYTORCH) else (True,):
            got = image.resize(IMAGE, (14, 3, 2), method, antialias)
            want = jax.image.resize(jax.numpy.asarray(IMAGE), (14, 3, 2), theirs, antialias)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_empty_results():
    assert image.resize(IMAGE, (0, 5, 2), "cubic").shape == (0, 5, 2)
    assert image.resize(IMAGE, (0, 6, 2), "nearest").shape == (0, 6, 2)
    assert image.resize(jnp.ones(()), (), "linear") == 1


@pytest.mark.parametrize("method", [*KERNELS, CUBIC_PYTORCH], ids=lambda m: m.name)
def test_scale_and_translate_is_that_of_jax(jax, method):
    import jax.image

    args = (6, 8, 2), (0, -2), np.array([0.6, 1.7]), np.array([0.3, -1.2])
    antialias = method is not CUBIC_PYTORCH

    @jax.jit
    def theirs(x):
        kind = jax.image.ResizeMethod[method.name]
        return jax.image.scale_and_translate(x, *args, kind, antialias)

    with cv.enable_x64(True), jax.enable_x64(True):
        got = image.scale_and_translate(IMAGE, *args, method, antialias)
        np.testing.assert_allclose(got, theirs(IMAGE), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["resize", "scale_and_translate"])
def test_signatures(jax, name):
    import jax.image

    ours = inspect.signature(getattr(image, name)).parameters
    theirs = inspect.signature(getattr(jax.image, name)).parameters
    assert list(ours) == list(theirs)
    assert [str(p.default) for p in ours.values()] == [str(p.default) for p in theirs.values()]


def test_names_of_methods(jax):
    import jax.image

    names = ["nearest", "linear", "bilinear", "trilinear", "triangle", "cubic", "bicubic", "area"]
    names += ["tricubic", "cubic-pytorch", "bicubic-pytorch", "lanczos3", "lanczos5"]
    for name in names:
        method = ResizeMethod.from_string(name)
        theirs = jax.image.ResizeMethod.from_string(name)
        assert (method.name, method.value) == (theirs.name, theirs.value)


def test_float32_by_default_and_short_floats_stay():
    assert image.resize(np.arange(4), (2,), "linear").dtype == np.float32
    assert image.resize(jnp.ones(4, jnp.bfloat16), (2,), "cubic").dtype == jnp.bfloat16
    assert image.resize(np.arange(4, dtype=np.int8), (2,), "nearest").dtype == np.int8


def test_nearest_pixels_of_large_images_are_exact():
    got = image.resize(np.arange(99_999, dtype=np.int32), (77_777,), "nearest")
    numbers = np.arange(77_777, dtype=object)
    want = [(2 * i + 1) * 99_999 // (2 * 77_777) for i in numbers]
    assert np.array_equal(got, want)


@pytest.mark.parametrize("method", ["cubic", "linear"])
def test_polynomials_are_reproduced_inside(method):
    # A cubic kernel reproduces quadratic functions, a triangle linear ones.
    degree = 2 if method == "cubic" else 1
    with cv.enable_x64(True):
        x = (np.arange(12) + 0.5) ** degree
        got = np.asarray(image.resize(x, (36,), method))
    want = ((np.arange(36) + 0.5) / 3) ** degree
    np.testing.assert_allclose(got[6:-6], want[6:-6], rtol=1e-13)


def test_area_keeps_the_mean():
    with cv.enable_x64(True):
        got = image.resize(IMAGE, (3, 2, 2), "area")
        np.testing.assert_allclose(got.mean((0, 1)), IMAGE.mean((0, 1)), rtol=1e-12)


def test_pixels_from_beyond_the_image_are_zero():
    x = jnp.ones(4)
    got = image.scale_and_translate(x, (6,), (0,), jnp.ones(1), jnp.array([1.0]), "linear")
    assert np.array_equal(got, [0, 1, 1, 1, 1, 0])


# ---------------------------------------------------------------- transformations


@pytest.mark.parametrize("method", ["lanczos3", "cubic-pytorch"])
def test_gradients(method):
    weights = RNG.normal(size=(4, 6))
    x, scale, translation = IMAGE[..., 0], np.array([0.63, 1.27]), np.array([0.31, -0.44])

    def weighted(x, scale, translation):
        out = image.scale_and_translate(
            x, (4, 6), (0, 1), scale, translation, method, antialias=False
        )
        return jnp.sum(out * weights)

    with cv.enable_x64(True):
        got = cv.jit(cv.grad(weighted, (0, 1, 2)))(x, scale, translation)
        for i, args in enumerate([x, scale, translation]):
            direction = RNG.normal(size=args.shape)

            def along(t, i=i, args=args, direction=direction):
                moved = [x, scale, translation]
                moved[i] = args + t * direction
                return float(weighted(*moved))

            want = (along(1e-6) - along(-1e-6)) / 2e-6
            np.testing.assert_allclose(np.sum(got[i] * direction), want, rtol=1e-6)


def test_vmap_and_jit_agree_with_the_whole():
    def shrunk(x):
        return image.resize(x, (3, 4), "cubic")

    x = jnp.asarray(IMAGE, jnp.float32)
    want = image.resize(x, (3, 4, 2), "cubic")
    np.testing.assert_allclose(cv.jit(cv.vmap(shrunk, -1, -1))(x), want, rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------- errors


def test_errors():
    x = jnp.ones((4, 4))
    with pytest.raises(ValueError, match=r"\[resize\] The shape must have length .* \(4, 4\)"):
        image.resize(x, (4,), "linear")
    with pytest.raises(ValueError, match="Unknown resize method 'bilinaer'"):
        image.resize(x, (2, 2), "bilinaer")
    with pytest.raises(TypeError, match=r"\[resize\] .* but is 3 of type int"):
        image.resize(x, (2, 2), 3)
    with pytest.raises(TypeError):
        image.resize(x, (2.5, 2), "linear")
    with pytest.raises(ValueError, match="Dimension 0 of the image"):
        image.resize(jnp.ones((0, 3)), (2, 3), "linear")
    with pytest.raises(TypeError, match="resize requires ndarray"):
        image.resize("photo", (2,), "linear")


def test_errors_of_scale_and_translate():
    x, one = jnp.ones((4, 4)), jnp.ones(1)
    with pytest.raises(ValueError, match="'nearest' has no weights"):
        image.scale_and_translate(x, (4, 4), (0,), one, one, "nearest")
    with pytest.raises(ValueError, match=r"`translation` .* 1 spatial_dims, but has shape \(2,\)"):
        image.scale_and_translate(x, (4, 4), (0,), one, jnp.ones(2), "linear")
    with pytest.raises(ValueError, match="Dimension 1 is not among spatial_dims"):
        image.scale_and_translate(x, (4, 5), (0,), one, one, "linear")
    with pytest.raises(ValueError, match="duplicate"):
        image.scale_and_translate(x, (4, 4), (0, -2), jnp.ones(2), jnp.ones(2), "linear")
