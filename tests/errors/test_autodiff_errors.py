"""Whole texts of the errors of grad, jvp, linearize, vjp, linear_transpose and the Jacobians."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.dtypes import float0


def identity(x):
    return x


def loss(params, x=1.0):
    return params["w"] * x


def name(fun):
    """A function as the errors call it."""
    return f"{fun.__name__} ({__file__}:{fun.__code__.co_firstlineno})"


def text_of(kind, fun, *args, **kwargs):
    with pytest.raises(kind) as caught:
        fun(*args, **kwargs)
    assert type(caught.value) is kind
    return str(caught.value)


# ---------------------------------------------------------------- which arguments


@pytest.mark.parametrize("transform", ["grad", "value_and_grad", "jacfwd", "jacrev", "hessian"])
def test_no_function(transform):
    assert text_of(TypeError, getattr(cv, transform), 3) == (
        f"[{transform}] the first argument must be a function, but it is 3. Expected a callable "
        "value, not one of type <class 'int'>."
    )


@pytest.mark.parametrize("transform", ["jvp", "vjp", "linearize", "linear_transpose"])
def test_no_function_at_a_point(transform):
    assert text_of(TypeError, getattr(cv, transform), "f", (1.0,), (1.0,)) == (
        f"[{transform}] the first argument must be a function, but it is 'f'. Expected a "
        "callable value, not one of type <class 'str'>."
    )


def test_argnums_of_another_type():
    assert text_of(TypeError, cv.grad, identity, argnums=1.0) == (
        "[grad] argnums must be an integer or a sequence of integers, but it is 1.0 of type float."
    )


@pytest.mark.parametrize(
    "transform, kind",
    [("grad", TypeError), ("value_and_grad", TypeError), ("jacfwd", ValueError)],
)
def test_argnums_beyond_the_arguments(transform, kind):
    f = getattr(cv, transform)(identity, argnums=2)
    assert text_of(kind, f, 1.0) == (
        f"[{transform}] differentiating with respect to argnums=2 requires at least 3 "
        "positional arguments to be passed by the caller, but got only 1 positional arguments: "
        f"{name(identity)} was called with one positional argument. Positions count from 0, or "
        "from -1 backwards; arguments passed by keyword have none."
    )


def test_argnums_below_the_arguments():
    assert text_of(ValueError, cv.grad(loss, argnums=(0, -3)), {"w": 1.0}, 2.0) == (
        "[grad] differentiating with respect to argnums=(0, -3) requires at least 3 positional "
        "arguments to be passed by the caller, but got only 2 positional arguments: "
        f"{name(loss)} was called with 2 positional arguments. Positions count from 0, or from "
        "-1 backwards; arguments passed by keyword have none."
    )


def test_argnums_that_repeat():
    assert text_of(ValueError, cv.grad(loss, argnums=(0, -2)), {"w": 1.0}, 2.0) == (
        "[grad] argnums=(0, -2) names an argument twice in a call with 2 positional arguments. "
        "Give each position once."
    )


@pytest.mark.parametrize("transform", ["grad", "value_and_grad"])
def test_reduce_axes(transform):
    got = text_of(NotImplementedError, getattr(cv, transform), identity, reduce_axes=("i",))
    assert got == (
        f"[{transform}] reduce_axes is no longer supported. Sum over a named axis in the function "
        "itself, with lax.psum."
    )


# ---------------------------------------------------------------- inputs


@pytest.mark.parametrize("transform", ["grad", "value_and_grad", "jacrev"])
def test_integer_inputs(transform):
    f = getattr(cv, transform)(loss)
    assert text_of(TypeError, f, {"w": jnp.arange(2)}) == (
        f"[{transform}] {transform} requires real- or complex-valued inputs (input dtype that "
        "is a sub-dtype of np.inexact), but got int32: the argument params['w'] of "
        f"{name(loss)}. In integers nothing varies continuously. Convert it to a floating-point "
        "dtype, or choose other arguments with argnums, or pass allow_int=True to get a "
        "derivative of dtype float0."
    )


def test_integer_inputs_in_forward_mode():
    assert text_of(TypeError, cv.jacfwd(loss, argnums=1), {"w": 1.0}, True) == (
        "[jacfwd] jacfwd requires real- or complex-valued inputs (input dtype that is a "
        f"sub-dtype of np.inexact), but got bool: the argument x of {name(loss)}. In integers "
        "nothing varies continuously. Convert it to a floating-point dtype, or choose other "
        "arguments with argnums."
    )


def test_inputs_that_are_no_arrays():
    assert text_of(TypeError, cv.grad(loss), {"w": "text"}) == (
        f"[grad] the argument params['w'] of {name(loss)}: 'text' of type <class 'str'> is not "
        "a valid JAX type, neither an array nor a number. Close over it, or leave it out of "
        "the arguments that are transformed."
    )


@pytest.mark.parametrize("transform", ["vjp", "linearize"])
def test_points_that_are_no_arrays(transform):
    assert text_of(TypeError, getattr(cv, transform), loss, {"w": 1.0}, object) == (
        f"[{transform}] the argument x of {name(loss)}: <class 'object'> of type <class 'type'> "
        "is not a valid JAX type, neither an array nor a number. Close over it, or leave it "
        "out of the arguments that are transformed."
    )


def test_real_inputs_of_a_holomorphic_function():
    assert text_of(TypeError, cv.grad(identity, holomorphic=True), 1.0) == (
        "[grad] grad with holomorphic=True requires inputs with complex dtype, but got "
        f"float32: the argument x of {name(identity)}. Convert it to a complex dtype, or leave "
        "holomorphic out."
    )


def test_complex_inputs_in_forward_mode():
    assert text_of(TypeError, cv.jacfwd(identity), 1j) == (
        "[jacfwd] jacfwd requires real-valued inputs (input dtype that is a sub-dtype of "
        f"np.floating), but got complex64: the argument x of {name(identity)}. The columns of a "
        "Jacobian are directions in real space. Pass holomorphic=True if the function is "
        "holomorphic, use jacrev if its results are real, or take single directions with jvp."
    )


# ---------------------------------------------------------------- outputs


def test_results_that_are_no_scalars():
    start = (
        f"Gradient only defined for scalar-output functions. [grad] {name(identity)} returned an "
        "array of "
    )
    end = ", or use jacrev for the derivatives of all its elements."
    assert text_of(TypeError, cv.grad(identity), jnp.ones((2, 1))) == (
        start + "shape (2, 1). Reduce it, as with `.sum()` or `.mean()`" + end
    )
    assert text_of(TypeError, cv.grad(identity), jnp.ones((1, 1))) == (
        start + "shape (1, 1). Drop its dimensions with `.squeeze()`" + end
    )


def test_results_that_are_no_single_array():
    def f(x):
        return {"loss": 1.0}

    assert text_of(TypeError, cv.grad(f), 1.0) == (
        f"Gradient only defined for scalar-output functions. [grad] {name(f)} returned a dict "
        "({'loss': 1.0}). Return a single array of shape ()."
    )


def test_a_pair_in_place_of_aux():
    def f(x):
        return 2.0, "aux"

    def g(x):
        return [1.0]

    assert text_of(TypeError, cv.grad(f), 1.0) == (
        f"[grad] {name(f)} returned 'aux' of type str at [1], which is not a valid JAX type. "
        "Return arrays only, or, with has_aux=True, a pair whose second item may hold other "
        "objects."
    )
    assert text_of(TypeError, cv.grad(g), 1.0) == (
        f"Gradient only defined for scalar-output functions. [grad] {name(g)} returned a list "
        "([1.0]). Return a single array of shape ()."
    )


def test_no_result():
    def f(x):
        x * x

    assert text_of(TypeError, cv.grad(f), 1.0) == (
        f"Gradient only defined for scalar-output functions. [grad] {name(f)} returned None. "
        "Does it lack a return statement?"
    )


def test_results_of_other_dtypes():
    def integer(x):
        return 1

    def complex_(x):
        return x * 1j

    assert text_of(TypeError, cv.grad(integer), 1.0) == (
        "[grad] grad requires real-valued outputs (output dtype that is a sub-dtype of "
        f"np.floating), but got int32 from {name(integer)}. Its derivative is zero everywhere; "
        "convert the result to a floating-point dtype."
    )
    for transform in ("grad", "jacrev"):
        assert text_of(TypeError, getattr(cv, transform)(complex_), 1.0) == (
            f"[{transform}] {transform} requires real-valued outputs (output dtype that is a "
            f"sub-dtype of np.floating), but got complex64 from {name(complex_)}. Pass "
            "holomorphic=True if the function is holomorphic; otherwise take the derivative of "
            "a real part, or use vjp, which takes a complex cotangent."
        )


def test_real_results_of_a_holomorphic_function():
    def f(z):
        return jnp.abs(z)

    assert text_of(TypeError, cv.grad(f, holomorphic=True), 1j) == (
        "[grad] grad with holomorphic=True requires outputs with complex dtype, but got "
        f"float32 from {name(f)}. A real function of a complex variable is holomorphic only if "
        "it is constant: leave holomorphic out."
    )


@pytest.mark.parametrize(
    "result, found",
    [
        (lambda x: x, "a single array of type float32[2]"),
        (lambda x: (x, 1, 2), "a tuple of length 3"),
        (lambda x: "text", "a single str"),
    ],
)
def test_no_aux(result, found):
    text = text_of(TypeError, cv.vjp, result, jnp.ones(2), has_aux=True)
    assert text == (
        f"[vjp] with has_aux=True, {name(result)} must return a two-element tuple (result, "
        f"auxiliary objects), but it returned {found}."
    )


def test_results_that_are_no_arrays():
    def f(x):
        return {"x": [x, object]}

    assert text_of(TypeError, cv.vjp, f, 1.0) == (
        f"[vjp] {name(f)} returned <class 'object'> of type type at ['x'][1], which is not a "
        "valid JAX type. Return arrays only, or, with has_aux=True, a pair whose second item may "
        "hold other objects."
    )


# ---------------------------------------------------------------- tangents


def test_jvp_of_bare_values():
    assert text_of(TypeError, cv.jvp, identity, 1.0, (1.0,)) == (
        "[jvp] primal and tangent arguments to jax.jvp must be tuples or lists; found float "
        "and tuple. They have one item for each argument of the function: for one, write "
        "`jvp(f, (x,), (t,))`."
    )


def test_jvp_with_trees_that_differ():
    assert text_of(TypeError, cv.jvp, loss, ({"w": 1.0},), ({"v": 1.0},)) == (
        "[jvp] primal and tangent arguments to jax.jvp must have the same tree structure. At "
        "[0], the primals have a dict with the keys 'w', and the tangents a dict with the keys "
        "'v'."
    )


def test_jvp_with_types_that_differ():
    def jvp(kind, primal, tangent):
        return text_of(kind, cv.jvp, loss, ({"w": primal},), ({"w": tangent},))

    assert jvp(ValueError, jnp.ones(2), jnp.ones(3)) == (
        "[jvp] jvp called with different primal and tangent shapes: the argument params['w'] is of "
        "type float32[2], but its tangent is of type float32[3]. A tangent has the shape of its "
        "primal, here (2,)."
    )
    start = (
        "[jvp] primal and tangent arguments to jax.jvp do not match: the argument params['w'] is "
        "of type"
    )
    assert jvp(TypeError, jnp.ones(2), jnp.ones(2, "float16")) == (
        f"{start} float32[2], but its tangent is of type float16[2]. A tangent has the dtype of "
        "its primal, here float32."
    )
    assert jvp(TypeError, jnp.arange(2), jnp.arange(2)) == (
        f"{start} int32[2], but its tangent is of type int32[2]. In integers and booleans nothing "
        "varies: their tangent has dtype float0, as `numpy.zeros((2,), covector.dtypes.float0)`."
    )
    assert jvp(TypeError, 1.0, np.zeros((), float0)) == (
        f"{start} ~float32[], but its tangent is of type float0[]. A tangent has the dtype of its "
        "primal, here float32."
    )


def test_pushforwards():
    _, pushforward = cv.linearize(loss, {"w": jnp.ones(2)})
    assert text_of(TypeError, pushforward, {"w": jnp.ones(2)}, 1.0) == (
        "[linearize] primal and tangent arguments to jax.linearize must have the same tree "
        "structure. At the root, the primals have a tuple of length 1, and the tangents a "
        "tuple of length 2."
    )
    assert text_of(ValueError, pushforward, {"w": jnp.ones(3)}) == (
        "[linearize] linearized function called on tangent values inconsistent with the "
        "original primal values: the argument args[0]['w'] is of type float32[2], but its "
        "tangent is of type float32[3]. A tangent has the shape of its primal, here (2,)."
    )


# ---------------------------------------------------------------- cotangents


def pair(x):
    return {"a": x, "n": 3}


def test_tuples_and_lists_of_tangents():
    text = text_of(TypeError, cv.jvp, lambda x: x, (1.0,), [1.0])
    assert text.startswith("[jvp] primal and tangent arguments to jax.jvp must have the same tree")
    assert "a tuple of length 1" in text and "a list of length 1" in text
    assert cv.jvp(lambda x: x, [1.0], [2.0]) == (1.0, 2.0)


def test_cotangents():
    _, pullback = cv.vjp(pair, jnp.ones(2))
    zero = np.zeros((), float0)
    assert text_of(ValueError, pullback, (jnp.ones(2), zero)) == (
        "[vjp] unexpected tree structure: the cotangent tree does not match that of the "
        f"function's results. At the root, {name(pair)} returned a dict with the keys 'a', 'n', "
        "and the cotangents have a tuple of length 2."
    )
    assert text_of(ValueError, pullback, {"a": jnp.ones(3), "n": zero}) == (
        "[vjp] unexpected JAX type: the cotangent type does not match that of the result it is "
        "for. The cotangent at ['a'] is float32[3], where "
        f"{name(pair)} returned float32[2]. It must be of type float32[2]."
    )
    assert text_of(ValueError, pullback, {"a": jnp.ones(2), "n": jnp.ones(2)}) == (
        "[vjp] unexpected JAX type: the cotangent type does not match that of the result it is "
        "for. The cotangent at ['n'] is float32[2], where "
        f"{name(pair)} returned ~int32[]. It must be of type float0[], as no "
        "result that is an integer or boolean varies."
    )
    assert text_of(TypeError, pullback, jnp.ones(2), zero) == (
        "[vjp] the pullback applied to pair was called with 2 arguments, but it takes one: the "
        "cotangent of the function's result, in the same containers. Of a function that "
        "returns a tuple it takes a tuple, `pullback((ct0, ct1))`."
    )


# ---------------------------------------------------------------- linear_transpose


def test_linear_transpose_of_mixed_dtypes():
    def f(n):
        return 2.0 * n

    assert text_of(TypeError, cv.linear_transpose, f, jnp.arange(3)) == (
        "[linear_transpose] linear_transpose only supports functions that take and return "
        "either floating-point and complex numbers, or integers; this one takes int32 and "
        "returns float32."
    )


def test_cotangents_of_linear_transpose():
    transpose = cv.linear_transpose(lambda x: [x, x], 1.0)
    assert text_of(TypeError, transpose, 1.0).startswith(
        "[linear_transpose] unexpected tree structure: the cotangent tree does not match that "
        "of the function's results. At the root, <lambda> ("
    )
    double = cv.linear_transpose(identity, 1.0)
    assert text_of(TypeError, double, 1j) == (
        "[linear_transpose] unexpected JAX type: the cotangent type does not match that of the "
        "result it is for. The cotangent is ~complex64[], where "
        f"{name(identity)} returned ~float32[]. It must be of type ~float32[]."
    )


def test_functions_that_are_not_linear():
    def square(x):
        return x * x

    def sine(x):
        return jnp.sin(3 * x)

    def place(fun):
        return f"{__file__}:{fun.__code__.co_firstlineno + 1}:15 ({fun.__qualname__})"

    assert text_of(NotImplementedError, cv.linear_transpose(square, 1.0), 1.0) == (
        f"[linear_transpose] {name(square)} is not linear: it applies `mul` at "
        f"{place(square)} to values that depend on its argument. Compute that part "
        "outside of the function, or use vjp."
    )
    assert text_of(NotImplementedError, cv.linear_transpose(sine, 1.0), 1.0) == (
        "Transpose rule (for reverse-mode differentiation) for 'sin' not implemented\n"
        f"[linear_transpose] {name(sine)} is not linear: it applies `sin` at "
        f"{place(sine)} to values that depend on its argument. Compute that "
        "part outside of the function, or use vjp."
    )
