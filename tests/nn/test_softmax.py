"""softmax, log_softmax, standardize and one_hot against JAX 0.10.2."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.ad_checkpoint import saved_residuals

A = np.linspace(-4, 5, 24, dtype=np.float32).reshape(2, 3, 4) ** 2
MASK = (np.arange(24) % 3 != 1).reshape(2, 3, 4)
INF = np.inf


def close(got, want, tolerance=2e-6):
    assert got.dtype == want.dtype and got.shape == want.shape
    wide = np.complex128 if got.dtype == "complex64" else np.float64
    got, want = [np.asarray(v).astype(wide) for v in (got, want)]
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


CASES = [(axis, mask) for axis in (-1, (0, 2), None) for mask in (None, MASK)]


def values_and_gradients(of, name):
    """For each axis and mask the values, and the gradient of a weighted sum of the finite ones."""
    f = getattr(of.nn, name)
    weights = np.cos(np.arange(24, dtype=np.float32)).reshape(A.shape)

    def total(x, axis, mask):
        out = f(x, axis, mask)
        return (out * weights if mask is None else of.numpy.where(mask, out * weights, 0)).sum()

    def program(x):
        gradient = of.grad(total)
        return [(f(x, axis, mask), gradient(x, axis, mask)) for axis, mask in CASES]

    return of.jit(program)(A)


@pytest.mark.parametrize("custom", [False, True])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_values_and_gradients(jax, name, custom):
    with cv.softmax_custom_jvp(custom), jax.softmax_custom_jvp(custom):
        ours, theirs = values_and_gradients(cv, name), values_and_gradients(jax, name)
    for (value, gradient), (want, wanted) in zip(ours, theirs, strict=True):
        close(value, want)
        close(gradient, wanted, 2e-5)


@pytest.mark.parametrize("custom", [False, True])
def test_rows_of_infinities(custom):
    rows = jnp.array([[-INF, 0.0, 0.0], [-INF, -INF, -INF], [INF, 0.0, 1.0]])
    with cv.softmax_custom_jvp(custom):
        got = np.asarray(cv.nn.softmax(rows))
        np.testing.assert_array_equal(got[0], [0, 0.5, 0.5])
        assert np.isnan(got[1]).all() and np.isnan(got[2, 0])
        slope = cv.grad(lambda x: cv.nn.softmax(x)[1])(rows[0])
        np.testing.assert_allclose(slope, [0, 0.25, -0.25])


def test_nothing_takes_part(jax):
    x = jnp.array([5.5, 1.3, -4.2])
    none = jnp.zeros(3, bool)
    assert cv.nn.softmax(x, where=none).tolist() == [0.0] * 3
    assert cv.nn.log_softmax(x, where=none).tolist() == [-INF] * 3
    empty = jnp.zeros((0,))
    assert cv.nn.softmax(empty).shape == cv.nn.log_softmax(empty).shape == (0,)


def test_a_huge_masked_element_has_no_part_in_the_gradient():
    x = jnp.array([36.0, 10000.0])
    for f in (cv.nn.softmax, cv.nn.log_softmax):
        assert cv.grad(lambda x: f(x, where=x < 1000)[0])(x).tolist() == [0.0, 0.0]  # noqa: B023


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64"])
def test_dtypes(jax, dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    for name in ("softmax", "log_softmax"):
        tolerance = 2e-2 if dtype == "bfloat16" else 2e-3
        if (name, dtype) != ("log_softmax", "complex64"):
            close(getattr(cv.nn, name)(x), getattr(jax.nn, name)(x), tolerance)


def test_integers_and_booleans_become_floats():
    x = jnp.array([1, 0, 1])
    want = np.exp([1, 0, 1]) / np.exp([1, 0, 1]).sum()
    for given in (x, x.astype(bool), x.astype("uint8")):
        np.testing.assert_allclose(cv.nn.softmax(given), want, rtol=1e-6)
        np.testing.assert_allclose(cv.nn.log_softmax(given), np.log(want), rtol=1e-6)


def test_other_axes_and_masks_of_lower_rank():
    powers = np.exp(A.astype(np.float64)) * MASK[0, 0]
    np.testing.assert_allclose(
        cv.nn.softmax(A, 0, MASK[0, 0]),
        powers / np.maximum(powers.sum(0, keepdims=True), 1e-300),
        rtol=2e-6,
        atol=1e-6,
    )
    assert cv.nn.softmax(A, ()).tolist() == np.ones(A.shape).tolist()


def test_errors():
    with pytest.raises(TypeError, match="softmax requires ndarray or scalar arguments"):
        cv.nn.softmax([1.0, 2.0])
    with pytest.raises(ValueError, match="axis -1 is out of bounds"):
        cv.nn.softmax(3.0)


def test_the_rule_keeps_one_residual():
    kept, texts = {}, {}
    for custom in (True, False):
        with cv.softmax_custom_jvp(custom):
            kept[custom] = saved_residuals(cv.nn.softmax, jnp.arange(4.0))
            texts[custom] = str(cv.make_jaxpr(cv.nn.softmax)(jnp.arange(4.0)))
    assert len(kept[True]) == 1 < len(kept[False])
    assert "name=_softmax" in texts[True] and "custom_jvp" not in texts[False]


@pytest.mark.parametrize("f", ["softmax", "log_softmax"])
def test_programs(jax, f):
    x = np.ones((2, 3), np.float32)
    got, want = [str(of.make_jaxpr(getattr(of.nn, f))(x)) for of in (cv, jax)]
    assert got == want


# ---------------------------------------------------------------- standardize


def test_standardize(jax):
    for kwargs in (
        {},
        {"axis": (0, 1)},
        {"axis": None},
        {"where": MASK},
        {"algorithm": "stable"},
        {"mean": np.float32(2), "epsilon": 0.5},
        {"variance": np.full((2, 3, 1), 4, np.float32)},
    ):
        close(cv.nn.standardize(A, **kwargs), jax.nn.standardize(A, **kwargs), 2e-5)
    grads = [of.grad(lambda x, of=of: (of.nn.standardize(x) ** 3).sum())(A) for of in (cv, jax)]
    close(*grads, 2e-4)
    assert not np.isnan(cv.nn.standardize(jnp.array([-11.0] * 3) + 3e-6)).any()
    with pytest.raises(ValueError, match="Unknown algorithm 'exact'"):
        cv.nn.standardize(A, algorithm="exact")
    with pytest.raises(TypeError, match="standardize requires ndarray or scalar arguments"):
        cv.nn.standardize([1.0])


# ---------------------------------------------------------------- one_hot


@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
def test_one_hot(jax, axis):
    x = np.array([[0, 2, -1], [3, 1, 1]])
    for dtype in (None, int, bool, "bfloat16"):
        got = cv.nn.one_hot(x, 3, axis=axis, dtype=dtype)
        want = jax.nn.one_hot(x, 3, axis=axis, dtype=dtype)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_one_hot_along_a_named_axis():
    part = lambda x: cv.nn.one_hot(x, 3, axis="i")  # noqa: E731
    encode = cv.vmap(part, in_axes=None, axis_name="i", axis_size=3)
    assert encode(jnp.array([1, 2])).tolist() == [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(ValueError, match="but 4 != 3"):
        cv.vmap(lambda x: cv.nn.one_hot(x, 4, axis="i"), axis_name="i")(jnp.arange(3))


def test_one_hot_arguments():
    assert cv.nn.one_hot([0, 1], 2).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert cv.nn.one_hot(1, np.int64(2)).tolist() == [0.0, 1.0]
    assert cv.nn.one_hot(1, 0).shape == (0,)
    with pytest.warns(DeprecationWarning, match="should be integer-typed; got dtype=float32"):
        cv.nn.one_hot(jnp.array([1.0]), 3)
    with pytest.raises(cv.errors.ConcretizationTypeError, match="argument `num_classes`"):
        cv.jit(cv.nn.one_hot)(3, 5)
    with pytest.raises(ValueError, match="out of bounds"):
        cv.nn.one_hot(jnp.arange(2), 3, axis=5)
