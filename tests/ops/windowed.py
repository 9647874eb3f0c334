"""What the tests of convolutions, windows and cumulative reductions share: the comparison.

A program takes a module, Covector or JAX, and returns a function of arrays; so that both run the
same.
"""

import re

import ml_dtypes  # noqa: F401  makes bfloat16 known to NumPy
import numpy as np

import covector


def draw(shape, dtype="float32", seed=0):
    """Random numbers of a dtype, none of them large."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return rng.integers(1 if dtype.kind == "u" else -4, 5, shape).astype(dtype)
    values = rng.uniform(-2, 2, shape)
    if dtype.kind == "c":
        values = values + 1j * rng.uniform(-2, 2, shape)
    return values.astype(dtype)


def leaves(result):
    """The arrays of a result as NumPy arrays."""
    return [np.asarray(x) for x in covector.tree.leaves(result)]


def assert_close(ours, theirs, tolerance=1e-4):
    """Raise unless two results have the same dtypes, shapes, and about the same values."""
    ours, theirs = leaves(ours), leaves(theirs)
    assert [(x.dtype, x.shape) for x in ours] == [(x.dtype, x.shape) for x in theirs]
    for x, y in zip(ours, theirs):
        wide = np.complex128 if x.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(x.astype(wide), y.astype(wide), tolerance, tolerance)


def same_in_jax(jax, program, args, tolerance=1e-4):
    """Raise unless a program has the same results in Covector, compiled and on NumPy, and JAX."""
    theirs = jax.jit(program(jax))(*args)
    ours = program(covector)
    assert_close(covector.jit(ours)(*args), theirs, tolerance)
    with covector.reference_mode():
        assert_close(ours(*args), theirs, tolerance)


def text(m, program, args):
    """The printed jaxpr of a program, without differences in white space and integer types."""
    printed = str(m.make_jaxpr(program(m))(*args))
    return re.sub(r"\s+", "", re.sub(r"np\.int64\((-?\d+)\)", r"\1", printed))
