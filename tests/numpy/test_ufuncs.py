"""Values of elementwise functions against JAX 0.10.2 and NumPy, NaN and infinities among them."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector._src.base import dtypes
from tests.numpy.comparing import assert_close, assert_same_values
from tests.numpy.test_promotion import BINARY, UNARY

VALUES = {
    "bool": [False, True],
    "int8": [0, 1, 2, 3, 7, 100, 127, -1, -2, -7, -128],
    "uint8": [0, 1, 2, 3, 7, 100, 200, 255],
    "int32": [0, 1, 2, 3, 31, 100, -1, -2, -7, 2**31 - 1, -(2**31)],
    "float32": [0.0, -0.0, 0.25, -0.9, 1.0, -1.0, 1.5, 2.5, -3.5, 80.0, np.inf, -np.inf, np.nan],
    "bfloat16": [0.0, 0.25, -1.0, 1.5, 2.5, -3.5, np.inf, -np.inf, np.nan],
    "complex64": [0.5 + 1j, -2 + 0.25j, 3 - 1j, 1j, -1.5],
}
# Of complex numbers and where else JAX computes otherwise, or not at all.
NOT_COMPARED = {
    ("power", "int8"),  # negative exponents
    ("power", "int32"),
    ("fmod", "bool"),  # by False
    ("fmax", "complex64"),
    ("fmin", "complex64"),
    ("remainder", "bfloat16"),  # rounding of products
    ("left_shift", "int8"),
    ("left_shift", "int32"),
    ("right_shift", "int8"),
    ("right_shift", "int32"),
}


def accepted(jax, name, *args):
    """Whether JAX has the function for operands of these dtypes."""
    try:
        jax.eval_shape(getattr(jax.numpy, name), *args)
    except (TypeError, ValueError):
        return False
    return True


def pairs(dtype):
    values = np.array(VALUES[dtype]).astype(dtype)
    return [side.reshape(-1) for side in np.meshgrid(values, values, indexing="ij")]


def call_of(name):
    return lambda np, *xs: getattr(np, name)(*xs)


@pytest.mark.parametrize("dtype", VALUES)
def test_unary(jax, dtype):
    x = np.array(VALUES[dtype]).astype(dtype)
    names = [name for name in UNARY if accepted(jax, name, x)]
    assert_same_values(jax, {name: (call_of(name), (x,)) for name in names}, ulps=40)


@pytest.mark.parametrize("dtype", VALUES)
def test_binary(jax, dtype):
    args = pairs(dtype)
    names = [
        name for name in BINARY if accepted(jax, name, *args) and (name, dtype) not in NOT_COMPARED
    ]
    assert_same_values(jax, {name: (call_of(name), args) for name in names}, ulps=40)


@pytest.mark.parametrize("name", ["left_shift", "right_shift"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8"])
def test_shifts(name, dtype):
    x, y = np.array(VALUES[dtype], dtype), np.array([0, 1, 3, 7], dtype)
    x, y = np.meshgrid(x, y)
    with np.errstate(over="ignore"):
        want = getattr(np, name)(x, y)
    np.testing.assert_array_equal(np.asarray(getattr(jnp, name)(x, y)), want)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_integer_powers(dtype):
    x, y = np.meshgrid(np.array(VALUES[dtype], dtype), np.arange(10, dtype=dtype))
    want = np.power(x, y)
    np.testing.assert_array_equal(np.asarray(jnp.power(x, y)), want)
    for n in range(10):
        np.testing.assert_array_equal(
            np.asarray(jnp.asarray(x[0]) ** n), np.power(x[0], dtype_of(n, dtype))
        )


def dtype_of(n, dtype):
    return np.array(n, dtype)


def test_powers_of_one_and_minus_one_with_large_exponents():
    y = np.array([31, 32, 1000001, 2**31 - 1], np.int32)
    assert jnp.power(jnp.int32(-1), y).tolist() == [-1, 1, -1, -1]
    assert jnp.power(jnp.int32(1), y).tolist() == [1] * 4
    assert jnp.power(jnp.int32(0), y).tolist() == [0] * 4


@pytest.mark.parametrize("divisor", [3, -3, 0, 2.5, -2.5, 0.0, np.inf, np.float32(3), np.nan])
@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8"])
def test_quotients_and_remainders_by_numbers(jax, dtype, divisor):
    """Of numbers that are known, shorter programs are written; their values are the same."""
    if dtype == "uint8" and divisor < 0:
        pytest.skip("wraps around")
    x = np.array([-7, -6, -1, 0, 1, 6, 7]).astype(dtype)
    for name in ("floor_divide", "remainder", "fmod", "divmod"):
        f, g = getattr(jnp, name), getattr(jax.numpy, name)
        assert_close(f(x, divisor), g(x, divisor), name)
        traced = covector.jit(lambda x, f=f: f(x, divisor))(x)
        assert_close(traced, jax.jit(lambda x, g=g: g(x, divisor))(x), name)


@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int8", "float32", "complex64"])
def test_round(dtype, decimals):
    x = np.array([0, 4, 5, 15, 25, 26, 100, 14]).astype(dtype)
    if dtype in ("float32", "complex64"):
        x = x * 1.017
    elif dtype != "uint8":
        x = np.concatenate([x, -x])
    want = np.round(x.astype(np.int64), decimals).astype(dtype) if x.dtype.kind in "iu" else None
    if x.dtype.kind in "iu" and decimals == -2 and dtype == "int8":
        want = np.where(np.abs(x) > 50, np.sign(x) * 100, 0).astype(dtype)
    got = jnp.round(x, decimals)
    assert got.dtype == x.dtype
    np.testing.assert_allclose(
        np.asarray(got), np.round(x, decimals) if want is None else want, rtol=1e-6
    )


def test_where(jax):
    x = np.array([-1.0, 2.0, np.nan], np.float32)
    condition = np.array([[True], [False]])
    calls = {
        "broadcast": (lambda np, c, x: np.where(c, x, 0), (condition, x)),
        "numbers": (lambda np, x: np.where(x > 0, 1, 2.5), (x,)),
        "not boolean": (lambda np, x: np.where(x, x, -1), (x,)),
        "scalar condition": (lambda np, x: np.where(True, x, 1), (x,)),
        "clip": (lambda np, x: np.clip(x, -0.5, 0.5), (x,)),
        "clip by arrays": (lambda np, x: np.clip(x, max=x[::-1]), (x,)),
        "select": (lambda np, x: np.select([x > 1, x < 0], [x, -x], 7), (x,)),
        "nan_to_num": (lambda np, x: np.nan_to_num(x * np.inf, posinf=3), (x,)),
    }
    assert_same_values(jax, calls, alone=1)


def test_gradients_at_special_points(jax):
    """Where a derivative is a convention: at ties, kinks and poles."""
    x = np.array([-1.0, 0.0, 1.0, 4.0], np.float32)
    functions = {
        "maximum": lambda np, x: np.maximum(x, 1),
        "minimum": lambda np, x: np.minimum(x, 0),
        "clip": lambda np, x: np.clip(x, 0, 1),
        "absolute": lambda np, x: np.abs(x),
        "sqrt": lambda np, x: np.sqrt(np.abs(x)),
        "hypot": lambda np, x: np.hypot(x, x + 1),
        "square": lambda np, x: x**2,
        "power": lambda np, x: np.abs(x) ** 2.5,
        "reciprocal": lambda np, x: 1 / (x + 2),
        "where": lambda np, x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1)), 0),
        "remainder": lambda np, x: x % 3,
        "floor_divide": lambda np, x: x // 3,
        "arctan2": lambda np, x: np.arctan2(x, x + 1),
    }

    def gradients(module, np):
        return [module.grad(lambda x, f=f: np.sum(f(np, x)))(x) for f in functions.values()]

    ours = covector.jit(lambda: gradients(covector, jnp))()
    theirs = jax.jit(lambda: gradients(jax, jax.numpy))()
    for name, got, want in zip(functions, ours, theirs, strict=True):
        assert_close(got, want, name)


def test_sign_bits():
    x = np.array([0.0, -0.0, 1.0, -1.0, np.nan, -np.nan, np.inf, -np.inf], np.float32)
    np.testing.assert_array_equal(np.asarray(jnp.signbit(x)), np.signbit(x))
    np.testing.assert_array_equal(
        np.signbit(np.asarray(jnp.copysign(np.float32(2), x))), np.signbit(x)
    )
    assert (
        not dtypes.is_weakly_typed(jnp.signbit(1.0)) and jnp.signbit(np.uint8(3)).tolist() is False
    )


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_logaddexp(jax, name):
    x, y = np.meshgrid(
        np.array([0.0, 1.0, -3.0, 90.0, 1e4, np.inf, -np.inf, np.nan], np.float32), X
    )
    calls = {name: (call_of(name), (x, y)), "integers": (call_of(name), (np.arange(3), 2))}
    assert_same_values(jax, calls)

    def gradient(module, np):
        return module.grad(lambda x, y: np.sum(getattr(np, name)(x, y)), (0, 1))

    finite = np.isfinite(x) & np.isfinite(y)
    for got, want in zip(gradient(covector, jnp)(x, y), gradient(jax, jax.numpy)(x, y)):
        np.testing.assert_allclose(np.asarray(got)[finite], np.asarray(want)[finite], rtol=1e-5)
    g = covector.grad(jnp.logaddexp, (0, 1))
    assert [float(v) for v in g(-np.inf, 0.0)] == [0.0, 1.0]
    assert [float(v) for v in g(2.0, 2.0)] == [0.5, 0.5]


X = np.array([0.0, 2.5, -np.inf, np.inf], np.float32)


def test_sinc(jax):
    x = np.linspace(-4, 4, 41, dtype=np.float32)
    near = np.array([0.0, 1e-6, -1e-4, 1e-2, 0.1, 0.3, 0.32, 0.4], np.float32)
    x = np.concatenate([x, near])
    np.testing.assert_allclose(np.asarray(jnp.sinc(x)), np.sinc(x.astype(float)), atol=3e-7)
    z = np.pi * x.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        exact = np.pi * np.where(
            np.abs(z) < 1e-2, -z / 3 + z**3 / 30, np.cos(z) / z - np.sin(z) / z**2
        )
    slope = covector.vmap(covector.grad(jnp.sinc))(x)
    np.testing.assert_allclose(np.asarray(slope), exact, rtol=2e-5, atol=1e-6)
    small = np.asarray(slope)[-8:-5]
    np.testing.assert_allclose(small, -(np.pi**2) / 3 * near[:3], rtol=1e-5)
    curvature = covector.grad(covector.grad(jnp.sinc))(0.0)
    assert float(curvature) == pytest.approx(-(np.pi**2) / 3, rel=1e-6)
    with covector.enable_x64(True):
        wide = covector.vmap(covector.grad(jnp.sinc))(x.astype(np.float64))
        np.testing.assert_allclose(np.asarray(wide), exact, rtol=1e-8, atol=1e-12)
    assert_close(jnp.sinc(2), jax.numpy.sinc(2), "integer")


@pytest.mark.parametrize(("name", "base"), [("logaddexp", np.e), ("logaddexp2", 2.0)])
def test_second_derivative_of_logaddexp_of_equal_operands(name, base):
    # of log_b(b^x + b^y) in x: ln(b) s (1 - s) with s = 1/2
    second = covector.grad(covector.grad(getattr(jnp, name)))
    assert float(second(3.0, 3.0)) == pytest.approx(np.log(base) / 4, rel=1e-6)
    assert float(second(-np.inf, -np.inf)) == 0.0
