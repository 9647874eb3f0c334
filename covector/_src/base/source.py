"""Where in the user's program something happened.

Taking the place is on the path of every traced op, so it keeps only two references: the code
object of the innermost frame that is not ours, and the offset of its current instruction.  They
become a file name and a line only when somebody asks.
"""

from __future__ import annotations

import sys
from itertools import islice
from types import CodeType, FrameType
from typing import Any

# A place in a program: its code and the offset of an instruction in it.  A tuple that begins with
# these two, or with None for an unknown place, will do as well.
Place = tuple[CodeType, int]

_PACKAGE = __name__.split(".")[0]


class _OwnModules(dict):
    """For each name of a module, as its globals tell it, whether it is one of this package."""

    def __missing__(self, name: Any) -> bool:
        own = self[name] = name == _PACKAGE or str(name).startswith(_PACKAGE + ".")
        return own


_own_modules = _OwnModules()
# Beginnings of the names of other files whose frames do not count as the user's.
_excluded: list[str] = []


def register_exclusion(path: str) -> None:
    """Do not count code in files whose names begin with `path` as the user's."""
    _excluded.append(path)


def is_own_frame(frame: FrameType) -> bool:
    """Whether a frame runs code of this package, or other code that is not the user's."""
    return _own_modules[frame.f_globals.get("__name__")] or _is_excluded(frame)


def _is_excluded(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(tuple(_excluded))


def current_place(depth: int = 1) -> Place | None:
    """The place of the innermost frame outside this package; None if there is none."""
    frame: FrameType | None = sys._getframe(depth)
    own = _own_modules
    while frame is not None and (
        own[frame.f_globals.get("__name__")] or (_excluded and _is_excluded(frame))
    ):
        frame = frame.f_back
    return None if frame is None else (frame.f_code, frame.f_lasti)


def file_and_line(place: Place | None) -> tuple[str, int] | None:
    """The file name and line number of a place."""
    if place is None or place[0] is None:
        return None
    code, offset = place[:2]
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            return code.co_filename, line
    return code.co_filename, code.co_firstlineno


def column_of(place: Place) -> int:
    """The column in which the expression at a place begins, from 0; also 0 if it is unknown."""
    code, offset = place[:2]
    # Instructions are two bytes wide.
    positions = next(islice(code.co_positions(), offset // 2, None), None)
    return (positions[2] if positions else None) or 0


def describe(place: Place | None) -> str:
    """`file:line:column (function)`, or the empty string for an unknown place."""
    found = file_and_line(place)
    if found is None or place is None:
        return ""
    column = column_of(place)
    at = f":{column}" if column else ""
    return f"{found[0]}:{found[1]}{at} ({place[0].co_qualname})"
