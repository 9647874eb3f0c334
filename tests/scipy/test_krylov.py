"""Iterative solvers: solutions beside direct ones, trees, preconditioners, derivatives."""

import inspect
from functools import partial

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.scipy.sparse import linalg

SOLVERS = {
    "cg": linalg.cg,
    "bicgstab": linalg.bicgstab,
    "gmres": linalg.gmres,
    "gmres, incremental": partial(linalg.gmres, solve_method="incremental"),
}


@pytest.fixture(autouse=True)
def strict():
    """In double precision, and without implicit conversions."""
    with cv.enable_x64(True), cv.numpy_dtype_promotion("strict"), cv.numpy_rank_promotion("raise"):
        yield


def matrix(name, dtype="float64", n=6):
    rng = np.random.default_rng(n)
    a = rng.normal(size=(n, n)).astype(dtype)
    if dtype == "complex128":
        a = a + 1j * rng.normal(size=(n, n))
    return a @ a.conj().T + np.eye(n) if name == "cg" else a + 4 * np.eye(n)


def right_hand_side(dtype="float64", n=6):
    b = np.random.default_rng(7).normal(size=n).astype(dtype)
    return b * (1 + 2j) if dtype == "complex128" else b


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", list(SOLVERS))
def test_solutions(name, dtype):
    a, b = matrix(name, dtype), right_hand_side(dtype)
    solve = cv.jit(partial(SOLVERS[name], tol=1e-12))
    x = np.asarray(solve(a, b)[0])
    assert x.dtype == b.dtype
    np.testing.assert_allclose(a @ x, b, atol=1e-9)
    np.testing.assert_allclose(solve(a, 0 * b)[0], 0 * b)


@pytest.mark.parametrize("name", list(SOLVERS))
def test_derivatives(name):
    a, b, w = matrix(name, n=4), right_hand_side(n=4), np.arange(4.0)
    slopes = cv.grad(lambda a, b: w @ SOLVERS[name](a, b, tol=1e-12)[0], (0, 1))(a, b)
    # x = A^-1 b, so that dx = A^-1 (db - dA x).
    adjoint = np.linalg.solve(a.T, w)
    np.testing.assert_allclose(slopes[1], adjoint, atol=1e-9)
    np.testing.assert_allclose(slopes[0], -np.outer(adjoint, np.linalg.solve(a, b)), atol=1e-9)


@pytest.mark.parametrize("name", list(SOLVERS))
def test_trees_preconditioners_and_first_guesses(name):
    diagonal = {"a": jnp.arange(1.0, 4.0), "b": (jnp.array([[5.0, 6.0]]),)}
    b = cv.tree.map(lambda d: d * d, diagonal)

    def product(x):
        return cv.tree.map(jnp.multiply, diagonal, x)

    def inverse(x):
        return cv.tree.map(jnp.divide, x, diagonal)

    x, _ = SOLVERS[name](product, b, M=inverse, maxiter=1)
    cv.tree.map(partial(np.testing.assert_allclose, rtol=1e-12), x, diagonal)
    x, _ = SOLVERS[name](product, b, diagonal, maxiter=0)
    cv.tree.map(np.testing.assert_array_equal, x, diagonal)


@pytest.mark.parametrize("name", list(SOLVERS))
def test_vmap(name):
    a, b = matrix(name), np.stack([right_hand_side(), np.ones(6)])
    x = cv.vmap(lambda b: SOLVERS[name](a, b, tol=1e-12)[0])(b)
    np.testing.assert_allclose(x, np.linalg.solve(a, b.T).T, atol=1e-9)


def test_tolerances_and_bounds():
    a, b = matrix("cg", n=12), right_hand_side(n=12)

    def residual(**options):
        return np.linalg.norm(b - a @ np.asarray(linalg.cg(a, b, **options)[0]))

    assert residual(tol=1e-3) <= 1e-3 * np.linalg.norm(b)
    assert residual(tol=0.0, atol=1e-2) <= 1e-2
    assert residual(maxiter=1) > residual(maxiter=3) > residual()


def test_restarts_of_gmres():
    a, b = matrix("gmres", n=12) + 10 * np.eye(12), right_hand_side(n=12)
    for method in ("batched", "incremental"):
        x, info = linalg.gmres(a, b, restart=3, tol=1e-10, solve_method=method)
        np.testing.assert_allclose(a @ x, b, atol=1e-8)
        assert info == 0
    _, info = linalg.gmres(a, np.full(12, np.nan))
    assert info == -1


def test_gmres_of_a_singular_matrix():
    # The solution of least norm in the space that A spans.
    x, _ = linalg.gmres(np.diag([1.0, 2.0, 0.0]), np.array([1.0, 4.0, 0.0]))
    np.testing.assert_allclose(x, [1.0, 2.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("name", list(SOLVERS))
def test_mistakes(name):
    solve, one = SOLVERS[name], jnp.ones(2)
    with pytest.raises(TypeError, match="function or ndarray"):
        solve([[1.0]], one)
    with pytest.raises(ValueError, match="square matrix"):
        solve(jnp.ones((2, 3)), one)
    with pytest.raises(ValueError, match="matching tree structure"):
        solve(lambda x: x, one, {"x": one})
    with pytest.raises(ValueError, match="matching shapes"):
        solve(lambda x: x, one, jnp.ones(3))
    with pytest.raises(ValueError, match="square matrix"):
        solve(lambda x: x, one, M=jnp.ones((2, 3)))


def test_methods_of_gmres():
    with pytest.raises(ValueError, match="solve_method"):
        linalg.gmres(jnp.eye(2), jnp.ones(2), solve_method="best")


def test_signatures_are_those_of_jax(jax):
    import jax.scipy.sparse.linalg

    for name in ("cg", "bicgstab", "gmres"):
        ours, theirs = [
            [
                (p.name, p.default, p.kind)
                for p in inspect.signature(getattr(m, name)).parameters.values()
            ]
            for m in (linalg, jax.scipy.sparse.linalg)
        ]
        assert ours == theirs
