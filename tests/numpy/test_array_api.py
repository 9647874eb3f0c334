"""Every function of the array API standard, version 2024.12, called as the standard has it.

The values are compared with NumPy's, which follows the standard too.
"""

import numpy as np
import pytest

import covector
import covector.numpy as jnp

X = np.array([[0.25, 0.5, -0.75], [0.125, -0.5, 0.875]], np.float32)
ABOVE = np.abs(X) + 1
I = np.array([[1, 2, 5], [7, 0, 3]], np.int32)
Z = X + 1j * ABOVE
B = X > 0
SQUARE = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]], np.float32)

UNARY = (
    "abs acos asin asinh atan atanh ceil cos cosh exp expm1 floor isfinite isinf isnan log1p "
    "negative positive round sign signbit sin sinh square tan tanh trunc reciprocal"
)
OF_POSITIVE = "acosh log log10 log2 sqrt"
BINARY = (
    "add atan2 copysign divide equal greater greater_equal hypot less less_equal logaddexp "
    "maximum minimum multiply nextafter not_equal remainder floor_divide subtract"
)
OF_INTEGERS = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
REDUCTIONS = "max min prod sum mean std var"

CALLS = {
    **{f: lambda xp, f=f: getattr(xp, f)(X) for f in UNARY.split()},
    **{f: lambda xp, f=f: getattr(xp, f)(ABOVE) for f in OF_POSITIVE.split()},
    **{f: lambda xp, f=f: getattr(xp, f)(X, ABOVE[0]) for f in BINARY.split()},
    **{f: lambda xp, f=f: getattr(xp, f)(I, I[0] % 4) for f in OF_INTEGERS.split()},
    **{f: lambda xp, f=f: getattr(xp, f)(X, axis=1, keepdims=True) for f in REDUCTIONS.split()},
    "bitwise_invert": lambda xp: xp.bitwise_invert(I),
    "logical": lambda xp: (
        *(getattr(xp, f"logical_{name}")(B, B[0]) for name in ("and", "or", "xor")),
        xp.logical_not(B),
    ),
    "complex": lambda xp: (xp.real(Z), xp.imag(Z), xp.conj(Z)),
    "clip": lambda xp: (xp.clip(X, -0.5, 0.5), xp.clip(X, max=0), xp.clip(X, X[0], None)),
    "pow": lambda xp: xp.pow(ABOVE, X),
    # creation
    "arange": lambda xp: (xp.arange(3, dtype="int32"), xp.arange(1.0, 2.0, 0.25, dtype="float32")),
    "asarray": lambda xp: xp.asarray(X, dtype="float32", copy=True),
    "empty": lambda xp: (
        xp.empty((2, 0), dtype="float32"),
        xp.empty_like(X[:0], dtype="int32"),
    ),
    "eye": lambda xp: xp.eye(2, 3, k=1, dtype="float32"),
    "full": lambda xp: (
        xp.full((2, 3), 1.5, dtype="float32"),
        xp.full_like(X, 2, dtype="int32"),
    ),
    "linspace": lambda xp: xp.linspace(0.0, 1.0, 5, dtype="float32", endpoint=False),
    "meshgrid": lambda xp: xp.meshgrid(X[0], I[0], indexing="ij"),
    "ones": lambda xp: (xp.ones((2, 3), dtype="int32"), xp.ones_like(X, dtype="int32")),
    "zeros": lambda xp: (xp.zeros(3, dtype="int32"), xp.zeros_like(X)),
    "triangles": lambda xp: (xp.tril(SQUARE, k=-1), xp.triu(SQUARE, k=1)),
    "astype": lambda xp: xp.astype(xp.asarray(I), np.dtype("float32"), copy=True),
    # indexing, searching, sorting
    "take": lambda xp: xp.take(X, np.array([2, 0]), axis=1),
    "take_along_axis": lambda xp: xp.take_along_axis(X, np.array([[2], [0]]), axis=1),
    "argmax": lambda xp: (xp.argmax(X, axis=1, keepdims=True), xp.argmin(X)),
    "count_nonzero": lambda xp: xp.count_nonzero(I, axis=1, keepdims=True),
    "searchsorted": lambda xp: xp.searchsorted(I[0], np.array([2, 3]), side="right"),
    "where": lambda xp: xp.where(B, X, 0.0),
    "sort": lambda xp: (
        xp.sort(X, axis=0, stable=True),
        xp.argsort(X, axis=1, stable=True),
    ),
    # manipulation
    "broadcast": lambda xp: (*xp.broadcast_arrays(X, X[0]), xp.broadcast_to(X[0], (2, 3))),
    "concat": lambda xp: (xp.concat([X, I], axis=1), xp.concat((X, X), axis=None)),
    "expand_dims": lambda xp: (xp.expand_dims(X, axis=1), xp.squeeze(X[None], axis=0)),
    "flip": lambda xp: (xp.flip(X, axis=1), xp.roll(X, (1, 2), axis=(0, 1))),
    "moveaxis": lambda xp: (xp.moveaxis(X, 0, 1), xp.permute_dims(X, (1, 0))),
    "repeat": lambda xp: (xp.repeat(X, 2, axis=1), xp.tile(X, (2, 1))),
    "reshape": lambda xp: xp.reshape(xp.asarray(X), (3, -1), copy=True),
    "stack": lambda xp: (xp.stack([X, X], axis=1), *xp.unstack(X, axis=1)),
    # utilities and statistics
    "all": lambda xp: (xp.all(B, axis=0, keepdims=True), xp.any(B, axis=(0, 1))),
    "diff": lambda xp: xp.diff(X, axis=1, n=1, prepend=X[:, :1], append=X[:, :1]),
    "correction": lambda xp: (xp.std(X, correction=1.0), xp.var(X, axis=0, correction=1)),
    "cumulative": lambda xp: (
        xp.cumulative_sum(X, axis=1, include_initial=True),
        xp.cumulative_prod(X, axis=0, dtype="float32"),
    ),
    "dtype of sum": lambda xp: (xp.sum(I, dtype="float32"), xp.prod(I, axis=0, dtype="float32")),
    # linear algebra
    "matmul": lambda xp: (xp.matmul(X, SQUARE), xp.matrix_transpose(X)),
    "tensordot": lambda xp: (xp.tensordot(X, SQUARE, axes=1), xp.vecdot(X, X[0], axis=-1)),
    "cholesky": lambda xp: xp.linalg.cholesky(SQUARE, upper=True),
    "cross": lambda xp: xp.linalg.cross(X, ABOVE, axis=-1),
    "det": lambda xp: (xp.linalg.det(SQUARE), *xp.linalg.slogdet(SQUARE)),
    "diagonal": lambda xp: (
        xp.linalg.diagonal(SQUARE, offset=1),
        xp.linalg.trace(SQUARE, offset=-1, dtype="float32"),
    ),
    "eigh": lambda xp: (xp.linalg.eigh(SQUARE).eigenvalues, xp.linalg.eigvalsh(SQUARE)),
    "inv": lambda xp: (xp.linalg.inv(SQUARE), xp.linalg.pinv(SQUARE, rcond=1e-6)),
    "linalg products": lambda xp: (
        xp.linalg.matmul(X, SQUARE),
        xp.linalg.matrix_transpose(X),
        xp.linalg.outer(X[0], X[1]),
        xp.linalg.tensordot(X, SQUARE, axes=1),
        xp.linalg.vecdot(X, ABOVE, axis=-1),
    ),
    "matrix_norm": lambda xp: (
        xp.linalg.matrix_norm(X, keepdims=True, ord=1),
        xp.linalg.vector_norm(X, axis=1, keepdims=True, ord=3),
    ),
    "matrix_power": lambda xp: (
        xp.linalg.matrix_power(SQUARE, 3),
        xp.linalg.matrix_rank(SQUARE, rtol=1e-5),
    ),
    "qr": lambda xp: xp.abs(xp.linalg.qr(SQUARE, mode="reduced").R),
    "solve": lambda xp: xp.linalg.solve(SQUARE, X[0]),
    "svd": lambda xp: (xp.linalg.svd(X, full_matrices=False).S, xp.linalg.svdvals(X)),
    # Fourier transforms
    "fft": lambda xp: [
        getattr(xp.fft, f)(X, n=4, axis=-1, norm="ortho") for f in ("fft", "ifft", "rfft", "ihfft")
    ],
    "hfft": lambda xp: [getattr(xp.fft, f)(Z, n=4, axis=-1) for f in ("irfft", "hfft")],
    "fftn": lambda xp: [
        getattr(xp.fft, f)(X, s=(2, 2), axes=(0, 1), norm="forward")
        for f in ("fftn", "ifftn", "rfftn", "irfftn")
    ],
    "fftfreq": lambda xp: (xp.fft.fftfreq(4, d=2.0), xp.fft.rfftfreq(4, d=2.0)),
    "fftshift": lambda xp: (xp.fft.fftshift(X, axes=1), xp.fft.ifftshift(X, axes=(0,))),
}


