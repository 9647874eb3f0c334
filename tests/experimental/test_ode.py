"""`odeint`, against solutions in closed form and SciPy's."""

import inspect
from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import covector as cv
import covector.numpy as jnp
from covector._src.base import events
from covector._src.experimental import dormand_prince as method
from covector.experimental.ode import odeint

TIGHT = dict(rtol=1e-9, atol=1e-9)
T = np.linspace(0.5, 2.0, 4)


@pytest.fixture(autouse=True)
def double():
    with cv.enable_x64(True):
        yield


def decay(y, t, rate):
    return -rate * t * y


def decayed(y0, t, rate):
    return y0 * np.exp(-rate * (t**2 - t[0] ** 2)[:, None] / 2)


# ---------------------------------------------------------------- the method


def test_the_nodes_are_the_sums_of_the_rows():
    for row, node in zip(method.A, method.C):
        np.testing.assert_allclose(sum(row), node, atol=1e-15)
    np.testing.assert_allclose([sum(method.ERROR), sum(method.MIDDLE)], [0, 0.5], atol=1e-15)


def test_a_step_is_of_order_five_and_the_curve_of_order_four():
    def f(y, t):
        return y * np.cos(t)

    def exact(t):
        return np.exp(np.sin(t))

    ends, middles, estimates = [], [], []
    for h in (0.4, 0.2):
        y = jnp.array([exact(0.3)])
        taken = method.step(f, y, f(y, 0.3), 0.3, h)
        ends.append(abs(taken.state - exact(0.3 + h))[0])
        middles.append(abs(jnp.polyval(taken.curve, 0.4) - exact(0.3 + 0.4 * h))[0])
        estimates.append(abs(taken.error)[0])
    assert ends[0] / ends[1] > 2**5.5
    assert middles[0] / middles[1] > 2**4.5
    assert estimates[0] / estimates[1] > 2**4.5


def test_the_quartic_takes_its_values_and_slopes():
    p = np.poly1d([1.0, -2.0, 0.5, 3.0, -1.0])
    slope = p.deriv()
    given = [np.array([v]) for v in (p(0), p(0.5), p(1), slope(0), slope(1))]
    np.testing.assert_allclose(np.asarray(method.quartic(*given))[:, 0], p.coeffs, atol=1e-12)


def test_the_length_of_steps():
    lengths = [float(method.next_length(1.0, error)) for error in (0.0, 1e-20, 1e-5, 32.0, 1e9)]
    np.testing.assert_allclose(lengths, [10, 10, 9, 0.45, 0.2])
    # A step that was refused is not taken again as long.
    assert float(method.next_length(1.0, 1.0001)) < 0.91
    assert float(method.next_length(1.0, 0.9999)) == 1.0


# ---------------------------------------------------------------- solutions


@pytest.mark.parametrize("wrap", [lambda f: f, cv.jit], ids=["eager", "jit"])
def test_a_solution_in_closed_form(wrap):
    y0 = np.array([1.0, -2.0, 0.0])
    got = wrap(lambda y0, rate: odeint(decay, y0, T, rate, **TIGHT))(y0, 0.7)
    assert got.dtype == np.float64 and got.shape == (4, 3)
    np.testing.assert_allclose(np.asarray(got), decayed(y0, T, 0.7), rtol=1e-7)


def test_trees_complex_numbers_and_integers():
    def f(state, t, w):
        return {"z": 1j * w * state["z"], "n": (jnp.ones(2), state["n"][1] * 0.0)}

    y0 = {"z": np.array([1 + 0j, 2j]), "n": (np.array([0, 1]), 3.0)}
    got = odeint(f, y0, T, 2.0, **TIGHT)
    turned = np.exp(2j * (T - T[0]))[:, None] * y0["z"]
    np.testing.assert_allclose(np.asarray(got["z"]), turned, rtol=1e-7)
    counted = y0["n"][0] + (T - T[0])[:, None]
    np.testing.assert_allclose(np.asarray(got["n"][0]), counted, rtol=1e-9)
    np.testing.assert_array_equal(np.asarray(got["n"][1]), np.full(4, 3.0))


def test_lorenz_as_scipy_solves_it():
    def f(y, t, xp=jnp):
        return xp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])

    y0 = np.array([1.0, 2.0, 3.0])
    want = solve_ivp(lambda t, y: f(y, t, np), (0.5, 2), y0, t_eval=T, rtol=1e-11, atol=1e-11).y.T
    np.testing.assert_allclose(np.asarray(odeint(f, y0, T, **TIGHT)), want, rtol=1e-5, atol=1e-5)


