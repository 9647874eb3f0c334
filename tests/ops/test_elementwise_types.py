"""Types of the results of elementwise ops against JAX 0.10.2, and refusals of operands."""

import itertools

import numpy as np
import pytest

import covector
from covector import lax
from covector._src.base import dtypes
from covector._src.core.avals import ShapedArray
from covector._src.transforms.stage import stage_closed
from covector._src.xla.compile import lower_jaxpr
from tests.ops.elementwise import DTYPES, FUNCTIONS, outcome, width_of

TYPED = [(dtype, False) for dtype in DTYPES]
TYPED += [(dtype, True) for dtype in DTYPES if dtype != np.bool_]


def type_of(m, function, *args):
    """Shape, dtype and weakness of a result, or the type of the error."""

    def abstract():
        out = m.eval_shape(function, *args)
        return out.shape, out.dtype, bool(out.weak_type)

    return outcome(abstract)


def placeholders(m, *types):
    return [m.ShapeDtypeStruct(shape, dtype, weak_type=weak) for shape, dtype, weak in types]


def assert_same_type(jax, call, *types):
    ours = type_of(covector, lambda *xs: call(lax, *xs), *placeholders(covector, *types))
    theirs = type_of(jax, lambda *xs: call(jax.lax, *xs), *placeholders(jax, *types))
    assert ours == theirs, types


@pytest.mark.parametrize("name", FUNCTIONS)
def test_types(jax, name):
    def call(m, *xs):
        return getattr(m, name)(*xs)

    with width_of(jax, np.float64):
        if FUNCTIONS[name].arity == 1:
            for dtype, weak in TYPED:
                assert_same_type(jax, call, ((2, 3), dtype, weak))
            return
        for (x, x_weak), (y, y_weak) in itertools.product(TYPED, TYPED):
            if x == y or not (x_weak or y_weak):
                assert_same_type(jax, call, ((2, 3), x, x_weak), ((2, 3), y, y_weak))


CALLS = {
    "conj": (lambda m, x: m.conj(x), 1),
    "round": (lambda m, x: m.round(x), 1),
    "integer_pow": (lambda m, x: m.integer_pow(x, 3), 1),
    "reciprocal": (lambda m, x: m.reciprocal(x), 1),
    "reduce_precision": (lambda m, x: m.reduce_precision(x, 5, 3), 1),
    "bitcast to int32": (lambda m, x: m.bitcast_convert_type(x, "int32"), 1),
    "bitcast to uint8": (lambda m, x: m.bitcast_convert_type(x, "uint8"), 1),
    "bitcast to bool": (lambda m, x: m.bitcast_convert_type(x, "bool"), 1),
    "stop_gradient": (lambda m, x: m.stop_gradient(x), 1),
    "full_like": (lambda m, x: m.full_like(x, 1), 1),
    "mul into float32": (lambda m, x, y: m.mul(x, y, out_dtype="float32"), 2),
    "select of float32": (lambda m, x: m.select_n(x, np.float32([1, 2]), np.float32([3, 4])), 1),
    "select": (lambda m, x, y: m.select_n(np.array([True, False]), x, y), 2),
    "select of three": (lambda m, x: m.select_n(x, *np.float32([[1, 2], [3, 4], [5, 6]])), 1),
    "clamp": (lambda m, x, y: m.clamp(x, y, x), 2),
}


@pytest.mark.parametrize("name", CALLS)
def test_types_of_calls_with_parameters(jax, name):
    call, arity = CALLS[name]
    with width_of(jax, np.float64):
        for types in itertools.product(TYPED, repeat=arity):
            assert_same_type(jax, call, *[((2,), *t) for t in types])


SHAPES = [(), (1,), (3,), (4,), (1, 3), (2, 1), (2, 3), (0, 3), (2, 3, 1)]


