"""Convolutions as they are written for CPUs, against JAX."""

import numpy as np
import pytest

import covector as cv
from covector._src.ops.convolution_on_cpu import OPTION
from covector._src.ops.thresholds import CONVOLUTION_FEATURES, DEPTHWISE

G = 4
# Shapes of lhs and rhs, and options, of convolutions of G groups of one feature each.
DEPTHWISE_CASES = {
    "plain": ((8, G, 12, 12), (G, 1, 3, 3), dict(padding="SAME")),
    "several outputs": ((8, G, 11, 13), (2 * G, 1, 3, 2), dict(padding=((1, 2), (0, -1)))),
    "dilated": (
        (16, G, 12, 13),
        (G, 1, 2, 3),
        dict(lhs_dilation=(2, 1), rhs_dilation=(1, 2), padding=((1, 1), (0, 3))),
    ),
    "last features": (
        (8, 12, 12, G),
        (3, 3, 1, G),
        dict(padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
    ),
    "strides": ((8, G, 200), (G, 1, 5), dict(window_strides=(2,), padding="SAME")),
}


def convolve(lib, options):
    def f(x, y):
        strides = {"window_strides": (1,) * (x.ndim - 2)}
        return lib.lax.conv_general_dilated(x, y, feature_group_count=G, **(strides | options))

    return f


@pytest.mark.parametrize("case", DEPTHWISE_CASES)
def test_depthwise(case, jax):
    x_shape, y_shape, options = DEPTHWISE_CASES[case]
    rng = np.random.default_rng(0)
    x, y = [rng.standard_normal(shape).astype(np.float32) for shape in (x_shape, y_shape)]
    results = []
    for lib in (cv, jax):
        f = convolve(lib, options)

        def loss(x, y, f=f):
            out = f(x, y)
            return (out**2).sum(), out

        results.append(lib.jit(lib.value_and_grad(loss, (0, 1), has_aux=True))(x, y))
    assert np.size(results[0][0][1]) >= DEPTHWISE
    for ours, theirs in zip(cv.tree.leaves(results[0]), cv.tree.leaves(results[1])):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


def test_narrow_floats_are_added_up_in_more_digits(jax):
    x_shape, y_shape, options = DEPTHWISE_CASES["plain"]
    x, y = np.ones(x_shape, "bfloat16"), np.full(y_shape, 1 / 256, "bfloat16")
    y[:, :, 0, 0] = 1
    out = cv.jit(convolve(cv, options))(x, y)
    assert out.dtype == x.dtype
    inner = np.asarray(out)[:, :, 5, 5].astype(np.float32)
    np.testing.assert_array_equal(inner, np.float32(1 + 8 / 256).astype("bfloat16"))


@pytest.mark.parametrize("case", ["plain", "dilated", "last features"])
def test_programs_have_no_convolution(case):
    x_shape, y_shape, options = DEPTHWISE_CASES[case]
    x, y = np.ones(x_shape, np.float32), np.ones(y_shape, np.float32)
    loss = cv.grad(lambda x, y: (convolve(cv, options)(x, y) ** 2).sum(), (0, 1))
    assert "stablehlo.convolution" not in cv.jit(loss).lower(x, y).as_text()
    assert "conv_general_dilated" in str(cv.make_jaxpr(loss)(x, y))


@pytest.mark.parametrize(
    "features, outputs, asks",
    [(CONVOLUTION_FEATURES, 32, True), (CONVOLUTION_FEATURES, 16, False), (3, 512, False)],
)
def test_programs_that_ask_for_xlas_own_convolution(features, outputs, asks):
    x = np.ones((4, features, 32, 32), np.float32)
    y = np.ones((outputs, features, 3, 3), np.float32)
    lowered = cv.jit(lambda x, y: cv.lax.conv(x, y, (1, 1), "SAME")).lower(x, y)
    options = lowered._module.module_context.compile_options
    assert (OPTION[0] in options) == asks
    expected = features * 9
    assert lowered.compile()(x, y)[0, 0, 5, 5] == expected
