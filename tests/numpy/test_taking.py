"""take, put, nonzero and their kin against JAX, eagerly and compiled."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector import errors

X = np.arange(12, dtype=np.float32).reshape(3, 4)
I = np.array([[0, 2, -1], [5, 1, -7]])
Z = np.array([[0, 1, 2], [0, 0, 3]])
LINES = [
    ((3, 4), (3, 2), 1),
    ((3, 4), (1, 2), 1),
    ((3, 4), (2, 4), 0),
    ((3, 4), (2, 1), 0),
    ((3, 1), (3, 2), 1),
    ((1, 4), (3, 2), 1),
    ((2, 3, 4), (2, 5, 4), 1),
    ((2, 1, 4), (2, 3, 2), 2),
    ((2, 3, 4), (1, 3, 2), -1),
    ((3, 0), (3, 0), 0),
    ((0, 3), (2, 3), 0),
    ((5,), (7,), 0),
]


def lines(shape, indices):
    rng = np.random.default_rng([*shape, *indices])
    return rng.normal(size=shape).astype(np.float32), rng.integers(-6, 6, indices)


ERRORS = (TypeError, ValueError, IndexError, NotImplementedError)


def results(m, call, args, compiled):
    """The leaves of a result, or the error."""
    run = m.jit(lambda *xs: call(m.numpy, *xs)) if compiled else lambda *xs: call(m.numpy, *xs)
    try:
        out = run(*[m.numpy.asarray(x) for x in args])
    except ERRORS as error:
        return error
    return out if isinstance(out, tuple) else (out,)


@pytest.fixture
def same(jax):
    """A check that a call gives the same with both modules, or the same kind of error."""

    def check(call, *args):
        theirs = results(jax, call, args, False)
        compare(results(covector, call, args, False), theirs)
        # JAX's program gives the same numbers, or else is refused while it is traced.
        try:
            jax.eval_shape(lambda *xs: call(jax.numpy, *xs), *args)
        except ERRORS as error:
            theirs = error
        compare(results(covector, call, args, True), theirs)

    def compare(ours, theirs):
        if isinstance(theirs, Exception):
            assert type(ours).__name__ == type(theirs).__name__, (ours, theirs)
            return
        assert not isinstance(ours, Exception), ours
        for x, y in zip(ours, theirs, strict=True):
            assert (x.dtype, x.shape) == (y.dtype, y.shape)
            np.testing.assert_array_equal(np.asarray(x), np.asarray(y))

    return check


@pytest.mark.parametrize("mode", [None, "fill", "clip", "wrap", "raise", "no"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_take(same, axis, mode):
    same(lambda np_, x, i: np_.take(x, i, axis=axis, mode=mode), X, I)


def test_take_of_other_things(same):
    same(lambda np_, x, i: np_.take(x, i, axis=0, fill_value=9), X, I)
    same(lambda np_, x, i: np_.take(x.astype(int), i), X, I)
    same(lambda np_, x, i: np_.take(x.astype("uint8"), i), X, I)
    same(lambda np_, x: np_.take(x, 1, 0), X)
    same(lambda np_, x: np_.take(x, 1.0), X)
    same(lambda np_, x: np_.take(x, 1, axis=5), X)
    same(lambda np_, x: np_.take(x, np_.zeros(0, int), axis=1), X)
    same(lambda np_, x: np_.take(x[:0], np_.array([0]), axis=0), X)
    same(lambda np_, x, i: x.take(i, 1), X, I)


@pytest.mark.parametrize("case", LINES, ids=str)
def test_take_along_axis(same, case):
    shape, indices, axis = case
    for mode in (None, "clip", "promise_in_bounds", "one_hot"):
        same(
            lambda np_, x, i, mode=mode: np_.take_along_axis(x, i, axis, mode=mode),
            *lines(shape, indices),
        )


@pytest.mark.parametrize("case", LINES, ids=str)
def test_put_along_axis(same, case):
    shape, indices, axis = case
    x, i = lines(shape, indices)
    # Of several values for one element, any may be written.
    same(lambda np_, x, i: np_.put_along_axis(x, i, 7.0, axis, inplace=False), x, i)


def test_along_an_axis_of_other_things(same):
    same(lambda np_, x, i: np_.take_along_axis(x, i, None), X, I[0])
    same(lambda np_, x, i: np_.take_along_axis(x, i, 0, mode="no"), X, I)
    same(lambda np_, x, i: np_.take_along_axis(x, i, 0), X, I[0])
    same(lambda np_, x, i: np_.take_along_axis(x, i, 0, fill_value=2.0), X, I[:, :1] * 9)
    same(lambda np_, x, i: np_.put_along_axis(x, i, np_.arange(3.0), None, inplace=False), X, I[0])
    same(lambda np_, x, i: np_.put_along_axis(x, i, 1, 0), X, I)
    same(lambda np_, x, i: np_.put_along_axis(x, i, np_.ones(9), 0, inplace=False), X, I)


@pytest.mark.parametrize("mode", [None, "clip", "wrap", "raise", "no"])
def test_put(same, mode):
    i, v = np.array([0, 5, -1, 14, -20]), np.array([1.0, 2.0], np.float32)
    same(lambda np_, x, i, v: np_.put(x, i, v, mode, inplace=False), X, i[:4], v)
    same(lambda np_, x, i, v: np_.put(x, i, v, mode, inplace=False), X, i, v[:1])
    same(lambda np_, x, i, v: np_.put(x, i, v, mode), X, i, v)


@pytest.mark.parametrize("size", [None, 0, 2, 3, 5, 8])
def test_nonzero(same, size):
    for fill in (None, -1) if size is None else (None, -1, (7, 8)):
        same(lambda np_, z, f=fill: np_.nonzero(z, size=size, fill_value=f), Z)
        same(lambda np_, z, f=fill: np_.where(z > 1, size=size, fill_value=f), Z)
        same(lambda np_, z, f=fill: np_.argwhere(z, size=size, fill_value=f), Z)
    same(lambda np_, z: np_.flatnonzero(z, size=size, fill_value=99), Z)
    same(lambda np_, z: np_.nonzero(z[:0], size=size), Z)


def test_nonzero_of_other_things(same):
    same(lambda np_, z: z.nonzero(), Z)
    same(lambda np_, z: np_.nonzero(z[0, 1]), Z)
    same(lambda np_, z: np_.argwhere(z[0, 1], size=1), Z)
    same(lambda np_, z: np_.nonzero(z, size=2, fill_value=(1, 2, 3)), Z)
    same(lambda np_, z: z[np_.nonzero(z, size=3)], Z)
    assert [x.tolist() for x in jnp.argwhere(jnp.array(5.0))] == [[]]
    rng = np.random.default_rng(0)
    many = rng.random((40, 50)) < 0.3
    for got, want in zip(jnp.nonzero(many, size=700, fill_value=-1), np.nonzero(many)):
        assert got.tolist() == [*want, *[-1] * (700 - want.size)]


def test_nonzero_of_traced_arrays():
    def positions(values):
        return jnp.nonzero(values)

    with pytest.raises(errors.ConcretizationTypeError) as raised:
        covector.jit(positions)(jnp.arange(3))
    for part in ("[nonzero]", "int32[3]", "the argument values", "Give `size`"):
        assert part in str(raised.value)


def test_repeat(same):
    for repeats in ([1, 2, 0], [3], [0, 0, 0], [5, 0, 1]):
        same(lambda np_, x, r=repeats: np_.repeat(x, np.array(r), axis=0), X)
        same(
            lambda np_, x, r: np_.repeat(x, r, axis=0, total_repeat_length=4),
            X,
            np.array(repeats),
        )
        same(lambda np_, x, r: np_.repeat(x, r, total_repeat_length=9), X[0, :3], np.array(repeats))
    same(lambda np_, x: np_.repeat(x, np.array([1, 2]), axis=0), X)
    with pytest.raises(errors.ConcretizationTypeError, match="total_repeat_length"):
        covector.jit(lambda x, r: jnp.repeat(x, r))(jnp.arange(3), jnp.arange(3))


def test_derivatives(jax):
    i = np.array([[0, 2, 2], [1, 1, 9]])

    def program(m):
        def loss(x):
            a = m.numpy.take(x, i, axis=1, mode="clip")
            b = m.numpy.take_along_axis(x, i, 0, mode="clip")
            c = m.numpy.put_along_axis(x, i % 3, x[:2] * 3, 0, inplace=False)
            return m.numpy.sum(a**2) + m.numpy.sum(b**3) + m.numpy.sum(m.numpy.sin(c))

        return m.jit(m.grad(loss))

    x = X[:, :3] / 7
    ours, theirs = program(covector)(x), program(jax)(x)
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-5, atol=1e-5)
