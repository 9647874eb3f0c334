"""What is in an exported program: platforms, foreign functions, constants, effects."""

import doctest
from pathlib import Path

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import export
from covector.extend import core
from covector.interpreters import mlir

X = np.linspace(-1.0, 1.0, 6, dtype=np.float32)


def on_each_platform(x):
    return cv.lax.platform_dependent(
        x, cpu=lambda x: x + 1, cuda=lambda x: x * 2, default=lambda x: x - 3
    )


def test_each_platform_has_its_own_program():
    platforms = ("cpu", "cuda", "rocm", "tpu")
    exported = export.export(cv.jit(on_each_platform), platforms=platforms)(X)
    assert exported.platforms == platforms and exported.uses_global_constants
    ops = ["add", "multiply", "subtract", "subtract"]
    for platform, op in zip(platforms, ops):
        text = exported.mlir_module(platform=platform)
        found = [name for name in ("add", "multiply", "subtract") if f"stablehlo.{name} " in text]
        assert found == [op]
    read = export.deserialize(exported.serialize(vjp_order=1))
    np.testing.assert_allclose(read.call(X), X + 1)
    np.testing.assert_allclose(cv.grad(lambda x: read.call(x).sum())(X), np.ones(6))
    # Equal programs are written once: two of the four are different from the first.
    assert len(set(exported.modules)) == 3


def test_a_program_inside_another_for_fewer_platforms():
    inner = export.export(cv.jit(on_each_platform), platforms=("cpu", "cuda", "tpu"))(X)
    outer = export.export(cv.jit(inner.call), platforms=("cuda", "cpu"))(X)
    assert "stablehlo.multiply" in outer.mlir_module(platform="cuda")
    np.testing.assert_allclose(outer.call(X), X + 1)
    with pytest.raises(ValueError, match=r"was exported for platforms .* but is used on 'rocm'"):
        export.export(cv.jit(inner.call), platforms=("rocm",))(X)


@pytest.mark.parametrize("platform", ["cuda", "rocm", "tpu", "other"])
def test_platforms_that_are_not_here(platform):
    exported = export.export(jnp.sin, platforms=(platform,))(X)
    with pytest.raises(ValueError) as error:
        exported.call(X)
    assert str(error.value) == (
        f"Function 'sin' was exported for platforms {(platform,)!r} but is used on 'cpu'. Export "
        "it with platforms=('cpu', ...), or, if its program is the same there, with "
        "disabled_checks=[DisabledSafetyCheck.platform()]."
    )
    check = export.DisabledSafetyCheck.platform()
    anyway = export.export(jnp.sin, platforms=(platform,), disabled_checks=[check])(X)
    np.testing.assert_allclose(anyway.call(X), np.sin(X), rtol=1e-6)


def test_no_kernels_of_ours_are_called():
    x = jnp.arange(200_000.0)
    fun = cv.jit(lambda x: (jnp.sort(-x), jnp.cumsum(x), jnp.argmax(x), jnp.nonzero(x, size=5)))
    exported = export.export(fun)(x)
    assert "custom_call" not in exported.mlir_module()
    for got, want in zip(cv.tree.leaves(exported.call(x)), cv.tree.leaves(fun(x))):
        np.testing.assert_allclose(got, want, rtol=1e-5)
    key = cv.random.key(0)
    bits = export.export(cv.jit(lambda key: cv.random.bits(key, (100_000,))))(key)
    assert "custom_call" not in bits.mlir_module()
    np.testing.assert_array_equal(bits.call(key), cv.random.bits(key, (100_000,)))


def test_lapack_is_there_everywhere():
    a = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
    fun = cv.jit(lambda a: (jnp.linalg.cholesky(a), jnp.linalg.eigh(a)[0], jnp.linalg.svd(a)[1]))
    exported = export.export(fun)(a)
    assert "lapack_ssyevd_ffi" in exported.mlir_module()
    for got, want in zip(export.deserialize(exported.serialize()).call(a), fun(a)):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_captured_arrays_are_constants_of_the_program():
    large = jnp.arange(1000.0)
    inner = cv.jit(lambda x: x + large)
    exported = export.export(cv.jit(lambda x: inner(x) * large))(large)
    assert len(exported.mlir_module_serialized) > 4000
    np.testing.assert_allclose(exported.call(large), 2 * large * large)


