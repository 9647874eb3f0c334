"""Taylor mode, against nested forward mode, mathematics and JAX."""

from math import factorial

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.experimental.jet import jet

ORDER = 3
rng = np.random.default_rng(0)
X = np.array([0.3, 0.7, 1.1])
SERIES = [rng.normal(size=3) for _ in range(ORDER)]
W = rng.normal(size=(3, 5))

FUNCTIONS = {
    "sin": jnp.sin,
    "exp": lambda x: jnp.exp(jnp.exp(x)),
    "tanh": jnp.tanh,
    "log": jnp.log,
    "quotient": lambda x: (x + 1) / (1 + x * x) / x,
    "quotient of a constant": lambda x: 2 / x + x / 3 + 4 / jnp.sum(x),
    "integer power": lambda x: x**5,
    "power": lambda x: x**2.5,
    "power of both": lambda x: x**x,
    "root": jnp.sqrt,
    "arctan2": lambda x: jnp.arctan2(x, 1 + x * x),
    "softmax": cv.nn.softmax,
    "logsumexp": cv.nn.logsumexp,
    "gelu": cv.nn.gelu,
    "relu": lambda x: cv.nn.relu(x - 0.5),
    "erf": cv.lax.erf,
    "network": lambda x: jnp.tanh(jnp.tanh(x @ W) @ W.T),
    "product of matrices": lambda x: (x[:, None] * x) @ jnp.outer(jnp.sin(x), x),
    "inverse": lambda x: jnp.linalg.inv(jnp.diag(x) + jnp.outer(x, x)),
    "max": jnp.max,
    "sort": lambda x: jnp.sort(jnp.cos(9 * x)),
    "index": lambda x: x[np.array([2, 0])] * x[1],
    "cumulative product": jnp.cumprod,
    "jit": lambda x: cv.jit(lambda x, y: jnp.sin(x) * y)(x, jnp.exp(x)),
    "checkpoint": cv.checkpoint(lambda x: jnp.sin(x) * x),
    "cond": lambda x: cv.lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
    "scan": lambda x: cv.lax.scan(lambda c, y: (jnp.sin(c) * y, c), x[0], x),
    "while": lambda x: cv.lax.fori_loop(0, x.size, lambda i, c: c * x[i] + 1, x[0]),
    "several results": lambda x: {"a": x * x, "b": (jnp.sin(x), 3.0, jnp.argmax(x))},
}


@pytest.fixture
def double():
    with cv.enable_x64(True):
        yield


def nested(f, x, series):
    """The derivatives of f along a curve by as many `jvp`s, one in another."""

    def along(t):
        return f(x + sum(s * t**k / factorial(k) for k, s in enumerate(series, 1)))

    derivatives = []
    for _ in series:
        along = (lambda g: lambda t: cv.jvp(g, (t,), (1.0,))[1])(along)
        derivatives.append(cv.tree.leaves(along(0.0)))
    return [list(terms) for terms in zip(*derivatives)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_nested_forward_mode(name, double):
    f = FUNCTIONS[name]

    @cv.jit
    def both(x, series):
        return jet(f, (x,), (series,)), (f(x), nested(f, x, series))

    (value, series), (want_value, wanted) = both(X, SERIES)
    cv.tree.map(np.testing.assert_array_equal, value, want_value)
    given = cv.tree.leaves(series, is_leaf=lambda x: isinstance(x, list))
    for got, want in zip(given, wanted, strict=True):
        for x, y in zip(got, want, strict=True):
            if np.asarray(y).dtype != cv.dtypes.float0:
                np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "f",
    [jnp.tanh, jnp.log, jnp.exp, lambda x: x / (1 + x * x), lambda x: x * jnp.sin(x), jnp.sqrt],
    ids=["tanh", "log", "exp", "quotient", "product", "root"],
)
def test_the_work_does_not_double_with_the_order(f):
    def eqns(order):
        def derivatives(x):
            return jet(f, (x,), ([0.5] * order,))

        return len(cv.make_jaxpr(derivatives)(1.0).jaxpr.eqns)

    # Cubic growth multiplies by eight at most, doubling would by sixty-four.
    assert eqns(12) < 8 * eqns(6)


def test_high_orders(double):
    order = 12
    _, series = jet(lambda x: 1 / (1 - x), (0.0,), ([1.0] + [0.0] * (order - 1),))
    np.testing.assert_allclose(series, [factorial(k) for k in range(1, order + 1)], rtol=1e-12)
    _, series = jet(jnp.exp, (0.0,), ([1.0] + [0.0] * (order - 1),), factorial_scaled=False)
    np.testing.assert_allclose(series, [1 / factorial(k) for k in range(1, order + 1)], rtol=1e-12)


def test_several_arguments_and_trees(double):
    def f(x, y):
        return x["a"] * y + x["b"] ** 2

    primals = {"a": 2.0, "b": X}, X
    series = [{"a": 1.0, "b": X}, {"a": 3.0, "b": 0 * X}], [X, 2 * X]
    value, (first, second) = jet(f, primals, series)
    np.testing.assert_allclose(np.asarray(value), 2 * X + X**2)
    np.testing.assert_allclose(np.asarray(first), X + 2 * X + 2 * X**2)
    np.testing.assert_allclose(np.asarray(second), 3 * X + 2 * X + 4 * X + 2 * X**2)


def test_integers_and_constants_rest():
    value, (by_int, constant) = jet(lambda n, x: (n * x, 7), (3, 2.0), ([1, 1], [1.0, 0.5]))
    assert value == (6.0, 7)
    assert by_int == [3.0, 1.5] and constant == [0, 0]
    assert jet(jnp.sin, (0.0,), ([],)) == (0.0, [])


def test_derivatives_and_batches_of_jets(double):
    def second(x):
        return jet(jnp.sin, (x,), ([1.0, 0.0],))[1][1]

    np.testing.assert_allclose(cv.grad(second)(0.4), -np.cos(0.4))
    np.testing.assert_allclose(np.asarray(cv.vmap(second)(X)), -np.sin(X))
    third = jet(second, (0.4,), ([1.0],))[1][0]
    np.testing.assert_allclose(third, -np.cos(0.4))


def test_programs_of_jax_run(jax):
    theirs = pytest.importorskip("jax.experimental.jet").jet
    x, series = X.astype(np.float32), [s.astype(np.float32) for s in SERIES]
    for scaled in (True, False):
        got = jet(lambda x: jnp.tanh(x @ W.astype("f")), (x,), (series,), factorial_scaled=scaled)
        want = theirs(
            lambda x: jax.numpy.tanh(x @ W.astype("f")), (x,), (series,), factorial_scaled=scaled
        )
        for a, b in zip(cv.tree.leaves(got), jax.tree.leaves(want), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-4)


def test_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match="1 primals and 2 series"):
        jet(jnp.sin, (1.0,), ([1.0], [1.0]))
    with pytest.raises(TypeError, match=r"`series\[0\]` must be a list or tuple .* is 1\.0"):
        jet(jnp.sin, (1.0,), (1.0,))
    with pytest.raises(ValueError, match=r"they have 2, 1\. Fill"):
        jet(jnp.add, (1.0, 2.0), ([1.0, 0.0], [1.0]))
    with pytest.raises(ValueError, match=r"term 1 of primal 0 is \(2,\), and the primal \(\)"):
        jet(jnp.sin, (1.0,), ([np.ones(2)],))
