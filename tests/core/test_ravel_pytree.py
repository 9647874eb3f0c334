"""Trees of arrays as vectors."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.flatten_util import ravel_pytree

TREE = {"b": jnp.arange(3.0), "w": (jnp.ones((2, 2)), jnp.array(5.0)), "none": None}
MIXED = [np.int32(3), jnp.array([[1.5, 2.5]]), True]


def leaves_are(tree, wanted):
    got = cv.tree.leaves(tree)
    assert [(x.shape, x.dtype) for x in got] == [
        (np.shape(x), np.dtype(cv.dtypes.result_type(x))) for x in cv.tree.leaves(wanted)
    ]
    assert all(map(np.array_equal, got, cv.tree.leaves(wanted)))
    assert cv.tree.structure(tree) == cv.tree.structure(wanted)


def test_there_and_back():
    vector, unravel = ravel_pytree(TREE)
    assert vector.dtype == np.float32
    assert vector.tolist() == [0, 1, 2, 1, 1, 1, 1, 5]
    leaves_are(unravel(vector), TREE)
    leaves_are(unravel(np.asarray(vector)), TREE)


def test_dtypes_are_promoted_and_restored():
    vector, unravel = ravel_pytree(MIXED)
    assert vector.dtype == np.float32 and vector.tolist() == [3, 1.5, 2.5, 1]
    leaves_are(unravel(vector), MIXED)
    vector, unravel = ravel_pytree((jnp.ones(1), jnp.array([1 + 2j])))
    assert vector.dtype == np.complex64
    leaves_are(unravel(1j * vector), (np.float32([0]), np.complex64([1j - 2])))


@pytest.mark.parametrize(
    "tree", [MIXED, TREE, 2.0, np.arange(3), (True, np.int8(3)), [np.float16(1), 2], []], ids=str
)
def test_that_of_jax(jax, tree):
    import jax.flatten_util

    tree = cv.tree.map(lambda x: np.asarray(x) if isinstance(x, cv.Array) else x, tree)
    got, unravel = ravel_pytree(tree)
    want, theirs = jax.flatten_util.ravel_pytree(tree)
    assert got.dtype == want.dtype and np.array_equal(got, want)
    kinds = [x.dtype for x in cv.tree.leaves(unravel(got))]
    assert kinds == [x.dtype for x in jax.tree.leaves(theirs(want))]


def test_leaves_of_one_dtype_take_that_of_the_vector():
    vector, unravel = ravel_pytree(TREE)
    assert {x.dtype for x in cv.tree.leaves(unravel(vector > 1))} == {np.dtype(bool)}


@pytest.mark.parametrize("tree", [[], {}, None, ()], ids=str)
def test_no_leaves(tree):
    vector, unravel = ravel_pytree(tree)
    assert vector.shape == (0,) and vector.dtype == np.float32
    assert unravel(vector) == tree


def test_empty_leaves():
    vector, unravel = ravel_pytree([jnp.zeros((0, 2)), jnp.ones(1)])
    assert [x.shape for x in unravel(vector)] == [(0, 2), (1,)]


def test_transformations():
    vector, unravel = ravel_pytree(TREE)
    got = cv.grad(lambda v: jnp.sum(unravel(v)["b"] ** 2))(vector)
    assert got.tolist() == [0, 2, 4, 0, 0, 0, 0, 0]
    batch = cv.jit(cv.vmap(unravel))(jnp.stack([vector, 2 * vector]))
    leaves_are(cv.tree.map(lambda x: x[1], batch), cv.tree.map(lambda x: 2 * x, TREE))
    gradient = cv.grad(lambda tree: jnp.sum(ravel_pytree(tree)[0] ** 2))(TREE)
    leaves_are(gradient, cv.tree.map(lambda x: 2 * x, TREE))


def test_functions_of_equal_trees_are_equal():
    traces = []

    def double(vector, unravel):
        traces.append(unravel)
        return unravel(2 * vector)

    doubled = cv.jit(double, static_argnums=1)
    for tree in (TREE, cv.tree.map(lambda x: x + 1, TREE)):
        doubled(*ravel_pytree(tree))
    assert len(traces) == 1
    assert ravel_pytree(TREE)[1] != ravel_pytree(MIXED)[1]


def test_errors():
    vector, unravel = ravel_pytree(MIXED)
    with pytest.raises(TypeError, match=r"dtype int32, but expected dtype float32.*int32, float32"):
        unravel(vector.astype(int))
    with pytest.raises(ValueError, match=r"shape \(4,\), .* shape \(2, 4\).*vmap\(unravel\)"):
        unravel(jnp.ones((2, 4)))
    with pytest.raises(TypeError):
        ravel_pytree("text")
