"""Dtypes, weak types and shapes of results, for operands of every pair of dtypes."""

import operator
import warnings

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from tests.numpy.comparing import DTYPES, NUMBERS, array, assert_same_type

UNARY = (
    *("negative", "positive", "absolute", "fabs", "sign", "square", "reciprocal", "sqrt", "cbrt"),
    *("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "arcsin"),
    *("arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "deg2rad"),
    *("rad2deg", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite", "isposinf"),
    *("isneginf", "signbit", "logical_not", "bitwise_not", "real", "imag", "conjugate", "angle"),
    *("nan_to_num", "modf", "bitwise_count", "iscomplex", "isreal"),
)
BINARY = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "divmod"),
    *("power", "float_power", "maximum", "minimum", "fmax", "fmin", "hypot", "arctan2"),
    *("copysign", "heaviside", "nextafter", "equal", "not_equal", "less", "less_equal"),
    *("greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and"),
    *("bitwise_or", "bitwise_xor", "left_shift", "right_shift", "isclose", "allclose"),
    *("array_equal", "array_equiv"),
)
# Where Python numbers alone, or in front, are weak to JAX only because of how it nests programs.
WEAK_BY_CHANCE = {"hypot", "heaviside"}
OPERATORS = {
    name: getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"),
        *("lshift", "rshift", "eq", "ne", "lt", "le", "gt", "ge"),
    )
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(jax, name):
    def call(np, x):
        return getattr(np, name)(x)

    for dtype in DTYPES:
        assert_same_type(jax, call, array((3,), dtype), what=f"{name} of {dtype}")
    for number in (*NUMBERS, np.float32(1.5)):
        assert_same_type(jax, call, number, what=f"{name}({number!r})")


@pytest.mark.parametrize("name", BINARY)
def test_binary(jax, name):
    def call(np, x, y):
        return getattr(np, name)(x, y)

    for first in DTYPES:
        x = array((2, 1), first)
        for second in DTYPES:
            y = array((3,), second)
            assert_same_type(jax, call, x, y, what=f"{name}({first}, {second})")
        if name in WEAK_BY_CHANCE:
            continue
        for number in NUMBERS:
            assert_same_type(jax, call, x, number, what=f"{name}({first}, {number!r})")
            assert_same_type(jax, call, number, x, what=f"{name}({number!r}, {first})")
    if name not in WEAK_BY_CHANCE:
        for one in NUMBERS:
            for other in NUMBERS:
                assert_same_type(jax, call, one, other, what=f"{name}({one!r}, {other!r})")


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("other", [*NUMBERS, np.float32(2), np.int8(2), np.float64(2)], ids=repr)
def test_operators_with_numbers(jax, name, other):
    """Numbers that the traced function knows, on either side of an array."""
    op = OPERATORS[name]
    for dtype in DTYPES:
        x = array((3,), dtype)
        assert_same_type(jax, lambda np, x: op(x, other), x, what=f"{dtype} {name} {other!r}")
        if not (name == "pow" and np.dtype(dtype).kind in "biu" and not isinstance(other, int)):
            assert_same_type(jax, lambda np, x: op(other, x), x, what=f"{other!r} {name} {dtype}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [*NUMBERS, np.float32(2), np.int8(2)], ids=repr)
def test_concrete_operands_have_the_types_of_traced_ones(dtype, number):
    x = jnp.asarray(array((3,), dtype))
    for y in (number, jnp.asarray(number), np.asarray(number)):
        eager, traced = x + y, covector.eval_shape(lambda x, y=y: x + y, x)
        assert (eager.dtype, eager.weak_type) == (traced.dtype, traced.weak_type)


def test_strict_promotion():
    x, i = jnp.ones(2), jnp.arange(2)
    with covector.numpy_dtype_promotion("strict"):
        assert (x + 1).dtype == np.float32 and (i + 1).dtype == np.int32
        for refused in (
            lambda: x + i,
            lambda: i + 1.5,
            lambda: x + True,
            lambda: x + np.int32(1),
            lambda: jnp.where(x > 0, x, i),
            lambda: jnp.concatenate([x, i]),
        ):
            with pytest.raises(TypeError, match="numpy_dtype_promotion"):
                refused()
    assert (x + i).dtype == np.float32


def test_rank_promotion():
    x, y = jnp.ones((2, 3)), jnp.ones(3)
    with covector.numpy_rank_promotion("raise"):
        assert (x + 1).shape == (2, 3) and (x + jnp.ones(())).shape == (2, 3)
        assert [z.shape for z in jnp.broadcast_arrays(x, y)] == [(2, 3), (2, 3)]
        for refused in (
            lambda: x + y,
            lambda: jnp.maximum(x, y),
            lambda: jnp.arctan2(x, y),
        ):
            with pytest.raises(ValueError, match=r"shapes \(2, 3\).*\(3,\).*numpy_rank_promotion"):
                refused()
    with covector.numpy_rank_promotion("warn"):
        for _ in range(2):
            with pytest.warns(UserWarning, match="numpy_rank_promotion"):
                x + y
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (x + y).shape == (2, 3)


def test_integers_that_do_not_fit():
    # A number that fits the default dtype wraps around in a shorter one, as conversions do.
    assert (jnp.zeros(1, "uint8") + 300).tolist() == [44]
    assert (jnp.zeros(1, "uint8") - 1).tolist() == [255]
    assert (jnp.zeros(1, "uint32") + 3_000_000_000).tolist() == [3_000_000_000]
    assert (jnp.zeros(1) + 2**40).tolist() == [float(2**40)]
    with pytest.raises(OverflowError):
        jnp.zeros(1, "int32") + 2**40
    with pytest.raises(OverflowError):
        jnp.array(2**40)


def test_both_zeros_are_numbers_of_their_own():
    x = jnp.array([1.0, -1.0])
    assert np.signbit(np.asarray(x * 0.0)).tolist() == [False, True]
    assert np.signbit(np.asarray(x * -0.0)).tolist() == [True, False]
    z = jnp.array([1j])
    assert np.signbit(np.asarray(z * complex(0.0, -0.0)).real).tolist() == [False]


def test_x64(jax):
    with covector.enable_x64(True), jax.enable_x64(True):
        for x in (1, 1.5, 1j, np.float64(2), np.arange(2), np.ones(2), np.float32(1)):
            for y in (np.ones(2, np.float32), np.arange(2, dtype=np.int8), np.ones(2)):
                assert_same_type(jax, lambda np, x, y: x + np.asarray(y), x, y)
        for name in ("sum", "prod", "mean", "argmax", "cumsum"):
            if hasattr(jnp, name):
                for dtype in ("int32", "float32", "uint8", "bool"):
                    assert_same_type(jax, lambda np, x: getattr(np, name)(x), array((3,), dtype))  # noqa: B023
        assert (jnp.ones(2, "float32") + np.float64(1)).dtype == np.float64
    assert (jnp.ones(2, "float32") + np.float64(1)).dtype == np.float32


class Wrapped:
    """An object that stands for an array."""

    def __init__(self, x):
        self.x = x

    def __jax_array__(self):
        return self.x


def test_objects_that_stand_for_arrays():
    w = Wrapped(jnp.arange(3.0))
    x = jnp.ones(3)
    for result in (x + w, jnp.add(w, x), jnp.sin(w), jnp.sum(w), x @ w, jnp.where(x > w, w, x)):
        assert isinstance(result, covector.Array)
    assert (x + w).tolist() == [1, 2, 3]
    assert jnp.asarray(w) is w.x and jnp.stack([w, w]).shape == (2, 3)


def test_where_broadcasts_whatever_the_ranks():
    with covector.numpy_rank_promotion("raise"):
        assert jnp.where(jnp.ones(3) > 0, jnp.ones((2, 3)), 1.0).shape == (2, 3)
