"""What runs here: versions, devices, settings."""

from __future__ import annotations

import os
import platform
import sys

import numpy as np

from ..base.version import __version__
from ..xla.devices import devices, local_device_count, process_count
from ..xla.native import version as jaxlib_version

# The environment variables that change what programs do here.
_PREFIXES = ("COVECTOR_", "JAX_", "XLA_", "LIBTPU_", "CUDA_VISIBLE")


def print_environment_info(return_string: bool = False) -> str | None:
    """Print versions, devices and environment variables, as reports of bugs should say them.

    Args:
      return_string: whether to return the text instead.

    >>> import covector as cv
    >>> text = cv.print_environment_info(return_string=True)
    >>> "covector:" in text and "jaxlib:" in text and "device info:" in text
    True
    """
    found = devices()
    lines = [
        f"covector: {__version__}",
        f"jaxlib: {jaxlib_version}",
        f"numpy:  {np.__version__}",
        f"python: {sys.version}",
        f"device info: {found[0].device_kind}-{len(found)}, {local_device_count()} local devices",
        f"process_count: {process_count()}",
        f"platform: {platform.uname()}",
        *[f"{name}={value}" for name, value in sorted(os.environ.items()) if _matters(name)],
    ]
    text = "\n".join(lines)
    if return_string:
        return text
    print(text)
    return None


def _matters(name: str) -> bool:
    return name.startswith(_PREFIXES)
