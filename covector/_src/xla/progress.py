"""A line on the terminal that says which compilation is being waited for.

It appears only where somebody looks: on an interactive terminal, once a compilation has taken some
seconds.  It counts the seconds, and goes away when the program is compiled.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TextIO

from ..base import config

# Compilations that are done sooner say nothing.
PATIENCE = 5.0
_INTERVAL = 1.0

# To the line's beginning, and everything after it erased.
_ERASE = "\r\x1b[K"

# Held by the compilation that has the line; of several at a time, one is shown.
_line = threading.Lock()


class Progress:
    """Around one compilation: shows its name and how long it has taken, while it takes long.

    Args:
      name: of the function.
    """

    __slots__ = ("_done", "_name", "_start", "_thread")

    def __init__(self, name: str):
        self._name = name
        self._thread: threading.Thread | None = None

    def __enter__(self) -> None:
        terminal = sys.stderr
        if config.compile_progress.value and _is_interactive(terminal):
            self._start = time.perf_counter()
            self._done = threading.Event()
            self._thread = threading.Thread(target=self._show, args=(terminal,), daemon=True)
            self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._thread is not None:
            self._done.set()
            self._thread.join()

    def _show(self, terminal: TextIO) -> None:
        if self._done.wait(PATIENCE):
            return
        while not _line.acquire(timeout=_INTERVAL):
            if self._done.is_set():
                return
        try:
            while not self._done.is_set():
                seconds = time.perf_counter() - self._start
                terminal.write(f"{_ERASE}Compiling {self._name} ... {seconds:.0f} s")
                terminal.flush()
                self._done.wait(_INTERVAL)
            terminal.write(_ERASE)
            terminal.flush()
        except (OSError, ValueError):  # the terminal has gone; the compilation goes on
            return
        finally:
            _line.release()


def _is_interactive(stream: TextIO | None) -> bool:
    """Whether somebody sees what is written to a stream, when it is written."""
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):  # replaced by something else, or closed
        return False
