"""Types for annotations: what may be given for an array, and for a dtype."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np

from ._src.core.array import Array


class SupportsDType(Protocol):
    """An object that has a dtype."""

    @property
    def dtype(self) -> np.dtype: ...


# What the functions of the library take for an array: no lists, which would be copied in silence.
ArrayLike: TypeAlias = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex

DTypeLike: TypeAlias = str | type[Any] | np.dtype | SupportsDType

__all__ = ["ArrayLike", "DTypeLike"]
