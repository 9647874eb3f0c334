"""Errors of reductions and products: JAX's types, where it has any, and our texts.

A text names the function, the shapes or values that were given, and what would be right.
"""

import numpy as np
import pytest

from covector import lax
from covector._src.base import config
from tests.ops.structural import check_error

X = np.ones((3, 4), np.float32)
V = np.ones(3, np.float32)
INT = np.arange(3, dtype=np.int32)

# For each call, the error that JAX raises too, and parts of our text.
CALLS = {
    "reduce_sum of booleans": (
        lambda lax: lax.reduce_sum(V > 0, (0,)),
        TypeError,
        ["reduce_sum does not accept dtype bool"],
    ),
    "reduce_prod of booleans": (
        lambda lax: lax.reduce_prod(V > 0, (0,)),
        TypeError,
        ["reduce_prod does not accept dtype bool"],
    ),
    "reduce_sum twice over an axis": (
        lambda lax: lax.reduce_sum(V, (0, 0)),
        ValueError,
        ["duplicate value in 'axes' of reduction", "(0, 0)"],
    ),
    "reduce_max over what is not there": (
        lambda lax: lax.reduce_max(X, (-1,)),
        ValueError,
        ["reduce_max", "(-1,)", "out-of-bounds", "float32[3,4]", "0 to 1"],
    ),
    "reduce_and of floats": (
        lambda lax: lax.reduce_and(V, (0,)),
        TypeError,
        ["reduce_and: logical reduction requires operand dtype bool or int", "float32"],
    ),
    "argmax over a negative axis": (
        lambda lax: lax.argmax(X, -1, np.int32),
        ValueError,
        ["lax.argmax: Invalid axis -1 for operand", "(3, 4)"],
    ),
    "argmin of nothing": (
        lambda lax: lax.argmin(np.ones((0, 2)), 0, np.int32),
        ValueError,
        ["lax.argmin", "require non-empty reduced dimension", "(0, 2)"],
    ),
    "argmax as floats": (
        lambda lax: lax.argmax(X, 0, np.float32),
        TypeError,
        ["lax.argmax: index_dtype must be an integer type", "float32"],
    ),
    "argmax of complex numbers": (
        lambda lax: lax.argmax(V + 1j, 0, np.int32),
        TypeError,
        ["argmax does not accept dtype complex64"],
    ),
    "dot that needs dimension numbers": (
        lambda lax: lax.dot(X, X),
        ValueError,
        ["dimension_numbers must be specified", "(3, 4) and (3, 4)"],
    ),
    "dot_general of two sizes": (
        lambda lax: lax.dot_general(X, X, (((1,), (0,)), ((), ()))),
        TypeError,
        ["requires contracting dimensions to have the same shape, got (4,) and (3,)"],
    ),
    "dot_general of two batch sizes": (
        lambda lax: lax.dot_general(X, X, (((), ()), ((1,), (0,)))),
        TypeError,
        ["batch dimensions to have the same shape, got (4,) and (3,)"],
    ),
    "dot_general over what is not there": (
        lambda lax: lax.dot_general(X, X, (((2,), (0,)), ((), ()))),
        TypeError,
        ["requires lhs dimension numbers to be nonnegative and less than", "(3, 4)", "(2,)"],
    ),
    "dot_general twice over a dimension": (
        lambda lax: lax.dot_general(X, X, (((1, 0), (1, 1)), ((), ()))),
        TypeError,
        ["requires rhs contracting dimensions to be distinct", "(1, 1)"],
    ),
    "dot_general over a batch dimension": (
        lambda lax: lax.dot_general(X, X, (((0,), (0,)), ((0,), (1,)))),
        TypeError,
        ["lhs batch dimensions to be disjoint from contracting dimensions", "(0,)"],
    ),
    "dot_general of uneven batches": (
        lambda lax: lax.dot_general(X, X, (((), ()), ((0,), ()))),
        TypeError,
        ["requires equal numbers of lhs_batch and rhs_batch", "(0,) and ()"],
    ),
    "dot of dtypes neither of which is richer": (
        lambda lax: lax.dot(V.astype("float8_e5m2"), V.astype("float8_e5m2fnuz")),
        TypeError,
        ["lax.dot_general argument type error: float8_e5m2, float8_e5m2fnuz"],
    ),
    "dot of a narrower dtype": (
        lambda lax: lax.dot(INT, INT, preferred_element_type=np.int8),
        TypeError,
        ["`preferred_element_type` must not be narrower than the original type", "int8", "int32"],
    ),
    "dot of unknown precision": (
        lambda lax: lax.dot(V, V, precision="exact"),
        ValueError,
        ["Precision argument must be one of", "'exact'", "'highest'", "BF16_BF16_F32"],
    ),
    "dot of a precision and something": (
        lambda lax: lax.dot(V, V, precision=("high", None)),
        ValueError,
        ["Precision argument must be one of", "('high', None)"],
    ),
    "dot by an algorithm that CPUs lack": (
        lambda lax: lax.dot(V, V, precision="TF32_TF32_F32"),
        ValueError,
        ["'TF32_TF32_F32' is not supported by dot_general on CPU", "F32_F32_F32"],
    ),
    "batch_matmul of vectors": (
        lambda lax: lax.batch_matmul(V, V),
        ValueError,
        ["[batch_matmul]", "(3,) and (3,)"],
    ),
    "batch_matmul of two ranks": (
        lambda lax: lax.batch_matmul(X, X[None]),
        ValueError,
        ["[batch_matmul]", "(3, 4) and (1, 3, 4)"],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_error(jax, name):
    call, *expected = CALLS[name]
    check_error(lambda: call(lax), *expected)
    with pytest.raises(expected[0]):
        call(jax.lax)


# Where JAX has an error of NumPy's, or none.
OWN = {
    "reduce_and over what is not there": (
        lambda: lax.reduce_and(INT, (1,)),
        ValueError,
        ["reduce_and", "(1,)", "int32[3]"],
    ),
}


@pytest.mark.parametrize("name", OWN)
def test_own_error(name):
    check_error(*OWN[name])


def test_sums_in_16_bits_can_be_forbidden():
    half = np.ones((2, 1), np.float16)
    with config.allow_f16_reductions(False):
        assert lax.reduce_sum(half, (1,)).shape == (2,)
        with pytest.raises(ValueError, match=r"reduce_sum on operand f16\[2,1\] is not allowed"):
            lax.reduce_sum(half, (0,))
    assert lax.reduce_sum(half, (0,)).dtype == np.float16
