"""Derivatives that JAX has not, or not right: compared with differences, or with mathematics."""

from functools import partial

import numpy as np
import pytest

import covector as cv
from covector.lax import linalg
from tests.linalg.matrices import (
    assert_differences,
    assert_same,
    hermitian,
    matrix,
    positive,
)

DTYPES = [np.float32, np.complex64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 4, 2)])
@pytest.mark.parametrize("full_matrices", [True, False])
def test_qr_with_pivoting(shape, dtype, full_matrices):
    a = matrix(np.random.default_rng(0), *shape, dtype=dtype)
    assert_differences(lambda a: linalg.qr(a, pivoting=True, full_matrices=full_matrices)[:2], [a])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
def test_projections_by_full_svd(shape, dtype):
    """Vectors that fill up a square matrix are arbitrary, but what they span is not."""
    a = matrix(np.random.default_rng(0), *shape, dtype=dtype)

    def projections(a):
        u, _, vh = linalg.svd(a)
        rest_u, rest_v = u[:, 2:], vh[2:]
        return rest_u @ rest_u.T.conj(), rest_v.T.conj() @ rest_v

    assert_differences(projections, [a])


def test_part_of_eigh_and_svd():
    a = hermitian(np.random.default_rng(0), 4, 4)
    v, w = linalg.eigh(a)
    assert_same(linalg.eigh(a, subset_by_index=(1, 3)), (v[:, 1:3], w[1:3]))
    assert_differences(lambda a: linalg.eigh(a, subset_by_index=(1, 3)), [a])
    u, s, vh = linalg.svd(a, full_matrices=False)
    part = linalg.svd(a, full_matrices=False, subset_by_index=(0, 2))
    assert_same(part, (u[:, :2], s[:2], vh[:2]))
    thin = partial(linalg.svd, full_matrices=False, subset_by_index=(0, 2))
    assert_differences(thin, [a])


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_reflectors(dtype):
    rng = np.random.default_rng(0)
    a, taus = matrix(rng, 4, 3, dtype=dtype), matrix(rng, 2, dtype=dtype)
    assert_differences(linalg.householder_product, [a, taus])
    for left in (True, False):
        for transpose in (True, False):
            product = partial(linalg.ormqr, left=left, transpose=transpose)
            assert_differences(product, [a, taus, matrix(rng, 4, 4, dtype=dtype)])


def test_cholesky_update():
    rng = np.random.default_rng(0)
    r, w = np.triu(positive(rng, 3, 3)), matrix(rng, 3)
    assert_differences(lambda r, w: linalg.cholesky_update(cv.numpy.triu(r), w), [r, w])


def test_symmetric_product():
    rng = np.random.default_rng(0)
    product = partial(linalg.symmetric_product, alpha=2.0, beta=0.5)
    assert_differences(product, [matrix(rng, 3, 4), matrix(rng, 3, 3)])


# ---------------------------------------------------------------- repeated values


def gradient(fun, x):
    return np.asarray(cv.jit(cv.grad(fun))(np.asarray(x, np.float32)))


def test_functions_of_all_eigenvalues():
    """The gradient of sum f(w) is f'(A), however often a value occurs."""
    q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    for w in ([2, 2, 2, 2], [1, 1, 3, 3], [0, 0, 0, 1]):
        a = q * w @ q.T
        got = gradient(lambda a: (cv.numpy.linalg.eigvalsh(a) ** 3).sum(), a)
        np.testing.assert_allclose(got, 3 * q * np.square(w) @ q.T, 1e-4, 1e-4)


@pytest.mark.parametrize("a", [np.eye(3), np.zeros((3, 3)), np.diag([2.0, 2.0, 1.0])])
def test_eigh_of_exactly_repeated_values(a):
    """Where values are equal, vectors do not turn; sums over an eigenspace have the right
    derivative."""
    assert np.isfinite(gradient(lambda a: linalg.eigh(a)[0].sum(), a)).all()
    trace = gradient(lambda a: cv.numpy.trace(_rebuilt(*linalg.eigh(a))), a)
    np.testing.assert_allclose(trace, np.eye(3), atol=1e-6)
    whole = gradient(lambda a: (linalg.eigh(a)[0] @ linalg.eigh(a)[0].T)[0].sum(), a)
    np.testing.assert_allclose(whole, np.zeros((3, 3)), atol=1e-6)


def _rebuilt(v, w):
    return (v * w) @ v.T


def test_projection_onto_a_degenerate_eigenspace():
    """P' is the sum over i in the space, and j out of it, of v_i v_i^T A' v_j v_j^T / (w_i - w_j)
    and of its transpose."""
    a, g = np.diag([5.0, 5.0, 1.0]), np.arange(9.0).reshape(3, 3)

    def pairing(a):
        v, _ = linalg.eigh(a)
        return (g * (v[:, 1:] @ v[:, 1:].T)).sum()

    want = np.zeros((3, 3))
    for i in (0, 1):
        want[i, 2] = want[2, i] = (g[i, 2] + g[2, i]) / 2 / (5 - 1)
    np.testing.assert_allclose(gradient(pairing, a), want, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4)])
@pytest.mark.parametrize("scale", [2.0, 0.0])
def test_svd_of_repeated_values(shape, scale):
    a = scale * np.eye(*shape)

    def weighted(a):
        u, s, vh = linalg.svd(a, full_matrices=False)
        return u[0].sum() + (s**2).sum() + vh[:, 0].sum()

    assert np.isfinite(gradient(weighted, a)).all()
    second = cv.jit(cv.hessian(weighted))(a.astype(np.float32))
    assert np.isfinite(np.asarray(second)).all()
    nuclear = gradient(lambda a: linalg.svd(a, compute_uv=False).sum(), a)
    if scale:
        np.testing.assert_allclose(nuclear, np.eye(*shape), atol=1e-6)


def test_polar_factor_of_repeated_values():
    """At s A with orthogonal A, the nearest orthogonal matrix moves by the skew part of A' / s."""
    g = np.arange(9.0, dtype=np.float32).reshape(3, 3)

    def pairing(a):
        u, _, vh = linalg.svd(a)
        return (g * (u @ vh)).sum()

    np.testing.assert_allclose(gradient(pairing, 2 * np.eye(3)), (g - g.T) / 4, atol=1e-5)


def test_values_that_are_equal_within_batches():
    batch = np.stack([np.eye(2), np.diag([1.0, 2.0])]).astype(np.float32)
    each = cv.vmap(cv.grad(lambda a: linalg.eigh(a)[0][0, 0]))(batch)
    assert np.isfinite(np.asarray(each)).all()
    under_jit = cv.jit(cv.vmap(cv.grad(lambda a: linalg.svd(a)[0][0, 1])))(batch)
    assert np.isfinite(np.asarray(under_jit)).all()
