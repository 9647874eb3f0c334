"""`lax.reduce`: reductions with a function of the user's, against JAX 0.10.2."""

import re

import numpy as np
import pytest

import covector
from covector import lax
from tests.ops.structural import assert_same, check_error

X = (np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 9) / 7
N = np.arange(12, dtype=np.int32).reshape(3, 4)
ONE, ZERO = np.float32(1), np.float32(0)


def product(m, a, b):
    return m.lax.mul(a, b)


def later(m, a, b):
    """The larger of two numbers, with its companion."""
    take = m.lax.gt(b[0], a[0])
    return m.lax.select(take, b[0], a[0]), m.lax.select(take, b[1], a[1])


def with_index(m, x):
    index = m.lax.broadcasted_iota(np.int32, x.shape, 1)
    init = (np.float32(-np.inf), np.int32(0))
    return m.lax.reduce((x, index), init, lambda a, b: later(m, a, b), (1,))


def tree(m, x):
    def combine(a, b):
        return {"sum": m.lax.add(a["sum"], b["sum"]), "max": m.lax.max(a["max"], b["max"])}

    init = {"sum": ZERO, "max": np.float32(-np.inf)}
    return list(m.lax.reduce({"sum": x, "max": x}, init, combine, (0, 2)).values())


def reduced(m, x, axes=(1,)):
    return m.lax.reduce(x, ONE, lambda a, b: product(m, a, b), axes)


def squared(m, x):
    y = reduced(m, x, (0, 1))
    return m.lax.reduce_sum(m.lax.mul(y, y), (0,))


PROGRAMS = {
    "product": lambda m: lambda x: reduced(m, x),
    "product of all": lambda m: lambda x: reduced(m, x, (2, 0, 1)),
    "two operands": lambda m: lambda x: with_index(m, x),
    "a tree": lambda m: lambda x: tree(m, x),
    "weak type": lambda m: (
        lambda x: m.lax.reduce(m.lax.broadcast(2.0, (3,)), 1.0, lambda a, b: product(m, a, b), (0,))
    ),
    "gradient": lambda m: m.grad(lambda x: squared(m, x)),
    "derivative": lambda m: lambda x: m.jvp(lambda x: reduced(m, x), (x,), (x,)),
    "second derivative": lambda m: lambda x: m.jvp(m.grad(lambda x: squared(m, x)), (x,), (x,)),
    "batch": lambda m: m.vmap(lambda x: reduced(m, x, (0,)), 2),
    "batch of two operands": lambda m: m.vmap(lambda x: with_index(m, x), 1),
    "add": lambda m: lambda x: m.lax.reduce(x, ZERO, m.lax.add, (0,)),
    "mul": lambda m: lambda x: m.lax.reduce(x, ONE, m.lax.mul, (1, 0)),
    "max": lambda m: lambda x: m.lax.reduce(x, -np.inf, m.lax.max, (1,)),
    "min": lambda m: lambda x: m.lax.reduce(x, np.float32(np.inf), m.lax.min, ()),
    "and": lambda m: lambda x: m.lax.reduce(N, np.int32(-1), m.lax.bitwise_and, (0,)),
    "or": lambda m: lambda x: m.lax.reduce(N, np.int32(0), m.lax.bitwise_or, (0,)),
    "xor": lambda m: lambda x: m.lax.reduce(N > 5, False, m.lax.bitwise_xor, (1,)),
    "add of weakly typed": lambda m: (
        lambda x: m.lax.reduce(m.lax.broadcast(2.0, (3,)), 0.0, m.lax.add, (0,))
    ),
    "max from another number": lambda m: lambda x: m.lax.reduce(x, ZERO, m.lax.max, (1,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(jax, name):
    assert_same(*[m.jit(PROGRAMS[name](m))(X) for m in (covector, jax)], 1e-4)


@pytest.mark.parametrize("name", PROGRAMS)
def test_reference(name):
    with covector.reference_mode():
        plain = PROGRAMS[name](covector)(X)
    assert_same(PROGRAMS[name](covector)(X), plain, 1e-4)


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(jax, name):
    def text(m):
        printed = re.sub(r"np\.int64\((-?\d+)\)", r"\1", str(m.make_jaxpr(PROGRAMS[name](m))(X)))
        printed = re.sub(r"<function .*?>( at 0x\w*>)?", "<function>", printed)
        return re.sub(r"(?<=\[) | (?=\])", "", re.sub(r"\s+", " ", printed))

    assert text(covector) == text(jax)


def test_initial_values_may_be_batched():
    """JAX has no rule for this."""
    ones = np.ones(2, np.float32)
    got = covector.vmap(lambda x, one: lax.reduce(x, one, lambda a, b: lax.mul(a, b), (0,)))(
        X, ones
    )
    np.testing.assert_allclose(got, X.prod(1), rtol=1e-6)


def test_computation_is_staged_once():
    calls = []

    def combine(a, b):
        calls.append(a)
        return lax.mul(a, b)

    for _ in range(3):
        lax.reduce(X, ONE, combine, (0,))
    assert len(calls) == 1


ERRORS = {
    "trees": (
        lambda lax: lax.reduce([X], ZERO, lax.add, (0,)),
        ValueError,
        ["Operands must have the same tree structure as init_values", "PyTreeDef([*])"],
    ),
    "initial value that is no scalar": (
        lambda lax: lax.reduce(X, np.zeros(2, np.float32), lambda a, b: a, (0,)),
        ValueError,
        ["reduce found non-scalar initial value", "(2,)"],
    ),
    "dtypes": (
        lambda lax: lax.reduce(X, np.int32(0), lambda a, b: a, (0,)),
        TypeError,
        ["initial value must have the dtype of its operand", "float32[2,3,4]", "int32[]"],
    ),
    "shapes": (
        lambda lax: lax.reduce((X, X[0]), (ZERO, ZERO), lambda a, b: a, (0,)),
        ValueError,
        ["must have one shape", "(2, 3, 4), (3, 4)"],
    ),
    "axis named twice": (
        lambda lax: lax.reduce(X, ZERO, lambda a, b: a, (0, 0)),
        ValueError,
        ["duplicate value in 'axes' of reduction: (0, 0)"],
    ),
    "axis out of bounds": (
        lambda lax: lax.reduce(X, ZERO, lambda a, b: a, (-1,)),
        ValueError,
        ["reduce: reduction axes (-1,)", "float32[2,3,4]"],
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(jax, name):
    call, *expected = ERRORS[name]
    check_error(lambda: call(lax), *expected)
    with pytest.raises(expected[0]):
        call(jax.lax)


def test_own_errors():
    check_error(
        lambda: lax.reduce(X, ZERO, lambda a, b: lax.gt(a, b), (0,)),
        TypeError,
        ["The computation must return what it takes", "float32[] twice, but returns bool[]"],
    )
    check_error(
        lambda: covector.jit(lambda y: lax.reduce(X, ZERO, lambda a, b: lax.add(a, y), (0,)))(1.0),
        NotImplementedError,
        ["uses a traced value from outside itself", "float32[]"],
    )
    check_error(
        lambda: covector.grad(lambda y: lax.reduce(X, y, lambda a, b: lax.add(a, b), (0, 1, 2)))(
            0.0
        ),
        NotImplementedError,
        ["with respect to init_values"],
    )
