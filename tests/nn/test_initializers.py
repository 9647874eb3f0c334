"""Initializers draw the weights that JAX 0.10.2's draw."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

init = cv.nn.initializers

# Name, arguments, shape, dtype.
CASES = [
    ("zeros", None, (2, 3), None),
    ("ones", None, (2, 3), "bfloat16"),
    ("constant", (-7,), (2,), None),
    ("constant", (np.arange(3.0, dtype=np.float32),), (2, 3), None),
    ("uniform", (2.0,), (3, 2), None),
    ("normal", (), (3, 2), "float16"),
    ("normal", (0.5,), (3,), "complex64"),
    ("truncated_normal", (2.0,), (3, 2), None),
    ("truncated_normal", (1.0, "float32", -1.0, 0.5), (5,), None),
    ("glorot_uniform", (), (4, 3), None),
    ("glorot_normal", (), (4, 3), None),
    ("xavier_uniform", (), (4, 3), "bfloat16"),
    ("lecun_uniform", (), (2, 4, 3), None),
    ("lecun_normal", (), (4, 3), "complex64"),
    ("he_uniform", (), (4, 3), "complex64"),
    ("he_normal", (0, 1), (4, 3), None),
    ("variance_scaling", (2.0, "fan_geo_avg", "normal"), (3, 2), None),
    ("variance_scaling", (1.0, "fan_out", "uniform", (0, 1), (-2, -1)), (2, 3, 4, 5), None),
    ("variance_scaling", (1.0, "fan_avg", "truncated_normal", 0, (2, 3), 1), (2, 3, 4, 5), None),
    ("variance_scaling", (1.0, "fan_in", "normal", [], []), (), None),
    ("orthogonal", (2.0,), (4, 3), None),
    ("orthogonal", (1.0, 0), (2, 3, 4), None),
    ("orthogonal", (), (0, 3), None),
    ("delta_orthogonal", (), (3, 2, 2), None),
    ("delta_orthogonal", (), (3, 4, 2, 3), None),
    ("delta_orthogonal", (), (2, 3, 2, 2, 3), None),
]


def weights(of, case):
    name, arguments, shape, dtype = case
    initializer = getattr(of.nn.initializers, name)
    if arguments is not None:
        initializer = initializer(*arguments)
    return initializer(of.random.key(3), shape, *([dtype] if dtype else []))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[2]}")
def test_weights(jax, case):
    got, want = weights(cv, case), weights(jax, case)
    assert got.dtype == want.dtype and got.shape == want.shape
    wide = np.complex64 if got.dtype == "complex64" else np.float32
    tolerance = 1e-2 if got.dtype.itemsize == 2 else 2e-6
    got, want = np.asarray(got).astype(wide), np.asarray(want).astype(wide)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def test_the_dtype_given_beforehand():
    made = init.he_normal(dtype="bfloat16")
    assert made(cv.random.key(0), (2, 3)).dtype == "bfloat16"
    assert made(cv.random.key(0), (2, 3), "float16").dtype == "float16"
    scale = jnp.float32(2.0)
    assert init.normal(scale, "bfloat16")(cv.random.key(0), (2,)).dtype == "bfloat16"


@pytest.mark.parametrize("distribution", ["normal", "truncated_normal", "uniform"])
@pytest.mark.parametrize(("mode", "variance"), [("fan_in", 1 / 80), ("fan_out", 1 / 20)])
def test_variances(distribution, mode, variance):
    made = init.variance_scaling(1.0, mode, distribution)
    drawn = np.asarray(made(cv.random.key(0), (5, 16, 4)))
    # 320 weights: four standard deviations of the variance of normal ones.
    assert drawn.var() == pytest.approx(variance, rel=4 * (2 / 320) ** 0.5)
    wide = init.variance_scaling(1.0, mode, distribution)(cv.random.key(0), (5, 16, 4), "complex64")
    assert np.asarray(wide).var() == pytest.approx(variance, rel=4 * (2 / 320) ** 0.5)


def test_errors():
    key = cv.random.key(0)
    with pytest.raises(ValueError, match="sizes of a 1-dimensional weights tensor with default in"):
        init.he_normal()(key, (3,))
    with pytest.raises(ValueError, match="invalid mode for variance scaling initializer: fan"):
        init.variance_scaling(1.0, "fan", "normal")(key, (2, 3))
    with pytest.raises(ValueError, match="invalid distribution for variance scaling"):
        init.variance_scaling(1.0, "fan_in", "t")(key, (2, 3))
    with pytest.raises(ValueError, match=r"at least a 2D shape, but got \(3,\)"):
        init.orthogonal()(key, (3,))
    with pytest.raises(ValueError, match=r"3D, 4D or 5D shape, but got \(3, 3\)"):
        init.delta_orthogonal()(key, (3, 3))
    with pytest.raises(ValueError, match="`fan_in` must be less or equal"):
        init.delta_orthogonal()(key, (3, 3, 2))
    with pytest.raises(NotImplementedError, match="device_put"):
        init.orthogonal()(key, (3, 3), out_sharding=cv.devices()[0])


def test_the_protocol():
    assert isinstance(init.zeros, init.Initializer)
    assert isinstance(init.glorot_uniform(), init.Initializer)
    assert init.xavier_normal is init.glorot_normal and init.kaiming_uniform is init.he_uniform
