"""`numpy.linalg` and `scipy.linalg`: values as NumPy's, and derivatives at difficult points."""

import inspect

import numpy as np
import pytest
import scipy.linalg

import covector as cv
import covector.numpy as jnp
import covector.scipy as jsp
from tests.linalg.matrices import assert_differences, assert_same, hermitian, matrix, positive

RNG = np.random.default_rng(0)
SQUARE, TALL = matrix(RNG, 2, 3, 3), matrix(RNG, 4, 3)
POSITIVE, VECTOR = positive(RNG, 3, 3), matrix(RNG, 3)


@pytest.mark.parametrize("name", [n for n in vars(jnp.linalg) if not n.startswith("_")])
def test_parameters(jax, name):
    ours, theirs = getattr(jnp.linalg, name), getattr(jax.numpy.linalg, name)
    described = [
        [(p.name, p.default, p.kind) for p in inspect.signature(f).parameters.values()]
        for f in (ours, theirs)
    ]
    assert described[0] == described[1]


def test_names(jax):
    public = {name for name in dir(jax.numpy.linalg) if not name.startswith("_")}
    assert public == {name for name in vars(jnp.linalg) if not name.startswith("_")}


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.int32])
def test_values(dtype):
    a = matrix(np.random.default_rng(1), 2, 3, 3) * 4
    a = (a + 1j * a[::-1]).astype(dtype) if dtype == np.complex64 else a.astype(dtype)
    a = a + 9 * np.eye(3, dtype=dtype)
    numpy = np.linalg
    for name in ("det", "inv", "pinv", "svdvals", "matrix_rank", "trace", "cond", "norm"):
        ours, theirs = getattr(jnp.linalg, name)(a), getattr(numpy, name)(a)
        np.testing.assert_allclose(ours, theirs, 2e-4, 2e-4)
    for n in (-3, 0, 1, 6):
        ours = jnp.linalg.matrix_power(a, n)
        np.testing.assert_allclose(ours, numpy.matrix_power(a, n), 2e-3, 2e-3)
    h = a + np.swapaxes(a, -1, -2).conj()
    np.testing.assert_allclose(jnp.linalg.eigvalsh(h), numpy.eigvalsh(h), 1e-4, 1e-4)


@pytest.mark.parametrize("order", [None, 0, 1, 2, 3.5, -1, -2, np.inf, -np.inf, "fro", "nuc"])
def test_norms(order):
    if not isinstance(order, str):
        np.testing.assert_allclose(
            jnp.linalg.norm(VECTOR, order), np.linalg.norm(VECTOR, order), 1e-5
        )
    if order not in (0, 3.5):
        got = jnp.linalg.norm(SQUARE, order, axis=(-1, 0), keepdims=True)
        want = np.linalg.norm(SQUARE, order, axis=(-1, 0), keepdims=True)
        np.testing.assert_allclose(got, want, 1e-5)


def test_unknown_orders():
    with pytest.raises(ValueError, match="Invalid order 'inf' for vector norm"):
        jnp.linalg.norm(VECTOR, "inf")
    with pytest.raises(ValueError, match="Invalid order '7' for matrix norm"):
        jnp.linalg.norm(TALL, 7)
    with pytest.raises(ValueError, match="Improper number of axes"):
        jnp.linalg.norm(SQUARE, 2)
    with pytest.raises(ValueError, match="no least element"):
        jnp.linalg.norm(TALL[:0, 0], -np.inf)


@pytest.mark.parametrize("order", [None, 2, 3])
def test_gradient_of_a_norm_at_zero(order):
    got = cv.grad(lambda v: jnp.linalg.norm(v, order))(np.zeros(3, np.float32))
    np.testing.assert_array_equal(got, np.zeros(3))
    square = cv.grad(lambda v: jnp.linalg.norm(v, order) ** 2)(np.zeros(3, np.float32))
    np.testing.assert_array_equal(square, np.zeros(3))


@pytest.mark.parametrize("shape", [(3,), (3, 2), (2, 3, 2), (1, 3, 1)])
def test_solve(shape):
    b = matrix(np.random.default_rng(2), *shape)
    np.testing.assert_allclose(jnp.linalg.solve(SQUARE, b), np.linalg.solve(SQUARE, b), 1e-3, 1e-3)
    assert_differences(jnp.linalg.solve, [SQUARE, b])


def test_solve_refuses():
    for b in (VECTOR[:2], SQUARE[0, :2], np.float32(1)):
        with pytest.raises(ValueError, match=r"\[solve\]"):
            jnp.linalg.solve(SQUARE[0], b)
    with pytest.raises(ValueError, match="for a batch of vectors"):
        jnp.linalg.solve(SQUARE, SQUARE[:, 0])
    with pytest.raises(ValueError, match="must have shape"):
        jnp.linalg.inv(TALL)


# ---------------------------------------------------------------- determinants


def cofactors(a):
    n = len(a)
    minors = [[np.delete(np.delete(a, i, 0), j, 1) for j in range(n)] for i in range(n)]
    return np.array(
        [[(-1) ** (i + j) * np.linalg.det(minors[i][j]) for j in range(n)] for i in range(n)]
    )


