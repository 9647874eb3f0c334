"""BCSR, COO, CSR and CSC matrices, `sparsify`, convolution and solvers, beside dense arrays."""

import inspect
import types

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector.experimental import sparse
from covector.experimental.sparse import linalg, test_util, util

X = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 4, 0]], np.float32)
V = np.array([1, 2, 3, 4], np.float32)
FORMATS = ["bcoo", "bcsr", "coo", "csr", "csc"]
KINDS = {name: getattr(sparse, name.upper()) for name in FORMATS}


def same(mat, expected, tol=1e-6):
    assert mat.shape == np.shape(expected)
    np.testing.assert_allclose(sparse.todense(mat), expected, rtol=tol, atol=tol)


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name):
    mat = KINDS[name].fromdense(X)
    assert (mat.nse, mat.shape, mat.dtype, mat.ndim, mat.size) == (4, X.shape, X.dtype, 2, 12)
    assert repr(mat) == f"{name.upper()}(float32[3, 4], nse=4)"
    run = cv.jit(lambda m: (m.todense(), m.T.todense(), m @ V, m.T @ X[:, :2], 2 * m))
    plain, turned, vector, matrix, doubled = run(mat)
    same(plain, X)
    same(turned, X.T)
    same(vector, X @ V)
    same(matrix, X.T @ X[:, :2])
    same(doubled, 2 * X)
    slope = cv.jit(sparse.grad(lambda m: jnp.sum((m @ V) ** 2)))(mat)
    assert type(slope) is type(mat)
    same(slope, np.where(X, 2 * np.outer(X @ V, V), 0))


@pytest.mark.parametrize("name", FORMATS)
def test_creation(name):
    same(sparse.eye(3, 4, sparse_format=name), np.eye(3, 4))
    same(sparse.empty((3, 4), sparse_format=name), np.zeros((3, 4)))


@pytest.mark.parametrize("name", ["bcoo", "bcsr"])
def test_matrices_of_scipy(name):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    same(KINDS[name].from_scipy_sparse(scipy_sparse.csr_matrix(X)), X)


def test_functions_of_formats():
    coo, csr = sparse.coo_fromdense(X, nse=5), sparse.csr_fromdense(X, nse=5)

    def run(coo, csr):
        return [
            (sparse.coo_todense(coo), X),
            (sparse.coo_matvec(coo, V), X @ V),
            (sparse.coo_matmat(coo, X, transpose=True), X.T @ X),
            (sparse.csr_todense(csr), X),
            (sparse.csr_matvec(csr, V), X @ V),
            (sparse.csr_matmat(csr, X, transpose=True), X.T @ X),
        ]

    for found, expected in cv.jit(run)(coo, csr):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_bcsr_in_batches():
    x = np.stack([X, 2 * X[::-1]])
    mat = sparse.BCSR.fromdense(x, n_batch=1)
    numbers = (((2,), (0,)), ((), ()))

    def run(m):
        return [
            (m, x),
            (m.sum_duplicates(nse=8), x),
            (sparse.bcsr_dot_general(m, V, dimension_numbers=numbers), x @ V),
            (sparse.bcsr_extract(m.indices, m.indptr, x), m.data),
            (sparse.bcsr_concatenate([m, m], dimension=1), np.concatenate([x, x], 1)),
            (cv.vmap(lambda m: m @ V)(m), x @ V),
        ]

    for found, expected in cv.jit(run)(mat):
        same(found, expected)


def loops(x):
    """Control flow with a matrix as the carry, the operand, and the slices."""
    grown = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, x))[1]
    chosen = lax.cond(True, lambda x: 5 * x, lambda x: -x, x)
    scanned = lax.scan(lambda c, _: (c * 3, jnp.sum(c)), x, None, 2)
    return grown, chosen, scanned


@cv.custom_jvp
def tripled(x):
    return 3 * x


tripled.defjvp(lambda x, t: (tripled(*x), 3 * t[0]))


def test_control_flow():
    mat = sparse.BCOO.fromdense(X)
    grown, chosen, (carry, sums) = cv.jit(sparse.sparsify(loops))(mat)
    same(grown, 8 * X)
    same(chosen, 5 * X)
    same(carry, 9 * X)
    np.testing.assert_allclose(sums, [X.sum(), 3 * X.sum()])
    same(sparse.sparsify(tripled)(mat), 3 * X)


def test_scan_over_rows():
    mat = sparse.BCOO.fromdense(X, n_batch=1)
    step = sparse.sparsify(lambda m: lax.scan(lambda c, row: (c + row @ V, 2 * row), 0.0, m))
    total, rows = cv.jit(step)(mat)
    np.testing.assert_allclose(total, (X @ V).sum())
    same(rows, 2 * X)
    with pytest.raises(NotImplementedError, match="n_batch > 0"):
        step(sparse.BCOO.fromdense(X))


CONVOLUTIONS = [
    ((1, 1, 8), (1, 1, 3), dict(window_strides=(1,), padding="SAME")),
    (
        (2, 5, 6, 3),
        (3, 2, 3, 4),
        dict(
            window_strides=(1, 2),
            padding=[(0, 0), (1, 2)],
            lhs_dilation=(1, 2),
            rhs_dilation=(2, 1),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        ),
    ),
]


