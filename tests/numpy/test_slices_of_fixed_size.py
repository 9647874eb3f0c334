"""`ds(start, size)` in the brackets of arrays: starts that are known or not, in all company."""

import numpy as np
import pytest

# `x` has 10 elements, `m` is a matrix, `t` of rank 3; `i` is an integer that is traced under jit.
READS = {
    "the whole index": "x[ds(i, 3)]",
    "with a step": "x[ds(i, 3, 2)]",
    "empty": "x[ds(i, 0)]",
    "beside an integer": "m[ds(i, 2), 1]",
    "beside another integer": "m[1, ds(i, 2)]",
    "two": "m[ds(i, 2), ds(i, 3)]",
    "beside an array": "m[ds(i, 2), jnp.array([0, 1])]",
    "between arrays": "t[jnp.array([0, 2]), ds(i, 2), jnp.array([1, 1])]",
    "around an array": "t[ds(i, 2), jnp.array([0, 3]), ds(i, 3)]",
    "beside dots": "t[..., ds(i, 2)]",
    "beside a new dimension": "m[None, ds(i, 2), None]",
    "beside a slice": "m[1:, ds(i, 2)]",
    "filled": "x.at[ds(i, 3)].get(mode='fill', fill_value=-1)",
    "slope": "jax.grad(lambda y: (y[ds(i, 3)] ** 2).sum())(x)",
}
WRITES = {
    "set": "x.at[ds(i, 3)].set(-1)",
    "set to several": "x.at[ds(i, 2)].set(jnp.array([5, 6]))",
    "added": "m.at[ds(i, 2)].add(7)",
    "multiplied, two": "m.at[ds(i, 2), ds(i, 2)].multiply(2)",
    "beside an integer": "m.at[ds(i, 2), 1].set(7)",
    "beside an array": "m.at[ds(i, 2), jnp.array([0, 3])].set(7)",
    "applied": "x.at[ds(i, 2)].apply(lambda v: 10 * v)",
}


def evaluate(jax, expression, i):
    jnp = jax.numpy
    arrays = {"x": jnp.arange(10.0), "m": jnp.arange(12.0).reshape(3, 4)}
    arrays |= {"t": jnp.arange(60.0).reshape(3, 4, 5)}
    return eval(expression, {"jax": jax, "jnp": jnp, "ds": jax.ds, "i": i, **arrays})


# In the middle, at the end, beyond it, counted from the end, and before the beginning.
STARTS = [1, 8, 12, -2, -15]


@pytest.mark.parametrize("expression", [*READS.values(), *WRITES.values()])
def test_slices_are_those_of_jax(jax, expression):
    import covector as cv

    ours = cv.jit(lambda i: evaluate(cv, expression, i))
    theirs = jax.jit(lambda i: evaluate(jax, expression, i))
    for i in STARTS:
        np.testing.assert_array_equal(ours(i), theirs(i), err_msg=f"traced {i}")
        np.testing.assert_array_equal(
            evaluate(cv, expression, cv.numpy.int32(i)), theirs(i), err_msg=f"an array {i}"
        )
    np.testing.assert_array_equal(evaluate(cv, expression, 1), theirs(1))


def test_batches_of_starts(jax):
    import covector as cv

    starts = np.array([0, 5, 9])
    ours = cv.vmap(lambda i: evaluate(cv, READS["the whole index"], i))(starts)
    theirs = jax.vmap(lambda i: evaluate(jax, READS["the whole index"], i))(starts)
    np.testing.assert_array_equal(ours, theirs)


def test_a_known_start():
    import covector as cv

    x = cv.numpy.arange(10)
    np.testing.assert_array_equal(x[cv.ds(4, 3)], [4, 5, 6])
    np.testing.assert_array_equal(x[cv.ds(-3, 3)], [7, 8, 9])
    np.testing.assert_array_equal(x[cv.ds(9, 3)], [7, 8, 9])  # moved to where it fits
    np.testing.assert_array_equal(x[cv.ds(1, 3, 2)], [1, 3, 5])
    with pytest.raises(TypeError, match="11"):
        x[cv.ds(0, 11)]
