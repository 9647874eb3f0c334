"""What JAX offers as experimental, and Covector too."""

import importlib as _importlib

from .._src.api.callbacks import io_callback as io_callback

# Loaded when they are first used.
_LAZY = frozenset(
    {
        *("checkify", "compilation_cache", "compute_on", "jet", "key_reuse", "layout"),
        *("mesh_utils", "multihost_utils", "ode", "pjit", "profiler", "random", "rnn"),
        *("serialize_executable", "shard_alike", "shard_map", "sparse", "xla_metadata"),
    }
)


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'covector.experimental' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