@pytest.fixture(scope="module")
def ours():
    return covector.jit(lambda: {name: call(jnp) for name, call in CALLS.items()})()


def leaves(out):
    return [np.asarray(x) for x in (out if isinstance(out, (tuple, list)) else (out,))]


@pytest.mark.parametrize("name", CALLS)
def test_functions(ours, name):
    with np.errstate(divide="ignore", invalid="ignore"):
        want = leaves(CALLS[name](np))
    for x, y in zip(leaves(ours[name]), want, strict=True):
        assert x.shape == y.shape and x.dtype.kind == y.dtype.kind
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-5)


def test_what_depends_on_values():
    np.testing.assert_array_equal(jnp.nonzero(I), np.nonzero(I))
    parts = np.unique(I, return_index=True, return_inverse=True, return_counts=True)
    want = dict(zip(("values", "indices", "inverse_indices", "counts"), parts))
    for function in (jnp.unique_all, jnp.unique_counts, jnp.unique_inverse):
        for name, got in function(I)._asdict().items():
            np.testing.assert_array_equal(got, want[name])
    np.testing.assert_array_equal(jnp.unique_values(I), want["values"])
    assert jnp.unique_all(I)._fields == tuple(want)
    np.testing.assert_array_equal(jnp.from_dlpack(jnp.asarray(X), device=None, copy=None), X)


