"""The exceptions behind failures of XLA that callbacks into Python have brought about."""

from __future__ import annotations

import itertools
import re
from typing import Any

# How many exceptions are kept for those who may still come upon the failure.
FAILURES_KEPT = 64

_failures: dict[int, tuple[BaseException, Any]] = {}
_numbers = itertools.count(1)
_NUMBER = re.compile(r"\[callback failure (\d+)\]")


def keep_failure(error: BaseException) -> int:
    """Keep what a callback has raised; the number is to be in the text that XLA is given."""
    number = next(_numbers)
    _failures[number] = error, error.__traceback__
    if len(_failures) > FAILURES_KEPT:
        _failures.pop(next(iter(_failures)), None)
    return number


def failure_behind(error: Exception) -> BaseException:
    """The exception of a callback that made XLA fail, as it was raised; else the error itself."""
    found = _NUMBER.search(str(error))
    failure = _failures.get(int(found[1])) if found else None
    if failure is None:
        return error
    exception, frames = failure
    return exception.with_traceback(frames)
