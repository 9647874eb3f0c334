"""Errors of convolutions: their types, and what they say."""

import numpy as np
import pytest

import covector.numpy as jnp
from covector import lax

X, Y = np.ones((2, 4, 5), np.float32), np.ones((6, 4, 2), np.float32)


def conv(x=X, y=Y, strides=(1,), padding="VALID", **options):
    return lax.conv_general_dilated(x, y, strides, padding, **options)


ERRORS = {
    "ranks": (
        lambda: conv(y=Y[None], dimension_numbers=lax.ConvDimensionNumbers(*[(0, 1, 2)] * 3)),
        ValueError,
        ["lhs and rhs must have the same number of dimensions", "(2, 4, 5)", "(1, 6, 4, 2)"],
    ),
    "ranks, without numbers": (lambda: conv(y=Y[None]), TypeError, ["equally many dimensions"]),
    "dtypes": (lambda: conv(y=Y.astype(int)), TypeError, ["float32", "int32"]),
    "strides": (
        lambda: conv(strides=(1, 1)),
        ValueError,
        ["window and window_strides must have the same number of dimensions", "(1, 1)"],
    ),
    "a number as padding": (lambda: conv(padding=(3, 3)), ValueError, ["padding", "got (3, 3)"]),
    "an unknown padding": (lambda: conv(padding="WIDE"), RuntimeError, ["'WIDE'", "SAME_LOWER"]),
    "too few pairs": (lambda: conv(padding=[]), TypeError, ["0 pairs", "1 spatial"]),
    "cut away": (lambda: conv(padding=[(-9, 1)]), ValueError, ["removes more", "(5,)"]),
    "SAME of a dilated array": (
        lambda: conv(padding="SAME", lhs_dilation=(2,)),
        ValueError,
        ["'SAME'", "conv_transpose"],
    ),
    "dilation": (lambda: conv(rhs_dilation=(0,)), TypeError, ["Dilations must be at least 1"]),
    "no groups": (lambda: conv(feature_group_count=0), ValueError, ["positive integer, got 0"]),
    "groups that do not divide lhs": (
        lambda: conv(feature_group_count=3),
        ValueError,
        ["must divide the lhs feature dimension size", "3 does not divide 4"],
    ),
    "groups that do not divide rhs": (
        lambda: conv(y=Y[:5, :2], feature_group_count=2),
        ValueError,
        ["rhs output feature", "2 does not divide 5"],
    ),
    "groups of batches": (
        lambda: conv(batch_group_count=4),
        ValueError,
        ["lhs batch", "4 does not divide 2"],
    ),
    "both groups": (
        lambda: conv(feature_group_count=2, batch_group_count=2),
        ValueError,
        ["Only one of", "2 and 2"],
    ),
    "features": (lambda: conv(y=Y[:, :3]), ValueError, ["lhs has 4 in 1 groups", "rhs are 3"]),
    "preferred kind": (
        lambda: conv(preferred_element_type="int32"),
        TypeError,
        ["Input type is incompatible", "float32", "int32"],
    ),
    "preferred width": (
        lambda: conv(preferred_element_type="float16"),
        TypeError,
        ["must not be narrower", "float16"],
    ),
    "numbers": (lambda: conv(dimension_numbers="NCH"), TypeError, ["three strings", "'NCH'"]),
    "short numbers": (
        lambda: conv(dimension_numbers=("NC", "OI", "NC")),
        TypeError,
        ["name every dimension", "(2, 4, 5)"],
    ),
    "repeated characters": (
        lambda: conv(dimension_numbers=("NCC", "OIH", "NCH")),
        TypeError,
        ["dimension_numbers[0], 'NCC'"],
    ),
    "spatial characters": (
        lambda: conv(dimension_numbers=("NCW", "OIH", "NCH")),
        TypeError,
        ["same spatial dimensions"],
    ),
    "transpose of many dimensions": (
        lambda: lax.conv_transpose(np.ones((1,) * 7), np.ones((1,) * 7), (1,) * 5, "SAME"),
        ValueError,
        ["arrays of 7 dimensions"],
    ),
    "padding of a transpose": (
        lambda: lax.conv_transpose(X, Y, (1,), [3], use_consistent_padding=True),
        ValueError,
        ["got 3"],
    ),
    "algorithm of a local one": (
        lambda: lax.conv_general_dilated_local(X, Y, (1,), "SAME", (2,), precision="F32_F32_F32"),
        ValueError,
        ["must be a `lax.Precision`", "'F32_F32_F32'"],
    ),
    "kind of padding": (lambda: lax.padtype_to_pads((3,), (2,), (1,), 3), TypeError, ["type int"]),
    "convolve matrices": (
        lambda: jnp.convolve(np.ones((2, 2)), np.ones(2)),
        ValueError,
        ["only support 1-dimensional inputs", "(2, 2) and (2,)"],
    ),
    "convolve nothing": (
        lambda: jnp.convolve(np.ones(0), np.ones(2)),
        ValueError,
        ["inputs cannot be empty", "(0,) and (2,)"],
    ),
    "mode": (
        lambda: jnp.correlate(np.ones(3), np.ones(2), "wide"),
        ValueError,
        ["must be one of 'full', 'same' and 'valid'", "'wide'"],
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, parts = ERRORS[name]
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)
