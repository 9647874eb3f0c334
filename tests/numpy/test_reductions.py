"""Reductions: types and values against JAX 0.10.2, over dtypes, axes, masks, empty arrays."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from tests.numpy.comparing import DTYPES, array, assert_close, assert_same_type, assert_same_values

NAMES = (
    *("sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "ptp", "count_nonzero"),
    *("argmax", "argmin", "average"),
)
AXES = {
    "all": {},
    "last": dict(axis=-1),
    "kept": dict(axis=0, keepdims=True),
    "several": dict(axis=(0, 2)),
    "backwards": dict(axis=(-1, 0), keepdims=True),
    "none of them": dict(axis=()),
    "all, kept": dict(keepdims=True),
}
# No axis, or several, has no place for one index.
ONE_AXIS = {"argmax", "argmin"}


def call(name, **options):
    return lambda np, x: getattr(np, name)(x, **options)


def options_of(name):
    return {
        key: options
        for key, options in AXES.items()
        if not (name in ONE_AXIS and isinstance(options.get("axis"), tuple))
        and not (name == "ptp" and options.get("axis") == ())
    }


@pytest.mark.parametrize("name", NAMES)
def test_types(jax, name):
    for dtype in DTYPES:
        if name in ONE_AXIS and dtype == "complex64":
            continue
        for shape in ((), (3,), (2, 0, 3), (2, 3, 2)):
            x = array(shape, dtype)
            for key, options in options_of(name).items():
                if max(np.atleast_1d(options.get("axis", -1)), default=0) >= len(shape):
                    continue
                if not shape and "axis" in options:
                    continue
                assert_same_type(jax, call(name, **options), x, what=f"{name} {dtype}{shape} {key}")
    assert_same_type(jax, call(name), 2.5)
    assert_same_type(jax, call(name), np.float16(2.5))


@pytest.mark.parametrize("name", NAMES)
def test_values(jax, name):
    calls = {}
    for dtype in DTYPES:
        if name in ONE_AXIS and dtype == "complex64":
            continue
        if name == "ptp" and dtype == "bool":
            continue
        for key, options in options_of(name).items():
            calls[f"{dtype} {key}"] = (call(name, **options), (array((2, 3, 4), dtype),))
    assert_same_values(jax, calls, ulps=100, alone=9)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "std"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64", float, "float16"])
def test_dtype_of_result(jax, name, dtype):
    for given in DTYPES:
        x = array((2, 3), given)
        if given == "complex64" and dtype != "complex64":
            continue
        assert_same_type(jax, call(name, dtype=dtype), x, what=f"{name} {given} {dtype}")


def test_masks_and_initial_values(jax):
    x, mask = array((2, 3), "float32"), np.array([True, False, True])
    calls = {}
    for name in ("sum", "prod", "max", "min"):
        calls[name] = (lambda np, x, m, n=name: getattr(np, n)(x, where=m, initial=2), (x, mask))
        calls[f"{name} 0"] = (lambda np, x, n=name: getattr(np, n)(x, initial=-1.5, axis=1), (x,))
    for name in ("any", "all", "mean", "var", "std"):
        calls[name] = (lambda np, x, m, n=name: getattr(np, n)(x, where=m, axis=1), (x, mask))
    calls["sum of none"] = (lambda np, x: np.sum(x, where=False), (x,))
    calls["integers"] = (lambda np, x: np.sum(x, where=x > 0, axis=0), (array((4, 3), "int8"),))
    assert_same_values(jax, calls, alone=1)


def test_options_of_var(jax):
    x = array((3, 4), "float32")
    calls = {
        "ddof": (lambda np, x: np.var(x, axis=0, ddof=1), (x,)),
        "ddof too large": (lambda np, x: np.var(x, axis=0, ddof=3), (x,)),
        "correction": (lambda np, x: np.std(x, correction=0.5), (x,)),
        "mean": (lambda np, x: np.var(x, axis=0, mean=np.ones((1, 4))), (x,)),
        "traced ddof": (lambda np, x, d: np.var(x, ddof=d), (x, 1)),
        "kept": (lambda np, x: np.std(x, axis=1, keepdims=True, ddof=1), (x,)),
        "complex": (lambda np, x: np.var(x, axis=1), (array((3, 4), "complex64"),)),
    }
    assert_same_values(jax, calls)


def test_average(jax):
    x, w = array((2, 3), "float32"), np.array([1.0, 2.0, 4.0], np.float32)
    calls = {
        "vector": (lambda np, x, w: np.average(x, axis=1, weights=w), (x, w)),
        "returned": (lambda np, x, w: np.average(x, 1, w, returned=True), (x, w)),
        "matrix": (lambda np, x: np.average(x, weights=x * x, keepdims=True), (x,)),
        "unweighted": (lambda np, x: np.average(x, axis=0, returned=True), (x,)),
        "integers": (lambda np, x: np.average(x), (array((4,), "int32"),)),
    }
    assert_same_values(jax, calls)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_added_in_float32(dtype):
    x = jnp.full(4096, 0.1, dtype)
    want = float(np.float64(np.asarray(x[0]).astype(np.float64)) * 4096)
    for total in (jnp.sum(x), covector.jit(jnp.sum)(x), jnp.mean(x) * 4096):
        assert float(total) == pytest.approx(want, rel=2**-7)


def test_promotion_of_integers():
    x = jnp.full(300, 100, "int8")
    assert int(x.sum()) == 30000 and x.sum().dtype == np.int32
    assert jnp.sum(x, promote_integers=False).dtype == np.int8
    assert jnp.sum(jnp.ones(3, bool), dtype=bool).dtype == bool


def test_first_of_equal_elements_and_of_nans():
    assert int(jnp.argmax(jnp.array([1, 3, 3]))) == 1
    assert int(jnp.argmin(jnp.array([2.0, np.nan, 1.0, np.nan]))) == 1
    assert jnp.argmax(jnp.zeros((2, 3)), keepdims=True).shape == (1, 1)


def test_gradients(jax):
    x = np.array([[1.0, 2.0, 2.0], [0.5, -1.0, 0.0]], np.float32)
    functions = [
        lambda np, x: np.max(x),
        lambda np, x: np.sum(np.min(x, axis=0) ** 2),
        lambda np, x: np.prod(x, axis=1)[0],
        lambda np, x: np.std(x),
        lambda np, x: np.var(x, axis=0)[1],
        lambda np, x: np.mean(x, where=x > 0),
        lambda np, x: np.ptp(x),
        lambda np, x: np.sum(x, where=x > 0, initial=3),
    ]
    ours = covector.jit(lambda x: [covector.grad(lambda x: f(jnp, x))(x) for f in functions])(x)  # noqa: B023
    theirs = jax.jit(lambda x: [jax.grad(lambda x: f(jax.numpy, x))(x) for f in functions])(x)  # noqa: B023
    for i, (got, want) in enumerate(zip(ours, theirs)):
        assert_close(got, want, f"gradient {i}")


@pytest.mark.parametrize("wrap", [lambda f: f, covector.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: jnp.max(x[:0]), "zero-size array to reduction operation max"),
        (lambda x: jnp.min(x[:, :0], axis=1), "zero-size array to reduction operation min"),
        (lambda x: jnp.argmax(x[:0]), "attempt to get argmax of an empty sequence"),
        (lambda x: jnp.ptp(x[:0]), "zero-size array to reduction operation ptp"),
        (lambda x: jnp.max(x, where=x > 0), "reduction operation max does not have an identity"),
        (lambda x: jnp.sum(x, axis=2), "axis 2 is out of bounds for array of dimension 2"),
        (lambda x: jnp.sum(x, axis=(0, -2)), "duplicate value in 'axis'"),
        (
            lambda x: jnp.sum(x, initial=x),
            r"initial value must be a scalar. Got array of shape \(2, 3\)",
        ),
        (lambda x: jnp.average(x, weights=jnp.ones(3)), "Axis must be specified"),
        (lambda x: jnp.average(x, axis=0, weights=jnp.ones(3)), r"weights of shape \(3,\)"),
        (lambda x: jnp.var(x, ddof=1, correction=1), "names of one thing"),
        (lambda x: jnp.std(x, dtype=int), "must be a floating one"),
    ],
)
def test_errors(wrap, f, words):
    with pytest.raises(ValueError, match=words):
        wrap(f)(jnp.ones((2, 3)))


def test_empty_arrays():
    z = jnp.zeros((2, 0))
    assert float(z.sum()) == 0 and float(z.prod()) == 1 and np.isnan(float(z.mean()))
    assert not bool(z.any()) and bool(z.all())
    assert jnp.max(z, axis=0).shape == (0,) and float(jnp.max(z, initial=-1)) == -1


# ---------------------------------------------------------------- without NaN

WITH_NAN = np.array([[1.0, np.nan, 3.0, -2.0], [np.nan] * 4, [4.0, 5.0, np.nan, 0.5]], np.float32)
NAN_NAMES = ("sum", "prod", "mean", "var", "std", "max", "min", "argmax", "argmin")


@pytest.mark.parametrize("name", NAN_NAMES)
def test_without_nan(jax, name):
    name = f"nan{name}"
    calls = {
        key: (call(name, **options), (WITH_NAN,))
        for key, options in {
            "all": {}, "rows": dict(axis=1), "kept": dict(axis=0, keepdims=True)
        }.items()
    }  # fmt: skip
    if "arg" not in name:
        calls["mask"] = (
            lambda np, x: getattr(np, name)(x, axis=1, where=np.array([True, True, False, True])),
            (np.where(np.isnan(WITH_NAN), 2, WITH_NAN),),
        )
        if name in ("nanmax", "nanmin"):
            del calls["mask"]
            calls["initial"] = (call(name, axis=1, initial=1.5), (WITH_NAN,))
    calls["integers"] = (call(name), (array((2, 3), "int8"),))
    calls["halves"] = (call(name), (array((2, 3), "bfloat16"),))
    assert_same_values(jax, calls, ulps=64, alone=1)
    for f, args in calls.values():
        assert_same_type(jax, f, *args)


def test_gradient_without_nan():
    g = covector.grad(lambda x: jnp.nansum(x**2))(jnp.array([1.0, jnp.nan, 3.0]))
    assert g[0] == 2 and g[2] == 6
