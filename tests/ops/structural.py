"""What the tests of structural ops share: programs of one op each, their operands, the comparison.

A program takes the namespace `lax`, of Covector or of JAX, and arrays; so that both run the same.
"""

import zlib
from typing import Any, NamedTuple

import ml_dtypes  # noqa: F401  makes bfloat16 known to NumPy
import numpy as np
import pytest

I32 = np.dtype(np.int32)
DTYPES = [
    np.dtype(name)
    for name in ("float32", "bfloat16", "float16", "complex64", "int32", "uint8", "bool")
]


def at(*indices):
    """Indices of dynamic slices."""
    return [np.int32(i) for i in indices]


class Case(NamedTuple):
    """A program, and the shapes of its operands."""

    run: Any
    shapes: list[tuple[int, ...]]


MATMUL = (((1,), (0,)), ((), ()))
BATCHED = (((1, 2), (1, 0)), ((0,), (2,)))
SHUFFLED = (((2,), (3,)), ((1, 3), (2, 0)))

CASES = {
    "broadcast_in_dim": Case(lambda lax, x: lax.broadcast_in_dim(x, (5, 3, 4), (1, 2)), [(3, 4)]),
    "broadcast_in_dim size 1": Case(
        lambda lax, x: lax.broadcast_in_dim(x, (3, 4), (0, 1)), [(1, 4)]
    ),
    "broadcast_in_dim scalar": Case(lambda lax, x: lax.broadcast_in_dim(x, (3, 4), ()), [()]),
    "broadcast": Case(lambda lax, x: lax.broadcast(x, (2, 5)), [(3,)]),
    "broadcast_to_rank": Case(lambda lax, x: lax.broadcast_to_rank(x, 3), [(3,)]),
    "broadcast_like": Case(lambda lax, x, y: lax.broadcast_like(x, y), [(4,), (3, 4)]),
    "expand_dims": Case(lambda lax, x: lax.expand_dims(x, (0, -1)), [(3, 4)]),
    "squeeze": Case(lambda lax, x: lax.squeeze(x, (0, -1)), [(1, 4, 1)]),
    "reshape": Case(lambda lax, x: lax.reshape(x, (6, 2)), [(3, 4)]),
    "reshape to scalar": Case(lambda lax, x: lax.reshape(x, ()), [(1, 1)]),
    "reshape permuted": Case(lambda lax, x: lax.reshape(x, (8, 3), (2, 0, 1)), [(2, 3, 4)]),
    "reshape empty": Case(lambda lax, x: lax.reshape(x, (2, 0)), [(0, 3)]),
    "collapse": Case(lambda lax, x: lax.collapse(x, 1, -1), [(2, 3, 4, 5)]),
    "transpose": Case(lambda lax, x: lax.transpose(x, (2, 0, 1)), [(2, 3, 4)]),
    "rev": Case(lambda lax, x: lax.rev(x, (0, 2)), [(2, 3, 4)]),
    "tile": Case(lambda lax, x: lax.tile(x, (1, 2, 3)), [(2, 3, 1)]),
    "tile away": Case(lambda lax, x: lax.tile(x, (0, 2)), [(2, 3)]),
    "slice": Case(lambda lax, x: lax.slice(x, (0, 1), (3, 4)), [(3, 4)]),
    "slice strided": Case(lambda lax, x: lax.slice(x, (1, 0), (6, 7), (2, 3)), [(6, 8)]),
    "slice empty": Case(lambda lax, x: lax.slice(x, (1, 2), (3, 2), (1, 2)), [(3, 4)]),
    "slice_in_dim": Case(lambda lax, x: lax.slice_in_dim(x, -3, None, 2, -1), [(3, 4)]),
    "index_in_dim": Case(lambda lax, x: lax.index_in_dim(x, -1, 1, keepdims=False), [(3, 4)]),
    "pad": Case(lambda lax, x, v: lax.pad(x, v, [(1, 2, 0), (0, 1, 0)]), [(3, 4), ()]),
    "pad inside": Case(lambda lax, x, v: lax.pad(x, v, [(1, 0, 2), (0, 0, 1)]), [(3, 4), ()]),
    "pad away": Case(lambda lax, x, v: lax.pad(x, v, [(-1, -1, 0), (2, -3, 1)]), [(3, 4), ()]),
    "pad empty": Case(lambda lax, x, v: lax.pad(x, v, [(1, 1, 3), (0, 0, 0)]), [(0, 2), ()]),
    "concatenate": Case(lambda lax, *xs: lax.concatenate(xs, 1), [(2, 3), (2, 1), (2, 0)]),
    "concatenate many": Case(lambda lax, x: lax.concatenate([x] * 40, 0), [(2,)]),
    "concatenate array": Case(lambda lax, x: lax.concatenate(x, 0), [(2, 3)]),
    "split": Case(lambda lax, x: lax.split(x, (1, 0, 3), -1), [(2, 4)]),
    "stack": Case(lambda lax, *xs: lax.stack(xs, -1), [(2, 3), (2, 3)]),
    "stack scalars": Case(lambda lax, *xs: lax.stack(xs), [(), (), ()]),
    "unstack": Case(lambda lax, x: lax.unstack(x, 1), [(2, 3)]),
    "dynamic_slice": Case(lambda lax, x: lax.dynamic_slice(x, at(1, 2), (2, 1)), [(3, 4)]),
    "dynamic_slice moved": Case(lambda lax, x: lax.dynamic_slice(x, at(9, -1), (2, 3)), [(3, 4)]),
    "dynamic_slice numbers": Case(lambda lax, x: lax.dynamic_slice(x, (-2, 1), (2, 2)), [(3, 4)]),
    "dynamic_slice_in_dim": Case(lambda lax, x: lax.dynamic_slice_in_dim(x, 1, 3, -1), [(2, 4)]),
    "dynamic_index_in_dim": Case(
        lambda lax, x: lax.dynamic_index_in_dim(x, -2, 1, False), [(2, 4)]
    ),
    "dynamic_update_slice": Case(
        lambda lax, x, u: lax.dynamic_update_slice(x, u, at(1, -1)), [(3, 4), (2, 2)]
    ),
    "dynamic_update_slice_in_dim": Case(
        lambda lax, x, u: lax.dynamic_update_slice_in_dim(x, u, 1, 1), [(3, 4), (3, 2)]
    ),
    "dynamic_update_index_in_dim": Case(
        lambda lax, x, u: lax.dynamic_update_index_in_dim(x, u, 1, 0), [(3, 4), (4,)]
    ),
    "dot of vectors": Case(lambda lax, x, y: lax.dot(x, y), [(3,), (3,)]),
    "dot of matrices": Case(lambda lax, x, y: lax.dot(x, y), [(3, 4), (4, 5)]),
    "dot of nothing": Case(lambda lax, x, y: lax.dot(x, y), [(3, 0), (0, 5)]),
    "dot_general outer": Case(
        lambda lax, x, y: lax.dot_general(x, y, (((), ()), ((), ()))), [(3,), (2, 2)]
    ),
    "dot_general batched": Case(
        lambda lax, x, y: lax.dot_general(x, y, BATCHED), [(2, 3, 4), (4, 3, 2)]
    ),
    "dot_general shuffled": Case(
        lambda lax, x, y: lax.dot_general(x, y, SHUFFLED), [(3, 2, 4, 1), (1, 5, 2, 4)]
    ),
    "batch_matmul": Case(lambda lax, x, y: lax.batch_matmul(x, y), [(2, 3, 4), (2, 4, 5)]),
    "reduce_sum": Case(lambda lax, x: lax.reduce_sum(x, (2, 0)), [(2, 3, 4)]),
    "reduce_sum of none": Case(lambda lax, x: lax.reduce_sum(x, (0,)), [(0, 3)]),
    "reduce_prod": Case(lambda lax, x: lax.reduce_prod(x, (1,)), [(2, 5)]),
    "reduce_prod of all": Case(lambda lax, x: lax.reduce_prod(x, (0, 2, 1)), [(2, 1, 3)]),
    "reduce_prod of none": Case(lambda lax, x: lax.reduce_prod(x, (0,)), [(0, 3)]),
    "reduce_max": Case(lambda lax, x: lax.reduce_max(x, (1,)), [(2, 5)]),
    "reduce_max of none": Case(lambda lax, x: lax.reduce_max(x, (1,)), [(2, 0)]),
    "reduce_min": Case(lambda lax, x: lax.reduce_min(x, (0, 1)), [(2, 5)]),
    "reduce_min of none": Case(lambda lax, x: lax.reduce_min(x, (1,)), [(2, 0)]),
}

