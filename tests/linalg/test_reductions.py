"""What Schur decompositions promise; that of a matrix is unique up to signs alone."""

import numpy as np
import pytest

from covector.lax import linalg
from tests.linalg.matrices import matrix


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_schur(dtype):
    a = matrix(np.random.default_rng(0), 2, 4, 4, dtype=dtype)
    t, q = map(np.asarray, linalg.schur(a))
    adjoint = np.swapaxes(q, -1, -2).conj()
    np.testing.assert_allclose(q @ t @ adjoint, a, atol=1e-4)
    np.testing.assert_allclose(q @ adjoint, np.broadcast_to(np.eye(4), q.shape), atol=1e-5)
    below = np.tril(t, -1 if t.dtype.kind == "c" else -2)
    assert (below == 0).all()
    (alone,) = linalg.schur(a, compute_schur_vectors=False)
    np.testing.assert_allclose(alone, t, atol=1e-4)


def test_hessenberg():
    a = matrix(np.random.default_rng(0), 4, 4)
    packed, taus = linalg.hessenberg(a)
    q = np.eye(4)
    q[1:, 1:] = linalg.householder_product(packed[1:, :-1], taus)
    h = np.triu(packed, -1)
    np.testing.assert_allclose(q @ h @ q.T, a, atol=1e-5)
