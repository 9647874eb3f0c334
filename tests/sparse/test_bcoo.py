"""BCOO arrays of all layouts beside dense arrays."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.experimental import sparse

LAYOUTS = [(0, 0), (1, 0), (0, 1), (2, 1)]


def dense(shape, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 9, shape) * (rng.random(shape) < 0.5)
    return x.astype(np.float32)


def padded(x, n_batch=0, n_dense=0):
    """A BCOO array with padding, and with duplicates of its elements."""
    mat = sparse.BCOO.fromdense(x, nse=x.size, n_batch=n_batch, n_dense=n_dense)
    half = mat.data / 2
    data = jnp.concatenate([half, half], n_batch)
    indices = jnp.concatenate([mat.indices, mat.indices[..., ::-1, :]], n_batch)
    data = data.at[(slice(None),) * n_batch + (slice(mat.nse, None),)].set(jnp.flip(half, n_batch))
    return sparse.BCOO((data, indices), shape=x.shape)


@pytest.fixture(params=LAYOUTS, ids=str)
def pair(request):
    """An array as a dense and as a sparse one."""
    x = dense((2, 3, 4))
    return x, padded(x, *request.param)


def same(mat, expected):
    assert mat.shape == np.shape(expected)
    np.testing.assert_allclose(sparse.todense(mat), expected, rtol=1e-6)


def test_to_and_from_dense(pair):
    x, mat = pair
    same(mat, x)
    same(cv.jit(lambda m: m.todense())(mat), x)
    again = sparse.BCOO.fromdense(x, n_batch=mat.n_batch, n_dense=mat.n_dense)
    assert again.nse <= x.size
    same(again, x)


def test_order_and_duplicates(pair):
    x, mat = pair
    same(mat.sort_indices(), x)
    joined = mat.sum_duplicates(remove_zeros=False)
    same(joined, x)
    clean = mat.sum_duplicates()
    same(clean, x)
    expected = sparse.BCOO.fromdense(x, n_batch=mat.n_batch, n_dense=mat.n_dense)
    assert clean.nse == expected.nse
    np.testing.assert_array_equal(clean.indices, expected.indices)
    same(cv.jit(lambda m: m.sum_duplicates(nse=12))(clean), x)


def test_layouts(pair):
    x, mat = pair
    for n_batch, n_dense in LAYOUTS:
        same(mat.update_layout(n_batch=n_batch, n_dense=n_dense, on_inefficient=None), x)


def test_transposition_sums_and_parts(pair):
    x, mat = pair
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    axes = (*reversed(range(b)), *reversed(range(b, s)), *reversed(range(s, 3)))
    same(mat.T, x.transpose(axes))
    for over in [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]:
        same(sparse.bcoo_reduce_sum(mat, axes=over), x.sum(over))
        same(mat.sum(over), x.sum(over))
    same(mat[1], x[1])
    same(mat[:, 1:, ::2], x[:, 1:, ::2])
    same(mat[:, -1], x[:, -1])
    same(sparse.bcoo_rev(mat, (0, 2)), x[::-1, :, ::-1])
    start = [jnp.array(1), jnp.array(-1), jnp.array(2)]
    same(sparse.bcoo_dynamic_slice(mat, start, (1, 2, 2)), x[1:2, 1:3, 2:4])


def test_shapes(pair):
    x, mat = pair
    wide = sparse.bcoo_broadcast_in_dim(mat, shape=(2, 5, 3, 4), broadcast_dimensions=(0, 2, 3))
    same(wide, np.broadcast_to(x[:, None], (2, 5, 3, 4)))
    same(
        sparse.bcoo_broadcast_in_dim(mat, shape=(1, 2, 3, 4), broadcast_dimensions=(1, 2, 3)),
        x[None],
    )
    same(sparse.bcoo_squeeze(wide[:, :1], dimensions=(1,)), x)
    for d in range(3):
        same(sparse.bcoo_concatenate([mat, mat], dimension=d), np.concatenate([x, x], d))
    if (mat.n_batch, mat.n_dense) in [(0, 0), (1, 0)]:
        same(mat.reshape(2, 12), x.reshape(2, 12))
        same(mat.reshape(2, 2, 6), x.reshape(2, 2, 6))


def test_elementwise(pair):
    x, mat = pair
    same(-mat, -x)
    same(mat * 3, x * 3)
    same(mat / 4, x / 4)
    same(mat + mat, x + x)
    same(mat - 2 * mat, -x)
    same(abs(-mat), x)
    same(mat * (x + 1), x * (x + 1))
    same(mat * x[:1], x * x[:1])
    same(mat * x[:, :, :1], x * x[:, :, :1])
    same(sparse.bcoo_multiply_sparse(mat, mat.sum_duplicates()), x * x)
    same(sparse.sparsify(jnp.sin)(mat), np.sin(x))
    same(mat**2, x**2)
    same(mat.astype(jnp.int32), x.astype(int))


def test_extraction(pair):
    x, mat = pair
    full = sparse.BCOO.fromdense(x + 1, n_batch=mat.n_batch, n_dense=mat.n_dense)
    same(sparse.bcoo_extract(full + full, x), x)
    clean = mat.sum_duplicates()
    if not mat.n_dense:
        same(sparse.bcoo_extract(clean, x + 1), np.where(x, x + 1, 0))


PRODUCTS = [
    # Dimension numbers, and the shape of the dense array.
    ((((2,), (0,)), ((), ())), (4, 5)),
    ((((1,), (1,)), ((), ())), (2, 3)),
    ((((1, 2), (1, 0)), ((), ())), (4, 3, 2)),
    ((((0,), (0,)), ((), ())), (2, 2)),
    ((((2,), (1,)), ((0,), (0,))), (2, 4, 3)),
    ((((), ()), ((), ())), (2,)),
    ((((2,), (0,)), ((0, 1), (2, 1))), (4, 3, 2)),
]


@pytest.mark.parametrize(("numbers", "shape"), PRODUCTS)
def test_products_with_dense_arrays(pair, numbers, shape):
    x, mat = pair
    (over, over_y), (batch, batch_y) = numbers
    y = dense(shape, 1)
    reversed_numbers = ((over_y, over), (batch_y, batch))
    sparse_dims = range(mat.n_batch + mat.n_sparse)
    if not set(over) <= set(sparse_dims) or not set(batch) <= set(range(mat.n_batch)):
        with pytest.raises(NotImplementedError, match="update_layout"):
            sparse.bcoo_dot_general(mat, y, dimension_numbers=numbers)
        return
    expected = cv.lax.dot_general(x, y, numbers)
    same(sparse.bcoo_dot_general(mat, y, dimension_numbers=numbers), expected)
    same(
        cv.jit(lambda m, y: sparse.bcoo_dot_general(m, y, dimension_numbers=numbers))(mat, y),
        expected,
    )
    turned = cv.lax.dot_general(y, x, reversed_numbers)
    same(sparse.bcoo_dot_general(y, mat, dimension_numbers=reversed_numbers), turned)


def test_products_of_matrices():
    x, y = dense((3, 4)), dense((4, 5), 1)
    a, b = padded(x), padded(y)
    same(a @ y, x @ y)
    same(x @ b, x @ y)
    same(a @ b, x @ y)
    same(a @ y[:, 0], x @ y[:, 0])
    same(x[0] @ b, x[0] @ y)
    same(a.T @ x, x.T @ x)
    lhs, rhs = padded(dense((2, 3, 4)), 1), padded(dense((2, 4, 2), 1), 1)
    numbers = (((2,), (1,)), ((0,), (0,)))
    same(
        sparse.bcoo_dot_general(lhs, rhs, dimension_numbers=numbers),
        dense((2, 3, 4)) @ dense((2, 4, 2), 1),
    )
    places = sparse.BCOO.fromdense(x @ y)
    data = sparse.bcoo_dot_general_sampled(
        x, y, places.indices, dimension_numbers=(((1,), (0,)), ((), ()))
    )
    np.testing.assert_allclose(data, places.data, rtol=1e-6)


def test_vmap():
    x = dense((3, 4, 5))
    mat = padded(x, 1)
    v = dense((5,), 2)
    np.testing.assert_allclose(cv.vmap(lambda m: m @ v)(mat), x @ v, rtol=1e-6)
    doubled = cv.vmap(lambda m: 2 * m)(mat)
    same(doubled, 2 * x)
    with pytest.raises(ValueError, match="batch dimensions"):
        cv.vmap(lambda m: m @ v)(padded(x))


def test_derivatives():
    x, v = dense((3, 4)), dense((4,), 1)
    mat = sparse.BCOO.fromdense(x)
    loss = lambda m, v: jnp.sum((m @ v) ** 2)  # noqa: E731
    value, (by_m, by_v) = sparse.value_and_grad(loss, (0, 1))(mat, v)
    dense_m, dense_v = cv.grad(loss, (0, 1))(x, v)
    np.testing.assert_allclose(value, loss(x, v), rtol=1e-6)
    same(by_m, np.where(x, dense_m, 0))
    np.testing.assert_allclose(by_v, dense_v, rtol=1e-5)
    for derivative in (sparse.jacrev, sparse.jacfwd):
        slopes = derivative(lambda m: m @ v)(mat)
        expected = cv.jacrev(lambda m: m @ v)(x)
        same(slopes, np.where(x[None], expected, 0))


def test_creation():
    same(sparse.eye(3, 4, k=-1), np.eye(3, 4, -1))
    same(sparse.eye(3, n_batch=1), np.eye(3))
    same(sparse.eye(3, n_dense=1), np.eye(3))
    same(sparse.empty((2, 3), n_batch=1, nse=2), np.zeros((2, 3)))
    for options in (dict(), dict(n_batch=1), dict(n_dense=1), dict(unique_indices=False)):
        mat = sparse.random_bcoo(cv.random.key(0), (4, 5, 6), nse=3, **options)
        assert mat.nse == 3 and mat.todense().shape == (4, 5, 6)
    assert sparse.random_bcoo(cv.random.key(0), (4, 5), nse=0.3).nse == 6


def test_text():
    mat = sparse.BCOO.fromdense(dense((2, 3)), n_batch=1, nse=2)
    assert repr(mat) == "BCOO(float32[2,3], nse=2, n_batch=1)"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sparse.BCOO((jnp.ones(2), jnp.ones((3, 1), int)), shape=(4,)), ValueError, "nse"),
        (lambda: sparse.BCOO.fromdense(jnp.ones(3), n_batch=2), ValueError, "n_batch=2"),
        (lambda: cv.jit(sparse.BCOO.fromdense)(jnp.ones(3)), ValueError, "nse=..."),
        (lambda: sparse.sparsify(jnp.cos)(sparse.eye(2)), NotImplementedError, "cos"),
        (lambda: sparse.eye(2) + jnp.ones((2, 2)), NotImplementedError, "todense"),
        (lambda: sparse.eye(2) @ jnp.ones(3), TypeError, "shape"),
        (lambda: sparse.eye(2, sparse_format="dok"), ValueError, "bcoo, bcsr"),
        (
            lambda: sparse.BCOO.fromdense(np.eye(9)).update_layout(n_batch=1),
            sparse.SparseEfficiencyError,
            "on_inefficient",
        ),
    ],
)
def test_mistakes(call, error, text):
    with pytest.raises(error, match=text):
        call()