# Not differentiable, or not everywhere defined.
STEPS = {
    "reduce_and": Case(lambda lax, x: lax.reduce_and(x, (0,)), [(3, 4)]),
    "reduce_or": Case(lambda lax, x: lax.reduce_or(x, (1,)), [(3, 4)]),
    "reduce_xor": Case(lambda lax, x: lax.reduce_xor(x, (0, 1)), [(3, 4)]),
    "reduce_and of none": Case(lambda lax, x: lax.reduce_and(x, (1,)), [(3, 0)]),
    "argmax": Case(lambda lax, x: lax.argmax(x, 1, np.int32), [(3, 6)]),
    "argmin": Case(lambda lax, x: lax.argmin(x, 0, np.uint8), [(6, 3)]),
}


def operands(name, case, dtype, shapes=None):
    """Operands of a program: always the same for its name; small, so that products stay exact."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    values = []
    for shape in case.shapes if shapes is None else shapes:
        x = rng.integers(-3, 4, shape)
        if dtype == np.bool_:
            x = x > 0
        elif dtype.kind == "c":
            x = x + 1j * rng.integers(-3, 4, shape)
        elif dtype.kind == "u":
            x = abs(x)
        values.append(np.asarray(x, dtype))
    return values


def distinct(name, case, dtype):
    """Operands without ties or zeros, at which the programs are differentiable."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    values = []
    for shape in case.shapes:
        size = int(np.prod(shape, dtype=int))
        x = (rng.permutation(size) + 1.0 + rng.uniform(0, 0.5)) / (size + 1)
        x = x.reshape(shape) * (1 - 0.5j) if dtype.kind == "c" else x.reshape(shape)
        values.append(np.asarray(x, dtype))
    return values


def flat(result):
    """The arrays of a result, which may be a list or tuple of them, nested."""
    if isinstance(result, (list, tuple)):
        return [x for part in result for x in flat(part)]
    return [result]


def assert_same(ours, theirs, tolerance=1e-6):
    """Check that our result is JAX's: its shapes, dtypes, weak types and numbers."""
    ours, theirs = flat(ours), flat(theirs)
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs):
        assert (x.shape, x.dtype, x.weak_type) == (y.shape, y.dtype, y.weak_type)
        wide = np.complex128 if y.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(
            np.asarray(x).astype(wide), np.asarray(y).astype(wide), tolerance, tolerance
        )


def outcome(program, *args):
    """What a program returns, or the type of the error that it raises."""
    try:
        return program(*args)
    except (TypeError, ValueError, IndexError) as error:
        return type(error)


def check_error(call, kind, parts):
    """Check that a call raises an error of a type, with certain parts in its text."""
    with pytest.raises(kind) as raised:
        call()
    for part in parts:
        assert part in str(raised.value)
