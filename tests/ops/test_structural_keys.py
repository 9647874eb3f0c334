"""Structural ops on arrays of an extended dtype, whose elements are arrays to XLA."""

import numpy as np
import pytest

from covector import lax
from covector._src.base.dtypes import ExtendedDType, prng_key
from covector._src.core.avals import ShapedArray
from covector._src.transforms.stage import stage_closed
from covector._src.xla.array import ArrayImpl, put
from covector._src.xla.compile import compile_jaxpr
from covector._src.xla.devices import first_device


class Pair(ExtendedDType):
    """A dtype whose elements are two numbers."""

    type = prng_key
    name = "pair"
    element_shape = (2,)
    element_dtype = np.dtype(np.uint32)


PROGRAMS = {
    "broadcast": lambda x: lax.broadcast(x, (2,)),
    "broadcast_in_dim": lambda x: lax.broadcast_in_dim(x, (2, 4, 3), (0, 2)),
    "expand_dims": lambda x: lax.expand_dims(x, (0, -1)),
    "reshape": lambda x: lax.reshape(x, (6,)),
    "reshape permuted": lambda x: lax.reshape(x, (6,), (1, 0)),
    "transpose": lambda x: lax.transpose(x, (1, 0)),
    "squeeze": lambda x: lax.squeeze(lax.slice_in_dim(x, 1, 2), (0,)),
    "rev": lambda x: lax.rev(x, (1,)),
    "tile": lambda x: lax.tile(x, (1, 2)),
    "slice": lambda x: lax.slice(x, (0, 0), (2, 3), (1, 2)),
    "concatenate": lambda x: lax.concatenate([x, x], 1),
    "split": lambda x: lax.split(x, (1, 2), 1)[1],
    "stack": lambda x: lax.stack([x, x], 2),
    "unstack": lambda x: lax.unstack(x, 1)[2],
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (1, 1), (1, 2)),
    "dynamic_update_slice": lambda x: lax.dynamic_update_slice(
        x, lax.slice_in_dim(x, 0, 1), (1, 0)
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_elements_stay_whole(name):
    """A program on pairs does to each half of them what it does to an array of numbers."""
    program = PROGRAMS[name]
    numbers = np.arange(12, dtype=np.uint32).reshape(2, 3, 2)
    aval = ShapedArray((2, 3), Pair())
    closed = stage_closed(lambda x: [program(x)], [aval])
    pairs = ArrayImpl(put(numbers)._buffer, aval)
    (out,) = compile_jaxpr(closed, first_device()).run([pairs])
    got = np.asarray(out._buffer)
    assert out.aval == ShapedArray(got.shape[:-1], Pair())
    for half in (0, 1):
        np.testing.assert_array_equal(got[..., half], program(numbers[..., half]))
