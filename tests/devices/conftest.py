"""Tests of programs for several devices, which need a process that has eight CPUs from the start.

Such a process is one whose `XLA_FLAGS` say so; there the tests of this folder are collected as
usual:

    XLA_FLAGS=--xla_force_host_platform_device_count=8 pytest tests/devices

Elsewhere `test_all.py` takes their place: it runs each file in a child process.
"""

import os
from pathlib import Path

import numpy as np
import pytest

FILES = [p.name for p in Path(__file__).parent.glob("test_*.py") if p.name != "test_all.py"]
HAS_EIGHT = "--xla_force_host_platform_device_count=8" in os.environ.get("XLA_FLAGS", "")

collect_ignore = ["test_all.py"] if HAS_EIGHT else FILES


@pytest.fixture
def same_as_jax(jax):
    """Checks that a function of the module, Covector or JAX, gives the same arrays for both.

    They are the same if they have the same types, values and shardings. What is no array is
    compared by its text.
    """
    import covector

    def check(f, rtol=1e-6, atol=1e-6):
        ours, theirs = map(jax.tree.leaves, (f(covector), f(jax)))
        assert len(ours) == len(theirs)
        for x, y in zip(ours, theirs):
            if not hasattr(y, "sharding"):
                assert repr(x) == repr(y)
                continue
            assert repr(x.sharding) == repr(y.sharding)
            assert (x.shape, str(x.dtype)) == (y.shape, str(y.dtype))
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=atol)

    return check
