"""The names taken from jaxlib, and the one place that asks which jaxlib it is.

This module is a leaf: it imports nothing of Covector, so that every layer may use jaxlib's C++
pytree registry.  All other names of jaxlib are used only inside the folder `xla/`.
"""

from __future__ import annotations

import os

# Read once when jaxlib is loaded: without it the runtime logs each client that it makes.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import jaxlib
from jaxlib import _hlo, _jax, xla_client
from jaxlib._jax import pytree

Client = xla_client.Client
Device = xla_client.Device

version: str = jaxlib.__version__
# A number that grows with each change of jaxlib's Python interface: 467 in 0.10.2, 495 in 0.11.2,
# 505 in 0.12.0.  Versions are told apart by it alone.
interface: int = xla_client._version

# Before this interface the handler of results looked for a Python method on JAX's own classes,
# unless it was told to skip those checks; from it on the argument is gone.
RESULT_HANDLER_OPTIONS: dict[str, bool] = {} if interface >= 489 else {"_skip_checks": True}

# How many elements XLA's approximate search for the greatest ones gives.
approx_top_k_output_size = _jax.approx_top_k_reduction_output_size

__all__ = [
    "RESULT_HANDLER_OPTIONS",
    "Client",
    "Device",
    "_hlo",
    "_jax",
    "approx_top_k_output_size",
    "interface",
    "pytree",
    "version",
    "xla_client",
]
