"""Derivatives and batches of elementwise ops against JAX 0.10.2."""

import numpy as np
import pytest

import covector
from covector import lax
from covector._src.base import dtypes
from tests.ops.elementwise import FUNCTIONS, accepts, assert_equal

# Differences of products agree to the last digits where they are rounded alike.
pytestmark = pytest.mark.usefixtures("optimized_jax")

# Points at which the functions are smooth, at which they are not, and ties of two operands.
POINTS = np.array([0.0, -0.0, 0.25, -0.5, 0.9, 1.0, -1.0, 1.5, -2.5, 3.0, 40.0, np.inf, np.nan])
PARTS = np.array([0.0, 1.0, -0.5, 2.0])

# JAX's rules for these lose digits, or are NaN, where ours are not: they have tests of their own.
OTHER_FORMULAS = {"div", "pow"}
WITHOUT_RULE = {"nextafter", "polygamma"}


def points(primitive, dtype):
    """Operands, and tangents of them that are all different."""
    values = POINTS
    if dtypes.issubdtype(dtype, np.complexfloating):
        values = (PARTS[:, None] + 1j * PARTS).reshape(-1)
    sides = np.meshgrid(*[values] * primitive.arity, indexing="ij")
    xs = tuple(side.reshape(-1).astype(dtype) for side in sides)
    return xs, tuple((1 + np.arange(x.size) / x.size + i).astype(dtype) for i, x in enumerate(xs))


def both_ways(m, calls, args):
    """For each call `call(m.lax, *xs)` its tangent, and if it can have one its cotangent."""

    def program(args):
        results = []
        for call, (xs, ts) in zip(calls, args):
            function = lambda *xs, call=call: call(m.lax, *xs)  # noqa: E731
            out, tangent = m.jvp(function, xs, ts)
            pulled = None
            if dtypes.issubdtype(out.dtype, np.inexact):
                _, pull = m.vjp(function, *xs)
                pulled = pull(m.lax.full_like(out, 2))
            results.append((tangent, pulled))
        return results

    return m.jit(program)(args)


def assert_same_derivatives(jax, calls, ulps=8):
    """Compare the derivatives of calls `name: (call, operands, tangents)`."""
    functions = [call for call, _, _ in calls.values()]
    args = [(xs, ts) for _, xs, ts in calls.values()]
    ours, theirs = both_ways(covector, functions, args), both_ways(jax, functions, args)
    for name, got, want in zip(calls, ours, theirs, strict=True):
        pairs = zip(covector.tree.leaves(got), jax.tree.leaves(want), strict=True)
        for i, (a, b) in enumerate(pairs):
            if b.dtype != jax.dtypes.float0:
                assert_equal(a, b, f"derivative {i} of {name}", ulps)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_derivatives(jax, dtype):
    dtype = np.dtype(dtype)
    calls = {
        name: (lambda m, *xs, name=name: getattr(m, name)(*xs), *points(p, dtype))
        for name, p in FUNCTIONS.items()
        if accepts(p, dtype) and name not in WITHOUT_RULE | OTHER_FORMULAS
    }
    assert_same_derivatives(jax, calls)


X = np.array([0.25, -0.5, 1.0, 2.5], np.float32)
Z = np.array([1 + 2j, -0.5j, 3, 0.25 - 1j], np.complex64)
T = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
XX, TT = X.reshape(2, 2), T.reshape(2, 2)
H = X.astype("bfloat16")
INDEX = np.array([0, 2, 1, 0])