@pytest.mark.parametrize(("lhs", "rhs", "options"), CONVOLUTIONS)
def test_convolution(lhs, rhs, options):
    rng = np.random.default_rng(0)
    x = (rng.integers(1, 9, lhs) * (rng.random(lhs) < 0.3)).astype(np.float32)
    y = rng.integers(-4, 5, rhs).astype(np.float32)
    convolve = sparse.bcoo_conv_general_dilated
    run = cv.jit(lambda x, y: convolve(x, y, **options).todense())
    expected = lax.conv_general_dilated(x, y, **options)
    np.testing.assert_allclose(run(sparse.BCOO.fromdense(x), y), expected, rtol=1e-5)


def test_systems_of_equations():
    A = np.array([[4, 0, 1], [0, 3, 0], [1, 2, 5]], np.float32)
    b = np.array([1, 2, 3], np.float32)
    mat = sparse.CSR.fromdense(A)
    solve = cv.jit(lambda data, b: linalg.spsolve(data, mat.indices, mat.indptr, b))
    x = np.linalg.solve(A, b)
    np.testing.assert_allclose(solve(mat.data, b), x, rtol=1e-5)
    # d sum(x) = -w . dA x, where A^T w = 1.
    slope = cv.grad(lambda data: jnp.sum(solve(data, b)))(mat.data)
    w = np.linalg.solve(A.T, np.ones(3))
    np.testing.assert_allclose(slope, -np.outer(w, x)[A != 0], rtol=1e-4)


def test_eigenvalues():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((24, 24)).astype(np.float32)
    A, X0 = A @ A.T, rng.standard_normal((24, 2)).astype(np.float32)
    expected = np.linalg.eigvalsh(A)[::-1][:2]
    for matrix in (A, sparse.BCOO.fromdense(A), lambda x: A @ x):
        theta, U, steps = linalg.lobpcg_standard(matrix, X0)
        assert 0 < steps < 100
        np.testing.assert_allclose(theta, expected, rtol=1e-5)
        residual = np.linalg.norm(A @ U - U * theta, axis=0)
        size = theta + np.linalg.norm(A @ U, axis=0)
        assert np.all(residual < 11 * 24 * np.finfo(np.float32).eps * size)


@pytest.mark.parametrize(
    ("A", "X", "text"),
    [
        (np.eye(9), np.ones((9, 2)), "search dim"),
        (np.eye(9), np.ones((9, 0)), "search dim"),
        (lambda x: x[:4], np.ones((9, 1)), "9, 9"),
        (lambda x: x.astype(np.int32), np.ones((9, 1)), "int32"),
    ],
)
def test_mistakes_of_lobpcg(A, X, text):
    with pytest.raises(ValueError, match=text):
        linalg.lobpcg_standard(A, X)


def test_vmap_that_broadcasts():
    x, y = np.ones((3, 2)), np.full((1, 2), 2.0)
    assert util.broadcasting_vmap(jnp.add)(x, y).shape == (3, 2)
    np.testing.assert_allclose(util.nfold_vmap(jnp.add, 2)(x, y[:, :1]), np.full((3, 2), 3.0))
    with pytest.raises(ValueError, match="do not fit"):
        util.broadcasting_vmap(jnp.add)(x, np.ones((2, 2)))


class TestTools(test_util.SparseTestCase):
    def test_comparisons(self):
        make = test_util.rand_bcoo(self.rng(), n_batch=1)
        args = lambda: [make((2, 3), "float32")]  # noqa: E731
        double = lambda x: 2 * x  # noqa: E731
        self._CheckAgainstDense(double, double, args)
        self._CheckGradsSparse(double, double, args)
        self._CheckBatchingSparse(double, double, args)
        with self.assertRaises(AssertionError):
            self._CheckAgainstDense(double, lambda x: 3 * x, args)

    def test_layouts(self):
        found = set(test_util.iter_sparse_layouts((2, 3)))
        expected = {(b, d, 2 - b - d) for b in range(3) for d in range(3 - b)}
        assert found == expected
        assert list(test_util.iter_bcsr_layouts((2, 3, 4))) == [(0, 1, 2), (1, 0, 2)]
        assert list(test_util.iter_subsets("ab")) == [(), ("a",), ("b",), ("a", "b")]

    def test_random_bcsr(self):
        mat = test_util.rand_bcsr(self.rng())((3, 4), "float32")
        assert mat.nse == 6 and mat.todense().shape == (3, 4)


def names(function):
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind != p.VAR_KEYWORD]


def test_parameters_are_those_of_jax(jax):
    from jax.experimental import sparse as other

    for name in dir(other):
        theirs = getattr(other, name)
        if isinstance(theirs, types.FunctionType) and hasattr(sparse, name):
            ours, expected = (
                [
                    p.name
                    for p in inspect.signature(f).parameters.values()
                    if p.kind != p.VAR_KEYWORD
                ]
                for f in (getattr(sparse, name), theirs)
            )
            assert [p for p in ours if p in expected] == expected, name
