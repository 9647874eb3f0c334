"""What `lax.linalg` refuses, and in which words."""

import numpy as np
import pytest

import covector as cv
from covector.lax import linalg

A, B, V = np.ones((2, 3), np.float32), np.ones((3, 3), np.float32), np.ones(3, np.float32)

REFUSED = [
    (lambda: linalg.cholesky(A), ValueError, "cholesky must be a square matrix. Got shape (2, 3)"),
    (lambda: linalg.eigh(V, symmetrize_input=False), TypeError, "must have rank at least 2"),
    (lambda: linalg.lu(B.astype(int)), TypeError, "lu does not accept dtype int32"),
    (
        lambda: linalg.triangular_solve(B, A, left_side=True),
        ValueError,
        "Incompatible shapes for arguments to triangular_solve: (3, 3) and (2, 3)",
    ),
    (
        lambda: linalg.triangular_solve(B, B.astype(complex)),
        TypeError,
        "requires arguments to have the same dtypes",
    ),
    (
        lambda: linalg.triangular_solve(B[None, None], B),
        TypeError,
        "the same number of batch dimensions",
    ),
    (lambda: linalg.lu_pivots_to_permutation(np.arange(3), 2), ValueError, "pivots size 3"),
    (lambda: linalg.householder_product(A, V), ValueError, "at least as many rows as columns"),
    (lambda: linalg.householder_product(B, np.ones(4, np.float32)), ValueError, "4 factors"),
    (lambda: linalg.ormqr(B, V, A), ValueError, "ormqr with left=True computes Q @ c"),
    (lambda: linalg.cholesky_update(B, A[0, :2]), ValueError, "Got shapes (3, 3) and (2,)"),
    (lambda: linalg.symmetric_product(A, B), ValueError, "Got shapes (2, 3) and (3, 3)"),
    (lambda: linalg.tridiagonal(B[:0, :0]), ValueError, "Got shape (0, 0)"),
    (
        lambda: linalg.tridiagonal_solve(V, V, V[:2], B),
        TypeError,
        "all diagonal arguments have the same shape, but got (3,), (3,), (2,)",
    ),
    (lambda: linalg.tridiagonal_solve(V, V, V, A), TypeError, "but these are (2, 3) and (3,)"),
    (
        lambda: linalg.svd(B, subset_by_index=(0, 2)),
        ValueError,
        "full_matrices and subset_by_index cannot both be set",
    ),
    (
        lambda: linalg.svd(B, algorithm=linalg.SvdAlgorithm.JACOBI),
        NotImplementedError,
        "is not supported on cpu",
    ),
    (
        lambda: linalg.eigh(B, implementation=linalg.EighImplementation.QDWH),
        NotImplementedError,
        "is not supported on cpu",
    ),
    (
        lambda: linalg.eig(B, implementation=linalg.EigImplementation.MAGMA),
        ValueError,
        "is not supported on cpu",
    ),
    (
        lambda: linalg.qr(B.astype(np.float16)),
        NotImplementedError,
        "Unsupported dtype float16",
    ),
    (
        lambda: cv.grad(lambda a: abs(linalg.eig(a)[1]).sum())(B),
        NotImplementedError,
        "Pass enable_eigvec_derivs=True",
    ),
    (lambda: linalg.schur(B, sort_eig_vals=True), NotImplementedError, "sort_eig_vals=True"),
]


@pytest.mark.parametrize("call, error, words", REFUSED)
def test_refused(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_magma_is_deprecated():
    with pytest.warns(DeprecationWarning, match="use_magma is deprecated"):
        linalg.eig(B, use_magma=False)


def test_failures_are_nan_of_their_own():
    """Where a matrix of a batch has no decomposition, only its own is NaN."""
    batch = np.stack([np.eye(2), [[1, 2], [2, 1]]]).astype(np.float32)
    good, bad = np.asarray(linalg.cholesky(batch))
    assert np.isfinite(good).all() and np.isnan(bad).any()
    batch[1] = np.nan
    for name in ("eigh", "svd", "eig"):
        for out in cv.tree.leaves(getattr(linalg, name)(batch)):
            good, bad = np.asarray(out)
            assert np.isfinite(good).all() and np.isnan(bad).any(), name
