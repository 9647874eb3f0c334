"""Trees of very many leaves and of great depth, and long programs, within a bounded time."""

import time

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

# The time is that of the trees, not of looking for garbage among what other tests keep.
pytestmark = pytest.mark.usefixtures("only_new_garbage")

MANY = 100_000


def nested(depth, leaf):
    tree = leaf
    for i in range(depth):
        tree = [tree] if i % 2 else {"k": tree}
    return tree


def depth_of(tree):
    depth = 0
    while isinstance(tree, (list, dict)):
        tree = tree[0] if isinstance(tree, list) else tree["k"]
        depth += 1
    return depth, tree


def test_many_leaves_in_trees():
    tree = {"a": list(range(MANY)), "b": tuple(range(10))}
    doubled = cv.tree.map(lambda x: 2 * x, tree)
    assert doubled["a"][-1] == 2 * (MANY - 1) and len(cv.tree.leaves(doubled)) == MANY + 10
    leaves, treedef = cv.tree.flatten(tree)
    assert cv.tree.unflatten(treedef, leaves) == tree


def test_many_leaves_under_transformations():
    xs = [np.float32(i) for i in range(MANY)]
    start = time.perf_counter()
    y, pullback = cv.vjp(lambda xs: xs[0] * xs[-1], xs)
    (cts,) = pullback(1.0)
    assert float(y) == 0 and len(cts) == MANY and float(cts[0]) == MANY - 1
    out = cv.make_jaxpr(lambda xs: xs[3])(xs)
    assert len(out.jaxpr.invars) == MANY
    assert cv.eval_shape(lambda xs: xs, xs)[-1].shape == ()
    assert time.perf_counter() - start < 60


def test_jit_of_many_leaves_that_are_not_read():
    xs = [np.float32(i) for i in range(5000)]
    f = cv.jit(lambda xs: xs[1] + xs[-1])
    assert float(f(xs)) == 5000.0 and float(f(xs)) == 5000.0


@pytest.mark.parametrize("depth", [10, 500])
def test_deep_trees(depth):
    tree = nested(depth, np.float32(3))
    assert depth_of(cv.tree.map(lambda x: x + 1, tree)) == (depth, 4)
    assert depth_of(cv.jit(lambda t: t)(tree)) == (depth, 3)
    grads = cv.grad(lambda t: depth_of(t)[1] ** 2)(tree)
    assert depth_of(grads) == (depth, 6)
    assert depth_of(cv.vmap(lambda t: t)(nested(depth, np.arange(2))))[0] == depth
    paths = cv.tree.leaves_with_path(tree)
    assert len(paths) == 1 and len(paths[0][0]) == depth


def test_errors_in_deep_trees_are_told():
    with pytest.raises(TypeError, match=r"\['k'\]\[0\]"):
        cv.jit(lambda t: t)(nested(500, "no array"))


def test_long_programs():
    def f(x):
        for _ in range(3000):
            x = jnp.sin(x) + 1
        return x

    jaxpr = cv.make_jaxpr(cv.grad(f))(1.0)
    assert len(jaxpr.eqns) > 9000
    str(jaxpr)
    assert np.isfinite(cv.grad(f)(0.5))


@pytest.mark.parametrize("depth", [60])
def test_deeply_nested_jit_and_transformations(depth):
    f = jnp.sin
    for _ in range(depth):
        f = cv.jit(lambda x, f=f: f(x) * 1.0)
    np.testing.assert_allclose(f(0.5), np.sin(0.5), rtol=1e-6)
    np.testing.assert_allclose(cv.grad(f)(0.5), np.cos(0.5), rtol=1e-6)
    g = jnp.exp
    for _ in range(6):
        g = cv.grad(g)
    np.testing.assert_allclose(g(0.5), np.exp(0.5), rtol=1e-5)


def test_many_arguments():
    f = cv.jit(lambda *xs: sum(xs))
    assert float(f(*[1.0] * 1000)) == 1000.0
