"""One program run by Covector and by JAX: what the tests of compositions are made of."""

import numpy as np
import pytest

import covector as cv
import covector.numpy
import covector.tree


@pytest.fixture
def same_as_jax(jax):
    """Run `program(library)` with both libraries, and compare the results leaf by leaf.

    Structure, shapes, dtypes and weak types must be equal; numbers equal up to rounding. Returns
    Covector's result. JAX, which would compile each op by itself, runs all as one program, but for
    what it takes only op by op: `in_one` is then false.
    """

    def check(program, rtol=1e-5, in_one=True):
        got = program(cv)
        got_leaves, got_tree = cv.tree.flatten(got)
        # What passes through untouched and is no array would be one as a result of a program.
        of_arrays = all(hasattr(x, "weak_type") or is_float0(x) for x in got_leaves)
        want = jax.jit(lambda: program(jax))() if in_one and of_arrays else program(jax)
        want_leaves, want_tree = jax.tree.flatten(want)
        assert str(got_tree) == str(want_tree)
        for x, y in zip(got_leaves, want_leaves):
            assert_same(x, y, rtol)
        return got

    return check


def assert_same(x, y, rtol):
    """One leaf of Covector's against one of JAX's."""
    assert np.shape(x) == np.shape(y)
    if is_float0(y):
        assert is_float0(x)
        return
    # A number that passes through untouched comes back as an array where JAX keeps it a number.
    if not isinstance(y, (int, float, complex, np.ndarray, np.generic)):
        assert (x.dtype, x.weak_type) == (y.dtype, y.weak_type)
    np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=rtol)


def is_float0(x):
    return np.asarray(x).dtype.kind == "V"
