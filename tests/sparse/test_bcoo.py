"""BCOO arrays of all layouts beside dense arrays.

What is computed of one array is computed by one program, since programs are what takes time.
"""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.experimental import sparse

# (n_batch, n_dense); the last has no sparse dimensions.
LAYOUTS = [(0, 0), (1, 1), (2, 1)]


def dense(shape, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 9, shape) * (rng.random(shape) < 0.5)
    return x.astype(np.float32)


def padded(x, n_batch=0, n_dense=0):
    """A BCOO array with padding, and with each of its elements as two halves."""
    mat = sparse.BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense)
    data, indices = np.array(mat.data) / 2, np.array(mat.indices)
    padding = np.broadcast_to(np.array(mat.sparse_shape, np.int32), indices[..., :1, :].shape)
    blank = np.ones_like(data.take([0], n_batch))
    data = np.concatenate([data, blank, np.flip(data, n_batch)], n_batch)
    indices = np.concatenate([indices, padding, np.flip(indices, n_batch)], n_batch)
    if not mat.n_sparse:
        data[(slice(None),) * n_batch + (mat.nse,)] = 0
    return sparse.BCOO((data, indices), shape=x.shape)


@pytest.fixture(scope="module", params=LAYOUTS, ids=str)
def pair(request):
    """An array as a dense and as a sparse one."""
    x = dense((2, 3, 4))
    return x, padded(x, *request.param)


def same(mat, expected):
    assert mat.shape == np.shape(expected)
    np.testing.assert_allclose(sparse.todense(mat), expected, rtol=1e-6)


def check(cases, x, mat):
    """Compare functions of sparse and of dense arrays, all of them in one program."""
    funs = {name: sparse_fun for name, (sparse_fun, _) in cases.items()}
    found = cv.jit(lambda m: {k: sparse.todense(f(m)) for k, f in funs.items()})(mat)
    for name, (_, dense_fun) in cases.items():
        expected = dense_fun(x)
        assert found[name].shape == expected.shape, name
        np.testing.assert_allclose(found[name], expected, rtol=1e-6, err_msg=name)


def both(fun):
    return sparse.sparsify(fun), fun


def itself(x):
    return x


def test_order_and_layouts(pair):
    cases = {
        "todense": (itself, itself),
        "sort_indices": (lambda m: m.sort_indices(), itself),
        "sum_duplicates": (lambda m: m.sum_duplicates(nse=24), itself),
    }
    for n_batch, n_dense in LAYOUTS:
        layout = dict(n_batch=n_batch, n_dense=n_dense, on_inefficient=None)
        cases[f"update_layout {layout}"] = (lambda m, to=layout: m.update_layout(**to), itself)
    check(cases, *pair)


def test_elements_that_are_counted():
    x = dense((2, 3, 4))
    mat = padded(x, 1)
    expected = sparse.BCOO.fromdense(x, n_batch=mat.n_batch, n_dense=mat.n_dense)
    same(expected, x)
    found = mat.sum_duplicates()
    assert found.nse == expected.nse
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.data, expected.data)


def reductions():
    for over in [(0,), (1,), (1, 2), (0, 1, 2)]:
        yield f"sum over {over}", both(lambda x, over=over: x.sum(over))


def test_sums_and_parts(pair):
    x, mat = pair
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    axes = (*reversed(range(b)), *reversed(range(b, s)), *reversed(range(s, 3)))
    start = [np.int32(1), np.int32(-1), np.int32(2)]
    cases = dict(reductions()) | {
        "T": (lambda m: m.T, lambda x: x.transpose(axes)),
        "row": both(lambda x: x[1]),
        "slice": both(lambda x: x[:, 1:, ::2]),
        "column": both(lambda x: x[:, -1]),
        "gather": both(lambda x: x[np.array([1, 1, 0])]),
        "rev": (lambda m: sparse.bcoo_rev(m, (0, 2)), lambda x: x[::-1, :, ::-1]),
        "dynamic_slice": (
            lambda m: sparse.bcoo_dynamic_slice(m, start, (1, 2, 2)),
            lambda x: x[1:2, 1:3, 2:4],
        ),
    }
    check(cases, x, mat)


def test_shapes(pair):
    x, mat = pair
    cases = {
        "new axis": both(lambda x: x[None]),
        "inner axis": both(lambda x: x[:, None]),
        "broadcast": both(lambda x: jnp.broadcast_to(x[:, None], (2, 5, 3, 4))),
        "squeeze": both(lambda x: x[:, :1].squeeze(1)),
        "stack": both(lambda x: jnp.stack([x, x], 1)),
    }
    for d in range(3):
        cases[f"concatenate {d}"] = both(lambda x, d=d: jnp.concatenate([x, x], d))
    if not mat.n_dense:
        cases["merge"] = both(lambda x: x.reshape(2, 12))
        cases["split"] = both(lambda x: x.reshape(2, 2, 6))
    check(cases, x, mat)


