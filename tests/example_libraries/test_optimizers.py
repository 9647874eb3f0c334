"""Optimizers and schedules beside JAX's, step by step."""

import inspect

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.example_libraries import optimizers

OPTIMIZERS = {
    "sgd": (0.1,),
    "momentum": (0.1, 0.9),
    "nesterov": (0.1, 0.9),
    "adagrad": (0.1,),
    "rmsprop": (0.1,),
    "rmsprop_momentum": (0.1,),
    "adam": (0.1,),
    "adamax": (0.1,),
    "sm3": (0.1,),
}
SCHEDULES = {
    "constant": (0.1,),
    "exponential_decay": (0.1, 3, 0.5),
    "inverse_time_decay": (0.1, 3, 0.5),
    "polynomial_decay": (0.1, 4, 0.01, 2.0),
    "piecewise_constant": ([1, 3], [0.1, 0.01, 0.001]),
}
PARAMS = {"w": np.array([[1.0, -2.0], [0.5, 3.0]], np.float32), "b": [np.float32(0.25)]}


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("jax.example_libraries.optimizers")


def path(library, step_size_and_options, name, steps=4):
    """The parameters after each step down the sum of fourth powers."""
    init, update, get_params = getattr(library, name)(*step_size_and_options)
    state, points = init(PARAMS), []
    for i in range(steps):
        params = get_params(state)
        state = update(i, cv.tree.map(lambda x: 4 * x**3, params), state)
        points.append(cv.tree.map(np.asarray, get_params(state)))
    return points


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_steps_are_those_of_jax(theirs, name):
    ours = path(optimizers, OPTIMIZERS[name], name)
    expected = path(theirs, OPTIMIZERS[name], name)
    cv.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=2e-6), ours, expected)


@pytest.mark.parametrize("name", list(SCHEDULES))
def test_schedules_are_those_of_jax(theirs, name):
    ours, expected = [getattr(m, name)(*SCHEDULES[name]) for m in (optimizers, theirs)]
    for i in range(6):
        np.testing.assert_allclose(ours(i), expected(i), rtol=1e-6)
    staircase = optimizers.inverse_time_decay(0.1, 3, 0.5, staircase=True)
    assert [float(staircase(i)) for i in (0, 2, 3)] == pytest.approx([0.1, 0.1, 0.1 / 1.5])


def test_training_under_jit():
    init, update, get_params = optimizers.adam(optimizers.exponential_decay(0.5, 50, 0.5))

    @cv.jit
    def step(i, state):
        grads = cv.grad(lambda p: jnp.sum((p["w"] - 3) ** 2))(get_params(state))
        return update(i, optimizers.clip_grads(grads, 10.0), state)

    state = init({"w": jnp.zeros(3)})
    for i in range(100):
        state = step(i, state)
    np.testing.assert_allclose(get_params(state)["w"], 3, atol=0.05)


def test_packing():
    state = optimizers.adam(0.1).init_fn(PARAMS)
    marked = optimizers.unpack_optimizer_state(state)
    again = optimizers.pack_optimizer_state(marked)
    assert cv.tree.structure(again) == cv.tree.structure(state)
    cv.tree.map(np.testing.assert_array_equal, again, state)
    with pytest.raises(ValueError, match="JoinPoints"):
        optimizers.pack_optimizer_state(PARAMS)


def test_mistakes():
    init, update, _ = optimizers.sgd(0.1)
    with pytest.raises(TypeError, match="a tree like the parameters"):
        update(0, {"w": 1.0}, init(PARAMS))
    with pytest.raises(TypeError, match="step size is a number"):
        optimizers.make_schedule(np.ones(2))
    with pytest.raises(ValueError, match="must be sequences"):
        optimizers.piecewise_constant(1.0, [1.0])
    with pytest.raises(ValueError, match="separate 3 values"):
        optimizers.piecewise_constant([1, 2], [1.0])
    changing = optimizers.optimizer(lambda: (lambda x: x, lambda i, g, x: (x, g), lambda x: x))()
    with pytest.raises(TypeError, match="same structure"):
        changing.update_fn(0, 1.0, changing.init_fn(1.0))


def test_signatures_are_those_of_jax(theirs):
    for name in [*OPTIMIZERS, *SCHEDULES, "l2_norm", "clip_grads", "make_schedule", "optimizer"]:
        ours, expected = [
            [(p.name, p.default) for p in inspect.signature(getattr(m, name)).parameters.values()]
            for m in (optimizers, theirs)
        ]
        assert ours == expected, name
