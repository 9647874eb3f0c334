"""`pmap` over eight devices, against JAX."""

from functools import partial

import numpy as np
import pytest

import covector as cv

X = np.random.RandomState(0).randn(4, 3, 2).astype(np.float32)


def arrays(m, tree):
    """The values alone: the axis of the mesh has a name that is ours where the user gives none."""
    return m.tree.map(lambda x: m.numpy.asarray(np.asarray(x)), tree)


def test_results_lie_on_the_devices(same_as_jax):
    def run(m):
        f = lambda x, y: (x + y, m.lax.psum(x, "i"), m.lax.axis_index("i"))  # noqa: E731
        return m.pmap(f, axis_name="i", in_axes=(0, None), out_axes=(0, None, 0))(X, 1.0)

    same_as_jax(run)


@pytest.mark.parametrize(
    "options",
    [
        {"in_axes": (1, None), "out_axes": 2},
        {"in_axes": ({"a": 2, "b": None}, 0), "out_axes": 1, "axis_size": 2},
        {"in_axes": (None, 0)},
        {"in_axes": 1},
    ],
    ids=str,
)
def test_axes(same_as_jax, options):
    first, second = np.moveaxis(X, 0, 1), X
    if isinstance(options["in_axes"], tuple) and isinstance(options["in_axes"][0], dict):
        args = {"a": X, "b": X[0, 0]}, X[:2, 0]
        f = lambda m, t, y: t["a"].sum() * t["b"] + y  # noqa: E731
    else:
        args = first, second if options["in_axes"] != 1 else first
        f = lambda m, x, y: m.lax.psum(x.sum(), "i") + y * m.lax.axis_index("i")  # noqa: E731
    same_as_jax(
        lambda m: arrays(m, m.pmap(lambda *args: f(m, *args), axis_name="i", **options)(*args)),
        atol=1e-5,
    )


def test_static_keyword_and_donated_arguments(same_as_jax):
    def run(m):
        f = m.pmap(lambda x, n, scale: x**n * scale, static_broadcasted_argnums=1, donate_argnums=0)
        x = m.pmap(lambda x: x)(X)
        out = f(x, 3, scale=X)
        return x.is_deleted(), arrays(m, out)

    same_as_jax(run)


def test_given_devices_in_their_order(same_as_jax):
    def run(m):
        f = m.pmap(lambda x: x + m.lax.axis_index("i"), "i", devices=m.devices()[::-1][:5])
        out = f(X)
        return [d.id for d in out.sharding.mesh.devices.flat], out

    same_as_jax(run)


def test_within_other_transformations(same_as_jax):
    def run(m):
        def f(x):
            return x - m.lax.pmean(m.numpy.sin(x), "i")

        g = m.pmap(f, axis_name="i")
        loss = lambda x: (g(x) ** 2).sum()  # noqa: E731
        batch = np.stack([X, 2 * X])
        return arrays(
            m, (m.vmap(g)(batch), m.grad(loss)(X), m.jit(m.grad(loss))(X), m.jvp(g, (X,), (X,)))
        )

    same_as_jax(run, atol=1e-5)


def test_data_parallel_training():
    """Each device has a part of the data and the weights; gradients are averaged."""
    w, x = np.ones((2, 1), np.float32), np.random.RandomState(1).randn(8, 5, 2).astype(np.float32)
    y = x @ np.array([[1.0], [-2.0]], np.float32)

    def loss(w, x, y):
        return cv.numpy.mean((x @ w - y) ** 2)

    @partial(cv.pmap, axis_name="data")
    def step(w, x, y):
        return w - 0.2 * cv.lax.pmean(cv.grad(loss)(w, x, y), "data")

    copies = cv.numpy.stack([w] * 8)
    for _ in range(4):
        copies = step(copies, x, y)
        w = w - 0.2 * cv.grad(loss)(w, x.reshape(40, 2), y.reshape(40, 1))
    np.testing.assert_allclose(copies, np.stack([w] * 8), rtol=1e-4)


def test_a_program_is_traced_once_for_each_size():
    traced = []
    f = cv.pmap(lambda x: traced.append(x.shape) or 2 * x)
    for size in (4, 8, 4, 8):
        x = np.ones((size, 2), np.float32)
        np.testing.assert_array_equal(f(x), 2 * x)
        np.testing.assert_array_equal(f(f(x)), 4 * x)
    assert traced == [(2,), (2,)]


def test_stages():
    f = cv.pmap(lambda x: cv.lax.psum(x, "i"), axis_name="i")
    assert "all_reduce" in f.lower(X).as_text()
    assert f.trace(X).out_info.shape == X.shape
    np.testing.assert_allclose(f(X), np.stack([X.sum(0)] * 4), rtol=1e-5)


@pytest.mark.parametrize(
    "options, args, kind, text",
    [
        ({}, (1.0,), ValueError, "at least one argument with a mapped axis"),
        ({"in_axes": None}, (X,), ValueError, "at least one argument with a mapped axis"),
        ({}, (X, X[:2]), ValueError, r"inconsistent sizes .* args\[0\] has 4, args\[1\] has 2"),
        ({"axis_size": 3}, (X,), ValueError, r"args\[0\] has 4, axis_size has 3"),
        ({"in_axes": 3}, (X,), ValueError, "in_axes says 3 of the argument .* 3 dimensions"),
        ({}, (np.ones(9),), ValueError, "has size 9, and each entry needs a device .* are 8"),
        ({"devices": []}, (X,), ValueError, "`devices` is empty"),
    ],
)
def test_errors(options, args, kind, text):
    with pytest.raises(kind, match=text):
        cv.pmap(lambda *args: args[0], **options)(*args)


def test_axes_are_integers():
    for options in ({"in_axes": "a"}, {"out_axes": 1.5}):
        with pytest.raises(TypeError, match="must be an int, None, or a tree"):
            cv.pmap(lambda x: x, **options)
