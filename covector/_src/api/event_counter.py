"""Counters of internal events, under the names that JAX's tests know them by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..base import events
from .devices import clear_caches

_EVENTS = {
    "count_jit_tracing_cache_miss": "trace",
    "count_pjit_cpp_cache_miss": "slow call",
    "count_jit_and_pmap_lowerings": "lower",
    "count_jit_compilation_cache_miss": "compile",
    "count_compilation_after_persistent_cache_miss": "compile anew",
    "count_primitive_compiles": "compile op",
    "count_device_put": "put",
}


@contextmanager
def event_counter(name: str) -> Iterator[Callable[[], int] | list[Any]]:
    """Count the events of a kind while the block runs.

    Args:
      name: `"count_jit_tracing_cache_miss"` (a function is traced for `jit`),
        `"count_pjit_cpp_cache_miss"` (a call of a jitted function does not go straight to a
        compiled program), `"count_jit_and_pmap_lowerings"` (a program is written as StableHLO),
        `"count_jit_compilation_cache_miss"` (XLA is asked for a compiled program),
        `"count_compilation_after_persistent_cache_miss"` (and it is not on disk, either),
        `"count_primitive_compiles"` (the program of a single op is compiled; those of earlier ops
        are forgotten), `"count_device_put"` (host memory is put on a device), or
        `"collect_lowered_jaxprs"`.

    Yields:
      A function that tells the count so far; for `"collect_lowered_jaxprs"` the growing list of
      pairs of a closed jaxpr and its module.
    """
    if name == "count_primitive_compiles":
        clear_caches()
    wanted = "lower" if name == "collect_lowered_jaxprs" else _EVENTS[name]
    found: list[Any] = []

    def note(event: str, subject: Any) -> None:
        if event == wanted:
            found.append(subject)

    with events.listen(note):
        yield found if name == "collect_lowered_jaxprs" else found.__len__