def test_elementwise(pair):
    x, mat = pair
    cases = {
        "neg": both(lambda x: -x),
        "scaled": both(lambda x: 3 * x / 4),
        "add": both(lambda x: x + (x - 2 * x)),
        "abs": both(lambda x: abs(-x)),
        "times dense": both(lambda x: x * np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)),
        "times row": both(lambda x: x * np.arange(4, dtype=np.float32)),
        "times column": both(lambda x: x * np.arange(6, dtype=np.float32).reshape(2, 3, 1)),
        "times itself": (lambda m: m * m.sort_indices(), lambda x: x * x),
        "sin": both(jnp.sin),
        "power": both(lambda x: x**2),
        "integers": both(lambda x: x.astype(np.int32)),
        "a call": both(lambda x: cv.jit(lambda x: jnp.tanh(x))(x)),
    }
    check(cases, x, mat)


def test_extraction(pair):
    x, mat = pair
    full = sparse.BCOO.fromdense(x + 1, n_batch=mat.n_batch, n_dense=mat.n_dense)
    cases = {
        "all": (lambda m: sparse.bcoo_extract(full, x), itself),
        "twice": (lambda m: sparse.bcoo_extract(full + full, x), itself),
    }
    if not mat.n_dense:
        cases["stored"] = (
            lambda m: sparse.bcoo_extract(m, x + 1),
            lambda x: np.where(x, x + 1, 0),
        )
    check(cases, x, mat)


dot = sparse.bcoo_dot_general
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


def test_products_with_dense_arrays(pair):
    x, mat = pair
    cases = {}
    for numbers, shape in PRODUCTS:
        y = dense(shape, 1)
        (over, over_y), (batch, batch_y) = numbers
        turned = ((over_y, over), (batch_y, batch))
        sparse_dims = range(mat.n_batch + mat.n_sparse)
        if not set(over) <= set(sparse_dims) or not set(batch) <= set(range(mat.n_batch)):
            with pytest.raises(NotImplementedError, match="update_layout"):
                dot(mat, y, dimension_numbers=numbers)
            continue
        cases[f"{numbers}"] = (
            lambda m, y=y, n=numbers: dot(m, y, dimension_numbers=n),
            lambda x, y=y, n=numbers: cv.lax.dot_general(x, y, n),
        )
        cases[f"{turned} turned"] = (
            lambda m, y=y, n=turned: dot(y, m, dimension_numbers=n),
            lambda x, y=y, n=turned: cv.lax.dot_general(y, x, n),
        )
    check(cases, x, mat)


def test_products_of_matrices():
    x, y = dense((3, 4)), dense((4, 5), 1)
    b = padded(y)
    numbers = (((1,), (0,)), ((), ()))
    places = sparse.BCOO.fromdense(x @ y, nse=15).indices
    cases = {
        "matrices": (lambda a: a @ y, lambda x: x @ y),
        "turned": (lambda a: x @ b, lambda x: x @ y),
        "sparse": (lambda a: a @ b, lambda x: x @ y),
        "vector": (lambda a: a @ y[:, 0], lambda x: x @ y[:, 0]),
        "of a vector": (lambda a: x[0] @ b, lambda x: x[0] @ y),
        "transposed": (lambda a: a.T @ x, lambda x: x.T @ x),
        "sampled": (
            lambda a: sparse.bcoo_dot_general_sampled(x, y, places, dimension_numbers=numbers),
            lambda x: np.r_[(x @ y)[(x @ y) != 0], np.zeros(15 - np.count_nonzero(x @ y))],
        ),
    }
    check(cases, x, padded(x))


def test_products_of_sparse_arrays_of_other_sizes():
    x, z = dense((3, 4, 5)), dense((3, 4, 5), 1) + 1
    for y, layout in [(z[:, :1, :1], (0, 0)), (z[:1, :, 1:2], (1, 0)), (z[1:2, 1:2], (2, 0))]:
        rhs = padded(y, *layout)
        case = {"product": (lambda m, rhs=rhs: m * rhs, lambda x, y=y: x * y)}
        check(case, x, padded(x, 1))


def test_products_of_batches_of_sparse_arrays():
    x, y = dense((2, 3, 4)), dense((2, 4, 2), 1)
    numbers = (((2,), (1,)), ((0,), (0,)))
    rhs = padded(y, 1)
    product = lambda m: sparse.bcoo_dot_general(m, rhs, dimension_numbers=numbers)  # noqa: E731
    check({"batches": (product, lambda x: x @ y)}, x, padded(x, 1))


