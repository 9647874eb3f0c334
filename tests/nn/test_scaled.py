"""Scaled products: against their definition, and against the dtypes' own rounding.

JAX has these on some GPUs only; there is nothing to run it on here.
"""

import ml_dtypes
import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

rng = np.random.default_rng(0)
CONTRACT_LAST = (((1,), (1,)), ((), ()))


def configs(mode, scale=None):
    return [cv.nn.get_scaled_dot_general_config(mode, scale)] * 3


def test_scaled_matmul_is_what_its_name_says():
    a, b = rng.standard_normal((2, 3, 8)), rng.standard_normal((2, 4, 8))
    a_scales, b_scales = rng.random((2, 3, 2)), rng.random((2, 4, 2))
    want = np.einsum("bmk,bnk->bmn", a * a_scales.repeat(4, -1), b * b_scales.repeat(4, -1))
    arrays = [x.astype(np.float32) for x in (a, b, a_scales, b_scales)]
    np.testing.assert_allclose(cv.nn.scaled_matmul(*arrays), want, rtol=1e-5, atol=1e-5)
    assert cv.nn.scaled_matmul(*arrays, preferred_element_type="bfloat16").dtype == "bfloat16"


def test_scaled_matmul_of_short_floats():
    a = rng.standard_normal((1, 2, 64)).astype(ml_dtypes.float8_e4m3fn)
    scales = np.array([[[0.5, 4.0], [2.0, 1.0]]]).astype(ml_dtypes.float8_e8m0fnu)
    exact = a.astype(np.float64) * scales.astype(np.float64).repeat(32, -1)
    got = cv.nn.scaled_matmul(*map(jnp.asarray, (a, a, scales, scales)))
    np.testing.assert_allclose(got[0], exact[0] @ exact[0].T, rtol=1e-5)


def shapes(*given):
    return [jnp.ones(shape) for shape in given]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (shapes((2, 4), (1, 2, 4), (1, 2, 1), (1, 2, 1)), "3-dimensional arrays, but got"),
        (shapes((1, 2, 4), (1, 2, 8), (1, 2, 1), (1, 2, 1)), "inputs a and b to have matching"),
        (shapes((1, 2, 4), (1, 2, 4), (1, 2, 1), (1, 2, 2)), "scales to have matching"),
        (shapes((1, 2, 4), (1, 2, 4), (1, 3, 1), (1, 2, 1)), "match non-contract dimensions"),
        (shapes((1, 2, 4), (1, 2, 4), (1, 2, 3), (1, 2, 3)), "cannot be cut into 3 blocks"),
    ],
)
def test_errors_of_scaled_matmul(arrays, words):
    with pytest.raises(ValueError, match=words):
        cv.nn.scaled_matmul(*arrays)


@pytest.mark.parametrize("mode", ["mxfp8", "nvfp4"])
def test_numbers_that_the_dtype_has_are_multiplied_exactly(mode):
    """Small integers times a power of 2 in each block, the largest being that of the dtype."""
    largest, block = {"mxfp8": (448, 32), "nvfp4": (6, 16)}[mode]
    x = rng.integers(0, 4, (3, 4, block)).astype(np.float32)
    x[..., 0] = largest
    x *= 2.0 ** rng.integers(-5, 2, (3, 4, 1))
    x = x.reshape(3, -1)
    got = cv.nn.scaled_dot_general(x, x, CONTRACT_LAST, configs=configs(mode))
    np.testing.assert_allclose(got, x @ x.T, rtol=1e-6)


@pytest.mark.parametrize(("mode", "tolerance"), [("mxfp8", 0.06), ("nvfp4", 0.3)])
def test_general_contractions_and_gradients(mode, tolerance):
    x, y = rng.random((2, 32, 64)), rng.random((64, 2, 96))
    numbers = (((2,), (0,)), ((0,), (1,)))
    x, y = x.astype(np.float32), y.astype(np.float32)

    def total(x, y, how):
        out = cv.nn.scaled_dot_general(x, y, numbers, configs=how)
        assert out.shape == (2, 32, 96)
        return out.sum()

    def evaluate(how):
        return cv.jit(lambda x, y: cv.value_and_grad(total, (0, 1))(x, y, how))(x, y)

    value, (of_x, of_y) = evaluate(configs(mode))
    wanted, (want_x, want_y) = evaluate(None)
    np.testing.assert_allclose(value, wanted, rtol=tolerance / 3)
    np.testing.assert_allclose(of_x, want_x, rtol=tolerance)
    np.testing.assert_allclose(of_y, want_y, rtol=tolerance)


def test_elements_that_are_clipped_have_no_gradient():
    scale = jnp.array([1e-4], jnp.float32)
    x = jnp.ones((1, 16)).at[0, 3].set(100.0)  # more than 1e-4 * 6 * 448
    y = jnp.ones((1, 16))
    f = lambda x: cv.nn.scaled_dot_general(  # noqa: E731
        x, y, CONTRACT_LAST, configs=configs("nvfp4", scale)
    ).sum()
    gradient = np.asarray(cv.grad(f)(x))
    assert gradient[0, 3] == 0.0


def test_scales_are_powers_of_2_that_are_large_enough():
    from covector._src.nn.scaled import _power_of_2_above

    x = np.array([1.0, 1.1, 2.0, 3.0, 0.25, 2e-38, 3e38, 1e-45], np.float32)
    got = np.asarray(_power_of_2_above(jnp.asarray(x))).astype(np.float64)
    want = np.exp2(np.clip(np.ceil(np.log2(x.astype(np.float64))), -127, 127))
    np.testing.assert_array_equal(got, want)


def test_arguments():
    x = jnp.ones((2, 32))
    with pytest.raises(ValueError, match="Unsupported mode: fp8"):
        cv.nn.get_scaled_dot_general_config("fp8")
    with pytest.raises(TypeError, match="f32, bf16, f16"):
        cv.nn.scaled_dot_general(x, x, CONTRACT_LAST, "int32", configs("mxfp8"))
    with pytest.raises(ValueError, match="contracted size 20 is no multiple of the block size 32"):
        cv.nn.scaled_dot_general(x[:, :20], x[:, :20], CONTRACT_LAST, configs=configs("mxfp8"))
    with pytest.warns(DeprecationWarning, match="has no effect"):
        got = cv.nn.scaled_dot_general(x, x, CONTRACT_LAST, implementation="cudnn")
    assert got.tolist() == [[32.0, 32.0]] * 2