@pytest.mark.parametrize("call", [lambda m, x, y: m.add(x, y), lambda m, x, y: m.lt(x, y)])
def test_shapes(jax, call):
    for x, y in itertools.product(SHAPES, SHAPES):
        assert_same_type(jax, call, (x, "float32", False), (y, "float32", False))


def test_shapes_of_select_and_clamp(jax):
    for x, y, z in itertools.product(SHAPES[::2], repeat=3):
        types = [(shape, "float32", False) for shape in (x, y, z)]
        assert_same_type(jax, lambda m, *xs: m.clamp(*xs), *types)
        types[0] = (x, "bool", False)
        assert_same_type(jax, lambda m, *xs: m.select_n(*xs), *types)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("old", ["uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("new", ["uint8", "int16", "float32", "float64"])
def test_shapes_of_bits(jax, shape, old, new):
    with width_of(jax, np.float64):
        assert_same_type(jax, lambda m, x: m.bitcast_convert_type(x, new), (shape, old, False))


# ---------------------------------------------------------------- texts of errors

F, I, Z, B = (np.zeros(3, dtype) for dtype in ("float32", "int32", "complex64", "bool"))
FLOAT0 = np.zeros(3, covector.dtypes.float0)

ERRORS = {
    "a dtype": (
        lambda: lax.sin(I),
        "sin does not accept dtype int32. Accepted dtypes are subtypes of floating, "
        "complexfloating.",
    ),
    "a dtype among several": (
        lambda: lax.rem(Z, Z),
        "rem does not accept dtype complex64 at position 0. Accepted dtypes at position 0 are "
        "subtypes of integer, floating.",
    ),
    "dtypes that differ": (
        lambda: lax.add(F, I),
        "lax.add requires arguments to have the same dtypes, got float32, int32. Convert one with "
        "`x.astype(...)`, or use the function of covector.numpy, which promotes.",
    ),
    "float0": (
        lambda: lax.neg(FLOAT0),
        "neg does not accept dtype float0: float0s do not support any operations by design, as "
        "they have no values. It is the dtype of the derivatives of integers and booleans: "
        "differentiate with respect to floats instead, or make zeros of the dtype you need with "
        "`zeros_like(x, dtype=...)`.",
    ),
    "narrow integers": (
        lambda: lax.abs(I.astype("int4")),
        "abs does not accept dtype int4: integers below 8 bits take part in little but arithmetic. "
        "Convert to int8 or wider first.",
    ),
    "ranks": (
        lambda: lax.add(F, F[None]),
        "lax.add: arrays must have the same number of dimensions, or none, got shapes (3,) and "
        "(1, 3). Add dimensions with `reshape`, or use the function of covector.numpy, which "
        "broadcasts.",
    ),
    "sizes": (
        lambda: lax.add(F, F[:2]),
        "add got incompatible shapes for broadcasting: (3,), (2,). In each dimension the sizes "
        "must be equal, or 1.",
    ),
    "exponents": (
        lambda: lax.pow(F, Z),
        "[lax.pow] The base is of dtype float32 and the exponent of dtype complex64. The base must "
        "be of a float or complex dtype, and the exponent of the same one or of an integer dtype.",
    ),
    "negative exponents": (
        lambda: lax.integer_pow(I, -2),
        "[lax.integer_pow] An array of type int32[3] cannot be raised to the power -2, which is "
        "not an integer. Convert the array to a float dtype first.",
    ),
    "no cases": (
        lambda: lax.select_n(B),
        "[lax.select_n] There is no case to select from. Give at least one.",
    ),
    "cases of several shapes": (
        lambda: lax.select_n(B, F, F[:2]),
        "[lax.select_n] The cases must be of one shape, got (3,), (2,). Broadcast them first, or "
        "use covector.numpy.where, which broadcasts.",
    ),
    "a predicate of another shape": (
        lambda: lax.select(B[:2], F, F),
        "[lax.select_n] `which` has shape (2,), and the cases have shape (3,). It must be a scalar "
        "or have the shape of the cases.",
    ),
    "a predicate of floats": (
        lambda: lax.select(F, F, F),
        "[lax.select_n] `which` must be of a boolean or integer dtype, got float32.",
    ),
    "a predicate of three": (
        lambda: lax.select_n(B, F, F, F),
        "[lax.select_n] A boolean `which` selects between 2 cases, but 3 are given. Select with "
        "integers instead.",
    ),
    "bounds": (
        lambda: lax.clamp(F[:1], F, np.float32(1)),
        "[lax.clamp] `min` has shape (1,), and `x` has shape (3,). A bound must be a scalar or "
        "have the shape of `x`. covector.numpy.clip broadcasts.",
    ),
    "a value that is no scalar": (
        lambda: lax.full((2, 3), F),
        "[lax.full] `fill_value` must be a scalar, got an array of shape (3,). To repeat an array "
        "use lax.broadcast_in_dim or covector.numpy.broadcast_to.",
    ),
    "bits of complex numbers": (
        lambda: lax.bitcast_convert_type(Z, np.int32),
        "[lax.bitcast_convert_type] Bits cannot be reinterpreted from dtype complex64 to int32: "
        "booleans and complex numbers have no bits of their own here. Convert them first, or take "
        "complex numbers apart with lax.real and lax.imag.",
    ),
    "too few bits": (
        lambda: lax.bitcast_convert_type(np.zeros(3, np.uint8), np.int32),
        "[lax.bitcast_convert_type] An array of shape (3,) and dtype uint8 cannot be read as dtype "
        "int32: an element is made of 4 of the array's, so that its last dimension must be of size "
        "4. Reshape it first.",
    ),
    "exponent bits": (
        lambda: lax.reduce_precision(F, 0, 3),
        "[lax.reduce_precision] `exponent_bits` must be at least 1, got 0.",
    ),
    "mantissa bits": (
        lambda: lax.reduce_precision(F, 3, -1),
        "[lax.reduce_precision] `mantissa_bits` must be at least 0, got -1.",
    ),
    "the order of polygamma": (
        lambda: covector.grad(lax.polygamma)(1.0, 2.0),
        "[lax.polygamma] The derivative with respect to the order `m` is not defined: only whole "
        "orders are. Differentiate with respect to the other argument, or hold the order constant "
        "with `lax.stop_gradient(m)`.",
    ),
    "nextafter, which has no derivative": (
        lambda: covector.grad(lax.nextafter)(1.0, 2.0),
        "Differentiation rule for 'nextafter' not implemented",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_texts(name):
    call, text = ERRORS[name]
    with pytest.raises((TypeError, ValueError, NotImplementedError)) as caught:
        call()
    assert str(caught.value) == text


def test_types_are_interned():
    a, b = (lax.add_p.typecheck((ShapedArray((2,), "float32"),) * 2, {})[0] for _ in range(2))
    assert a is b


class Pair(dtypes.ExtendedDType):
    type = dtypes.prng_key
    name = "key<pair>"
    element_shape = (2,)
    element_dtype = np.dtype("uint32")


def test_elements_made_of_several_numbers_are_compared_and_selected_whole():
    keys, key = ShapedArray((3,), Pair()), ShapedArray((), Pair())
    which = ShapedArray((3,), np.dtype(bool)), ShapedArray((3,), np.dtype("int32"))

    def program(keys, key, flags, index):
        return [
            lax.eq(keys, key),
            lax.ne(keys, keys),
            lax.select(flags, keys, keys),
            lax.select_n(index, keys, keys, keys),
            lax.select(True, key, key),
        ]

    jaxpr = stage_closed(program, [keys, key, *which])
    assert jaxpr.out_avals == [which[0], which[0], keys, keys, key]
    assert lower_jaxpr(jaxpr).module_context.module.operation.verify()
    with pytest.raises(TypeError, match=r"add does not accept dtype key<pair>"):
        lax.add_p.typecheck((key, key), {})