def test_vmap():
    x = dense((3, 4, 5))
    mat = padded(x, 1)
    v = dense((5,), 2)
    doubled, product = cv.jit(cv.vmap(lambda m: (2 * m, m @ v)))(mat)
    np.testing.assert_allclose(product, x @ v, rtol=1e-6)
    same(doubled, 2 * x)
    with pytest.raises(ValueError, match="batch dimensions"):
        cv.vmap(lambda m: m @ v)(padded(x))


def test_derivatives():
    x, v = dense((3, 4)), dense((4,), 1)
    mat = sparse.BCOO.fromdense(x)
    loss = lambda m, v: jnp.sum((m @ v) ** 2)  # noqa: E731
    value, (by_m, by_v) = cv.jit(sparse.value_and_grad(loss, (0, 1)))(mat, v)
    residual = x @ v
    np.testing.assert_allclose(value, residual @ residual, rtol=1e-6)
    same(by_m, np.where(x, 2 * np.outer(residual, v), 0))
    np.testing.assert_allclose(by_v, 2 * x.T @ residual, rtol=1e-5)
    for derivative in (sparse.jacrev, sparse.jacfwd):
        slopes = cv.jit(derivative(lambda m: m @ v))(mat)
        expected = np.einsum("ij,k->ijk", np.eye(3), v)
        same(slopes, np.where(x[None], expected, 0))


def test_creation():
    same(sparse.eye(3, 4, k=-1), np.eye(3, 4, -1))
    rows = sparse.eye(3, 4, k=2, n_batch=1)
    assert rows.nse == 1
    same(rows, np.eye(3, 4, 2))
    same(sparse.eye(3, n_dense=1), np.eye(3))
    same(sparse.empty((2, 3), n_batch=1, nse=2), np.zeros((2, 3)))
    for options in (dict(), dict(n_batch=1, n_dense=1, unique_indices=False)):
        make = cv.jit(lambda key, o=options: sparse.random_bcoo(key, (4, 5, 6), nse=3, **o))
        mat = make(cv.random.key(0))
        assert mat.nse == 3 and mat.shape == (4, 5, 6)
        assert np.asarray(mat.indices).max() < 6
        if not options:
            assert np.count_nonzero(mat.todense()) == 3
    assert sparse.random_bcoo(cv.random.key(0), (4, 5), nse=0.3).nse == 6


def test_text():
    mat = sparse.BCOO.fromdense(dense((2, 3)), n_batch=1, nse=2)
    assert repr(mat) == "BCOO(float32[2, 3], nse=2, n_batch=1)"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sparse.BCOO((np.ones(2), np.ones((3, 1), int)), shape=(4,)), ValueError, "nse"),
        (lambda: sparse.BCOO.fromdense(np.ones(3), n_batch=2), ValueError, "n_batch=2"),
        (lambda: cv.jit(sparse.BCOO.fromdense)(np.ones(3)), ValueError, "nse=..."),
        (lambda: sparse.sparsify(jnp.cos)(sparse.eye(2)), NotImplementedError, "cos"),
        (lambda: sparse.eye(2) + np.ones((2, 2)), NotImplementedError, "todense"),
        (lambda: sparse.eye(2) @ np.ones(3), TypeError, "shape"),
        (lambda: sparse.eye(2, sparse_format="dok"), ValueError, "bcoo, bcsr"),
        (
            lambda: sparse.eye(9).update_layout(n_batch=1),
            sparse.SparseEfficiencyError,
            "on_inefficient",
        ),
    ],
)
def test_mistakes(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "x",
    [
        np.zeros((0, 3), np.float32),
        np.float32(3),
        np.array([True, False, True]),
        np.array([np.nan, 0, np.inf], np.float32),
        np.array([0, 2j], np.complex64),
        np.zeros((2, 2), np.int32),
    ],
    ids=lambda x: f"{x.dtype}{x.shape}",
)
def test_special_arrays(x):
    mat = sparse.BCOO.fromdense(x)
    assert mat.dtype == x.dtype and mat.nse == np.count_nonzero(x)
    np.testing.assert_array_equal(mat.todense(), x)


def test_64_bits():
    with cv.enable_x64(True):
        x = dense((3, 4)).astype(np.float64)
        mat, v = sparse.BCOO.fromdense(x), np.linspace(0, 1, 4)
        assert mat.dtype == np.float64 and (mat @ v).dtype == np.float64
        np.testing.assert_allclose(mat @ v, x @ v, rtol=1e-14)
        data = mat.data
        loss = lambda d: jnp.sum(jnp.sin(sparse.BCOO((d, mat.indices), shape=(3, 4)) @ v))  # noqa: E731
        slope, step = cv.grad(loss)(data), np.zeros(mat.nse)
        step[1] = 1e-5
        numeric = (loss(data + step) - loss(data - step)) / 2e-5
        np.testing.assert_allclose(slope[1], numeric, rtol=1e-8)
