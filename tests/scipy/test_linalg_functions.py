"""Functions of matrices, Sylvester's equation, and what else SciPy adds to NumPy's."""

import inspect

import numpy as np
import pytest
import scipy.linalg as osp

import covector as cv
from covector.scipy import linalg

DTYPES = ["float64", "complex128"]


@pytest.fixture(autouse=True)
def wide():
    with cv.enable_x64(True):
        yield


def matrices(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return x + 1j * rng.normal(size=shape) if dtype == "complex128" else x


def slope(f, x, direction, h=1e-6):
    return (f(x + h * direction) - f(x - h * direction)) / (2 * h)


# ---------------------------------------------------------------- square roots


@pytest.mark.parametrize("dtype", DTYPES)
def test_sqrtm(dtype):
    a = matrices((2, 5, 5), dtype)
    root = np.asarray(linalg.sqrtm(a))
    np.testing.assert_allclose(root @ root, a, atol=1e-12)
    assert (np.linalg.eigvals(root).real > -1e-12).all()
    np.testing.assert_allclose(linalg.sqrtm(a[0] @ a[0]), osp.sqrtm(a[0] @ a[0]), atol=1e-10)


def test_sqrtm_of_a_singular_matrix():
    a = np.diag([0.0, 0.0, 9.0, 0.0, 4.0])
    np.testing.assert_allclose(linalg.sqrtm(a), np.diag([0.0, 0.0, 3.0, 0.0, 2.0]))


def test_derivative_of_sqrtm():
    a = np.eye(4) * 4 + 0.3 * matrices((4, 4), "float64")
    t = matrices((4, 4), "float64", 1)
    _, tangent = cv.jvp(linalg.sqrtm, (a,), (t,))
    np.testing.assert_allclose(tangent, slope(osp.sqrtm, a, t), atol=1e-8)
    weights = matrices((4, 4), "float64", 2)
    grad = cv.grad(lambda a: (weights * linalg.sqrtm(a).real).sum())(a)
    np.testing.assert_allclose((grad * t).sum(), (weights * tangent.real).sum(), rtol=1e-10)


# ---------------------------------------------------------------- other functions


@pytest.mark.parametrize("dtype", DTYPES)
def test_funm(dtype):
    a = matrices((6, 6), dtype)
    ours, estimate = linalg.funm(a, lambda x: x**2 + 1, disp=False)
    np.testing.assert_allclose(ours, a @ a + np.eye(6), atol=1e-11)
    assert estimate < 1e-11
    np.testing.assert_allclose(linalg.funm(a, cv.numpy.exp), osp.expm(a), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rsf2csf(dtype):
    # Also of what is no Schur form, the same rotations are made as SciPy's.
    t, z = matrices((5, 5), dtype), matrices((5, 5), dtype, 1)
    for ours, theirs in zip(linalg.rsf2csf(t, z), osp.rsf2csf(t, z)):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    a = matrices((2, 6, 6), "float64")
    forms = [osp.schur(x) for x in a]
    t, z = linalg.rsf2csf(np.stack([f[0] for f in forms]), np.stack([f[1] for f in forms]))
    t, z = np.asarray(t), np.asarray(z)
    np.testing.assert_allclose(z @ t @ z.conj().swapaxes(-1, -2), a, atol=1e-12)
    assert not np.tril(t, -1).any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "side"), [((4, 4), "right"), ((5, 3), "right"), ((2, 3, 5), "left")]
)
def test_polar(shape, side, dtype):
    a = matrices(shape, dtype)
    for method in ("qdwh", "svd"):
        u, p = map(np.asarray, linalg.polar(a, side, method=method))
        np.testing.assert_allclose(u @ p if side == "right" else p @ u, a, atol=1e-10)
        np.testing.assert_allclose(p, p.conj().swapaxes(-1, -2), atol=1e-10)
        assert (np.linalg.eigvalsh(p) > 0).all()


# ---------------------------------------------------------------- Sylvester's equation


