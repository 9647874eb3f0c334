"""Warnings that point at the user's program rather than at the library."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import FrameType

_PACKAGE = str(Path(__file__).parents[2]) + "/"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside this package; once per line, as is Python's habit."""
    level = 2  # that of the caller
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)
