"""The stages `trace`, `lower`, `compile`: what each knows, and what calls they refuse."""

from types import SimpleNamespace

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.xla.devices import lowering_platform
from covector.experimental.layout import Format, Layout

X = np.arange(3, dtype=np.float32)


def model(params, x, *, scale=2.0):
    return {"out": jnp.sin(x) * params["w"] * scale, "count": x.size}


ARGS = ({"w": X, "unused": np.int8(1)}, X)


@pytest.fixture(params=["trace", "lower", "compile"])
def stage(request):
    traced = cv.jit(model, donate_argnums=1, static_argnames="scale").trace(*ARGS)
    if request.param == "trace":
        return traced
    lowered = traced.lower()
    return lowered if request.param == "lower" else lowered.compile()


def structs(tree):
    return cv.tree.map(lambda x: (x.shape, str(x.dtype)), tree)


def test_types_of_arguments_and_results(stage):
    assert structs(stage.in_avals) == (
        ({"unused": ((), "int8"), "w": ((3,), "float32")}, ((3,), "float32")),
        {},
    )
    assert structs(stage.out_info) == {"count": ((), "int32"), "out": ((3,), "float32")}
    assert stage.in_tree == cv.tree.structure((ARGS, {}))
    assert stage.out_tree == cv.tree.structure({"out": 0, "count": 0})


def test_donation(stage):
    (params, x), keywords = stage.args_info
    assert (x.donated, params["w"].donated, keywords) == (True, False, {})
    assert x.shape == (3,) and x.dtype == np.float32
    assert repr(x) == "ArgInfo(_aval=ShapedArray(float32[3]), donated=True)"
    assert stage.donate_argnums == (2,)


def test_as_jax_tells_it(jax, stage):
    theirs = jax.jit(lambda params, x: {"out": x * params["w"], "count": x.size}, donate_argnums=1)
    traced = theirs.trace(*ARGS)
    assert structs(stage.in_avals) == jax.tree.map(
        lambda a: (a.shape, str(a.dtype)), traced.in_avals
    )
    assert stage.donate_argnums == traced.donate_argnums


def test_traced():
    traced = cv.jit(lambda x, y: (x + y, x)).trace(1.0, X)
    assert str(traced.jaxpr).splitlines()[0].startswith("{ lambda ; a:f32[] b:f32[3]. let")
    assert traced.fun_name == "<lambda>"
    assert [str(a) for a in traced.out_avals] == ["float32[3]", "~float32[]"]


def test_text_of_the_lowered_program():
    lowered = cv.jit(lambda x: jnp.tanh(x)).lower(X)
    stablehlo = lowered.as_text()
    assert "stablehlo.tanh" in stablehlo and stablehlo == lowered.as_text("stablehlo")
    assert "func.func public @main(%arg0: tensor<3xf32>)" in stablehlo
    assert "ENTRY" in lowered.as_text("hlo") and "tanh(" in lowered.as_text(dialect="hlo")
    assert __file__ not in stablehlo and __file__ in lowered.as_text(debug_info=True)
    assert str(lowered.compiler_ir()).strip() == stablehlo.strip()
    assert "tanh" in lowered.compiler_ir("hlo").as_hlo_text()
    for ask in (lowered.as_text, lowered.compiler_ir):
        with pytest.raises(ValueError, match="the dialect 'mhlo' is not stablehlo or hlo"):
            ask("mhlo")


def test_text_is_that_of_jax(jax):
    def f(m):
        return m.jit(lambda x, y: m.lax.mul(m.lax.sin(x), y)).lower(X, X).as_text()

    # JAX names the results besides.
    assert f(cv) == f(jax).replace(' {jax.result_info = "result"}', "").replace(
        "(tensor<3xf32>) {", "tensor<3xf32> {"
    )


def test_text_for_other_platforms():
    traced = cv.jit(lambda x: jnp.sin(x)).trace(X)
    for platform in ("cpu", "cuda", "tpu"):
        assert "stablehlo.sine" in traced.lower(lowering_platforms=(platform,)).as_text()


