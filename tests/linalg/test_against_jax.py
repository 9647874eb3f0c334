"""Values and tangents of `lax.linalg`, compared with those of JAX."""

import numpy as np
import pytest

import covector as cv
from tests.linalg.matrices import assert_same, directions, hermitian, matrix, positive

DTYPES = [np.float32, np.complex64]
SQUARE = [(3, 3), (2, 3, 3), (0, 0)]


def compare(jax, name, args, tangents=True, tol=1e-4, **options):
    """A function of `lax.linalg` gives the same as JAX's, and so does its derivative."""

    def results(module):
        def function(*xs):
            return getattr(module.lax.linalg, name)(*xs, **options)

        if not tangents:
            return module.jit(function)(*args)
        both = module.jit(lambda xs, ts: without_float0(module.jvp(function, xs, ts)))
        return both(tuple(args), directions(args))

    assert_same(results(cv), results(jax), tol)


def without_float0(arrays):
    """The arrays of a tree, without the tangents of integers, which JAX returns from no program."""
    return [x for x in cv.tree.leaves(arrays) if x.dtype != cv.dtypes.float0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE)
def test_cholesky(jax, shape, dtype):
    a = positive(np.random.default_rng(0), *shape, dtype=dtype)
    compare(jax, "cholesky", [a])
    compare(jax, "cholesky", [a], symmetrize_input=False)


def test_cholesky_of_what_is_not_positive(jax):
    compare(jax, "cholesky", [np.array([[1, 2], [2, 1]], np.float32)], False)


@pytest.mark.parametrize("w", [[1.0, -2.0, 0.5], [0.0, 0.0, 1.0]])
def test_cholesky_update(jax, w):
    r = np.triu(positive(np.random.default_rng(0), 3, 3))
    compare(jax, "cholesky_update", [r, np.float32(w)], False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (2, 3, 3), (0, 3)])
def test_lu(jax, shape, dtype):
    compare(jax, "lu", [matrix(np.random.default_rng(0), *shape, dtype=dtype)])


def test_pivots(jax):
    pivots = np.array([[2, 1, 4], [0, 4, 2]], np.int32)
    compare(jax, "lu_pivots_to_permutation", [pivots], False, permutation_size=5)


@pytest.mark.parametrize("full_matrices", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 5), (2, 4, 2), (0, 2)])
def test_qr(jax, shape, dtype, full_matrices):
    a = matrix(np.random.default_rng(0), *shape, dtype=dtype)
    compare(jax, "qr", [a], full_matrices=full_matrices)
    # JAX differentiates decompositions with pivoting of single matrices only, and not of wide ones.
    tangents = len(shape) == 2 and shape[0] >= shape[1]
    compare(jax, "qr", [a], tangents, pivoting=True, full_matrices=full_matrices)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE)
def test_eigh(jax, shape, dtype):
    a = hermitian(np.random.default_rng(0), *shape, dtype=dtype)
    compare(jax, "eigh", [a])
    compare(jax, "eigh", [a], False, lower=True, symmetrize_input=False)
    compare(jax, "eigh", [a], False, lower=False, symmetrize_input=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (2, 3, 4), (0, 2)])
def test_svd(jax, shape, dtype):
    a = matrix(np.random.default_rng(0), *shape, dtype=dtype)
    compare(jax, "svd", [a], full_matrices=False)
    compare(jax, "svd", [a], compute_uv=False)
    compare(jax, "svd", [a], shape[-1] == shape[-2])


def test_svd_by_qr(jax):
    a = matrix(np.random.default_rng(0), 4, 3)
    by_qr = cv.lax.linalg.svd(a, algorithm=cv.lax.linalg.SvdAlgorithm.QR)
    assert_same(by_qr, jax.lax.linalg.svd(a, algorithm=jax.lax.linalg.SvdAlgorithm.QR))


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(jax, dtype):
    a = matrix(np.random.default_rng(0), 2, 3, 3, dtype=dtype)
    compare(jax, "eig", [a], tol=1e-3, enable_eigvec_derivs=True)
    values = dict(compute_left_eigenvectors=False, compute_right_eigenvectors=False)
    compare(jax, "eig", [a], **values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3)])
def test_reductions(jax, shape, dtype):
    a = matrix(np.random.default_rng(0), *shape, dtype=dtype)
    compare(jax, "schur", [a], False)
    compare(jax, "schur", [a], False, compute_schur_vectors=False)
    compare(jax, "hessenberg", [a], False)
    h = hermitian(np.random.default_rng(0), *shape, dtype=dtype)
    compare(jax, "tridiagonal", [h], False, lower=True)
    compare(jax, "tridiagonal", [h], False, lower=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reflectors(jax, dtype):
    rng = np.random.default_rng(0)
    a, taus = matrix(rng, 2, 4, 3, dtype=dtype), matrix(rng, 2, 2, dtype=dtype)
    compare(jax, "householder_product", [a, taus], False)
    c = matrix(rng, 2, 4, 4, dtype=dtype)
    compare(jax, "ormqr", [a, taus, c], False, left=True, transpose=True)
    compare(jax, "ormqr", [a, taus, c], False, left=False, transpose=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [1, 4])
def test_triangular_solve(jax, dtype, columns):
    rng = np.random.default_rng(0)
    a = matrix(rng, 3, 3, dtype=dtype) + 3 * np.eye(3, dtype=dtype)
    b = matrix(rng, 3, columns, dtype=dtype)
    for transpose in (True, False):
        options = dict(lower=True, transpose_a=transpose, conjugate_a=transpose)
        compare(jax, "triangular_solve", [a, b], left_side=True, **options)
        options = dict(lower=False, transpose_a=transpose, conjugate_a=not transpose)
        compare(jax, "triangular_solve", [a, b.T], unit_diagonal=True, **options)


@pytest.mark.parametrize("perturb", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tridiagonal_solve(jax, dtype, perturb):
    rng = np.random.default_rng(0)
    args = [matrix(rng, 2, 5, dtype=dtype) for _ in range(3)]
    args.append(matrix(rng, 2, 5, 2, dtype=dtype))
    compare(jax, "tridiagonal_solve", args, tol=1e-3, perturb_singular=perturb)


def test_symmetric_product(jax):
    rng = np.random.default_rng(0)
    args = [matrix(rng, 2, 3, 4), hermitian(rng, 2, 3, 3)]
    for symmetrize in (True, False):
        options = dict(alpha=2.0, beta=0.5, symmetrize_output=symmetrize)
        compare(jax, "symmetric_product", args, False, **options)


def test_64_bits(jax):
    a = matrix(np.random.default_rng(0), 3, 3, dtype=np.complex128)
    with cv.enable_x64(True), jax.enable_x64(True):
        for name in ("lu", "qr", "svd", "eigh", "schur", "hessenberg"):
            compare(jax, name, [a], False, 1e-10)


def test_names(jax):
    public = [name for name in dir(jax.lax.linalg) if not name.startswith("_")]
    assert set(public) - set(dir(cv.lax.linalg)) == set()
