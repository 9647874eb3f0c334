"""PJRT clients and default devices, for those who call jaxlib themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import config
from ..base.compile_errors import backends_started
from ..core.trace import eval_trace
from ..xla.devices import (
    Factory,
    clear_clients,
    client,
    device_of,
    factories,
    first_device,
    local_devices,
    platforms,
)
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
    for kept in _caches:
        kept.cache_clear()


# Caches of users', which hold what belongs to clients.
_caches: list[Any] = []


def register_backend_cache(cache: Any, for_what: str) -> None:
    """Let `clear_backends` clear a cache too.

    Args:
      cache: has a method `cache_clear`, as what `functools.cache` decorates.
      for_what: what is in it, for those who read programs.

    >>> import functools, covector as cv
    >>> from covector.extend import backend
    >>> @functools.cache
    ... def first_device():
    ...     return cv.devices()[0]
    >>> backend.register_backend_cache(first_device, "first_device")
    """
    _caches.append(cache)


def register_backend_factory(
    name: str,
    factory: Callable[[], Client],
    *,
    priority: int = 0,
    fail_quietly: bool = True,
    experimental: bool = False,
    make_topology: Any = None,
    c_api: Any = None,
) -> None:
    """Add a platform, before any array is made.

    Args:
      name: of the platform, as `devices(name)` and the flag `jax_platforms` know it.
      factory: makes its PJRT client, when that is first needed.
      priority: the platform with the highest one is the default one; that of the CPU is 0, that of
        the accelerators whose plugins are installed is 200.
      fail_quietly: whether there just is no such platform if `factory` raises RuntimeError.
      experimental, make_topology, c_api: for others than programs that run; nothing reads them.

    Raises:
      RuntimeError: clients have been made already.
    """
    if client.cache_info().currsize or platforms.cache_info().currsize:
        raise RuntimeError(backends_started(name))
    factories[name] = Factory(factory, priority, fail_quietly)
