"""Convolutions against JAX 0.10.2, NumPy and SciPy."""

import itertools

import numpy as np
import pytest
import scipy.signal

import covector
from covector import lax
from tests.ops.windowed import assert_close, draw, same_in_jax, text

NHWC = ("NHWC", "HWIO", "NHWC")

# The options of `conv_general_dilated`, with the shapes of lhs and rhs.
OPTIONS = {
    "plain": ((2, 3, 6), (4, 3, 2), dict(window_strides=(1,), padding="VALID")),
    "no spatial dimension": ((2, 3), (4, 3), dict(window_strides=(), padding=())),
    "SAME, strided": (
        (2, 7, 6, 3),
        (3, 2, 3, 4),
        dict(window_strides=(2, 3), padding="SAME", dimension_numbers=NHWC),
    ),
    "SAME_LOWER, mixed up": (
        (7, 6, 2, 3),
        (3, 2, 3, 4),
        dict(
            window_strides=(1, 1),
            padding="SAME_LOWER",
            dimension_numbers=("HWNC", "WHIO", "CHNW"),
        ),
    ),
    "dilated, padded, cut": (
        (1, 2, 5, 6),
        (3, 2, 3, 2),
        dict(
            window_strides=(2, 1),
            padding=[(1, 2), (0, -1)],
            lhs_dilation=(1, 2),
            rhs_dilation=(2, 1),
        ),
    ),
    "groups of features": (
        (2, 4, 5),
        (6, 2, 2),
        dict(window_strides=(1,), padding="SAME", feature_group_count=2),
    ),
    "groups of batches": (
        (5, 4, 2),
        (6, 3, 2),
        dict(
            window_strides=(2,),
            padding=[(1, 0)],
            batch_group_count=2,
            dimension_numbers=("WNC", "OWI", "CWN"),
        ),
    ),
    "window larger than the array": (
        (1, 1, 2),
        (1, 1, 4),
        dict(window_strides=(1,), padding="VALID"),
    ),
    "an empty batch": ((0, 1, 3), (2, 1, 2), dict(window_strides=(1,), padding="VALID")),
}


def convolution(options):
    return lambda m: lambda x, y: m.lax.conv_general_dilated(x, y, **options)


def squares(m, x):
    return m.lax.reduce_sum(x * x, tuple(range(x.ndim)))


def gradients_of_squares(options):
    return lambda m: m.grad(lambda x, y: squares(m, convolution(options)(m)(x, y)), (0, 1))


def operands(name, dtype="float32"):
    x_shape, y_shape, options = OPTIONS[name]
    return (draw(x_shape, dtype), draw(y_shape, dtype, 1)), options


@pytest.mark.parametrize("name", OPTIONS)
def test_values(jax, name):
    args, options = operands(name)
    same_in_jax(jax, convolution(options), args)


@pytest.mark.parametrize("name", OPTIONS)
def test_gradients(jax, name):
    args, options = operands(name)
    program = gradients_of_squares(options)
    assert text(covector, program, args) == text(jax, program, args)
    same_in_jax(jax, program, args)


@pytest.mark.parametrize("axes", [(0, None), (None, 1), (2, 0)])
@pytest.mark.parametrize("name", ["mixed up", "groups of features", "groups of batches"])
def test_batches(jax, name, axes):
    name = next(key for key in OPTIONS if key.endswith(name))
    args, options = operands(name)
    args = [x if axis is None else np.stack([x, x + 1, 2 * x], axis) for x, axis in zip(args, axes)]
    batch = lambda m: m.vmap(convolution(options)(m), axes)  # noqa: E731
    assert text(covector, batch, args) == text(jax, batch, args)
    both = lambda m: m.vmap(gradients_of_squares(options)(m), axes)  # noqa: E731
    assert text(covector, both, args) == text(jax, both, args)
    same_in_jax(jax, batch, args)


def test_batch_of_size_0():
    x, y = np.ones((0, 1, 1, 4), np.float32), np.ones((2, 1, 2), np.float32)
    conv = lambda x, y: lax.conv(x, y, (1,), "VALID")  # noqa: E731
    assert covector.vmap(conv, (0, None))(x, y).shape == (0, 1, 2, 3)


@pytest.mark.parametrize("dtype", ["complex64", "int32", "uint8", "bfloat16", "float16"])
def test_dtypes(jax, dtype):
    args, options = operands("groups of features", dtype)
    same_in_jax(jax, convolution(options), args, 1e-4 if dtype[0] != "f" else 1e-2)


@pytest.mark.parametrize(
    ("dtype", "preferred"),
    [("int8", "int32"), ("uint8", "float32"), ("bfloat16", "float32"), ("float16", "float16")],
)
def test_preferred_element_type(jax, dtype, preferred):
    args, options = operands("SAME, strided", dtype)
    options = options | dict(preferred_element_type=preferred, precision="highest")
    same_in_jax(jax, convolution(options), args, 1e-2)
    assert text(covector, convolution(options), args) == text(jax, convolution(options), args)


def test_preferred_element_type_of_gradients(jax):
    args, options = operands("plain", "bfloat16")
    options = options | dict(preferred_element_type="float32")
    program = gradients_of_squares(options)
    assert text(covector, program, args) == text(jax, program, args)


