"""What NumPy accepts, and JAX 0.10.2 does not or only under conditions, against NumPy."""

from functools import partial

import numpy as np
import pytest

import covector
import covector.numpy as jnp

A = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
X = np.array([0.0, 1.0, 3.0, 4.0, 7.0], np.float32)


def test_differences_of_second_order_at_the_ends():
    for args, axis in [((), None), ((2.0,), None), ((2.0, 3.0), None), ((X,), 1)]:
        got = covector.jit(partial(jnp.gradient, axis=axis, edge_order=2))(A, *args)
        want = np.gradient(A, *args, axis=axis, edge_order=2)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    parabola = 3 * X**2 - X + 2
    np.testing.assert_allclose(jnp.gradient(parabola, X, edge_order=2), 6 * X - 1, rtol=1e-5)
    with pytest.raises(ValueError, match="at least 3 elements"):
        jnp.gradient(A[:2], edge_order=2)
    with pytest.raises(ValueError, match="is 1 or 2"):
        jnp.gradient(A, edge_order=3)


def test_orders_of_elements():
    positions = np.array([0, 3, 5, 4])
    for order in ("C", "F"):
        got = jnp.unravel_index(positions, (2, 3), order=order)
        np.testing.assert_array_equal(got, np.unravel_index(positions, (2, 3), order=order))
    assert jnp.array(A, order="C").shape == A.shape
    for order in ("K", "A"):
        np.testing.assert_array_equal(jnp.ravel(A, order=order), A.ravel(order))
    np.testing.assert_array_equal(jnp.reshape(A, (5, 4), order="A"), A.reshape(5, 4))


def test_diagonals_whose_number_is_traced():
    ones = np.ones((3, 4), np.float32)
    for k in (-2, 0, 1, 9):

        @covector.jit
        def matrices(k):
            return jnp.eye(3, 4, k), jnp.tri(3, 4, k), jnp.tril(ones, k), jnp.triu(ones, k)

        want = np.eye(3, 4, k), np.tri(3, 4, k), np.tril(ones, k), np.triu(ones, k)
        for got, expected in zip(matrices(k), want):
            np.testing.assert_array_equal(got, expected)


def test_padding_by_a_function_and_by_medians():
    def fill(vector, widths, axis, kwargs):
        value = kwargs.get("value", 7) + axis
        if isinstance(vector, np.ndarray):
            vector[: widths[0]] = value
            vector[len(vector) - widths[1] :] = value
            return None
        vector = vector.at[: widths[0]].set(value)
        return vector.at[len(vector) - widths[1] :].set(value)

    for options in ({}, {"value": -1}):
        got = jnp.pad(A, ((1, 2), (0, 1)), fill, **options)
        np.testing.assert_array_equal(got, np.pad(A, ((1, 2), (0, 1)), fill, **options))
    for length in (None, 2):
        got = jnp.pad(A, 2, "median", stat_length=length)
        np.testing.assert_allclose(got, np.pad(A, 2, "median", stat_length=length), rtol=1e-6)


def test_one_condition_of_piecewise():
    got = jnp.piecewise(X, X < 2, [-1.0, lambda x: x])
    np.testing.assert_array_equal(got, np.piecewise(X, X < 2, [-1.0, lambda x: x]))
    traces = 0

    def function(x, scale, shift=0.0):
        nonlocal traces
        traces += 1
        return scale * x + shift

    for scale in (2.0, 3.0):
        got = jnp.piecewise(X, [X < 2, X > 3], [function, 1.0], scale, shift=1.0)
        want = np.piecewise(X, [X < 2, X > 3], [lambda x, scale=scale: scale * x + 1, 1.0])
        np.testing.assert_array_equal(got, want)
    assert traces == 1


def test_several_operands_in_one_step_of_einsum():
    x, y, z = A, A[:, :3], A[:, 1:3]
    got = jnp.einsum("ij,ik,il->jkl", x, y, z, optimize=[(0, 1, 2)])
    np.testing.assert_allclose(got, np.einsum("ij,ik,il->jkl", x, y, z), rtol=1e-5, atol=1e-5)
    got = jnp.einsum("ij,jk,kl,lm->mi", x, A.T, y, z[:3], optimize=[(0, 1, 2), (0, 1)])
    want = np.einsum("ij,jk,kl,lm->mi", x, A.T, y, z[:3])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_products_of_the_user_in_einsum():
    calls = []

    def product(x, y, numbers, **options):
        calls.append(numbers)
        return covector.lax.dot_general(x, y, numbers, **options)

    got = jnp.einsum("ij,kj->ik", A, A, _dot_general=product)
    np.testing.assert_allclose(got, A @ A.T, rtol=1e-5)
    assert calls and calls[0] == (((1,), (1,)), ((), ()))


