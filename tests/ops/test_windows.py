"""Reductions over windows against JAX 0.10.2 and NumPy."""

import numpy as np
import pytest

import covector
from covector import lax
from covector.extend.core import primitives
from tests.ops.windowed import assert_close, draw, same_in_jax, text

X = draw((6, 5))
NEGATIVE, POSITIVE, ZERO, ONE, NINE = map(np.float32, (-np.inf, np.inf, 0, 1, 9))

MONOIDS = {
    "sum": lambda lax: (ZERO, lax.add),
    "max": lambda lax: (NEGATIVE, lax.max),
    "min": lambda lax: (POSITIVE, lax.min),
}

# Arguments of `reduce_window` that follow the computation.
WINDOWS = {
    "plain": ((2, 2),),
    "strided, SAME": ((2, 3), (2, 1), "SAME"),
    "padded": ((2, 3), (1, 2), ((1, 0), (0, 2))),
    "dilated array": ((2, 3), (1, 1), "VALID", (2, 1)),
    "dilated window": ((2, 3), (1, 2), "SAME_LOWER", None, (2, 1)),
    "nowhere": ((7, 1),),
}


def pooled(monoid, window):
    def program(m):
        init, computation = MONOIDS[monoid](m.lax)
        return lambda x: m.lax.reduce_window(x, init, computation, *WINDOWS[window])

    return program


def gradient(monoid, window):
    def program(m):
        pool = pooled(monoid, window)(m)
        return m.grad(lambda x: m.lax.reduce_sum(pool(x) ** 3, (0, 1)))

    return program


def check(jax, program, *args):
    assert text(covector, program, args) == text(jax, program, args)
    same_in_jax(jax, program, args)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("monoid", MONOIDS)
def test_values(jax, monoid, window):
    check(jax, pooled(monoid, window), X)


# Maxima over dilated windows have no derivative in reverse mode.
DIFFERENTIABLE = [("sum", "dilated window"), ("sum", "dilated array")] + [
    (monoid, window)
    for monoid in ("sum", "max")
    for window in ("strided, SAME", "padded", "dilated array")
]


@pytest.mark.parametrize(("monoid", "window"), DIFFERENTIABLE)
def test_gradients(jax, monoid, window):
    check(jax, gradient(monoid, window), X)


@pytest.mark.parametrize("monoid", MONOIDS)
def test_tangents(jax, monoid):
    pool = pooled(monoid, "dilated window")
    check(jax, lambda m: lambda x, t: m.jvp(pool(m), (x,), (t,)), X, draw(X.shape, seed=1))


@pytest.mark.parametrize("monoid", ["sum", "min"])
def test_second_derivatives(jax, monoid):
    first = gradient(monoid, "padded")
    check(jax, lambda m: lambda x, t: m.jvp(first(m), (x,), (t,))[1], X, draw(X.shape, seed=1))
    check(jax, lambda m: m.grad(lambda x: m.lax.reduce_sum(first(m)(x) ** 2, (0, 1))), X)


def test_batches(jax):
    xs = draw((6, 3, 5))
    for monoid in MONOIDS:
        pool = pooled(monoid, "padded")
        check(jax, lambda m: m.vmap(pool(m), 1), xs)  # noqa: B023
    program = lambda m: m.vmap(gradient("max", "strided, SAME")(m), 1)  # noqa: E731
    assert text(covector, program, (xs,)) == text(jax, program, (xs,))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int32", "uint8"])
def test_dtypes(jax, dtype):
    x = draw((6, 5), dtype)
    least = np.iinfo(dtype).min if x.dtype.kind in "iu" else -np.inf

    def program(m):
        def pools(x):
            added = m.lax.reduce_window(x, np.array(0, x.dtype), m.lax.add, (2, 2), (1, 2))
            init = np.array(least, x.dtype)
            return added, m.lax.reduce_window(x, init, m.lax.max, (2, 2), (1, 2))

        return pools

    same_in_jax(jax, program, (x,), 1e-2)


def test_scalars_and_empty_arrays(jax):
    for x, window in ((np.float32(3), ()), (np.zeros((0, 3), np.float32), (1, 2))):
        for monoid in MONOIDS:
            init, computation = MONOIDS[monoid](lax)
            assert_close(
                lax.reduce_window(x, init, computation, window),
                jax.lax.reduce_window(x, init, MONOIDS[monoid](jax.lax)[1], window),
            )
    pool = lambda x: lax.reduce_window(x, NEGATIVE, lax.max, ())  # noqa: E731
    assert covector.grad(pool)(3.0) == 1


def test_ties_and_nan():
    """The first of several maxima gets the whole derivative; NaN comes through."""
    pool = lambda x: lax.reduce_window(x, NEGATIVE, lax.max, (3,), (3,))  # noqa: E731
    x = np.array([1, 2, 2, np.nan, 0, 1], np.float32)
    np.testing.assert_array_equal(pool(x), np.array([2, np.nan], np.float32))
    np.testing.assert_array_equal(covector.grad(lambda x: pool(x)[0])(x), [0, 1, 0, 0, 0, 0])


def test_average_pooling_against_numpy():
    x = draw((2, 8, 8, 3))
    out = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1)) / 4
    np.testing.assert_allclose(out, x.reshape(2, 4, 2, 4, 2, 3).mean((2, 4)), rtol=1e-5)


# ---------------------------------------------------------------- any computation


def later(lax, a, b):
    """The larger of two numbers, with its companion."""
    take = lax.ge(a[0], b[0])
    return lax.select(take, a[0], b[0]), lax.select(take, a[1], b[1])


