"""What goes on in processes, printed by a program of its own: `test_processes.py` runs it."""

import copy
import os
import pickle
import sys
import warnings

import numpy as np

import covector as cv
import covector.numpy as jnp


class Imports:
    """Notes whether somebody looks for the package `jax`."""

    seen = False

    def find_spec(self, name, path, target=None):
        self.seen |= name == "jax"


def reads(x):
    """All ways to the elements of an array."""
    values = [np.asarray(x), np.array(x), x.tolist(), x[0].item(), float(x[0]), copy.deepcopy(x)]
    texts = [repr(x), str(x), f"{x[0]:.1f}", pickle.dumps(x)]
    return values, texts, cv.device_get(x), np.from_dlpack(x), x.__array__()


def fork():
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    imports = Imports()
    sys.meta_path.insert(0, imports)
    fork()  # there are no threads yet
    for dtype in (bool, "int8", "uint16", jnp.int32, jnp.float16, jnp.float32, jnp.complex64):
        x = jnp.arange(2).astype(dtype)
        if x.dtype != jnp.complex64:
            reads(x)
        print(x.dtype, np.asarray(x).tolist(), np.asarray(x[:0]).shape, np.asarray(x[1]).shape)
    print("jax", imports.seen)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fork()
    print([warning.category.__name__ for warning in told], told[0].filename == __file__)
    print(told[0].message)
