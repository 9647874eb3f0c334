"""The exceptions behind failures of XLA that callbacks into Python have brought about."""

from __future__ import annotations

import itertools
import re
import traceback

from ..base import config
from ..base.errors import JaxRuntimeError

# How many exceptions are kept for those who may still come upon the failure.
FAILURES_KEPT = 16


class _Failure:
    """An exception as it was raised, and whether somebody has come upon it."""

    __slots__ = ("error", "frames", "told")

    def __init__(self, error: BaseException):
        self.error = error
        self.frames = error.__traceback__
        self.told = False


_failures: dict[int, _Failure] = {}
_numbers = itertools.count(1)
_NUMBER = re.compile(r"\[callback failure (\d+)\]")


def keep_failure(error: BaseException) -> int:
    """Keep what a callback has raised; the number is to be in the text that XLA is given."""
    number = next(_numbers)
    _failures[number] = _Failure(error)
    if len(_failures) > FAILURES_KEPT:
        _failures.pop(next(iter(_failures)), None)
    return number


def failure_behind(error: Exception) -> BaseException:
    """The exception of a callback that made XLA fail, as it was raised; else the error itself.

    With the flag `parity` it is a `JaxRuntimeError` whose text tells of that exception, as in JAX.
    """
    failure = _failure_of(error)
    if failure is None:
        return error
    failure.told = True
    raised = failure.error.with_traceback(failure.frames)
    if config.parity.value and isinstance(raised, Exception):
        return JaxRuntimeError("".join(traceback.format_exception(raised)))
    return raised


def is_told(error: Exception) -> bool:
    """Whether somebody has come upon the exception of a callback that made XLA fail."""
    failure = _failure_of(error)
    return failure is not None and failure.told


def _failure_of(error: Exception) -> _Failure | None:
    found = _NUMBER.search(str(error))
    return _failures.get(int(found[1])) if found else None
