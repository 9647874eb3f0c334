"""Values of elementwise ops against JAX 0.10.2, on grids that hold NaN, infinities and zeros."""

import inspect

import numpy as np
import pytest

import covector
from covector import lax
from covector._src.base import dtypes
from tests.ops.elementwise import (
    DTYPES,
    FUNCTIONS,
    PRIMITIVES,
    WITHOUT_FUNCTION,
    accepts,
    assert_equal,
    numbers,
    operands,
    width_of,
)

# Few units in the last place may differ, and so the oracle rounds as ours does.
pytestmark = pytest.mark.usefixtures("optimized_jax")

FLOAT = np.dtype("float32")


def compare(jax, calls):
    """Compare the results of calls `name: (our function, JAX's, operands)`, in one program each."""
    args = [xs for _, _, xs in calls.values()]
    ours = covector.jit(lambda args: [f(*xs) for (f, _, _), xs in zip(calls.values(), args)])
    theirs = jax.jit(lambda args: [g(*xs) for (_, g, _), xs in zip(calls.values(), args)])
    for name, got, want in zip(calls, ours(args), theirs(args), strict=True):
        if name == "polygamma":
            got = without_limits(calls[name][2][0], got, want)
        assert_equal(got, want, name)


def without_limits(order, got, want):
    """Polygamma functions without their limits, which JAX's of positive order do not have."""
    want = np.asarray(want)
    missing = (want != want) & (order.astype(float) >= 1)
    return lax.select(missing, lax.full_like(got, np.nan), got)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_limits_of_polygamma(jax, dtype):
    special = pytest.importorskip("scipy.special")
    with width_of(jax, np.dtype(dtype)):
        for order in (1, 2, 3, 17):
            x = np.array([np.inf, 1e30], dtype)
            want = special.polygamma(order, x).astype(dtype)
            np.testing.assert_allclose(lax.polygamma(np.full_like(x, order), x), want, rtol=1e-6)


def both(jax, call):
    """A call written with `lax` as a pair of ours and JAX's."""
    return lambda *xs: call(lax, *xs), lambda *xs: call(jax.lax, *xs)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values(jax, dtype):
    with width_of(jax, dtype):
        compare(
            jax,
            {
                name: (getattr(lax, name), getattr(jax.lax, name), operands(p, dtype))
                for name, p in FUNCTIONS.items()
                if accepts(p, dtype)
            },
        )


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_total_order(jax, dtype):
    assert len(WITHOUT_FUNCTION) == 3
    compare(
        jax,
        {
            name: (
                PRIMITIVES[name].bind,
                getattr(jax.lax, name + "_p").bind,
                operands(PRIMITIVES[name], np.dtype(dtype)),
            )
            for name in WITHOUT_FUNCTION
        },
    )


def test_parameters(jax):
    x, z, i = numbers(FLOAT), numbers(np.dtype("complex64")), numbers(np.dtype("int32"))
    calls = {
        "conj": (lambda m, v: m.conj(v), [z]),
        "conj of floats": (lambda m, v: m.conj(v), [x]),
        "round": (lambda m, v: m.round(v), [x]),
        "round to even": (lambda m, v: m.round(v, m.RoundingMethod.TO_NEAREST_EVEN), [x]),
        "reciprocal": (lambda m, v: m.reciprocal(v), [x]),
        "mul into int32": (lambda m, v: m.mul(v, v, out_dtype="int32"), [i.astype("int8")]),
        "pow of integers": (lambda m, v, n: m.pow(v, n), [x[:14], i[:14]]),
        "pow of an integer": (lambda m, v, n: m.pow(v, n), [x, np.int32(3)]),
    }
    for y in (-3, -2, -1, 0, 1, 2, 3, 7, 12):
        calls[f"power {y}"] = lambda m, v, y=y: m.integer_pow(v, y), [x]
        calls[f"complex power {y}"] = lambda m, v, y=y: m.integer_pow(v, y), [z]
    for y in (0, 1, 5):
        calls[f"power {y} of integers"] = lambda m, v, y=y: m.integer_pow(v, y), [i]
    for bits in [(8, 7), (5, 10), (4, 3), (1, 0), (11, 52)]:
        calls[f"{bits}"] = lambda m, v, bits=bits: m.reduce_precision(v, *bits), [x]
    compare(jax, {name: (*both(jax, call), xs) for name, (call, xs) in calls.items()})