CALLS = {
    "conj": (lambda m, z: m.conj(z), (Z,), (Z[::-1],)),
    "conj of floats": (lambda m, x: m.conj(x), (X,), (T,)),
    "round": (lambda m, x: m.round(x), (X,), (T,)),
    "reciprocal": (lambda m, x: m.reciprocal(x), (X,), (T,)),
    "reduce_precision": (lambda m, x: m.reduce_precision(x, 5, 2), (X,), (T,)),
    "polygamma": (lambda m, x: m.polygamma(np.float32(2), x), (np.abs(X),), (T,)),
    "mul of a scalar": (lambda m, x, y: m.mul(x, y), (X, X[0]), (T, T[1])),
    "add of a row": (lambda m, x, y: m.add(x, y), (XX, XX[:1]), (TT, TT[:1])),
    "sub of a column": (lambda m, x, y: m.sub(x, y), (XX[:, :1], XX), (TT[:, :1], TT)),
    "to a narrower float": (lambda m, x: m.convert_element_type(x, "bfloat16"), (X,), (T,)),
    "to complex": (lambda m, x: m.convert_element_type(x, "complex64"), (X,), (T,)),
    "to integers": (lambda m, x: m.convert_element_type(x, "int32"), (X,), (T,)),
    "select": (lambda m, x, y: m.select(X > 0, x, y), (X, X), (T, 2 * T)),
    "select by an index": (lambda m, x, y: m.select_n(INDEX, x, y, x), (X, X), (T, 2 * T)),
    "select by a scalar": (lambda m, x, y: m.select(True, x, y), (X, X), (T, 2 * T)),
    "clamp": (lambda m, a, x, b: m.clamp(a, x, b), (0 * X, X, X / X), (T, 2 * T, 3 * T)),
    "clamp of x": (lambda m, x: m.clamp(np.float32(0), x, np.float32(1)), (X,), (T,)),
    "stop_gradient": (lambda m, x: m.mul(x, m.stop_gradient(x)), (X,), (T,)),
    "full_like": (lambda m, x: m.mul(x, m.full_like(x, 3)), (X,), (T,)),
    "out_dtype": (lambda m, x: m.mul(x, x, out_dtype="float32"), (H,), (H[::-1],)),
    **{
        f"power {y}": (lambda m, x, y=y: m.integer_pow(x, y), (X,), (T,))
        for y in (-2, -1, 0, 1, 2, 3, 6)
    },
}


def test_derivatives_of_calls_with_parameters(jax):
    assert_same_derivatives(jax, CALLS)


def test_derivatives_of_quotients(jax):
    x, y = np.array([3.0, -1.0, 0.0], np.float32), np.array([2.0, 7.0, -0.5], np.float32)
    assert_same_derivatives(jax, {"div": (lambda m, *xs: m.div(*xs), (x, y), (T[:3], T[1:]))})


@pytest.mark.parametrize("y", [np.float16(1024), np.float32(2e19), np.float32(1e-21)])
def test_slopes_of_quotients_need_no_square_of_the_divisor(y):
    slope = covector.grad(lax.div, argnums=1)(3 * y, y)
    np.testing.assert_allclose(np.asarray(slope), -3 / y, rtol=2e-3)


# ---------------------------------------------------------------- powers


@pytest.mark.parametrize("exponent", ["float32", "int32"])
def test_derivatives_of_powers(jax, exponent):
    x, y = np.meshgrid(np.float32([0.5, 1.0, 2.0, 3.0]), np.array([-2, -1, 1, 2, 3], exponent))
    t = np.ones_like(x)
    if exponent == "int32":
        call = (lambda m, x: m.pow(x, y), (x,), (t,))
    else:
        call = (lambda m, x, y: m.pow(x, y), (x, y), (t, 2 * t))
    assert_same_derivatives(jax, {"pow": call})


@pytest.mark.parametrize("exponent", [0, 0.0, np.float32(0), np.int32(0), np.zeros(1)], ids=str)
@pytest.mark.parametrize("base", [0.0, 0.5, -2.0, np.inf])
def test_the_power_zero_is_constant(exponent, base):
    def total(x, y):
        return lax.reduce_sum(lax.pow(x, y), tuple(range(np.ndim(exponent))))

    if np.ndim(exponent):
        base, exponent = np.full(1, base, np.float32), exponent.astype(np.float32)
    for compiled in (lambda f: f, covector.jit):
        slope = compiled(covector.grad(total))(base, exponent)
        np.testing.assert_array_equal(slope, np.zeros(np.shape(base)))


def test_derivatives_of_powers_at_zero(jax):
    for y in (0.0, 0.5, 1.0, 2.0, 3.0):
        slopes = [m.grad(m.lax.pow, argnums=1)(0.0, y) for m in (covector, jax)]
        np.testing.assert_array_equal(*map(np.asarray, slopes))
    for y in (0.5, 1.0, 2.0, 3.0):
        slopes = [m.grad(m.lax.pow)(0.0, y) for m in (covector, jax)]
        np.testing.assert_array_equal(*map(np.asarray, slopes))


def test_mixed_derivative_of_a_power_at_the_exponent_zero():
    # d/dy of y x^(y-1) at y = 0 is 1/x.
    mixed = covector.grad(covector.grad(lax.pow), argnums=1)(4.0, 0.0)
    np.testing.assert_allclose(mixed, 0.25)


@pytest.mark.parametrize("y", [0, 1, 2, 3])
def test_second_derivatives_of_whole_powers_at_zero(y):
    exponent = np.int32(y)
    second = covector.grad(covector.grad(lambda x: lax.pow(x, exponent)))(0.0)
    assert np.asarray(second) == {0: 0.0, 1: 0.0, 2: 2.0, 3: 0.0}[y]
