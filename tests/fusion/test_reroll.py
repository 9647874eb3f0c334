"""Loops that Python unrolled, compiled as loops: that they compute the same, and which they are."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.base import config
from covector._src.control import reroll
from covector._src.control.reroll_write import rerolled
from covector._src.core.check import check_jaxpr
from covector._src.transforms import recurrence

X = np.linspace(-1, 1, 8, dtype=np.float32)
XS = np.random.default_rng(0).normal(size=(24, 8)).astype(np.float32)


@pytest.fixture
def low_limit(monkeypatch):
    """Loops pay that save sixty operations, so that programs of tests are small."""
    monkeypatch.setattr(recurrence, "LEAST_SAVED", 60)
    monkeypatch.setattr(reroll, "LEAST_SAVED", 60)


def loops_in(f, *args):
    return cv.jit(f).lower(*args).as_text().count("stablehlo.while")


def compare(f, *args, loops=None, rtol=2e-5):
    """Compile a function, count its loops, and compare with what it gives op by op."""
    check_jaxpr(rerolled(cv.make_jaxpr(f)(*args)).jaxpr)
    lowered = cv.jit(f).lower(*args)
    found = lowered.as_text().count("stablehlo.while")
    assert found >= 2 if loops is None else found == loops
    got, wanted = cv.tree.leaves(lowered.compile()(*args)), cv.tree.leaves(f(*args))
    for x, y in zip(got, map(jnp.asarray, wanted), strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape
        if jnp.issubdtype(x.dtype, jnp.inexact):
            np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol * float(jnp.abs(y).max()))
        else:
            np.testing.assert_array_equal(x, y)


# ---------------------------------------------------------------- what is rolled up


def step(x, w):
    return jnp.sin(x) * 0.9 + w * jnp.cos(x[0]) * 0.1 + x[::-1] * 0.05


def slices_of_an_array(x, xs):
    for t in range(len(xs)):
        x = step(x, xs[t])
    return x


def backwards_over_an_array(x, xs):
    for t in reversed(range(len(xs))):
        x = step(x, xs[t])
    return x


def stacked_states(x, xs):
    states = []
    for w in xs:
        x = step(x, w)
        states.append(x)
    return jnp.stack(states)


def one_state_after_all(x, xs):
    states = [x]
    for w in xs:
        states.append(step(states[-1], w))
    return states[-1], states[7]


def a_sum_over_states(x, xs):
    total = 0.0
    for w in xs:
        x = step(x, w)
        total = total + (x**2).sum()
    return total


def states_before_the_last(x, xs):
    """A method of three steps (Adams and Bashforth's): each reads what two turns before gave."""
    f1, f2 = step(x, xs[0]), step(0.9 * x, xs[1])
    for _ in range(len(xs)):
        f0 = step(x, xs[2])
        x, f1, f2 = x + 0.01 * (23 * f0 - 16 * f1 + 5 * f2), f0, f1
    return x, f1, f2


def literals_of_each_turn(x, xs):
    for t in range(len(xs)):
        x = step(x, xs[0]) * (0.9 + 0.01 * t) - (t / 24) * x
    return x


jitted_step, kept_step = cv.jit(step), cv.checkpoint(step)


def a_jitted_step(x, xs):
    for w in xs:
        x = jitted_step(x, w)
    return jitted_step(x, x)


def a_checkpointed_step(x, xs):
    for w in xs:
        x = kept_step(x, w)
    return x


def many_arguments(x, xs):
    return slices_of_an_array(x, list(xs))


LOOPS = [
    *(slices_of_an_array, backwards_over_an_array, stacked_states, one_state_after_all),
    *(a_sum_over_states, states_before_the_last, literals_of_each_turn, a_jitted_step),
    *(a_checkpointed_step,),
]


@pytest.mark.usefixtures("low_limit")
@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_loops(f):
    compare(f, X, XS, loops=1)


@pytest.mark.usefixtures("low_limit")
@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_gradients_of_loops(f):
    """Forward and backward part are a loop each, the second over what the first stacked."""

    def total(x, xs):
        return sum([(y**2).sum() for y in cv.tree.leaves(f(x, xs))])

    # What is read of one state parts the backward loop.
    loops = 3 if f is one_state_after_all else 2
    compare(cv.value_and_grad(total), X, XS, loops=loops, rtol=2e-4)


@pytest.mark.usefixtures("low_limit")
def test_a_batch_of_loops():
    batch = np.stack([X, X[::-1], X + 1])
    compare(cv.vmap(stacked_states, in_axes=(0, None)), batch, XS, loops=1)


@pytest.mark.usefixtures("low_limit")
def test_inputs_that_no_array_holds():
    compare(many_arguments, X, list(XS), loops=1)


@pytest.mark.usefixtures("low_limit")
def test_integers_are_equal_to_the_bit():
    def mix(a):
        b = a + jnp.uint32(7)
        for i in range(40):
            a = (a + b) * jnp.uint32(2654435761 + i)
            b = ((b << 13) | (b >> 19)) ^ a
        return a, b

    compare(mix, np.arange(8, dtype=np.uint32), loops=1)


@pytest.mark.usefixtures("low_limit")
@pytest.mark.parametrize("dtype", ["float64", "complex64", "bfloat16"])
def test_other_dtypes(dtype):
    with config.enable_x64(True):
        x = jnp.asarray(X, dtype)

        def f(x):
            for _ in range(24):
                x = x * x * 0.5 + x[::-1] * 0.25 - 0.125
            return x

        compare(f, x, loops=1, rtol=0.05 if dtype == "bfloat16" else 2e-5)


@pytest.mark.usefixtures("low_limit")
def test_random_keys_as_a_state():
    def walk(key, x):
        for _ in range(16):
            key, now = cv.random.split(key)
            x = x + 0.1 * jnp.sin(x) + cv.random.uniform(now, x.shape)
        return cv.random.key_data(key), x

    with config.roll_loops(False):
        before = loops_in(walk, cv.random.key(0), X)
        plain = cv.jit(walk)(cv.random.key(0), X)
    assert loops_in(walk, cv.random.key(0), X) != before
    for x, y in zip(cv.jit(walk)(cv.random.key(0), X), plain):
        np.testing.assert_allclose(x, y, rtol=1e-5)


# ---------------------------------------------------------------- random recurrences

UNARY = [
    *(jnp.sin, jnp.cos, jnp.tanh, jnp.abs, lambda x: x[::-1], lambda x: x - x.mean()),
    *(lambda x: jnp.concatenate([x[1:], x[:1]]), lambda x: jnp.pad(x[1:-1], 1)),
    *(lambda x: x + x[0], lambda x: jnp.where(x > 0, x, 0.5 * x), lambda x: x / (1 + x * x)),
]
BINARY = [jnp.add, jnp.subtract, jnp.multiply, jnp.minimum, lambda x, y: x * y[0] + y.sum() / 8]


def random_recurrence(seed):
    """A function that repeats a step of ops drawn at random on a state of one to three arrays."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 4))
    drawn = [(rng.uniform(), int(rng.integers(100)), *rng.integers(0, 4, 2)) for _ in range(6)]
    uses_slices, uses_literals, delay = rng.integers(0, 2, 3)

    def turn(states, w, scale):
        values = list(states)
        for kind, op, i, j in drawn:
            a, b = values[-1 - i % len(values)], values[-1 - j % len(values)]
            made = UNARY[op % len(UNARY)](a) if kind < 0.5 else BINARY[op % len(BINARY)](a, b)
            values.append(jnp.clip(made, -2, 2))
        values[-1] = values[-1] * scale + w
        return values[-count:]

    def run(x, xs):
        states = [x * (i + 1) / 3 for i in range(count)]
        earlier = states[0]
        for t in range(len(xs)):
            scale = 0.5 + 0.01 * t if uses_literals else 0.7
            new = turn(states, xs[t] if uses_slices else xs[0], scale)
            if delay:
                new[0], earlier = new[0] + 0.1 * earlier, states[0]
            states = new
        return states

    return run


@pytest.mark.usefixtures("low_limit")
@pytest.mark.parametrize("seed", range(2))
def test_random_recurrences(seed):
    run = random_recurrence(seed)

    def total(x, xs):
        return sum([y.sum() for y in run(x, xs)])

    def all_of_it(x, xs):
        batch = cv.vmap(run, in_axes=(0, None))(jnp.stack([x, 2 * x]), xs)
        return run(x, xs), batch, cv.grad(total)(x, xs)

    compare(all_of_it, X, XS[:16], rtol=1e-3)


# ---------------------------------------------------------------- what is not


def long_loop(x, steps=200):
    for _ in range(steps):
        x = jnp.sin(x) * 1.01 + x[0] * jnp.cos(x[::-1]) - 0.5 * x
    return x


PERIOD = 10


def test_the_limit_of_operations():
    turns = recurrence.LEAST_SAVED // PERIOD + 1
    closed = cv.make_jaxpr(lambda x: long_loop(x, turns))(X)
    assert len(closed.eqns) == PERIOD * turns
    assert len(rerolled(closed).eqns) < PERIOD
    closed = cv.make_jaxpr(lambda x: long_loop(x, turns - 1))(X)
    assert rerolled(closed) is closed


def printing(x):
    for i in range(250):
        x = jnp.sin(x) * 1.01 + x[0] * jnp.cos(x[::-1]) - 0.5 * x
        cv.debug.print("{i}", i=i, ordered=True)
    return x


def with_loops_inside(x):
    for _ in range(250):
        x = lax.fori_loop(0, 2, lambda i, x: jnp.cos(x), x)
        x = jnp.sin(x) * 1.01 + x[0] * jnp.cos(x[::-1]) - 0.5 * x
    return x


def convolving(x):
    for _ in range(250):
        x = jnp.sin(x) * 1.01 + x[0] * jnp.cos(x[::-1]) - 0.5 * jnp.convolve(x, x, "same")
    return x


def with_many_inputs(x, xs):
    for w in xs:
        x = jnp.sin(x) * 1.01 + x[0] * jnp.cos(x[::-1]) - 0.5 * x * w
    return x


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (printing, (X,)),
        (with_loops_inside, (X,)),
        (convolving, (X,)),
        (lambda x: long_loop(x, 250), (np.zeros(1025, np.float32),)),
        (with_many_inputs, (np.zeros(32, np.float32), [np.zeros(32, np.float32)] * 250)),
    ],
    ids=["effects", "loops", "convolutions", "large values", "many inputs"],
)
def test_what_is_left_as_it_is(f, args):
    closed = cv.make_jaxpr(f)(*args)
    assert len(closed.eqns) > recurrence.LEAST_SAVED
    assert rerolled(closed) is closed


def test_what_lies_just_within_the_limits():
    closed = cv.make_jaxpr(lambda x: long_loop(x, 250))(np.zeros(1024, np.float32))
    assert len(rerolled(closed).eqns) < PERIOD
    few = np.zeros(16, np.float32)  # 16,000 bytes in all
    closed = cv.make_jaxpr(with_many_inputs)(few, [few] * 250)
    assert len(rerolled(closed).eqns) < 20


@pytest.mark.usefixtures("low_limit")
@pytest.mark.parametrize(("size", "rolled"), [(128, True), (256, False)])
def test_turns_that_stack_much(size, rolled):
    """Three residuals a turn: 1.5 KiB, or 3 KiB."""
    xs = np.ones((24, size), np.float32)
    gradient = cv.grad(lambda x: (stacked_states(x, xs) ** 2).sum())
    closed = cv.make_jaxpr(gradient)(xs[0])
    assert (len(rerolled(closed).eqns) < 60) == rolled


@pytest.mark.usefixtures("low_limit")
@pytest.mark.parametrize(("terms", "rolled"), [(2, True), (6, False)])
def test_rows_between_products_of_matrices(terms, rolled):
    def f(x, w):
        for _ in range(16):
            y = w @ x
            x = sum([jnp.sin(i * y) * x**i for i in range(1, terms + 1)])
        return x.sum()

    closed = cv.make_jaxpr(cv.grad(f))(X, np.eye(8, dtype=np.float32))
    assert ("scan" in str(rerolled(closed))) == rolled


@pytest.mark.usefixtures("low_limit")
def test_results_that_are_read_one_by_one_cost_what_a_loop_saves():
    def f(x, xs):
        states = []
        for w in xs:
            x = jnp.sin(x) * w + jnp.cos(x)
            states.append(x)
        return states

    assert loops_in(lambda x, xs: f(x, xs)[-1], X, XS) == 1
    closed = cv.make_jaxpr(f)(X, XS)
    assert rerolled(closed) is closed


@pytest.mark.usefixtures("low_limit")
def test_the_flag_the_parity_and_the_platform():
    f = cv.jit(long_loop)
    assert f.lower(X).as_text().count("stablehlo.while") == 1
    assert "stablehlo.while" not in f.lower(X, lowering_platforms=("cuda",)).as_text()
    with config.parity(True):
        assert "stablehlo.while" not in f.lower(X).as_text()
    traces = []
    g = cv.jit(lambda x: traces.append(x) or long_loop(x, 24))
    g(X)
    with cv._test_event_counter("count_jit_compilation_cache_miss") as compilations:
        with config.roll_loops(False):
            g(X), g(X)
        g(X)
    assert len(traces) == 1 and compilations() == 1


# ---------------------------------------------------------------- what stays as it was


@pytest.mark.usefixtures("low_limit")
def test_calls_around_stay_calls():
    around = cv.jit(lambda x: jnp.tanh(x) * 2)

    def f(x):
        x = around(around(x))
        for _ in range(24):
            x = jitted_step(x, x)
        return around(x)

    text = cv.jit(f).lower(X).as_text()
    assert text.count("func.func private") == 1 and text.count("call @") == 3
    compare(f, X, loops=1)


@pytest.mark.usefixtures("low_limit")
def test_captured_arrays():
    table = jnp.arange(8.0)
    inner = cv.jit(lambda x: jnp.sin(x) * table * 0.1 + x[0])

    def f(x):
        for _ in range(24):
            x = inner(x) - 0.1 * table
        return x

    compare(f, X, loops=1)


@pytest.mark.usefixtures("low_limit")
def test_donation_unused_arguments_and_prints_around(capfd):
    def f(x, unused, y):
        cv.debug.print("before", ordered=True)
        x = slices_of_an_array(x + y, XS)
        cv.debug.print("after", ordered=True)
        return x, y + 1

    jitted = cv.jit(f, donate_argnums=0)
    x = jnp.asarray(X)
    got, _ = jitted(x, 1.0, X)
    assert x.is_deleted() and loops_in(f, X, 1.0, X) == 1
    np.testing.assert_allclose(got, slices_of_an_array(X + X, XS), rtol=1e-4)
    cv.effects_barrier()
    assert capfd.readouterr().out.split()[:2] == ["before", "after"]


@pytest.mark.usefixtures("low_limit")
def test_names_and_places():
    def f(x):
        with cv.named_scope("descent"):
            for _ in range(24):
                x = step(x, x)
        return x

    text = cv.jit(f).lower(X).as_text(debug_info=True)
    assert "stablehlo.while" in text
    assert "descent" in text and __file__ in text


@pytest.mark.usefixtures("low_limit")
def test_the_report_names_what_is_stored_in_a_loop():
    report = cv.jit(slices_of_an_array).explain_materialization(X, XS)
    (loop,) = report.loops
    assert loop.times == len(XS)
    assert str(report).count("compiled as a loop") == 1
    assert __file__ in loop.place
