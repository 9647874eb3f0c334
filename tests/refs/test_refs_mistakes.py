"""What functions must not do with references: JAX 0.10.2 refuses it as well."""

from __future__ import annotations

import re

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


def program_of(m, name):
    """A program of the module `m` that is a mistake."""
    lax, ref = m.lax, m.new_ref(m.numpy.zeros(3))
    both = lambda x, y: x[...] + y[...]  # noqa: E731
    with_closure = lambda y: ref[...] + y[...]  # noqa: E731
    return {
        "returned argument": lambda: m.jit(lambda x: x)(ref),
        "returned closure": lambda: m.jit(lambda: ref)(),
        "returned new": lambda: m.jit(lambda x: m.new_ref(x))(1.0),
        "returned by scan": lambda: lax.scan(lambda c, x: (m.new_ref(c), x), 0, m.numpy.ones(3)),
        "returned by cond": lambda: lax.cond(True, lambda: m.new_ref(1.0), lambda: m.new_ref(2.0)),
        "passed twice": lambda: m.jit(both)(ref, ref),
        "passed twice to cond": lambda: lax.cond(True, both, both, ref, ref),
        "passed twice to vmap": lambda: m.vmap(lambda x, y: None)(ref, ref),
        "passed and closed over": lambda: m.jit(with_closure)(ref),
        "passed to cond and closed over": lambda: lax.cond(True, with_closure, with_closure, ref),
        "batched value": lambda: m.vmap(lambda x: ref.set(x))(m.numpy.ones((2, 3))),
        "batched value added": lambda: m.vmap(lambda x: ref.addupdate(x))(m.numpy.ones((2, 3))),
        "batched index": lambda: m.vmap(lambda i: ref.at[i].set(1.0))(m.numpy.arange(2)),
        "tangent": lambda: m.grad(lambda x: (ref.set(x), x.sum())[1])(m.numpy.ones(3)),
        "tangent in jit": lambda: m.jit(m.grad(lambda x: (ref.set(x), x.sum())[1]))(
            m.numpy.ones(3)
        ),
    }[name]


MISTAKES = {
    "returned argument": "traced for jit returned a mutable array",
    "returned closure": "traced for jit returned a mutable array",
    "returned new": "It was created on line",
    "returned by scan": "traced for scan returned a mutable array",
    "returned by cond": "traced for cond returned a mutable array",
    "passed twice": "appeared at both x and y",
    "passed twice to cond": "appeared at both x and y",
    "passed twice to vmap": "appeared at both x and y",
    "passed and closed over": "both closed over and passed as the argument y",
    "passed to cond and closed over": "both closed over and passed as the argument y",
    "batched value": "Move the array reference into the arguments of the vmapped function",
    "batched value added": "Move the array reference into the arguments of the vmapped function",
    "batched index": "Move the array reference into the arguments of the vmapped function",
    "tangent": "Move the array reference into the arguments of the differentiated function",
    "tangent in jit": "Move the array reference into the arguments of the differentiated function",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name, jax):
    with pytest.raises(Exception):  # noqa: B017 - JAX raises `Exception` for some
        program_of(jax, name)()
    with pytest.raises(ValueError, match=re.escape(MISTAKES[name])):
        program_of(cv, name)()


def test_reading_is_allowed_where_writing_is_not():
    ref = cv.new_ref(jnp.arange(3.0))
    np.testing.assert_array_equal(cv.vmap(lambda i: ref[i] * i)(jnp.arange(3)), [0, 1, 4])
    assert float(cv.grad(lambda x: (x * ref[...]).sum())(jnp.ones(3))[2]) == 2.0
    grad = cv.jit(cv.grad(lambda x: (ref.set(cv.lax.stop_gradient(x)), x.sum())[1]))
    np.testing.assert_array_equal(grad(jnp.full(3, 5.0)), np.ones(3))
    np.testing.assert_array_equal(ref[...], np.full(3, 5.0))


def test_a_reference_of_a_transformation_that_has_ended():
    kept = []

    @cv.jit
    def leaks(x):
        kept.append(cv.new_ref(x))
        return x

    leaks(1.0)
    with pytest.raises(cv.errors.UnexpectedTracerError, match="has ended"):
        kept[0][...]
    cv.vmap(lambda x: kept.append(cv.new_ref(x)))(jnp.ones(2))
    with pytest.raises(cv.errors.UnexpectedTracerError, match="has ended"):
        kept[1][...]


def test_functions_with_rules():
    ref = cv.new_ref(0.0)

    def rule(fun, forward=None):
        f = cv.custom_vjp(fun)
        f.defvjp(forward or (lambda *args: (fun(*args), None)), lambda _, ct: (ct, None))
        return f

    with pytest.raises(ValueError, match="custom_vjp returned a mutable array reference"):
        rule(lambda ref: ref)(ref)
    with pytest.raises(ValueError, match="appeared at both x and y"):
        rule(lambda x, y: x[...])(ref, ref)
    made = rule(lambda x, ref: x, lambda x, ref: (x, cv.new_ref(0)))
    with pytest.raises(ValueError, match="custom_vjp fwd function"):
        cv.grad(made)(3.0, ref)


def test_functions_that_take_no_references():
    ref = cv.new_ref(jnp.zeros(1))
    mesh = cv.make_mesh((1,), ("x",))
    spec = cv.P("x")
    mapped = cv.shard_map(lambda x: x + ref[...], mesh=mesh, in_specs=spec, out_specs=spec)
    with pytest.raises(NotImplementedError, match="shard_map does not support"):
        mapped(jnp.ones(1))


def test_a_gradient_is_not_taken_in_a_reference():
    with pytest.raises(TypeError):
        cv.grad(lambda ref: ref[...].sum())(cv.new_ref(jnp.ones(3)))


# Functions of arrays, by every way in which an operand reaches a program.
TAKES_ARRAYS = {
    "function": jnp.sin,
    "primitive": cv.lax.sin,
    "several results": cv.lax.sort,
    "reduction": jnp.sum,
    "method of a sequence": lambda ref: jnp.stack([ref, ref]),
    "one of several": lambda ref: jnp.where(True, ref, 0.0),
    "compiled": cv.jit(jnp.cos),
    "converted": jnp.asarray,
    "copied": jnp.array,
    "put": cv.device_put,
}


@pytest.mark.parametrize("way", [lambda f: f, cv.jit, cv.make_jaxpr], ids=["", "jit", "jaxpr"])
@pytest.mark.parametrize("name", TAKES_ARRAYS)
def test_a_reference_is_no_array(name, way):
    with pytest.raises(TypeError, match=r"reference of type Ref\{.*`ref\[\.\.\.\]`"):
        way(TAKES_ARRAYS[name])(cv.new_ref(jnp.ones(3)))


def test_a_function_returns_what_stands_for_cotangents_that_are_not_returned():
    _, pull = cv.vjp(lambda x, y, z: x * y * z, 2.0, 3.0, 4.0)
    total = cv.new_ref(0.0)
    asked = pull.with_refs(total, cv.ad.GradValue(), cv.ad.DontWant())
    added, value, dropped = cv.jit(asked)(1.0)
    assert (type(added), type(dropped)) == (cv.ad.GradRef, cv.ad.DidntWant)
    assert (float(total[...]), float(value)) == (12.0, 8.0)
    assert added == cv.ad.GradRef() != dropped and len({added, cv.ad.GradRef(), dropped}) == 2
