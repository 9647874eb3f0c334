"""Lowering rules that users register, and what they write constants, types and attributes with."""

import numpy as np
import pytest
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

import covector as cv
from covector import lax
from covector.core import ShapedArray
from covector.extend.core import Primitive
from covector.interpreters import mlir

X = np.array([1.0, 2.0, 3.0], np.float32)


def twice(rule=None, **options):
    """A primitive for 2x with a lowering rule."""
    p = Primitive("twice")
    p.def_abstract_eval(lambda x, **params: ShapedArray(x.shape, x.dtype))
    mlir.register_lowering(p, rule or (lambda ctx, x: [hlo.add(x, x)]), **options)
    return p


def program(fun, *args):
    return cv.jit(fun).lower(*args).as_text()


# ---------------------------------------------------------------- choosing and calling the rule


def test_the_rule_of_the_platform_goes_before_the_default():
    p = twice(lambda ctx, x: [hlo.negate(x)])
    mlir.register_lowering(p, lambda ctx, x: [hlo.add(x, x)], platform="cpu")
    np.testing.assert_array_equal(cv.jit(p.bind)(X), 2 * X)


def test_the_default_rule_holds_where_the_platform_has_none():
    p = twice()
    mlir.register_lowering(p, lambda ctx, x: [hlo.negate(x)], platform="tpu")
    np.testing.assert_array_equal(cv.jit(p.bind)(X), 2 * X)


def test_no_rule_for_this_platform():
    p = twice(platform="tpu")
    with pytest.raises(NotImplementedError) as error:
        cv.jit(p.bind)(X)
    assert str(error.value) == (
        "MLIR translation rule for primitive 'twice' not found for platform cpu"
    )


def test_an_unknown_platform():
    with pytest.raises(NotImplementedError) as error:
        twice(platform="gup")
    assert str(error.value) == (
        "[register_lowering] There is no platform 'gup' for which to lower twice. Platforms are "
        "cpu, gpu, cuda, rocm, tpu; leave `platform` out for a rule that holds for all."
    )


@pytest.mark.parametrize(
    ("registered", "here", "found"),
    [
        (["gpu"], "gpu", "gpu"),
        (["cuda"], "gpu", "cuda"),
        (["gpu", "cuda"], "cuda", "cuda"),
        (["gpu"], "rocm", "gpu"),
        (["cuda"], "rocm", None),
        (["gpu"], "cpu", None),
        (["gpu"], "a platform of a plugin", None),
    ],
)
def test_which_rule_holds_on_a_gpu(registered, here, found):
    p = twice()
    for platform in registered:
        mlir.register_lowering(p, lambda ctx, x, platform=platform: platform, platform=platform)
    default = p.emit.entries[None]
    entry = p.emit.find(here)
    assert entry is default if found is None else entry.rule(None, None) == found


def test_a_rule_for_a_built_in_primitive():
    mlir.register_lowering(lax.population_count_p, lambda ctx, x: [x], platform="cpu")
    try:
        assert "popcnt" not in program(lax.population_count, np.int32(7))
    finally:
        del lax.population_count_p.emit
    assert "popcnt" in program(lax.population_count, np.int32(7))


def calls_of_rule(fun, *args, **options):
    calls = []

    def rule(ctx, x, **params):
        calls.append(str(x.type))
        return [hlo.add(x, x)]

    p = twice(rule, **options)
    text = program(lambda *args: fun(p, *args), *args)
    return calls, text


def test_a_rule_is_called_once_for_operands_of_the_same_types():
    calls, text = calls_of_rule(lambda p, x, y: [p.bind(p.bind(x)), p.bind(y)], X, np.float32(1))
    assert calls == ["tensor<3xf32>", "tensor<f32>"]
    assert text.count("stablehlo.add") == 3


