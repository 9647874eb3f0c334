"""Which values are stored: the rule itself, on jaxprs."""

import time

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.base import config
from covector._src.transforms.inline import Values, with_barriers
from covector._src.transforms.materialize import (
    COST,
    GAIN,
    SOURCES,
    choose,
    times_computed,
)
from covector._src.transforms.memory_plan import materialized
from covector._src.transforms.repetition import longest_repetition
from covector.extend.core import Primitive

X = np.linspace(-1, 1, 8, dtype=np.float32)


def stored(f, *args):
    """The names of the primitives whose results are stored, in order."""
    return [pin.eqn.primitive.name for pin in choose(Values(cv.make_jaxpr(f)(*args)))]


def dear(x, cost=2 * COST):
    """What costs as many additions."""
    for _ in range(cost):
        x = x + 1.5
    return x


# ---------------------------------------------------------------- what is stored


def test_a_value_that_is_read_at_different_indices():
    assert stored(lambda x: dear(x) * dear(x)[::-1], X) == []  # two values, each read once

    def f(x):
        y = dear(x)
        return y + y[0]

    assert stored(f, X) == ["add"]


def test_a_value_that_is_read_at_one_index_is_not():
    def f(x):
        y = dear(x)
        return y * jnp.cos(y) + y

    assert stored(f, X) == []

    def g(x):  # the same index in another order
        y = dear(x)
        return y.T * 2 + jnp.cos(y.T)

    assert stored(g, np.ones((2, 3), np.float32)) == []


def test_a_value_of_two_loops():
    def f(x):
        y = dear(x)
        return y * 2, jnp.cos(y)

    assert stored(f, X) == ["add"]


def test_a_cheap_value_is_not():
    def f(x):
        y = x + 1.5
        return y + y[0], y[::-1]

    assert stored(f, X) == []


def test_what_the_compiler_stores_itself_is_not():
    def f(x):
        y = jnp.exp(dear(x))
        return y + y[0]

    assert stored(f, X) == []


def test_copies_of_what_is_smaller_are_not():
    def f(x):
        y = jnp.broadcast_to(dear(x), (3, 8))
        return y * 2, y[::-1] + y

    assert stored(f, X) == []