def test_doubles_against_scipy():
    with covector.enable_x64(True):
        x, y = draw((7, 6), "float64"), draw((3, 2), "float64", 1)
        out = lax.conv(x[None, None], y[None, None], (1, 1), "VALID")
    np.testing.assert_allclose(out[0, 0], scipy.signal.correlate2d(x, y, "valid"), rtol=1e-12)


def test_second_derivative(jax):
    args, options = operands("dilated, padded, cut")

    def program(m):
        gradients = gradients_of_squares(options)(m)
        return lambda x, y: m.jvp(gradients, (x, y), (2 * x, y))[1]

    same_in_jax(jax, program, args, 1e-3)


# ---------------------------------------------------------------- functions made of it


def test_with_general_padding(jax):
    def program(m):
        return lambda x, y: m.lax.conv_with_general_padding(x, y, (2,), [(1, 3)], (2,), (3,))

    same_in_jax(jax, program, (draw((2, 3, 6)), draw((4, 3, 2), seed=1)))


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(1, 2), (0, 3)]])
@pytest.mark.parametrize("transpose_kernel", [False, True])
def test_transpose(jax, padding, transpose_kernel):
    x, y = draw((2, 4, 3, 3)), draw((3, 2, 4, 3) if transpose_kernel else (3, 2, 3, 4), seed=1)
    for strides, consistent, dilation in [((1, 1), True, (2, 1)), ((2, 4), False, None)]:
        options = dict(
            strides=strides,
            padding=padding,
            transpose_kernel=transpose_kernel,
            use_consistent_padding=consistent,
            rhs_dilation=dilation,
        )
        program = lambda m: lambda x, y: m.lax.conv_transpose(x, y, **options)  # noqa: B023, E731
        assert text(covector, program, (x, y)) == text(jax, program, (x, y))
        same_in_jax(jax, program, (x, y))


def test_transpose_is_the_adjoint():
    """With a reversed kernel and the same padding, <conv(x), z> = <x, conv_transpose(z)>."""
    x, y = draw((1, 6, 2)), draw((3, 2, 4), seed=1)
    numbers = ("NHC", "HIO", "NHC")
    out = lax.conv_general_dilated(x, y, (1,), [(2, 0)], dimension_numbers=numbers)
    z = draw(out.shape, seed=2)
    back = lax.conv_transpose(
        z, y, (1,), [(2, 0)], transpose_kernel=True, use_consistent_padding=True
    )
    assert_close((out * z).sum(), (x * back).sum())


@pytest.mark.parametrize("numbers", [None, ("CNWH", "WOHI", "HWNC")])
def test_patches_and_local(jax, numbers):
    x = draw((3, 2, 6, 5))
    options = dict(
        filter_shape=(2, 3),
        window_strides=(1, 2),
        padding="SAME",
        rhs_dilation=(2, 1),
        dimension_numbers=numbers,
    )
    patches = lambda m: lambda x: m.lax.conv_general_dilated_patches(x, **options)  # noqa: E731
    same_in_jax(jax, patches, (x,))
    shape = np.asarray(patches(covector)(x)).shape
    _, rhs, out = numbers or ("NCHW", "OIHW", "NCHW")
    sizes = {"O": 4, "I": shape[out.index("C")]} | {c: shape[out.index(c)] for c in "HW"}
    y = draw([sizes[c] for c in rhs], seed=1)

    def local(m):
        conv = m.lax.conv_general_dilated_local
        return lambda x, y: conv(x, y, **options, precision="highest")

    same_in_jax(jax, local, (x, y))


# ---------------------------------------------------------------- shapes and numbers


@pytest.mark.parametrize("padding", ["SAME", "SAME_LOWER", "valid", "same"])
def test_padtype_to_pads(jax, padding):
    for sizes in itertools.product((0, 1, 7), (1, 2, 5), (1, 3)):
        args = [(size,) for size in sizes]
        ours, theirs = [m.lax.padtype_to_pads(*args, padding) for m in (covector, jax)]
        assert ours == theirs
        assert all(type(n) is int for pair in ours for n in pair)


def test_dimension_numbers(jax):
    for numbers in (None, NHWC, ("HWNC", "WHIO", "CHNW"), ["NCHW", "OIHW", "NHWC"]):
        ours, theirs = [
            m.lax.conv_dimension_numbers((1,) * 4, (1,) * 4, numbers) for m in (covector, jax)
        ]
        assert str(ours) == str(theirs)
    assert lax.conv_general_permutations(NHWC) == jax.lax.conv_general_permutations(NHWC)


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(1, 2), (3, 0)]])
def test_shape_tuples(jax, padding):
    args = ((2, 9, 8, 3), (3, 2, 3, 5), (2, 3), padding, NHWC)
    for name in ("conv_general_shape_tuple", "conv_transpose_shape_tuple"):
        ours, theirs = [getattr(m.lax, name)(*args) for m in (covector, jax)]
        assert ours == tuple(map(int, theirs))
    args = ((4, 3, 9, 8), (6, 3, 2, 2), (1, 2), padding, 2)
    assert lax.conv_shape_tuple(*args) == jax.lax.conv_shape_tuple(*args)
