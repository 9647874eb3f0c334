"""Errors of shaping, joining and slicing: JAX's types, where it has any, and our texts.

A text names the function, the shapes or values that were given, and what would be right.
"""

import numpy as np
import pytest

import covector
from covector import lax
from tests.ops.structural import check_error

X = np.ones((3, 4), np.float32)
V = np.ones(3, np.float32)
INT = np.arange(3, dtype=np.int32)

# For each call, the error that JAX raises too, and parts of our text.
CALLS = {
    "shape of a float": (
        lambda lax: lax.reshape(V, (1.5, 2.0)),
        TypeError,
        ["Shapes must be 1D sequences of concrete values of integer type", "(1.5, 2.0)"],
    ),
    "broadcast_in_dim, too few dimensions": (
        lambda lax: lax.broadcast_in_dim(X, (3, 4), (0,)),
        TypeError,
        ["broadcast_dimensions must have length equal to operand ndim", "(0,)", "(3, 4)"],
    ),
    "broadcast_in_dim to a lower rank": (
        lambda lax: lax.broadcast_in_dim(X, (3,), (0, 1)),
        TypeError,
        ["target broadcast shape must have equal or higher rank", "(3, 4) cannot become (3,)"],
    ),
    "broadcast_in_dim to a dimension that is not there": (
        lambda lax: lax.broadcast_in_dim(V, (2, 3), (2,)),
        TypeError,
        ["must be a subset of output dimensions", "(2, 3)", "(2,)"],
    ),
    "broadcast_in_dim of another size": (
        lambda lax: lax.broadcast_in_dim(V, (2, 4), (1,)),
        TypeError,
        ["operand dimension sizes must either be 1", "(3,)", "(2, 4)"],
    ),
    "broadcast_in_dim twice to one dimension": (
        lambda lax: lax.broadcast_in_dim(np.ones((2, 2)), (2, 2), (0, 0)),
        TypeError,
        ["must not contain duplicates", "(0, 0)"],
    ),
    "broadcast to a negative size": (
        lambda lax: lax.broadcast(X, (-1,)),
        TypeError,
        ["broadcast_in_dim shape must have every element be nonnegative", "(-1, 3, 4)"],
    ),
    "broadcast_like of another size": (
        lambda lax: lax.broadcast_like(X, np.ones((2, 4))),
        ValueError,
        ["[broadcast_like]", "(3, 4)", "(2, 4)"],
    ),
    "broadcast_like of lower rank": (
        lambda lax: lax.broadcast_like(X, V),
        ValueError,
        ["[broadcast_like]", "(3, 4)", "(3,)"],
    ),
    "broadcast_shapes": (
        lambda lax: lax.broadcast_shapes((2, 3), (4,)),
        ValueError,
        ["Incompatible shapes for broadcasting", "(2, 3), (4,)"],
    ),
    "broadcast_shapes of a negative size": (
        lambda lax: lax.broadcast_shapes((-1,), (4,)),
        TypeError,
        ["[broadcast_shapes]", "(-1,)"],
    ),
    "reshape to a negative size": (
        lambda lax: lax.reshape(V, (-1,)),
        TypeError,
        ["lax.reshape", "must all be positive", "(-1,)", "covector.numpy.reshape"],
    ),
    "reshape by no permutation": (
        lambda lax: lax.reshape(X, (12,), (0, 0)),
        TypeError,
        ["lax.reshape", "must be a permutation of operand dimensions", "(0, 0)", "(3, 4)"],
    ),
    "transpose by no permutation": (
        lambda lax: lax.transpose(X, (0, 0)),
        TypeError,
        ["lax.transpose", "(0, 0)", "(3, 4)"],
    ),
    "squeeze of a size that is not 1": (
        lambda lax: lax.squeeze(X, (1,)),
        ValueError,
        ["cannot select an axis to squeeze out", "(3, 4)", "(1,)"],
    ),
    "squeeze twice": (
        lambda lax: lax.squeeze(np.ones((1, 1)), (0, -2)),
        ValueError,
        ["dimensions are not unique", "(0, 0)"],
    ),
    "squeeze out of bounds": (
        lambda lax: lax.squeeze(X, (2,)),
        ValueError,
        ["axis 2 is out of bounds for array of dimension 2", "from -2 to 1"],
    ),
    "squeeze of None": (
        lambda lax: lax.squeeze(X, (None,)),
        TypeError,
        ["cannot be interpreted as an integer"],
    ),
    "expand_dims twice": (
        lambda lax: lax.expand_dims(X, (0, -4)),
        ValueError,
        ["repeated axis in lax.expand_dims", "(0, -4)"],
    ),
    "collapse of an empty range": (
        lambda lax: lax.collapse(X, 1, 0),
        ValueError,
        ["lax.collapse", "from 1 to 0", "(3, 4)"],
    ),
    "rev twice": (
        lambda lax: lax.rev(X, (0, 0)),
        TypeError,
        ["rev dimensions must be unique", "(0, 0)"],
    ),
    "rev out of bounds": (
        lambda lax: lax.rev(X, (2,)),
        TypeError,
        ["rev dimensions must all be less than operand ndim", "(2,)", "(3, 4)"],
    ),
    "rev of a negative dimension": (
        lambda lax: lax.rev(X, (-1,)),
        TypeError,
        ["rev dimensions must have every element be nonnegative", "(-1,)"],
    ),
    "tile of another length": (
        lambda lax: lax.tile(V, (1, 2)),
        TypeError,
        ["lax.tile", "(1, 2)", "(3,)"],
    ),
    "concatenate nothing": (
        lambda lax: lax.concatenate([], 0),
        ValueError,
        ["lax.concatenate requires at least one array"],
    ),
    "concatenate dtypes": (
        lambda lax: lax.concatenate([V, INT], 0),
        TypeError,
        ["lax.concatenate requires arguments to have the same dtypes", "float32, int32"],
    ),
    "concatenate ranks": (
        lambda lax: lax.concatenate([V, X], 0),
        TypeError,
        ["Cannot concatenate arrays with different numbers of dimensions", "(3,), (3, 4)"],
    ),
    "concatenate shapes": (
        lambda lax: lax.concatenate([X, X[:, 1:]], 0),
        TypeError,
        ["lax.concatenate", "dimension 0", "(3, 4), (3, 3)"],
    ),
    "concatenate along what is not there": (
        lambda lax: lax.concatenate([V, V], -1),
        TypeError,
        ["concatenate dimension out of bounds: dimension -1", "(3,), (3,)"],
    ),
    "stack shapes": (
        lambda lax: lax.stack([X, X[:, 1:]]),
        ValueError,
        ["All input arrays must have the same shape", "(3, 4), (3, 3)"],
    ),
    "stack ranks": (
        lambda lax: lax.stack([X, V]),
        ValueError,
        ["Cannot stack arrays with different numbers of dimensions", "(3, 4), (3,)"],
    ),
    "stack dtypes": (
        lambda lax: lax.stack([V, INT]),
        TypeError,
        ["lax.stack requires arguments to have the same dtypes", "float32, int32"],
    ),
    "unstack a scalar": (
        lambda lax: lax.unstack(1.0),
        ValueError,
        ["axis 0 is out of bounds for array of dimension 0"],
    ),
    "split into a negative size": (
        lambda lax: lax.split(V, (-1, 4)),
        ValueError,
        ["Sizes passed to split must be nonnegative", "[-1, 4]"],
    ),
    "split into too little": (
        lambda lax: lax.split(V, (1, 1)),
        ValueError,
        ["Sum of sizes 2 must be equal to dimension 0", "(3,)", "[1, 1]"],
    ),
    "slice strides of another length": (
        lambda lax: lax.slice(V, (0,), (3,), (1, 1)),
        TypeError,
        ["slice strides must have length equal to the number of dimensions", "(1, 1)"],
    ),
    "slice behind the end": (
        lambda lax: lax.slice(V, (0,), (4,)),
        TypeError,
        ["lax.slice", "(0,) and (4,)", "(3,)"],
    ),
    "slice that ends before it begins": (
        lambda lax: lax.slice(V, (2,), (1,)),
        TypeError,
        ["lax.slice", "(2,) and (1,)"],
    ),
    "slice backwards": (
        lambda lax: lax.slice(V, (0,), (3,), (-1,)),
        TypeError,
        ["slice strides must be positive", "(-1,)", "lax.rev"],
    ),
    "slice_in_dim before the start": (
        lambda lax: lax.slice_in_dim(V, -5, None),
        TypeError,
        ["lax.slice", "(-2,) and (3,)"],
    ),
    "index_in_dim out of bounds": (
        lambda lax: lax.index_in_dim(X, 4, 1),
        IndexError,
        ["index 4 is out of bounds for axis 1 with size 4"],
    ),
    "pad by an array": (
        lambda lax: lax.pad(V, V, [(0, 0, 0)]),
        ValueError,
        ["padding_value must be a scalar", "(3,)"],
    ),
    "pad another rank": (
        lambda lax: lax.pad(V, 0.0, [(0, 1, 0), (0, 1, 0)]),
        ValueError,
        ["padding_config", "((0, 1, 0), (0, 1, 0))", "(3,)"],
    ),
    "pad inside by a negative number": (
        lambda lax: lax.pad(V, 0.0, [(0, 1, -1)]),
        ValueError,
        ["interior padding in padding_config must be nonnegative", "((0, 1, -1),)"],
    ),
    "pad away more than there is": (
        lambda lax: lax.pad(V, 0.0, [(-4, 0, 0)]),
        ValueError,
        ["Dimension size after padding is not at least 0", "(-1,)", "(3,)"],
    ),
    "pad with another dtype": (
        lambda lax: lax.pad(V, 0, [(1, 1, 0)]),
        TypeError,
        ["pad operand and padding_value must be same dtype", "float32 and int32"],
    ),
    "dynamic_slice with too many indices": (
        lambda lax: lax.dynamic_slice(V, (0, 0), (1,)),
        ValueError,
        ["lax.dynamic_slice", "there are 2", "(3,)"],
    ),
    "dynamic_slice larger than the operand": (
        lambda lax: lax.dynamic_slice(V, (0,), (4,)),
        TypeError,
        ["lax.dynamic_slice: slice_sizes", "(4,)", "(3,)"],
    ),
    "dynamic_slice at a float": (
        lambda lax: lax.dynamic_slice(V, (0.0,), (1,)),
        TypeError,
        ["index arguments to dynamic_slice must be integers of the same type", "float32"],
    ),
    "dynamic_slice at integers of two types": (
        lambda lax: lax.dynamic_slice(X, (np.int8(0), 0), (1, 1)),
        TypeError,
        ["index arguments to dynamic_slice must be integers of the same type", "int8, int32"],
    ),
    "dynamic_slice at an array": (
        lambda lax: lax.dynamic_slice(V, (np.array([0]),), (1,)),
        TypeError,
        ["lax.dynamic_slice: start_indices must be one scalar", "(1,)"],
    ),
    "dynamic_slice at a matrix": (
        lambda lax: lax.dynamic_slice(V, np.array([[0]]), (1,)),
        ValueError,
        ["lax.dynamic_slice: start_indices must be a 1D sequence", "(1, 1)"],
    ),
    "dynamic_slice at a negative index": (
        lambda lax: lax.dynamic_slice(V, (-1,), (2,), allow_negative_indices=False),
        ValueError,
        ["lax.dynamic_slice: Index -1 is out of bounds", "allow_negative_indices"],
    ),
    "dynamic_update_slice larger than the operand": (
        lambda lax: lax.dynamic_update_slice(V, np.ones(4, np.float32), (0,)),
        TypeError,
        ["lax.dynamic_update_slice", "(4,)", "(3,)"],
    ),
    "dynamic_update_slice of another rank": (
        lambda lax: lax.dynamic_update_slice(V, X, (0,)),
        TypeError,
        ["the update must have the same rank as operand", "(3, 4)", "(3,)"],
    ),
    "dynamic_update_slice of another dtype": (
        lambda lax: lax.dynamic_update_slice(V, INT, (0,)),
        TypeError,
        ["lax.dynamic_update_slice requires arguments to have the same dtypes", "float32, int32"],
    ),
    "iota of booleans": (
        lambda lax: lax.iota(bool, 3),
        TypeError,
        ["iota does not accept dtype bool"],
    ),
    "iota along what is not there": (
        lambda lax: lax.broadcasted_iota(int, (3,), 1),
        ValueError,
        ["iota dimension must be between 0 and 0", "(3,)"],
    ),
    "iota of a negative size": (
        lambda lax: lax.iota(int, -3),
        TypeError,
        ["iota shape must have every element be nonnegative", "(-3,)"],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_error(jax, name):
    call, *expected = CALLS[name]
    check_error(lambda: call(lax), *expected)
    with pytest.raises(expected[0]):
        call(jax.lax)


# Where JAX has no error of its own, but an assertion, a wrong result or one of XLA's.
OWN = {
    "broadcast_to_rank of a higher rank": (
        lambda: lax.broadcast_to_rank(X, 1),
        ValueError,
        ["[broadcast_to_rank]", "(3, 4)", "1 dimensions"],
    ),
    "broadcast_shapes of nothing": (
        lambda: lax.broadcast_shapes(),
        TypeError,
        ["broadcast_shapes requires at least one"],
    ),
    "reshape to another number of elements": (
        lambda: lax.reshape(X, (5,)),
        TypeError,
        ["lax.reshape", "(3, 4) has 12 elements", "(5,), which has 5"],
    ),
    "stack nothing": (
        lambda: lax.stack([]),
        ValueError,
        ["lax.stack requires at least one array"],
    ),
    "tile a negative number of times": (
        lambda: lax.tile(V, (-1,)),
        TypeError,
        ["lax.tile", "nonnegative", "(-1,)"],
    ),
    "slice with too few indices": (
        lambda: lax.slice(X, (0,), (3,)),
        TypeError,
        ["slice start_indices must have length equal to the number of dimensions", "(0,)"],
    ),
    "slice before the start": (
        lambda: lax.slice(V, (-1,), (2,)),
        TypeError,
        ["lax.slice", "(-1,) and (2,)"],
    ),
    "slice without a step": (
        lambda: lax.slice(V, (0,), (3,), (0,)),
        TypeError,
        ["slice strides must be positive", "(0,)"],
    ),
    "dynamic_update_index_in_dim of another rank": (
        lambda: lax.dynamic_update_index_in_dim(X, np.float32(0), 0, 0),
        TypeError,
        ["lax.dynamic_update_index_in_dim", "() and (3, 4)"],
    ),
}


@pytest.mark.parametrize("name", OWN)
def test_own_error(name):
    check_error(*OWN[name])


def test_traced_sizes_are_refused():
    with pytest.raises(TypeError, match="Shapes must be 1D sequences of concrete values"):
        covector.jit(lambda n: lax.broadcasted_iota(np.int32, (n,), 0))(3)
    with pytest.raises(TypeError, match="static argument"):
        covector.jit(lambda n: lax.reshape(V, (n,)))(3)
