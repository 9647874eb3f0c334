"""Ragged and scaled products against JAX, and their derivatives."""

import numpy as np
import pytest

import covector as cv
from covector import lax

R = np.random.default_rng(0)
ROWS = R.standard_normal((7, 3)).astype(np.float32)
MATRICES = R.standard_normal((3, 3, 4)).astype(np.float32)
SIZES = np.array([2, 0, 4], np.int32)


def numbers(m, contracting, batch, ragged, group):
    return m.lax.RaggedDotDimensionNumbers((contracting, batch), ragged, group)


CASES = {
    "rows": lambda m: m.lax.ragged_dot(ROWS, MATRICES, SIZES),
    "all rows": lambda m: m.lax.ragged_dot(ROWS, MATRICES, np.array([3, 3, 1])),
    "bfloat16": lambda m: m.lax.ragged_dot(
        ROWS, MATRICES, SIZES, preferred_element_type=m.numpy.bfloat16
    ),
    "jit": lambda m: m.jit(m.lax.ragged_dot)(ROWS, MATRICES, SIZES),
    "sums": lambda m: m.lax.ragged_dot_general(
        ROWS, ROWS, SIZES, numbers(m, ((0,), (0,)), ((), ()), (0,), ())
    ),
    "batches": lambda m: m.lax.ragged_dot_general(
        np.stack([ROWS] * 2), np.stack([MATRICES] * 2, 1), np.stack([SIZES, SIZES[::-1]]),
        numbers(m, ((2,), (2,)), ((0,), (1,)), (1,), (0,)),
    ),
    "ragged batches": lambda m: m.lax.ragged_dot_general(
        np.stack([ROWS] * 3), np.stack([ROWS.T] * 3), np.array([1, 2]),
        numbers(m, ((2,), (1,)), ((0,), (0,)), (0,), ()),
    ),
    "gradients": lambda m: m.grad(
        lambda x, y: (m.lax.ragged_dot(x, y, SIZES) ** 2).sum(), (0, 1)
    )(ROWS, MATRICES),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_as_jax(name, jax):
    for got, want in zip(*[m.tree.leaves(CASES[name](m)) for m in (cv, jax)]):
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(
            np.asarray(got, np.float32), np.asarray(want, np.float32), rtol=1e-5, atol=1e-5
        )


def test_vmap():  # over the rows alone, which JAX refuses
    got = cv.vmap(lax.ragged_dot, (0, None, None))(np.stack([ROWS, 2 * ROWS]), MATRICES, SIZES)
    one = np.asarray(lax.ragged_dot(ROWS, MATRICES, SIZES))
    np.testing.assert_allclose(got, np.stack([one, 2 * one]), rtol=1e-5)


def test_scaled_dot():
    x, scale = ROWS[:6].reshape(2, 9), R.uniform(1, 2, (2, 3)).astype(np.float32)
    y = R.standard_normal((9, 5)).astype(np.float32)
    got = lax.scaled_dot(x, y, lhs_scale=scale, preferred_element_type=np.float32)
    np.testing.assert_allclose(got, (x * np.repeat(scale, 3, 1)) @ y, rtol=1e-5)
    assert lax.scaled_dot(x, y).dtype == "bfloat16"


def test_bad_input():
    with pytest.raises(TypeError, match=r"group_sizes must be integers.*float32"):
        lax.ragged_dot(ROWS, MATRICES, SIZES.astype(np.float32))
    with pytest.raises(TypeError, match="3 groups, but there are 2"):
        lax.ragged_dot(ROWS, MATRICES, SIZES[:2])
    with pytest.raises(NotImplementedError, match="group_offset"):
        lax.ragged_dot(ROWS, MATRICES, SIZES, group_offset=np.array([1]))
    with pytest.raises(TypeError, match=r"scales of shape \(2, 2\)"):
        lax.scaled_dot(ROWS[:6], ROWS.T, lhs_scale=np.ones((2, 2), np.float32))