def test_lists_where_only_shapes_or_truth_matter():
    assert jnp.shape([[1, 2], [3, 4]]) == (2, 2) and jnp.size([1, 2]) == 2 and jnp.ndim([[1]]) == 2
    assert bool(jnp.array_equal([1, 2], [1, 2])) and not bool(jnp.array_equal([1], [1, 2]))
    assert bool(jnp.array_equiv([1, 1], [[1, 1], [1, 1]])) and jnp.iscomplexobj([1, 1j])


def test_methods_of_arrays():
    x = jnp.asarray(np.arange(6, dtype=np.int32).reshape(2, 3))
    host = np.asarray(x)
    np.testing.assert_array_equal(x.byteswap(), host.byteswap())
    z = np.array([1 + 2j, -3j], np.complex64)
    np.testing.assert_array_equal(jnp.asarray(z).byteswap(), z.byteswap())
    np.testing.assert_array_equal(jnp.arange(3, dtype="int8").byteswap(), np.arange(3))
    assert x.tobytes() == host.tobytes() and x.tobytes("F") == host.tobytes("F")
    mask = np.array([True, False, True])
    np.testing.assert_array_equal(x.compress(mask, axis=1), host.compress(mask, axis=1))
    choices = [host[0], host[1]]
    np.testing.assert_array_equal(jnp.array([0, 1, 0]).choose(choices), [0, 4, 2])
    masked = np.ma.array([1, 2], mask=[True, False])
    assert jnp.array(masked).tolist() == jnp.asarray(masked).tolist() == [1, 2]
    with pytest.raises(ValueError, match="masked arrays"):
        jnp.add(masked, 1)


def test_sums_of_powers_of_complex_numbers():
    x, y = np.array([1 + 2j, 50.0, -3j], np.complex64), np.array([3 - 1j, -2j, 1], np.complex64)
    wide = x.astype(complex), y.astype(complex)
    np.testing.assert_allclose(jnp.logaddexp(x, y), np.log(np.exp(wide[0]) + np.exp(wide[1])), 1e-6)
    np.testing.assert_allclose(jnp.logaddexp2(x, y), np.log2(2 ** wide[0] + 2 ** wide[1]), 1e-6)
    slope = covector.grad(jnp.logaddexp, holomorphic=True)(x[0], y[0])
    np.testing.assert_allclose(slope, np.exp(x[0]) / (np.exp(x[0]) + np.exp(y[0])), rtol=1e-6)


def test_masked_variances():
    x = np.array([np.nan, 1.0, 2.0, 4.0], np.float32)
    mean = 7 / 3
    expected = 2 * (x - mean) / 3  # of the mean square of the differences from the mean
    np.testing.assert_allclose(covector.grad(jnp.nanvar)(x), np.nan_to_num(expected), rtol=1e-5)
    mask = np.array([False, True, True, True])
    got = jnp.var(np.stack([x, x]), where=mask)  # of lower rank than the array
    np.testing.assert_allclose(got, np.var(np.stack([x, x]), where=mask), rtol=1e-5)
    with pytest.raises(ValueError, match="where must be None or a boolean array"):
        jnp.sum(x, where=np.arange(4))


def test_updates_by_masks_under_jit():
    x, mask = np.arange(6.0, dtype=np.float32).reshape(2, 3), np.array([[1, 0, 1], [0, 1, 0]], bool)

    @covector.jit
    def updates(x, mask, value):
        part = x.at[mask]
        return part.set(value), part.add(value), part.max(value), x.at[:, mask[0]].set(value)

    wanted = [x.copy() for _ in range(4)]
    wanted[0][mask] = 3
    wanted[1][mask] += 3
    wanted[2][mask] = np.maximum(x[mask], 3)
    wanted[3][:, mask[0]] = 3
    for got, want in zip(updates(x, mask, 3.0), wanted, strict=True):
        np.testing.assert_array_equal(got, want)


def test_objects_that_stand_for_arrays():
    class Wrapped:
        def __init__(self, x):
            self.x = x

        def __jax_array__(self):
            return jnp.asarray(self.x)

    x = np.arange(4.0, dtype=np.float32)
    assert jnp.array([Wrapped(0), Wrapped(1)]).tolist() == [0, 1]
    assert jnp.roll(Wrapped(x), Wrapped(np.int32(1))).tolist() == [3, 0, 1, 2]
    assert float(jnp.average(Wrapped(x))) == 1.5 and jnp.iscomplexobj(Wrapped(1j))
    got = jnp.piecewise(Wrapped(x), [Wrapped(x < 2), Wrapped(x > 2)], [1.0, 2.0])
    assert got.tolist() == [1, 1, 0, 2] and jnp.isscalar(np.array(1.0))