@pytest.mark.parametrize("method", ["schur", "eigen"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_solve_sylvester(dtype, method):
    a, b = matrices((2, 4, 4), dtype), matrices((3, 3), dtype, 1)
    c = matrices((2, 4, 3), dtype, 2)
    x = linalg.solve_sylvester(a, b, c, method=method)
    assert x.dtype == c.dtype
    np.testing.assert_allclose(a @ x + x @ b, c, atol=1e-11)


def test_sylvester_without_a_unique_solution():
    a, c = np.diag([1.0, 2.0]), np.ones((2, 2))
    assert np.isnan(linalg.solve_sylvester(a, -a, c)).all()


@pytest.mark.parametrize("method", ["schur", "eigen"])
def test_derivatives_of_solve_sylvester(method):
    args = [matrices(s, "float64", i) for i, s in enumerate([(3, 3), (2, 2), (3, 2)])]
    weights = matrices((3, 2), "float64", 7)

    def loss(a, b, c):
        return (weights * linalg.solve_sylvester(a, b, c, method=method)).sum()

    def reference(a, b, c):
        return (weights * osp.solve_sylvester(a, b, c)).sum()

    grads = cv.grad(loss, (0, 1, 2))(*args)
    for i, (x, g) in enumerate(zip(args, grads)):
        t = matrices(x.shape, "float64", 9)
        numeric = slope(lambda v, i=i: reference(*args[:i], v, *args[i + 1 :]), x, t)
        np.testing.assert_allclose((g * t).sum(), numeric, rtol=1e-6)


# ---------------------------------------------------------------- QR and tridiagonal matrices


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["left", "right"])
def test_qr_multiply(mode, dtype):
    for m, n in [(5, 3), (3, 5)]:
        k = min(m, n)
        a = matrices((m, n), dtype)
        for c in (
            matrices((k, 2) if mode == "left" else (2, m), dtype, 1),
            matrices((k if mode == "left" else m,), dtype, 1),
        ):
            for conjugate in (False, True):
                options = dict(mode=mode, pivoting=True, conjugate=conjugate)
                ours, theirs = linalg.qr_multiply(a, c, **options), osp.qr_multiply(a, c, **options)
                for x, y in zip(ours, theirs):
                    np.testing.assert_allclose(x, y, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigh_tridiagonal(dtype):
    d, e = matrices((6,), "float64"), matrices((5,), dtype, 1)
    dense = np.diag(d) + np.diag(e, -1) + np.diag(e.conj(), 1)
    d = d.astype(dtype)
    w, v = linalg.eigh_tridiagonal(d, e)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(dense), atol=1e-12)
    np.testing.assert_allclose(dense @ v, v * w, atol=1e-12)
    only = linalg.eigh_tridiagonal(d, e, eigvals_only=True, select="i", select_range=(1, 3))
    np.testing.assert_allclose(only, w[1:4], atol=1e-12)
    low, high = float(w[1]) - 1e-6, float(w[4]) - 1e-6
    inside = linalg.eigh_tridiagonal(d, e, select="v", select_range=(low, high))
    np.testing.assert_allclose(inside[0], w[1:4], atol=1e-12)
    slopes = (
        cv.jacobian(lambda d: linalg.eigh_tridiagonal(d, e, eigvals_only=True))(
            d.real.astype(dtype)
        )
        if dtype == "float64"
        else None
    )
    if slopes is not None:
        np.testing.assert_allclose(slopes, abs(np.asarray(v).T) ** 2, atol=1e-10)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: linalg.sqrtm(np.ones((2, 3))), ValueError, "square"),
        (lambda: linalg.sqrtm(np.eye(2), 2), NotImplementedError, "blocksize"),
        (lambda: linalg.funm(np.ones((2, 2, 2)), np.exp), ValueError, "matrix"),
        (lambda: linalg.rsf2csf(np.eye(2), np.eye(3)), ValueError, "same shape"),
        (lambda: linalg.polar(np.ones(3)), ValueError, "matrix"),
        (lambda: linalg.polar(np.ones((2, 3))), NotImplementedError, "method='svd'"),
        (lambda: linalg.polar(np.eye(2), "middle"), ValueError, "side"),
        (lambda: linalg.solve_sylvester(np.eye(2), np.eye(3), np.eye(2)), ValueError, "C .m, n"),
        (lambda: linalg.qr_multiply(np.eye(3), np.ones(2)), ValueError, "not compatible"),
        (lambda: linalg.eigh_tridiagonal(np.ones(3), np.ones(3)), ValueError, "n - 1"),
        (lambda: linalg.eigh_tridiagonal(np.ones(2), np.ones(1), select="x"), ValueError, "'a'"),
        (lambda: linalg.eigh_tridiagonal(np.ones(2, int), np.ones(1)), TypeError, "dtype"),
    ],
)  # fmt: skip
def test_mistakes(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_signatures_are_those_of_jax(jax):
    for name in [
        "sqrtm",
        "funm",
        "rsf2csf",
        "polar",
        "solve_sylvester",
        "qr_multiply",
        "eigh_tridiagonal",
    ]:
        ours = inspect.signature(getattr(linalg, name)).parameters
        theirs = inspect.signature(getattr(jax.scipy.linalg, name)).parameters
        assert [(p.name, p.default, p.kind) for p in ours.values()] == [
            (p.name, p.default, p.kind) for p in theirs.values()
        ], name


def test_roots_of_negative_eigenvalues_are_above_the_cut():
    a = np.random.default_rng(3).normal(size=(4, 4))
    a = a @ np.diag([-1.0, -2, 3, 4]) @ np.linalg.inv(a)
    np.testing.assert_allclose(linalg.sqrtm(a), osp.sqrtm(a), rtol=1e-9, atol=1e-9)


def test_functions_of_empty_matrices():
    empty = np.zeros((0, 0), np.float32)
    for value in (linalg.sqrtm(empty), linalg.funm(empty, abs)):
        assert value.shape == (0, 0) and value.dtype == np.complex64
