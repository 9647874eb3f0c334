"""What the tests of linear algebra share: random matrices, and comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

import covector as cv


def matrix(rng: np.random.Generator, *shape: int, dtype: Any = np.float32) -> np.ndarray:
    """A random array of normal numbers."""
    x = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.normal(size=shape)
    return np.asarray(x, dtype)


def hermitian(rng: np.random.Generator, *shape: int, dtype: Any = np.float32) -> np.ndarray:
    x = matrix(rng, *shape, dtype=dtype)
    return x + np.swapaxes(x, -1, -2).conj()


def positive(rng: np.random.Generator, *shape: int, dtype: Any = np.float32) -> np.ndarray:
    """A random positive definite matrix."""
    x = matrix(rng, *shape, dtype=dtype)
    return x @ np.swapaxes(x, -1, -2).conj() + np.eye(shape[-1], dtype=dtype)


def assert_same(ours: Any, theirs: Any, tol: float = 1e-4) -> None:
    """Two trees of arrays agree in shapes and dtypes, and nearly in values."""
    xs, ys = cv.tree.leaves(ours), cv.tree.leaves(theirs)
    assert len(xs) == len(ys)
    for x, y in zip(map(np.asarray, xs), map(np.asarray, ys)):
        assert x.shape == y.shape and x.dtype == y.dtype
        if x.dtype.names is None:
            np.testing.assert_allclose(x, y, tol, tol)


def directions(args: Any) -> tuple[np.ndarray, ...]:
    """A fixed tangent for each of some arrays."""
    rng = np.random.default_rng(1)
    return tuple([matrix(rng, *x.shape, dtype=x.dtype) for x in args])


def assert_differences(fun: Any, args: Any, h: float = 1e-6) -> None:
    """In 64 bits, the tangents of `fun` are its central differences."""
    rng = np.random.default_rng(2)
    wide = [np.asarray(x, np.result_type(x.dtype, np.float64)) for x in args]
    ts = tuple([matrix(rng, *x.shape, dtype=x.dtype) for x in wide])
    with cv.enable_x64(True):
        forward = cv.jit(lambda *xs: cv.jvp(fun, xs, ts))
        tangents = cv.tree.leaves(forward(*wide)[1])
        ends = [forward(*[x + s * h * t for x, t in zip(wide, ts)])[0] for s in (1, -1)]
    ahead, behind = [cv.tree.leaves(end) for end in ends]
    for tangent, a, b in zip(tangents, ahead, behind):
        difference = (np.asarray(a) - np.asarray(b)) / (2 * h)
        np.testing.assert_allclose(np.asarray(tangent), difference, 1e-5, 1e-5)
