"""`pad` in all its modes against NumPy's."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from tests.numpy.comparing import assert_close, assert_same_type

X = np.array([[1.0, 5.0, 2.0], [7.0, 3.0, 4.0]], np.float32)
OPTIONS = {
    "constant": [{}, dict(constant_values=3), dict(constant_values=((1, 2), (3, 4)))],
    "edge": [{}],
    "linear_ramp": [{}, dict(end_values=2), dict(end_values=((1, 2), (3, 4)))],
    "maximum": [{}, dict(stat_length=2)],
    "minimum": [{}, dict(stat_length=((1, 2), (2, 1)))],
    "mean": [{}, dict(stat_length=2)],
    "reflect": [{}, dict(reflect_type="odd")],
    "symmetric": [{}, dict(reflect_type="odd")],
    "wrap": [{}],
}
WIDTHS = [0, 1, (2, 1), ((1, 0), (0, 2)), ((5, 4), (7, 6)), [(1, 1)], ((3,),)]
CASES = [(mode, options) for mode, several in OPTIONS.items() for options in several]


@pytest.mark.parametrize(("mode", "options"), CASES, ids=str)
def test_values(jax, mode, options):
    def program(np, x):
        return [np.pad(x, width, mode, **options) for width in WIDTHS]

    got = covector.jit(lambda x: program(jnp, x))(X)
    for width, g, want in zip(WIDTHS, got, program(np, X)):
        assert_close(g, want.astype(np.float32), f"{mode} {options} {width}")
        assert_close(jnp.pad(X, width, mode, **options), want, f"eager {mode} {options} {width}")
    assert_same_type(jax, lambda np, x: np.pad(x, 2, mode, **options), X.astype(np.int8))


def test_integers_are_rounded():
    x = np.array([1, 2, 4], np.int32)
    for mode in ("mean", "linear_ramp", "maximum"):
        got = jnp.pad(x, 3, mode)
        np.testing.assert_array_equal(np.asarray(got), np.pad(x, 3, mode))


def test_widths_by_dimension():
    assert jnp.pad(X, {-1: (1, 2)}).shape == (2, 6) and jnp.pad(X, {0: 3}).shape == (8, 3)
    assert jnp.pad(jnp.float32(1), 0).shape == ()


def test_gradient():
    g = covector.grad(lambda x: jnp.sum(jnp.pad(x, 1, "edge") ** 2))(jnp.array([1.0, 2.0, 3.0]))
    assert g.tolist() == [4.0, 4.0, 12.0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jnp.pad(X, -1), ValueError, "negative"),
        (lambda: jnp.pad(X, ((1, 2), (3, 4), (5, 6))), ValueError, "2 pairs"),
        (lambda: jnp.pad(X, 1, "wrong"), NotImplementedError, "The mode 'wrong'"),
        (lambda: jnp.pad(X, 1, "edge", constant_values=1), ValueError, "it takes none"),
        (lambda: jnp.pad(X, 1, "reflect", reflect_type="up"), ValueError, "'even' or 'odd'"),
        (lambda: jnp.pad(X[:0], 1, "edge"), ValueError, "nothing to copy from"),
        (lambda: jnp.pad(X, 1, "mean", stat_length=0), ValueError, "1 or more"),
        (lambda: jnp.pad([1], 1), TypeError, "requires ndarray or scalar"),
    ],
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()
