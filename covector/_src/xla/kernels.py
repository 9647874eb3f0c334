"""Our own kernels for CPUs: functions of the files `kernels_*.cc`, compiled at installation.

They are optional.  Without the library, or with the flag `native_kernels` off, programs are made of
XLA's own operations; `docs/native.md` says more.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from ..base import config
from ..base.ffi_errors import kernels_not_loaded
from ..base.warn import warn
from .capsules import pycapsule
from .devices import once
from .native import xla_client

# Where `setup.py` puts it.  It knows nothing of Python: one serves all versions of it, and its name
# is not one that Python takes for a module's.
LIBRARY = Path(__file__).with_name("libkernels.so.1")
NAMES = (
    *("sort", "argsort", "argmax", "argmin", "cumsum"),
    *("count", "histogram", "searchsorted", "true_places", "threefry_bits", "fourier"),
)


def target(name: str) -> str:
    """The name by which programs call a kernel."""
    return "covector_" + name


def are_on(platform: str) -> bool:
    """Whether programs for a platform may call the kernels."""
    return platform == "cpu" and config.native_kernels.value and load()


@once
def load() -> bool:
    """Make the kernels known to XLA.

    Returns:
      Whether they are there.  A warning says why not if there is a library, but of no use.
    """
    if not LIBRARY.exists():
        return False
    try:
        library = ctypes.CDLL(str(LIBRARY))
        for name in NAMES:
            handler = pycapsule(getattr(library, target(name)))
            xla_client.register_custom_call_target(target(name), handler, "cpu", 1)
    except (OSError, AttributeError, xla_client.XlaRuntimeError) as error:
        warn(kernels_not_loaded(LIBRARY, error))
        return False
    return True
