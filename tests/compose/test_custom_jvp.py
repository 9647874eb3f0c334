"""custom_jvp: its rule under every transformation, against JAX and against mathematics."""

from functools import partial

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.custom_derivatives import SymbolicZero

X = np.array([0.5, -1.0, 2.0], np.float32)


def log1pexp(m):
    """log(1 + e^x) with the accurate derivative."""

    @m.custom_jvp
    def f(x):
        return m.numpy.log1p(m.numpy.exp(x))

    @f.defjvp
    def f_jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), t / (1 + m.numpy.exp(-x))

    return f


def tripled(m):
    """sin(x) * y whose rule, wrong on purpose, gives three times the derivative."""

    @m.custom_jvp
    def f(x, y):
        return {"out": m.numpy.sin(x) * y, "y": y}

    @f.defjvp
    def f_jvp(primals, tangents):
        (x, y), (tx, ty) = primals, tangents
        slope = m.numpy.cos(x) * tx * y + m.numpy.sin(x) * ty
        return f(x, y), {"out": 3 * slope, "y": 3 * ty}

    return f


PROGRAMS = {
    "value": lambda m: log1pexp(m)(X),
    "jit": lambda m: m.jit(log1pexp(m))(X),
    "grad": lambda m: m.grad(lambda x: log1pexp(m)(x).sum())(X),
    "second derivative": lambda m: m.vmap(m.grad(m.grad(log1pexp(m))))(X),
    "jit of grad of jit": lambda m: m.jit(m.grad(lambda x: m.jit(log1pexp(m))(x).sum()))(X),
    "jvp": lambda m: m.jvp(tripled(m), (X, X), (X, X)),
    "jvp in one argument": lambda m: m.jvp(lambda x: tripled(m)(x, X), (X,), (X,)),
    "vjp": lambda m: m.vjp(tripled(m), X, X)[1]({"out": X, "y": X}),
    "vmap": lambda m: m.vmap(tripled(m), (0, None))(X, X),
    "vmap of jvp": lambda m: m.vmap(lambda x, t: m.jvp(tripled(m), (x, x), (t, t)))(X, X),
    "jvp of vmap": lambda m: m.jvp(
        m.vmap(tripled(m), (0, None)), (X, np.float32(2)), (X, np.float32(1))
    ),
    "vmap with one output the same": lambda m: m.vmap(
        lambda x: tripled(m)(x, 2.0), out_axes={"out": 0, "y": None}
    )(X),
    "jacfwd": lambda m: m.jacfwd(log1pexp(m))(X),
    "jacrev of vmap": lambda m: m.jacrev(m.vmap(log1pexp(m)))(X),
    "hessian": lambda m: m.hessian(lambda x: log1pexp(m)(x).sum())(X),
    "scan": lambda m: m.grad(
        lambda x: m.lax.scan(lambda c, a: (log1pexp(m)(c) * a, c), x, X)[0]
    )(np.float32(0.3)),
    "cond": lambda m: m.grad(
        lambda x: m.lax.cond(x > 0, log1pexp(m), lambda x: x, x)
    )(np.float32(0.3)),
    "while": lambda m: m.jvp(
        lambda x: m.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, log1pexp(m)(c[1])),
                                   (0, x)),
        (np.float32(0.3),), (np.float32(1),),
    ),
    "linearize": lambda m: m.linearize(log1pexp(m), X)[1](X),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_jax(name, same_as_jax):
    # JAX has no constants that are arrays of NumPy in rules within a program.
    same_as_jax(PROGRAMS[name], in_one=False)


def test_python_control_flow_in_function_and_rule():
    @cv.custom_jvp
    def f(x):
        return x if x > 0 else 0 * x

    @f.defjvp
    def f_jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), 7 * t if x > 0 else 5 * t

    assert cv.grad(f)(2.0) == 7 and cv.grad(f)(-2.0) == 5


def test_one_rule_for_each_argument():
    f = cv.custom_jvp(lambda x, y, z: x * y + z)
    f.defjvps(lambda t, out, x, y, z: 2 * t * y, None, lambda t, out, x, y, z: t + 0 * out)
    assert cv.grad(f, (0, 1, 2))(2.0, 3.0, 4.0) == (6.0, 0.0, 1.0)


def test_keywords_and_defaults():
    @cv.custom_jvp
    def f(x, y=3.0):
        return x * y

    f.defjvp(lambda p, t: (f(*p), 10 * t[0] * p[1] + t[1] * p[0]))
    assert cv.grad(f)(2.0) == 30
    assert cv.grad(lambda x: f(y=x, x=2.0))(5.0) == 2


@pytest.mark.parametrize("jitted", [False, True])
def test_functions_and_arrays_that_are_not_differentiated(jitted):
    @partial(cv.custom_jvp, nondiff_argnums=(0, 2))
    def apply(fun, x, scale):
        return fun(x) * scale

    @apply.defjvp
    def apply_jvp(fun, scale, primals, tangents):
        (x,), (t,) = primals, tangents
        return apply(fun, x, scale), 2 * cv.jvp(fun, (x,), (t,))[1] * scale

    def loss(x, scale):
        return apply(jnp.sin, x, scale).sum()

    grad = cv.jit(cv.grad(loss)) if jitted else cv.grad(loss)
    np.testing.assert_allclose(grad(X, X), 2 * np.cos(X) * X, rtol=1e-6)
    batched = cv.vmap(cv.grad(loss), (None, 0))(X, np.stack([X, 2 * X]))
    np.testing.assert_allclose(batched, 2 * np.cos(X) * np.stack([X, 2 * X]), rtol=1e-6)