@pytest.mark.parametrize("old", DTYPES, ids=str)
@pytest.mark.filterwarnings("ignore:.*[Cc]omplex")
def test_conversions(jax, old):
    with width_of(jax, old):
        compare(
            jax,
            {
                f"{old} to {new}": (
                    *both(jax, lambda m, v, new=new: m.convert_element_type(v, new)),
                    [numbers(old)],
                )
                for new in DTYPES
                if new != np.float64 or old == np.float64
            },
        )


@pytest.mark.parametrize("value", [True, 3, -7, 2**40, 2.75, np.nan, np.inf, np.int8(-3)])
@pytest.mark.parametrize("new", ["float32", "bfloat16", "int32", "complex64", "bool"])
@pytest.mark.filterwarnings("ignore:.*invalid value")
def test_conversions_of_numbers(jax, value, new):
    got, want = (m.convert_element_type(value, new) for m in (lax, jax.lax))
    assert_equal(got, want, f"{value} to {new}")


@pytest.mark.parametrize("value", [1.5 + 2j, np.complex64(1.5 + 2j), np.full(2, 1.5 + 2j)])
def test_a_complex_number_made_real_leaves_its_real_part_and_a_warning(value):
    with pytest.warns(np.exceptions.ComplexWarning, match="discards imaginary parts") as record:
        out = lax.convert_element_type(value, "float32")
    assert record[0].filename == __file__
    np.testing.assert_array_equal(out, np.full(np.shape(value), 1.5))


@pytest.mark.parametrize("value", [1.5, np.float32(1.5), np.arange(3.0), True])
def test_a_conversion_to_the_same_dtype_returns_an_array(jax, value):
    dtype = np.bool_ if value is True else np.float32
    got, want = (m.convert_element_type(value, dtype) for m in (lax, jax.lax))
    assert isinstance(got, covector.Array)
    assert_equal(got, want, "conversion")
    assert lax.convert_element_type(got, dtype) is got


@pytest.mark.parametrize(
    ("old", "new", "shape"),
    [
        ("float32", "int32", (2, 3)),
        ("float32", "uint8", (3,)),
        ("uint8", "float32", (3, 4)),
        ("int16", "int32", (2,)),
        ("bfloat16", "uint16", ()),
        ("bool", "bool", (2,)),
        ("complex64", "complex64", (2,)),
    ],
)
def test_bits(jax, old, new, shape):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(old)
    got, want = (m.bitcast_convert_type(x, new) for m in (lax, jax.lax))
    assert got.dtype == want.dtype and got.shape == want.shape
    assert np.asarray(got).tobytes() == np.asarray(want).tobytes()


def test_bits_of_a_batch_keep_the_parts_of_an_element_together():
    x = np.arange(6, dtype=np.uint16).reshape(2, 3)
    out = covector.vmap(lambda pair: lax.bitcast_convert_type(pair, np.uint32), in_axes=1)(x)
    low, high = x.astype(np.uint32)
    np.testing.assert_array_equal(out, low + (high << 16))


@pytest.mark.parametrize("which", ["bool", "int32", "uint8"])
@pytest.mark.parametrize("scalar", [False, True])
def test_select(jax, which, scalar):
    count = 2 if which == "bool" else 5
    index = np.arange(6).reshape(2, 3) % count
    index = (index[1, 1] if scalar else index).astype(which)
    cases = [np.full((2, 3), i, np.float32) for i in range(count)]
    assert_equal(lax.select_n(index, *cases), jax.lax.select_n(index, *cases), "select_n")
    np.testing.assert_array_equal(lax.select_n(index, *cases), np.broadcast_to(index, (2, 3)))


