"""Clients and devices: one PJRT client per platform, made when it is first needed."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from functools import cache, partial, update_wrapper
from typing import Any, NamedTuple, TypeVar

from ..base import config
from ..base.errors import forked, started_already, unknown_backend
from ..base.warn import warn
from .memory import keep_freed_memory
from .native import _jax, xla_client
from .plugins import find_plugins, make_plugin_client
from .processes import connection, cpu_options


class DeviceSharding(_jax.SingleDeviceSharding):
    """An array that lies whole on one device, as jaxlib's C++ wants to hear of it."""

    @property
    def memory_kind(self) -> str | None:
        return self._memory_kind

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return xla_client.HloSharding.replicate()


# ---------------------------------------------------------------- clients


class _HeldByJaxlib:
    """What jaxlib is done with, such as NumPy arrays; it is dropped when `freed` is read."""

    freed = property(partial(next, iter(_jax.collect_garbage, object())))


# Called whenever Python collects garbage. A Ctrl-C that comes meanwhile would be raised on entering
# a Python function, and Python drops what such callbacks raise: so this is no Python function, but
# the method of a format string, which reads the attribute and ignores its other arguments.
gc.callbacks.append(partial("{0.freed.__class__.__name__}".format, _HeldByJaxlib()))

# Held while a client starts: two threads that both come first must not start it twice.
_starting = threading.RLock()

F = TypeVar("F", bound=Callable[..., Any])


def once(fun: F) -> F:
    """Decorator: `functools.cache` for what no two threads may do at the same time."""
    results: dict[Any, Any] = {}

    def compute(*args: Any) -> Any:
        with _starting:
            if args not in results:
                results[args] = fun(*args)
            return results[args]

    found: Any = update_wrapper(cache(compute), fun)
    clear_found = found.cache_clear

    def clear() -> None:
        results.clear()
        clear_found()

    found.cache_clear = clear
    return found


class Factory(NamedTuple):
    """What makes the client of a platform that a user has added.

    Attributes:
      make: makes it.
      priority: of the platforms that work, the one with the highest is the default one.
      fail_quietly: whether there is no such platform if `make` raises, or programs fail.
    """

    make: Callable[[], Any]
    priority: int
    fail_quietly: bool


# The platforms that users have added.
factories: dict[str, Factory] = {}
# Where the others stand among them: accelerators, and the CPU.
_PLUGIN_PRIORITY, _CPU_PRIORITY = 200, 0

# Other names under which users ask for a platform.
_ALIASES = {"gpu": ("cuda", "rocm"), "cuda": ("cuda",), "rocm": ("rocm",), "tpu": ("tpu",)}


@once
def client(platform: str) -> Any:
    """The PJRT client of a platform; it is made at the first request."""
    if platform in factories:
        return factories[platform].make()
    if platform == "cpu":
        if config.cpu_keep_freed_memory.value:
            keep_freed_memory()
        count = config.num_cpu_devices.value
        return xla_client.make_cpu_client(
            asynchronous=config.cpu_enable_async_dispatch.value,
            num_devices=count if count and count > 0 else None,
            **cpu_options(),
        )
    return make_plugin_client(platform)


def any_started() -> bool:
    """Whether a platform has been used, so that it is too late to say how it should start."""
    return bool(client.cache_info().currsize)


def _warn_of_fork() -> None:
    if any_started():
        warn(forked(), RuntimeWarning)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_warn_of_fork)


@config.num_cpu_devices.before_update
def _check_before_start(value: int) -> None:
    if any_started() and value != config.num_cpu_devices.value:
        raise RuntimeError(started_already("jax_num_cpu_devices"))


