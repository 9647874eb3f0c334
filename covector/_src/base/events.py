"""Counting what happens inside: traces, lowerings, compilations.

Tests ask whether a program is traced or compiled again.  Nobody else listens, so that `record` is
one look at an empty list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Called with the name of each event and what it is about.
_listeners: list[Callable[[str, Any], None]] = []


def record(event: str, subject: Any = None) -> None:
    """Tell those who listen that an event has happened, and to what."""
    for listener in _listeners:
        listener(event, subject)


@contextmanager
def listen(listener: Callable[[str, Any], None]) -> Iterator[None]:
    """Call `listener(event, subject)` for every event, in all threads, while the block runs."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
