"""Corners of the namespace, where a sweep of all its names beside JAX once found differences."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector._src.base import config
from tests.numpy.comparing import array, assert_close, assert_same_type

F, I, B = array((3,), "float32"), array((3,), "int32"), array((3,), "bool")
F23 = array((2, 3), "float32")
U8, HALF = array((3,), "uint8"), array((3,), "float16")
NAN, INF = float("nan"), float("inf")

CALLS = {
    "add, ranks that do not fit": lambda xp: xp.add(F23, F[:2]),
    "add, sizes that do not fit": lambda xp: xp.add(F, F[:2]),
    "clip, ranks that do not fit": lambda xp: xp.clip(F23, F[:2]),
    "angle of a half": lambda xp: xp.angle(HALF[0]),
    "angle of halves": lambda xp: xp.angle(HALF),
    "asarray, NaN as an integer": lambda xp: xp.asarray(NAN, "int32"),
    "bartlett of a float": lambda xp: xp.bartlett(2.5),
    "cov, half a degree of freedom": lambda xp: xp.cov(F23, ddof=0.5),
    "diagflat of a number": lambda xp: xp.diagflat(2.5),
    "diff, no times": lambda xp: xp.diff(F[0], n=0),
    "ediff1d of a number": lambda xp: xp.ediff1d(2),
    "ediff1d of booleans": lambda xp: xp.ediff1d(B),
    "expand_dims, no axis": lambda xp: xp.expand_dims(F, None),
    "expand_dims, an array": lambda xp: xp.expand_dims(F, np.array(1)),
    "eye, far away": lambda xp: xp.eye(3, k=2**40),
    "full, a float as a byte": lambda xp: xp.full(2, 300.7, "uint8"),
    "gradient, two places": lambda xp: xp.gradient(F23, F[:2], F),
    "heaviside of numbers": lambda xp: xp.heaviside(2.5, 2),
    "hypot of numbers": lambda xp: xp.hypot(3, 4),
    "inner of bytes and a number": lambda xp: xp.inner(U8, 2),
    "kron of ranks that do not fit": lambda xp: xp.kron(F23[:, :2], F),
    "mean in integers": lambda xp: xp.mean(np.float32([1.7, 2.9, -0.2, 3.9]), dtype="int32"),
    "repeat of a number": lambda xp: xp.repeat(F[0], 3, axis=0),
    "roll by a float": lambda xp: xp.roll(F, F[0]),
    "round of a number": lambda xp: xp.round(2.567, 1),
    "round of halves": lambda xp: xp.round(HALF, 1),
    "select by rows": lambda xp: xp.select(F23 > 0, F23),
    "split by a float": lambda xp: xp.split(array((4,), "float32"), 2.0),
    "take by booleans": lambda xp: xp.take(F, B),
    "logarithms of zeros": lambda xp: xp.log10(np.array([0, -0j, 100, 1e30j], np.complex64)),
    "logarithms of infinities": lambda xp: xp.log2(np.array([-INF, INF * 1j], np.complex64)),
}


@pytest.mark.parametrize("name", CALLS)
def test_types_and_values(jax, name):
    call = CALLS[name]
    assert_same_type(jax, call, what=name)
    try:
        want = call(jax.numpy)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            call(jnp)
    else:
        assert_close(call(jnp), want, name)


def test_arguments_of_array_by_position():
    with pytest.warns(DeprecationWarning, match="copy, order, and ndmin"):
        assert jnp.array([1, 2], None, True, "K", 2).shape == (1, 2)
    with pytest.raises(TypeError, match="at most 5"):
        jnp.array([1, 2], None, True, "K", 2, None)
    with pytest.raises(TypeError, match="multiple values for argument 'copy'"):
        jnp.array([1, 2], None, True, copy=False)


def test_floats_that_integers_cannot_hold():
    """They become what the device makes of them: 0 of NaN, otherwise the nearest there is."""
    assert jnp.full(2, NAN, "int32").tolist() == [0, 0]
    assert jnp.full(2, 1e30, "int32").tolist() == [2**31 - 1] * 2
    assert jnp.full_like(I, -1e30).tolist() == [-(2**31)] * 3


def test_what_parity_takes_away():
    x = jnp.arange(4)
    assert 1 in x and 7 not in x and 1 in x.reshape(2, 2) and jnp.array([0, 9]) in x[::2]
    assert (jnp.ndim([1, 2]), jnp.shape([[1], [2]]), jnp.size([1, 2])) == (1, (2, 1), 2)
    for value in ("a", None):
        with pytest.raises(TypeError, match="unsupported operand type"):
            value in x  # noqa: B015
    with config.parity(True):
        assert 1 in x
        with pytest.raises(ValueError, match="search array must be one-dimensional"):
            1 in x.reshape(2, 2)  # noqa: B015
        with pytest.raises(ValueError, match="query value must be a scalar"):
            x in x  # noqa: B015
        for function in (jnp.ndim, jnp.shape, jnp.size):
            with pytest.warns(DeprecationWarning, match="requires ndarray or scalar arguments"):
                function([1, 2])


def test_default_dtypes_of_64_bits(jax):
    calls = (
        lambda xp: (xp.tri(2), xp.indices((2,)), xp.rint(I), xp.angle(I), xp.angle(HALF[0])),
        lambda xp: (xp.argpartition(F, 1), xp.argsort(F), xp.bartlett(3), xp.eye(2)),
    )
    with jax.enable_x64(True), covector.enable_x64(True):
        for call in calls:
            assert_same_type(jax, call)


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, x: xp.repeat(x, -1),
        lambda xp, x: xp.repeat(x, np.array([1, -1, 2])),
        lambda xp, x: xp.histogram(x, bins=-1),
    ],
)
def test_negative_counts_are_refused(call):
    x = array((3,), "float32")
    with pytest.raises(ValueError):
        call(np, x)
    with pytest.raises(ValueError, match=r"\[(repeat|histogram)\] .*(negative|positive)"):
        call(jnp, jnp.asarray(x))
