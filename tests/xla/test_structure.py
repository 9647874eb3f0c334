"""Jaxprs that say the same become one function of the program; those that differ do not."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

X = np.linspace(-1, 1, 6).astype(np.float32)


def functions(fun, *args):
    """How many functions the program of `fun` has besides its entry."""
    return cv.jit(fun).lower(*args).as_text().count("func.func private")


def layer(factor=2.0):
    """A jitted function made anew, of a jaxpr that is no other's."""

    @cv.jit
    def block(x):
        return factor * x / (1 + x * x)

    return block


def network(x):
    for _ in range(5):
        x = layer()(x)
    return x


def by_hand(x):
    for _ in range(5):
        x = 2 * x / (1 + x * x)
    return x


def test_layers_made_in_a_loop_are_one_function():
    assert functions(network, X) == 1
    np.testing.assert_allclose(cv.jit(network)(X), by_hand(X), rtol=1e-5)


def test_so_are_those_of_derivatives_and_batches():
    one = functions(cv.grad(lambda x: layer()(layer()(x)).sum()), X)
    assert functions(cv.grad(lambda x: network(x).sum()), X) == one
    assert functions(cv.vmap(network), np.stack([X, X])) == 1
    step = 1e-3
    slope = (by_hand(X.astype(float) + step) - by_hand(X.astype(float) - step)) / (2 * step)
    got = cv.jit(cv.grad(lambda x: network(x).sum()))(X)
    np.testing.assert_allclose(got, slope, rtol=1e-2, atol=1e-3)


def test_functions_that_call_functions():
    def outer():
        return cv.jit(lambda x: layer()(x) + layer()(x))

    assert functions(lambda x: outer()(x) * outer()(x), X) == 2


def test_constants_are_arguments_of_one_function():
    small, large = np.arange(6, dtype=np.float32), np.ones((50, 6), np.float32)

    def times(a):
        return cv.jit(lambda x: (a * x).sum())

    def f(x):
        return times(small)(x), times(2 * small)(x), times(large)(x), times(3 * large)(x)

    assert functions(f, X) == 2
    want = [(small * X).sum(), 2 * (small * X).sum(), 50 * X.sum(), 150 * X.sum()]
    np.testing.assert_allclose(cv.jit(f)(X), want, rtol=1e-4, atol=1e-4)


def both(make, first, second):
    return lambda x: (make(first)(x), make(second)(x))


def scaled(factor):
    return cv.jit(lambda x: x * factor)


def clamped(limit):
    return cv.jit(lambda x: cv.lax.reduce_precision(x, 8, limit))


def summed(axis):
    return cv.jit(lambda x: jnp.sum(jnp.stack([x, x]), axis=axis).sum())


def converted(dtype):
    return cv.jit(lambda x: x.astype(dtype).sum())


def looped(count):
    return cv.jit(lambda x: cv.lax.fori_loop(0, count, lambda i, x: x * 2, x))


def called(function):
    result = cv.ShapeDtypeStruct(X.shape, X.dtype)
    return cv.jit(lambda x: cv.pure_callback(function, result, x))


def placed(order):
    return cv.jit(lambda x: (x - x[0]) if order else (x[0] - x))


DIFFERENT = [
    (scaled, 1.0, 2.0),
    (scaled, 0.0, -0.0),
    (scaled, np.float32("nan"), np.float32("inf")),
    (clamped, 10, 11),
    (summed, 0, 1),
    (converted, "int32", "bfloat16"),
    (looped, 3, 4),
    (called, lambda x: x + 1, lambda x: x + 2),
    (placed, False, True),
]


@pytest.mark.parametrize(("make", "first", "second"), DIFFERENT)
def test_what_differs_stays_apart(make, first, second):
    together = cv.jit(both(make, first, second))(X)
    for got, one in zip(together, (first, second)):
        alone = make(one)(X)
        np.testing.assert_array_equal(got, alone)
        if isinstance(one, float) and one == 0:
            np.testing.assert_array_equal(np.signbit(got), np.signbit(alone))
    same = functions(both(make, first, first), X)
    assert functions(both(make, first, second), X) > same


def test_names_are_kept():
    @cv.jit
    def first(x):
        return x + 1

    @cv.jit
    def second(x):
        return x + 1

    text = cv.jit(lambda x: first(x) * second(x)).lower(X).as_text()
    assert "@first(" in text and "@second(" in text


def test_effects_happen_as_often_as_they_are_called(capsys):
    def shout(word):
        return cv.jit(lambda x: (cv.debug.print(word + " {}", x[0], ordered=True), x)[1])

    cv.jit(lambda x: shout("a")(shout("b")(shout("a")(x))))(jnp.ones(2))
    cv.effects_barrier()
    assert capsys.readouterr().out.split() == ["a", "1.0", "b", "1.0", "a", "1.0"]
