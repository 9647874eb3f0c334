"""`block_until_ready` and `device_get`."""

import numpy as np

import covector as cv
import covector.numpy as jnp


def test_block_until_ready_returns_the_tree_itself():
    tree = {"a": jnp.ones(3) * 2, "b": [1.0, "text", None, np.ones(2)]}
    assert cv.block_until_ready(tree) is tree


def test_block_until_ready_of_traced_values():
    np.testing.assert_array_equal(
        cv.jit(lambda x: cv.block_until_ready(x + 1))(jnp.ones(2)), [2, 2]
    )


def test_block_until_ready_asks_every_leaf():
    class Waiting:
        waited = 0

        def block_until_ready(self):
            Waiting.waited += 1

    cv.block_until_ready([Waiting(), {"x": Waiting()}])
    assert Waiting.waited == 2


def test_device_get():
    got = cv.device_get({"x": jnp.arange(3), "n": 3, "none": None, "text": "a", "np": np.ones(2)})
    assert type(got["x"]) is np.ndarray and got["x"].dtype == np.int32
    np.testing.assert_array_equal(got["x"], [0, 1, 2])
    assert got["n"] == 3 and got["none"] is None and got["text"] == "a"
    np.testing.assert_array_equal(got["np"], np.ones(2))


def test_device_get_leaves_traced_values_alone():
    assert float(cv.grad(lambda x: cv.device_get(x) ** 2)(3.0)) == 6.0
