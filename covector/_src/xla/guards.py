"""Guards against what a program should not do unnoticed: transfers, and arrays in cycles.

jaxlib watches the transfers itself, by the state that each thread has; here the flags are written
into that state.  A transfer that the user asks for in so many words (`device_put`, `device_get`) is
*explicit*, and only the levels with that word in their names forbid it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..base import config
from ..base.flags import Flag
from .native import _jax

_lib = _jax.guard_lib

_TRANSFERS = {
    "allow": _lib.TransferGuardLevel.ALLOW,
    "log": _lib.TransferGuardLevel.LOG,
    "disallow": _lib.TransferGuardLevel.DISALLOW,
    "log_explicit": _lib.TransferGuardLevel.LOG_EXPLICIT,
    "disallow_explicit": _lib.TransferGuardLevel.DISALLOW_EXPLICIT,
}
_COLLECTIONS = {
    "allow": _lib.GarbageCollectionGuardLevel.ALLOW,
    "log": _lib.GarbageCollectionGuardLevel.LOG,
    "fatal": _lib.GarbageCollectionGuardLevel.FATAL,
}


class _Used:
    """Whether a guard was ever set, in any thread."""

    __slots__ = ("ever",)

    def __init__(self) -> None:
        self.ever = False


_used = _Used()


def _follow(flag: Flag, field: str, levels: dict[str, Any]) -> None:
    """Keep a field of jaxlib's state at the value of a flag, in the process and in threads."""

    @flag.on_change
    def follow(_: Any) -> None:
        _used.ever = True
        setattr(_lib.global_state(), field, levels.get(flag.shared))
        covered = flag.value if flag.value != flag.shared else None
        setattr(_lib.thread_local_state(), field, levels.get(covered))

    if flag.value is not None:  # set in the environment
        follow(flag.value)


_follow(config.transfer_guard_host_to_device, "host_to_device", _TRANSFERS)
_follow(config.transfer_guard_device_to_device, "device_to_device", _TRANSFERS)
_follow(config.transfer_guard_device_to_host, "device_to_host", _TRANSFERS)
_follow(config.array_garbage_collection_guard, "garbage_collect_array", _COLLECTIONS)


def _explicit(field: str) -> Callable[[], Any]:
    @contextmanager
    def explicit() -> Iterator[None]:
        if not _used.ever:
            yield
            return
        state = _lib.thread_local_state()
        before = getattr(state, field)
        setattr(state, field, True)
        try:
            yield
        finally:
            setattr(state, field, before)

    return explicit


# Context managers in which transfers are explicit.
explicit_put = _explicit("explicit_device_put")
explicit_get = _explicit("explicit_device_get")
