"""Accelerators: PJRT plugins found on disk and loaded by path.

The plugin packages for JAX hold the shared library we need beside Python code that imports JAX;
their Python is never imported.  A plugin is found by the name of its package, its library is
loaded with jaxlib, and its client made with options that do not claim most of a GPU's memory
unasked: allocation grows as it is needed, unless the usual XLA environment variables say otherwise.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import Any

from ..base import config
from .native import xla_client
from .processes import connection, plugin_options

# For each platform the packages that may hold its plugin, the newest first.
_PACKAGES = {
    "cuda": ("jax_plugins.xla_cuda13", "jax_plugins.xla_cuda12", "jax_cuda13_pjrt"),
    "rocm": ("jax_plugins.xla_rocm7", "jax_plugins.xla_rocm60"),
    "tpu": ("libtpu",),
}
_LIBRARIES = ("xla_cuda_plugin.so", "xla_rocm_plugin.so", "libtpu.so")

# CUDA's own libraries, as the wheels of NVIDIA lay them out; they are loaded ahead of the plugin,
# which names them without a path.
_CUDA_LIBRARIES = (
    "cuda_runtime", "cu13", "cublas", "cudnn", "cufft", "cusolver", "cusparse", "nccl",
    "cuda_cupti", "nvjitlink", "cuda_nvrtc", "nvshmem",
)  # fmt: skip


@cache
def find_plugins() -> dict[str, str]:
    """The plugins installed here: platform -> path of the shared library."""
    found = {}
    for platform, packages in _PACKAGES.items():
        for package in packages:
            path = _library_in(package)
            if path is not None:
                found[platform] = path
                break
    return found


def _library_in(package: str) -> str | None:
    """The path of the plugin's library in a package, which is not imported."""
    try:
        parent, _, child = package.rpartition(".")
        spec = importlib.util.find_spec(parent or child)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    for place in spec.submodule_search_locations:
        folder = Path(place) / child if parent else Path(place)
        for library in _LIBRARIES:
            if (folder / library).exists():
                return str(folder / library)
    return None


def make_plugin_client(platform: str) -> Any:
    """Load the plugin of a platform and make its client.

    Raises:
      RuntimeError: there is no plugin, or it finds no device.
    """
    path = find_plugins().get(platform)
    if path is None:
        raise RuntimeError(f"no plugin for the platform {platform} is installed")
    if platform == "cuda":
        _load_cuda_libraries()
    if not xla_client.pjrt_plugin_loaded(platform):
        xla_client.load_pjrt_plugin_dynamically(platform, path)
    if not xla_client.pjrt_plugin_initialized(platform):
        xla_client.initialize_pjrt_plugin(platform)
    options: dict[str, Any] = {}
    if platform in ("cuda", "rocm"):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        options = xla_client.generate_pjrt_gpu_plugin_options()
        options["platform_name"] = platform.upper()
        visible = _VISIBLE[platform].value
        if visible != "all":
            options["visible_devices"] = [int(i) for i in visible.split(",")]
    options |= plugin_options() | _user_options()
    joined = connection()
    try:
        return xla_client.make_c_api_client(platform, options, joined and joined.client)
    except xla_client.XlaRuntimeError as error:
        raise RuntimeError(str(error)) from error


_VISIBLE = {"cuda": config.cuda_visible_devices, "rocm": config.rocm_visible_devices}


def _user_options() -> dict[str, Any]:
    """The options that the user gave for making clients: a dict, or text like `key:value;...`."""
    given = config.pjrt_client_create_options.value
    if not isinstance(given, str):
        return dict(given or {})
    return dict(pair.split(":", 1) for pair in given.split(";") if pair)


def _load_cuda_libraries() -> None:
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    for place in places:
        for name in _CUDA_LIBRARIES:
            for library in sorted((Path(place) / name / "lib").glob("*.so.*")):
                try:
                    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
                except OSError:  # one that this machine does not need, or cannot load
                    continue