@pytest.mark.parametrize(
    "platform, version, name",
    [
        ("cpu", "cpu", "cpu"),
        ("gpu", "PJRT C API\ncuda 13000", "cuda"),
        ("gpu", "PJRT C API\nrocm 70000", "rocm"),
        ("tpu", "PJRT C API\nTFRT TPU v5", "tpu"),
    ],
)
def test_platforms_of_lowering_rules(platform, version, name):
    device = SimpleNamespace(platform=platform, client=SimpleNamespace(platform_version=version))
    assert lowering_platform(device) == name


def test_costs_and_memory():
    lowered = cv.jit(lambda x: x @ x).lower(np.ones((64, 64), np.float32))
    compiled = lowered.compile()
    for analysis in (lowered.cost_analysis(), compiled.cost_analysis()):
        assert analysis["flops"] >= 2 * 64**3 - 64**2
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == memory.output_size_in_bytes == 64 * 64 * 4
    assert "ENTRY" in compiled.as_text()
    assert compiled.runtime_executable().fingerprint is not None


def test_shardings_and_formats():
    compiled = cv.jit(lambda x, unused: (x.T, x[0])).lower(np.ones((2, 3)), 1.0).compile()
    device = cv.devices()[0]
    ((x, unused), keywords) = compiled.input_formats
    assert isinstance(x, Format) and keywords == {}
    assert (x.layout, unused.layout) == (Layout((0, 1)), Layout(()))
    transposed, row = compiled.output_formats
    assert transposed.layout.major_to_minor == (0, 1) and row.layout.major_to_minor == (0,)
    shardings = cv.tree.leaves((compiled.input_shardings, compiled.output_shardings))
    assert len(shardings) == 4 and all(s.device_set == {device} for s in shardings)
    assert jnp.ones((2, 3)).format == x


def test_calls():
    compiled = cv.jit(model, static_argnames="scale").lower(*ARGS, scale=3.0).compile()
    got = compiled(*ARGS)
    np.testing.assert_allclose(got["out"], np.sin(X) * X * 3, rtol=1e-6)
    assert compiled.call(*ARGS)["count"] == 3


def refused(compiled, *args, **kwargs):
    with pytest.raises(TypeError) as error:
        compiled(*args, **kwargs)
    return str(error.value)


def test_arguments_of_other_types():
    compiled = cv.jit(lambda x, y: x).lower({"a": X}, 2).compile()
    assert refused(compiled, {"a": X[:2]}, 2.0) == (
        "[<lambda>] Argument types differ from the types for which this computation was compiled. "
        "The mismatches are:\n"
        "Argument \"x['a']\" compiled with float32[3] and called with float32[2]\n"
        "Argument 'y' compiled with ~int32[] and called with ~float32[]\n"
        "Call it with arguments of those types, or call the jitted function, which compiles for "
        "new ones."
    )


def test_arguments_in_other_containers():
    compiled = cv.jit(lambda x: x).lower({"a": X}).compile()
    lead = "[<lambda>] Function compiled with input pytree does not match the input pytree it was "
    for args, kwargs in [(({"b": X},), {}), ((X, X), {}), ((), {"x": {"a": X}})]:
        assert refused(compiled, *args, **kwargs).startswith(lead + "called with: ")


@pytest.mark.parametrize("transform", [cv.vmap, cv.jit, cv.make_jaxpr])
def test_no_transformation_sees_into_a_compiled_program(transform):
    compiled = cv.jit(lambda x: x + 1).lower(np.float32(1)).compile()
    text = r"Cannot apply JAX transformations to a function lowered and compiled .*Tracer"
    with pytest.raises(TypeError, match=text):
        transform(lambda x: compiled(x))(X)
    with pytest.raises(TypeError, match=text):
        cv.grad(lambda x: compiled(x))(1.0)
