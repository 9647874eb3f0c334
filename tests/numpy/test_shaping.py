"""Functions that move elements: values against NumPy's own, types against JAX 0.10.2."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from tests.numpy.comparing import array, assert_close, assert_same_type

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

# Calls with one meaning in NumPy, JAX and here.
SAME_IN_NUMPY = {
    "reshape": lambda np, x, y: np.reshape(x, (3, 2)),
    "reshape to -1": lambda np, x, y: np.reshape(y, (4, -1)),
    "reshape in Fortran's order": lambda np, x, y: np.reshape(y, (4, 6), order="F"),
    "ravel": lambda np, x, y: np.ravel(y),
    "ravel in Fortran's order": lambda np, x, y: np.ravel(y, order="F"),
    "transpose": lambda np, x, y: np.transpose(y),
    "transpose by axes": lambda np, x, y: np.transpose(y, (1, -1, 0)),
    "swapaxes": lambda np, x, y: np.swapaxes(y, 0, -1),
    "moveaxis": lambda np, x, y: np.moveaxis(y, 0, -1),
    "moveaxis of several": lambda np, x, y: np.moveaxis(y, (0, 1), (-1, 0)),
    "rollaxis": lambda np, x, y: np.rollaxis(y, 2, 1),
    "expand_dims": lambda np, x, y: np.expand_dims(x, (0, -1)),
    "squeeze": lambda np, x, y: np.squeeze(x[None, :, :, None]),
    "squeeze an axis": lambda np, x, y: np.squeeze(x[None, :, :, None], -1),
    "broadcast_to": lambda np, x, y: np.broadcast_to(x, (4, 2, 3)),
    "broadcast_arrays": lambda np, x, y: list(np.broadcast_arrays(x[:, :1], y[0, :, 0])),
    "atleast_1d": lambda np, x, y: np.atleast_1d(x[0, 0]),
    "atleast_2d": lambda np, x, y: np.atleast_2d(x[0]),
    "atleast_3d": lambda np, x, y: np.atleast_3d(x[0]),
    "atleast_3d of a matrix": lambda np, x, y: np.atleast_3d(x),
    "flip": lambda np, x, y: np.flip(y),
    "flip an axis": lambda np, x, y: np.flip(y, (0, -1)),
    "fliplr": lambda np, x, y: np.fliplr(x),
    "flipud": lambda np, x, y: np.flipud(x),
    **{f"rot90 {k}": (lambda np, x, y, k=k: np.rot90(y, k, (2, 0))) for k in range(-2, 4)},
    "roll": lambda np, x, y: np.roll(y, 5),
    "roll an axis": lambda np, x, y: np.roll(y, -1, 2),
    "roll several": lambda np, x, y: np.roll(y, (1, 7), (0, 2)),
    "roll several alike": lambda np, x, y: np.roll(y, 1, (0, 2)),
    "roll one twice": lambda np, x, y: np.roll(y, (1, 2), 2),
    "concatenate": lambda np, x, y: np.concatenate([x, x[:1]]),
    "concatenate an axis": lambda np, x, y: np.concatenate([x, x[:, :1]], axis=-1),
    "concatenate raveled": lambda np, x, y: np.concatenate([x, y], axis=None),
    "concatenate one array": lambda np, x, y: np.concatenate(y),
    "stack": lambda np, x, y: np.stack([x, x + 1], axis=-1),
    "stack one array": lambda np, x, y: np.stack(y),
    "hstack": lambda np, x, y: np.hstack([x, x]),
    "hstack of vectors": lambda np, x, y: np.hstack([x[0], x[1]]),
    "vstack": lambda np, x, y: np.vstack([x[0], x]),
    "dstack": lambda np, x, y: np.dstack([x, x]),
    "column_stack": lambda np, x, y: np.column_stack([x[:, 0], x]),
    "block": lambda np, x, y: np.block([[x, x], [x + 1, x + 2]]),
    "block of ranks": lambda np, x, y: np.block([x[0], x[0, 0]]),
    "append": lambda np, x, y: np.append(x, y),
    "append to an axis": lambda np, x, y: np.append(x, x, axis=1),
    "split": lambda np, x, y: np.split(y, 2),
    "split at indices": lambda np, x, y: np.split(y, [1, 3], axis=2),
    "split at negative indices": lambda np, x, y: np.split(y, [-2], axis=2),
    "split at falling indices": lambda np, x, y: np.split(y, [3, 1], axis=2),
    "split beyond the end": lambda np, x, y: np.split(y, [2, 9], axis=2),
    "array_split": lambda np, x, y: np.array_split(y, 3, axis=2),
    "hsplit": lambda np, x, y: np.hsplit(y, 3),
    "vsplit": lambda np, x, y: np.vsplit(y, 2),
    "dsplit": lambda np, x, y: np.dsplit(y, 2),
    "tile": lambda np, x, y: np.tile(x, 2),
    "tile more ranks": lambda np, x, y: np.tile(x, (2, 1, 2)),
    "tile fewer ranks": lambda np, x, y: np.tile(y, (2, 1)),
    "repeat": lambda np, x, y: np.repeat(x, 2),
    "repeat along an axis": lambda np, x, y: np.repeat(y, 3, axis=1),
    "repeat none": lambda np, x, y: np.repeat(x, 0, axis=0),
}
# JAX refuses these indices.
ONLY_IN_NUMPY = {"split at negative indices", "split at falling indices", "split beyond the end"}


def test_values(jax):
    def program(x, y):
        return {name: call(jnp, x, y) for name, call in SAME_IN_NUMPY.items()}

    got = covector.jit(program)(X, Y)
    for name, call in SAME_IN_NUMPY.items():
        want = call(np, X, Y)
        assert_close(got[name], want, name)
        if name not in ONLY_IN_NUMPY:
            assert_same_type(jax, call, X, Y, what=name)
        assert_close(call(jnp, jnp.asarray(X), jnp.asarray(Y)), want, f"eager {name}")


@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "complex64"])
def test_dtypes_are_kept(jax, dtype):
    x, y = array((2, 3), dtype), array((2, 3, 4), dtype)
    for name, call in SAME_IN_NUMPY.items():
        if name not in ONLY_IN_NUMPY:
            assert_same_type(jax, call, x, y, what=name)


def test_vectorized():
    """Every function commutes with vmap."""
    x, y = np.stack([X, X + 1, X * 2]), np.stack([Y, Y + 1, Y * 2])
    got = covector.jit(
        covector.vmap(lambda x, y: [call(jnp, x, y) for call in SAME_IN_NUMPY.values()])
    )(x, y)
    for (name, call), g in zip(SAME_IN_NUMPY.items(), got):
        for i in range(3):
            mine = [part[i] for part in g] if isinstance(g, list) else g[i]
            assert_close(mine, call(np, x[i], y[i]), name)


def test_traced_roll():
    f = covector.jit(lambda x, k: jnp.roll(x, k, 1))
    g = covector.jit(lambda x, k: jnp.roll(x, k))
    h = covector.jit(lambda x, k: jnp.roll(x, (k, 1), (0, 1)))
    for k in (-7, -1, 0, 2, 11):
        np.testing.assert_array_equal(np.asarray(f(X, k)), np.roll(X, k, 1))
        np.testing.assert_array_equal(np.asarray(g(X, k)), np.roll(X, k))
        np.testing.assert_array_equal(np.asarray(h(X, k)), np.roll(X, (k, 1), (0, 1)))


def test_methods():
    x = jnp.asarray(Y)
    assert x.reshape(4, 6).shape == x.reshape((4, -1)).shape == (4, 6)
    assert x.reshape(-1).shape == x.flatten().shape == x.ravel().shape == (24,)
    assert x.T.shape == x.transpose().shape == x.transpose(None).shape == (4, 3, 2)
    assert x.transpose(1, 0, 2).shape == x.transpose((1, 0, 2)).shape == (3, 2, 4)
    assert x.mT.shape == (2, 4, 3) and x.swapaxes(0, 1).shape == (3, 2, 4)
    assert (x.nbytes, x.itemsize, x.size, x.ndim) == (96, 4, 24, 3)
    assert x[None].squeeze().shape == x.shape and x.repeat(2, axis=0).shape == (4, 3, 4)
    assert jnp.size(x, 1) == 3 and jnp.size(x, (0, 2)) == 8 and jnp.ndim([1.0][0]) == 0
    assert jnp.isscalar(2.0) and jnp.isscalar(x[0, 0, 0]) and not jnp.isscalar(x)


@pytest.mark.parametrize(
    ("f", "error", "words"),
    [
        (lambda x: jnp.reshape(x, (4, 2)), TypeError, "cannot reshape array of shape (2, 3)"),
        (lambda x: jnp.reshape(x, (4, -1)), TypeError, "into shape (4, -1)"),
        (lambda x: jnp.reshape(x, (-1, -1)), TypeError, "into shape (-1, -1)"),
        (lambda x: jnp.reshape(x, 6, order="X"), ValueError, "order"),
        (lambda x: jnp.transpose(x, (0, 0)), ValueError, "no permutation"),
        (lambda x: jnp.swapaxes(x, 0, 2), ValueError, "axis 2 is out of bounds"),
        (lambda x: jnp.moveaxis(x, (0, 1), 0), ValueError, "`source` and `destination`"),
        (lambda x: jnp.expand_dims(x, (0, 0)), ValueError, "duplicate value"),
        (lambda x: jnp.squeeze(x, 0), ValueError, "unless its size is 1"),
        (lambda x: jnp.broadcast_to(x, (3, 2)), ValueError, "broadcasting: (2, 3) to (3, 2)"),
        (lambda x: jnp.broadcast_arrays(x, x.T), ValueError, "(2, 3), (3, 2)"),
        (lambda x: x + x.T, TypeError, "incompatible shapes for broadcasting: (2, 3), (3, 2)"),
        (lambda x: jnp.where(x > 0, x, x.T), ValueError, "(2, 3), (2, 3), (3, 2)"),
        (lambda x: jnp.rot90(x, 1, (1, 1)), ValueError, "axis1 and axis2 can not be same"),
        (lambda x: jnp.roll(x, (1, 2), (0, 1, 1)), ValueError, "numbers of shifts and of axes"),
        (lambda x: jnp.concatenate([]), ValueError, "Need at least one array"),
        (lambda x: jnp.concatenate([1, 2]), ValueError, "Zero-dimensional arrays"),
        (lambda x: jnp.concatenate([x, x.T]), TypeError, "(2, 3), (3, 2)"),
        (lambda x: jnp.concatenate([x, [1]]), TypeError, "at position 1"),
        (lambda x: jnp.stack([x, x.T]), ValueError, "(2, 3), (3, 2)"),
        (lambda x: jnp.split(x, 2, axis=1), ValueError, "does not result in an equal division"),
        (lambda x: jnp.array_split(x, 0), ValueError, "must be larger than 0"),
        (lambda x: jnp.block([[x], x]), ValueError, "nested equally deep"),
        (lambda x: jnp.block((x, x)), TypeError, "got a tuple"),
        (lambda x: jnp.ravel(x, "X"), ValueError, "order"),
        (lambda x: x.flat, NotImplementedError, "ravel"),
    ],
)
def test_errors(f, error, words):
    for g in (f, covector.jit(f)):
        with pytest.raises(error) as info:
            g(jnp.asarray(X))
        assert words in str(info.value)


DIFFERENCES = {
    "diff": lambda np, y: np.diff(y),
    "second": lambda np, y: np.diff(y, 2, axis=0),
    "none": lambda np, y: np.diff(y, 0),
    "too many": lambda np, y: np.diff(y, 3, axis=0),
    "with ends": lambda np, y: np.diff(y, axis=1, prepend=y[:, :1], append=y[:, -1:]),
    "of booleans": lambda np, y: np.diff(y > 3),
    "ediff1d": lambda np, y: np.ediff1d(y),
    "ediff1d with ends": lambda np, y: np.ediff1d(y, to_end=y[0, 0], to_begin=-1),
    "resize": lambda np, y: np.resize(y, (5, 7)),
    "resize to less": lambda np, y: np.resize(y, (2, 2)),
    "resize to nothing": lambda np, y: np.resize(y, (0, 3)),
}


def test_differences(jax):
    y = (Y * 7) % 11
    got = covector.jit(lambda y: [call(jnp, y) for call in DIFFERENCES.values()])(y)
    for (name, call), g in zip(DIFFERENCES.items(), got):
        assert_close(g, call(np, y), name)
        assert_close(call(jnp, y), call(np, y), f"eager {name}")
        assert_same_type(jax, call, y, what=name)


def test_counts_of_tile_may_be_an_array():
    assert jnp.tile(jnp.arange(2), jnp.array([2, 3])).tolist() == [[0, 1] * 3] * 2
    assert jnp.tile(jnp.arange(2), jnp.array(2)).tolist() == [0, 1] * 2