GENERAL = {
    "product": lambda lax: lambda x: lax.reduce_window(x, ONE, lax.mul, (2, 3), (2, 1), "SAME"),
    "min, from another number": lambda lax: (
        lambda x: lax.reduce_window(x, NINE, lax.min, (2, 2), (1, 1), "VALID", (2, 1), (1, 2))
    ),
    "two operands": lambda lax: (
        lambda x: lax.reduce_window(
            (x, 2 * x), (NEGATIVE, ZERO), lambda a, b: later(lax, a, b), (2, 2)
        )
    ),
    "a tree": lambda lax: (
        lambda x: lax.reduce_window(
            {"a": x}, {"a": ONE}, lambda a, b: {"a": a["a"] * b["a"]}, (2, 2)
        )
    ),
}


@pytest.mark.parametrize("name", GENERAL)
def test_general(jax, name):
    def reduced(m):
        fun = GENERAL[name](m.lax)
        return lambda x: m.tree.leaves(fun(x))

    check(jax, reduced, X)
    check(jax, lambda m: lambda x, t: m.jvp(reduced(m), (x,), (t,)), X, draw(X.shape, seed=1))
    check(jax, lambda m: m.vmap(reduced(m), 1), draw((6, 2, 5)))


def test_general_with_batches_of_initial_values():
    """JAX has no rule for this."""
    inits = np.array([1, 2], np.float32)
    product = lambda init: lax.reduce_window(  # noqa: E731
        np.full(3, 3, np.float32), init, lambda a, b: a * b, (2,), (1,), ((1, 1),)
    )
    out = covector.vmap(product)(inits)
    np.testing.assert_allclose(out, np.stack([product(init) for init in inits]), rtol=1e-6)


def test_integers_beside_floats_have_no_tangents():
    """JAX takes only floats here."""
    index = np.arange(6, dtype=np.int32)

    def first_maxima(x):
        init = (NEGATIVE, np.int32(-1))
        return lax.reduce_window((x, index), init, lambda a, b: later(lax, a, b), (2,))

    x, t = np.array([1, 3, 2, 0, 5, 4], np.float32), np.arange(6, dtype=np.float32)
    (values, places), (tangents, _) = covector.jvp(first_maxima, (x,), (t,))
    np.testing.assert_array_equal(places, [1, 1, 2, 4, 4])
    np.testing.assert_array_equal(values, x[np.asarray(places)])
    np.testing.assert_array_equal(tangents, t[np.asarray(places)])


# ---------------------------------------------------------------- selections


def test_select_and_scatter():
    from_jax = primitives.select_and_scatter_add_p
    out = from_jax.bind(
        np.array([10, 20], np.float32),
        np.array([1, 3, 2, 0], np.float32),
        select_prim=primitives.ge_p,
        window_dimensions=(2,),
        window_strides=(2,),
        padding=((0, 0),),
    )
    np.testing.assert_array_equal(out, [0, 10, 20, 0])


ERRORS = {
    "window of size 0": (
        lambda: lax.reduce_window(np.ones(1), 0.0, lax.add, (0,), (1,)),
        TypeError,
        ["window_dimensions must have every element be", "(0,)"],
    ),
    "stride 0": (
        lambda: lax.reduce_window(np.ones(1), 0.0, lax.add, (1,), (0,)),
        TypeError,
        ["window_strides must have every element be", "(0,)"],
    ),
    "rank": (
        lambda: lax.reduce_window(X, ZERO, lax.add, (2,)),
        TypeError,
        ["window_dimensions must have one entry", "(2,)", "(6, 5)"],
    ),
    "booleans": (
        lambda: lax.reduce_window(X > 0, 0, lax.add, (2, 2)),
        TypeError,
        ["number dtype, got bool"],
    ),
    "padding": (
        lambda: lax.reduce_window(X, ZERO, lax.add, (2, 2), padding=(1, 1)),
        ValueError,
        ["padding", "got (1, 1)"],
    ),
    "trees": (
        lambda: lax.reduce_window([X], ZERO, lax.add, (2, 2)),
        ValueError,
        ["Operands must have the same tree structure as init_values"],
    ),
    "nothing": (
        lambda: lax.reduce_window((), (), lax.add, (2, 2)),
        ValueError,
        ["reduce_window must have at least one operand"],
    ),
    "result's tree": (
        lambda: lax.reduce_window(X, ZERO, lambda a, b: [a * b], (2, 2)),
        ValueError,
        ["reduce_window output must have the same tree structure as the operands"],
    ),
    "result's type": (
        lambda: lax.reduce_window(X, ZERO, lambda a, b: a > b, (2, 2)),
        TypeError,
        ["[reduce_window]", "bool"],
    ),
    "initial value that is no scalar": (
        lambda: lax.reduce_window(X, np.zeros(2, np.float32), lambda a, b: a, (2, 2)),
        TypeError,
        ["reduce_window expected init_values to be scalars", "(2,)"],
    ),
    "dtype of the initial value": (
        lambda: lax.reduce_window(X, np.int32(1), lax.mul, (2, 2)),
        TypeError,
        ["inconsistent dtypes", "float32[6,5]", "int32[]"],
    ),
    "shapes": (
        lambda: lax.reduce_window((X, X.T), (ONE, ONE), lambda a, b: a, (2, 2)),
        TypeError,
        ["one shape", "(6, 5) and (5, 6)"],
    ),
    "derivative in the initial value": (
        lambda: covector.grad(lambda v: lax.reduce_window(X, v, lax.mul, (6, 5))[0, 0])(1.0),
        NotImplementedError,
        ["init_value", "stop_gradient"],
    ),
    "dilated maximum": (
        lambda: covector.grad(lambda x: pooled("max", "dilated window")(covector)(x).sum())(X),
        NotImplementedError,
        ["dilated, here by (2, 1)"],
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, parts = ERRORS[name]
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)
