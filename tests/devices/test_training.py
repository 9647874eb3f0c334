"""Training on eight devices: as on one, and as in JAX; and the page that tells of it."""

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "devices.md"

rng = np.random.default_rng(0)
BATCH = rng.normal(size=(16, 4)).astype(np.float32), rng.normal(size=(16, 2)).astype(np.float32)
PARAMS = {
    "w1": rng.normal(size=(4, 8)).astype(np.float32),
    "b1": np.zeros(8, np.float32),
    "w2": rng.normal(size=(8, 2)).astype(np.float32),
}

# How parameters and batches lie: not at all, data-parallel, and with parts of the parameters too.
PLANS = {
    "one device": None,
    "data": ({"w1": (), "b1": (), "w2": ()}, (("data", "model"),)),
    "data and model": ({"w1": (None, "model"), "b1": ("model",), "w2": ("model",)}, ("data",)),
    "sharded parameters": ({"w1": ("data",), "b1": ("data",), "w2": ("data", "model")}, ("data",)),
}


def trained(m, plan, kind="Auto"):
    """The losses of some steps, and the parameters after them."""
    jnp = importlib.import_module(m.__name__ + ".numpy")
    types = (getattr(m.sharding.AxisType, kind),) * 2
    mesh = m.make_mesh((4, 2), ("data", "model"), types)

    def loss(params, batch):
        x, y = batch
        h = jnp.tanh(x @ params["w1"] + params["b1"])
        return jnp.mean((h @ params["w2"] - y) ** 2)

    def step(params, batch):
        value, grads = m.value_and_grad(loss)(params, batch)
        return m.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    params, batch, options = PARAMS, BATCH, {}
    if plan is not None:
        named = lambda spec: m.NamedSharding(mesh, m.P(*spec))  # noqa: E731
        places = {name: named(spec) for name, spec in plan[0].items()}
        params = m.device_put(params, places)
        batch = m.device_put(batch, named(plan[1]))
        options = {"out_shardings": (places, None)}
    step = m.jit(step, donate_argnums=0, **options)
    losses = []
    for _ in range(4):
        params, value = step(params, batch)
        losses.append(value)
    return losses, params


@pytest.fixture(scope="module")
def expected(jax):
    return trained(jax, None)


@pytest.mark.parametrize("name", PLANS)
def test_training(jax, expected, name):
    import covector as cv

    ours = trained(cv, PLANS[name])
    for x, y in zip(jax.tree.leaves(ours), jax.tree.leaves(expected)):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=2e-5, atol=1e-6)
    if PLANS[name] is not None:
        for p, spec in PLANS[name][0].items():
            assert ours[1][p].sharding.spec == cv.P(*spec)
            assert len(ours[1][p].devices()) == 8


def test_explicit_axes_train_as_well(jax, expected):
    import covector as cv

    ours = trained(cv, PLANS["data"], "Explicit")
    np.testing.assert_allclose(np.array(ours[0]), np.array(expected[0]), rtol=2e-5)


def test_stages_on_devices_of_their_own(same_as_jax):
    """Cotangents go back to where the values came from."""

    def run(m):
        jnp, devices = importlib.import_module(m.__name__ + ".numpy"), m.devices()
        halves = [m.sharding.Mesh(devices[i : i + 4], "x") for i in (0, 4)]
        first, second = (m.NamedSharding(mesh, m.P("x")) for mesh in halves)
        square, triple = m.jit(lambda x: x**2), m.jit(lambda x: x * 3)

        def f(x, to):
            return jnp.sum(triple(m.device_put(square(x), to)))

        x = np.arange(8, dtype=np.float32)
        y = m.device_put(x, first)
        one = m.device_put(x, devices[1])
        return f(y, second), m.grad(f)(y, second), m.grad(f)(one, devices[2]), m.grad(f)(x, first)

    same_as_jax(run)


def test_many_programs_at_once():
    """More than threads could wait for, were each not started in its turn."""
    import covector as cv

    mesh = cv.make_mesh((8,), ("x",))
    x = cv.device_put(np.arange(8, dtype=np.float32), cv.NamedSharding(mesh, cv.P("x")))
    f = cv.jit(lambda x: x - x.mean() + 1)
    outs = [f(x) for _ in range(300)]
    for _ in range(100):
        outs.append(f(outs[-1]))
    np.testing.assert_allclose(outs[-1].mean(), 1, rtol=1e-6)


def test_programs_are_kept_on_disk(tmp_path):
    """Another process finds them there, and its results lie as the first one's."""
    code = (
        "import covector as cv, numpy as np\n"
        "mesh = cv.make_mesh((4, 2), ('x', 'y'))\n"
        "x = cv.device_put(np.ones((8, 4), np.float32), cv.NamedSharding(mesh, cv.P('x')))\n"
        "y = cv.jit(lambda x: (x.T, x @ x.T, x[0]))(x)\n"
        "print([z.sharding.spec for z in y], [float(z.sum()) for z in y])\n"
    )
    env = os.environ | {"COVECTOR_COMPILATION_CACHE_DIR": str(tmp_path)}
    done, kept = [], []
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        done.append(run.stdout)
        kept.append(sorted(tmp_path.rglob("*.xla")))
    assert done[0] == done[1] and "P('x'" in done[0]
    assert kept[0] == kept[1] != []


def test_the_page():
    """It asks for eight devices by itself, in a process of its own."""
    code = "import doctest, sys; print(doctest.testfile(sys.argv[1], False, encoding='utf-8'))"
    env = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"} | {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(PAGE)], env=env, capture_output=True, encoding="utf-8"
    )
    assert "failed=0" in done.stdout, done.stdout + done.stderr
    assert doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8"))
