"""`x.at[mask]` with masks that may be traced: NumPy's results, and derivatives without NaN."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector import errors

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
M1, M2, M3 = X[:, 0, 0] > 5, X[0] % 3 == 0, X % 5 < 2
COLUMN, ROW = X[0, 0] % 2 == 1, X[0, :, 0] > 3

# For each case an index made of masks, and a value that broadcasts to what is selected.
CASES = {
    "whole": (lambda m: m[3], 7.0),
    "leading": (lambda m: m[1], np.arange(12, dtype=np.float32).reshape(3, 4)),
    "leading two": (lambda m: m[2].T[:3, :2].T, np.arange(4, dtype=np.float32)),
    "last": (lambda m: (Ellipsis, m[4]), 5.0),
    "middle": (lambda m: (slice(None), m[5]), np.arange(4, dtype=np.float32) + 1),
    "a value for each row": (lambda m: (slice(None), m[5]), np.ones((2, 1, 4), np.float32)),
    "integer before": (lambda m: (1, m[5]), np.arange(4, dtype=np.float32)),
    "integer apart": (lambda m: (0, slice(None), m[4]), np.arange(3, dtype=np.float32)),
    "slice before": (lambda m: (slice(0, 1), m[5]), 3.0),
    "reversed": (lambda m: (slice(None, None, -1), m[5]), np.array([[[1.0]], [[2.0]]], "f")),
    "new dimension": (lambda m: (None, m[1]), 2.0),
    "two dimensions behind": (lambda m: (slice(None), m[2]), np.array([[1.0], [2.0]], "f")),
    "nothing": (lambda m: m[3] & ~m[3], 7.0),
}
MASKS = (None, M1, M2, M3, COLUMN, ROW)
KINDS = {
    "set": lambda old, y: y + 0 * old,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "power": np.power,
    "min": np.minimum,
    "max": np.maximum,
}


def expected(index, kind, value):
    want = X.copy()
    want[index] = KINDS[kind](want[index], np.float32(value))
    return want


@pytest.mark.parametrize("kind", KINDS)
def test_values(kind):
    def program(x, *masks):
        return [
            getattr(x.at[make((None, *masks))], kind)(value + 1) for make, value in CASES.values()
        ]

    traced = covector.jit(program)(X, *MASKS[1:])
    for (name, (make, value)), got in zip(CASES.items(), traced):
        want = expected(make(MASKS), kind, value + 1)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6, err_msg=name)
    for name, (make, value) in list(CASES.items())[::3]:
        got = getattr(jnp.asarray(X).at[make(MASKS)], kind)(value + 1)
        want = expected(make(MASKS), kind, value + 1)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6, err_msg=name)


def test_apply():
    got = covector.jit(lambda x, m: x.at[m].apply(lambda v: -v))(X, M3)
    np.testing.assert_array_equal(np.asarray(got), np.where(M3, -X, X))
    got = covector.jit(lambda x, m: x.at[1, m].apply(lambda v: 2 * v))(X, ROW)
    want = X.copy()
    want[1, ROW] *= 2
    np.testing.assert_array_equal(np.asarray(got), want)


def test_known_masks_take_a_value_for_each_element():
    values = np.arange(np.count_nonzero(M3), dtype=np.float32)
    want = X.copy()
    want[M3] = values
    x = jnp.asarray(X)
    assert x.at[M3].set(values).tolist() == want.tolist()
    assert x.at[jnp.asarray(M3)].set(values).tolist() == want.tolist()
    assert covector.jit(lambda x: x.at[M3].set(values))(x).tolist() == want.tolist()


def test_integers_keep_their_dtype():
    x = jnp.arange(4)
    assert covector.jit(lambda x: x.at[x > 1].set(9))(x).dtype == x.dtype
    assert covector.jit(lambda x: x.at[x > 1].divide(2))(x).tolist() == [0, 1, 1, 1.5]


def test_traced_integers_beside_a_mask():
    def write(x, mask, i, **options):
        return x.at[i, mask].set(0.0, **options)

    want = X.copy()
    want[1, ROW] = 0
    for i in (1, -1):
        assert covector.jit(write)(X, ROW, i).tolist() == want.tolist()
    assert covector.jit(write)(X, ROW, 5).tolist() == X.tolist()
    assert write(jnp.asarray(X), jnp.asarray(ROW), 5, mode="drop").tolist() == X.tolist()


def test_batches():
    got = covector.vmap(lambda x, m: x.at[m].set(0.0))(X, M3)
    np.testing.assert_array_equal(np.asarray(got), np.where(M3, 0, X))
    got = covector.vmap(lambda x, m: x.at[:, m].add(1.0), (0, None))(X, COLUMN)
    np.testing.assert_array_equal(np.asarray(got), X + COLUMN)


def test_derivatives():
    """What is not selected has no part in the derivative of the value, were it infinite."""
    x = jnp.array([1.0, jnp.inf, 3.0, jnp.nan])
    mask = jnp.isfinite(x)

    def loss(kind):
        return lambda v, x: jnp.sum(jnp.where(mask, getattr(x.at[mask], kind)(v), 0.0))

    for kind, want in {"multiply": 4.0, "add": 2.0, "set": 2.0, "divide": -1.0}.items():
        for wrap in (lambda f: f, covector.jit):
            assert float(wrap(covector.grad(loss(kind)))(2.0, x)) == want, kind
    g = covector.grad(lambda x: jnp.sum(x.at[x > 1].multiply(3.0)))(jnp.arange(4.0))
    assert g.tolist() == [1, 1, 3, 3]


def test_refusals():
    def write(x, flags, values):
        return x.at[flags].set(values)

    with pytest.raises(errors.NonConcreteBooleanIndexError) as raised:
        covector.jit(write)(jnp.arange(3.0), jnp.ones(3, bool), jnp.ones(2))
    for part in ("bool[3]", "shape (2,)", "has (1,)", "the argument flags"):
        assert part in str(raised.value)
    for call in (
        lambda x, m: x.at[m, np.array([0, 1])].set(0),
        lambda x, m: x.at[m, m].set(0),
    ):
        with pytest.raises(errors.NonConcreteBooleanIndexError, match="arrays or other masks"):
            covector.jit(call)(jnp.ones((3, 3)), jnp.ones(3, bool))
    with pytest.raises(IndexError, match="boolean index"):
        covector.jit(lambda x, m: x.at[m].set(0))(jnp.ones(3), jnp.ones(2, bool))


def test_masks_select_on_the_host():
    """Another number of selected elements compiles nothing new."""
    x = jnp.arange(10.0)
    ops = covector._src.core.trace.eval_trace.backend._ops
    x[x > 1]
    before = len(ops)
    for n in range(2, 9):
        assert x[x > n].tolist() == list(range(n + 1, 10))
        assert x.at[x > n].set(0).tolist() == [*range(n + 1), *[0] * (9 - n)]
    assert len(ops) <= before + 1