def test_times_that_come_twice_and_a_single_one():
    y0 = np.array([2.0])
    t = np.array([0.5, 0.5, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(
        np.asarray(odeint(decay, y0, t, 1.0, **TIGHT)), decayed(y0, t, 1.0), rtol=1e-7
    )
    np.testing.assert_array_equal(np.asarray(odeint(decay, y0, t[:1], 1.0)), [y0])


def test_single_precision_stays_single():
    with cv.enable_x64(False):
        got = odeint(decay, np.float32(1), T.astype(np.float32), 1.0, rtol=1e-5, atol=1e-5)
        assert got.dtype == np.float32
        np.testing.assert_allclose(np.asarray(got)[:, None], decayed(1, T, 1.0), rtol=1e-4)


def test_limits_of_steps():
    calls = []

    def f(y, t):
        cv.debug.callback(lambda t: calls.append(float(t)), t)
        return -y

    def slopes(**limits):
        calls.clear()
        cv.block_until_ready(odeint(f, 1.0, np.array([0.0, 4.0]), rtol=1e-3, atol=1e-3, **limits))
        cv.effects_barrier()
        return len(calls)

    usual = slopes()
    # Forty steps of at most 0.1, of six slopes each; the first few are shorter still.
    assert slopes(hmax=0.1) >= 240 > usual
    assert slopes(mxstep=2) < usual


# ---------------------------------------------------------------- derivatives


def test_gradients_in_closed_form():
    y0 = np.array([1.0, -2.0])
    weights = np.array([[1.0, 0.5], [-1.0, 2.0], [0.3, 0.1], [2.0, -1.0]])

    def loss(y0, t, rate):
        return jnp.sum(weights * odeint(decay, y0, t, rate, **TIGHT))

    def closed(y0, t, rate):
        growth = jnp.exp(-rate * (t**2 - t[0] ** 2)[:, None] / 2)
        return jnp.sum(weights * y0 * growth)

    got = cv.jit(cv.grad(loss, (0, 1, 2)))(y0, T, 0.7)
    for x, want in zip(got, cv.grad(closed, (0, 1, 2))(y0, T, 0.7)):
        np.testing.assert_allclose(np.asarray(x), np.asarray(want), rtol=1e-5, atol=1e-6)


def test_what_the_function_closes_over_is_differentiated():
    def final(rate, scale):
        matrix = scale * jnp.eye(2)

        def f(y, t):
            return -rate * (matrix @ y)

        return jnp.sum(odeint(f, np.ones(2), np.array([0.0, 1.0]), **TIGHT)[-1])

    got = cv.grad(final, (0, 1))(0.5, 2.0)
    np.testing.assert_allclose(got, (-4 * np.exp(-1), -np.exp(-1)), rtol=1e-6)


def test_batches():
    rates = np.array([0.1, 0.5, 2.0])

    def final(rate):
        return odeint(decay, 1.0, T, rate, **TIGHT)[-1]

    growth = np.exp(-rates * (T[-1] ** 2 - T[0] ** 2) / 2)
    np.testing.assert_allclose(np.asarray(cv.vmap(final)(rates)), growth, rtol=1e-7)
    slopes = -(T[-1] ** 2 - T[0] ** 2) / 2 * growth
    np.testing.assert_allclose(np.asarray(cv.vmap(cv.grad(final))(rates)), slopes, rtol=1e-5)


def test_calls_of_one_function_compile_once():
    y0 = np.array([1.0, -2.0])
    odeint(decay, y0, T, 0.7)
    happened = []
    with events.listen(lambda event, _: happened.append(event)):
        odeint(decay, y0 + 1, T, 0.8)
    assert not {"trace", "compile"} & {*happened}


# ---------------------------------------------------------------- errors


def test_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match=r"vector of at least one time.* is \(\)"):
        odeint(decay, 1.0, 2.0, 1.0)
    with pytest.raises(ValueError, match=r"is \(0,\)"):
        odeint(decay, 1.0, np.zeros(0), 1.0)
    with pytest.raises(TypeError, match=r"`args` must be a tree of arrays .* str: 'fast'"):
        odeint(decay, 1.0, T, "fast")
    with pytest.raises(TypeError, match="`y0` must be"):
        odeint(decay, object(), T, 1.0)
    with pytest.raises(TypeError, match="must return a tree like `y0`"):
        odeint(lambda y, t: (y, y), 1.0, T)
    with pytest.raises(ValueError, match=r"shapes are \(3,\) in `y0` and \(\)"):
        odeint(lambda y, t: y.sum(), np.ones(3), T)


def test_the_signature_is_that_of_jax():
    jax_ode = pytest.importorskip("jax.experimental.ode")
    ours, theirs = map(inspect.signature, (odeint, jax_ode.odeint))
    assert [(p.name, p.default, p.kind) for p in ours.parameters.values()] == [
        (p.name, p.default, p.kind) for p in theirs.parameters.values()
    ]


def test_programs_of_jax_run(jax):
    jax_odeint = pytest.importorskip("jax.experimental.ode").odeint
    with cv.enable_x64(False):
        y0, t = np.float32([1, 0.5]), np.linspace(0, 1, 3, dtype=np.float32)

        def f(y, t, k):
            return -k * y[::-1] * y

        solve = partial(odeint, rtol=1e-6, atol=1e-6)
        want = jax.jit(lambda: jax_odeint(f, y0, t, 2.0, rtol=1e-6, atol=1e-6))()
        np.testing.assert_allclose(np.asarray(solve(f, y0, t, 2.0)), np.asarray(want), rtol=1e-5)
