"""What the tests of the kernels share."""

import numpy as np
import pytest

from covector._src.base import config
from covector._src.xla import kernels

REASON = "Covector was installed without its kernels: there was no C++ compiler"


@pytest.fixture
def installed():
    """The kernels; tests of them are skipped where they are not installed."""
    if not kernels.load():
        pytest.skip(REASON)


@pytest.fixture(params=[True, False], ids=["kernels", "pure"])
def either_way(request):
    """With the kernels (True), and with XLA's operations in their place."""
    if request.param and not kernels.load():
        pytest.skip(REASON)
    with config.native_kernels(request.param), config.enable_x64(True):
        yield


@pytest.fixture
def numbers():
    """A function of a shape and a dtype: numbers with ties, floats with zeros and infinities."""

    def make(shape, dtype):
        rng = np.random.default_rng(0)
        dtype = np.dtype(dtype)
        x = rng.integers(-(2**31), 2**31, shape) if dtype.kind in "iu" else rng.normal(0, 9, shape)
        x = x.astype(dtype)
        flat = x.reshape(-1)
        flat[1::7] = flat[: flat[1::7].size]  # ties
        if dtype.kind == "f":
            flat[2::31], flat[3::37], flat[4::41] = -0.0, 0.0, np.inf
            flat[5::43] = -np.inf
        return x

    return make
