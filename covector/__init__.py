"""Covector: composable transformations of Python+NumPy programs.

Differentiate with `grad`, vectorize with `vmap`, compile with `jit`, in any combination:

>>> import covector as cv
>>> import covector.numpy as jnp
>>> cv.grad(lambda x: jnp.sum(x**2))(jnp.arange(3.0))
Array([0., 2., 4.], dtype=float32)
"""

from __future__ import annotations

import importlib
from typing import Any

from ._src.api.devices import clear_caches as clear_caches
from ._src.api.devices import device_put as device_put
from ._src.api.jit import jit as jit
from ._src.api.retraces import explain_retraces as explain_retraces
from ._src.api.shape_dtype import ShapeDtypeStruct as ShapeDtypeStruct
from ._src.base.config import config as config
from ._src.core.array import Array as Array
from ._src.core.trace import install_backend as _install_backend
from ._src.reference import reference_mode as reference_mode
from ._src.xla.devices import default_backend as default_backend
from ._src.xla.devices import device_count as device_count
from ._src.xla.devices import devices as devices
from ._src.xla.devices import local_device_count as local_device_count
from ._src.xla.devices import local_devices as local_devices
from ._src.xla.devices import process_count as process_count
from ._src.xla.devices import process_index as process_index
from ._src.xla.devices import process_indices as process_indices
from ._src.xla.execute import XlaBackend as _XlaBackend

__version__ = "0.1.0"
__version_info__ = (0, 1, 0)

_install_backend(_XlaBackend())

# Namespaces that load when they are first used.
_LAZY = frozenset(
    {
        *("core", "debug", "dlpack", "dtypes", "errors", "extend", "interpreters", "lax", "numpy"),
        *("sharding", "stages", "testing", "tree", "tree_util", "typing"),
    }
)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'covector' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