def test_select_takes_the_first_where_the_predicate_holds():
    out = lax.select(np.array([True, False]), np.array([1, 2]), np.array([3, 4]))
    np.testing.assert_array_equal(out, [1, 4])


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool"])
def test_clamp(jax, dtype):
    values = numbers(np.dtype(dtype))
    lower, x, upper = [v.reshape(-1) for v in np.meshgrid(values, values, values)]
    middle = values[len(values) // 2]
    for args in [(lower, x, upper), (values[1], x, middle), (values[1], x, upper)]:
        assert_equal(lax.clamp(*args), jax.lax.clamp(*args), "clamp")


@pytest.mark.parametrize("shape", [(), (2, 3), (0,)])
@pytest.mark.parametrize("value", [1, 2.5, True, np.float32(3), np.int8(4)])
@pytest.mark.parametrize("dtype", [None, "float32", "bfloat16", "int32"])
def test_full(jax, shape, value, dtype):
    assert_equal(lax.full(shape, value, dtype), jax.lax.full(shape, value, dtype), "full")
    for like in (np.ones(shape, np.int8), 1.5):
        got, want = (m.full_like(like, value, dtype) for m in (lax, jax.lax))
        assert_equal(got, want, "full_like")
    got, want = (m.full_like(1.5, value, dtype, shape) for m in (lax, jax.lax))
    assert_equal(got, want, "full_like with a shape")


def test_full_like_stays_on_the_device_to_which_the_array_is_committed():
    (device, *_) = covector.devices()
    placed = covector.device_put(np.ones(3, np.float32), device)
    assert lax.full_like(placed, 2).committed and not lax.full_like(np.ones(3), 2).committed
    assert lax.full((3,), 2.0, sharding=placed.sharding).committed
    jaxpr = covector.make_jaxpr(lambda: lax.full((3,), 2.0, sharding=placed.sharding))()
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["broadcast_in_dim"]


@pytest.mark.parametrize(
    ("x", "y"),
    [((2, 3), ()), ((), (2, 3)), ((2, 1), (2, 3)), ((2, 1), (1, 3)), ((0, 1), (0, 3))],
)
def test_shapes_broadcast(x, y):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=x).astype(np.float32), rng.uniform(size=y).astype(np.float32)
    np.testing.assert_array_equal(lax.sub(x, y), x - y)
    np.testing.assert_array_equal(lax.lt(x, y), x < y)


def test_accuracy_is_taken_by_the_functions_that_take_it_in_jax(jax):
    for name in FUNCTIONS:
        ours, theirs = getattr(lax, name), getattr(jax.lax, name)
        taken = "accuracy" in inspect.signature(ours).parameters
        assert taken == ("accuracy" in inspect.signature(theirs).parameters), name
        for accuracy in [lax.AccuracyMode.HIGHEST, lax.Tolerance(rtol=1e-4)] if taken else []:
            got = ours(np.float32(0.5), accuracy=accuracy)
            np.testing.assert_allclose(got, ours(np.float32(0.5)), rtol=1e-4)


def test_tolerance_is_positive():
    with pytest.raises(ValueError, match="cannot be negative, got atol=-1"):
        lax.Tolerance(atol=-1.0)
    with pytest.raises(ValueError, match="at least one of atol, rtol and ulps"):
        lax.Tolerance()


def test_stage_makes_arrays_of_numbers(jax):
    assert_equal(lax.stage(1.5), jax.lax.stage(1.5), "stage")
    array = lax.stage(1.5)
    assert lax.stage(array) is array
    jaxpr = covector.make_jaxpr(lambda x: lax.mul(x, lax.stage(2.0)))(3.0)
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["mul"]
    assert isinstance(covector.jit(lambda: lax.stage(2))(), covector.Array)


def test_stop_gradient_returns_its_operand():
    tree = {"a": np.arange(3), "b": (1.5, [True])}
    assert lax.stop_gradient(tree) == tree
    with pytest.raises(TypeError, match="not a valid JAX type"):
        lax.stop_gradient("text")


def test_the_dtype_of_numbers_follows_enable_x64(jax):
    for x in (1, 1.5, 1j, True, np.int64(1), np.zeros(2)):
        assert lax.dtype(x) == jax.lax.dtype(x)
        with width_of(jax, np.float64):
            assert lax.dtype(x) == jax.lax.dtype(x)
    assert dtypes.is_supported(lax.dtype(1))


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "int4", "float8_e4m3fn"])
def test_numpy_scalars_of_every_dtype_are_operands(kind):
    one = np.dtype(kind).type(1)
    assert lax.add(one, one).dtype == np.dtype(kind)
    assert not lax.add(one, one).weak_type
