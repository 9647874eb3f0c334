"""The C library's allocator, from which the CPU's arrays have their memory.

glibc maps each allocation above 32 MiB afresh and unmaps it when it is freed, so that a program on
large arrays spends most of its time on page faults: `2.5 * v + v` on 2^25 floats took 300 ms, and
32 ms once freed memory stayed with the process.  Other C libraries have no such settings.
"""

from __future__ import annotations

import ctypes

# Parameters of glibc's mallopt(3).
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_MMAP_MAX = -4
_ARENA_MAX = -8

_LARGEST = 2**31 - 1


def keep_freed_memory() -> bool:
    """Let glibc keep freed memory for the next allocation, in the whole process.

    Returns:
      Whether the C library has taken the settings.
    """
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018  (musl may have a `mallopt` that does nothing)
        mallopt = library.mallopt
    except (OSError, TypeError, AttributeError):
        return False
    # Versions before 2.35 refuse so large a threshold, but can be told to map nothing at all.
    unmapped = mallopt(_MMAP_THRESHOLD, _LARGEST) or mallopt(_MMAP_MAX, 0)
    # One arena: an array is often freed by another thread than the one that made the next.
    return bool(unmapped and mallopt(_TRIM_THRESHOLD, _LARGEST) and mallopt(_ARENA_MAX, 1))
