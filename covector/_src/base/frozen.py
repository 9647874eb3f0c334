"""Values that are not hashable, as parameters of eqns, which are."""

from __future__ import annotations

from typing import Any

import numpy as np


class HashableArray:
    """A copy of a NumPy array that never changes, equal to others of its type and elements."""

    __slots__ = ("val",)

    def __init__(self, val: np.ndarray):
        self.val = np.array(val)
        self.val.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HashableArray):
            return False
        same_type = self.val.dtype == other.val.dtype
        return same_type and np.array_equal(self.val, other.val)

    def __hash__(self) -> int:
        return hash((self.val.shape, self.val.dtype, self.val.tobytes()))

    def __repr__(self) -> str:
        return f"HashableArray({self.val!r})"


class FrozenDict:
    """A copy of a dict that never changes; its values are frozen, too."""

    __slots__ = ("items",)

    def __init__(self, items: dict[Any, Any]):
        self.items = {key: frozen(item) for key, item in items.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrozenDict) and self.items == other.items

    def __hash__(self) -> int:
        return hash(frozenset(self.items.items()))

    def __repr__(self) -> str:
        return f"FrozenDict({self.items!r})"


def frozen(value: Any) -> Any:
    """A NumPy array or dict as a value that is hashable; others as they are."""
    if isinstance(value, np.ndarray):
        return HashableArray(value)
    return FrozenDict(value) if isinstance(value, dict) else value


def thawed(value: Any) -> Any:
    """What `frozen` was given."""
    if isinstance(value, HashableArray):
        return value.val
    if isinstance(value, FrozenDict):
        return {key: thawed(item) for key, item in value.items.items()}
    return value
