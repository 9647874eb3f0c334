"""Exported programs called: eagerly, in traced functions, differentiated; and wrong calls."""

import inspect

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import export

X = np.linspace(-1.0, 1.0, 6, dtype=np.float32).reshape(2, 3)


def model(params, x, *, scale):
    h = jnp.tanh(x @ params["w"]) * scale
    return {"loss": jnp.sum(h**2), "hidden": (h, [x])}


PARAMS = {"w": np.cos(np.arange(12, dtype=np.float32)).reshape(3, 4)}


@pytest.fixture(scope="module")
def exported():
    return export.export(cv.jit(model))(PARAMS, X, scale=2.0)


def test_what_it_knows_of_itself(jax, exported):
    other = jax.export.export(
        jax.jit(
            lambda params, x, *, scale: {
                "loss": jax.numpy.sum(jax.numpy.tanh(x @ params["w"]) * scale),
                "hidden": (jax.numpy.tanh(x @ params["w"]) * scale, [x]),
            }
        )
    )(PARAMS, X, scale=2.0)
    assert exported.fun_name == "model"
    for ours, theirs in (
        (exported.in_avals, other.in_avals),
        (exported.out_avals, other.out_avals),
    ):
        assert [(a.shape, a.dtype, a.weak_type) for a in ours] == [
            (a.shape, a.dtype, a.weak_type) for a in theirs
        ]
    assert str(exported.in_tree) == str(other.in_tree)
    assert str(exported.out_tree) == str(other.out_tree)
    for name in (
        *("platforms", "nr_devices", "in_shardings_hlo", "out_shardings_hlo"),
        *("ordered_effects", "unordered_effects", "disabled_safety_checks"),
        *("calling_convention_version", "module_kept_var_idx", "uses_global_constants"),
    ):
        assert getattr(exported, name) == getattr(other, name), name
    assert exported.has_vjp() and other.has_vjp()
    assert isinstance(exported.mlir_module_serialized, bytes)
    assert "stablehlo.tanh" in exported.mlir_module()
    assert repr(exported).startswith("Exported(fun_name=model, (f32[3,4], f32[2,3], f32[])")


def test_signatures_are_those_of_jax(jax):
    for name in ("deserialize", "register_namedtuple_serialization", "default_export_platform"):
        ours, theirs = getattr(export, name), getattr(jax.export, name)
        assert list(inspect.signature(ours).parameters) == list(
            inspect.signature(theirs).parameters
        )
    for name in ("call", "serialize", "vjp", "has_vjp"):
        ours = inspect.signature(getattr(export.Exported, name))
        theirs = inspect.signature(getattr(jax.export.Exported, name))
        assert list(ours.parameters) == list(theirs.parameters)
    versions = "minimum_supported_calling_convention_version"
    assert getattr(export, versions) == getattr(jax.export, versions)
    versions = versions.replace("minimum", "maximum")
    assert getattr(export, versions) == getattr(jax.export, versions)


def test_calls(exported):
    want = cv.jit(model)(PARAMS, X, scale=2.0)
    for call in (exported.call, cv.jit(exported.call), lambda *a, **k: exported.call(*a, **k)):
        got = call(PARAMS, X, scale=2.0)
        assert cv.tree.structure(got) == cv.tree.structure(want)
        for x, y in zip(cv.tree.leaves(got), cv.tree.leaves(want)):
            np.testing.assert_allclose(x, y, rtol=1e-6)
            assert x.weak_type == y.weak_type


def test_two_calls_in_one_program_share_its_functions(exported):
    def twice(x):
        first = exported.call(PARAMS, x, scale=1.0)
        return exported.call(PARAMS, x + first["loss"], scale=1.0)["loss"]

    text = cv.jit(twice).lower(X).as_text()
    assert text.count("stablehlo.tanh") == 1
    np.testing.assert_allclose(cv.jit(twice)(X), twice(X), rtol=1e-6)


def test_names_of_functions_inside_do_not_clash():
    inner = cv.jit(lambda x: cv.jit(jnp.sin)(x) + 1)
    exported = export.export(inner)(X)

    @cv.jit
    def outer(x):
        return cv.jit(jnp.sin)(x) + exported.call(x) + cv.jit(lambda y: cv.jit(jnp.sin)(2 * y))(x)

    np.testing.assert_allclose(outer(X), 2 * np.sin(X) + 1 + np.sin(2 * X), rtol=1e-5)
    again = export.export(outer)(X)  # an exported program that calls an exported program
    np.testing.assert_allclose(again.call(X), outer(X), rtol=1e-6)


def test_gradients_of_any_order():
    fun = lambda x: jnp.sum(x**4)  # noqa: E731
    exported = export.export(cv.jit(fun))(X)
    f = exported.call
    np.testing.assert_allclose(cv.grad(f)(X), 4 * X**3, rtol=1e-5)
    np.testing.assert_allclose(cv.jit(cv.grad(f))(X), 4 * X**3, rtol=1e-5)
    second = cv.grad(lambda x: jnp.sum(cv.grad(f)(x)))
    np.testing.assert_allclose(second(X), 12 * X**2, rtol=1e-5)
    assert exported.vjp().fun_name == "<lambda>_vjp"
    assert [a.shape for a in exported.vjp().in_avals] == [(2, 3), ()]


def test_the_gradient_agrees_with_differences_in_double_precision():
    with cv.enable_x64(True):
        x = np.linspace(0.5, 1.5, 5)
        exported = export.export(cv.jit(lambda x: jnp.sum(jnp.sin(x) / x)))(x)
        step = 1e-6
        want = [
            (exported.call(x + step * e) - exported.call(x - step * e)) / (2 * step)
            for e in np.eye(5)
        ]
        np.testing.assert_allclose(cv.grad(exported.call)(x), want, rtol=1e-7)


