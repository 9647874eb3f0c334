"""Programs of several CPUs take turns.

The devices of such a program wait for one another, each in a thread of a pool that all programs
share.  When too many programs have been started, all threads may be waiting for devices that no
thread is left for, and XLA ends the process.  So a program begins only when there are few that have
not ended.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from .native import xla_client

# How many programs of several devices may have been started and not ended.
PROGRAMS_UNDER_WAY = 8

_under_way: deque[Any] = deque()
_counting = threading.Lock()


class InTurn:
    """What starts a program, when it is its turn.

    Args:
      execute: jaxlib's function that starts it.
    """

    __slots__ = ("_execute",)

    def __init__(self, execute: Callable[..., Any]):
        self._execute = execute

    def __call__(self, buffers: list[Any]) -> Any:
        with _counting:
            first = _under_way.popleft() if len(_under_way) >= PROGRAMS_UNDER_WAY else None
        if first is not None:  # nobody else has to wait for it: it may need what they start
            _wait_for(first)
        results = self._execute(buffers, with_tokens=True)
        _under_way.append(results.consume_token())
        return results


def wait_for_all() -> None:
    """Wait until the programs that have been started have ended."""
    while True:
        with _counting:
            if not _under_way:
                return
            first = _under_way.popleft()
        _wait_for(first)


def _wait_for(token: Any) -> None:
    try:
        token.block_until_ready()
    except xla_client.XlaRuntimeError:  # it is told to who asks for the program's results
        return