def test_single_numbers_must_be_computed_often():
    def f(x, times):
        y = dear(x)
        return [y * (2.0 + i) for i in range(times)]

    assert stored(lambda x: f(x, 2), X) == ["add"]
    assert stored(lambda x: f(x, 2), X[0]) == []
    assert stored(lambda x: f(x, 2 + GAIN // (2 * COST)), X[0]) == ["add"]


def test_what_is_computed_from_copies_of_one_number_is_not():
    def f(x, number):
        y = dear(jnp.broadcast_to(number, (8,)))
        return y * x, y[::-1] + y

    assert stored(lambda x: f(x, x[0]), X) == []
    assert stored(lambda x: f(x, 2.5), X) == []
    assert stored(lambda x: f(x, x), X) == ["add"]


@pytest.mark.parametrize(
    ("op", "loops"),
    [
        (lambda y: jnp.exp(y), 1),
        (lambda y: y / 3.5, 1),
        (lambda y: jnp.exp(y)[:1], 2),  # not computed anew for each of its copies
        (lambda y: (y + 1) / y, 2),  # of two arrays, and read twice
    ],
)
def test_costly_values_that_are_read_in_one_loop(op, loops):
    """Some have a loop of their own, so that what they are computed from is computed twice."""

    def f(x):
        y = dear(x)
        z = op(y)
        return x * z + z + y

    assert stored(f, X) == ["add"] * (loops - 1)
    with config.materialization(False):
        text = cv.jit(f).lower(X).compile().as_text()
    assert text[text.index("ENTRY") :].count(" fusion(") == loops


def test_large_values_must_be_computed_three_times():
    def f(x, times):
        y = dear(x)
        return [y[i:] for i in range(1, times + 1)]

    small, large = np.zeros(2**15, np.float32), np.zeros(2**16, np.float32)
    assert stored(lambda x: f(x, 2), small) == ["add"]
    assert stored(lambda x: f(x, 2), large) == []
    assert stored(lambda x: f(x, 3), large) == ["add"]


def test_costs_count_from_the_last_stored_value():
    def f(x):
        y = dear(x)
        z = y + y[0]  # as often as y, but cheap once that is stored
        return z + z[0]

    assert stored(f, X) == ["add"]


def test_what_is_read_from_memory_counts():
    w = np.eye(8, dtype=np.float32)

    def f(x, turns, shift):
        for _ in range(turns):
            x = x + shift(x) @ w
        return x

    jaxpr = cv.make_jaxpr(lambda x: f(x, 12, lambda x: x - x.mean(1, keepdims=True)))(w)
    eqns = [pin.eqn for pin in choose(Values(jaxpr))]
    places = [jaxpr.jaxpr.eqns.index(eqn) for eqn in eqns]
    assert {eqn.primitive.name for eqn in eqns} == {"add"} and len(eqns) > 2
    assert len(set(np.diff(places))) == 1  # at the same place in layers, so that these are alike
    # What is smaller stays at hand.
    assert stored(lambda x: f(x, 2, jnp.sin), w) == []
    few = [np.full((1, 8), i, np.float32) for i in range(14)]

    def g(x, others):
        for y in others:
            x = x + y
        return x[::-1], jnp.cos(x * 2)

    assert stored(lambda x: g(x, few), w) == []
    assert stored(lambda x: g(x, [jnp.tile(y, (8, 1)) @ w for y in few]), w) == ["add"]


def test_the_count_of_computations_doubles_with_each_step():
    def f(x):
        for _ in range(3):
            x = jnp.sin(x) + x[0]
        return x

    values = Values(cv.make_jaxpr(f)(X))
    times = [
        count
        for count, eqn in zip(times_computed(values), values.eqns)
        if eqn is not None and eqn.primitive.name == "sin"
    ]
    assert times == [4, 2, 1]


# ---------------------------------------------------------------- what never is


def test_unused_values_tokens_keys_and_empty_arrays():
    def f(x, key, empty):
        y = dear(x)
        y[0] + y[1:].sum()  # nobody reads this
        token = lax.create_token()
        key = cv.random.wrap_key_data(dear(cv.random.key_data(key).astype(float)).astype("uint32"))
        nothing = dear(empty)
        return y, (token, token), (key, key), nothing + nothing[:, ::-1]

    assert stored(f, X, cv.random.key(0), np.zeros((0, 3), np.float32)) == []


def test_primitives_of_users_are_boundaries():
    mine = Primitive("mine")
    mine.def_abstract_eval(lambda x: x)
    jaxpr = cv.make_jaxpr(lambda x: mine.bind(dear(x)) + mine.bind(dear(x))[0])(X)
    assert choose(Values(jaxpr)) == []
    shared = cv.make_jaxpr(lambda x: (lambda y: (mine.bind(y), y[0] + mine.bind(y)))(dear(x)))(X)
    assert len(choose(Values(shared))) == 1


def test_programs_with_nothing_to_store_are_the_same_object():
    jaxpr = cv.make_jaxpr(lambda x: jnp.tanh(x) * 2)(X)
    assert materialized(jaxpr) is jaxpr


# ---------------------------------------------------------------- calls


def test_values_within_calls_are_seen_from_outside():
    twice = cv.jit(lambda x: (x[1:], x[:-1]))

    def f(x):
        return twice(dear(x))

    assert stored(f, X) == ["add"]
    assert stored(lambda x: cv.jit(dear)(x), X) == []
    first = cv.jit(dear)
    assert stored(lambda x: (first(x)[0], first(x)[1:]), X) == []  # two calls, two values


def with_jvp_rule(f):
    f = cv.custom_jvp(f)
    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
    return f


def with_vjp_rule(f):
    f = cv.custom_vjp(f)
    f.defvjp(lambda x: (f(x), None), lambda _, ct: (ct,))
    return f


@pytest.mark.parametrize("wrap", [cv.jit, cv.checkpoint, with_jvp_rule, with_vjp_rule])
def test_calls_are_written_out_where_something_is_stored(wrap):
    def f(x):
        y = dear(x)
        return y + y[0]

    jaxpr = cv.make_jaxpr(wrap(f))(X)
    new = materialized(jaxpr)
    names = [eqn.primitive.name for eqn in new.eqns]
    assert names.count("optimization_barrier") == 1 and jaxpr.eqns[0].primitive.name not in names
    (got,) = cv.extend.core.jaxpr_as_fun(new)(X)
    np.testing.assert_array_equal(got, f(X))


def test_a_call_of_a_call_of_what_returns_its_input_and_a_number():
    inner = cv.jit(lambda x, n: (x, 2.0, dear(x) * n))
    outer = cv.jit(lambda x: inner(x, 3.0))

    def f(x):
        same, two, y = outer(x)
        return same + two, y + y[0], outer(y)

    jaxpr = cv.make_jaxpr(f)(X)
    new = materialized(jaxpr)
    assert new is not jaxpr
    for got, want in zip(cv.extend.core.jaxpr_as_fun(new)(X), cv.tree.leaves(f(X))):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_barriers_anywhere_change_nothing():
    """Behind every value that there is, in turn."""
    inner = cv.jit(lambda x: jnp.cos(x) * 2 + x[0])
    jaxpr = cv.make_jaxpr(lambda x: jnp.split(inner(inner(x) + 1), 2))(X)
    values = Values(jaxpr)
    want = cv.extend.core.jaxpr_as_fun(jaxpr)(X)
    for number, eqn in enumerate(values.eqns):
        if eqn is not None:
            new = with_barriers(values, [number])
            assert str(new).count("optimization_barrier") == 1
            for got, wanted in zip(cv.extend.core.jaxpr_as_fun(new)(X), want):
                np.testing.assert_allclose(got, wanted, rtol=1e-6)


# ---------------------------------------------------------------- its own cost


def recurrence(x, steps):
    for i in range(steps):
        x = jnp.sin(x) * 1.01 + x[i % 8] + x[::-1]
    return x


def test_it_takes_linear_time():
    """Ten times the program, at most twenty times the time: the sets do not grow."""

    def seconds(steps):
        values = Values(cv.make_jaxpr(lambda x: recurrence(x, steps))(X))
        best = np.inf
        for _ in range(3):
            start = time.process_time()
            assert len(choose(values)) > steps // 4
            best = min(best, time.process_time() - start)
        return best

    assert seconds(1000) < 20 * max(seconds(100), 1e-3)


def test_many_readers_are_not_told_apart():
    def f(x):
        y = dear(x, 4)
        return [y[i % 7 :] * i for i in range(4 * SOURCES)]

    values = Values(cv.make_jaxpr(f)(X))
    assert max(times_computed(values)) <= 4 * SOURCES and choose(values) == []


# ---------------------------------------------------------------- repetitions


@pytest.mark.parametrize("steps", [3, 50])
def test_the_longest_repetition(steps):
    def f(x):
        x = jnp.cos(x) * 3
        for _ in range(steps):
            x = jnp.sin(x) * 1.01 + jnp.tanh(x)[::-1]
        return jnp.exp(x).sum()

    jaxpr = cv.make_jaxpr(f)(X)
    found = longest_repetition(Values(jaxpr))
    names = [eqn.primitive.name for eqn in found.eqns]
    assert sorted(names) == ["add", "mul", "rev", "sin", "tanh"] and found.times == steps
    assert found.saved == 5 * (steps - 1)


def test_nothing_repeats():
    assert longest_repetition(Values(cv.make_jaxpr(lambda x: jnp.sin(x) + x[0])(X))) is None
    assert longest_repetition(Values(cv.make_jaxpr(lambda x: x)(X))) is None


# ---------------------------------------------------------------- loops and branches


def heat(u):
    for _ in range(4):
        u = u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 4 * u)
    return u


def barriers_after(f, *args):
    return str(materialized(cv.make_jaxpr(f)(*args))).count("optimization_barrier")


def test_much_work_in_a_loop_is_saved():
    def f(u):
        return lax.scan(lambda u, _: (heat(u), u.sum()), u, None, length=5)

    def g(u):
        return lax.while_loop(lambda u: u.sum() < 0, heat, u)

    u = np.ones((64, 64), np.float32)
    assert barriers_after(f, u) > 0 and barriers_after(g, u) > 0
    assert barriers_after(cv.jit(f), u) == barriers_after(f, u)
    u = np.random.default_rng(0).normal(size=(8, 8)).astype("float32")
    inner = cv.make_jaxpr(cv.jit(f))(u)
    got = cv.extend.core.jaxpr_as_fun(materialized(inner))(u)
    for x, want in zip(got, cv.tree.leaves(f(u))):
        np.testing.assert_allclose(x, want, rtol=1e-5, atol=1e-6)


def test_little_work_in_a_loop_is_not():
    def f(u):
        return lax.fori_loop(0, 5, lambda i, u: heat(u), u)

    assert barriers_after(f, np.ones((4, 4), np.float32)) == 0
    assert barriers_after(heat, np.ones((4, 4), np.float32)) > 0


def test_branches_are_programs_of_their_own():
    def f(u):
        return lax.cond(u[0, 0] > 0, heat, lambda u: -u, u)

    u = np.ones((4, 4), np.float32)
    assert barriers_after(f, u) == barriers_after(heat, u)
    assert barriers_after(lambda u: lax.fori_loop(0, 5, lambda i, u: f(u), u), u) == 0
