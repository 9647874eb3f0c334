"""Attributes on operations: the ones that JAX writes, on the same operations."""

import re
from functools import partial

import jax
import jax.experimental.compute_on
import jax.experimental.layout as in_jax
import jax.experimental.shard_alike
import jax.experimental.xla_metadata
import numpy as np
import pytest

import covector as cv
import covector.experimental.layout as in_ours
import covector.numpy as jnp
from covector.experimental.compute_on import compute_on
from covector.experimental.shard_alike import shard_alike
from covector.experimental.xla_metadata import set_xla_metadata


def marked(lib, fun, *args):
    """The operations of a program that carry attributes, with these."""
    text = lib.jit(fun).lower(*args).as_text()
    return sorted(re.findall(r"(stablehlo\.\w+|call) .*?frontend_attributes = \{([^}]*)\}", text))


def one_scope(lib, mark, on):
    def fun(x):
        with mark(a="b", c=True):
            y = lib.lax.sin(x)
        return lib.lax.cos(y)

    return fun


def scopes_in_scopes(lib, mark, on):
    def fun(x):
        with mark(a="#1"):
            with mark(a=None, d=3):
                y = lib.lax.sin(x)
            return y + lib.jit(lib.lax.cos)(y)

    return fun


def values(lib, mark, on):
    return lambda x: mark({"y": lib.lax.sin(x) * 2}, q=1, r=False)["y"] + 1


def slope(lib, mark, on):
    return lib.grad(one_scope(lib, mark, on))


def decorated(lib, mark, on):
    return lambda x: mark(speed="fast")(lib.jit(lambda x: lib.lax.sin(x)))(x)


def on_host(lib, mark, on):
    return on("device_host")(lambda x: lib.lax.sin(x) * 2)


def on_device(lib, mark, on):
    def fun(x):
        with on("gpu_stream:1"):
            y = lib.lax.sin(x)
            with on("device"):
                return y * 2

    return fun


PROGRAMS = [one_scope, scopes_in_scopes, values, slope, decorated, on_host]


@pytest.mark.parametrize("program", [*PROGRAMS, on_device])
def test_the_same_operations_as_in_jax(program):
    ours = program(cv, set_xla_metadata, compute_on)
    theirs = program(
        jax, jax.experimental.xla_metadata.set_xla_metadata, jax.experimental.compute_on.compute_on
    )
    assert marked(cv, ours, 1.0) == marked(jax, theirs, 1.0)
    np.testing.assert_allclose(cv.jit(ours)(1.0), jax.jit(theirs)(1.0), rtol=1e-6)


def test_a_function_is_traced_for_each():
    traced = []

    @cv.jit
    def fun(x):
        traced.append(x)
        return cv.lax.sin(x)

    assert not marked(cv, fun, 1.0)
    fun(1.0)
    with set_xla_metadata(a=1):
        assert marked(cv, lambda x: fun(x), 1.0)[-1] == ("stablehlo.sine", 'a = "1"')
        fun(1.0)
    assert len(traced) == 2
    assert 'a = "1"' in set_xla_metadata(a=1)(fun).lower(1.0).as_text()
    assert set_xla_metadata(a=1)(fun).__name__ == "fun"


def test_jaxprs_of_values():
    ours = cv.make_jaxpr(lambda x: set_xla_metadata(x, b=2, a="x"))(1.0)
    theirs = jax.make_jaxpr(lambda x: jax.experimental.xla_metadata.set_xla_metadata(x, b=2, a="x"))
    assert str(ours) == str(theirs(1.0))


def test_derivatives_of_values():
    fun = lambda x: set_xla_metadata(x * x, a=1)  # noqa: E731
    assert cv.grad(fun)(3.0) == 6 and cv.jvp(fun, (3.0,), (1.0,))[1] == 6
    assert cv.vmap(fun)(jnp.arange(3.0)).tolist() == [0, 1, 4]


def test_alike():
    x, y = jnp.arange(3.0), jnp.ones(3)
    assert str(cv.make_jaxpr(shard_alike)(x, y)) == str(
        jax.make_jaxpr(jax.experimental.shard_alike.shard_alike)(np.arange(3.0, dtype="f"), y)
    )
    out = cv.jit(shard_alike)({"a": x}, {"a": y})
    assert out[0]["a"].tolist() == [0, 1, 2] and out[1]["a"].tolist() == [1, 1, 1]
    assert cv.grad(lambda x: shard_alike(x, 2.0)[0] * 3)(1.0) == 3
    assert cv.jvp(shard_alike, (1.0, 2.0), (3.0, 4.0))[1] == (3.0, 4.0)
    assert cv.vmap(shard_alike, (0, None))(x, 1.0)[1].tolist() == [1, 1, 1]


def layouts(text):
    return re.findall(r"custom_call @LayoutConstraint.*result_layouts = \[([^]]*\]>)", text)


def test_layouts():
    def fun(m, layout, x):
        return m.with_layout_constraint(x.T, layout) * 2

    x, order = np.arange(6, dtype=np.float32).reshape(2, 3), (1, 0)
    ours = cv.jit(partial(fun, in_ours, in_ours.Layout(order)))
    theirs = jax.jit(partial(fun, in_jax, in_jax.Layout(order)))
    wanted = layouts(theirs.lower(x).as_text())
    assert layouts(ours.lower(jnp.asarray(x)).as_text()) == wanted and wanted
    np.testing.assert_array_equal(ours(jnp.asarray(x)), x.T * 2)

    constrained = partial(in_ours.with_layout_constraint, layouts=in_ours.Layout((1, 0)))
    mapped = cv.make_jaxpr(cv.vmap(constrained, in_axes=1, out_axes=1))(jnp.ones((2, 3, 4)))
    assert "major_to_minor=(1, 2, 0)" in str(mapped)
    slope = cv.jit(cv.grad(lambda x: (constrained(x) ** 2).sum()))(jnp.asarray(x))
    np.testing.assert_array_equal(slope, 2 * x)
    assert constrained(jnp.asarray(x)).tolist() == x.tolist()
    with pytest.raises(ValueError, match="must be of type `Layout`, and one is None"):
        in_ours.with_layout_constraint(jnp.asarray(x), None)
    with pytest.raises(ValueError, match=r"float32\[3\] is incompatible .*\(1, 0\)"):
        constrained(jnp.ones(3))


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda: compute_on(3), TypeError, "compute_type argument must be a string"),
        (lambda: compute_on("moon"), ValueError, "Invalid compute type moon"),
        (lambda: shard_alike(1.0, (2.0,)), ValueError, "Trees should be equal"),
        (lambda: shard_alike(1.0, jnp.ones(2)), ValueError, r"float32\[\] and float32\[2\]"),
    ],
)
def test_mistakes(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