@pytest.mark.parametrize(
    "a",
    [
        np.diag([1.0, 2.0, 3.0, 0.0]),
        np.diag([0.0, 1.0, 2.0, 3.0]),
        np.eye(4, k=1),
        np.diag([1.0, 1.0, 0.0, 0.0]),
        np.zeros((5, 5)),
        np.ones((4, 4)),
        np.vander([1.0, 2.0, 3.0, 4.0, 5.0]),
    ],
)
def test_gradient_of_det_is_the_cofactors(a):
    got = cv.jit(cv.grad(jnp.linalg.det))(a.astype(np.float32))
    want = cofactors(a)
    np.testing.assert_allclose(got, want, 1e-3, 1e-4 * max(1, np.abs(want).max()))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_determinants(n, dtype):
    a = matrix(np.random.default_rng(3), 2, n, n, dtype=dtype)
    np.testing.assert_allclose(jnp.linalg.det(a), np.linalg.det(a), 1e-4, 1e-5)
    assert_same(tuple(jnp.linalg.slogdet(a)), tuple(np.linalg.slogdet(a)))
    assert_differences(jnp.linalg.det, [a])
    assert_differences(jnp.linalg.slogdet, [a])


def test_slogdet_by_qr_and_of_singular_matrices():
    a = matrix(np.random.default_rng(4), 4, 4)
    assert_same(tuple(jnp.linalg.slogdet(a, method="qr")), tuple(np.linalg.slogdet(a)))
    sign, logdet = jnp.linalg.slogdet(np.ones((3, 3), np.float32))
    assert sign == 0 and logdet == -np.inf


def test_det_neither_over_nor_underflows_on_the_way():
    d = np.diag(np.float32([1e30, 1e30, 1e-30, 1e-30]))
    np.testing.assert_allclose(jnp.linalg.det(d), 1, 1e-4)


# ---------------------------------------------------------------- least squares


def test_derivatives_of_pseudo_inverses():
    for a in (TALL, TALL.T, SQUARE):
        assert_differences(jnp.linalg.pinv, [a])


def test_least_squares_at_repeated_singular_values():
    """Where a decomposition has no derivative, least squares still have that of the equation."""
    a, b = np.eye(3, dtype=np.float32), VECTOR
    got = cv.jacobian(lambda a: jnp.linalg.lstsq(a, b)[0])(a)
    want = -np.einsum("ij,k->ijk", np.eye(3), b)
    np.testing.assert_allclose(got, want, atol=1e-5)
    assert_differences(lambda a, b: jnp.linalg.lstsq(a, b)[0], [TALL, matrix(RNG, 4, 2)])


def test_singular_values_of_hermitian_matrices():
    h = hermitian(np.random.default_rng(5), 4, 4, dtype=np.complex64)
    u, s, vh = map(np.asarray, jnp.linalg.svd(h, hermitian=True))
    np.testing.assert_allclose((u * s) @ vh, h, atol=1e-4)
    np.testing.assert_allclose(s, np.linalg.svd(h)[1], 1e-4)


# ---------------------------------------------------------------- scipy.linalg


def test_factors():
    b = matrix(np.random.default_rng(6), 3, 2)
    for lower in (True, False):
        factor = jsp.linalg.cho_factor(POSITIVE, lower=lower)
        np.testing.assert_allclose(
            jsp.linalg.cho_solve(factor, b), np.linalg.solve(POSITIVE, b), 1e-3, 1e-4
        )
    for trans, a in ((0, SQUARE[0]), (1, SQUARE[0].T)):
        got = jsp.linalg.lu_solve(jsp.linalg.lu_factor(SQUARE[0]), b, trans)
        np.testing.assert_allclose(got, np.linalg.solve(a, b), 1e-3, 1e-3)
    p, l, u = map(np.asarray, jsp.linalg.lu(TALL))
    np.testing.assert_allclose(p @ l @ u, TALL, atol=1e-5)
    solve = lambda a, b: jsp.linalg.solve((a + a.T) / 2, b, assume_a="pos")  # noqa: E731
    assert_differences(solve, [POSITIVE, b])


@pytest.mark.parametrize("trans", [0, "T", 2])
def test_solve_triangular(trans):
    a, b = np.tril(SQUARE[0]), VECTOR
    got = jsp.linalg.solve_triangular(a, b, trans, lower=True)
    want = scipy.linalg.solve_triangular(a, b, trans, lower=True)
    np.testing.assert_allclose(got, want, 1e-3, 1e-3)


@pytest.mark.parametrize("scale", [0.0, 0.1, 3.0, 200.0])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_exponential(scale, dtype):
    x = scale * matrix(np.random.default_rng(7), 3, 3, dtype=dtype)
    skew = x - x.T.conj()
    np.testing.assert_allclose(
        jsp.linalg.expm(skew), scipy.linalg.expm(skew.astype(np.complex128)), atol=1e-4
    )


def test_exponentials_of_a_batch_with_too_large_ones():
    batch = np.stack([np.eye(2), 1e30 * np.eye(2)]).astype(np.float32)
    small, large = np.asarray(jsp.linalg.expm(batch))
    np.testing.assert_allclose(small, np.e * np.eye(2), 1e-6)
    assert np.isnan(large).all()


def test_derivative_of_the_exponential():
    a, e = SQUARE[0].astype(np.float64), SQUARE[1].astype(np.float64)
    with cv.enable_x64(True):
        assert_same(jsp.linalg.expm_frechet(a, e), scipy.linalg.expm_frechet(a, e), 1e-9)
        pullback = cv.vjp(jsp.linalg.expm, a)[1]
        want = scipy.linalg.expm_frechet(a.T, e, compute_expm=False)
        np.testing.assert_allclose(pullback(e)[0], want, 1e-9)
