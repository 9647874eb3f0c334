"""SciPy's functions on arrays that can be traced, differentiated, vectorized and compiled."""

import importlib as _importlib

# Loaded when they are first used.
_LAZY = frozenset(
    {
        *("cluster", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal"),
        *("sparse", "spatial", "special", "stats"),
    }
)


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'covector.scipy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