@pytest.mark.parametrize(
    "fun",
    [
        lambda x: (cv.debug.print("{}", x), x)[1],
        lambda x: (cv.debug.print("{}", x, ordered=True), x)[1],
        lambda x: cv.pure_callback(np.sin, x, x),
        lambda x: cv.experimental.io_callback(np.sin, x, x, ordered=True),
    ],
    ids=["print", "ordered", "pure", "io"],
)
def test_callbacks_are_refused(fun):
    with pytest.raises(ValueError, match="Cannot serialize code with custom calls whose targets"):
        export.export(cv.jit(fun))(X)


def called(target, x):
    return cv.ffi.ffi_call(target, cv.ShapeDtypeStruct(x.shape, x.dtype))(x)


def test_foreign_functions_are_refused_unless_allowed():
    fun = cv.jit(lambda x: called("example_target", x))
    with pytest.raises(ValueError) as error:
        export.export(fun)(X)
    assert "targets example_target may be missing in other processes" in str(error.value)
    for target in ("example_target", "ALL"):
        check = export.DisabledSafetyCheck.custom_call(target)
        exported = export.export(fun, disabled_checks=[check])(X)
        assert "example_target" in exported.mlir_module()
        assert exported.disabled_safety_checks == (check,)


def test_safety_checks_as_values():
    platform, call = (
        export.DisabledSafetyCheck.platform(),
        export.DisabledSafetyCheck.custom_call("f"),
    )
    assert platform == export.DisabledSafetyCheck.platform() != call
    assert (str(platform), str(call)) == ("platform", "custom_call:f")
    assert platform.is_custom_call() is None and call.is_custom_call() == "f"
    assert len({platform, call, export.DisabledSafetyCheck.custom_call("f")}) == 2


# ---------------------------------------------------------------- effects


class Noted(core.Effect):
    """An ordered effect that does nothing."""

    ordered = True

    def __eq__(self, other):
        return type(other) is Noted

    def __hash__(self):
        return hash(Noted)

    def __repr__(self):
        return "Noted()"


class NotEqual(core.Effect):
    ordered = True


class NeedsArgument(core.Effect):
    def __init__(self, value):
        self.value = value


noted_p = core.Primitive("noted")
noted_p.def_effectful_abstract_eval(lambda x, *, effect: (x, {effect}))


def _noted_lowering(ctx, x, *, effect):
    if effect.ordered:
        ctx.set_tokens_out(mlir.TokenSet({effect: ctx.tokens_in.get(effect)}))
    return [x]


mlir.register_lowering(noted_p, _noted_lowering)


def test_ordered_effects_go_through_tokens():
    exported = export.export(cv.jit(lambda x: noted_p.bind(x, effect=Noted()) + 1))(X)
    assert exported.ordered_effects == (Noted(),) and exported.unordered_effects == ()
    entry = next(line for line in exported.mlir_module().splitlines() if "@main" in line)
    assert "%arg0: !stablehlo.token" in entry and "-> (!stablehlo.token," in entry
    read = export.deserialize(exported.serialize())
    assert read.ordered_effects == (Noted(),)

    def outer(x):
        return noted_p.bind(read.call(noted_p.bind(x, effect=Noted())), effect=Noted())

    assert cv.make_jaxpr(outer)(X).effects == {Noted()}
    np.testing.assert_allclose(cv.jit(outer)(X), X + 1)
    np.testing.assert_allclose(read.call(X), X + 1)


def test_effects_that_cannot_be_made_again():
    for effect, text in (
        (NotEqual(), "nullary class constructor that produces an equal effect object"),
        (NeedsArgument(1), "must have a nullary constructor"),
    ):
        exported = export.export(cv.jit(lambda x, e=effect: noted_p.bind(x, effect=e)))(X)
        with pytest.raises(ValueError, match=text):
            exported.serialize()


def test_the_page():
    page = Path(__file__).parents[2] / "docs/export.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried > 10 and not failed
