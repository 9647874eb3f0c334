"""PJRT clients and default devices, for those who call jaxlib themselves."""

from __future__ import annotations

from typing import Any

from ..base import config
from ..core.trace import eval_trace
from ..xla.devices import clear_clients, client, device_of, first_device, local_devices, platforms
from ..xla.native import Client
from .devices import clear_caches


def backends() -> dict[str, Client]:
    """The PJRT clients of the platforms that work here, by name; the default one is first.

    >>> import covector as cv
    >>> "cpu" in cv.extend.backend.backends()
    True
    """
    return {name: client(name) for name in platforms()}


def get_backend(platform: str | Client | None = None) -> Client:
    """The PJRT client of a platform, by default of the default one.

    >>> from covector.extend import backend
    >>> backend.get_backend("cpu").platform
    'cpu'
    """
    if isinstance(platform, Client):
        return platform
    return local_devices(backend=platform)[0].client


def backend_xla_version(platform: str | None = None) -> int | None:
    """The version of XLA behind a platform's plugin; None if the plugin does not say."""
    return getattr(get_backend(platform), "xla_version", None)


def get_default_device() -> Any:
    """The device on which computations run if nothing says otherwise."""
    chosen = config.default_device.value
    return first_device() if chosen is None else device_of(chosen)


def clear_in_memory_compilation_cache() -> None:
    """Forget all compiled programs; those on disk stay."""
    eval_trace.backend.clear()


def clear_backends() -> None:
    """Forget all compiled programs, and the PJRT clients: new ones are made when next needed.

    Arrays that exist belong to the old clients, and cannot meet new ones.
    """
    clear_caches()
    clear_clients()
