"""Trees of thousands of leaves: errors are found in linear time, and told in short texts."""

import time

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax

COUNT = 3000
TREE = {f"k{i}": np.float32(i) for i in range(COUNT)}
LESS = {key: TREE[key] for key in list(TREE)[1:]}
UNEVEN = {f"k{i}": np.ones(i % 7 + 1) for i in range(COUNT)}


def raised(carry, x):
    return {key: value + 1.5 for key, value in carry.items()}, x


WRONG = {
    "map": lambda: cv.tree.map(lambda x, y: x, TREE, LESS),
    "jvp": lambda: cv.jvp(lambda t: t, (TREE,), (LESS,)),
    "cond": lambda: lax.cond(True, lambda: TREE, lambda: {"k": 1.0}),
    "in_axes": lambda: cv.vmap(lambda t: t, in_axes=(dict.fromkeys(LESS, 0),))(TREE),
    "vmap of scalars": lambda: cv.vmap(lambda t: t)(TREE),
    "vmap of several sizes": lambda: cv.vmap(lambda t: t)(UNEVEN),
    "scan over several sizes": lambda: lax.scan(lambda c, x: (c, x), 0, UNEVEN),
    "a carry": lambda: lax.scan(raised, {k: np.int32(0) for k in TREE}, jnp.ones(3)),
    "grad": lambda: cv.grad(lambda t: t)(TREE),
}


@pytest.mark.parametrize("name", WRONG)
def test_texts_of_errors_are_short(name):
    start = time.process_time()
    with pytest.raises((TypeError, ValueError)) as caught:
        WRONG[name]()
    assert len(str(caught.value)) < 5000
    assert time.process_time() - start < 3


def test_looking_for_keys_takes_linear_time():
    tree = dict.fromkeys(range(100_000), 1.0)
    start = time.process_time()
    with pytest.raises(ValueError, match="only in tree 1: 0"):
        cv.tree.map(lambda x, y: x, tree, {key: 1.0 for key in tree if key})
    assert time.process_time() - start < 5
