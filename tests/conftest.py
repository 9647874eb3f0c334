"""What the tests share: the oracle, and a configuration that nothing leaks out of."""

import os

import pytest

# JAX, where a test compares with it, runs on the CPU.
os.environ.setdefault("JAX_PLATFORMS", "cpu")


@pytest.fixture(scope="session")
def jax():
    """JAX 0.10.2, the oracle; tests that need it are skipped where it is not installed."""
    return pytest.importorskip("jax", reason="the oracle is not installed here")


@pytest.fixture
def without_kernels():
    """Programs are made of XLA's operations, also where Covector's own kernels are installed."""
    from covector._src.base import config  # not before the platform is chosen

    with config.native_kernels(False):
        yield
