"""logsumexp and logmeanexp against JAX 0.10.2 and SciPy, and their gradients at infinities."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax

A = np.linspace(-4, 5, 12, dtype=np.float32).reshape(3, 4) ** 3
B = np.cos(np.arange(12, dtype=np.float32)).reshape(3, 4)
MASK = (np.arange(12) % 3 != 1).reshape(3, 4)
INF = np.inf
logsumexp = cv.nn.logsumexp

CASES = [
    {},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"axis": (0, 1)},
    {"axis": ()},
    {"axis": 1, "where": MASK},
    {"axis": 0, "where": MASK[0]},
    {"axis": 1, "b": B},
    {"axis": 1, "b": B, "where": MASK},
    {"b": np.float32(3)},
    {"axis": 0, "b": B, "return_sign": True},
    {"axis": 0, "return_sign": True, "keepdims": True},
]


def program(of):
    """Values and gradients of all cases; where the result is NaN, that is left out."""

    def total(a, kwargs):
        leaves = of.tree.leaves(of.nn.logsumexp(a, **kwargs))
        return sum(of.numpy.where(x == x, x, 0).sum() for x in leaves)

    def run(a):
        return [(of.nn.logsumexp(a, **kw), of.grad(total)(a, kw)) for kw in CASES]

    return of.jit(run)(A)


def test_values_and_gradients(jax):
    for kwargs, got, want in zip(CASES, program(cv), program(jax), strict=True):
        got, want = [of.tree.leaves(x) for of, x in ((cv, got), (jax, want))]
        for g, w in zip(got, want, strict=True):
            assert g.shape == w.shape and g.dtype == w.dtype
            np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-5, err_msg=str(kwargs))


def test_gradient_in_factors(jax):
    got, want = [
        of.grad(lambda a, b, of=of: of.nn.logsumexp(a, b=b), (0, 1))(A[0] / 9, np.abs(B[0]))
        for of in (cv, jax)
    ]
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_infinities(jax):
    for row in ([-INF, -INF], [INF, 0.0], [INF, INF], [-INF, 1.0], [INF, -INF], [np.nan, 1.0], []):
        x = np.array(row, np.float32)
        np.testing.assert_array_equal(logsumexp(x), jax.nn.logsumexp(x))


def test_gradients_at_infinities():
    slope = cv.grad(logsumexp)
    for row, want in (
        ([-INF, -INF], [0, 0]),
        ([-INF, 1.0], [0, 1]),
        ([1.0, INF], [0, 1]),
        ([INF, 3.0, INF], [0.5, 0, 0.5]),
        ([-INF, INF], [0, 1]),
        ([1000.0, 1000.0, -INF], [0.5, 0.5, 0]),
    ):
        x = jnp.array(row)
        assert slope(x).tolist() == want
        assert cv.jacfwd(logsumexp)(x).tolist() == want
        assert cv.jit(slope)(x).tolist() == want
        assert np.isfinite(cv.hessian(logsumexp)(x)).all()
    keep = jnp.array([True, False])
    masked = cv.grad(lambda x: logsumexp(x, where=keep))
    assert masked(jnp.array([0.0, 100.0])).tolist() == [1, 0]
    assert masked(jnp.array([0.0, np.nan])).tolist() == [1, 0]
    none = cv.grad(lambda x: logsumexp(x, where=jnp.zeros(2, bool)))
    assert none(jnp.array([0.0, 1.0])).tolist() == [0, 0]
    batched = cv.vmap(slope)(jnp.array([[-INF, -INF], [0.0, 0.0]]))
    assert batched.tolist() == [[0, 0], [0.5, 0.5]]


def test_a_dynamic_program_in_log_space():
    """Paths through a chain of states, some of which cannot be reached."""
    steps = jnp.log(jnp.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]))
    start = jnp.array([0.0, -INF, -INF])

    def reached(steps):
        step = lambda state, _: (logsumexp(state[:, None] + steps, axis=0), None)  # noqa: E731
        return lax.scan(step, start, None, length=3)[0][2]

    # In three steps, with a rest at each: 1 - P(at most one success in three tries).
    assert float(reached(steps)) == pytest.approx(np.log(0.5), rel=1e-6)
    gradient = np.asarray(cv.grad(reached)(steps))
    assert np.isfinite(gradient).all()
    # What each path contributes, times how often it takes the step.
    np.testing.assert_allclose(gradient.sum(), 3.0, rtol=1e-6)


def test_second_derivative_is_the_covariance_of_softmax():
    x = jnp.array([0.3, -1.0, 2.0])
    p = np.asarray(cv.nn.softmax(x))
    want = np.diag(p) - np.outer(p, p)
    np.testing.assert_allclose(cv.hessian(logsumexp)(x), want, atol=1e-6)
    np.testing.assert_allclose(cv.jacrev(cv.jacrev(logsumexp))(x), want, atol=1e-6)


def test_complex(jax):
    z = (A[0] + 1j * B[0]).astype(np.complex64)
    for kwargs in ({}, {"return_sign": True}, {"b": B[1]}):
        got, want = [of.tree.leaves(of.nn.logsumexp(z, **kwargs)) for of in (cv, jax)]
        for g, w in zip(got, want, strict=True):
            assert g.dtype == w.dtype
            np.testing.assert_allclose(g, w, rtol=1e-5)
    small = z / 50
    for signed in (False, True):
        tangents = [
            of.tree.leaves(
                of.jvp(lambda x, of=of: of.nn.logsumexp(x, return_sign=signed), (small,), (z,))[1]  # noqa: B023
            )
            for of in (cv, jax)
        ]
        for g, w in zip(*tangents, strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-4)


def test_types(jax):
    for x in (2, 2.5, np.arange(3), np.ones(2, "bfloat16"), np.ones(2, "float16"), True):
        got, want = [of.eval_shape(of.nn.logsumexp, x) for of in (cv, jax)]
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
    with pytest.raises(TypeError, match="logsumexp requires ndarray or scalar arguments"):
        logsumexp([1.0, 2.0])
    with pytest.raises(ValueError, match="out of bounds"):
        logsumexp(jnp.ones(3), axis=1)


def test_against_scipy():
    special = pytest.importorskip("scipy.special")
    with cv.enable_x64(True):
        a, b = A.astype(np.float64), B.astype(np.float64)
        np.testing.assert_allclose(logsumexp(a, axis=0), special.logsumexp(a, axis=0), rtol=1e-14)
        got = logsumexp(a, axis=1, b=b, return_sign=True)
        want = special.logsumexp(a, axis=1, b=b, return_sign=True)
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_logmeanexp(jax):
    for kwargs in ({}, {"axis": 0}, {"axis": 1, "where": MASK}, {"axis": (0, 1), "keepdims": True}):
        got, want = [of.nn.logmeanexp(A, **kwargs) for of in (cv, jax)]
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-6)
    assert float(cv.nn.logmeanexp(jnp.full(5, -1000.0))) == -1000.0
