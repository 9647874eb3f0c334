"""PJRT clients, for those who call jaxlib themselves."""

import pytest

import covector as cv
import covector.numpy as jnp
from covector.extend import backend


def test_clients():
    (name,) = backend.backends()
    client = backend.get_backend()
    assert name == cv.default_backend() and backend.backends()[name] is client
    assert backend.get_backend(name) is client and backend.get_backend(client) is client
    assert client.local_devices() == cv.local_devices()
    assert backend.backend_xla_version() is None or backend.backend_xla_version() > 0
    with pytest.raises(RuntimeError, match="nothing"):
        backend.get_backend("nothing")


def test_default_device():
    assert backend.get_default_device() == cv.devices()[0]
    with cv.default_device("cpu"):
        assert backend.get_default_device() == cv.devices("cpu")[0]


def test_forgotten_programs_are_compiled_again():
    with cv._test_event_counter("count_jit_compilation_cache_miss") as count:
        f = cv.jit(lambda x: x * 3)
        f(jnp.ones(3))
        before = count()
        backend.clear_in_memory_compilation_cache()
        cv.jit(lambda x: x * 3)(jnp.ones(3))
        assert count() > before
    assert f(jnp.ones(3)).tolist() == [3, 3, 3]