@once
def platforms() -> tuple[str, ...]:
    """The platforms that have a working client, the default one first.

    An accelerator whose plugin is installed comes before the CPU; the flag `platforms` (or the
    environment variable of that name) says which to use, and then each must work.
    Where several processes compute together, all start their CPUs too, now: they wait for each
    other when they do.
    """
    if connection() is not None:
        client("cpu")
    chosen = config.platforms.value or config.platform_name.value
    if chosen:
        names = [name.strip() for name in chosen.split(",") if name.strip()]
        found = [_first_working(_ALIASES.get(name, (name,)), name) for name in names]
        return tuple(found)
    working = [(_CPU_PRIORITY, "cpu")]
    plugins = {name: Factory(find_plugins, _PLUGIN_PRIORITY, True) for name in find_plugins()}
    for name, factory in (plugins | factories).items():
        try:
            client(name)
        except RuntimeError:  # the plugin is there, its hardware is not
            if not factory.fail_quietly:
                raise
            continue
        working.append((factory.priority, name))
    return tuple([name for _, name in sorted(working, key=lambda pair: -pair[0])])


def _first_working(candidates: tuple[str, ...], asked: str) -> str:
    problems = []
    for name in candidates:
        if name not in ("cpu", *find_plugins(), *factories):
            problems.append(f"no plugin for {name} is installed")
            continue
        try:
            client(name)
        except RuntimeError as error:
            problems.append(f"{name}: {error}")
        else:
            return name
    raise RuntimeError(unknown_backend(asked, "; ".join(problems)))


def _resolve(backend: str | None) -> str:
    if backend is None:
        return platforms()[0]
    candidates = _ALIASES.get(backend, (backend,))
    for name in candidates:
        if name in platforms() or name == "cpu":
            return name
    raise RuntimeError(unknown_backend(backend, f"the platforms here are {', '.join(platforms())}"))


# ---------------------------------------------------------------- devices


@once
def first_device() -> Any:
    """The device on which computations run unless something says otherwise."""
    return client(platforms()[0]).local_devices()[0]


def lowering_platform(device: Any) -> str:
    """A device's platform as lowering rules know it: they tell the makers of GPUs apart."""
    if device.platform != "gpu":
        return device.platform
    return "rocm" if "rocm" in device.client.platform_version.lower() else "cuda"


def device_of(device: Any) -> Any:
    """A device from what users may give for one: a device, or the name of a platform."""
    if isinstance(device, str):
        return local_devices(backend=device)[0]
    return device


def is_local(device: Any) -> bool:
    """Whether a device belongs to this process."""
    return device.process_index == device.client.process_index()


@cache
def sharding_on(device: Any) -> DeviceSharding:
    """The sharding of arrays that lie on `device`, for jaxlib."""
    return DeviceSharding(device)


@cache
def device_list(device: Any) -> Any:
    return _jax.DeviceList((device,))


def default_backend() -> str:
    """The name of the platform on which computations run by default: `"cpu"`, `"gpu"`, `"tpu"`.

    >>> import covector
    >>> covector.default_backend()
    'cpu'
    """
    name = platforms()[0]
    return "gpu" if name in _ALIASES["gpu"] else name


def devices(backend: str | None = None) -> list[Any]:
    """All devices of a platform, those of other processes included.

    Args:
      backend: `"cpu"`, `"gpu"` or `"tpu"`; the default platform if None.

    Raises:
      RuntimeError: the platform has no working plugin here; the message says why.

    >>> import covector
    >>> covector.devices()[0].platform
    'cpu'
    """
    return client(_resolve(backend)).devices()


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Any]:
    """The devices of a platform that are attached to one process, by default this one."""
    found = client(_resolve(backend))
    if process_index is None and host_id is None:
        return found.local_devices()
    wanted = process_index if process_index is not None else host_id
    return [device for device in found.devices() if device.process_index == wanted]


def device_count(backend: str | None = None) -> int:
    """How many devices a platform has, over all processes."""
    return client(_resolve(backend)).device_count()


def local_device_count(backend: str | None = None) -> int:
    """How many devices of a platform are attached to this process."""
    return client(_resolve(backend)).local_device_count()


def process_index(backend: str | None = None) -> int:
    """The number of this process among those that compute together; 0 if it is alone."""
    return client(_resolve(backend)).process_index()


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of all processes that compute together."""
    return sorted({device.process_index for device in devices(backend)})


def process_count(backend: str | None = None) -> int:
    """How many processes compute together."""
    return len(process_indices(backend))


def clear_clients() -> None:
    """Forget the clients; for tests that change which platforms there are."""
    for cached in (client, platforms, first_device, sharding_on, device_list):
        cached.cache_clear()