def test_a_rule_is_called_for_each_value_of_a_parameter():
    calls, _ = calls_of_rule(lambda p, x: [p.bind(x, n=1), p.bind(x, n=2), p.bind(x, n=1)], X)
    assert len(calls) == 2


def test_a_rule_that_must_not_be_remembered():
    calls, _ = calls_of_rule(lambda p, x: [p.bind(x), p.bind(x)], X, cacheable=False)
    assert len(calls) == 2


def test_a_parameter_that_cannot_be_hashed():
    calls, _ = calls_of_rule(lambda p, x: [p.bind(x, n=[1]), p.bind(x, n=[1])], X)
    assert len(calls) == 2


def test_a_rule_that_is_called_as_a_function():
    calls, text = calls_of_rule(lambda p, x: [p.bind(x), p.bind(x)], X, inline=False)
    assert len(calls) == 1
    assert text.count("call @twice") == 2
    assert text.count("func.func private @twice") == 1


def test_what_a_rule_is_told():
    seen = []

    def rule(ctx, x, *, n):
        seen.append(ctx)
        assert ctx.avals_in[0] is ShapedArray((3,), np.float32)
        assert ctx.avals_out[0] is ShapedArray((3,), np.float32)
        assert ctx.module_context.platforms == ("cpu",)
        assert ctx.primitive is p
        assert isinstance(x, ir.Value)
        assert ctx.replace(avals_in=()).avals_in == ()
        assert isinstance(ctx, mlir.LoweringRuleContext)
        assert isinstance(ctx.module_context, mlir.ModuleContext)
        return hlo.AddOp(x, x)  # an operation counts as its result

    p = twice(rule)
    np.testing.assert_array_equal(cv.jit(lambda x: p.bind(x, n=1))(X), 2 * X)
    assert len(seen) == 1


def test_results_of_other_types():
    p = twice(lambda ctx, x: [hlo.convert(ir.RankedTensorType.get([3], ir.F16Type.get()), x)])
    with pytest.raises(TypeError) as error:
        cv.jit(p.bind)(X)
    assert str(error.value) == (
        "[lowering of twice] The rule returned values of the types [tensor<3xf16>], but the "
        "results of the eqn have the types [tensor<3xf32>]. Return one MLIR value for each "
        "result, and let the abstract evaluation rule give the same shapes and dtypes."
    )


# ---------------------------------------------------------------- rules from functions and jaxprs


def test_lower_fun():
    p = twice(mlir.lower_fun(lambda x: [lax.add(x, x)]))
    np.testing.assert_array_equal(cv.jit(p.bind)(X), 2 * X)
    p = twice(mlir.lower_fun(lambda x, n: lax.mul(x, np.float32(n)), multiple_results=False))
    np.testing.assert_array_equal(cv.jit(lambda x: p.bind(x, n=5))(X), 5 * X)


def test_lower_fun_of_a_function_with_constants():
    p = twice(mlir.lower_fun(lambda x: lax.add(x, X), multiple_results=False))
    np.testing.assert_array_equal(cv.jit(p.bind)(X), 2 * X)


def test_jaxpr_subcomp_and_core_call_lowering():
    closed = cv.make_jaxpr(lambda x: lax.add(x, x))(X)

    def in_place(ctx, x):
        outs, tokens = mlir.jaxpr_subcomp(ctx.module_context, closed.jaxpr, (), None, [], x)
        assert tokens is None
        return outs

    p = twice(in_place)
    np.testing.assert_array_equal(cv.jit(p.bind)(X), 2 * X)
    p = twice(lambda ctx, x: mlir.core_call_lowering(ctx, x, name="body", call_jaxpr=closed))
    np.testing.assert_array_equal(cv.jit(p.bind)(X), 2 * X)
    assert "call @body" in program(p.bind, X)


# ---------------------------------------------------------------- types, constants, attributes


@pytest.fixture
def place():
    """A place to write operations at."""
    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            yield module