def test_gradients_where_arguments_and_results_are_integers():
    fun = lambda i, x: (2 * i, x[i] * 3.0)  # noqa: E731
    exported = export.export(cv.jit(fun))(np.int32(1), X)
    i_bar, x_bar = cv.vjp(exported.call, np.int32(1), X)[1]((np.zeros((), cv.float0), X[0]))
    assert i_bar.dtype == cv.float0
    np.testing.assert_allclose(x_bar, [[0, 0, 0], 3 * X[0]])


def test_arguments_that_are_not_read_are_not_passed():
    exported = export.export(cv.jit(lambda x, y, z: z - 1))(X, X, X)
    assert exported.module_kept_var_idx == (2,)
    np.testing.assert_allclose(exported.call(X, X, X), X - 1)
    kept = export.export(cv.jit(lambda x, y: y, keep_unused=True))(X, X)
    assert kept.module_kept_var_idx == (0, 1)


def test_static_arguments_are_part_of_the_program():
    fun = cv.jit(lambda x, n, *, c: c * x**n, static_argnums=1, static_argnames="c")
    np.testing.assert_allclose(export.export(fun)(X, 2, c=3.0).call(X), 3 * X**2, rtol=1e-6)


def test_vmap_says_what_to_do_instead(exported):
    with pytest.raises(NotImplementedError, match="Batching rule for 'call_exported'") as error:
        cv.vmap(lambda s: exported.call(PARAMS, X, scale=s))(jnp.ones(3))
    assert "jit(vmap(f))" in str(error.value)
    scales = jnp.arange(3.0)
    got = cv.lax.map(lambda s: exported.call(PARAMS, X, scale=s)["loss"], scales)
    np.testing.assert_allclose(got, [model(PARAMS, X, scale=s)["loss"] for s in scales], rtol=1e-6)


WRONG_CALLS = [
    (
        lambda f: f(PARAMS, X),
        "[model] The invocation args and kwargs must have the same pytree structure as those that "
        "the function was exported for. They differ here:\n  kwargs: a dict with no keys in the "
        "call, a dict with the keys 'scale' when exported\nPass the arguments in those "
        "containers; static arguments are left out.",
    ),
    (
        lambda f: f(PARAMS, X[:1], scale=1.0),
        "[model] Shape mismatch for args[1].shape[0] (expected same constant): the function was "
        "exported for the shape (2, 3) and called with (1, 3). Pass an array of that shape, or "
        "export the function for this one, or for a symbolic shape that covers both.",
    ),
    (
        lambda f: f(PARAMS, X[0], scale=1.0),
        "[model] Rank mismatch for args[1]: the function was exported for the shape (2, 3) and "
        "called with (3,). Pass an array of that shape, or export the function for this one, or "
        "for a symbolic shape that covers both.",
    ),
    (
        lambda f: f({"w": PARAMS["w"].astype(np.int32)}, X, scale=1.0),
        "[model] Dtype mismatch for args[0]['w']: the function was exported for float32 and called "
        "with int32. Convert the argument, or export the function for its type.",
    ),
    (lambda f: f({"v": PARAMS["w"]}, X, scale=1.0), None),
    (lambda f: f(PARAMS, [X], scale=1.0), None),
]


@pytest.mark.parametrize("number", range(len(WRONG_CALLS)))
def test_wrong_calls(exported, number):
    wrong, text = WRONG_CALLS[number]
    for call in (exported.call, cv.jit(exported.call)):
        with pytest.raises(ValueError) as error:
            wrong(call)
        assert text is None or str(error.value) == text


def test_what_cannot_be_exported():
    with pytest.raises(ValueError, match="must be the result of `jit`"):
        export.export(lambda x: x)
    with pytest.raises(ValueError, match="`platforms` is empty"):
        export.export(cv.jit(jnp.sin), platforms=())

    def outer(x):
        return export.export(cv.jit(lambda y: x * y))(1.0).call(2.0)

    with pytest.raises(ValueError, match="closes over 1 traced values"):
        cv.jit(outer)(1.0)
    with pytest.raises(ValueError, match="version 8 is outside the range"):
        cv.config.update("jax_export_calling_convention_version", 8)
        try:
            export.export(jnp.sin)(1.0)
        finally:
            cv.config.update("jax_export_calling_convention_version", 10)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "bool", "complex64", "uint32"])
def test_types(shape, dtype):
    x = jnp.ones(shape, dtype)
    exported = export.export(cv.jit(lambda x: (x, jnp.where(x == x, 0, 1))))(x)
    back, equal = exported.call(x)
    np.testing.assert_array_equal(back, x)
    assert back.dtype == x.dtype and equal.shape == shape


def test_nan_and_infinity_pass_through():
    x = np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)
    np.testing.assert_array_equal(export.export(cv.jit(lambda x: x + 0.0))(x).call(x), x + 0.0)
    np.testing.assert_array_equal(export.export(jnp.abs)(x).call(x), np.abs(x))


def test_random_keys():
    keys = cv.random.split(cv.random.key(1), 3)
    fun = lambda keys: (keys, cv.random.normal(keys[1], (4,)))  # noqa: E731
    back, sample = export.export(cv.jit(fun))(keys).call(keys)
    assert back.dtype == keys.dtype and (back == keys).all()
    np.testing.assert_array_equal(sample, fun(keys)[1])