def test_dtypes_and_constants():
    assert jnp.can_cast("int8", "int32") and jnp.isdtype(np.dtype("int8"), "signed integer")
    assert jnp.result_type(I, jnp.float32) == np.float32
    assert jnp.finfo(jnp.float32).smallest_normal == np.finfo(np.float32).smallest_normal
    assert jnp.iinfo(jnp.int8).min == -128
    for name in ("e", "inf", "nan", "newaxis", "pi"):
        assert repr(getattr(jnp, name)) == repr(getattr(np, name))


def test_arrays_know_their_namespace():
    x = jnp.ones(2)
    assert x.__array_namespace__() is jnp is x.__array_namespace__(api_version="2024.12")
    assert covector.jit(lambda x: x * (x.__array_namespace__() is jnp))(x).tolist() == [1, 1]
    assert jnp.__array_api_version__ == "2024.12"
    with pytest.raises(ValueError, match=r"follows version 2024\.12"):
        x.__array_namespace__(api_version="2021.12")
    assert x.to_device(x.device).device == x.device


def test_what_the_namespace_says_of_itself(jax):
    ours, theirs = jnp.__array_namespace_info__(), jax.numpy.__array_namespace_info__()
    assert ours.capabilities() == theirs.capabilities()
    assert ours.default_device() is None and set(covector.devices()) < set(ours.devices())
    assert ours.default_dtypes() == theirs.default_dtypes()
    for kind in (None, "bool", "integral", "unsigned integer", ("bool", "real floating")):
        assert ours.dtypes(kind=kind) == theirs.dtypes(kind=kind)
    with covector.enable_x64(True):
        assert ours.default_dtypes()["indexing"] == np.int64
        assert ours.dtypes(kind="complex floating")["complex128"] == np.complex128
    with pytest.raises(ValueError, match="strings"):
        ours.dtypes(kind="strings")