@pytest.mark.parametrize(
    ("dtype", "want"),
    [
        ("bool", "i1"),
        ("int8", "i8"),
        ("uint16", "ui16"),
        ("int64", "i64"),
        ("float16", "f16"),
        ("bfloat16", "bf16"),
        ("float32", "f32"),
        ("float64", "f64"),
        ("complex64", "complex<f32>"),
    ],
)
def test_dtypes_as_types(place, dtype, want):
    dtype = cv.dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    assert str(mlir.dtype_to_ir_type(np.dtype(dtype))) == want
    constant = mlir.ir_constant(np.zeros(2, dtype))
    assert str(constant.type) == f"tensor<2x{want}>"


def test_constants(place):
    assert str(mlir.ir_constant(3).type) == "tensor<i32>"
    assert str(mlir.ir_constant(3.0).type) == "tensor<f32>"
    assert str(mlir.ir_constant(True).type) == "tensor<i1>"
    (value,) = mlir.ir_constants(np.arange(3, dtype=np.int32))
    assert "dense<[0, 1, 2]>" in str(value.owner)
    mask = mlir.ir_constant(np.array([[True, False], [False, False]]))
    assert "dense<[[true, false], [false, false]]>" in str(mask.owner)


def test_constants_of_a_type_of_ones_own(place):
    class Celsius(float):
        pass

    mlir.register_constant_handler(Celsius, lambda x, aval: mlir.ir_constant(float(x) + 273))
    assert "2.830000e+02" in str(mlir.ir_constant(Celsius(10)).owner)


def test_attributes(place):
    assert str(mlir.i32_attr(3)) == "3 : i32"
    assert str(mlir.i64_attr(3)) == "3 : i64"
    assert str(mlir.dense_int_array([1, 2])) == "array<i64: 1, 2>"
    assert str(mlir.dense_int_elements([1, 2])) == "dense<[1, 2]> : tensor<2xi64>"
    assert str(mlir.ir_attribute(True)) == "true"
    assert str(mlir.ir_attribute(np.int32(2))) == "2 : i32"
    assert str(mlir.ir_attribute(0.5)) == "5.000000e-01 : f64"
    assert str(mlir.ir_attribute("a")) == '"a"'
    assert str(mlir.ir_attribute([1, "b"])) == '[1, "b"]'
    assert str(mlir.ir_attribute({"k": np.dtype("float32")})) == "{k = f32}"
    with pytest.raises(TypeError, match="is no attribute"):
        mlir.ir_attribute(object())


def test_shapes_as_tensors():
    def rule(ctx, n):
        known = mlir.shape_tensor(ctx.module_context, [2, 3])
        assert str(known.type) == "tensor<2xi32>"
        return [mlir.shape_tensor(ctx.module_context, [n, 3])]

    p = Primitive("shape_of_mine")
    p.def_abstract_eval(lambda n: ShapedArray((2,), np.int32))
    mlir.register_lowering(p, rule)
    np.testing.assert_array_equal(cv.jit(p.bind)(np.int32(7)), [7, 3])
    with cv.enable_x64(True):
        np.testing.assert_array_equal(cv.jit(p.bind)(np.int64(7)), [7, 3])


def test_modules_as_text_and_bytecode(place):
    mlir.ir_constant(1)
    assert "stablehlo.constant" in mlir.module_to_string(place)
    assert mlir.module_to_bytecode(place).startswith(b"ML\xefR")


def test_nested_values(place):
    a, b = mlir.ir_constant(1), mlir.ir_constant(2)
    assert mlir.flatten_ir_values([a, (b, [a])]) == [a, b, a]
    kinds = [a.type, (a.type, b.type)]
    assert mlir.flatten_ir_types(kinds) == [a.type, a.type, b.type]
    assert mlir.unflatten_ir_values_like_types([a, b, a], kinds) == [a, (b, a)]
    assert str(mlir.token_type()) == "!stablehlo.token"
