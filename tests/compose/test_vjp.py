"""`vjp` and the pullbacks that it returns."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import tree


def program_of_trees(lib):
    """A function of trees with every kind of output: varying, constant, integer."""

    def f(p, x):
        product = p["w"] * x
        return {"out": (product, lib.numpy.sum(p["b"])), "count": 3, "one": 1.0}

    return lib.vjp(f, {"w": np.ones((2, 3)), "b": np.arange(2.0)}, np.arange(3.0))


def cotangent(count):
    return {"out": (np.ones((2, 3)), np.float32(2)), "count": count, "one": 5.0}


@pytest.mark.parametrize("count", [7, 0.5, np.zeros((), cv.dtypes.float0)])
def test_of_trees(count, same_as_jax):
    """Any cotangent of its shape will do for an integer result, float0 is the proper one."""

    def program(lib):
        result, pullback = program_of_trees(lib)
        return result, pullback(cotangent(count))

    same_as_jax(program)


def test_integer_arguments(same_as_jax):
    def program(lib):
        result, pullback = lib.vjp(lambda x, n: x * n, 2.0, np.arange(3))
        return result, pullback(np.ones(3))

    same_as_jax(program)


def test_integers_stay_what_they_are():
    def f(x, n):
        assert type(n) is int
        return sum([x] * n)

    result, pullback = cv.vjp(f, 2.0, 3)
    assert float(result) == 6.0 and float(pullback(1.0)[0]) == 3.0
    assert float(cv.grad(f, allow_int=True)(2.0, 3)) == 3.0


def test_aux(same_as_jax):
    def program(lib):
        result, pullback, aux = lib.vjp(lambda x: (x * x, [x + 1, None]), 3.0, has_aux=True)
        return result, pullback(1.0), aux

    same_as_jax(program)


def test_the_pullback_can_be_called_again():
    _, pullback = cv.vjp(lambda x: x * x, 3.0)
    assert [float(pullback(ct)[0]) for ct in (1.0, 2.0, -1.0)] == [6.0, 12.0, -6.0]


def test_it_is_linear():
    _, pullback = cv.vjp(lambda x: jnp.sin(x) * x, jnp.arange(3.0))
    u, v = jnp.array([1.0, 2.0, 3.0]), jnp.array([0.5, -1.0, 4.0])
    np.testing.assert_allclose(pullback(u + v)[0], pullback(u)[0] + pullback(v)[0], rtol=1e-5)


def test_cotangents_of_zero_are_zero(same_as_jax):
    same_as_jax(lambda lib: lib.vjp(lambda x, y: (x * y, y), 2.0, 3.0)[1]((0.0, 0.0)))


# ---------------------------------------------------------------- as a tree


def test_leaves_are_what_the_derivative_needs(same_as_jax):
    def leaves(lib, f, *args):
        return (tree if lib is cv else lib.tree).leaves(lib.vjp(f, *args)[1])

    same_as_jax(lambda lib: leaves(lib, lib.numpy.sin, 3.0))
    same_as_jax(lambda lib: leaves(lib, lambda x: x + 1, np.ones(3)))
    # what only a result needs that nothing differentiates is not kept
    same_as_jax(lambda lib: leaves(lib, lambda x: (lib.lax.stop_gradient(x * x), 2.0 * x), 3.0))


def test_residuals_that_are_arguments():
    w = jnp.array([1.0, 2.0])
    _, pullback = cv.vjp(lambda w, x, unused: w * jnp.sin(x), w, 3.0, 1.0)
    assert pullback.args_res[0] is w
    assert repr(pullback.args_res[2]) == "NotNeeded()"
    assert len(pullback.opaque_residuals) == 2  # the sine and the cosine of x
    expected = pullback(jnp.ones(2))
    pullback.args_res[0] = None  # frees w, until the backward pass is due
    pullback.args_res[0] = w
    for got, want in zip(pullback(jnp.ones(2)), expected):
        np.testing.assert_array_equal(got, want)


def test_map_over_a_pullback():
    _, pullback = cv.vjp(lambda x: x * x, jnp.array(3.0))
    doubled = tree.map(lambda residual: 2 * residual, pullback)
    assert float(doubled(1.0)[0]) == 12.0


def test_through_jit(same_as_jax):
    """A pullback may be returned from a compiled function, and passed to another."""

    def program(lib):
        forward = lib.jit(lambda x: lib.vjp(lambda x: lib.numpy.sin(x) * x, x))
        backward = lib.jit(lambda pullback, ct: pullback(ct))
        results = []
        for x in (1.0, 2.0):
            result, pullback = forward(x)
            results.append((result, backward(pullback, 3.0), pullback(3.0)))
        return results

    same_as_jax(program)


def test_backward_is_compiled_once():
    traces = []

    @cv.jit
    def backward(pullback, ct):
        traces.append(ct)
        return pullback(ct)

    forward = cv.jit(lambda x: cv.vjp(jnp.sin, x))
    for x in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(backward(forward(x)[1], 1.0)[0], np.cos(x), rtol=1e-6)
    assert len(traces) == 1


def test_through_vmap(same_as_jax):
    def program(lib):
        _, pullback = lib.vjp(lambda x: lib.numpy.outer(x, x), np.arange(2.0))
        return lib.vmap(pullback)(np.arange(12.0).reshape(3, 2, 2))

    same_as_jax(program)


@pytest.mark.parametrize("argnums", [0, (0, 1), (1,)])
def test_fwd_and_bwd(argnums, same_as_jax):
    def program(lib):
        fwd, bwd = lib.fwd_and_bwd(lambda x, y: lib.numpy.sin(x) * y, argnums)
        result, pullback = fwd(2.0, np.arange(3.0))
        return result, bwd(pullback, np.ones(3))

    same_as_jax(program)


def test_fwd_and_bwd_with_aux_and_keywords():
    fwd, bwd = cv.fwd_and_bwd(lambda x, *, n: (x**n, n), 0, has_aux=True, jitted=False)
    result, pullback, aux = fwd(2.0, n=3)
    assert (float(result), aux, float(bwd(pullback, 1.0))) == (8.0, 3, 12.0)


def test_errors_of_fwd_and_bwd_name_the_function():
    fwd, _ = cv.fwd_and_bwd(lambda x: [x, "text"], 0)
    with pytest.raises(TypeError, match=f"<lambda> .{__file__}:"):
        fwd(1.0)


def test_repr():
    def f(p, x):
        return {"out": p["w"] * x}

    _, pullback = cv.vjp(f, {"w": np.ones((2, 3))}, 2.0)
    place = f"{__file__}:{f.__code__.co_firstlineno}"
    types = "({'w': float32[2,3]}, float32[]) -> {'out': float32[2,3]}"
    assert repr(pullback) == f"<transposed derivative of f ({place}): {types}>"
