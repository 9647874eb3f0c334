"""Compiled programs kept on disk, so that a second run of a program compiles nothing.

One file per program, named by the hash of all that decides what XLA would make of it: the text of
the module, the compile options, the version of jaxlib, and the processor's features.  A file is
written under another name and renamed, so that a killed process leaves nothing half-written under
a name that is read; and it begins with a hash of the rest, so that damage of any kind is noticed,
and the program compiled again.  When the folder grows over its limit, what was used least recently
goes first.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform as host
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

from ..base import config
from ..base.warn import warn
from . import native

_MAGIC = b"covector-program-1\n"
_SUFFIX = ".xla"
# The folder's size is looked at once per process and again after this many new programs.
_WRITES_BETWEEN_SWEEPS = 200
_writes = 0

# The platforms whose programs are not kept: passes of the user's change what XLA makes of them.
unkept_platforms: set[str] = set()


def cache_folder() -> Path | None:
    """The folder of compiled programs, or None if they are not kept."""
    if not config.enable_compilation_cache.value:
        return None
    chosen = config.compilation_cache_dir.value
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "covector" / "compiled"


def set_cache_dir(path: str | os.PathLike[str]) -> None:
    """Keep compiled programs in this folder from now on, and look for them there.

    What is in it is executed: choose one into which nobody writes whom you do not trust.

    Args:
      path: the folder, which is made when it is needed.

    >>> import covector as cv
    >>> from covector.experimental.compilation_cache import compilation_cache
    >>> before = cv.config.jax_compilation_cache_dir
    >>> compilation_cache.set_cache_dir("/tmp/programs")
    >>> cv.config.jax_compilation_cache_dir
    '/tmp/programs'
    >>> cv.config.update("jax_compilation_cache_dir", before)
    """
    config.update("jax_compilation_cache_dir", os.fspath(path))


def reset_cache() -> None:
    """Forget what is known of the folder of compiled programs; the programs in it stay.

    Its size is looked at again when the next program is kept there. To use another folder nothing
    has to be forgotten: which one it is, is asked each time.
    """
    global _writes
    _writes = 0


@cache
def _host_fingerprint() -> bytes:
    """What of this machine and of jaxlib decides whether a compiled program can run."""
    parts = [native.version, str(native.interface), host.machine(), host.system()]
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        parts += sorted({line for line in lines if line.startswith(("flags", "Features", "model"))})
    except OSError:
        parts.append(host.processor())
    return "\n".join(parts).encode()


def key_of(module_text: str, options: Any, device: Any) -> str:
    """The name under which the compiled form of a module is kept."""
    digest = hashlib.sha256(_MAGIC)
    for part in (
        _host_fingerprint(),
        device.client.platform_version.encode(),
        f"{device.platform}/{device.device_kind}/{device.id}".encode(),
        options.SerializeAsString(),
        os.environ.get("XLA_FLAGS", "").encode(),
        module_text.encode(),
    ):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def payload_of(key: str) -> bytes | None:
    """The bytes of the program kept under `key`, or None."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        return _verified((folder / (key + _SUFFIX)).read_bytes())
    except OSError:
        return None


def load(key: str, device: Any, devices: Any, options: Any) -> Any | None:
    """The compiled program kept under `key`, or None."""
    folder = cache_folder()
    if folder is None:
        return None
    path = folder / (key + _SUFFIX)
    try:
        payload = _verified(path.read_bytes())
    except OSError:
        return None
    if payload is None:
        _discard(path, "is damaged")
        return None
    try:
        loaded = device.client.deserialize_executable(payload, devices, options)
    except (RuntimeError, ValueError) as error:
        _discard(path, f"cannot be loaded ({error})")
        return None
    with contextlib.suppress(OSError):  # read-only folders are welcome
        os.utime(path)
    return loaded


def store(key: str, loaded: Any, seconds: float) -> None:
    """Keep a compiled program that took `seconds` to compile."""
    global _writes
    folder = cache_folder()
    if folder is None or seconds < config.persistent_cache_min_compile_time_secs.value:
        return
    try:
        payload = loaded.serialize()
    except native.xla_client.XlaRuntimeError:  # a program that cannot be serialized
        return
    if len(payload) < (config.persistent_cache_min_entry_size_bytes.value or 0):
        return
    try:
        _write_atomically(folder, key, _MAGIC + hashlib.sha256(payload).digest() + payload)
        if _writes % _WRITES_BETWEEN_SWEEPS == 0:
            sweep(folder, config.compilation_cache_max_size.value)
        _writes += 1
    except OSError as error:
        if config.raise_persistent_cache_errors.value:
            raise
        warn(f"the compiled program could not be kept in {folder}: {error}")


def _verified(content: bytes) -> bytes | None:
    """The payload of a file, if the file is whole."""
    head = len(_MAGIC)
    payload = content[head + 32 :]
    if content[:head] != _MAGIC or content[head : head + 32] != hashlib.sha256(payload).digest():
        return None
    return payload


def _write_atomically(folder: Path, key: str, content: bytes) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix="writing-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, folder / (key + _SUFFIX))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _discard(path: Path, why: str) -> None:
    if config.raise_persistent_cache_errors.value:
        raise RuntimeError(f"the kept program {path} {why}")
    warn(f"the kept program {path} {why}; it is compiled again")
    with contextlib.suppress(OSError):
        path.unlink()


def sweep(folder: Path, limit: int | None) -> None:
    """Remove the programs used least recently until the folder is below its limit.

    Also removes what killed processes left half-written.
    """
    entries = []
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            status = entry.stat()
            if entry.name.startswith("writing-"):
                if time.time() - status.st_mtime > 3600:
                    os.unlink(entry.path)
            elif entry.name.endswith(_SUFFIX):
                entries.append((status.st_mtime, status.st_size, entry.path))
    if limit is None or limit < 0:
        return
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
