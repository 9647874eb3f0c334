"""Tracebacks that show the user's program and not the machinery in between.

A function that runs the user's code under a transformation is a boundary: an exception that passes
it loses the frames of this package.  What remains of them, in an exception that nobody catches, is
hidden when Python prints it.  The flag `traceback_filtering` turns both off.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, TypeVar

from . import config
from .source import is_own_frame

F = TypeVar("F", bound=Callable[..., Any])


_NOTE = (
    "For simplicity, this traceback leaves out Covector's own frames. To see them, set "
    "COVECTOR_TRACEBACK_FILTERING=off."
)


def without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback with the frames of this package left out."""
    kept = []
    while traceback is not None:
        if not is_own_frame(traceback.tb_frame):
            kept.append(traceback)
        traceback = traceback.tb_next
    shown: TracebackType | None = None
    for entry in reversed(kept):
        shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown


def drop_own_frames(error: Exception) -> None:
    """Leave the frames of this package out of an exception that is about to go on to the user.

    A bare `raise` must follow: it adds no frame, not even the one that it stands in.
    """
    if config.traceback_filtering.value == "off":
        return
    error.__traceback__ = without_own_frames(error.__traceback__)
    if _NOTE not in getattr(error, "__notes__", ()):
        error.add_note(_NOTE)


def boundary(fun: F) -> F:
    """Decorator: exceptions that pass the function lose the frames of this package."""

    @wraps(fun)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        try:
            return fun(*args, **kwargs)
        except Exception as error:
            drop_own_frames(error)
            raise

    return bounded  # type: ignore[return-value]


def install_hook() -> None:
    """Let uncaught exceptions be printed without the frames of this package."""
    previous = sys.excepthook

    def hook(kind: Any, error: BaseException, traceback: TracebackType | None) -> None:
        if config.traceback_filtering.value != "off":
            hide_own_frames(error)
            traceback = without_own_frames(traceback) or traceback
        previous(kind, error, traceback)

    sys.excepthook = hook


def hide_own_frames(error: BaseException) -> None:
    """Leave the frames of this package out of an exception, its causes and its contexts."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        found = pending.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        shown = without_own_frames(found.__traceback__)
        found.__traceback__ = shown or found.__traceback__
        pending += [found.__cause__, found.__context__]
