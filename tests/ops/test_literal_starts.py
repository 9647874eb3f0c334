"""Starts of dynamic slices that are Python integers must be indices of their dimensions."""

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector._src.base import config

X = np.arange(12.0, dtype=np.float32).reshape(3, 4)
ONE = np.ones((1, 4), np.float32)

# Calls, the start that is out of bounds, its axis, and the size of that.
OUTSIDE = {
    "dynamic_slice": (lambda x: lax.dynamic_slice(x, (0, 4), (3, 1)), 4, 1, 4),
    "dynamic_slice, negative": (lambda x: lax.dynamic_slice(x, (-4, 0), (1, 4)), -4, 0, 3),
    "dynamic_slice_in_dim": (lambda x: lax.dynamic_slice_in_dim(x, 3, 1), 3, 0, 3),
    "dynamic_index_in_dim": (lambda x: lax.dynamic_index_in_dim(x, 4, 1), 4, 1, 4),
    "dynamic_index_in_dim, last": (lambda x: lax.dynamic_index_in_dim(x, -5, -1), -5, 1, 4),
    "dynamic_update_slice": (lambda x: lax.dynamic_update_slice(x, ONE, (3, 0)), 3, 0, 3),
    "dynamic_update_slice_in_dim": (
        lambda x: lax.dynamic_update_slice_in_dim(x, ONE, 7, 0), 7, 0, 3,
    ),
    "dynamic_update_index_in_dim": (
        lambda x: lax.dynamic_update_index_in_dim(x, ONE[0], 3, 0), 3, 0, 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_is_an_error(name):
    call, start, axis, size = OUTSIDE[name]
    fact = (
        f"the index {start} is out of bounds for axis {axis} with size {size}. Parts at traced "
        "indices are moved; to have this one moved, clip its index, or turn on the flag `parity`."
    )
    for run in (call, cv.jit(call)):
        with pytest.raises(IndexError) as raised:
            run(X)
        assert str(raised.value).startswith("lax.dynamic_")
        assert str(raised.value).endswith(fact)


def test_with_parity_the_part_is_moved(jax):
    calls = [
        lambda lax: lax.dynamic_slice(X, (0, 4), (3, 1)),
        lambda lax: lax.dynamic_slice(X, (-4, 0), (1, 4)),
        lambda lax: lax.dynamic_index_in_dim(X, 4, 1),
        lambda lax: lax.dynamic_update_slice(X, ONE, (3, 0)),
        lambda lax: lax.dynamic_update_index_in_dim(X, ONE[0], 3, 0),
    ]
    with config.parity(True):
        for call in calls:
            np.testing.assert_array_equal(call(lax), call(jax.lax))


def test_what_is_known_only_at_run_time_is_moved(jax):
    for i in (np.array(9), np.int32(-9)):
        got = lax.dynamic_slice(X, (i, 0), (2, 4))
        np.testing.assert_array_equal(got, jax.lax.dynamic_slice(X, (i, 0), (2, 4)))
    got = cv.jit(lambda i: lax.dynamic_index_in_dim(X, i))(9)
    np.testing.assert_array_equal(got, X[2:])


def test_parts_that_stick_out_are_moved(jax):
    for start, sizes in [((0, 2), (3, 3)), ((-1, 0), (2, 4)), ((2, 3), (2, 2)), ((3, 0), (0, 4))]:
        got = lax.dynamic_slice(X, start, sizes)
        np.testing.assert_array_equal(got, jax.lax.dynamic_slice(X, start, sizes))


def test_inside_nothing_is_moved():
    np.testing.assert_array_equal(lax.dynamic_slice(X, (-2, 1), (2, 3)), X[1:, 1:])
    np.testing.assert_array_equal(lax.dynamic_index_in_dim(X, -1), X[2:])
    np.testing.assert_array_equal(lax.dynamic_slice(X, (0, 4), (3, 0)), X[:, 4:])
