"""Arrays from values, and arrays of one value, of ranges, of triangles."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from tests.numpy.comparing import DTYPES, array, assert_close, assert_same_type

MADE = {
    name: (lambda source: lambda np: eval(source, {"np": np, "onp": __import__("numpy")}))(name)
    for name in (
        *("np.zeros(3)", "np.zeros((2, 3), int)", "np.zeros([2, 3])", "np.zeros(onp.int64(2))"),
        *("np.ones(3, bool)", "np.ones((), 'uint8')", "np.empty((2, 0))", "np.full(3, 2)"),
        *("np.full(3, 2.5, int)", "np.full((2,), 1j)", "np.full((2, 2), onp.arange(2))"),
        *("np.arange(3)", "np.arange(3.)", "np.arange(1, 4, 2)", "np.arange(0, 1, .3)"),
        *("np.arange(3, dtype='uint8')", "np.arange(-3)", "np.arange(5, 0, -2)", "np.arange(2.5)"),
        *("np.arange(5, 0, -1.5)", "np.arange(onp.int8(3))", "np.arange(3, dtype=float)"),
        *("np.arange(1, 1)", "np.arange(3, dtype=complex)", "np.arange(-1, 2)"),
        *("np.linspace(0, 1, 5)", "np.linspace(0, 1, 0)", "np.linspace(0, 1, 1)"),
        *("np.linspace(0, 10, 4, dtype=int)", "np.linspace(0, 1, 5, retstep=True)"),
        *("np.linspace(0, 1, 4, endpoint=False)", "np.linspace(0, 1j, 3)"),
        *(
            "np.linspace(onp.zeros(2), onp.ones(2), 3)",
            "np.linspace(0., onp.arange(3), 2, axis=-1)",
        ),
        *("np.linspace(0, 1, 1, retstep=True)", "np.linspace(-2.3328583, 2.8459014, 10)"),
        *(
            "np.logspace(0, 2, 3)",
            "np.logspace(0, 2, 3, base=2)",
            "np.logspace(0, 2, 3, dtype=int)",
        ),
        *("np.geomspace(1, 8, 4)", "np.geomspace(-1, -8, 4)", "np.geomspace(1, 8, 1)"),
        *("np.eye(3)", "np.eye(2, 3, 1, int)", "np.eye(3, k=-1)", "np.identity(2, int)"),
        *("np.tri(3)", "np.tri(2, 4, 1)", "np.tri(3, k=-1, dtype=bool)", "np.array(2)"),
        *("np.array(2.5)", "np.array(True)", "np.array(1j)", "np.array([1, 2])"),
        *("np.array([1, 2.])", "np.array([True, 2])", "np.array([])", "np.array([[1], [2]])"),
        *("np.array(2, dtype='int8')", "np.array([1, 2], ndmin=3)", "np.asarray((1, 2))"),
        *("np.asarray(range(3))", "np.float32(2)", "np.int8(3)", "np.bool_(1)", "np.complex64(2)"),
        *("np.bfloat16([1, 2])", "np.array(onp.float64(3))", "np.array(onp.arange(3))"),
        *("np.array(onp.ones(2, onp.float16))", "np.array([onp.int8(1), 2])"),
        *("np.array([onp.float16(1), 2.])", "np.array([[1, 2], onp.arange(2)])", "np.array([[]])"),
        *("np.array(1.7, dtype=int)", "np.array([1.7, -1.7], dtype=int)", "np.uint8(onp.int64(7))"),
        *("np.meshgrid(onp.ones(3), onp.arange(2))", "np.meshgrid(onp.arange(2))"),
        *("np.meshgrid(onp.arange(2), onp.arange(3), indexing='ij', sparse=True)",),
        *("np.indices((2, 3))", "np.indices((2, 3), sparse=True)", "np.indices(())"),
        *("np.fromfunction(lambda i, j: i + 2 * j, (2, 3))",),
        "np.fromfunction(lambda i: i * np.arange(3), (2,))",
        "np.fromfunction(lambda i, j: 3, (2, 3), dtype=int)",
    )
}


@pytest.mark.parametrize("source", MADE)
def test_made(jax, source):
    call = MADE[source]
    ours, theirs = call(jnp), call(jax.numpy)
    assert_close(ours, theirs, source)
    assert_same_type(jax, call, what=source)
    one = ours[0] if isinstance(ours, (list, tuple)) else ours
    assert one.weak_type == (theirs[0] if isinstance(theirs, (list, tuple)) else theirs).weak_type


@pytest.mark.parametrize("dtype", DTYPES)
def test_like(jax, dtype):
    x = array((2, 3), dtype)
    for name in ("zeros_like", "ones_like", "empty_like"):
        assert_same_type(jax, lambda np, x: getattr(np, name)(x), x)  # noqa: B023
        assert_same_type(jax, lambda np, x: getattr(np, name)(x, int), x)  # noqa: B023
        assert_same_type(jax, lambda np, x: getattr(np, name)(x, shape=4), x)  # noqa: B023
    assert_same_type(jax, lambda np, x: np.full_like(x, 2.5), x)
    assert_same_type(jax, lambda np, x: np.full_like(x, np.arange(3)), x)
    for number in (2, 2.5, True):
        assert_same_type(jax, lambda np, x: np.zeros_like(x), number)


def test_like_of_descriptions():
    described = covector.ShapeDtypeStruct((2, 3), "int8")
    assert jnp.zeros_like(described).dtype == np.int8 and jnp.ones_like(described).shape == (2, 3)


def test_from_traced_values(jax):
    for call in (
        lambda np, x, y: np.array([x, y, 2.0]),
        lambda np, x, y: np.array([[x, 1], [2, y]]),
        lambda np, x, y: np.array([[x], [y]], dtype=int),
        lambda np, x, y: np.asarray(x),
        lambda np, x, y: np.array(x, ndmin=2),
        lambda np, x, y: np.full((2,), x),
        lambda np, x, y: np.linspace(x, y, 4),
        lambda np, x, y: np.stack([x, 1]),
    ):
        args = np.float32(1.5), np.int32(2)
        assert_same_type(jax, call, *args)
        ours = covector.jit(lambda *xs: call(jnp, *xs))(*args)  # noqa: B023
        assert_close(ours, jax.jit(lambda *xs: call(jax.numpy, *xs))(*args), "traced")  # noqa: B023


def test_copies():
    host = np.arange(3.0, dtype=np.float32)
    x, y = jnp.array(host), jnp.asarray(host)
    traced = covector.jit(lambda: jnp.array(host))
    traced()
    host[0] = 7
    assert x.tolist() == y.tolist() == traced().tolist() == [0, 1, 2]
    assert jnp.asarray(x) is x
    copied = jnp.array(x)
    assert copied is not x and copied.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()


def test_linspace_meets_its_ends():
    for a, b, n in ((-2.3328583, 2.8459014, 10), (0.1, 0.7, 13), (0.0, 1e-30, 7)):
        x = np.asarray(jnp.linspace(a, b, n))
        assert x[0] == np.float32(a) and x[-1] == np.float32(b) and len(x) == n
    y = np.asarray(jnp.geomspace(0.3, 700, 9))
    assert y[0] == np.float32(0.3) and y[-1] == np.float32(700)
    np.testing.assert_allclose(y, np.geomspace(0.3, 700, 9), rtol=1e-5)


def test_triangles_and_diagonals(jax):
    x = array((2, 3, 4), "float32")
    for k in (-4, -1, 0, 2, 5):
        for name in ("tril", "triu"):
            assert_close(getattr(jnp, name)(x, k), getattr(jax.numpy, name)(x, k), name)
        assert_close(jnp.diagonal(x, k, 0, 2), np.diagonal(x, k, 0, 2), "diagonal")
        assert_close(jnp.diagonal(x, k, 2, 1), np.diagonal(x, k, 2, 1), "diagonal")
        assert_close(jnp.diag(x[0, :, 0], k), np.diag(x[0, :, 0], k), "diag")
        assert_close(jnp.diag(x[0], k), np.diag(x[0], k), "diag")
        assert_close(jnp.diagflat(x[0, :2], k), np.diagflat(x[0, :2], k), "diagflat")
        assert_close(jnp.trace(x, k, 1, 2), jax.numpy.trace(x, k, 1, 2), "trace")


def test_view(jax):
    x = array((2, 4), "float32")
    for dtype in ("int32", "uint8", "bfloat16", "complex64", "bool", "float16"):
        assert_close(jnp.asarray(x).view(dtype), jax.numpy.asarray(x).view(dtype), dtype)
    z = array((2, 3), "complex64")
    assert_close(jnp.asarray(z).view("float32"), z.view("float32"), "complex64")
    with pytest.raises(
        ValueError, match=r"\[view\] The last dimension of an array of type int8\[3\]"
    ):
        jnp.zeros(3, "int8").view("int16")


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: jnp.array(None), ValueError, "None is not a valid value"),
        (lambda: jnp.array([1, None]), ValueError, "None is not a valid value"),
        (lambda: jnp.array("a"), TypeError, "is not a valid JAX array type"),
        (lambda: jnp.array({"a": 1}), TypeError, "is not a valid JAX array type"),
        (lambda: jnp.array(object()), TypeError, "is not a valid JAX array type"),
        (lambda: jnp.array([[1], [2, 3]]), ValueError, "setting an array element"),
        (lambda: jnp.array([1], order="F"), NotImplementedError, "order='K'"),
        (lambda: jnp.array(300, "int8"), OverflowError, "300"),
        (lambda: jnp.array([300], "int8"), OverflowError, "300"),
        (lambda: jnp.zeros(-1), TypeError, "must have every element be nonnegative"),
        (lambda: jnp.zeros(2.5), TypeError, "Shapes must be 1D sequences of concrete values"),
        (lambda: jnp.zeros(((2,), 3)), TypeError, "Shapes must be 1D sequences"),
        (lambda: jnp.zeros(2, "wrong"), TypeError, "is not understood as a dtype"),
        (lambda: jnp.full(2, [1, 2]), TypeError, "requires ndarray or scalar arguments"),
        (lambda: jnp.zeros_like([1]), TypeError, "requires ndarray or scalar arguments"),
        (lambda: jnp.arange(), TypeError, "start"),
        (lambda: jnp.arange(None), TypeError, "required argument stop"),
        (lambda: jnp.arange(jnp.ones(2)), ValueError, "arguments must be scalars"),
        (lambda: jnp.arange(0, 3, 0), ZeroDivisionError, "zero"),
        (lambda: jnp.linspace(0, 1, -1), ValueError, "must be non-negative"),
        (lambda: jnp.eye(-1), ValueError, "nonnegative"),
        (lambda: jnp.tril(jnp.ones(3)), ValueError, "at least 2D"),
        (lambda: jnp.diag(jnp.ones((1, 1, 1))), ValueError, "must be 1D or 2D"),
        (lambda: jnp.meshgrid(jnp.ones((2, 2))), ValueError, "must be 1D"),
        (lambda: jnp.meshgrid(jnp.ones(2), indexing="yx"), ValueError, "'xy' and 'ij'"),
    ],
)
def test_errors(make, error, words):
    with pytest.raises(error) as info:
        make()
    assert words in str(info.value)


def test_scalar_types():
    assert jnp.float32 == np.float32 and hash(jnp.float32) == hash(np.float32)
    assert np.dtype(jnp.bfloat16).name == "bfloat16" and jnp.zeros(2, jnp.int8).dtype == jnp.int8
    assert isinstance(np.float32(1), jnp.float32) and not isinstance(1.0, jnp.float32)
    assert jnp.float32(3).tolist() == 3.0 and jnp.int32([1, 2]).shape == (2,)
    assert jnp.issubdtype(jnp.bfloat16, jnp.floating) and jnp.finfo(jnp.bfloat16).bits == 16
    assert jnp.promote_types(jnp.int8, jnp.uint8) == jnp.int16
    assert jnp.result_type(jnp.float16(1), 2.0) == jnp.float16
    assert covector.jit(lambda x: jnp.float16(x))(1).dtype == jnp.float16


@pytest.mark.parametrize(
    "make", [lambda: jnp.array(7.0), lambda: jnp.zeros(()), lambda: jnp.int8(2)]
)
def test_arrays_of_one_number_are_arrays_of_their_own(make):
    """Their memory may be donated, and other arrays of the number go on."""
    increment = covector.jit(lambda x: x + 1, donate_argnums=0)
    first, second = make(), make()
    want = second.item() + 1
    assert increment(first).item() == want and first.is_deleted()
    assert increment(second).item() == want
    assert (make() + 1).item() == want


def test_numbers_go_on_where_the_array_of_one_is_deleted():
    x = jnp.ones(2)
    jnp.positive(3.0).delete()
    assert (x * 3.0).tolist() == [3, 3]
    jnp.add(3.0, 0).delete()
    assert jnp.add(3.0, 0).item() == 3