def test_derivative_in_what_is_closed_over_is_refused_where_the_rule_is_asked():
    @cv.jit
    def outer(x):
        f = cv.custom_jvp(lambda y: x * y)
        f.defjvp(lambda p, t: (f(*p), t[0]))
        return f(2 * x)

    with pytest.raises(cv.errors.UnexpectedTracerError, match=r"closes over.*ordinary argument"):
        cv.grad(outer)(1.0)


def test_symbolic_zeros():
    seen = []

    @cv.custom_jvp
    def f(x, y):
        return x * y, y

    def f_jvp(primals, tangents):
        seen.append([type(t) is SymbolicZero for t in tangents])
        (x, y), (tx, _) = primals, tangents
        return f(x, y), (tx * y, SymbolicZero.from_primal_value(y))

    f.defjvp(f_jvp, symbolic_zeros=True)
    assert cv.grad(lambda x: f(x, 3.0)[0])(2.0) == 3
    assert seen == [[False, True]]
    assert cv.grad(lambda x: f(x, 3.0)[1])(2.0) == 0


def test_tangents_under_vmap_are_batches_only_where_they_must_be():
    f = cv.custom_jvp(lambda x, y: (x, y))
    f.defjvp(lambda p, t: ((p[0], p[1]), (t[0], t[1])))

    def tangents(x):
        return cv.jvp(f, (x, 2.0), (x, 3.0))[1]

    of_x, of_y = cv.vmap(tangents, out_axes=(0, None))(X)
    np.testing.assert_array_equal(of_x, X)
    assert of_y == 3


def test_a_rule_that_makes_a_batch_of_what_the_function_does_not():
    f = cv.custom_jvp(lambda x, y: (x, y))
    f.defjvp(lambda p, t: ((p[0], p[1]), (t[0], t[1] + t[0])))
    g = cv.jit(lambda x: cv.vmap(lambda x: f(x, 2.0)[1], out_axes=None)(x))
    with pytest.raises(TypeError, match="differ between the examples of a batch"):
        cv.jvp(g, (X,), (X,))


def test_integers_have_float0_tangents():
    @cv.custom_jvp
    def f(x, n):
        return x**2, n + 1

    @f.defjvp
    def f_jvp(primals, tangents):
        assert tangents[1].dtype == cv.float0
        return f(*primals), (2 * primals[0] * tangents[0], np.zeros((), cv.float0))

    assert cv.grad(lambda x: f(x, 3)[0])(2.0) == 4
    assert cv.jit(cv.grad(lambda x: f(x, 3)[0]))(2.0) == 4


def test_a_rule_that_calls_a_custom_vjp_on_the_tangent():
    double = cv.custom_vjp(lambda x: 2 * x)
    double.defvjp(lambda x: (2 * x, None), lambda _, ct: (2 * ct,))
    square = cv.custom_jvp(lambda x: x * x)
    square.defjvp(lambda p, t: (square(*p), p[0] * double(t[0])))
    for f in (square, cv.jit(square)):
        assert cv.jvp(f, (3.0,), (1.0,))[1] == 6 and cv.grad(f)(3.0) == 6


def with_rule(rule):
    f = cv.custom_jvp(lambda x: {"a": x})
    f.defjvp(rule)
    return f


MISTAKES = {
    "no pair": (lambda p, t: t[0], TypeError, r"rule <lambda> for function <lambda> returned 1\.0"),
    "other structures": (lambda p, t: ({"a": p[0]}, t[0]), TypeError, r"\{'a': \*\}.*\*"),
    "other tangent": (
        lambda p, t: ({"a": p[0]}, {"a": jnp.ones(3)}),
        TypeError,
        r"tangent\['a'\] has the type float32\[3\]. Expected float32\[\]",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_of_rules_are_named(name):
    rule, error, text = MISTAKES[name]
    with pytest.raises(error, match=text):
        cv.jvp(with_rule(rule), (1.0,), (1.0,))


def test_a_rule_whose_output_is_not_the_functions():
    f = with_rule(lambda p, t: ({"a": jnp.ones(3)}, {"a": jnp.ones(3)}))
    with pytest.raises(TypeError, match=r"the function itself returns"):
        cv.jvp(cv.jit(f), (1.0,), (1.0,))


def test_calls_that_do_not_fit():
    f = cv.custom_jvp(lambda x, y: x)
    with pytest.raises(AttributeError, match="No JVP defined for custom_jvp function"):
        f(1.0, 2.0)
    f.defjvp(lambda p, t: (p[0], t[0]))
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        f(1.0)
    with pytest.raises(TypeError, match=r"str"):
        f(1.0, "a string")
