"""Indices, grids and edits of arrays, compared with NumPy and JAX."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector.errors import ConcretizationTypeError

X = np.arange(12, dtype=np.float32).reshape(3, 4)
V = np.array([5, 6, 7])


def assert_same(got, want):
    """Two arrays, or two sequences of arrays, of the same elements."""
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            np.testing.assert_array_equal(g, w, strict=isinstance(w, covector.Array))
    else:
        np.testing.assert_array_equal(got, want)


# ---------------------------------------------------------------- indices


@pytest.mark.parametrize("nkm", ((3, 0, None), (3, 1, 5), (5, -2, 3), (0, 0, None), (2, 7, 4)))
def test_triangles(nkm):
    for name in ("triu_indices", "tril_indices"):
        want = getattr(np, name)(*nkm)
        assert_same(getattr(jnp, name)(*nkm), want)
        assert_same(covector.jit(lambda: getattr(jnp, name)(*nkm))(), want)  # noqa: B023
    shape = (nkm[0], nkm[0] if nkm[2] is None else nkm[2])
    assert_same(jnp.triu_indices_from(np.ones(shape), nkm[1]), np.triu_indices(*nkm))
    assert_same(jnp.tril_indices_from(np.ones(shape), nkm[1]), np.tril_indices(*nkm))


def test_diagonals_and_masks():
    assert_same(jnp.diag_indices(3, 3), np.diag_indices(3, 3))
    assert_same(jnp.diag_indices_from(np.ones((2, 2, 2))), np.diag_indices(2, 3))
    assert_same(jnp.mask_indices(3, jnp.tril, -1), np.mask_indices(3, np.tril, -1))
    assert jnp.diag_indices(2, 0) == ()
    with pytest.raises(ValueError, match="All dimensions of input must be of equal length"):
        jnp.diag_indices_from(X)
    with pytest.raises(ValueError, match="must be nonnegative, got -1"):
        jnp.diag_indices(-1)
    with pytest.raises(ValueError, match="Only 2-D inputs"):
        jnp.triu_indices_from(V)


def test_meshes():
    assert_same(jnp.ix_(V, np.array([1, 2])), np.ix_(V, [1, 2]))
    assert jnp.ix_(np.array([]), V)[0].dtype == jnp.int32
    with pytest.raises(ValueError, match="must be 1-dimensional"):
        jnp.ix_(X)
    with pytest.raises(NotImplementedError, match="Boolean arguments"):
        jnp.ix_(V > 5)


def test_positions(jax):
    shape = (2, 3, 4)
    flat = np.array([[0, 5], [23, 11]])
    assert_same(jnp.unravel_index(flat, shape), np.unravel_index(flat, shape))
    outside = np.array([-1, -24, -25, 24, 1000])
    assert_same(jnp.unravel_index(outside, shape), jax.numpy.unravel_index(outside, shape))
    small = np.array([3, 200], np.uint8)
    assert_same(jnp.unravel_index(small, (2, 3)), jax.numpy.unravel_index(small, (2, 3)))
    index = np.unravel_index(flat, shape)
    for order in "CF":
        got = jnp.ravel_multi_index(index, shape, order=order)
        assert_same(got, np.ravel_multi_index(index, shape, order=order))
    outside = (np.array([-3, 9]), np.array([1, -2]))
    for mode in ("wrap", "clip"):
        want = np.ravel_multi_index(outside, (4, 5), mode=mode)
        assert_same(covector.jit(lambda i: jnp.ravel_multi_index(i, (4, 5), mode))(outside), want)  # noqa: B023


def test_errors_of_positions():
    with pytest.raises(ValueError, match="coordinates array of ravel_multi_index: 9"):
        jnp.ravel_multi_index((np.array([1, 9]),), (4,))
    with pytest.raises(ConcretizationTypeError, match="mode='wrap' or mode='clip'"):
        covector.jit(lambda i: jnp.ravel_multi_index((i,), (4,)))(V)
    with pytest.raises(TypeError, match="only int indices permitted"):
        jnp.ravel_multi_index((np.array([1.0]),), (4,), dtype=int)
    with pytest.raises(ValueError, match="not large enough"):
        jnp.ravel_multi_index((V,), (400,), dtype="int8")
    with pytest.raises(ValueError, match="one array of indices for each dimension"):
        jnp.ravel_multi_index((V,), (4, 5))
    with pytest.raises(ValueError, match="shape should be a scalar or 1D sequence"):
        jnp.unravel_index(V, ((2, 3),))


# ---------------------------------------------------------------- grids


@pytest.mark.parametrize("key", (np.s_[0:3], np.s_[0:2, 1:5:2], np.s_[0:1:3j, 2:3], ()))
def test_grids(jax, key):
    assert_same(jnp.mgrid[key], jax.numpy.mgrid[key])
    assert_same(jnp.ogrid[key], jax.numpy.ogrid[key])
    if key:
        np.testing.assert_allclose(jnp.mgrid[key], np.mgrid[key])


JOINED = (
    np.s_[V, 0, 5:7],
    ("0,2", V, V),
    ("r", V, 4),
    ("c", V, 4),
    ("-1,2,0", V, V),
    ("1,3,1", V, V),
    ("0,3,-1", X, X),
    ("0,3,0", X, X),
    ("1,4,-2", X, X),
    np.s_[0:1:3j],
    5,
)


@pytest.mark.parametrize("key", JOINED, ids=str)
@pytest.mark.parametrize("name", ("r_", "c_"))
def test_joined(jax, name, key):
    try:
        want = getattr(jax.numpy, name)[key]
    except TypeError:  # shapes that do not fit
        with pytest.raises(TypeError, match="concatenate"):
            getattr(jnp, name)[key]
        return
    got = getattr(jnp, name)[key]
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype and len(jnp.r_) == 0


def test_errors_of_joined():
    with pytest.raises(ValueError, match="could not understand directive 'x'"):
        jnp.r_["x", V]
    with pytest.raises(ValueError, match="must be placed at the beginning"):
        jnp.c_[V, "r"]
    assert jnp.s_[1:, None] == jnp.index_exp[1:, None] == (slice(1, None), None)


# ---------------------------------------------------------------- edits

INSERTIONS = (
    (V, 1, 9, None),
    (V, np.array([2, 0, 2]), np.array([7, 8, 9]), None),
    (V, -1, 5.7, None),
    (V, slice(0, 3, 2), 5, None),
    (V, np.array([], int), np.array([]), None),
    (V, 1, np.array([4, 5, 6]), None),
    (X, 1, np.arange(4), 0),
    (X, 1, np.arange(3), 1),
    (X, np.array([1]), np.arange(3)[:, None], 1),
    (X, np.array([0, -1]), 5, -1),
    (np.float32(3), 0, 1, None),
)


@pytest.mark.parametrize("args", INSERTIONS, ids=str)
def test_insert(args):
    assert_same(jnp.insert(*args), np.insert(*args))
    if not isinstance(args[1], slice):
        got = covector.jit(lambda a, i, v: jnp.insert(a, i, v, args[3]))(*args[:3])
        assert_same(got, np.insert(*args))


DELETIONS = (
    *((V, 1, None), (V, -1, None), (V, slice(0, 2), None), (V, np.array([0, 2, 0]), None)),
    *((X, 1, None), (X, 1, 0), (X, slice(None, None, 2), 1), (X, np.array([3, 0]), 1)),
    *((V, np.array([True, False, True]), None), (V, np.array([], int), None)),
)


@pytest.mark.parametrize("args", DELETIONS, ids=str)
def test_delete(args):
    assert_same(jnp.delete(*args), np.delete(*args))


def test_delete_what_is_traced():
    unique = covector.jit(lambda i: jnp.delete(X, i, 1, assume_unique_indices=True))
    assert_same(unique(np.array([2, -4])), np.delete(X, [2, 0], 1))
    with pytest.raises(ConcretizationTypeError, match="assume_unique_indices=True"):
        covector.jit(lambda i: jnp.delete(V, i))(np.array([1]))
    with pytest.raises(ValueError, match="one-dimensional with length matching"):
        jnp.delete(V, np.array([True]))
    with pytest.raises((IndexError, ValueError), match="out of bounds"):
        jnp.delete(V, 5)


@pytest.mark.parametrize("axis", (None, 0, 1, -1))
def test_compress(axis):
    condition = np.array([False, True, True])
    want = np.compress(condition, X, axis)
    assert_same(jnp.compress(condition, X, axis), want)
    filled = covector.jit(lambda c, x: jnp.compress(c, x, axis, size=3, fill_value=-1))
    got = np.moveaxis(np.asarray(filled(condition, X)), 0 if axis is None else axis, 0)
    assert_same(got[:2], np.moveaxis(want, 0 if axis is None else axis, 0))
    assert (got[2] == -1).all()


def test_elements_by_condition():
    assert_same(jnp.extract(X > 4, X), np.extract(X > 4, X))
    assert_same(jnp.extract(X > 9, X, size=4, fill_value=-1), [10, 11, -1, -1])
    want = X.copy()
    np.place(want, X > 4, [1, 2])
    assert_same(jnp.place(X, X > 4, np.array([1, 2]), inplace=False), want)
    slope = covector.grad(lambda v: jnp.place(X, X > 4, v, inplace=False).sum())(jnp.ones(2))
    assert_same(slope, [4, 3])
    for bad, words in ((np.array([]), "empty array"), (X, "in-place")):
        with pytest.raises(ValueError, match=words):
            jnp.place(X, X > 4, bad, inplace=bad.size > 0)
    with pytest.raises(ValueError, match="out of bounds"):
        jnp.compress(np.ones(5), X, 0)


@pytest.mark.parametrize("value", (3, np.array([1, 2]), np.arange(9)))
def test_fill_diagonal(value):
    want = X.copy()
    np.fill_diagonal(want, value)
    assert_same(jnp.fill_diagonal(X, value, inplace=False), want)
    with pytest.raises(NotImplementedError, match="inplace=False"):
        jnp.fill_diagonal(X, value)
    with pytest.raises(ValueError, match="at least 2-d"):
        jnp.fill_diagonal(V, value, inplace=False)


def test_choose():
    choices = [np.array([1, 2, 3, 4]), np.array([10, 20, 30, 40]), 5]
    index = np.array([[2, 0, 1, 0]])
    assert_same(jnp.choose(index, choices), np.choose(index, choices))
    outside = np.array([-1, 7, 1, 2])
    for mode in ("wrap", "clip"):
        assert_same(jnp.choose(outside, choices, mode=mode), np.choose(outside, choices, mode=mode))
    with pytest.raises(ValueError, match="invalid entry in choice array of choose: -1"):
        jnp.choose(outside, choices)
    with pytest.raises(ValueError, match="invalid mode='x'"):
        jnp.choose(outside, choices, mode="x")


@pytest.mark.parametrize("trim", ("fb", "f", "b", "F"))
def test_trim_zeros(trim):
    for x in (np.array([0, 0, 1, 0, 2, 0]), np.zeros(3), np.zeros(0)):
        assert_same(jnp.trim_zeros(x, trim), np.trim_zeros(x, trim))
    square = np.pad(np.ones((2, 2)), ((1, 2), (0, 1)))
    assert jnp.trim_zeros(square).shape == (2, 2)
    assert jnp.trim_zeros(square, axis=-1).shape == (5, 2)
    with pytest.raises(ConcretizationTypeError, match="trim_zeros"):
        covector.jit(jnp.trim_zeros)(V)
